"""CPU seconds of fits of every solver, beside those that its `fit_cost` predicts: where its constants come from.

    python benchmarks/bench_fit_costs.py [SOLVER …]

The data are simulated donor sites against decoys. A row is a solver on one kernel, in parentheses predicted / measured.
"""

import sys
import time
import warnings
from functools import cache

import numpy as np

from seqkern.core.errors import SeqkernError
from seqkern.core.threads import one_thread
from seqkern.kernels import build_kernel
from seqkern.methods.plan_dataset import KernelInput
from seqkern.solvers import build_solver
from seqkern.solvers.costs import FitWork
from seqkern.solvers.solver_specs import SOLVERS
from seqkern.study import make_dataset

SIZES = (200, 400, 800)
LONG = 5.0  # a larger size is left out after a fit of so many seconds
GRAM, FEATURES = ("spectrum:k=5", "weighted_degree:degree=6"), ("spectrum:k=4", "spectrum:k=6")
BINARY = {"solver": "csvc", "C": 1}
SELECTORS = ("fisher", "mutual_information", "relief", "recursive_elimination", "r2w2", "zero_norm", "one_norm", "psvm")
SPECS = {
    "csvc": ["csvc:C=0.1", "csvc:C=10"],
    "psvc": ["psvc:C=0.1,epsilon=0.01", "psvc:C=1,epsilon=0.1"],
    "primal_svc": ["primal_svc:C=0.1", "primal_svc:C=10"],
    "linear_svc": ["linear_svc:C=0.1", "linear_svc:C=10"],
    "svr": ["svr:C=10"],
    "nusvr": ["nusvr:C=10"],
    "best_basis": ["best_basis:search=stepwise"],
    "selected": [{"solver": "selected", "selector": name, "predictor": "csvc"} for name in SELECTORS],
    **{name: [{"solver": name, "binary": BINARY}] for name in ("filtered", "weighted_threshold", "pairwise_voting")},
    **{name: [{"solver": name, "binary": BINARY}] for name in ("one_against_rest", "decision_dag", "binary_tree")},
}


@cache
def sites(n):
    """Return n simulated sites and their labels."""
    made = make_dataset("d", {"simulate": {"kind": "donor", "n_positive": n // 2, "n_decoy": n - n // 2}})
    return made.X, made.task().labels.signs()


@cache
def matrix(kernel, n, given):
    """Return the input of a solver, and what the plan knows of it."""
    built, (X, _) = build_kernel(kernel), sites(n)
    known = KernelInput(built, X, given)
    if given == "gram":
        return built(X, n_threads=1), FitWork(n, 2)
    if given == "implicit":
        return built.implicit(X), known.work(n, 2)
    features = built.features(X)
    dense = features if isinstance(features, np.ndarray) else features.toarray()
    return dense, FitWork(n, 2, dense.shape[1], "features")


def labels(targets, n):
    """Return labels that a solver learns."""
    rng = np.random.default_rng(1)
    if "binary" in targets:
        return sites(n)[1]
    if "multiclass" in targets:
        return rng.integers(0, 3, n)
    return sites(n)[1] + rng.normal(size=n) if "real" in targets else None


def main():
    """Print a row for each solver and kernel."""
    warnings.simplefilter("ignore")
    for name in sys.argv[1:] or SOLVERS.names:
        for spec in SPECS.get(name, [name]):
            solver = build_solver(spec)
            classes = 2 if "binary" in solver.targets or "real" in solver.targets else 3
            for kernel in GRAM if solver.input == "gram" else FEATURES:
                cells = []
                for n in SIZES:
                    K, work = matrix(kernel, n, solver.input)
                    start = time.process_time()
                    try:
                        with one_thread():
                            build_solver(spec).fit(K, labels(solver.targets, n))
                    except SeqkernError as error:
                        cells.append(str(error)[:50])
                        break
                    seconds = time.process_time() - start
                    predicted = solver.fit_cost(work.part(n, classes)).seconds
                    cells.append(f"{seconds:.4f} ({predicted / seconds:.1f})")
                    if seconds > LONG:
                        break
                print(f"{str(spec)[:70]:72}{kernel:26}", *cells, flush=True)


if __name__ == "__main__":
    main()
