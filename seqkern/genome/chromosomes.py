"""Regions against a genome: names of chromosomes, and positions beyond their ends."""

from __future__ import annotations

import numpy as np

from seqkern.core.errors import SequenceError
from seqkern.genome.reference import Genome
from seqkern.genome.regions import Regions, ends_of

MITOCHONDRIAL = {"chrM": "MT", "M": "MT", "MT": "chrM", "chrMT": "MT"}


def other_name(name: str, known: dict[str, int]) -> str | None:
    """Return how a genome calls a chromosome that it has under another name, such as ``1`` for ``chr1``.

    Parameters
    ----------
    name : str
        Not among the names of the genome.
    known : dict of str to int
        Its chromosomes.

    Returns
    -------
    str or None

    Examples
    --------
    >>> other_name("chr1", {"1": 100, "2": 90}), other_name("chrM", {"MT": 9}), other_name("chr7", {"1": 100})
    ('1', 'MT', None)
    """
    bare = name[3:] if name.lower().startswith("chr") else name
    tried = (bare, f"chr{bare}", f"Chr{bare}", MITOCHONDRIAL.get(name, ""), bare.upper(), name.lower())
    return next((other for other in tried if other and other != name and other in known), None)


def check_regions(regions: Regions, genome: Genome) -> None:
    """Raise SequenceError unless all regions lie on the genome.

    Parameters
    ----------
    regions : Regions
        As read from a file.
    genome : Genome
        The reference.

    Raises
    ------
    SequenceError
        For an unknown chromosome, or a region beyond an end, with the likely reason.
    """
    names = dict.fromkeys(regions.chromosomes.tolist())
    unknown = [name for name in names if name not in genome.lengths]
    if unknown:
        raise _unknown(regions, genome, unknown)
    ends = ends_of(regions.chromosomes, genome.lengths)
    beyond = np.flatnonzero(regions.stops > ends)
    if not len(beyond):
        return
    i = int(beyond[0])
    problem = (
        f"line {regions.lines[i]}: {regions.ids()[i]} extends past the end of {regions.chromosomes[i]}, which has "
        f"{ends[i]:,} bases in {genome.path}"
    )
    if len(beyond) > 1:
        problem += f" ({len(beyond)} regions do so)"
    remedy = "use the genome that the regions were made with; hg19 and hg38, say, differ in lengths"
    if np.all(regions.stops[beyond] == ends[beyond] + 1):
        remedy = "BED excludes the stop: if positions count from 1, subtract 1 from the stops"
    raise SequenceError(problem, file=regions.file, remedy=remedy)


def _unknown(regions: Regions, genome: Genome, unknown: list[str]) -> SequenceError:
    """Return the error for chromosomes that the genome lacks."""
    name = unknown[0]
    line = int(regions.lines[np.flatnonzero(regions.chromosomes == name)[0]])
    other = other_name(name, genome.lengths)
    count = int(np.count_nonzero(np.isin(regions.chromosomes, unknown)))
    some = f" ({count} of {len(regions)} regions are on chromosomes that it lacks)" if count > 1 else ""
    problem = f"line {line}: chromosome {name!r} is not in {genome.path}{some}"
    if other is None:
        listed = ", ".join(list(genome.lengths)[:5]) + ", …" * (len(genome.lengths) > 5)
        remedy = f"remove these regions, or give the genome that they were made with; its chromosomes: {listed}"
    elif name == f"chr{other}":
        remedy = f"there it is {other!r}: remove the prefix with sed 's/^chr//'"
    elif other == f"chr{name}":
        remedy = f"there it is {other!r}: add the prefix with sed 's/^/chr/'"
    else:
        remedy = f"there it is {other!r}: rename it"
    return SequenceError(problem, file=regions.file, remedy=remedy)
