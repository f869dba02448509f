"""Similarity of motifs to known motifs, with p-values, after TOMTOM.

The similarity of two columns is their negative Euclidean distance, relative to the median over all columns of the
known motifs; an alignment scores the sum over the overlapping columns, in integer steps. The greatest score over all
offsets and both strands counts. Its p-value is the probability that a known motif of the same width scores as much if
its columns were drawn from all columns of all known motifs and the alignments were independent; it is computed
exactly, by convolution.

References
----------
Gupta, Stamatoyannopoulos, Bailey, Noble: Quantifying similarity between motifs. Genome Biology 8:R24, 2007.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from typing import Any

import numpy as np

from seqkern.core.archive import atomic_write
from seqkern.core.errors import FileError, ParameterError
from seqkern.core.statistics import benjamini_hochberg
from seqkern.core.tsv import read_tsv, write_tsv
from seqkern.core.types import Floats, Ints, PathLike
from seqkern.formats.meme import meme_lines
from seqkern.genomics.motifs import FoundMotif
from seqkern.kernels.models.motif_files import MotifSet
from seqkern.kernels.models.patterns import Matrix, ambiguity_codes
from seqkern.sequences.alphabets import DNA, RNA, Alphabet, as_alphabet

BINS = 100
FEW_KNOWN = 25
"""Number of known motifs below which p-values depend much on the selection of motifs."""
LARGEST_Q = 0.1
"""False discovery rate up to which a motif resembles a known one."""


@dataclass(frozen=True)
class Match:
    """A known motif aligned with a motif that it resembles."""

    name: str  # Of the known motif
    p: float  # Probability that a random motif of its width resembles the motif as much
    # The least false discovery rate at which the pair is significant, among all pairs of motif and known motif
    q: float
    correlation: float  # Pearson correlation of the probabilities in the columns that overlap
    overlap: int  # Number of these columns
    offset: int  # Column of the motif at which the known motif begins; negative: before the motif
    strand: str  # On which the known motif is aligned


class KnownMotifs:
    """Known motifs, with all columns in one array for comparison."""

    def __init__(self, matrices: Sequence[Matrix], alphabet: Alphabet, both_strands: bool) -> None:
        if not matrices:
            raise ParameterError("contains no weight matrix", remedy="give a JASPAR, MEME or TRANSFAC file")
        self.names = [matrix.name for matrix in matrices]
        self.both_strands = both_strands
        self.forward = [_probabilities(matrix, alphabet) for matrix in matrices]
        self.motifs = list(self.forward)
        if both_strands:
            complement = alphabet.complement_codes[: alphabet.size]
            self.motifs += [motif[::-1][:, complement] for motif in self.forward]
        self.columns = np.concatenate(self.motifs)
        self.lengths = np.array([len(motif) for motif in self.motifs])
        self.starts = np.concatenate(([0], np.cumsum(self.lengths)[:-1]))

    @classmethod
    def from_file(cls, path: str, alphabet: Alphabet) -> KnownMotifs:
        """Return the motifs of a file, on both strands if the alphabet has two."""
        try:
            return cls(MotifSet.from_file(path).matrices, alphabet, alphabet.complement is not None)
        except ParameterError as error:
            error.file = path
            raise

    def compare(self, motif: Floats) -> tuple[Floats, list[Match]]:
        """Return the p-value and best alignment (its q is 1) of each known motif with a motif."""
        width, n = len(motif), len(self.names)
        scores = self._scores(motif)
        # all alignments of all known motifs: offset of a motif's first column in the known one, from 1 - width on
        owner = np.repeat(np.arange(len(self.motifs)), self.lengths + width - 1)
        first = np.concatenate(([0], np.cumsum(self.lengths + width - 1)[:-1]))
        offset = np.arange(len(owner)) - first[owner] + 1 - width
        sums = np.zeros(len(owner), dtype=np.int64)
        for column in range(width):
            place = offset + column
            inside = np.flatnonzero((place >= 0) & (place < self.lengths[owner]))
            sums[inside] += scores[column, self.starts[owner[inside]] + place[inside]]
        null = _Null(scores)
        p, matches = np.ones(n), []
        for i in range(n):
            here = np.concatenate(
                [first[k] + np.arange(self.lengths[k] + width - 1) for k in range(i, len(self.motifs), n)]
            )
            best = here[sums[here].argmax()]
            p[i] = null.p_value(int(sums[best]), int(self.lengths[i]), len(self.motifs) // n)
            matches.append(self._match(motif, i, int(owner[best]), int(offset[best]), float(p[i])))
        return p, matches

    def _scores(self, motif: Floats) -> Ints:
        """Return the similarity of each column of a motif to each known column, int64 (columns, known columns)."""
        distance = np.sqrt(((motif[:, None, :] - self.columns) ** 2).sum(axis=2))
        above = np.median(distance, axis=1, keepdims=True) - distance
        span = float(above.max() - above.min())
        return np.rint(above * (BINS / span if span else 0.0)).astype(np.int64)

    def _match(self, motif: Floats, i: int, owner: int, offset: int, p: float) -> Match:
        """Return an alignment as a Match."""
        other = self.motifs[owner]
        low, high = max(0, -offset), min(len(motif), len(other) - offset)
        a, b = motif[low:high].ravel(), other[low + offset : high + offset].ravel()
        a, b = a - a.mean(), b - b.mean()
        norm = float(np.sqrt((a @ a) * (b @ b)))
        correlation = float(a @ b) / norm if norm else 0.0
        strand = "+" if owner < len(self.names) else "-"
        return Match(self.names[i], p, 1.0, correlation, high - low, -offset, strand)


def nearest(motifs: Sequence[Floats], known: KnownMotifs) -> list[Match]:
    """Return for each motif the known motif it resembles most, by p-value, with q among all pairs."""
    compared = [known.compare(motif) for motif in motifs]
    if not compared:
        return []
    q = benjamini_hochberg(np.concatenate([p for p, _ in compared])).reshape(len(motifs), -1)
    chosen = []
    for row, (p, matches) in enumerate(compared):
        i = int(p.argmin())
        strand = matches[i].strand if known.both_strands else "+"
        chosen.append(replace(matches[i], q=float(q[row, i]), strand=strand))
    return chosen


def resembling(matches: Sequence[Match] | None, n: int) -> list[int]:
    """Return which of n motifs resemble a known one; all of them if none does, or if there are no known motifs."""
    return [i for i, match in enumerate(matches or ()) if match.q <= LARGEST_Q] or list(range(n))


def from_consensus(name: str, consensus: str) -> Matrix:
    """Return the matrix of a consensus of IUPAC codes: each code's bases share 100 counts.

    >>> from_consensus("GS", "GS").counts.tolist()
    [[0.0, 0.0, 100.0, 0.0], [0.0, 50.0, 50.0, 0.0]]
    """
    bases = ambiguity_codes(DNA)
    rows = [[100.0 / len(bases.get(c, c)) * (base in bases.get(c, c)) for base in "ACGT"] for c in consensus]
    return Matrix.checked(name, rows, "ACGT")


def _probabilities(matrix: Matrix, alphabet: Alphabet) -> Floats:
    """Return the probabilities of a known motif, in the order of an alphabet."""
    letters = matrix.letters.replace("U", "T")
    wanted = alphabet.letters.replace("U", "T")
    if sorted(letters) != sorted(wanted):
        raise ParameterError(
            f"motif {matrix.name!r} has the letters {matrix.letters}, the model has the alphabet {alphabet.name}",
            remedy="give known motifs over the model's alphabet",
        )
    counts = matrix.counts[:, [letters.index(letter) for letter in wanted]]
    return counts / counts.sum(axis=1, keepdims=True)


class _Null:
    """Null distribution of the greatest score of random known motifs, given a motif's column scores."""

    def __init__(self, scores: Ints) -> None:
        self.width = len(scores)
        low = scores.min(axis=1)
        shares = [np.bincount(row - least) / len(row) for row, least in zip(scores, low.tolist(), strict=True)]
        self.least = int(np.minimum(low, 0).sum())
        size = int(np.maximum(scores.max(axis=1), 0).sum()) - self.least + 1
        self.below = np.zeros((self.width, self.width + 1, size))
        for a in range(self.width):
            chances = np.ones(1)
            for b in range(a + 1, self.width + 1):
                chances = np.convolve(chances, shares[b - 1])
                start = int(low[a:b].sum()) - self.least
                tail = np.cumsum(chances[::-1])[::-1]
                self.below[a, b, :start] = -np.inf
                with np.errstate(divide="ignore"):
                    self.below[a, b, start : start + len(tail)] = np.log1p(-np.minimum(tail, 1.0))
        self.of_length: dict[int, Floats] = {}

    def p_value(self, score: int, length: int, strands: int) -> float:
        """Return the probability that a random motif of a length reaches a score on one of the strands."""
        if length not in self.of_length:  # log of the probability that all offsets stay below each score
            offsets = range(1 - self.width, length)
            pairs = [(max(0, -offset), min(self.width, length - offset)) for offset in offsets]
            self.of_length[length] = np.sum([self.below[a, b] for a, b in pairs], axis=0)
        return float(-np.expm1(strands * self.of_length[length][score - self.least]))


# Files of motifs: MEME and a TSV table.

COLUMNS = ("motif", "class", "consensus", "columns", "sites", "share")
KNOWN = {"known": str, "p": float, "q": float, "correlation": float, "overlap": int, "offset": int, "strand": str}
"""Columns of the fields of a Match, with their types."""


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
        yield row if matches is None else [*row, *astuple(matches[number])]


def write_table(
    path: PathLike, motifs: Sequence[FoundMotif], classes: Sequence[str], matches: Sequence[Match] | None = None
) -> None:
    """Write the table of motifs as TSV."""
    columns = COLUMNS if matches is None else (*COLUMNS, *KNOWN)
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
        letters, sign = matrix.letters, -1 if row["motif"].startswith("negative") else 1
        alphabet = next((one for one in (DNA, RNA) if one.letters == letters), as_alphabet(letters))
        classes[sign > 0] = row["class"]
        counts, uniform = np.round(matrix.counts).astype(np.int64), np.full(alphabet.size, 1 / alphabet.size)
        one = FoundMotif(row["motif"], sign, counts, int(row["sites"]), float(row["share"]), alphabet, uniform)
        motifs.append(one)
    if not found or "known" not in found[0]:
        return motifs, classes, None
    return motifs, classes, [Match(*(kind(row[name]) for name, kind in KNOWN.items())) for row in found]
