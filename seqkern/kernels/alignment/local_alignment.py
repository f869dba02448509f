"""The local alignment kernel: a sum over all local alignments of two sequences (Vert, Saigo, Akutsu 2004).

`seqkern.kernels.alignment.local_alignment` computes the values, many pairs at once in vector lanes.
"""

import math
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.core.parameters import changed, choice, flag, real, text
from seqkern.core.threads import GIVEN_THREADS
from seqkern.core.types import Array, Floats, Ints
from seqkern.kernels._blocks import Records
from seqkern.kernels.alignment import _local_alignment
from seqkern.kernels.alignment.alignment_kernel import AlignmentKernel, lane_cells, own_cells
from seqkern.kernels.blocks import order_keys, ranks, symmetric_matrix
from seqkern.kernels.capabilities import Traits
from seqkern.kernels.common_parameters import zero_rule
from seqkern.kernels.gradients import KernelGradient, Square
from seqkern.kernels.planner import Cost, Workload
from seqkern.kernels.prepared import Plan, Prepared, RecordRange
from seqkern.kernels.products import _product
from seqkern.sequences.alphabets import DNA, MASK, PROTEIN, Alphabet, as_alphabet
from seqkern.sequences.sequence_set import SequenceSet

# Derivatives of sums over all local alignments with respect to β and the gap costs.

MOST_SCORE = 500.0
"""Largest β·s whose exponential times 2^200, the largest number kept between rows, is a double."""


def logarithm_slopes(
    X: SequenceSet,
    scores: Floats,
    beta: float,
    gap_open: float,
    gap_extend: float,
    by: Literal["beta", "gap_open", "gap_extend"],
    n_threads: int | None = None,
) -> Floats:
    """Return the derivative by a parameter of ln Σ_π exp(β·s(π)) over all local alignments π, for all pairs of
    sequences.
    """
    if beta * scores.max() > MOST_SCORE:
        raise ParameterError(
            f"beta={beta:g} times the largest score, {scores.max():g}, is too large for derivatives",
            remedy=f"choose a beta below {MOST_SCORE / scores.max():.3g}",
        )
    pair, opened, extended = np.exp(beta * scores), float(np.exp(-beta * gap_open)), float(np.exp(-beta * gap_extend))
    slopes = {
        "beta": (scores * pair, -gap_open * opened, -gap_extend * extended),
        "gap_open": (np.zeros_like(pair), -beta * opened, 0.0),
        "gap_extend": (np.zeros_like(pair), 0.0, -beta * extended),
    }
    pair_slope, open_slope, extend_slope = slopes[by]
    codes = np.where(X.codes == MASK, np.uint8(X.alphabet.size), X.codes)
    numbers = opened, extended, open_slope, extend_slope
    return symmetric_matrix(
        len(X), partial(_local_alignment.fill_slopes, codes, X.starts, X.stops, pair, pair_slope, *numbers), n_threads
    )


# Factors of residues and gaps, and number ranges, for sums over all local alignments.
#
# Sums are computed in single precision, in double precision, or in logarithms. In the first two, numbers are scaled by
# powers of two that change between tiles of a few rows; `_range` finds how many rows a tile may have so that no
# sequences can cause an overflow within it. Logarithms are used if not even a few rows are possible: for β·s beyond a
# hundred, or gaps that cost hundreds.
#
# Underflow loses nothing significant: a cell matters only through alignments that continue from it, and the same
# continuations follow the largest number v at the start of the tile at the price of a gap. So an underflow of 2^−149
# changes K by a bounded share, and `_range` keeps all losses, over all cells, below 2^−20 (2^−49 in double precision)
# for sequences of up to 2^24 residues.
#
# With u = 2^−24 or 2^−53, the rounding error of ln K is below 4u·(|x| + |y| + 40): a pair of residues takes at most six
# roundings and an error of 2u in its factor, a letter in a gap three. Rounded factors of the same letters would add
# up to an error in proportion to the length; as each column of a pattern has its own table, each is rounded so that it
# compensates for the errors of the preceding ones.

PATTERN, STRIP = 8, 8  # columns of the pattern of factors; the most in a strip
EVEN_BITS = 12  # by which columns of a pattern may be scaled
TILE_ROWS = (32, 16, 8, 4)
BLOCK_BITS = 5  # by which sums over a block of rows exceed those over a tile
ERROR_BITS = 5  # of the roundings of small numbers in a cell, up to 10 halves, times 5 for T, X, Y < 4K
QUIET_BITS = 4  # by which what goes on in a block may exceed the bound on it
WINDOW_BITS = 20  # of the largest number of a tile, between two changes of powers
SINGLE_LETTERS = 1024  # of a lane; longer ones are computed in double precision
LONGEST = 2**24  # letters, for which it is shown that nothing is lost


class Numbers(NamedTuple):
    """Number type parameters: binary digits of the largest and smallest number, of tolerable losses, and of the
    cells.
    """

    largest: int
    smallest: int
    lost: int
    cells: int
    letters: int  # of a lane


SINGLE = Numbers(126, 149, 20, 21, SINGLE_LETTERS)
DOUBLE = Numbers(1022, 1074, 49, 48, LONGEST)


@dataclass(frozen=True)
class Factors:
    """The factors of scores and gap costs that the compiled loops need."""

    recursion: Any  # Compiled, for `method`
    logarithms: Any
    method: Literal["single", "double", "logarithms"]

    @property
    def single(self) -> bool:
        """Whether single precision suffices."""
        return self.method == "single"

    @classmethod
    def of(cls, scores: npt.ArrayLike, open_cost: float, extend_cost: float, precision: str = "single") -> "Factors":
        """Return the Factors for scores β·s and gap costs; single precision is used only if it suffices."""
        values = np.ascontiguousarray(scores, dtype=np.float64)
        return _factors(values.tobytes(), len(values), float(open_cost), float(extend_cost), precision)


@lru_cache(maxsize=8)
def _factors(values: bytes, size: int, open_cost: float, extend_cost: float, precision: str) -> Factors:
    """Return the Factors for scores, float64 (size, size), given as bytes so that they can be cached."""
    scores = np.frombuffer(values).reshape(size, size)
    even = PATTERN * extend_cost * math.log2(math.e) <= EVEN_BITS
    narrow, wide = (_range(numbers, scores, open_cost, extend_cost, even) for numbers in (SINGLE, DOUBLE))
    logarithms = _local_alignment.LogRecursion(scores, open_cost, extend_cost)
    if wide is None:
        return Factors(logarithms, logarithms, "logarithms")
    one = np.exp(extend_cost * np.arange(PATTERN)) if even else np.ones(PATTERN)
    exact = np.exp(scores) * (one / np.roll(one, 1))[:, None, None]
    recursion = _local_alignment.Recursion(
        _tables(exact, np.float32) if narrow else np.zeros((PATTERN, size, size + 1), np.float32),
        _tables(exact, np.float64),
        even,
        math.exp(-open_cost),
        math.exp(-extend_cost),
        math.exp(extend_cost - open_cost) if even else math.exp(-open_cost),
        math.exp(-PATTERN * extend_cost) if even else 1.0,
        one,
        narrow or (TILE_ROWS[-1], 0, 0, 0, 0.0),
        wide,
    )
    return Factors(recursion, logarithms, "single" if narrow and precision == "single" else "double")


def _tables(exact: Floats, dtype: npt.DTypeLike) -> Array:
    """Return rounded factors, (8, size, size + 1), whose errors cancel over the pattern; 0 beyond an end."""
    tables = np.zeros((PATTERN, exact.shape[1], exact.shape[1] + 1), dtype=dtype)
    gained = np.zeros(exact.shape[1:])
    for factor, table in zip(exact, tables, strict=True):
        table[:, :-1] = factor * np.exp(-gained)
        gained += np.log(np.divide(table[:, :-1], factor, out=np.ones_like(gained), where=table[:, :-1] > 0))
    return tables


def _range(
    numbers: Numbers, scores: Floats, open_cost: float, extend_cost: float, even: bool
) -> tuple[int, int, int, int, float] | None:
    """Return (rows of a tile, low, middle, high, quiet) for the compiled `range`, or None if `numbers` do not
    suffice.
    """
    largest, smallest, lost, cells, letters = numbers
    best, worst, opened, extended = (
        value * math.log2(math.e) for value in (scores.max(), scores.min(), open_cost, extend_cost)
    )
    needed = lost + cells + ERROR_BITS - smallest
    if -worst + EVEN_BITS > largest and 2 * opened + EVEN_BITS + needed > 0:
        return None  # a factor may be lost, and two gaps beside each other are no better
    scaled = (PATTERN + 1) * extended if even else 0.0
    depth = _depth(letters, best, opened, extended)
    for rows in TILE_ROWS:
        high = int(largest - BLOCK_BITS - _growth(rows, best, opened, extended) - scaled)
        low = high - WINDOW_BITS
        ways = max(
            _ways(rows, letters, best, opened, extended), _ways(STRIP, depth, best, opened, extended), 2 * opened
        )
        if low >= max(WINDOW_BITS, ways + extended * (max(rows, STRIP) + rows + STRIP) + needed):
            return rows, low, low + WINDOW_BITS // 2, high, 2.0 ** (high - QUIET_BITS)
    return None


def _ways(pairs: int, reach: float, best: float, opened: float, extended: float) -> float:
    """Return log2 of the weight of all paths through up to `pairs` pairs in as many rows, relative to a single gap.

    `reach` is the extent of these paths in columns.
    """
    further = math.log2(reach) - (opened - extended)
    terms = []
    for q in range(pairs + 1):
        cuts = [opened - extended]
        cuts += [math.log2(math.comb(q + 1, g) / math.factorial(g - 1)) + (g - 1) * further for g in range(1, q + 2)]
        terms.append(q * best + math.log2(math.comb(pairs, q)) + np.logaddexp2.reduce(cuts))
    return float(np.logaddexp2.reduce(terms))


def _depth(letters: int, best: float, opened: float, extended: float) -> float:
    """Return the gap length in a lane that costs more than all alignments of `letters` residues can weigh."""
    if extended == 0:
        return LONGEST
    gaps = 2 * math.log2(1 + 2.0**-opened / max(1 - 2.0**-extended, 1 / LONGEST))  # before a pair, along both sequences
    return min(LONGEST, (letters * max(0.0, best + gaps) + 128) / extended)  # 128: for where they begin, v ≤ 4K, …


def _growth(rows: int, best: float, opened: float, extended: float) -> float:
    """Return log2 of the largest number in a tile if all numbers at its start are 1 and all scores are the best one."""
    T, X, total = [0.0] * STRIP, [0.0] * STRIP, 0.0
    for _ in range(rows):
        corner, Y = 2.0, extended
        for c in range(STRIP):
            M = best + corner
            A = np.logaddexp2(X[c] - opened, M)
            X[c] = np.logaddexp2(X[c] - extended, M)
            corner, T[c] = T[c], np.logaddexp2(np.logaddexp2(A, 0.0), Y - opened)
            Y = np.logaddexp2(A, Y - extended)
            total = np.logaddexp2(total, M)
        total = np.logaddexp2(total, Y)
    return float(max(total, *T, *X))


# The engine of the local alignment kernel: sums over all local alignments.
#
# `LocalSums` is a prepared set of sequences, `product` fills a rectangle with ln K. One sequence of a pair is the row,
# the other one is in a vector lane beside others. The row is the larger sequence, by length and then by codes, so that
# neighbouring lanes have similar lengths and the bits are the same wherever the pair occurs. They do not depend on the
# other lanes either. `seqkern.kernels.alignment.local_alignment` describes the numerics.


class LocalSums(RecordRange):
    """The payload of the local alignment kernel: sequences, or a range of them, with ln K(x, x) of each."""

    def __init__(self, X: SequenceSet, factors: "Factors", like: "LocalSums | None" = None) -> None:
        self.factors = factors
        self.ids, self.start, self.stop = X.ids, X.starts, X.stops
        self.codes = np.where(X.codes == MASK, np.uint8(X.alphabet.size), X.codes)
        keys = order_keys(self.codes, self.start, self.stop)
        self.keys: list[tuple[int, bytes]] = sorted(set(keys)) if like is None else like.keys
        self.rank = ranks(keys, self.keys)
        self.first, self.last = 0, len(X)
        self.logarithms = np.zeros(len(X))
        self.squares = self.logarithms
        self._fill_diagonal(np.argsort(X.lengths, kind="stable"), X.lengths)

    def own_logarithms(self) -> Floats:
        """Return ln K(x, x) of each sequence, float64 (n,)."""
        return self.of_range(self.logarithms)

    def ranks(self) -> Ints:
        """Return the rank of each sequence in the order of rows and lanes, int64 (n,)."""
        return self.of_range(self.rank)

    def _records(self, order: Ints) -> Records:
        """Return the compiled Records in the given order, counted from the first record of this range."""
        span = slice(self.first, self.last)
        return Records(self.codes, self.start[span], self.stop[span], order)

    def _fill_diagonal(self, order: Ints, lengths: Ints) -> None:
        """Set `logarithms`, given the order by length.

        To save memory, a long sequence is computed alone, like any pair.
        """
        cut = np.searchsorted(lengths[order], SINGLE_LETTERS, side="right")
        settings = self.factors.recursion, _product.level()
        _local_alignment.diagonal(*settings, self.factors.single, self._records(order[:cut]), self.logarithms)
        for k in order[cut:]:
            record = Records(self.codes, self.start[k : k + 1], self.stop[k : k + 1], np.zeros(1, dtype=np.int64))
            out = self.logarithms[k : k + 1, None]
            _local_alignment.fill(*settings, False, record, record, np.ones(1, dtype=np.int64), out)

    def _by_precision(self, order: Ints) -> tuple[tuple[Ints, bool], tuple[Ints, bool]]:
        """Return the two parts of an order by length, and for each whether single precision suffices in lanes."""
        lengths = self.of_range(self.stop - self.start)[order]
        cut = np.searchsorted(lengths, SINGLE_LETTERS, side="right") if self.factors.single else 0
        return (order[:cut], True), (order[cut:], False)

    def fill(self, order: Ints, lanes: "LocalSums", lane_order: Ints, stop: Ints, out: Floats) -> None:
        """Set out[row, lane] to ln K for each of these records as a row, and some of the others in lanes."""
        rows = self._records(order)
        for part, single in lanes._by_precision(lane_order):
            _local_alignment.fill(
                self.factors.recursion,
                _product.level(),
                single,
                rows,
                lanes._records(part),
                np.clip(stop, 0, len(part)),
                out,
            )
            stop = stop - len(part)


def product(rows: "LocalSums", cols: "LocalSums", out: Floats) -> Floats:
    """Write ln K of all pairs of two sets to `out`, and return it."""
    same = rows.rank is cols.rank and rows.first == cols.first and rows.last <= cols.last
    row_rank, col_rank = rows.ranks(), cols.ranks()
    row_order, col_order = (np.argsort(rank, kind="stable") for rank in (row_rank, col_rank))
    # The larger one of each pair is the row.
    stop = np.searchsorted(col_rank[col_order], row_rank[row_order], side="right")
    rows.fill(row_order, cols, col_order, stop, out)
    others = col_order[col_order >= len(rows)] if same else col_order
    stop = np.searchsorted(row_rank[row_order], col_rank[others], side="left")
    cols.fill(others, rows, row_order, stop, out.T)
    if same:
        square = out[:, : len(rows)]
        np.copyto(square, square.T.copy(), where=row_rank[:, None] < row_rank)
    return out


def shares(rows: "LocalSums", cols: "LocalSums", values: Floats) -> Floats:
    """Distribute the values of pairs by the probability that each row residue is aligned with one of the column."""
    result = np.zeros(int((rows.stop - rows.start).sum()))
    ours, theirs = (payload._records(np.arange(len(payload))) for payload in (rows, cols))
    _local_alignment.share(rows.factors.logarithms, ours, theirs, values, result)
    return result


LEAST_BLOCK_ROWS = 512  # fewer leave too many vector lanes idle
ONE_THREAD_BLOCK_ROWS = 4096  # nothing is gained by smaller blocks for one thread
LARGEST_LOGARITHM = 700.0  # of a number that a double can hold

# CPU nanoseconds for a pair of residues, for each level of instructions.
CELL_NS = {"single": (0.25, 0.11, 0.06), "double": (0.45, 0.2, 0.105), "logarithms": (130.0, 130.0, 130.0)}
LANES = {"single": (4, 8, 16), "double": (2, 4, 8), "logarithms": (1, 1, 1)}
ROW_BYTES, PROFILE_BYTES = 320, 64  # for a letter of the rows, and for one of the lanes and each of the alphabet


class LocalAlignmentKernel(AlignmentKernel):
    r"""Local alignment kernel: the sum over all local alignments.

    It suits homologs, including remote ones. Unlike Smith-Waterman, all alignments contribute; with growing β the value
    approaches the Smith-Waterman score. The empty alignment counts too, with score 0.

    The sum itself is positive semi-definite if the matrix exp(β·s(a, b)) is, but of little use: K(x, x) exceeds K(x, y)
    by many orders of magnitude. Its logarithm is indefinite. For an SVM, repair it by an eigenvalue shift or the
    empirical kernel map, as in the paper; a P-SVM takes it as it is. Repaired models can be explained, but after the
    empirical kernel map only with ``normalize=false`` there; alternatively use the kernel `pairwise`.

    With ``normalize=false`` logarithms are in the hundreds or thousands, and the C of an SVM scales with 1/K:
    normalise, or choose C of about 1e-4 to 1e-2.

    Masked residues (B, J, O, U, X and Z in proteins; * with ``unknown="mask_all"``) are aligned too, with the scores of
    the matrix's X (N for DNA), or else its smallest score. A custom alphabet scores each of its letters by the matrix.

    Notes
    -----
    With s(π) the score of a local alignment π of x and y, the substitution scores less the gap costs,

    .. math:: K(x, y) = (1/β) \ln \sum_π \exp(β s(π))

    With ``logarithm=false`` K is the sum itself.

    Complexity: O(|x|·|y|) per pair, many pairs at once in vector lanes.

    Definiteness: the logarithm is not positive semi-definite, though many Gram matrices happen to have no negative
    eigenvalue: check with ``seqkern gram --spectrum``.

    References
    ----------
    Vert, Saigo, Akutsu: Local alignment kernels for biological sequences. In: Kernel Methods in Computational Biology,
    MIT Press, 2004.

    Saigo, Vert, Ueda, Akutsu: Protein homology detection using string alignment kernels. Bioinformatics 20, 2004.

    Examples
    --------
    >>> from seqkern.kernels import LocalAlignmentKernel
    >>> LocalAlignmentKernel(normalize=True)(["MKVLAW"], ["MKVLAW", "KVIAW", "GGGG"]).round(2)
    array([[1.  , 0.86, 0.18]])
    """

    name = "local_alignment"
    traits = Traits(definite=None)
    summary = "Sums over all local alignments of two sequences; better alignments count more."

    beta: float = real(
        default=0.5, low=1e-6, high=1e6, kw_only=False, doc="β: larger values favour the best alignments."
    )
    matrix: str | list[list[float]] = text(
        default="BLOSUM62",
        rows=True,
        kw_only=False,
        doc="Substitution matrix: a name known to Biopython, a file in NCBI format, or scores in the "
        "order of the alphabet.",
    )
    gap_open: float = real(
        default=11,
        low=0,
        kw_only=False,
        doc="Cost of opening a gap: a gap of n residues costs gap_open + (n − 1)·gap_extend.",
    )
    gap_extend: float = real(default=1, low=0, kw_only=False, doc="Cost of each further residue of a gap.")
    logarithm: bool = flag(default=True, doc="Return the logarithm (1/β)·ln Σ, or the sum itself.")
    precision: Literal["single", "double"] = choice(
        default="single",
        doc="Precision of the sums. The error of ln K is below 2^−22·(|x| + |y| + 40) in single "
        "precision, typically a hundredth of that, and below 2^−51·(|x| + |y| + 40) in double "
        "precision. Double precision is used anyway if both sequences have more than 1,024 "
        "residues, or if β·s exceeds about 8 or β·gap_open 50. Subnormal numbers are taken as zero in both.",
    )
    normalize: bool = changed(default=False, doc="Divide by sqrt(K(x, x)·K(y, y)), with K the logarithms or the sums.")
    zero_diagonal: Literal["error", "zero"] = zero_rule(
        "a sequence whose value with itself is 0 or less, as that of one without residues is"
    )

    tested_with = (
        {"alphabet": "protein"},
        {"beta": 0.2, "gap_open": 5, "gap_extend": 2, "normalize": True, "precision": "double", "alphabet": "protein"},
        {"beta": 0.5, "logarithm": False, "normalize": True, "alphabet": "protein"},
        {"beta": 3, "matrix": "NUC.4.4", "gap_open": 10, "alphabet": "dna"},
        {"beta": 40, "matrix": [[2, -1, -1], [-1, 2, -1], [-1, -1, 2]], "gap_open": 2, "alphabet": "HEC"},
    )

    @property
    def _most_block_columns(self) -> int | None:  # type: ignore[override]  # squares are shared by threads
        """Maximum number of columns in a block: as many as rows for several threads, else no limit."""
        return None if (GIVEN_THREADS.get() or self.n_threads) == 1 else LEAST_BLOCK_ROWS

    @property
    def _least_block_rows(self) -> int:  # type: ignore[override]  # here it follows from the parameters
        """Minimum number of rows in a block: fewer would leave too many vector lanes idle."""
        return ONE_THREAD_BLOCK_ROWS if (GIVEN_THREADS.get() or self.n_threads) == 1 else LEAST_BLOCK_ROWS

    def _traits(self, declared: Traits) -> Traits:
        return replace(declared, definite=self._is_definite)

    def _is_definite(self) -> bool:
        """Whether every Gram matrix of K is: if exp(β·s), with the masked residue, is; never for ln K."""
        if self.logarithm:
            return False
        for alphabet in [PROTEIN, DNA] if self.alphabet is None else [as_alphabet(self.alphabet)]:
            try:
                scores = self.beta * self.scores(alphabet)
            except ParameterError:
                continue
            values = np.linalg.eigvalsh(np.exp(scores - scores.max()))
            return bool(values[0] >= -1e-12 * values[-1])
        return False

    def _factors(self, alphabet: Alphabet) -> Factors:
        """Return the Factors for an alphabet."""
        beta = float(self.beta)
        return Factors.of(beta * self.scores(alphabet), beta * self.gap_open, beta * self.gap_extend, self.precision)

    def _prepare(self, X: SequenceSet, like: LocalSums | None) -> LocalSums:
        payload = LocalSums(X, self._factors(X.alphabet), like)
        own = payload.logarithms
        if self.logarithm:
            payload.squares = own / float(self.beta)
        elif self.normalize:
            payload.squares = np.exp(np.minimum(own, LARGEST_LOGARITHM))  # all that is asked is whether it is positive
        else:
            payload.squares = _exponential(own[:, None], payload)[:, 0]
        return payload

    def _block(self, rows: LocalSums, cols: LocalSums, out: Floats) -> None:
        product(rows, cols, out)
        if self.logarithm:
            out /= float(self.beta)
        else:
            out[...] = _exponential(out, rows)

    def _normalised_block(self, rows: Prepared, cols: Prepared, out: Floats) -> None:
        if self.logarithm:
            super()._normalised_block(rows, cols, out)
            return
        product(rows.payload, cols.payload, out)
        out -= (rows.payload.own_logarithms()[:, None] + cols.payload.own_logarithms()) / 2
        np.exp(out, out=out)

    @property
    def _differentiates_logarithm(self) -> bool:  # type: ignore[override]  # here it follows from the parameters
        """Whether K is the sum itself; the derivative is computed for its logarithm."""
        return not self.logarithm

    def _own_tunable(self) -> dict[str, float]:
        return {name: float(getattr(self, name)) for name in ("beta", "gap_open", "gap_extend")}

    def _tuning_bounds(self) -> dict[str, tuple[float, float]]:
        """Return the domains; gap_open and gap_extend stay on their sides of √(gap_open·gap_extend)."""
        border = float(np.sqrt(self.gap_open * self.gap_extend))
        return super()._tuning_bounds() | {"gap_open": (border, np.inf), "gap_extend": (0.0, border)}

    def _derivative(self, name: Any, at: KernelGradient) -> Square:
        beta, costs = float(self.beta), (float(self.gap_open), float(self.gap_extend))
        slopes = logarithm_slopes(at.X, self.scores(at.X.alphabet), beta, *costs, name, self.n_threads)
        if not self.logarithm:
            return slopes
        slopes /= beta
        return slopes - at.raw / beta if name == "beta" else slopes

    def _attribute(self, X: SequenceSet, support: SequenceSet, coefficients: Floats) -> Floats:
        """Distribute the value by the probability that each residue is aligned.

        Alignments are weighted as in the kernel.
        """
        cols = self._prepare(support, None)
        rows = self._prepare(X, cols)
        if not self.logarithm:
            for payload in (rows, cols):
                _exponential(payload.logarithms[:, None], payload)
        values = np.empty((len(rows), len(cols)))
        self._block(rows, cols, values)
        return shares(rows, cols, values * coefficients)

    def _plan(self, X: Any, Y: Any) -> Plan:
        factors, work, level = self._factors(X.alphabet), Workload.of(X, Y), _product.level()
        method = factors.method
        wide = "double" if method == "single" else method  # of two long records
        cells = seconds = 0.0
        for name, least, most in ((method, 0, SINGLE_LETTERS), (wide, SINGLE_LETTERS, np.inf)):
            some = lane_cells(X, Y, LANES[name][level], least, most)
            for Z in (X,) if Y is None else (X, Y):
                some += own_cells(Z, LANES[name][level], least, most, alone=least > 0)
            cells, seconds = cells + some, seconds + some * CELL_NS[name][level] * 1e-9
        longest = max(int(X.lengths.max(initial=0)), work.longest)
        own = Cost(seconds, longest * (ROW_BYTES + PROFILE_BYTES * (X.alphabet.size + 1)))
        total = own + work.output(self.n_threads)
        return Plan(method, total.seconds, total.bytes, f"{cells:.3g} pairs of residues in lanes, {seconds:.2g} s")


def _exponential(logarithms: Floats, rows: LocalSums) -> Floats:
    """Return the exponentials, float64 (n, m); raise SequenceError, naming the row, if one overflows."""
    over = np.flatnonzero((logarithms > LARGEST_LOGARITHM).any(axis=1))
    if len(over):
        raise SequenceError(
            "its kernel value overflows",
            record=rows.ids[rows.first + over[0]],
            remedy="choose logarithm=true, normalize=true or a smaller beta",
        )
    return np.exp(logarithms)
