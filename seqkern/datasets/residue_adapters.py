"""Readers for the public sets of chains with residue states, which become the track ``states``.

Each takes a dict of role to path and the reading policies, and returns `Parts`, like those in `adapters`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from seqkern.core.errors import SequenceError
from seqkern.core.text_files import open_lines
from seqkern.core.types import PathLike
from seqkern.datasets.adapters import Parts, Paths, encoded
from seqkern.datasets.label_sources import columns_of_headers
from seqkern.residues.states import read_letters_and_states, read_state_records, with_states


def rs126(paths: Paths, policies: dict[str, Any]) -> Parts:
    """Residues, then states H, E, T and C, each ending in ``*``; turns count as coil.

    The chains 1PRC-C, -H, -L and -M of a membrane complex are left out: the other 126 are the set of Rost and
    Sander.

    Parameters
    ----------
    paths : mapping of str to path-like
        The file ``states``.
    policies : dict of str to str
        As for `seqkern.sequences.fasta.read_fasta`.

    Returns
    -------
    Parts
        Without columns.

    Raises
    ------
    SequenceError
        If a record does not consist of residues and states.
    """
    records, name = read_state_records(paths["states"])
    ids, letters, states = [], [], []
    for record in records:
        parts = "".join(record.lines).split("*")
        if len(parts) != 3 or parts[2]:
            raise SequenceError(
                "does not consist of residues and states, each ending in *",
                file=name,
                record=record.id,
                remedy="correct the record",
            )
        if not record.id.startswith("1PRC-"):
            ids.append(record.id[:6])
            letters.append(parts[0])
            states.append(parts[1].replace("T", "C"))
    X, kept = encoded(ids, letters, policies, name)
    return Parts(with_states(X, [states[i] for i in kept], name), {})


def cb513(paths: Paths, policies: dict[str, Any]) -> Parts:
    """A table with residues, three and eight states, and a mask; the three states are used.

    Parameters
    ----------
    paths : mapping of str to path-like
        The file ``table``.
    policies : dict of str to str
        As for `seqkern.sequences.fasta.read_fasta`.

    Returns
    -------
    Parts
        With the column ``group``.
    """
    return _cb513(paths, policies, "dssp3")


def cb513_dssp(paths: Paths, policies: dict[str, Any]) -> Parts:
    """The same table; DSSP's eight states are used.

    Parameters
    ----------
    paths : mapping of str to path-like
        The file ``table``.
    policies : dict of str to str
        As for `seqkern.sequences.fasta.read_fasta`.

    Returns
    -------
    Parts
        With the column ``group``.
    """
    return _cb513(paths, policies, "dssp8")


def _cb513(paths: Paths, policies: dict[str, Any], column: str) -> Parts:
    """Read the columns ``input``, ``cb513_mask`` and one of states: cells of values separated by blanks.

    Residues with mask 1 are used. The rows of one chain, parts of it under different masks, form one group.
    """
    path = paths["table"]
    with open_lines(path) as (lines, name):
        header, *rows = ([cell.split() for cell in line.split(",")] for line in lines if line.strip())
    place = {cell[0]: j for j, cell in enumerate(header)}
    letters, states, groups = [], [], []
    number: dict[str, int] = {}
    for row, cells in enumerate(rows, start=1):
        chain, own, mask = (cells[place[key]] for key in ("input", column, "cb513_mask"))
        if not len(chain) == len(own) == len(mask):
            lengths = f"{len(chain)} residues, {len(own)} states and {len(mask)} mask values"
            raise SequenceError(
                f"has {lengths}",
                file=name,
                record=str(row),
                remedy="give one state and one mask value for each residue",
            )
        letters.append("".join(chain))
        states.append("".join(state if float(seen) else "?" for state, seen in zip(own, mask, strict=True)))
        groups.append(str(number.setdefault(letters[-1], len(number) + 1)))
    X, kept = encoded([str(i) for i in range(1, len(rows) + 1)], letters, policies, name)
    return Parts(with_states(X, [states[i] for i in kept], name), {"group": [groups[i] for i in kept]})


def jpred4(paths: Paths, policies: dict[str, Any]) -> Parts:
    """Residues and states in two lines, the official fold as ``fold=`` in the header; ``-`` is coil.

    Parameters
    ----------
    paths : mapping of str to path-like
        The file ``states``.
    policies : dict of str to str
        As for `seqkern.sequences.fasta.read_fasta`.

    Returns
    -------
    Parts
        With the column ``fold``.
    """
    reading = read_letters_and_states(paths["states"], **policies)
    return Parts(reading.sequences, columns_of_headers(reading, {"fold": "fold"}, paths["states"]))


def qian_sejnowski(paths: Paths, policies: dict[str, Any]) -> Parts:
    """Lines of a residue and a state (h, e or _), a chain between ``<>`` and ``<end>`` or the next ``<>``; two files.

    Parameters
    ----------
    paths : mapping of str to path-like
        The files ``train`` and ``test``.
    policies : dict of str to str
        As for `seqkern.sequences.fasta.read_fasta`.

    Returns
    -------
    Parts
        With the column ``split``.

    Raises
    ------
    SequenceError
        If a line is not a residue and a state.
    """
    ids, letters, states, split = [], [], [], []
    for part in ("train", "test"):
        for number, pairs in enumerate(_letters_in_lines(paths[part]), start=1):
            ids.append(f"{part}{number}")
            letters.append("".join(letter for letter, _ in pairs))
            states.append("".join(state for _, state in pairs))
            split.append(part)
    X, kept = encoded(ids, letters, policies, ", ".join(map(str, paths.values())))
    return Parts(with_states(X, [states[i] for i in kept], paths["train"]), {"split": [split[i] for i in kept]})


def _letters_in_lines(path: PathLike) -> Iterator[list[list[str]]]:
    """Yield the (residue, state) pairs of each chain of a file of lines."""
    with open_lines(path) as (lines, name):
        chain: list[list[str]] = []
        for number, line in enumerate(lines, start=1):
            cells = line.split("#")[0].split()
            if cells in (["<>"], ["<end>"], ["end"]):
                if chain:
                    yield chain
                chain = []
            elif len(cells) == 2 and len(cells[0]) == len(cells[1]) == 1:
                chain.append(cells)
            elif cells:
                raise SequenceError(f"line {number} is not a residue and a state", file=name, remedy="correct the line")
        if chain:
            yield chain


RESIDUE_ADAPTERS: dict[str, Callable[[Paths, dict[str, Any]], Parts]] = {
    function.__name__: function for function in (rs126, cb513, cb513_dssp, jpred4, qian_sejnowski)
}
