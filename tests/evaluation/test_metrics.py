"""Scores against scikit-learn, against brute force, and where they are not defined."""

import itertools
import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sk

from seqkern import evaluation as ev
from seqkern.core.errors import LabelError

POSITIVES, NEGATIVES = (0.9, 0.8, 0.5, 0.5), (0.5, 0.3, 0.7, 0.1)
LABELS, DECISIONS = np.repeat([1, -1], 4), np.array(POSITIVES + NEGATIVES)

scored = st.lists(st.tuples(st.booleans(), st.integers(-3, 3)), min_size=1, max_size=30).map(
    lambda rows: (np.array([a for a, _ in rows]), np.array([b for _, b in rows], dtype=float))
)
both_classes = scored.filter(lambda case: 0 < case[0].sum() < len(case[0]))
codes = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=40).map(
    lambda rows: np.array(rows).T
)


def test_exact_numbers():
    assert ev.roc_auc(LABELS, DECISIONS) == 0.8125
    assert ev.roc_auc(LABELS, np.zeros(8)) == 0.5
    y = np.repeat([0, 1], [5, 95])
    assert ev.balanced_accuracy(y, np.ones(100, int)) == 0.5
    assert ev.accuracy(y, np.ones(100, int)) == 0.95
    assert ev.matthews_correlation(y, np.ones(100, int)) == 0.0


@pytest.mark.parametrize("labels", [LABELS, LABELS > 0, (LABELS + 1) // 2, (LABELS > 0).astype(float)])
def test_every_coding_of_labels_counts(labels):
    assert ev.roc_auc(labels, DECISIONS) == 0.8125


@given(both_classes)
def test_auc_is_the_share_of_pairs_in_order(case):
    y, d = case
    pairs = [np.sign(a - b) / 2 + 0.5 for a in d[y] for b in d[~y]]
    assert ev.roc_auc(y, d) == pytest.approx(np.mean(pairs), abs=1e-12)


def naive_roc_n(y, d, n):
    """Mean over all orders that the decisions allow of the sum over the first n negatives."""
    order = np.argsort(-d, kind="stable")
    blocks = [list(block) for _, block in itertools.groupby(order, key=lambda i: d[i])]
    totals = []
    for orders in itertools.product(*(itertools.permutations(block) for block in blocks)):
        hits, counted, total = 0, 0, 0
        for i in itertools.chain(*orders):
            if y[i]:
                hits += 1
            elif counted < n:
                counted += 1
                total += hits
        totals.append(total / (min(n, (~y).sum()) * y.sum()))
    return np.mean(totals)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 50])
@pytest.mark.parametrize(
    ("y", "d"),
    [
        ([1, 0, 1, 0, 0, 1, 0], [5, 5, 5, 4, 4, 4, 1]),
        ([1, 0, 0, 1, 0, 0, 1], [2, 2, 2, 2, 2, 1, 1]),
        ([0, 0, 0, 1], [3, 2, 2, 2]),
        ([1, 1, 0], [0, 0, 0]),
        ([0, 1, 1, 0, 1, 0], [6, 5, 4, 3, 2, 1]),
    ],
)
def test_roc_n_is_the_mean_over_all_orders_of_ties(y, d, n):
    y, d = np.array(y, bool), np.array(d, float)
    assert ev.roc_n(y, d, n) == pytest.approx(naive_roc_n(y, d, n), abs=1e-12)


def test_roc_n_by_hand():
    y = np.array([1, 1, 0, 1, 0, 0, 1, 0])
    d = np.arange(8, 0, -1.0)
    # positives ahead of the first two negatives: 2 and 3, of four
    assert ev.roc_n(y, d, 2) == (2 + 3) / (2 * 4)


@given(both_classes)
def test_roc_n_of_all_negatives_is_the_auc(case):
    assert ev.roc_n(*case, n=10**6) == pytest.approx(ev.roc_auc(*case), abs=1e-12)


@given(both_classes)
def test_median_rfp_counts_at_least_as_high(case):
    y, d = case
    naive = np.median([np.mean(d[~y] >= score) for score in d[y]])
    assert ev.median_rfp(y, d) == pytest.approx(naive, abs=1e-12)


def test_median_rfp_by_hand():
    assert ev.median_rfp(LABELS, DECISIONS) == np.median([0, 0, 0.5, 0.5])
    assert ev.median_rfp([1, 0, 0, 0, 0], [0.5, 0.5, 0.4, 0.6, 0.1]) == 0.5


@given(both_classes)
def test_average_precision_and_curve_agree_with_scikit_learn(case):
    y, d = case
    assert ev.average_precision(y, d) == sk.average_precision_score(y, d)
    curve = ev.roc_curve(y, d)
    assert sk.auc(curve.false, curve.true) == pytest.approx(ev.roc_auc(y, d), abs=1e-12)
    assert (curve.false[0], curve.true[0], curve.false[-1], curve.true[-1]) == (0, 0, 1, 1)


@pytest.mark.parametrize("digits", [0, 1, 3, 17])  # from many ties to none
@pytest.mark.parametrize("n", [2, 3, 17, 150, 3000])
def test_rankings_equal_scikit_learn_to_the_last_bit(n, digits):
    rng = np.random.default_rng(n)
    for shift in (-1.0, 0.0, 0.3, 4.0):
        y = rng.random(n) < rng.uniform(0.1, 0.9)
        y[:2] = True, False
        d = np.round(rng.normal(size=n) + shift * y, digits) * 10.0 ** rng.integers(-200, 200)
        ours = ev.roc_auc(y, d), ev.average_precision(y, d), *ev.roc_curve(y, d)
        theirs = sk.roc_auc_score(y, d), sk.average_precision_score(y, d), *sk.roc_curve(y, d)
        # + 0: of equal thresholds -0.0 and 0.0, versions of scikit-learn return different ones
        assert [(np.asarray(one) + 0).tobytes() for one in ours] == [(np.asarray(one) + 0).tobytes() for one in theirs]


@given(both_classes, st.sampled_from([0.01, 0.5, 0.7, 0.9, 1.0]))
def test_working_point_is_the_highest_threshold_that_suffices(case, wanted):
    y, d = case
    point = ev.specificity_at_sensitivity(y, d, wanted)
    good = [t for t in d if np.mean(d[y] >= t) >= wanted - 1e-9]
    assert point.threshold == max(good)
    assert point.sensitivity == np.mean(d[y] >= point.threshold)
    assert point.specificity == np.mean(d[~y] < point.threshold)


def test_working_point_counts_exactly():
    y, d = np.repeat([1, 0], 10), np.arange(20, 0, -1.0)
    assert ev.specificity_at_sensitivity(y, d, 0.7).sensitivity == 0.7


def test_sensitivity_and_specificity_at_a_threshold():
    y, d = np.array([1, 1, 1, 0, 0, 0, 0]), np.array([1, 0, -1, 2, 0, -1, -2])
    assert ev.sensitivity(y, d) == 1 / 3
    assert ev.specificity(y, d) == 3 / 4
    assert ev.sensitivity(y, d, -1.5) == 1
    assert ev.specificity(y, d, -1.5) == 1 / 4


@given(codes)
def test_class_scores_agree_with_scikit_learn(case):
    y, p = case
    labels = list(range(4))
    assert np.array_equal(ev.confusion_matrix(y, p, 4), sk.confusion_matrix(y, p, labels=labels))
    assert ev.accuracy(y, p) == sk.accuracy_score(y, p)
    if len(set(y)) > 1:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert ev.balanced_accuracy(y, p) == pytest.approx(sk.balanced_accuracy_score(y, p), abs=1e-12)
        assert ev.matthews_correlation(y, p) == pytest.approx(sk.matthews_corrcoef(y, p), abs=1e-12)


def test_matthews_of_two_classes_by_its_formula():
    y, p = np.repeat([1, 1, 0, 0], [5, 2, 3, 11]), np.repeat([1, 0, 1, 0], [5, 2, 3, 11])
    tp, fn, fp, tn = 5, 2, 3, 11
    naive = (tp * tn - fp * fn) / math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    assert ev.matthews_correlation(y, p) == pytest.approx(naive, abs=1e-15)


def test_macro_auc():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60)
    d = rng.random((60, 3))
    d /= d.sum(axis=1, keepdims=True)
    assert ev.macro_auc(y, d) == pytest.approx(sk.roc_auc_score(y, d, multi_class="ovr"), abs=1e-12)
    # a class that does not occur is left out
    two = y < 2
    naive = np.mean([sk.roc_auc_score(y[two] == c, d[two, c]) for c in (0, 1)])
    assert ev.macro_auc(y[two], d[two]) == pytest.approx(naive, abs=1e-12)


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=2, max_size=30))
def test_regression_scores(rows):
    from scipy import stats

    y, f = np.array(rows, dtype=float).T
    assert ev.rmse(y, f) == pytest.approx(math.sqrt(sk.mean_squared_error(y, f)), abs=1e-12)
    if np.ptp(y):
        assert ev.r2(y, f) == pytest.approx(sk.r2_score(y, f), abs=1e-9)
    if np.ptp(y) and np.ptp(f):
        assert ev.pearson(y, f) == pytest.approx(stats.pearsonr(y, f)[0], abs=1e-9)
        assert ev.spearman(y, f) == pytest.approx(stats.spearmanr(y, f)[0], abs=1e-9)


@pytest.mark.filterwarnings("error")
def test_what_is_not_defined_is_nan_without_a_warning():
    for y in ([1, 1, 1], [0, 0, 0], []):
        y, d = np.array(y, dtype=int), np.arange(float(len(y)))
        for function in (ev.roc_auc, ev.roc_n, ev.median_rfp, ev.average_precision):
            assert math.isnan(function(y, d))
        assert np.isnan(ev.roc_curve(y, d).true).all()
        assert math.isnan(ev.specificity_at_sensitivity(y, d, 0.9).threshold)
        assert math.isnan(ev.balanced_accuracy(y, y))
        assert math.isnan(ev.matthews_correlation(y, y))
        scores = ev.scores("binary", y, d, y)
        assert math.isnan(scores["sensitivity"]) == (not y.any())
        assert math.isnan(scores["specificity"]) == bool(y.all())
    assert math.isnan(ev.macro_auc(np.zeros(3, int), np.zeros((3, 2))))
    for scores in (ev.scores("real", np.ones(3), None, np.ones(3)), ev.scores("real", [], None, np.empty(0))):
        assert math.isnan(scores["r2"])
        assert math.isnan(scores["pearson"])
        assert math.isnan(scores["spearman"])
    assert math.isnan(ev.scores("real", [], None, np.empty(0))["rmse"])
    assert math.isnan(ev.accuracy([], []))


def test_unfit_decisions_are_refused():
    with pytest.raises(LabelError, match="decision 2 of 3 is not a finite"):
        ev.roc_auc([0, 1, 1], [0.1, np.nan, 0.3])
    with pytest.raises(LabelError, match="one decision for each label"):
        ev.roc_auc([0, 1], [0.1, 0.2, 0.3])


def test_scores_has_the_columns_of_each_kind():
    binary = ev.scores("binary", (LABELS > 0).astype(int), DECISIONS, (DECISIONS > 0.6).astype(int))
    assert list(binary) == [
        "auc",
        "roc50",
        "median_rfp",
        "average_precision",
        "balanced_accuracy",
        "mcc",
        "accuracy",
        "sensitivity",
        "specificity",
    ]
    assert binary["auc"] == 0.8125
    assert binary["sensitivity"] == 0.5
    assert binary["specificity"] == 0.75
    assert binary["balanced_accuracy"] == 0.625
    several = ev.scores("multiclass", np.array([0, 1, 2]), np.eye(3), np.array([0, 1, 1]))
    assert several == {
        "auc": 1.0,
        "balanced_accuracy": pytest.approx(2 / 3),
        "mcc": pytest.approx(sk.matthews_corrcoef([0, 1, 2], [0, 1, 1])),
        "accuracy": pytest.approx(2 / 3),
    }
    real = ev.scores("real", np.arange(4.0), None, np.arange(4.0) * 2)
    assert list(real) == ["rmse", "r2", "pearson", "spearman"]
    assert real["pearson"] == real["spearman"] == pytest.approx(1)


def test_mean_curve_averages_vertically():
    # perfect; and one negative ahead of everything
    curves = [ev.roc_curve([1, 1, 0, 0], [4, 3, 2, 1]), ev.roc_curve([1, 1, 0, 0], [3, 2, 4, 1])]
    mean = ev.mean_roc_curve(curves, n_grid=5)
    assert mean.false.tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert mean.true.tolist() == [0.5, 0.5, 1, 1, 1]
    assert mean.sd.tolist() == pytest.approx([math.sqrt(0.5), math.sqrt(0.5), 0, 0, 0])
    slope = ev.mean_roc_curve([ev.roc_curve([1, 0], [1, 1]), ev.roc_curve([1], [1])], n_grid=3)
    assert slope.true.tolist() == [0, 0.5, 1]
    assert np.isnan(slope.sd).all()
    assert np.isnan(ev.mean_roc_curve([]).true).all()


def test_mean_curve_of_one_keeps_its_area():
    rng = np.random.default_rng(1)
    y = rng.random(200) < 0.4
    d = np.round(rng.normal(size=200) + y, 1)
    mean = ev.mean_roc_curve([ev.roc_curve(y, d)], n_grid=2001)
    assert sk.auc(mean.false, mean.true) == pytest.approx(ev.roc_auc(y, d), abs=1e-3)


@pytest.mark.filterwarnings("error")
def test_summary_leaves_the_undefined_out():
    summary = ev.summarise({"auc": [0.5, None, 0.7, math.nan], "mcc": [0.2], "r2": []})
    assert summary["auc"] == (pytest.approx(0.6), pytest.approx(math.sqrt(0.02)), 2)
    assert summary["mcc"][0] == 0.2
    assert math.isnan(summary["mcc"].sd)
    assert math.isnan(summary["r2"].mean)
    assert summary["r2"].n == 0
