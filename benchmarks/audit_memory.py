"""CPU seconds and peak memory of `seqkern audit` on large simulated parts, and the memory it predicts.

Run: ``python benchmarks/audit_memory.py`` (ten CPU minutes), or with a number of sequences (default: 100000), an
alphabet, and ``search`` to train nothing.
"""

import sys
import time

import numpy as np
from common import start_table

from seqkern.core.memory import format_bytes
from seqkern.core.progress import memory_in_use, peak_mb
from seqkern.core.threads import given_threads
from seqkern.evaluation.relations import Parts
from seqkern.methods.audited import audit_bytes
from seqkern.report import audit
from seqkern.sequences.sequence_set import SequenceSet

SIZES = {"protein": 20, "dna": 4}  # proteins first: they need less, and a peak is one of the whole process


def simulated(alphabet, n, seed=1):
    """Return n random sequences of 100 to 1000 letters, a fifth of them test sequences; one in a hundred is a copy."""
    rng = np.random.default_rng(seed)
    bounds = np.concatenate(([0], np.cumsum(rng.integers(100, 1001, n))))
    codes = rng.integers(0, SIZES[alphabet], bounds[-1], dtype=np.uint8)
    X = SequenceSet.from_offsets(codes, bounds, [str(i) for i in range(n)], alphabet)
    order = np.arange(n)
    order[: n // 100] = np.arange(n - n // 100, n)
    labels = np.where(rng.random(n) < 0.5, "bound", "unbound")
    return Parts(X.take(order).compact(), n // 5, tuple(labels[order].tolist()))


def main(n=100_000, only=None, scores=True):
    """Print a table."""
    row = start_table("sequences", "letters", "overlap found", "CPU s", "memory before", "peak", "predicted")
    with given_threads(1):
        for alphabet in SIZES if only is None else (only,):
            parts = simulated(alphabet, n)
            before, start = memory_in_use(), time.process_time()
            found = audit(parts, n_threads=1, memory_limit="4GB", scores=scores)
            seconds, count = time.process_time() - start, int(found.relations.overlaps.sum())
            amounts = (before, 1e6 * peak_mb(), audit_bytes(parts, scores))
            letters = f"{int(parts.X.lengths.sum()):,}"
            row(f"{n:,} {alphabet}", letters, f"{count:,}", f"{seconds:.0f}", *map(format_bytes, amounts))


if __name__ == "__main__":
    given = sys.argv[1:]
    main(*map(int, given[:1]), *given[1:2], scores="search" not in given[2:])
