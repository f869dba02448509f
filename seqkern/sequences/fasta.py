"""FASTA reader for sequence sets, whole or in chunks, with named policies for unusual records.

Other formats are recognised by their first line (`seqkern.sequences.formats`). The policies: `unknown` (letters
outside the alphabet), `empty` (records without a sequence), `ids` (repeated or missing ids) and `gaps` (in
alignments). Their effects are counted in `SequenceSet.counts`.
"""

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, Protocol, cast, overload

import numpy as np

from seqkern.core.checks import check_choice
from seqkern.core.errors import SequenceError, naming
from seqkern.core.text_files import open_lines, source_name
from seqkern.core.types import Codes, Ids, Ints, PathLike, Source
from seqkern.sequences.alphabets import (
    GAPS,
    MASK,
    PROTEIN,
    UNKNOWN,
    Alphabet,
    as_alphabet,
    converted_bases,
    count_letters,
    first_refused,
    guess_by_counts,
    letter_error,
    masked_counts,
    to_bytes,
)
from seqkern.sequences.formats import iter_records
from seqkern.sequences.sequence_set import SequenceSet

# Record ids: the treatment of repeated ids, and numbers that need no memory.


def file_names(paths: Sequence[object]) -> list[str]:
    """Return a short name for each file that tells them apart: its name up to the first dot, else its folder's.

    >>> file_names(["data/peaks.fa.gz", "data/other.fa"]), file_names(["ctcf.train.fa", "ctcf.test.fa"])
    (['peaks', 'other'], ['train', 'test'])
    >>> file_names(["a/set.fa", "b/set.fa"])
    ['a', 'b']
    """
    parts = [Path(os.path.abspath(str(path))).parts for path in paths]
    dots = [one[-1].split(".") for one in parts]
    for of_each, places in (dots, (0,)), (parts, range(-2, -9, -1)), (dots, range(1, 9)):
        for place in places:
            names = ["".join(one[place : place + 1 or None]) for one in of_each]
            if all(names) and len(set(names)) >= min(2, len(names)):
                return names
    return [str(path) for path in paths]


def ids_by_file(ids: list[str], files: Sequence[int], names: Sequence[str]) -> tuple[list[str], int]:
    """Return ids with the file's name before those that occur in several files, and the number of these.

    >>> ids_by_file(["s1", "s2", "s1"], [0, 0, 1], ["active", "inactive"])
    (['active:s1', 's2', 'inactive:s1'], 1)
    """
    first: dict[str, int] = {}
    several = {name for name, file in zip(ids, files, strict=True) if first.setdefault(name, file) != file}
    pairs = zip(ids, files, strict=True)
    return [f"{names[file]}:{name}" if name in several else name for name, file in pairs], len(several)


def unique_ids(ids: list[str], policy: str, file: PathLike | None = None) -> tuple[list[str], int]:
    """Return ids without repeats, and the number of repeats.

    >>> from seqkern.sequences.fasta import unique_ids
    >>> unique_ids(["HBA", "HBB", "HBA"], "suffix")
    (['HBA', 'HBB', 'HBA.2'], 1)
    """
    check_choice("ids", policy, ("header", "number", "suffix"))
    repeats = len(ids) - len(set(ids))
    if policy == "number":
        return [str(i) for i in range(1, len(ids) + 1)], repeats
    if not repeats:
        return ids, 0
    taken = set(ids)
    seen: dict[str, int] = {}
    result: list[str] = []
    for name in ids:
        if name in seen and policy == "header":
            remedy = "rename the records, or add --ids number or --ids suffix"
            raise SequenceError("duplicate id (the first word of the header)", file=file, record=name, remedy=remedy)
        unique = name
        while unique in seen or (unique in taken and unique != name):
            seen[name] = seen.get(name, 1) + 1
            unique = f"{name}.{seen[name]}"
        seen.setdefault(unique, 1)
        result.append(unique)
    return result, repeats


class RecordNumbers(Sequence[str]):
    """The ids "1", "2", …, made when read, since ten million stored strings would take 600 MB."""

    def __init__(self, numbers: range) -> None:
        self.numbers = numbers

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, place: int) -> str: ...

    @overload
    def __getitem__(self, place: slice) -> "RecordNumbers": ...

    def __getitem__(self, place: int | slice) -> "str | RecordNumbers":
        numbers = self.numbers[place]
        return RecordNumbers(numbers) if isinstance(numbers, range) else str(numbers)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, RecordNumbers):
            return self.numbers == other.numbers
        return isinstance(other, list | tuple) and list(self) == list(other)

    def __hash__(self) -> int:
        return hash(self.numbers)


STOPS = "terminal stops (*) removed"
CHUNK = 1 << 22
RECORD_COST = 64  # added to each record's length, so that chunks of short records are bounded too

NO_GAPS = str.maketrans("", "", GAPS)


class RecordSource(Protocol):
    """Source of records other than a FASTA file, such as the regions of a genome."""

    name: str
    """Name of the source in messages."""
    counts: dict[str, int]
    """Numbers of records left out, by reason, for the counts of the SequenceSet."""

    def records(self) -> Iterator[tuple[str, str]]:
        """Yield the header line and the letters of each record."""
        ...


AnySource = Source | RecordSource
Sources = AnySource | Sequence[AnySource]


class Policies(NamedTuple):
    """Policies for unusual records, with the values that `read_fasta` accepts."""

    unknown: str = "mask"
    ids: str = "header"
    empty: str = "error"
    gaps: str = "error"

    def check(self, ids: tuple[str, ...] = ("header", "number", "suffix", "file")) -> None:
        """Raise ParameterError for an unknown policy."""
        check_choice("unknown", self.unknown, UNKNOWN)
        check_choice("ids", self.ids, ids)
        check_choice("empty", self.empty, ("error", "skip"))
        check_choice("gaps", self.gaps, ("error", "strip"))


@dataclass(frozen=True)
class Reading:
    """The result of `read_records`: sequences, header lines, the file of each record, and ids left out."""

    sequences: SequenceSet
    headers: list[str]  # length n: The header line of each record, without ``>``
    sources: Ints  # shape (n,): The file of each record, counted from 0
    left_out: list[str]  # The ids of the records left out by a policy


def read_fasta(
    source: Sources,
    alphabet: str | Alphabet | None = None,
    *,
    unknown: str = "mask",
    ids: str = "header",
    empty: str = "error",
    gaps: str = "error",
) -> SequenceSet:
    r"""Read and encode FASTA.

    Parameters
    ----------
    source : path-like, ``"-"``, file object, or list of these
        FASTA, FASTQ, GenBank, EMBL, Stockholm or Clustal, plain text or compressed with gzip, bzip2, xz or zstd;
        ``"-"`` is standard input. The files of a list are read one after another.
    alphabet : str or Alphabet, optional
        ``"dna"``, ``"rna"``, ``"protein"`` or letters; guessed from the letters by default.
        Lower case is treated as upper case.
    unknown : {"mask", "error", "skip", "mask_all"}
        Letters outside the alphabet: mask ambiguity codes (N, R, X, …; of your own letters, any other letter) and raise
        an error for other characters, raise an error for all, leave out the record, or mask every character.
    ids : {"header", "number", "suffix", "file"}
        The first word of the header, where a repeated or missing one is an error; the record number;
        the first word, with ``.2``, ``.3``, … added to repeats; or the first word, after the name of its file where
        several files have it.
    empty : {"error", "skip"}
        Records without a sequence: raise an error, or leave them out.
    gaps : {"error", "strip"}
        Gaps of alignments (``-``, ``.`` and ``~``): letters outside the alphabet, or removed.

    Returns
    -------
    SequenceSet
        The sequences, with the effects of the policies in `counts`.

    Raises
    ------
    FileError
        If a file is missing, truncated, corrupted or not text.
    SequenceError
        If a file is empty or not FASTA, or contains a record that the policies do not allow.

    Examples
    --------
    >>> import io
    >>> from seqkern import read_fasta
    >>> X = read_fasta(io.StringIO(">donor1 chr1\nCAGGTAAGT\n>donor2 chr2\nAAGGTNAGT\n"), "dna")
    >>> X
    SequenceSet(2 sequences, alphabet 'dna', 18 letters)
    >>> X.ids, X.strings(), X.counts
    (['donor1', 'donor2'], ['CAGGTAAGT', 'AAGGT*AGT'], {'masked letters': 1, 'masked N': 1})
    """
    return _read(source, alphabet, Policies(unknown, ids, empty, gaps), keep_headers=False).sequences


def read_records(source: Sources, alphabet: str | Alphabet | None = None, **policies: str) -> Reading:
    r"""Read FASTA like `read_fasta`, with the same policies, and keep the header lines.

    >>> import io
    >>> from seqkern.sequences.fasta import read_records
    >>> read_records(io.StringIO(">d1ux8a_ a.1.1.1\nMKVLAAG\n"), "protein").headers
    ['d1ux8a_ a.1.1.1']
    """
    return _read(source, alphabet, Policies(**policies), keep_headers=True)


def iter_fasta(
    source: Sources, alphabet: str | Alphabet, *, chunk: int = CHUNK, before: int = 0, **given: str
) -> Iterator[SequenceSet]:
    r"""Read FASTA as sets of about `chunk` residues, for files that do not fit in memory.

    Unlike `read_fasta`, it needs the alphabet and does not detect repeated ids.

    >>> import io
    >>> from seqkern.sequences.fasta import iter_fasta
    >>> text = ">a\nACGTACGT\n>b\nGGGTTTAA\n>c\nACGT\n"
    >>> [len(X) for X in iter_fasta(io.StringIO(text), "dna", chunk=100)]
    [2, 1]
    """
    policies = Policies(**given)
    policies.check(ids=("header", "number"))
    alphabet = as_alphabet(alphabet)
    left_out = _counts_of(source)
    for raw in _raw_chunks(source, policies, chunk, alphabet, before):
        codes, kept, counts = _encode(raw, alphabet, policies)
        offsets = np.concatenate(([0], np.cumsum(raw.lengths[kept])))
        names = [raw.record(i, policies.ids) for i in kept]
        yield SequenceSet.from_offsets(codes, offsets, names, alphabet, counts=counts | left_out)
        left_out = {}


def records_of(source: AnySource) -> Iterator[tuple[str, str]]:
    r"""Yield the records of a source as text: header and letters as they are in the file.

    >>> import io
    >>> from seqkern.sequences.fasta import records_of
    >>> list(records_of(io.StringIO(">peak1 chr1\nACgt\n")))
    [('peak1 chr1', 'ACgt')]
    """
    with _opened(source) as (records, _):
        for number, (header, letters) in enumerate(records, start=1):
            if not header.strip():
                raise SequenceError(f"header {number} has no id", remedy="write '>id'")
            yield header, letters


# ---- text ------------------------------------------------------------------------------------------------


@dataclass
class _Raw:
    """Records as text: first words of the headers, header lines, lengths, letters, source, number of gaps removed."""

    name: str
    file: int
    before: int
    first_words: list[str]
    headers: list[str]
    lengths: Ints
    text: bytes
    n_gaps: int
    n_stops: int

    def record(self, i: int, ids: str) -> str:
        """Return the id of record `i` under the policy `ids`."""
        return str(self.before + i + 1) if ids == "number" else self.first_words[i]


def _raw_chunks(
    source: Sources, policies: Policies, chunk: int, alphabet: str | Alphabet | None, before: int = 0
) -> Iterator[_Raw]:
    """Yield the records of one or more files as `_Raw` objects of about `chunk` letters, without terminal stops."""
    number = before
    stops = alphabet is None or "*" not in as_alphabet(alphabet).letters
    for file, one in enumerate(_files(source)):
        with _opened(one) as (records, name):
            before_file = number
            strings: list[str]
            while headers := _gather(records, chunk, strings := []):
                n_gaps = _strip(strings) if policies.gaps == "strip" else 0
                n_stops = sum(string.endswith("*") for string in strings) if stops else 0
                strings = [string.removesuffix("*") for string in strings] if n_stops else strings
                first_words = [header.split(None, 1)[0] if header.strip() else "" for header in headers]
                if policies.ids != "number" and "" in first_words:
                    place = number - before_file + first_words.index("") + 1
                    raise SequenceError(f"header {place} has no id", remedy="write '>id', or add --ids number")
                lengths = np.fromiter(map(len, strings), dtype=np.int64, count=len(strings))
                text = to_bytes("".join(strings))
                yield _Raw(name, file, number, first_words, headers, lengths, text, n_gaps, n_stops)
                number += len(headers)


@contextlib.contextmanager
def _opened(source: AnySource) -> Iterator[tuple[Iterator[tuple[str, str]], str]]:
    """Open a source and return its records and its name."""
    if not isinstance(source, str | os.PathLike) and hasattr(source, "records"):
        with naming(str(source.name)):
            yield source.records(), str(source.name)
        return
    with open_lines(source) as (lines, name):
        yield iter_records(next(lines), lines), name


def _files(source: Sources) -> Sequence[AnySource]:
    """Return one or several sources as a sequence."""
    return source if isinstance(source, list | tuple) else [cast("AnySource", source)]


def _counts_of(source: Sources) -> dict[str, int]:
    """Return the counts of records left out by sources that are not FASTA files."""
    counts: dict[str, int] = {}
    for one in _files(source):
        for key, count in getattr(one, "counts", {}).items():
            counts[key] = counts.get(key, 0) + count
    return counts


def _name(source: AnySource) -> str:
    """Return the name of a source in messages."""
    return source_name(source) if isinstance(source, str | os.PathLike) else str(getattr(source, "name", "input"))


def _gather(records: Iterable[tuple[str, str]], chunk: int, strings: list[str]) -> list[str]:
    """Take records with about `chunk` letters from an iterator; append letters to `strings`, return the headers."""
    headers, size = [], 0
    for header, string in records:
        headers.append(header)
        strings.append(string)
        size += len(string) + RECORD_COST
        if size >= chunk:
            break
    return headers


def _strip(strings: list[str]) -> int:
    """Remove the gaps from strings in place; return the number of gaps."""
    before = sum(map(len, strings))
    strings[:] = [string.translate(NO_GAPS) for string in strings]
    return before - sum(map(len, strings))


# ---- codes -----------------------------------------------------------------------------------------------


def _encode(raw: _Raw, alphabet: Alphabet, policies: Policies) -> tuple[Codes, Ints, dict[str, int]]:
    """Return (codes of the records kept, their places in `raw`, counts) under the policies."""
    text, converted = (raw.text, {}) if policies.unknown == "error" else converted_bases(raw.text, alphabet)
    codes = alphabet.encode(text)
    letters = np.frombuffer(text, dtype=np.uint8)
    lower = int(np.count_nonzero((letters >= ord("a")) & (letters <= ord("z"))))
    counts = {"lower-case letters": lower, "gaps removed": raw.n_gaps, STOPS: raw.n_stops, **converted}
    keep = raw.lengths > 0
    if not keep.all():
        if policies.empty == "error":
            raise SequenceError(
                "has no sequence",
                file=raw.name,
                record=raw.record(int(np.argmin(keep)), policies.ids),
                remedy="remove the record, or add --empty skip",
            )
        counts["records without sequence left out"] = int(np.count_nonzero(~keep))
    stops = np.cumsum(raw.lengths)
    refused = first_refused(text, codes, alphabet, policies.unknown)
    if refused is not None:
        first = int(np.searchsorted(stops, refused, side="right"))
        position = int(refused - stops[first] + raw.lengths[first]) + 1
        record = raw.record(first, policies.ids)
        raise letter_error(chr(letters[refused]), position, alphabet, file=raw.name, record=record)
    if policies.unknown == "skip":
        left_out = np.unique(np.searchsorted(stops, np.flatnonzero(codes == MASK), side="right"))
        keep[left_out] = False
        counts["records with unknown letters left out"] = len(left_out)
    else:
        counts |= masked_counts(text, codes)
    if not keep.all():
        codes = codes[np.repeat(keep, raw.lengths)]
    return codes, np.flatnonzero(keep), {key: count for key, count in counts.items() if count}


def _guess(raws: list[_Raw], text: bytearray, ids: str) -> Alphabet:
    """Return the alphabet guessed from all letters; the error names the first record that matches no alphabet."""
    try:
        counts = count_letters(text)
        counts[[ord(gap) for gap in GAPS]] = 0  # of an alignment; refused later, with the remedy
        return guess_by_counts(counts)
    except SequenceError as error:
        for raw in _with_text(raws, text):
            odd = np.flatnonzero(PROTEIN.encode(raw.text) == MASK)
            if len(odd):
                record = int(np.searchsorted(np.cumsum(raw.lengths), odd[0], side="right"))
                error.file, error.record = raw.name, raw.record(record, ids)
                break
        raise


def _with_text(raws: list[_Raw], text: bytearray) -> Iterator[_Raw]:
    """Yield records with their text, which follow each other in `text`, and remove them from the list."""
    at = 0
    raws.reverse()
    while raws:
        raw = raws.pop()
        start, at = at, at + int(raw.lengths.sum())
        yield replace(raw, text=bytes(text[start:at]))


def _read(source: Sources, alphabet: str | Alphabet | None, policies: Policies, keep_headers: bool) -> Reading:
    """Read all records and return a Reading, whose headers are empty unless kept."""
    policies.check()
    raws: Iterable[_Raw] = _raw_chunks(source, policies, CHUNK, alphabet)
    text, end = bytearray(), 0  # codes up to `end`, then letters that wait for the alphabet
    if alphabet is None:
        held = []
        for raw in raws:
            text += raw.text
            held.append(replace(raw, text=b""))
        alphabet = _guess(held, text, policies.ids)
        raws = _with_text(held, text)
    alphabet = as_alphabet(alphabet)
    lengths, numbers, files = [], [], []
    first_words: list[str] = []
    headers: list[str] = []
    left_out: list[str] = []
    counts: dict[str, int] = {}
    for raw in raws:
        part, kept, touched = _encode(raw, alphabet, policies)
        text[end : end + len(part)] = part.data
        end += len(part)
        lengths.append(raw.lengths[kept])
        numbers.append(raw.before + kept)
        files.append(np.full(len(kept), raw.file))
        first_words += [raw.first_words[i] for i in kept]
        left_out += [raw.record(i, policies.ids) for i in np.setdiff1d(np.arange(len(raw.first_words)), kept)]
        headers += [raw.headers[i] for i in kept] if keep_headers else []
        for key, count in touched.items():
            counts[key] = counts.get(key, 0) + count
    counts |= _counts_of(source)
    where = ", ".join(map(_name, _files(source)))
    if not first_words:
        raise SequenceError(
            "every record was left out", file=where, remedy="correct the file, or change --unknown or --empty"
        )
    policy = policies.ids
    if policy == "file":
        names = file_names([_name(one) for one in _files(source)])
        first_words, several = ids_by_file(first_words, np.concatenate(files).tolist(), names)
        counts |= {"ids in several files, renamed FILE:ID": several} if several else {}
        policy = "header"
    ids: Ids
    ids, repeats = unique_ids(first_words, policy, file=where)
    if policies.ids == "number":
        read = np.concatenate(numbers)
        ids = RecordNumbers(range(1, len(read) + 1)) if read[-1] + 1 == len(read) else [str(i + 1) for i in read]
    if repeats:
        counts["repeated ids"] = repeats
    del text[end:]
    offsets = np.zeros(len(ids) + 1, dtype=np.int64)
    np.cumsum(np.concatenate(lengths), out=offsets[1:])
    sequences = SequenceSet.from_offsets(np.frombuffer(text, dtype=np.uint8), offsets, ids, alphabet, counts=counts)
    return Reading(sequences, headers, np.concatenate(files), left_out)
