"""The P-SVM's path of ε against the lasso, its selector against the lecture's tables, its protocol against a twin."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import Lasso, lars_path
from sklearn.pipeline import make_pipeline

from seqkern.solvers import PSVC, PSVMFeatureSelector
from seqkern.solvers.selection.selectors import ExpressionScaler, psvm_selector
from seqkern.solvers.selection.selectors.psvm_selector import epsilon_grid, epsilon_path, rank_on_grid

SHAPES = ("square", "tall", "wide", "rank-deficient", "constant column", "repeated columns", "few values")


def standardised(X):
    """Return K̃ by columns, as rows; zeros for a constant one."""
    centred = X - X.mean(axis=0)
    scale = np.sqrt((centred**2).mean(axis=0))
    return np.ascontiguousarray(np.where(scale > 1e-9, centred / np.where(scale > 1e-9, scale, 1), 0).T)


def problem(shape, seed=0):
    """Return a matrix of one kind and centred labels."""
    rng = np.random.default_rng(seed)
    rows, cols = {"tall": (60, 8), "wide": (14, 90)}.get(shape, (24, 24))
    X = rng.normal(size=(rows, cols)) * rng.uniform(0.1, 5, size=cols) + rng.normal(size=cols)
    y = X[:, 0] - 0.5 * X[:, 1] + rng.normal(size=rows)
    if shape == "rank-deficient":
        X = X[:, :5] @ rng.normal(size=(5, cols))
    if shape == "constant column":
        X[:, 3] = 0.1
    if shape == "repeated columns":
        X[:, 12:] = X[:, :12]
    if shape == "few values":
        X, y = rng.integers(-1, 2, size=X.shape).astype(float), np.sign(y - np.median(y))
    return standardised(X), y - y.mean()


def violation(columns, target, epsilon, which, alpha):
    """Return by how much a solution misses SPEC.md's optimality conditions for C = ∞."""
    gradient = columns @ (columns[which].T @ alpha - target)
    inside = max(0.0, np.abs(gradient).max() - epsilon)
    return max(inside, np.abs(gradient[which] + epsilon * np.sign(alpha)).max(initial=0.0))


# ---- the path --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.9, 0.3, 0.02])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_path_is_the_lasso(shape, share):
    columns, target = problem(shape)
    path = epsilon_path(columns, target)
    epsilon = share * path.top
    which, alpha = path.at(epsilon)
    lasso = Lasso(alpha=epsilon / len(target), fit_intercept=False, tol=1e-15, max_iter=1_000_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # lasso cannot reach a tolerance below rounding
        lasso.fit(columns.T, target)
    np.testing.assert_allclose(columns[which].T @ alpha, columns.T @ lasso.coef_, atol=1e-8 * np.abs(target).max())
    if shape in ("square", "tall", "wide", "constant column"):
        np.testing.assert_allclose(alpha, lasso.coef_[which], atol=1e-8)
        np.testing.assert_array_equal(np.sort(which), np.flatnonzero(np.abs(lasso.coef_) > 1e-10))


@pytest.mark.parametrize("shape", SHAPES)
def test_the_path_meets_the_conditions_everywhere(shape):
    for seed in range(5):
        columns, target = problem(shape, seed)
        path = epsilon_path(columns, target)
        for segment in path.segments:
            for share in (0.05, 0.4, 0.95):
                epsilon = segment.bottom + share * (segment.top - segment.bottom)
                gap = violation(columns, target, epsilon, segment.active, segment.alpha(epsilon))
                assert gap <= 1e-10 * path.top


def test_the_path_is_continuous_and_ends_where_it_says():
    columns, target = problem("wide")
    path = epsilon_path(columns, target)
    assert path.segments[0].top == path.top == pytest.approx(np.abs(columns @ target).max())
    assert path.segments[-1].bottom == path.bottom
    for above, below in zip(path.segments, path.segments[1:], strict=False):
        assert above.bottom == below.top
        ends = np.zeros((2, len(columns)))
        ends[0, above.active], ends[1, below.active] = above.alpha(above.bottom), below.alpha(below.top)
        np.testing.assert_allclose(ends[0], ends[1], atol=1e-10)
    assert path.counts().max() == 13  # l − 1
    assert np.any(np.diff(path.counts()) < 0)  # columns leave, too
    assert epsilon_path(columns, target, most=4).counts().tolist()[-1] == 4
    assert epsilon_path(columns, target, lowest=path.top / 2).bottom == path.top / 2


@pytest.mark.parametrize("near", [1, 2, 5])
def test_columns_that_are_looked_at_do_not_matter(near, monkeypatch):
    rng = np.random.default_rng(near)
    X = rng.normal(size=(9, 700)) + rng.normal(size=(9, 1))
    X[:, 350:400] = X[:, :50]
    columns, target = standardised(X), rng.normal(size=9)
    target -= target.mean()
    looks = []
    look = psvm_selector._Near.look
    monkeypatch.setattr(psvm_selector._Near, "look", lambda self, *given: looks.append(given[2]) or look(self, *given))
    monkeypatch.setattr(psvm_selector, "NEAR", 10**6)
    whole = epsilon_path(columns, target)
    looks.clear()
    monkeypatch.setattr(psvm_selector, "NEAR", near)
    path = epsilon_path(columns, target)
    assert len(set(looks)) > 1  # it looked again, at more
    assert len(path.segments) == len(whole.segments)
    for one, other in zip(path.segments, whole.segments, strict=True):
        np.testing.assert_array_equal(one.active % 350, other.active % 350)
        np.testing.assert_allclose([one.top, one.bottom], [other.top, other.bottom], rtol=1e-9)


def test_columns_that_tie():
    for seed in range(300):
        rng = np.random.default_rng(seed)
        rows, cols = rng.integers(3, 12), rng.integers(1, 25)
        columns = standardised(rng.integers(-1, 2, size=(rows, cols)).astype(float))
        columns = np.concatenate([columns, columns[: rng.integers(0, cols)]])
        target = rng.integers(-2, 3, size=rows).astype(float)
        target -= target.mean()
        path = epsilon_path(columns, target)
        for epsilon in rng.uniform(path.bottom, path.top, size=4):
            assert violation(columns, target, epsilon, *path.at(epsilon)) <= 1e-8 * path.top


def test_nothing_to_select():
    for columns in (np.zeros((3, 5)), standardised(np.array([[1.0], [-1.0], [1.0], [-1.0], [0.0]]))):
        target = np.array([1.0, 1.0, -1.0, -1.0, 0.0])
        path = epsilon_path(columns, target)
        assert path.segments == []
        assert len(path.at(0.1)[0]) == 0
    X = np.tile([[1.0], [-1.0]], (4, 1))
    selector = PSVMFeatureSelector().fit(X, [0, 0, 1, 1, 0, 0, 1, 1])
    assert not selector.get_support().any()


# ---- the lecture's tables --------------------------------------------------------------------------------

LEFT = np.array([[-2.0, 3], [2, -3], [-2, 1], [2, -1]]), np.array([1.0, -1, -1, 1])
RIGHT = np.array([[0.0, -1, 0], [1, 1, 0], [-1, 0, -1], [1, 0, 1]]), np.array([-1.0, 1, -1, 1])


@pytest.mark.parametrize(("epsilon", "selected"), [(0.84, [0, 1]), (0.849, [1]), (0.1, [0, 1])])
def test_left_table(epsilon, selected):
    X, t = LEFT
    selector = PSVMFeatureSelector(n_features=None, epsilon=epsilon, epsilon_scale="absolute").fit(X, t)
    np.testing.assert_array_equal(selector.get_support(indices=True), selected)


def test_left_table_by_its_path():
    X, t = LEFT
    path = epsilon_path(standardised(X), t)
    columns, epsilons = path.entered()
    assert columns.tolist() == [1, 0]
    assert 0.8445 <= epsilons[1] < 0.8446
    assert PSVMFeatureSelector(n_features=1).fit(X, t).get_support().tolist() == [False, True]
    assert PSVMFeatureSelector(n_features=2).fit(X, t).get_support().all()


def test_right_table():
    X, t = RIGHT
    selector = PSVMFeatureSelector(n_features=3).fit(X, t)
    assert selector.ranking_[0] == 1  # the redundant feature correlates most and enters first …
    np.testing.assert_allclose(selector.scores_[0], 0.905, atol=5e-4)
    path = epsilon_path(standardised(X), t)
    for epsilon in np.geomspace(path.top * 0.999, path.bottom, 20):
        assert 0 in path.at(epsilon)[0]  # … and stays
    which, alpha = path.at(0.01)
    np.testing.assert_allclose(alpha[np.argsort(which)], [0.0077, 0.7013, 0.6981], atol=5e-5)
    which, alpha = path.at(0.0)
    np.testing.assert_allclose(alpha[np.argsort(which)], [0, 0.5**0.5, 0.5**0.5], atol=1e-5)


# ---- the selector ----------------------------------------------------------------------------------------


def expression(rows=22, columns=150, seed=3):
    """Return values like those of a chip and labels that some columns go with."""
    rng = np.random.default_rng(seed)
    y = np.arange(rows) % 2
    X = np.exp(rng.normal(size=(rows, columns)) + 3)
    for column, strength in ((5, 3.0), (40, 2.5), (41, 2.5), (90, 2.5)):
        X[:, column] *= np.exp(strength * y)
    X[:, 7] = 3.0
    return X, y


@pytest.mark.parametrize("scale", ["max", "absolute"])
def test_a_fixed_epsilon_selects_what_the_solver_selects(scale):
    X, y = expression()
    for epsilon in (0.2, 0.5) if scale == "max" else (3.0, 8.0):
        selector = PSVMFeatureSelector(n_features=None, epsilon=epsilon, epsilon_scale=scale).fit(X, y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            solver = PSVC(C=np.inf, epsilon=epsilon, epsilon_scale=scale, kernel="features", tol=1e-10).fit(X, y)
        chosen = selector.get_support(indices=True)
        np.testing.assert_array_equal(chosen, np.sort(solver.support_))
        order = np.argsort(solver.support_)
        np.testing.assert_allclose(selector.scores_[chosen], np.abs(solver.alpha_[order]), atol=1e-6)
        np.testing.assert_array_equal(
            np.argsort(selector.ranking_)[: len(chosen)], chosen[np.argsort(-selector.scores_[chosen])]
        )


def test_as_many_features_as_wanted():
    X, y = expression()
    whole = PSVMFeatureSelector(n_features=None).fit(X, y)
    for count in (1, 3, 12):
        selector = PSVMFeatureSelector(n_features=count).fit(X, y)
        assert selector.get_support().sum() == count
        assert np.all(whole.ranking_[selector.get_support()] <= count)
    assert whole.get_support().sum() >= len(y) - 1


def test_several_classes_go_down_together():
    X, _ = expression()
    y = np.arange(22) % 3
    selector = PSVMFeatureSelector(n_features=None).fit(X, y)
    expected = np.full(150, -np.inf)
    for one in range(3):
        target = np.where(y == one, 1.0, -1.0)
        target -= target.mean()
        which, epsilons = epsilon_path(standardised(X), target).entered()
        expected[which] = np.maximum(expected[which], epsilons / np.sqrt(22 * target @ target))
    np.testing.assert_allclose(selector.scores_, expected, rtol=1e-9)
    np.testing.assert_allclose(
        selector.scores_.max(),
        max(abs(np.corrcoef(X[:, j], y == one)[0, 1]) for one in range(3) for j in range(150) if j != 7),
    )


# ---- the ranking protocol --------------------------------------------------------------------------------


def twin_path(columns, target):
    """Return the knots ε of the path and α at each, by scikit-learn."""
    alphas, _, coefs = lars_path(columns.T, target, method="lasso", Gram=None)
    return alphas * len(target), coefs


def twin_grid(knots, coefs, rows, size):
    """Return the grid of ε, from its definition: 5 to 10 features at the top, 0.9·l at the bottom."""
    middle = (coefs[:, 1:] + coefs[:, :-1]) / 2
    counts = [int(np.sum(middle[:, k] != 0)) for k in range(middle.shape[1])]
    five = next(k for k, count in enumerate(counts) if count >= 5)
    eleven = next(k for k, count in enumerate(counts) if count >= 11)
    last = next(k for k, count in enumerate(counts) if count >= round(0.9 * rows))
    top, bottom = (knots[five] + knots[eleven]) / 2, (knots[last] + knots[last + 1]) / 2
    return [top + (bottom - top) * step / (size - 1) for step in range(size)]


def twin_ranking(X, y, correlations):
    """Return the features of one part from best to worst: a lasso for each ε of a grid, in units of √l ‖t‖."""
    columns, target = standardised(X), centred(y)
    ranked = []
    for epsilon in np.sqrt(len(y)) * np.linalg.norm(target) * np.array(correlations):
        lasso = Lasso(alpha=epsilon / len(y), fit_intercept=False, tol=1e-12, max_iter=1_000_000)
        alpha = lasso.fit(columns.T, target).coef_
        alpha[np.abs(alpha) < 1e-9] = 0
        new = [j for j in np.flatnonzero(alpha) if j not in ranked]
        ranked += sorted(new, key=lambda j: -abs(alpha[j]))
    return ranked


def centred(y):
    """Return the centred target of two classes."""
    target = np.where(y == 1, 1.0, -1.0)
    return target - target.mean()


def test_the_protocol_and_its_twin():
    """The ε of the grid are constant: they come from all training rows, and every part goes down the same."""
    X, y = expression()
    scaler = ExpressionScaler(normalize="log", floor=5, present_above=15, present_share=0.4)

    def scaled(kept):
        part = np.log2(np.maximum(X[kept], 5))
        part[:, np.mean(X[kept] > 15, axis=0) < 0.4] = 0
        return part

    target = centred(y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        grid = twin_grid(*twin_path(standardised(scaled(np.arange(22))), target), 22, 6)
    grid = np.array(grid) / (np.sqrt(22) * np.linalg.norm(target))
    ranks = [[] for _ in range(150)]
    for left_out in range(22):
        kept = [row for row in range(22) if row != left_out]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ranking = twin_ranking(scaled(kept), y[kept], grid)
        for place, j in enumerate(ranking, 1):
            ranks[j].append(place)
    order = sorted(range(150), key=lambda j: (-len(ranks[j]), np.mean(ranks[j]) if ranks[j] else np.inf, j))
    for selector in (
        PSVMFeatureSelector(ranking="leave_one_out", n_epsilons=6, scaler=scaler).fit(X, y),
        PSVMFeatureSelector(ranking="leave_one_out", n_epsilons=6).fit_scaled(X, y, scaler),
    ):
        np.testing.assert_array_equal(np.argsort(selector.ranking_), order)
        chosen = [j for j in range(150) if ranks[j]]
        np.testing.assert_allclose(selector.scores_[chosen], [len(ranks[j]) / 22 for j in chosen])
        np.testing.assert_allclose(selector.mean_rank_[chosen], [np.mean(ranks[j]) for j in chosen])
        assert np.all(np.isinf(np.delete(selector.scores_, chosen)))
        assert set(np.argsort(selector.ranking_)[:3]) <= {5, 40, 41, 90}


def test_the_grid_selects_few_to_about_as_many_as_rows():
    X, y = expression()
    columns = standardised(X)
    target = np.where(y == 1, 1.0, -1.0)
    path = epsilon_path(columns, target)
    grid = epsilon_grid([path], 22, 20)
    np.testing.assert_allclose(np.diff(grid), (grid[-1] - grid[0]) / 19)
    assert 5 <= len(path.at(grid[0])[0]) <= 10
    assert len(path.at(grid[-1])[0]) == round(0.9 * 22)
    which, epsilons = rank_on_grid([path], grid)
    assert np.all(np.diff(epsilons) <= 0)
    for epsilon in grid:
        assert set(path.at(epsilon)[0]) <= set(which[epsilons >= epsilon])


def test_one_part_uses_its_rows_alone():
    X, y = expression()
    scaler = ExpressionScaler(normalize="quantile", present_above=10)
    selector = PSVMFeatureSelector(ranking="leave_one_out", n_epsilons=6)
    rows = np.delete(np.arange(22), 8)
    expected = selector.part_ranking(X, y, rows, scaler)
    for poison in (np.nan, 1e30, -1e30):
        X[8], y[8] = poison, 1 - y[8]
        found = selector.part_ranking(X, y, rows, scaler)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)


def test_the_ranking_of_a_part_is_what_its_inner_selector_gives():
    X, y = expression()
    selector = PSVMFeatureSelector(ranking="leave_one_out", n_epsilons=6, n_features=None)
    rows = np.delete(np.arange(22), 8)
    which, ratings = selector.part_ranking(X, y, rows)
    inner = selector.inner().fit(X[rows], y[rows])
    np.testing.assert_array_equal(np.argsort(inner.ranking_)[: len(which)], which)
    np.testing.assert_array_equal(inner.get_support(indices=True), np.sort(which))
    assert len(ratings) == len(which)


def test_in_a_pipeline_new_values_are_clipped():
    X, y = expression()
    pipeline = make_pipeline(
        ExpressionScaler(normalize="log", floor=1),
        PSVMFeatureSelector(n_features=4, ranking="leave_one_out", n_epsilons=6),
        PSVC(kernel="features"),
    )
    pipeline.fit(X, y)
    assert pipeline.score(X, y) > 0.9
    chosen = pipeline[1].get_support(indices=True)
    assert len({5, 40, 41, 90} & set(chosen)) >= 3
    new = X[:2].copy()
    decision = pipeline.decision_function(np.maximum(new, X.max(axis=0)))
    np.testing.assert_array_equal(pipeline.decision_function(np.maximum(new, 1e9)), decision)
