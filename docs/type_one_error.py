"""How often each test finds a difference where there is none: share of p ≤ 0.05 and p ≤ 0.01 over simulated data.

``python docs/type_one_error.py [DRAWS]`` prints a table in Markdown, by default of 2,000 draws of data each; that of
``docs/type_one_error.md`` is its output.

Two kinds of nothing to find. *Classifiers*: two fixed decision functions of equal quality on new units; what a test on
one test set asks. *Learners*: two methods whose classifiers are equally good on average over training sets, each time
trained anew; what one wants to know of methods, and what the folds of one data set can only hint at. The learners here
are nearest-mean classifiers, each on three features of its own of the same distribution: no other difference is
possible than that of chance.
"""

import sys

import numpy as np
from scipy.stats import rankdata, ttest_rel

from seqkern.evaluation.bootstrap import bootstrap_test
from seqkern.evaluation.many_task_tests import compare_all, critical_difference, friedman, signed_rank_test
from seqkern.evaluation.single_task_tests import delong_test, exchange_test, five_by_two_f, five_by_two_t, mcnemar
from seqkern.sequences.sampling import deal

LEVELS = (0.05, 0.01)
SEED = 1


def fixed_classifiers(rng, n=100, share=0.4):
    """Return (labels, first, second): decisions of equal quality, correlated as those of two good methods are."""
    return decisions_of(rng, rng.random(n) < share)


def decisions_of(rng, y):
    """Return (labels, first, second) for these labels."""
    n = len(y)
    common = y + 0.7 * rng.normal(size=n)
    return y, common + 0.7 * rng.normal(size=n), common + 0.7 * rng.normal(size=n)


def delong(rng):
    """Return p on one test set."""
    return delong_test(*fixed_classifiers(rng)).p


def delong_few(rng):
    """Return p on a test set with few positives."""
    return delong_test(*fixed_classifiers(rng, n=60, share=0.2)).p


def delong_of(positives, negatives, parts=1):
    """Return the function that draws p with so many units of each class in each part."""
    y = np.tile(np.repeat([True, False], [positives, negatives]), parts)
    folds = np.repeat(np.arange(parts), positives + negatives)
    return lambda rng: delong_test(*decisions_of(rng, y), folds=folds).p


def delong_parts(rng):
    """Return p of rankings compared within five test sets."""
    return delong_test(*fixed_classifiers(rng), folds=np.arange(100) % 5).p


def mcnemar_of(method):
    """Return the function that draws p of McNemar's test."""

    def draw(rng):
        y, first, second = fixed_classifiers(rng)
        return mcnemar(y, first > 0.5, second > 0.5, method).p

    return draw


def bootstrap_of(score, positives, negatives, parts=1):
    """Return the function that draws p of a bootstrap test with so many units of each class in each part."""
    y = np.tile(np.repeat([True, False], [positives, negatives]), parts)
    folds = np.repeat(np.arange(parts), positives + negatives)

    def draw(rng):
        options = {"n_resamples": 300, "seed": int(rng.integers(2**31)), "folds": folds}
        return bootstrap_test(*decisions_of(rng, y), score, **options).p

    return draw


def exchange(rng):
    """Return p of the exchange of ranks; offered where the estimated variance is 0 only."""
    return exchange_test(*fixed_classifiers(rng), n_draws=299, seed=int(rng.integers(2**31)))


def wilcoxon(rng):
    """Return p over 15 tasks."""
    return signed_rank_test(*rng.normal(size=(2, 15))).p


def wilcoxon_holm(rng):
    """Return the least corrected p of all six pairs of four methods over 15 tasks."""
    return min(one.p_holm for one in compare_all(dict(enumerate(rng.normal(size=(4, 15))))))


def friedman_of(methods, tasks, which):
    """Return the function that draws p of Friedman's test."""

    def draw(rng):
        return getattr(friedman(dict(enumerate(rng.normal(size=(methods, tasks))))), which)

    return draw


def nemenyi(rng, methods=6, tasks=15):
    """Return 0.01 or 0.05 where some two mean ranks differ by the critical difference at that level, else 1."""
    ranks = friedman(dict(enumerate(rng.normal(size=(methods, tasks))))).ranks
    return min((level for level in LEVELS if np.ptp(ranks) > LIMITS[level]), default=1.0)


LIMITS = {level: critical_difference(6, 15, level) for level in LEVELS}


def data(rng, n=100, shift=0.7):
    """Return (labels, features of the first learner, of the second)."""
    y = np.arange(n) % 2
    return y, *(rng.normal(size=(n, 3)) + shift * y[:, None] for _ in range(2))


def decide(y, X, train, test):
    """Return the decisions of the nearest-mean classifier trained on some rows, on others."""
    means = [X[train][y[train] == code].mean(axis=0) for code in (0, 1)]
    return (X[test] - (means[0] + means[1]) / 2) @ (means[1] - means[0])


def auc(y, decisions):
    """Return the area under the ROC curve."""
    positives = int(y.sum())
    area = rankdata(decisions)[y == 1].sum() - positives * (positives + 1) / 2
    return area / (positives * (len(y) - positives))


def accuracy(y, decisions):
    """Return the share that is right."""
    return np.mean((decisions > 0) == y)


def differences(y, tables, fold, score):
    """Return the difference of the two learners' scores on each fold."""
    parts = [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(fold.max() + 1)]
    return [
        score(y[test], decide(y, tables[0], train, test)) - score(y[test], decide(y, tables[1], train, test))
        for train, test in parts
    ]


def five_by_two(score, test):
    """Return the function that draws p of a 5×2cv test."""

    def draw(rng):
        y, *tables = data(rng)
        folds = [deal(y, 2, int(rng.integers(2**31))) for _ in range(5)]
        return test([differences(y, tables, fold, score) for fold in folds]).p

    return draw


def learners_on_folds(test, n=100, shift=0.7, folds=5):
    """Return the function that draws p of a test of the decisions on folds; as many folds as units leave one out."""

    def draw(rng):
        y, *tables = data(rng, n, shift)
        fold = deal(y, folds, int(rng.integers(2**31))) if folds < n else np.arange(n)
        decisions = np.empty((2, len(y)))
        for f in range(folds):
            train, rows = np.flatnonzero(fold != f), np.flatnonzero(fold == f)
            decisions[:, rows] = [decide(y, X, train, rows) for X in tables]
        return test(y, *decisions, fold)

    return draw


def pooled_delong(y, first, second, fold):
    """Return p of the decisions of all folds ranked together."""
    return delong_test(y, first, second).p


def useless_alone(test):
    """Return the function that draws p of two methods that know nothing, leave-one-out of 30 units.

    One is the share of positives in the training set, with a little noise; the other noise alone.
    """
    y = np.arange(30) % 2

    def draw(rng):
        constant = (y.sum() - y) / (len(y) - 1) - 0.5 + 0.02 * rng.normal(size=len(y))
        return test(y, constant, rng.normal(size=len(y)), None)

    return draw


def regression_on_folds(n, folds, spreads):
    """Return the function that draws p of the signed-rank test of the errors of two regressions that know nothing.

    They are of one feature each, which has nothing to do with the labels; their slopes are shrunk to these shares.
    """

    def draw(rng):
        y, tables = rng.normal(size=n), rng.normal(size=(2, n))
        fold = rng.permutation(n) % folds
        errors = np.empty((2, n))
        for f in range(folds):
            train, test = fold != f, fold == f
            for own, x, share in zip(errors, tables, spreads, strict=True):
                slope = share * np.cov(x[train], y[train])[0, 1] / x[train].var()
                own[test] = np.abs(y[train].mean() + slope * (x[test] - x[train].mean()) - y[test])
        return signed_rank_test(*errors, higher=False).p

    return draw


def t_of_folds(rng):
    """Return p of a paired t-test of the accuracies on ten folds: not offered."""
    y, *tables = data(rng)
    return _t(differences(y, tables, deal(y, 10, int(rng.integers(2**31))), accuracy))


def t_of_resamples(rng, resamples=30):
    """Return p of a paired t-test of the accuracies on 30 random thirds of the data: not offered."""
    y, *tables = data(rng)
    found = []
    for _ in range(resamples):
        fold = deal(y, 3, int(rng.integers(2**31)))
        found += differences(y, tables, np.where(fold == 0, 0, -1), accuracy)
    return _t(found)


def _t(values):
    """Return p of the t-test that the mean is 0; 1 where all are 0."""
    return float(ttest_rel(values, np.zeros(len(values))).pvalue) if np.any(values) else 1.0


def delong_folds(y, first, second, fold):
    """Return p of rankings compared within folds."""
    return delong_test(y, first, second, folds=fold).p


def mcnemar_folds(y, first, second, fold):
    """Return p of the units of all folds together."""
    return mcnemar(y, first > 0, second > 0).p


# test, what it is given, function, whether it is slow
TABLE = (
    ("DeLong", "classifiers, one test set, 40 + 60 units", delong, False),
    ("DeLong", "classifiers, one test set, 12 + 48 units", delong_few, False),
    ("DeLong", "classifiers, one test set, 5 + 95 units", delong_of(5, 95), False),
    ("DeLong within parts", "classifiers, 5 test sets, 40 + 60 units", delong_parts, False),
    ("DeLong within parts", "classifiers, 5 test sets of 4 + 16 units", delong_of(4, 16, 5), False),
    ("DeLong within parts", "classifiers, 10 test sets of 2 + 2 units", delong_of(2, 2, 10), False),
    ("McNemar, mid-p (default)", "classifiers, 100 units", mcnemar_of("midp"), False),
    ("McNemar, exact", "classifiers, 100 units", mcnemar_of("exact"), False),
    ("McNemar, corrected", "classifiers, 100 units", mcnemar_of("corrected"), False),
    *(
        (f"bootstrap, {name}", f"classifiers, {words}", bootstrap_of(score, *sizes), True)
        for sizes, words in (
            ((120, 180), "120 + 180 units"),
            ((30, 70), "30 + 70 units"),
            ((10, 40), "10 + 40 units"),
            ((10, 200), "10 + 200 units"),
            ((10, 10, 5), "5 test sets of 10 + 10 units"),
        )
        for score, name in (("roc50", "ROC50"), ("average_precision", "average precision"))
    ),
    *(
        (f"bootstrap, {name}, not offered", f"classifiers, {words}", bootstrap_of(score, *sizes), True)
        for sizes, words in (
            ((5, 95), "5 + 95 units"),
            ((4, 16, 5), "5 test sets of 4 + 16 units"),
            ((2, 2, 10), "10 test sets of 2 + 2 units"),
        )
        for score, name in (("roc50", "ROC50"), ("average_precision", "average precision"))
    ),
    ("exchange of ranks, AUC", "classifiers, 40 + 60 units", exchange, True),
    ("Wilcoxon", "2 methods, 15 tasks", wilcoxon, False),
    ("Wilcoxon with Holm, any pair", "4 methods, 15 tasks", wilcoxon_holm, False),
    ("Friedman, exact", "3 methods, 5 tasks", friedman_of(3, 5, "p"), False),
    ("Friedman, Iman-Davenport's F", "6 methods, 15 tasks", friedman_of(6, 15, "p_f"), False),
    ("Friedman, χ²", "6 methods, 15 tasks", friedman_of(6, 15, "p_chi2"), False),
    ("Nemenyi, any pair", "6 methods, 15 tasks", nemenyi, False),
    ("5×2cv, Alpaydin's F (default)", "learners, accuracy", five_by_two(accuracy, five_by_two_f), False),
    ("5×2cv, Alpaydin's F (default)", "learners, AUC", five_by_two(auc, five_by_two_f), False),
    ("5×2cv, Dietterich's t", "learners, accuracy", five_by_two(accuracy, five_by_two_t), False),
    ("5×2cv, Dietterich's t", "learners, AUC", five_by_two(auc, five_by_two_t), False),
    ("DeLong within folds", "learners, 5 folds", learners_on_folds(delong_folds), False),
    ("McNemar, mid-p", "learners, 5 folds", learners_on_folds(mcnemar_folds), False),
    ("Wilcoxon of errors", "regressions on noise, 5 folds", regression_on_folds(100, 5, (1, 1)), False),
    (
        "DeLong of all together, not offered",
        "learners on noise, leave-one-out, 40 units",
        learners_on_folds(pooled_delong, 40, 0.0, 40),
        True,
    ),
    (
        "McNemar, mid-p, not offered",
        "learners on noise, leave-one-out, 40 units",
        learners_on_folds(mcnemar_folds, 40, 0.0, 40),
        True,
    ),
    (
        "DeLong of all together, not offered",
        "constant and noise, leave-one-out, 30 units",
        useless_alone(pooled_delong),
        False,
    ),
    (
        "McNemar, mid-p, not offered",
        "constant and noise, leave-one-out, 30 units",
        useless_alone(mcnemar_folds),
        False,
    ),
    (
        "Wilcoxon of errors, not offered",
        "regressions on noise, one slope shrunk to a tenth, leave-one-out, 40 units",
        regression_on_folds(40, 40, (1, 0.1)),
        True,
    ),
    ("paired t, not offered", "learners, 10 folds", t_of_folds, False),
    ("paired t, not offered", "learners, 30 resamples", t_of_resamples, False),
)


def rates(draws, rows=TABLE, seed=SEED):
    """Yield (test, given, share of p ≤ 0.05, share of p ≤ 0.01, draws) for each row; slow ones get a quarter."""
    for number, (test, given, draw, slow) in enumerate(rows):
        rng = np.random.default_rng([seed, number])
        count = draws // 4 if slow else draws
        p = np.array([draw(rng) for _ in range(count)])
        yield test, given, *(float(np.mean(p <= level)) for level in LEVELS), count


def main(draws=2000):
    """Print the table."""
    print("| test | of | p ≤ 0.05 | p ≤ 0.01 | draws |\n|---|---|--:|--:|--:|")
    for test, given, five, one, count in rates(draws):
        error = np.sqrt(five * (1 - five) / count)
        print(f"| {test} | {given} | {five:.3f} ± {error:.3f} | {one:.3f} | {count:,} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
