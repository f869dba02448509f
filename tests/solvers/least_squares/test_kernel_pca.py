"""Kernel principal component analysis: against explicit features and scikit-learn, new rows, odd matrices."""

import re
import warnings

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.decomposition import KernelPCA as Oracle

from seqkern.cli.main import main
from seqkern.core.errors import GramError, ModelError, ParameterError
from seqkern.gram.transforms import KernelPCAGram
from seqkern.kernels import SpectrumKernel
from seqkern.methods.loading import load_model
from seqkern.solvers import KernelPCA, build_solver


def points(n=40, seed=0):
    """Return training and new points in five dimensions, far from the origin."""
    rng = np.random.default_rng(seed)
    both = rng.normal(size=(n + 15, 5)) * [3.0, 2.0, 1.0, 0.5, 0.1] + [5.0, -2.0, 0.0, 1.0, 7.0]
    return both[:n], both[n:]


def rbf(one, other):
    return np.exp(-((one[:, None] - other[None]) ** 2).sum(-1) / 20)


def same_up_to_sign(one, other, atol=1e-9):
    np.testing.assert_allclose(np.abs(one), np.abs(other), rtol=0, atol=atol)
    np.testing.assert_allclose(one * np.sign(np.sum(one * other, axis=0)), other, rtol=0, atol=atol)


def test_explicit_features():
    train, new = points()
    solver = KernelPCA(n_components=3).fit(train @ train.T)
    centred = train - train.mean(axis=0)
    _, singular, directions = np.linalg.svd(centred, full_matrices=False)
    same_up_to_sign(solver.transform(new @ train.T), (new - train.mean(axis=0)) @ directions[:3].T)
    same_up_to_sign(solver.transform(train @ train.T), centred @ directions[:3].T)
    np.testing.assert_allclose(solver.explained_variance_, singular[:3] ** 2 / 40, rtol=1e-10)
    np.testing.assert_allclose(solver.explained_variance_ratio_, singular[:3] ** 2 / np.sum(singular**2), rtol=1e-10)
    oracle = PCA(n_components=3).fit(train)  # divisor l − 1
    np.testing.assert_allclose(solver.explained_variance_, oracle.explained_variance_ * 39 / 40, rtol=1e-10)
    same_up_to_sign(solver.transform(new @ train.T), oracle.transform(new))
    assert solver.report_["residual"] < 1e-12
    assert solver.report_["objective"] == pytest.approx(np.sum(singular[:3] ** 2) / 40)


@pytest.mark.parametrize("count", [1, 4, 12])
def test_scikit_learn_on_an_rbf_kernel(count):
    train, new = points()
    oracle = Oracle(n_components=count, kernel="precomputed", eigen_solver="dense").fit(rbf(train, train))
    solver = KernelPCA(n_components=count).fit(rbf(train, train))
    np.testing.assert_allclose(solver.explained_variance_ * 40, oracle.eigenvalues_, rtol=1e-9)
    same_up_to_sign(solver.transform(rbf(new, train)), oracle.transform(rbf(new, train)), atol=1e-8)


def test_projections_are_uncorrelated_and_have_the_stated_variance():
    train, _ = points()
    K = rbf(train, train)
    solver = KernelPCA(n_components=6)
    projected = solver.fit_transform(K)
    np.testing.assert_allclose(projected.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(projected.T @ projected / 40, np.diag(solver.explained_variance_), atol=1e-12)
    np.testing.assert_array_equal(solver.decision_function(K), projected)


def test_all_components_keep_all_distances():
    train, _ = points()
    K = rbf(train, train)
    solver = KernelPCA(n_components=None).fit(K)
    projected = solver.transform(K)
    assert projected.shape == (40, 39)
    assert solver.explained_variance_ratio_.sum() == pytest.approx(1)
    square = ((projected[:, None] - projected[None]) ** 2).sum(-1)
    np.testing.assert_allclose(square, 2 - 2 * K, atol=1e-8)


def test_signs_do_not_depend_on_the_order_of_rows():
    train, new = points()
    order = np.random.default_rng(1).permutation(40)
    once = KernelPCA(n_components=4).fit(rbf(train, train)).transform(rbf(new, train))
    again = KernelPCA(n_components=4).fit(rbf(train[order], train[order])).transform(rbf(new, train[order]))
    np.testing.assert_allclose(again, once, atol=1e-10)


def test_labels_are_ignored():
    train, new = points()
    K = rbf(train, train)
    once = KernelPCA().fit(K).transform(rbf(new, train))
    np.testing.assert_array_equal(KernelPCA().fit(K, np.arange(40) % 3).transform(rbf(new, train)), once)


def test_fewer_directions_than_wanted():
    train, new = points()
    with pytest.warns(UserWarning, match="5 directions of positive variance, fewer than n_components=8"):
        solver = KernelPCA(n_components=8).fit(train @ train.T)
    assert solver.transform(new @ train.T).shape == (15, 5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert KernelPCA(n_components=None).fit(train @ train.T).report_["components"] == 5


def test_an_indefinite_matrix_keeps_its_positive_directions():
    values = np.concatenate([[4.0, 2.0, -1.0], np.zeros(17)])
    vectors, _ = np.linalg.qr(np.column_stack([np.ones(20), np.random.default_rng(0).normal(size=(20, 3))]))
    K = (vectors[:, 1:] * values[:3]) @ vectors[:, 1:].T
    K = (K + K.T) / 2
    solver = KernelPCA(n_components=None).fit(K)
    np.testing.assert_allclose(solver.explained_variance_, [0.2, 0.1])
    np.testing.assert_allclose(solver.explained_variance_ratio_, [4 / 5, 2 / 5])
    with pytest.raises(GramError, match="repair"):
        KernelPCA().fit(-K)


@pytest.mark.parametrize("value", [0.0, 1.0, 1e6])
def test_points_that_coincide(value):
    with pytest.raises(GramError, match="no direction"):
        KernelPCA().fit(np.full((7, 7), value))


def test_parameters():
    assert build_solver("kernel_pca:n_components=3").n_components == 3
    for bad in (0, 2.5, "two"):
        with pytest.raises(ParameterError, match="n_components"):
            KernelPCA(n_components=bad).fit(np.eye(4))


# ---- a model ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Return a folder with sequences of two kinds and a model of them, and what training told."""
    folder = tmp_path_factory.mktemp("pca")
    rng = np.random.default_rng(0)
    lines = [
        f">{name}{i}\n{''.join(rng.choice(list(letters), 50))}\n"
        for name, letters in (("a", "AACG"), ("t", "TTCG"))
        for i in range(15)
    ]
    (folder / "all.fa").write_text("".join(lines))
    method = ["--kernel", "spectrum:k=2", "--transform", "normalise", "--solver", "kernel_pca:n_components=3"]
    assert main(["train", str(folder / "all.fa"), *method, "-o", str(folder / "pca.seqkern")]) == 0
    return folder


def test_projections_from_one_fasta(trained, capsys):
    assert main(["predict", str(trained / "pca.seqkern"), str(trained / "all.fa")]) == 0
    lines = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == ["id", "component:1", "component:2", "component:3"]
    found = np.array([line[1:] for line in lines[1:]], dtype=float)
    assert [line[0] for line in lines[1:3]] == ["a0", "a1"]
    assert abs(np.sign(found[:15, 0]).sum() - np.sign(found[15:, 0]).sum()) == 30  # the kinds lie apart
    model = load_model(trained / "pca.seqkern")
    sequences = (trained / "all.fa").read_text().split("\n")[1::2]
    K = SpectrumKernel(k=2)(sequences)
    same_up_to_sign(found, KernelPCA(n_components=3).fit_transform(K), atol=1e-8)
    np.testing.assert_allclose(found, model.decision(sequences), atol=1e-9)
    with pytest.raises(ModelError, match="does not predict"):
        model.predict(sequences)


def test_what_training_tells(trained, capsys):
    method = ["--kernel", "spectrum:k=2", "--solver", "kernel_pca:n_components=2"]
    assert main(["train", "--verbose", str(trained / "all.fa"), *method, "-o", str(trained / "two.seqkern")]) == 0
    told = capsys.readouterr()
    assert re.search(r"components +2, with [0-9.]+% of the variance: [0-9.]+%, [0-9.]+%\n", told.out)
    assert "cross-validation" not in told.out
    assert told.err == ""
    assert main(["predict", str(trained / "two.seqkern"), str(trained / "all.fa"), "--scan", "AG"]) == 1
    assert "cannot classify sites" in capsys.readouterr().err


@pytest.mark.parametrize("n", [33, 60, 66])
def test_records_unlike_all_others(n):
    """The eigenvalues of a centred identity are n − 1 times 1, up to rounding, and 0."""
    solver = KernelPCA().fit(np.eye(n))
    np.testing.assert_allclose(solver.explained_variance_ratio_, 1 / (n - 1))
    K = KernelPCAGram(n_components=5).fit(np.eye(n)).transform_train()[0]
    np.testing.assert_allclose(np.linalg.eigvalsh(K)[-6:], [0, 1, 1, 1, 1, 1], atol=1e-12)
