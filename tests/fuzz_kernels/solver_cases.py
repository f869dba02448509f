"""One random solver on a random matrix, often a degenerate one: finite decisions, the same twice, row by row."""

import warnings

import numpy as np
from fuzz_parameters import vary
from fuzz_refusals import refusals
from sklearn.base import clone

from seqkern.solvers import SOLVERS

KINDS = ("semidefinite", "indefinite", "zeros", "ones", "identity", "rank_one", "repeated", "large", "small", "sparse")


def solver_case(rng):
    """Draw a solver and a problem, yield their description, fit it, and check what it decides."""
    name = str(rng.choice(list(SOLVERS.classes)))
    examples = SOLVERS.classes[name].examples()
    solver = vary(examples[rng.integers(len(examples))], rng)
    kind = str(rng.choice(KINDS))
    n = int(rng.integers(2, 40))
    K, new = problem(kind, n, solver.input == "gram", rng)
    y = labels(solver, n, rng)
    yield f"{solver!r} on {kind}, {n} rows"
    with warnings.catch_warnings(), np.errstate(all="ignore"), refusals():
        warnings.simplefilter("ignore")
        fitted = clone(solver).fit(K, y)
        decisions = fitted.decision_function(new)
        assert np.isfinite(decisions).all(), decisions
        np.testing.assert_array_equal(clone(solver).fit(K, y).decision_function(new), decisions)
        np.testing.assert_array_equal(fitted.decision_function(new[:1]), decisions[:1])


def problem(kind, n, square, rng):
    """Return training rows and new rows."""
    points = rng.standard_normal((n + 5, int(rng.integers(1, 6))))
    if kind == "repeated":
        points = points[rng.integers(2, size=n + 5)]
    elif kind == "rank_one":
        points = points[:, :1]
    elif kind == "zeros":
        points[:] = 0
    elif kind == "ones":
        points[:] = 1
    elif kind == "sparse":
        points[rng.random(points.shape) < 0.8] = 0
    scale = {"large": 1e6, "small": 1e-6}.get(kind, 1.0)
    if not square:
        return points[:n] * scale, points[n:] * scale
    K = points @ points[:n].T * scale
    if kind == "identity":
        K = np.eye(n + 5)[:, :n]
    if kind == "indefinite":
        noise = rng.standard_normal((n, n))
        K[:n] = noise + noise.T
    return np.ascontiguousarray(K[:n]), np.ascontiguousarray(K[n:])


def labels(solver, n, rng):
    """Return labels of the kind that a solver learns; classes may have one sample."""
    if "real" in solver.targets:
        return rng.standard_normal(n)
    if "multiclass" in solver.targets:
        return rng.integers(3, size=n)
    y = (rng.random(n) < rng.choice([0.1, 0.5])).astype(int)
    y[:2] = 0, 1
    return y
