"""Logistic loss, least squares, regression, the one-class SVM and the P-SVM on products with a kernel matrix."""

import numpy as np
import pytest
from dense_operator import DenseOperator
from gram_operator import gram_operator
from sklearn.linear_model import LogisticRegression

from seqkern.core.errors import ParameterError
from seqkern.solvers import LSSVC, LSSVR, PSVC, SVR, OneClassSVM, PrimalSVC

RNG = np.random.default_rng(7)
X = RNG.normal(size=(80, 5))
K = np.exp(-0.1 * ((X[:, None] - X) ** 2).sum(axis=2))
VALUES = X[:, 0] + 0.2 * RNG.normal(size=80)
CLASSES = np.where(VALUES > 0, "site", "decoy")


@pytest.mark.parametrize(
    ("gram", "products", "y"),
    [
        (LSSVC(C=3.0, class_weight="balanced"), LSSVC(C=3.0, class_weight="balanced", tol=1e-9), CLASSES),
        (LSSVR(C=5.0), LSSVR(C=5.0), VALUES),
        (SVR(C=3.0, tol=1e-8), SVR(C=3.0, tol=1e-6), VALUES),
        (SVR(epsilon=0.0, tol=1e-8), SVR(epsilon=0.0, tol=1e-6), VALUES),
        (OneClassSVM(nu=0.2, tol=1e-9), OneClassSVM(nu=0.2, tol=1e-6), None),
        (OneClassSVM(nu=0.5, tol=1e-9), OneClassSVM(nu=0.5, tol=1e-6), CLASSES),
        (OneClassSVM(nu=1.0), OneClassSVM(nu=1.0), None),
    ],
)
def test_same_as_on_the_matrix(gram, products, y):
    gram.fit(K, y)
    products.fit(DenseOperator(K), y)
    assert products.report_["gap"] <= 1e-6
    assert products.report_["objective"] == pytest.approx(gram.report_["objective"], rel=2e-6)
    # ½‖f − f*‖² is at most the gap, so that |f(x) − f*(x)| ≤ √(2·gap·K(x, x)); as much again for the bias
    reach = 2 * np.sqrt(2e-6 * abs(products.report_["objective"]))
    np.testing.assert_allclose(products.decision_function(K), gram.decision_function(K), rtol=0, atol=reach)


@pytest.mark.parametrize("scale", [0.01, 0.03, 0.1, 0.3, 1.0, 3.0])
def test_one_class_of_which_nothing_lies_inside(scale):
    K = np.exp(-scale * ((X[:, None] - X) ** 2).sum(axis=2))
    only = OneClassSVM(nu=1.0).fit(DenseOperator(K))  # α = 1 is the only feasible point
    assert only.report_["gap"] <= 1e-13
    assert only.report_["products"] == 1
    np.testing.assert_allclose(only.dual_coef_, 1.0, rtol=1e-12)
    assert only.intercept_ == pytest.approx(-K.sum(axis=1).max(), rel=1e-12)
    nearly = OneClassSVM(nu=0.99999).fit(DenseOperator(K))  # ρ costs next to nothing, but is not free
    assert nearly.intercept_ == pytest.approx(only.intercept_, rel=0.02)


def test_inequality_form_needs_the_matrix():
    with pytest.raises(ParameterError, match="primal_svc"):
        LSSVC(form="inequality").fit(DenseOperator(K), CLASSES)


def test_logistic_loss_is_that_of_logistic_regression():
    other = LogisticRegression(C=2.0, tol=1e-10, max_iter=10_000).fit(X, CLASSES)
    solver = PrimalSVC(C=2.0, loss="logistic", tol=1e-9).fit(X, CLASSES)
    assert solver.report_["gap"] <= 1e-9
    decisions = solver.decision_function(X)
    np.testing.assert_allclose(decisions, other.decision_function(X), atol=1e-4)
    np.testing.assert_allclose(solver.probabilities(decisions), other.predict_proba(X), atol=1e-5)
    on_products = PrimalSVC(C=2.0, loss="logistic", tol=1e-9).fit(DenseOperator(X @ X.T), CLASSES)
    np.testing.assert_allclose(on_products.decision_function(X @ X.T), decisions, atol=1e-4)
    assert PrimalSVC().fit(X, CLASSES).probabilities(decisions) is None


def test_probabilities_of_several_classes_sum_to_one():
    names = np.digitize(VALUES, [-0.5, 0.5])
    solver = PrimalSVC(loss="logistic").fit(X, names)
    chances = solver.probabilities(solver.decision_function(X))
    assert chances.shape == (80, 3)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    np.testing.assert_array_equal(chances.argmax(axis=1), solver.predict(X))


def test_psvm_on_an_operator():
    operator = DenseOperator(K)
    gram, products = PSVC(C=0.1).fit(K, CLASSES), PSVC(C=0.1).fit(gram_operator(operator), CLASSES)
    np.testing.assert_array_equal(products.support_, gram.support_)
    np.testing.assert_allclose(products.alpha_, gram.alpha_, atol=1e-6)
    some = operator.take([3, 1])
    np.testing.assert_allclose(
        products.decision_function(gram_operator(some, operator)), gram.decision_function(K[[3, 1]]), atol=1e-6
    )
