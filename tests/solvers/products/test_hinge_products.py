"""The C-SVM on products with a kernel matrix: the optimum of csvc on the matrix."""

import numpy as np
import pytest
from dense_operator import DenseOperator
from sklearn.exceptions import ConvergenceWarning

from seqkern.core.errors import ParameterError
from seqkern.kernels import GappedKmerKernel, SpectrumKernel
from seqkern.solvers import CSVC, LinearSVC, OneAgainstRest, PairwiseVoting

RNG = np.random.default_rng(5)
X = RNG.normal(size=(120, 8))
Y = np.where(X[:, 0] + 0.5 * RNG.normal(size=120) > 0, "site", "decoy")
K = np.exp(-0.1 * ((X[:, None] - X) ** 2).sum(axis=2))


@pytest.mark.parametrize("C", [0.01, 1.0, 10.0])
@pytest.mark.parametrize("class_weight", [None, {"site": 3.0, "decoy": 0.5}])
def test_same_as_libsvm(C, class_weight):
    gram = CSVC(C=C, class_weight=class_weight, tol=1e-9).fit(K, Y)
    for solver in (CSVC, LinearSVC):
        fitted = solver(C=C, class_weight=class_weight, tol=1e-7).fit(DenseOperator(K), Y)
        assert fitted.report_["gap"] <= 1e-7
        assert fitted.report_["objective"] == pytest.approx(gram.report_["objective"], rel=1e-6)
        np.testing.assert_allclose(fitted.decision_function(K), gram.decision_function(K), atol=2e-3)


def test_classes_that_a_few_products_separate():
    rng = np.random.default_rng(5)
    texts = ["".join(rng.choice(list("ACGT"), rng.integers(40, 80))) for _ in range(100)]
    y = np.where(rng.random(100) < 0.3, "site", "decoy")
    kernel = GappedKmerKernel(5, 3, normalize=False, alphabet="dna")
    gram = CSVC(C=100.0, tol=1e-6).fit(kernel(texts), y)
    report = CSVC(C=100.0).fit(kernel.operator(texts), y).report_
    assert report["converged"]
    assert report["objective"] == pytest.approx(gram.report_["objective"], rel=2e-3)


def test_gap_is_an_upper_bound():
    least = -CSVC(C=3.0, tol=1e-10).fit(K, Y).report_["objective"]  # strong duality
    for tol in (0.1, 0.01, 0.001):
        solver = LinearSVC(C=3.0, tol=tol).fit(DenseOperator(K), Y)
        coefficients, constant = solver.linear()
        y = np.where(Y == "site", 1.0, -1.0)
        errors = np.maximum(0, 1 - y * (K @ coefficients + constant))
        primal = 0.5 * coefficients @ K @ coefficients + 3.0 * errors.sum()
        assert 0 <= primal - least <= tol * primal * (1 + 1e-9)
        assert -solver.report_["objective"] <= least * (1 + 1e-9)


def test_bias_in_the_middle_where_all_are_at_their_bound():
    twins = np.eye(4)
    labels = [0, 0, 1, 1]
    gram, products = CSVC(C=0.1).fit(twins, labels), CSVC(C=0.1).fit(DenseOperator(twins), labels)
    assert products.intercept_ == pytest.approx(gram.intercept_, abs=1e-3) == 0.0


def test_grid_of_costs_shares_products():
    operator, previous, spent = DenseOperator(K), None, 0
    for C in (0.1, 1.0, 10.0):
        previous = CSVC(C=C).fit_after(previous, operator, Y)
        assert previous.report_["gap"] <= 1e-3
        spent += previous.report_["products"]
    assert spent == operator.collected
    assert spent < 1.5 * CSVC(C=10.0).fit(operator, Y).report_["products"]


@pytest.mark.parametrize("wrapper", [PairwiseVoting, OneAgainstRest])
def test_several_classes(wrapper):
    kernel = SpectrumKernel(k=2)
    sequences = [
        "".join(RNG.choice(list("ACGT"), 30, p=p))
        for p in ([0.4, 0.1, 0.1, 0.4], [0.1, 0.4, 0.4, 0.1], [0.25] * 4)
        for _ in range(15)
    ]
    names, records = np.repeat(["a", "b", "c"], 15), kernel.operator(sequences)
    train, test = np.arange(0, 45, 2), np.arange(1, 45, 2)
    G = kernel(sequences)
    gram = wrapper(CSVC(tol=1e-8)).fit(G[np.ix_(train, train)], names[train])
    solver = wrapper(CSVC(tol=1e-8)).fit(records.take(train), names[train])
    decisions = gram.decision_function(G[np.ix_(test, train)])
    np.testing.assert_allclose(solver.decision_function(records.take(test)), decisions, atol=2e-3)
    np.testing.assert_allclose(solver.decision_function(G[np.ix_(test, train)]), decisions, atol=2e-3)


def test_hard_margin_needs_the_matrix():
    with pytest.raises(ParameterError, match="finite C"):
        CSVC(C=np.inf).fit(DenseOperator(K), Y)


def test_indefinite_kernel():
    with pytest.warns(ConvergenceWarning, match="clip=true"):
        CSVC().fit(DenseOperator(K - 2 * np.eye(120)), Y)
