"""Files of motifs: MEME, and a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from seqkern.core.archive import atomic_write
from seqkern.core.meme import meme_lines
from seqkern.core.tsv import write_tsv
from seqkern.core.types import PathLike
from seqkern.motifs.discovery import FoundMotif
from seqkern.motifs.similarity import Match

COLUMNS = ("motif", "class", "consensus", "columns", "sites", "share")
KNOWN = ("known", "p", "q", "correlation", "overlap", "offset", "strand")


def write_meme(path: PathLike, motifs: Sequence[FoundMotif]) -> None:
    """Write motifs in the minimal MEME format.

    Parameters
    ----------
    path : path-like
        The file.
    motifs : sequence of FoundMotif
        Over one alphabet; at least one.
    """
    first = motifs[0]
    listed = [(f"{one.name} {one.consensus}", one.probabilities, one.sites) for one in motifs]
    both = first.alphabet.complement is not None
    with atomic_write(path, "w") as file:
        for line in meme_lines(listed, first.alphabet.letters, first.background.tolist(), both_strands=both):
            print(line, file=file)


def rows(
    motifs: Sequence[FoundMotif], classes: Sequence[str], matches: Sequence[Match] | None
) -> Iterable[Sequence[Any]]:
    """Yield the rows of the table of motifs.

    Parameters
    ----------
    motifs : sequence of FoundMotif
        The motifs.
    classes : sequence of str
        Negative and positive class.
    matches : sequence of Match, optional
        The nearest known motif of each.

    Yields
    ------
    sequence
        Values of `COLUMNS`, and with matches of `KNOWN`.
    """
    for number, motif in enumerate(motifs):
        row: list[Any] = [motif.name, classes[motif.sign > 0], motif.consensus, len(motif.counts), motif.sites]
        row.append(motif.share)
        if matches is not None:
            one = matches[number]
            row += [one.name, one.p, one.q, one.correlation, one.overlap, one.offset, one.strand]
        yield row


def write_table(
    path: PathLike, motifs: Sequence[FoundMotif], classes: Sequence[str], matches: Sequence[Match] | None = None
) -> None:
    """Write the table of motifs as TSV.

    Parameters
    ----------
    path : path-like
        The file.
    motifs : sequence of FoundMotif
        The motifs.
    classes : sequence of str
        Negative and positive class.
    matches : sequence of Match, optional
        The nearest known motif of each.
    """
    columns = COLUMNS if matches is None else COLUMNS + KNOWN
    write_tsv(path, columns, rows(motifs, classes, matches))
