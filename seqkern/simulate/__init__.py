"""Seeded generators of sequences with known truth, for the demo and for tests.

`simulate` finds the generator by its kind; its keyword arguments are the parameters. `KINDS` has the kinds: splice
sites and genes are in `splicing`, proteins in `proteins`, peaks in `peaks` and a fitness landscape in `nk_landscape`.
"""

import contextlib
import importlib
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from seqkern.core.archive import atomic_write, check_writable
from seqkern.core.checks import check_integer
from seqkern.core.errors import ParameterError, check_known
from seqkern.core.exclusive_files import exclusive_folder, exclusive_paths
from seqkern.core.types import PathLike
from seqkern.formats.annotation import gtf_line
from seqkern.formats.residues import STATES
from seqkern.sequences.sequence_set import SequenceSet, sequence_views
from seqkern.simulate.peaks import Planted

KINDS = {
    "donor": "splicing:donor_windows",
    "superfamilies": "proteins:protein_superfamilies",
    "genome": "splicing:donor_genome",
    "genes": "splicing:annotated_genes",
    "peaks": "peaks:peak_genome",
    "secondary_structure": "proteins:secondary_structure_chains",
    "landscape": "nk_landscape:nk_variants",
    "receptors": "proteins:paired_receptors",
}
SEQUENCE_VIEWS = {"receptors": ("alpha", "beta")}
"""The sequence views of kinds whose samples have several sequences."""
_LINE = 60

Table = Mapping[str, Sequence[str | int]]
"""Columns of values by name."""
Generator = Callable[..., tuple[SequenceSet, Table] | tuple[SequenceSet, Table, Planted]]


@dataclass(frozen=True)
class Simulated:
    """Simulated sequences, with a table of their properties and the planted elements."""

    sequences: SequenceSet  # The sequences, with the track ``states`` if residues have states
    # Columns with one value for each sequence: ``label`` (``"donor"`` or ``"decoy"``), or ``superfamily`` and
    # ``family``, or the ``class`` of a chain, or the ``label`` of a variant, a number. For a genome, one for each site:
    # ``record``, ``position``, ``strand``, ``label``. For genes, one for each exon and coding part; for peaks, one for
    # each summit
    table: Table
    planted: Planted | None = None  # What was planted in a genome with peaks

    @property
    def of_sites(self) -> bool:
        """Whether the rows of the table are sites on the sequences."""
        return "record" in self.table

    @property
    def of_genes(self) -> bool:
        """Whether the rows of the table are features of genes on the sequences."""
        return "transcript" in self.table


def find_generator(kind: str) -> Generator:
    """Return the generating function of a kind: ``generate(rng, **parameters)`` gives sequences and a table.

    >>> from seqkern.simulate import find_generator
    >>> find_generator("donor").__name__
    'donor_windows'
    """
    check_known("kind of simulated data", [kind], KINDS)
    module, _, name = KINDS[kind].partition(":")
    # imports only the module of this kind
    return cast(Generator, getattr(importlib.import_module(f".{module}", __name__), name))


def parameters(kind: str) -> dict[str, int | float | str]:
    """Return the parameters of a kind with their defaults, in the order of the signature.

    >>> from seqkern.simulate import parameters
    >>> parameters("genome")
    {'n_chromosomes': 2, 'n_letters': 60000, 'n_sites': 150, 'n_others': 450}
    """
    signature = inspect.signature(find_generator(kind))
    return {name: p.default for name, p in signature.parameters.items() if p.kind is p.KEYWORD_ONLY}


def simulate(kind: str, seed: int = 1, **params: Any) -> Simulated:
    """Simulate sequences; equal arguments give equal sequences.

    Parameters
    ----------
    kind : {"donor", "superfamilies", "genome", "genes", "peaks", "secondary_structure", "receptors", "landscape"}
        The kind of data.
    seed : int
        Seed of the random numbers, not negative.
    **params : int, float or str
        Parameters of the kind; see `donors.donor_windows`, `superfamilies.protein_superfamilies`,
        `genome.donor_genome`, `genes.annotated_genes`, `peaks.peak_genome`, `chains.secondary_structure_chains`,
        `receptors.paired_receptors` and `nk_landscape.nk_variants`.

    Returns
    -------
    Simulated

    Raises
    ------
    ParameterError
        For an unknown kind or parameter (with the nearest name), or a value outside its domain.

    Examples
    --------
    >>> from seqkern.simulate import simulate
    >>> data = simulate("donor", seed=1, n_positive=2, n_decoy=2, left=3, right=6)
    >>> data.table["label"]
    ['donor', 'donor', 'decoy', 'decoy']
    >>> [window[3:5] for window in data.sequences.strings()]
    ['GT', 'GT', 'GT', 'GT']
    """
    known = parameters(kind)
    check_known(f"parameter of {kind!r}", params, known)
    check_integer("seed", seed, 0)
    return Simulated(*find_generator(kind)(np.random.default_rng(seed), **params))


def write_simulated(data: Simulated, prefix: PathLike) -> list[Path]:
    r"""Write simulated sequences and their table to files.

    ``PREFIX.fasta`` has the columns of the table as header fields, ``PREFIX.tsv`` the column ``id`` and those of the
    table, or one row for each site. The features of genes go to ``PREFIX.gtf`` instead. States of residues go to
    ``PREFIX.states``, FASTA with states in place of residues. A genome with peaks goes to the folder ``PREFIX``, in
    the files that `seqkern.simulate.peaks.peak_files` names. Samples with several sequences go to a table with a
    column for each, and to a FASTA file for each, such as ``PREFIX.alpha.fasta``.

    Parameters
    ----------
    data : Simulated
        The data to write.
    prefix : path-like
        Path without an ending; of a genome with peaks a folder.

    Returns
    -------
    list of Path
        The paths of the files.

    Raises
    ------
    ParameterError
        If the prefix is not a file name.
    FileError
        If a file cannot be written; no incomplete file is left.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from seqkern.simulate import simulate, write_simulated
    >>> data = simulate("donor", n_positive=1, n_decoy=1, left=3, right=6)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     fasta, table = write_simulated(data, Path(folder) / "demo")
    ...     print(table.read_text().replace("\t", " "), end="")
    id label
    donor1 donor
    decoy1 decoy
    """
    text, path = str(prefix), Path(prefix)
    if text.endswith("/") or path.name in ("", ".."):
        raise ParameterError(f"{text!r} is not a file name", remedy="give a path without an ending")
    if data.planted is None:
        contents, hold = _contents(data, path), exclusive_paths(path)
    else:
        from seqkern.simulate.peaks import peak_files  # needed for this kind only

        contents = {path / name: lines for name, lines in peak_files(data.sequences, data.planted).items()}
        hold = exclusive_folder(path)
    for one in contents:
        check_writable(one)
    with hold, contextlib.ExitStack() as files:  # none gets its name before all are written
        for one, lines in contents.items():
            file = files.enter_context(atomic_write(one, "w"))
            file.writelines(f"{line}\n" for line in lines)
            file.flush()
    return list(contents)


def _contents(data: Simulated, path: Path) -> dict[Path, Iterator[str]]:
    """Return the lines of each file, by path."""
    X, table = data.sequences, data.table
    columns = table if data.of_sites else {"id": X.ids, **table}
    views = {name: X.view(name).strings() for name in sequence_views(X)}
    if views:
        files = {".tsv": _table_lines({**columns, **views})}
        files |= {f".{name}.fasta": _fasta_lines(X.ids, strings) for name, strings in views.items()}
    else:
        headers = X.ids
        if not data.of_sites:
            fields = zip(*([f" {name}={value}" for value in table[name]] for name in table), strict=True)
            headers = [name + "".join(own) for name, own in zip(X.ids, fields, strict=True)]
        files = {".fasta": _fasta_lines(headers, X.strings())}
        files |= {".gtf": _gtf_lines(table)} if data.of_genes else {".tsv": _table_lines(columns)}
    if STATES in X.tracks:
        states = (X.tracks[STATES][a:b].tobytes().decode("ascii") for a, b in zip(X.starts, X.stops, strict=True))
        files[f".{STATES}"] = _fasta_lines(X.ids, states)
    return {path.with_name(path.name + ending): lines for ending, lines in files.items()}


def _table_lines(columns: Table) -> Iterator[str]:
    """Yield the lines of a tab-separated table."""
    yield "\t".join(columns)
    for values in zip(*columns.values(), strict=True):
        yield "\t".join(map(str, values))


def _gtf_lines(table: Table) -> Iterator[str]:
    """Yield the lines of the features of genes."""
    columns = ("record", "feature", "start", "end", "strand", "gene", "transcript")
    for record, feature, start, end, strand, gene, transcript in zip(*(table[name] for name in columns), strict=True):
        yield gtf_line(record, feature, (start, end), strand, gene, transcript).rstrip("\n")


def _fasta_lines(headers: Iterable[str], strings: Iterable[str]) -> Iterator[str]:
    """Yield the lines of records as FASTA."""
    for header, string in zip(headers, strings, strict=True):
        yield f">{header}"
        yield from (string[start : start + _LINE] for start in range(0, len(string), _LINE))
