"""Sequences of one length as the weighted degree kernels compare them: letters packed into words."""

import numpy as np

from seqkern.kernels.planner import Cost, Workload, letter_shares
from seqkern.kernels.positional._weighted_degree import DegreeSum, pack
from seqkern.kernels.products import _product

# CPU nanoseconds for each level of instructions, measured on one core of an AMD EPYC of the Zen 4 generation: a pair;
# a word and plane of it compared; a word of matches counted and made one letter longer; a letter with a weight.
PAIR_NS = (4.0, 0.8, 0.5)
COMPARE_NS = (0.4, 0.08, 0.04)
STEP_NS = (1.35, 0.29, 0.14)
WEIGH_NS = (0.9, 0.65, 0.4)
WORD, GROUP, ALIGNMENT, TILE_ROWS = 64, 8, 64, 64
RARE = 0.3  # with fewer matches left than this among 8 pairs, it is worth looking whether there are any


class DegreePayload:
    """Records of one length, packed.

    Parameters
    ----------
    X : SequenceSet, n records
    length : int
        Letters of each.
    sums : DegreeSum
        What is summed over pairs of such records.

    Attributes
    ----------
    length : int
    sums : DegreeSum
    """

    def __init__(self, X, length, sums):
        self.length, self.sums, self._all, self._start, self._stop = length, sums, X, 0, len(X)
        shape = -(-len(X) // GROUP), planes(X.alphabet) + 1, words(length), GROUP
        self._packed = _aligned_zeros(shape)
        pack(X.codes, X.starts, length, X.alphabet.size, words(length), planes(X.alphabet), self._packed)

    def __len__(self):
        return self._stop - self._start

    @property
    def X(self):  # noqa: N802
        """The SequenceSet."""
        whole = len(self) == len(self._all)
        return self._all if whole else self._all.take(slice(self._start, self._stop))

    def rows(self, start, stop):
        """Return records `start` to `stop`, as a view."""
        part = object.__new__(DegreePayload)
        part.__dict__.update(self.__dict__)
        part._start, part._stop = self._start + start, self._start + stop
        return part

    def diagonal(self):
        """Return K(x, x), not normalised, float64 (n,)."""
        out = np.empty(len(self))
        self.sums.squares(_product.level(), self._packed, self._start, out)
        return out

    def fill(self, cols, out, row_diagonal=None, col_diagonal=None):
        """Write K of these records with those of `cols` to `out`; normalised, if K(x, x) of both are given."""
        self.sums.fill(
            _product.level(), self._packed, self._start, cols._packed, cols._start, row_diagonal, col_diagonal, out
        )

    def places(self, record, others, coefficients, lengths):
        """Return what each place of one of these records adds to Σ_j coefficients[j]·K(x, z_j), z_j of `others`.

        Float64 (lengths, letters): entry (k − 1, i) is of the k-mer at i, without the weight of the length. The sums
        must have been made with position weights. No row range of a payload can be asked.
        """
        out = np.empty((lengths, self.length))
        self.sums.note(self._packed, record, others._packed, coefficients, out)
        return out


def words(length):
    """Return how many words hold a bit of each of `length` letters."""
    return max(1, -(-length // WORD))


def planes(alphabet):
    """Return the bits of a letter's code."""
    return max(1, (alphabet.size - 1).bit_length())


def make_sum(X, length, degree, length_weights, start_weights, shifts):
    """Return the DegreeSum for records of `length` letters.

    Parameters
    ----------
    X : SequenceSet
        How often letters match is estimated from it: it does not change the numbers.
    length, degree : int
    length_weights : ndarray of float64, shape (degree,), or None
        None for the default, proportional to degree − k + 1: integers until the end.
    start_weights : ndarray of float64, shape (length,), or None
        None for 1 each.
    shifts : ndarray of int64, shape (length,)
        The largest shift at each position.
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


def degree_cost(X, Y, degree, shift, weighted):
    """Return the Cost of a matrix besides its output, and the reason in one line; `weighted`: by position weights."""
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


def unchecked_lengths(X, length, degree, both):
    """Return up to which length k-mers common to one of 8 random pairs are to be expected."""
    shares = letter_shares(X)
    match, expected = float(shares @ shares), GROUP * length * (1 + both)
    k = 1
    while k < degree and expected * match ** (k + 1) > RARE:
        k += 1
    return degree if k + 1 >= degree else k


def positions_are_definite(start_weights, shifts):
    """Return whether the matrix of what two positions weigh together is positive semi-definite, up to rounding.

    Parameters
    ----------
    start_weights : ndarray of float64, shape (length,)
    shifts : ndarray of int64, shape (length,)
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


def _aligned_zeros(shape):
    """Return zeros, uint64, that begin at the border of a cache line."""
    size = int(np.prod(shape))
    buffer = np.zeros(size + ALIGNMENT // 8, dtype=np.uint64)
    skip = -buffer.ctypes.data % ALIGNMENT // 8
    return buffer[skip : skip + size].reshape(shape)
