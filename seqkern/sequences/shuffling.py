"""Shuffled sequences with the same k-mer counts: Altschul and Erickson's walk along all edges of a graph of k-mers.

Altschul SF, Erickson BW (1985). Significance of nucleotide sequence alignments: a method for random sequence
permutation that preserves dinucleotide and codon usage. Molecular Biology and Evolution 2(6), 526-538. The last edges
are drawn as a uniform random tree by Wilson's loop-erased walk, as in uShuffle.
"""

from __future__ import annotations

import itertools
import random

from seqkern.core.checks import check_integer


def shuffled(text: str, k: int, rng: random.Random) -> str:
    """Return a random sequence with the k-mer counts of another one, each such sequence with equal probability.

    Parameters
    ----------
    text : str
        Any letters; sequences shorter than k + 1 are returned as they are.
    k : int
        Length of the k-mers, at least 1; 2 keeps the counts of dinucleotides.
    rng : random.Random
        Source of random numbers.

    Returns
    -------
    str

    Notes
    -----
    Takes about O(n) steps for n letters. With k > 1 the first and the last k − 1 letters stay.

    Examples
    --------
    >>> import random
    >>> from collections import Counter
    >>> old = "ACGTTGCAACGGTCA"
    >>> new = shuffled(old, 2, random.Random(1))
    >>> Counter(zip(old, old[1:])) == Counter(zip(new, new[1:])), old == new
    (True, False)
    """
    check_integer("k", k, 1)
    if k == 1:
        return "".join(rng.sample(text, len(text)))
    if len(text) <= k:
        return text
    numbers: dict[str, int] = {}
    path = [numbers.setdefault(text[i : i + k - 1], len(numbers)) for i in range(len(text) - k + 2)]
    edges: list[list[int]] = [[] for _ in numbers]
    for one, next_one in itertools.pairwise(path):
        edges[one].append(next_one)
    last = path[-1]
    exits = _last_edges(edges, last, rng)
    for vertex, targets in enumerate(edges):
        if vertex != last:
            targets.remove(exits[vertex])
        rng.shuffle(targets)
        if vertex != last:
            targets.append(exits[vertex])
    letters = [kmer[-1] for kmer in numbers]
    vertex, used, found = path[0], [0] * len(edges), [text[: k - 1]]
    for _ in range(len(path) - 1):
        place = used[vertex]
        used[vertex], vertex = place + 1, edges[vertex][place]
        found.append(letters[vertex])
    return "".join(found)


def _last_edges(edges: list[list[int]], root: int, rng: random.Random) -> list[int]:
    """Return the target of the last edge of each vertex: a random tree towards the root, by loop-erased walks."""
    target = [-1] * len(edges)
    done = [False] * len(edges)
    done[root] = True
    for first in range(len(edges)):
        vertex = first
        while not done[vertex]:
            target[vertex] = rng.choice(edges[vertex])
            vertex = target[vertex]
        vertex = first
        while not done[vertex]:
            done[vertex] = True
            vertex = target[vertex]
    return target
