"""Sequences of one length for the weighted degree kernels, packed into machine words."""

import numpy as np
import numpy.typing as npt

from seqkern.kernels.planner import Cost, Workload, letter_shares
from seqkern.kernels.positional._weighted_degree import DegreeSum, pack
from seqkern.kernels.products import _product
from seqkern.sequences.alphabets import Alphabet
from seqkern.sequences.sequence_set import SequenceSet

# CPU nanoseconds for each level of instructions, measured on one core of an AMD EPYC of the Zen 4 generation: a pair;
# a word and plane of it compared; a word of matches counted and made one letter longer; a letter with a weight.
PAIR_NS = (4.0, 0.8, 0.5)
COMPARE_NS = (0.4, 0.08, 0.04)
STEP_NS = (1.35, 0.29, 0.14)
WEIGH_NS = (0.9, 0.65, 0.4)
WORD, GROUP, ALIGNMENT, TILE_ROWS = 64, 8, 64, 64
SMALL = 1e38  # a number of single precision; sums up to this are not looked at one by one
LARGEST_TABLE = 1 << 16  # of values of sums
RARE = 0.3  # with fewer remaining matches than this among 8 pairs, check whether there are any

Tables = tuple[npt.NDArray[np.float64], npt.NDArray[np.float32]]


class DegreePayload:
    """Records of one length, packed.

    Parameters
    ----------
    X : SequenceSet, n records
        Of one length.
    length : int
        Residues of each.
    sums : DegreeSum
        The sum over pairs of such records.
    total : float
        What no sum, also before it is divided, exceeds; by default unknown.

    Attributes
    ----------
    length : int
        Residues of each record.
    sums : DegreeSum
        As given.
    total : float
        As given.
    least : float
        The least K(x, x) above zero, of the whole set; 0 until `diagonal` was called.
    square : float or None
        K(x, x) of all records of the whole set, where it is one number above zero; None until `diagonal` was called.
    """

    def __init__(self, X: SequenceSet, length: int, sums: DegreeSum, total: float = np.inf) -> None:
        self.total, self.least = total, 0.0
        self.square: float | None = None
        self._tables: dict[float, Tables] = {}  # shared by all ranges of rows
        self.length, self.sums, self._all, self._start, self._stop = length, sums, X, 0, len(X)
        shape = -(-len(X) // GROUP), planes(X.alphabet) + 1, words(length), GROUP
        self._packed = _aligned_zeros(shape)
        pack(X.codes, X.starts, length, X.alphabet.size, words(length), planes(X.alphabet), self._packed)

    def __len__(self) -> int:
        return self._stop - self._start

    @property
    def X(self) -> SequenceSet:  # noqa: N802
        """The SequenceSet."""
        whole = len(self) == len(self._all)
        return self._all if whole else self._all.take(slice(self._start, self._stop))

    def rows(self, start: int, stop: int) -> "DegreePayload":
        """Return records `start` to `stop`, as a view.

        Parameters
        ----------
        start, stop : int
            Records `start` to `stop` − 1 of this range.

        Returns
        -------
        DegreePayload
        """
        part = object.__new__(DegreePayload)
        part.__dict__.update(self.__dict__)
        part._start, part._stop = self._start + start, self._start + stop
        return part

    def diagonal(self) -> npt.NDArray[np.float64]:
        """Return K(x, x), not normalised, float64 (n,)."""
        out = np.empty(len(self))
        self.sums.squares(_product.level(), self._packed, self._start, out)
        self.least = float(out.min(where=out > 0, initial=np.inf))
        self.square = self.least if len(out) and self.least == out.min() == out.max() else None
        return out

    def tables(self, cols: "DegreePayload") -> Tables | None:
        """Return the normalised K for the sums 0, 1, 2, …, if it follows from them and is wanted more often.

        It saves the divisions, and has their bits.

        Parameters
        ----------
        cols : DegreePayload
            The columns.

        Returns
        -------
        (ndarray of float64, ndarray of float32), both of shape (values,), or None
        """
        square = self.square
        if square is None or square != cols.square or not self.sums.counts:
            return None
        largest = round(square * self.sums.divisor)  # no sum exceeds that of a record with itself
        if largest >= min(LARGEST_TABLE, len(self._all) * len(cols._all) // 4):
            return None
        if square not in self._tables:
            values = np.arange(largest + 1.0) / self.sums.divisor / np.sqrt(square * square)
            self._tables[square] = values, values.astype(np.float32)
        return self._tables[square]

    def bound(self, cols: "DegreePayload", normalised: bool) -> float:
        """Return what no K of these records with others exceeds; inf if unknown.

        It costs nothing, a look at all values does. Rounding is far less than the factor of 2 here.

        Parameters
        ----------
        cols : DegreePayload
            The columns.
        normalised : bool
            Whether K is.

        Returns
        -------
        float
        """
        if not normalised:
            return 2 * self.total
        roots = np.sqrt(self.least) * np.sqrt(cols.least)  # a product would underflow
        return float(2 * self.total / roots) if roots > 0 else np.inf

    def fill(
        self,
        cols: "DegreePayload",
        out: npt.NDArray[np.float64],
        row_diagonal: npt.NDArray[np.float64] | None = None,
        col_diagonal: npt.NDArray[np.float64] | None = None,
    ) -> float:
        """Write K of these records with others; normalised if K(x, x) of both are given.

        Parameters
        ----------
        cols : DegreePayload, m records
            The columns.
        out : ndarray of float64, shape (n, m)
            Output array.
        row_diagonal, col_diagonal : ndarray of float64, shape (n,) and (m,), optional
            K(x, x).

        Returns
        -------
        float
            A bound of the absolute values; or the largest one, inf and NaN included.
        """
        normalised = row_diagonal is not None
        bound = self.bound(cols, normalised)
        look = not bound < SMALL
        tables = self.tables(cols) if normalised and not look else None
        largest = self.sums.fill(
            _product.level(),
            self._packed,
            self._start,
            cols._packed,
            cols._start,
            row_diagonal,
            col_diagonal,
            out,
            look,
            None if tables is None else tables[0],
        )
        return largest if look else bound

    def fill_single(self, cols: "DegreePayload", out: npt.NDArray[np.float32]) -> bool:
        """Write the normalised K of these records with others in single precision, if there is a table.

        Parameters
        ----------
        cols : DegreePayload, m records
            The columns.
        out : ndarray of float32, shape (n, m)
            Output array.

        Returns
        -------
        bool
            Whether it was written.
        """
        tables = self.tables(cols)
        if tables is None:
            return False
        self.sums.fill_single(_product.level(), self._packed, self._start, cols._packed, cols._start, tables[1], out)
        return True

    def places(
        self, record: int, others: "DegreePayload", coefficients: npt.NDArray[np.float64], lengths: int
    ) -> npt.NDArray[np.float64]:
        """Return the contribution of each position of one of these records to Σ_j coefficients[j]·K(x, z_j).

        Needs sums with position weights, and a whole payload, not a range of rows.

        Parameters
        ----------
        record : int
            Record, counted from 0.
        others : DegreePayload, m records
            z_j.
        coefficients : ndarray of float64, shape (m,)
            c_j.
        lengths : int
            Longest k-mers considered.

        Returns
        -------
        ndarray of float64, shape (lengths, residues)
            Entry (k − 1, i) is of the k-mer at i, without the weight of the length.
        """
        out = np.empty((lengths, self.length))
        self.sums.note(self._packed, record, others._packed, coefficients, out)
        return out


def words(length: int) -> int:
    """Return the number of machine words for one bit per residue.

    Parameters
    ----------
    length : int
        Residues of a sequence.

    Returns
    -------
    int
    """
    return max(1, -(-length // WORD))


def planes(alphabet: Alphabet) -> int:
    """Return the number of bits of a residue's code.

    Parameters
    ----------
    alphabet : Alphabet
        Of the letter.

    Returns
    -------
    int
    """
    return max(1, (alphabet.size - 1).bit_length())


def make_sum(
    X: SequenceSet,
    length: int,
    degree: int,
    length_weights: npt.NDArray[np.float64] | None,
    start_weights: npt.NDArray[np.float64] | None,
    shifts: npt.NDArray[np.int64],
) -> DegreeSum:
    """Return the sum over pairs of records of one length.

    Parameters
    ----------
    X : SequenceSet
        Used to estimate how often residues match; does not change results.
    length : int
        Residues of a record.
    degree : int
        The longest k-mers.
    length_weights : ndarray of float64, shape (degree,), or None
        None for the default, proportional to degree − k + 1: integers until the end.
    start_weights : ndarray of float64, shape (length,), or None
        None for 1 each.
    shifts : ndarray of int64, shape (length,)
        The largest shift at each position.

    Returns
    -------
    DegreeSum
    """
    largest = int(min(shifts.max(initial=0), max(0, length - 1)))
    counted = [shifts[: length - s] >= s for s in range(largest + 1)]
    filters = starts = None
    divisor = 1.0
    if start_weights is not None:
        starts = np.zeros((2 * largest + 1, words(length) * WORD))
        for s, here in enumerate(counted):
            starts[max(0, 2 * s - 1), : length - s] = starts[2 * s, s:length] = start_weights[: length - s] * here
        if length_weights is None:
            length_weights = np.arange(degree, 0, -1, dtype=np.float64)
            divisor = degree * (degree + 1) / 2
    elif not all(here.all() for here in counted):
        bits = np.zeros((2 * largest + 1, words(length) * WORD), dtype=np.uint8)
        for s, here in enumerate(counted):
            bits[max(0, 2 * s - 1), : length - s] = bits[2 * s, s:length] = here
        filters = np.packbits(bits, axis=1, bitorder="little").view("<u8").astype(np.uint64)
    if length_weights is None:
        divisor = degree * (degree + 1) / 2
    return DegreeSum(
        words(length),
        planes(X.alphabet),
        degree,
        largest,
        unchecked_lengths(X, length, degree, largest > 0),
        divisor,
        length_weights,
        1 / (2 * np.arange(1.0, largest + 2)),
        filters,
        starts,
    )


def largest_sum(
    length: int,
    degree: int,
    length_weights: npt.NDArray[np.float64] | None,
    start_weights: npt.NDArray[np.float64] | None,
    shifts: npt.NDArray[np.int64],
) -> float:
    """Return what no sum of `make_sum` exceeds, before or after it is divided: the sum of all weights, none negative.

    Parameters
    ----------
    length, degree, length_weights, start_weights, shifts
        As for `make_sum`.

    Returns
    -------
    float

    Examples
    --------
    >>> largest_sum(10, 2, None, None, np.zeros(10, dtype=np.int64))
    30.0
    """
    lengths = degree * (degree + 1) / 2 if length_weights is None else float(length_weights.sum())
    starts = float(length if start_weights is None else start_weights.sum())
    return lengths * starts * (2.0 * int(shifts.max(initial=0)) + 1)


def degree_cost(X: SequenceSet, Y: SequenceSet | None, degree: int, shift: int, weighted: bool) -> tuple[Cost, str]:
    """Return the cost of a matrix without its output, and an explanation in one line.

    Parameters
    ----------
    X, Y : SequenceSet
        Rows and columns; Y None for a symmetric matrix.
    degree : int
        The longest k-mers.
    shift : int
        The largest shift.
    weighted : bool
        Whether there are position weights.

    Returns
    -------
    cost : Cost
        Of one core.
    reason : str
        The components of the cost.
    """
    work, level = Workload.of(X, Y), _product.level()
    length = work.longest
    n_words, n_planes = words(length), planes(X.alphabet) + 1
    variants = 1 + 2 * min(shift, max(0, length - 1))
    steps = unchecked_lengths(X, length, degree, shift > 0)
    each = n_words * (n_planes * COMPARE_NS[level] + steps * STEP_NS[level]) + weighted * length * WEIGH_NS[level]
    seconds = work.pairs * (PAIR_NS[level] + variants * each) * 1e-9
    own = 8 * n_words * n_planes * (work.records + GROUP + TILE_ROWS * variants)
    reason = f"{work.pairs:.3g} pairs, {variants} × {n_words} words, about {steps} lengths of k-mers"
    return Cost(seconds, own), reason


def unchecked_lengths(X: SequenceSet, length: int, degree: int, both: bool) -> int:
    """Return the largest length at which one of 8 random pairs is expected to share a k-mer.

    Parameters
    ----------
    X : SequenceSet
        Used to estimate how often residues match.
    length : int
        Residues of a record.
    degree : int
        The longest k-mers.
    both : bool
        Whether there are shifts, in both directions.

    Returns
    -------
    int
    """
    shares = letter_shares(X)
    match, expected = float(shares @ shares), GROUP * length * (1 + both)
    k = 1
    while k < degree and expected * match ** (k + 1) > RARE:
        k += 1
    return degree if k + 1 >= degree else k


def positions_are_definite(start_weights: npt.NDArray[np.float64], shifts: npt.NDArray[np.int64]) -> bool:
    """Return whether the matrix of the weights of two positions is positive semi-definite, up to rounding.

    Parameters
    ----------
    start_weights : ndarray of float64, shape (length,)
        γ_i.
    shifts : ndarray of int64, shape (length,)
        The largest shift at each position.

    Returns
    -------
    bool
    """
    positions = np.arange(len(shifts))
    distance = np.abs(positions[:, None] - positions)
    first = np.minimum(positions[:, None], positions)
    weights = np.where(distance == 0, 1.0, 1 / (2 * (distance + 1))) * start_weights[first]
    weights[distance > shifts[first]] = 0
    weights[positions, positions] += 1e-12 * weights.max(initial=1e-300)
    try:
        np.linalg.cholesky(weights)
    except np.linalg.LinAlgError:
        return False
    return True


def _aligned_zeros(shape: tuple[int, ...]) -> npt.NDArray[np.uint64]:
    """Return zeros, uint64, that begin at the border of a cache line."""
    size = int(np.prod(shape))
    buffer = np.zeros(size + ALIGNMENT // 8, dtype=np.uint64)
    skip = -buffer.ctypes.data % ALIGNMENT // 8
    return buffer[skip : skip + size].reshape(shape)
