"""The compression kernel against its formula, and the libraries' plain calls."""

import bz2
import lzma
import zlib

import numpy as np
import pytest

from seqkern.kernels import CompressionKernel

PLAIN = {
    # what a header and a check sum take
    "zlib": lambda text: len(zlib.compress(text, 9)) - 6,
    "bz2": lambda text: len(bz2.compress(text)),
    "lzma": lambda text: len(
        lzma.compress(text, lzma.FORMAT_RAW, filters=[{"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": 1 << 20}])
    ),
}


def strings():
    rng = np.random.default_rng(0)
    first = "".join(rng.choice(list("ACGT"), 400))
    return [first, first[100:] + "A" * 30, first[:50] * 4, "".join(rng.choice(list("ACGT"), 300))]


@pytest.mark.parametrize("name", PLAIN)
def test_equals_the_formula(name):
    def distance(x, y):
        sizes = [PLAIN[name](text.encode()) for text in (x, y)]
        both = [PLAIN[name](text.encode()) for text in (x + y, y + x)]
        return np.mean([(size - min(sizes)) / max(sizes) for size in both])

    expected = [[1 - distance(x, y) for y in strings()] for x in strings()]
    K = CompressionKernel(name, alphabet="dna")(strings())
    np.testing.assert_allclose(K, expected, rtol=1e-12)
    assert K[0, 1] > K[0, 3]
    np.testing.assert_array_equal(K, CompressionKernel(name, alphabet="dna")(strings(), n_threads=3))


def test_masked_residues_are_left_out():
    kernel = CompressionKernel(alphabet="dna")
    x, y = strings()[:2]
    np.testing.assert_array_equal(kernel([x[:200] + "NNNN" + x[200:]], [y]), kernel([x], [y]))
    np.testing.assert_array_equal(kernel(["NNNN"], [x]), [[0.0]])
    np.testing.assert_array_equal(kernel(["NNNN"]), [[0.0]])
