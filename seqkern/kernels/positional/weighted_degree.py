"""Weighted degree kernels, with and without shifts (Rätsch & Sonnenburg 2004; Rätsch et al. 2005)."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.core.parameters import changed, integer, numbers
from seqkern.kernels import _blocks
from seqkern.kernels.implicit import Implicit
from seqkern.kernels.kernel import SequenceKernel
from seqkern.kernels.planner import Workload
from seqkern.kernels.positional.degree_explanations import DegreeExplanations
from seqkern.kernels.positional.degree_implicit import implicit_bytes_of, implicit_of
from seqkern.kernels.positional.degree_payload import (
    SMALL,
    DegreePayload,
    degree_cost,
    largest_sum,
    make_sum,
    positions_are_definite,
)
from seqkern.kernels.positional.position_weights import PositionWeights, fold, of_kernel
from seqkern.kernels.prepared import Plan, Prepared
from seqkern.sequences.sequence_set import SequenceSet

LARGEST_DEGREE = LARGEST_SHIFT = 10_000
EXACT = 2**52


class WeightedDegreeKernel(DegreeExplanations, SequenceKernel):
    r"""Weighted degree kernel: k-mers that match at the same position.

    It suits sequences of one length cut around a site, such as splice sites.

    Notes
    -----
    With weights β_k of the lengths and γ_i of the positions,

    .. math:: K(x, y) = \sum_{k=1}^{d} β_k \sum_i γ_i [x_i..x_{i+k−1} = y_i..y_{i+k−1}]

    Complexity: O(d·L) per pair of sequences of length L. Matches are bits of machine words, 64 positions at a time, and
    lengths beyond the longest match are skipped.

    Definiteness: positive semi-definite.

    References
    ----------
    Rätsch, Sonnenburg: Accurate splice site prediction for Caenorhabditis elegans. In: Kernel Methods in Computational
    Biology, MIT Press, 2004.

    Examples
    --------
    Of the three k-mers of one residue and the two of two residues, ACG and ACT share three:

    >>> from seqkern.kernels import WeightedDegreeKernel
    >>> WeightedDegreeKernel(degree=2, normalize=False)(["ACG"], ["ACG", "ACT", "TTT"]).round(3)
    array([[2.667, 1.667, 0.   ]])
    """

    name = "weighted_degree"
    summary = "Compares two sequences position by position; longer matching stretches count more."
    equal_lengths = True
    has_weights_at_positions = True
    most_block_columns = 1024

    degree: int = integer(default=20, low=1, high=LARGEST_DEGREE, kw_only=False, doc="d, the largest length of k-mers.")
    weights: list[float] | None = numbers(
        default=None, low=0, length="degree", doc="β_1, …, β_d; by default 2(d − k + 1)/(d(d + 1))."
    )
    position_weights: list[float] | None = numbers(
        default=None,
        low=0,
        doc="γ_i, the weight of each position at which a k-mer can start, one for each residue; 1 by default.",
    )
    zero_diagonal: Literal["error", "zero"] = changed(
        default="error",
        doc="When normalising, what to do with a sequence of masked residues only: raise an error, or return zeros.",
    )

    @classmethod
    def examples(cls) -> Sequence["WeightedDegreeKernel"]:
        """Return kernels for the contract suite."""
        return [
            cls(),
            cls(3, weights=[0.5, 2, 0.3], normalize=False),
            cls(5, position_weights=[1 + i % 3 for i in range(24)]),
            cls(2, alphabet="HEC"),
        ]

    def length_weights(self) -> npt.NDArray[np.float64]:
        """Return β_1, …, β_d, float64 (d,)."""
        if self.weights is not None:
            return np.array(self.weights, dtype=np.float64)
        k = np.arange(1, self.degree + 1)
        return 2.0 * (self.degree - k + 1) / (self.degree * (self.degree + 1))

    def start_weights(self, length: int) -> npt.NDArray[np.float64]:
        """Return γ_i, the weight of a k-mer that starts at position i.

        Parameters
        ----------
        length : int
            Residues of the sequences.

        Returns
        -------
        ndarray of float64, shape (length,)
        """
        if self.position_weights is None:
            return np.ones(length)
        return np.array(self.position_weights, dtype=np.float64)

    def shifts(self, length: int) -> npt.NDArray[np.int64]:
        """Return the largest shift at each position: zeros.

        Parameters
        ----------
        length : int
            Residues of the sequences.

        Returns
        -------
        ndarray of int64, shape (length,)
        """
        return np.zeros(length, dtype=np.int64)

    def min_length(self) -> int:
        """Return 1, the length of the shortest k-mer."""
        return 1

    def common_length(self, X: SequenceSet, length: int | None = None) -> int:
        """Return the length of the sequences, checked; 0 for none.

        Parameters
        ----------
        X : SequenceSet
            Of one length, as `coerce` returns it.
        length : int, optional
            Length of the sequences to compare with.

        Returns
        -------
        int

        Raises
        ------
        SequenceError
            If the lengths differ, or are too long for exact sums.
        ParameterError
            If a list of weights or shifts has another length.
        """
        if not len(X):
            return length or 0
        own = int(X.lengths[0])
        if length not in (None, own):
            raise SequenceError(
                f"has {own} residues, the sequences it is compared with have {length}",
                record=X.ids[0],
                remedy="trim all sequences to one length",
            )
        if own * self.degree * (self.degree + 1) >= EXACT:
            raise SequenceError(
                f"has {own} residues, too many for exact sums with degree={self.degree}",
                record=X.ids[0],
                remedy="trim all sequences, or choose a smaller degree",
            )
        for name, values in self._lists().items():
            if len(values) != own:
                raise ParameterError(
                    f"{name} has {len(values)} numbers, and the sequences have {own} residues",
                    remedy="give one number for each position",
                )
        return own

    def _lists(self) -> dict[str, list[Any]]:
        """Return the given parameters with one number for each position."""
        return {} if self.position_weights is None else {"position_weights": self.position_weights}

    def _prepare(self, X: SequenceSet, like: DegreePayload | None) -> DegreePayload:
        if like is not None and len(like):
            return DegreePayload(X, self.common_length(X, like.length), like.sums, like.total)
        length = self.common_length(X)
        given = None if self.weights is None else self.length_weights()
        starts = None if self.position_weights is None else self.start_weights(length)
        if starts is not None and np.all(starts == 1):
            starts = None
        shifts = self.shifts(length)
        total = largest_sum(length, self.degree, given, starts, shifts)
        return DegreePayload(X, length, make_sum(X, length, self.degree, given, starts, shifts), total)

    def _block(self, rows: DegreePayload, cols: DegreePayload, out: npt.NDArray[np.float64]) -> float | None:
        return rows.fill(cols, out)

    def _normalised_block(self, rows: Prepared, cols: Prepared, out: npt.NDArray[np.float64]) -> float | None:
        near = rows.payload.bound(cols.payload, normalised=True) < SMALL and 1 / SMALL < rows.payload.total < SMALL
        if not near and _blocks.far_diagonals(rows.raw_diagonal, cols.raw_diagonal):
            return super()._normalised_block(rows, cols, out)
        return rows.payload.fill(cols.payload, out, rows.raw_diagonal, cols.raw_diagonal)

    def _fill_single(self, rows: Prepared, cols: Prepared, out: npt.NDArray[np.float32]) -> bool:
        return self.normalize and rows.payload.fill_single(cols.payload, out)

    def plan(self, X: Any, Y: Any = None) -> Plan:
        """Return the Plan for this kernel on `X` (against `Y`).

        Parameters
        ----------
        X : SequenceSet or list of str, n records
            The rows.
        Y : the same, m records, optional
            The columns; by default `X`.

        Returns
        -------
        Plan
        """
        self.check_parameters()
        X, Y = self.coerce(X), None if Y is None else self.coerce(Y)
        length = self.common_length(X)
        weighted = self.position_weights is not None and set(self.position_weights) != {1}
        cost, reason = degree_cost(X, Y, self.degree, int(self.shifts(length).max(initial=0)), weighted)
        total = cost + Workload.of(X, Y).output(self.n_threads)
        return Plan("masks", total.seconds, total.bytes, reason)

    def weights_at_positions(self, support: SequenceSet, coefficients: npt.NDArray[np.float64]) -> PositionWeights:
        """Return the PositionWeights of Σ_j coefficients[j]·K(x, z_j), not normalised.

        Parameters
        ----------
        support : SequenceSet, m sequences of one length
            z_j.
        coefficients : ndarray of float64, shape (m,)
            One for each.

        Returns
        -------
        PositionWeights
        """
        return of_kernel(self, support, coefficients)

    def constant_diagonal(self, length: int) -> bool:
        """Return whether K(x, x) is the same for all sequences, as it is without shifts.

        Parameters
        ----------
        length : int
            In residues.

        Returns
        -------
        bool
        """
        return not self.shifts(length).any()

    def _implicit(self, X: Any) -> Implicit:
        return implicit_of(self, X)

    def implicit_bytes(self, X: Any) -> int:
        """Return the bytes that ``implicit(X)`` and its weights take, predicted before the work.

        Parameters
        ----------
        X : SequenceSet or list of str, n records
            The training samples.

        Returns
        -------
        int
        """
        return implicit_bytes_of(self, X)

    def _fold(
        self, columns: DegreePayload, coefficients: npt.NDArray[np.float64]
    ) -> Callable[[DegreePayload], npt.NDArray[np.float64]] | None:
        return fold(self, columns.X, coefficients)

    def _check_parameters(self) -> None:
        lengths = {name: len(values) for name, values in self._lists().items()}
        if len(set(lengths.values())) > 1:
            listed = " and ".join(f"{name} {length} numbers" for name, length in lengths.items())
            raise ParameterError(f"{listed} do not fit", remedy="give one number for each position")


class ShiftedWeightedDegreeKernel(WeightedDegreeKernel):
    r"""Weighted degree kernel with shifts: k-mers also match at nearby positions.

    It suits sequences of one length cut around a site, in which signals move by a few residues.

    Notes
    -----
    Over k-mers inside the sequences, with δ_s = 1/(2(s + 1)), so that a k-mer at the same position in both counts once,

    .. math::

        K(x, y) = \sum_{k=1}^{d} β_k \sum_i γ_i \sum_{s=0}^{S(i)} δ_s
        ([x_{i+s}..x_{i+s+k−1} = y_i..y_{i+k−1}] + [x_i..x_{i+k−1} = y_{i+s}..y_{i+s+k−1}])

    Complexity: O(S·d·L) per pair of sequences of length L, 64 positions at a time.

    Definiteness: positive semi-definite with one shift and no position weights; otherwise it depends on shifts and
    weights.

    References
    ----------
    Rätsch, Sonnenburg, Schölkopf: RASE: recognition of alternatively spliced exons in C. elegans. Bioinformatics 21
    (Suppl. 1), 2005.

    Examples
    --------
    A shift by one position is found:

    >>> from seqkern.kernels import ShiftedWeightedDegreeKernel, WeightedDegreeKernel
    >>> x, y = ["CAGGTC"], ["TCAGGT"]
    >>> WeightedDegreeKernel(degree=3)(x, y).round(2)
    array([[0.09]])
    >>> ShiftedWeightedDegreeKernel(degree=3, shift=1)(x, y).round(2)
    array([[0.28]])
    """

    name = "shifted_weighted_degree"
    summary = "Compares two sequences position by position, and a few positions to the left and right."

    shift: int | list[int] = integer(
        default=10,
        low=0,
        high=LARGEST_SHIFT,
        several=True,
        kw_only=False,
        doc="S, the largest shift, or a list with one shift for each position.",
    )
    position_weights: list[float] | None = changed(
        default=None,
        doc="γ_i, the weight of each position; a pair of k-mers has the weight of the one nearer to "
        "the start; 1 by default.",
    )

    @classmethod
    def examples(cls) -> list["ShiftedWeightedDegreeKernel"]:
        """Return kernels for the contract suite."""
        return [
            cls(),
            cls(3, 2, weights=[0.5, 2, 0.3], normalize=False),
            cls(4, [min(i // 3, 5) for i in range(24)]),
            cls(2, 30, alphabet="HEC"),
        ]

    def shifts(self, length: int) -> npt.NDArray[np.int64]:
        """Return S(i), the largest shift at each position.

        Parameters
        ----------
        length : int
            Residues of the sequences.

        Returns
        -------
        ndarray of int64, shape (length,)
        """
        return np.full(length, self.shift) if np.ndim(self.shift) == 0 else np.array(self.shift, dtype=np.int64)

    @property
    def positive_semidefinite(self) -> bool:  # type: ignore[override]  # here it follows from the parameters
        """Whether every Gram matrix is: the matrix of the weights of two positions is.

        With one shift for all positions and no position weights its entries w(|i − j|) are those of a sum of cosines
        that is non-negative everywhere (Rogosinski & Szegő 1928).
        """
        if not self._lists():
            return True
        length = len(next(iter(self._lists().values())))
        return positions_are_definite(self.start_weights(length), self.shifts(length))

    def _lists(self) -> dict[str, list[Any]]:
        return super()._lists() | ({} if np.ndim(self.shift) == 0 else {"shift": cast(list[int], self.shift)})
