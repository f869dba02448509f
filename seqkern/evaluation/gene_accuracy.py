"""Accuracy of predicted genes: sensitivity and precision of coding bases, coding exons and whole genes.

A base is right if it is coding on the same strand, an exon if both ends of its coding part are, a gene if all of its
exons are those of a transcript of one annotated gene. Burset and Guigó call the precision specificity.

References
----------
Burset, Guigó: Evaluation of gene structure prediction programs. Genomics 34:353, 1996.
Guigó et al.: EGASP: the human ENCODE Genome Annotation Assessment Project. Genome Biol. 7 Suppl 1:S2, 2006.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

LEVELS = ("base", "exon", "gene")

Structure = tuple[bool, tuple[tuple[int, int], ...]]
"""Whether a coding part is on strand −, and its exons: start and stop, ascending, from 0, half open."""


@dataclass(frozen=True)
class LevelAccuracy:
    """Counts at one level.

    Attributes
    ----------
    true, predicted : int
        Number of annotated and of predicted bases, exons or genes.
    right_true, right_predicted : int
        How many of each are right.

    Examples
    --------
    >>> level = LevelAccuracy(4, 5, 3, 3)
    >>> level.sensitivity, level.precision, round(level.f1, 3)
    (0.75, 0.6, 0.667)
    """

    true: int
    predicted: int
    right_true: int
    right_predicted: int

    @property
    def sensitivity(self) -> float:
        """Share of the annotated that is right; NaN if none are annotated."""
        return self.right_true / self.true if self.true else math.nan

    @property
    def precision(self) -> float:
        """Share of the predicted that is right; NaN if none are predicted."""
        return self.right_predicted / self.predicted if self.predicted else math.nan

    @property
    def f1(self) -> float:
        """Harmonic mean of both; 0 if nothing is right."""
        right = self.right_true and self.right_predicted
        return 2 / (1 / self.sensitivity + 1 / self.precision) if right else 0.0

    def __add__(self, other: LevelAccuracy) -> LevelAccuracy:
        return LevelAccuracy(
            self.true + other.true,
            self.predicted + other.predicted,
            self.right_true + other.right_true,
            self.right_predicted + other.right_predicted,
        )


NOTHING = LevelAccuracy(0, 0, 0, 0)


def gene_accuracy(annotated: Iterable[Sequence[Structure]], predicted: Sequence[Structure]) -> dict[str, LevelAccuracy]:
    """Compare the genes of one chromosome.

    Parameters
    ----------
    annotated : iterable of sequence of Structure
        For each gene, the coding parts of its transcripts.
    predicted : sequence of Structure
        The predicted coding parts.

    Returns
    -------
    dict of str to LevelAccuracy
        For each of `LEVELS`.

    Examples
    --------
    One of two exons is right, the other has 27 bases of 30, and no gene is:

    >>> found = gene_accuracy([[(False, ((0, 30), (60, 90)))]], [(False, ((0, 30), (63, 93)))])
    >>> [(found[level].sensitivity, found[level].precision) for level in LEVELS]
    [(0.95, 0.95), (0.5, 0.5), (0.0, 0.0)]
    """
    genes = [list(transcripts) for transcripts in annotated if transcripts]
    everything = [structure for transcripts in genes for structure in transcripts]
    true, found = _bases(everything), _bases(predicted)
    both = sum(
        max(0, min(stop, other_stop) - max(start, other_start))
        for strand in (False, True)
        for start, stop, other_start, other_stop in _overlaps(true[strand], found[strand])
    )
    n_true, n_found = (sum(stop - start for own in spans.values() for start, stop in own) for spans in (true, found))
    exons, others = _exons(everything), _exons(predicted)
    right = len(exons & others)
    own = set(everything)
    return {
        "base": LevelAccuracy(n_true, n_found, both, both),
        "exon": LevelAccuracy(len(exons), len(others), right, right),
        "gene": LevelAccuracy(
            len(genes),
            len(predicted),
            sum(not set(transcripts).isdisjoint(predicted) for transcripts in genes),
            sum(structure in own for structure in predicted),
        ),
    }


def _exons(structures: Iterable[Structure]) -> set[tuple[bool, tuple[int, int]]]:
    """Return the different exons."""
    return {(reverse, exon) for reverse, exons in structures for exon in exons}


def _bases(structures: Iterable[Structure]) -> dict[bool, list[tuple[int, int]]]:
    """Return the coding bases of each strand, as intervals without overlap."""
    merged: dict[bool, list[tuple[int, int]]] = {False: [], True: []}
    for reverse, (start, stop) in sorted(_exons(structures)):
        own = merged[reverse]
        if own and start <= own[-1][1]:
            own[-1] = own[-1][0], max(own[-1][1], stop)
        else:
            own.append((start, stop))
    return merged


def _overlaps(left: Sequence[tuple[int, int]], right: Sequence[tuple[int, int]]) -> Iterable[tuple[int, int, int, int]]:
    """Yield the pairs of intervals that may overlap, of two ascending lists."""
    i = j = 0
    while i < len(left) and j < len(right):
        yield *left[i], *right[j]
        if left[i][1] <= right[j][1]:
            i += 1
        else:
            j += 1
