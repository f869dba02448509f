"""``seqkern predict --gather``: the parts of predictions, joined."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from seqkern.cli.common import tell_counts
from seqkern.cli.parts import added, gather
from seqkern.core.part import Part

if TYPE_CHECKING:
    from seqkern.core.part_folder import PartFolder


def gather_predictions(args: argparse.Namespace) -> None:
    """Join the parts.

    Parameters
    ----------
    args : Namespace
        The parsed arguments of ``seqkern predict``.
    """
    notes = gather(args, [args.model], [args.fasta], _big_wig)
    if notes is None:
        return
    tell_counts(added([note["counts"] for note in notes]), args.fasta)


def _big_wig(folder: PartFolder, name: str, notes: list[Any]) -> bool:
    """Write a bigWig file from the values of all parts; return False for other files."""
    if name not in notes[0]:
        return False
    # imported here to keep --help fast
    from seqkern.genome.tracks import Track

    with Track() as track:
        for number, note in enumerate(notes, start=1):
            track.load(folder.path(Part(number, len(notes))) / name, note[name])
        track.write(folder.output.with_name(name), notes[0]["lengths"])
    return True
