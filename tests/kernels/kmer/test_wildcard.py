"""The wildcard kernel against its naive twin: explicit k-mers with wildcards."""

import naive_gapped
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import encode, random_strings

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.kernels import GappedKmerKernel, SpectrumKernel, WildcardKernel
from seqkern.kernels.kernel import algorithms

FORTY = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%"
ACIDS = "ACDEFGHIKLMNPQRSTVWY"
# `transform` is for DNA and whole weights: see test_hadamard.py
ALGORITHMS = [
    name for name in algorithms(WildcardKernel) if name != "transform"
]  # `transform` is for DNA and whole weights: see test_hadamard.py

STRINGS = [
    *random_strings(8, 8, 40),
    "A" * 30,
    "ACGT" * 6,
    "ACGT" * 6,
    "AC*GT*ACT*ACGTA*****ACGTAC*TTTT",
    "**********",
    "GCA",
    "",
]


def raw(k, m, **options):
    return WildcardKernel(k, m, normalize=False, short="zero", **options)


@pytest.mark.parametrize("decay", [0, 0.3, 0.5, 1])
@pytest.mark.parametrize("rc", [False, True])
@pytest.mark.parametrize(("k", "m"), [(1, 1), (3, 0), (4, 1), (4, 4), (5, 2)])
def test_equals_the_naive_twin(k, m, rc, decay):
    X, expected = encode(STRINGS), naive_gapped.wildcard(STRINGS, k, m, decay, rc=rc)
    kernel = raw(k, m, decay=decay, reverse_complement=rc)
    K = kernel.set_params(algorithm=ALGORITHMS[0])(X)
    np.testing.assert_allclose(K, expected, rtol=1e-14 if decay % 1 else 0)
    for algorithm in (*ALGORITHMS, "auto"):
        kernel.set_params(algorithm=algorithm)
        np.testing.assert_array_equal(kernel(X), K)
        np.testing.assert_array_equal(kernel(X.take(slice(3, None)), X.take(slice(0, 5))), K[3:, :5])


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(("letters", "k", "m"), [("AB", 6, 2), (FORTY, 3, 1), ("HEC", 4, 2), (ACIDS, 5, 1)])
def test_other_alphabets_equal_the_naive_twin(letters, k, m, algorithm):
    strings = random_strings(6, 3, 50, letters)
    X = encode(strings, "protein" if letters == ACIDS else letters)
    np.testing.assert_allclose(
        raw(k, m, decay=0.7, algorithm=algorithm)(X), naive_gapped.wildcard(strings, k, m, 0.7), rtol=1e-14
    )


@given(
    strings=st.lists(st.text("ABC*", max_size=20), min_size=1, max_size=5),
    km=st.integers(1, 5).flatmap(lambda k: st.tuples(st.just(k), st.integers(0, k))),
    decay=st.floats(0, 1),
    algorithm=st.sampled_from(ALGORITHMS),
)
def test_any_strings_equal_the_naive_twin(strings, km, decay, algorithm):
    X = encode(strings, "ABC")
    kernel = raw(*km, decay=decay, algorithm=algorithm)
    np.testing.assert_allclose(kernel(X), naive_gapped.wildcard(strings, *km, decay), rtol=1e-14, atol=1e-300)


def test_the_limits_of_decay_are_other_kernels():
    X = encode(STRINGS)
    free = {"normalize": False, "short": "zero"}
    np.testing.assert_array_equal(raw(5, 2, decay=0)(X), SpectrumKernel(5, **free)(X))
    counts = sum(GappedKmerKernel(5, k, **free)(X) for k in (3, 4, 5))
    np.testing.assert_array_equal(raw(5, 2, decay=1)(X), counts)


@pytest.mark.parametrize("rc", [False, True])
def test_features_give_the_kernel(rc):
    kernel = raw(4, 2, decay=0.3, alphabet="dna", reverse_complement=rc)
    features = kernel.features(encode(STRINGS))
    assert features.shape == (len(STRINGS), 256 + 4 * 64 + 6 * 16)
    np.testing.assert_allclose((features @ features.T).toarray(), kernel(encode(STRINGS)), rtol=1e-12)


def test_features_have_names():
    kernel = WildcardKernel(2, 2, decay=0.5, alphabet="AB")
    names = kernel.features.names()
    assert names == ["AA", "AB", "BA", "BB", "A*", "B*", "*A", "*B", "**"]
    row = kernel.features(["AAB"]).toarray()[0]
    found = {name: value for name, value in zip(names, row, strict=True) if value}
    assert found == {"AA": 1, "AB": 1, "A*": 1, "*A": 0.5, "*B": 0.5, "**": 0.5}


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"k": 0}, "k=0"),
        ({"k": 32}, "k=32"),
        ({"m": -1}, "m=-1"),
        ({"k": 3, "m": 4}, "m=4 is not possible; give an integer from 0 to 3"),
        ({"decay": -0.1}, "decay=-0.1"),
        ({"decay": 1.5}, "decay=1.5"),
        ({"decay": float("nan")}, "decay=nan"),
        ({"algorithm": "dense"}, "choose auto or subsets"),
    ],
)
def test_wrong_parameters_are_named(params, message):
    with pytest.raises(ParameterError, match=message):
        WildcardKernel(**params)(encode(["ACGT" * 20]))


def test_short_sequences_are_named():
    with pytest.raises(SequenceError, match=r"record '2': 3 residues are fewer than k=5"):
        WildcardKernel()(encode(["ACGTACGT", "ACG"]))


def test_plan_names_the_candidates():
    X = encode(random_strings(100, 90, 110, letters=ACIDS) * 20, "protein")
    plan = WildcardKernel(5, 1).plan(X)
    assert plan.algorithm == "subsets"
    assert all(name in plan.reason for name in ALGORITHMS)
