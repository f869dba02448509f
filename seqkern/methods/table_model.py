"""Trained models that keep sums over the k-mers of their support sequences instead of the sequences.

For a kernel such as `GappedKmerKernel`, a decision value Σ_j c_j·K(x, z_j) + b needs only T, the sum of the c_j for
each l-mer: 8 MB for l = 11 of DNA on both strands, whatever the number of sequences. T yields the weight of every
l-mer (decisions are sums of weights), and also the contribution of each base, which the weights alone do not.

T is kept in single precision: 7 digits of each sum. `TableModel.error` is the resulting error of a weight; decision
values agree with the original model's to 6 digits or more.
"""

from __future__ import annotations

import gzip
import re
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, NoReturn

import numpy as np
import numpy.typing as npt

from seqkern.core.archive import atomic_write
from seqkern.core.checks import read_number
from seqkern.core.errors import ModelError, ParameterError, SeqkernError
from seqkern.core.text_files import open_lines, open_text
from seqkern.core.threads import given_threads
from seqkern.core.types import Array, Floats, Ints, PathLike
from seqkern.gram.transforms.gram_transform import naming_rows
from seqkern.kernels.decisions import normalised_attributions, normalised_tally, normalised_values
from seqkern.kernels.kernel import Kernel
from seqkern.kernels.kmer.kmers import first_of_pairs, reverse_complements
from seqkern.kernels.occurrences import KmerWeights, Tallied, Tally, spell
from seqkern.methods.model import Model, remedy_after_training
from seqkern.sequences.alphabets import DNA, Alphabet
from seqkern.sequences.sequence_set import SequenceSet

AT_ONCE = 1 << 20
"""Residues looked up at a time."""
NO_SUPPORT = "the model keeps sums over the k-mers of its support sequences, not the sequences"
REMEDY = "train again on fewer sequences, whose Gram matrix fits into 4 GB"


@dataclass(frozen=True, eq=False)
class TableModel(Model):
    """A trained classifier whose decisions are look-ups; `support` contains no sequences, only their alphabet."""

    own_name: ClassVar[str] = "tally"

    # T; as from `seqkern.kernels.kernel.KernelContract.tally`, with the c_j of a normalised kernel divided by the
    # norm of z_j
    tally: tuple[npt.NDArray[np.float32], ...]

    def _decisions(self, X: Any, n_threads: int | None) -> Floats:
        """Return the decision values of new samples, without checking these."""
        assert isinstance(X, SequenceSet)
        form, out = self.form(), np.empty(len(X))
        parts = np.cumsum(X.lengths) // AT_ONCE
        edges: list[int] = [*np.flatnonzero(np.diff(parts, prepend=-1)).tolist(), len(X)]
        with given_threads(n_threads):
            for start, stop in pairwise(edges):
                rows = slice(start, stop)
                with remedy_after_training(), naming_rows(X.ids[rows]):
                    out[rows] = form.values(X.take(rows))
        return out

    def form(self) -> TableForm:  # type: ignore[override]  # with what users of AffineForm.support need as an error
        """Return the decision as a function of T."""
        return self._form

    @cached_property
    def _form(self) -> TableForm:
        linear = self.solver.linear()
        assert self.alphabet is not None
        return TableForm(self.kernel, self.kernel.tables.tallied(iter(self.tally), self.alphabet), float(linear[1]))

    @property
    def n_columns(self) -> int:
        """The number of support sequences that the solver had."""
        columns: int = self.solver.n_features_in_
        return columns

    def own_state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return a JSON dict and a dict of arrays, in addition to the state of a Model."""
        return {"n": len(self.tally)}, {str(number): sums for number, sums in enumerate(self.tally)}

    def check_own(self) -> None:
        """Raise ValueError unless T has the form that the kernel requires."""
        good = not len(self.support) and not self.transforms and self.kind in ("binary", "real")
        good = good and all(sums.dtype == np.float32 and sums.ndim == 1 for sums in self.tally)
        if not good or not all(np.isfinite(sums).all() for sums in self.tally) or self.solver.linear() is None:
            raise ValueError("inconsistent tables")
        rest = iter(self.tally)
        assert self.alphabet is not None
        tallied = self.kernel.tables.tallied(rest, self.alphabet)
        if next(rest, None) is not None:
            raise ValueError("inconsistent tables")
        tallied.values(SequenceSet.from_strings([], self.alphabet))


@dataclass(frozen=True)
class TableForm:
    """The decision function of a TableModel; `seqkern.methods.model.AffineForm` without support sequences."""

    kernel: Kernel  # The kernel
    tallied: Tallied  # T
    constant: float  # b, the bias
    dividing = ()

    def values(self, X: SequenceSet) -> Floats:
        """Return decision values."""
        return normalised_values(self.kernel, self.tallied, X) + self.constant

    def attributions(self, X: SequenceSet) -> Floats:
        """Return the contribution of each residue to f(x) − b, the records one after the other."""
        return normalised_attributions(self.kernel, self.tallied, X)

    def kmer_weights(self, X: SequenceSet) -> KmerWeights:
        """Return the contribution of one occurrence of each k-mer of `X` to a decision."""
        return self.tallied.kmer_weights(X)

    def kmer_tables(self) -> list[tuple[int, Floats]] | None:
        """Return the weights of all k-mers in f(x) − b, before the norm of a normalised kernel; None without
        weights.
        """
        return self.tallied.tables()

    @property
    def support(self) -> NoReturn:
        """Raise ParameterError, as there are no support sequences."""
        raise ParameterError(NO_SUPPORT, remedy=REMEDY)

    @property
    def coefficients(self) -> NoReturn:
        """Raise ParameterError, as there are no support sequences."""
        raise ParameterError(NO_SUPPORT, remedy=REMEDY)


def tabulated(model: Model, scale: Floats | None = None, tally: Tally | None = None) -> TableModel | None:
    """Return the same model with sums over k-mers instead of its support sequences.

    Return None if the kernel or the solver needs the sequences. `scale` is 1 / √K(z, z) of each support sequence z;
    `tally` are the sums, if the solver has found them.
    """
    linear = None if model.transforms or model.kind not in ("binary", "real") else model.solver.linear()
    if linear is None or not isinstance(model.support, SequenceSet):
        return None
    coefficients = np.asarray(linear[0], dtype=np.float64)
    if tally is None and scale is not None:
        tally = model.kernel.tables.tally(model.support, scale * coefficients)
    elif tally is None:
        tally = normalised_tally(model.kernel, model.support, coefficients)
    if tally is None:
        return None
    return TableModel(
        kernel=model.kernel,
        transforms=[],
        solver=model.solver,
        support=model.support.take(slice(0, 0)).compact(),
        diagonal=np.zeros(0),
        kind=model.kind,
        classes=model.classes,
        policies=model.policies,
        record={**model.record, "rounding": rounding_error(model.kernel, tally, model.support.alphabet)},
        tally=tuple(sums.astype(np.float32) for sums in tally),
    )


def smaller(model: Model, scale: Floats | None = None, tally: Tally | None = None) -> Model:
    """Return the model with sums over k-mers if its file is smaller that way, else the given model.

    Sums over fitted features are taken in any case: those of the support would be computed for every prediction.
    """
    table = tabulated(model, scale, tally)
    fitted = model.kernel.traits.data_dependent or tally is not None
    return model if table is None or (_bytes(model) <= _bytes(table) and not fitted) else table


def _bytes(model: Model) -> int:
    """Return the number of bytes of a model's arrays."""
    return sum(array.nbytes for array in model.state()[1].values())


def rounding_error(kernel: Kernel, tally: Tally, alphabet: Alphabet) -> float | None:
    """Return the largest error of a k-mer's weight if the tally is kept in single precision.

    A decision value over n windows is off by at most n times as much, divided by √K(x, x) if the kernel is normalised.
    Return None if the weight of a k-mer is not one number.
    """
    lost = (sums - sums.astype(np.float32) for sums in tally)
    tables = kernel.tables.tallied(lost, alphabet).tables()
    return None if tables is None else float(max(np.abs(table).max() for _, table in tables))


# Weights of k-mers, and files of them: a k-mer and a number in each line, as written by ``gkmpredict`` for deltaSVM.
#
# The files for deltaSVM contain the scores of all DNA k-mers, only one of each pair of reverse complements,
# which counts for both strands.

LONGEST = 12
LINE = re.compile(rf"[ACGT]{{1,{LONGEST}}}[ \t]+[-+]?[0-9.][0-9.eE+-]*\s*", re.IGNORECASE)
KMER_WEIGHTS_REMEDY = "score all k-mers with gkmpredict again"


@dataclass(frozen=True, eq=False)
class KmerTables:
    """Weights of k-mers on the given strand.

    The decision value of x is b + Σ w(a) over the k-mers a of x, the sum divided by √K(x, x) if `normalised`;
    w(a) = w(reverse complement of a) for kernels that count both strands. A table has the weights of all k-mers
    of one length, shape (letters^k,), by code: the first letter is the most significant digit.
    """

    alphabet: Alphabet  # Letters of the k-mers
    # shape (letters^k,): For each length k the weights, by the code of the k-mer: its first letter is the most
    # significant digit
    tables: dict[int, Floats]
    constant: float  # b
    normalised: bool  # Whether the kernel is normalised
    both_strands: bool  # Whether the kernel counts both strands


def is_kmer_weights(path: PathLike) -> bool:
    """Return whether a file, plain or compressed, starts with a k-mer of DNA and a number."""
    try:
        with open_lines(path) as (lines, _):
            return LINE.fullmatch(next(lines)) is not None
    except (SeqkernError, OSError, ValueError):
        return False


def read_kmer_weights(path: PathLike) -> KmerTables:
    """Read the weights of DNA k-mers from a plain or compressed file.

    One of each k-mer and its reverse complement suffices; the weights are for both strands unless some k-mer
    and its reverse complement differ. The result has the constant 0, and is not normalised.
    """
    with open_text(path) as (text, name):
        words = text.read().split()
    kmers, numbers = words[::2], words[1::2]
    length = len(kmers[0]) if kmers else 0
    if not 1 <= length <= LONGEST or len(kmers) != len(numbers):
        raise ModelError(
            f"is not a table of weights of k-mers of DNA, of up to {LONGEST} bases",
            file=name,
            remedy=KMER_WEIGHTS_REMEDY,
        )
    codes = _codes(kmers, length, name)
    values = _numbers(kmers, numbers, name)
    table, seen = np.zeros(4**length), np.bincount(codes, minlength=4**length)
    if seen.max() > 1:
        raise ModelError(
            f"has {spell(seen[None].argmax(axis=1), length, DNA)[0]} more than once",
            file=name,
            remedy=KMER_WEIGHTS_REMEDY,
        )
    table[codes] = values
    other = reverse_complements(DNA, length)
    both = (seen[other] > 0) & (seen == 0)
    table[both] = table[other[both]]
    missing = np.flatnonzero((seen == 0) & ~both)
    if len(missing):
        raise ModelError(
            f"has no weight of {spell(missing[:1], length, DNA)[0]}: {len(missing)} of {len(table)} k-mers of "
            f"{length} bases are missing",
            file=name,
            remedy=KMER_WEIGHTS_REMEDY,
        )
    return KmerTables(DNA, {length: table}, 0.0, False, bool(np.array_equal(table, table[other])))


def write_kmer_weights(tables: KmerTables, path: PathLike) -> None:
    """Write the weights of DNA k-mers of one length; compressed if the name ends in ``.gz``.

    The file has neither the constant nor the norms of sequences, so differences between sequences of one length
    are those of `tables` only if these are not normalised, else up to the norms. If both strands count, only
    the first of each k-mer and its reverse complement is written.
    """
    if tables.alphabet.letters != DNA.letters or len(tables.tables) != 1:
        raise ParameterError(
            "a file of weights has k-mers of DNA of one length", remedy="give a model of a kernel such as gapped_kmer"
        )
    ((length, weights),) = tables.tables.items()
    codes = first_of_pairs(DNA, length) if tables.both_strands else np.arange(len(weights))
    pairs = zip(spell(codes, length, DNA), weights[codes].tolist(), strict=True)
    lines = [f"{kmer}\t{value!r}\n" for kmer, value in pairs]
    content = "".join(lines).encode("ascii")
    with atomic_write(path) as file:
        file.write(gzip.compress(content, mtime=0) if str(path).endswith(".gz") else content)


def _codes(kmers: list[str], length: int, name: str) -> Ints:
    """Return the code of each k-mer; raise ModelError if one has another length or other letters than bases."""
    for number, kmer in enumerate(kmers, start=1):
        if len(kmer) != length or not kmer.isascii():
            raise ModelError(
                f"line {number} has {kmer[:40]!r}, not a k-mer of {length} bases as the first line",
                file=name,
                remedy=KMER_WEIGHTS_REMEDY,
            )
    letters = DNA.encode("".join(kmers).encode("ascii")).reshape(-1, length)
    odd = np.flatnonzero((letters >= DNA.size).any(axis=1))
    if len(odd):
        raise ModelError(f"line {odd[0] + 1}: {kmers[odd[0]]!r} is not DNA", file=name, remedy=KMER_WEIGHTS_REMEDY)
    return (letters @ DNA.size ** np.arange(length)[::-1]).astype(np.int64)


def _numbers(kmers: list[str], words: list[str], name: str) -> Floats:
    """Return the weights parsed from text; raise ModelError if one is not a finite number."""
    values = np.array([read_number(word) for word in words])
    odd = np.flatnonzero(np.isnan(values))
    if len(odd):
        where = f"line {odd[0] + 1}: the weight of {kmers[odd[0]]}"
        raise ModelError(f"{where} is {words[odd[0]][:40]!r}, not a number", file=name, remedy=KMER_WEIGHTS_REMEDY)
    return values
