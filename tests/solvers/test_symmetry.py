"""A Gram matrix that is not symmetric is refused by every solver that takes one, but for the P-SVM."""

import numpy as np
import pytest

from seqkern.core import _symmetry
from seqkern.core.errors import GramError
from seqkern.core.matrices import ROWS, check_symmetric, largest_if_symmetric
from seqkern.gram.matrix import GramRows
from seqkern.gram.transforms import CentreGram
from seqkern.kernels.positional._position_weights import highest_level
from seqkern.solvers import CSVC, PSVC, SOLVERS

N = 24


def square_solvers():
    """Yield a small solver of each name that takes a Gram matrix."""
    for name in SOLVERS.names:
        solver = SOLVERS.get(name).examples()[0]
        if solver.input == "gram":
            yield pytest.param(solver, id=name)


def problem(n=N, seed=2):
    """Return a Gram matrix without negative values, which some solvers refuse, and labels."""
    rng = np.random.default_rng(seed)
    X, y = rng.random((n, 6)), np.arange(n) % 2
    X[:, 0] += 3 * y
    K = X @ X.T
    return (K + K.T) / 2, y


@pytest.mark.parametrize("solver", [*square_solvers()])
@pytest.mark.parametrize("entry", [1e6, 1e-3])
@pytest.mark.filterwarnings("ignore")
def test_one_entry_without_its_mirror_image(solver, entry):
    K, y = problem()
    solver.fit(K, y)
    K[3, 17] += entry
    if solver.traits.asymmetric:
        solver.fit(K, y)
        return
    with pytest.raises(GramError, match=r"^the matrix is not symmetric: K\[3, 17\] = .*, K\[17, 3\] = "):
        solver.fit(K, y)


def test_only_the_psvm_takes_any_matrix():
    takes = {name for name in SOLVERS.names if SOLVERS.get(name).declared.asymmetric}
    assert takes == {"psvc", "psvr"}


def test_a_solver_of_several_classes_takes_what_its_classifiers_take():
    K, _ = problem()
    K[3, 17] += 1
    SOLVERS.get("one_against_rest")(PSVC()).fit(K, np.arange(N) % 3)
    with pytest.raises(GramError, match="not symmetric"):
        SOLVERS.get("one_against_rest")(CSVC()).fit(K, np.arange(N) % 3)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("rounding", [1e-12, 1e-6])
def test_differences_of_rounding_are_none(dtype, rounding):
    """Also of single precision in a matrix that is stored as float64."""
    K, y = problem()
    noise = np.random.default_rng(0).normal(size=K.shape) * np.abs(K).max()
    CSVC().fit((K + rounding * noise).astype(dtype), y)
    with pytest.raises(GramError, match="not symmetric"):
        CSVC().fit((K + 1e-3 * noise).astype(dtype), y)


@pytest.mark.parametrize("place", [(0, 1), (ROWS - 1, ROWS), (2 * ROWS + 4, 3), (ROWS + 5, 2 * ROWS + 3)])
def test_every_entry_is_compared(place):
    K = np.ones((2 * ROWS + 5, 2 * ROWS + 5))
    check_symmetric(K)
    K[place] = 1.5
    i, j = sorted(place)
    with pytest.raises(GramError, match=rf"K\[{i}, {j}\] = .*, K\[{j}, {i}\] = "):
        check_symmetric(K)


def test_transforms_need_exact_symmetry():
    K, _ = problem()
    CentreGram().fit(K)
    K[3, 17] = np.nextafter(K[3, 17], np.inf)
    with pytest.raises(GramError, match=r"not symmetric: K\[3, 17\]"):
        CentreGram().fit(K)


def test_rows_of_a_file_that_nobody_has_verified(tmp_path):
    K, y = problem()
    every = np.arange(N)
    for change, refused in ((0.0, False), (1e-3, True)):
        K[3, 17] += change
        np.save(tmp_path / "K.npy", K)
        rows = GramRows(np.load(tmp_path / "K.npy", mmap_mode="r"), every, every, room=10**6)
        if refused:
            with pytest.raises(GramError, match=r"K\.npy: the matrix is not exactly symmetric"):
                CSVC().fit(rows, y)
        else:
            CSVC().fit(rows, y)


@pytest.mark.parametrize("n", [1, 3, 8, 37])
def test_sums_of_rows_and_columns_at_every_level(n):
    rng = np.random.default_rng(n)
    K, weights = rng.normal(size=(n, n)), rng.random(n)
    found = []
    for level in range(highest_level() + 1):
        sums = np.full((2, n), np.nan)
        largest = _symmetry.weighted_sums(K, weights, *sums, level)
        np.testing.assert_allclose(sums, [K @ weights, K.T @ weights], atol=1e-12)
        assert largest == np.abs(K).max()
        found.append(sums.tobytes())
    assert len(set(found)) == 1


@pytest.mark.parametrize("n", [300, 1500])
def test_one_pass_is_enough_for_a_symmetric_matrix(n):
    for K in (np.ones((n, n)), problem(n)[0]):
        assert largest_if_symmetric(K) == np.abs(K).max()
        K[n - 1, n // 2] += 2e-9 * np.abs(K).max()
        assert largest_if_symmetric(K) is None
        K[n - 1, n // 2] += 1e-3 * np.abs(K).max()
        with pytest.raises(GramError, match="not symmetric"):
            check_symmetric(K)
