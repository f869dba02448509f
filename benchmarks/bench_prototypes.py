"""CPU seconds of prototypes and perceptrons beside the C-SVM and nearest neighbours, on simulated donor sites.

python benchmarks/bench_prototypes.py [SAMPLES]
"""

import sys
import time
import warnings

from seqkern.core.threads import one_thread
from seqkern.kernels import build_kernel
from seqkern.solvers import build_solver
from seqkern.study import make_dataset

GRAM = (
    "csvc:C=1",
    "kernel_neighbors",
    "nearest_prototype",
    "lvq1",
    "relational_glvq",
    "relational_glvq:n_prototypes=3",
)
GRAM += ("perceptron", "perceptron:average=true,max_epochs=50", "minover", "adatron:C=1")
FEATURES = ("linear_discriminant:shrinkage=0.1", "glvq", "glvq:n_prototypes=3", "gmlvq", "gmlvq:rank=all")


def main(n):
    """Print a row for each solver: the least of three fits, and whether it converged."""
    made = make_dataset("d", {"simulate": {"kind": "donor", "n_positive": n // 2, "n_decoy": n - n // 2}})
    X, y = made.X, made.task().labels.signs()
    kernel = build_kernel("spectrum:k=3")
    features = kernel.features(X)
    features = features if not hasattr(features, "toarray") else features.toarray()
    gram = build_kernel("weighted_degree:degree=6")(X, n_threads=1)
    for names, K in ((GRAM, gram), (FEATURES, features)):
        print(f"{K.shape[0]} × {K.shape[1]}")
        for name in names:
            seconds = []
            for _ in range(3):
                start = time.process_time()
                with one_thread(), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    solver = build_solver(name).fit(K, y)
                seconds.append(time.process_time() - start)
            report = solver.report_
            print(
                f"{name:40} {min(seconds):8.3f} s  {report['iterations']:6} iterations, {report['converged']}",
                flush=True,
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
