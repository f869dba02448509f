"""Write coding parts of genes as GTF."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

Coding = tuple[bool, Sequence[tuple[int, int]], float]
"""Whether on strand −; the exons' coding parts, ascending, from 0, half open; score."""
CODON = 3


def gtf_lines(chromosome: str, genes: Iterable[Coding], first: int = 1) -> Iterator[str]:
    r"""Yield the lines of genes: transcript, exon, CDS and stop_codon; as in GTF the CDS ends before the stop codon.

    Parameters
    ----------
    chromosome : str
        Its name.
    genes : iterable of Coding
        With the stop codon, whole in the last exon.
    first : int
        The number of the first gene: it is called ``g1``, and its transcript ``g1.t1``.

    Yields
    ------
    str
        A line.

    Examples
    --------
    >>> for line in gtf_lines("chr1", [(False, [(9, 15), (30, 36)], 1.5)]):
    ...     print(*line.split("\t")[2:8])
    transcript 10 36 1.500 + .
    exon 10 15 . + .
    CDS 10 15 . + 0
    exon 31 36 . + .
    CDS 31 33 . + 0
    stop_codon 34 36 . + 0
    """
    for number, (reverse, parts, score) in enumerate(genes, start=first):
        ends = f'{"-" if reverse else "+"}\t{{}}\tgene_id "g{number}"; transcript_id "g{number}.t1";\n'

        def line(feature: str, start: int, stop: int, frame: str = ".", score: str = ".", ends: str = ends) -> str:
            return f"{chromosome}\tseqkern\t{feature}\t{start + 1}\t{stop}\t{score}\t{ends.format(frame)}"

        yield line("transcript", parts[0][0], parts[-1][1], score=f"{score:.3f}")
        last = 0 if reverse else len(parts) - 1
        for i, (frame, (start, stop)) in enumerate(zip(_frames(parts, reverse), parts, strict=True)):
            yield line("exon", start, stop)
            low, high = start + CODON * (reverse and i == last), stop - CODON * (not reverse and i == last)
            if low < high:
                yield line("CDS", low, high, str(frame))
        codon = parts[0][0] if reverse else parts[-1][1] - CODON
        yield line("stop_codon", codon, codon + CODON, "0")


def _frames(parts: Sequence[tuple[int, int]], reverse: bool) -> list[int]:
    """Return how many bases at the start of each part complete a codon of the part before, in the order of `parts`."""
    frames, done = [], 0
    for start, stop in reversed(parts) if reverse else parts:
        frames.append(-done % CODON)
        done += stop - start
    return frames[::-1] if reverse else frames
