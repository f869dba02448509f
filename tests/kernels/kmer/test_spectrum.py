"""The spectrum kernel against its naive twin, published numbers and reference matrices."""

import re

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import encode, random_strings

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.kernels import SpectrumKernel, blocks
from seqkern.kernels.kernel import algorithms
from seqkern.kernels.products import _product
from seqkern.sequences.sequence_set import SequenceSet

FORTY = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%"
ALGORITHMS = algorithms(SpectrumKernel)


STRINGS = [
    *random_strings(25, 12, 60),
    "A" * 40,
    "A" * 41,
    "ACGT" * 8,
    "ACGT" * 8,
    "AC*GT*AC*GTACGT*****ACGTAC",
    "************",
]


def raw(k, **options):
    return SpectrumKernel(k, normalize=False, short="zero", **options)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("rc", [False, True])
@pytest.mark.parametrize("presence", [False, True])
@pytest.mark.parametrize("k", [1, 2, 3, 6])
def test_equals_the_naive_twin(k, presence, rc, algorithm):
    kernel = raw(k, presence=presence, reverse_complement=rc, algorithm=algorithm)
    np.testing.assert_array_equal(kernel(encode(STRINGS)), naive.spectrum(STRINGS, k, presence=presence, rc=rc))


@pytest.mark.parametrize("rc", [False, True])
@pytest.mark.parametrize("k", [9, 16, 17, 31, 32, 40])
def test_long_kmers_equal_the_naive_twin(k, rc):
    strings = [*STRINGS, STRINGS[3] + "GATTACA" + STRINGS[4], STRINGS[3][2:]]
    kernel = raw(k, reverse_complement=rc)
    np.testing.assert_array_equal(kernel(encode(strings)), naive.spectrum(strings, k, rc=rc))
    rows = ["CC" + strings[2], strings[0], "TTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTT"]
    both = naive.spectrum([*rows, *strings], k, rc=rc)
    np.testing.assert_array_equal(kernel(encode(rows), encode(strings)), both[:3, 3:])


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(("letters", "k"), [("AB", 7), (FORTY, 2), ("ACDEFGHIKLMNPQRSTVWY", 3)])
def test_other_alphabets_equal_the_naive_twin(letters, k, algorithm):
    strings = random_strings(15, 5, 200, letters)
    X = encode(strings, letters)
    np.testing.assert_array_equal(raw(k, algorithm=algorithm)(X), naive.spectrum(strings, k))


@pytest.mark.parametrize("algorithm", [*ALGORITHMS, "auto"])
def test_weighted_range_is_the_sum_in_order(algorithm):
    ks, weights = [1, 3, 5], [0.3, 2, 1 / 7]
    expected = naive.weighted([naive.spectrum(STRINGS, k) for k in ks], weights)
    kernel = raw(ks, weights=weights, algorithm=algorithm)
    np.testing.assert_array_equal(kernel(encode(STRINGS)), expected)
    unweighted = sum(naive.spectrum(STRINGS, k) for k in ks)
    np.testing.assert_array_equal(raw(ks, algorithm=algorithm)(encode(STRINGS)), unweighted)
    np.testing.assert_array_equal(raw(range(1, 6, 2))(encode(STRINGS)), unweighted)


@given(
    strings=st.lists(st.text("ACGT*", max_size=30), min_size=1, max_size=6),
    k=st.integers(1, 8),
    presence=st.booleans(),
    rc=st.booleans(),
    algorithm=st.sampled_from(ALGORITHMS),
)
def test_any_strings_equal_the_naive_twin(strings, k, presence, rc, algorithm):
    kernel = SpectrumKernel(
        k,
        presence=presence,
        reverse_complement=rc,
        algorithm=algorithm,
        short="zero",
        zero_diagonal="zero",
    )
    expected = naive.spectrum(strings, k, presence=presence, rc=rc)
    np.testing.assert_array_equal(kernel(encode(strings)), naive.normalised(expected))
    np.testing.assert_array_equal(kernel.set_params(normalize=False)(encode(strings)), expected)
    np.testing.assert_array_equal(kernel(encode(strings[:1]), encode(strings)), expected[:1])


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_published_numbers(algorithm):
    words = SpectrumKernel(2, normalize=False, alphabet="ABDSY", algorithm=algorithm)
    assert words(["SAY", "BAY", "SAD", "BAD"]).tolist() == [
        [2, 1, 1, 0],
        [1, 2, 0, 1],
        [1, 0, 2, 1],
        [0, 1, 1, 2],
    ]
    words = SpectrumKernel(3, normalize=False, alphabet="ARSTY", algorithm=algorithm)
    assert words(["STRAY", "RAY", "RAYS"]).tolist() == [[3, 1, 1], [1, 1, 1], [1, 1, 2]]


def read_reference(path):
    """Return the variables of one of the reference files: strings, numbers, lists of strings, matrices."""
    values = {}
    for name, text in re.findall(r"^(\w+) = (.*);$", path.read_text(), flags=re.M):
        if text.startswith("{"):
            values[name] = re.findall(r"'([^']*)'", text)
        elif text.startswith("["):
            values[name] = np.array([[float(x) for x in row.split(",")] for row in text[1:-1].split(";")])
        else:
            values[name] = text.strip("'")
    return values


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("kind", ["CommUlongString", "CommWordString"])
def test_reference_matrices(shared_data, kind, algorithm):
    reference = read_reference(shared_data / "kernel_reference" / f"{kind}_DNA_10_0_False_3_60_False.m")
    train, test = encode(reference["kernel_data_train"]), encode(reference["kernel_data_test"])
    kernel = SpectrumKernel(int(reference["kernel_order"]), algorithm=algorithm)
    tolerance = {"rtol": 0, "atol": float(reference["kernel_accuracy"])}
    np.testing.assert_allclose(kernel(train), reference["kernel_matrix_train"], **tolerance)
    np.testing.assert_allclose(kernel(train, test), reference["kernel_matrix_test"], **tolerance)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_long_repeats_do_not_overflow(algorithm):
    strings = ["A" * 100_000, "A" * 70_000 + "C" * 70_000, "ACGT" * 1000, "A" * 60_000]
    kernel = raw(3, algorithm=algorithm)
    K = kernel(encode(strings))
    counts = np.array([99_998, 69_998, 0, 59_998])  # of AAA
    expected = np.outer(counts, counts)
    expected[1, 1] += 69_998**2 + 2  # CCC, AAC, ACC
    expected[2, 2] = 2 * 1000**2 + 2 * 999**2
    np.testing.assert_array_equal(K, expected.astype(float))
    assert K[0, 0] > 2**31
    np.testing.assert_array_equal(kernel.diagonal(encode(strings)), np.diagonal(K))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_levels_threads_and_blocks_give_the_same_bits(algorithm, monkeypatch):
    X = encode(random_strings(150, 30, 300, seed=3))
    kernel = SpectrumKernel([2, 5], weights=[0.3, 0.7], algorithm=algorithm)
    K = kernel(X)
    np.testing.assert_array_equal(K, K.T)
    highest = _product.level()
    try:
        for level in range(highest + 1):
            _product.set_level(level)
            np.testing.assert_array_equal(kernel(X, X.take(slice(0, 77))), K[:, :77])
            for n_threads, step in ((1, 7), (2, 150), (3, 16)):
                spans = [(start, min(start + step, 150)) for start in range(0, 150, step)]
                monkeypatch.setattr(blocks, "row_blocks", lambda *_, spans=spans: spans)
                np.testing.assert_array_equal(kernel(X, n_threads=n_threads), K)
            monkeypatch.undo()
    finally:
        _product.set_level(highest)
    assert _product.level() == highest


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_that_lead_the_columns_are_half_mirrored(dtype):
    X = encode(random_strings(90, 20, 60))
    kernel = SpectrumKernel(3)
    K, whole = kernel(X, dtype=dtype), kernel.prepare(X)
    for start, stop, step in ((0, 90, 1), (20, 70, 1), (70, 90, 64), (5, 6, 16)):
        out = np.empty((stop - start, 95 - start), dtype=dtype)[:, 5:]
        kernel._least_block_rows = step
        blocks.fill(kernel, whole.rows(start, stop), whole.rows(start, 90), out, leading=True)
        np.testing.assert_array_equal(out, K[start:stop, start:])


def test_float32_is_rounded_float64():
    X = encode(random_strings(40, 20, 60))
    kernel = SpectrumKernel(3)
    np.testing.assert_array_equal(kernel(X, dtype=np.float32), kernel(X).astype(np.float32))


def test_one_sequence_and_none():
    assert SpectrumKernel(3)(["ACGTACGT"]).tolist() == [[1.0]]
    X = encode(["ACGTACGT", "ACGA"])
    assert SpectrumKernel(3)(X.take([]), X).shape == (0, 2)
    assert SpectrumKernel(3)(X.take([])).shape == (0, 0)


@pytest.mark.parametrize("options", [{}, {"presence": True}, {"reverse_complement": True}, {"weights": [0.3, 2]}])
def test_features_give_the_kernel(options):
    kernel = raw([2, 4], alphabet="dna", **options)
    features = kernel.features(encode(STRINGS))
    names = kernel.features.names()
    assert features.shape == (len(STRINGS), 16 + 256)
    assert features.dtype == np.float64
    assert names[:3] == ["AA", "AC", "AG"]
    assert names[16] == "AAAA"
    np.testing.assert_allclose((features @ features.T).toarray(), kernel(encode(STRINGS)), rtol=1e-12)
    if "weights" not in options:
        found = naive.spectrum_features(
            STRINGS[5], 4, presence="presence" in options, rc="reverse_complement" in options
        )
        row = features[5].toarray()[0, 16:]
        assert {name: value for name, value in zip(names[16:], row, strict=True) if value} == found


def test_features_of_a_huge_space():
    kernel = raw(20)
    features = kernel.features(encode(STRINGS))
    assert features.shape == (len(STRINGS), 4**20)
    rows = [dict(zip(row.indices.tolist(), row.data.tolist(), strict=True)) for row in features]
    np.testing.assert_array_equal(naive.gram(rows), kernel(encode(STRINGS)))


def test_plan_names_the_candidates():
    X = encode(random_strings(50, 90, 110))
    plan = SpectrumKernel(2).plan(X)
    assert plan.algorithm == "dense"
    assert "index" in plan.reason
    assert SpectrumKernel(12).plan(X).algorithm == "index"
    assert SpectrumKernel(2, algorithm="index").plan(X, X).algorithm == "index"
    assert SpectrumKernel([1, 12]).plan(X).algorithm == "dense+index"


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"k": 0}, "k=0"),
        ({"k": 2.5}, "k=2.5"),
        ({"k": []}, "distinct"),
        ({"k": [3, 3]}, "distinct"),
        ({"k": [1, 2], "weights": [1]}, "weights has 1 numbers, k has 2"),
        ({"k": 3, "weights": 2}, "weights=2 is not possible"),
        ({"k": [1, 2], "weights": [1, -1]}, "weights=-1"),
        ({"k": 10001}, "k=10001 is not possible"),
        ({"k": 13, "algorithm": "dense"}, "choose algorithm=index"),
    ],
)
def test_wrong_parameters_are_named(params, message):
    with pytest.raises(ParameterError, match=message):
        SpectrumKernel(**params)(encode(["ACGT" * 20]))


def test_kmers_without_a_code_fall_back_and_the_plan_says_so():
    X = encode(["ACGT" * 20, "GATTACA" * 12])
    assert SpectrumKernel(32).plan(X).algorithm == "wide"
    with pytest.raises(ParameterError, match="choose algorithm=wide or algorithm=auto"):
        SpectrumKernel(32, algorithm="index")(X)
    with pytest.raises(ParameterError, match="choose k up to 31"):
        SpectrumKernel(32).features(X)


def test_reverse_complement_needs_one():
    with pytest.raises(ParameterError, match="no complement"):
        SpectrumKernel(2, reverse_complement=True)(encode(["HHEEC"], "HEC"))


def test_short_sequences_are_named():
    X = SequenceSet.from_strings(["ACGTACGT", "ACG"], "dna", ids=["good", "bad"])
    with pytest.raises(SequenceError, match=r"record 'bad': 3 residues are fewer than k=4"):
        SpectrumKernel([2, 4])(X)
    K = SpectrumKernel([2, 4], short="zero", normalize=False)(X)
    assert K[1].tolist() == [4, 2]


def test_names_of_features_need_an_alphabet():
    assert SpectrumKernel(1).features.names("dna") == list("ACGT")
    with pytest.raises(ParameterError, match="alphabet"):
        SpectrumKernel(1).features.names()
    with pytest.raises(ParameterError, match="too many"):
        SpectrumKernel([2, 20]).features.names("dna")
