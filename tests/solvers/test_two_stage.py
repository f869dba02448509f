"""A one-class SVM ahead of a binary solver, in training and at prediction."""

import io

import numpy as np
import pytest

from seqkern.core.errors import ParameterError
from seqkern.kernels import LocalityImprovedKernel, SpectrumKernel, WeightedDegreeKernel
from seqkern.methods.scan import Scanner
from seqkern.methods.training import train_model
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import as_sequences
from seqkern.sequences.windows import as_window
from seqkern.solvers import CSVC, OneClassSVM, PrimalSVC, TwoStageSVC


def problem(n=60, m=240, seed=0):
    """Return the matrix of few positives and many negatives, half of them far away, and the labels."""
    rng = np.random.default_rng(seed)
    points = np.vstack(
        [rng.normal(size=(n, 3)) + 2, rng.normal(size=(m // 2, 3)) + 0.5, rng.normal(size=(m // 2, 3)) - 4]
    )
    K = np.exp(-((points[:, None] - points[None]) ** 2).sum(-1) / 8)
    return K, np.arange(n + m) < n


def test_decisions_by_the_formula():
    K, y = problem()
    solver = TwoStageSVC(CSVC(C=10.0), recall=0.95).fit(K, y)
    first, second = (stage.decision_function(K) for stage in solver.stages())
    unit = np.mean(K.diagonal()[y]) * 0.05 * y.sum()
    for got, g, f in zip(solver.decision_function(K), first, second, strict=True):
        if g < 0:
            assert got == pytest.approx(-2 - (-g) / (unit - g))
        else:
            assert got == pytest.approx(f if f >= -1 else -2 + 1 / abs(f))


def test_what_does_not_pass_is_below_all_that_does():
    K, y = problem()
    solver = TwoStageSVC(CSVC(C=1000.0)).fit(K, y)
    decisions, passes = solver.decision_function(K), solver.stages()[0].decision_function(K) >= 0
    assert passes.any()
    assert not passes.all()
    assert np.isfinite(decisions).all()
    assert decisions[~passes].max() < -2 <= decisions[passes].min()
    # even at the very threshold, beside a second stage that is as sure as it can be
    near = solver.joined(np.array([-1e-300, -1e300, 0.0]), np.array([-1e300]))
    assert near[0] < near[2]
    assert near[1] == -3


def test_recall_of_held_out_positives():
    K, y = problem(n=100)
    for recall, lost in ((1.0, 0.0), (0.9, 0.1), (0.8, 0.2)):
        report = TwoStageSVC(CSVC(), recall=recall).fit(K, y).report_
        assert report["recall_lost"] == pytest.approx(lost)
    strict, lenient = (TwoStageSVC(CSVC(), recall=r).fit(K, y).report_["negatives_passing"] for r in (0.8, 1.0))
    assert strict <= lenient < 0.6
    assert "of held-out positives" in TwoStageSVC(CSVC()).fit(K, y).report_["remark"]


def test_held_out_positives_are_those_of_other_folds():
    """With two folds, the decision about a positive is that of a one-class SVM of the other fold."""
    K, _ = problem(n=20)
    solver = TwoStageSVC(CSVC(), nu=0.2, folds=2)
    own = K[:20, :20]
    first = OneClassSVM(nu=0.2).fit(own)
    found, _ = solver._held_out(own, first, None)
    fold = np.empty(20, dtype=int)
    fold[np.argsort(np.sort(own, axis=1).sum(axis=1))] = np.arange(20) % 2
    for f in range(2):
        others = np.flatnonzero(fold != f)
        machine = OneClassSVM(nu=0.2).fit(own[np.ix_(others, others)])
        expected = machine.decision_function(own[np.ix_(fold == f, others)]) / (0.2 * len(others))
        np.testing.assert_allclose(found[fold == f], expected)


def test_groups_are_held_out_together():
    """Twins of each positive make it easy to pass, unless they are left out with it."""
    K, y = problem(n=30, m=60)
    rows = np.concatenate((np.repeat(np.arange(30), 2), np.arange(30, 90)))
    twins, labels = K[np.ix_(rows, rows)], y[rows]
    apart = TwoStageSVC(CSVC(), nu=0.5, recall=1.0).fit(twins, labels)
    together = TwoStageSVC(CSVC(), nu=0.5, recall=1.0).fit(twins, labels, rows)
    assert together.stages()[0].intercept_ > apart.stages()[0].intercept_


def test_few_negatives_pass():
    K, y = problem()
    K = K.copy()
    K[:60, 60:] = K[60:, :60] = 0
    solver = TwoStageSVC(CSVC()).fit(K, y)
    assert solver.report_["negatives_passing"] == 0
    assert solver.score(K, y) == 1


def test_refuses_a_solver_without_gram_matrix():
    with pytest.raises(ParameterError, match="give a binary solver that takes a Gram matrix"):
        TwoStageSVC(PrimalSVC()).check_parameters()


# ---- models and scans --------------------------------------------------------------------------------------


def windows(n=60):
    """Return windows around GT, half of them donor sites."""
    rng = np.random.default_rng(5)
    left = ["".join(rng.choice([*"ACGT"], size=6)) for _ in range(n)]
    right = ["".join(rng.choice([*"ACGT"], size=6)) for _ in range(n)]
    strings = [
        a[:-2] + "AGGTAAG" + b[4:] if i < n // 2 else a + "GT" + b[1:]
        for i, (a, b) in enumerate(zip(left, right, strict=True))
    ]
    X = as_sequences(strings, "dna")
    return X, make_labels(X.ids, ["donor"] * (n // 2) + ["decoy"] * (n - n // 2), positive="donor")


@pytest.mark.parametrize(
    "kernel", [WeightedDegreeKernel(3), LocalityImprovedKernel(2, 2, 1), SpectrumKernel(2)], ids=lambda k: k.name
)
def test_model_and_scan_decide_like_the_solver(kernel):
    X, labels = windows()
    model = train_model(
        X, labels, kernel, "two_stage:binary=(csvc:C=10),recall=0.9", notes={"window": as_window("-6:+6").record()}
    )
    K = kernel(X, model.support)
    expected = model.solver.decision_function(K)
    np.testing.assert_allclose(model.decision(X), expected, atol=1e-9)
    assert expected.min() < -2
    first, _ = model.stages
    assert len(first.support) < len(model.support)
    genome = ">c\n" + "".join(X.strings()[::3]) + "\n"
    scanner = Scanner(model, "GT", as_window("-6:+6"), strand="+")
    assert scanner.fast == (kernel.name in ("weighted_degree", "spectrum"))
    text = "".join(X.strings()[::3])
    seen = 0
    for found in scanner.scan(io.StringIO(genome)):
        for position, decision in zip(found.positions, found.decisions, strict=True):
            start = position - 1 - 6
            assert decision == pytest.approx(model.decision([text[start : start + len(X.strings()[0])]])[0])
            seen += 1
    assert seen > 10
