"""Paths of the P-SVM against single fits, and their cross-validation against a naive twin."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.linalg import aslinearoperator
from sklearn.exceptions import ConvergenceWarning

from seqkern.core.errors import GramError, LabelError, ParameterError
from seqkern.solvers import CSVC, PSVC, PSVR
from seqkern.solvers.psvm.path import psvm_path, psvm_path_cv

EXACT = {"tol": 1e-10}


def problem(kind="square", seed=0):
    """Return a matrix and real labels; a square one is symmetric and indefinite."""
    rng = np.random.default_rng(seed)
    rows, size = {"square": (26, 26), "wide": (22, 50), "tall": (40, 7)}[kind]
    K = rng.normal(size=(rows, size))
    K = K + K.T if kind == "square" else K
    return K, K[:, 0] - K[:, 2] + 0.5 * rng.normal(size=rows)


def names(y):
    """Return labels of two classes."""
    return np.where(y > 0, "site", "decoy")


@pytest.mark.parametrize("kind", ["square", "wide", "tall"])
@pytest.mark.parametrize("C", [np.inf, 0.1])
def test_a_path_is_what_single_fits_are(kind, C):
    K, y = problem(kind)
    solver = PSVR(C=C, kernel="precomputed" if kind == "square" else "features", **EXACT)
    path = psvm_path(solver, K, y, n_epsilons=12, smallest=0.02)
    np.testing.assert_allclose(path.epsilons, np.geomspace(1, 0.02, 12))
    decisions = path.decision_function(K)
    for place, epsilon in enumerate(path.epsilons):
        single = PSVR(**{**solver.get_params(), "epsilon": epsilon}).fit(K, y)
        same = path.solver(place)
        np.testing.assert_allclose(decisions[:, place], single.decision_function(K), atol=1e-6)
        assert same.get_params() == single.get_params()
        assert same.report_.keys() == single.report_.keys()
        assert same.report_["epsilon"] == pytest.approx(single.report_["epsilon"])
        assert same.report_["objective"] == pytest.approx(single.report_["objective"], abs=1e-8)
        assert same.report_["n_support"] == len(same.support_)
    assert len(path.supports[0]) == 0
    assert len(path) == 12


def test_units_of_epsilon():
    K, y = problem("wide")
    share = psvm_path(PSVR(kernel="features", **EXACT), K, y, epsilons=[0.1, 0.5, 0.0])
    unit = share.epsilon_max
    assert list(share.epsilons) == [0.5, 0.1, 0.0]
    absolute = PSVR(kernel="features", epsilon_scale="absolute", **EXACT)
    other = psvm_path(absolute, K, y, epsilons=[0.5 * unit, 0.1 * unit])
    for place in range(2):
        np.testing.assert_array_equal(other.supports[place], share.supports[place])
        np.testing.assert_allclose(other.alphas[place], share.alphas[place], atol=1e-8)
    grid = psvm_path(absolute, K, y, n_epsilons=3, smallest=0.25)
    np.testing.assert_allclose(grid.epsilons, unit * np.array([1, 0.5, 0.25]))


def test_a_path_of_sparse_features_and_of_classes():
    K, y = problem("wide")
    K[np.abs(K) < 1] = 0
    solver = PSVC(kernel="features", **EXACT)
    dense, sparse = psvm_path(solver, K, names(y)), psvm_path(solver, csr_array(K), names(y))
    np.testing.assert_allclose(sparse.decision_function(csr_array(K)), dense.decision_function(K), atol=1e-7)
    assert list(dense.solver(3).classes_) == ["decoy", "site"]
    assert dense.solver(10).score(K, names(y)) > 0.9
    assert not hasattr(solver, "classes_")


def naive(solver, K, y, folds, epsilons):
    """Return decisions about left out rows, one fit for each part and ε."""
    out = np.empty((len(y), len(epsilons)))
    for fold in np.unique(folds):
        train, test = folds != fold, folds == fold
        columns = train if solver.input == "gram" else np.ones(K.shape[1], dtype=bool)
        for place, epsilon in enumerate(epsilons):
            one = type(solver)(**{**solver.get_params(), "epsilon": epsilon})
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                one.fit(K[np.ix_(train, columns)], y[train])
            out[test, place] = one.decision_function(K[np.ix_(test, columns)])
    return out


@pytest.mark.parametrize("scale", ["max", "absolute"])
@pytest.mark.parametrize("kind", ["square", "wide"])
@pytest.mark.parametrize("C", [np.inf, 0.1])
def test_leave_one_out_twin(kind, scale, C):
    K, y = problem(kind, seed=1)
    K[:, 5] = 0
    K[7, 5] = 1.0  # constant without row 7
    kernel = "precomputed" if kind == "square" else "features"
    solver = PSVR(C=C, kernel=kernel, epsilon_scale=scale, **EXACT)
    epsilons = np.array([0.7, 0.2, 0.05]) * (1 if scale == "max" else 20)
    found = psvm_path_cv(solver, K, y, folds="leave_one_out", epsilons=epsilons)
    expected = naive(solver, K, y, np.arange(len(y)), epsilons)
    np.testing.assert_allclose(found.decisions, expected, atol=1e-6)
    np.testing.assert_allclose(found.losses, (expected - y[:, None]) ** 2, atol=1e-5)
    np.testing.assert_allclose(found.errors, found.losses.mean(axis=0))
    np.testing.assert_allclose(found.standard_errors, found.losses.std(axis=0, ddof=1) / np.sqrt(len(y)))
    assert found.chosen == np.argmin(found.errors)
    assert found.solver.epsilon == epsilons[found.chosen]
    np.testing.assert_array_equal(found.solver.support_, found.path.supports[found.chosen])


def test_folds_of_classes():
    K, y = problem("square", seed=2)
    labels = names(y)
    solver = PSVC(C=0.2, **EXACT)
    found = psvm_path_cv(solver, K, labels, folds=4, epsilons=[0.5, 0.1], seed=3)
    for fold in range(4):
        shares = [np.sum(labels[found.folds == fold] == name) for name in ("site", "decoy")]
        assert all(
            abs(count - np.sum(labels == name) / 4) < 1 for count, name in zip(shares, ("site", "decoy"), strict=True)
        )
    np.testing.assert_allclose(found.decisions, naive(solver, K, labels, found.folds, [0.5, 0.1]), atol=1e-6)
    np.testing.assert_array_equal(found.losses, (found.decisions > 0) != (labels == "site")[:, None])
    again = psvm_path_cv(solver, K, labels, folds=4, epsilons=[0.5, 0.1], seed=3)
    assert again.decisions.tobytes() == found.decisions.tobytes()
    assert not np.array_equal(psvm_path_cv(solver, K, labels, folds=4, seed=4).folds, found.folds)
    assert list(found.solver.classes_) == ["decoy", "site"]
    given = psvm_path_cv(solver, K, labels, folds=np.array([*"abcd"])[found.folds], epsilons=[0.5, 0.1])
    np.testing.assert_array_equal(given.decisions, found.decisions)


def test_rules():
    K, y = problem("wide", seed=3)
    solver = PSVR(kernel="features")
    best = psvm_path_cv(solver, K, y, folds=5)
    simple = psvm_path_cv(solver, K, y, folds=5, rule="one_standard_error")
    assert best.errors[best.chosen] == best.errors.min()
    limit = best.errors.min() + best.standard_errors[best.chosen]
    assert simple.chosen == np.flatnonzero(best.errors <= limit)[0] < best.chosen
    assert len(simple.solver.support_) < len(best.solver.support_)
    constant = psvm_path_cv(solver, K, np.ones(len(y)), folds=2)
    assert constant.chosen == 0


def test_a_mapped_matrix_is_cross_validated_in_place(tmp_path):
    rng = np.random.default_rng(4)
    K = rng.normal(size=(380, 380))
    K = K + K.T
    y = K[:, 0] + rng.normal(size=380)
    np.save(tmp_path / "K.npy", K)
    mapped = np.load(tmp_path / "K.npy", mmap_mode="r")
    solver = PSVR(cache_size=1, **EXACT)
    found = psvm_path_cv(solver, mapped, y, folds=2, epsilons=[0.6, 0.4])
    expected = psvm_path_cv(solver, K, y, folds=2, epsilons=[0.6, 0.4])
    np.testing.assert_allclose(found.decisions, expected.decisions, atol=1e-6)


@pytest.mark.parametrize("form", [csr_array, aslinearoperator])
def test_other_storage_is_cross_validated_alike(form):
    K, y = problem("wide")
    K[np.abs(K) < 1] = 0
    solver = PSVR(kernel="features", **EXACT)
    expected = psvm_path_cv(solver, K, y, folds=3, epsilons=[0.6, 0.2])
    found = psvm_path_cv(solver, form(K), y, folds=3, epsilons=[0.6, 0.2])
    np.testing.assert_allclose(found.decisions, expected.decisions, atol=1e-6)
    np.testing.assert_array_equal(found.solver.support_, expected.solver.support_)


def test_no_convergence_is_told():
    K, y = problem("wide")
    with pytest.warns(ConvergenceWarning, match=r"for \d+ of 20 values of epsilon .* \(gap .* at most\)") as record:
        path = psvm_path(PSVR(kernel="features", max_iter=1), K, y)
    assert record[0].filename == __file__
    assert not all(report["converged"] for report in path.reports)


def test_bad_values():
    K, y = problem("square")
    solver = PSVC()
    for given, text in (
        ({"epsilons": []}, "empty"),
        ({"epsilons": [0.1, -0.1]}, "epsilons"),
        ({"n_epsilons": 1}, "n_epsilons"),
        ({"smallest": 0}, "smallest"),
    ):
        with pytest.raises(ParameterError, match=text):
            psvm_path(solver, K, names(y), **given)
    for given, text in (
        ({"folds": 1}, "folds"),
        ({"folds": 27}, "folds"),
        ({"folds": "five"}, "folds"),
        ({"folds": np.zeros(26)}, "one part"),
        ({"folds": np.arange(25)}, "25 rows"),
        ({"rule": "worst"}, "rule"),
    ):
        with pytest.raises(ParameterError, match=text):
            psvm_path_cv(solver, K, names(y), **given)
    with pytest.raises(LabelError, match="one class"):
        psvm_path_cv(solver, K, names(y), folds=(y > 0).astype(int))
    with pytest.raises(ParameterError, match="not a P-SVM"):
        psvm_path(CSVC(), K, names(y))
    with pytest.raises(GramError, match="not square"):
        psvm_path(solver, K[:, :20], names(y))
    with pytest.raises(LabelError):
        psvm_path(solver, K, names(y)[:20])
