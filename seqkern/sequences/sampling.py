"""Random and reproducible choices: shuffled sequences, choices by hash, samples held out together."""

import itertools
import random
from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from seqkern.core.checks import check_integer
from seqkern.core.types import Array, Indices, Ints
from seqkern.sequences.sequence_set import SequenceSet

# Shuffled sequences with the same k-mer counts, by Altschul and Erickson's Eulerian walk on a k-mer graph.
#
# Altschul SF, Erickson BW (1985). Significance of nucleotide sequence alignments: a method for random sequence
# permutation that preserves dinucleotide and codon usage. Molecular Biology and Evolution 2(6), 526-538. The last edges
# are drawn as a uniform random tree by Wilson's loop-erased walk, as in uShuffle.


def shuffled(text: str, k: int, rng: random.Random) -> str:
    """Return a shuffled sequence with the same k-mer counts, drawn uniformly from all such sequences.

    Takes about O(n) steps for n letters. With k > 1 the first and the last k − 1 letters stay.
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


# Reproducible subsets of sequences, chosen by a hash of their residues only.


def choose_by_hash(X: SequenceSet, rows: Ints, most: int) -> Ints:
    """Return at most `most` of the rows, sorted: those whose residues have the smallest hashes.

    >>> X = SequenceSet.from_strings(["ACGT", "GGCC", "TTAA"], "dna")
    >>> choose_by_hash(X, np.arange(3), 2).tolist() == choose_by_hash(X[[0, 1, 2, 0]], np.arange(3), 2).tolist()
    True
    """
    if len(rows) <= most:
        return rows
    hashes = [blake2b(X.codes[X.starts[row] : X.stops[row]].tobytes(), digest_size=8).digest() for row in rows.tolist()]
    order = sorted(range(len(rows)), key=lambda i: (hashes[i], rows[i]))
    return rows[np.sort(order[:most])]


# Ways to split a data set into training and test sets: samples that are held out together.
#
# Every function here is pure: arrays in, arrays out. `folds` names them, checks their results and stores these as
# files. The k-fold routine replaces scikit-learn's StratifiedKFold and StratifiedGroupKFold: one routine serves both
# single samples and groups, is ten times as fast on groups, distributes them more evenly, and gives the same folds
# for a seed with every version of scikit-learn.


def merge_groups(n: int, *partitions: npt.ArrayLike | None, pairs: npt.ArrayLike | None = None) -> Indices:
    """Merge partitions of n samples: samples that share a group in any partition, or a pair, share one in the result.

    >>> from seqkern.sequences.sampling import merge_groups
    >>> merge_groups(5, ["a", "b", "a", "c", "d"], pairs=[[1, 3]]).tolist()
    [0, 1, 0, 1, 2]
    """
    given = [np.asarray(partition) for partition in partitions if partition is not None]
    group = _numbered(given[0]) if given else np.arange(n, dtype=np.int64)
    # joins groups instead of samples, of which there may be very many
    links = [] if pairs is None else [group[np.asarray(pairs, dtype=np.int64).reshape(-1, 2)]]
    for partition in given[1:]:
        _, first, other = np.unique(partition, return_index=True, return_inverse=True)
        links.append(np.stack((group, group[first[other]]), axis=1))
    if not n or not links:
        return group
    return connected(int(group.max()) + 1, np.concatenate(links))[group]


def connected(n: int, pairs: npt.ArrayLike) -> Indices:
    """Return the connected component of each of n nodes, numbered in the order of their first nodes.

    >>> from seqkern.sequences.sampling import connected
    >>> connected(5, [[1, 3], [3, 4]]).tolist()
    [0, 1, 2, 1, 1]
    """
    # imported here for fast start-up
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ends = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    part: Indices = np.arange(n)
    for begin in range(0, len(ends), 1 << 22):  # a graph takes five times the memory of its pairs
        own = part[ends[begin : begin + (1 << 22)]]
        graph = coo_array((np.ones(len(own), dtype=bool), tuple(own.T)), shape=(n, n))
        part = connected_components(graph, directed=False)[1].astype(np.int64)[part]
    return _numbered(part)


def _numbered(partition: Array) -> Indices:
    """Return the groups of a partition, numbered in the order of their first samples."""
    _, first, group = np.unique(partition, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[group]


def _level(counts: Indices, samples: int, totals: Indices) -> Indices:
    """Return the number of `samples` for each fold that makes its `counts` as even as possible.

    The remainder after levelling goes to the folds with the smallest `totals`.
    """
    order = np.argsort(counts, kind="stable")
    level = counts[order]
    # the lowest a folds can be raised to the level of the next one at this cost
    cost = np.append(level[1:] * np.arange(1, len(level)) - np.cumsum(level)[:-1], np.iinfo(np.int64).max)
    a = int(np.searchsorted(cost, samples, side="right")) + 1
    height, left = divmod(samples + int(level[:a].sum()), a)
    given = np.maximum(height - counts, 0)
    lowest = order[:a]
    favoured = lowest[np.lexsort((lowest, (totals + given)[lowest]))]
    given[favoured[:left]] += 1
    return given


def deal(
    y: npt.ArrayLike,
    k: int,
    seed: int | Sequence[int],
    groups: npt.ArrayLike | None = None,
    *,
    largest_first: bool = True,
) -> Indices:
    """Distribute samples over k folds, each with its share of every class, without dividing groups.

    Groups of several samples go first, from the largest to the smallest, each to the fold where its classes are
    rarest; single samples then level every class. Without groups, the folds' sizes and their counts of a class
    differ by at most one. Ties are broken at random with `seed`.
    """
    rng = np.random.default_rng(seed)
    classes: Indices = np.unique(y, return_inverse=True)[1]
    n, n_classes = len(classes), int(classes.max()) + 1
    if groups is None:
        groups = np.arange(n)
    _, group, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    share = 1.0 / np.bincount(classes, minlength=n_classes)
    fold = np.full(n, -1, dtype=np.int64)
    counts = np.zeros((k, n_classes), dtype=np.int64)

    several = rng.permutation(np.flatnonzero(sizes > 1))
    if largest_first:
        several = several[np.argsort(-sizes[several], kind="stable")]
    order, ends = np.argsort(group, kind="stable"), np.cumsum(sizes)
    for g in several:
        members = order[ends[g] - sizes[g] : ends[g]]
        inside = np.bincount(classes[members], minlength=n_classes)
        totals = counts.sum(axis=1)
        crowding = (counts * share) @ (inside * share) + totals * (sizes[g] / n**2)
        best = np.lexsort((totals, crowding))[0]
        fold[members] = best
        counts[best] += inside

    single = sizes[group] == 1
    for c in range(n_classes):
        rows = rng.permutation(np.flatnonzero(single & (classes == c)))
        given = _level(counts[:, c], len(rows), counts.sum(axis=1))
        fold[rows] = np.repeat(np.arange(k), given)
        counts[:, c] += given
    return fold


def locus_blocks(chromosome: npt.ArrayLike, position: npt.ArrayLike, gap: int, block: int = 0) -> Indices:
    """Cut chromosomes into blocks of windows, at least `gap` bases apart.

    Windows closer than `gap` to their neighbour on the chromosome stay together, on either strand; a
    block ends at the first such gap after it spans `block` bases.

    >>> from seqkern.sequences.sampling import locus_blocks
    >>> locus_blocks(["chr1", "chr1", "chr1", "chr2"], [100, 150, 5000, 100], gap=200).tolist()
    [0, 0, 1, 2]
    """
    chromosomes, places = np.asarray(chromosome), np.asarray(position, dtype=np.int64)
    order = np.lexsort((places, chromosomes))
    cuts = np.zeros(len(order), dtype=np.int64)
    begin = None
    for rank in range(len(order)):
        here, before = order[rank], order[rank - 1]
        if begin is None or chromosomes[here] != chromosomes[before]:
            begin, cuts[rank] = places[here], rank > 0
        elif places[here] - places[before] >= gap and places[before] - begin >= block:
            begin, cuts[rank] = places[here], 1
    blocks = np.empty(len(order), dtype=np.int64)
    blocks[order] = np.cumsum(cuts)
    return blocks
