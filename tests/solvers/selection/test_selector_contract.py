"""What every feature selector promises; a new one is tested here as soon as its module is there."""

import json
import numbers
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

from seqkern.core.errors import GramError, LabelError, ParameterError
from seqkern.solvers.selection.selectors import SELECTORS, build_selector
from seqkern.solvers.selection.selectors.scaling import ExpressionScaler

pytestmark = pytest.mark.contract
EXAMPLES = [selector for cls in SELECTORS.classes.values() for selector in cls.examples()]
INFORMATIVE = 7


def each(selectors):
    """Parametrise over copies of selectors, so that no test sees another's fit."""
    return pytest.mark.parametrize("selector", [pytest.param(clone(one), id=repr(one)) for one in selectors])


class Problem:
    """Rows whose labels depend on feature 7 and, less, on feature 3; feature 5 is constant."""

    def __init__(self, kind, n=40, d=12, seed=1):
        rng = np.random.default_rng(seed)
        score = rng.normal(size=n)
        cuts = {"binary": [0.0], "multiclass": [-0.6, 0.6]}
        self.y = score if kind == "real" else np.searchsorted(cuts[kind], score)
        target = score if kind == "real" else self.y / self.y.std()
        self.X = rng.normal(size=(n, d)) * rng.uniform(0.5, 2, size=d)
        self.X[:, INFORMATIVE] = 3 * target + 0.5 * rng.normal(size=n)
        self.X[:, 3] = target + 1.5 * rng.normal(size=n)
        self.X[:, 5] = 0.1


def fitted(selector, **size):
    """Return a fitted copy of a selector and its problem."""
    problem = Problem(selector.targets[0], **size)
    return clone(selector).fit(problem.X, problem.y), problem


def as_bytes(selector):
    """Return what was learned."""
    return selector.scores_.tobytes(), selector.ranking_.tobytes(), selector.get_support().tobytes()


def one_line(info):
    """Return an error's text, which must be one line."""
    text = str(info.value)
    assert text
    assert "\n" not in text
    return text


# ---- the ranking -----------------------------------------------------------------------------------------


@each(EXAMPLES)
def test_shapes_and_types(selector):
    selector, problem = fitted(selector)
    width = problem.X.shape[1]
    assert selector.scores_.dtype == np.float64
    assert selector.ranking_.dtype == np.int64
    assert sorted(selector.ranking_) == list(range(1, width + 1))
    assert not np.isnan(selector.scores_).any()
    assert np.all(selector.scores_ < np.inf)


@each(EXAMPLES)
def test_ranking_follows_from_scores(selector):
    selector, _ = fitted(selector)
    in_order = selector.scores_[np.argsort(selector.ranking_)]
    assert np.all(in_order[1:] <= in_order[:-1])


@each(EXAMPLES)
def test_the_informative_feature_is_first(selector):
    selector, _ = fitted(selector)
    assert selector.ranking_[INFORMATIVE] == 1
    assert selector.get_support()[INFORMATIVE]


@each(EXAMPLES)
def test_a_constant_feature_is_never_chosen(selector):
    selector, _ = fitted(selector.set_params(n_features=None))
    assert not selector.get_support()[5]
    assert selector.scores_[5] == -np.inf


@each(EXAMPLES)
def test_the_best_are_chosen(selector):
    for count in (1, 2, 4):
        selector, problem = fitted(selector.set_params(n_features=count))
        chosen = selector.get_support()
        np.testing.assert_array_equal(chosen, (selector.ranking_ <= count) & (selector.scores_ > -np.inf))
        np.testing.assert_array_equal(selector.transform(problem.X), problem.X[:, chosen])
        np.testing.assert_array_equal(selector.get_support(indices=True), np.flatnonzero(chosen))


@each(EXAMPLES)
def test_more_features_than_there_are(selector):
    selector, problem = fitted(selector.set_params(n_features=1000))
    np.testing.assert_array_equal(selector.get_support(), selector.scores_ > -np.inf)
    assert selector.transform(problem.X).shape == (40, selector.get_support().sum())


@each(EXAMPLES)
@pytest.mark.parametrize("kind", ["binary", "multiclass", "real"])
def test_kinds_of_label(selector, kind):
    problem = Problem(kind)
    if kind in selector.targets:
        selector.fit(problem.X, problem.y)
        assert selector.kind_ == kind
        assert selector.ranking_[INFORMATIVE] == 1
    elif "real" not in selector.targets:
        with pytest.raises(LabelError, match=kind):
            selector.fit(problem.X, problem.y)


@each([selector for selector in EXAMPLES if selector.targets[0] != "real"])
def test_names_of_classes_do_not_matter(selector):
    selector, problem = fitted(selector)
    for names in (np.array([-1.0, 1.0, 2.0]), np.array(["donor", "neither", "other"])):
        other = clone(selector).fit(problem.X, names[problem.y])
        assert list(other.classes_) == list(names[: len(other.classes_)])
        assert as_bytes(other) == as_bytes(selector)


@each(EXAMPLES)
def test_order_of_columns(selector):
    selector, problem = fitted(selector)
    order = np.random.default_rng(2).permutation(problem.X.shape[1])
    other = clone(selector).fit(problem.X[:, order], problem.y)
    np.testing.assert_allclose(other.scores_, selector.scores_[order], rtol=1e-6, atol=1e-9)


# ---- the same every time ---------------------------------------------------------------------------------


@each(EXAMPLES)
def test_refit_gives_the_same_bytes_and_changes_no_input(selector):
    selector, problem = fitted(selector)
    once = as_bytes(selector)
    selector.transform(problem.X)
    fresh = Problem(selector.targets[0])
    np.testing.assert_array_equal(problem.X, fresh.X)
    np.testing.assert_array_equal(problem.y, fresh.y)
    assert as_bytes(selector.fit(problem.X, problem.y)) == once
    assert as_bytes(pickle.loads(pickle.dumps(selector))) == once
    assert as_bytes(clone(selector).fit(np.asfortranarray(problem.X), problem.y)) == once


@each(EXAMPLES)
def test_threads_do_not_change_a_bit(selector):
    with threadpool_limits(limits=1):
        once = as_bytes(fitted(selector, n=60, d=90)[0])
    with threadpool_limits(limits=4):
        assert as_bytes(fitted(selector, n=60, d=90)[0]) == once


@each(EXAMPLES)
def test_a_scaler_is_fitted_to_what_the_selector_learns_from(selector):
    problem = Problem(selector.targets[0])
    scaler = ExpressionScaler()
    selector.fit_scaled(problem.X, problem.y, scaler)
    assert selector.ranking_[INFORMATIVE] == 1
    assert not hasattr(scaler, "means_")


@each(EXAMPLES)
def test_the_selector_of_a_part(selector):
    inner = selector.inner()
    assert isinstance(inner, type(selector))
    assert inner is not selector
    assert inner.n_features == selector.n_features
    with pytest.raises(NotFittedError):
        inner.get_support()


# ---- scikit-learn's manners ------------------------------------------------------------------------------


@each([selector for selector in EXAMPLES if "binary" in selector.targets])
def test_in_a_pipeline(selector):
    problem = Problem("binary")
    pipeline = make_pipeline(ExpressionScaler(), selector.set_params(n_features=2), LogisticRegression())
    pipeline.fit(problem.X, problem.y)
    assert pipeline.score(problem.X, problem.y) > 0.85
    assert "x7" in pipeline[:-1].get_feature_names_out()


@each(EXAMPLES)
def test_clone(selector):
    selector, problem = fitted(selector)
    copy = clone(selector)
    assert repr(copy) == repr(selector)
    with pytest.raises(NotFittedError):
        copy.transform(problem.X)


@parametrize_with_checks([clone(cls.examples()[0]) for cls in SELECTORS.classes.values()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# ---- bad input -------------------------------------------------------------------------------------------


@each(EXAMPLES)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_not_a_number(selector, value):
    problem = Problem(selector.targets[0])
    problem.X[3, 2] = value
    with pytest.raises(GramError) as info:
        selector.fit(problem.X, problem.y)
    assert "row 3" in one_line(info)


@each(EXAMPLES)
def test_labels_that_do_not_fit(selector):
    problem = Problem(selector.targets[0])
    wrong = problem.y.astype(float)
    wrong[4] = np.nan
    for y in (problem.y[:-1], np.stack([problem.y, problem.y], axis=1), wrong, None):
        with pytest.raises(LabelError) as info:
            clone(selector).fit(problem.X, y)
        one_line(info)


@each([selector for selector in EXAMPLES if selector.targets[0] != "real"])
def test_one_class_only(selector):
    problem = Problem(selector.targets[0])
    with pytest.raises(LabelError) as info:
        selector.fit(problem.X, np.full(len(problem.y), "donor"))
    assert "donor" in one_line(info)


@each(EXAMPLES)
def test_parameters_are_checked_at_fit(selector):
    problem = Problem(selector.targets[0])
    for name, value in selector.get_params(deep=False).items():
        if value is None:  # nothing says of what type it may be
            continue
        bad = np.nan if isinstance(value, numbers.Real) else "nonsense"
        with pytest.raises(ParameterError) as info:
            clone(selector).set_params(**{name: bad}).fit(problem.X, problem.y)
        assert f"{name}={bad!r}" in one_line(info)


# ---- specs -----------------------------------------------------------------------------------------------


@each(EXAMPLES)
def test_spec_and_back(selector):
    spec = json.loads(json.dumps(selector.spec(), allow_nan=False))
    assert repr(build_selector(spec)) == repr(selector)
    assert repr(build_selector(json.dumps(spec))) == repr(selector)


@pytest.mark.parametrize(
    ("spec", "part"),
    [
        ("nothing:n_features=3", "selector"),
        ({"n_features": 3}, "does not name a selector"),
        (7, "does not name a selector"),
        (["golub"], "does not name a selector"),
    ],
)
def test_bad_spec(spec, part):
    with pytest.raises(ParameterError) as info:
        build_selector(spec)
    assert part in one_line(info)


@pytest.mark.parametrize(
    ("given", "part"),
    [
        ({"n_features": 0}, "n_features=0"),
        ({"n_featurs": 3}, "did you mean 'n_features'"),
        ({"n_features": -1}, "n_features=-1"),
    ],
)
def test_bad_parameters(given, part):
    for spec in [{"selector": name, **given} for name in SELECTORS.classes]:
        with pytest.raises(ParameterError) as info:
            build_selector(spec)
        assert part in one_line(info)


def test_all_are_described():
    for cls in SELECTORS.classes.values():
        assert cls.summary.endswith("."), cls
        assert set(cls.targets) <= {"binary", "multiclass", "real"}, cls
        assert "n_features" in cls.parameter_names(), cls
        assert "Parameters\n" in cls.__doc__, cls
