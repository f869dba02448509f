"""Profiles, and their conversion to tracks of sequences.

Two tracks belong together, both float32 (residues, size of the alphabet), columns in the order of the alphabet:
``pssm`` holds log-odds scores s in the units of PSI-BLAST, roughly half bits; ``profile`` holds probabilities
including pseudocounts, so that none is zero. They are equivalent: q_a ∝ p_a·exp(λ·s_a), p the background.

λ is 0.3176, the value for ungapped BLOSUM62, to which PSI-BLAST scales its scores. Over 16,000 columns of real PSSMs,
the sum Σ_a p_a·exp(λ·s_a), which should be 1, is 1.000 on average (1.05 with half bits, λ = ln 2 / 2).
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import FileError, SequenceError, naming
from seqkern.core.types import Floats
from seqkern.sequences.alphabets import MASK, PROTEIN
from seqkern.sequences.sequence_set import SequenceSet, first_difference
from seqkern.sequences.tracks import PROFILE_TRACKS as TRACKS

# The amino acids of Robinson and Robinson (PNAS 88, 1991), BLAST's background, in the order of the alphabet.
BACKGROUND = np.array(
    [
        *(0.07805, 0.01925, 0.05364, 0.06295, 0.03856, 0.07377, 0.02199, 0.05142, 0.05744, 0.09019),
        *(0.02243, 0.04487, 0.05203, 0.04264, 0.05129, 0.07120, 0.05841, 0.06441, 0.01330, 0.03216),
    ]
)
BACKGROUND /= BACKGROUND.sum()
SCALE = 0.3176  # λ
SUM_TOLERANCE = 1e-3


@dataclass(frozen=True, eq=False)
class Profile:
    """Residue probabilities and scores at each position of one sequence."""

    letters: str  # The sequence; letters outside the alphabet match any residue
    # shape (length, size): Log-odds of each residue against the background, in the units of PSI-BLAST
    pssm: npt.NDArray[np.float32]
    # shape (length, size): Probability of each residue; all greater than 0, each row sums to 1
    profile: npt.NDArray[np.float32]
    file: str | None = None  # Source of the profile, for messages

    def __post_init__(self) -> None:
        for name in TRACKS:
            values = getattr(self, name)
            if values.ndim != 2 or len(values) != len(self.letters):
                raise SequenceError(
                    f"the {name} has {len(values)} rows, but the sequence has length {len(self.letters)}",
                    file=self.file,
                    remedy="give one row for each residue",
                )

    def __len__(self) -> int:
        return len(self.letters)


def add_profiles(X: SequenceSet, profiles: Iterable[Profile]) -> SequenceSet:
    """Return sequences with the tracks ``pssm`` and ``profile`` added."""
    tracks = {name: np.zeros((len(X.codes), X.alphabet.size), dtype=np.float32) for name in TRACKS}
    for i, profile in zip(range(len(X)), profiles, strict=True):
        check_agreement(X, i, profile)
        for name, track in tracks.items():
            track[X.starts[i] : X.stops[i]] = getattr(profile, name)
    return X.replace(tracks={**X.tracks, **tracks})


def check_agreement(X: SequenceSet, i: int, profile: Profile) -> None:
    """Raise SequenceError unless a profile belongs to record i; masked residues match any."""
    length, columns, size = int(X.stops[i] - X.starts[i]), profile.profile.shape[1], X.alphabet.size
    with naming(profile.file, X.ids[i]):
        if len(profile) != length:
            problem = f"the profile has {len(profile)} positions, but the sequence has length {length}"
            raise SequenceError(problem, remedy="create the profile from this sequence")
        if columns != size:
            problem = f"the profile has {columns} columns, but the alphabet {X.alphabet.name} has {size} letters"
            raise SequenceError(problem, remedy="read the sequences with the alphabet of the profile")
        odd = first_difference(X, i, profile.letters)
        if odd is not None:
            there, here = profile.letters[odd].upper(), X.string(i)[odd]
            problem = f"at position {odd + 1} the profile has {there}, but the sequence has {here}"
            raise SequenceError(problem, remedy="create the profile from this sequence")


def check_tracks(X: SequenceSet, names: Iterable[str]) -> None:
    """Raise SequenceError unless profile tracks have valid shapes, finite numbers, and probabilities in ``profile``."""
    used = None  # residues shared by many windows count once
    for name in names:
        track = X.tracks[name]
        if track.ndim != 2 or track.shape[1] != X.alphabet.size:
            columns = 1 if track.ndim == 1 else track.shape[1]
            raise SequenceError(
                f"the track {name!r} has {columns} columns, but the alphabet {X.alphabet.name} has "
                f"{X.alphabet.size} letters",
                remedy="give one column for each letter of the alphabet",
            )
        used = used or X.used_positions()
        positions, starts = used
        values = track[positions]
        good = np.asarray(np.isfinite(values).all(axis=1))
        if name == "profile":
            good &= (values > 0).all(axis=1) & (np.abs(values.sum(axis=1, dtype=np.float64) - 1) <= SUM_TOLERANCE)
        if not good.all():
            bad = np.concatenate(([0], np.cumsum(~good)))
            record = int(np.argmax(bad[starts + X.lengths] > bad[starts]))
            position = int(np.argmin(good[starts[record] :])) + 1
            place = X.starts[record] + position - 1
            if X.codes[place] == MASK and not track[place].any():
                raise SequenceError(
                    f"at position {position} it extends past the end of its chain, where there is no profile",
                    record=X.ids[record],
                    remedy="choose a kernel that supports the ends of chains, such as pssm_window",
                )
            wanted = "probabilities above 0 that sum to 1" if name == "profile" else "finite numbers"
            raise SequenceError(
                f"row {position} of the track {name!r} is not {wanted}",
                record=X.ids[record],
                remedy="create its profile again",
            )


def from_scores(pssm: npt.ArrayLike, background: Floats = BACKGROUND) -> npt.NDArray[np.float32]:
    """Return the probabilities q_a ∝ p_a·exp(λ·s_a) of scores s."""
    scores = SCALE * np.asarray(pssm, dtype=np.float64)
    return normalised(background * np.exp(scores - scores.max(axis=1, keepdims=True, initial=-np.inf)))


def to_scores(profile: npt.ArrayLike, background: Floats = BACKGROUND) -> npt.NDArray[np.float32]:
    """Return the scores ln(q_a / p_a) / λ of probabilities q."""
    return (np.log(np.asarray(profile, dtype=np.float64) / background) / SCALE).astype(np.float32)


def normalised(weights: npt.ArrayLike) -> npt.NDArray[np.float32]:
    """Return weights (length, size) normalised to probabilities, none below the smallest normal float32."""
    given = np.asarray(weights, dtype=np.float64)
    shares = given / given.sum(axis=1, keepdims=True)
    return np.maximum(shares, np.finfo(np.float32).tiny).astype(np.float32)


def protein_only(X: object) -> None:
    """Raise SequenceError unless the data are protein sequences."""
    if not isinstance(X, SequenceSet) or X.alphabet != PROTEIN:
        name = X.alphabet.name if isinstance(X, SequenceSet) else type(X).__name__
        raise SequenceError(f"profiles need proteins, but these are {name}", remedy="use the alphabet protein")


# ASCII PSSMs from PSI-BLAST (``psiblast -out_ascii_pssm``, ``blastpgp -Q``).
#
# The score columns are used: they include PSI-BLAST's pseudocounts. The percentages beside them are observed
# frequencies, rounded down, and all zero at positions without aligned sequences.
#
# Altschul et al.: Gapped BLAST and PSI-BLAST. Nucleic Acids Research 25, 1997.

FIRST_LINE = "Last position-specific scoring matrix computed"
REMEDY = "create it with psiblast -out_ascii_pssm"
SCORES = PROTEIN.size
SCORE_WIDTH = 3  # characters; scores below -9 leave no blank before them
SCORES_START, SCORES_END = 9, 9 + SCORES * SCORE_WIDTH
BLANK, ZERO, MINUS = b" 0-"
WHOLE = re.compile("-?[0-9]+")
LARGEST_SCORE = 10_000  # those of PSI-BLAST are at most a hundredth of this


def looks_like_psiblast(text: str) -> bool:
    """Return whether a text starts like an ASCII PSSM from PSI-BLAST."""
    return text.lstrip()[: len(FIRST_LINE)] == FIRST_LINE


def parse_psiblast(text: str) -> tuple[str, npt.NDArray[np.float32]]:
    """Read one PSSM; return the query's residues and the scores, (length, 20), in the order of the alphabet."""
    lines = text.split("\n")
    head = next((i for i, line in enumerate(lines) if line.strip()), len(lines))
    if not looks_like_psiblast(text) or len(lines) < head + 2:
        raise FileError("is not an ASCII PSSM from PSI-BLAST", remedy=REMEDY)
    columns = lines[head + 1].split()[:SCORES]
    if sorted(columns) != sorted(PROTEIN.letters):
        raise FileError(f"line {head + 2} does not list the 20 amino acids", remedy=REMEDY)
    rows: npt.ArrayLike
    letters, rows = _in_columns(lines, head + 2) or _in_fields(lines, head + 2)
    if not len(letters):
        raise FileError("has no positions", remedy=REMEDY)
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


def _in_fields(lines: list[str], first: int) -> tuple[str, list[list[float]]]:
    """Return (letters, scores) of the lines from `first` on, parsed one by one."""
    letters: list[str] = []
    rows: list[list[float]] = []
    for number, line in enumerate(lines[first:], start=first + 1):
        fields = line.split(None, SCORES + 2)
        if not fields or not fields[0].isdecimal():
            break
        scores = _scores(line, fields)
        if scores is None or len(fields[1]) != 1 or fields[0] != str(len(letters) + 1):
            problem = f"line {number} is not position {len(letters) + 1} with a letter and 20 scores"
            raise FileError(problem, remedy=REMEDY)
        if max(map(abs, scores)) > LARGEST_SCORE:
            raise FileError(f"line {number} has a score beyond ±{LARGEST_SCORE}", remedy=REMEDY)
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
