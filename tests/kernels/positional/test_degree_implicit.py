"""Training features of the weighted degree kernels: what they give is the kernel, at any depth of the dense tables."""

import tracemalloc

import numpy as np
import pytest

from seqkern.core.errors import ParameterError
from seqkern.kernels import ShiftedWeightedDegreeKernel, WeightedDegreeKernel
from seqkern.kernels.positional import _degree_implicit, degree_features
from seqkern.kernels.positional.degree_features import Windows, choose_depth, implicit_of
from seqkern.sequences.sequence_set import SequenceSet

DEPTHS = [None, 0, 1, 3, 6]
SIZES = {"dna": 4, "protein": 20, "HEC": 3}


def random_codes(rng, n, length, size):
    return rng.integers(0, size, (n, length))


def related_codes(rng, n, length, size):
    """Few ancestors with some letters changed: many long k-mers in common."""
    codes = random_codes(rng, 3, length, size)[rng.integers(0, 3, n)]
    changed = rng.random(codes.shape) < 0.05
    codes[changed] = rng.integers(0, size, changed.sum())
    return codes


def repetitive_codes(rng, n, length, size):
    """Short repeats: k-mers that one sequence has at many places."""
    unit = random_codes(rng, n, 2, size)
    codes = np.tile(unit, length)[:, :length]
    changed = rng.random(codes.shape) < 0.1
    codes[changed] = rng.integers(0, size, changed.sum())
    return codes


def masked_codes(rng, n, length, size):
    codes = related_codes(rng, n, length, size)
    codes[rng.random(codes.shape) < 0.04] = 255
    codes[0] = 255
    return codes


def identical_codes(rng, n, length, size):
    return np.repeat(random_codes(rng, 1, length, size), n, axis=0)


KINDS = {
    "random": random_codes,
    "related": related_codes,
    "repetitive": repetitive_codes,
    "masked": masked_codes,
    "identical": identical_codes,
}


def sequences(kind, n=14, length=40, alphabet="dna", seed=0):
    codes = KINDS[kind](np.random.default_rng(seed), n, length, SIZES[alphabet])
    names = [str(i) for i in range(n)]
    return SequenceSet.from_offsets(codes.astype(np.uint8).ravel(), np.arange(n + 1) * length, names, alphabet)


def products(implicit):
    """Return φ_i·φ_j by one dot after one axpy."""
    out = np.empty((len(implicit), len(implicit)))
    for j in range(len(implicit)):
        weights = implicit.zeros()
        implicit.add(weights, np.where(np.arange(len(implicit)) == j, 2.0, 0.0))
        out[:, j] = implicit.dots(weights) / 2
    return out


def agree(kernel, X, depth=None):
    implicit, K = implicit_of(kernel, X, depth), kernel(X)
    np.testing.assert_allclose(implicit.squares, np.diag(K), rtol=1e-12)
    np.testing.assert_allclose(products(implicit), K, rtol=1e-10, atol=1e-12 * K.max(initial=0))


def ramps(length):
    return [0.5 + i % 7 for i in range(length)]


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("kind", KINDS)
def test_weighted_degree(kind, depth):
    X = sequences(kind)
    agree(WeightedDegreeKernel(20, normalize=False), X, depth)
    agree(
        WeightedDegreeKernel(9, weights=[1, 0, 3, 2, 0, 0.5, 1, 1, 0], position_weights=ramps(40), normalize=False),
        X,
        depth,
    )


@pytest.mark.parametrize("shift", [1, 6, 100, [i % 5 for i in range(40)], [0] * 39 + [3]], ids=str)
@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("kind", KINDS)
def test_shifted_weighted_degree(kind, depth, shift):
    X = sequences(kind)
    agree(ShiftedWeightedDegreeKernel(12, shift, position_weights=ramps(40), normalize=False), X, depth)


@pytest.mark.parametrize("shift", [0, 4])
@pytest.mark.parametrize("depth", [None, 0, 2])
@pytest.mark.parametrize("alphabet", ["protein", "HEC"])
def test_alphabets(alphabet, depth, shift):
    for kind in ("related", "masked"):
        X = sequences(kind, alphabet=alphabet)
        agree(ShiftedWeightedDegreeKernel(6, shift, normalize=False), X, depth)


@pytest.mark.parametrize("length", [0, 1, 2, 5])
@pytest.mark.parametrize("depth", [None, 0, 3])
@pytest.mark.parametrize("degree", [1, 3, 8])
def test_short_sequences_and_degree_one(degree, depth, length):
    X = sequences("related", length=length)
    agree(WeightedDegreeKernel(degree, normalize=False), X, depth)
    agree(ShiftedWeightedDegreeKernel(degree, 2, normalize=False), X, depth)


@pytest.mark.parametrize("shift", [0, 3])
def test_few_sequences(shift):
    kernel = ShiftedWeightedDegreeKernel(5, shift, normalize=False)
    for n in (0, 1, 2):
        agree(kernel, sequences("related", n=n))


@pytest.mark.parametrize("shift", [0, 2])
def test_many_kinds_of_nodes(shift):
    # more pairs of lengths, or weights of positions, than 16 bits tell apart
    X = sequences("related", length=420)
    agree(ShiftedWeightedDegreeKernel(400, shift, position_weights=list(np.linspace(1, 2, 420)), normalize=False), X, 2)


@pytest.mark.parametrize("shift", [0, 5])
def test_more_windows_than_one_piece(shift):
    # 500 × 141: most 8-mers at a position are unique, tables are deeper than 3
    X = sequences("random", n=500, length=141)
    kernel = ShiftedWeightedDegreeKernel(20, shift, normalize=False)
    implicit = implicit_of(kernel, X)
    assert 3 <= implicit.depth <= 8
    coefficients = np.random.default_rng(1).normal(size=500)
    weights = implicit.zeros()
    implicit.add(weights, coefficients)
    np.testing.assert_allclose(implicit.dots(weights), kernel(X) @ coefficients, rtol=1e-10, atol=1e-9)


def test_same_bits_with_all_vector_instructions():
    highest, made = _degree_implicit.level(), []
    for level in range(highest + 1):
        _degree_implicit.set_level(level)
        implicit = implicit_of(ShiftedWeightedDegreeKernel(8, 5), sequences("related"), 4)
        weights = implicit.zeros()
        implicit.add(weights, np.linspace(-1, 1, len(implicit)))
        made.append((weights.tobytes(), implicit.dots(weights).tobytes()))
    _degree_implicit.set_level(highest)
    assert made == made[:1] * (highest + 1)


@pytest.mark.parametrize("shift", [0, 5])
def test_overlapping_windows_of_one_record(shift):
    record = sequences("random", n=1, length=300)
    X = record.windows(np.zeros(40, dtype=int), np.arange(30, 230, 5), 20, 30)
    agree(ShiftedWeightedDegreeKernel(20, shift, normalize=False), X)


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("shift", [0, 3])
def test_subsets_share_the_tables(shift, normalize):
    kernel, X = ShiftedWeightedDegreeKernel(20, shift, normalize=normalize), sequences("related", n=30)
    implicit, K = kernel.implicit(X), kernel(X)
    train, test = np.arange(0, 30, 2)[::-1], np.arange(1, 30, 2)
    coefficients = np.random.default_rng(3).normal(size=len(train))
    weights = implicit.zeros()
    implicit.take(train).add(weights, coefficients)
    for rows in (train, test, np.array([], dtype=int)):
        np.testing.assert_allclose(
            implicit.take(rows).dots(weights), K[np.ix_(rows, train)] @ coefficients, rtol=1e-10, atol=1e-12
        )


@pytest.mark.parametrize("shift", [0, 2])
def test_all_lengths_in_tables(shift):
    for kind in ("related", "masked"):
        agree(ShiftedWeightedDegreeKernel(5, shift, normalize=False), sequences(kind), 100)


@pytest.mark.parametrize("shift", [0, 10])
@pytest.mark.parametrize("kind", ["random", "related", "masked"])
def test_predicted_bytes(kind, shift):
    kernel, X = ShiftedWeightedDegreeKernel(20, shift, normalize=False), sequences(kind, n=1000, length=60)
    predicted = kernel.implicit.bytes(X)
    tracemalloc.start()
    implicit = kernel.implicit(X)
    weights = implicit.zeros()
    used = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert len(weights) == implicit.n_weights
    assert 0.9 * predicted < used < 1.1 * predicted + 50_000


def test_too_much_for_the_memory():
    kernel, X = WeightedDegreeKernel(20), sequences("related", n=6)
    windows = Windows(X, kernel.length_weights(), kernel.start_weights(40))
    assert choose_depth({2: 3000, 3: 2000, 4: 10**18}, windows) == 3
    with pytest.raises(ParameterError, match=r"6 windows of 40 residues .* needs 1e\+06 TB"):
        choose_depth({3: 10**18}, windows)


@pytest.mark.parametrize("shift", [0, 2])
def test_too_many_to_be_numbered(shift, monkeypatch):
    monkeypatch.setattr(degree_features, "MOST_SHARED", -1)  # at every depth
    kernel, X = ShiftedWeightedDegreeKernel(5, shift), sequences("related")
    with pytest.raises(ParameterError, match=r"14 windows of 40 residues share too many k-mers.*; choose a smaller"):
        implicit_of(kernel, X)
    with pytest.raises(ParameterError, match="share too many k-mers"):
        kernel.implicit.bytes(X)
