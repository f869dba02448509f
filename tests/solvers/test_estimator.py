"""Solvers are scikit-learn estimators without its base classes."""

import copy
import pickle

import numpy as np
import pytest
from sklearn import base, config_context
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from seqkern.solvers import CSVC, PSVC, PSVR, SVR, KernelPCA, PairwiseVoting, SelectedClassifier
from seqkern.solvers.contract import clone

RNG = np.random.default_rng(3)
X = RNG.normal(size=(40, 6))
K = X @ X.T
Y = np.where(X[:, 0] + 0.3 * RNG.normal(size=40) > 0, "a", "b")
GROUPS = np.arange(40) // 5


@pytest.mark.parametrize("solver", [CSVC(), PSVC(), PairwiseVoting(CSVC())])
def test_classifiers(solver):
    assert base.is_classifier(solver)
    assert not base.is_regressor(solver)
    tags = get_tags(solver)
    assert (tags.estimator_type, tags.target_tags.required, tags.requires_fit) == ("classifier", True, True)
    assert tags.input_tags.pairwise
    weights = RNG.random(40)
    solver.fit(K, Y)
    assert solver.score(K, Y, weights) == accuracy_score(Y, solver.predict(K), sample_weight=weights)


@pytest.mark.parametrize("solver", [SVR(), PSVR()])
def test_regressors(solver):
    assert base.is_regressor(solver)
    assert not base.is_classifier(solver)
    solver.fit(K, X[:, 0])
    assert solver.score(K, X[:, 0]) == r2_score(X[:, 0], solver.predict(K)) > 0.5


def test_neither():
    assert not base.is_classifier(KernelPCA())
    assert not base.is_regressor(KernelPCA())


@pytest.mark.parametrize(
    "solver",
    [
        CSVC(C=3.0, class_weight={"a": 2.0, "b": 1.0}),
        PairwiseVoting(PSVC(epsilon=0.2)),
        SelectedClassifier("golub", [CSVC(), PSVC()], n_features=[2, 3]),
    ],
)
def test_clone_is_that_of_scikit_learn(solver):
    ours, theirs = clone(solver), base.clone(solver)
    assert type(ours) is type(solver)
    assert repr(ours) == repr(theirs) == repr(solver)
    for name, value in solver.get_params(deep=False).items():
        mine, yours = getattr(ours, name), getattr(theirs, name)
        assert type(mine) is type(yours)
        assert (mine is value) == (yours is value)


def test_a_clone_is_not_fitted():
    solver = PairwiseVoting(CSVC().fit(K, Y)).fit(K, Y)
    check_is_fitted(solver)
    check_is_fitted(solver.binary)
    copied = clone(solver)
    for one in (copied, copied.binary):
        with pytest.raises(NotFittedError, match=f"This {type(one).__name__} instance is not fitted yet"):
            check_is_fitted(one)
        with pytest.raises(NotFittedError, match=f"This {type(one).__name__} instance is not fitted yet"):
            one.decision_function(K)


@pytest.mark.parametrize("twin", [copy.deepcopy, lambda solver: pickle.loads(pickle.dumps(solver))])
def test_twins_decide_the_same(twin):
    solver = CSVC().fit(K, Y)
    assert twin(solver).decision_function(K).tobytes() == solver.decision_function(K).tobytes()


def test_other_forms_of_a_matrix_are_the_same_matrix():
    pandas = pytest.importorskip("pandas")
    solver = CSVC().fit(K, Y)
    expected = solver.decision_function(K).tobytes()
    for form in (K.tolist(), np.asfortranarray(K), K.astype(np.longdouble), K.astype(">f8"), pandas.DataFrame(K)):
        assert CSVC().fit(form, Y).decision_function(K).tobytes() == expected
        assert solver.decision_function(form).tobytes() == expected


def test_names_of_columns_are_compared():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(X, columns=list("abcdef"))
    solver = PSVC(kernel="features").fit(table, Y)
    assert solver.feature_names_in_.tolist() == list("abcdef")
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        solver.decision_function(X)
    with pytest.raises(ValueError, match="feature names"):
        solver.decision_function(table[list("bacdef")])
    assert not hasattr(solver.fit(X, Y), "feature_names_in_")


def test_a_notebook_shows_what_is_inside():
    shown = PairwiseVoting(CSVC(C=3.5))._repr_html_()
    assert "PairwiseVoting" in shown
    assert "CSVC(C=3.5)" in shown


def test_metadata_is_routed_where_it_is_asked_for():
    search = {"param_grid": {"C": [0.1, 1.0]}, "cv": GroupKFold(4), "error_score": "raise"}
    plain = GridSearchCV(CSVC(), **search).fit(K, Y, groups=GROUPS)
    with config_context(enable_metadata_routing=True):
        asking = CSVC().set_fit_request(groups=True).set_score_request(sample_weight=False)
        assert base.clone(asking).get_metadata_routing().fit.requests == {"groups": True}
        assert asking.get_metadata_routing().score.requests == {"sample_weight": False}
        assert CSVC().get_metadata_routing().fit.requests == {"groups": None}
        routed = GridSearchCV(asking, **search).fit(K, Y, groups=GROUPS)
        with pytest.raises(ValueError, match="groups"):  # neither asked for nor refused
            GridSearchCV(CSVC(), **search).fit(K, Y, groups=GROUPS)
        scores = cross_val_score(asking, K, Y, cv=GroupKFold(4), params={"groups": GROUPS})
    assert routed.cv_results_["mean_test_score"].tolist() == plain.cv_results_["mean_test_score"].tolist()
    assert scores.tolist() == cross_val_score(CSVC(), K, Y, cv=GroupKFold(4), groups=GROUPS).tolist()
    with pytest.raises(RuntimeError, match="enable_metadata_routing=True"):
        CSVC().set_fit_request(groups=True)
