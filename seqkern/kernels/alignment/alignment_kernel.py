"""Base classes of the alignment kernels: a substitution matrix and affine gap costs."""

from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from seqkern.core.checks import check_real
from seqkern.core.errors import ParameterError, SequenceError
from seqkern.core.parameters import changed
from seqkern.core.types import Arrays, Floats, Header, Ints
from seqkern.kernels.capabilities import Traits
from seqkern.kernels.kernel import SequenceKernel
from seqkern.kernels.substitution_scores import ScoreMatrix, is_file, load_matrix, score_table
from seqkern.sequences.alphabets import Alphabet
from seqkern.sequences.sequence_set import SequenceSet


def check_gaps(gap_open: float, gap_extend: float) -> None:
    """Raise ParameterError unless gap_open ≥ gap_extend ≥ 0."""
    check_real("gap_open", gap_open, 0)
    check_real("gap_extend", gap_extend, 0)
    if gap_extend > gap_open:
        raise ParameterError(
            f"gap_extend={gap_extend} is more than gap_open={gap_open}",
            remedy="gap_open is the cost of the first residue of a gap, gap_extend that of each further one",
        )


def check_cells(row_lengths: Ints, col_lengths: Ints, most: int) -> None:
    """Raise SequenceError if two sequences are too long to be explained: more than `most` pairs of residues."""
    rows, cols = (int(lengths.max(initial=0)) for lengths in (row_lengths, col_lengths))
    if rows * cols > most:
        raise SequenceError(
            f"sequences of {rows} and {cols} residues are too long to be explained",
            remedy="cut the sequences into shorter parts",
        )


class MatrixKernel(SequenceKernel):
    """Base class of kernels with the parameter `matrix`.

    The matrix is the name of a Biopython matrix, a table of scores, or a file. A file is read once; its scores
    are part of the identity of the kernel and of saved models.
    """

    traits = Traits(definite=False)
    _missing_file_remedy = "check the path, or choose a matrix of Biopython such as BLOSUM62"
    _loaded = cast("tuple[str, ScoreMatrix] | None", None)

    if TYPE_CHECKING:  # what the kernels declare

        @property
        def matrix(self) -> Any:
            """The substitution matrix: a name, the path of a file, or scores."""

    normalize: bool = changed(default=False)

    def _check_parameters(self) -> None:
        # A file is not read before it is needed: a saved kernel is checked before its scores are restored.
        if isinstance(self.matrix, str) and not self._files():
            self._score_matrix()

    def scores(self, alphabet: Alphabet) -> Floats:
        """Return the scores by the codes of an alphabet, the masked residue last; see `scoring.score_table`."""
        matrix = self._score_matrix() if isinstance(self.matrix, str) else self.matrix
        with self._named():
            return score_table(matrix, alphabet)

    def _score_matrix(self) -> ScoreMatrix:
        """Return the ScoreMatrix that `matrix` names, read once for each name."""
        if self._loaded is None or self._loaded[0] != self.matrix:
            self._loaded = self.matrix, load_matrix(self.matrix)
        return self._loaded[1]

    def _files(self) -> tuple[str, ...]:
        """Return the path of the matrix if it is a file."""
        return (self.matrix,) if is_file(self.matrix) else ()

    def fitted_state(self) -> tuple[Header, Arrays]:
        """Return letters and scores read from a file, as (JSON dict, dict of arrays)."""
        if not self._files():
            return {}, {}
        matrix = self._score_matrix()
        return {"matrix": matrix.letters}, {"matrix": matrix.scores}

    def restore_fitted(self, header: Header, arrays: Arrays) -> None:
        """Restore the fitted state from the result of `fitted_state`."""
        if "matrix" in header:
            scores = np.array(arrays["matrix"], dtype=np.float64)
            self._loaded = self.matrix, ScoreMatrix(self.matrix, header["matrix"], scores, self.matrix)


class AlignmentKernel(MatrixKernel):
    """Base class of kernels with the parameters `matrix`, `gap_open` and `gap_extend`."""

    if TYPE_CHECKING:  # what the kernels declare

        @property
        def gap_open(self) -> float:
            """The cost of a gap's first residue."""

        @property
        def gap_extend(self) -> float:
            """The cost of each further residue of a gap."""

    def _check_parameters(self) -> None:
        check_gaps(self.gap_open, self.gap_extend)
        super()._check_parameters()


# Work estimates for alignments in vector lanes, where a partly filled group takes as long as a full one.

Lengths = npt.NDArray[np.int64]


def lane_cells(
    rows: SequenceSet,
    cols: SequenceSet | None,
    lanes: int,
    least: float = 0,
    most: float = np.inf,
    *,
    with_own: bool = True,
) -> float:
    """Return the number of residue pairs computed for alignments in lanes, including idle lanes.

    The longer record of each pair is the row, the shorter one is in a lane.

    >>> X = SequenceSet.from_strings(["ACGT"] * 3)
    >>> lane_cells(X, None, lanes=1), lane_cells(X, None, lanes=4), lane_cells(X, X, lanes=4)
    (96.0, 192.0, 192.0)
    """
    ours = np.sort(rows.lengths)
    theirs = ours if cols is None else np.sort(cols.lengths)
    span = slice(*np.searchsorted(theirs, (least, most), side="right"))
    reach = np.arange(len(ours)) + with_own if cols is None else np.searchsorted(theirs, ours, side="right")
    cells = _meetings(ours, theirs[span], reach - span.start, lanes)
    if cols is not None:
        span = slice(*np.searchsorted(ours, (least, most), side="right"))
        cells += _meetings(theirs, ours[span], np.searchsorted(ours, theirs, side="left") - span.start, lanes)
    return lanes * cells


def own_cells(X: SequenceSet, lanes: int, least: float = 0, most: float = np.inf, *, alone: bool = False) -> float:
    """Return the number of residue pairs computed for self-alignments, counted as in `lane_cells`."""
    lengths = np.sort(X.lengths[(X.lengths > least) & (X.lengths <= most)])
    longest = (lengths if alone else lengths[::-1][::lanes]).astype(np.float64)
    return float(lanes * (longest @ longest))


def _meetings(rows: Lengths, lanes: Lengths, reach: Lengths, size: int) -> float:
    """Return Σ over rows of the row's length times the longest lengths of the groups of its `reach` shortest lanes."""
    reach = np.clip(reach, 0, len(lanes))
    ends = np.concatenate(([0.0], np.cumsum(lanes[size - 1 :: size], dtype=np.float64)))
    rest = np.where(reach % size > 0, np.append(lanes, 0)[reach - 1], 0)
    return float(rows @ (ends[reach // size] + rest))
