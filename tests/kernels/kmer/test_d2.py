"""D2, D2S and D2* against their formulas."""

import numpy as np
import pytest
from naive import encode
from naive_d2 import centred, d2

from seqkern.core.errors import ParameterError
from seqkern.kernels import D2Kernel, SpectrumKernel

STRINGS = ["ACGTACGGT", "ACGTT*TGCAT", "TTTTTTATTA", "GACACACACG", "CCA"]


@pytest.mark.parametrize("statistic", ["d2", "d2s", "d2star"])
@pytest.mark.parametrize(("k", "order", "both"), [(2, 0, False), (3, 0, True), (3, 1, False), (3, 2, False)])
def test_equals_the_formula(statistic, k, order, both):
    kernel = D2Kernel(k, statistic=statistic, order=order, reverse_complement=both, normalize=False, alphabet="dna")
    expected = [[d2(x, y, statistic, "ACGT", k, order, both) for y in STRINGS] for x in STRINGS]
    np.testing.assert_allclose(kernel(encode(STRINGS)), expected, rtol=1e-9, atol=1e-9)


def test_by_hand():
    # AAC has p_A = 2/3, p_C = 1/3 and n = 2; AA occurs once, 2·4/9 expected: X̃ = 1/9
    kernel = D2Kernel(2, statistic="d2star", alphabet="dna")
    found = dict(zip(["AA", "AC", "AG", "AT", "CA", "CC"], kernel.features(["AAC"])[0], strict=False))
    assert found["AA"] == pytest.approx((1 / 9) / np.sqrt(8 / 9))
    assert found["AC"] == pytest.approx((5 / 9) / np.sqrt(4 / 9))
    assert found["CC"] == pytest.approx(-np.sqrt(2 / 9))
    assert found["AG"] == 0
    D = [1 / 9, 5 / 9, -4 / 9, -2 / 9]
    assert D2Kernel(2, normalize=False, alphabet="dna")(["AAC"])[0, 0] == pytest.approx(np.abs(D).sum() / np.sqrt(2))


def test_d2_is_the_spectrum_kernel():
    kernel = D2Kernel(3, statistic="d2", alphabet="dna")
    np.testing.assert_allclose(kernel(encode(STRINGS)), SpectrumKernel(3)(encode(STRINGS)), rtol=1e-12)


def test_features_are_those_of_the_matrix():
    kernel = D2Kernel(2, statistic="d2star", order=1, normalize=False, alphabet="dna")
    U = kernel.features(encode(STRINGS))
    np.testing.assert_allclose(U @ U.T, kernel(encode(STRINGS)), rtol=1e-9, atol=1e-12)
    with pytest.raises(ParameterError, match="choose statistic=d2star or d2"):
        D2Kernel().features(STRINGS)


def random_strings(n, length, seed=0):
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list("ACGT"), length)) for _ in range(n)]


def test_d2s_is_positive_semidefinite_and_its_published_divisor_is_not():
    strings = random_strings(60, 6)
    K = D2Kernel(1, zero_diagonal="zero", alphabet="dna", order=0)
    strings = [text for text in strings if K.set_params(k=2)(encode([text]))[0, 0] > 0]
    assert np.linalg.eigvalsh(K(encode(strings)))[0] > -1e-12

    # with the divisor of the paper; all of two numbers, on some of which it is indefinite
    points = np.array([[a, b] for a in (-2.0, -0.1, 0.3, 1.0, 5.0) for b in (-1.0, -0.2, 0.2, 1.0, 9.0)])

    def published(a, b):
        length = np.hypot(a, b)
        return (a * b / length).sum() / np.sqrt((a * a / length).sum() * (b * b / length).sum())

    assert np.linalg.eigvalsh([[published(a, b) for b in points] for a in points])[0] < -1e-3


def test_a_sequence_as_expected_has_no_features():
    assert centred("AAAA", "ACGT", 2, 0)["AA"][1] == 0
    np.testing.assert_array_equal(D2Kernel(2, zero_diagonal="zero", alphabet="dna")(["AAAA"], ["ACGT"]), [[0]])


def test_parameters_that_do_not_fit():
    with pytest.raises(ParameterError, match="order=3 is not below k=3"):
        D2Kernel(3, order=3)(STRINGS)
    with pytest.raises(ParameterError, match="choose k of at most 3 for the alphabet protein"):
        D2Kernel(6, alphabet="protein")(["MKVLAWLLK"])
