"""Seeded generators of sequences whose truth is known: the embedded demo and the property tests.

``"donor"``
    Windows around 5' splice sites, drawn from published position frequencies, and decoys with a GT at the
    same place (`donors`).
``"superfamilies"``
    Proteins evolved along trees with a published exchange matrix, insertions and deletions; a family that is
    held out is a remote homologue of the other families of its superfamily (`superfamilies`).

``"genome"``
    Chromosomes with donor sites on both strands, and a table of sites: to cut windows from, and to scan (`genome`).

``"secondary_structure"``
    Protein chains of helices, strands and coil, with the state of each residue as the track ``states`` (`chains`).

`simulate` finds the generator by the name of its kind; its signature is the list of parameters.
"""

import importlib
import inspect
from dataclasses import dataclass
from pathlib import Path

from seqkern.core.archive import atomic_write, check_writable
from seqkern.core.checks import check_integer
from seqkern.core.errors import ParameterError, unknown_name
from seqkern.residues.residues import STATES
from seqkern.sequences.sequence_set import SequenceSet

KINDS = {
    "donor": "donors:donor_windows",
    "superfamilies": "superfamilies:protein_superfamilies",
    "genome": "genome:donor_genome",
    "secondary_structure": "chains:secondary_structure_chains",
}
_LINE = 60


@dataclass(frozen=True)
class Simulated:
    """Generated sequences and what is known of them.

    Attributes
    ----------
    sequences : SequenceSet
    table : dict of str to list
        Columns with one value for each sequence: ``label`` (``"donor"`` or ``"decoy"``), or ``superfamily``
        and ``family``, or the ``class`` of a chain. Of a genome, one for each site: ``record``, ``position``,
        ``strand``, ``label``.
    """

    sequences: SequenceSet
    table: dict

    @property
    def of_sites(self):
        """Whether the rows of the table are sites on the sequences."""
        return "record" in self.table


def find_generator(kind):
    """Return the generating function of a kind; its keyword-only arguments are the parameters.

    Raises
    ------
    ParameterError
        If there is no such kind.
    """
    if kind not in KINDS:
        raise unknown_name("kind of simulated data", kind, KINDS)
    module, _, name = KINDS[kind].partition(":")
    return getattr(importlib.import_module(f".{module}", __name__), name)


def parameters(kind):
    """Return the parameters of a kind with their defaults, as a dict.

    Raises
    ------
    ParameterError
        If there is no such kind.
    """
    signature = inspect.signature(find_generator(kind))
    return {name: p.default for name, p in signature.parameters.items() if p.kind is p.KEYWORD_ONLY}


def simulate(kind, seed=1, **params):
    """Generate sequences; the same arguments give the same sequences.

    Parameters
    ----------
    kind : {"donor", "superfamilies", "genome", "secondary_structure"}
    seed : int
    **params
        Parameters of the kind; see `donors.donor_windows`, `superfamilies.protein_superfamilies`,
        `genome.donor_genome` and `chains.secondary_structure_chains`.

    Returns
    -------
    Simulated

    Raises
    ------
    ParameterError
        For an unknown kind or parameter (with the nearest name), or a value outside its domain.

    Examples
    --------
    >>> data = simulate("donor", seed=1, n_positive=2, n_decoy=2, left=3, right=6)
    >>> data.table["label"]
    ['donor', 'donor', 'decoy', 'decoy']
    >>> [window[3:5] for window in data.sequences.strings()]
    ['GT', 'GT', 'GT', 'GT']
    """
    import numpy as np

    known = parameters(kind)
    for name in params:
        if name not in known:
            raise unknown_name(f"parameter of {kind!r}", name, known)
    check_integer("seed", seed, 0)
    return Simulated(*find_generator(kind)(np.random.default_rng(seed), **params))


def write_simulated(data, prefix):
    """Write ``PREFIX.fasta`` (the table's columns as header fields) and ``PREFIX.tsv`` (id, columns), or of sites.

    States of residues go to ``PREFIX.states``, FASTA with a state in place of each letter.

    Parameters
    ----------
    data : Simulated
    prefix : path-like
        Path without an ending.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    FileError
        If a file cannot be written; then none is left half-written.
    """
    text, prefix = str(prefix), Path(prefix)
    if text.endswith("/") or prefix.name in ("", ".."):
        raise ParameterError(f"{text!r} names no file", remedy="give the files' path without an ending")
    endings = (".fasta", ".tsv", *([f".{STATES}"] if STATES in data.sequences.tracks else []))
    paths = [prefix.with_name(prefix.name + ending) for ending in endings]
    for path in paths:
        check_writable(path)
    with atomic_write(paths[0], "w") as fasta:
        for name, string, fields in zip(data.sequences.ids, data.sequences.strings(), _rows(data), strict=True):
            print(f">{name}", *(f"{column}={value}" for column, value in fields), file=fasta)
            _print_lines(string, fasta)
        fasta.flush()  # a full disk shows here, before the second file is there
        with atomic_write(paths[1], "w") as tsv:
            columns = data.table if data.of_sites else {"id": data.sequences.ids, **data.table}
            print(*columns, sep="\t", file=tsv)
            for values in zip(*columns.values(), strict=True):
                print(*values, sep="\t", file=tsv)
    if len(paths) > 2:
        _write_states(paths[2], data.sequences)
    return paths


def _print_lines(string, file):
    """Print a string in lines."""
    for start in range(0, len(string), _LINE):
        print(string[start : start + _LINE], file=file)


def _write_states(path, X):
    """Write the states of residues as FASTA."""
    with atomic_write(path, "w") as file:
        for name, start, stop in zip(X.ids, X.starts, X.stops, strict=True):
            print(f">{name}", file=file)
            _print_lines(X.tracks[STATES][start:stop].tobytes().decode("ascii"), file)


def _rows(data):
    """Yield the table's row of each sequence as pairs of column and value; none where it has rows of sites."""
    if data.of_sites:
        yield from ([] for _ in data.sequences.ids)
        return
    for values in zip(*data.table.values(), strict=True):
        yield list(zip(data.table, values, strict=True))
