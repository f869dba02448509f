"""ASCII PSSMs from PSI-BLAST (``psiblast -out_ascii_pssm``, ``blastpgp -Q``).

The score columns are used: they include PSI-BLAST's pseudocounts. The percentages beside them are observed ones,
rounded down, and all zero at positions without aligned sequences.

Altschul et al.: Gapped BLAST and PSI-BLAST. Nucleic Acids Research 25, 1997.
"""

import re

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import FileError
from seqkern.sequences.alphabets import PROTEIN

FIRST_LINE = "Last position-specific scoring matrix computed"
REMEDY = "create it with psiblast -out_ascii_pssm"
SCORES = PROTEIN.size
SCORE_WIDTH = 3  # characters; scores below -9 leave no blank before them
SCORES_START, SCORES_END = 9, 9 + SCORES * SCORE_WIDTH
BLANK, ZERO, MINUS = b" 0-"
WHOLE = re.compile("-?[0-9]+")
LARGEST_SCORE = 10_000  # those of PSI-BLAST are at most a hundredth of this


def looks_like_psiblast(text: str) -> bool:
    """Return whether a text starts like an ASCII PSSM from PSI-BLAST.

    Parameters
    ----------
    text : str
        The content of the file, or its beginning.

    Returns
    -------
    bool
    """
    return text.lstrip()[: len(FIRST_LINE)] == FIRST_LINE


def parse_psiblast(text: str, name: str) -> tuple[str, npt.NDArray[np.float32]]:
    """Read one PSSM.

    Parameters
    ----------
    text : str
        The content of the file.
    name : str
        Name of the file for messages.

    Returns
    -------
    letters : str
        The sequence of the query, upper case.
    pssm : ndarray of float32, shape (length, 20)
        Columns in the order of the alphabet.

    Raises
    ------
    FileError
        If it has another format, or is corrupted.
    """
    lines = text.split("\n")
    head = next((i for i, line in enumerate(lines) if line.strip()), len(lines))
    if not looks_like_psiblast(text) or len(lines) < head + 2:
        raise FileError("is not an ASCII PSSM from PSI-BLAST", file=name, remedy=REMEDY)
    columns = lines[head + 1].split()[:SCORES]
    if sorted(columns) != sorted(PROTEIN.letters):
        raise FileError(f"line {head + 2} does not list the 20 amino acids", file=name, remedy=REMEDY)
    rows: npt.ArrayLike
    letters, rows = _in_columns(lines, head + 2) or _in_fields(lines, head + 2, name)
    if not len(letters):
        raise FileError("has no positions", file=name, remedy=REMEDY)
    order = [columns.index(letter) for letter in PROTEIN.letters]
    return letters.upper(), np.asarray(rows, dtype=np.float32)[:, order]


def _in_columns(lines: list[str], first: int) -> tuple[str, npt.NDArray[np.int16]] | None:
    """Return (letters, scores) of the lines from `first` on if all have PSI-BLAST's fixed columns, else None.

    These are ``%5d %c  `` and 20 times ``%3d``, parsed at once. Other lines are left to `_in_fields`, which reports
    errors; this includes scores of three digits, which could also be two numbers.
    """
    stop = next((i for i in range(first, len(lines)) if not lines[i].strip()), len(lines))
    body = lines[first:stop]
    if not body or min(map(len, body)) < SCORES_END or len(body) > 99_999:
        return None
    text = "".join(f"{line[:SCORES_END]}{line[SCORES_END : SCORES_END + 1] or ' '}" for line in body)
    if not text.isascii():
        return None
    cells = np.frombuffer(text.encode(), dtype=np.uint8).reshape(len(body), SCORES_END + 1)
    numbers = np.arange(1, len(body) + 1)[:, None] // 10 ** np.arange(4, -1, -1)
    numbered = np.all(cells[:, :5] == np.where(numbers > 0, numbers % 10 + ZERO, BLANK))
    blank = np.all(cells[:, [5, 7, 8, SCORES_END]] == BLANK)
    if not numbered or not blank or np.any(cells[:, 6] <= BLANK):
        return None
    signs, tens, ones = np.moveaxis(cells[:, SCORES_START:SCORES_END].reshape(len(body), SCORES, SCORE_WIDTH), 2, 0)
    digits = [(part >= ZERO) & (part <= ZERO + 9) for part in (tens, ones)]
    # a sign stands before two digits, or before one
    good = digits[1] & np.where(digits[0], (signs == BLANK) | (signs == MINUS), signs == BLANK)
    if not np.all(good & (digits[0] | (tens == BLANK) | (tens == MINUS))):
        return None
    size = np.where(digits[0], 10 * (tens.astype(np.int16) - ZERO), 0) + (ones.astype(np.int16) - ZERO)
    return cells[:, 6].tobytes().decode(), np.where((signs == MINUS) | (tens == MINUS), -size, size)


def _in_fields(lines: list[str], first: int, name: str) -> tuple[str, list[list[float]]]:
    """Return (letters, scores) of the lines from `first` on, parsed one by one.

    Raises
    ------
    FileError
        If a line is invalid.
    """
    letters: list[str] = []
    rows: list[list[float]] = []
    for number, line in enumerate(lines[first:], start=first + 1):
        fields = line.split(None, SCORES + 2)
        if not fields or not fields[0].isdecimal():
            break
        scores = _scores(line, fields)
        if scores is None or len(fields[1]) != 1 or fields[0] != str(len(letters) + 1):
            raise FileError(
                f"line {number} is not position {len(letters) + 1} with a letter and 20 scores",
                file=name,
                remedy=REMEDY,
            )
        if max(map(abs, scores)) > LARGEST_SCORE:
            raise FileError(f"line {number} has a score beyond ±{LARGEST_SCORE}", file=name, remedy=REMEDY)
        letters.append(fields[1])
        rows.append(scores)
    return "".join(letters), rows


def _scores(line: str, fields: list[str]) -> list[float] | None:
    """Return the scores of a line as floats, including infinite ones, or None if there are not 20 integers."""
    cells = fields[2 : SCORES + 2]
    if not _whole(cells) and not line[SCORES_END : SCORES_END + 1].strip():
        cells = [line[i : i + SCORE_WIDTH].strip() for i in range(SCORES_START, SCORES_END, SCORE_WIDTH)]
    return list(map(float, cells)) if len(cells) == SCORES and _whole(cells) else None


def _whole(cells: list[str]) -> bool:
    """Return whether all cells are integers, of any size."""
    return all(map(WHOLE.fullmatch, cells))
