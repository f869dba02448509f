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
    for epsilon, support, alpha in zip(*path, strict=True):
        single = PSVR(**{**solver.get_params(), "epsilon": epsilon}).fit(K, y)
        weights = np.zeros((2, K.shape[1]))
        weights[0, support], weights[1, single.support_] = alpha, single.alpha_
        np.testing.assert_allclose(*weights, atol=1e-6)
    assert len(path.supports[0]) == 0


def test_units_of_epsilon():
    K, y = problem("wide")
    share = psvm_path(PSVR(kernel="features", **EXACT), K, y, n_epsilons=3, smallest=0.25)
    other = psvm_path(PSVR(kernel="features", epsilon_scale="absolute", **EXACT), K, y, n_epsilons=3, smallest=0.25)
    unit = PSVR(kernel="features", **EXACT).fit(K, y).report_["epsilon_max"]
    np.testing.assert_allclose(other.epsilons, unit * np.array([1, 0.5, 0.25]))
    for place in range(3):
        np.testing.assert_array_equal(other.supports[place], share.supports[place])
        np.testing.assert_allclose(other.alphas[place], share.alphas[place], atol=1e-8)


def test_a_path_of_sparse_features_and_of_classes():
    K, y = problem("wide")
    K[np.abs(K) < 1] = 0
    solver = PSVC(kernel="features", **EXACT)
    dense, sparse = psvm_path(solver, K, names(y)), psvm_path(solver, csr_array(K), names(y))
    for place in range(20):
        np.testing.assert_array_equal(sparse.supports[place], dense.supports[place])
        np.testing.assert_allclose(sparse.alphas[place], dense.alphas[place], atol=1e-7)
    assert not hasattr(solver, "classes_")


def test_no_convergence_is_told():
    K, y = problem("wide")
    with pytest.warns(ConvergenceWarning, match=r"for \d+ of 20 values of epsilon .* \(gap .* at most\)") as record:
        psvm_path(PSVR(kernel="features", max_iter=1), K, y)
    assert record[0].filename == __file__


def test_bad_values():
    K, y = problem("square")
    solver = PSVC()
    with pytest.raises(ParameterError, match="not a P-SVM"):
        psvm_path(CSVC(), K, names(y))
    with pytest.raises(GramError, match="not square"):
        psvm_path(solver, K[:, :20], names(y))
    with pytest.raises(LabelError):
        psvm_path(solver, K, names(y)[:20])
