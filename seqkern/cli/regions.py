"""Options of a genome: regions, and sites given for the verbs that apply a model."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from seqkern.cli.common import naming_file, positive_integer
from seqkern.core.checks import read_number

if TYPE_CHECKING:
    from seqkern.core.types import Source
    from seqkern.methods.model import Model
    from seqkern.methods.residue_model import ResidueModel
    from seqkern.sequences.fasta import AnySource
    from seqkern.sequences.sequence_set import SequenceSet


# ``--genome`` and the options of regions, for verbs that accept BED files in place of FASTA.


def add_regions(parser: argparse.ArgumentParser, *, background: bool = False, width: str = "as in the file") -> None:
    """Add the arguments for the genome and for reading regions."""
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
    """Return the keys of a data-set entry about the genome."""
    values = {name: getattr(args, name, None) for name in ("genome", "width", "blacklist", "background")}
    return {name: value for name, value in values.items() if value is not None}


def as_sources(
    files: list[Source], args: argparse.Namespace, model: Model | ResidueModel | None = None
) -> list[AnySource]:
    """Return the files to read, with each BED file replaced by the sequences of its regions."""
    # imported here to keep --help fast
    from seqkern.core.errors import ParameterError
    from seqkern.formats.regions import RegionOptions
    from seqkern.study.data_entry import with_regions

    given = regions_of(args)
    if not given or "genome" in given:
        if model is not None and "genome" in given and "width" not in given:
            given["width"] = model.record.get("genome", {}).get("width")
        return with_regions(files, RegionOptions(**given) if given else None)
    raise ParameterError(f"--{next(iter(given))} needs --genome", remedy="add --genome FASTA, or remove it")


def log_folds(notes: dict[str, Any]) -> None:
    """Print the genomic regions that folds keep together, on standard error."""
    if "genome" in notes:
        print(f"seqkern: {notes['genome']['folds']}", file=sys.stderr)


def log_background(notes: dict[str, Any]) -> None:
    """Print the quality of the match of a drawn background, on standard error."""
    # imported here to keep --help fast
    from seqkern.formats.background import PROPERTIES

    drawn = notes.get("genome", {}).get("background")
    if drawn is None:
        return
    distances = ", ".join(f"{PROPERTIES[name]} {value:.4f}" for name, value in drawn["ks"].items())
    print(f"seqkern: {drawn['regions']} background regions drawn; KS distances: {distances}", file=sys.stderr)
    for remark in drawn["remarks"]:
        print(f"seqkern: {remark}", file=sys.stderr)


def _factor(text: str) -> float:
    """Return a positive number, for argparse."""
    value = read_number(text)
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return value


# Windows around given sites: ``--sites`` of the verbs that apply a model.


def add_given_sites(parser: argparse.ArgumentParser) -> None:
    """Add the argument for the table of sites."""
    group = parser.add_argument_group("windows around known sites")
    group.add_argument(
        "--sites",
        metavar="WHERE",
        help="apply the model to windows around these sites: TSV with the columns record, position "
        "and strand; or header, as for seqkern train",
    )


def site_windows(model: Model, args: argparse.Namespace, policies: Mapping[str, str]) -> SequenceSet:
    """Return one window around each given site, in the form that a model expects."""
    # imported here to keep --help fast
    from seqkern.core.errors import ModelError
    from seqkern.core.text_files import source_name
    from seqkern.sequences.fasta import read_records
    from seqkern.study.data_entry import SiteWindow
    from seqkern.study.readers import before_cutting, cut_around_sites

    window = model.window
    if window is None:
        raise ModelError(
            "was not trained on windows around sites",
            file=args.model,
            remedy="train it with --sites and --window, or cut the windows yourself",
        )
    name = source_name(args.fasta)
    with naming_file(name):
        reading = read_records(args.fasta, alphabet=model.alphabet, **{**policies, **before_cutting(policies)})
        unknown = policies.get("unknown", "mask")
        return cut_around_sites(SiteWindow(window, args.sites), reading, ".", name, unknown=unknown)[0].windows
