"""Streaming FASTA reader: yields records of any length in pieces, in bounded memory."""

import itertools
import re
from collections.abc import Iterator, MutableMapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TextIO

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import SequenceError
from seqkern.core.progress import tell
from seqkern.core.text_files import open_text
from seqkern.core.types import Bools, Codes, Floats, Ints, Rows, Source
from seqkern.sequences.alphabets import MASK, Alphabet, converted_bases, letter_error, to_bytes
from seqkern.sequences.formats import format_of, iter_records
from seqkern.sequences.windows import Window

BLOCK = 1 << 22
SPACE = b" \t\r\n\v\f"
STRANGE = 254


@dataclass(frozen=True, eq=False)
class Piece:
    """Consecutive residues of a record; its last piece is empty."""

    record: str  # The id of the record
    codes: Codes  # shape (n,): Their codes
    lower: Bools  # shape (n,): True for lower-case letters
    last: bool = False  # Whether the record ends here; its last piece has no residues


def iter_pieces(source: Source, alphabet: Alphabet, *, ids: str = "header", block: int = BLOCK) -> Iterator[Piece]:
    """Read FASTA, or another format of sequences, in pieces: each record's residues, then an empty last piece.

    Ambiguity codes (``N``) are masked; in a user-defined alphabet, any other letter.
    """
    table = letter_table(alphabet)
    seen: set[str] = set()
    record, length = "", 0
    with open_text(source) as (text, _):
        for header, letters in _parts(text, block):
            if header is not None:
                if seen:
                    yield _end(record, length)
                record, length = _id(header, ids, seen), 0
            if letters:
                yield make_piece(letters, table, alphabet, record=record, before=length)
                length += len(letters)
        yield _end(record, length)


def record_lengths(source: Source) -> dict[str, int]:
    r"""Return the length of each record.

    >>> import io
    >>> record_lengths(io.StringIO(">chr1\nACGT\nAC\n"))
    {'chr1': 6}
    """
    lengths: dict[str, int] = {}
    record = ""
    with open_text(source) as (text, _):
        for header, letters in _parts(text, BLOCK):
            if header is not None:
                record = header.split(None, 1)[0] if header.strip() else ""
            lengths[record] = lengths.get(record, 0) + len(letters)
    return lengths


def _end(record: str, length: int) -> Piece:
    """Return the last piece of a record; raise SequenceError if the record has no residues."""
    if not length:
        raise SequenceError("has no sequence", record=record, remedy="remove the record")
    return Piece(record, np.zeros(0, dtype=np.uint8), np.zeros(0, dtype=bool), last=True)


def _id(header: str, ids: str, seen: set[str]) -> str:
    """Return the id of a record, and add it to `seen`."""
    words = header.split(None, 1)
    number = len(seen) + 1
    record = str(number) if ids == "number" else words[0] if words else ""
    if not record:
        raise SequenceError(f"header {number} has no id", remedy="write '>id', or add --ids number")
    if record in seen:
        problem = "duplicate id (the first word of the header)"
        raise SequenceError(problem, record=record, remedy="rename the records, or add --ids number")
    seen.add(record)
    return record


def make_piece(letters: bytes, table: bytes, alphabet: Alphabet, *, record: str, before: int) -> Piece:
    """Encode consecutive letters of a record, U as T or T as U."""
    letters, converted = converted_bases(letters, alphabet)
    for what in converted:
        tell(what)
    codes = np.frombuffer(letters.translate(table), dtype=np.uint8)
    strange = codes == STRANGE
    if strange.any():
        place = int(np.argmax(strange))
        error = letter_error(chr(letters[place]), before + place + 1, alphabet, record=record)
        remedy = re.sub(r" \((--|or ).*?\)", "", (error.remedy or "").partition(", or ")[0])
        error.remedy = f"{remedy}, or write N in its place"
        raise error
    text_codes = np.frombuffer(letters, dtype=np.uint8)
    return Piece(record, codes, (text_codes >= ord("a")) & (text_codes <= ord("z")))


def letter_table(alphabet: Alphabet) -> bytes:
    """Return a table of 256 codes by byte: `MASK` for ambiguity codes, `STRANGE` for other characters."""
    table = alphabet.code_table.copy()
    table[(table == MASK) & ~alphabet.ambiguous] = STRANGE
    return table.tobytes()


def _parts(text: TextIO, block: int) -> Iterator[tuple[str | None, bytes]]:
    """Yield (header, no letters) at the start of each record, and (None, letters) for its parts, in order."""
    rest, started = "\n", False  # every header begins with a line's end and ">"
    heading: str | None = None
    while data := text.read(block):
        at_start = not started and heading is None and not rest.strip()
        if at_start and format_of(data.lstrip().partition("\n")[0]) not in (None, "fasta"):
            yield from _other_parts(data.lstrip() + text.readline(), text)
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
                        remedy="start each record with a line '>id', followed by its sequence",
                    )
                yield None, letters
            if begin < 0:
                break
            heading, at, started = "", begin + 2, True
    if heading is not None:
        yield heading, b""
    if not started:
        raise SequenceError("is empty", remedy="check how the file was created")


def _other_parts(data: str, text: TextIO) -> Iterator[tuple[str | None, bytes]]:
    """Yield the parts, as `_parts`, of a format other than FASTA, after the lines already read."""
    first, *more = data.splitlines(keepends=True)
    for header, letters in iter_records(first, itertools.chain(more, text)):
        yield header, b""
        yield None, to_bytes(letters)


# Candidate sites in a stream of residues: occurrences of a site's letters, and the windows around them.
#
# Memory holds only a piece of the sequences and the residues of a window; short records are scored in batches. The
# decision values come from a `seqkern.methods.scan.Scanner`.

FORWARD, REVERSE = 0, 1


class Decides(Protocol):
    """Protocol of a scorer of candidates; see `seqkern.methods.scan.Scanner`."""

    @property
    def alphabet(self) -> Alphabet:
        """Alphabet of the sequences."""

    @property
    def strands(self) -> Sequence[int]:
        """Strands to scan: `FORWARD`, `REVERSE` or both."""

    @property
    def counts(self) -> MutableMapping[str, int]:
        """Counts of candidates left out, by reason."""

    site: Codes
    window: Window
    masked: str
    lower: str
    bare: list[Any]

    def values(self, codes: Codes, starts: Ints, names: npt.NDArray[np.object_]) -> Floats:
        """Return the decision values, shape (n,), of windows without masked letters."""

    def by_model(self, codes: Codes, starts: Ints, names: npt.NDArray[np.object_]) -> Floats:
        """Return the decision values, shape (n,), of windows with or without masked letters."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """Candidates on one record, sorted by position; at equal positions strand + comes first."""

    record: str  # The id of the record
    starts: Ints  # shape (n,): Where each candidate begins in the record as written, from 0
    reverse: Bools  # shape (n,): True on strand −
    decisions: Floats  # shape (n,): The decision values of the scanner's model
    width: int  # The length of a candidate

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def positions(self) -> Ints:
        """Position of each candidate's first letter on its strand, int64 (n,), from 1."""
        return self.starts + np.where(self.reverse, self.width, 1)

    def take(self, rows: Rows) -> "Candidates":
        """Return some of the candidates."""
        return Candidates(self.record, self.starts[rows], self.reverse[rows], self.decisions[rows], self.width)


class ScanBuffer:
    """Buffer of unscored residues of one or several records, with the preceding residues that their windows need."""

    def __init__(self, scanner: "Decides") -> None:
        self.scanner = scanner
        self._clear()

    def _clear(self) -> None:
        """Restart with an empty buffer."""
        self.codes: list[Codes] = []  # one array for each piece
        self.lower: list[Bools] = []
        self.names: list[str] = []  # the records in the buffer
        self.starts: list[int] = []
        self.size = self.fresh = 0
        self.ended = True  # whether the last record has been read to its end
        self.before = 0  # residues of the first record that have left the buffer
        self.next = 0  # where the next candidate may begin
        self.bare = True  # whether the first record had masked residues only, so far

    def add(self, piece: "Piece") -> None:
        """Append the next piece."""
        if self.ended:
            self.names.append(piece.record)
            self.starts.append(self.size)
        self.codes.append(piece.codes)
        self.lower.append(piece.lower)
        self.size += len(piece.codes)
        self.fresh += len(piece.codes)
        self.ended = piece.last

    def decide(self) -> "Iterator[Candidates]":
        """Score every complete candidate, record by record, and drop residues that are no longer needed."""
        if not self.names:
            return
        window, width = self.scanner.window, len(self.scanner.site)
        codes, lower = np.concatenate(self.codes), np.concatenate(self.lower)
        starts = np.array(self.starts, dtype=np.int64)
        begins = starts.copy()  # record starts, possibly before the buffer
        begins[0] -= self.before
        stops = np.append(starts[1:], self.size)
        last = self.size if self.ended else max(starts[-1], self.size - max(window.right, window.left + width - 1))
        last = max(self.next, int(last))
        segment = Segment(self.scanner, codes, lower, np.array(self.names, dtype=object), starts, begins, stops)
        yield from segment.decide(self.next, last)

        bare = segment.bare()
        bare[0] &= self.bare
        n_read = len(self.names) - (not self.ended)
        self.scanner.bare += [self.names[i] for i in np.flatnonzero(bare[:n_read])]
        if self.ended:
            self._clear()
            return
        cut = max(int(starts[-1]), last - max(window.left, window.right + 1 - width))
        self.codes, self.lower = [codes[cut:].copy()], [lower[cut:].copy()]
        self.before, self.next, self.bare = cut - int(begins[-1]), last - cut, bool(bare[-1])
        self.names, self.starts, self.size, self.fresh = self.names[-1:], [0], self.size - cut, 0


@dataclass(frozen=True, eq=False)
class Segment:
    """Residues of consecutive records, with the bounds and the id of each record."""

    scanner: "Decides"  # The scorer
    codes: Codes  # shape (residues,): Record i is ``codes[starts[i]:stops[i]]``
    lower: Bools  # shape (residues,): True for lower-case letters
    names: npt.NDArray[np.object_]  # shape (records,): The ids of the records
    starts: Ints  # shape (records,): Where each record starts and stops in `codes`
    # shape (records,): Where each record began; less than its start if residues have left the buffer
    begins: Ints
    stops: Ints  # shape (records,): Where each record starts and stops in `codes`

    @cached_property
    def masked(self) -> Ints | None:
        """Number of masked residues before each residue, int64 (residues + 1,); None if none is masked."""
        masked = self.codes == MASK
        return np.concatenate(([0], np.cumsum(masked, dtype=np.int32))) if masked.any() else None

    def bare(self) -> Bools:
        """Return a mask of the records of masked residues only, bool (records,)."""
        if self.masked is None:
            return self.starts == self.stops
        return self.masked[self.stops] - self.masked[self.starts] == self.stops - self.starts

    def decide(self, first: int, stop: int) -> "Iterator[Candidates]":
        """Score the candidates that begin at `first` up to, but not including, `stop` in `codes`."""
        scanner = self.scanner
        width, length = len(scanner.site), scanner.window.length
        alphabet = scanner.alphabet
        place_parts, decision_parts = [], []
        for strand in scanner.strands:
            site = scanner.site if strand == FORWARD else reverse_complement_codes(scanner.site, alphabet)
            here = occurrences(self.codes, site, first, min(stop, len(self.codes) - width + 1))
            ahead = scanner.window.left if strand == FORWARD else scanner.window.right + 1 - width
            here, record = self._allowed(here, here - ahead)
            begin = here - ahead
            hidden = np.zeros(len(here), dtype=bool)
            if self.masked is not None:
                hidden = self.masked[begin + length] > self.masked[begin]
            if scanner.masked == "skip" and hidden.any():
                scanner.counts["candidates with masked letters left out"] += int(np.count_nonzero(hidden))
                here, begin, record, hidden = here[~hidden], begin[~hidden], record[~hidden], hidden[~hidden]
            place_parts.append(here)
            decision_parts.append(self._score(begin, hidden, self.names[record], strand))
        reverse = np.repeat(np.array(scanner.strands, dtype=bool), [len(here) for here in place_parts])
        places, decisions = np.concatenate(place_parts), np.concatenate(decision_parts)
        order = np.argsort(2 * places + reverse, kind="stable")
        places, reverse, decisions = places[order], reverse[order], decisions[order]
        cuts = np.searchsorted(places, [*self.starts, self.stops[-1]])
        for i, (low, high) in enumerate(itertools.pairwise(cuts.tolist())):
            if low < high:
                some = slice(low, high)
                yield Candidates(self.names[i], places[some] - self.begins[i], reverse[some], decisions[some], width)

    def _allowed(self, here: Ints, begin: Ints) -> tuple[Ints, Ints]:
        """Return the places among `here` whose windows, starting at `begin`, lie in one record, and those records."""
        scanner, width = self.scanner, len(self.scanner.site)
        record = np.searchsorted(self.starts, here, side="right") - 1
        whole = here + width <= self.stops[record]  # a site does not span two records
        inside = (begin >= self.begins[record]) & (begin + scanner.window.length <= self.stops[record])
        scanner.counts["candidates too near an end left out"] += int(np.count_nonzero(whole & ~inside))
        kept = whole & inside
        if scanner.lower == "skip":
            low = kept.copy()
            for offset in range(width):
                low &= ~self.lower[here + offset]
            scanner.counts["candidates in lower case left out"] += int(np.count_nonzero(kept & ~low))
            kept = low
        return here[kept], record[kept]

    def _score(self, begin: Ints, hidden: Bools, names: npt.NDArray[np.object_], strand: int) -> Floats:
        """Return the decision values of the windows at `begin`; `hidden` are those with masked residues."""
        scanner, codes = self.scanner, self.codes
        if strand == REVERSE:
            alphabet = scanner.alphabet
            codes = reverse_complement_codes(codes, alphabet) if len(begin) else codes
            begin, hidden, names = (len(codes) - scanner.window.length - begin)[::-1], hidden[::-1], names[::-1]
        if not hidden.any():
            values = scanner.values(codes, begin, names)
        else:
            values = scanner.by_model(codes, begin[hidden], names[hidden])
            whole = np.empty((len(begin), *values.shape[1:]))
            whole[hidden] = values
            whole[~hidden] = scanner.values(codes, begin[~hidden], names[~hidden])
            values = whole
        return values[::-1] if strand == REVERSE else values


def occurrences(codes: Codes, site: Codes, first: int, stop: int) -> Ints:
    """Return the places from `first` to before `stop` where a site's codes occur, ascending.

    >>> from seqkern.sequences.alphabets import DNA
    >>> from seqkern.sequences.streaming import occurrences
    >>> occurrences(DNA.encode(b"AGTAGAG"), DNA.encode(b"AG"), 1, 6).tolist()
    [3, 5]
    """
    if stop <= first:
        return np.zeros(0, dtype=np.int64)
    hits = codes[first:stop] == site[0]
    for offset, code in enumerate(site[1:], start=1):
        hits &= codes[first + offset : stop + offset] == code
    return np.flatnonzero(hits) + first


def reverse_complement_codes(codes: Codes, alphabet: Alphabet) -> Codes:
    """Return the codes of the reverse complement."""
    return np.frombuffer(codes[::-1].tobytes().translate(alphabet.complement_codes.tobytes()), dtype=np.uint8)
