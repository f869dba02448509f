"""Scan one part of a genome: the candidates that begin in a range of its bases, with the windows around them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from seqkern.core.errors import SequenceError
from seqkern.core.part import Part
from seqkern.genome.reference import Genome
from seqkern.sequences.candidates import Candidates, Segment
from seqkern.sequences.streaming import BLOCK, letter_table, make_piece

if TYPE_CHECKING:
    from seqkern.models.scan import Scanner


def scan_part(
    scanner: Scanner,
    genome: Genome,
    part: Part,
    *,
    ids: str = "header",
    block: int = BLOCK,
    progress: Callable[[int], None] | None = None,
) -> Iterator[Candidates]:
    r"""Classify the candidates of a part; those of all parts are those of `Scanner.scan`, to the last bit.

    Parameters
    ----------
    scanner : Scanner
        Its counts become those of the part.
    genome : Genome
        The sequences, with an index.
    part : Part
        Which one: the bases of all records, one after another, are divided evenly.
    ids : {"header", "number"}
        The first word of the header, or the number of the record.
    block : int, optional
        Number of bases read at a time.
    progress : callable, optional
        Called with the number of bases read.

    Yields
    ------
    Candidates
        Record by record, sorted by place; never empty.

    Raises
    ------
    SequenceError
        If a record has no sequence.
    LetterError
        For letters outside the alphabet.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from seqkern.kernels import WeightedDegreeKernel
    >>> from seqkern.models.scan import Scanner
    >>> from seqkern.models.training import train_model
    >>> from seqkern.sequences.labels import make_labels
    >>> from seqkern.sequences.sequence_set import as_sequences
    >>> X = as_sequences(["AGGTAA", "CGGTAA", "TTGTCC", "ACGTTC"], "dna")
    >>> labels = make_labels(X.ids, ["donor", "donor", "decoy", "decoy"], positive="donor")
    >>> scanner = Scanner(train_model(X, labels, WeightedDegreeKernel(3), "csvc:C=10"), "GT", "-2:+3", strand="+")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "genome.fa"
    ...     _ = path.write_text(">chr1\nCCTAGGTAACCTTGTCCAG\n")
    ...     with Genome(path) as genome:
    ...         for found in scan_part(scanner, genome, Part(2, 2)):
    ...             print(found.record, found.positions, found.decisions.round(2))
    chr1 [14] [-1.]
    """
    scanner.counts.clear()
    scanner.bare = []
    names = list(map(str, range(1, len(genome.lengths) + 1))) if ids == "number" else list(genome.lengths)
    scanner.lengths = dict(zip(names, genome.lengths.values(), strict=True))
    _check_lengths(genome)
    table, window, width = letter_table(scanner.alphabet), scanner.window, len(scanner.site)
    # a candidate on strand - has the positions before it on its right
    ahead = max(window.left, window.right + 1 - width)
    behind = max(window.right + 1, window.left + width)
    done = 0
    for name, (own, length), start, stop in _ranges(genome.lengths, names, part, block):
        low, high = max(start - ahead, 0), min(stop + behind, length)
        letters = genome.fetch(own, low, high).encode("utf-8", "backslashreplace")
        piece = make_piece(letters, table, scanner.alphabet, name=genome.path, record=name, before=low)
        places = np.zeros(1, dtype=np.int64)
        segment = Segment(
            scanner, piece.codes, piece.lower, np.array([name], dtype=object), places, places - low, places + high - low
        )
        yield from segment.decide(start - low, stop - low)
        done += stop - start
        if progress is not None:
            progress(done)


def _check_lengths(genome: Genome) -> None:
    """Raise SequenceError for a record without a sequence."""
    for name, length in genome.lengths.items():
        if not length:
            raise SequenceError("has no sequence", file=genome.path, record=name, remedy="remove the record")


def _ranges(
    lengths: dict[str, int], names: list[str], part: Part, block: int
) -> Iterator[tuple[str, tuple[str, int], int, int]]:
    """Yield the ranges of a part: the id of the record, its name and length in the genome, start and stop."""
    first, last = part.span(sum(lengths.values()))
    before = 0
    for name, (own, length) in zip(names, lengths.items(), strict=True):
        start, stop = max(first - before, 0), min(last - before, length)
        for begin in range(start, stop, block):
            yield name, (own, length), begin, min(begin + block, stop)
        before += length
