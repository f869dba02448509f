"""Alphabets: which letters there are, and the code of each.

A letter's code is its place in the alphabet. `MASK` stands for every letter outside it: no k-mer, match or
alignment touches a masked letter.
"""

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from seqkern.core.errors import LetterError, ParameterError, SequenceError

MASK = 255
NOT_A_LETTER = "\x7f"
NOT_ASCII = re.compile(r"[^\x00-\x7f]")
AMBIGUOUS_BASES = "RYSWKMBDHVN"
AMBIGUOUS_RESIDUES = "BZJXUO"
GAPS = "-.~"
GUESS_SHARE = 0.9


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

    @cached_property
    def code_table(self):
        """uint8 (256,): the code of each byte, lower case as upper case, `MASK` for letters outside."""
        table = np.full(256, MASK, dtype=np.uint8)
        for code, letter in enumerate(self.letters):
            table[ord(letter)] = table[ord(letter.lower())] = code
        table.flags.writeable = False
        return table

    def encode(self, text):
        """Return the codes of `text` (bytes, from `to_bytes`), uint8 (length,)."""
        return np.frombuffer(text.translate(self.code_table.tobytes()), dtype=np.uint8)

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
        ``"dna"``, ``"rna"``, ``"protein"``, or the letters of your own in upper case, such as ``"HEC"``.

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


def to_bytes(text):
    """Return a string as bytes, one for each character: ASCII, and DEL (in no alphabet) for anything else."""
    return (text if text.isascii() else NOT_ASCII.sub(NOT_A_LETTER, text)).encode("ascii")


def count_letters(text):
    """Return int64 (256,): how often each byte occurs in `text` (bytes), lower case counted as upper case."""
    block = 1 << 20  # bincount makes int64 of its input
    codes = np.frombuffer(text, dtype=np.uint8)
    counts = np.zeros(256, dtype=np.int64)
    for start in range(0, len(codes), block):
        counts += np.bincount(codes[start : start + block], minlength=256)
    lower = slice(ord("a"), ord("z") + 1)
    counts[ord("A") : ord("Z") + 1] += counts[lower]
    counts[lower] = 0
    return counts


def guess_alphabet(strings):
    """Return the alphabet, dna, rna or protein, that `strings` are most likely written in.

    Raises
    ------
    SequenceError
        As `guess_by_counts`.
    """
    return guess_by_counts(count_letters(to_bytes("".join(strings))))


def guess_by_counts(counts, file=None):
    """Return the alphabet, dna, rna or protein, that letters with these counts are most likely from.

    DNA or RNA: no letters but bases and N, or nine tenths bases. Else protein, if nine tenths are amino acids.
    Letters outside the alphabet are left to the policy `unknown`.

    Parameters
    ----------
    counts : ndarray of int64, shape (256,)
        From `count_letters`.
    file : path-like, optional
        Named in messages.

    Raises
    ------
    SequenceError
        If the letters fit none of them.
    """
    seen = {chr(byte) for byte in np.flatnonzero(counts)}
    total = max(int(counts.sum()), 1)

    def share(letters):
        return counts[[ord(letter) for letter in letters]].sum() / total

    for alphabet in (DNA, RNA):
        if seen <= set(alphabet.letters) | {"N"}:
            return alphabet
    nearest = max((DNA, RNA), key=lambda alphabet: share(alphabet.letters))
    for alphabet in (nearest, PROTEIN):
        if share(alphabet.letters) >= GUESS_SHARE:
            return alphabet
    odd = "".join(sorted(letter for letter in seen if letter not in PROTEIN.letters and letter.isprintable()))
    raise SequenceError(
        f"letters {odd!r} fit none of the alphabets dna, rna and protein",
        file=file,
        remedy="name the alphabet, or give its letters",
    )


def letter_error(letter, position, alphabet, *, file=None, record=None):
    """Return a LetterError for a letter outside the alphabet, with what it probably is.

    Parameters
    ----------
    letter : str
    position : int
        Counted from 1.
    alphabet : Alphabet
    file, record : optional
        Where.
    """
    upper = letter.upper()
    shown = f"{letter!r}" if letter.isascii() and letter != NOT_A_LETTER else "that is not ASCII"
    if letter == "*":
        hint = "a stop codon? cut it off"
    elif letter in GAPS:
        hint = "a gap? give sequences that are not aligned"
    elif letter == "\\":
        hint = "a byte that is not UTF-8? save the file as UTF-8"
    elif alphabet == DNA and upper == "U":
        hint = "RNA? give alphabet=rna"
    elif alphabet == RNA and upper == "T":
        hint = "DNA? give alphabet=dna"
    elif upper in (AMBIGUOUS_RESIDUES if alphabet == PROTEIN else AMBIGUOUS_BASES):
        hint = "it stands for several letters: mend it"
    else:
        hint = "mend it, or name the right alphabet"
    return LetterError(
        f"letter {shown} at position {position} is not in the alphabet {alphabet.name}",
        file=file,
        record=record,
        remedy=f"{hint}, or choose the policy unknown=mask or unknown=skip (--unknown mask or skip)",
    )
