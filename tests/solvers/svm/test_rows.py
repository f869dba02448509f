"""Solvers on rows of a Gram matrix in a file: the solution on the whole matrix in memory."""

import platform
import signal

import numpy as np
import pytest
from sklearn import svm

from seqkern.core.errors import GramError
from seqkern.gram.matrix import GramRows
from seqkern.solvers import build_solver
from seqkern.solvers.svm import libsvm

SAME_BITS = pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64"), reason="scikit-learn's LIBSVM may round otherwise there"
)
TRAIN = np.flatnonzero(np.arange(240) % 6)
TEST = np.flatnonzero(np.arange(240) % 6 == 0)


def stored(folder, dtype="float32", seed=0):
    """Return a Gram matrix of 240 samples in a file, and a noisy number for each sample."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(240, 6))
    squares = (points**2).sum(axis=1)
    K = np.exp(-(squares[:, None] + squares - 2 * points @ points.T) / 15)
    np.save(folder / "gram.npy", ((K + K.T) / 2).astype(dtype))
    return np.load(folder / "gram.npy", mmap_mode="r"), points[:, 0] * points[:, 1] + 0.5 * rng.normal(size=240)


def target(solver, numbers):
    return numbers if solver.targets == ("real",) else numbers > 0.1


def fitted(spec, K, numbers, kept):
    """Return the solver on slices and on rows, of which `kept` stay in memory, and the decisions of both."""
    y = target(build_solver(spec), numbers)[TRAIN]
    whole = np.asarray(K, dtype=np.float64)
    on_slices = build_solver(spec).fit(whole[np.ix_(TRAIN, TRAIN)], y)
    on_rows = build_solver(spec).fit(GramRows(K, TRAIN, TRAIN, room=4 * len(TRAIN) * kept), y)
    decided = (
        on_slices.decision_function(whole[np.ix_(TEST, TRAIN)]),
        on_rows.decision_function(GramRows(K, TEST, TRAIN, room=0)),
    )
    return on_slices, on_rows, decided


ALL_AT_BOUND = "csvc:C=0.05,class_weight=balanced"
SPECS = [
    "csvc:C=1",
    "csvc:C=100",
    ALL_AT_BOUND,
    "svr:C=1,epsilon=0.1",
    "svr:C=30,epsilon=0",
    "one_class_svm:nu=0.3",
    "one_class_svm:nu=1",
]


def of_libsvm(solver, K, y):
    """Return scikit-learn's estimator of the same problem, fitted."""
    estimator = {"csvc": svm.SVC, "svr": svm.SVR, "one_class_svm": svm.OneClassSVM}[solver.name]()
    own = {name: value for name, value in solver.get_params().items() if name in estimator.get_params()}
    if solver.name == "one_class_svm":
        K, y = K[np.ix_(y, y)], None
        own["tol"] *= np.mean(np.diag(K))
    return estimator.set_params(**own | {"kernel": "precomputed"}).fit(K, y)


@SAME_BITS
@pytest.mark.parametrize("spec", SPECS[:-1])  # LIBSVM has no bias for ν = 1
@pytest.mark.parametrize("scale", [1.0, 2.0**-80])
def test_the_bits_of_libsvm(tmp_path, spec, scale):
    K, numbers = stored(tmp_path)
    K, solver = np.asarray(K, dtype=np.float64)[np.ix_(TRAIN, TRAIN)], build_solver(spec)
    y = target(solver, numbers)[TRAIN]
    expected = of_libsvm(solver, K, y)
    one_class = solver.name == "one_class_svm"
    if not one_class:
        solver.set_params(C=solver.C / scale)
    solver.fit(K * scale, y)
    learned = np.flatnonzero(y) if one_class else np.arange(len(y))
    np.testing.assert_array_equal(solver.support_, learned[expected.support_])
    np.testing.assert_array_equal(solver.dual_coef_ * (1 if one_class else scale), expected.dual_coef_[0])
    if spec != ALL_AT_BOUND:  # their bias is the solver's own
        assert solver.intercept_ == expected.intercept_[0] * (scale if one_class else 1)


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_bits_of_the_whole_matrix_with_the_fewest_rows_in_memory(tmp_path, spec, dtype):
    on_slices, on_rows, decided = fitted(spec, *stored(tmp_path, dtype), kept=0)
    np.testing.assert_array_equal(on_rows.support_, on_slices.support_)
    np.testing.assert_array_equal(on_rows.dual_coef_, on_slices.dual_coef_)
    np.testing.assert_array_equal(*decided)
    assert on_rows.report_ == on_slices.report_


@pytest.mark.parametrize(
    "spec",
    [
        "csvc:C=10,tol=1e-9",
        "svr:tol=1e-9",
        "one_class_svm:nu=0.3,tol=1e-9",
        "psvc:C=0.1",
        "psvr:C=0.1,epsilon=0.03",
    ],
)
def test_the_decisions_of_the_whole_matrix(tmp_path, spec):
    *_, decided = fitted(spec, *stored(tmp_path), kept=0)
    np.testing.assert_allclose(*decided, atol=1e-6)


def test_the_number_of_rows_in_memory_changes_only_how_many_are_read(tmp_path, monkeypatch):
    K, numbers = stored(tmp_path)
    minimise, runs = libsvm.minimise_by_rows, []

    def kept_run(*given, **options):
        runs.append(minimise(*given, **options))
        return runs[-1]

    monkeypatch.setattr(libsvm, "minimise_by_rows", kept_run)
    for kept in (0, 40, len(TRAIN)):
        fitted("csvc:C=10", K, numbers, kept)
    few, some, every = runs[1::2]  # after each fit on slices
    assert few.reads > some.reads > every.reads
    assert np.count_nonzero(every.alpha) <= every.reads <= len(TRAIN)
    np.testing.assert_array_equal(few.alpha, some.alpha)
    np.testing.assert_array_equal(few.alpha, every.alpha)


def test_nan_in_a_row_that_is_read_names_the_row(tmp_path):
    K, numbers = stored(tmp_path)
    K = np.array(K)
    K[:, 7] = K[7] = np.nan
    np.save(tmp_path / "gram.npy", K)
    with pytest.raises(GramError, match=r"row \d+ of the matrix contains NaN"):
        fitted("csvc:C=1", np.load(tmp_path / "gram.npy", mmap_mode="r"), np.nan_to_num(numbers), kept=50)


def test_solvers_that_need_the_matrix_refuse_rows(tmp_path):
    K, numbers = stored(tmp_path)
    for spec in ("csvc:C=inf", "nusvc", "lssvc"):
        assert not build_solver(spec).traits.rows
        with pytest.raises(GramError, match="read by rows"):
            build_solver(spec).fit(GramRows(K, TRAIN, TRAIN, room=0), numbers[TRAIN] > 0)


def test_a_fit_can_be_interrupted(tmp_path):
    K, numbers = stored(tmp_path)
    solver = build_solver("csvc:C=1000,tol=1e-300,max_iter=100000000")

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(KeyboardInterrupt):
            solver.fit(GramRows(K, TRAIN, TRAIN, room=10**6), numbers[TRAIN] > 0.1)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_rows_out_of_order_are_refused_by_the_psvm(tmp_path):
    K, numbers = stored(tmp_path)
    with pytest.raises(GramError, match="out of order"):
        build_solver("psvc").fit(GramRows(K, TRAIN[::-1], TRAIN[::-1], room=0), numbers[TRAIN[::-1]] > 0)
