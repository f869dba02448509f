"""Substitution scores and probabilities: matrices of Biopython, from a file, or given."""

import difflib
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from seqkern.core.checks import read_number
from seqkern.core.errors import FileError, ParameterError, SequenceError
from seqkern.core.public_files import local_path
from seqkern.core.text_files import open_lines
from seqkern.core.types import Floats, PathLike
from seqkern.sequences.alphabets import Alphabet

# Substitution probabilities: the probability that a letter replaces another one.
#
# A score s(a, b) of a substitution matrix is a rounded log-odds, s(a, b) = ln(q(a, b) / (p(a)·p(b))) / λ. The
# target frequencies q implied by the matrix itself have the background p that solves Σ_b p(b)·exp(λ·s(a, b))
# = 1 for every letter a, and Σ p = 1 (Yu, Wootton, Altschul 2003); the probability that a replaces b is then
# P(a | b) = q(a, b) / p(b) = p(a)·exp(λ·s(a, b)).

TRIED = 2000
STEEPEST, FLATTEST = 60.0, 0.01  # λ times the largest score
NUCLEOTIDES = frozenset("ACGTURYSWKMBDHVN")
NOT_LETTERS = frozenset("*X-")


@lru_cache(maxsize=16)
def matrix_probabilities(alphabet: Alphabet, matrix: str | tuple[tuple[float, ...], ...]) -> Floats:
    """Return P[a, b], float64 (size, size), the probability that letter a replaces letter b."""
    scores = matrix_scores(alphabet, matrix) if isinstance(matrix, str) else as_scores(alphabet, matrix)
    background, scale = implied_background(scores, matrix)
    probabilities = background[:, None] * np.exp(scale * scores)
    probabilities.flags.writeable = False
    return probabilities


def uniform_probabilities(size: int, kept: float) -> Floats:
    """Return P[a, b], float64 (size, size): a letter is kept, or replaced by any other with equal probability."""
    probabilities = np.full((size, size), (1 - kept) / (size - 1))
    np.fill_diagonal(probabilities, kept)
    return probabilities


def implied_background(scores: Floats, name: object = "the matrix") -> tuple[Floats, float]:
    """Return the background p, float64 (size,), and the scale λ implied by a symmetric score matrix."""
    # imported here: slows start-up
    from scipy.optimize import brentq

    def excess(scale: float) -> float:
        return np.linalg.inv(np.exp(scale * scores)).sum() - 1

    largest = scores.diagonal().max()
    scales = np.geomspace(STEEPEST, FLATTEST, TRIED) / largest if largest > 0 else []
    try:
        values = [excess(scale) for scale in scales]
        for high, low, above, below in zip(scales, scales[1:], values, values[1:], strict=False):
            if not above < 0 <= below:
                continue
            scale = brentq(excess, low, high, xtol=1e-15 * high, rtol=1e-14)
            background = np.linalg.inv(np.exp(scale * scores)).sum(axis=1)
            if abs(background.sum() - 1) < 1e-6 and (background > 0).all():
                return background, scale
    except np.linalg.LinAlgError:
        pass
    raise ParameterError(
        f"the scores of {name if isinstance(name, str) else 'matrix'} imply no letter frequencies",
        remedy="choose a log-odds matrix such as BLOSUM62, or matrix=uniform",
    )


@lru_cache(maxsize=1)
def matrix_names() -> list[str]:
    """Return the names of Biopython's substitution matrices."""
    # imported here: slows start-up
    from Bio.Align import substitution_matrices

    return substitution_matrices.load()


def of_bases(letters: Iterable[str]) -> bool:
    """Return whether the letters of an alphabet or matrix are bases, of DNA or RNA."""
    return set(letters) - NOT_LETTERS <= NUCLEOTIDES


def check_sort(alphabet: Alphabet, letters: str, name: str, file: str | None = None) -> None:
    """Raise ParameterError if a protein matrix, recognised by its letters, is used with a DNA or RNA alphabet.

    A, C, G and T are amino acids too, so the matrix would have scores for them.
    """
    if of_bases(alphabet.letters) and not of_bases(letters):
        raise ParameterError(
            f"{name} is a protein matrix, the alphabet is {alphabet.name}".lstrip(),
            file=file,
            remedy="choose a matrix for DNA: matrix=NUC.4.4",
        )


def matrix_scores(alphabet: Alphabet, name: str) -> Floats:
    """Return the scores of a Biopython substitution matrix, in the order of the alphabet's letters.

    For RNA, U scores as T.
    """
    # imported here: slows start-up
    from Bio.Align import substitution_matrices

    table = substitution_matrices.load(name)
    letters = alphabet.letters.replace("U", "T") if alphabet.name == "rna" else alphabet.letters
    missing = [letter for letter in letters if letter not in table.alphabet]
    if table.ndim != 2 or missing:
        raise ParameterError(
            f"the matrix {name} has no scores for the alphabet {alphabet.name}",
            remedy="choose another matrix, give scores, or choose matrix=uniform",
        )
    check_sort(alphabet, table.alphabet, f"matrix {name}")
    return np.array([[table[a, b] for b in letters] for a in letters], dtype=np.float64)


def as_scores(alphabet: Alphabet, rows: npt.ArrayLike) -> Floats:
    """Return custom scores as an array (size, size), checked for size, symmetry and finite values."""
    try:
        scores = np.array(rows, dtype=np.float64)
    except (TypeError, ValueError):  # not numbers, or rows of different lengths
        scores = np.empty(0)
    if scores.shape != (alphabet.size, alphabet.size):
        raise ParameterError(
            f"matrix does not have {alphabet.size} rows of {alphabet.size} scores",
            remedy=f"give one number for each pair of the letters {alphabet.letters}",
        )
    if not np.isfinite(scores).all() or (scores != scores.T).any():
        raise ParameterError("matrix is not symmetric, or not finite", remedy="give the same score for ab and ba")
    return scores


# Substitution scores: Biopython's matrices, matrices from a file, or custom ones.
#
# A `ScoreMatrix` holds scores and their letters; `score_table` returns the scores of an alphabet by code. The file
# format is that of BLAST and EMBOSS: comments after ``#``, a line of letters, and a line for each letter that begins
# with it.

NEAREST = 4  # names that a message suggests
SUGGESTED = ("BLOSUM62", "NUC.4.4")  # where none is near
TWINS = {"U": "T", "T": "U"}


@dataclass(frozen=True)
class ScoreMatrix:
    """A symmetric substitution matrix and its letters."""

    name: str  # For messages
    letters: str

    scores: Floats = field(repr=False)  # shape (letters, letters): Symmetric
    file: str | None = None  # Where it was read

    @property
    def of_bases(self) -> bool:
        """Whether the matrix is for DNA or RNA."""
        return of_bases(self.letters)

    def table(self, alphabet: Alphabet) -> Floats:
        """Return the scores by the codes of an alphabet, as `score_table` does."""
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
        """Return the index of a letter, or −1 if it has none; U and T are the same base."""
        place = self.letters.find(letter)
        return self.letters.find(TWINS[letter]) if place < 0 and bases and letter in TWINS else place

    def _error(self, problem: str, remedy: str) -> ParameterError:
        name = "" if self.file else f"matrix {self.name} "
        return ParameterError(name + problem, file=self.file, remedy=remedy)


def score_table(matrix: "str | ScoreMatrix | npt.ArrayLike", alphabet: Alphabet) -> Floats:
    """Return the scores of an alphabet's letters by their codes, the masked residue last.

    The masked residue has the matrix's scores for X (for N in a matrix for DNA), else the smallest score, or 0 if
    all are positive.
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
    """Return whether a parameter `matrix` names a file rather than a Biopython matrix."""
    return isinstance(matrix, str) and matrix not in matrix_names()


def load_matrix(name: str) -> ScoreMatrix:
    """Return the matrix with the given Biopython name or file path."""
    return read_matrix(name) if is_file(name) else _biopython_matrix(name)


@lru_cache(maxsize=32)
def _biopython_matrix(name: str) -> ScoreMatrix:
    """Return a Biopython matrix by name."""
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
    """Read a substitution matrix from a file, compressed or not."""
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


def _parse(cells: list[tuple[int, list[str]]], name: str) -> tuple[str, Floats]:
    """Return letters and scores from the (line number, cells) of a file's lines."""

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
