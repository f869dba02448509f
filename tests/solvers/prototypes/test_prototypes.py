"""Solvers with prototypes beside formulas, each other, and problems with a known answer."""

import math

import numpy as np
import pytest
from sklearn.neighbors import NearestCentroid

from seqkern.core.errors import GramError, ParameterError
from seqkern.solvers import GLVQ, GMLVQ, LVQ1, NearestPrototype, RelationalGLVQ, make_solver
from seqkern.solvers.classic.prototypes import FeaturePoints, GramPoints, clusterings, descend, glvq_cost

LEARNED = [LVQ1, RelationalGLVQ]
ALL = [NearestPrototype, LVQ1, RelationalGLVQ, GLVQ, GMLVQ]


def blobs(seed=0, classes=3, n=20, d=4, spread=0.4):
    """Return points of classes around random centres."""
    rng = np.random.default_rng(seed)
    centres = 2 * rng.normal(size=(classes, d))
    y = np.repeat(np.arange(classes), n)
    return centres[y] + spread * rng.normal(size=(len(y), d)), y


def xor(n=15, seed=2):
    """Return two classes of two clusters each, which no hyperplane separates."""
    rng = np.random.default_rng(seed)
    corners = np.array([[0, 0], [4, 4], [0, 4], [4, 0]])
    return np.repeat(corners, n, axis=0) + 0.5 * rng.normal(size=(4 * n, 2)), np.repeat([0, 0, 1, 1], n)


def naive_cost(points, y, prototypes, codes, slope):
    """Return the mean of φ(μ), sample by sample."""
    total = 0.0
    for x, label in zip(points, y, strict=True):
        d = [(sum((x - w) ** 2), code) for w, code in zip(prototypes, codes, strict=True)]
        own, other = min(v for v, code in d if code == label), min(v for v, code in d if code != label)
        mu = (own - other) / (own + other)
        total += 1 / (1 + math.exp(-slope * mu)) if slope else (1 + mu) / 2
    return total / len(y)


def matrix(cls, points):
    """Return what a solver takes: features, or their linear kernel."""
    return points if cls.input == "features" else points @ points.T


# ---- the cost --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("slope", [0.0, 2.0, 9.0])
def test_cost_is_its_twin(slope):
    points, y = blobs()
    prototypes, codes = np.random.default_rng(1).normal(size=(6, 4)), np.array([0, 0, 1, 1, 2, 2])
    distances = ((prototypes[:, None] - points) ** 2).sum(-1)
    cost = glvq_cost(distances, codes[:, None] == y, slope)[0]
    assert cost == pytest.approx(naive_cost(points, y, prototypes, codes, slope), rel=1e-9)


def test_cost_of_worked_numbers():
    """Distances 1 from the own and 3 from the other prototype: μ = −½; then 4 and 0: μ = 1."""
    distances, same = np.array([[1.0, 0.0], [3.0, 4.0]]), np.array([[True, False], [False, True]])
    assert glvq_cost(distances, same, 0.0)[0] == pytest.approx((0.25 + 1.0) / 2, abs=1e-9)


@pytest.mark.parametrize("slope", [0.0, 3.0])
def test_gradient_is_that_of_differences(slope):
    rng = np.random.default_rng(4)
    distances, same = rng.random((4, 9)) + 0.1, np.array([0, 0, 1, 1])[:, None] == rng.integers(0, 2, 9)
    gradient, step = glvq_cost(distances, same, slope)[1], 1e-6
    for place in np.ndindex(distances.shape):
        moved = [distances.copy(), distances.copy()]
        moved[0][place] += step
        moved[1][place] -= step
        slopes = [glvq_cost(one, same, slope)[0] for one in moved]
        assert gradient[place] == pytest.approx((slopes[0] - slopes[1]) / (2 * step), abs=1e-8)


@pytest.mark.parametrize("cls", [RelationalGLVQ, GLVQ, GMLVQ])
@pytest.mark.parametrize("m", [1, 2])
def test_descent_uses_the_gradient_of_its_cost(cls, m, monkeypatch):
    """The function that L-BFGS is given has the derivatives that it says."""
    points, y = blobs(n=8)
    seen = []

    def record(evaluate, x, tol, max_iter, **options):
        rng = np.random.default_rng(0)
        seen.append((evaluate, x + 0.01 * rng.random(len(x))))
        return descend(evaluate, x, tol, 3, **options)

    monkeypatch.setattr("seqkern.solvers.classic.prototypes.descend", record)
    with pytest.warns(UserWarning, match="before it converged"):
        cls(n_prototypes=m).fit(matrix(cls, points), y)
    evaluate, x = seen[0]
    gradient = evaluate(x)[1]
    rng = np.random.default_rng(1)
    for _ in range(5):
        direction = rng.normal(size=len(x))
        both = [evaluate(x + step * direction)[0] for step in (1e-6, -1e-6)]
        assert gradient @ direction == pytest.approx((both[0] - both[1]) / 2e-6, abs=1e-7)


@pytest.mark.parametrize("seed", [2, 3, 13, 27])
def test_a_descent_ends_where_every_line_search_fails(seed, monkeypatch):
    calls = []

    def counted(*arguments):
        calls.append(glvq_cost(*arguments))
        assert len(calls) < 2000, "the descent does not end"
        return calls[-1]

    monkeypatch.setattr("seqkern.solvers.classic.prototypes.glvq_cost", counted)
    noise, y = np.random.default_rng(seed).normal(size=(6, 6)), np.arange(6) % 2
    solver = RelationalGLVQ().fit(noise + noise.T, y)  # indefinite: distances below zero, kinks everywhere
    assert solver.report_["objective"] == min(cost for cost, _ in calls)


# ---- one solver beside another ---------------------------------------------------------------------------


def test_nearest_prototype_is_the_nearest_centroid():
    points, y = blobs(seed=3)
    new = np.random.default_rng(5).normal(size=(50, 4)) * 3
    solver = NearestPrototype().fit(points @ points.T, y)
    np.testing.assert_array_equal(solver.predict(new @ points.T), NearestCentroid().fit(points, y).predict(new))


def test_decision_of_the_nearest_prototype_from_the_formula():
    points, y = blobs(seed=6, classes=2)
    means = np.stack([points[y == 0].mean(axis=0), points[y == 1].mean(axis=0)])
    new = np.random.default_rng(5).normal(size=(9, 4))
    distances = ((new[:, None] - means) ** 2).sum(-1)
    solver = NearestPrototype().fit(points @ points.T, y)
    decisions = solver.decision_function(new @ points.T)
    np.testing.assert_allclose(decisions, distances[:, 0] - distances[:, 1], rtol=0, atol=1e-10)
    coefficients, constant = solver.linear()
    np.testing.assert_allclose(new @ points.T @ coefficients + constant, decisions, rtol=0, atol=1e-10)
    assert solver.report_["objective"] == pytest.approx(np.mean((points - means[y]) ** 2) * 4)


@pytest.mark.parametrize("cls", LEARNED)
@pytest.mark.parametrize("classes", [2, 3])
def test_decisions_on_a_gram_matrix_are_those_of_prototypes_in_feature_space(cls, classes):
    points, y = blobs(classes=classes)
    solver = cls(n_prototypes=2).fit(points @ points.T, y)
    assert solver.coef_.sum(axis=1) == pytest.approx(1.0)
    prototypes = solver.coef_ @ points[solver.support_]
    new = np.random.default_rng(8).normal(size=(20, 4)) * 2
    distances = ((new[:, None] - prototypes) ** 2).sum(-1)
    least = np.stack([distances[:, solver.codes_ == code].min(axis=1) for code in range(classes)], axis=1)
    others = np.stack([np.delete(least, code, axis=1).min(axis=1) for code in range(classes)], axis=1)
    expected = others - least if classes > 2 else (others - least)[:, 1]
    np.testing.assert_allclose(solver.decision_function(new @ points.T), expected, rtol=0, atol=1e-9)


def test_relational_cost_is_that_of_its_prototypes():
    points, y = blobs(seed=1)
    solver = RelationalGLVQ(n_prototypes=2).fit(points @ points.T, y)
    prototypes = solver.coef_ @ points[solver.support_]
    assert (solver.coef_ >= 0).all()
    cost = naive_cost(points, y, prototypes, solver.codes_, solver.slope)
    assert solver.report_["objective"] == pytest.approx(cost, abs=1e-5)
    assert solver.report_["objective"] == min(solver.report_["restart_objectives"])


def test_distances_need_no_centring():
    """K = −½ D², centred or not, gives d = D² from each sample, and one prototype of each class is the same."""
    points, y = blobs(seed=2, spread=1.0)
    squares = ((points[:, None] - points) ** 2).sum(-1)
    K = -squares / 2
    J = np.eye(len(y)) - 1 / len(y)
    plain, centred = RelationalGLVQ(tol=1e-9).fit(K, y), RelationalGLVQ(tol=1e-9).fit(J @ K @ J, y)
    assert plain.report_["objective"] == pytest.approx(centred.report_["objective"], abs=1e-6)
    np.testing.assert_allclose(plain.decision_function(K), centred.decision_function(J @ K @ J), rtol=0, atol=0.05)


@pytest.mark.parametrize("m", [1, 2])
def test_distances_have_the_cost_of_their_points(m):
    """Several prototypes of each class may end at different minima, of one and the same cost function."""
    points, y = blobs(seed=0, classes=2, spread=1.0)
    squares = ((points[:, None] - points) ** 2).sum(-1)
    for K in (points @ points.T, -squares / 2):
        solver = RelationalGLVQ(n_prototypes=m).fit(K, y)
        prototypes = solver.coef_ @ points[solver.support_]
        cost = naive_cost(points, y, prototypes, solver.codes_, solver.slope)
        assert solver.report_["objective"] == pytest.approx(cost, abs=1e-5)


def test_prototypes_inside_their_hull_cost_what_features_do():
    """Where the best prototypes of GLVQ are convex combinations of samples, the relational ones are no worse."""
    points, y = xor()
    features = GLVQ(n_prototypes=2, standardise=False, tol=1e-9).fit(points, y)
    relational = RelationalGLVQ(n_prototypes=2, tol=1e-9).fit(points @ points.T, y)
    assert relational.report_["objective"] == pytest.approx(features.report_["objective"], abs=2e-4)


# ---- problems with a known answer ------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [LVQ1, RelationalGLVQ, GLVQ, GMLVQ])
def test_two_clusters_need_two_prototypes(cls):
    points, y = xor()
    K = matrix(cls, points)
    scores = [cls(n_prototypes=m).fit(K, y).score(K, y) for m in (1, 2)]
    assert scores[0] < 0.8
    assert scores[1] == 1.0


@pytest.mark.parametrize("cls", [LVQ1, RelationalGLVQ, GLVQ, GMLVQ])
def test_seeds_and_restarts_give_the_same_winner(cls):
    points, y = xor()
    K = matrix(cls, points)
    solvers = [cls(n_prototypes=2, seed=seed) for seed in range(6)]
    if cls is not LVQ1:
        solvers += [cls(n_prototypes=2, restarts=count) for count in (1, 8)]
    fitted = [solver.fit(K, y) for solver in solvers]
    objectives = [one.report_["objective"] for one in fitted]
    np.testing.assert_allclose(objectives, objectives[0], rtol=0, atol=2e-3)
    for one in fitted[1:]:
        np.testing.assert_array_equal(one.predict(K), fitted[0].predict(K))


def test_a_prototype_moves_towards_the_border():
    """The mean of an uneven class is far from the border; the cost brings the decision back to it."""
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.uniform(0, 1, 60), rng.uniform(6, 7, 12), rng.uniform(1.5, 2.5, 60)])[:, None]
    y = np.repeat([0, 0, 1], [60, 12, 60])
    K = x @ x.T + 1.0
    assert NearestPrototype().fit(K, y).score(K, y) < 0.9
    assert RelationalGLVQ(n_prototypes=2).fit(K, y).score(K, y) == 1.0


@pytest.mark.parametrize("rank", ["all", 2])
def test_relevances_find_the_features_that_matter(rank):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(150, 6)) * [1, 10, 1, 0.1, 1, 5]
    y = (X[:, 3] / 0.1 - X[:, 5] / 5 > 0).astype(int)
    solver = GMLVQ(rank=rank).fit(X, y)
    found = solver.relevances()
    assert np.trace(found) == pytest.approx(1.0)
    np.testing.assert_allclose(solver.selection().weights, np.diagonal(found)[solver.selection().columns])
    assert (np.diff(solver.selection().weights) <= 0).all()
    if rank == "all":
        assert set(np.argsort(-np.diagonal(found))[:2]) == {3, 5}
        assert np.diagonal(found)[[3, 5]].sum() > 0.8
        assert found[3, 5] < 0  # their difference matters
    assert solver.omega_.shape == (6 if rank == "all" else 2, 6)


def test_decisions_of_features_are_differences_of_distances():
    points, y = blobs(classes=2, spread=1.5)
    for solver in (GLVQ(n_prototypes=2), GMLVQ(n_prototypes=2, rank=3)):
        decisions = solver.fit(points, y).decision_function(points)
        omega = getattr(solver, "omega_", np.eye(4)) / solver.scale_
        distances = (((points[:, None] - solver.prototypes_) @ omega.T) ** 2).sum(-1)
        minus, plus = (distances[:, solver.codes_ == code].min(axis=1) for code in (0, 1))
        np.testing.assert_allclose(decisions, minus - plus, rtol=0, atol=1e-9)


def test_shrinkage_leads_to_the_start():
    points, y = blobs(spread=1.5)
    K = points @ points.T
    means = NearestPrototype().fit(K, y)
    found = [RelationalGLVQ(shrinkage=s).fit(K, y) for s in (0.0, 0.5, 1.0)]
    objectives = [one.report_["objective"] for one in found]
    assert objectives == sorted(objectives)
    assert objectives[0] < objectives[2] - 1e-3
    np.testing.assert_allclose(found[2].decision_function(K), means.decision_function(K), rtol=0, atol=1e-9)


def test_scale_of_features_does_not_matter_if_standardised():
    points, y = blobs(spread=2.0)
    for cls in (GLVQ, GMLVQ):
        one, other = cls().fit(points, y), cls().fit(points * [1, 1000, 0.01, 5] + 7, y)
        assert one.report_["objective"] == pytest.approx(other.report_["objective"], abs=1e-4)


# ---- exemplars -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", ALL)
def test_exemplars_are_the_nearest_of_the_class(cls):
    points, y = blobs(seed=4, spread=0.8)
    names = np.array(["a", "b", "c"])[y]
    solver = cls().fit(matrix(cls, points), names)
    found = solver.exemplars()
    assert [(one.code, one.prototype, one.rank) for one in found] == [(c, 1, r) for c in range(3) for r in range(1, 6)]
    assert all(y[one.row] == one.code and one.members == 20 for one in found)
    if cls is NearestPrototype:
        distances = ((points - points[y == 1].mean(axis=0)) ** 2).sum(-1)
        rows = [row for row in np.argsort(distances) if y[row] == 1][:5]
        assert [one.row for one in found if one.code == 1] == rows
        assert found[5].distance == pytest.approx(distances[rows[0]])
    order = np.random.default_rng(0).permutation(len(y))
    K = matrix(cls, points)
    other = cls().fit(K[order] if cls.input == "features" else K[np.ix_(order, order)], names[order])
    assert [int(order[one.row]) for one in other.exemplars()] == [one.row for one in found]


def test_each_cluster_has_its_exemplars():
    points, y = xor()
    found = RelationalGLVQ(n_prototypes=2).fit(points @ points.T, y).exemplars()
    first = [one.row // 15 for one in found if one.rank == 1]
    assert sorted(first) == [0, 1, 2, 3]


# ---- starts, edge cases ----------------------------------------------------------------------------------


def test_clusterings_of_kernel_and_features_agree():
    points, _ = xor()
    one, other = clusterings(FeaturePoints(points), 4, 1)[0], clusterings(GramPoints(points @ points.T), 4, 1)[0]
    np.testing.assert_array_equal(one, np.repeat(range(4), 15))
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("cls", ALL)
def test_copies_and_constant_matrices(cls):
    for points in (np.ones((6, 3)), np.repeat(np.eye(3), 4, axis=0)[:8]):
        y = np.arange(len(points)) % 2
        m = {} if cls is NearestPrototype else {"n_prototypes": 2}
        solver = cls(**m).fit(matrix(cls, points), y)
        assert np.isfinite(solver.decision_function(matrix(cls, points))).all()


def test_more_prototypes_than_samples():
    points, y = blobs(n=3)
    for cls in (LVQ1, RelationalGLVQ, GLVQ, GMLVQ):
        with pytest.raises(ParameterError, match=r"n_prototypes=4 .* has 3 training samples; .* from 1 to 3"):
            cls(n_prototypes=4).fit(matrix(cls, points), y)


def test_what_is_refused():
    y = blobs()[1]
    with pytest.raises(GramError, match="not symmetric"):
        RelationalGLVQ().fit(np.random.default_rng(0).random((60, 60)), y)
    with pytest.raises(ParameterError, match="choose from"):
        make_solver("glvq", "real")
    assert make_solver("gmlvq", "multiclass").name == "gmlvq"


def test_indefinite_matrix():
    rng = np.random.default_rng(1)
    points, y = blobs()
    K = -(np.abs(points[:, None] - points).sum(-1) ** 1.5) + 0.05 * (lambda a: a + a.T)(rng.normal(size=(60, 60)))
    assert np.linalg.eigvalsh(K)[0] < -0.1
    solver = RelationalGLVQ(n_prototypes=2).fit(K, y)
    assert solver.report_["converged"]
    assert solver.score(K, y) > 0.9
