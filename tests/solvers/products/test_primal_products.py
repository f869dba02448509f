"""primal_svc on products with a kernel matrix, against the same on features."""

import pickle

import numpy as np
import pytest
from dense_operator import DenseOperator
from sklearn.exceptions import ConvergenceWarning

from seqkern.core.errors import GramError, ParameterError
from seqkern.kernels import SpectrumKernel
from seqkern.solvers import PrimalSVC

RNG = np.random.default_rng(3)
X = RNG.normal(size=(90, 6)) + np.repeat([[0.8], [0.0], [-0.6]], 30, axis=0)
NAMES = np.repeat(["helix", "coil", "strand"], 30)
K = X @ X.T


@pytest.mark.parametrize("loss", ["squared_hinge", "squared"])
@pytest.mark.parametrize("names", [NAMES, np.where(NAMES == "coil", "coil", "other")])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_same_as_on_features(loss, names, C):
    options = {"C": C, "loss": loss, "class_weight": "balanced", "tol": 1e-10}
    plain = PrimalSVC(**options).fit(X, names)
    solver = PrimalSVC(**options).fit(DenseOperator(K), names)
    assert solver.report_["converged"]
    assert solver.report_["objective"] == pytest.approx(plain.report_["objective"], rel=1e-9)
    np.testing.assert_allclose(solver.decision_function(K), plain.decision_function(X), atol=1e-4)
    np.testing.assert_allclose(solver.intercept_, plain.intercept_, atol=1e-4)


def test_decisions_on_records_are_those_on_kernel_rows():
    sequences = [
        "".join(RNG.choice(list("ACGT"), 40, p=p)) for p in ([0.4, 0.1, 0.1, 0.4], [0.25] * 4) for _ in range(20)
    ]
    kernel = SpectrumKernel(k=3)
    records = kernel.operator(sequences)
    train, test = np.arange(0, 40, 2), np.arange(1, 40, 2)
    solver = PrimalSVC().fit(records.take(train), np.arange(40)[train] < 20)
    rows = kernel([sequences[i] for i in test], [sequences[i] for i in train])
    np.testing.assert_allclose(solver.decision_function(records.take(test)), solver.decision_function(rows), atol=1e-12)
    coefficients, constant = solver.linear()
    np.testing.assert_allclose(rows @ coefficients + constant, solver.decision_function(rows), atol=1e-12)
    few = solver.restrict(solver.support_)
    np.testing.assert_array_equal(few.decision_function(rows[:, solver.support_]), solver.decision_function(rows))
    with pytest.raises(ParameterError, match="other tables"):
        solver.decision_function(kernel.operator(sequences))


def test_products_are_few_and_counted():
    operator = DenseOperator(K)
    solver = PrimalSVC(tol=1e-6).fit(operator, NAMES)
    assert solver.report_["products"] == operator.collected
    assert operator.collected <= 10  # 6 features and the bias, for three classes together


def test_other_costs_start_from_known_products():
    operator, previous, spent = DenseOperator(K + np.eye(90)), None, []
    for C in (0.1, 1.0, 10.0):
        previous = PrimalSVC(C=C, tol=1e-6).fit_after(previous, operator, NAMES)
        alone = PrimalSVC(C=C, tol=1e-6).fit(operator, NAMES)
        assert previous.report_["converged"]
        assert previous.report_["objective"] == pytest.approx(alone.report_["objective"], rel=2e-6)
        spent.append((previous.report_["products"], alone.report_["products"]))
    assert all(after < 0.7 * alone for after, alone in spent[1:])
    assert "_space" not in vars(pickle.loads(pickle.dumps(previous)))


def test_another_operator_gets_no_products_of_the_first():
    first = DenseOperator(K + np.eye(90))
    other = DenseOperator(K[::-1, ::-1] + np.eye(90), tables=first.tables)
    previous = PrimalSVC(tol=1e-8).fit_after(None, first, NAMES)
    solver = PrimalSVC(tol=1e-8).fit_after(previous, other, NAMES[::-1])
    np.testing.assert_allclose(solver.coef_[:, ::-1], PrimalSVC(tol=1e-8).fit(first, NAMES).coef_, atol=1e-3)


def test_indefinite_kernel_names_the_remedy():
    bad = K - 200 * np.eye(90)
    with pytest.warns(ConvergenceWarning, match="clip=true"):
        solver = PrimalSVC().fit(DenseOperator(bad), NAMES)
    assert not solver.report_["converged"]


def test_most_products():
    with pytest.warns(ConvergenceWarning):
        solver = PrimalSVC(C=1e4, max_iter=1, tol=1e-9).fit(DenseOperator(K + np.diag(np.arange(90.0))), NAMES)
    assert solver.report_["iterations"] == 10


def test_huge_cost():
    own, names = K[::3, ::3] + np.eye(30), NAMES[::3]
    for C in (1e3, 1e11):
        solver = PrimalSVC(C=C, max_iter=1000).fit(DenseOperator(own), names)
        assert solver.report_["converged"]
        assert (solver.predict(own) == names).all()


def test_solver_without_products_refuses_them():
    from seqkern.solvers import NuSVC

    with pytest.raises(GramError, match="products"):
        NuSVC().fit(DenseOperator(K), NAMES)
