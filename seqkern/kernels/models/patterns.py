"""Motif patterns: one grammar for the notations of PROSITE and GCG and for IUPAC codes.

An element is a letter, ``x`` (any letter), a class ``[AC]`` or GCG ``(A,C)``, or the complement of a class: ``{ED}``,
GCG ``~(E,D)``. It may be followed by a repeat: ``(4)``, ``(2,4)``, GCG ``4``, ``{2,4}``. Optional are ``-`` between
elements, ``<`` before the first one (start of the sequence), ``>`` after the last one (its end), and a final ``.``.
The last class may contain ``>``: ``[G>]`` is a G, or the end of the sequence. The notations do not conflict, so the
format need not be named.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import NoReturn, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError
from seqkern.core.types import Bools, Floats, Ints
from seqkern.sequences.alphabets import DNA, PROTEIN, RNA, Alphabet

MOST_PLACES = 10_000
ELEMENT = re.compile(
    r"(?P<single>[A-Za-z])|\[(?P<one_of>[A-Za-z]+(?P<or_end>>?))\]|\{(?P<none_of>[A-Za-z]+)\}"
    r"|(?P<gcg>~?\([A-Za-z](?:,?[A-Za-z])*\))|~(?P<not_this>[A-Za-z])"
)
REPEAT = re.compile(r"\((\d+)(?:,(\d+))?\)|\{(\d+)(?:,(\d+))?\}|(\d+)")
REMEDY = "write it as in PROSITE, [AC]-x-V-x(4)-{ED}, as in GCG, (A,C)xVx4~(E,D), or in IUPAC codes, TATAWAW"


@dataclass(frozen=True)
class Element:
    """A set of accepted letters, repeated `low` to `high` times.

    `letters` is None for ``x``, which matches any residue, masked ones included; if `excluded`, any letter of the
    alphabet except these matches, but no masked residue.
    """

    letters: str | None  # Upper case; None for ``x``, which matches any residue, masked ones included
    excluded: bool = False  # Whether any letter of the alphabet except these matches, masked residues excluded
    low: int = 1  # Number of repeats
    high: int = 1  # Number of repeats


@dataclass(frozen=True)
class Pattern:
    """A motif as a sequence of elements.

    `at_start` and `at_end` anchor a match to the ends of the sequence; if `or_end`, the end of the sequence also
    matches
    the last element.

    >>> zinc_finger = parse_pattern("C-x(2,4)-C", name="zinc finger")
    >>> zinc_finger.min_length, zinc_finger.longest, zinc_finger.one_length
    (4, 6, False)
    """

    name: str  # The name of the motif, and the pattern as it was written
    text: str  # The name of the motif, and the pattern as it was written
    elements: tuple[Element, ...]  # One after the other
    at_start: bool = False  # Whether a match begins at the start, and ends at the end, of the sequence
    at_end: bool = False  # Whether a match begins at the start, and ends at the end, of the sequence
    or_end: bool = False  # Whether the end of the sequence also matches the last element

    @property
    def min_length(self) -> int:
        """Number of residues of the shortest match."""
        return sum(element.low for element in self.elements) - self.or_end

    @property
    def longest(self) -> int:
        """Number of residues of the longest match."""
        return sum(element.high for element in self.elements)

    @property
    def one_length(self) -> bool:
        """Whether all matches have the same length."""
        return not self.or_end and all(element.low == element.high for element in self.elements)

    def classes(self, alphabet: Alphabet) -> tuple[Bools, Bools]:
        """Return the letters accepted at each position of the longest match, and which positions are optional.

        The accepted letters have shape (positions, letters + 1); the last column is for masked residues.
        """
        try:
            accepts = [_accepted(element.letters, element.excluded, alphabet) for element in self.elements]
        except ParameterError as error:
            raise ParameterError(f"motif {self.name!r}: {error.problem}", remedy=error.remedy) from error
        times = [element.high for element in self.elements]
        optional = [place >= element.low for element in self.elements for place in range(element.high)]
        return np.repeat(accepts, times, axis=0), np.array(optional)


@lru_cache
def ambiguity_codes(alphabet: Alphabet) -> dict[str, str]:
    """Return the letters that each IUPAC code of several letters stands for; none for an alphabet of your own."""
    from Bio.Data.IUPACData import ambiguous_dna_values, ambiguous_rna_values  # imported here for fast start-up

    values = {DNA: ambiguous_dna_values, RNA: ambiguous_rna_values, PROTEIN: {"B": "DN", "Z": "EQ", "J": "IL"}}
    return {code: "".join(sorted(of)) for code, of in values.get(alphabet, {}).items() if len(of) > 1 and code != "X"}


@lru_cache(maxsize=1 << 14)
def _accepted(letters: str | None, excluded: bool, alphabet: Alphabet) -> Bools:
    """Return the letters accepted at a position of an Element, bool (letters + 1,).

    The ParameterError for an unknown letter does not name the motif.
    """
    out = np.zeros(alphabet.size + 1, dtype=bool)
    codes = ambiguity_codes(alphabet) | {DNA: {"U": "T"}, RNA: {"T": "U"}}.get(alphabet, {})
    any_base = letters == "N" and not excluded and "N" in codes
    if letters is None or any_base or (letters == "X" and "X" not in alphabet.letters):
        out[:] = True
        return out
    for letter in letters:
        for one in codes.get(letter, letter):
            if one not in alphabet.letters:
                raise ParameterError(
                    f"the letter {letter!r} is not in the alphabet {alphabet.name}",
                    remedy="give motifs and sequences over the same alphabet",
                )
            out[alphabet.letters.index(one)] = True
    if excluded:
        out[:-1] = ~out[:-1]
    if not out.any():
        raise ParameterError(f"{{{letters}}} excludes every letter", remedy="exclude fewer letters")
    return out


def parse_pattern(text: str, name: str | None = None) -> Pattern:
    """Parse a pattern; spaces are ignored.

    >>> for element in parse_pattern("N-{P}-[ST]").elements:
    ...     print(element)
    Element(letters='N', excluded=False, low=1, high=1)
    Element(letters='P', excluded=True, low=1, high=1)
    Element(letters='ST', excluded=False, low=1, high=1)
    """
    text = "".join(text.split())
    name = name or text
    body = text.removesuffix(".")
    place = 0

    def fail() -> NoReturn:
        raise ParameterError(f"motif {name!r}: cannot read {text!r} at {text[place:]!r}", remedy=REMEDY)

    at_start = body.startswith("<")
    place += at_start
    elements: list[Element] = []
    or_end = False
    while place < len(body) and body[place] != ">":
        if elements and body[place] == "-":
            place += 1
        found = ELEMENT.match(body, place)
        if or_end or found is None:
            fail()
        low, high, stop = _times(body, found.end())
        if high == 0 or low > high:
            fail()
        place, or_end = stop, bool(found["or_end"])
        elements.append(Element(*_letters(found), low, high))
        if or_end and (low, high) != (1, 1):
            fail()
    at_end = body.endswith(">") and place == len(body) - 1
    if not elements or (or_end and at_end) or place + at_end != len(body):
        fail()
    pattern = Pattern(name, text, tuple(elements), at_start, at_end, or_end)
    if pattern.min_length < 1:
        raise ParameterError(
            f"motif {name!r}: {text!r} also matches the empty sequence", remedy="add a required letter"
        )
    if pattern.longest > MOST_PLACES:
        raise ParameterError(
            f"motif {name!r}: {text!r} can match more than {MOST_PLACES} residues", remedy="choose shorter gaps"
        )
    return pattern


def _letters(found: re.Match[str]) -> tuple[str | None, bool]:
    """Return (letters, excluded) of a match of `ELEMENT`."""
    if found["single"]:
        return (None if found["single"] == "x" else found["single"].upper()), False
    letters = found["one_of"] or found["none_of"] or found["gcg"] or found["not_this"]
    excluded = bool(found["none_of"] or found["not_this"]) or letters.startswith("~")
    letters = "".join(sorted(set(re.sub("[^A-Z]", "", letters.upper()))))
    return letters, excluded


def _times(body: str, place: int) -> tuple[int, int, int]:
    """Return (low, high, end) of the repeat at a position of a pattern; low and high are 1 if there is none."""
    found = REPEAT.match(body, place)
    if found is None:
        return 1, 1, place
    low, high = found[1] or found[3] or found[5], found[2] or found[4]
    low = int(low[:9])
    return low, (int(high[:9]) if high else low), found.end()


# Weight matrices: letter counts in the columns of a motif, their scores, and the match threshold.
#
# The score of a letter a in column j is 100·log2(p_j(a)/b(a)), rounded to an integer, with the background b and p_j(a)
# = (n_j(a) + c·b(a))/(n_j + c), where n_j(a) are the counts, n_j their sum, and c the pseudocount. Scores of windows
# are sums of these integers, so that their exact distribution under the background can be computed.

SCALE = 100  # a score of 1 is a hundredth of a bit
MOST_COLUMNS = 200
MOST_COUNTS = 1e12
LEAST_BACKGROUND = 1e-100  # counts divided by it stay finite
ROUNDING = 1e-9
LANE_LIMIT = 1 << 30  # of sums of scores, in lanes of 32 bits


@dataclass(frozen=True)
class Matrix:
    """A motif as letter counts (columns, letters), with the letter of each column and background frequencies."""

    name: str  # For reports and messages
    counts: Floats  # shape (columns, letters): Counts of each letter at each position of the motif
    letters: str  # Letter of each column of `counts`
    background: Floats  # shape (letters,): Background frequencies of the letters; they sum to 1

    @property
    def min_length(self) -> int:
        """Length of a match."""
        return len(self.counts)

    @classmethod
    def checked(cls, name: str, counts: npt.ArrayLike, letters: str, background: npt.ArrayLike | None = None) -> Self:
        """Return the Matrix of the given counts, checked; the background is uniform by default."""
        counts = np.array(counts, dtype=np.float64)
        share = np.full(len(letters), 1 / len(letters)) if background is None else np.asarray(background, dtype=float)
        if share.shape != (len(letters),) or not np.all((share >= LEAST_BACKGROUND) & (share <= 1)):
            raise ParameterError(
                f"the background letter frequencies are not all from {LEAST_BACKGROUND:g} to 1",
                remedy="give such a frequency for each letter",
            )
        good = counts.ndim == 2 and 0 < len(counts) <= MOST_COLUMNS and counts.shape[1] == len(letters)
        if not good:
            raise ParameterError(
                f"motif {name!r} has no matrix of 1 to {MOST_COLUMNS} columns of {len(letters)} letters",
                remedy="correct or remove it",
            )
        totals = counts.sum(axis=1)
        if not np.isfinite(counts).all() or counts.min() < 0 or totals.min() <= 0 or totals.max() > MOST_COUNTS:
            column = int(
                np.argmin(np.isfinite(totals) & (counts.min(axis=1) >= 0) & (totals > 0) & (totals <= MOST_COUNTS))
            )
            raise ParameterError(
                f"motif {name!r}: column {column + 1} contains no counts",
                remedy="give non-negative numbers, not all 0",
            )
        return cls(name, counts, letters, share / share.sum())

    def scores(self, alphabet: Alphabet, pseudocount: float) -> Ints:
        """Return the scores for an alphabet, in hundredths of a bit."""
        scores = np.rint(SCALE * np.log2(self._probabilities(alphabet, pseudocount))).astype(np.int64)
        span = np.maximum(scores.max(axis=1), 0).sum() - np.minimum(scores.min(axis=1), 0).sum()
        if span >= LANE_LIMIT // len(scores):
            raise ParameterError(
                f"motif {self.name!r}: with pseudocount={pseudocount:g} the scores of its {len(scores)} columns lie "
                f"{span // SCALE} bits apart",
                remedy="give a larger pseudocount",
            )
        return scores

    def _probabilities(self, alphabet: Alphabet, pseudocount: float) -> Floats:
        """Return p_j(a)/b(a), float64 (columns, letters), in the alphabet's order."""
        letters = self.letters
        if alphabet in (DNA, RNA):
            letters = letters.replace("U", "T") if alphabet == DNA else letters.replace("T", "U")
        if sorted(letters) != sorted(alphabet.letters):
            raise ParameterError(
                f"motif {self.name!r} has the letters {self.letters}, the sequences have the alphabet {alphabet.name}",
                remedy="give motifs and sequences over the same alphabet",
            )
        order = [letters.index(letter) for letter in alphabet.letters]
        totals = self.counts.sum(axis=1, keepdims=True)
        odds = (self.counts / self.background + pseudocount) / (totals + pseudocount)
        return odds[:, order]

    def background_of(self, alphabet: Alphabet) -> Floats:
        """Return the background in an alphabet's order."""
        letters = self.letters.replace("U", "T")
        return self.background[[letters.index(letter.replace("U", "T")) for letter in alphabet.letters]]


def share_threshold(scores: Ints, share: float) -> int:
    """Return the smallest integer ≥ least + share·(largest − least) over the range of possible score sums.

    >>> share_threshold(np.array([[-100, 200], [-300, 100]]), 0.8)
    160
    """
    least, largest = int(scores.min(axis=1).sum()), int(scores.max(axis=1).sum())
    return int(np.ceil(least + share * (largest - least) - ROUNDING))


def distribution(scores: Ints, background: Floats) -> tuple[Floats, int]:
    """Return the probability of each score sum of a window of independent residues, and the smallest sum.

    >>> distribution(np.array([[-1, 1], [-1, 1]]), np.array([0.5, 0.5]))
    (array([0.25, 0.  , 0.5 , 0.  , 0.25]), -2)
    """
    chances = np.ones(1)
    for column in scores - scores.min(axis=1, keepdims=True):
        longer = np.zeros(len(chances) + int(column.max()))
        for score, share in zip(column.tolist(), background.tolist(), strict=True):
            longer[score : score + len(chances)] += share * chances
        chances = longer
    return chances, int(scores.min(axis=1).sum())


def p_value_threshold(scores: Ints, background: Floats, p_value: float) -> int:
    """Return the smallest score threshold that a random window reaches with probability at most `p_value`.

    It may exceed the largest score, if the motif is too short or too unspecific for the probability.

    >>> scores, background = np.array([[-1, 1], [-1, 1]]), np.array([0.5, 0.5])
    >>> p_value_threshold(scores, background, 0.25), p_value_threshold(scores, background, 0.1)
    (1, 3)
    """
    chances, least = distribution(scores, background)
    tails = np.cumsum(chances[::-1])[::-1]
    return least + int(np.searchsorted(-tails, -p_value * (1 + ROUNDING)))


def tail(scores: Ints, background: Floats, threshold: int) -> float:
    """Return the probability that the score of a random window reaches `threshold`.

    >>> tail(np.array([[-1, 1], [-1, 1]]), np.array([0.5, 0.5]), 0)
    0.75
    """
    chances, least = distribution(scores, background)
    return float(chances[max(0, threshold - least) :].sum())
