"""Solvers on numbers of unusual size: a right result, or one line; never zeros or NaN that count as converged."""

import contextlib
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from seqkern.core.errors import GramError, LabelError, SeqkernError
from seqkern.gram.matrix import GramRows
from seqkern.kernels import LinearKernel
from seqkern.kernels.features import FeatureBlocks
from seqkern.solvers import (
    CSVC,
    LSSVC,
    LSSVR,
    PSVC,
    PSVR,
    SVR,
    KernelFisher,
    KernelPCA,
    LinearDiscriminant,
    LinearSVC,
    OneClassSVM,
    PrimalSVC,
)
from seqkern.solvers.checking import LARGEST, SMALLEST, largest_value
from seqkern.solvers.contract import BinarySolver
from seqkern.solvers.solver_specs import SOLVERS

RNG = np.random.default_rng(0)
V = RNG.normal(size=(24, 4)) + np.repeat([[1.0], [0.0]], 12, axis=0)
K, Y = V @ V.T, np.repeat([1, 0], 12)
REAL = V[:, 0] + 0.1 * V[:, 1]
NAMES = sorted(SOLVERS.classes)


def example(name):
    """Return a solver of a class, its matrix and its labels."""
    solver = SOLVERS.classes[name].examples()[0]
    return solver, K if solver.input == "gram" else V, REAL if solver.targets == ("real",) else Y


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("scale", [1e160, 1e300, 1e-160, 1e-300])
def test_every_solver_refuses_matrices_of_unusual_size(name, scale):
    solver, matrix, y = example(name)
    with pytest.raises(GramError, match=r"the largest value of the matrix is .*; choose normalize=true or scale"):
        solver.fit(matrix * scale, y)


@pytest.mark.parametrize(
    "name", ["psvc", "psvr", "kernel_fisher", "spherical_svc", "linear_discriminant", "best_basis"]
)
@pytest.mark.parametrize("scale", [1e90, 1e-90])
def test_solvers_without_a_scale_give_the_same_decisions_within_the_limits(name, scale):
    solver, matrix, y = example(name)
    expected = solver.fit(matrix, y).decision_function(matrix)
    found = solver.fit(matrix * scale, y).decision_function(matrix * scale)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())


WITH_COST = [name for name in NAMES if "C" in SOLVERS.classes[name].declarations()]
FREE_OF_SCALE = ("psvc", "psvr", "spherical_svc")  # their C is not in units of K


@pytest.mark.parametrize("name", WITH_COST)
@pytest.mark.parametrize("power", [-300, -200, 200, 300])
def test_a_matrix_times_s_with_c_over_s_gives_the_same_decisions_or_one_line(name, power):
    """2^200 is 1.6e60: LIBSVM's single precision ends at 3.4e38."""
    solver, matrix, y = example(name)
    factor, share = 2.0**power, 2.0**-power
    if solver.input != "gram":  # K is the square
        factor = 2.0 ** (power // 2)
    if name == "lp_machine":  # its norm is not squared
        share = 1 / factor
    expected = solver.fit(matrix, y).decision_function(matrix)
    far = SOLVERS.classes[name].examples()[0].set_params(C=solver.C * (1 if name in FREE_OF_SCALE else share))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name == "lp_machine":
            with pytest.raises(SeqkernError, match="choose another C"):
                far.fit(matrix * factor, y)
            return
        found = far.fit(matrix * factor, y).decision_function(matrix * factor)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())


@pytest.mark.parametrize("power", [-300, -100, 100, 300])
@pytest.mark.parametrize("name", ["nusvc", "one_class_svm"])
def test_svms_without_c_decide_the_same_at_any_scale(name, power):
    near, far = (SOLVERS.classes[name](nu=0.6) for _ in range(2))
    matrix = K + np.eye(24)
    expected = near.fit(matrix, Y).decision_function(matrix) * (2.0**power if name == "one_class_svm" else 1)
    found = far.fit(matrix * 2.0**power, Y).decision_function(matrix * 2.0**power)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert far.report_["converged"]


@pytest.mark.parametrize("power", [-320, -300, -200, -100, 100, 300])
def test_one_class_on_products_decides_the_same_at_any_scale(power):
    kernel = LinearKernel(normalize=False)
    decisions = []
    for values in (V, V * 2.0 ** (power // 2)):
        records = kernel.operator(values)
        solver = OneClassSVM(nu=0.2).fit(records, Y)
        assert solver.report_["converged"]
        decisions.append(solver.decision_function(records))
    np.testing.assert_allclose(decisions[1] * 2.0**-power, decisions[0], rtol=1e-9, atol=1e-9)
    assert np.ptp(decisions[0]) > 0.1


@pytest.mark.parametrize("power", [-20, -40])
@pytest.mark.parametrize("solver", [CSVC(), SVR(), LSSVC(), LSSVR(), LinearSVC(), PrimalSVC()])
@pytest.mark.parametrize("form", ["operator", "features"])
def test_small_values_tell_records_apart(solver, power, form):
    """A decision of zero for all is within the tolerance of the gap, but useless."""
    values = V * 2.0 ** (power // 2)
    records = LinearKernel(normalize=False).operator(values)
    if form == "features":
        records = values @ values.T if solver.input == "gram" else values
    found = solver.fit(records, REAL if solver.targets == ("real",) else Y).decision_function(records)
    assert len(np.unique(found)) == 24
    assert np.corrcoef(found, REAL if solver.targets == ("real",) else Y)[0, 1] > 0.5


@pytest.mark.parametrize("solver", [CSVC(), SVR(), LSSVC(), LSSVR(), LinearSVC(), PrimalSVC()])
@pytest.mark.parametrize("form", ["operator", "matrix"])
def test_values_lost_beside_the_bias_are_not_converged(solver, form):
    values, labels = V * 2.0**-50, np.repeat([1, 0], [13, 11])
    data = LinearKernel(normalize=False).operator(values)
    if form == "matrix":
        data = values @ values.T if solver.input == "gram" else values
    with pytest.warns(ConvergenceWarning, match=r"are lost beside the bias of the decisions, .*; choose"):
        solver.fit(data, REAL if solver.targets == ("real",) else labels)
    assert not solver.report_["converged"]


@pytest.mark.parametrize("features", [2, 4, 5])
def test_weights_of_several_classes_are_no_reason_to_fail(features):
    points = np.random.default_rng(3).normal(size=(15, features)) * 1e-6
    solver = LinearDiscriminant(shrinkage=0.3).fit(points, np.arange(15) % 3)
    assert np.isfinite(solver.decision_function(points)).all()
    assert solver.report_["converged"]


@pytest.mark.parametrize("name", ["csvc", "svr", "one_class_svm"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_of_a_file_at_any_scale(name, dtype, tmp_path):
    matrix, rows = (K + np.eye(24)).astype(dtype), np.arange(24)
    y = REAL if name == "svr" else Y
    for power in (-300, -100, 100, 300) if dtype == np.float64 else (-115, 115):
        np.save(tmp_path / "gram.npy", matrix * dtype(2.0**power))
        stored = np.load(tmp_path / "gram.npy", mmap_mode="r")
        near, far = SOLVERS.classes[name](), SOLVERS.classes[name]()
        if name != "one_class_svm":
            far.set_params(C=2.0**-power)
        far.fit(GramRows(stored, rows, rows, room=10**6), y)
        unit = 2.0**power if name == "one_class_svm" else 1.0
        full = matrix.astype(np.float64)
        expected = near.fit(full, y).decision_function(full) * unit
        found = far.decision_function(full * 2.0**power)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12 * unit)
        assert far.report_["converged"]


@pytest.mark.parametrize(("cost", "scale", "word"), [(1e300, 1e-90, "small"), (1e300, 1e90, "large")])
def test_costs_that_no_number_holds_in_units_of_the_matrix(cost, scale, word):
    cost = 1 / cost if word == "small" else cost
    for solver in (CSVC(C=cost), SVR(C=cost)):
        with pytest.raises(SeqkernError, match=rf"C=.* is too {word} for kernel values of about .*; choose C near"):
            solver.fit(K * scale, REAL if isinstance(solver, SVR) else Y)


@pytest.mark.parametrize("solver", [SVR(), LSSVR(), PSVR()])
def test_labels_beyond_the_limit_are_refused(solver):
    with pytest.raises(LabelError, match=r"label .*e\+307 of row \d+ is beyond 1e\+100; scale the labels"):
        solver.fit(K, REAL * 1e307)


@pytest.mark.parametrize("name", WITH_COST)
@pytest.mark.parametrize("cost", [1e308, 1e-308])
def test_extreme_costs_end_in_one_line_or_in_finite_decisions(name, cost):
    solver, matrix, y = example(name)
    few = {name: 200 for name in ("max_iter", "max_epochs") if name in solver.declarations()}
    solver.set_params(C=cost, **few)
    with warnings.catch_warnings(), contextlib.suppress(SeqkernError):
        warnings.simplefilter("ignore")
        decisions = solver.fit(matrix, y).decision_function(matrix)
        assert np.isfinite(decisions).all()
        assert np.isfinite(solver.report_["objective"])


class Wrong(BinarySolver):
    """Ends with a number that is not finite, and says that it converged."""

    def __init__(self, weight=1.0, objective=0.0):
        self.weight, self.objective = weight, objective

    def _fit(self, K, y):
        self.support_ = np.arange(len(y))
        self.weights_ = np.where(y > 0, self.weight, -1.0)
        return {"converged": True, "iterations": 1, "residual": 0.0, "objective": self.objective}

    def _decide(self, K, columns):
        return K[:, columns] @ self.weights_

    def fitted_state(self):
        return {}, {"weights": self.weights_}


class Singular(Wrong):
    """Solves equations that have no solution."""

    def _fit(self, K, y):
        np.linalg.solve(np.zeros((2, 2)), np.ones(2))


def test_singular_systems_are_one_line(monkeypatch):
    monkeypatch.setattr(Singular, "check_parameters", lambda self: None)
    with pytest.raises(GramError, match="ended with numbers that are not finite; lower C"):
        Singular().fit(K, Y)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_results_that_are_not_finite_are_errors_though_the_fit_says_converged(bad, monkeypatch):
    monkeypatch.setattr(Wrong, "check_parameters", lambda self: None)
    for solver in (Wrong(weight=bad), Wrong(objective=float(bad))):
        with pytest.raises(GramError, match="ended with numbers that are not finite"):
            solver.fit(K, Y)
    solver = Wrong().fit(K, Y)
    solver.weights_[3] = bad
    with pytest.raises(GramError, match=r"the decision of solver None for row 0 is (nan|-?inf)"):
        solver.decision_function(K)


def test_decisions_that_overflow_name_the_row():
    solver = CSVC(C=100.0).fit(K / 100, Y)
    new = K[:3].copy()
    new[1] *= 1e308 / np.abs(new[1]).max()
    with pytest.raises(GramError, match=r"the decision of solver 'csvc' for row 1 is (nan|-?inf); "):
        solver.decision_function(new)


def test_kernel_pca_and_features_are_checked():
    with pytest.raises(GramError, match="the largest value"):
        KernelPCA().fit(K * 1e200)
    for solver in (LinearSVC(), PrimalSVC(), PSVC(kernel="features")):
        with pytest.raises(GramError, match="the largest value"):
            solver.fit(V * 1e200, Y)
    with pytest.raises(GramError, match="the largest value"):
        KernelFisher().fit(K * 1e-200, Y)


def test_the_limits_and_zero():
    PSVC().fit(K * (0.9 * LARGEST / np.abs(K).max()), Y)
    PSVC().fit(K * (1.1 * SMALLEST / np.abs(K).max()), Y)
    assert largest_value(np.zeros((3, 3))) == 0
    assert largest_value(np.asfortranarray(V)) == np.abs(V).max()
    assert largest_value(V[:, ::2]) == np.abs(V[:, ::2]).max()
    assert np.isnan(largest_value(np.array([[1.0, np.nan], [np.inf, 2.0]])))


@pytest.mark.parametrize("scale", [1e160, 1e300, 1e-160, 1e-300])
@pytest.mark.parametrize("solver", [CSVC(), SVR(), OneClassSVM(), PSVC(), PSVR()])
def test_matrices_read_by_rows_are_refused_too(solver, scale, tmp_path):
    np.save(tmp_path / "gram.npy", K * scale)
    rows = np.arange(24)
    stored = GramRows(np.load(tmp_path / "gram.npy", mmap_mode="r"), rows, rows, room=10**6)
    with pytest.raises(GramError, match=r"the largest value of the matrix is .*; choose normalize=true or scale"):
        solver.fit(stored, Y)


@pytest.mark.parametrize(
    ("dtype", "scale"),
    [(np.float32, 1e18), (np.float32, 1e-18), (np.float64, 1e160), (np.float64, 1e-160)],
)
@pytest.mark.parametrize("loss", ["squared_hinge", "squared", "logistic"])
def test_features_in_blocks_are_refused_where_their_squares_leave_their_precision(dtype, scale, loss):
    blocks = FeatureBlocks.of((V * scale).astype(dtype))
    with pytest.raises(GramError, match=r"the largest value of the features is .*; choose normalize=true or scale"):
        PrimalSVC(loss=loss).fit(blocks, Y)
