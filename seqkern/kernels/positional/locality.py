"""Locality- and codon-improved kernels: matches in windows around every position (Zien et al., Bioinformatics 2000)."""

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.core.parameters import integer, numbers, real
from seqkern.core.types import Floats
from seqkern.kernels.capabilities import Traits
from seqkern.kernels.common_parameters import zero_rule
from seqkern.kernels.kernel import SequenceKernel
from seqkern.kernels.planner import Workload
from seqkern.kernels.positional import _locality
from seqkern.kernels.prepared import Plan, RecordRange
from seqkern.kernels.products import _product
from seqkern.sequences.sequence_set import SequenceSet

ROW_MASK, PANEL_MASK = 254, 255  # masked residues match nothing, not even each other
LARGEST_WINDOW, LARGEST_SUM = 2**16 - 1, 2**32 - 1
LARGEST_POWER = 100
LARGEST_EXPONENT = 500  # of two, so that K(x, x)·K(y, y) fits into a double
PAIR_NS = (0.7, 0.15, 0.13)  # a position of a pair, for each level of instructions
WEIGHT_NS = (0.2, 0.15, 0.11)  # a weight of a window, where they are summed one by one


class LocalityImprovedKernel(SequenceKernel):
    r"""Locality-improved kernel: matches near each other reinforce each other.

    It suits sequences of one length cut around a site, such as translation starts. Masked residues match nothing.

    Notes
    -----
    Over the windows inside sequences of length L, l ≤ p < L − l,

    .. math:: K(x, y) = (\sum_p win_p(x, y))^{d_2},  win_p = (\sum_{j=−l}^{l} w_j [x_{p+j} = y_{p+j}])^{d_1}

    Complexity: O(l·L) per pair, many pairs at once.

    Definiteness: positive semi-definite.

    References
    ----------
    Zien, Rätsch, Mika, Schölkopf, Lengauer, Müller: Engineering support vector machine kernels that recognize
    translation initiation sites. Bioinformatics 16, 2000.

    Examples
    --------
    Two matches side by side count more than three scattered ones:

    >>> from seqkern.kernels import LocalityImprovedKernel
    >>> kernel = LocalityImprovedKernel(l=1, d1=3, normalize=False)
    >>> kernel(["ACGTAC"], ["ACTACT", "AGGGGC"])
    array([[3.5 , 2.25]])
    """

    name = "locality_improved"
    summary = "Compares two sequences position by position; nearby matches reinforce each other."
    traits = Traits(equal_lengths=True)
    delta = 0.0

    l: int = integer(default=4, low=0, kw_only=False, doc="Residues on either side of the centre of a window.")  # noqa: E741
    d1: int = integer(
        default=4,
        low=1,
        high=LARGEST_POWER,
        kw_only=False,
        doc="Exponent within a window: how strongly its matches reinforce each other.",
    )
    d2: int = integer(
        default=1,
        low=1,
        high=LARGEST_POWER,
        kw_only=False,
        doc="Exponent of the sum over windows: how strongly windows reinforce each other.",
    )
    weights: list[float] | None = numbers(
        default=None,
        low=0,
        length="window",
        doc="w_−l, …, w_l, the weights within a window; by default 1 − |j|/(l + 1).",
    )
    zero_diagonal: Literal["error", "zero"] = zero_rule("a sequence that does not match itself, all masked")

    tested_with: ClassVar[Sequence[Any]] = (
        {"l": 3, "d1": 4, "d2": 1},
        {"l": 5, "d1": 3, "d2": 2, "normalize": False},
        {"l": 2, "d1": 12, "d2": 1, "alphabet": "protein"},
        {"l": 1, "d1": 2, "d2": 1, "weights": [0.2, 1, 0.7]},
        {"l": 0, "d1": 1, "d2": 3},
    )

    @property
    def window(self) -> int:
        """Residues in a window."""
        return 2 * self.l + 1

    def window_weights(self) -> Floats:
        """Return w_−l, …, w_l, float64 (2l + 1,)."""
        if self.weights is not None:
            return np.array(self.weights, dtype=np.float64)
        return 1 - np.abs(np.arange(-self.l, self.l + 1)) / (self.l + 1)

    def _check_parameters(self) -> None:
        if self.weights is not None and not any(self.weights):
            raise ParameterError("all weights are 0", remedy="give at least one weight above 0")

    def _min_length(self) -> int:
        """Return the number of residues of a window."""
        return 2 * self.l + 1

    def _units(self) -> tuple[int, int, int] | None:
        """Return integers in the ratio of a match to a match one codon away, and the largest sum of a window.

        None if the weights are not the default ones, or such sums exceed 16 bits.
        """
        ratio = Fraction(float(self.delta))
        largest = (ratio.denominator + 2 * ratio.numerator) * (self.l + 1) ** 2
        if self.weights is not None or largest > LARGEST_WINDOW:
            return None
        return ratio.denominator, ratio.numerator, largest

    def _rule(self, length: int) -> _locality.Rule:
        """Return the Rule for sequences of `length` residues, at least one window."""
        weights, delta, units = self.window_weights(), float(self.delta), self._units()
        self._check_range(weights, delta, length, units[2] if units else 1)
        narrow = units is not None and (length - 2 * self.l) * units[2] ** self.d1 <= LARGEST_SUM
        whole = None if units is None else units[:2]
        return _locality.Rule(length, self.l, (self.d1, self.d2), weights, delta, whole, narrow)

    def _check_range(self, weights: Floats, delta: float, length: int, largest: int) -> None:
        """Raise ParameterError if a value might overflow a double."""
        used = weights[weights > 0]
        low = min(used.min(), used.min() * delta if delta else math.inf)
        windows = [math.log2(low), math.log2(used.sum()) + math.log2(1 + 2 * delta), math.log2(largest)]
        sums = [self.d1 * value + (math.log2(length) if value > 0 else 0) for value in windows]
        if max(map(abs, sums)) * self.d2 > LARGEST_EXPONENT:
            raise ParameterError(
                f"l={self.l}, d1={self.d1} and d2={self.d2} make numbers that are too large or too small",
                remedy="choose smaller values, or weights nearer to 1",
            )

    def _prepare(self, X: SequenceSet, like: "LocalityPayload | None") -> "LocalityPayload":
        length = int(X.lengths[0]) if len(X) else self._min_length() if like is None else like.length
        if length < self._min_length():
            raise SequenceError(
                f"{length} residues are fewer than the {self._min_length()} of a window",
                record=X.ids[0],
                remedy="choose a smaller l",
            )
        if like is not None and len(like.codes) and length != like.length:
            raise SequenceError(
                f"has {length} residues, the columns have {like.length}, and kernel {self.name!r} compares position by "
                "position",
                record=X.ids[0],
                remedy="trim all sequences to one length",
            )
        return LocalityPayload(X, length, self._rule(length))

    def _block(self, rows: "LocalityPayload", cols: "LocalityPayload", out: Floats) -> None:
        buffer = np.empty(cols.rule.buffer_size)
        codes = rows.of_range(rows.codes)
        _locality.fill(cols.rule, codes, cols.panels, cols.first, buffer, out, _product.level())

    def _plan(self, X: Any, Y: Any) -> Plan:
        work, level = Workload.of(X, Y), _product.level()
        each = PAIR_NS[level] + (0 if self._units() else WEIGHT_NS[level] * self._min_length())
        cells = work.pairs * work.longest
        total = work.output(self.n_threads)
        reason = f"{cells:.3g} pairs of positions, {each:.2g} ns each"
        return Plan("panels", total.seconds + each * cells * 1e-9, total.bytes + 4 * work.letters, reason)

    def _attribute(self, X: SequenceSet, support: SequenceSet, coefficients: Floats) -> Floats:
        """Share the value of a window among its matches by weight, and K among the windows."""
        columns = self._prepare(support, None)
        rows = self._prepare(X, columns)
        shares = np.zeros((len(X), rows.length))
        buffer = np.empty(2 * rows.length)
        _locality.share(rows.rule, rows.codes, columns.codes, np.asarray(coefficients, np.float64), buffer, shares)
        return shares.reshape(-1)


class CodonImprovedKernel(LocalityImprovedKernel):
    """Codon-improved kernel: locality-improved, with matches one codon away.

    It suits coding sequences of one length, in which codons may be inserted or deleted. Bases outside the sequence
    match nothing.

    Notes
    -----
    In the formula of the locality-improved kernel, a match at p becomes match_p:

    .. math:: match_p = [x_p = y_p] + δ ([x_p = y_{p+3}] + [x_{p+3} = y_p])

    Complexity: O(l·L) per pair of sequences of length L, many pairs at once.

    Definiteness: positive semi-definite for δ = 0, otherwise indefinite in general.

    References
    ----------
    Zien, Rätsch, Mika, Schölkopf, Lengauer, Müller: Engineering support vector machine kernels that recognize
    translation initiation sites. Bioinformatics 16, 2000.

    Examples
    --------
    A start codon that is one codon farther matches with δ, here a half:

    >>> from seqkern.kernels import CodonImprovedKernel, LocalityImprovedKernel
    >>> x, y = ["ATGCCCCCC"], ["GGTATGGGG"]
    >>> LocalityImprovedKernel(l=1, d1=1, normalize=False)(x, y)
    array([[0.]])
    >>> CodonImprovedKernel(l=1, d1=1, normalize=False)(x, y)
    array([[2.]])
    """

    name = "codon_improved"
    traits = replace(LocalityImprovedKernel.traits, definite=None)
    summary = "Compares two sequences position by position, and one codon to the left and right."

    delta: float = real(default=0.5, low=0, kw_only=False, doc="δ, the weight of a match one codon away.")

    tested_with = (
        {"l": 3, "d1": 4, "d2": 1},
        {"l": 2, "d1": 3, "d2": 2, "delta": 0.3, "normalize": False},
        {"l": 1, "d1": 2, "d2": 1, "delta": 0.25, "weights": [0.2, 1, 0.7]},
        {"l": 4, "d1": 2, "d2": 1, "delta": 0.0},
    )

    def _traits(self, declared: Traits) -> Traits:
        return replace(declared, definite=self.delta == 0)


class LocalityPayload(RecordRange):
    """Payload of equal-length sequences, or a range of them, as rows and as panels of 32 sequences side by side.

    Each sequence is followed by three codes that match nothing.
    """

    def __init__(self, X: SequenceSet, length: int, rule: Any) -> None:
        self.length, self.rule = length, rule
        self.first, self.last = 0, len(X)
        n_panels, lanes = -(-len(X) // _locality.PANEL), _locality.PANEL
        padded = np.full((n_panels, lanes, length + _locality.BEYOND), PANEL_MASK, dtype=np.uint16)
        letters = padded.reshape(-1, padded.shape[2])[: len(X)]
        letters[:, :length] = X.codes[X.positions()].reshape(len(X), length)
        letters[letters >= X.alphabet.size] = PANEL_MASK
        self.codes = np.where(letters == PANEL_MASK, np.uint16(ROW_MASK), letters)
        self.panels = np.ascontiguousarray(padded.swapaxes(1, 2))

    def diagonal(self) -> Floats:
        """Return K(x, x), float64 (n,)."""
        out = np.empty(len(self.codes))
        buffer = np.empty(self.rule.buffer_size)
        _locality.diagonal(self.rule, self.codes, self.panels, buffer, out, _product.level())
        return self.of_range(out)
