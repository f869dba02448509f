"""Layers that choose the labels of a chain together: `crf` and `chain_svm`, against all paths of short chains."""

import itertools
import json

import naive_layers as naive
import numpy as np
import pytest
from test_layers import chains_of, noisy

from seqkern.kernels.features import FeatureBlocks
from seqkern.solvers.layers import Layers, _paths, build_layer
from seqkern.solvers.layers.window_layers import PathLikelihood, PathMargin, Paths, PathWeights, Runs

LENGTHS = (1, 6, 2, 5)
SIZES = [(2, 1), (3, 1), (3, 2), (2, 3), (2, 5)]


def some_scores(k, memory, seed=0, spread=1.5):
    """Return scores of labels and steps at random, and the starts of runs."""
    rng = np.random.default_rng(seed)
    starts = np.concatenate(([0], np.cumsum(LENGTHS)))
    return spread * rng.standard_normal((starts[-1], k)), spread * rng.standard_normal((k * memory, k)), starts


def some_paths(k, memory, d=4, seed=0, lengths=LENGTHS):
    """Return labelled runs with features at random."""
    rng = np.random.default_rng(seed)
    starts = np.concatenate(([0], np.cumsum(lengths)))
    X = rng.standard_normal((starts[-1], d))
    return X, Paths(FeatureBlocks.of(X), rng.integers(k, size=starts[-1]), starts, k, memory)


def weights_of(paths, w):
    """Return weights as one vector of them holds them."""
    d, k = paths.blocks.shape[1], paths.k
    return w[: d * k].reshape(d, k), w[d * k : d * k + k], w[d * k + k :].reshape(k * paths.memory, k)


@pytest.mark.parametrize(("k", "memory"), SIZES)
def test_recursions_against_all_paths(k, memory):
    E, T, starts = some_scores(k, memory)
    path, best, shares = np.empty(len(E), dtype=np.int64), np.empty_like(E), np.empty_like(E)
    counts, expected_counts, expected_total = np.zeros_like(T), np.zeros_like(T), 0.0
    _paths.best_paths(E, T, starts, path)
    _paths.best_scores(E, T, starts, best)
    total = _paths.log_shares(E, T, starts, shares, counts)
    for first, stop in itertools.pairwise(starts):
        found = naive.all_paths(E[first:stop], T, memory)
        assert path[first:stop].tolist() == list(max(found, key=lambda one: one[1])[0])
        weights = np.exp([score for _, score in found])
        expected_total += np.log(weights.sum())
        for place in range(stop - first):
            for label in range(k):
                here = [i for i, (one, _) in enumerate(found) if one[place] == label]
                assert best[first + place, label] == pytest.approx(max(found[i][1] for i in here), abs=1e-9)
                share = weights[here].sum() / weights.sum()
                assert np.exp(shares[first + place, label]) == pytest.approx(share, abs=1e-12)
        for (one, _), weight in zip(found, weights / weights.sum(), strict=True):
            expected_counts += weight * naive.steps_of(one, k, memory)
    assert total == pytest.approx(expected_total, abs=1e-9)
    np.testing.assert_allclose(counts, expected_counts, atol=1e-10)
    found = np.zeros_like(T)
    _paths.add_steps(path, starts, found)
    runs = itertools.pairwise(starts)
    np.testing.assert_array_equal(found, sum(naive.steps_of(path[a:b].tolist(), k, memory) for a, b in runs))


def test_worked_numbers_of_a_chain_of_two():
    # scores 0, 1 and then 0, 0; staying adds 1: paths 00 01 10 11 have 1, 0, 1, 2
    E, T = np.array([[0.0, 1.0], [0.0, 0.0]]), np.eye(2)
    shares, path = np.empty_like(E), np.empty(2, dtype=np.int64)
    total = _paths.log_shares(E, T, np.array([0, 2]), shares)
    e = np.exp(1.0)
    assert total == pytest.approx(np.log(e + 1 + e + e * e))
    np.testing.assert_allclose(np.exp(shares[0]), [(e + 1) / np.exp(total), (e + e * e) / np.exp(total)])
    _paths.best_paths(E, T, np.array([0, 2]), path)
    assert path.tolist() == [1, 1]


def test_scores_far_apart_do_not_overflow():
    E, T, starts = some_scores(3, 2, spread=1e4)
    shares, counts = np.empty_like(E), np.zeros_like(T)
    assert np.isfinite(_paths.log_shares(E, T, starts, shares, counts))
    assert np.isfinite(counts).all()
    np.testing.assert_allclose(np.exp(shares).sum(axis=1), 1.0)
    path = np.empty(len(E), dtype=np.int64)
    _paths.best_paths(E, T, starts, path)
    np.testing.assert_array_equal(shares.argmax(axis=1), path)


def test_arrays_that_do_not_fit_are_refused():
    E, T, starts = some_scores(2, 2)
    path, out = np.zeros(len(E), dtype=np.int64), np.empty_like(E)
    for bad in (starts[:-1], starts[1:], np.sort(np.append(starts, 1))):
        with pytest.raises(ValueError, match="run"):
            _paths.best_paths(E, T, bad, path)
    for call in (
        lambda: _paths.best_paths(E, T[:3], starts, path),
        lambda: _paths.best_paths(E, T, starts, path[1:]),
        lambda: _paths.best_scores(E, T, starts, out[1:]),
        lambda: _paths.log_shares(E, T, starts, out, np.zeros((2, 2))),
        lambda: _paths.add_steps(path + 2, starts, np.zeros_like(T)),
    ):
        with pytest.raises(ValueError, match=r"memory|lengths|label"):
            call()


@pytest.mark.parametrize(("k", "memory"), SIZES)
def test_likelihood_and_its_gradient(k, memory):
    X, paths = some_paths(k, memory)
    problem = PathLikelihood(paths, C=0.7)
    w = 0.5 * np.random.default_rng(1).standard_normal((X.shape[1] + 1) * k + k * memory * k)
    value, gradient = problem.value(w)
    U, b, T = weights_of(paths, w)
    E, expected = X @ U + b, 0.5 * (w**2).sum()
    for first, stop in itertools.pairwise(paths.starts):
        found = dict(naive.all_paths(E[first:stop], T, memory))
        true = tuple(paths.y[first:stop].tolist())
        expected -= 0.7 * (found[true] - np.log(np.exp(list(found.values())).sum()))
    assert value == pytest.approx(expected, rel=1e-10)
    for i in range(len(w)):
        step = np.zeros(len(w))
        step[i] = 1e-5
        slope = (problem.value(w + step)[0] - problem.value(w - step)[0]) / 2e-5
        assert gradient[i] == pytest.approx(slope, abs=1e-7)


def margin_by_all_paths(X, paths, C, w):
    """Return ½‖w‖² + C Σ max_c (wrong(c) + score(c) − score(true)) by looking at every path."""
    U, b, T = weights_of(paths, w)
    E, total = X @ U + b, 0.5 * (w**2).sum()
    for first, stop in itertools.pairwise(paths.starts):
        found = dict(naive.all_paths(E[first:stop], T, paths.memory))
        true = tuple(paths.y[first:stop].tolist())
        wrong = {one: sum(a != b for a, b in zip(one, true, strict=True)) for one in found}
        total += C * (max(wrong[one] + score for one, score in found.items()) - found[true])
    return total


@pytest.mark.parametrize(("k", "memory"), [(2, 1), (3, 2)])
def test_margin_against_all_paths_and_a_solver(k, memory):
    from scipy.optimize import minimize

    X, paths = some_paths(k, memory, lengths=(3, 4, 1))
    C = 0.3
    problem = PathMargin(paths, C, seed=1)
    found = problem.minimise(5e-4, 2000)
    assert found.converged
    w = np.concatenate([part.ravel() for part in found.weights])
    assert margin_by_all_paths(X, paths, C, w) == pytest.approx(found.objective, rel=1e-10)
    # the dual: a distribution over the paths of each run, by a solver of another kind
    columns, losses, sizes = [], [], []
    for first, stop in itertools.pairwise(paths.starts):
        true = paths.y[first:stop]
        ones = [
            np.array(one) for one, _ in naive.all_paths(np.zeros((stop - first, k)), np.zeros((k * memory, k)), memory)
        ]
        for one in ones:
            more = np.eye(k)[true] - np.eye(k)[one]
            steps = naive.steps_of(true.tolist(), k, memory) - naive.steps_of(one.tolist(), k, memory)
            columns.append(np.concatenate([(X[first:stop].T @ more).ravel(), more.sum(axis=0), steps.ravel()]))
            losses.append((one != true).sum())
        sizes.append(len(ones))
    A, losses = C * np.array(columns).T, C * np.array(losses, dtype=float)
    Q = A.T @ A
    members = np.repeat(np.eye(len(sizes)), sizes, axis=1)
    solved = minimize(
        lambda a: (0.5 * a @ Q @ a - losses @ a, Q @ a - losses),
        (members / np.array(sizes)[:, None]).sum(axis=0),
        jac=True,
        method="SLSQP",
        bounds=[(0, 1)] * len(losses),
        constraints={"type": "eq", "fun": lambda a: members @ a - 1, "jac": lambda a: members},
        options={"maxiter": 500, "ftol": 1e-12},
    )
    assert solved.success
    assert found.objective - found.gap - 1e-6 <= -solved.fun <= found.objective + 1e-6
    assert ((w - A @ solved.x) ** 2).sum() <= 2 * found.gap + 1e-6  # the objective is as convex as ½‖w‖²


def test_the_gap_is_that_of_both_objectives():
    _, paths = some_paths(3, 1, lengths=(9, 12, 7, 1))
    problem = PathMargin(paths, 0.5, seed=3)
    last = -np.inf
    for _ in range(15):
        for run in range(4):
            assert problem.move(run) >= 0
            assert problem.dual() >= last - 1e-12
            last = problem.dual()
            assert problem.primal() >= last
    mean = PathWeights(
        0.5 * paths.sums(problem.true - problem.labels),
        0.5 * (problem.true - problem.labels).sum(axis=0),
        0.5 * (paths.count_steps(paths.y) - problem.steps.sum(axis=0)),
    )
    for ours, expected in zip(problem.weights, mean, strict=True):
        np.testing.assert_allclose(ours, expected, atol=1e-12)


def test_minimum_of_the_likelihood():
    from scipy.optimize import minimize

    _, paths = some_paths(3, 2, lengths=(20, 30, 25))
    problem = PathLikelihood(paths, C=2.0)
    found = problem.minimise(1e-9, 500)
    assert found.converged
    solved = minimize(problem.value, np.zeros(5 * 3 + 18), jac=True, method="BFGS", options={"gtol": 1e-9})
    assert found.objective == pytest.approx(solved.fun, rel=1e-9)
    assert found.objective - solved.fun <= found.gap + 1e-9
    few = problem.minimise(1e-9, 2)
    assert not few.converged
    assert few.objective >= found.objective


# ---- the layers -----------------------------------------------------------------------------------------


def test_runs_end_where_a_residue_is_missing():
    chains = chains_of([4, 1, 3])
    runs = Runs.of(chains.take([7, 0, 1, 3, 4, 5]))
    assert runs.order.tolist() == [1, 2, 3, 4, 5, 0]
    assert runs.starts.tolist() == [0, 2, 3, 4, 5, 6]
    assert Runs.of(chains.take([])).starts.tolist() == [0]


@pytest.mark.parametrize("name", ["crf", "chain_svm"])
def test_labels_are_better_together(name):
    chains, y, scores = noisy([60] * 30)
    new, truth, other = noisy([60] * 10, seed=1)
    fitted = build_layer(f"{name}:features=linear,window=1,C=1").fit(scores, chains, y, "ABC")
    assert fitted.not_converged_ == 0
    assert (fitted.predict(other, new) == truth).mean() > (other.argmax(axis=1) == truth).mean() + 0.05
    assert set(fitted.learned()) == {"passes", "objective", "gap"}
    assert fitted.gap_ <= 0.01 * fitted.objective_
    poor = build_layer(f"{name}:max_iter=1,tol=1e-6,window=1").fit(scores, chains, y, "ABC")
    assert poor.not_converged_ == 1


@pytest.mark.parametrize("name", ["crf", "chain_svm"])
def test_residues_without_a_class_cut_the_paths_but_are_seen(name):
    chains, y, scores = noisy([40] * 4 + [1])
    hidden = np.arange(len(y)) % 40 == 20
    given = build_layer(f"{name}:features=linear,window=3").fit(scores, chains, np.where(hidden, -1, y), "ABC")
    changed = scores.copy()
    changed[hidden] = changed[hidden][:, ::-1]  # the same mean and spread of all columns but those swapped
    other = build_layer(f"{name}:features=linear,window=3").fit(changed, chains, np.where(hidden, -1, y), "ABC")
    assert not np.array_equal(given.weights_.labels, other.weights_.labels)
    assert given.predict(scores, chains).shape == y.shape
    # a chain of one residue has no steps
    alone = chains.record == 4
    row = given.transform(scores[alone], chains.take(alone))
    E = given._features(scores[alone], chains.take(alone)).times(given.weights_.labels) + given.weights_.biases
    expected = E - np.log(np.exp(E).sum()) if name == "crf" else E - E.mean()
    np.testing.assert_allclose(row, expected, atol=1e-9)


def test_what_crf_predicts():
    chains, y, scores = noisy([50] * 6)
    path, residues = (
        build_layer(f"crf:decode={decode},window=1,features=linear,memory=3").fit(scores, chains, y)
        for decode in ("path", "residues")
    )
    np.testing.assert_array_equal(path.weights_.labels, residues.weights_.labels)
    logs = residues.transform(scores, chains)
    np.testing.assert_allclose(np.exp(logs).sum(axis=1), 1.0)
    np.testing.assert_array_equal(residues.predict(scores, chains), logs.argmax(axis=1))
    order, starts = Runs.of(chains)
    E = path._features(scores, chains).times(path.weights_.labels) + path.weights_.biases
    expected = np.empty(len(y), dtype=np.int64)
    _paths.best_paths(E[order], path.weights_.steps, starts, expected)
    np.testing.assert_array_equal(path.predict(scores, chains)[order], expected)


def test_best_scores_are_of_the_predicted_path():
    chains, y, scores = noisy([50] * 6)
    fitted = build_layer("chain_svm:features=linear,window=5").fit(scores, chains, y)
    np.testing.assert_array_equal(fitted.transform(scores, chains).argmax(axis=1), fitted.predict(scores, chains))


def test_a_path_stands_whatever_probabilities_follow():
    chains, y, scores = noisy([40] * 6)
    fold = chains.record % 2
    parts = [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(2)]
    specs = ["chain_svm:features=linear,window=3", "probabilities"]
    layers = Layers(specs).fit(scores, chains, y, parts, "HEC")
    found = layers.decide(scores, chains)
    np.testing.assert_array_equal(found.predicted, layers.layers_[0].predict(scores, chains))
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1.0)
    header, arrays = layers.state()
    again = Layers.from_state(json.loads(json.dumps(header)), arrays).decide(scores, chains)
    np.testing.assert_array_equal(again.predicted, found.predicted)


def test_no_rows():
    chains, y, scores = noisy([20] * 4)
    for name in ("crf", "chain_svm"):
        fitted = build_layer(f"{name}:n_components=20,window=3").fit(scores, chains, y)
        assert fitted.transform(scores[:0], chains.take([])).shape == (0, 3)
        assert fitted.predict(scores[:0], chains.take([])).shape == (0,)
