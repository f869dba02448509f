"""The profile alignment kernel: alignments of profiles with profiles (Rangwala and Karypis 2005).

`seqkern.kernels.alignment.profile_alignment` computes the values, in vector lanes.
"""

import hashlib
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import SequenceError
from seqkern.core.parameters import changed, choice, not_negative, positive, real
from seqkern.core.threads import GIVEN_THREADS, available_threads
from seqkern.core.types import Array, Floats, Ints
from seqkern.formats.profiles import check_tracks
from seqkern.kernels.alignment import _profile_alignment
from seqkern.kernels.alignment.alignment_kernel import check_cells, check_gaps, lane_cells, own_cells
from seqkern.kernels.capabilities import Traits
from seqkern.kernels.common_parameters import zero_rule
from seqkern.kernels.kernel import SequenceKernel
from seqkern.kernels.planner import Cost, Workload
from seqkern.kernels.prepared import Plan, RecordRange
from seqkern.kernels.products import _product
from seqkern.kernels.profile_tracks import ProfileTracks
from seqkern.sequences.sequence_set import SequenceSet

# The engine of the profile alignment kernel: prepared profiles, and blocks of their scores.
#
# One sequence is the row, others are in vector lanes. The Smith-Waterman score has the same bits whichever of the two
# is the row. The sum of the local alignment kernel does not: there the row is the smaller sequence, by length and then
# by a digest of its tracks, so that the bits are the same wherever the pair occurs.

LARGEST = 1e6  # of a score in a track, and of the shift
# Of a pair of columns, β times its score. What ends within `REACH` positions is stored with one power of two: so many
# pairs, each after one of up to 2,000 gaps, are to be less than the e^700 that a double can hold.
MOST_DIGITS = 700 / _profile_alignment.REACH - 8
# Likewise below 0, for the weight of a pair; and of two gaps, next to which pairs of less weight do not matter.
LEAST_DIGITS, GAP_DIGITS = 86.0, 70.0
MOST_CELLS = 25_000_000  # of two sequences that are explained, 24 bytes each
VECTOR_BYTES = 64
# CPU nanoseconds for a multiply-add of a column score, and for the rest of a cell, for each level of instructions.
MULTIPLY_NS = (0.06, 0.0155, 0.0078)
CELL_NS = {"best": (0.6, 0.16, 0.14), "sum": (2.2, 0.6, 0.32)}
LEAST_BLOCK_ROWS, MOST_BLOCK_ROWS = 128, 1024  # fewer leave too many vector lanes idle


@dataclass(frozen=True)
class Sums:
    """Parameters of the computation: the best alignment score (`beta` 0), or the sum over all alignments."""

    beta: float
    gap_open: float
    gap_extend: float
    shift: float

    @property
    def compiled(self) -> Any:
        """The compiled Scoring object."""
        return _profile_alignment.Scoring(self.beta, self.gap_open, self.gap_extend, self.shift)

    def cell_ns(self, size: int) -> float:
        """Return the CPU time in nanoseconds for a pair of profile columns."""
        level = _product.level()
        return 2 * size * MULTIPLY_NS[level] + CELL_NS["sum" if self.beta else "best"][level]


class ProfileColumns(RecordRange):
    """The payload of the profile alignment kernel: sequences with tracks, or a range of them; made by `of`."""

    sums: "Sums"
    scoring: Any
    profile: Array
    pssm: Array
    start: Ints
    stop: Ints
    keys: npt.NDArray[np.uint64]

    @classmethod
    def of(cls, X: SequenceSet, sums: "Sums") -> "ProfileColumns":
        """Return the ProfileColumns of sequences with the tracks ``profile`` and ``pssm``."""
        check_tracks(X, ("profile", "pssm"))
        self = cls()
        self.sums, self.scoring = sums, sums.compiled
        self.profile, self.pssm, self.start, self.stop = X.tracks["profile"], X.tracks["pssm"], X.starts, X.stops
        self._check_scores(X)
        self.keys = np.array([self._key(i) for i in range(len(X))], dtype=np.uint64).reshape(len(X), 3)
        self.first, self.last = 0, len(X)
        order = _by_length(self)
        columns = self.columns(order)
        self.squares = np.zeros(len(X))
        diagonal = np.lib.stride_tricks.as_strided(self.squares, (len(X), len(X)), (0, self.squares.itemsize))
        place = np.arange(len(X))
        _profile_alignment.fill(self.scoring, _product.level(), columns, columns, place, place + 1, diagonal)
        return self

    @property
    def least_block_rows(self) -> int:
        """The minimum number of rows in a block of the matrix.

        Fewer rows would leave too many vector lanes idle; many blocks allow more threads.
        """
        return max(LEAST_BLOCK_ROWS, min(MOST_BLOCK_ROWS, len(self) // 8))

    def columns(self, order: Ints) -> Any:
        """Return the compiled Columns in the given order, counted from the first record of this range."""
        return _profile_alignment.Columns(
            self.profile, self.pssm, self.of_range(self.start), self.of_range(self.stop), order
        )

    def _key(self, i: int) -> tuple[int, int, int]:
        """Return the sort key of a sequence: length and digest, three integers."""
        digest = hashlib.blake2b(digest_size=16)
        for track in (self.profile, self.pssm):
            digest.update(track[self.start[i] : self.stop[i]].data)
        value = digest.digest()
        return self.stop[i] - self.start[i], int.from_bytes(value[:8]), int.from_bytes(value[8:])

    def _check_scores(self, X: SequenceSet) -> None:
        """Raise SequenceError if scores are too large to be summed."""
        sums = self.sums
        for record, start, stop in zip(X.ids, self.start, self.stop, strict=True):
            pssm = self.pssm[start:stop]
            if np.abs(pssm).max(initial=0) > LARGEST:
                raise SequenceError(
                    f"the track 'pssm' has scores beyond {LARGEST:g}", record=record, remedy="rebuild its profile"
                )
            largest, least = (2 * float(end(initial=0)) + sums.shift for end in (pssm.max, pssm.min))
            most = MOST_DIGITS / max(largest, 1e-9)
            if sums.gap_open > 0 and least < 0:
                most = min(most, max(-LEAST_DIGITS / least, GAP_DIGITS / (2 * sums.gap_open)))
            if sums.beta > most:
                raise SequenceError(
                    f"scores of {least:.4g} to {largest:.4g} are too large for beta={sums.beta:g}",
                    record=record,
                    remedy=f"choose a beta of at most {0.95 * most:.2g}",
                )


def _by_length(payload: "ProfileColumns") -> Ints:
    """Return the order of a payload's records by length."""
    return np.argsort(payload.of_range(payload.stop - payload.start), kind="stable")


def product(rows: "ProfileColumns", cols: "ProfileColumns", out: Floats) -> None:
    """Write the kernel matrix of two payloads to `out`."""
    n = len(rows)
    if rows.keys is cols.keys and rows.first == cols.first and n <= len(cols):
        _square(rows, out[:, :n])
        cols, out = cols.rows(n, len(cols)), out[:, n:]
    if rows.sums.beta:
        _smaller_as_row(rows, cols, out)
        return
    if n > len(cols):
        rows, cols, out = cols, rows, out.T
    every = np.zeros(len(rows), dtype=np.int64), np.full(len(rows), len(cols))
    _fill(rows, _by_length(rows), cols, _by_length(cols), *every, out)


def _square(these: "ProfileColumns", out: Floats) -> None:
    """Write the matrix of a payload with itself."""
    rank, _ = _ranks(these.of_range(these.keys), these.keys[:0])
    order = np.argsort(rank, kind="stable")
    place = np.argsort(order)
    own = np.arange(len(these))
    if these.sums.beta:  # the smaller sequence is the row
        _fill(these, order, these, order, own, np.full(len(own), len(own)), out)
        np.copyto(out, out.T.copy(), where=place[:, None] > place)
    else:  # the score is the same either way, and lanes beside each other waste less where they are the shorter ones
        _fill(these, order, these, order, np.zeros(len(own), dtype=np.int64), own + 1, out)
        np.copyto(out, out.T.copy(), where=place[:, None] < place)


def _smaller_as_row(rows: "ProfileColumns", cols: "ProfileColumns", out: Floats) -> None:
    """Write the matrix of two payloads, with the smaller sequence of each pair as the row."""
    row_rank, col_rank = _ranks(rows.of_range(rows.keys), cols.of_range(cols.keys))
    row_order, col_order = (np.argsort(rank, kind="stable") for rank in (row_rank, col_rank))
    first = np.searchsorted(col_rank[col_order], row_rank[row_order], "left")
    _fill(rows, row_order, cols, col_order, first, np.full(len(rows), len(cols)), out)
    first = np.searchsorted(row_rank[row_order], col_rank[col_order], "right")
    _fill(cols, col_order, rows, row_order, first, np.full(len(cols), len(rows)), out.T)


def _ranks(rows: Array, cols: Array) -> tuple[Ints, Ints]:
    """Return the ranks of the keys of rows and of columns among all keys."""
    rank = np.unique(np.concatenate((rows, cols)), axis=0, return_inverse=True)[1].reshape(-1)
    return rank[: len(rows)], rank[len(rows) :]


def _fill(
    rows: "ProfileColumns",
    row_order: Ints,
    lanes: "ProfileColumns",
    lane_order: Ints,
    first: Ints,
    stop: Ints,
    out: Floats,
) -> None:
    """Set out[row, lane] for each row and the lanes first[row] … stop[row] − 1 in `lane_order`."""
    columns = rows.columns(row_order), lanes.columns(lane_order)
    _profile_alignment.fill(rows.scoring, _product.level(), *columns, first, stop, out)


def shares(rows: "ProfileColumns", cols: "ProfileColumns", coefficients: Floats) -> Floats:
    """Return each row residue's share of Σ_j coefficients[j]·K(x, z_j); see `_profile_shares.h`."""
    row_lengths, col_lengths = rows.stop - rows.start, cols.stop - cols.start
    check_cells(row_lengths, col_lengths, MOST_CELLS)
    values = np.empty((len(rows), len(cols)))
    product(rows, cols, values)
    values *= coefficients
    result = np.zeros(int(row_lengths.sum()))
    ours, theirs = (these.columns(np.arange(len(these))) for these in (rows, cols))
    _profile_alignment.share(rows.scoring, ours, theirs, values, result)
    return result


def working_bytes(longest: int, size: int, n_threads: int | None) -> int:
    """Return the bytes of working memory of all threads."""
    panel = min(longest, _profile_alignment.PANEL_COLUMNS) * (2 * size + 1)
    return available_threads(GIVEN_THREADS.get() or n_threads) * VECTOR_BYTES * (panel + 4 * longest)


METHODS = ("smith_waterman", "local_alignment")

LANES = (4, 8, 16)
"""Number of lanes in a vector, for each level of instructions."""


class ProfileAlignmentKernel(ProfileTracks, SequenceKernel):
    r"""Profile alignment kernel: local alignments of two profiles.

    It suits remote homologs among proteins with PSSMs. The track ``profile`` holds the probabilities p of the letters
    at a position, the track ``pssm`` their log-odds scores s in half bits. A masked residue has both, too.

    With ``normalize=false`` values grow with the lengths of the sequences, to hundreds and more, and the C of an SVM
    scales with 1/K: normalise, or choose C of about 1e-4 to 1e-2.

    Notes
    -----
    Columns i of x and j of y score

    .. math:: S(i, j) = \sum_a p_i(a) s_j(a) + s_i(a) p_j(a) + shift

    The method ``"smith_waterman"`` returns the score of the best alignment, at least 0; ``"local_alignment"`` sums over
    all non-empty local alignments π with score s(π):

    .. math:: K(x, y) = (1/β) \ln(1 + \sum_π \exp(β s(π)))

    Complexity: O(b·|x|·|y|) per pair for an alphabet of b letters, many pairs at once in vector lanes.

    Definiteness: not positive semi-definite. Many Gram matrices happen to have no negative eigenvalue: check with
    ``seqkern gram --spectrum``.

    Column scores, and the sums of Smith-Waterman, are in single precision: the error of K is below 2^−23·(|x| + |y| +
    b) times the sum of the absolute values of all summands, typically a relative error of 1e-6. The sums of the local
    alignment kernel are in double precision, at any length; they omit alignments whose weight is below e^−700 of those
    that end within 16 positions.

    References
    ----------
    Rangwala, Karypis: Profile-based direct kernels for remote homology detection and fold recognition. Bioinformatics
    21, 2005.

    Vert, Saigo, Akutsu: Local alignment kernels for biological sequences. In: Kernel Methods in Computational Biology,
    MIT Press, 2004.

    Examples
    --------
    Here a profile is little more than the sequence itself:

    >>> import numpy as np
    >>> from seqkern import SequenceSet
    >>> from seqkern.kernels import ProfileAlignmentKernel
    >>> X = SequenceSet.from_strings(["ACGT", "CG"], "dna")
    >>> profile = np.where(np.eye(4)[X.codes] == 1, 0.7, 0.1).astype(np.float32)
    >>> X = X.replace(tracks={"profile": profile, "pssm": 2 * np.log2(4 * profile)})
    >>> ProfileAlignmentKernel()(X).round(2)
    array([[10.29,  5.15],
           [ 5.15,  5.15]])
    """

    name = "profile_alignment"
    summary = "Aligns the profiles of two sequences, and scores where they agree."
    traits = Traits(tracks=("profile", "pssm"), data_dependent=None, definite=False)

    method: str = choice(default="smith_waterman", choices=METHODS, doc="Use the best alignment, or all alignments.")
    beta: float = positive(
        0.25,
        "β, for ``local_alignment`` only. β times a column score must not exceed 35. A column "
        "score is a sum of two: 0.25 here corresponds to the usual 0.5 for substitution scores.",
    )
    gap_open: float = not_negative(
        3.0,
        "Cost of opening a gap: a gap of n residues costs gap_open + (n − 1)·gap_extend. Profile "
        "column scores are smaller than substitution scores; the default costs are of the size "
        "that Rangwala and Karypis chose.",
    )
    gap_extend: float = real(default=0.75, low=0, doc="Cost of each further residue of a gap.")
    shift: float = real(
        default=0.0,
        low=-LARGEST,
        high=LARGEST,
        doc="Added to each column score: the zero-shift of Rangwala and Karypis, who chose values up to 1.5.",
    )
    normalize: bool = changed(default=False)
    zero_diagonal: Literal["error", "zero"] = zero_rule("a sequence without any alignment with itself")

    tested_with = (
        {"normalize": True},
        {"method": "local_alignment", "shift": -0.5},
        {
            "method": "local_alignment",
            "beta": 0.1,
            "gap_open": 11,
            "gap_extend": 1,
            "normalize": True,
            "alphabet": "protein",
        },
        {"search": "training", "iterations": 1, "alphabet": "protein"},
    )

    @property
    def _least_block_rows(self) -> int:  # type: ignore[override]  # here it follows from the parameters
        """Minimum number of rows in a block: large ones have lanes of similar lengths; threads need small ones."""
        return MOST_BLOCK_ROWS if (GIVEN_THREADS.get() or self.n_threads) == 1 else LEAST_BLOCK_ROWS

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_gaps(self.gap_open, self.gap_extend)

    def _sums(self) -> Sums:
        beta = float(self.beta) if self.method == "local_alignment" else 0.0
        return Sums(beta, float(self.gap_open), float(self.gap_extend), float(self.shift))

    def _prepare(self, X: SequenceSet, like: ProfileColumns | None) -> ProfileColumns:
        return ProfileColumns.of(self.with_profiles(X), self._sums())

    def _block(self, rows: ProfileColumns, cols: ProfileColumns, out: Floats) -> None:
        product(rows, cols, out)

    def _attribute(self, X: SequenceSet, support: SequenceSet, coefficients: Floats) -> Floats:
        """Distribute the score of one best alignment: pairs to the residues of x, gaps to the residues in or next to
        them.

        The local alignment kernel's value is distributed by the probability that each residue is aligned.
        """
        sums = self._sums()
        rows, cols = (ProfileColumns.of(self.with_profiles(Z), sums) for Z in (X, support))
        return shares(rows, cols, np.asarray(coefficients))

    def _plan(self, X: Any, Y: Any) -> Plan:
        work = Workload.of(X, Y)
        longest = max(int(X.lengths.max(initial=0)), work.longest)
        lanes = LANES[_product.level()]
        cells = lane_cells(X, Y, lanes) + sum(own_cells(Z, lanes, alone=True) for Z in (X, Y) if Z is not None)
        each = self._sums().cell_ns(X.alphabet.size)
        searched = self.search_seconds(*(Z for Z in (X, Y) if Z is not None))
        own = Cost(each * cells * 1e-9 + searched, working_bytes(longest, X.alphabet.size, self.n_threads))
        total = own + work.output(self.n_threads)
        return Plan("lanes", total.seconds, total.bytes, f"{cells:.3g} pairs of columns, {each:.2g} ns each")
