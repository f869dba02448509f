"""The ranking protocol of the P-SVM, leave-one-out × path of ε, beside scikit-learn's lasso_path doing the same.

Golub's leukaemia data (72 × 7,129; where it is missing, random values of this shape): each row is left out in turn, the
features of the others are standardised, and a grid of 20 ε ranks them. scikit-learn gets the grids, which it would have
to find, and is asked for a duality gap of 1e-6 of ½‖t‖²; how far both are from the optimality conditions is printed,
too. CPU seconds of one process with BLAS on one thread:
``python benchmarks/bench_selection.py [rows left out]``.
"""

import sys
import time
import warnings

import numpy as np
import pandas as pd
from common import DATA, start_table
from sklearn.linear_model import lasso_path
from threadpoolctl import threadpool_limits

from seqkern.solvers.selection.selectors import ExpressionScaler, PSVMFeatureSelector
from seqkern.solvers.selection.selectors.psvm_selector import MOST, epsilon_grid, epsilon_path

SIZE = 20


def expression():
    """Return values (72, 7129) and labels −1 and 1."""
    file = DATA / "expression" / "golub.tsv.gz"
    if not file.exists():
        rng = np.random.default_rng(1)
        return rng.normal(size=(72, 7129)), np.repeat([1.0, -1.0], [47, 25])
    table = pd.read_csv(file, sep="\t")
    return table.iloc[:, 2:].to_numpy(float), np.where(table.label == "ALL", 1.0, -1.0)


def parts(X, y, count):
    """Yield standardised columns (as rows) and centred labels without each of the first rows."""
    for row in range(count):
        part = np.delete(X, row, axis=0)
        scale = part.std(axis=0)
        target = np.delete(y, row)
        good = scale > 0
        standardised = np.where(good, (part - part.mean(axis=0)) / np.where(good, scale, 1), 0)
        yield np.ascontiguousarray(standardised.T), target - target.mean()


def ours(columns, target):
    """Return α at each ε of the grid, and the grid."""
    path = epsilon_path(columns, target, most=round(MOST * len(target)))
    grid = epsilon_grid([path], len(target), SIZE)
    alphas = np.zeros((SIZE, len(columns)))
    for alpha, epsilon in zip(alphas, grid, strict=True):
        which, values = path.at(epsilon)
        alpha[which] = values
    return alphas, grid


def theirs(columns, target, grid):
    """Return α at each ε by scikit-learn's coordinate descent with warm starts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a part that gives up shows in its violation
        found = lasso_path(columns.T, target, alphas=grid / len(target), tol=1e-6, max_iter=100_000)
    return found[1].T


def violation(columns, target, grid, alphas):
    """Return the largest violation of the optimality conditions, in units of ε_max."""
    gradient = columns @ (columns.T @ alphas.T - target[:, None])
    bound = np.where(alphas.T == 0, np.abs(gradient) - grid, np.abs(gradient + grid * np.sign(alphas.T)))
    return float(max(0.0, bound.max()) / np.abs(columns @ target).max())


def compare(count):
    """Return CPU seconds of both for some rows left out, their violations, and whether they select the same."""
    X, y = expression()
    seconds, worst, same = [0.0, 0.0], [0.0, 0.0], 0
    with threadpool_limits(limits=1):
        epsilon_path(*next(parts(X, y, 1)), most=5)
        for columns, target in parts(X, y, count):
            start = time.process_time()
            alphas, grid = ours(columns, target)
            middle = time.process_time()
            others = theirs(columns, target, grid)
            end = time.process_time()
            seconds = [seconds[0] + middle - start, seconds[1] + end - middle]
            for place, found in enumerate((alphas, others)):
                worst[place] = max(worst[place], violation(columns, target, grid, found))
            same += int(np.array_equal(alphas.any(axis=0), others.any(axis=0)))
    return seconds, worst, same


def protocol(scaler):
    """Return CPU seconds of the whole protocol, all rows, scaling in each part included."""
    X, y = expression()
    start = time.process_time()
    PSVMFeatureSelector(ranking="leave_one_out", n_epsilons=SIZE, scaler=scaler).fit(X, y)
    return time.process_time() - start


if __name__ == "__main__":
    left_out = int(sys.argv[1]) if len(sys.argv) > 1 else 8
    (own, other), worst, same = compare(left_out)
    print(f"{left_out} rows left out, {SIZE} values of ε; the same features in {same} of {left_out} parts.")
    row = start_table("path of a part", "CPU s", "ratio", "worst violation / ε_max")
    for name, seconds, violated in (("P-SVM", own, worst[0]), ("scikit-learn's `lasso_path`", other, worst[1])):
        row(name, f"{seconds / left_out:.4f}", f"{seconds / own:.1f}", f"{violated:.1e}")
    log = ExpressionScaler(normalize="log", floor=20, ceiling=16000, present_above=100)
    row = start_table("whole protocol, normalisation", "CPU s")
    for name, scaler in (("none", None), ("log", log), ("quantile", ExpressionScaler(normalize="quantile"))):
        row(name, f"{protocol(scaler):.2f}")
