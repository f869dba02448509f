"""The profile kernel against its naive twin, every algorithm, and where it is another kernel."""

import naive_profiles as twin
import numpy as np
import pytest
from naive import encode, random_strings

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.kernels import ProfileKernel, SpectrumKernel, planner
from seqkern.kernels.decisions import attributions
from seqkern.kernels.kernel import algorithms

ALGORITHMS = algorithms(ProfileKernel)
STRINGS = [*random_strings(6, 4, 14, "ABC"), "AAAAAAAA", "AB*CABC*AB", "*****", "AB", ""]
PROTEINS = [*random_strings(3, 5, 9, "ACDEFGHIKLMNPQRSTVWY"), "WWWW", "MK*LV"]


def raw(k, sigma, **options):
    return ProfileKernel(k, sigma, normalize=False, short="zero", **options)


def own_letters(X, own):
    """Return `X` with the profile in which every letter has the probability `own`, the others the rest."""
    size = X.alphabet.size
    profile = np.full((len(X.codes), size), np.float32(1 / size), dtype=np.float32)
    known = np.flatnonzero(X.codes < size)
    profile[known] = np.float32((1 - own) / (size - 1))
    profile[known, X.codes[known]] = own
    profile = np.maximum(profile, np.finfo(np.float32).tiny)
    return X.replace(tracks={"profile": profile})


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("presence", [False, True])
@pytest.mark.parametrize(("k", "sigma"), [(1, 0.4), (1, 3), (2, 1.5), (3, 2.5), (3, 6), (4, 4), (3, 1000)])
def test_equals_the_naive_twin(k, sigma, presence, algorithm):
    X = twin.random_profiles(STRINGS, "ABC")
    Y = twin.random_profiles(["CABCAB", "AACAA"], "ABC", seed=2)
    kernel = raw(k, sigma, presence=presence, algorithm=algorithm)
    np.testing.assert_array_equal(kernel(X), twin.profile(X, X, k, sigma, presence))
    np.testing.assert_array_equal(kernel(X, Y), twin.profile(X, Y, k, sigma, presence))
    np.testing.assert_array_equal(kernel(Y, X), twin.profile(Y, X, k, sigma, presence))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(("alphabet", "strings", "k", "sigma"), [("protein", PROTEINS, 2, 4), ("dna", None, 4, 5)])
def test_other_alphabets_equal_the_naive_twin(alphabet, strings, k, sigma, algorithm):
    X = twin.random_profiles(strings or random_strings(4, 3, 12), alphabet, sharp=0.2)
    np.testing.assert_array_equal(raw(k, sigma, algorithm=algorithm)(X), twin.profile(X, X, k, sigma))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_certain_letters_make_the_spectrum_kernel(algorithm):
    X = own_letters(encode(STRINGS, "ABC"), 1.0)
    expected = SpectrumKernel(3, normalize=False, short="zero")(X)
    assert expected.max() > 1
    for sigma in (1e-3, 7.5, 80):
        np.testing.assert_array_equal(raw(3, sigma, algorithm=algorithm)(X), expected)


def test_equal_doubts_make_the_mismatch_kernel():
    from seqkern.kernels import MismatchKernel

    # One letter that differs costs ln 10 + 2·ln(10/8) = 2.75, two cost 4.83.
    X = own_letters(encode(STRINGS, "ABC"), 0.8)
    for sigma, m in ((2.0, 0), (3.5, 1), (6, 2)):
        expected = MismatchKernel(3, m, normalize=False, short="zero")(X)
        np.testing.assert_array_equal(raw(3, sigma)(X), expected)


def test_features_are_those_of_the_matrix():
    X = twin.random_profiles(STRINGS, "ABC")
    kernel = raw(2, 2.0)
    features = kernel.features(X).toarray()
    np.testing.assert_array_equal(features @ features.T, kernel(X))
    counts = twin.profile_counts(X, 0, 2, 2.0)
    named = dict(zip(kernel.features.names("ABC"), features[0], strict=True))
    assert {"".join("ABC"[letter] for letter in u): count for u, count in counts.items()} == {
        name: count for name, count in named.items() if count
    }


def test_attributions_share_each_place_among_its_letters():
    X = twin.random_profiles(STRINGS[:4], "ABC")
    kernel = raw(3, 3.5)
    coefficients = np.array([1.0, -2.0, 0.5, 3.0])
    shares = attributions(kernel, X, X, coefficients)
    sums = np.add.reduceat(np.ravel(shares), np.cumsum([0, *X.lengths[:-1]]))
    np.testing.assert_allclose(sums, kernel(X) @ coefficients, rtol=1e-12)


def test_the_plan_knows_that_a_large_sigma_explodes():
    X = twin.random_profiles(PROTEINS * 20, "protein", sharp=1.0)
    small, large = (raw(5, sigma).plan(X) for sigma in (8, 12))
    assert large.seconds > 20 * small.seconds
    long = twin.random_profiles(random_strings(4, 30, 40, "ACDEFGHIKLMNPQRSTVWY"), "protein", sharp=1.0)
    with pytest.raises(
        ParameterError, match=r"a k-mer of kernel 'profile' would count for about .* features; choose a"
    ):
        raw(12, 60).plan(long)
    with pytest.raises(ParameterError, match=r"choose a smaller sigma"):
        raw(12, 60)(long)


def test_little_memory_makes_it_walk(monkeypatch):
    X = twin.random_profiles(PROTEINS * 4, "protein", sharp=1.0)
    kernel = raw(4, 9)
    expected = kernel(X)
    monkeypatch.setattr(planner, "NEGLIGIBLE_BYTES", 0)
    monkeypatch.setattr(planner, "available_memory", lambda: 1000)
    assert kernel.plan(X).algorithm == "trie"
    np.testing.assert_array_equal(kernel(X), expected)


def test_wrong_parameters_and_tracks():
    X = twin.random_profiles(PROTEINS, "protein")
    for sigma in (0, -1, np.nan, "7"):
        with pytest.raises(ParameterError, match="sigma"):
            raw(3, sigma)(X)
    with pytest.raises(ParameterError, match="k=15 is too large for an alphabet of 20 letters"):
        raw(15, 7.5)(X)
    with pytest.raises(SequenceError, match="needs the track 'profile'"):
        raw(3, 7.5)(["MKVLA"])
    bad = X.tracks["profile"].copy()
    bad[7, 3] = 0
    with pytest.raises(SequenceError, match=r"row \d of the track 'profile' is not probabilities above 0"):
        raw(3, 7.5)(X.replace(tracks={"profile": bad}))
    with pytest.raises(SequenceError, match="has 3 columns, but the alphabet protein has 20 letters"):
        raw(3, 7.5)(X.replace(tracks={"profile": X.tracks["profile"][:, :3]}))
