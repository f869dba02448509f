"""States of residues as text: the known letters, and files with one state for each residue.

Two formats are read: FASTA with states in place of residues and the ids of the sequences; and files with
residues and states together, as in JPred (``>id``, a line of residues, a line of states of the same length; both may be
broken into several lines).
"""

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import SequenceError
from seqkern.core.text_files import open_lines, source_name
from seqkern.core.types import Source
from seqkern.residues.residues import STATES
from seqkern.sequences.alphabets import MASK, to_bytes
from seqkern.sequences.fasta import Reading, read_records
from seqkern.sequences.sequence_set import SequenceSet

DSSP = "HECGIBTSP"
"""The known states, in the order of their classes."""
COIL = "L-_."
"""Further letters for coil."""
UNKNOWN = "?"
REMEDY = "use H, E and C, or DSSP's H B E G I T S P; for coil also - _ L or .; ? for an unknown state"
OF_PROTEINS = frozenset("ADFKMNQRVWY")
"""Amino acids whose letters are not states: text with some of them is a sequence."""
LEFT_OUT = "chains with states but no sequence left out"


@dataclass(frozen=True)
class StateRecord:
    """One record of a file of states.

    Attributes
    ----------
    header : str
        The header line without ``>``.
    lines : tuple of str
        The lines below it.

    Examples
    --------
    >>> from seqkern.residues.states import StateRecord
    >>> record = StateRecord("1abc globin", ("MKVLA", "CEEEC"))
    >>> record.id, record.halves("states.fa")
    ('1abc', ('MKVLA', 'CEEEC'))
    """

    header: str
    lines: tuple[str, ...]

    @property
    def id(self) -> str:
        """The first word of the header."""
        return self.header.split(None, 1)[0] if self.header.strip() else ""

    def halves(self, file: str | None) -> tuple[str, str]:
        """Return residues and states of a record that contains both.

        Parameters
        ----------
        file : str
            Used in messages.

        Returns
        -------
        letters : str
            One letter for each residue.
        states : str
            One state for each residue.

        Raises
        ------
        SequenceError
            If their lengths differ.
        """
        text = "".join(self.lines)
        letters, states = self.lines if len(self.lines) == 2 else (text[: len(text) // 2], text[len(text) // 2 :])
        if letters.endswith("*") and states.endswith("*"):  # as in RS126
            letters, states = letters[:-1], states[:-1]
        if len(letters) != len(states):
            raise SequenceError(
                f"has {len(letters)} residues and {len(states)} states"
                if len(self.lines) == 2
                else f"its {len(text)} characters are not residues followed by as many states",
                file=file,
                record=self.id,
                remedy="give a line >id, the residues, and one state for each residue",
            )
        return letters, states


def read_state_records(source: Source) -> tuple[list[StateRecord], str]:
    """Read the records of a file of states.

    Parameters
    ----------
    source : path-like or file object
        Plain text or compressed.

    Returns
    -------
    records : list of StateRecord
        In the order of the file.
    name : str
        Name of the file in messages.

    Raises
    ------
    FileError, SequenceError
        If the file cannot be read, is empty, or does not start with ``>``.
    """
    records: list[tuple[str, list[str]]] = []
    with open_lines(source) as (lines, name):
        for line in map(str.strip, lines):
            if line.startswith(">"):
                records.append((line[1:], []))
            elif line and not records:
                raise SequenceError(
                    f"its first line is {line[:40]!r}", file=name, remedy="start each record with a line '>id'"
                )
            elif line:
                records[-1][1].append(line)
    return [StateRecord(header, tuple(lines)) for header, lines in records], name


def read_letters_and_states(source: Source, *, classes: Iterable[object] = (), **policies: Any) -> Reading:
    r"""Read a file of residues and states together.

    Parameters
    ----------
    source : path-like or file object
        Plain text or compressed.
    classes : iterable of str
        Letters of states besides the known ones.
    **policies : str
        `alphabet`, `unknown`, `ids` and `empty`, as for `seqkern.sequences.fasta.read_records`.

    Returns
    -------
    Reading
        With the track ``states``.

    Raises
    ------
    FileError, SequenceError
        If the file cannot be read, residues and states differ in length, or a letter or state is unknown.

    Examples
    --------
    >>> import io
    >>> from seqkern.residues.states import read_letters_and_states
    >>> X = read_letters_and_states(io.StringIO(">1abc\nMKVLA\n-EEE-\n"), alphabet="protein").sequences
    >>> X.strings(), bytes(X.tracks["states"]).decode()
    (['MKVLA'], 'CEEEC')
    """
    records, name = read_state_records(source)
    nameless = next((i for i, record in enumerate(records, start=1) if not record.header.strip()), None)
    if nameless is not None and policies.get("ids") != "number":
        raise SequenceError(f"header {nameless} has no id", file=name, remedy="write '>id', or add --ids number")
    halves = [record.halves(name) for record in records]
    # the record number shows whether a record was kept
    headers = [f"{record.header} {row}" for row, record in enumerate(records)]
    text = io.StringIO("".join(f">{header}\n{pair[0]}\n" for header, pair in zip(headers, halves, strict=True)))
    text.name = name
    reading = read_records(text, **policies)
    kept = [int(header.split()[-1]) for header in reading.headers]
    X = with_states(reading.sequences, [halves[row][1] for row in kept], name, classes)
    return replace(reading, sequences=X, headers=[records[row].header for row in kept])


def add_states(
    X: SequenceSet, source: Source, *, left_out: Iterable[str] = (), classes: Iterable[object] = ()
) -> SequenceSet:
    r"""Return sequences with the track ``states``, from a file.

    Parameters
    ----------
    X : SequenceSet
        Proteins.
    source : path-like or file object
        FASTA of states with the ids of `X`, or residues and states together; residues are then compared with
        `X`. Records with other ids are ignored and counted.
    left_out : iterable of str
        Ids of left-out sequences, which are not counted.
    classes : iterable of str
        Letters of states besides the known ones.

    Returns
    -------
    SequenceSet

    Raises
    ------
    FileError, SequenceError
        If the file cannot be read, a sequence has no states, lengths or residues differ, or a state is unknown.

    Examples
    --------
    >>> import io
    >>> from seqkern import SequenceSet
    >>> from seqkern.residues.states import add_states
    >>> X = SequenceSet.from_strings(["MKVLA"], "protein", ids=["1abc"])
    >>> bytes(add_states(X, io.StringIO(">1abc\nCEEEC\n")).tracks["states"]).decode()
    'CEEEC'
    """
    return match_states(X, *read_state_records(source), left_out=left_out, classes=classes)


def match_states(
    X: SequenceSet,
    records: Sequence[StateRecord],
    file: str,
    *,
    left_out: Iterable[str] = (),
    classes: Iterable[object] = (),
) -> SequenceSet:
    """Return the result of `add_states` for records already read.

    Parameters
    ----------
    X, left_out, classes
        As for `add_states`.
    records : sequence of StateRecord
        The records of a file of states.
    file : str
        Name of the file in messages.

    Returns
    -------
    SequenceSet

    Raises
    ------
    SequenceError
        As for `add_states`.
    """
    found = {record.id: record for record in records}
    if len(found) < len(records):
        ids = [record.id for record in records]
        twice = next(key for i, key in enumerate(ids) if key in ids[:i])
        raise SequenceError("has states twice", file=file, record=twice, remedy="remove one of the records")
    known = set(X.ids) | set(left_out)
    strange = [key for key in found if key not in known]
    lacking = next((key for key in X.ids if key not in found), None)
    if lacking is not None and strange:  # ids written differently, rather than missing
        raise SequenceError(
            f"has states but no sequence ({len(known & set(found))} of the {len(found)} ids in this file are among the "
            f"{len(X)} sequences)), and {lacking!r} has no states",
            file=file,
            record=strange[0],
            remedy="use the same ids for states and sequences",
        )
    texts = []
    for i, key in enumerate(X.ids):
        if key not in found:
            raise SequenceError("has no states", file=file, record=key, remedy="add its states, or ? for each residue")
        texts.append(_states_of(X, i, found[key], file))
    X = with_states(X, texts, file, classes)
    return X.replace(counts=X.counts | {LEFT_OUT: len(strange)}) if strange else X


def _states_of(X: SequenceSet, i: int, record: StateRecord, file: str) -> str:
    """Return the states of record i; residues given with them are compared with the sequence."""
    text, length = "".join(record.lines), int(X.stops[i] - X.starts[i])
    two_lines = len(record.lines) == 2 and len(record.lines[0]) == length
    stars = 2 * text.endswith("*")
    if len(text) == 2 * length + stars or (two_lines and len(text) > length):
        letters, states = record.halves(file)
        mine, theirs = X.codes[X.starts[i] : X.stops[i]], X.alphabet.encode(to_bytes(letters))
        odd = np.flatnonzero((mine != theirs) & (mine != MASK) & (theirs != MASK))
        if len(odd):
            raise SequenceError(
                f"residue {letters[odd[0]]!r} at position {odd[0] + 1} is {X.string(i)[odd[0]]!r} in the sequence",
                file=file,
                record=record.id,
                remedy="give the states of this sequence",
            )
        return states
    if len(text) != length:
        remedy = "give one state for each residue"
        if looks_like_letters(text):
            remedy = f"{remedy}; this looks like a file of sequences"
        elif 2 * len(text) == length:
            remedy = "if the FASTA holds residues and states together, also give it as the file of states"
        raise SequenceError(
            f"has {len(text)} states, but its sequence has length {length}", file=file, record=record.id, remedy=remedy
        )
    return text


def with_states(
    X: SequenceSet, texts: Sequence[str], file: Source | None = None, classes: Iterable[object] = ()
) -> SequenceSet:
    """Return sequences with the track ``states`` added.

    Parameters
    ----------
    X : SequenceSet, n records
        Proteins.
    texts : sequence of str, length n
        One character for each residue of each record.
    file : path-like, optional
        Used in messages.
    classes : iterable of str
        Letters of states besides the known ones.

    Returns
    -------
    SequenceSet
        The track is uint8, ASCII letters; 0 for unknown states.

    Raises
    ------
    SequenceError
        If the number of states differs from the length of a record, or a state is unknown.
    """
    table = state_table(classes)
    track = np.zeros(len(X.codes), dtype=np.uint8)
    for i, text in enumerate(texts):
        where = {"file": source_name(file) if file is not None else None, "record": X.ids[i]}
        length = int(X.stops[i] - X.starts[i])
        if len(text) != length:
            raise SequenceError(
                f"has {len(text)} states, but its sequence has length {length}",
                **where,
                remedy="give one state for each residue",
            )
        states = table[np.frombuffer(to_bytes(text), dtype=np.uint8)]
        odd = np.flatnonzero(states == MASK)
        if len(odd):
            raise SequenceError(
                f"unknown state {text[odd[0]]!r} at position {odd[0] + 1}",
                **where,
                remedy=f"{REMEDY}; this looks like a file of sequences" if looks_like_letters(text) else REMEDY,
            )
        track[X.starts[i] : X.stops[i]] = states
    return X.replace(tracks={**X.tracks, STATES: track})


def looks_like_letters(text: str) -> bool:
    """Return whether a text, expected to be of states, is an amino-acid sequence.

    Parameters
    ----------
    text : str
        States, or amino acids.

    Returns
    -------
    bool
    """
    return len(OF_PROTEINS.intersection(text.upper())) > 2


def state_table(classes: Iterable[object] = ()) -> npt.NDArray[np.uint8]:
    """Return the state that each character stands for.

    Parameters
    ----------
    classes : iterable of str
        Letters of states besides the known ones.

    Returns
    -------
    ndarray of uint8, shape (256,)
        An ASCII letter; 0 for an unknown state, `MASK` for other characters.
    """
    table = np.full(256, MASK, dtype=np.uint8)
    for letter in DSSP:
        table[ord(letter)] = table[ord(letter.lower())] = ord(letter)
    for letter in COIL:
        table[ord(letter)] = table[ord(letter.lower())] = ord("C")
    table[ord(UNKNOWN)] = 0
    for letter in map(str, classes):
        if len(letter) == 1 and letter.isascii():
            table[ord(letter)] = ord(letter)
    return table


def state_classes(states: npt.ArrayLike) -> list[str]:
    """Return the states that occur.

    Parameters
    ----------
    states : array_like of uint8
        ASCII letters; 0 is ignored.

    Returns
    -------
    list of str
        H, E and C first, then DSSP's others, then any others.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.residues.states import state_classes
    >>> state_classes(np.frombuffer(b"CCTTHHEE", dtype=np.uint8))
    ['H', 'E', 'C', 'T']
    """
    found = [chr(code) for code in np.unique(states) if code]
    return sorted(found, key=lambda letter: (DSSP.find(letter) % 256, letter))
