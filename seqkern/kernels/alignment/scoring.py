"""Substitution scores: matrices of Biopython, from a file, or custom.

A `ScoreMatrix` holds scores and their letters; `score_table` returns the scores of an alphabet by code. The file format
is that of BLAST and EMBOSS: comments after ``#``, a line of letters, and a line for each letter that begins with it.
"""

import difflib
import math
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import FileError, ParameterError, SequenceError
from seqkern.core.public_files import local_path
from seqkern.core.text_files import open_lines
from seqkern.core.types import PathLike
from seqkern.core.values import read_number
from seqkern.kernels.scores import as_scores, check_sort, matrix_names, of_bases
from seqkern.sequences.alphabets import Alphabet

NEAREST = 4  # names that a message suggests
SUGGESTED = ("BLOSUM62", "NUC.4.4")  # where none is near
TWINS = {"U": "T", "T": "U"}


@dataclass(frozen=True)
class ScoreMatrix:
    """Scores and their letters.

    Attributes
    ----------
    name : str
        For messages.
    letters : str
    scores : ndarray of float64, shape (letters, letters)
        Symmetric.
    file : str or None
        Where it was read.
    """

    name: str
    letters: str

    scores: npt.NDArray[np.float64] = field(repr=False)
    file: str | None = None

    @property
    def of_bases(self) -> bool:
        """Whether it is for DNA or RNA."""
        return of_bases(self.letters)

    def table(self, alphabet: Alphabet) -> npt.NDArray[np.float64]:
        """Return the scores by the codes of an alphabet, as `score_table` does.

        Parameters
        ----------
        alphabet : Alphabet
            Of the sequences.

        Returns
        -------
        ndarray of float64, shape (size + 1, size + 1)

        Raises
        ------
        ParameterError
            If a letter has no scores, or a protein matrix meets a DNA or RNA alphabet.
        """
        check_sort(alphabet, self.letters, "" if self.file else f"matrix {self.name}", self.file)
        bases = of_bases(alphabet.letters)
        places = [self._place(letter, bases) for letter in alphabet.letters]
        missing = [letter for letter, place in zip(alphabet.letters, places, strict=True) if place < 0]
        if missing:
            raise self._error(
                f"has no scores for the letter {missing[0]} of the alphabet {alphabet.name}",
                "choose another matrix, or add the letter to a matrix file of your own",
            )
        masked = self.letters.find("N" if self.of_bases else "X")
        table = np.full((alphabet.size + 1, alphabet.size + 1), min(0.0, self.scores.min()))
        if masked >= 0:
            places.append(masked)
        table[: len(places), : len(places)] = self.scores[np.ix_(places, places)]
        return table

    def _place(self, letter: str, bases: bool) -> int:
        """Return the place of a letter, −1 without one; U and T are one base."""
        place = self.letters.find(letter)
        return self.letters.find(TWINS[letter]) if place < 0 and bases and letter in TWINS else place

    def _error(self, problem: str, remedy: str) -> ParameterError:
        name = "" if self.file else f"matrix {self.name} "
        return ParameterError(name + problem, file=self.file, remedy=remedy)


def score_table(matrix: "str | ScoreMatrix | npt.ArrayLike", alphabet: Alphabet) -> npt.NDArray[np.float64]:
    """Return the scores of an alphabet's letters, by their codes.

    Parameters
    ----------
    matrix : str, list of list of float, or ScoreMatrix
        The name of a substitution matrix of Biopython, the path of a file, or scores in the order of the alphabet's
        letters.
    alphabet : Alphabet
        Of the sequences.

    Returns
    -------
    ndarray of float64, shape (size + 1, size + 1)
        Symmetric. The last row and column are the masked residue's: the scores of the matrix's X (of N in a matrix for
        DNA), else the smallest score, or 0 if all are positive.

    Raises
    ------
    ParameterError
        If the matrix does not exist, lacks a letter of the alphabet, is not symmetric and finite, or is a protein
        matrix for a DNA or RNA alphabet.
    FileError
        If its file cannot be read.
    """
    if isinstance(matrix, str):
        matrix = load_matrix(matrix)
    if not isinstance(matrix, ScoreMatrix):
        scores = as_scores(alphabet, matrix)
        table = np.full((alphabet.size + 1, alphabet.size + 1), min(0.0, scores.min()))
        table[:-1, :-1] = scores
        return table
    return matrix.table(alphabet)


def is_file(matrix: object) -> bool:
    """Return whether a parameter `matrix` names a file, rather than a matrix of Biopython.

    Parameters
    ----------
    matrix : str or list of list of float
        As `score_table` takes it.

    Returns
    -------
    bool
    """
    return isinstance(matrix, str) and matrix not in matrix_names()


def load_matrix(name: str) -> ScoreMatrix:
    """Return the matrix with a name.

    Parameters
    ----------
    name : str
        Of a matrix of Biopython, or the path of a file.

    Returns
    -------
    ScoreMatrix

    Raises
    ------
    ParameterError, FileError
        As `score_table`.
    """
    return read_matrix(name) if is_file(name) else _of_biopython(name)


@lru_cache(maxsize=32)
def _of_biopython(name: str) -> ScoreMatrix:
    """Return a matrix of Biopython."""
    # imported here: slows start-up
    from Bio.Align import substitution_matrices

    table = substitution_matrices.load(name)
    if not isinstance(table.alphabet, str):
        raise ParameterError(
            f"matrix {name} is for codons, not single residues", remedy="choose another matrix, such as BLOSUM62"
        )
    scores = np.array(table, dtype=np.float64)
    scores.flags.writeable = False
    return ScoreMatrix(name, table.alphabet, scores)


def read_matrix(path: PathLike) -> ScoreMatrix:
    """Read a substitution matrix from a file, compressed or not.

    Parameters
    ----------
    path : path-like
        Or ``public:NAME``, for a file in the project's registry.

    Returns
    -------
    ScoreMatrix

    Raises
    ------
    FileError
        If the file cannot be obtained or read, or is not a matrix.
    ParameterError
        If neither a file, a matrix of Biopython nor a public file has this name.
    """
    file = local_path(path)
    if not file.exists():
        near = difflib.get_close_matches(file.name.upper(), matrix_names(), n=NEAREST) or SUGGESTED
        raise ParameterError(
            f"matrix={str(file)!r} is neither a file nor a matrix of Biopython",
            remedy=f"check the path, or choose a matrix, such as {', '.join(near)}",
        )
    try:
        with open_lines(file) as (lines, name):
            every = ((i, line.split("#")[0].split()) for i, line in enumerate(lines, start=1))
            cells = [(i, row) for i, row in every if row]
    except SequenceError as error:  # it is empty
        raise FileError(error.problem, file=error.file, remedy=error.remedy) from error
    return ScoreMatrix(name, *_parse(cells, name), name)


def _parse(cells: list[tuple[int, list[str]]], name: str) -> tuple[str, npt.NDArray[np.float64]]:
    """Return letters and scores of (number, cells) of lines."""

    def bad(problem: str, remedy: str) -> FileError:
        return FileError(problem, file=name, remedy=remedy)

    columns = [cell.upper() for cell in cells[0][1]] if cells else []
    if not columns or any(len(letter) != 1 for letter in columns):
        raise bad("does not begin with a line of letters", "give a matrix in the format of NCBI BLAST")
    letters, scores = "".join(columns), {}
    if len(set(letters)) < len(letters):
        raise bad("has two columns for one letter", "remove one")
    for number, (letter, *row) in cells[1:]:
        letter = letter.upper()
        if letter not in columns or letter in scores:
            problem = "occurs twice" if letter in scores else "has no column"
            raise bad(f"line {number}: the letter {letter} {problem}", "give one row and one column for each letter")
        values = [read_number(cell) for cell in row]
        if len(values) != len(letters) or any(map(math.isnan, values)):
            raise bad(f"line {number} is not a letter and {len(letters)} numbers", "give one score for each column")
        scores[letter] = values
    if len(scores) < len(letters):
        missing = next(letter for letter in letters if letter not in scores)
        raise bad(f"has no row for the letter {missing}", "give one row and one column for each letter")
    table = np.array([scores[letter] for letter in letters])
    if (table != table.T).any():
        a, b = np.argwhere(table != table.T)[0]
        raise bad(
            f"scores {letters[a]}{letters[b]} and {letters[b]}{letters[a]} differently", "give both the same score"
        )
    return letters, table
