"""The Smith-Waterman kernel: the score of the best local alignment of two sequences."""

import math
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.core.parameters import choice, real, text
from seqkern.core.threads import GIVEN_THREADS, available_threads
from seqkern.core.types import Floats, Ints
from seqkern.kernels._blocks import Records
from seqkern.kernels.alignment import _smith_waterman
from seqkern.kernels.alignment._smith_waterman import lanes
from seqkern.kernels.alignment.alignment_kernel import AlignmentKernel, check_cells, lane_cells
from seqkern.kernels.common_parameters import zero_rule
from seqkern.kernels.planner import Cost, Workload
from seqkern.kernels.prepared import Plan, RecordRange
from seqkern.kernels.products import _product
from seqkern.sequences.alphabets import MASK, Alphabet, as_alphabet
from seqkern.sequences.sequence_set import SequenceSet

# Integer scores and gap costs, with which optimal alignments are exact.

MOST_DIGITS = 6
LARGEST = {8: 127, 16: 16383, 32: (1 << 29) - 1}  # score or cost that lanes of so many bits take
LARGEST_TOTAL = 1 << 30  # of a whole alignment


@dataclass(frozen=True)
class IntegerScores:
    """Scores and gap costs as whole numbers of units of numerator / denominator."""

    table: npt.NDArray[np.int32]  # shape (letters, letters): The masked residue is the last one
    gap_open: int
    gap_extend: int
    numerator: int = 1  # A unit is numerator / denominator
    denominator: int = 1  # A unit is numerator / denominator

    @classmethod
    def of(cls, table: Floats, gap_open: float, gap_extend: float) -> Self:
        """Return the IntegerScores of scores and gap costs that are decimal fractions."""
        values = np.concatenate((table.ravel(), [float(gap_open), float(gap_extend)]))
        for denominator in (10**digits for digits in range(MOST_DIGITS + 1)):
            whole = np.round(values * denominator)
            if (whole / denominator == values).all():
                break
        else:
            raise ParameterError(
                f"scores and gap costs have more than {MOST_DIGITS} decimal places", remedy="round them"
            )
        integers = [int(value) for value in whole]
        numerator = math.gcd(*integers) or 1
        if max(map(abs, integers)) > LARGEST[32] * numerator:
            raise ParameterError(
                f"scores or gap costs exceed {LARGEST[32]} times their common unit",
                remedy="give smaller or rounded scores and costs",
            )
        common = math.gcd(numerator, denominator)
        *scores, first, further = (value // numerator for value in integers)
        units = np.array(scores, dtype=np.int32).reshape(table.shape)
        return cls(units, first, further, numerator // common, denominator // common)

    @property
    def largest(self) -> int:
        """The largest score, or 0."""
        return max(0, int(self.table.max()))

    @property
    def width(self) -> int:
        """The number of bits of the narrowest lanes that hold these numbers: 8, 16 or 32."""
        most = max(int(np.abs(self.table).max()), self.gap_open)
        return next(width for width, largest in LARGEST.items() if most <= largest)

    @property
    def unit(self) -> str:
        """The unit as text."""
        return f"{self.numerator / self.denominator:g}"

    def scaled(self, units: Floats) -> Floats:
        """Return scores that are given in units on the original scale."""
        return units * self.numerator / self.denominator


# Scores of optimal local alignments of many pairs, with assignment of sequences to rows and vector lanes.
#
# A row sequence is aligned with a group of lane sequences at once; the work is the length of the row times the length
# of the longest lane. So lanes are sorted by length, and a sequence much longer than the others becomes the row. Scores
# are integers, so the assignment does not change them.

BEST_SCORES_WIDTHS = (8, 16, 32)
TABLE_CODES = 32
MOST_CELLS = 1 << 32  # of one alignment, a byte each, when it is explained


class AlignedSequences(RecordRange):
    """The payload of Smith-Waterman kernels: sequences, or a range of them, with their self-alignment scores."""

    def __init__(self, X: SequenceSet, scores: "IntegerScores", width: int) -> None:
        self.scores, self.width, self.scoring = scores, width, _scoring(scores)
        self.codes = np.where(X.codes == MASK, np.uint8(len(scores.table) - 1), X.codes)
        self.start, self.stop = X.starts, X.stops
        self.first, self.last = 0, len(X)
        too_long = np.flatnonzero(X.lengths > LARGEST_TOTAL // max(1, scores.largest))
        if len(too_long):
            raise SequenceError(
                f"has {X.lengths[too_long[0]]} residues: scores might exceed 2^30 units of {scores.unit}",
                record=X.ids[too_long[0]],
                remedy="give scores with fewer digits, or cut the sequence into parts",
            )
        self.squares = self._own_scores()

    def diagonal(self) -> Floats:
        """Return the self-alignment score of each record, float64 (n,)."""
        return self.scores.scaled(super().diagonal())

    @property
    def lengths(self) -> Ints:
        """The lengths of the records in residues, int64 (n,)."""
        return (self.stop - self.start)[self.first : self.last]

    def records(self, order: Ints) -> Any:
        """Return the compiled Records in the given order, counted from the first record of this range."""
        part = slice(self.first, self.last)
        return Records(self.codes, self.start[part], self.stop[part], order)

    def _own_scores(self) -> Floats:
        """Return the self-alignment score of each record, in units; most are known without an alignment."""
        table = self.scores.table.astype(np.int64)
        own = table.diagonal().copy()
        most = np.maximum(own, 0)
        fair = np.all(2 * table <= most[:, None] + most, axis=1).astype(np.uint8)
        squares = np.empty(len(self))
        every = self.records(np.arange(len(self)))
        _smith_waterman.own_scores(every, own, fair, self.scores.gap_open, squares)
        for i in np.flatnonzero(np.isnan(squares)):
            one = self.rows(int(i), int(i) + 1)
            _fill(one, one, np.ones(1, dtype=np.int64), 1, squares[i : i + 1, None], max(16, self.width))
        return squares


def _scoring(scores: "IntegerScores") -> _smith_waterman.Scoring:
    """Return the compiled Scoring."""
    letters = len(scores.table)
    table = np.zeros((letters, letters + 1), dtype=np.int32)
    table[:, :-1] = scores.table
    narrow = None
    if letters < TABLE_CODES and np.abs(table).max() <= 127:
        narrow = np.zeros((letters, TABLE_CODES), dtype=np.int8)
        narrow[:, : letters + 1] = table
    return _smith_waterman.Scoring(table, narrow, scores.gap_open, scores.gap_extend, scores.largest)


def product(rows: "AlignedSequences", cols: "AlignedSequences", out: Floats) -> None:
    """Write the alignment scores of all pairs of two payloads to `out`."""
    n = len(rows)
    if rows.squares is cols.squares and rows.first == cols.first and n <= len(cols):
        _triangle(rows, out[:, :n])
        _rectangle(rows, cols.rows(n, len(cols)), out[:, n:])
    else:
        _rectangle(rows, cols, out)
    out[...] = rows.scores.scaled(out)


def _triangle(these: "AlignedSequences", out: Floats) -> None:
    """Write the square matrix of the scores of a range with itself, in units."""
    out[...] = 0
    by_length = np.argsort(np.argsort(these.lengths, kind="stable"))
    _fill(these, these, by_length, len(these), out)
    out += out.T.copy()
    np.fill_diagonal(out, these.squares[these.first : these.last])


def _rectangle(rows: "AlignedSequences", cols: "AlignedSequences", out: Floats) -> None:
    """Write the matrix of the scores of two ranges, in units."""
    if not out.size:
        return
    lanes = _smith_waterman.lanes(_product.level(), rows.width)
    ways = [_split(rows.lengths, cols.lengths, lanes), _split(cols.lengths, rows.lengths, lanes)]
    if ways[1] < ways[0]:
        rows, cols, out = cols, rows, out.T
    _, usual = min(ways)
    # Lanes before `usual` in their order meet all rows; a longer sequence meets the shorter ones, as a row.
    lengths = np.sort(cols.lengths)
    reach = np.maximum(usual, np.searchsorted(lengths, rows.lengths, side="right"))
    _fill(rows, cols, reach, usual, out)
    rank = np.argsort(np.argsort(cols.lengths, kind="stable"))
    reach = np.searchsorted(np.sort(rows.lengths), cols.lengths, side="left")
    _fill(cols, rows, np.where(rank < usual, 0, reach), len(rows), out.T)


def _split(rows: Ints, cols: Ints, lanes: int) -> tuple[int, int]:
    """Return the least work, in vector steps, and the number of shortest columns that are lanes for all rows then."""
    work = _group_lengths(cols, lanes) * int(rows.sum())
    longer = np.concatenate((np.cumsum(np.sort(cols)[::-1])[::-1], [0])) * int(_group_lengths(rows, lanes)[-1])
    total = work + longer
    best = int(np.argmin(total))
    return int(total[best]), best


def _group_lengths(lengths: Ints, lanes: int) -> Ints:
    """Return, for k = 0 … n, the sum of the longest lengths of the groups of the k shortest sequences, int64 (n + 1,).

    All groups are full, except the one of the shortest sequences.
    """
    n = len(lengths)
    padded = np.zeros(-(-n // lanes) * lanes, dtype=np.int64)
    padded[:n] = np.sort(lengths)
    sums = np.cumsum(padded.reshape(-1, lanes), axis=0).ravel()
    return np.concatenate(([0], sums[:n]))


def _fill(
    rows: "AlignedSequences",
    lanes: "AlignedSequences",
    reach: Ints,
    usual: int,
    out: Floats,
    width: int | None = None,
) -> None:
    """Set out[row, lane] for each row and the reach[row] shortest lanes; a group of lanes begins at `usual`."""
    level, first = _product.level(), width or rows.width
    order = np.argsort(lanes.lengths, kind="stable")
    size = _smith_waterman.lanes(level, first)
    bounds = np.unique([0, *range(usual, 0, -size), *range(usual, len(lanes), size), len(lanes)])
    arguments = rows.records(np.arange(len(rows))), lanes.records(order), np.ascontiguousarray(reach), bounds, out
    _smith_waterman.fill(level, first, rows.scoring, *arguments)
    for wider in BEST_SCORES_WIDTHS:
        if wider > first:
            _smith_waterman.correct(level, wider, rows.scoring, *arguments)


def shares(rows: "AlignedSequences", cols: "AlignedSequences", coefficients: npt.ArrayLike) -> Floats:
    """Return each row residue's share of Σ_j coefficients[j]·score(x, z_j), by one optimal alignment for each pair."""
    check_cells(rows.lengths, cols.lengths, MOST_CELLS)
    result = np.zeros(int(rows.lengths.sum()))
    weights = rows.scores.scaled(np.asarray(coefficients, dtype=np.float64))
    ours, theirs = (these.records(np.arange(len(these))) for these in (rows, cols))
    _smith_waterman.share(rows.scoring, ours, theirs, np.ascontiguousarray(weights), result)
    return result


# CPU nanoseconds for a pair of residues in lanes of 8 bits (plain: 16), for each level of instructions.
CELL_NS = (0.27, 0.0233, 0.0126)
VECTOR_BYTES = (16, 32, 64)
SAMPLED_SECONDS = 0.05  # a plan of more looks at the scores of a sample
SAMPLED, SAMPLED_RESIDUES = 12, 256  # records, and residues of each
LEAST_BLOCK_ROWS = 64  # fewer leave too many vector lanes idle where rows meet each other
ONE_THREAD_BLOCK_ROWS = 512
WIDTHS = {f"int{width}": width for width in LARGEST}


class SmithWatermanKernel(AlignmentKernel):
    r"""Smith-Waterman kernel: the score of the best local alignment.

    It suits homologs that share a domain. The score is exact and at least 0. Gaps in x and in y may follow each other.

    With ``normalize=false`` values are in the hundreds or thousands, and the C of an SVM scales with 1/K: normalise, or
    choose C of about 1e-4 to 1e-2.

    Notes
    -----
    With s the substitution matrix, and a cost of gap_open + (n − 1)·gap_extend for each gap of n residues, over all
    local alignments π of x and y,

    .. math:: K(x, y) = \max_π (\sum_{(i, j) ∈ π} s(x_i, y_j) − gaps(π))

    Complexity: O(|x|·|y|) per pair, many pairs at once in vector lanes.

    Definiteness: not positive semi-definite. Many Gram matrices happen to have no negative eigenvalue: check with
    ``seqkern gram --spectrum``.

    References
    ----------
    Smith, Waterman: Identification of common molecular subsequences. Journal of Molecular Biology 147, 1981.

    Gotoh: An improved algorithm for matching biological sequences. Journal of Molecular Biology 162, 1982.

    Rognes: Faster Smith-Waterman database searches with inter-sequence SIMD parallelisation. BMC Bioinformatics 12,
    2011.

    Examples
    --------
    >>> from seqkern.kernels import SmithWatermanKernel
    >>> SmithWatermanKernel()(["MKVLAW"], ["MKVLAW", "KVIAW", "GGGG"])
    array([[33., 26.,  0.]])
    """

    name = "smith_waterman"
    summary = "Scores the best local alignment of two sequences."

    matrix: str | list[list[float]] = text(
        default="BLOSUM62",
        rows=True,
        kw_only=False,
        doc='Substitution matrix: a name known to Biopython (``"BLOSUM62"``; ``"NUC.4.4"`` for DNA '
        "and RNA), a file in NCBI format, or symmetric scores in the order of the alphabet. "
        "Scores and costs are decimal numbers with at most six places. Masked residues score as "
        "the matrix's X (N in a DNA matrix), or else as its smallest score. This includes B, J, "
        "O, U, X, Z and ``*`` in proteins if they are masked; to use their own scores, read the "
        "sequences with the alphabet ``ARNDCQEGHILKMFPSTWYVBZX*``.",
    )
    gap_open: float = real(
        default=11, low=0, kw_only=False, doc="Cost of the first residue of a gap, at least `gap_extend`."
    )
    gap_extend: float = real(default=1, low=0, kw_only=False, doc="Cost of each further residue of a gap.")
    zero_diagonal: Literal["error", "zero"] = zero_rule("a sequence that scores nothing with itself")
    algorithm: str = choice(
        default="auto",
        choices=("auto", "int8", "int16", "int32"),
        execution=True,
        doc="Integer type to start with; scores that overflow are recomputed in a wider type. Results are identical.",
    )

    tested_with = (
        {"alphabet": "protein"},
        {"alphabet": "protein", "normalize": True, "zero_diagonal": "zero"},
        {"matrix": "NUC.4.4", "gap_open": 10, "gap_extend": 0.5, "alphabet": "dna"},
        {"matrix": [[2, -1, -1.5], [-1, 2.25, 0], [-1.5, 0, 3]], "gap_open": 2, "gap_extend": 2, "alphabet": "HEC"},
    )

    @property
    def _least_block_rows(self) -> int:  # type: ignore[override]  # here it follows from the parameters
        """Minimum number of rows in a block: fewer would leave too many vector lanes idle."""
        return ONE_THREAD_BLOCK_ROWS if (GIVEN_THREADS.get() or self.n_threads) == 1 else LEAST_BLOCK_ROWS

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.alphabet is not None and self.algorithm != "auto":
            self._integers(as_alphabet(self.alphabet))

    def _integers(self, alphabet: Alphabet) -> tuple[IntegerScores, int]:
        """Return the IntegerScores for an alphabet, and the number of bits of the first lanes to try."""
        scores = IntegerScores.of(self.scores(alphabet), self.gap_open, self.gap_extend)
        width = WIDTHS.get(self.algorithm, scores.width)
        if width < scores.width:
            raise ParameterError(
                f"algorithm={self.algorithm} cannot hold the scores or costs",
                remedy=f"choose algorithm=auto or algorithm=int{scores.width}",
            )
        return scores, width

    def _prepare(self, X: SequenceSet, like: AlignedSequences | None) -> AlignedSequences:
        return AlignedSequences(X, *self._integers(X.alphabet))

    def _block(self, rows: AlignedSequences, cols: AlignedSequences, out: Floats) -> None:
        product(rows, cols, out)

    def _attribute(self, X: SequenceSet, support: SequenceSet, coefficients: Floats) -> Floats:
        """Distribute the score of one best alignment.

        Pairs go to the residues of x, gaps to the residues in or next to them.
        """
        return shares(self._prepare(X, None), self._prepare(support, None), coefficients)

    def _sampled_scores(self, X: SequenceSet, Y: SequenceSet) -> Floats:
        """Return estimated scores, in units, of some records with others.

        They are extrapolated from the scores of the records' beginnings.
        """
        rows, cols = (Z.take(np.unique(np.linspace(0, len(Z) - 1, SAMPLED, dtype=int))) for Z in (X, Y))
        others = ~np.eye(len(rows), len(cols), dtype=bool) if X is Y else np.ones((len(rows), len(cols)), dtype=bool)
        found = []
        for n in (SAMPLED_RESIDUES // 2, SAMPLED_RESIDUES):
            ours, theirs = (self._prepare(Z.part(0, n), None) for Z in (rows, cols))
            scores = np.empty(others.shape)
            product(ours, theirs, scores)
            found.append(scores[others] / ours.scores.scaled(np.ones(1)))
        growth = 2 * np.mean(found[1] - found[0]) / SAMPLED_RESIDUES if others.any() else 0.0
        shorter = np.minimum.outer(rows.lengths, cols.lengths)[others]
        return found[1] + growth * np.maximum(0, shorter - SAMPLED_RESIDUES)

    def _plan(self, X: Any, Y: Any) -> Plan:
        scores, width = self._integers(X.alphabet)
        work, level = Workload.of(X, Y), _product.level()
        each = CELL_NS[level] * max(1, width / (8 if level else 16))
        cells = lane_cells(X, Y, lanes(level, width), with_own=False)
        if each * cells * 1e-9 > SAMPLED_SECONDS:
            sample = self._sampled_scores(X, X if Y is None else Y)
            for narrow, wide in ((8, 16), (16, 32)):  # scores beyond the narrow lanes are computed again
                if narrow >= (width if level else max(width, 16)) and len(sample):
                    limit = 2**narrow - 1
                    share = float(np.mean(sample >= limit))
                    again = lane_cells(X, Y, lanes(level, wide), with_own=False) * wide / width
                    # Where all are too large, the narrow lanes stop as soon as they find out.
                    cells = share * again + cells * (limit / float(np.mean(sample)) if share == 1 else 1.0)
        # For each thread a group's profile, as wide as the shorter of a pair, and a row's numbers; and all codes.
        both = (X, X) if Y is None else (X, Y)
        longest = [int(Z.lengths.max(initial=0)) for Z in both]
        columns = min(longest) if Y is not None else int(np.sort(X.lengths)[-2:].min(initial=longest[0]))
        threads = available_threads(GIVEN_THREADS.get() or self.n_threads)
        vectors = (columns * len(scores.table) + 2 * max(longest)) * threads
        own = Cost(each * cells * 1e-9, VECTOR_BYTES[level] * vectors + sum(len(Z.codes) for Z in both))
        total = own + work.output(self.n_threads)
        return Plan(
            f"int{width}", total.seconds, total.bytes, f"{cells:.3g} pairs of residues in lanes, {each:.2g} ns each"
        )
