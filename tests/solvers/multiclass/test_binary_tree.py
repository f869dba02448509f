"""The tree of binary machines, one class after the other."""

import numpy as np
import pytest

from seqkern.core.errors import ParameterError
from seqkern.kernels.features import FeatureBlocks
from seqkern.solvers import (
    CSVC,
    BinaryTree,
    LinearSVC,
    PrimalSVC,
    build_solver,
    expand_grid,
    make_solver,
    solver_from_state,
)


def problem(n=240):
    """Return features, labels of three states that overlap, and new features."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(n + 60, 3))
    y = np.array(["C", "E", "H"])[np.argmax(X + 0.5 * rng.normal(size=X.shape), axis=1)]
    return X[:n], y[:n], X[n:]


def walk(X, y, new, order, C):
    """Return the class of each new row: the first of the order whose machine, against those after it, says yes."""
    answers = np.full(len(new), order[-1])
    for level in range(len(order) - 2, -1, -1):
        rows = np.isin(y, order[level:])
        machine = PrimalSVC(C=C, tol=1e-10).fit(X[rows], y[rows] == order[level])
        answers[machine.decision_function(new) > 0] = order[level]
    return answers


@pytest.mark.parametrize("order", ["HEC", "ECH", "CHE"])
def test_the_answer_is_where_the_decisions_lead(order):
    X, y, new = problem()
    tree = BinaryTree(PrimalSVC(C=0.5, tol=1e-10), order=list(order)).fit(X, y)
    expected = walk(X, y, new, list(order), 0.5)
    assert len(set(expected)) == 3
    np.testing.assert_array_equal(tree.predict(new), expected)
    decisions = tree.decision_function(new)
    np.testing.assert_array_equal(tree.classes_[decisions.argmax(axis=1)], expected)
    first = PrimalSVC(C=0.5, tol=1e-10).fit(X, y == order[0])
    column = list(tree.classes_).index(order[0])
    np.testing.assert_allclose(decisions[:, column], first.decision_function(new), atol=1e-6)


def test_the_order_of_the_last_two_changes_nothing():
    X, y, new = problem()
    one, other = (BinaryTree(CSVC(C=0.5, tol=1e-8), order=list(order)).fit(X @ X.T, y) for order in ("HEC", "HCE"))
    np.testing.assert_allclose(one.decision_function(new @ X.T), other.decision_function(new @ X.T), atol=1e-4)
    assert len(one.machines_) == 2


@pytest.mark.parametrize("binary", [PrimalSVC(), LinearSVC()])
def test_on_features(binary):
    X, y, new = problem()
    tree = BinaryTree(binary, order=["H", "E", "C"])
    decisions = tree.fit(X, y).decision_function(new)
    assert (tree.predict(X) == y).mean() > 0.7
    if binary.traits.blocks:
        X, new = (FeatureBlocks.of(values.astype(np.float32)) for values in (X, new))
        np.testing.assert_allclose(tree.fit(X, y).decision_function(new), decisions, atol=1e-3)


def test_from_a_spec_and_back():
    text = "binary_tree:binary=(primal_svc:C=[0.1,1]),order=[H,E,C]"
    grid = expand_grid(text)
    assert [spec["order"] for spec in grid] == [["H", "E", "C"]] * 2
    X, y, new = problem()
    tree = build_solver(grid[0]).fit(X, y)
    again = solver_from_state(*tree.state())
    np.testing.assert_array_equal(again.decision_function(new), tree.decision_function(new))
    codes = make_solver(grid[0], "multiclass", classes=("C", "E", "H"))
    assert codes.order == [2, 1, 0]
    fitted = codes.fit(X, np.searchsorted(["C", "E", "H"], y))
    np.testing.assert_array_equal(fitted.decision_function(new), tree.decision_function(new))


def test_bad_orders():
    X, y, _ = problem()
    for order in (["H", "E", "X"], ["H", "E"], ["H", "H", "C"], "HEC", ["H"], ["H", "E", "C", "X"]):
        with pytest.raises(ParameterError, match="order="):
            BinaryTree(PrimalSVC(), order=order).fit(X, y)
    with pytest.raises(ParameterError, match="order names 'X'"):
        make_solver(
            {"solver": "binary_tree", "binary": "primal_svc", "order": ["H", "E", "X"]}, "multiclass", ("H", "E")
        )
    assert BinaryTree(PrimalSVC()).fit(X, y).order_.tolist() == [0, 1, 2]
