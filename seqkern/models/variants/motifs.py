"""Which known motif a variant changes: the best score of each weight matrix with either allele."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import FileError, ParameterError
from seqkern.core.text_files import open_lines
from seqkern.core.threads import in_threads
from seqkern.core.types import Arrays, PathLike
from seqkern.kernels.motifs.matrices import SCALE, Matrix
from seqkern.kernels.motifs.matrix_files import matrix_reader, read_matrices
from seqkern.models.variants import _variants as loops
from seqkern.sequences.alphabets import DNA

if TYPE_CHECKING:
    from seqkern.models.variants.scorer import Alleles

PSEUDOCOUNT = 1.0
NEVER = -(1 << 20)
"""Score of a base that is not A, C, G or T."""

Places: TypeAlias = npt.NDArray[np.int64]


class MotifChanges:
    """Weight matrices that are compared with both alleles.

    Parameters
    ----------
    matrices : sequence of Matrix
        Motifs of DNA.

    Attributes
    ----------
    flank : int
        Bases needed on each side of a variant.
    columns : mapping of str to str
        Names and meanings of what `score` returns.
    """

    columns: Mapping[str, str] = {
        "motif": "Motif whose best score changes most",
        "ref_motif": "Its best score in bits, at least 0, over the placements that touch the reference allele",
        "alt_motif": "The same with the alternative allele",
    }

    def __init__(self, matrices: Sequence[Matrix]) -> None:
        self.names = [matrix.name for matrix in matrices]
        self.flank = max(len(matrix.counts) for matrix in matrices) - 1
        self._scores = []
        for matrix in matrices:
            forward = matrix.scores(DNA, PSEUDOCOUNT)
            strands = [forward, forward[::-1, ::-1]]  # the complement of code c is 3 - c
            columns = [np.column_stack([one, np.full(len(one), NEVER)]).astype(np.int32) for one in strands]
            self._scores.append([np.ascontiguousarray(one) for one in columns])

    @classmethod
    def from_file(cls, path: PathLike) -> MotifChanges:
        """Read a file of JASPAR, MEME or TRANSFAC.

        Parameters
        ----------
        path : path-like
            The file.

        Returns
        -------
        MotifChanges

        Raises
        ------
        FileError
            If it cannot be read, or has no weight matrix.
        """
        with open_lines(path) as (lines, name):
            text = [line.rstrip("\n") for line in lines]
        reader = matrix_reader(text)
        try:
            matrices = [] if reader is None else read_matrices(text, reader)
            if not matrices:
                raise FileError("has no weight matrix", file=name, remedy="give motifs as JASPAR, MEME or TRANSFAC")
            return cls(matrices)
        except ParameterError as error:
            raise FileError(error.problem, file=name, remedy=error.remedy) from error

    def score(self, alleles: Alleles, n_threads: int | None = None) -> Arrays:
        """Return the motif that changes most at each allele.

        Parameters
        ----------
        alleles : Alleles, n
            With the bases around them.
        n_threads : int, optional
            Default: the number of cores.

        Returns
        -------
        dict of str to ndarray, shape (n,)
            ``motif``: number of the motif, -1 if none changes; ``ref_motif``, ``alt_motif``: bits.
        """
        n = len(alleles.places)
        sides = [self._pieces(alleles, column) for column in (alleles.refs, alleles.alts)]

        def both(number: int) -> list[npt.NDArray[np.int32]]:
            found = []
            for codes, starts, stops, first, last in sides:
                best = np.zeros((2, n), dtype=np.int32)
                for strand in (0, 1):
                    loops.best_scores(codes, starts, stops, first, last, self._scores[number][strand], best[strand])
                found.append(best.max(axis=0))
            return found

        motif = np.full(n, -1, dtype=np.int32)
        best = np.zeros((2, n), dtype=np.int32)
        for start in range(0, len(self.names), 16):
            numbers = range(start, min(start + 16, len(self.names)))
            for number, (ref, alt) in zip(
                numbers, in_threads([lambda i=i: both(i) for i in numbers], n_threads), strict=True
            ):
                more = np.abs(alt - ref) > np.abs(best[1] - best[0])
                motif[more], best[0, more], best[1, more] = number, ref[more], alt[more]
        bits = np.where(motif >= 0, best / SCALE, np.nan)
        return {"motif": motif, "ref_motif": bits[0], "alt_motif": bits[1]}

    def _pieces(
        self, alleles: Alleles, column: list[bytes]
    ) -> tuple[npt.NDArray[np.uint8], Places, Places, Places, Places]:
        """Return codes of an allele with its flanks, starts and stops of these, and of the allele itself.

        An allele that is deleted down to its first base still has this one.
        """
        parts, before, own = [], [], []
        for row, place in enumerate(alleles.places.tolist()):
            left = alleles.text[max(0, place - self.flank) : place].tobytes().rpartition(b".")[2]
            right = alleles.text[place + len(alleles.refs[row]) :][: self.flank].tobytes()
            parts.append(left + column[row] + right)
            before.append(len(left))
            own.append(len(column[row]))
        lengths = np.array([len(part) for part in parts], dtype=np.int64)
        stops = np.cumsum(lengths)
        starts = stops - lengths
        first = starts + np.array(before, dtype=np.int64)
        codes = DNA.encode(b"".join(parts))
        return codes, starts, stops, first, first + np.array(own, dtype=np.int64)
