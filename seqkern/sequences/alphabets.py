"""Alphabets: their letters and the code of each letter.

The code of a letter is its index in the alphabet. `MASK` stands for every letter outside it: no k-mer, match or
alignment contains a masked letter.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from string import ascii_uppercase
from typing import Any

import numpy as np

from seqkern.core.errors import LetterError, ParameterError, SequenceError
from seqkern.core.types import Bools, Codes, Ints, PathLike

MASK = 255
NOT_A_LETTER = "\x7f"
NOT_ASCII = re.compile(r"[^\x00-\x7f]")
AMBIGUOUS_BASES = "RYSWKMBDHVNX"
AMBIGUOUS_RESIDUES = "BZJXUO"
GAPS = "-.~"
GUESS_SHARE = 0.9


@dataclass(frozen=True)
class Alphabet:
    """A set of letters, each with a code.

    >>> from seqkern.sequences.alphabets import DNA
    >>> DNA.encode(b"GATTACA").tolist()
    [2, 0, 3, 3, 0, 1, 0]
    """

    name: str  # ``"dna"``, ``"rna"``, ``"protein"`` or, for others, the letters themselves
    letters: str  # The letters in order of their codes, upper case
    complement: str | None = None  # The complement of each letter, in the same order

    @property
    def size(self) -> int:
        """Number of letters."""
        return len(self.letters)

    @cached_property
    def code_table(self) -> Codes:
        """Code of each byte, uint8 (256,), regardless of case; `MASK` for letters outside the alphabet."""
        table = np.full(256, MASK, dtype=np.uint8)
        for code, letter in enumerate(self.letters):
            table[ord(letter)] = table[ord(letter.lower())] = code
        table.flags.writeable = False
        return table

    def encode(self, text: bytes) -> Codes:
        """Return the codes of a text; `MASK` for letters outside the alphabet."""
        return np.frombuffer(text.translate(self.code_table.tobytes()), dtype=np.uint8)

    def decode(self, codes: Codes | bytes, masked: str = "*") -> str:
        """Return the letters of codes, with `masked` for those outside the alphabet.

        >>> DNA.decode(DNA.encode(b"acNt"))
        'AC*T'
        """
        return bytes(codes).translate(self.letters.encode() + masked.encode() * (256 - self.size)).decode()

    @cached_property
    def ambiguous(self) -> Bools:
        """Mask of ambiguity codes, bool (256,): bytes that stand for several letters or any letter.

        In a user-defined alphabet, all other letters are ambiguous.
        """
        table = np.zeros(256, dtype=bool)
        known = {"dna": AMBIGUOUS_BASES, "rna": AMBIGUOUS_BASES, "protein": AMBIGUOUS_RESIDUES}
        for letter in known.get(self.name, ascii_uppercase):
            table[ord(letter)] = table[ord(letter.lower())] = True
        table &= self.code_table == MASK
        table.flags.writeable = False
        return table

    @property
    def complement_codes(self) -> Codes:
        """Complement of each code, uint8 (256,); raises ParameterError for alphabets without complements."""
        if self.complement is None:
            raise ParameterError(
                f"alphabet {self.name!r} has no complement", remedy="use dna or rna for reverse_complement"
            )
        table = np.full(256, MASK, dtype=np.uint8)
        for code, letter in enumerate(self.complement):
            table[code] = self.letters.index(letter)
        return table


DNA = Alphabet("dna", "ACGT", "TGCA")
RNA = Alphabet("rna", "ACGU", "UGCA")
PROTEIN = Alphabet("protein", "ACDEFGHIKLMNPQRSTVWY")
ALPHABETS = {alphabet.name: alphabet for alphabet in (DNA, RNA, PROTEIN)}


def alphabet_from_state(header: Mapping[str, Any]) -> Alphabet:
    """Return the alphabet stored as a mapping with ``name``, ``letters`` and ``complement``.

    >>> alphabet_from_state({"name": "dna", "letters": "ACGT", "complement": "TGCA"}).size
    4
    """
    alphabet = Alphabet(**header)
    letters, complement = alphabet.letters, alphabet.complement
    if type(alphabet.name) is not str or type(letters) is not str or as_alphabet(letters).letters != letters:
        raise ValueError("an alphabet without letters")
    if complement is not None and (type(complement) is not str or sorted(complement) != sorted(letters)):
        raise ValueError("complements outside the alphabet")
    return alphabet


def alphabet_state(alphabet: Alphabet) -> dict[str, str | None]:
    """Return an alphabet as a JSON dict, the input of `alphabet_from_state`."""
    return {"name": alphabet.name, "letters": alphabet.letters, "complement": alphabet.complement}


def union_alphabet(alphabets: Iterable[Alphabet]) -> Alphabet:
    """Return the smallest alphabet with all letters: one of those given, if it contains the letters of the others.

    >>> union_alphabet([DNA, DNA]).name, union_alphabet([DNA, PROTEIN]).name, union_alphabet([DNA, RNA]).letters
    ('dna', 'protein', 'ACGTU')
    """
    given = list(dict.fromkeys(alphabets))
    letters = "".join(sorted({letter for alphabet in given for letter in alphabet.letters}))
    return next((alphabet for alphabet in given if len(alphabet.letters) == len(letters)), as_alphabet(letters))


def recoding(source: Alphabet, target: Alphabet) -> Codes:
    """Return a table, shape (256,), from codes of one alphabet to codes of another; `MASK` for missing letters.

    >>> recoding(DNA, PROTEIN)[DNA.encode(b"GATTACA")].tolist() == PROTEIN.encode(b"GATTACA").tolist()
    True
    """
    table = np.full(256, MASK, dtype=np.uint8)
    table[: source.size] = target.encode(source.letters.encode())
    return table


def as_alphabet(alphabet: str | Alphabet) -> Alphabet:
    """Return the Alphabet for a name, a string of letters, or an Alphabet.

    >>> from seqkern.sequences.alphabets import as_alphabet
    >>> as_alphabet("DNA").letters
    'ACGT'
    >>> as_alphabet("HEC").size
    3
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
            remedy="use dna, rna, protein, or distinct letters in upper case",
        )
    return Alphabet(letters, letters)


def to_bytes(text: str) -> bytes:
    """Return a string as one byte for each character; non-ASCII characters become DEL, which is in no alphabet."""
    return (text if text.isascii() else NOT_ASCII.sub(NOT_A_LETTER, text)).encode("ascii")


def count_letters(text: bytes | bytearray) -> Ints:
    """Count how often each byte occurs, regardless of case."""
    block = 1 << 20  # bincount makes int64 of its input
    codes = np.frombuffer(text, dtype=np.uint8)
    counts = np.zeros(256, dtype=np.int64)
    for start in range(0, len(codes), block):
        counts += np.bincount(codes[start : start + block], minlength=256)
    lower = slice(ord("a"), ord("z") + 1)
    counts[ord("A") : ord("Z") + 1] += counts[lower]
    counts[lower] = 0
    return counts


def guess_alphabet(strings: Iterable[str]) -> Alphabet:
    """Return the most likely alphabet of sequences: dna, rna or protein.

    >>> from seqkern.sequences.alphabets import guess_alphabet
    >>> guess_alphabet(["GATTACA", "ACGTN"]).name, guess_alphabet(["MKVLAAGIV"]).name
    ('dna', 'protein')
    """
    return guess_by_counts(count_letters(to_bytes("".join(strings))))


def guess_by_counts(counts: Ints, file: PathLike | None = None) -> Alphabet:
    """Return the most likely alphabet, dna, rna or protein, for counts of letters.

    The alphabet is DNA or RNA if all letters are bases or N, or nine tenths are and the others are ambiguity codes,
    or nine tenths are bases; with both T and U, the more frequent one decides. Else it is protein, if nine tenths are
    amino acids. The policy `unknown` handles letters outside it.
    """
    seen = {chr(byte) for byte in np.flatnonzero(counts)}
    total = max(int(counts.sum()), 1)

    def share(letters: str) -> float:
        return counts[[ord(letter) for letter in letters]].sum() / total

    for alphabet in (DNA, RNA):
        if seen <= {*alphabet.letters, "N"}:
            return alphabet
        if seen <= {*alphabet.letters, *AMBIGUOUS_BASES} and share(f"{alphabet.letters}N") >= GUESS_SHARE:
            return alphabet
    if seen <= {*"ACGTU", *AMBIGUOUS_BASES} and share("ACGTUN") >= GUESS_SHARE:
        return RNA if counts[ord("U")] > counts[ord("T")] else DNA
    nearest = max((DNA, RNA), key=lambda alphabet: share(alphabet.letters))
    for alphabet in (nearest, PROTEIN):
        if share(alphabet.letters) >= GUESS_SHARE:
            return alphabet
    odd = "".join(sorted(letter for letter in seen if letter not in PROTEIN.letters and letter.isprintable()))
    raise SequenceError(
        f"letters {odd!r} match none of the alphabets dna, rna and protein",
        file=file,
        remedy="set the alphabet to one of these, or to your own letters (--alphabet)",
    )


def converted_bases(text: bytes, alphabet: Alphabet) -> tuple[bytes, dict[str, int]]:
    """Return a text with U as T for DNA and with T as U for RNA, and the number of these letters.

    >>> converted_bases(b"ACGU", DNA)
    (b'ACGT', {'letters U read as T': 1})
    """
    given, wanted = {"dna": (b"Uu", b"Tt"), "rna": (b"Tt", b"Uu")}.get(alphabet.name, (b"", b""))
    count = sum(text.count(given[i : i + 1]) for i in range(len(given)))
    if not count:
        return text, {}
    return text.translate(bytes.maketrans(given, wanted)), {f"letters {chr(given[0])} read as {chr(wanted[0])}": count}


def letter_error(
    letter: str, position: int, alphabet: Alphabet, *, file: PathLike | None = None, record: str | None = None
) -> LetterError:
    """Return a LetterError for a letter outside the alphabet, with a remedy for its likely meaning."""
    upper, mask = letter.upper(), "mask_all"
    shown = f"{letter!r}" if letter.isascii() and letter != NOT_A_LETTER else "that is not ASCII"
    if letter == "*":
        hint = "remove the stop codon (of all records: sed '/^>/!s/[*]//g' FILE > NEW)"
    elif letter in GAPS:
        hint, mask = "remove the gaps (--strip-gaps does)", "mask_all, which keeps the columns of an alignment,"
    elif letter == "\\":
        hint = "save the file as UTF-8"
    elif alphabet == DNA and upper == "U":
        hint = "convert U to T, or use the alphabet rna (--alphabet rna)"
    elif alphabet == RNA and upper == "T":
        hint = "convert T to U, or use the alphabet dna (--alphabet dna)"
    elif alphabet in ALPHABETS.values() and letter.isascii() and alphabet.ambiguous[ord(letter)]:
        hint = "replace this ambiguity code" + ("" if alphabet == PROTEIN else " (or does the file hold protein?)")
        mask = "mask"
    elif alphabet in (DNA, RNA) and upper in PROTEIN.letters:
        hint = "correct it (or does the file hold protein? choose --alphabet protein)"
    else:
        hint = "correct it, choose another alphabet (--alphabet)"
    return LetterError(
        f"letter {shown} at position {position} is not in the alphabet {alphabet.name}",
        file=file,
        record=record,
        remedy=f"{hint}, or add --unknown {mask} or skip",
    )


# Letters outside the alphabet: which a policy refuses, and how many are masked.
#
# The default policy, ``mask``, masks the ambiguity codes of real data and counts them.

UNKNOWN = ("mask", "error", "skip", "mask_all")
"""The policies, the default first."""


def first_refused(text: bytes, codes: Codes, alphabet: Alphabet, unknown: str) -> int | None:
    """Return the index of the first letter that a policy refuses; None if every letter is accepted.

    ``"mask"`` refuses letters that are not ambiguity codes. It also refuses ambiguity codes other than N and X if
    most letters besides N and X are such codes: the file then contains protein.
    """
    masked = codes == MASK
    if unknown not in ("mask", "error") or not masked.any():
        return None
    if unknown == "mask":
        letters = np.frombuffer(text, dtype=np.uint8)
        odd = masked & ~alphabet.ambiguous[letters]
        if not odd.any() and alphabet.complement is not None:
            wide = masked & np.isin(letters, np.frombuffer(b"NnXx", dtype=np.uint8))
            if 2 * np.count_nonzero(masked & ~wide) > len(letters) - np.count_nonzero(wide):
                odd = masked & ~wide
        masked = odd
    return int(np.argmax(masked)) if masked.any() else None


def masked_counts(text: bytes, codes: Codes) -> dict[str, int]:
    """Return the numbers of masked letters: ``masked letters`` in all, ``masked N`` and so on; empty if none.

    >>> from seqkern.sequences.alphabets import DNA
    >>> masked_counts(b"ACGNnR", DNA.encode(b"ACGNnR"))
    {'masked letters': 3, 'masked N': 2, 'masked R': 1}
    """
    letters = np.frombuffer(text, dtype=np.uint8)[codes == MASK]
    if not len(letters):
        return {}
    counts = count_letters(letters.tobytes())
    each = {f"masked {chr(byte)}": int(counts[byte]) for byte in np.flatnonzero(counts) if chr(byte).isprintable()}
    return {"masked letters": len(letters), **each}


def masked_text(counts: Mapping[str, int]) -> str:
    """Return a sentence with the counts of `masked_counts`; empty if no letter is masked.

    >>> masked_text({"masked letters": 3, "masked N": 2, "masked R": 1})
    '3 letters outside the alphabet (N: 2, R: 1) are masked'
    """
    total, shown = counts.get("masked letters", 0), _each_masked(counts)
    if not total:
        return ""
    one = total == 1
    return (
        f"{total} letter{'' if one else 's'} outside the alphabet{f' ({shown})' if shown else ''} "
        f"{'is' if one else 'are'} masked"
    )


def _each_masked(counts: Mapping[str, int]) -> str:
    """Return the numbers of masked letters as text, letter by letter."""
    each = {name.removeprefix("masked "): n for name, n in counts.items() if name.startswith("masked ") and n}
    return ", ".join(f"{letter}: {count}" for letter, count in each.items() if letter != "letters")


def count_texts(counts: Mapping[str, int]) -> list[str]:
    """Return the effects of the reading policies as ``what: count``, with the masked letters in one item.

    >>> count_texts({"masked letters": 3, "masked N": 2, "masked R": 1, "repeated ids": 1})
    ['masked letters: 3 (N: 2, R: 1)', 'repeated ids: 1']
    """
    letters = _each_masked(counts)
    return [
        f"{name}: {count}{f' ({letters})' if name == 'masked letters' and letters else ''}"
        for name, count in counts.items()
        if count and (name == "masked letters" or not name.startswith("masked "))
    ]
