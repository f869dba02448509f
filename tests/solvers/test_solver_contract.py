"""What every solver promises; a new one is tested here as soon as its module is there."""

import copy
import json
import numbers
import pickle
import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

from seqkern.core.archive import load_archive, save_archive
from seqkern.core.errors import GramError, LabelError, ModelError, ParameterError
from seqkern.kernels import LinearKernel
from seqkern.solvers import CSVC, SOLVERS, PairwiseVoting, build_solver, expand_grid, make_solver, solver_from_state
from seqkern.solvers.contract import Solver

pytestmark = pytest.mark.contract
EXAMPLES = [solver for cls in SOLVERS.classes.values() for solver in cls.examples()]
GRAMS = [solver for solver in EXAMPLES if solver.input == "gram"]
IMPLICIT = [solver for solver in EXAMPLES if solver.input == "implicit"]
CLASSIFIERS = [solver for solver in EXAMPLES if {"binary", "multiclass"} & set(solver.targets)]
UNLABELLED = [solver for solver in EXAMPLES if solver.traits.unlabelled]
UNCERTAIN = [solver for solver in EXAMPLES if solver.traits.variances]
PREDICTORS = [solver for solver in EXAMPLES if hasattr(solver, "predict")]


def each(solvers):
    """Parametrise over copies of solvers, so that no test sees another's fit."""
    return pytest.mark.parametrize("solver", [pytest.param(clone(one), id=repr(one)) for one in solvers])


class Problem:
    """Training rows, labels and new rows that a solver can learn without error."""

    def __init__(self, solver, n=36, seed=5):
        rng = np.random.default_rng(seed)
        points = rng.normal(size=(n + 12, 4))
        score = points[:, 0] + 0.5 * points[:, 1] ** 2
        cuts = {"multiclass": [0.0, 0.8]}
        if "real" in solver.targets:
            self.y = score[:n]
        else:
            self.y = np.searchsorted(cuts.get(solver.targets[0], [0.5]), score[:n])
        squares = ((points[:, None] - points[None]) ** 2).sum(-1)
        kernel = np.exp(-squares / 8) if solver.input == "gram" else points
        width = n if solver.input == "gram" else 4
        self.K = kernel[:n, :width].copy()
        self.new = kernel[n:, :width].copy()

    def permuted(self, solver, order):
        """Return training matrix and new matrix with the training rows in another order."""
        if solver.input == "gram":
            return self.K[np.ix_(order, order)], self.new[:, order]
        return self.K[order], self.new


FITTED = {}  # by the text of a solver, so that most checks need no fit of their own


def fitted(solver):
    """Return a fitted copy of a solver and its problem."""
    if repr(solver) not in FITTED:
        problem = Problem(solver)
        FITTED[repr(solver)] = clone(solver).fit(problem.K, problem.y), problem
    return copy.deepcopy(FITTED[repr(solver)])


def as_bytes(solver):
    """Return everything in a solver's state as text and bytes."""
    header, arrays = solver.state()
    values = {key: (value.dtype.str, value.shape, value.tobytes()) for key, value in arrays.items()}
    return json.dumps(header, allow_nan=False, sort_keys=True), values


def one_line(info):
    """Return an error's text, which must be one line."""
    text = str(info.value)
    assert text
    assert "\n" not in text
    return text


# ---- fit, decide, predict --------------------------------------------------------------------------------


@each(GRAMS)
@pytest.mark.nightly
def test_says_whether_it_gives_bounds(solver):
    solver, problem = fitted(solver)
    found = solver.leave_one_out(problem.K, problem.y)
    assert (found is not None) == solver.traits.bounds
    if found is not None:
        assert found.decisions.shape == problem.y.shape
        assert 0 <= found.span <= 1
        assert 0 <= found.xi_alpha <= 1
        assert found.radius_margin > 0


@each(GRAMS)
def test_stages_decide_together(solver):
    solver, problem = fitted(solver)
    stages = solver.stages()
    if stages is not None:
        first = stages[0].decision_function(problem.new)
        second = stages[1].decision_function(problem.new[first >= 0])
        np.testing.assert_array_equal(solver.joined(first, second), solver.decision_function(problem.new))


@each(EXAMPLES)
def test_shapes_types_and_report(solver):
    solver, problem = fitted(solver)
    decisions = solver.decision_function(problem.new)
    alone = np.concatenate([solver.decision_function(row[None]) for row in problem.new])
    np.testing.assert_array_equal(alone, decisions, "a decision depends on other rows")
    assert decisions.dtype == np.float64
    assert np.isfinite(decisions).all()
    if hasattr(solver, "predict"):
        assert solver.predict(problem.new).shape == (12,)
        assert decisions.shape == ((12, len(solver.classes_)) if solver.targets[0] == "multiclass" else (12,))
    report = solver.report_
    assert report["converged"] is True
    assert type(report["iterations"]) is int
    assert type(report["residual"]) is float
    assert type(report["objective"]) is float
    assert report["n_support"] > 0
    assert 0 < report["support_share"] <= 1
    assert json.loads(json.dumps(report, allow_nan=False)) == report


@each(PREDICTORS)
def test_learns_and_predicts_what_it_decides(solver):
    solver, problem = fitted(solver)
    assert solver.score(problem.K, problem.y) > (0.3 if "real" in solver.targets else 0.75)
    decisions, predicted = solver.decision_function(problem.new), solver.predict(problem.new)
    if "real" in solver.targets:
        np.testing.assert_array_equal(predicted, decisions)
    elif solver.targets[0] == "multiclass":
        np.testing.assert_array_equal(predicted, solver.classes_[decisions.argmax(axis=1)])
    else:
        np.testing.assert_array_equal(predicted == solver.classes_[1], decisions > 0)


@each(CLASSIFIERS)
@pytest.mark.nightly
def test_names_of_classes_do_not_matter(solver):
    solver, problem = fitted(solver)
    for names in (np.array([-1.0, 1.0, 2.0]), np.array(["donor", "neither", "other"])):
        other = clone(solver).fit(problem.K, names[problem.y])
        assert list(other.classes_) == list(names[: len(other.classes_)])
        np.testing.assert_array_equal(other.decision_function(problem.new), solver.decision_function(problem.new))
        assert set(other.predict(problem.new)) <= set(names)


@each(EXAMPLES)
def test_refit_gives_the_same_bytes_and_changes_no_input(solver, tmp_path):
    solver, problem = fitted(solver)
    once = as_bytes(solver)
    np.testing.assert_array_equal(problem.K, Problem(solver).K)
    np.save(tmp_path / "K.npy", problem.K)
    assert as_bytes(clone(solver).fit(np.load(tmp_path / "K.npy", mmap_mode="r"), problem.y)) == once
    assert solver.check_labels(problem.y) is None
    assert as_bytes(solver.fit(problem.K, problem.y)) == once
    assert as_bytes(clone(solver).fit_after(None, problem.K, problem.y)) == once


@each(EXAMPLES)
def test_threads_do_not_change_a_bit(solver):
    problem = Problem(solver, n=300)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        with threadpool_limits(limits=1):
            once = as_bytes(clone(solver).fit(problem.K, problem.y))
        with threadpool_limits(limits=4):
            assert as_bytes(clone(solver).fit(problem.K, problem.y)) == once


@each(EXAMPLES)
def test_order_of_training_rows(solver):
    solver, problem = fitted(solver)
    order = np.random.default_rng(1).permutation(len(problem.y))
    K, new = problem.permuted(solver, order)
    other = clone(solver).fit(K, problem.y[order])
    np.testing.assert_allclose(other.decision_function(new), solver.decision_function(problem.new), rtol=0, atol=1e-3)


@each(UNCERTAIN)
def test_variances(solver):
    solver, problem = fitted(solver)
    found = solver.variances(problem.new, np.ones(12))
    assert found.latent.shape == (12,)
    assert found.latent.min() >= 0
    assert found.noise >= 0


def test_other_solvers_have_no_variances():
    others = [solver for solver in EXAMPLES if not solver.traits.variances]
    assert others
    assert all(solver.variances(None, None) is None for solver in others)


@each(UNCERTAIN)
def test_a_variance_depends_on_its_own_row_only(solver):
    solver, problem = fitted(solver)
    rows = np.concatenate([problem.new] * 12)  # more than are computed at the same time
    together = solver.variances(rows, np.ones(len(rows))).latent
    alone = np.concatenate([solver.variances(row[None], np.ones(1)).latent for row in rows])
    np.testing.assert_array_equal(alone, together)


@each(UNCERTAIN)
def test_variances_of_restored_and_restricted_solvers(solver, tmp_path):
    solver, problem = fitted(solver)
    variances = solver.variances(problem.new, np.ones(12)).latent.tobytes()
    save_archive(tmp_path / "model", *solver.state())
    other = solver_from_state(*load_archive(tmp_path / "model"))
    assert other.variances(problem.new, np.ones(12)).latent.tobytes() == variances
    for rows in (solver.support_, solver.support_[::-1]):
        small = solver.restrict(rows)
        assert small.variances(problem.new[:, rows], np.ones(12)).latent.tobytes() == variances


# ---- state, restriction ----------------------------------------------------------------------------------


@each(EXAMPLES)
def test_state_and_back(solver, tmp_path):
    solver, problem = fitted(solver)
    save_archive(tmp_path / "model", *solver.state())
    other = solver_from_state(*load_archive(tmp_path / "model"))
    assert type(other) is type(solver)
    assert as_bytes(other) == as_bytes(solver)
    assert other.decision_function(problem.new).tobytes() == solver.decision_function(problem.new).tobytes()
    if hasattr(solver, "predict"):
        np.testing.assert_array_equal(other.predict(problem.new), solver.predict(problem.new))


@each(CLASSIFIERS)
@pytest.mark.nightly
def test_state_of_named_classes(solver):
    problem = Problem(solver)
    names = np.array(["donor", "neither", "other"], dtype=object)[problem.y]
    solver = clone(solver).fit(problem.K, names)
    other = solver_from_state(*solver.state())
    assert all(value.dtype != object for value in solver.state()[1].values())
    assert list(other.predict(problem.new)) == list(solver.predict(problem.new))


@each(EXAMPLES)
def test_restricted_to_its_support(solver):
    solver, problem = fitted(solver)
    decisions = solver.decision_function(problem.new).tobytes()
    for rows in (solver.support_, solver.support_[::-1], np.arange(problem.K.shape[1])[::-1]):
        small = solver.restrict(rows)
        assert small.decision_function(problem.new[:, rows]).tobytes() == decisions
        assert len(small.support_) == len(solver.support_)
    twice = solver.restrict(solver.support_).restrict(np.arange(len(solver.support_))[::-1])
    assert twice.decision_function(problem.new[:, solver.support_[::-1]]).tobytes() == decisions
    with pytest.raises(ParameterError) as info:
        solver.restrict(solver.support_[1:])
    assert str(solver.support_[0]) in one_line(info)


@each(EXAMPLES)
@pytest.mark.nightly
def test_columns_outside_the_support_do_not_matter(solver):
    solver, problem = fitted(solver)
    decisions = solver.decision_function(problem.new)
    other = np.setdiff1d(np.arange(problem.K.shape[1]), solver.support_)
    problem.new[:, other] = 7.0
    np.testing.assert_array_equal(solver.decision_function(problem.new), decisions)


def test_not_a_state():
    for header in ({}, {"spec": {"solver": "nothing"}}, {"spec": {"solver": "csvc"}}, {"spec": 3}):
        with pytest.raises(ModelError) as info:
            solver_from_state(header, {})
        one_line(info)


# ---- feature vectors that are never stored ----------------------------------------------------------------


def implicit_problem(solver):
    """Return an Implicit of all rows, the training rows, the new rows, labels and the kernel matrix."""
    problem = Problem(solver)
    points = np.concatenate([problem.K, problem.new])
    whole = LinearKernel(normalize=False).implicit(points)
    train, new = np.arange(36), np.arange(36, 48)
    return whole.take(train), whole.take(new), problem, points @ points[train].T


@each(IMPLICIT)
def test_implicit_gives_what_features_give(solver):
    train, new, problem, _ = implicit_problem(solver)
    decisions = clone(solver).fit(problem.K, problem.y).decision_function(problem.new)
    solver.fit(train, problem.y)
    np.testing.assert_allclose(solver.decision_function(new), decisions, rtol=0, atol=1e-6)
    assert solver.n_features_in_ == 36


@each(IMPLICIT)
def test_implicit_and_kernel_rows_decide_alike(solver, tmp_path):
    train, new, problem, K = implicit_problem(solver)
    solver.fit(train, problem.y)
    decisions = solver.decision_function(new)
    np.testing.assert_allclose(solver.decision_function(K[36:]), decisions, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(solver.predict(new), solver.classes_[(decisions > 0).astype(int)])
    coefficients, constant = solver.linear()
    np.testing.assert_allclose(K[36:] @ coefficients + constant, decisions, rtol=0, atol=1e-12)
    small = solver.restrict(solver.support_)
    np.testing.assert_allclose(small.decision_function(K[36:][:, solver.support_]), decisions, rtol=0, atol=1e-12)
    save_archive(tmp_path / "model", *small.state())
    restored = solver_from_state(*load_archive(tmp_path / "model"))
    np.testing.assert_allclose(restored.decision_function(K[36:][:, solver.support_]), decisions, rtol=0, atol=1e-12)
    for other in (small, restored, pickle.loads(pickle.dumps(solver))):
        with pytest.raises(ParameterError, match="other tables"):
            other.decision_function(new)


@each(IMPLICIT)
def test_an_implicit_with_other_tables_is_refused(solver):
    train, _, problem, _ = implicit_problem(solver)
    solver.fit(train, problem.y)
    with pytest.raises(ParameterError, match="other tables"):
        solver.decision_function(LinearKernel(normalize=False).implicit(problem.new))


@each(IMPLICIT)
def test_several_classes_from_an_implicit(solver):
    train, new, problem, K = implicit_problem(PairwiseVoting(solver))
    voting = PairwiseVoting(solver).fit(train, problem.y)
    assert len(voting.classes_) == 3
    decisions = voting.decision_function(new)
    np.testing.assert_allclose(voting.decision_function(K[36:]), decisions, rtol=0, atol=1e-12)
    gram = PairwiseVoting(CSVC(**{name: getattr(solver, name) for name in ("C", "class_weight")}, tol=1e-8))
    np.testing.assert_allclose(gram.fit(K[:36], problem.y).decision_function(K[36:]), decisions, rtol=0, atol=1e-4)
    np.testing.assert_allclose(
        voting.restrict(voting.support_).decision_function(K[36:][:, voting.support_]), decisions, rtol=0, atol=1e-12
    )


@each(IMPLICIT)
def test_too_few_records(solver):
    train, _, problem, _ = implicit_problem(solver)
    with pytest.raises(GramError, match="1 records are too few"):
        solver.fit(train.take([0]), problem.y[:1])


# ---- scikit-learn's manners ------------------------------------------------------------------------------


@each(EXAMPLES)
def test_clone_and_pickle(solver):
    solver, problem = fitted(solver)
    copy = clone(solver)
    assert repr(copy) == repr(solver)
    with pytest.raises(NotFittedError):
        copy.decision_function(problem.new)
    assert as_bytes(pickle.loads(pickle.dumps(solver))) == as_bytes(solver)


def test_cross_validation_slices_a_gram_matrix_both_ways():
    pairwise = [solver for solver in EXAMPLES if solver.__sklearn_tags__().input_tags.pairwise]
    assert pairwise == GRAMS


def expected_failures(estimator):
    """Return scikit-learn's checks that a solver fails, with reasons."""
    if "real" in estimator.targets:
        return {"check_regressors_no_decision_function": "every solver decides; for real labels it predicts"}
    if estimator.targets[0] == "multiclass":
        reason = "its decision function has one column for each class, for two classes too"
        return {"check_classifiers_train": reason, "check_classifiers_classes": reason}
    if estimator.name == "positive_unlabelled":
        return {"check_fit2d_1feature": "one of its classes has a single row, but held-out decisions need two"}
    if estimator.name == "minover":  # where it stops depends on the order of rows
        return {"check_classifiers_train": "its classes are not separable, where MinOver does not converge"}
    if estimator.name == "label_propagation":
        return {"check_fit2d_1feature": "made positive, its labels are of one class"}
    return {}


@parametrize_with_checks(
    [clone(cls.examples()[0]) for cls in SOLVERS.classes.values()],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


# ---- bad input -------------------------------------------------------------------------------------------


@each(EXAMPLES)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_not_a_number(solver, value):
    solver, problem = fitted(solver)
    problem.K[3, 2] = value
    with pytest.raises(GramError) as info:
        clone(solver).fit(problem.K, problem.y)
    assert "row 3" in one_line(info)
    problem.new[5, 0] = value
    with pytest.raises(GramError) as info:
        solver.decision_function(problem.new)
    assert "row 5" in one_line(info)


@each(EXAMPLES)
def test_matrices_that_do_not_fit(solver):
    solver, problem = fitted(solver)
    with pytest.raises(GramError) as info:
        solver.decision_function(problem.new[:, :-1])
    one_line(info)
    if solver.input == "gram":
        with pytest.raises(GramError) as info:
            clone(solver).fit(problem.K[:, :-1], problem.y)
        assert "36 × 35" in one_line(info)
    if solver.input != "implicit" and not solver.traits.operator:
        with pytest.raises(GramError, match="linear_svc"):
            clone(solver).fit(implicit_problem(solver)[0], problem.y)
    for call in (
        lambda: solver.decision_function(csr_array(problem.new)),
        lambda: clone(solver).fit(csr_array(problem.K), problem.y),
    )[: 0 if solver.traits.sparse else None]:
        with pytest.raises(GramError) as info:
            call()
        assert "does not take a sparse matrix" in one_line(info)


@each(EXAMPLES)
def test_labels_that_do_not_fit(solver):
    problem = Problem(solver)
    wrong = problem.y.astype(float)
    wrong[4] = np.nan
    for y in (problem.y[:-1], np.stack([problem.y, problem.y], axis=1), wrong, None):
        if (y is None and "none" in solver.targets) or (y is wrong and solver.traits.unlabelled):
            continue
        with pytest.raises(LabelError) as info:
            clone(solver).fit(problem.K, y)
        one_line(info)


@each(CLASSIFIERS)
def test_too_few_and_too_many_classes(solver):
    problem = Problem(solver)
    with pytest.raises(LabelError) as info:
        clone(solver).fit(problem.K, np.full(len(problem.y), "donor"))
    assert "donor" in one_line(info)
    if solver.targets == ("binary",):
        with pytest.raises(LabelError) as info:
            clone(solver).fit(problem.K, np.arange(len(problem.y)) % 3)
        assert "Only binary classification" in one_line(info)


def iterates(solver):
    """Return whether a fit iterates until `tol`, as least squares and the equality form do not."""
    direct = getattr(solver, "loss", None) == "squared" or getattr(solver, "form", None) == "equality"
    return "tol" in solver.parameter_names() and not direct


@each([solver for solver in EXAMPLES if iterates(solver)])
def test_stopped_early_is_reported(solver):
    problem = Problem(solver)
    (limit,) = {"max_iter", "max_epochs"} & set(solver.parameter_names())
    solver.set_params(**{limit: 1})
    with pytest.warns(ConvergenceWarning, match="before it converged"):
        solver.fit(problem.K, problem.y)
    assert solver.report_["converged"] is False
    assert solver.report_["residual"] > solver.tol


@each(EXAMPLES)
def test_parameters_are_checked_at_fit(solver):
    problem = Problem(solver)
    for name, value in solver.get_params(deep=False).items():
        if value is None:  # nothing says of what type it may be
            continue
        bad = np.nan if isinstance(value, numbers.Real) else "nonsense"
        with pytest.raises(ParameterError) as info:
            clone(solver).set_params(**{name: bad}).fit(problem.K, problem.y)
        assert f"{name}={bad!r}" in one_line(info)


def test_complexity_is_a_tuple_of_numbers():
    assert [one for one in EXAMPLES if not all(isinstance(value, float) for value in one.complexity())] == []


# ---- no labels -------------------------------------------------------------------------------------------


class DensityEstimator(Solver):
    """A Parzen window: a solver that learns without labels."""

    name = "density"
    targets = ("none",)

    def _fit(self, K, y):
        assert y is None
        self.support_ = np.arange(len(K))
        return {"converged": True, "iterations": 1, "residual": 0.0, "objective": 0.0}

    def _decide(self, K, columns):
        return K[:, columns].mean(axis=1)

    def fitted_state(self):
        return {}, {}

    def restore_fitted(self, header, arrays):
        pass


def test_a_solver_may_learn_without_labels(monkeypatch):
    monkeypatch.setitem(SOLVERS.table, "density", f"{__name__}:DensityEstimator")
    problem = Problem(CSVC())
    solver = make_solver("density", "none").fit(problem.K)
    np.testing.assert_allclose(solver.decision_function(problem.new), problem.new.mean(axis=1))
    assert as_bytes(solver_from_state(*solver.state())) == as_bytes(solver)
    assert solver.restrict(np.arange(36)[::-1]).support_[0] == 35
    with pytest.raises(ParameterError, match=r"choose from: .*density"):
        make_solver("csvc", "none")


# ---- the margin ------------------------------------------------------------------------------------------


def has_margin(solver):
    unweighted = not getattr(solver, "class_weight", None)
    return solver.traits.margin is not None and solver.targets == ("binary",) and unweighted


@each([solver for solver in EXAMPLES if has_margin(solver)])
def test_a_row_beyond_the_margin_changes_nothing(solver):
    rng = np.random.default_rng(3)
    points = rng.normal(size=(140, 2)) * np.repeat([1.0, 2.5], [60, 80])[:, None]
    rows = np.exp(-((points[:, None] - points) ** 2).sum(-1) / 4) if solver.input == "gram" else points
    y = (points[:, 0] > 0).astype(int)

    def decisions(train):
        columns = train if solver.input == "gram" else np.arange(2)
        fitted = clone(solver).fit(rows[np.ix_(train, columns)], labels[train])
        return fitted.decision_function(rows[:, columns])

    train, labels = np.arange(60), y
    before = decisions(train)
    labels = np.where(np.arange(140) < 60, y, before > 0)
    beyond, within = np.flatnonzero(np.abs(before[60:]) > 1.05)[:3], np.flatnonzero(np.abs(before[60:]) < 0.7)[:3]
    for row in beyond:
        np.testing.assert_allclose(decisions(np.append(train, 60 + row)), before, rtol=0, atol=1e-3)
    assert max(np.abs(decisions(np.append(train, 60 + row)) - before).max() for row in within) > 0.01


# ---- rows without a label --------------------------------------------------------------------------------


@each(UNLABELLED)
def test_rows_without_a_label(solver):
    problem = Problem(solver)
    hidden = np.arange(36) % 3 == 1
    numbers = np.where(hidden, np.nan, problem.y)
    names = np.where(hidden, "", np.where(problem.y > 0, "yes", "no"))
    fits = [clone(solver).fit(problem.K, y) for y in (numbers, names, [name or None for name in names])]
    decisions = fits[0].decision_function(problem.new)
    for other in fits[1:]:
        np.testing.assert_array_equal(other.decision_function(problem.new), decisions)
    assert fits[0].classes_.tolist() == [0, 1]
    assert fits[0].classes_.dtype == np.int64
    assert fits[0].report_["n_unlabelled"] == hidden.sum()
    assert fits[0].report_["converged"] is True
    known = np.flatnonzero(~hidden)
    without = clone(solver).fit(problem.K[np.ix_(known, known)], problem.y[known])
    assert np.abs(without.decision_function(problem.new[:, known]) - decisions).max() > 1e-6


@each(UNLABELLED)
def test_order_of_rows_without_a_label(solver):
    problem = Problem(solver)
    y = np.where(np.arange(36) % 3 == 1, np.nan, problem.y)
    decisions = clone(solver).fit(problem.K, y).decision_function(problem.new)
    order = np.random.default_rng(1).permutation(36)
    K, new = problem.permuted(solver, order)
    np.testing.assert_allclose(solver.fit(K, y[order]).decision_function(new), decisions, rtol=0, atol=1e-3)


@each(UNLABELLED)
def test_too_few_labels(solver):
    problem = Problem(solver)
    for y, words in ((np.full(36, np.nan), "none of the 36"), (np.where(problem.y > 0, 1.0, np.nan), "of one class")):
        with pytest.raises(LabelError, match=words) as info:
            clone(solver).fit(problem.K, y)
        one_line(info)


# ---- specs -----------------------------------------------------------------------------------------------


def test_spec_and_back():
    for solver in EXAMPLES:
        spec = json.loads(json.dumps(solver.spec(), allow_nan=False))
        assert repr(build_solver(spec)) == repr(solver)
        assert expand_grid(spec) == [spec]
        assert repr(build_solver(json.dumps(spec))) == repr(solver)


def test_default_grid():
    for name, cls in SOLVERS.classes.items():
        spec = cls.examples()[0].spec()
        given = {key: value for key, value in spec.items() if key not in cls.declared.search.grid}
        grid = expand_grid(given, search=True)
        assert len(grid) == np.prod([len(values) for values in cls.declared.search.grid.values()], dtype=int), name
        assert len({json.dumps(one) for one in grid}) == len(grid), name
        assert expand_grid(spec, search=True) == [spec], name


def test_grid_order():
    grid = expand_grid({"epsilon": [0.3, 0.1], "solver": "psvc", "C": ["inf", 1]})
    assert [(one["C"], one["epsilon"]) for one in grid] == [("inf", 0.3), ("inf", 0.1), (1, 0.3), (1, 0.1)]
    assert expand_grid("psvc:epsilon=[0.3,0.1],C=[inf,1]") == grid
    nested = expand_grid({"solver": "pairwise_voting", "binary": {"solver": "csvc", "C": [1, 2]}})
    assert [one["binary"]["C"] for one in nested] == [1, 2]


def test_texts_that_mean_numbers():
    assert build_solver({"solver": "csvc", "C": "inf", "tol": "1e-4"}).get_params() == {
        "C": np.inf,
        "class_weight": None,
        "slack": "linear",
        "tol": 1e-4,
        "max_iter": 10_000_000,
    }
    assert build_solver("csvc:class_weight=balanced").class_weight == "balanced"


@pytest.mark.parametrize(
    ("spec", "part"),
    [
        ("csvv", "did you mean 'csvc'"),
        ("psvc:epsilom=1", "did you mean 'epsilon'"),
        ({"solver": "psvc", "epsilom": [1, 2]}, "did you mean 'epsilon'"),
        ("csvc:C=0", "C=0"),
        ("csvc:C=-inf", "C="),
        ("csvc:C=[1,-2]", "C=-2"),
        ("csvc:C=many", "C='many'"),
        ({"solver": "csvc", "C": []}, "C has no values"),
        ("psvc:epsilon=-0.1", "epsilon=-0.1"),
        ("psvc:epsilon_scale=min", "absolute"),
        ("psvc:kernel=rbf", "precomputed"),
        ("psvc:max_iter=0", "max_iter=0"),
        ("csvc:class_weight=heavy", "heavy"),
        ({"solver": "csvc", "class_weight": {"1": 0}}, "class_weight of 1"),
        ("csvc:C=", "csvc:C="),
        ("pairwise_voting", "binary"),
        ("pairwise_voting:binary=3", "binary=3"),
        ("pairwise_voting:binary=(psvr)", "binary=PSVR"),
        ({"C": 1}, "does not name a solver"),
        ('{"solver": ', "JSON"),
    ],
)
def test_bad_specs(spec, part):
    with pytest.raises(ParameterError) as info:
        expand_grid(spec)
    assert part in one_line(info)


def test_a_grid_is_no_solver():
    with pytest.raises(ParameterError, match="list of values"):
        build_solver("csvc:C=[1,2]")


def test_solver_for_a_kind_of_label():
    assert make_solver("csvc:C=2", "binary").C == 2
    assert make_solver("psvr", "real").name == "psvr"
    voting = make_solver("psvc:epsilon=0.3", "multiclass")
    assert voting.name == "pairwise_voting"
    assert voting.binary.epsilon == 0.3
    assert make_solver(voting, "multiclass") is voting
    for name, kind, able in (
        ("csvc", "real", "psvr"),
        ("psvr", "binary", "csvc"),
        ("psvr", "multiclass", "pairwise"),
    ):
        with pytest.raises(ParameterError) as info:
            make_solver(name, kind)
        assert able in one_line(info)
