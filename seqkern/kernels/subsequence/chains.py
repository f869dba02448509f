"""Chains of matching residues: which chains count, their weights, and bounds of their sums."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import SequenceError
from seqkern.core.types import Bools, Floats, Ints
from seqkern.kernels._blocks import Records
from seqkern.kernels.blocks import order_keys, ranks
from seqkern.kernels.prepared import RecordRange
from seqkern.kernels.products import _product
from seqkern.kernels.subsequence import _subsequence
from seqkern.sequences.alphabets import MASK
from seqkern.sequences.sequence_set import SequenceSet

EXACTLY, UP_TO, ANY_LENGTH = 0, 1, 2
PADDING = 16  # positions after the last one that a strip of columns may access
VECTOR_BYTES, MOST_COLUMNS = 64, 12
SPREAD = 24  # bits by which weights may grow in a block of rows
SINGLE_DECAY = 1 / 32  # below this, weights grow too fast for single precision
SINGLE_BITS = 100  # bits of sums in single precision, including the growth of weights in a block and a strip


@dataclass(frozen=True)
class Chains:
    """The chains of matching residues that count, and their weights.

    `levels` is the number of a chain's residues except the last (1 for any length), `decay` the factor for each
    residue of its span, and `weights` the weight of each pair of letters.
    """

    mode: int  # Which lengths count
    levels: int  # Residues of a chain except the last; 1 for any length
    decay: float  # Factor for each residue of a chain's span, above 0 and at most 1
    weights: Floats  # shape (letters, letters): Weight of each pair of letters

    @classmethod
    def of(cls, n: int | None, up_to: bool, decay: float, weights: Floats) -> Self:
        """Return the Chains of n residues; also of fewer with `up_to`, of any length if `n` is None."""
        if n is None:
            return cls(ANY_LENGTH, 1, decay, weights)
        return cls(UP_TO if up_to and n > 1 else EXACTLY, n - 1, decay, weights)

    @property
    def bits(self) -> float:
        """Growth of the weights from one position to the next, in bits."""
        return -math.log2(self.decay)

    @property
    def boost(self) -> int:
        """Binary logarithm of the scale of a level's sums, which keeps n contiguous residues from underflow."""
        grows = self.mode == EXACTLY and 2 * self.bits * self.levels > SPREAD
        return round(2 * self.bits) if grows else 0

    @property
    def exact(self) -> bool:
        """Whether products with weights are exact: decay is a power of two, without scaling."""
        return math.frexp(self.decay)[0] == 0.5 and self.boost == 0

    @property
    def soft(self) -> bool:
        """Whether matching is soft."""
        return not np.array_equal(self.weights, np.eye(len(self.weights)))

    def recursion(self, longest: int) -> _subsequence.Recursion:
        """Return the compiled recursion, with tables for sequences of up to `longest` residues."""
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
    def single_limit(self) -> float:
        """Largest sum of the burdens of two sequences for which single precision suffices; negative for none."""
        grown = min(self.bits, 1) * SPREAD + MOST_COLUMNS * self.bits
        return SINGLE_BITS - grown if self.decay >= SINGLE_DECAY else -1.0

    def burdens(self, lengths: Ints) -> Floats:
        """Return log2 of the largest contribution of a sequence of each length to a sum.

        In the worst case, one residue repeated, the sum over chains of p pairs that end anywhere is the product
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

    def working_bytes(self, longest: int) -> int:
        """Return the bytes of memory per thread for sequences of up to `longest` residues."""
        strip = min(MOST_COLUMNS, max(2, 24 // max(1, self.levels)))
        profiles = (longest / strip + 1) * (strip + (len(self.weights) + 1) * 2 * strip)
        state = (strip + 1) * (self.levels + 1)
        return int(VECTOR_BYTES * (longest * max(2, self.levels) + profiles + state))


@lru_cache(maxsize=8)
def powers(decay: float, count: int) -> tuple[Floats, Floats, npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return decay^−i and decay^i for i < count, each as a mantissa times a power of two.

    The four read-only arrays are the mantissas of both, and their powers of two; they are cached.
    """
    numerator, denominator = decay.as_integer_ratio()
    up, down = np.empty(count), np.empty(count)
    up_power, down_power = np.empty(count, dtype=np.int32), np.empty(count, dtype=np.int32)
    # decay^i = digits·2^(power − 127), with 128 digits, so that rounding errors stay below one of a double.
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


# The engine of the string kernel: sums over chains of matching residues.
#
# `Chains` defines which chains count and their weights, `Subsequences` is a prepared set of sequences,
# `product` fills a rectangle of the kernel matrix. Each K(x, y) has one sequence as the row, and the other in
# a lane of a vector, beside further sequences. The smaller of the two, by length and then by codes, is the
# row, so that the bits of a pair never depend on other sequences.

MOST_BYTES = 1 << 33
SAFE_POWER = 900  # doubles between 2^−900 and 2^900 have not underflowed or overflowed


class Subsequences(RecordRange):
    """The payload of a StringKernel: sequences, or a range of them, and K of each with itself.

    K(x, y) is stored times 2^−(power of x + power of y); powers are 0 unless K(x, x) is outside the range of a
    double, and normalisation removes them.
    """

    def __init__(self, kernel: Any, X: SequenceSet, like: "Subsequences | None" = None) -> None:
        self.chains = chains = kernel._chains(X.alphabet)
        self.single, self.empty, self.scaled = kernel.precision == "single", kernel.empty, kernel.normalize
        self.ids, self.start, self.stop = X.ids, X.starts, X.stops
        size = len(chains.weights)
        self.codes = np.where(X.codes == MASK, np.uint8(size), X.codes)
        self.longest = int(X.lengths.max(initial=0))
        needed = chains.working_bytes(self.longest)
        if needed > MOST_BYTES:
            raise SequenceError(
                f"subsequences of {chains.levels + 1} of {self.longest} residues would take {needed / 1e9:.0f} GB",
                record=X.ids[int(X.lengths.argmax())],
                remedy="choose a smaller n, or cut the sequences into parts",
            )
        self.recursion = chains.recursion(self.longest)
        keys = order_keys(self.codes, self.start, self.stop)
        self.keys = sorted(set(keys))
        self.rank = ranks(keys, self.keys if like is None else like.keys)
        self.burden = chains.burdens(X.lengths)
        self.limit = chains.single_limit if self.single else -1.0
        self.first, self.last = 0, len(X)
        unmasked = np.array([length - text.count(size) for length, text in keys], dtype=np.int64)
        self._fill_diagonal(unmasked)

    def records(self, order: Ints) -> Records:
        """Return the compiled records in the given order, counted from the first record of this range."""
        return Records(self.codes, self.of_range(self.start), self.of_range(self.stop), order)

    def _fill_diagonal(self, unmasked: Ints) -> None:
        """Set `squares` and `powers` from the number of unmasked residues of each record."""
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
                    "its kernel with itself overflows",
                    record=self.ids[int(i)],
                    remedy="choose normalize=true, a smaller n or decay, or cut the sequence into parts",
                )
            self.squares[i] = math.ldexp(mantissa, int(power - 2 * self.powers[i]))
        if self.empty:
            self.squares += np.ldexp(1.0, -2 * self.powers)


def _doubtful(values: Floats) -> Bools:
    """Return a mask of values that may have overflowed or underflowed a double."""
    return ~((values > 2.0**-SAFE_POWER) & (values < np.inf))


def product(rows: Subsequences, cols: Subsequences, out: Floats) -> None:
    """Write the kernel matrix of two payloads to `out` (n, m); raise SequenceError if a double overflows."""
    same = rows.rank is cols.rank and rows.first == cols.first and rows.last <= cols.last
    recursion = max(rows, cols, key=lambda payload: payload.longest).recursion
    row_rank, col_rank = rows.of_range(rows.rank), cols.of_range(cols.rank)
    row_order, col_order = (np.argsort(rank, kind="stable") for rank in (row_rank, col_rank))
    # The smaller sequence of each pair is the row.
    first = np.searchsorted(col_rank[col_order], row_rank[row_order], side="left")
    _fill(recursion, rows, row_order, cols, col_order, first, out)
    others = col_order[col_order >= len(rows)] if same else col_order
    first = np.searchsorted(row_rank[row_order], col_rank[others], side="right")
    _fill(recursion, cols, others, rows, row_order, first, out.T)
    if same:
        square = out[:, : len(rows)]
        np.copyto(square, square.T.copy(), where=row_rank[:, None] > row_rank)
    _correct(recursion, rows, cols, out)
    if rows.empty:
        out += np.ldexp(1.0, -np.add.outer(rows.of_range(rows.powers), cols.of_range(cols.powers)))


def _fill(
    recursion: _subsequence.Recursion,
    rows: Subsequences,
    row_order: Ints,
    lanes: Subsequences,
    lane_order: Ints,
    first: Ints,
    out: Floats,
) -> None:
    """Write K to out[row, lane] for each row and its lanes from `first` on."""
    stop = np.full(len(first), len(lane_order))
    cut = np.searchsorted(
        lanes.of_range(lanes.burden)[lane_order], rows.limit - rows.of_range(rows.burden)[row_order], side="right"
    )
    arguments = rows.records(row_order), lanes.records(lane_order)
    if rows.single:
        _subsequence.fill(recursion, _product.level(), True, *arguments, first, np.minimum(stop, cut), out)
        first = np.maximum(first, cut)
    _subsequence.fill(recursion, _product.level(), False, *arguments, first, stop, out)


def _correct(recursion: _subsequence.Recursion, rows: Subsequences, cols: Subsequences, out: Floats) -> None:
    """Scale K by the powers of the sequences, and recompute overflowed values in extended range."""
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
                f"its kernel with {cols.ids[cols.first + j]} overflows",
                record=rows.ids[rows.first + i],
                remedy="choose normalize=true, a smaller n or decay, or cut the sequences into parts",
            ) from None
