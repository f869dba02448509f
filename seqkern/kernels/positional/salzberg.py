"""The Salzberg kernel: log-odds of classes at every position (Zien et al., Bioinformatics 16, 2000)."""

from collections.abc import Iterator
from dataclasses import asdict
from itertools import combinations
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import LabelError, SequenceError
from seqkern.core.parameters import real
from seqkern.core.types import Arrays, Floats, Header, Ints
from seqkern.kernels.capabilities import Traits, capability
from seqkern.kernels.common_parameters import zero_rule
from seqkern.kernels.features import Features
from seqkern.kernels.planner import Workload
from seqkern.kernels.prepared import Plan
from seqkern.kernels.products import _product
from seqkern.kernels.products.product import PRODUCT_NS, FeatureKernel, RealDenseBlock, Term, TermBlocks
from seqkern.sequences.alphabets import alphabet_from_state
from seqkern.sequences.sequence_set import SequenceSet

CHUNK_LETTERS = 1 << 20
LETTER_NS = 12.0  # a letter: its value found, and put where products read it


class SalzbergKernel(FeatureKernel):
    r"""Salzberg kernel: log-odds between the classes at each position.

    It suits labelled sequences of one length cut around a site. `fit` learns the probabilities P₀ and P₁ of a residue
    given the one before it, at each position in each class: (n(a, b, p) + c)/(Σ_b n(a, b, p) + c·|A|), with n(a, b, p)
    the number of sequences of the class with residues a, b at p − 1, p. At the first position the probabilities are
    those of single residues. Where x_p or x_{p−1} is masked, s_p(x) is 0. With several classes, K is the sum of the
    kernels of all pairs of classes.

    Notes
    -----
    For sequences of one length,

    .. math:: K(x, y) = \sum_p s_p(x) s_p(y),  s_p(x) = \ln P_1(x_p | x_{p−1}, p) − \ln P_0(x_p | x_{p−1}, p)

    Complexity: O(L) per pair of sequences of length L, times the pairs of classes.

    Definiteness: positive semi-definite.

    References
    ----------
    Salzberg: A method for identifying splice sites and translational start sites in eukaryotic mRNA. Computer
    Applications in the Biosciences 13, 1997.

    Zien, Rätsch, Mika, Schölkopf, Lengauer, Müller: Engineering support vector machine kernels that recognize
    translation initiation sites. Bioinformatics 16, 2000.

    Examples
    --------
    >>> from seqkern.kernels import SalzbergKernel
    >>> kernel = SalzbergKernel(normalize=False).fit(["AGGT", "AGGT", "ACCA", "TCGA"], [1, 1, -1, -1])
    >>> kernel(["AGGT"], ["AGGT", "TCCA"]).round(2)
    array([[ 2.32, -1.34]])
    """

    name = "salzberg"
    summary = "Compares two sequences by their log-odds between the classes at each position."
    traits = Traits(data_dependent=True, equal_lengths=True, needs_classes=True)

    pseudocount: float = real(default=1.0, low=0, open_low=True, doc="c, the pseudocount added to every count.")
    zero_diagonal: Literal["error", "zero"] = zero_rule("a sequence with s_p(x) = 0 everywhere, as if all is masked")

    tested_with = ({}, {"pseudocount": 0.1, "normalize": False}, {"alphabet": "protein"})

    def _min_length(self) -> int:
        """Return 1, the minimum length of a sequence."""
        return 1

    def _fit(self, X: SequenceSet, y: npt.ArrayLike | None) -> None:
        """Set `ratios_`, float64 (pairs of classes, length, letters, letters): ln P₁(b | a, p) − ln P₀(b | a, p).

        For p = 0, only a = 0 is used.
        """
        if y is None:
            raise LabelError(
                f"kernel {self.name!r} needs class labels, and none are given",
                remedy="train or evaluate it with class labels",
            )
        y = np.asarray(y)
        if y.shape != (len(X),):
            raise LabelError(f"{len(y)} labels for {len(X)} sequences", remedy="give one for each sequence")
        classes = np.unique(y)
        if len(classes) < 2:
            raise LabelError(
                f"kernel {self.name!r} compares classes, but the training set has only one",
                remedy="choose a training set with examples of each class",
            )
        if len(classes) > 2 and np.issubdtype(y.dtype, np.floating):
            raise LabelError(
                f"kernel {self.name!r} needs class labels, and the labels are numbers", remedy="give classes"
            )
        if not X.lengths[0]:
            raise SequenceError("has no residues to learn from", record=X.ids[0], remedy="remove the record")
        size = X.alphabet.size
        logs = [_log_probabilities(X.take(np.flatnonzero(y == one)), size, self.pseudocount) for one in classes]
        self.ratios_ = np.array([second - first for first, second in combinations(logs, 2)])
        self.alphabet_ = X.alphabet

    def fitted_state(self) -> tuple[Header, Arrays]:
        """Return (JSON dict, dict of arrays): the log-ratios, and the alphabet that they are of."""
        if not self._fitted:
            return {}, {}
        return {"alphabet": asdict(self.alphabet_)}, {"ratios": self.ratios_}

    def restore_fitted(self, header: Header, arrays: Arrays) -> None:
        """Restore the state returned by `fitted_state`."""
        self.alphabet_ = alphabet_from_state(header["alphabet"])
        self.ratios_ = arrays["ratios"]

    @capability
    def features(self) -> Features:
        """The log-odds at each position, for each pair of classes."""
        return Features(self, self._ratios)

    def _ratios(self, X: SequenceSet) -> Floats:
        pairs, length, size, _ = self.ratios_.shape
        if X.alphabet != self.alphabet_:
            raise SequenceError(
                f"the sequences have the alphabet {X.alphabet.name}, those of the training set {self.alphabet_.name}",
                remedy="read them with that alphabet",
            )
        if len(X) and X.lengths[0] != length:
            raise SequenceError(
                f"has {X.lengths[0]} residues, the training set has {length}, and kernel {self.name!r} compares "
                "position by position",
                record=X.ids[0],
                remedy="trim all sequences to one length",
            )
        ratios = np.zeros((pairs, length * size * size + 1))
        ratios[:, :-1] = self.ratios_.reshape(pairs, -1)
        values = np.empty((len(X), pairs, length))
        for rows, cells in _cells(X, size):
            for pair in range(pairs):
                values[rows, pair] = ratios[pair, cells]
        return values.reshape(len(X), pairs * length)

    def _prepare(self, X: SequenceSet, like: TermBlocks | None) -> TermBlocks:
        return TermBlocks([Term(1.0, [(1, RealDenseBlock(self.features(X)))])])

    def _plan(self, X: Any, Y: Any) -> Plan:
        work = Workload.of(X, Y)
        total = work.output(self.n_threads)
        each = PRODUCT_NS[_product.level()]
        pairs = len(self.ratios_) if self._fitted else 1
        products = work.pairs * work.longest * pairs
        seconds = (LETTER_NS * work.letters * pairs + each * products) * 1e-9
        reason = f"{products:.3g} products, {each:.2g} ns each"
        return Plan("dense", total.seconds + seconds, total.bytes + 24 * work.letters * pairs, reason)

    def _attribute(self, X: SequenceSet, support: SequenceSet, coefficients: Floats) -> Floats:
        """Share s_p(x)·s_p(z) equally by the residues at p − 1 and p."""
        pairs, length = self.ratios_.shape[:2]
        weights = np.zeros(pairs * length)
        for value, coefficient in zip(self.features(support), coefficients, strict=True):
            weights += coefficient * value
        values = (self.features(X) * weights).reshape(len(X), pairs, length).sum(axis=1)
        shares = 0.5 * values
        shares[:, :1] *= 2
        shares[:, :-1] += 0.5 * values[:, 1:]
        return shares.reshape(-1)


def _cells(X: SequenceSet, size: int) -> Iterator[tuple[slice, Ints]]:
    """Yield (slice of rows, int64 (rows, length)), a chunk of records at a time: (p·size + x_{p−1})·size + x_p.

    x_{−1} counts as letter 0. Masked residues get the number after the last cell.
    """
    length = int(X.lengths[0]) if len(X) else 0
    step = max(1, CHUNK_LETTERS // max(1, length))
    places = np.arange(length) * size
    for start in range(0, len(X), step):
        part = X.take(slice(start, start + step))
        codes = part.codes[part.positions()].reshape(len(part), length).astype(np.int64)
        before = np.zeros_like(codes)
        before[:, 1:] = codes[:, :-1]
        cells = (places + before) * size + codes
        cells[(codes >= size) | (before >= size)] = length * size * size
        yield slice(start, start + len(part)), cells


def _log_probabilities(X: SequenceSet, size: int, pseudocount: float) -> Floats:
    """Return ln P(b | a, p) from the counts in `X`, float64 (length, size, size)."""
    shape = int(X.lengths[0]), size, size
    counts = np.zeros(np.prod(shape) + 1, dtype=np.int64)
    for _, cells in _cells(X, size):
        counts += np.bincount(cells.reshape(-1), minlength=len(counts))
    smoothed = counts[:-1].reshape(shape) + float(pseudocount)
    return np.log(smoothed) - np.log(smoothed.sum(axis=2, keepdims=True))
