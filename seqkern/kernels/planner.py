"""The cost model that chooses the fastest algorithm.

The model needs only the number of windows and the letter frequencies: two random windows agree in a given set of j
positions with probability q^j, q = Σ (share of a letter)². The constants are CPU nanoseconds, measured with
benchmarks/bench_kmers.py on one core of an AMD EPYC of the Zen 5 generation; on other processors the ratios are
similar.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Self
from weakref import WeakKeyDictionary

import numpy as np

from seqkern.core.memory import available_memory
from seqkern.core.threads import GIVEN_THREADS, available_threads
from seqkern.core.types import Floats
from seqkern.kernels.blocks import LEAST_BLOCK_ROWS, row_blocks
from seqkern.kernels.prepared import Plan
from seqkern.kernels.products import _product
from seqkern.kernels.products.product import POSTING_NS, bitmap_nanoseconds, bitmaps_are_cheaper
from seqkern.sequences.sequence_set import SequenceSet

OUTPUT_NS = 1.0  # an entry of the matrix: converted, normalised, mirrored
CODE_NS = 8.0  # a window: found, coded
TALLY_NS = 1.0  # an increment of a count in a vector
SMOOTH_NS = 0.027  # a byte of a vector, for each position and mismatch
PACK_NS = 0.13  # a feature of a vector: cleared, measured, packed
MULTIPLY_NS = (0.031, 0.0048, 0.0021)  # a product of 8-bit counts, for each level of instructions
PAIR_NS = 0.5  # a dense product of two records, however short
COUNT_NS = 3.0  # a window: counted
RANK_NS = 25.0  # a window: sorted before, if there are many more k-mers than windows
SORT_NS = 15.0  # a k-mer as text: compared once while sorting
INDEX_NS = 12.0  # a count: put into posting lists
LIST_NS = 6.0  # entering a posting list
WINDOW_BYTES, COUNT_BYTES, RANK_BYTES = 12, 20, 24
MEMORY_SHARE = 1 / 3  # of the free memory, for the columns of one k; rows and the matrix need some, too
NEGLIGIBLE_BYTES = 1 << 24  # for which the free memory is not looked up, which takes longer than a small matrix
SAMPLE_RECORDS = 256
LARGEST_BYTE = 255
TABLE_RECORDS = 16  # whose counts are made together
_SHARES: WeakKeyDictionary[SequenceSet, Floats] = WeakKeyDictionary()
"""`letter_shares` of sets in use: counted once for the plan and all products."""


@dataclass(frozen=True, order=True)
class Cost:
    """Predicted CPU seconds and bytes of one algorithm; costs add up, and compare by seconds first."""

    seconds: float
    bytes: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.seconds + other.seconds, self.bytes + other.bytes)


@dataclass(frozen=True)
class Workload:
    """The quantities that determine the cost of a kernel matrix."""

    rows: int  # Number of rows of the matrix
    cols: int  # Number of its columns
    row_letters: int  # Residues of all records of the rows
    col_letters: int  # Residues of all records of the columns
    symmetric: bool
    match: float  # Probability that two random residues are the same
    common: float  # Share of the commonest letter
    longest: int  # Residues of the longest record

    @classmethod
    def of(cls, X: SequenceSet, Y: SequenceSet | None = None) -> Self:
        """Return the Workload of comparing `X` with `Y`, or with itself by default."""
        cols = X if Y is None else Y
        shares, lengths = letter_shares(cols), cols.lengths
        letters = int(lengths.sum())
        return cls(
            len(X),
            len(cols),
            letters if Y is None else int(X.lengths.sum()),
            letters,
            Y is None,
            float(shares @ shares),
            float(shares.max(initial=0.0)),
            int(lengths.max(initial=0)),
        )

    @property
    def pairs(self) -> float:
        """Number of matrix entries that are computed, not mirrored."""
        return self.rows * self.cols / (2 if self.symmetric else 1)

    @property
    def letters(self) -> int:
        """Total number of residues of rows and columns."""
        return self.col_letters + (0 if self.symmetric else self.row_letters)

    @property
    def records(self) -> int:
        """Total number of records of rows and columns."""
        return self.cols + (0 if self.symmetric else self.rows)

    def output(self, n_threads: int | None) -> Cost:
        """Return the Cost common to all algorithms: the matrix, and the sums of the blocks in progress."""
        rows = max((stop - start for start, stop in row_blocks(self.rows, self.cols, LEAST_BLOCK_ROWS)), default=0)
        work = 8 * rows * self.cols * available_threads(GIVEN_THREADS.get() or n_threads)
        return Cost(OUTPUT_NS * 1e-9 * self.rows * self.cols, work)

    def dense(self, width: int, share: float, tallies: float = 1.0, smoothing: int = 0, folded: bool = False) -> Cost:
        """Return the Cost of products of dense vectors with `width` features."""
        kind = 1 if 3 * self.longest * share <= LARGEST_BYTE else 2
        wide = 1 if self.longest <= LARGEST_BYTE else 2  # bytes of a count before it is packed
        make = self.records * width * (PACK_NS + SMOOTH_NS * wide * smoothing)
        make += self.letters * (CODE_NS + tallies * TALLY_NS)
        tables = TABLE_RECORDS * width * wide * (3 if smoothing else 1)
        width = width // 2 if folded else width
        multiply = self.pairs * (width * kind * MULTIPLY_NS[_product.level()] + PAIR_NS)
        packed = self.records * width * kind + self.letters * WINDOW_BYTES
        return Cost((make + multiply) * 1e-9, int(packed + tables))

    def index(self, agree: float, space: int, lists: float = 1, repeats: int = 1, bitmaps: bool = True) -> Cost:
        """Return the Cost of products by posting lists, or by bitmaps instead."""
        codes = self.letters * lists * repeats
        ranked = space > 2 * codes
        row_counts = lists * self.rows * _distinct(self.row_letters / max(1, self.rows), agree)
        col_counts = lists * self.cols * _distinct(self.col_letters / max(1, self.cols), agree)
        counts = col_counts + (0 if self.symmetric else row_counts)
        postings = row_counts * col_counts / lists * agree / (2 if self.symmetric else 1)
        make = codes * (CODE_NS + COUNT_NS + ranked * RANK_NS) + counts * INDEX_NS
        walk = row_counts * LIST_NS + postings * POSTING_NS
        if bitmaps and bitmaps_are_cheaper(self.cols, round(col_counts), round(codes) if ranked else space):
            walk = bitmap_nanoseconds(self.rows, row_counts, self.cols) / (2 if self.symmetric else 1)
        size = codes * (WINDOW_BYTES + ranked * RANK_BYTES) + counts * COUNT_BYTES
        return Cost((make + walk) * 1e-9, int(size))

    def text(self, k: int) -> Cost:
        """Return the Cost of finding and sorting k-mers as text, in addition to the posting lists."""
        words = self.letters * (k + 16)
        return Cost(self.letters * (SORT_NS * math.log2(self.letters + 2) + k) * 1e-9, int(3 * words))

    def both_strands(self) -> Workload:
        """Return the Workload with each window's reverse complement as another window."""
        return replace(self, row_letters=2 * self.row_letters, col_letters=2 * self.col_letters)


def _distinct(windows: float, agree: float) -> float:
    """Return the expected number of distinct features of a record, if two windows agree with probability `agree`."""
    return -math.expm1(-windows * agree) / agree if agree > 0 else windows


def letter_shares(X: SequenceSet) -> Floats:
    """Return the frequency of each letter of the alphabet, estimated from a sample of the records.

    >>> from seqkern import SequenceSet
    >>> letter_shares(SequenceSet.from_strings(["AACG"]))
    array([0.5 , 0.25, 0.25, 0.  ])
    """
    shares = _SHARES.get(X)
    if shares is None:
        step = max(1, len(X) // SAMPLE_RECORDS)
        some = X if step == 1 else X.take(slice(None, None, step))
        counts = np.bincount(some.codes[some.positions()], minlength=256)[: X.alphabet.size]
        shares = _SHARES[X] = counts / max(1, counts.sum())
        shares.flags.writeable = False
    return shares


def cheapest(candidates: dict[str, Cost]) -> str:
    """Return the name of the fastest algorithm that fits into a share of the free memory; small ones always fit.

    If none fits, the one that needs the least memory. Free memory affects time only: all algorithms of a kernel
    give the
    same bits.

    >>> cheapest({"dense": Cost(2.0), "index": Cost(0.5)})
    'index'
    """
    fastest = min(candidates, key=lambda name: candidates[name].seconds)
    if candidates[fastest].bytes <= NEGLIGIBLE_BYTES:  # reading the limits takes as long as some matrices
        return fastest
    limit = MEMORY_SHARE * available_memory()
    light = [name for name, cost in candidates.items() if cost.bytes <= limit]
    if not light:
        return min(candidates, key=lambda name: candidates[name].bytes)
    return min(light, key=lambda name: candidates[name].seconds)


def make_plan(names: list[str], costs: list[dict[str, Cost]], output: Cost) -> Plan:
    """Return the Plan for several products computed in sequence."""
    total = sum((cost[name] for name, cost in zip(names, costs, strict=True)), output)
    algorithm = names[0] if len(set(names)) == 1 else "+".join(names)
    listed = [", ".join(f"{name} {cost.seconds:.2g} s" for name, cost in each.items()) for each in costs]
    return Plan(algorithm, total.seconds, total.bytes, f"{'; '.join(listed)}; output {output.seconds:.2g} s")
