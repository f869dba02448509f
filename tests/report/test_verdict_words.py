"""What is said of two methods is what was tested: directions, medians, exchanged ranks, metrics."""

import numpy as np
import pytest

from seqkern.evaluation.single_task_tests import PairedDecisions
from seqkern.methods.compared import Compared, SingleTaskTests, verdict
from seqkern.methods.study_results import Method
from seqkern.report.markup import text_of
from seqkern.report.sections.tests import contrary, result
from seqkern.report.sections.tests import test_sentences as sentences
from seqkern.report.terminal import comparison_lines

A, B = Method("A", "x"), Method("B", "x")


def flat(found):
    return " ".join(" ".join(comparison_lines(found, "demo")).split())


def single(kind, labels, decisions, predicted=None):
    n = len(labels)
    return PairedDecisions(
        kind, np.arange(n).astype(str), np.repeat("1", n), labels, decisions, predicted or decisions, {}
    )


def halves(differences):
    """A SingleTaskTests by AUC whose ten differences are these."""
    names = [f"{repeat}.{half}" for repeat in range(1, 6) for half in (1, 2)]
    ids = np.array([f"u{2 * i + h}" for _ in range(5) for h in (0, 1) for i in range(6)])
    labels = np.tile(np.arange(6) % 2, 10)
    scores = {
        A: {(name, "auc"): 0.7 + value for name, value in zip(names, np.ravel(differences), strict=True)},
        B: {(name, "auc"): 0.7 for name in names},
    }
    zero = np.zeros(60)
    paired = PairedDecisions(
        "binary", ids, np.repeat(names, 6), labels, {A: zero, B: zero}, {A: labels, B: labels}, scores
    )
    return SingleTaskTests(paired, "auc", [A, B])


def test_f_without_a_direction_says_that_they_differ():
    mixed = halves([[0.1, 0.11], [0.1, 0.09], [-0.1, -0.11], [-0.1, -0.09], [0.01, 0.0]])
    (one,) = mixed.found
    assert one.p < 0.001
    assert (verdict(one), mixed.standing(A), mixed.standing(B)) == ("differs", (0, 0), (0, 0))
    text = flat({"auc": mixed})
    assert "A with x differs from B with x" in text
    assert "ahead on 5 halves, behind on 4" in text
    assert "is better than" not in text
    assert "a method is called better only if it is ahead on at least 9 of the ten halves" in text


def test_f_names_the_better_where_the_halves_agree():
    clear = halves([[0.1, 0.11], [0.1, 0.09], [0.1, 0.11], [0.1, 0.09], [0.1, 0.0]])
    assert (verdict(clear.found[0]), clear.standing(A)) == ("better", (1, 0))
    assert "A with x is better than B with x" in flat({"auc": clear})


def test_why_f_has_no_p():
    same = flat({"auc": halves(np.full((5, 2), 0.25))})
    assert "no test: the difference is the same on both halves of each repeat" in same
    assert "no test: a half has no score of one" in flat({"auc": halves([[np.nan, 0.1]] + [[0.1, 0.2]] * 4)})


def test_ranks_of_errors_show_medians_and_a_mean_that_contradicts():
    rng = np.random.default_rng(0)
    few_large, even = np.full(60, 0.5), 0.6 + rng.uniform(0, 0.2, 60)
    few_large[:8] = 20
    task_tests = SingleTaskTests(single("real", np.zeros(60), {A: few_large, B: even}), "absolute_error", [B, A])
    text = flat({"absolute_error": task_tests})
    median, means = np.median(even), (few_large.mean(), even.mean())
    assert (
        f"A with x is better than B with x 0.500 : {median:.3f} smaller error on 52 of 60 samples, larger on 8" in text
    )
    assert f"; but the mean points the other way ({means[0]:.3f} against {means[1]:.3f})" in text


@pytest.mark.parametrize("order", [(A, B), (B, A)])
def test_ranks_over_tasks_show_medians_and_a_mean_that_contradicts(order):
    often, steady = np.full(30, 0.90), np.full(30, 0.88)
    often[:3] = 0.1
    values = {A: often, B: steady}
    compared = Compared({method: values[method] for method in order}, "auc", "family", "families")
    text = flat({"auc": compared})
    assert "A with x is better than B with x 0.900 : 0.880 better in 27, worse in 3" in text
    assert "but the mean points the other way (0.820 against 0.880)" in text
    assert "but the mean points the other way" in text_of(result(compared, compared.found[0]))
    (row,) = compared.rows("demo")
    first = values[order[0]]
    assert (row["value"], row["mean"]) == pytest.approx((np.median(first), first.mean()))


def test_contrary_says_nothing_where_averages_agree():
    assert contrary("auc", 1, (0.9, 0.8), (0.9, 0.8)) == contrary("rmse", 1, (0.8, 0.9), (0.8, 0.9)) == ""
    assert contrary("rmse", -1, (0.8, 0.9), (1, 0)) == "; but the mean points the other way (0.800 against 0.900)"


def test_perfect_against_constant_says_how_p_was_found():
    y = np.repeat([1, 0], 20)
    task_tests = SingleTaskTests(single("binary", y, {A: np.zeros(40), B: 1.0 * y}, {A: y, B: y}), "auc", [B, A])
    text = flat({"auc": task_tests})
    assert "B with x is better than A with x 1.000 : 0.500 p from a permutation of ranks, because the" in text
    assert task_tests.test == "delong"


def test_few_of_a_class_and_several_metrics_are_told():
    rng = np.random.default_rng(1)
    y = (np.arange(40) < 6).astype(int)
    paired = single("binary", y, {A: rng.normal(size=40), B: rng.normal(size=40)}, {A: y, B: 1 - y})
    found = {key: SingleTaskTests(paired, key, [A, B]) for key in ("auc", "accuracy")}
    assert "With so few test samples of a class, p is somewhat too small" in sentences(found["auc"])
    assert "With so few" not in sentences(found["accuracy"])
    assert "p is corrected for the number of pairs of methods, not for the 2 metrics compared" in flat(found)
    assert "metrics compared" not in flat({"auc": found["auc"]})
