"""Successive halving: the schedule keeps to its budget, and the choice is that of a plain search."""

import functools
import itertools
from dataclasses import replace

import numpy as np
import pytest
from given import Given, halve, search, select

from seqkern.core.checkpoint import Checkpoint
from seqkern.evaluation import halving
from seqkern.evaluation.halving import FEWEST, FINALISTS, Schedule, Stage, Work, schedule
from seqkern.evaluation.selection import best_choice, make_trials
from seqkern.sequences.labels import make_labels
from seqkern.solvers import make_solver
from seqkern.solvers.solver_specs import Limits

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


WHOLE = Stage()


def test_without_need_for_economy_it_is_a_plain_search():
    labels, pairs = data(200)
    candidates = [(name, {"solver": "csvc", "C": C}) for name in pairs for C in (0.1, 1.0)]
    plain = select(pairs, labels, candidates, MAKE, seed=2)
    (choice,) = halve(pairs, labels, candidates, MAKE, [WHOLE], seed=2)
    assert (choice.kernel, choice.spec, choice.score) == (plain.kernel, plain.spec, plain.score)
    assert [rung.n for rung in choice.rungs] == [200]
    assert choice.rungs[0].scores[plain.kernel] == max(choice.rungs[0].scores.values()) == pytest.approx(plain.score)


def test_each_stage_passes_on_the_kernels_that_are_not_clearly_worse():
    labels, pairs = data()
    candidates = [(name, {"solver": "csvc", "C": C}) for name in pairs for C in (0.1, 1.0, 10.0)]
    stages = [Stage(0.5, True), Stage(1.0, True), WHOLE]
    (choice,) = halve(pairs, labels, candidates, MAKE, stages, seed=2)
    assert [rung.n for rung in choice.rungs] == [200, 400, 400]
    for before, after in itertools.pairwise(choice.rungs):
        assert set(after.scores) == set(sorted(before.scores, key=before.scores.get)[-len(after.scores) :])
    assert 1 <= len(choice.rungs[2].scores) <= FINALISTS
    assert "k0" not in choice.rungs[1].scores  # noise
    assert choice.kernel == "k3"
    coarse = sum(len(rung.scores) for rung in choice.rungs[:2])
    assert choice.n_fits == 3 * (coarse + 3 * len(choice.rungs[2].scores))
    assert {name for name, _ in choice.candidates} == set(choice.rungs[-1].scores)


def test_the_same_seed_gives_the_same_choice():
    labels, pairs = data()
    candidates = [(name, {"solver": "csvc", "C": 1.0}) for name in pairs]
    results = [halve(pairs, labels, candidates, MAKE, [Stage(0.4, True), WHOLE], seed=5)[0] for _ in range(2)]
    assert results[0].rungs == results[1].rungs


@pytest.mark.parametrize("budget", [0.1, 1, 5, 20, 80, 1e6])
@pytest.mark.parametrize("n", [90, 1000, 6000])
def test_the_schedule_keeps_to_the_budget(n, budget):
    work = {f"k{i}": Work(0.5, 0.5, power=1 + i % 2, specs=4) for i in range(12)} | {"dear": Work(900.0, 5.0, specs=3)}
    plan = schedule(n, work, budget)
    assert ("dear" in plan.left_out) == (budget < 1e6)
    assert plan.left_out.get("dear", 915) == 915
    assert min(work, key=lambda name: work[name].seconds()) not in plan.left_out
    assert not plan.stages[-1].coarse
    assert plan.stages[-1].share == 1
    shares = [stage.share for stage in plan.stages]
    assert shares == sorted(shares)
    assert all(share * n >= min(n, FEWEST) for share in shares)
    kept = [one for name, one in work.items() if name not in plan.left_out]
    assert plan.seconds <= 1.2 * budget or (len(kept) == 1 and plan.stages == (WHOLE,))
    if budget == 1e6:
        assert plan.stages == (WHOLE,)


def test_a_choice_of_whichever_kernels_survive_keeps_to_the_budget():
    rng = np.random.default_rng(1)
    several = 0
    for _ in range(300):
        values, fits, fixed, slices = np.exp(rng.normal(0, 2, (4, rng.integers(2, 20))))
        more, n, budget = int(rng.integers(0, 5)), int(rng.integers(50, 20000)), float(rng.choice([5, 20, 60, 300]))
        work = {
            f"k{i}": Work(*one, power=rng.integers(1, 3), specs=rng.integers(1, 7), more=more)
            for i, one in enumerate(zip(values, fits, fixed, slices, strict=True))
        }
        plan = schedule(n, work, budget)
        names = [name for name in work if name not in plan.left_out]
        if len(names) == 1:
            continue
        several += len(plan.stages) > 1
        spent = 0.0
        for i, stage in enumerate(plan.stages):
            names = plan.affordable([str(name) for name in rng.permutation(names)], stage) if i else names
            spent += stage.total([work[name] for name in names])
        spent += max(work[name].refining for name in names) if plan.refines else 0.0
        assert spent <= 1.2 * budget
    assert several > 50


def test_a_stage_has_time_for_the_first_kernels_and_always_for_one():
    plan = Schedule((WHOLE,), {name: Work(2.0, 1.0, power=1, specs=2) for name in "abc"})
    assert plan.affordable(["b", "a", "c"], Stage(seconds=9.0)) == ["b", "a"]
    assert plan.affordable(["b", "a", "c"], Stage(0.5, True, 1.0)) == ["b"]


def test_a_combination_must_lead_by_more_than_its_standard_error():
    labels, pairs = data()
    candidates = [(name, {"solver": "csvc", "C": C}) for name in pairs for C in (0.1, 1.0)]
    (plain,) = halve(pairs, labels, candidates, MAKE, [WHOLE], seed=2)
    assert plain.kernel == "k3"
    for kernel in ("k2", "k3"):  # k2 is clearly worse, k3 clearly better than the others
        (choice,) = halve(pairs, labels, candidates, MAKE, [WHOLE], combinations=[kernel], seed=2)
        assert choice.kernel == "k3"
    # equal to k3, and listed before it: a tie is no lead
    twice = {"both": pairs["k3"]} | pairs
    more = [*[("both", {"solver": "csvc", "C": C}) for C in (0.1, 1.0)], *candidates]
    assert halve(twice, labels, more, MAKE, [WHOLE], seed=2)[0].kernel == "both"
    (choice,) = halve(twice, labels, more, MAKE, [WHOLE], combinations=["both"], seed=2)
    assert choice.kernel == "k3"
    assert choice.candidates == more
    assert choice.score == pytest.approx(plain.score)
    np.testing.assert_allclose(choice.decisions, plain.decisions)
    assert choice.place in choice.tied


# Training sets that share their fits.

FOLDS = np.arange(400) // 2 % 5
SPECS = [{"solver": "csvc", "C": 0.1}, {"solver": "csvc", "C": 1.0}]


def test_training_sets_that_share_fits_choose_as_each_would_alone():
    labels, pairs = data()
    candidates = [(name, spec) for name in pairs for spec in SPECS]
    choices = halve(pairs, labels, candidates, MAKE, [WHOLE], folds=FOLDS, limits=[Limits(("C",), 0.01, 100)])
    assert len(choices) == 6
    for f, choice in enumerate(choices):
        rows = np.flatnonzero(f != FOLDS)
        own = Given(labels, pairs).take(rows)
        inner = [(np.flatnonzero(FOLDS[rows] != g), np.flatnonzero(FOLDS[rows] == g)) for g in range(5) if g != f]
        trials = make_trials(own, candidates, MAKE, search([Limits(("C",), 0.01, 100)]), parts=inner)
        trials.add(candidates)
        alone = best_choice(trials, search([Limits(("C",), 0.01, 100)]))
        assert (choice.kernel, choice.spec) == (alone.kernel, alone.spec)
        np.testing.assert_allclose(choice.scores, alone.scores, atol=2e-3)  # fits start elsewhere
        np.testing.assert_allclose(choice.decisions, alone.decisions, atol=0.01)
        assert choice.n_folds == (4 if f < 5 else 5)


def test_a_choice_depends_on_no_label_of_its_test_fold():
    labels, pairs = data()
    candidates = [(name, spec) for name in pairs for spec in SPECS]
    stages = [Stage(0.5, True), WHOLE]
    choices = halve(pairs, labels, candidates, MAKE, stages, folds=FOLDS)
    flipped = replace(labels, y=np.where(FOLDS == 2, 1 - labels.y, labels.y))
    others = halve(pairs, flipped, candidates, MAKE, stages, folds=FOLDS)
    assert choices[2].rungs == others[2].rungs
    assert choices[2].spec == others[2].spec
    assert not np.array_equal(choices[1].scores, others[1].scores)


def test_each_training_part_is_fitted_once():
    labels, pairs = data(120)
    seen = []

    def watched(train, valid, y):
        assert not np.intersect1d(train, valid).size
        seen.append(train.tobytes())
        return pairs["k3"](train, valid, y)

    candidates = [("k3", spec) for spec in SPECS]
    choices = halve({"k3": watched}, labels, candidates, MAKE, [WHOLE], folds=FOLDS[:120])
    assert len(seen) == len(set(seen)) == 5 + 10
    assert [choice.n_fits for choice in choices] == [8, 8, 8, 8, 8, 10]


def test_finished_fits_are_not_repeated(tmp_path):
    labels, pairs = data(120)
    candidates = [(name, spec) for name in pairs for spec in SPECS]
    stored = Checkpoint(tmp_path, "test")
    how = {"folds": FOLDS[:120], "fit_cache": stored}
    plan, given = Schedule(), Given(labels, pairs)
    first = halving.halve(given, candidates, MAKE, plan, search(), **how)
    again = halving.halve(Given(labels, dict.fromkeys(pairs)), candidates, MAKE, plan, search(), **how)
    for one, other in zip(first, again, strict=True):
        assert (one.kernel, one.spec) == (other.kernel, other.spec)
        np.testing.assert_array_equal(one.scores, other.scores)
        np.testing.assert_array_equal(one.decisions, other.decisions)


def test_a_subset_that_cannot_be_divided_is_left_out():
    labels, pairs = data()
    groups = np.arange(400)
    groups[np.random.default_rng(5).permutation(400)[:390]] = -1  # nearly all belong together
    grouped = replace(labels, groups=groups)
    candidates = [(name, {"solver": "csvc", "C": 1.0}) for name in pairs]
    (choice,) = halve(pairs, grouped, candidates, MAKE, [Stage(0.125, True), WHOLE], seed=5)
    assert choice.rungs[-1].n == 400
    assert choice.kernel in pairs


def test_a_rare_class_is_in_every_stage():
    labels, pairs = data()
    rare = replace(labels, y=np.where(np.arange(400) < 12, labels.y.max(), 0))
    candidates = [(name, {"solver": "csvc", "C": 1.0}) for name in pairs]
    (choice,) = halve(pairs, rare, candidates, MAKE, [Stage(0.15, True), WHOLE], seed=5)
    assert len(choice.rungs) == 2
    assert choice.rungs[-1].n == 400
    assert choice.rungs[0].n >= 60


def test_groups_are_not_divided_by_the_subset_of_a_stage():
    labels, pairs = data()
    grouped = replace(labels, groups=np.arange(400) // 8)
    seen = []

    def watched(train, valid, y):
        seen.append(np.union1d(train, valid))
        return pairs["k3"](train, valid, y)

    halve({"k3": watched}, grouped, [("k3", {"solver": "csvc", "C": C}) for C in (0.1, 1)], MAKE, [Stage(0.3), WHOLE])
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


@pytest.mark.parametrize("stages", [[Stage(0.25, True), WHOLE], [WHOLE]])
def test_the_worst_gap_is_that_of_all_stages(stages):
    labels, pairs = data()
    candidates = [(name, {"solver": "stub"}) for name in pairs]
    (choice,) = halve(pairs, labels, candidates, Unconverged, stages)
    assert choice.worst_gap == pytest.approx(1 / (stages[0].share * 400 * 2 / 3), rel=0.05)
    assert choice.not_converged == choice.n_fits == 3 * sum(len(rung.scores) for rung in choice.rungs)
