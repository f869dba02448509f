"""CPU seconds of every selector of features on expression data (72 × 7,129), and what it chooses first.

SEQKERN_DATA=… python benchmarks/bench_selectors.py
"""

import time

import numpy as np
from common import start_table

from seqkern.solvers.selection.selectors import SELECTORS, build_scaler
from seqkern.study import make_dataset

REPEATS = 3


def main():
    """Print one row for each selector."""
    dataset = make_dataset("golub", {"public": "expression_golub", "labels": {"positive": "AML"}})
    X = build_scaler({"normalize": "log", "floor": 100, "ceiling": 16000}).fit_transform(dataset.X.values)
    y = dataset.task().labels.signs()
    row = start_table("selector", "CPU s", "its first three")
    for name in SELECTORS.classes:
        seconds = []
        for _ in range(REPEATS):
            start = time.process_time()
            selector = SELECTORS.build(name, n_features=50).fit(X, y)
            seconds.append(time.process_time() - start)
        first = [dataset.X.columns[j] for j in np.argsort(selector.ranking_)[:3]]
        row(f"`{name}`", f"{min(seconds):.3f}", ", ".join(first))


if __name__ == "__main__":
    main()
