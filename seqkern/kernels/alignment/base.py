"""What the kernels of alignments have in common: a substitution matrix and affine gap costs."""

import numpy as np

from seqkern.core.checks import check_real
from seqkern.core.errors import ParameterError, SequenceError
from seqkern.core.parameters import changed
from seqkern.kernels.alignment.scoring import ScoreMatrix, is_file, load_matrix, score_table
from seqkern.kernels.base import SequenceKernel


def check_gaps(gap_open, gap_extend):
    """Raise ParameterError unless gap_open ≥ gap_extend ≥ 0; n letters cost gap_open + (n − 1)·gap_extend."""
    check_real("gap_open", gap_open, 0)
    check_real("gap_extend", gap_extend, 0)
    if gap_extend > gap_open:
        raise ParameterError(
            f"gap_extend={gap_extend} is more than gap_open={gap_open}",
            remedy="gap_open is the cost of a gap's first letter, gap_extend that of each further one",
        )


def check_cells(row_lengths, col_lengths, most):
    """Raise SequenceError if two sequences, of int64 (n,) and (m,) letters, have more than `most` pairs of letters."""
    rows, cols = (int(lengths.max(initial=0)) for lengths in (row_lengths, col_lengths))
    if rows * cols > most:
        raise SequenceError(
            f"sequences of {rows} and {cols} letters are too long to be taken apart", remedy="cut them into parts"
        )


class AlignmentKernel(SequenceKernel):
    """Base of the kernels with the parameters `matrix`, `gap_open` and `gap_extend`; no kernel by itself.

    The name of a matrix of Biopython, a table of scores, or a file, which is read once: its scores are part of the
    kernel's identity and of saved models.
    """

    positive_semidefinite = False
    missing_file_remedy = "check the path, or choose a matrix of Biopython, such as BLOSUM62"
    _loaded = None

    normalize: bool = changed(default=False)

    def _check_parameters(self):
        check_gaps(self.gap_open, self.gap_extend)
        # A file is not read before it is needed: a saved kernel is checked before its scores are restored.
        if isinstance(self.matrix, str) and not self.files():
            self._score_matrix()

    def scores(self, alphabet):
        """Return the scores by the codes of an alphabet, the masked letter's last; see `scoring.score_table`.

        Parameters
        ----------
        alphabet : Alphabet

        Returns
        -------
        ndarray of float64, shape (size + 1, size + 1)
        """
        matrix = self._score_matrix() if isinstance(self.matrix, str) else self.matrix
        return score_table(matrix, alphabet)

    def _score_matrix(self):
        """Return the ScoreMatrix that `matrix` names, read once for each name."""
        if self._loaded is None or self._loaded[0] != self.matrix:
            self._loaded = self.matrix, load_matrix(self.matrix)
        return self._loaded[1]

    def files(self):
        """Return the path of the matrix, if it is a file."""
        return (self.matrix,) if is_file(self.matrix) else ()

    def fitted_state(self):
        """Return (JSON dict, dict of arrays): letters and scores that were read from a file."""
        if not self.files():
            return {}, {}
        matrix = self._score_matrix()
        return {"matrix": matrix.letters}, {"matrix": matrix.scores}

    def restore_fitted(self, header, arrays):
        """Set what `fitted_state` returned."""
        if "matrix" in header:
            scores = np.array(arrays["matrix"], dtype=np.float64)
            self._loaded = self.matrix, ScoreMatrix(self.matrix, header["matrix"], scores, self.matrix)
