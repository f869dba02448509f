"""Write coding parts of genes as GTF."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from seqkern.core.tsv import escaped

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
        strand, names = "-" if reverse else "+", (f"g{number}", f"g{number}.t1")

        def line(
            feature: str, start: int, stop: int, *values: str, strand: str = strand, names: tuple[str, str] = names
        ) -> str:
            return gtf_line(chromosome, feature, (start + 1, stop), strand, *names, *values)

        yield line("transcript", parts[0][0], parts[-1][1], f"{score:.3f}")
        last = 0 if reverse else len(parts) - 1
        for i, (frame, (start, stop)) in enumerate(zip(_frames(parts, reverse), parts, strict=True)):
            yield line("exon", start, stop)
            low, high = start + CODON * (reverse and i == last), stop - CODON * (not reverse and i == last)
            if low < high:
                yield line("CDS", low, high, ".", str(frame))
        codon = parts[0][0] if reverse else parts[-1][1] - CODON
        yield line("stop_codon", codon, codon + CODON, ".", "0")


def gtf_line(
    record: str,
    feature: str,
    span: tuple[int, int],
    strand: str,
    gene: str,
    transcript: str,
    score: str = ".",
    frame: str = ".",
) -> str:
    r"""Return one line.

    Parameters
    ----------
    record, feature : str
        First and third column.
    span : (int, int)
        From 1, both included.
    strand : {"+", "-"}
    gene, transcript : str
        Ids.
    score, frame : str
        A dot is none.

    Returns
    -------
    str

    Examples
    --------
    >>> gtf_line("chr1", "exon", (10, 15), "+", "g1", "g1.t1")
    'chr1\tseqkern\texon\t10\t15\t.\t+\t.\tgene_id "g1"; transcript_id "g1.t1";\n'
    """
    names = f'gene_id "{gene}"; transcript_id "{transcript}";'
    return escaped(f"{record}\tseqkern\t{feature}\t{span[0]}\t{span[1]}\t{score}\t{strand}\t{frame}\t{names}\n")


def _frames(parts: Sequence[tuple[int, int]], reverse: bool) -> list[int]:
    """Return how many bases at the start of each part complete a codon of the part before, in the order of `parts`."""
    frames, done = [], 0
    for start, stop in reversed(parts) if reverse else parts:
        frames.append(-done % CODON)
        done += stop - start
    return frames[::-1] if reverse else frames
