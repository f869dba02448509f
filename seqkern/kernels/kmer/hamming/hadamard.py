"""Gram matrices of kernels on the Hamming distances of DNA l-mers, by the transform of each record's counts.

K = Φ·G·Φᵀ with G[a, b] = c[h(a, b)] and Φ the counts of l-mers. G = H·Λ·H / 4^l: H is the Walsh-Hadamard matrix of the
2·l bits of an l-mer, and the eigenvalue λ_i of a row of H depends only on the number i of letters on which it depends
(`eigenvalues`). So

    K(x, y) = Σ_i λ_i · (Σ over the rows u on i letters of φ_u(x)·φ_u(y)) / 4^l,   φ = H·Φ,

products of whole numbers up to the number of l-mers, in 8 or 16 bits: exact for whole c. Rows with λ_i = 0 are left
out: gapped k-mers need those on k letters at most.

On both strands, the counts of an l-mer and its reverse complement are equal. Then the transforms of u and of u
backwards are equal up to the sign, that of the parity of u's bits: one of them is enough, twice. One that is the same
backwards is 0 if the parity is odd; else it is even, and there twice instead, halved.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import comb

import numpy as np
import numpy.typing as npt

from seqkern.kernels.kmer.estimators import krawtchouk
from seqkern.kernels.kmer.hamming import _hadamard
from seqkern.kernels.kmer.kmers import find_kmers
from seqkern.kernels.planner import CODE_NS, LARGEST_BYTE, MULTIPLY_NS, TALLY_NS, WINDOW_BYTES, Cost, Workload
from seqkern.kernels.products import _product
from seqkern.kernels.products.dense import PANEL, SignedBlock
from seqkern.sequences.sequence_set import SequenceSet

LETTERS = 4
LARGEST_LENGTH = 9  # 16 tables of 4^9 numbers: 8 MB
MOST_WINDOWS = 32767  # of a record: sums of 16 bits
TABLE_BYTES = 1 << 18  # that are transformed together, unless one panel is larger
NUMBER_NS = 0.25  # a number of a table: cleared, chosen, measured, packed
STAGE_NS = 0.05  # a number of a table, for each letter
PAIR_NS = 0.7  # a product of two records, for each eigenvalue
SPREAD = 5  # transforms are mostly below so many standard deviations, the roots of the numbers of l-mers


def whole_eigenvalues(length: int, values: Sequence[int]) -> list[int]:
    """Return the eigenvalues of the matrix values[h(a, b)] over all l-mers of DNA.

    Parameters
    ----------
    length : int
        Length of the l-mers.
    values : sequence of int, length + 1
        Of each Hamming distance.

    Returns
    -------
    list of int, length + 1
        By the number of letters on which a function depends.
    """
    return [
        sum(value * krawtchouk(h, i, length, LETTERS - 1) for h, value in enumerate(values)) for i in range(length + 1)
    ]


def transform_fits(work: Workload, size: int, length: int) -> bool:
    """Return whether `transform_blocks` is feasible.

    Parameters
    ----------
    work : Workload
        Of the matrix; of both strands if both count.
    size : int
        Letters of the alphabet.
    length : int
        Length of the l-mers.

    Returns
    -------
    bool
    """
    return size == LETTERS and length <= LARGEST_LENGTH and 2 * work.longest <= MOST_WINDOWS


def transform_blocks(
    X: SequenceSet, length: int, values: Sequence[int], both_strands: bool
) -> Iterator[tuple[int, SignedBlock]]:
    """Yield factors and blocks whose products are 4^l times the kernel.

    Parameters
    ----------
    X : SequenceSet
        The n records.
    length : int
        l.
    values : sequence of int, length + 1
        What a pair of l-mers adds, by Hamming distance.
    both_strands : bool
        Whether l-mers of both strands count: each pair is there twice.

    Yields
    ------
    factor : int
        λ_i, twice on both strands.
    block : SignedBlock
        The transforms on i letters.
    """
    found = find_kmers(X, length, strands="both" if both_strands else "one")
    eigenvalues, features = whole_eigenvalues(length, values), features_by_letters(length, both_strands)
    needed = [(value, *features[i]) for i, value in enumerate(eigenvalues) if value]
    blocks = [SignedBlock(len(X), len(order)) for _, order, _ in needed]
    panels, space = -(-len(X) // PANEL), LETTERS**length
    step = max(1, TABLE_BYTES // (2 * space * PANEL))
    buffer = np.empty((min(step, panels), space, PANEL), dtype=np.int16)
    for panel in range(0, panels, step):
        tables = buffer[: min(step, panels - panel)]
        tables.fill(0)
        found.tally(panel * PANEL, tables.view(np.uint16))
        _hadamard.transform(_product.level(), tables)
        for block, (_, order, halved) in zip(blocks, needed, strict=True):
            chosen = np.empty((len(tables), len(order), PANEL), dtype=np.int16)
            _hadamard.choose(tables, order, halved, chosen)
            block.add(panel, chosen)
    for block, (value, _, _) in zip(blocks, needed, strict=True):
        yield (2 if both_strands else 1) * value, block


@lru_cache(maxsize=8)
def features_by_letters(length: int, both_strands: bool) -> list[tuple[npt.NDArray[np.int32], int]]:
    """Return which transforms are needed.

    Parameters
    ----------
    length : int
        Length of the l-mers.
    both_strands : bool
        Whether both strands count.

    Returns
    -------
    list of (ndarray of int32, int), length + 1
        By the number of letters on which they depend: the transforms, and how many of them, the last ones, are halved.
    """
    codes = np.arange(LETTERS**length)
    rest, backwards, letters = codes.copy(), np.zeros_like(codes), np.zeros_like(codes)
    for _ in range(length):
        rest, last = np.divmod(rest, LETTERS)
        backwards = LETTERS * backwards + last
        letters += last > 0
    odd = np.zeros_like(codes)
    for bit in range(2 * length):
        odd ^= codes >> bit & 1
    found = []
    for number in range(length + 1):
        mine = letters == number
        if both_strands:
            own = codes[mine & (codes == backwards) & (odd == 0)]
            order = np.concatenate((codes[mine & (codes < backwards)], own, own))
            found.append((order.astype(np.int32), 2 * len(own)))
        else:
            found.append((codes[mine].astype(np.int32), 0))
    return found


def transform_cost(work: Workload, length: int, values: Sequence[int], both_strands: bool) -> Cost:
    """Return the Cost of `transform_blocks`.

    Parameters
    ----------
    work : Workload
        Of the matrix; of both strands if both count.
    length : int
        Length of the l-mers.
    values : sequence of int, length + 1
        As in `transform_blocks`.
    both_strands : bool
        Whether both strands count.

    Returns
    -------
    Cost
    """
    space, strands = LETTERS**length, 2 if both_strands else 1
    kind = 1 if 2 * SPREAD * (strands * work.longest) ** 0.5 <= LARGEST_BYTE else 2
    needed = [i for i, value in enumerate(whole_eigenvalues(length, values)) if value]
    width = sum(comb(length, i) * (LETTERS - 1) ** i for i in needed) / strands
    make = work.records * space * (NUMBER_NS + length * STAGE_NS) + work.letters * (CODE_NS + TALLY_NS)
    multiply = work.pairs * (width * kind * MULTIPLY_NS[_product.level()] + PAIR_NS * len(needed))
    size = work.records * width * kind + work.letters * WINDOW_BYTES + 4 * PANEL * space
    return Cost((make + multiply) * 1e-9, int(size))
