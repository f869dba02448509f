"""Shared by the alignment kernels: a substitution matrix and affine gap costs."""

from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from seqkern.core.checks import check_real
from seqkern.core.errors import ParameterError, SequenceError
from seqkern.core.parameters import changed
from seqkern.core.types import Arrays, Header
from seqkern.kernels.alignment.scoring import ScoreMatrix, is_file, load_matrix, score_table
from seqkern.kernels.kernel import SequenceKernel
from seqkern.sequences.alphabets import Alphabet


def check_gaps(gap_open: float, gap_extend: float) -> None:
    """Check the costs of gaps: gap_open ≥ gap_extend ≥ 0.

    Parameters
    ----------
    gap_open : float
        The cost of a gap's first residue.
    gap_extend : float
        The cost of each further one.

    Raises
    ------
    ParameterError
        If the costs are out of order, or negative.
    """
    check_real("gap_open", gap_open, 0)
    check_real("gap_extend", gap_extend, 0)
    if gap_extend > gap_open:
        raise ParameterError(
            f"gap_extend={gap_extend} is more than gap_open={gap_open}",
            remedy="gap_open is the cost of the first residue of a gap, gap_extend that of each further one",
        )


def check_cells(row_lengths: npt.NDArray[np.int64], col_lengths: npt.NDArray[np.int64], most: int) -> None:
    """Check that sequences are short enough to be explained.

    Parameters
    ----------
    row_lengths, col_lengths : ndarray of int64, shape (n,) and (m,)
        In residues.
    most : int
        The most pairs of residues that two sequences may have.

    Raises
    ------
    SequenceError
        If two sequences have more.
    """
    rows, cols = (int(lengths.max(initial=0)) for lengths in (row_lengths, col_lengths))
    if rows * cols > most:
        raise SequenceError(
            f"sequences of {rows} and {cols} residues are too long to be explained",
            remedy="cut the sequences into shorter parts",
        )


class MatrixKernel(SequenceKernel):
    """Base of the kernels with the parameter `matrix`; not a kernel itself.

    The matrix is the name of a Biopython matrix, a table of scores, or a file. A file is read once; its scores are part
    of the identity of the kernel and of saved models.
    """

    positive_semidefinite = False
    missing_file_remedy = "check the path, or choose a matrix of Biopython such as BLOSUM62"
    _loaded = cast("tuple[str, ScoreMatrix] | None", None)

    if TYPE_CHECKING:  # what the kernels declare

        @property
        def matrix(self) -> Any:
            """The name of a matrix, the path of a file, or scores."""

    normalize: bool = changed(default=False)

    def _check_parameters(self) -> None:
        # A file is not read before it is needed: a saved kernel is checked before its scores are restored.
        if isinstance(self.matrix, str) and not self.files():
            self._score_matrix()

    def scores(self, alphabet: Alphabet) -> npt.NDArray[np.float64]:
        """Return the scores by the codes of an alphabet, the masked residue's last; see `scoring.score_table`.

        Parameters
        ----------
        alphabet : Alphabet
            Of the sequences.

        Returns
        -------
        ndarray of float64, shape (size + 1, size + 1)

        Raises
        ------
        ParameterError, FileError
            As `scoring.score_table`.
        """
        matrix = self._score_matrix() if isinstance(self.matrix, str) else self.matrix
        with self._named():
            return score_table(matrix, alphabet)

    def _score_matrix(self) -> ScoreMatrix:
        """Return the ScoreMatrix that `matrix` names, read once for each name."""
        if self._loaded is None or self._loaded[0] != self.matrix:
            self._loaded = self.matrix, load_matrix(self.matrix)
        return self._loaded[1]

    def files(self) -> tuple[str, ...]:
        """Return the path of the matrix, if it is a file."""
        return (self.matrix,) if is_file(self.matrix) else ()

    def fitted_state(self) -> tuple[Header, Arrays]:
        """Return (JSON dict, dict of arrays): letters and scores read from a file."""
        if not self.files():
            return {}, {}
        matrix = self._score_matrix()
        return {"matrix": matrix.letters}, {"matrix": matrix.scores}

    def restore_fitted(self, header: Header, arrays: Arrays) -> None:
        """Restore what `fitted_state` returned.

        Parameters
        ----------
        header : dict
            Its JSON part.
        arrays : dict of str to ndarray
            Its arrays.
        """
        if "matrix" in header:
            scores = np.array(arrays["matrix"], dtype=np.float64)
            self._loaded = self.matrix, ScoreMatrix(self.matrix, header["matrix"], scores, self.matrix)


class AlignmentKernel(MatrixKernel):
    """Base of the kernels with the parameters `matrix`, `gap_open` and `gap_extend`; not a kernel itself."""

    if TYPE_CHECKING:  # what the kernels declare

        @property
        def gap_open(self) -> float:
            """The cost of a gap's first residue."""

        @property
        def gap_extend(self) -> float:
            """The cost of each further one."""

    def _check_parameters(self) -> None:
        check_gaps(self.gap_open, self.gap_extend)
        super()._check_parameters()
