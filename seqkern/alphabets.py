"""Alphabets: which letters there are, and the code of each.

A letter's code is its place in the alphabet. `MASK` stands for every letter outside it: no k-mer, match or
alignment touches a masked letter.
"""

from dataclasses import dataclass

import numpy as np

from .errors import ParameterError, SequenceError

MASK = 255


@dataclass(frozen=True)
class Alphabet:
    """A set of letters, each with a code.

    Parameters
    ----------
    name : str
        ``"dna"``, ``"rna"``, ``"protein"`` or, for others, the letters themselves.
    letters : str
        The letters in order of their codes, upper case.
    complement : str, optional
        The complement of each letter, in the same order.
    """

    name: str
    letters: str
    complement: str | None = None

    @property
    def size(self):
        """Number of letters."""
        return len(self.letters)

    @property
    def code_table(self):
        """uint8 (256,): the code of each byte, `MASK` for letters outside; lower case counts as upper case."""
        table = np.full(256, MASK, dtype=np.uint8)
        for code, letter in enumerate(self.letters):
            table[ord(letter)] = table[ord(letter.lower())] = code
        return table

    @property
    def complement_codes(self):
        """uint8 (256,): the code of each code's complement; raises ParameterError if there is none."""
        if self.complement is None:
            raise ParameterError(
                f"alphabet {self.name!r} has no complement", remedy="reverse_complement needs dna or rna"
            )
        table = np.full(256, MASK, dtype=np.uint8)
        for code, letter in enumerate(self.complement):
            table[code] = self.letters.index(letter)
        return table


DNA = Alphabet("dna", "ACGT", "TGCA")
RNA = Alphabet("rna", "ACGU", "UGCA")
PROTEIN = Alphabet("protein", "ACDEFGHIKLMNPQRSTVWY")
ALPHABETS = {alphabet.name: alphabet for alphabet in (DNA, RNA, PROTEIN)}


def as_alphabet(alphabet):
    """Return the Alphabet meant by a name, by a string of letters, or by an Alphabet.

    Parameters
    ----------
    alphabet : str or Alphabet
        ``"dna"``, ``"rna"``, ``"protein"``, or the letters of a custom alphabet in upper case, such as ``"HEC"``.

    Raises
    ------
    ParameterError
        If letters repeat, or are not printable upper-case ASCII.
    """
    if isinstance(alphabet, Alphabet):
        return alphabet
    known = ALPHABETS.get(str(alphabet).lower())
    if known is not None:
        return known
    letters = str(alphabet)
    good = letters.isascii() and letters.isprintable() and letters == letters.upper() and " " not in letters
    if not good or len(set(letters)) != len(letters) or len(letters) < 2:
        raise ParameterError(
            f"unknown alphabet {letters!r}",
            remedy="use dna, rna, protein, or the distinct letters of your own in upper case",
        )
    return Alphabet(letters, letters)


def guess_alphabet(strings):
    """Return the first of dna, rna and protein that holds every letter of `strings`.

    Raises
    ------
    SequenceError
        If none does.
    """
    seen = set()
    for string in strings:
        seen.update(string.upper())
    for alphabet in ALPHABETS.values():
        if seen <= set(alphabet.letters):
            return alphabet
    odd = "".join(sorted(seen - set(PROTEIN.letters)))
    raise SequenceError(
        f"letters {odd!r} are in none of the alphabets dna, rna and protein",
        remedy="name the alphabet, or give its letters",
    )
