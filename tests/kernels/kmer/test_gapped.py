"""The gapped k-mer kernels against their naive twins, other programs' values, and a trained model of LS-GKM."""

from itertools import product

import naive_gapped
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import encode, normalised, random_strings

import seqkern
from seqkern.core.errors import ParameterError, SequenceError
from seqkern.evaluation import roc_auc
from seqkern.kernels import GappedKmerKernel, RBFKernel, blocks, build_kernel, planner
from seqkern.kernels.capabilities import required
from seqkern.kernels.kernel import algorithms
from seqkern.kernels.kmer import gapped
from seqkern.kernels.kmer.hamming import estimate, gapped_weights, truncated_estimate
from seqkern.solvers import CSVC

FORTY = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%"
ACIDS = "ACDEFGHIKLMNPQRSTVWY"
# `transform` is for DNA and whole weights: see test_hadamard.py
ALGORITHMS = [
    name for name in algorithms(GappedKmerKernel) if name != "transform"
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


def raw(l, k, **options):  # noqa: E741
    return GappedKmerKernel(l, k, normalize=False, short="zero", **options)


def bits_of_each_algorithm(kernel, X, algorithms=ALGORITHMS):
    """Return the matrix, after a check that each algorithm gives the same bits, for rectangles too."""
    K = kernel.set_params(algorithm=algorithms[0])(X)
    for algorithm in (*algorithms, "auto"):
        kernel.set_params(algorithm=algorithm)
        np.testing.assert_array_equal(kernel(X), K)
        np.testing.assert_array_equal(kernel(X.take(slice(3, None)), X.take(slice(0, 5))), K[3:, :5])
    return K


# ---- numbers -------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("rc", [False, True])
@pytest.mark.parametrize(("l", "k"), [(1, 1), (3, 1), (4, 4), (5, 3), (6, 4), (7, 2)])
def test_counts_equal_the_naive_twin(l, k, rc, algorithm):  # noqa: E741
    kernel = raw(l, k, reverse_complement=rc, algorithm=algorithm)
    np.testing.assert_array_equal(kernel(encode(STRINGS)), naive_gapped.gapped(STRINGS, l, k, rc=rc))


@pytest.mark.parametrize("rc", [False, True])
@pytest.mark.parametrize(("l", "k", "d"), [(6, 3, 0), (6, 3, 2), (6, 3, 6), (10, 6, 3)])
def test_distances_up_to_d_equal_the_naive_twin(l, k, d, rc):  # noqa: E741
    K = bits_of_each_algorithm(raw(l, k, d=d, reverse_complement=rc), encode(STRINGS))
    c = gapped_weights(4, l, k, d)
    assert not any(c[d + 1 :])
    np.testing.assert_array_equal(K, naive_gapped.by_pairs(STRINGS, l, c, rc=rc))


@pytest.mark.parametrize(("letters", "l", "k"), [("AB", 5, 2), ("ABC", 4, 2), ("ABC", 3, 3), ("ACGT", 4, 2)])
def test_estimates_equal_the_projection(letters, l, k):  # noqa: E741
    expected = naive_gapped.full_estimates(letters, l, k)
    exact = estimate(len(letters), l, k)
    np.testing.assert_allclose([float(value) for value in exact], expected, atol=1e-12)
    assert truncated_estimate(len(letters), l, k) == naive_gapped.truncated(letters, l, exact)


@pytest.mark.parametrize("estimator", ["full", "truncated"])
@pytest.mark.parametrize("rc", [False, True])
@pytest.mark.parametrize(("l", "k", "d"), [(4, 2, None), (5, 3, 2), (10, 6, 3)])
def test_estimators_equal_the_naive_twin(l, k, d, rc, estimator):  # noqa: E741
    kernel = raw(l, k, d=d, estimator=estimator, reverse_complement=rc)
    K = bits_of_each_algorithm(kernel, encode(STRINGS))
    c = gapped_weights(4, l, k, d, estimator)
    assert any(isinstance(value, float) for value in c)
    expected = naive_gapped.by_pairs(STRINGS, l, c, rc=rc)
    np.testing.assert_allclose(K, expected, rtol=1e-13, atol=1e-13 * expected.max())


@pytest.mark.parametrize("estimator", ["count", "truncated"])
@pytest.mark.parametrize("rc", [False, True])
def test_centre_weights_equal_the_naive_twin(rc, estimator):
    strings = [*STRINGS, *random_strings(2, 110, 120, seed=4), "ACGTA", "AC*GTACG"]
    kernel = raw(5, 3, estimator=estimator, reverse_complement=rc, center_weighted=True)
    K = bits_of_each_algorithm(kernel, encode(strings), ("subsets", "pairs"))
    c = gapped_weights(4, 5, 3, None, estimator)
    expected = naive_gapped.by_pairs(strings, 5, c, rc=rc, weighted=True)
    np.testing.assert_allclose(K, expected, rtol=0 if estimator == "count" else 1e-13)
    one_word = strings.index("ACGTA")
    assert estimator != "count" or K[one_word, one_word] >= 50 * 50 * c[0]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(
    ("letters", "l", "k"), [("AB", 6, 3), (FORTY, 3, 2), ("HEC", 5, 2), ("protein", 6, 4), ("protein", 4, 1)]
)
def test_other_alphabets_equal_the_naive_twin(letters, l, k, algorithm):  # noqa: E741
    strings = random_strings(8, 3, 60, ACIDS if letters == "protein" else letters)
    strings += ["AB" * 10] if letters == "AB" else []
    K = raw(l, k, algorithm=algorithm)(encode(strings, letters))
    np.testing.assert_array_equal(K, naive_gapped.gapped(strings, l, k))


def test_estimators_of_proteins_equal_the_naive_twin():
    strings = random_strings(8, 3, 60, ACIDS)
    strings += [strings[0][5:30] + strings[1], strings[2][::-1]]
    for estimator in ("full", "truncated"):
        K = bits_of_each_algorithm(raw(5, 3, estimator=estimator), encode(strings, "protein"))
        expected = naive_gapped.by_pairs(strings, 5, gapped_weights(20, 5, 3, None, estimator))
        np.testing.assert_allclose(K, expected, rtol=1e-12, atol=1e-13 * expected.max())


def test_rna_is_dna():
    strings = random_strings(6, 20, 40, masked=0)
    rna = [string.replace("T", "U") for string in strings]
    kernel = raw(6, 4, reverse_complement=True)
    np.testing.assert_array_equal(kernel(encode(rna, "rna")), kernel(encode(strings)))


@pytest.mark.parametrize("algorithm", ["diagonals", "pairs"])
@pytest.mark.parametrize(("l", "k"), [(16, 8), (20, 10), (31, 16), (31, 31)])
def test_long_words_equal_the_naive_twin(l, k, algorithm):  # noqa: E741
    strings = random_strings(4, 40, 70, masked=0.01, seed=3)
    strings += [strings[0][3:] + strings[1], "A" * 60]
    for rc in (False, True):
        K = raw(l, k, reverse_complement=rc, algorithm=algorithm)(encode(strings))
        expected = naive_gapped.by_pairs(strings, l, gapped_weights(4, l, k), rc=rc)
        np.testing.assert_array_equal(K, expected)


@given(
    strings=st.lists(st.text("ABC*", max_size=20), min_size=1, max_size=5),
    lk=st.integers(1, 6).flatmap(lambda width: st.tuples(st.just(width), st.integers(1, width))),
    algorithm=st.sampled_from(ALGORITHMS),
)
def test_any_strings_equal_the_naive_twin(strings, lk, algorithm):
    X = encode(strings, "ABC")
    kernel = GappedKmerKernel(*lk, algorithm=algorithm, short="zero", zero_diagonal="zero")
    expected = naive_gapped.gapped(strings, *lk)
    np.testing.assert_array_equal(kernel(X), normalised(expected))
    np.testing.assert_array_equal(kernel.set_params(normalize=False)(X.take([0]), X), expected[:1])


@pytest.mark.parametrize("estimator", ["count", "truncated"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("rc", [False, True])
def test_rows_and_columns_apart_give_the_slice(rc, algorithm, estimator):
    X = encode(random_strings(60, 10, 150, seed=5))
    kernel = raw(6, 4, estimator=estimator, reverse_complement=rc, algorithm=algorithm)
    K = kernel(X)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_array_equal(kernel(X.take(slice(40, 60)), X.take(slice(0, 40))), K[40:, :40])
    whole = kernel.prepare(X)
    for a, b, c, d in ((0, 60, 0, 60), (7, 9, 3, 50), (20, 40, 30, 60), (30, 60, 0, 31)):
        np.testing.assert_array_equal(kernel.block(whole.rows(a, b), whole.rows(c, d)), K[a:b, c:d])


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_threads_and_blocks_give_the_same_bits(algorithm, monkeypatch):
    X = encode(random_strings(90, 30, 100, seed=3))
    kernel = GappedKmerKernel(6, 4, estimator="truncated", d=4, algorithm=algorithm)
    K = kernel(X)
    for n_threads, step in ((1, 7), (2, 90), (3, 16)):
        spans = [(start, min(start + step, 90)) for start in range(0, 90, step)]
        monkeypatch.setattr(blocks, "row_blocks", lambda *_, spans=spans: spans)
        np.testing.assert_array_equal(kernel(X, n_threads=n_threads), K)


@pytest.mark.parametrize("estimator", ["count", "truncated"])
def test_long_repeats_do_not_overflow(estimator):
    strings = ["A" * 100_000, "A" * 50_001 + "*" + "C" * 50_001]
    kernel = raw(3, 2, estimator=estimator)
    c = gapped_weights(4, 3, 2, None, estimator)
    a, b = 99_998, 49_999
    np.testing.assert_allclose(
        kernel(encode(strings)),
        [[c[0] * a * a, (c[0] + c[3]) * a * b], [(c[0] + c[3]) * a * b, 2 * (c[0] + c[3]) * b * b]],
        rtol=1e-15 if estimator == "truncated" else 0,
    )


# ---- other programs ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "k21", "k31"),
    [
        ({"l": 10, "k": 6}, 0.0275928, 0.0282579),
        (
            {"l": 10, "k": 6, "d": 3, "estimator": "truncated", "reverse_complement": True},
            0.0182917,
            0.0434594,
        ),
    ],
)
def test_binding_sites_as_other_programs_have_them(shared_data, options, k21, k31):
    X = seqkern.read_fasta(shared_data / "tfbs" / "CTCF.train.fasta", "dna", ids="number").take(slice(0, 3))
    for algorithm in ("diagonals", "pairs", "auto"):
        K = GappedKmerKernel(**options, algorithm=algorithm)(X)
        assert K[1, 0] == pytest.approx(k21, abs=6e-8)
        assert K[2, 0] == pytest.approx(k31, abs=6e-8)


def test_a_model_of_lsgkm_decides_alike(shared_data):
    name = "wgEncodeSydhTfbsGm12878Nfe2hStdAlnRep0"
    folder = shared_data / "lsgkm_nfe2"
    train, test = (
        seqkern.read_fasta([folder / f"{name}.{part}.fa" for part in parts], "dna", ids="number")
        for parts in (("tr", "neg.tr"), ("test", "neg.test"))
    )
    told = np.concatenate([np.loadtxt(folder / f"{name}.{part}.pred.txt", usecols=1) for part in ("test", "neg.test")])
    kernel = GappedKmerKernel(10, 6, d=3, estimator="truncated", reverse_complement=True)
    y = np.repeat([1, 0], len(train) // 2)
    decided = CSVC(C=1).fit(kernel(train), y).decision_function(kernel(test, train))
    assert np.corrcoef(decided, told)[0, 1] > 0.9999
    assert np.abs(decided - told).max() < 5e-3
    assert roc_auc(np.repeat([1, 0], len(test) // 2), decided) == pytest.approx(0.9929, abs=5e-5)


def test_rbf_on_top_is_that_of_lsgkm():
    X = encode(random_strings(10, 30, 50))
    base = GappedKmerKernel(6, 4, estimator="truncated", d=3)
    expected = np.exp(base(X) - 1)
    np.testing.assert_allclose(RBFKernel(gamma=0.5, base=base)(X), expected, rtol=1e-12)
    spec = {"kernel": "rbf", "gamma": 0.5, "base": base.spec()}
    np.testing.assert_allclose(build_kernel(spec)(X), expected, rtol=1e-12)


# ---- features ------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"reverse_complement": True}, {"center_weighted": True}])
def test_features_give_the_kernel(options):
    kernel = raw(5, 3, alphabet="dna", **options)
    features = kernel.features(encode(STRINGS))
    assert features.shape == (len(STRINGS), 10 * 64)
    assert features.has_canonical_format
    np.testing.assert_allclose((features @ features.T).toarray(), kernel(encode(STRINGS)), rtol=1e-12)


def test_features_have_names():
    kernel = GappedKmerKernel(3, 2, alphabet="AB")
    names = kernel.features.names()
    assert names[:5] == ["AA*", "AB*", "BA*", "BB*", "A*A"]
    row = kernel.features(["AAB"]).toarray()[0]
    assert {name for name, value in zip(names, row, strict=True) if value} == {"AA*", "A*B", "*AB"}
    with pytest.raises(ParameterError, match="give alphabet="):
        GappedKmerKernel(3, 2).features.names()
    with pytest.raises(ParameterError, match="feature names are too many"):
        GappedKmerKernel(20, 10).features.names("dna")


def test_features_that_cannot_be_are_refused_before_the_work(monkeypatch):
    X = encode(["ACGT" * 20])
    for options in ({"estimator": "full"}, {"d": 1}):
        with pytest.raises(ParameterError, match="choose estimator=count without d"):
            GappedKmerKernel(5, 3, **options).features(X)
    with pytest.raises(ParameterError, match=r"1.94e\+11 features need about .* of memory"):
        GappedKmerKernel(20, 10).features(encode(["ACGT" * 10**6]))
    monkeypatch.setattr(gapped, "available_memory", lambda: 1000)
    with pytest.raises(ParameterError, match="of memory; choose shorter k-mers"):
        GappedKmerKernel(5, 3).features(X)


# ---- parameters and plans ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"l": 32}, "l=32 is not possible; give an integer from 1 to 31"),
        ({"l": 0}, "l=0"),
        ({"l": 6.0}, "l=6.0"),
        ({"l": 5, "k": 6}, "k=6 is not possible; give an integer from 1 to 5"),
        ({"k": 0}, "k=0"),
        ({"k": -3}, "k=-3"),
        ({"d": 11}, "d=11 is not possible; give an integer from 0 to 10"),
        ({"d": -1}, "d=-1"),
        ({"estimator": "best"}, "choose count or full or truncated"),
        ({"center_weighted": "often"}, "center_weighted='often'"),
        ({"center_weighted": True, "algorithm": "diagonals"}, "choose algorithm=subsets or algorithm=pairs"),
        ({"l": 31, "k": 15, "algorithm": "subsets"}, "l=31 is not feasible with algorithm=subsets; choose algorithm="),
        ({"algorithm": "neighbours"}, "choose auto or subsets"),
    ],
)
def test_wrong_parameters_are_named(params, message):
    with pytest.raises(ParameterError, match=message):
        GappedKmerKernel(**params)(encode(["ACGT" * 20]))


def test_sequences_that_cannot_be_compared_are_named():
    with pytest.raises(SequenceError, match=r"record '2': 3 residues are fewer than l=5; .* smaller l"):
        GappedKmerKernel(5, 3)(encode(["ACGTACGT", "ACG"]))
    with pytest.raises(SequenceError, match="zero_diagonal=zero"):
        GappedKmerKernel(5, 3, short="zero")(encode(["ACG", "AC"]))
    K = GappedKmerKernel(5, 3, short="zero", zero_diagonal="zero")(encode(["ACG", "AC"]))
    assert K.tolist() == [[0, 0], [0, 0]]
    with pytest.raises(ParameterError, match="no complement"):
        GappedKmerKernel(3, 2, reverse_complement=True)(encode(["HHEEC"], "HEC"))


def test_kernels_that_leave_out_distances_are_not_declared_semidefinite():
    assert GappedKmerKernel(6, 4).traits.positive_semidefinite
    assert GappedKmerKernel(6, 4, d=2).traits.positive_semidefinite
    assert not GappedKmerKernel(6, 4, d=1).traits.positive_semidefinite
    assert GappedKmerKernel(6, 4, estimator="truncated").traits.positive_semidefinite
    assert not GappedKmerKernel(6, 4, d=3, estimator="truncated").traits.positive_semidefinite
    eigenvalues = np.linalg.eigvalsh(raw(6, 3, d=1)(encode(naive_gapped.words("AC", 6))))
    assert eigenvalues[0] < -1


@pytest.mark.parametrize("estimator", ["count", "truncated"])
def test_clipping_sets_negative_eigenvalues_to_zero(estimator):
    lmers = np.array(list(np.ndindex(4, 4, 4, 4)))
    distances = (lmers[:, None] != lmers[None]).sum(axis=2)
    cut = np.array(gapped_weights(4, 4, 2, 1, estimator))[distances]
    values, vectors = np.linalg.eigh(cut)
    assert values[0] < -1e-3 * values[-1]
    nearest = (vectors * np.maximum(values, 0)) @ vectors.T
    clipped = np.array(gapped_weights(4, 4, 2, 1, estimator, True))[distances]
    np.testing.assert_allclose(clipped, nearest, atol=1e-12 * values[-1])


@pytest.mark.parametrize("size", [2, 4, 20])
def test_clipping_leaves_a_positive_kernel_alone(size):
    for estimator in ("count", "full", "truncated"):
        assert gapped_weights(size, 5, 3, None, estimator, True) == gapped_weights(size, 5, 3, None, estimator)


def test_clipped_kernels_are_positive_semidefinite():
    strings = ["".join(letters) for letters in product("ACGT", repeat=3)]
    cut = GappedKmerKernel(3, 1, d=1, normalize=False)
    assert not cut.traits.positive_semidefinite
    assert np.linalg.eigvalsh(cut(strings))[0] < -1
    clipped = GappedKmerKernel(3, 1, d=1, normalize=False, clip=True)
    assert clipped.traits.positive_semidefinite
    K = clipped(strings)
    assert np.linalg.eigvalsh(K)[0] > -1e-12 * K.trace()
    with pytest.raises(ParameterError, match="not a product of gapped"):
        required(clipped, "features")


def test_plan_names_the_candidates():
    proteins = encode(random_strings(100, 90, 110, letters=ACIDS) * 20, "protein")
    plan = GappedKmerKernel(6, 4).plan(proteins)
    assert plan.algorithm == "subsets"
    assert all(name in plan.reason for name in ALGORITHMS)
    dna = encode(random_strings(100, 90, 110) * 20)
    assert GappedKmerKernel(10, 6).plan(dna).algorithm == "diagonals"
    assert "diagonals" not in GappedKmerKernel(10, 6, center_weighted=True).plan(proteins).reason
    assert GappedKmerKernel(20, 10).plan(proteins).algorithm in ("diagonals", "pairs")


# ---- memory --------------------------------------------------------------------------------------


def test_memory_decides_about_the_algorithm_and_not_about_the_bits(monkeypatch):
    X = encode(random_strings(40, 60, 80))
    kernel = GappedKmerKernel(6, 4, center_weighted=True)
    fast = kernel.plan(X)
    assert fast.algorithm == "subsets"
    needed = fast.bytes - planner.Workload.of(X).output(kernel.n_threads).bytes
    K = kernel(X)
    monkeypatch.setattr(planner, "NEGLIGIBLE_BYTES", 0)
    monkeypatch.setattr(planner, "available_memory", lambda: 3 * needed - 6)
    assert kernel.plan(X).algorithm == "pairs"
    np.testing.assert_array_equal(kernel(X), K)
    rows = X.take(slice(0, 5))
    assert kernel.plan(rows, X).algorithm == "pairs"  # rows alone would fit, and follow the columns
    np.testing.assert_array_equal(kernel(rows, X), K[:5])
    monkeypatch.setattr(planner, "available_memory", lambda: 3 * needed + 6)
    assert kernel.plan(X).algorithm == "subsets"
