"""``--sites`` of the verbs that apply a model: windows around given sites."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING

from seqkern.cli.common import naming_file

if TYPE_CHECKING:
    from seqkern.models.model import Model
    from seqkern.sequences.sequence_set import SequenceSet


def add_given_sites(parser: argparse.ArgumentParser) -> None:
    """Add the table of sites.

    Parameters
    ----------
    parser : ArgumentParser
        The parser of the verb.
    """
    group = parser.add_argument_group("windows around known sites")
    group.add_argument(
        "--sites",
        metavar="WHERE",
        help="apply the model to windows around these sites: TSV with the columns record, position "
        "and strand; or header, as for seqkern train",
    )


def site_windows(model: Model, args: argparse.Namespace, policies: Mapping[str, str]) -> SequenceSet:
    """Return the windows around given sites, in the form that a model expects.

    Parameters
    ----------
    model : Model
        A model trained on windows.
    args : Namespace
        With ``fasta``, ``sites`` and ``model``.
    policies : mapping of str to str
        For reading FASTA.

    Returns
    -------
    SequenceSet
        One window for each site.

    Raises
    ------
    ModelError
        If the model was not trained on windows around sites.
    SequenceError, FileError
        If a site, a record or the table is invalid.
    """
    # imported here to keep --help fast
    from seqkern.core.errors import ModelError
    from seqkern.core.text_files import source_name
    from seqkern.datasets.data_entry import SiteWindow
    from seqkern.datasets.site_windows import before_cutting, cut_around_sites
    from seqkern.sequences.fasta import read_records

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
