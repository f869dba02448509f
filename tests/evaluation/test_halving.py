"""Successive halving: the schedule keeps to its budget, and the choice is that of a plain search."""

import functools
import itertools
from dataclasses import replace

import numpy as np
import pytest
from given import halve, select

from seqkern.evaluation.halving import FEWEST, FIT_SECONDS, schedule
from seqkern.sequences.labels import make_labels
from seqkern.solvers import make_solver

MAKE = functools.partial(make_solver, classes=("no", "yes"))


def data(n=400, seed=1):
    """Return labels, and pairs of linear kernels of features that separate the classes better and better."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    labels = make_labels([str(i) for i in range(n)], ["yes" if one > 0 else "no" for one in y], positive="yes")
    grams = {}
    for i, shift in enumerate((0.0, 0.2, 0.4, 0.8, 0.05, 0.1)):
        x = rng.normal(size=(n, 3)) + shift * y[:, None]
        grams[f"k{i}"] = x @ x.T + 1

    def pair(K, train, valid, _):
        return K[np.ix_(train, train)], K[np.ix_(valid, train)]

    return labels, {name: functools.partial(pair, K) for name, K in grams.items()}


def test_without_need_for_economy_it_is_a_plain_search():
    labels, pairs = data(200)
    candidates = [(name, {"solver": "csvc", "C": C}) for name in pairs for C in (0.1, 1.0)]
    plain = select(pairs, labels, candidates, MAKE, folds=3, seed=2)
    choice, rungs = halve(pairs, labels, candidates, MAKE, [(200, 6)], folds=3, seed=2)
    assert (choice.kernel, choice.spec, choice.score) == (plain.kernel, plain.spec, plain.score)
    assert [rung.n for rung in rungs] == [200]
    assert rungs[0].scores[plain.kernel] == max(rungs[0].scores.values()) == pytest.approx(plain.score)


def test_each_rung_passes_on_its_better_half():
    labels, pairs = data()
    candidates = [(name, {"solver": "csvc", "C": 1.0}) for name in pairs]
    choice, rungs = halve(pairs, labels, candidates, MAKE, [(100, 6), (200, 3), (400, 2)], folds=3, seed=2)
    for before, after in itertools.pairwise(rungs):
        assert set(after.scores) == set(before.ranked()[: len(after.scores)])
    assert choice.kernel == "k3"
    assert choice.n_fits == 3 * (6 + 3 + 2)
    assert {name for name, _ in choice.candidates} == set(rungs[-1].scores)


def test_the_same_seed_gives_the_same_choice_whatever_the_order_of_computation():
    labels, pairs = data()
    candidates = [(name, {"solver": "csvc", "C": 1.0}) for name in pairs]
    results = [halve(pairs, labels, candidates, MAKE, [(150, 6), (400, 3)], folds=3, seed=5) for _ in range(2)]
    assert results[0][1] == results[1][1]


@pytest.mark.parametrize("budget", [0.01, 5, 20, 80, 1e6])
@pytest.mark.parametrize("n", [90, 1000, 6000])
def test_the_schedule_keeps_to_the_budget(n, budget):
    seconds = [0.5] * 12
    rungs = schedule(n, seconds, n_specs=5, folds=3, budget=budget)
    assert rungs[0][1] == 12
    assert rungs[-1][1] >= 2
    assert all(size >= min(n, FEWEST) for size, _ in rungs)
    assert all(2 * a - 1 <= b <= 2 * a for (a, _), (b, _) in itertools.pairwise(rungs))
    spent = sum(k * (0.5 * (m / n) ** 2 + 15 * FIT_SECONDS * (2 * m / 3) ** 2) for m, k in rungs)
    assert spent <= budget or len(rungs) == 1
    if budget == 1e6:
        assert rungs == [(n, 12)]


def test_a_choice_on_fewer_samples_has_no_decisions_about_all():
    labels, pairs = data()
    candidates = [(name, {"solver": "csvc", "C": C}) for name in pairs for C in (0.1, 1.0)]
    choice, rungs = halve(pairs, labels, candidates, MAKE, [(100, 6), (200, 3)], combinations=["k3"], folds=3, seed=2)
    assert [rung.n for rung in rungs] == [100, 200]
    assert choice.decisions is None
    assert choice.scores.shape[1] == 3


def test_a_subset_that_cannot_be_divided_is_left_out():
    labels, pairs = data()
    groups = np.arange(400)
    groups[np.random.default_rng(5).permutation(400)[:390]] = -1  # nearly all belong together
    grouped = replace(labels, groups=groups)
    candidates = [(name, {"solver": "csvc", "C": 1.0}) for name in pairs]
    choice, rungs = halve(pairs, grouped, candidates, MAKE, [(50, 6), (400, 3)], folds=2, seed=5)
    assert rungs[-1].n == 400
    assert choice.kernel in pairs


def test_a_combination_must_lead_by_more_than_its_standard_error():
    labels, pairs = data()
    candidates = [(name, {"solver": "csvc", "C": C}) for name in pairs for C in (0.1, 1.0)]
    plain, _ = halve(pairs, labels, candidates, MAKE, [(400, 6)], folds=3, seed=2)
    assert plain.kernel == "k3"
    for kernel in ("k2", "k3"):  # k2 is clearly worse, k3 clearly better than the others
        choice, _ = halve(pairs, labels, candidates, MAKE, [(400, 6)], combinations=[kernel], folds=3, seed=2)
        assert choice.kernel == "k3"
    # equal to k3, and listed before it: a tie is no lead
    twice = {"both": pairs["k3"]} | pairs
    more = [*[("both", {"solver": "csvc", "C": C}) for C in (0.1, 1.0)], *candidates]
    assert halve(twice, labels, more, MAKE, [(400, 7)], folds=3, seed=2)[0].kernel == "both"
    choice, _ = halve(twice, labels, more, MAKE, [(400, 7)], combinations=["both"], folds=3, seed=2)
    assert choice.kernel == "k3"
    assert choice.candidates == more
    assert choice.score == pytest.approx(plain.score)
    np.testing.assert_allclose(choice.decisions, plain.decisions)
    assert choice.place in choice.tied


def test_a_rare_class_is_in_every_rung():
    labels, pairs = data()
    rare = replace(labels, y=np.where(np.arange(400) < 12, labels.y.max(), 0))
    candidates = [(name, {"solver": "csvc", "C": 1.0}) for name in pairs]
    _, rungs = halve(pairs, rare, candidates, MAKE, [(60, 6), (400, 3)], folds=3, seed=5)
    assert [rung.n for rung in rungs][-1] == 400
    assert len(rungs) == 2
    assert rungs[0].n >= 60


def test_groups_are_not_divided_by_the_subset_of_a_rung():
    labels, pairs = data()
    grouped = replace(labels, groups=np.arange(400) // 8)
    seen = []

    def watched(train, valid, y):
        seen.append(np.union1d(train, valid))
        return pairs["k3"](train, valid, y)

    halve({"k3": watched}, grouped, [("k3", {"solver": "csvc", "C": C}) for C in (0.1, 1)], MAKE, [(120, 1), (400, 1)])
    first = np.unique(np.concatenate([rows for rows in seen if len(rows) < 400]))
    assert 80 <= len(first) <= 160
    assert all(np.isin(first, np.arange(8 * group, 8 * group + 8)).sum() in (0, 8) for group in range(50))


class Unconverged:
    """A stub whose fits end with a gap that is larger on fewer samples."""

    def __init__(self, spec, kind):
        self.report_ = {}

    def complexity(self):
        return ()

    def fit_after(self, previous, K, y, groups=None):
        self.report_["gap"] = 1 / len(y)
        return self

    def count_not_converged(self):
        return 1

    def decision_function(self, K):
        return K[:, 0]

    def predict(self, K):
        return np.where(K[:, 0] > 0, 1.0, -1.0)


@pytest.mark.parametrize("rungs", [[(100, 6), (400, 3)], [(400, 6)]])
def test_the_worst_gap_is_that_of_all_rungs(rungs):
    labels, pairs = data()
    candidates = [(name, {"solver": "stub"}) for name in pairs]
    choice, _ = halve(pairs, labels, candidates, Unconverged, rungs, folds=2)
    assert choice.worst_gap == 2 / rungs[0][0]
    assert choice.not_converged == choice.n_fits == 2 * sum(kernels for _, kernels in rungs)


def naive_schedule(n, seconds, n_specs, folds, budget):
    """Try 1, 2, … rungs until they are cheap enough; then leave out the last ones."""
    dearest = sorted(seconds)[::-1]

    def cost(rungs):
        total = 0.0
        for size, kernels in rungs:
            total += sum(dearest[i] * (size / n) ** 2 for i in range(kernels))
            total += kernels * n_specs * folds * FIT_SECONDS * (size * (folds - 1) / folds) ** 2
        return total

    for length in itertools.count(1):
        rungs = [(-(-n // 2 ** (length - 1 - i)), len(seconds)) for i in range(length)]
        for i in range(1, length):
            rungs[i] = rungs[i][0], max(min(2, len(seconds)), -(-len(seconds) // 2**i))
        if cost(rungs) <= budget or n / 2**length < FEWEST or rungs[-1][1] <= 2:
            break
    while cost(rungs) > budget and len(rungs) > 1:
        del rungs[-1]
    return rungs


def test_the_schedule_is_that_of_the_twin():
    rng = np.random.default_rng(0)
    lengths = set()
    for _ in range(300):
        n, kernels = int(rng.integers(20, 9000)), int(rng.integers(1, 20))
        seconds = np.exp(rng.normal(size=kernels)).tolist()
        numbers = int(rng.integers(1, 9)), int(rng.integers(2, 7)), float(10 ** rng.uniform(-1, 4))
        found = schedule(n, seconds, *numbers)
        assert found == naive_schedule(n, seconds, *numbers)
        lengths.add(len(found))
    assert {1, 2, 3, 4} <= lengths
