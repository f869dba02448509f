"""Paths of the P-SVM against single fits."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

from seqkern.core.errors import GramError, LabelError, ParameterError
from seqkern.solvers import CSVC, PSVC, PSVR
from seqkern.solvers.psvm.path import psvm_path

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
    with pytest.raises(ParameterError, match="not a P-SVM"):
        psvm_path(CSVC(), K, names(y))
    with pytest.raises(GramError, match="not square"):
        psvm_path(solver, K[:, :20], names(y))
    with pytest.raises(LabelError):
        psvm_path(solver, K, names(y)[:20])
