"""The P-SVM on matrices that are not dense in memory: the same solutions, sparse features, bounded memory."""

import subprocess
import sys
import warnings

import numpy as np
import pytest
from gram_operator import gram_operator
from scipy.sparse import csr_array
from scipy.sparse.linalg import aslinearoperator

from seqkern.core.errors import GramError, ParameterError
from seqkern.gram.matrix import GramRows
from seqkern.kernels import build_kernel
from seqkern.solvers import PSVC, PSVR, DecisionDAG, OneAgainstRest, PairwiseVoting, solver_from_state


def problem(kind, seed=0):
    """Return a matrix of more than one MiB, and labels."""
    rng = np.random.default_rng(seed)
    rows, size = {"square": (400, 400), "tall": (900, 160), "wide": (160, 900)}[kind]
    K = rng.poisson(0.4, size=(rows, size)).astype(float)
    if kind == "square":
        K = K + K.T
    return K, K[:, 3] - K[:, 8] + rng.normal(size=rows)


def stored(folder, K, way):
    """Return K in one way of storage."""
    if way in ("C", "F"):
        np.save(folder / "K.npy", np.asarray(K, order=way))
        return np.load(folder / "K.npy", mmap_mode="r")
    return csr_array(K) if way == "sparse" else aslinearoperator(K)


@pytest.mark.parametrize("way", ["C", "F", "sparse", "operator"])
@pytest.mark.parametrize("kind", ["square", "tall", "wide"])
@pytest.mark.parametrize("C", [np.inf, 0.05])
def test_every_storage_gives_the_dense_solution(tmp_path, kind, way, C):
    K, y = problem(kind)
    params = {"C": C, "epsilon": 0.1, "tol": 1e-10, "cache_size": 1}
    square = kind == "square" and way != "sparse"
    kernel = "precomputed" if square else "features"
    dense = PSVR(kernel=kernel, **params).fit(K, y)
    other = PSVR(kernel=kernel, **params).fit(stored(tmp_path, K, way), y)
    assert other.report_["converged"]
    assert len(dense.support_) > 3
    np.testing.assert_array_equal(other.support_, dense.support_)
    np.testing.assert_allclose(other.alpha_, dense.alpha_, atol=1e-7)
    np.testing.assert_allclose(other.means_, dense.means_, rtol=1e-12)
    np.testing.assert_allclose(other.scales_, dense.scales_, rtol=1e-12)
    expected = dense.decision_function(K)
    np.testing.assert_allclose(other.decision_function(stored(tmp_path, K, way)), expected, atol=1e-6)
    np.testing.assert_allclose(other.decision_function(K), expected, atol=1e-6)
    restored = solver_from_state(*other.state())
    np.testing.assert_array_equal(restored.decision_function(K), other.decision_function(K))


def test_a_matrix_of_another_width_is_refused(tmp_path):
    K, y = problem("tall")
    solver = PSVR(kernel="features", cache_size=1).fit(stored(tmp_path, K, "C"), y)
    for way in ("C", "sparse", "operator"):
        with pytest.raises(GramError, match="160"):
            solver.decision_function(stored(tmp_path, np.ones((900, 170)), way))
    with pytest.raises(GramError, match="not square"):
        PSVR(cache_size=1).fit(stored(tmp_path, K, "C"), y)
    with pytest.raises(GramError, match="too small"):
        PSVR(kernel="features").fit(aslinearoperator(np.ones((1, 5))), [1.0])
    with pytest.raises(ParameterError, match="cache_size"):
        PSVR(cache_size=0).fit(K, y)


def test_bad_numbers_in_sparse_features():
    K, y = problem("tall")
    K[5, 7] = np.nan
    with pytest.raises(GramError, match="row 5"):
        PSVR(kernel="features").fit(csr_array(K), y)


def test_a_gram_matrix_may_not_be_sparse():
    K, y = problem("square")
    with pytest.raises(GramError, match="does not take a sparse matrix"):
        PSVR().fit(csr_array(K), y)


def planted(n, motif, seed):
    """Return random DNA, half of it with a motif somewhere, and labels."""
    rng = np.random.default_rng(seed)
    sequences = rng.choice([*"ACGT"], size=(n, 60))
    for row in sequences[::2]:
        start = rng.integers(0, 60 - len(motif))
        row[start : start + len(motif)] = [*motif]
    return ["".join(row) for row in sequences], np.where(np.arange(n) % 2 == 0, "bound", "free")


def test_selection_of_motifs():
    """k-mers as complex features: those of the planted motif are selected first."""
    sequences, y = planted(160, "TGACTCA", seed=1)
    kernel = build_kernel("spectrum:k=5,normalize=false")
    features = kernel.features(sequences)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # words that no sequence has are constant columns
        solver = PSVC(kernel="features", C=np.inf, epsilon=0.5).fit(features, y)
        dense = PSVC(kernel="features", C=np.inf, epsilon=0.5).fit(features.toarray(), y)
    words = np.array(kernel.features.names("dna"))[solver.support_]
    assert {"TGACT", "GACTC", "ACTCA"} & set(words)
    assert set(words) <= {"TGACT", "GACTC", "ACTCA"}
    np.testing.assert_array_equal(solver.support_, dense.support_)
    new, labels = planted(60, "TGACTCA", seed=2)
    assert solver.score(kernel.features(new), labels) > 0.9


@pytest.mark.parametrize("machine", [PairwiseVoting, OneAgainstRest, DecisionDAG])
def test_several_classes_from_sparse_features(machine):
    K, y = problem("tall")
    labels = np.searchsorted([-1, 1], y)
    dense = machine(PSVC(kernel="features")).fit(K, labels)
    sparse = machine(PSVC(kernel="features")).fit(csr_array(K), labels)
    np.testing.assert_array_equal(sparse.support_, dense.support_)
    expected = dense.decision_function(K)
    np.testing.assert_allclose(sparse.decision_function(csr_array(K)), expected, atol=1e-5)


def test_a_kernel_that_is_never_stored():
    sequences, y = planted(120, "TGACTCA", seed=3)
    kernel = build_kernel("spectrum:k=5")
    vectors, K = kernel.implicit(sequences), kernel(sequences)
    train, new = np.arange(90), np.arange(90, 120)
    operator = gram_operator(vectors.take(train))
    solver = PSVC(epsilon=0.3, tol=1e-9).fit(operator, y[train])
    dense = PSVC(epsilon=0.3, tol=1e-9).fit(K[:90, :90], y[train])
    np.testing.assert_array_equal(solver.support_, dense.support_)
    expected = dense.decision_function(K[90:, :90])
    decisions = solver.decision_function(gram_operator(vectors.take(new), vectors.take(train)))
    np.testing.assert_allclose(decisions, expected, atol=1e-6)
    np.testing.assert_allclose(solver.decision_function(K[90:, :90]), expected, atol=1e-6)


MEMORY = r"""
import re, sys
import numpy as np
from seqkern.solvers import PSVR
def peak():
    # Not ru_maxrss, which a process inherits from the one that started it.
    return int(re.search(r"VmHWM:\s+([0-9]+)", open("/proc/self/status").read()).group(1)) / 1024
PSVR(epsilon=0.9, cache_size=2).fit(np.eye(30), np.arange(30))
before = peak()
for name, cache_size in (("symmetric", 8), ("other", 8), ("other", 1000)):
    K = np.load(f"{sys.argv[1]}/{name}.npy", mmap_mode="r")
    solver = PSVR(epsilon=0.5, cache_size=cache_size).fit(K, np.load(f"{sys.argv[1]}/y.npy"))
    solver.decision_function(K)
    print(peak() - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc is of Linux")
def test_memory_is_bounded_by_the_cache(tmp_path):
    """The peak memory of a process of its own, beyond what it has before, in MiB; each matrix takes 49."""
    rng = np.random.default_rng(4)
    K = rng.normal(size=(2530, 2530))
    np.save(tmp_path / "other.npy", K)
    np.save(tmp_path / "symmetric.npy", K + K.T)
    np.save(tmp_path / "y.npy", K[:, 3] + rng.normal(size=2530))
    done = subprocess.run([sys.executable, "-c", MEMORY, str(tmp_path)], capture_output=True, check=True, text=True)
    symmetric, other, whole = map(float, done.stdout.split())
    assert max(symmetric, other) < 8 + 4
    assert whole > 40


def test_large_numbers_with_means_of_zero_are_refused(tmp_path):
    signs = np.tile([1.0, -1.0], 12)
    np.save(tmp_path / "gram.npy", 1e160 * np.outer(signs, signs))
    rows = np.arange(24)
    matrix = GramRows(np.load(tmp_path / "gram.npy", mmap_mode="r"), rows, rows, room=10**6)
    with pytest.raises(GramError, match="the largest value of the matrix is"):
        PSVC().fit(matrix, signs)
