"""Sums over chains of matching letters: the engine of the string kernel.

`Chains` says which chains count and what they weigh, `Subsequences` is a set of sequences made ready, `product` fills a
rectangle. K(x, y) is computed with one sequence as rows and the other one, beside others, in a vector lane. Which is
which is a matter of the two sequences alone, the smaller one by length and then by its codes being the row: so the bits
are the same wherever the pair occurs.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from seqkern.core.errors import SequenceError
from seqkern.kernels.products import _product
from seqkern.kernels.ranks import order_keys, ranks
from seqkern.kernels.subsequence import _subsequence
from seqkern.sequences.alphabets import MASK

EXACTLY, UP_TO, ANY_LENGTH = 0, 1, 2
PADDING = 16  # positions after the last one that a strip of columns may touch
VECTOR_BYTES, MOST_COLUMNS, UNROLLED_LEVELS = 64, 12, 8
MOST_BYTES = 1 << 33
SPREAD = 24  # binary digits that weights may grow in a block of rows
SINGLE_DECAY = 1 / 32  # below, weights grow too fast for single precision
SINGLE_BITS = 100  # that sums may reach in single precision, what weights grow in a block and a strip included
SAFE_POWER = 900  # doubles between 2^−900 and 2^900 have not lost anything on the way


@dataclass(frozen=True)
class Chains:
    """Which chains of matching letters count, and what they weigh.

    Attributes
    ----------
    mode : {EXACTLY, UP_TO, ANY_LENGTH}
    levels : int
        Letters of a chain but the last; 1 for any length.
    decay : float
    weights : ndarray of float64, shape (letters, letters)
    """

    mode: int
    levels: int
    decay: float
    weights: np.ndarray

    @classmethod
    def of(cls, n, up_to, decay, weights):
        """Return the Chains of n letters, of up to as many, or (None) of any number."""
        if n is None:
            return cls(ANY_LENGTH, 1, decay, weights)
        return cls(UP_TO if up_to and n > 1 else EXACTLY, n - 1, decay, weights)

    @property
    def bits(self):
        """Binary digits by which weights grow from one position to the next."""
        return -math.log2(self.decay)

    @property
    def boost(self):
        """log2 of what a level's sums are stored times, so that n letters in a row do not become too small."""
        grows = self.mode == EXACTLY and 2 * self.bits * self.levels > SPREAD
        return round(2 * self.bits) if grows else 0

    @property
    def exact(self):
        """Whether products with weights are exact: decay is a power of two, and nothing is boosted."""
        return math.frexp(self.decay)[0] == 0.5 and self.boost == 0

    @property
    def soft(self):
        """Whether letters match otherwise than all or nothing."""
        return not np.array_equal(self.weights, np.eye(len(self.weights)))

    def recursion(self, longest):
        """Return the compiled Recursion for sequences of up to `longest` letters."""
        up, down, up_power, down_power = powers(self.decay, longest + PADDING)
        rows = 64 if self.bits == 0 else max(1, min(64, int(SPREAD / self.bits)))
        weights = np.ascontiguousarray(self.weights)
        return _subsequence.Recursion(
            self.mode,
            self.levels,
            weights,
            self.soft,
            self.decay,
            up,
            down,
            up_power,
            down_power,
            self.exact,
            self.boost,
            rows,
        )

    @property
    def single_limit(self):
        """The largest sum of two sequences' burdens for which single precision suffices; negative for none."""
        grown = min(self.bits, 1) * SPREAD + MOST_COLUMNS * self.bits
        return SINGLE_BITS - grown if self.decay >= SINGLE_DECAY else -1.0

    def burdens(self, lengths):
        """Return log2 of what a sequence of each length can contribute to a sum, at most, float64 like `lengths`.

        In the worst case, one letter repeated, the sum over chains of p pairs that end anywhere is the product
        of f_p of the two lengths, f_p(L) = Σ_{d < L} C(d, p − 1)·decay^d.
        """
        longest = int(lengths.max(initial=0))
        d = np.arange(longest)
        grown = math.log2(max(1.0, self.weights.max(initial=0.0))) / 2 + self.boost / 2
        decayed = -self.bits * d
        worst = np.zeros(longest + 1)
        if self.mode != ANY_LENGTH:
            ways = np.zeros(longest)  # log2 C(d, p − 1)
            for p in range(1, min(self.levels, longest) + 1):
                worst[1:] = np.maximum(worst[1:], np.logaddexp2.accumulate(ways + decayed) + p * grown)
                with np.errstate(divide="ignore"):
                    ways = ways + np.log2(np.maximum(d - p + 1, 0)) - math.log2(p)
            worst += math.log2(max(1, self.levels)) / 2 if self.mode == UP_TO else 0
        elif longest:
            worst[1:] = np.logaddexp2.accumulate(d * math.log2(1 + 2**grown) + decayed) + grown
        return worst[lengths]

    def working_bytes(self, longest):
        """Return the bytes that a thread needs for sequences of up to `longest` letters."""
        strip = min(MOST_COLUMNS, max(2, 24 // max(1, self.levels)))
        profiles = (longest / strip + 1) * (strip + (len(self.weights) + 1) * 2 * strip)
        state = (strip + 1) * (self.levels + 1)
        return int(VECTOR_BYTES * (longest * max(2, self.levels) + profiles + state))


@lru_cache(maxsize=8)
def powers(decay, count):
    """Return decay^−i and decay^i for i < count, each as mantissa (float64) and power of two (int32)."""
    numerator, denominator = decay.as_integer_ratio()
    up, down = np.empty(count), np.empty(count)
    up_power, down_power = np.empty(count, dtype=np.int32), np.empty(count, dtype=np.int32)
    # decay^i = digits·2^(power − 127), with 128 digits, so that roundings do not add up to one of a double.
    digits, power = 1 << 127, 0
    for i in range(count):
        down[i], down_power[i] = math.ldexp(digits, -127), power
        up[i], up_power[i] = math.ldexp((1 << 255) // digits, -127), -power - 1
        digits = (digits * numerator << 64) // denominator
        excess = digits.bit_length() - 128
        digits, power = digits >> excess, power + excess - 64
    for array in (up, down, up_power, down_power):
        array.flags.writeable = False
    return up, down, up_power, down_power


class Subsequences:
    """The payload of the string kernel: sequences, or a range of them, and K of each with itself.

    Made by `of`. K(x, y) is stored times 2^−(power of x + power of y), where powers are 0 unless K(x, x) is out
    of a double's range; normalising takes them out.
    """

    @classmethod
    def of(cls, X, chains, like=None, *, single=False, empty=False, scaled=True):
        """Make sequences ready.

        Parameters
        ----------
        X : SequenceSet
        chains : Chains
        like : Subsequences, optional
            What they will be compared with, as columns.
        single : bool
            Whether to compute in single precision, where that suffices.
        empty : bool
            Whether to count the empty chain.
        scaled : bool
            Whether K may be scaled by powers of two, each sequence's own.

        Raises
        ------
        SequenceError
            If they are too long for this many letters, or K(x, x) is beyond a double and may not be scaled.
        """
        self = cls()
        self.chains, self.single, self.empty, self.scaled = chains, single, empty, scaled
        self.ids, self.start, self.stop = X.ids, X.starts, X.stops
        size = len(chains.weights)
        self.codes = np.where(X.codes == MASK, np.uint8(size), X.codes)
        self.longest = int(X.lengths.max(initial=0))
        needed = chains.working_bytes(self.longest)
        if needed > MOST_BYTES:
            raise SequenceError(
                f"{chains.levels + 1} of {self.longest} letters would take {needed / 1e9:.0f} GB",
                record=X.ids[int(X.lengths.argmax())],
                remedy="choose a smaller n, or cut the sequences into parts",
            )
        self.recursion = chains.recursion(self.longest)
        keys = order_keys(self.codes, self.start, self.stop)
        self.keys = sorted(set(keys))
        self.rank = ranks(keys, self.keys if like is None else like.keys)
        self.burden = chains.burdens(X.lengths)
        self.limit = chains.single_limit if single else -1.0
        self.first, self.last = 0, len(X)
        unmasked = np.array([length - text.count(size) for length, text in keys], dtype=np.int64)
        self._fill_diagonal(unmasked)
        return self

    def __len__(self):
        return self.last - self.first

    def rows(self, start, stop):
        """Return the records `start` to `stop`, as a view."""
        view = object.__new__(Subsequences)
        view.__dict__.update(self.__dict__, first=self.first + start, last=self.first + stop)
        return view

    def diagonal(self):
        """Return K(x, x), float64 (n,)."""
        return self.squares[self.first : self.last]

    def of_range(self, array):
        """Return the part of an array over all records that belongs to these."""
        return array[self.first : self.last]

    def records(self, order):
        """Return the compiled Records for an order of these, counted from the first of them."""
        return _subsequence.Records(self.codes, self.of_range(self.start), self.of_range(self.stop), order)

    def _fill_diagonal(self, unmasked):
        """Set `squares`, K of each with itself, and `powers`."""
        lengths = self.stop - self.start
        order = np.argsort(lengths, kind="stable")
        self.squares, self.powers = np.zeros(len(self)), np.zeros(len(self), dtype=np.int64)
        light = 2 * self.burden[order] <= self.limit
        for single, chosen in ((True, order[light]), (False, order[~light])):
            _subsequence.diagonal(self.recursion, _product.level(), single, self.records(chosen), self.squares)
        least = self.chains.levels + 1 if self.chains.mode == EXACTLY else 1
        for i in np.flatnonzero(_doubtful(self.squares) & (unmasked >= least)):
            record = self.records(np.array([i]))
            mantissa, power = _subsequence.wide_value(self.recursion, record, record)
            digits = math.frexp(mantissa)[1] + power
            if self.scaled and abs(digits) > SAFE_POWER:
                self.powers[i] = digits // 2
            elif digits > 1023:
                raise SequenceError(
                    "its kernel with itself exceeds what a number can hold",
                    record=self.ids[i],
                    remedy="choose normalize=true, a smaller n or decay, or cut the sequence into parts",
                )
            self.squares[i] = math.ldexp(mantissa, int(power - 2 * self.powers[i]))
        if self.empty:
            self.squares += np.ldexp(1.0, -2 * self.powers)


def _doubtful(values):
    """Return where doubles may have become too large or too small on the way."""
    return ~((values > 2.0**-SAFE_POWER) & (values < np.inf))


def product(rows, cols, out):
    """Write the kernel matrix of two payloads.

    Parameters
    ----------
    rows, cols : Subsequences
        `rows` made like the whole that `cols` is cut from, or cut from it too.
    out : ndarray of float64, shape (n, m)

    Raises
    ------
    SequenceError
        If a number exceeds what a double can hold.
    """
    same = rows.rank is cols.rank and rows.first == cols.first and rows.last <= cols.last
    recursion = max(rows, cols, key=lambda payload: payload.longest).recursion
    row_rank, col_rank = rows.of_range(rows.rank), cols.of_range(cols.rank)
    row_order, col_order = (np.argsort(rank, kind="stable") for rank in (row_rank, col_rank))
    # The smaller one of each pair is the row.
    first = np.searchsorted(col_rank[col_order], row_rank[row_order], side="left")
    _fill(recursion, rows, row_order, cols, col_order, first, out)
    others = col_order[col_order >= len(rows)] if same else col_order
    first = np.searchsorted(row_rank[row_order], col_rank[others], side="right")
    _fill(recursion, cols, others, rows, row_order, first, out.T)
    if same:
        square = out[:, : len(rows)]
        np.copyto(square, square.T.copy(), where=row_rank[:, None] > row_rank)
    _mend(recursion, rows, cols, out)
    if rows.empty:
        out += np.ldexp(1.0, -np.add.outer(rows.of_range(rows.powers), cols.of_range(cols.powers)))


def _fill(recursion, rows, row_order, lanes, lane_order, first, out):
    """Set out[row, lane] for each row and the lanes from its `first` on."""
    stop = np.full(len(first), len(lane_order))
    cut = np.searchsorted(
        lanes.of_range(lanes.burden)[lane_order], rows.limit - rows.of_range(rows.burden)[row_order], side="right"
    )
    arguments = rows.records(row_order), lanes.records(lane_order)
    if rows.single:
        _subsequence.fill(recursion, _product.level(), True, *arguments, first, np.minimum(stop, cut), out)
        first = np.maximum(first, cut)
    _subsequence.fill(recursion, _product.level(), False, *arguments, first, stop, out)


def _mend(recursion, rows, cols, out):
    """Scale by the sequences' powers, and compute again, in wide numbers, what doubles could not hold."""
    row_powers, col_powers = rows.of_range(rows.powers), cols.of_range(cols.powers)
    bad = ~np.isfinite(out)
    if row_powers.any() or col_powers.any():
        scale = np.add.outer(row_powers, col_powers)
        bad |= _doubtful(out) & (scale < 0)
        out[...] = np.ldexp(out, -scale)
    for i, j in zip(*np.nonzero(bad), strict=True):
        row, lane = rows.records(np.array([i])), cols.records(np.array([j]))
        if rows.of_range(rows.rank)[i] > cols.of_range(cols.rank)[j]:
            row, lane = lane, row
        mantissa, power = _subsequence.wide_value(recursion, row, lane)
        try:
            out[i, j] = math.ldexp(mantissa, int(power - row_powers[i] - col_powers[j]))
        except OverflowError:
            raise SequenceError(
                f"its kernel with {cols.ids[cols.first + j]} exceeds what a number can hold",
                record=rows.ids[rows.first + i],
                remedy="choose normalize=true, a smaller n or decay, or cut the sequences into parts",
            ) from None


def length_nodes(longest):
    """Return nodes z and factors f such that Σ_k f_k·z_k^p is 1 / p for every p from 1 to `longest`.

    That is ∫ z^(p − 1) dz from 0 to 1 by the rule of Gauss and Legendre. N nodes are exact for p ≤ 2N; but z^p is so
    near to a polynomial of degree d (within 2·exp(−d²/p)) that the root of 48·p is degree enough for a double.
    """
    enough = math.isqrt(48 * longest) // 2 + 1
    nodes, factors = np.polynomial.legendre.leggauss(min(longest // 2 + 1, enough))
    return (nodes + 1) / 2, factors / (nodes + 1)


def shares(chains, X, support, coefficients):
    """Return what each letter of `X` contributes to Σ_j coefficients[j]·K(x, z_j), float64 (letters of X,).

    The weight of each chain is shared equally by its letters; chains that differ in length are summed as
    `length_nodes` says.

    Parameters
    ----------
    chains : Chains
    X, support : SequenceSet
    coefficients : ndarray of float64, shape (support,)

    Raises
    ------
    SequenceError
        If numbers exceed what a double can hold.
    """
    size = len(chains.weights)
    recursion = chains.recursion(max(int(Z.lengths.max(initial=0)) for Z in (X, support)))
    sets = []
    for Z in (X, support):
        codes = np.where(Z.codes == MASK, np.uint8(size), Z.codes)
        sets.append(_subsequence.Records(codes, Z.starts, Z.stops, np.arange(len(Z))))
    result = np.zeros(int(X.lengths.sum()))
    if chains.mode == EXACTLY:
        nodes, factors = np.ones(1), np.ones(1) / (chains.levels + 1)
    else:
        longest = min(int(Z.lengths.max(initial=0)) for Z in (X, support))
        longest = min(longest, chains.levels + 1) if chains.mode == UP_TO else longest
        nodes, factors = length_nodes(longest)
    _subsequence.share(recursion, *sets, np.ascontiguousarray(coefficients), nodes, factors, result)
    if not np.isfinite(result).all():
        record = int(np.searchsorted(np.cumsum(X.lengths), np.flatnonzero(~np.isfinite(result))[0], side="right"))
        raise SequenceError(
            "what its letters contribute exceeds what a number can hold",
            record=X.ids[record],
            remedy="choose a smaller n or decay, or cut the sequence into parts",
        )
    return result
