"""What the inner loop chooses among: grids, ranges and random draws; the rule of one standard error."""

import math

import numpy as np
import pytest
from given import select

from seqkern.core.errors import ConfigError, ParameterError
from seqkern.evaluation.selection import grid_candidates, random_candidates, standard_error
from seqkern.sequences.labels import Labels
from seqkern.solvers import build_solver, draw_spec, expand_grid, has_range
from seqkern.solvers.solver_specs import Range, as_range
from seqkern.study.study import Study


@pytest.mark.parametrize(
    ("word", "wanted"),
    [
        ("0.01..100", Range(0.01, 100)),
        ("1..10", Range(1, 10)),
        ("-1..1.5", Range(-1, 1.5)),
        ("1e-3..1", Range(1e-3, 1)),
    ],
)
def test_ranges_of_words(word, wanted):
    assert as_range(word) == wanted
    assert as_range("0.1") is None
    with pytest.raises(ParameterError, match="smaller number first"):
        as_range("3..1")


def test_draws_of_a_range():
    rng = np.random.default_rng(0)
    reals = np.array([Range(0.01, 100.0).draw(rng) for _ in range(4000)])
    assert reals.min() >= 0.01
    assert reals.max() <= 100
    np.testing.assert_allclose(np.histogram(np.log10(reals), bins=4, range=(-2, 2))[0], 1000, atol=120)
    whole = np.array([Range(-1, 2).draw(rng) for _ in range(4000)])
    np.testing.assert_allclose([np.sum(whole == value) for value in (-1, 0, 1, 2)], 1000, atol=120)
    assert {Range(1, 3).draw(rng) for _ in range(200)} == {1, 2, 3}


def test_a_range_needs_random_search():
    for use in (build_solver, expand_grid):
        with pytest.raises(ParameterError, match=r"C is a range of values, 0\.01\.\.100; search at random"):
            use("csvc:C=0.01..100")
    assert [spec["C"] for spec in expand_grid("csvc:C=0.01..100", ends=True)] == [0.01, 100]
    assert has_range({"solver": "pairwise_voting", "binary": {"solver": "csvc", "C": "0.01..1"}})
    assert not has_range("csvc:C=[0.1,1]")


def test_random_candidates():
    spec = {"solver": "psvc", "C": "0.01..100", "epsilon": [0.1, 0.3]}
    found = random_candidates(["a", "b"], spec, 12, seed=4)
    assert found == random_candidates(["a", "b"], spec, 12, seed=4)
    assert found[:5] == random_candidates(["a", "b"], spec, 5, seed=4)
    assert found != random_candidates(["a", "b"], spec, 12, seed=5)
    assert len(found) == 12
    assert {kernel for kernel, _ in found} == {"a", "b"}
    assert {spec["epsilon"] for _, spec in found} == {0.1, 0.3}
    assert len({spec["C"] for _, spec in found}) == 12


def test_a_small_grid_is_tried_wholly():
    wanted = grid_candidates(["a", "b"], "csvc:C=[1,10]")
    assert random_candidates(["a", "b"], "csvc:C=[1,10]", 4, seed=0) == wanted
    few = random_candidates(["a", "b"], "csvc:C=[1,10]", 3, seed=0)
    assert len(few) == 3
    assert all(candidate in wanted for candidate in few)


def test_nested_solvers_are_drawn():
    spec = {"solver": "pairwise_voting", "binary": {"solver": "csvc", "C": "0.5..2"}}
    drawn = draw_spec(spec, np.random.default_rng(0))
    assert 0.5 <= drawn["binary"]["C"] <= 2


def test_a_bad_range_is_found_in_the_config():
    study = {
        "study": "s",
        "datasets": {"d": {"simulate": {"kind": "donors"}}},
        "kernels": {"k": {"kernel": "spectrum", "k": 2}},
        "solvers": {"s": {"solver": "csvc", "C": "-1..10"}},
    }
    with pytest.raises(ConfigError, match=r"solvers\.s: .*range"):
        Study.parse(study)
    with pytest.raises(ConfigError, match=r"solvers\.s: C="):
        Study.parse(study | {"inner": {"search": "random"}})
    study["solvers"]["s"]["C"] = "0.1..10"
    assert Study.parse(study | {"inner": {"search": "random"}}).inner.draws == 20


class Graded:
    """A stub whose decisions agree with the labels but for the units named."""

    def __init__(self, spec, kind):
        self.spec = spec

    def complexity(self):
        return (self.spec["size"],)

    def fit_after(self, previous, K, y, groups=None):
        return self

    def count_not_converged(self):
        return 0

    def decision_function(self, K):
        return np.where(np.isin(K[:, 1], self.spec["wrong"]), -1, 1) * K[:, 0]

    def predict(self, K):
        return self.decision_function(K)


def chosen(candidates, rule):
    """Return the size chosen, with 24 units in 4 inner folds."""
    labels = Labels([str(i) for i in range(24)], [0, 1] * 12, "binary", ("no", "yes"))
    values = np.column_stack([labels.signs(), np.arange(24)])
    pairs = {"k": lambda train, valid, y: (values[train], values[valid])}
    return select(pairs, labels, candidates, Graded, folds=4, metric="accuracy", rule=rule)


def test_one_standard_error():
    good = {"size": 9, "wrong": [0, 1]}
    near = {"size": 3, "wrong": [0, 1, 2]}
    far = {"size": 1, "wrong": list(range(20))}
    for candidates in ([good, near, far], [far, near, good]):
        best = chosen(candidates, "best")
        assert best.spec == good
        error = standard_error(best.scores[candidates.index(good)])
        means = best.scores.mean(axis=1)
        assert means[candidates.index(good)] - means[candidates.index(near)] <= error
        assert chosen(candidates, "one_standard_error").spec == near
    assert chosen([good, far], "one_standard_error").spec == good


def test_one_standard_error_keeps_the_kernel():
    labels = Labels([str(i) for i in range(24)], [0, 1] * 12, "binary", ("no", "yes"))
    values = np.column_stack([labels.signs(), np.arange(24)])
    noisy = values * np.where(np.arange(24) == 7, -1, 1)[:, None]
    pairs = {
        "worse": lambda train, valid, y: (noisy[train], noisy[valid]),
        "better": lambda train, valid, y: (values[train], values[valid]),
    }
    candidates = [
        ("worse", {"size": 0, "wrong": []}),
        ("better", {"size": 5, "wrong": [3]}),
        ("better", {"size": 7, "wrong": []}),
    ]
    choice = select(pairs, labels, candidates, Graded, folds=3, metric="accuracy", rule="one_standard_error")
    assert choice.kernel == "better"


def test_standard_error_by_definition():
    assert standard_error([1.0, 2.0, 4.0]) == pytest.approx(math.sqrt((16 / 9 + 1 / 9 + 25 / 9) / 2 / 3))
    assert standard_error([0.7]) == 0
