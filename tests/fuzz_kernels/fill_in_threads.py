"""Every example of every kernel, its matrix filled by four threads in small blocks: for the thread sanitizer.

``--race`` lets two threads write one block, to show that the sanitizer sees it.
"""

import sys
import threading

import numpy as np
from fuzz_data import data_for

from seqkern.core.errors import SeqkernError
from seqkern.kernels import KERNELS, blocks

ROUNDS = 3


def main(names):
    """Fill matrices of the named kernels, or of all; print how many."""
    blocks.row_blocks = lambda n, *_: [(start, min(start + 2, n)) for start in range(0, n, 2)]
    filled = 0
    for name in names or KERNELS.classes:
        before = filled
        for number, kernel in enumerate(KERNELS.classes[name].examples()):
            for seed in range(ROUNDS):
                X = data_for(kernel, np.random.default_rng([seed, number]), ("related", "edges", "masked"))[1]
                try:
                    kernel.fit(X, np.where(np.arange(len(X)) % 2, 1, -1))
                    kernel(X, n_threads=4)
                    kernel(X.take(np.arange(0, len(X), 2)), X, n_threads=4)
                except SeqkernError:  # a record is too short for this example
                    continue
                filled += 2
        print(f"{name:24} {filled - before:4} matrices", flush=True)
        assert filled > before, name
    print(f"{filled} matrices by 4 threads")


def race():
    """Fill one matrix by two threads at the same time."""
    kernel = KERNELS.classes["string"](n=3, normalize=False)
    rows = kernel.prepare(["GATTACA" * 40] * 24).payload
    out = np.empty((24, 24))
    start = threading.Barrier(2)

    def work():
        start.wait()
        for _ in range(3):
            kernel._block(rows, rows, out)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    race() if sys.argv[1:] == ["--race"] else main(sys.argv[1:])
