"""Residue states as text: the known letters, and files with one state for each residue.

Two formats are read: FASTA with states in place of residues, under the ids of the sequences; and files with residues
and states together, as in JPred (``>id``, a line of residues, a line of states of the same length; both may be
broken into several lines).
"""

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ConfigError, SequenceError, check_known, naming
from seqkern.core.text_files import open_lines, source_name
from seqkern.core.types import Codes, PathLike, Source
from seqkern.formats.residues import STATES
from seqkern.sequences.alphabets import MASK, to_bytes
from seqkern.sequences.fasta import Reading, read_records
from seqkern.sequences.sequence_set import SequenceSet, first_difference

DSSP = "HECGIBTSP"
"""The known states, in the order of their classes."""
COIL = "L-_."
"""Further letters for coil."""
UNKNOWN = "?"
REMEDY = "use H, E and C, or DSSP's H B E G I T S P; for coil also - _ L or .; ? for an unknown state"
OF_PROTEINS = frozenset("ADFKMNQRVWY")
"""Amino acids whose letters are not states; text with some of them is a sequence."""
LEFT_OUT = "chains with states but no sequence left out"


@dataclass(frozen=True)
class StateRecord:
    """One record of a states file: its header without ``>`` and the lines below it."""

    header: str  # The header line without ``>``
    lines: tuple[str, ...]  # The lines below it

    @property
    def id(self) -> str:
        """The first word of the header."""
        return self.header.split(None, 1)[0] if self.header.strip() else ""

    def halves(self) -> tuple[str, str]:
        """Return residues and states of a record that contains both."""
        text = "".join(self.lines)
        letters, states = self.lines if len(self.lines) == 2 else (text[: len(text) // 2], text[len(text) // 2 :])
        if letters.endswith("*") and states.endswith("*"):  # as in RS126
            letters, states = letters[:-1], states[:-1]
        if len(letters) != len(states):
            raise SequenceError(
                f"has {len(letters)} residues and {len(states)} states"
                if len(self.lines) == 2
                else f"its {len(text)} characters are not residues followed by as many states",
                record=self.id,
                remedy="give a line >id, the residues, and one state for each residue",
            )
        return letters, states


def read_state_records(source: Source) -> tuple[list[StateRecord], str]:
    """Read the records of a states file; return them with the file's name for messages."""
    records: list[tuple[str, list[str]]] = []
    with open_lines(source) as (lines, name):
        for line in map(str.strip, lines):
            if line.startswith(">"):
                records.append((line[1:], []))
            elif line and not records:
                raise SequenceError(f"its first line is {line[:40]!r}", remedy="start each record with a line '>id'")
            elif line:
                records[-1][1].append(line)
    return [StateRecord(header, tuple(lines)) for header, lines in records], name


def read_letters_and_states(source: Source, *, classes: Iterable[object] = (), **policies: Any) -> Reading:
    r"""Read a file of residues and states together, as a Reading with the track ``states``.

    >>> import io
    >>> from seqkern.formats.states import read_letters_and_states
    >>> X = read_letters_and_states(io.StringIO(">1abc\nMKVLA\n-EEE-\n"), alphabet="protein").sequences
    >>> X.strings(), bytes(X.tracks["states"]).decode()
    (['MKVLA'], 'CEEEC')
    """
    records, name = read_state_records(source)
    nameless = next((i for i, record in enumerate(records, start=1) if not record.header.strip()), None)
    if nameless is not None and policies.get("ids") != "number":
        raise SequenceError(f"header {nameless} has no id", file=name, remedy="write '>id', or add --ids number")
    with naming(name):
        halves = [record.halves() for record in records]
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
    """Return sequences with the track ``states``, read from a file.

    If the file also contains residues, they are compared with the sequences.
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
    """Return sequences with the track ``states``, as `add_states`, from records already read."""
    with naming(file):
        found = {record.id: record for record in records}
        if len(found) < len(records):
            ids = [record.id for record in records]
            twice = next(key for i, key in enumerate(ids) if key in ids[:i])
            raise SequenceError("has states twice", record=twice, remedy="remove one of the records")
        known = set(X.ids) | set(left_out)
        strange = [key for key in found if key not in known]
        lacking = next((key for key in X.ids if key not in found), None)
        if lacking is not None and strange:  # ids written differently, rather than missing
            raise SequenceError(
                f"has states but no sequence ({len(known & set(found))} of the {len(found)} ids in this file are "
                f"among the {len(X)} sequences)), and {lacking!r} has no states",
                record=strange[0],
                remedy="use the same ids for states and sequences",
            )
        if lacking is not None:
            raise SequenceError("has no states", record=lacking, remedy="add its states, or ? for each residue")
        texts = [_states_of(X, i, found[key]) for i, key in enumerate(X.ids)]
        X = with_states(X, texts, file, classes)
    return X.replace(counts=X.counts | {LEFT_OUT: len(strange)}) if strange else X


def _states_of(X: SequenceSet, i: int, record: StateRecord) -> str:
    """Return the states of record i, after comparing any residues given with them with the sequence."""
    text, length = "".join(record.lines), int(X.stops[i] - X.starts[i])
    two_lines = len(record.lines) == 2 and len(record.lines[0]) == length
    stars = 2 * text.endswith("*")
    if len(text) == 2 * length + stars or (two_lines and len(text) > length):
        letters, states = record.halves()
        odd = first_difference(X, i, letters)
        if odd is not None:
            problem = f"residue {letters[odd]!r} at position {odd + 1} is {X.string(i)[odd]!r} in the sequence"
            raise SequenceError(problem, record=record.id, remedy="give the states of this sequence")
        return states
    if len(text) != length:
        remedy = "give one state for each residue"
        if looks_like_letters(text):
            remedy = f"{remedy}; this looks like a file of sequences"
        elif 2 * len(text) == length:
            remedy = "if the FASTA holds residues and states together, also give it as the file of states"
        problem = f"has {len(text)} states, but its sequence has length {length}"
        raise SequenceError(problem, record=record.id, remedy=remedy)
    return text


def with_states(
    X: SequenceSet, texts: Sequence[str], file: Source | None = None, classes: Iterable[object] = ()
) -> SequenceSet:
    """Return sequences with the track ``states`` added."""
    table = state_table(classes)
    track = np.zeros(len(X.codes), dtype=np.uint8)
    for i, text in enumerate(texts):
        with naming(None if file is None else source_name(file), X.ids[i]):
            length = int(X.stops[i] - X.starts[i])
            if len(text) != length:
                problem = f"has {len(text)} states, but its sequence has length {length}"
                raise SequenceError(problem, remedy="give one state for each residue")
            states = table[np.frombuffer(to_bytes(text), dtype=np.uint8)]
            odd = np.flatnonzero(states == MASK)
            if len(odd):
                remedy = f"{REMEDY}; this looks like a file of sequences" if looks_like_letters(text) else REMEDY
                raise SequenceError(f"unknown state {text[odd[0]]!r} at position {odd[0] + 1}", remedy=remedy)
        track[X.starts[i] : X.stops[i]] = states
    return X.replace(tracks={**X.tracks, STATES: track})


def looks_like_letters(text: str) -> bool:
    """Return whether a text that should contain states is an amino-acid sequence."""
    return len(OF_PROTEINS.intersection(text.upper())) > 2


def state_table(classes: Iterable[object] = ()) -> Codes:
    """Return the state of each byte, shape (256,): an ASCII letter, 0 if unknown, `MASK` for other characters."""
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
    """Return the states that occur: H, E and C first, then DSSP's others, then any others.

    >>> import numpy as np
    >>> from seqkern.formats.states import state_classes
    >>> state_classes(np.frombuffer(b"CCTTHHEE", dtype=np.uint8))
    ['H', 'E', 'C', 'T']
    """
    found = [chr(code) for code in np.unique(states) if code]
    return sorted(found, key=lambda letter: (DSSP.find(letter) % 256, letter))


# Named reductions of DSSP's eight states to helix, strand and coil.
#
# DSSP's letters: H α-helix, G 3₁₀-helix, I π-helix, E strand, B isolated bridge, T turn, S bend, P (since DSSP 4) helix
# of polyproline, and none (``-`` or C here) for the rest. Methods use different reductions, which change Q3 by
# some points (Cuff and Barton, Proteins 34:508, 1999): scores are comparable under one reduction only.

HELIX, STRAND, REDUCTIONS_COIL = (ord(letter) for letter in "HEC")


@dataclass(frozen=True)
class Reduction:
    """A named reduction of DSSP's eight states to three; short runs of helix or strand may become coil."""

    name: str  # Its name in configurations
    helix: str  # The states that become H and E; all others become C
    strand: str  # The states that become H and E; all others become C
    source: str  # Source of the reduction
    shortest: tuple[int, int] = (1, 1)  # Shorter runs of helix, and of strand, become coil afterwards


REDUCTIONS = {
    item.name: item
    for item in (
        Reduction(
            "HGI_EB",
            "HGI",
            "EB",
            "the assessment of CASP (Moult and others, Proteins Suppl. 3:2, 1999); the three states of cb513",
        ),
        Reduction(
            "HGI_E",
            "HGI",
            "E",
            "the states of rs126 (Rost and Sander, J. Mol. Biol. 232:584, 1993): isolated bridges are coil",
        ),
        Reduction(
            "HG_EB",
            "HG",
            "EB",
            "method A of Cuff and Barton (Proteins 34:508, 1999); PSIPRED (Jones, J. Mol. Biol. 292:195, 1999)",
        ),
        Reduction(
            "H_EB",
            "H",
            "EB",
            "the states of jpred4 (Drozdetskiy, Cole, Procter, Barton, Nucleic Acids Res. 43:W389, 2015)",
        ),
        Reduction("H_E", "H", "E", "the strictest: α-helix and strand only"),
        Reduction(
            "frishman_argos",
            "H",
            "E",
            "Frishman and Argos (Proteins 27:329, 1997), method B of Cuff and Barton (1999): helices of up to four and "
            "strands of up to two residues are coil too",
            (5, 3),
        ),
    )
}


def find_reduction(name: str) -> Reduction:
    """Return the reduction of a name in `REDUCTIONS`."""
    check_known("reduction of states", [name], REDUCTIONS)
    return REDUCTIONS[name]


def reduce_states(
    states: Codes, stops: npt.ArrayLike, name: str, file: PathLike | None = None, needed: bool = True
) -> Codes:
    """Return states reduced to H, E and C; unknown states stay 0."""
    reduction = find_reduction(name)
    eight = np.isin(states, [0, HELIX, STRAND, REDUCTIONS_COIL], invert=True)
    if needed and reduction.shortest == (1, 1) and not eight.any():
        raise ConfigError(
            f"reduction={name!r} has nothing to reduce: the states are H, E and C already",
            file=file,
            remedy="remove reduction, or give DSSP's eight states",
        )
    table = np.full(256, REDUCTIONS_COIL, dtype=np.uint8)
    table[0] = 0
    table[[ord(letter) for letter in reduction.helix]] = HELIX
    table[[ord(letter) for letter in reduction.strand]] = STRAND
    reduced = table[states]
    if reduction.shortest != (1, 1) and len(reduced):
        first = np.concatenate(([True], reduced[1:] != reduced[:-1]))
        first[np.asarray(stops)[:-1]] = True
        begins = np.flatnonzero(first)
        lengths = np.diff(np.append(begins, len(reduced)))
        shortest = np.zeros(256, dtype=np.int64)
        shortest[[HELIX, STRAND]] = reduction.shortest
        reduced[np.repeat(lengths < shortest[reduced[begins]], lengths)] = REDUCTIONS_COIL
    return reduced
