"""Multiple alignments: the most similar sequences first, along a tree of their local alignment scores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import SequenceError
from seqkern.core.memory import available_memory, format_bytes
from seqkern.kernels.alignment.scoring import score_table
from seqkern.kernels.alignment.smith_waterman import SmithWatermanKernel
from seqkern.kernels.hmm import _alignment
from seqkern.kernels.prepared import Plan
from seqkern.sequences.sequence_set import SequenceSet

MATRICES = {"protein": "BLOSUM62", "dna": "NUC.4.4", "rna": "NUC.4.4"}
GAP_OPEN, GAP_EXTEND = 11.0, 1.0
CELL_NS = 13.0
"""CPU nanoseconds for a pair of columns."""
IN_TREE = 1000
"""Sequences that are compared in pairs; each further one is aligned with all before it."""


@dataclass(frozen=True, eq=False)
class Aligned:
    """Some sequences in columns.

    Attributes
    ----------
    members : list of int
        Numbers of the sequences.
    places : list of ndarray of int64, shape (residues,)
        The column of each residue, one array for each member.
    counts : ndarray of float64, shape (letters + 1, columns)
        How often each letter is in a column; in the last row the residues, masked ones included.
    """

    members: list[int]
    places: list[npt.NDArray[np.int64]]
    counts: npt.NDArray[np.float64]


def align_sequences(X: SequenceSet) -> npt.NDArray[np.uint8]:
    """Return a multiple alignment of sequences.

    The most similar sequences or alignments are aligned first, along the UPGMA tree of Smith-Waterman scores, each
    divided by the roots of both scores with themselves. The score of two columns is the sum of BLOSUM62 (NUC.4.4 for
    bases) over all pairs of residues; a gap costs 11 for its first residue and 1 for each further one. Masked residues
    score nothing. Of more than 1000 distinct sequences, 1000 at equal steps of their sorted texts are in the tree, and
    the others are added one by one. All scores are integers: the result depends on the sequences alone, not on their
    order.

    Time: n² Smith-Waterman scores and n alignments for n sequences; memory: the product of two lengths, in bytes.

    Parameters
    ----------
    X : SequenceSet
        Dna, rna or protein; at least one sequence, each with an unmasked residue.

    Returns
    -------
    ndarray of uint8, shape (n, columns)
        Codes of the residues, ``letters`` for masked ones, and ``letters + 1`` for gaps.

    Raises
    ------
    SequenceError
        If two sequences are too long for the memory.
    ParameterError
        If it would take too long; see `seqkern.kernels.prepared.Plan.check`.

    Examples
    --------
    >>> X = SequenceSet.from_strings(["MKVWHDELAW", "MKVWHDEDELAW", "KVWHDELAW"], "protein")
    >>> for row in align_sequences(X):
    ...     print("".join((X.alphabet.letters + "X-")[code] for code in row))
    MKVWH--DELAW
    MKVWHDEDELAW
    -KVWH--DELAW
    """
    size = X.alphabet.size
    texts = sorted(set(X.strings()))
    number = {text: place for place, text in enumerate(texts)}
    own = SequenceSet.from_strings(texts, X.alphabet, unknown="mask_all")
    plan = alignment_plan(own)
    _check_memory(int(own.lengths.max()), int(np.sort(own.lengths)[-2:].min()), plan.check().bytes)
    whole = _align_all(own)
    rows = np.full((len(texts), whole.counts.shape[1]), size + 1, dtype=np.uint8)
    for member, places in zip(whole.members, whole.places, strict=True):
        rows[member, places] = np.minimum(own.codes[own.starts[member] : own.stops[member]], size)
    return rows[[number[text] for text in X.strings()]]


def alignment_plan(X: SequenceSet) -> Plan:
    """Return what the alignment of distinct sequences is predicted to cost.

    Parameters
    ----------
    X : SequenceSet
        The sequences.

    Returns
    -------
    Plan

    Examples
    --------
    >>> X = SequenceSet.from_strings(["MKVWHDELAW", "MKVWHDEDELAW"], "protein")
    >>> alignment_plan(X).algorithm
    'tree'
    """
    if len(X) < 2:
        return Plan("tree")
    pairs = _scores_kernel(X).plan(X.take(_in_tree(len(X))))
    first, second = (float(length) for length in np.sort(X.lengths)[:-3:-1])
    cells = (len(X) - 1) * float(X.lengths.mean()) ** 2 if len(X) > 2 else first * second
    return Plan("tree", pairs.seconds + CELL_NS * 1e-9 * cells, max(pairs.bytes, int((first + 1) * (second + 1))))


def _scores_kernel(X: SequenceSet) -> SmithWatermanKernel:
    """Return the kernel whose values order the tree."""
    return SmithWatermanKernel(MATRICES[X.alphabet.name], GAP_OPEN, GAP_EXTEND, normalize=True, zero_diagonal="zero")


def _in_tree(n: int) -> npt.NDArray[np.int64]:
    """Return which of n sequences are compared in pairs."""
    return np.linspace(0, n - 1, min(n, IN_TREE)).round().astype(np.int64)


def _align_all(X: SequenceSet) -> Aligned:
    """Return the alignment of distinct sequences."""
    score = score_table(MATRICES[X.alphabet.name], X.alphabet)[:-1, :-1].copy()
    nodes = {i: _alone(X, i) for i in range(len(X))}
    for number, (first, second) in enumerate(_merges(X), len(X)):
        nodes[number] = _merge(nodes.pop(first), nodes.pop(second), score, X)
    return nodes.popitem()[1]


def _alone(X: SequenceSet, i: int) -> Aligned:
    """Return one sequence as an alignment."""
    codes = np.minimum(X.codes[X.starts[i] : X.stops[i]], X.alphabet.size).astype(np.int64)
    places = np.arange(len(codes))
    counts = np.zeros((X.alphabet.size + 1, len(codes)))
    counts[codes, places] = 1
    counts[-1] = 1
    return Aligned([i], [places], counts)


def _merges(X: SequenceSet) -> Iterator[tuple[int, int]]:
    """Yield pairs of nodes to align: 0 to n − 1 are the sequences, each pair is a new node."""
    from scipy.cluster.hierarchy import linkage  # imported here: slows start-up

    n = len(X)
    if n < 2:
        return
    chosen = _in_tree(n)
    distances = 1 - _scores_kernel(X).kernel(X.take(chosen))[np.triu_indices(len(chosen), 1)]
    node = n - 1
    for first, second in linkage(distances, "average")[:, :2].astype(np.int64).tolist():
        node += 1
        yield _node(first, chosen, n), _node(second, chosen, n)
    for other in np.setdiff1d(np.arange(n), chosen).tolist():
        yield node, other
        node += 1


def _node(number: int, chosen: npt.NDArray[np.int64], n: int) -> int:
    """Return the node of `_merges` for one of a tree of the chosen sequences alone."""
    return int(chosen[number]) if number < len(chosen) else n + number - len(chosen)


def _merge(first: Aligned, second: Aligned, score: npt.NDArray[np.float64], X: SequenceSet) -> Aligned:
    """Return the alignment of two alignments."""
    sizes = first.counts.shape[1], second.counts.shape[1]
    _check_memory(*sizes, (sizes[0] + 1) * (sizes[1] + 1))
    counts = len(first.members), len(second.members)
    path = _alignment.align(first.counts, counts[0], second.counts, counts[1], score, GAP_OPEN, GAP_EXTEND)
    merged, places = np.zeros((len(first.counts), len(path))), []
    for one, other in ((first, 2), (second, 1)):
        column = np.flatnonzero(path != other)
        merged[:, column] += one.counts
        places += [column[own] for own in one.places]
    return Aligned(first.members + second.members, places, merged)


def _check_memory(first: int, second: int, need: int) -> None:
    """Raise SequenceError if there is not enough memory to align so many columns."""
    free = available_memory()
    if need > free:
        raise SequenceError(
            f"aligning {first} with {second} columns takes {format_bytes(need)} of memory, {format_bytes(free)} "
            "are free",
            remedy="choose shorter sequences, another kernel, or give an HMM with hmm=FILE",
        )
