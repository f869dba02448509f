"""Clusters of similar positive samples, held out by the inner loop."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

from seqkern.core.errors import ParameterError
from seqkern.evaluation.pooled import cluster, cluster_groups, kernel_distances
from seqkern.kernels import SpectrumKernel
from seqkern.methods.fitted import Search
from seqkern.methods.method import Method
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import SequenceSet


def naive_clusters(distances, n):
    """Return clusters by average linkage in plain Python: the two with the smallest mean distance are joined."""
    found = [[i] for i in range(len(distances))]

    def mean(a, b):
        return sum(distances[i][j] for i in found[a] for j in found[b]) / len(found[a]) / len(found[b])

    while len(found) > n:
        pairs = [(mean(a, b), a, b) for a in range(len(found)) for b in range(a)]
        _, a, b = min(pairs)
        found[b] += found.pop(a)
    return sorted(sorted(one) for one in found)


def test_clusters_are_those_of_the_naive_twin():
    rng = np.random.default_rng(1)
    for n in (2, 3, 7):
        points = rng.standard_normal((20, 3))
        distances = np.linalg.norm(points[:, None] - points[None, :], axis=2)
        found = cluster(distances, n)
        assert [np.flatnonzero(found == c).tolist() for c in range(n)] == naive_clusters(distances, n)


def test_groups_are_clustered_by_the_mean_distances_of_their_members():
    points = np.random.default_rng(2).standard_normal((9, 2))
    distances = np.linalg.norm(points[:, None] - points[None, :], axis=2)
    groups = np.array([5, 5, 3, 3, 3, 8, 1, 1, 0])
    members = [np.flatnonzero(groups == g) for g in (0, 1, 3, 5, 8)]
    means = np.array([[distances[np.ix_(a, b)].mean() for b in members] for a in members])
    np.fill_diagonal(means, 0)
    joined = linkage(squareform(means, checks=False), "average")[:3, :2]
    assert joined.max() >= 5  # the tree is not only of pairs
    found = cluster(distances, 2, groups)
    assert len(set(found.tolist())) == 2
    assert all(len(set(found[rows].tolist())) == 1 for rows in members)


def test_distances_are_those_of_normalised_feature_vectors():
    features = np.random.default_rng(3).standard_normal((6, 4))
    features[2] = 0
    unit = features / np.maximum(np.linalg.norm(features, axis=1), 1e-300)[:, None]
    found = kernel_distances(features @ features.T)
    expected = np.linalg.norm(unit[:, None] - unit[None, :], axis=2)
    others = [0, 1, 3, 4, 5]
    assert found[np.ix_(others, others)] == pytest.approx(expected[np.ix_(others, others)], abs=1e-6)
    assert found[2, others] == pytest.approx(np.sqrt(2))


def test_negative_samples_stay_single_unless_they_have_groups():
    positive = np.array([True, False, True, False, False])
    K = np.eye(2)
    assert len(set(cluster_groups(K, positive, 2).tolist())) == 5
    found = cluster_groups(K, positive, 2, groups=[0, 7, 1, 7, 8])
    assert found[1] == found[3]
    assert len(set(found.tolist())) == 4


def families(n_families=3, members=4, length=60, seed=4):
    """Return sequences of some families with two mutations each, and as many random ones."""
    rng = np.random.default_rng(seed)
    letters = np.array([*"ACGT"])
    strings = []
    for _ in range(n_families):
        ancestor = rng.choice(letters, length)
        for _ in range(members):
            copy = ancestor.copy()
            copy[rng.integers(length, size=2)] = rng.choice(letters, 2)
            strings.append("".join(copy))
    n = len(strings)
    strings += ["".join(rng.choice(letters, length)) for _ in range(n)]
    X = SequenceSet.from_strings(strings, "dna")
    return X, make_labels(X.ids, ["yes"] * n + ["no"] * n, positive="yes")


def test_the_inner_loop_holds_out_each_cluster_once():
    X, labels = families()
    kernels = {"spectrum": SpectrumKernel(4), "short": SpectrumKernel(2)}
    solver = "csvc:C=[0.1,1]"
    random = Method(kernels, solver).choose(Method(kernels, solver).data(X, labels))
    method = Method(kernels, solver, search=Search(clusters=3))
    choice = method.choose(method.data(X, labels))
    assert choice.scores.shape == (4, 3)
    # relatives in the training set make the task easy
    assert random.scores[1].mean() > 0.99
    assert choice.scores[1].mean() < 0.8
    assert method.fit(method.data(X, labels)).choice.scores.tolist() == choice.scores.tolist()


def test_clusters_need_two_classes_and_a_gram_matrix():
    X, labels = families()
    many = make_labels(X.ids, ["a", "b", "c"] * 8)
    method = Method(SpectrumKernel(2), "csvc:C=[0.1,1]", search=Search(clusters=3))
    with pytest.raises(ParameterError, match="not made for multiclass labels"):
        method.choose(method.data(X, many))
    method = Method(SpectrumKernel(2), "linear_svc:C=[0.1,1]", search=Search(clusters=3))
    with pytest.raises(ParameterError, match="solvers without a Gram matrix"):
        method.choose(method.data(X, labels))


def test_a_negative_sample_of_a_positive_group_goes_with_it():
    found = cluster_groups(np.eye(2), np.array([True, True, False, False]), 2, groups=[0, 1, 0, 1])
    assert found[0] == found[2] != found[1] == found[3]


def test_negative_samples_have_the_next_numbers():
    K = np.eye(3) + 0.5
    found = cluster_groups(K, np.array([True, False, True, True, False]), 3)
    assert sorted(found.tolist()) == list(range(5))
