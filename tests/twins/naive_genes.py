"""All legal genes of a short sequence, and the best set of them, from the definition of the grammar alone."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

STOPS = ("TAA", "TAG", "TGA")
COMPLEMENT = str.maketrans("ACGTN", "TGCAN")

EXONS, INTRONS = (3, 14), (4, 12)
"""Shortest and longest of random sequences."""

Parts = tuple[tuple[int, int], ...]


def reverse_complement(text: str) -> str:
    """Return the other strand, along it."""
    return text[::-1].translate(COMPLEMENT)


def is_gene(text: str, parts: Parts, exons: tuple[int, int], introns: tuple[int, int]) -> bool:
    """Return whether the parts, on strand +, are the coding part of a gene."""
    if not all(exons[0] <= stop - start <= exons[1] for start, stop in parts):
        return False
    for (_, left), (right, _) in itertools.pairwise(parts):
        intron = text[left:right]
        if not introns[0] <= len(intron) <= introns[1] or intron[:2] not in ("GT", "GC") or intron[-2:] != "AG":
            return False
    first, last = parts[0], parts[-1]
    if text[first[0] : first[1]][:3] != "ATG" or text[last[0] : last[1]][-3:] not in STOPS:
        return False
    coding = "".join(text[start:stop] for start, stop in parts)
    codons = [coding[i : i + 3] for i in range(0, len(coding), 3)]
    return len(coding) % 3 == 0 and codons[-1] in STOPS and not set(codons[:-1]) & set(STOPS)


def genes_of_strand(text: str, exons: tuple[int, int], introns: tuple[int, int]) -> Iterator[Parts]:
    """Yield the parts of every legal gene on strand +."""
    n = len(text)

    def extend(parts: Parts) -> Iterator[Parts]:
        start = parts[-1][1] if parts else 0
        least = introns[0] if parts else 0
        most = start + introns[1] if parts else n
        for begin in range(start + least, min(most, n) + 1):
            for end in range(begin + exons[0], min(begin + exons[1], n) + 1):
                more = (*parts, (begin, end))
                if text[begin : begin + 3] == "ATG" if not parts else text[begin - 2 : begin] == "AG":
                    if text[end - 3 : end] in STOPS and is_gene(text, more, exons, introns):
                        yield more
                    if text[end : end + 2] in ("GT", "GC"):
                        yield from extend(more)

    yield from extend(())


def all_genes(text: str, exons: tuple[int, int], introns: tuple[int, int]) -> list[tuple[bool, Parts]]:
    """Return every legal gene of both strands: whether it is on strand −, and its parts from left to right."""
    n = len(text)
    found = [(False, parts) for parts in genes_of_strand(text, exons, introns)]
    for parts in genes_of_strand(reverse_complement(text), exons, introns):
        found.append((True, tuple((n - stop, n - start) for start, stop in reversed(parts))))
    return found


def best_set(scored: list[tuple[float, tuple[bool, Parts]]], n: int) -> tuple[float, list[tuple[bool, Parts]]]:
    """Return the set of genes without overlap that has the greatest sum of scores."""
    best: list[tuple[float, list[tuple[bool, Parts]]]] = [(0.0, [])]
    for end in range(1, n + 1):
        found = best[-1]
        for value, gene in scored:
            if gene[1][-1][1] == end:
                total, others = best[gene[1][0][0]]
                if total + value > found[0]:
                    found = total + value, [*others, gene]
        best.append(found)
    return best[-1]


def random_text(rng, n=44):
    """Return a sequence rich in signals."""
    words = [
        "ATG",
        "GT",
        "GC",
        "AG",
        "TAA",
        "TAG",
        "TGA",
        "CAT",
        "AC",
        "CT",
        "TTA",
        "CTA",
        "TCA",
        "A",
        "C",
        "G",
        "T",
        "N",
    ]
    text = "".join(rng.choice(words, size=n))
    return text[:n]
