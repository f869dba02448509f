"""FASTA piece by piece: the residues of records of any length, in bounded memory."""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TextIO

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import SequenceError
from seqkern.core.text_files import open_text
from seqkern.core.types import Source
from seqkern.sequences.alphabets import MASK, Alphabet, letter_error, to_bytes
from seqkern.sequences.formats import format_of, iter_records

BLOCK = 1 << 22
SPACE = b" \t\r\n\v\f"
STRANGE = 254


@dataclass(frozen=True, eq=False)
class Piece:
    """Consecutive residues of a record.

    Attributes
    ----------
    record : str
        The id of the record.
    codes : ndarray of uint8, shape (n,)
        Their codes.
    lower : ndarray of bool, shape (n,)
        True for lower-case letters.
    last : bool
        Whether the record ends here; its last piece has no residues.
    """

    record: str
    codes: npt.NDArray[np.uint8]
    lower: npt.NDArray[np.bool_]
    last: bool = False


def iter_pieces(source: Source, alphabet: Alphabet, *, ids: str = "header", block: int = BLOCK) -> Iterator[Piece]:
    r"""Read FASTA, or another format of sequences, in pieces: each record's residues, then an empty last piece.

    Ambiguity codes (``N``) are masked; in a user-defined alphabet, any other letter.

    Parameters
    ----------
    source : path-like, ``"-"`` or file object
        Plain text or compressed; ``"-"`` is standard input.
    alphabet : Alphabet
        The alphabet for encoding.
    ids : {"header", "number"}
        The first word of the header, or the number of the record.
    block : int
        Number of characters read at a time.

    Yields
    ------
    Piece
        In the order of the file.

    Raises
    ------
    FileError
        As for `seqkern.core.text_files.open_lines`.
    SequenceError
        If the source is empty or not FASTA, or a record has no id, a duplicate id, or no sequence.
    LetterError
        For other letters outside the alphabet.

    Examples
    --------
    >>> import io
    >>> from seqkern.sequences.alphabets import DNA
    >>> from seqkern.sequences.streaming import iter_pieces
    >>> for piece in iter_pieces(io.StringIO(">chr1\nACGT\nACGT\n"), DNA, block=12):
    ...     print(piece.record, piece.codes.tolist(), piece.last)
    chr1 [0, 1, 2, 3, 0] False
    chr1 [1, 2, 3] False
    chr1 [] True
    """
    table = letter_table(alphabet)
    seen: set[str] = set()
    record, length = "", 0
    with open_text(source) as (text, name):
        for header, letters in _parts(text, name, block):
            if header is not None:
                if seen:
                    yield _end(record, length, name)
                record, length = _id(header, len(seen), ids, name, seen), 0
            if letters:
                yield make_piece(letters, table, alphabet, name=name, record=record, before=length)
                length += len(letters)
        yield _end(record, length, name)


def record_lengths(source: Source) -> dict[str, int]:
    r"""Return the length of each record.

    Parameters
    ----------
    source : path-like, ``"-"`` or file object
        As for `iter_pieces`.

    Returns
    -------
    dict of str to int
        In the order of the file.

    Raises
    ------
    FileError, SequenceError
        If it cannot be read.

    Examples
    --------
    >>> import io
    >>> record_lengths(io.StringIO(">chr1\nACGT\nAC\n"))
    {'chr1': 6}
    """
    lengths: dict[str, int] = {}
    record = ""
    with open_text(source) as (text, name):
        for header, letters in _parts(text, name, BLOCK):
            if header is not None:
                record = header.split(None, 1)[0] if header.strip() else ""
            lengths[record] = lengths.get(record, 0) + len(letters)
    return lengths


def _end(record: str, length: int, name: str) -> Piece:
    """Return the last piece of a record; SequenceError if it has no residues."""
    if not length:
        raise SequenceError("has no sequence", file=name, record=record, remedy="remove the record")
    return Piece(record, np.zeros(0, dtype=np.uint8), np.zeros(0, dtype=bool), last=True)


def _id(header: str, number: int, ids: str, name: str, seen: set[str]) -> str:
    """Return the id of a record, and add it to `seen`."""
    words = header.split(None, 1)
    record = str(number + 1) if ids == "number" else words[0] if words else ""
    if not record:
        raise SequenceError(f"header {number + 1} has no id", file=name, remedy="write '>id', or add --ids number")
    if record in seen:
        raise SequenceError(
            "duplicate id (the first word of the header)",
            file=name,
            record=record,
            remedy="rename the records, or add --ids number",
        )
    seen.add(record)
    return record


def make_piece(letters: bytes, table: bytes, alphabet: Alphabet, *, name: str, record: str, before: int) -> Piece:
    """Encode consecutive letters of a record.

    Parameters
    ----------
    letters : bytes
        As in the file.
    table : bytes
        As from `letter_table`.
    alphabet : Alphabet
        The alphabet for encoding.
    name, record : str
        File and record.
    before : int
        Letters of the record before these, for messages.

    Returns
    -------
    Piece

    Raises
    ------
    LetterError
        For letters outside the alphabet.
    """
    codes = np.frombuffer(letters.translate(table), dtype=np.uint8)
    strange = codes == STRANGE
    if strange.any():
        place = int(np.argmax(strange))
        error = letter_error(chr(letters[place]), before + place + 1, alphabet, file=name, record=record)
        remedy = re.sub(r" \((--|or ).*?\)", "", (error.remedy or "").partition(", or ")[0])
        error.remedy = f"{remedy}, or write N in its place"
        raise error
    text_codes = np.frombuffer(letters, dtype=np.uint8)
    return Piece(record, codes, (text_codes >= ord("a")) & (text_codes <= ord("z")))


def letter_table(alphabet: Alphabet) -> bytes:
    """Return the code of each byte: `MASK` for ambiguity codes, `STRANGE` for other characters.

    Parameters
    ----------
    alphabet : Alphabet
        The alphabet for encoding.

    Returns
    -------
    bytes of length 256
    """
    table = alphabet.code_table.copy()
    table[(table == MASK) & ~alphabet.ambiguous] = STRANGE
    return table.tobytes()


def _parts(text: TextIO, name: str, block: int) -> Iterator[tuple[str | None, bytes]]:
    """Yield (header or None, letters) in order; a header comes without letters, at the start of its record."""
    rest, started = "\n", False  # every header begins with a line's end and ">"
    heading: str | None = None
    while data := text.read(block):
        at_start = not started and heading is None and not rest.strip()
        if at_start and format_of(data.lstrip().partition("\n")[0]) not in (None, "fasta"):
            yield from _other_parts(data.lstrip() + text.readline(), text, name)
            return
        data, rest, at = rest + data, "", 0
        while at < len(data):
            if heading is not None:
                end = data.find("\n", at)
                heading += data[at:] if end < 0 else data[at:end]
                if end < 0:
                    break
                yield heading, b""
                heading, at = None, end
            begin = data.find("\n>", at)
            stop = begin
            if begin < 0:
                rest = "\n" if data.endswith("\n") else ""
                stop = len(data) - len(rest)
            letters = to_bytes(data[at:stop]).translate(None, SPACE)
            if letters:
                if not started:
                    raise SequenceError(
                        f"is not FASTA: it starts with {letters[:40].decode()!r}",
                        file=name,
                        remedy="start each record with a line '>id', followed by its sequence",
                    )
                yield None, letters
            if begin < 0:
                break
            heading, at, started = "", begin + 2, True
    if heading is not None:
        yield heading, b""
    if not started:
        raise SequenceError("is empty", file=name, remedy="check how the file was created")


def _other_parts(data: str, text: TextIO, name: str) -> Iterator[tuple[str | None, bytes]]:
    """Yield the same for a format other than FASTA, which begins with some whole lines."""
    first, *more = data.splitlines(keepends=True)
    for header, letters in iter_records(first, itertools.chain(more, text), name):
        yield header, b""
        yield None, to_bytes(letters)
