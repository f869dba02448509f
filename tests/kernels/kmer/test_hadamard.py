"""Gram matrices by the Walsh-Hadamard transform of the counts of DNA, against the other algorithms."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import encode, random_strings

from seqkern.core.errors import ParameterError
from seqkern.kernels import GappedKmerKernel, MismatchKernel, WildcardKernel
from seqkern.kernels.kmer.hamming_kernel import features_by_letters, whole_eigenvalues
from seqkern.kernels.products import _product

STRINGS = [*random_strings(20, 9, 60), "A" * 200, "ACGT" * 40, "AC*GT*ACT*ACGTA*****ACGTAC*TTTT", "GCA", ""]
KERNELS = [
    (GappedKmerKernel, {"l": 6, "k": 4}),
    (GappedKmerKernel, {"l": 5, "k": 3, "d": 1}),  # negative eigenvalues
    (WildcardKernel, {"k": 4, "m": 2, "decay": 1}),
    (MismatchKernel, {"k": 5, "m": 2}),
    (MismatchKernel, {"k": [1, 4], "m": 0, "weights": [0.3, 1 / 7]}),
]


def both_ways(kernel, *sets):
    """Return the matrices by subsets of positions, and by the transform."""
    return [kernel.set_params(algorithm=name)(*sets) for name in ("subsets", "transform")]


@pytest.mark.parametrize("rc", [False, True])
@pytest.mark.parametrize(("family", "parameters"), KERNELS)
def test_same_bits_as_by_subsets(family, parameters, rc):
    X = encode(STRINGS)
    kernel = family(**parameters, reverse_complement=rc, normalize=False, short="zero")
    expected, K = both_ways(kernel, X)
    np.testing.assert_array_equal(K, expected)
    np.testing.assert_array_equal(kernel(X.take([21, 3]), X), expected[[21, 3]])
    np.testing.assert_array_equal(kernel(X.take([3, 0]), X.take([1, 20])), expected[[3, 0]][:, [1, 20]])


@given(
    strings=st.lists(st.text("ACG*", max_size=20), min_size=1, max_size=5),
    lm=st.integers(1, 4).flatmap(lambda l: st.tuples(st.just(l), st.integers(0, l - 1))),  # noqa: E741
    rc=st.booleans(),
)
def test_any_strings_have_the_same_bits(strings, lm, rc):
    kernel = MismatchKernel(*lm, reverse_complement=rc, short="zero", zero_diagonal="zero")
    expected, K = both_ways(kernel, encode(strings))
    np.testing.assert_array_equal(K, expected)


@pytest.mark.parametrize("length", [126, 127, 128, 8000])
def test_transforms_around_the_largest_of_8_bits(length):
    """One letter many times: a transform is the number of its windows, others are 0."""
    kernel = MismatchKernel(2, 1, normalize=False)
    X = encode(["A" * (length + 1), *random_strings(17, 3, 20)])
    highest = _product.level()
    expected, _ = both_ways(kernel, X)
    try:
        for level in range(highest + 1):
            _product.set_level(level)
            for vnni in (False, True):
                _product.set_vnni(vnni)
                np.testing.assert_array_equal(both_ways(kernel, X)[1], expected)
    finally:
        _product.set_level(highest)
        _product.set_vnni(True)


@pytest.mark.parametrize("length", [1, 2, 5])
def test_half_of_the_transforms_are_enough_for_both_strands(length):
    one, both = (features_by_letters(length, strands) for strands in (False, True))
    assert sum(len(order) for order, _ in one) == 4**length
    for (order, _), (half, halved) in zip(one, both, strict=True):
        assert len(half) <= len(order) // 2 + halved
    assert whole_eigenvalues(2, [1, 0, 0]) == [1, 1, 1]
    assert whole_eigenvalues(2, [1, 1, 1]) == [16, 0, 0]


@pytest.mark.parametrize(
    ("kernel", "strings", "alphabet"),
    [
        (WildcardKernel(4, 1, decay=0.3), ["ACGTACGT"], "ACGT"),
        (WildcardKernel(4, 1, decay=1), ["ABCABC"], "ABC"),
        (MismatchKernel(10, 1), ["ACGTACGTACGT"], "ACGT"),
    ],
)
def test_what_it_cannot_do_is_refused(kernel, strings, alphabet):
    with pytest.raises(ParameterError, match="not feasible with algorithm=transform"):
        kernel.set_params(algorithm="transform")(encode(strings, alphabet))


def test_windows_with_weights_are_refused():
    with pytest.raises(ParameterError, match="algorithm=transform does not support window weights"):
        GappedKmerKernel(5, 3, center_weighted=True, algorithm="transform")(["ACGTACGT"])


def test_the_planner_chooses_it_for_long_sequences_and_many_subsets():
    X = encode(random_strings(300, 500, 520))
    assert GappedKmerKernel(8, 6).plan(X).algorithm == "transform"
