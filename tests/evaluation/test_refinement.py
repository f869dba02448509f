"""The refinement of default grids: steps, plateaus, ends, and what is never touched."""

import numpy as np
import pytest
from given import select

from seqkern.evaluation.selection import ends, neighbours, step, unequal, with_class_weights
from seqkern.sequences.labels import Labels
from seqkern.solvers.solver_specs import SOLVERS, Free, Limits

COST = Limits(("C",), 1e-4, 1e4)


class Peaked:
    """A stub that ranks best with one value of C: the further away, the more noise its decisions have."""

    best = 0.3

    def __init__(self, spec, kind):
        self.C, self.started = spec["C"], None

    def complexity(self):
        return (self.C,)

    def fit_after(self, previous, K, y, groups=None):
        self.started = None if previous is None else previous.C
        STARTS.append((self.C, self.started))
        self.report_ = {"converged": True}
        return self

    def count_not_converged(self):
        return 0

    def decision_function(self, K):
        far = 3 * abs(np.log10(self.C / self.best))
        return K[:, 0] + far * np.sin(1000 * np.arange(len(K)))

    def predict(self, K):
        return np.sign(self.decision_function(K))


STARTS = []


def toys(n=120):
    y = np.arange(n) % 2
    labels = Labels([str(i) for i in range(n)], y, "binary", ("no", "yes"))
    signs = labels.signs()
    return {"k": lambda train, valid, _: (signs[train][:, None], signs[valid][:, None])}, labels


def grid(*values):
    return [{"solver": "s", "C": C} for C in values]


@pytest.mark.parametrize("best", [0.003, 0.03, 0.3, 1.0, 300.0])
def test_the_best_between_and_beyond_the_grid_is_found(monkeypatch, best):
    monkeypatch.setattr(Peaked, "best", best)
    pairs, labels = toys()
    choice = select(pairs, labels, grid(0.1, 1.0, 10.0), Peaked, limits=[COST])
    assert choice.spec["C"] == best
    assert choice.candidates[:3] == [("k", spec) for spec in grid(0.1, 1.0, 10.0)]
    assert len(choice.candidates) == len(choice.scores) <= 16
    values = [spec["C"] for _, spec in choice.candidates]
    assert len(set(values)) == len(values)
    assert choice.n_fits == 3 * len(values)


def test_lists_are_tried_as_they_are():
    pairs, labels = toys()
    choice = select(pairs, labels, grid(0.1, 1.0, 10.0), Peaked)
    assert len(choice.candidates) == 3
    assert choice.spec["C"] != Peaked.best


def test_limits_hold(monkeypatch):
    monkeypatch.setattr(Peaked, "best", 1e6)
    pairs, labels = toys()
    choice = select(pairs, labels, grid(0.1, 1.0, 10.0), Peaked, limits=[Limits(("C",), 0.01, 100.0)])
    assert max(spec["C"] for _, spec in choice.candidates) == 100.0
    tied = [choice.candidates[c] for c in choice.tied]
    assert ends((choice.kernel, choice.spec), tied, choice.candidates, [("C",)]) == {"C": "largest"}


def test_refined_fits_start_from_the_best_and_reuse_matrices(monkeypatch):
    monkeypatch.setattr(Peaked, "best", 0.3)
    STARTS.clear()
    pairs, labels = toys()
    asked, whole = [], pairs["k"]
    pairs["k"] = lambda *rows: asked.append(0) or whole(*rows)
    select(pairs, labels, grid(0.1, 1.0, 10.0), Peaked, limits=[COST], folds=4)
    assert len(asked) == 4
    assert (0.03, 0.1) in STARTS or (0.3, 1.0) in STARTS


def test_noise_of_a_fit_does_not_choose_a_million():
    """All rank alike, but for one pair of samples that changes places in one fold."""

    class Flips(Peaked):
        def decision_function(self, K):
            decisions = K[:, 0].copy()
            if self.C < 1e6 and K[:, 1].min() == 0:  # the fold with the first sample
                decisions[[np.argmax(decisions), np.argmin(decisions)]] = -0.5, 0.5
                decisions[decisions > 0.9] = 0.6
                decisions[np.flatnonzero(decisions == -0.5)[0]] = 0.4
            return decisions

    _, labels = toys()
    values = np.column_stack([labels.signs(), np.arange(len(labels))]).astype(float)
    choice = select({"k": lambda train, valid, _: (values[train], values[valid])}, labels, grid(1e6, 1.0, 10.0), Flips)
    assert choice.scores[0].mean() > choice.scores[1].mean()
    assert choice.spec["C"] == 1.0


def test_simplicity_comes_before_balanced_accuracy():
    class Errs(Peaked):
        def decision_function(self, K):
            return K[:, 0]

        def predict(self, K):
            predicted = np.sign(K[:, 0])
            if self.C < 5:
                predicted[0] *= -1
            return predicted

    pairs, labels = toys()
    assert select(pairs, labels, grid(10.0, 1.0), Errs).spec["C"] == 1.0


def test_steps_are_exact_decimals():
    values = [1e-4]
    while values[-1] < 1e4:
        values.append(step(values[-1], up=True))
    assert values == [float(f"{digit}e{power}") for power in range(-4, 4) for digit in (1, 3)] + [1e4]
    assert [step(value, up=False) for value in values[1:]] == values[:-1]


def test_a_plateau_is_left_by_a_decade():
    tried = [("k", spec) for spec in grid(0.1, 1.0, 10.0)]
    assert [spec["C"] for _, spec in neighbours(tried[0], tried, tried, [COST])] == [0.01]
    assert [spec["C"] for _, spec in neighbours(tried[0], tried[:1], tried, [COST])] == [0.03, 0.3]
    assert neighbours(tried[0], tried[:1], tried, [Limits(("epsilon",), 0.1, 1.0)]) == []
    assert ends(tried[0], tried, tried, [("C",)]) == {}
    assert ends(tried[0], tried[:1], tried, [("C",)]) == {"C": "smallest"}
    assert ends(tried[0], tried[:1], tried[:2], [("C",)]) == {}


def test_default_grids_lie_within_their_limits():
    for name, solver in SOLVERS.classes.items():
        values = solver.declared.search.grid
        for parameter, (low, high) in solver.declared.search.limits.items():
            assert low <= min(values[parameter]), (name, parameter)
            assert max(values[parameter]) <= high, (name, parameter)


def test_nothing_lies_beyond_the_domain_of_a_parameter():
    tried = [("k", {"solver": "relational_glvq", "n_prototypes": n}) for n in (1, 2, 3)]
    assert ends(tried[0], tried[:1], tried, [("n_prototypes",)]) == {}
    assert ends(tried[2], tried[2:], tried, [("n_prototypes",)]) == {"n_prototypes": "largest"}


def test_what_the_user_left_open():
    assert Free.of("psvc:C=[0.1,1]").limits == (Limits(("epsilon",), 1e-5, 0.3),)
    assert Free.of({"solver": "csvc", "class_weight": None}).class_weight is False
    assert Free.of("one_against_rest:binary=csvc").limits == (Limits(("binary", "C"), 1e-4, 1e4),)


@pytest.mark.parametrize(("positives", "expected"), [(39, True), (40, False), (60, False), (61, True)])
def test_below_forty_percent_classes_are_unequal(positives, expected):
    labels = Labels([str(i) for i in range(100)], (np.arange(100) < positives).astype(int), "binary", ("no", "yes"))
    assert unequal(labels) is expected


def test_a_given_weight_stays():
    specs = [("k", {"solver": "csvc", "C": 1, "class_weight": None}), ("k", {"solver": "nusvc"})]
    for positives in (20, 50):
        labels = Labels([str(i) for i in range(100)], (np.arange(100) < positives).astype(int), "binary", ("no", "yes"))
        assert with_class_weights(specs, labels) == specs
