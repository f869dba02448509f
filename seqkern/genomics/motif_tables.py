"""Files of motifs: MEME and a TSV table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from seqkern.core.archive import atomic_write
from seqkern.core.errors import FileError
from seqkern.core.tsv import read_tsv, write_tsv
from seqkern.core.types import PathLike
from seqkern.formats.meme import meme_lines
from seqkern.genomics.motif_similarity import Match
from seqkern.genomics.motifs import FoundMotif
from seqkern.kernels.models.motif_files import MotifSet
from seqkern.kernels.models.patterns import Matrix
from seqkern.sequences.alphabets import DNA, RNA, Alphabet, as_alphabet

COLUMNS = ("motif", "class", "consensus", "columns", "sites", "share")
KNOWN = ("known", "p", "q", "correlation", "overlap", "offset", "strand")


def write_meme(path: PathLike, motifs: Sequence[FoundMotif], alphabet: Alphabet | None = None) -> None:
    """Write motifs in the minimal MEME format."""
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
    """Yield the rows of the table of motifs."""
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
    """Write the table of motifs as TSV."""
    columns = COLUMNS if matches is None else COLUMNS + KNOWN
    write_tsv(path, columns, rows(motifs, classes, matches))


def read_motifs(meme: PathLike, table: PathLike) -> tuple[list[FoundMotif], list[str], list[Match] | None]:
    """Read the files of `write_meme` and `write_table`; return motifs, classes and the nearest known motifs."""
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
    """Return the motifs, classes and matches in table rows and their matrices."""
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
    """Return the alphabet with the given letters, for DNA and RNA with complements."""
    return next((one for one in (DNA, RNA) if one.letters == letters), as_alphabet(letters))


def _match(row: Mapping[str, str]) -> Match:
    """Return the known motif in a row of the table."""
    p, q, correlation = (float(row[name]) for name in ("p", "q", "correlation"))
    return Match(row["known"], p, q, correlation, int(row["overlap"]), int(row["offset"]), row["strand"])
