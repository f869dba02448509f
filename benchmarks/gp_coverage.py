"""Gaussian processes on functions drawn from the process itself: coverage of intervals, and times.

The sequences are random DNA of 60 letters. A function of the process with the kernel K = Φ·Φᵀ is Φ·w with independent
normal weights w of its features, so that it can be drawn for any number of sequences; the scale is 1, and the noise has
the variance 0.25.

``python benchmarks/gp_coverage.py coverage [draws]`` prints, for each solver, the mean over draws of the share of 500
new observations within their 90 % intervals, its standard error, and other scores beside those of predicting mean and
variance of the training labels.

``python benchmarks/gp_coverage.py times [METHOD:N …]`` prints CPU seconds and peak memory of a fit, and of 1,000
predictions with variances, on one thread, each in a process of its own.
"""

import multiprocessing
import resource
import sys
import time

import numpy as np
from common import random_strings, start_table

from seqkern.evaluation.metrics import predictive_scores, r2
from seqkern.kernels import SpectrumKernel
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.solvers import GPR, InducingGPR

LENGTH, NOISE, NEW = 60, 0.25, 500
TRAINING = 1000
SOLVERS = {
    "gp_regression, noise and scale given": (GPR(noise=NOISE, scale=1.0), "matrix"),
    "gp_regression, noise and scale chosen": (GPR(), "matrix"),
    "the same on products": (GPR(), "products"),
    "gp_inducing, 200 samples, chosen": (InducingGPR(n_inducing=200), "matrix"),
    "gp_inducing, 1,000 samples, chosen": (InducingGPR(n_inducing=1000), "matrix"),
}
METHODS = {
    "given": (GPR(noise=NOISE, scale=1.0), "matrix"),
    "chosen": (GPR(), "matrix"),
    "products": (GPR(), "products"),
    "inducing": (InducingGPR(), "products"),
}
NAMES = {
    "given": "`gp_regression`, noise and scale given",
    "chosen": "`gp_regression`, noise and scale chosen",
    "products": "`gp_regression` on products, chosen",
    "inducing": "`gp_inducing` on products, 500 samples, chosen",
}
JOBS = ["given:1000", "chosen:1000", "given:5000", "chosen:5000", "given:10000", "chosen:10000"]
JOBS += ["inducing:10000", "products:10000", "inducing:50000", "products:50000"]


def draw(n, seed):
    """Return the kernel, the sequences and an observation of each."""
    kernel = SpectrumKernel(k=4)
    X = SequenceSet.from_strings(random_strings(n, LENGTH, seed=seed), "dna")
    features = kernel.features(X)
    rng = np.random.default_rng(1000 + seed)
    norms = np.sqrt(np.asarray(features.multiply(features).sum(axis=1)).ravel())  # the kernel is normalised
    f = (features @ rng.normal(size=features.shape[1])) / norms
    return kernel, X, f + np.sqrt(NOISE) * rng.normal(size=n)


def prepare(kernel, X, n, gives):
    """Return what solvers get of the first n sequences, and of the others beside them."""
    if gives == "products":
        whole = kernel.operator(X)
        return whole.take(np.arange(n)), whole.take(np.arange(n, len(X)))
    train = X.take(slice(0, n))
    return kernel(train, n_threads=1), kernel(X.take(slice(n, len(X))), train, n_threads=1)


def coverage(draws):
    """Print the coverage of each solver's intervals."""
    row = start_table("method", "coverage of 90 % intervals", "standard error", "NLPD", "R²")
    found = {name: [] for name in [*SOLVERS, "mean and variance of the training labels"]}
    for seed in range(1, draws + 1):
        kernel, X, y = draw(TRAINING + NEW, seed)
        known, new = y[:TRAINING], y[TRAINING:]
        inputs = {gives: prepare(kernel, X, TRAINING, gives) for gives in ("matrix", "products")}
        for name, (solver, gives) in SOLVERS.items():
            solver.fit(inputs[gives][0], known)
            means = solver.predict(inputs[gives][1])
            deviations = np.sqrt(solver.variances(inputs[gives][1], np.ones(NEW)).observed)
            found[name].append([*predictive_scores(new, means, deviations).values(), r2(new, means)])
        means = np.full(NEW, known.mean())
        scores = predictive_scores(new, means, np.full(NEW, known.std(ddof=1))).values()
        found["mean and variance of the training labels"].append([*scores, r2(new, means)])
    for name, rows in found.items():
        covered, density, explained = np.mean(rows, axis=0)
        error = np.std([one[0] for one in rows], ddof=1) / np.sqrt(draws)
        row(name, f"{covered:.1%}", f"{error:.1%}", f"{density:.3f}", f"{explained:.3f}")


def measure(method, n):
    """Return CPU seconds of a fit and of predictions with variances, and the peak memory in MB (10^6 bytes)."""
    solver, gives = METHODS[method]
    kernel, X, y = draw(n + 1000, 1)
    train, new = prepare(kernel, X, n, gives)
    start = time.process_time()
    solver.fit(train, y[:n])
    fitted = time.process_time()
    solver.decision_function(new)
    solver.variances(new, np.ones(1000))
    done = time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    return fitted - start, done - fitted, peak, solver.noise_, solver.scale_


def times(jobs):
    """Print times and memory."""
    row = start_table("method", "sequences", "fit, CPU s", "1,000 predictions, CPU s", "peak MB", "noise", "scale")
    context = multiprocessing.get_context("spawn")
    for job in jobs:
        method, n = job.split(":")
        with context.Pool(1) as pool:
            fit, predict, peak, noise, scale = pool.apply(measure, (method, int(n)))
        row(NAMES[method], f"{int(n):,}", f"{fit:.1f}", f"{predict:.1f}", f"{peak:.0f}", f"{noise:.3f}", f"{scale:.2f}")


def main():
    """Print the tables that are asked for."""
    what, *rest = sys.argv[1:] or ["coverage"]
    if what == "coverage":
        coverage(int(rest[0]) if rest else 20)
    else:
        times(rest or JOBS)


if __name__ == "__main__":
    main()
