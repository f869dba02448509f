"""Feature vectors that are never stored: what they give is the kernel, and views share their tables."""

import tracemalloc

import numpy as np
import pytest
from scipy.sparse import random as random_sparse

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.kernels import KERNELS, build_kernel
from seqkern.kernels.capabilities import LackingError, required
from seqkern.kernels.kernel_operator import CombinedImplicit, SparseImplicit
from seqkern.sequences.sequence_set import SequenceSet, as_sequences

LETTERS = {"dna": "ACGT", "protein": "ACDEFGHIKLMNPQRSTVWY"}
EXAMPLES = {
    "spectrum": "spectrum:k=3",
    "spectrum-ranked": "spectrum:k=14,normalize=false",
    "spectrum-several": "spectrum:k=1+2+9,weights=[1,0,0.25]",
    "spectrum-presence": "spectrum:k=2,presence=true",
    "spectrum-strands": "spectrum:k=3,reverse_complement=true",
    "spectrum-wide": "spectrum:k=35,short=zero,zero_diagonal=zero",
    "mismatch": "mismatch:k=5,m=1",
    "mismatch-strands": "mismatch:k=4,m=1,reverse_complement=true",
    "gappy": "gappy:k=2,g=3,reverse_complement=true",
    "substitution": "substitution:k=2",
    "gappy-pair": "gappy_pair:k=1",
    "sum": "0.5*(spectrum:k=3)+2*(spectrum:k=2,part=2:-2)",
    "part": "spectrum:k=2,part=-7:",
}


def sequences(n=24, low=16, high=48, alphabet="dna", seed=0):
    """Return random sequences."""
    rng = np.random.default_rng(seed)
    letters = list(LETTERS[alphabet])
    return as_sequences(["".join(rng.choice(letters, size)) for size in rng.integers(low, high, n)], alphabet)


@pytest.fixture(params=EXAMPLES.values(), ids=EXAMPLES)
def kernel(request):
    """Return a kernel that can be trained without a Gram matrix."""
    return build_kernel(request.param)


@pytest.mark.parametrize("alphabet", ["dna", "protein"])
def test_products_are_the_kernel(kernel, alphabet):
    if alphabet == "protein" and getattr(kernel, "reverse_complement", False):
        pytest.skip("proteins have no reverse complement")
    X = sequences(alphabet=alphabet)
    K, implicit = kernel(X), kernel.implicit(X)
    assert len(implicit) == len(X)
    np.testing.assert_allclose(implicit.squares, np.diag(K), rtol=1e-12)
    coefficients = np.random.default_rng(1).normal(size=len(X))
    weights = implicit.zeros()
    implicit.add(weights, coefficients)
    np.testing.assert_allclose(implicit.dots(weights), K @ coefficients, rtol=1e-12, atol=1e-12 * abs(K).max())
    weights = implicit.zeros()
    implicit.add(weights, np.eye(len(X))[5])
    np.testing.assert_allclose(implicit.dots(weights), K[:, 5], rtol=1e-12, atol=1e-14)


def test_views_share_the_tables(kernel):
    X = sequences()
    K, implicit = kernel(X), kernel.implicit(X)
    some = implicit.take([7, 3, 3, 20, 0])
    again = some.take(np.array([1, 3]))
    assert implicit.tables is some.tables is again.tables
    assert implicit.tables is not kernel.implicit(X).tables
    np.testing.assert_array_equal(again.squares, implicit.squares[[3, 20]])
    weights = implicit.zeros()
    again.add(weights, [1.0, -2.0])
    expected = K[:, [3, 20]] @ [1.0, -2.0]
    np.testing.assert_allclose(implicit.dots(weights), expected, rtol=1e-12, atol=1e-12 * abs(K).max())
    np.testing.assert_array_equal(some.dots(weights), implicit.dots(weights)[[7, 3, 3, 20, 0]])
    assert len(implicit.take([])) == 0


def test_a_view_outlives_what_it_was_taken_from(kernel):
    some = kernel.implicit(sequences()).take([1, 2]).take([0])
    weights = some.zeros()
    some.add(weights, [1.0])
    np.testing.assert_allclose(some.dots(weights), some.squares, rtol=1e-12)


def test_counts_are_those_of_the_matrix():
    X = as_sequences(["ACGT", "A", "", "ACG"], "dna")
    kernel = build_kernel("spectrum:k=3,short=zero,zero_diagonal=zero")
    assert kernel.implicit(X).counts == kernel.prepare(X).counts != {}
    np.testing.assert_array_equal(kernel.implicit(X).squares, [1, 0, 0, 1])


def test_masked_letters():
    X = SequenceSet.from_strings(["ACGTN", "NNNN", "CGTA"], "dna", unknown="mask_all")
    kernel = build_kernel("spectrum:k=2,normalize=false")
    implicit, weights = kernel.implicit(X), np.zeros(16)
    implicit.add(weights, [1.0, 1.0, 1.0])
    np.testing.assert_array_equal(implicit.dots(weights), kernel(X).sum(axis=1))


def test_refusals_are_those_of_the_matrix():
    X = as_sequences(["ACGT", "AC"], "dna")
    with pytest.raises(SequenceError, match=r"record '2'.*fewer than k=3"):
        build_kernel("spectrum:k=3").implicit(X)
    with pytest.raises(SequenceError, match="cannot be normalised"):
        build_kernel("spectrum:k=3,short=zero").implicit(X)
    with pytest.raises(SequenceError, match="in the part 0:1"):
        build_kernel("spectrum:k=3,part=0:1").implicit(X)


@pytest.mark.parametrize("text", ["wildcard:k=3", "spectrum*spectrum", "spectrum+(spectrum*spectrum)"])
def test_kernels_without(text):
    with pytest.raises(ParameterError, match=r"cannot be trained without a Gram matrix.*spectrum"):
        build_kernel(text).implicit(sequences())


def test_a_kernel_without_features_at_positions():
    kernel = build_kernel("gappy_pair:k=1,distance_weight=linear,sigma=3")
    with pytest.raises(ParameterError, match="remove distance_weight"):
        required(kernel, "implicit")


def test_every_kernel_has_it_or_says_so():
    examples = [kernel for cls in KERNELS.classes.values() for kernel in cls.examples()]
    without = [one for one in examples if not one.implicit and isinstance(one.implicit.error, LackingError)]
    assert without
    for kernel in without:
        with pytest.raises(ParameterError, match="without a Gram matrix"):
            required(kernel, "implicit")


def test_memory_is_predicted(kernel):
    X = sequences(n=1500, low=90, high=110)
    kernel.implicit(X)  # what is kept from call to call is not counted
    tracemalloc.start()
    implicit = kernel.implicit(X)
    weights = implicit.zeros()
    weights[:] = 1
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    predicted = kernel.implicit.bytes(X)
    most = 2.1 if kernel.name == "substitution" else 1.3  # how many neighbours a k-mer has depends on the k-mer
    assert 0.6 * peak - 100_000 < predicted < most * peak + 100_000


def test_rows_of_a_matrix():
    matrix = random_sparse(9, 6, density=0.4, format="csr", random_state=3)
    implicit = SparseImplicit(matrix.indptr.astype(np.int64), matrix.indices, matrix.data, 6)
    K = (matrix @ matrix.T).toarray()
    np.testing.assert_allclose(implicit.squares, np.diag(K))
    weights = implicit.zeros()
    implicit.add(weights, np.arange(9.0))
    np.testing.assert_allclose(weights, np.arange(9.0) @ matrix.toarray())
    np.testing.assert_allclose(implicit.dots(weights), K @ np.arange(9.0))


def test_weights_of_another_length_are_refused():
    implicit = build_kernel("spectrum:k=2").implicit(sequences())
    for part in (implicit, implicit.take([1, 2])):
        with pytest.raises(ValueError, match="weights of shape"):
            part.dots(np.zeros(15))
        with pytest.raises(ValueError, match="coefficients for"):
            part.add(part.zeros(), np.zeros(77))
    with pytest.raises(IndexError):
        CombinedImplicit([implicit], rows=[0, 24])
