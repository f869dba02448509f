"""Files of motifs: MEME, and a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from seqkern.core.archive import atomic_write
from seqkern.core.errors import FileError
from seqkern.core.meme import meme_lines
from seqkern.core.tsv import read_tsv, write_tsv
from seqkern.core.types import PathLike
from seqkern.kernels.motifs.matrices import Matrix
from seqkern.kernels.motifs.sets import MotifSet
from seqkern.motifs.discovery import FoundMotif
from seqkern.motifs.similarity import Match
from seqkern.sequences.alphabets import DNA, RNA, Alphabet, as_alphabet

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


def read_motifs(meme: PathLike, table: PathLike) -> tuple[list[FoundMotif], list[str], list[Match] | None]:
    """Return the motifs that `write_meme` and `write_table` wrote.

    Parameters
    ----------
    meme, table : path-like
        The files.

    Returns
    -------
    motifs : list of FoundMotif
        With uniform background.
    classes : list of str
        Negative and positive class; empty text for one without a motif.
    matches : list of Match or None
        The nearest known motif of each.

    Raises
    ------
    FileError
        If a file is damaged, or the two do not belong together.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> motif = FoundMotif("positive_1", 1, np.array([[9, 0, 0, 0], [0, 0, 9, 0]]), 9, 0.5, DNA, np.full(4, 0.25))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     meme, table = Path(folder) / "motifs.meme", Path(folder) / "motifs.tsv"
    ...     write_meme(meme, [motif])
    ...     write_table(table, [motif], ["other", "peak"])
    ...     motifs, classes, matches = read_motifs(meme, table)
    >>> motifs[0].consensus, motifs[0].sites, classes, matches
    ('AG', 9, ['', 'peak'], None)
    """
    found = read_tsv(table)
    matrices = MotifSet.from_file(str(meme)).matrices if found else ()
    try:
        return _motifs_of(found, matrices)
    except (KeyError, ValueError, OverflowError) as error:
        raise FileError(
            "is not a table of these motifs, or is damaged", file=table, remedy="create it again"
        ) from error


def _motifs_of(
    found: Sequence[Mapping[str, str]], matrices: Sequence[Matrix]
) -> tuple[list[FoundMotif], list[str], list[Match] | None]:
    """Return the motifs of rows and matrices."""
    motifs, classes = [], ["", ""]
    for row, matrix in zip(found, matrices, strict=True):
        alphabet, sign = _alphabet(matrix.letters), -1 if row["motif"].startswith("negative") else 1
        classes[sign > 0] = row["class"]
        counts, uniform = np.round(matrix.counts).astype(np.int64), np.full(alphabet.size, 1 / alphabet.size)
        one = FoundMotif(row["motif"], sign, counts, int(row["sites"]), float(row["share"]), alphabet, uniform)
        motifs.append(one)
    if not found or "known" not in found[0]:
        return motifs, classes, None
    return motifs, classes, [_match(row) for row in found]


def _alphabet(letters: str) -> Alphabet:
    """Return the alphabet of some letters, DNA and RNA with complements."""
    return next((one for one in (DNA, RNA) if one.letters == letters), as_alphabet(letters))


def _match(row: Mapping[str, str]) -> Match:
    """Return the known motif of a row."""
    p, q, correlation = (float(row[name]) for name in ("p", "q", "correlation"))
    return Match(row["known"], p, q, correlation, int(row["overlap"]), int(row["offset"]), row["strand"])
