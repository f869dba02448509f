"""Feature vectors made for some records at a time: the values of those that are made for all."""

import numpy as np
import pytest

from seqkern.kernels import build_kernel, kernel_specs
from seqkern.kernels import decisions as deferred
from seqkern.kernels.decisions import DeferredImplicit
from seqkern.methods.sources import ImplicitSource
from seqkern.sequences.fasta import RecordNumbers
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.solvers import LinearSVC
from seqkern.solvers.svm import linear

N, LENGTH = 300, 21
KERNELS = ["weighted_degree:degree=5", "weighted_degree:degree=4,normalize=false", "spectrum:k=3", "mismatch:k=4,m=1"]


def windows(n=N, seed=1, masked=False):
    """Return windows of two classes, half of them with a motif, and labels −1 and 1."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 4, (n, LENGTH), dtype=np.uint8)
    y = np.where(np.arange(n) % 5 == 0, 1.0, -1.0)
    codes[np.ix_(y > 0, range(8, 14))] = np.where(rng.random((np.sum(y > 0), 6)) < 0.7, 2, 3)
    if masked:
        codes[3, 4] = 255
    starts = np.arange(n) * LENGTH
    return SequenceSet(codes.reshape(-1), starts, starts + LENGTH, RecordNumbers(range(1, n + 1)), "dna"), y


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Prepare a few records at a time, and begin with a small working set."""
    monkeypatch.setattr(deferred, "BLOCK", 64)
    monkeypatch.setattr(deferred, "MATRIX_BYTES", 8 * 1000)
    monkeypatch.setattr(linear, "FIRST", (40, 20))


@pytest.mark.parametrize("spec", KERNELS)
def test_values_are_those_of_the_kernel_matrix(spec):
    (X, _), kernel = windows(masked=True), build_kernel(spec)
    rng = np.random.default_rng(4)
    support, rows = rng.permutation(N)[:50], rng.permutation(N)[:70]
    coefficients = rng.standard_normal(50)
    records = DeferredImplicit(kernel, X)
    values = records.dots(records.take(support).weights(coefficients), rows=rows)
    np.testing.assert_allclose(values, kernel(X.take(rows), X.take(support)) @ coefficients, atol=1e-10)
    np.testing.assert_allclose(records.squares, kernel.diagonal(X))


@pytest.mark.parametrize("spec", KERNELS)
@pytest.mark.parametrize("C", [0.1, 5.0])
def test_working_sets_find_the_solution_of_all(spec, C):
    (X, y), kernel = windows(), build_kernel(spec).set_params(normalize=True)
    solver = LinearSVC(C=C, tol=1e-6).fit(DeferredImplicit(kernel, X), y)
    whole = LinearSVC(C=C, tol=1e-6).fit(kernel.implicit(X), y)
    assert solver.report_["gap"] <= 1e-6
    assert solver.report_["working_sets"] > 1
    np.testing.assert_allclose(solver.report_["objective"], whole.report_["objective"], rtol=3e-6)
    T, _ = windows(80, seed=2)
    K = kernel(T, X)
    np.testing.assert_allclose(solver.decision_function(K), whole.decision_function(K), atol=0.02)


def test_the_gap_is_that_of_the_whole_problem():
    (X, y), kernel = windows(), build_kernel("weighted_degree:degree=5")
    solver = LinearSVC(tol=1e-3).fit(DeferredImplicit(kernel, X), y)
    alpha = np.zeros(N)
    alpha[solver.support_] = solver.dual_coef_
    products = kernel(X) @ alpha
    primal = 0.5 * alpha @ products + np.maximum(0, 1 - y * (products + solver.intercept_)).sum()
    dual = np.abs(alpha).sum() - 0.5 * alpha @ products
    assert abs(alpha.sum()) < 1e-9
    np.testing.assert_allclose(solver.report_["gap"], (primal - dual) / primal, atol=1e-9)


def test_a_set_is_limited_but_not_the_support(monkeypatch):
    monkeypatch.setattr(linear, "LARGEST_SET", 60)
    (X, y), kernel = windows(), build_kernel("spectrum:k=2")
    found = linear.descend(DeferredImplicit(kernel, X), y, np.full(N, 0.01), 0, 1e-4, 10_000)
    assert found.certificate.gap <= 1e-4
    assert found.largest < N


def test_passes_are_limited():
    (X, y), kernel = windows(), build_kernel("spectrum:k=3")
    with pytest.warns(match="before it converged"):
        solver = LinearSVC(tol=1e-12, max_epochs=1).fit(DeferredImplicit(kernel, X), y)
    assert not solver.report_["converged"]
    assert solver.report_["iterations"] == 1


def test_a_fit_starts_from_the_one_before():
    (X, y), kernel = windows(), build_kernel("spectrum:k=3")
    records = DeferredImplicit(kernel, X)
    before = LinearSVC(C=1.0, tol=1e-5).fit(records, y)
    after = LinearSVC(C=1.1, tol=1e-5).fit_after(before, records, y)
    fresh = LinearSVC(C=1.1, tol=1e-5).fit(records, y)
    np.testing.assert_allclose(after.report_["objective"], fresh.report_["objective"], rtol=3e-5)


def test_large_sets_are_deferred(monkeypatch):
    monkeypatch.setattr(deferred, "LARGEST_SET", 100)
    monkeypatch.setattr(deferred, "SAMPLE", 50)
    (X, y), kernel = windows(), build_kernel("weighted_degree:degree=5")
    assert kernel_specs.solver_input(kernel, "implicit", True, X) == "implicit"
    source = ImplicitSource(kernel, X)
    part = source.at(np.arange(200, N), like=np.arange(200))
    assert isinstance(part.train, DeferredImplicit)
    solver = LinearSVC().fit(part.train, y[:200])
    decisions = solver.decision_function(part.test)
    np.testing.assert_allclose(
        decisions, solver.decision_function(kernel(X.take(np.arange(200, N)), X.take(np.arange(200))))
    )
    monkeypatch.setattr(deferred, "LARGEST_SET", N)
    assert not isinstance(ImplicitSource(kernel, X).at(np.arange(200)).train, DeferredImplicit)
