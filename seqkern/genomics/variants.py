"""Scorers of variants: tables, windows or sites of one model or several."""

from __future__ import annotations

import itertools
import os
import re
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from seqkern.core.archive import unwritable
from seqkern.core.errors import ModelError, ParameterError, SequenceError, ZeroDiagonalError
from seqkern.core.threads import available_threads, in_threads
from seqkern.core.types import Array, Arrays, Bools, Codes, Floats, Ints, PathLike
from seqkern.genomics import _variants as loops
from seqkern.kernels.kmer.kmers import first_of_pairs, reverse_complements, unfold
from seqkern.kernels.occurrences import spell
from seqkern.methods.model import check_finite
from seqkern.methods.scan import position_scorer
from seqkern.sequences.alphabets import MASK, Alphabet
from seqkern.sequences.sequence_set import SequenceSet

if TYPE_CHECKING:
    from seqkern.formats.alleles import PlacedAlleles
    from seqkern.methods.model import Model
    from seqkern.methods.table_model import KmerTables


# Scorers of variants: the interface, and the choice of a model's scorer.


class Scorer(Protocol):
    """Interface of a scorer of alleles."""

    flank: int
    columns: Mapping[str, str]
    alphabet: Alphabet

    def score(self, alleles: PlacedAlleles, n_threads: int | None = None) -> Arrays:
        """Return the numbers of alleles by name, among them ``reference``, ``alternative`` and ``delta``.

        They are NaN where an allele has no score.
        """

    def sums(self, X: SequenceSet, n_threads: int | None = None) -> Floats:
        """Return the score of whole sequences, float64 (n,)."""


def read_scorer(path: PathLike, window: int | None = None, around: int = 50) -> Scorer:
    """Return the scorer of a model file (seqkern or LS-GKM), or of a file of k-mer weights as deltaSVM reads them.

    `window` is the length in bases of the windows whose decisions are compared; for models of sites, `around` is
    how far
    from the variant sites are sought.
    """
    # imported here for fast start-up
    from seqkern.methods.loading import load_model
    from seqkern.methods.model import Model
    from seqkern.methods.table_model import is_kmer_weights, read_kmer_weights

    try:
        if is_kmer_weights(path):
            if window is not None:
                raise ParameterError(
                    f"--window needs a model, and {path} has weights of k-mers",
                    remedy="remove --window, or give the model",
                )
            weights = read_kmer_weights(path)
            return TableScorer(weights.tables, weights.alphabet)
        model = load_model(Path(path))
        if not isinstance(model, Model):
            raise ModelError("is a model of residues of chains", remedy="give a model of whole sequences")
        return model_scorer(model, window, around)
    except ModelError as error:
        error.file = path
        raise


def model_scorer(model: Model, window: int | None = None, around: int = 50, width: int | None = None) -> Scorer:
    """Return the scorer of a model: by sites if it was trained on windows around them, else by k-mers or windows.

    `width` is the length of windows where there are no k-mers, by default as in training.
    """
    difference = model.kernel.traits.antisymmetric
    if difference:
        model, width = _of_one_allele(model), model.record.get("genome", {}).get("width")
    _check(model)
    if model.window is not None:
        if window is not None and window != model.window.length:
            raise ParameterError(
                f"the model was trained on windows of {model.window.length} bases around sites",
                remedy="remove --window",
            )
        return SiteScorer(model, around)
    if window is None and not (difference and model.kernel.normalize):
        weights = single_kmer_weights(model)
        if weights is not None and not (difference and width and max(weights.tables) > (width + 1) // 2):
            return TableScorer(weights.tables, weights.alphabet)
    window = width if window is None else window
    if window is None:
        lengths = getattr(model.support, "lengths", np.zeros(0, dtype=np.int64))
        if not len(lengths):
            raise ModelError("does not hold the length of its training sequences", remedy="give --window LENGTH")
        window = int(np.median(lengths))
    return WindowScorer(model, window)


def _of_one_allele(model: Model) -> Model:
    """Return a model of single sequences whose differences are the decisions of a model of differences, but for its
    constant.
    """
    # imported here for fast start-up
    from seqkern.methods.feature_model import FeatureModel
    from seqkern.methods.lsgkm import weighted_sum

    kernel: Any = model.kernel
    if kernel.normalize or model.transforms:
        raise ModelError(
            "its differences are normalised or transformed, so that no allele has a value of its own",
            remedy="train with rule=difference,normalize=false and without --transform",
        )
    if isinstance(model, FeatureModel):
        base, support, _ = kernel.of_sequences(model.support, np.zeros(len(model.support)))
        return replace(model, kernel=base, support=support)
    form = model.form()
    base, support, coefficients = kernel.of_sequences(form.support, form.coefficients)
    solver, diagonal = weighted_sum(coefficients, form.constant), base.diagonal(support)
    return replace(model, kernel=base, solver=solver, support=support, diagonal=diagonal, kind="real", classes=())


def single_kmer_weights(model: Model) -> KmerTables | None:
    """Return the decision, without the constant, on each k-mer as a sequence of its own; None if there is no table.

    There is none if decisions are not sums over k-mers, or are divided by a norm that several lengths share. For a
    normalised kernel it is w(a)/√K(a, a), the score of gkmpredict that deltaSVM sums up.
    """
    from seqkern.methods.loading import kmer_tables  # imported here for fast start-up
    from seqkern.methods.table_model import KmerTables

    try:
        found = kmer_tables(model)
    except ParameterError:
        return None
    if not found.normalised:
        return found
    if len(found.tables) != 1:
        return None
    ((length, weights),) = found.tables.items()
    apart = _from_reverse_complements(found.alphabet, length)
    kinds, roots = np.flatnonzero(np.bincount(apart)), np.zeros(length + 1)
    firsts = np.array([np.argmax(apart == kind) for kind in kinds], dtype=np.int64)
    X = SequenceSet.from_strings(spell(firsts, length, found.alphabet), found.alphabet)
    roots[kinds] = np.sqrt(np.maximum(model.kernel.prepare(X).raw_diagonal, 0.0))
    own = np.divide(weights, roots[apart], out=np.zeros_like(weights), where=roots[apart] > 0)
    if found.both_strands:  # to the last bit
        own = unfold(own[first_of_pairs(found.alphabet, length)], found.alphabet, length)
    return KmerTables(found.alphabet, {length: own}, found.constant, False, found.both_strands)


def _from_reverse_complements(alphabet: Alphabet, length: int) -> Codes:
    """Return the Hamming distance of each k-mer a from its reverse complement, on which alone K(a, a) depends.

    K-mer kernels compare k-mers by their Hamming distances. Without complements all are 0.
    """
    apart = np.zeros((alphabet.size,) * length, dtype=np.uint8)
    if alphabet.complement is not None:
        other = alphabet.complement_codes[: alphabet.size]
        differ = (np.arange(alphabet.size)[:, None] != other[None, :]).astype(np.uint8)
        for place in range(length // 2):  # a pair of places agrees in both or in neither
            shape = [alphabet.size if axis in (place, length - 1 - place) else 1 for axis in range(length)]
            apart += 2 * differ.reshape(shape)
        apart += length % 2
    return apart.ravel()


def _check(model: Model) -> None:
    """Raise ModelError unless a model gives sequences one decision value."""
    if model.alphabet is None:
        raise ModelError("was trained on a feature table", remedy="give a model of sequences")
    if model.projects or model.kind == "multiclass":
        raise ModelError(
            "has several decision values for each sequence",
            remedy="train one class against the rest with --positive",
        )
    if model.kernel.traits.tracks or model.kernel.traits.views or model.sequence_views:
        raise ModelError(
            f"kernel {model.kernel.name!r} needs tracks, views or several sequences, which alleles lack",
            remedy="give a model of sequences alone",
        )


# Effects of variants by k-mer weights: the sums over the k-mers that cover a variant, as in deltaSVM.
#
# References:
# Lee et al. 2015, Nat. Genet. 47:955-961.

LARGEST = 1e290
"""Maximum absolute weight of a k-mer, so that no sum over a sequence's k-mers overflows."""
LEAST = 1024
"""Minimum number of variants for which a thread is worthwhile."""


class TableScorer:
    """Scorer of variants by sums of k-mer weights, given for each length k as an array (letters^k,)."""

    columns: Mapping[str, str] = {
        "reference": "Sum of the weights of the k-mers that cover the reference allele",
        "alternative": "Sum of the weights of the k-mers that cover the alternative allele",
        "delta": "alternative - reference (deltaSVM)",
        "ref_kmer": "Reference k-mer whose change alters the sum most",
        "alt_kmer": "The same k-mer with the alternative allele",
    }

    def __init__(self, tables: Mapping[int, Floats], alphabet: Alphabet) -> None:
        self.tables = {length: np.ascontiguousarray(table, dtype=np.float64) for length, table in tables.items()}
        if not all(max(table.max(), -table.min()) <= LARGEST for table in self.tables.values()):  # NaN is not
            raise ModelError(
                "the weights of k-mers are too large: their sums would not be finite numbers",
                remedy="train the model again",
            )
        self.alphabet = alphabet
        self.flank = max(self.tables) - 1

    def score(self, alleles: PlacedAlleles, n_threads: int | None = None) -> Arrays:
        codes = self.alphabet.encode(alleles.text.tobytes())
        n, width = len(alleles.places), max(self.tables)
        out: dict[str, Any] = {"reference": np.full(n, np.nan), "alternative": np.full(n, np.nan)}
        kmers = np.zeros((2, n), dtype=f"S{width}")
        single = np.flatnonzero(alleles.snv)
        refs, alts, length, first = self._singles(codes, alleles, single, n_threads)
        good = first >= 0
        out["reference"][single[good]], out["alternative"][single[good]] = refs[good], alts[good]
        for k in self.tables:
            chosen = np.flatnonzero(good & (length == k))
            rows, where = single[chosen], first[chosen]
            found = alleles.text[where[:, None] + np.arange(k)]
            kmers[0, rows] = _joined(found)
            found[np.arange(len(rows)), alleles.places[rows] - where] = _bytes(alleles.alts, rows)
            kmers[1, rows] = _joined(found)
        others = np.flatnonzero(~alleles.snv)
        for name, column in (("reference", alleles.refs), ("alternative", alleles.alts)):
            out[name][others] = self._others(alleles, others, column)
        return {**out, "delta": out["alternative"] - out["reference"], "ref_kmer": kmers[0], "alt_kmer": kmers[1]}

    def sums(self, X: SequenceSet, n_threads: int | None = None) -> Floats:
        """Return the sum of the weights of all k-mers of each sequence, float64 (n,)."""
        out = np.zeros(len(X))
        for length, table in self.tables.items():
            loops.window_sums(X.codes, X.starts, X.stops, table, length, self.alphabet.size, out)
        return out

    def _singles(self, codes: Codes, alleles: PlacedAlleles, rows: Ints, n_threads: int | None) -> tuple[Array, ...]:
        """Return sums of single-base variants, and length and place of the k-mer that changes most (-1: none)."""
        n, places, size = len(rows), alleles.places[rows], self.alphabet.size
        alts = self.alphabet.encode(_bytes(alleles.alts, rows).tobytes())
        sums, most = np.zeros((2, n)), np.zeros(n)
        best_length, first = np.zeros(n, dtype=np.int64), np.full(n, -1, dtype=np.int64)
        cuts = np.linspace(0, n, max(1, min(available_threads(n_threads), n // LEAST)) + 1).astype(int).tolist()
        for length, table in self.tables.items():
            change, offset = np.zeros(n), np.zeros(n, dtype=np.int32)

            def part(a: int, b: int, table: Any = table, length: int = length, found: Any = (change, offset)) -> None:
                outputs = sums[0, a:b], sums[1, a:b], found[0][a:b], found[1][a:b]
                loops.snv_sums(codes, places[a:b], alts[a:b], table, length, size, *outputs)

            in_threads([lambda a=a, b=b: part(a, b) for a, b in itertools.pairwise(cuts)], n_threads)
            better = (offset >= 0) & ((first < 0) | (np.abs(change) > np.abs(most)))
            most[better], best_length[better] = change[better], length
            first[better] = places[better] - offset[better]
        return sums[0], sums[1], best_length, first

    def _others(self, alleles: PlacedAlleles, rows: Ints, column: list[bytes]) -> Floats:
        """Return the sums over the k-mers that cover alleles of any length; NaN without a k-mer."""
        out, bare = np.zeros(len(rows)), np.ones(len(rows), dtype=bool)
        for length, table in self.tables.items():
            windows = list(map(b"".join, alleles.spelled(column, length - 1, length - 1, rows)))
            whole = re.compile(b"[ACGT]{%d}" % length, re.IGNORECASE)
            bare &= np.array([whole.search(window) is None for window in windows], dtype=bool)
            codes, starts, stops, *_ = alleles.encoded(column, length - 1, self.alphabet, rows)
            loops.window_sums(codes, starts, stops, table, length, self.alphabet.size, out)
        out[bare] = np.nan
        return out


def _bytes(texts: list[bytes], rows: Ints) -> Codes:
    """Return single bases as one array."""
    return np.frombuffer(b"".join([texts[row] for row in rows.tolist()]), dtype=np.uint8)


def _joined(rows: Codes) -> npt.NDArray[np.bytes_]:
    """Return each row of bases as one text."""
    return np.ascontiguousarray(rows).view(f"S{rows.shape[1]}").ravel()


# Effects of variants on any model's decision about a window centred at the variant.

AT_ONCE = 1 << 12


class WindowScorer:
    """Scorer of variants by decisions about windows of one length W.

    A window begins ⌊(W − 1)/2⌋ bases before the reference allele. It holds the allele and then the bases after the
    reference allele, up to W in all, so that windows of insertions reach less far, of deletions farther.
    """

    def __init__(self, model: Model, window: int) -> None:
        assert model.alphabet is not None
        self.model, self.window, self.flank = model, window, window
        self.alphabet: Alphabet = model.alphabet
        self._try_length()
        self.columns: Mapping[str, str] = {
            "reference": f"Decision value of the window of {window} bases with the reference allele",
            "alternative": f"Decision value of the window of {window} bases with the alternative allele",
            "delta": "alternative - reference",
        }

    def score(self, alleles: PlacedAlleles, n_threads: int | None = None) -> Arrays:
        """Return the decisions with either allele; see `Scorer.score`.

        They are NaN where the window has bases other than A, C, G and T, or exceeds the chromosome.
        """
        return self.decisions(self.windows(alleles), len(alleles.places), n_threads)

    def windows(self, alleles: PlacedAlleles) -> list[tuple[Ints, SequenceSet]]:
        """Return (rows, windows) of alleles with complete windows, in batches; reference alleles before alternative
        ones.
        """
        out = []
        for start in range(0, len(alleles.places), AT_ONCE):
            rows = np.arange(start, min(start + AT_ONCE, len(alleles.places)))
            codes = self._windows(alleles, rows)
            good = np.flatnonzero((codes != MASK).all(axis=(0, 2)))
            if len(good):
                lengths = np.arange(2 * len(good) + 1) * self.window
                ids = [str(row) for row in rows[good].tolist()] * 2
                X = SequenceSet.from_offsets(codes[:, good].ravel(), lengths, ids, self.alphabet)
                out.append((rows[good], X))
        return out

    def decisions(self, windows: list[tuple[Ints, SequenceSet]], n: int, n_threads: int | None = None) -> Arrays:
        """Return the numbers of alleles from the `windows` of any model with this window length."""
        out: Arrays = {name: np.full(n, np.nan) for name in ("reference", "alternative")}
        for rows, X in windows:
            out["reference"][rows], out["alternative"][rows] = np.split(self.model.decision(X, n_threads=n_threads), 2)
        return {**out, "delta": out["alternative"] - out["reference"]}

    def sums(self, X: SequenceSet, n_threads: int | None = None) -> Floats:
        return self.model.decision(X, n_threads=n_threads)

    def _try_length(self) -> None:
        """Raise ParameterError if the model takes no sequences of this length."""
        X = SequenceSet.from_strings([self.alphabet.letters[0] * self.window], self.alphabet)
        try:
            self.model.decision(X, n_threads=1)
        except ZeroDiagonalError:  # says nothing about the length
            pass
        except SequenceError as error:
            raise ParameterError(
                f"the model does not take windows of {self.window} bases: {error.problem}",
                remedy="give --window the length of the training sequences",
            ) from error

    def _windows(self, alleles: PlacedAlleles, rows: Ints) -> Codes:
        """Return the codes of the windows with either allele, uint8 (2, rows, W); masked where bases are missing."""
        parts = [b"".join(alleles.windows(column, self.window, rows)) for column in (alleles.refs, alleles.alts)]
        return self.alphabet.encode(b"".join(parts)).reshape(2, len(rows), self.window)


# Effects of variants on sites: the best site near a variant with either allele, for models of windows around sites.

SITES_AT_ONCE = 1 << 10
LOSS, GAIN = b"loss", b"gain"


class SiteScorer:
    """Scorer of variants by the best site near them."""

    columns: Mapping[str, str] = {
        "reference": "Highest decision value of a site near the variant, with the reference allele",
        "alternative": "The same with the alternative allele",
        "delta": "alternative - reference",
        "ref_site": "Offset of that site's first base from the variant, and its strand, with the reference allele",
        "alt_site": "The same with the alternative allele",
        "effect": "loss or gain: only one allele has a site above the model's threshold",
    }

    def __init__(self, model: Model, around: int = 50) -> None:
        assert model.alphabet is not None
        assert model.window is not None
        self.model, self.around, self.window = model, around, model.window
        self.alphabet: Alphabet = model.alphabet
        self.flank = around + max(self.window.left, self.window.right) + 1
        self.site = self.window.site_codes(self.alphabet)
        self._weights = position_scorer(model)
        self.strands = (0, 1) if self.alphabet.complement is not None else (0,)

    def score(self, alleles: PlacedAlleles, n_threads: int | None = None) -> Arrays:
        """Return the decisions about the best site with either allele, NaN without a site; see `Scorer.score`."""
        n = len(alleles.places)
        best, sites = np.full((2, n), np.nan), np.zeros((2, n), dtype="S16")
        for start in range(0, n, SITES_AT_ONCE):
            rows = slice(start, min(start + SITES_AT_ONCE, n))
            for number, column in enumerate((alleles.refs, alleles.alts)):
                best[number, rows], sites[number, rows] = self._best(alleles, rows, column, n_threads)
        cut = 0.0 if self.model.threshold is None else self.model.threshold.value
        effect = np.zeros(n, dtype="S4")
        above = best > cut  # NaN is not
        effect[above[0] & ~above[1]], effect[above[1] & ~above[0]] = LOSS, GAIN
        return {
            "reference": best[0],
            "alternative": best[1],
            "delta": best[1] - best[0],
            "ref_site": sites[0],
            "alt_site": sites[1],
            "effect": effect,
        }

    def sums(self, X: SequenceSet, n_threads: int | None = None) -> Floats:
        return self.model.decision(X, n_threads=n_threads)

    def _best(
        self, alleles: PlacedAlleles, rows: slice, column: list[bytes], n_threads: int | None
    ) -> tuple[Floats, npt.NDArray[np.bytes_]]:
        """Return the highest decision about a site near each variant (NaN if there is none), and the site's
        location.
        """
        codes, starts, stops, first, last = alleles.encoded(
            column, self.flank, self.alphabet, np.arange(rows.start, rows.stop)
        )
        length, n = stops - starts, len(starts)
        owner = np.repeat(np.arange(n), length)
        offset = np.arange(len(codes)) - first[owner]
        near = (offset >= -self.around) & (offset < (last - first)[owner] + self.around)
        best, where = np.full(n, -np.inf), np.zeros(n, dtype="S16")
        for strand in self.strands:
            text = codes if strand == 0 else self.alphabet.complement_codes[codes[::-1]]
            first = self._candidates(text, near if strand == 0 else near[::-1], starts, length, strand)
            if not len(first):
                continue
            values = self._decide(text, first - self.window.left, n_threads)
            at = first if strand == 0 else len(codes) - 1 - first
            order = np.lexsort((at, -values, owner[at]))
            top = order[np.unique(owner[at[order]], return_index=True)[1]]
            mine, better = owner[at[top]], values[top] > best[owner[at[top]]]
            best[mine[better]] = values[top][better]
            words = [f"{shift:+d}:{'+-'[strand]}".encode() for shift in offset[at[top][better]].tolist()]
            where[mine[better]] = words
        return np.where(np.isinf(best), np.nan, best), where

    def _candidates(self, text: Codes, near: Bools, starts: Ints, length: Ints, strand: int) -> Ints:
        """Return the starts on a strand of sites whose windows lie in one piece and have no masked base."""
        first = np.flatnonzero(near)
        low = starts if strand == 0 else len(text) - starts - length
        order = np.argsort(low, kind="stable")
        piece = order[np.searchsorted(low[order], first, side="right") - 1]
        begin, end = first - self.window.left, first + self.window.right + 1
        inside = (begin >= low[piece]) & (end <= low[piece] + length[piece])
        masked = np.concatenate(([0], np.cumsum(text == MASK)))
        first, begin, end = first[inside], begin[inside], end[inside]
        good = masked[end] == masked[begin]
        for place, code in enumerate(self.site.tolist()):
            good &= text[np.minimum(first + place, len(text) - 1)] == code
        return first[good]

    def _decide(self, text: Codes, begins: Any, n_threads: int | None) -> Floats:
        """Return the decisions about windows."""
        ids = [f"window {i}" for i in range(1, len(begins) + 1)]
        if self._weights is not None:
            found = self._weights(np.ascontiguousarray(text), begins, n_threads)
            check_finite(found, ids)
            return found
        X = SequenceSet(np.ascontiguousarray(text), begins, begins + self.window.length, ids, self.alphabet)
        return self.model.decision(X, n_threads=n_threads)


# Tables kept in memory as far as they fit, and further ones in a temporary file.


class TableStore:
    """Store of tables that are needed repeatedly, one after the other: up to `room` bytes in memory, the rest in a
    file.
    """

    def __init__(self, room: float = np.inf, folder: PathLike | None = None) -> None:
        self.room, self.folder = room, folder
        self.in_memory = self.in_file = 0
        self._file: IO[bytes] | None = None

    def keep(self, table: Floats) -> Callable[[], Floats]:
        """Keep a table, and return a function, safe in several threads, that returns it."""
        if self.in_memory + table.nbytes <= self.room:
            self.in_memory += table.nbytes
            return lambda: table
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(dir=self.folder, buffering=0)  # noqa: SIM115
            start, size, handle = self.in_file, table.nbytes, self._file.fileno()
            table.tofile(self._file)
        except OSError as error:
            raise unwritable(Path(self.folder or tempfile.gettempdir()), error) from error
        self.in_file += size
        return lambda: np.frombuffer(os.pread(handle, size, start), dtype=np.float64)


# Several models on the same alleles: windows are encoded, and k-mers found, once for all models of a kind.


class Panel:
    """Scorers by name: a single scorer gives all its numbers, several give only `reference` and `delta`."""

    def __init__(self, several: bool, store: TableStore | None = None) -> None:
        self.several = several
        self.columns: dict[str, Mapping[str, str]] = {}
        self.alphabets: dict[str, Alphabet] = {}
        self.flank = 1
        self._store = TableStore() if store is None else store
        self._kinds: dict[Any, _OneKind] = {}
        self._others: dict[str, Scorer] = {}

    def add(self, name: str, scorer: Scorer) -> None:
        """Add a model; if there are several, its k-mer weights are copied."""
        self.columns[name] = {"delta": scorer.columns["delta"]} if self.several else scorer.columns
        self.alphabets[name], self.flank = scorer.alphabet, max(self.flank, scorer.flank)
        if not self.several or not isinstance(scorer, TableScorer):
            self._others[name] = scorer
            return
        key = scorer.alphabet, tuple(scorer.tables), both_strands(scorer.tables, scorer.alphabet)
        kind = self._kinds.setdefault(key, _OneKind(*key))
        kind.tables[name] = {
            length: self._store.keep(table[kind.kept[length]]) for length, table in scorer.tables.items()
        }

    def score(self, alleles: PlacedAlleles, n_threads: int | None = None) -> Arrays:
        """Return the numbers of alleles by ``NAME/column``, bit for bit equal to each model's own."""
        out: Arrays = {}
        for kind in self._kinds.values():
            for name, (reference, alternative) in kind.sums(alleles, n_threads).items():
                out |= {f"{name}/reference": reference, f"{name}/delta": alternative - reference}
        windows: dict[tuple[Alphabet, int], Any] = {}
        for name, scorer in self._others.items():
            if isinstance(scorer, WindowScorer):
                key = scorer.alphabet, scorer.window
                if key not in windows:
                    windows[key] = scorer.windows(alleles)
                found = scorer.decisions(windows[key], len(alleles.places), n_threads)
            else:
                found = scorer.score(alleles, n_threads)
            out.update({f"{name}/{column}": found[column] for column in ("reference", *self.columns[name])})
        return out


def both_strands(tables: Mapping[int, Floats], alphabet: Alphabet) -> bool:
    """Return whether each k-mer has exactly the weight of its reverse complement."""
    return alphabet.complement is not None and all(
        np.array_equal(table, table[reverse_complements(alphabet, length)]) for length, table in tables.items()
    )


class _OneKind:
    """K-mer weights of several models, for the same lengths; with `both`, one weight for each pair of k-mers."""

    def __init__(self, alphabet: Alphabet, lengths: tuple[int, ...], both: bool) -> None:
        self.alphabet = alphabet
        self.kept: dict[int, Any] = {}
        self.ranks: dict[int, npt.NDArray[np.int32]] = {}
        self.tables: dict[str, dict[int, Callable[[], Floats]]] = {}
        for length in lengths:
            self.kept[length], self.ranks[length] = slice(None), np.arange(alphabet.size**length, dtype=np.int32)
            if both:
                first, other = first_of_pairs(alphabet, length), reverse_complements(alphabet, length)
                self.kept[length] = first
                self.ranks[length] = np.searchsorted(first, np.minimum(np.arange(len(other)), other)).astype(np.int32)

    def sums(self, alleles: PlacedAlleles, n_threads: int | None) -> dict[str, tuple[Floats, Floats]]:
        """Return the sums of each model with the reference and the alternative; NaN where an allele has no k-mer."""
        ref, alt = (self._sums(alleles, column, n_threads) for column in (alleles.refs, alleles.alts))
        return {name: (ref[name], alt[name]) for name in self.tables}

    def _sums(self, alleles: PlacedAlleles, column: list[bytes], n_threads: int | None) -> dict[str, Floats]:
        """Return each model's sum over the k-mers that cover each allele."""
        out = {name: np.zeros(len(column)) for name in self.tables}
        bare = np.ones(len(column), dtype=bool)
        for length, ranks in self.ranks.items():
            codes, starts, stops, *_ = alleles.encoded(column, length - 1, self.alphabet)
            rows = np.empty(len(codes), dtype=np.int32)
            loops.kmer_rows(codes, starts, stops, length, ranks, self.alphabet.size, rows)
            found = np.concatenate(([0], np.cumsum(rows >= 0)))
            bare &= found[stops] == found[starts]

            def add(
                name: str, length: int = length, rows: Any = rows, starts: Any = starts, stops: Any = stops
            ) -> None:
                loops.row_sums(rows, starts, stops, self.tables[name][length](), out[name])

            in_threads([lambda name=name, add=add: add(name) for name in self.tables], n_threads)
        for sums in out.values():
            sums[bare] = np.nan
        return out
