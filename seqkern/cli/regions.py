"""``--genome`` and the options of regions, for the verbs that take BED files in place of FASTA."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from seqkern.cli.common import positive_integer
from seqkern.core.values import read_number

if TYPE_CHECKING:
    from seqkern.core.types import Source
    from seqkern.models.model import Model
    from seqkern.models.residue_model import ResidueModel
    from seqkern.sequences.fasta import AnySource


def add_regions(parser: argparse.ArgumentParser, *, background: bool = False, width: str = "as in the file") -> None:
    """Add the genome and how regions are read.

    Parameters
    ----------
    parser : ArgumentParser
        The parser of the verb.
    background : bool
        Whether the verb can draw background regions.
    width : str
        The default width, for the help.
    """
    group = parser.add_argument_group(
        "regions of a genome",
        "BED, narrowPeak and broadPeak files may be given in place of FASTA. Regions on strand - are read as their\n"
        "reverse complement. Lower-case (soft-masked) bases are read like others.",
    )
    group.add_argument("--genome", metavar="FASTA", help="genome of the BED files: FASTA, plain or compressed by bgzip")
    group.add_argument(
        "--width",
        type=positive_integer,
        metavar="W",
        help=f"read W bases around the summit (narrowPeak) or the centre of each region (default: {width}); windows "
        "that extend past an end of a chromosome are left out and counted",
    )
    group.add_argument("--blacklist", metavar="BED", help="leave out regions that overlap one of these")
    if background:
        group.add_argument(
            "--background",
            type=_factor,
            nargs="?",
            const=1.0,
            metavar="FACTOR",
            help="with the positives only: draw FACTOR times as many background regions (default: 1), as seqkern "
            "background does",
        )


def regions_of(args: argparse.Namespace) -> dict[str, Any]:
    """Return the keys of a data-set entry about the genome.

    Parameters
    ----------
    args : Namespace
        With the arguments of `add_regions`.

    Returns
    -------
    dict of str to object
        Those that were given.
    """
    values = {name: getattr(args, name, None) for name in ("genome", "width", "blacklist", "background")}
    return {name: value for name, value in values.items() if value is not None}


def as_sources(
    files: list[Source], args: argparse.Namespace, model: Model | ResidueModel | None = None
) -> list[AnySource]:
    """Return the files to read, with the sequences of regions in place of BED files.

    Parameters
    ----------
    files : list of path-like
        FASTA or BED.
    args : Namespace
        With the arguments of `add_regions`.
    model : Model or ResidueModel, optional
        Its width is the default.

    Returns
    -------
    list of path-like or RegionSequences
    """
    # imported here to keep --help fast
    from seqkern.core.errors import ParameterError
    from seqkern.datasets.region_files import with_regions
    from seqkern.genome.sequences import RegionOptions

    given = regions_of(args)
    if not given or "genome" in given:
        if model is not None and "genome" in given and "width" not in given:
            given["width"] = model.record.get("genome", {}).get("width")
        return with_regions(files, RegionOptions(**given) if given else None)
    raise ParameterError(f"--{next(iter(given))} needs --genome", remedy="add --genome FASTA, or remove it")


def tell_folds(notes: dict[str, Any]) -> None:
    """Print which regions of a genome folds keep together, on standard error.

    Parameters
    ----------
    notes : dict
        Of a data set.
    """
    if "genome" in notes:
        print(f"seqkern: {notes['genome']['folds']}", file=sys.stderr)


def tell_background(notes: dict[str, Any]) -> None:
    """Print how well a background that was drawn matches, on standard error.

    Parameters
    ----------
    notes : dict
        Of a data set.
    """
    # imported here to keep --help fast
    from seqkern.genome.match_table import PROPERTIES

    drawn = notes.get("genome", {}).get("background")
    if drawn is None:
        return
    distances = ", ".join(f"{PROPERTIES[name]} {value:.4f}" for name, value in drawn["ks"].items())
    print(f"seqkern: {drawn['regions']} background regions drawn; KS distances: {distances}", file=sys.stderr)
    for remark in drawn["remarks"]:
        print(f"seqkern: {remark}", file=sys.stderr)


def _factor(text: str) -> float:
    """Return a positive number."""
    value = read_number(text)
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return value
