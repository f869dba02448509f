"""Patterns of letters: one grammar for the notations of PROSITE, of GCG, and IUPAC codes.

An element is a letter, ``x`` (any letter), a class ``[AC]`` or GCG ``(A,C)``, or the complement of a class: ``{ED}``,
GCG ``~(E,D)``. It may be followed by a repeat: ``(4)``, ``(2,4)``, GCG ``4``, ``{2,4}``. Optional are ``-`` between
elements, ``<`` before the first one (start of the sequence), ``>`` after the last one (its end), and a final ``.``. The
last class may contain ``>``: ``[G>]`` is a G, or the end of the sequence. The notations do not conflict, so the format
need not be named.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import NoReturn

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError
from seqkern.sequences.alphabets import DNA, PROTEIN, RNA, Alphabet

MOST_PLACES = 10_000
BASES = {
    "R": "AG",
    "Y": "CT",
    "S": "CG",
    "W": "AT",
    "K": "GT",
    "M": "AC",
    "B": "CGT",
    "D": "AGT",
    "H": "ACT",
    "V": "ACG",
}
CODES = {
    DNA: BASES | {"U": "T", "N": "ACGT"},
    RNA: {code: letters.replace("T", "U") for code, letters in BASES.items()} | {"T": "U", "N": "ACGU"},
    PROTEIN: {"B": "DN", "Z": "EQ", "J": "IL"},
}
ELEMENT = re.compile(
    r"(?P<single>[A-Za-z])|\[(?P<one_of>[A-Za-z]+(?P<or_end>>?))\]|\{(?P<none_of>[A-Za-z]+)\}"
    r"|(?P<gcg>~?\([A-Za-z](?:,?[A-Za-z])*\))|~(?P<not_this>[A-Za-z])"
)
REPEAT = re.compile(r"\((\d+)(?:,(\d+))?\)|\{(\d+)(?:,(\d+))?\}|(\d+)")
REMEDY = "write it as in PROSITE, [AC]-x-V-x(4)-{ED}, as in GCG, (A,C)xVx4~(E,D), or in IUPAC codes, TATAWAW"


@dataclass(frozen=True)
class Element:
    """A set of accepted letters, repeated `low` to `high` times.

    Attributes
    ----------
    letters : str or None
        Upper case; None for ``x``, which matches any residue, masked ones included.
    excluded : bool
        Whether any letter of the alphabet except these matches, masked residues excluded.
    low, high : int
        Number of repeats.
    """

    letters: str | None
    excluded: bool = False
    low: int = 1
    high: int = 1


@dataclass(frozen=True)
class Pattern:
    """A motif as elements.

    Attributes
    ----------
    name, text : str
        The name of the motif, and the pattern as it was written.
    elements : tuple of Element
        One after the other.
    at_start, at_end : bool
        Whether a match begins at the start, and ends at the end, of the sequence.
    or_end : bool
        Whether the end of the sequence also matches the last element.

    Examples
    --------
    >>> zinc_finger = parse_pattern("C-x(2,4)-C", name="zinc finger")
    >>> zinc_finger.min_length, zinc_finger.longest, zinc_finger.one_length
    (4, 6, False)
    """

    name: str
    text: str
    elements: tuple[Element, ...]
    at_start: bool = False
    at_end: bool = False
    or_end: bool = False

    @property
    def min_length(self) -> int:
        """Residues of the shortest match."""
        return sum(element.low for element in self.elements) - self.or_end

    @property
    def longest(self) -> int:
        """Residues of the longest match."""
        return sum(element.high for element in self.elements)

    @property
    def one_length(self) -> bool:
        """Whether all matches have the same length."""
        return not self.or_end and all(element.low == element.high for element in self.elements)

    def classes(self, alphabet: Alphabet) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Return the letters accepted at each position of the longest match, and which positions are optional.

        Parameters
        ----------
        alphabet : Alphabet
            That of the sequences.

        Returns
        -------
        accepts : ndarray of bool, shape (places, letters + 1)
            The last column is for masked residues.
        optional : ndarray of bool, shape (places,)

        Raises
        ------
        ParameterError
            If a letter is not in the alphabet.
        """
        try:
            accepts = [_accepted(element.letters, element.excluded, alphabet) for element in self.elements]
        except ParameterError as error:
            raise ParameterError(f"motif {self.name!r}: {error.problem}", remedy=error.remedy) from error
        times = [element.high for element in self.elements]
        optional = [place >= element.low for element in self.elements for place in range(element.high)]
        return np.repeat(accepts, times, axis=0), np.array(optional)


@lru_cache(maxsize=1 << 14)
def _accepted(letters: str | None, excluded: bool, alphabet: Alphabet) -> npt.NDArray[np.bool_]:
    """Return the letters accepted at a position of an Element, bool (letters + 1,). ParameterError without the motif's
    name.
    """
    out = np.zeros(alphabet.size + 1, dtype=bool)
    codes = CODES.get(alphabet, {})
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

    Parameters
    ----------
    text : str
        In PROSITE or GCG notation, or IUPAC codes.
    name : str, optional
        By default the text itself.

    Returns
    -------
    Pattern

    Raises
    ------
    ParameterError
        If it cannot be read, with the place; if it also matches the empty sequences at all; if it is too long.

    Examples
    --------
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
    """Return (low, high) of the repeat at a position of a pattern, (1, 1) by default, and its end."""
    found = REPEAT.match(body, place)
    if found is None:
        return 1, 1, place
    low, high = found[1] or found[3] or found[5], found[2] or found[4]
    low = int(low[:9])
    return low, (int(high[:9]) if high else low), found.end()
