"""Windows around given sites for the verbs that apply a model: ``--sites``."""

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
        That of a verb.
    """
    group = parser.add_argument_group("windows around known sites")
    group.add_argument(
        "--sites",
        metavar="WHERE",
        help="cut the model's windows around these sites of longer records: a TSV with the columns record, position "
        "and strand, or header, as for seqkern train",
    )


def site_windows(model: Model, args: argparse.Namespace, policies: Mapping[str, str]) -> SequenceSet:
    """Return the windows that a model decides about around given sites.

    Parameters
    ----------
    model : Model
        Trained on such windows.
    args : Namespace
        With ``fasta``, ``sites`` and ``model``.
    policies : mapping of str to str
        Of reading.

    Returns
    -------
    SequenceSet
        One window for each site.

    Raises
    ------
    ModelError
        If the model was not trained on windows around sites.
    SequenceError, FileError
        For a site, a record or a table that will not do.
    """
    # loaded when a verb runs: its help needs none of it
    from seqkern.core.errors import ModelError
    from seqkern.core.text_files import source_name
    from seqkern.datasets.data_entry import SiteWindow
    from seqkern.datasets.site_windows import cut_around_sites
    from seqkern.sequences.fasta import read_records

    window = model.window
    if window is None:
        raise ModelError(
            "was not trained on windows around sites",
            file=args.model,
            remedy="train it with --sites and --window, or cut the sequences yourself",
        )
    name = source_name(args.fasta)
    reading_policies = {key: value for key, value in policies.items() if key != "unknown"}
    with naming_file(name):
        reading = read_records(args.fasta, alphabet=model.alphabet, unknown="mask", **reading_policies)
        unknown = policies.get("unknown", "error")
        return cut_around_sites(SiteWindow(window, args.sites), reading, ".", name, unknown=unknown)[0].windows
