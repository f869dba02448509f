"""Files of motifs: MEME, and a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from seqkern.core.archive import atomic_write
from seqkern.core.tsv import write_tsv
from seqkern.core.types import PathLike
from seqkern.motifs.discovery import FoundMotif
from seqkern.motifs.similarity import Match

COLUMNS = ("motif", "class", "consensus", "columns", "sites", "share")
KNOWN = ("known", "p", "q", "correlation", "overlap", "offset", "strand")


def meme_lines(motifs: Sequence[FoundMotif]) -> Iterator[str]:
    r"""Yield the lines of motifs in the minimal MEME format.

    Parameters
    ----------
    motifs : sequence of FoundMotif
        Over one alphabet; at least one.

    Yields
    ------
    str

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.sequences.alphabets import DNA
    >>> counts = np.array([[0, 0, 0, 8], [0, 0, 8, 0], [8, 0, 0, 0], [0, 4, 4, 0]])
    >>> motif = FoundMotif("positive_1", 1, counts, 8, 0.4, DNA, np.full(4, 0.25))
    >>> print("\n".join(list(meme_lines([motif]))[-7:]))
    <BLANKLINE>
    MOTIF positive_1 TGAS
    letter-probability matrix: alength= 4 w= 4 nsites= 8
     0.000000 0.000000 0.000000 1.000000
     0.000000 0.000000 1.000000 0.000000
     1.000000 0.000000 0.000000 0.000000
     0.000000 0.500000 0.500000 0.000000
    """
    first = motifs[0]
    letters = first.alphabet.letters
    yield from ("MEME version 5", "", f"ALPHABET= {letters}", "")
    if first.alphabet.complement:
        yield from ("strands: + -", "")
    yield "Background letter frequencies"
    yield " ".join(f"{letter} {share:.5f}" for letter, share in zip(letters, first.background, strict=True))
    for motif in motifs:
        yield from ("", f"MOTIF {motif.name} {motif.consensus}")
        columns = f"alength= {len(letters)} w= {len(motif.counts)}"
        yield f"letter-probability matrix: {columns} nsites= {motif.sites}"
        yield from (" " + " ".join(f"{share:.6f}" for share in row) for row in motif.probabilities)


def write_meme(path: PathLike, motifs: Sequence[FoundMotif]) -> None:
    """Write motifs in the minimal MEME format.

    Parameters
    ----------
    path : path-like
        The file.
    motifs : sequence of FoundMotif
        Over one alphabet; at least one.
    """
    with atomic_write(path, "w") as file:
        file.writelines(f"{line}\n" for line in meme_lines(motifs))


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
