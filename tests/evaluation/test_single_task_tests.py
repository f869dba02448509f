"""Two methods on one task: the shape of the folds, the test that it allows, and the numbers of each test."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest

from seqkern.core.errors import LabelError, ParameterError
from seqkern.evaluation import delong_interval, delong_test, holm, signed_rank_test
from seqkern.evaluation.bootstrap import bootstrap_interval, bootstrap_test
from seqkern.evaluation.intervals import metrics_with_interval, score_interval, wilson
from seqkern.evaluation.single_task_tests import PairedDecisions, five_by_two_f, mcnemar, metrics_with_test, pair_tests

HALVES = [f"{repeat}.{half}" for repeat in range(1, 6) for half in (1, 2)]


def paired(splits, kind="binary", seed=0, skills=(2, 1, 0), ids=None, scores=None):
    """Made-up decisions of three methods: a row for each entry of `splits`."""
    rng = np.random.default_rng(seed)
    splits = np.array(splits, dtype=str)
    n = len(splits)
    labels = {"binary": rng.random(n) < 0.4, "multiclass": rng.integers(3, size=n), "real": rng.normal(size=n)}[kind]
    labels = labels.astype(float if kind == "real" else np.int64)
    decisions, predicted = {}, {}
    for name, skill in zip("abc", skills, strict=True):
        decisions[name] = skill * labels + rng.normal(size=n)
        guess = rng.integers(3, size=n)
        predicted[name] = {
            "binary": (decisions[name] > skill / 2).astype(np.int64),
            "multiclass": np.where(rng.random(n) < 0.3 * skill, labels, guess),
            "real": decisions[name],
        }[kind]
    ids = np.arange(n).astype(str) if ids is None else np.array(ids, dtype=str)
    return PairedDecisions(
        kind, ids, splits, labels, {} if kind == "multiclass" else decisions, predicted, scores or {}
    )


def five_by_two(n=12):
    """Return (splits, ids) of five halvings of n units."""
    rng = np.random.default_rng(1)
    orders = [rng.permutation(n) for _ in range(5)]
    splits = [f"{r}.{h}" for r in range(1, 6) for h in (1, 2) for _ in range(n // 2)]
    return splits, np.concatenate(orders)


def test_the_shape_of_the_folds():
    assert paired(["1"] * 20).shape == "single"
    assert paired(["1", "2"] * 10).shape == "folds"
    splits, ids = five_by_two()
    assert paired(splits, ids=ids).shape == "five_by_two"
    # the same names, but units tested twice in one repeat; other names; one repeat missing
    moved = np.concatenate([ids[:6], ids[:6], ids[12:]])
    assert paired(splits, ids=moved).shape == "repeated"
    assert paired([name.replace(".", "-") for name in splits], ids=ids).shape == "repeated"
    assert paired(splits[:-12], ids=ids[:-12]).shape == "repeated"


def test_of_one_test_part_delong_and_mcnemar():
    one = paired(["1"] * 60)
    assert metrics_with_test(one)[:2] == ("auc", "accuracy")
    found = pair_tests(one, "auc")
    assert [tested[:3] for tested in found] == [("a", "b", "delong"), ("a", "c", "delong"), ("b", "c", "delong")]
    for tested in found:
        test = delong_test(one.labels, one.decisions[tested.first], one.decisions[tested.second])
        assert (tested.value, tested.other_value, tested.p) == pytest.approx((test.first, test.second, test.p))
        assert tested.high - tested.difference == pytest.approx(1.96 * test.se, rel=1e-4)
        assert tested.lead == np.sign(test.difference)
    assert [tested.p_holm for tested in found] == pytest.approx(holm([tested.p for tested in found]))
    for tested in pair_tests(one, "accuracy"):
        test = mcnemar(one.labels, one.predicted[tested.first], one.predicted[tested.second])
        assert (tested.wins, tested.losses, tested.p) == (test.wins, test.losses, test.p)
        assert tested.wins + tested.ties + tested.losses == tested.units == 60
        assert tested.value - tested.other_value == pytest.approx(tested.difference)


def test_over_folds_rankings_are_compared_within_each():
    folds = paired(np.arange(90) % 3)
    for metric, test in (("auc", delong_test), ("roc50", bootstrap_test), ("average_precision", bootstrap_test)):
        (found,) = pair_tests(folds, metric, control="b")[1:]
        options = {} if test is delong_test else {"score": metric}
        naive = test(folds.labels, folds.decisions["b"], folds.decisions["c"], folds=folds.splits, **options)
        assert (found.difference, found.p) == pytest.approx((naive.difference, naive.p))


@pytest.mark.parametrize("kind", ["binary", "multiclass", "real"])
def test_leave_one_out_is_not_tested(kind):
    alone = paired(np.arange(40), kind)
    assert alone.apart
    assert metrics_with_test(alone) == metrics_with_interval(alone) == ()
    metric = {"real": "absolute_error"}.get(kind, "accuracy")
    with pytest.raises(LabelError, match=r"as in leave-one-out; .* useless methods would seem to differ; use folds"):
        pair_tests(alone, metric)


def test_parts_of_one_class_are_not_ranked_together():
    mixed = paired(np.arange(90) % 3)
    apart = replace(mixed, splits=np.where(mixed.labels == 1, "p", mixed.splits))
    assert apart.apart
    assert metrics_with_test(apart) == ()
    # one part of one class among others: classes may be compared, rankings not
    some = mixed.splits.copy()
    some[np.flatnonzero(mixed.labels == 0)[:5]] = "x"
    some = replace(mixed, splits=some)
    assert metrics_with_test(some) == metrics_with_interval(some) == ("accuracy",)
    with pytest.raises(LabelError, match="decision values of different classifiers cannot be ranked together"):
        pair_tests(some, "auc")
    # of a single test set with one class there is no such bias
    assert metrics_with_test(replace(mixed, splits=np.repeat("1", 90), labels=np.ones(90, dtype=int))) == ("accuracy",)


def test_few_units_of_a_class_are_not_drawn_again():
    few = paired(["1"] * 40)
    labels = np.arange(40) < 9
    few = replace(few, labels=labels.astype(int))
    assert metrics_with_test(few) == ("auc", "accuracy")
    assert set(metrics_with_interval(few)) == {"auc", "accuracy"}
    with pytest.raises(LabelError, match="fewer than 10 samples of a class, too few for the bootstrap, which"):
        pair_tests(few, "roc50")
    # enough in all, but not where both methods have decisions
    enough = replace(few, labels=(np.arange(40) < 12).astype(int))
    enough.decisions["b"][:3] = np.nan
    ab, ac, _ = pair_tests(enough, "roc50")
    assert math.isnan(ab.p)
    assert math.isnan(ab.low)
    assert ac.p == ac.p
    assert math.isnan(score_interval(enough, "b", "roc50").low)
    assert not math.isnan(score_interval(enough, "a", "roc50").low)


def test_a_perfect_method_is_told_from_a_constant_one():
    y = np.repeat([1, 0], 20)
    base = paired(["1"] * 40)
    decisions = {"perfect": y * 1.0, "constant": np.zeros(40), "scaled": y * 3.0}
    whole = replace(base, labels=y, decisions=decisions, predicted=dict.fromkeys(decisions, y))
    for metric in ("auc", "roc50", "average_precision"):
        found, same, other = pair_tests(whole, metric)
        assert (found.test, found.lead) == ("exchange", 1)
        assert math.isnan(found.statistic)
        assert math.isnan(found.low)
        assert found.p < 0.001
        assert other.lead == -1
        assert (same.p, same.statistic) == (1, 0)
        assert same.test != "exchange"


def test_a_control_is_compared_with_each_other_and_corrected_for_these():
    one = paired(["1"] * 60)
    found = pair_tests(one, "auc", control="c")
    assert [tested[:2] for tested in found] == [("c", "a"), ("c", "b")]
    assert [tested.p_holm for tested in found] == pytest.approx(holm([tested.p for tested in found]))
    with pytest.raises(ParameterError, match="control 'd'"):
        pair_tests(one, "auc", control="d")


def test_units_that_one_method_lacks_are_left_out_of_its_pairs():
    whole = paired(["1"] * 60)
    whole.decisions["b"][:10], whole.predicted["b"][:10] = np.nan, -1
    for metric in ("auc", "accuracy", "roc50"):
        ab, ac, _ = pair_tests(whole, metric)
        assert (ab.units, ab.left_out, ac.units, ac.left_out) == (50, 10, 60, 0)
    (ab, *_) = pair_tests(whole, "auc")
    naive = delong_test(whole.labels[10:], whole.decisions["a"][10:], whole.decisions["b"][10:])
    assert ab.p == pytest.approx(naive.p)


def test_five_by_two_takes_the_scores_of_the_halves():
    splits, ids = five_by_two()
    rng = np.random.default_rng(3)
    scores = {name: {(half, "auc"): rng.random() for half in HALVES} for name in "abc"}
    scores["c"].pop(("2.1", "auc"))
    halves = paired(splits, ids=ids, scores=scores)
    assert metrics_with_test(halves) == ("auc",)
    ab, ac, _ = pair_tests(halves, "auc")
    table = np.array([scores["a"][half, "auc"] - scores["b"][half, "auc"] for half in HALVES]).reshape(5, 2)
    test = five_by_two_f(table)
    assert (ab.difference, ab.statistic, ab.p) == pytest.approx(test)
    assert (ab.test, ab.units, ab.lead) == ("five_by_two_f", 12, np.sign(test.difference))
    assert math.isnan(ac.p)
    lower = pair_tests(halves, "auc", higher=False)[0]
    assert (lower.lead, lower.p) == (-ab.lead, ab.p)
    assert (ab.wins, ab.ties, ab.losses) == ((table > 0).sum(), 0, (table < 0).sum())
    assert (lower.wins, lower.losses) == (ab.losses, ab.wins)


@pytest.mark.parametrize(("ahead", "directed"), [(10, True), (9, True), (8, False), (1, True), (5, False)])
def test_f_names_the_better_only_where_nearly_all_halves_agree(ahead, directed):
    splits, ids = five_by_two()
    scores = {
        "a": {(half, "auc"): 0.8 if i < ahead else 0.6 for i, half in enumerate(HALVES)},
        "b": {(half, "auc"): 0.7 for half in HALVES},
        "c": {},
    }
    found = pair_tests(paired(splits, ids=ids, scores=scores), "auc")[0]
    assert found.directed == found.turned().directed == directed


def test_real_labels_by_their_absolute_errors():
    real = paired(["1"] * 50, "real", skills=(1, 1, 0))
    (found,) = pair_tests(real, "absolute_error", control="c")[:1]
    assert (found.mean, found.turned().other_mean) == (found.mean,) * 2
    errors = [np.abs(real.decisions[name] - real.labels) for name in "ca"]
    test = signed_rank_test(*errors, higher=False)
    assert (found.wins, found.losses, found.p) == (test.wins, test.losses, test.p)
    assert (found.value, found.other_value) == pytest.approx([np.median(error) for error in errors])
    assert (found.mean, found.other_mean) == pytest.approx([error.mean() for error in errors])
    assert found.lead == np.sign(test.effect)


def test_several_classes_by_the_units_that_are_right():
    many = paired(["1"] * 80, "multiclass")
    assert metrics_with_test(many) == ("accuracy",)
    found = pair_tests(many, "accuracy")[1]
    assert found.value == pytest.approx(np.mean(many.predicted["a"] == many.labels))
    assert found.lead == 1
    with pytest.raises(ParameterError, match="needs two classes; choose accuracy"):
        pair_tests(many, "auc")


def test_what_has_no_valid_test_is_refused():
    with pytest.raises(LabelError, match=r"overlap.*five_by_two"):
        pair_tests(paired(["1"] * 10 + ["2"] * 10, ids=[*range(10), *range(5, 15)]), "auc")
    with pytest.raises(ParameterError, match="unknown metric for this comparison 'mcc'"):
        pair_tests(paired(["1"] * 20), "mcc")


def test_each_score_has_its_interval():
    folds = paired(np.arange(90) % 3)
    assert metrics_with_interval(folds) == ("auc", "roc50", "average_precision", "accuracy")
    d, y, splits = folds.decisions["a"], folds.labels, folds.splits
    assert score_interval(folds, "a", "auc") == pytest.approx(delong_interval(y, d, folds=splits))
    for metric in ("roc50", "average_precision"):
        assert score_interval(folds, "a", metric, seed=2) == bootstrap_interval(y, d, metric, seed=2, folds=splits)
    share = np.mean(folds.predicted["a"] == y)
    found, naive = (
        score_interval(folds, "a", "accuracy"),
        binomtest(round(90 * share), 90).proportion_ci(method="wilson"),
    )
    assert (found.score, found.low, found.high) == pytest.approx((share, naive.low, naive.high))
    folds.decisions["b"][:5] = np.nan
    assert score_interval(folds, "b", "auc").score == pytest.approx(
        delong_interval(y[5:], folds.decisions["b"][5:], folds=splits[5:]).auc
    )
    assert math.isnan(wilson(0, 0).score)
    splits, ids = five_by_two()
    assert metrics_with_interval(paired(splits, ids=ids)) == ()
    assert metrics_with_interval(paired(["1"] * 9, "real")) == ()


def test_turned_round_it_says_the_same():
    for metric in ("auc", "accuracy"):
        one = pair_tests(paired(["1"] * 60), metric)[0]
        other = pair_tests(paired(["1"] * 60), metric, control="b")[0]
        assert one.turned()[:3] == other[:3]
        numbers = [[math.nan if value is None else value for value in tested[3:17]] for tested in (one.turned(), other)]
        assert numbers[0] == pytest.approx(numbers[1], nan_ok=True)
