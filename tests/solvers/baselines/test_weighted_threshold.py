"""The threshold that weighs errors against a count of every possible one."""

import numpy as np
import pytest

from seqkern.core.errors import ParameterError
from seqkern.solvers import CSVC, OneAgainstRest, PrimalSVC, WeightedThreshold, build_solver, make_solver


def overlapping(n=120, seed=3):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1, 2], n // 3)
    return rng.normal(size=(n, 3)) + 1.2 * np.eye(3)[y], y


def gram(X, Z):
    return np.exp(-((X[:, None] - Z[None]) ** 2).sum(-1) / 4)


def cost(decisions, positive, false_positive, false_negative):
    said = decisions > 0
    return false_positive * np.sum(said & ~positive) + false_negative * np.sum(~said & positive)


@pytest.mark.parametrize("costs", [(1.0, 1.0), (1.0, 6.0), (5.0, 1.0), (1.0, 1e6)])
@pytest.mark.parametrize("binary", [CSVC(C=0.3), PrimalSVC(C=0.3)])
def test_no_threshold_costs_less_on_the_training_part(costs, binary):
    X, y = overlapping()
    K, positive = gram(X, X) if binary.input == "gram" else X, y == 1
    solver = WeightedThreshold(binary, false_positive=costs[0], false_negative=costs[1]).fit(K, positive)
    plain = binary.fit(K, positive).decision_function(K)
    values = np.sort(plain)
    every = [values[0] - 1, *(values[1:] + values[:-1]) / 2, values[-1] + 1]
    least = min(cost(plain - threshold, positive, *costs) for threshold in every)
    decisions = solver.decision_function(K)
    assert cost(decisions, positive, *costs) == pytest.approx(least)
    assert solver.report_["cost"] * len(y) == pytest.approx(least)
    np.testing.assert_allclose(decisions, plain - solver.threshold_, rtol=0, atol=1e-12)
    # in the middle between two decisions, or beyond all of them
    gaps = np.abs(decisions)
    assert np.sort(gaps[decisions > 0])[:1] == pytest.approx(np.sort(gaps[decisions <= 0])[:1]) or decisions.min() > 0


def test_dear_false_negatives_find_more_positives():
    X, y = overlapping()
    found = [
        int(WeightedThreshold(PrimalSVC(), false_negative=costs).fit(X, y == 2).predict(X).sum())
        for costs in (0.1, 1.0, 10.0)
    ]
    assert found[0] < found[1] < found[2]


@pytest.mark.parametrize("inner", ["primal_svc", "csvc"])
def test_several_classes_by_one_against_rest(inner):
    text = f"one_against_rest:binary=(weighted_threshold:binary={inner},false_negative=2)"
    X, y = overlapping()
    K = X if inner == "primal_svc" else gram(X, X)
    solver = make_solver(text, "multiclass").fit(K, y)
    assert isinstance(solver, OneAgainstRest)
    for place, machine in enumerate(solver.machines_):
        alone = WeightedThreshold(build_solver(inner), false_negative=2).fit(K, np.where(y == place, 1, -1))
        assert machine.threshold_ == alone.threshold_
    assert solver.score(K, y) > 0.6


def test_impossible_costs_and_solvers():
    for costs in ({"false_positive": 0.0}, {"false_negative": -1.0}, {"false_negative": "a"}):
        with pytest.raises(ParameterError, match=next(iter(costs))):
            build_solver({"solver": "weighted_threshold", "binary": "csvc", **costs})
    with pytest.raises(ParameterError, match="give a binary solver"):
        build_solver("weighted_threshold:binary=svr")
