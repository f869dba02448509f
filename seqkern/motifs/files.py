"""Files of motifs: MEME, and a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from seqkern.core.archive import atomic_write
from seqkern.core.meme import meme_lines
from seqkern.core.tsv import write_tsv
from seqkern.core.types import PathLike
from seqkern.motifs.discovery import FoundMotif
from seqkern.motifs.similarity import Match
from seqkern.sequences.alphabets import Alphabet, as_alphabet

COLUMNS = ("motif", "class", "consensus", "columns", "sites", "share")
KNOWN = ("known", "p", "q", "correlation", "overlap", "offset", "strand")


def write_meme(path: PathLike, motifs: Sequence[FoundMotif], alphabet: Alphabet | None = None) -> None:
    """Write motifs in the minimal MEME format.

    Parameters
    ----------
    path : path-like
        The file.
    motifs : sequence of FoundMotif
        Over one alphabet.
    alphabet : Alphabet, optional
        Needed where there may be no motifs.
    """
    if motifs:
        alphabet, background = motifs[0].alphabet, motifs[0].background.tolist()
    assert alphabet is not None
    if not motifs:
        background = [1 / alphabet.size] * alphabet.size
    listed = [(f"{one.name} {one.consensus}", one.probabilities, one.sites) for one in motifs]
    both = alphabet.complement is not None
    with atomic_write(path, "w") as file:
        for line in meme_lines(listed, alphabet.letters, background, both_strands=both):
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


def to_json(motifs: Sequence[FoundMotif], classes: Sequence[str], matches: Sequence[Match] | None) -> dict[str, Any]:
    """Return motifs as JSON.

    Parameters
    ----------
    motifs : sequence of FoundMotif
        The motifs.
    classes : sequence of str
        Negative and positive class.
    matches : sequence of Match, optional
        The nearest known motif of each.

    Returns
    -------
    dict
        For `from_json`.
    """
    listed = []
    for number, one in enumerate(motifs):
        own = {"name": one.name, "sign": one.sign, "counts": one.counts.tolist(), "sites": one.sites}
        own |= {"share": one.share, "alphabet": one.alphabet.name, "background": one.background.tolist()}
        listed.append(own | ({} if matches is None else {"match": asdict(matches[number])}))
    return {"classes": list(classes), "known": matches is not None, "motifs": listed}


def from_json(content: Mapping[str, Any]) -> tuple[list[FoundMotif], list[str], list[Match] | None]:
    """Return what `to_json` was given.

    Parameters
    ----------
    content : mapping
        As from `to_json`.

    Returns
    -------
    motifs : list of FoundMotif
        The motifs.
    classes : list of str
        Negative and positive class.
    matches : list of Match or None
        The nearest known motif of each.

    Examples
    --------
    >>> from seqkern.sequences.alphabets import DNA
    >>> motif = FoundMotif("positive_1", 1, np.array([[9, 0, 0, 0], [0, 0, 9, 0]]), 9, 0.5, DNA, np.full(4, 0.25))
    >>> motifs, classes, matches = from_json(to_json([motif], ["other", "peak"], None))
    >>> motifs[0].consensus, classes, matches
    ('AG', ['other', 'peak'], None)
    """
    motifs = [
        FoundMotif(
            one["name"],
            one["sign"],
            np.array(one["counts"], dtype=np.int64),
            one["sites"],
            one["share"],
            as_alphabet(one["alphabet"]),
            np.array(one["background"]),
        )
        for one in content["motifs"]
    ]
    matches = [Match(**one["match"]) for one in content["motifs"]] if content["known"] else None
    return motifs, list(content["classes"]), matches
