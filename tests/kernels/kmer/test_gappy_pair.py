"""The gappy pair kernel against its naive twin: plain, annotated, at positions."""

import math

import naive
import naive_pairs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import encode, random_strings

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.kernels import GappyPairKernel, SpectrumKernel, blocks
from seqkern.kernels.decisions import attributions, fold, kmer_weights
from seqkern.kernels.products import _product
from seqkern.sequences.sequence_set import SequenceSet

FORTY = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%"
AMINO = "ACDEFGHIKLMNPQRSTVWY"
ALGORITHMS = ("dense", "index")
FORMS = ("specific", "linear", "exponential", "gaussian")
STRINGS = [
    *random_strings(10, 2, 40),
    "A" * 30,
    "ACGT" * 6,
    "AC*GT*ACT*ACGTA*****ACGTAC*TTTT",
    "A*C*G*T*AC*",
    "**********",
    "GCA",
    "A",
    "",
]
each_algorithm = pytest.mark.parametrize("algorithm", ALGORITHMS)


def raw(k, m, **options):
    return GappyPairKernel(k, m, normalize=False, short="zero", **options)


def annotated(strings, notes, alphabet="dna"):
    """Return strings as a SequenceSet with a track ``heptad``."""
    codes = np.frombuffer("".join(notes).encode(), dtype=np.uint8)
    return encode(strings, alphabet).replace(tracks={"heptad": codes})


def random_notes(strings, letters="abc", seed=0):
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice([*letters], size=len(string))) for string in strings]


# ---- by hand -------------------------------------------------------------------------------------


def test_by_hand():
    # k=1, m=1. ACAC: AC CA AC, A.A C.C; CACA: CA AC CA, C.C A.A.
    # Shared: AC 2·1, CA 1·2, A.A 1, C.C 1 = 6; with themselves 4 + 1 + 1 + 1 = 7.
    X = encode(["ACAC", "CACA"])
    assert raw(1, 1)(X).tolist() == [[7, 6], [6, 7]]
    # At positions AC is at 0 and 2, and at 1: 2·E(1); CA at 1, and at 0 and 2: 2·E(1); A.A at 0 and at 1, C.C at 1
    # and at 0: E(1) each.
    K = raw(1, 1, distance_weight="linear", sigma=2)(X)
    assert K[0, 1] == 3.0
    assert K[0, 0] == 5.0
    K = raw(1, 1, distance_weight="exponential", sigma=3)(X)
    assert K[0, 1] == pytest.approx(6 * math.exp(-1 / 3), rel=1e-15)
    assert raw(1, 1, distance_weight="specific")(X).tolist() == [[5, 0], [0, 5]]


def test_by_hand_annotated():
    # With x and y as annotation letters of ACAC, xyxy, and of CACA, xyxy: the pairs of the first are ACxy, CAyx,
    # ACxy, A.Ax.x, C.Cy.y; of the second CAxy, ACyx, CAxy, C.Cx.x, A.Ay.y: none is shared.
    X = annotated(["ACAC", "CACA", "CACA"], ["xyxy", "xyxy", "yxyx"])
    K = raw(1, 1, annotation="heptad")(X)
    assert K.tolist() == [[7, 0, 6], [0, 7, 0], [6, 0, 7]]


def test_reverse_complement_by_hand():
    # AAC, m=0: AA AC; as canonical pairs (the reverse complement of AA is TT): AA, AC. GTT: GT TT: AC, AA.
    assert raw(1, 0, reverse_complement=True)(encode(["AAC", "GTT"])).tolist() == [[2, 2], [2, 2]]
    # A.G of ACG and C.T of CGT are one feature, each at position 0; A C, C G and C G, G T: AC, CG; CG, AC.
    K = raw(1, 1, reverse_complement=True, distance_weight="linear", sigma=2)(encode(["ACG", "CGT"]))
    assert K.tolist() == [[3, 2], [2, 3]]


# ---- against the naive twin ----------------------------------------------------------------------


@each_algorithm
@pytest.mark.parametrize("rc", [False, True])
@pytest.mark.parametrize("presence", [False, True])
@pytest.mark.parametrize(("k", "m"), [(1, 0), (1, 1), (1, 30), (2, 0), (2, 4), (3, 1)])
def test_equals_the_naive_twin(k, m, presence, rc, algorithm):
    options = {"presence": presence, "reverse_complement": rc}
    kernel = raw(k, m, algorithm=algorithm, **options)
    np.testing.assert_array_equal(kernel(encode(STRINGS)), naive_pairs.gappy(STRINGS, k, m, presence=presence, rc=rc))


@each_algorithm
@pytest.mark.parametrize("letters", ["AB", "HEC", FORTY, "protein", "rna"])
@pytest.mark.parametrize(("k", "m"), [(1, 3), (2, 1)])
def test_other_alphabets_equal_the_naive_twin(letters, k, m, algorithm):
    if letters == FORTY and k == 2 and algorithm == "dense":
        pytest.skip("too many features for vectors")
    pool = {"protein": AMINO, "rna": "ACGU"}.get(letters, letters)
    strings = [*random_strings(6, 0, 60, pool), pool[-1] * 20]
    X = encode(strings, letters)
    np.testing.assert_array_equal(raw(k, m, algorithm=algorithm)(X), naive_pairs.gappy(strings, k, m))
    kernel = raw(k, m, algorithm=algorithm, distance_weight="gaussian", sigma=6)
    expected = naive_pairs.gappy(strings, k, m, form="gaussian", sigma=6)
    np.testing.assert_allclose(kernel(X), expected, rtol=1e-13, atol=1e-15)


@each_algorithm
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rc", [False, True])
@pytest.mark.parametrize(("k", "m", "sigma"), [(1, 2, 3.3), (2, 1, 0.4), (2, 0, 50)])
def test_positions_equal_the_naive_twin(k, m, sigma, rc, form, algorithm):
    kernel = raw(k, m, distance_weight=form, sigma=sigma, reverse_complement=rc, algorithm=algorithm)
    expected = naive_pairs.gappy(STRINGS, k, m, form=form, sigma=sigma, rc=rc)
    K = kernel(encode(STRINGS))
    np.testing.assert_allclose(K, expected, rtol=1e-13, atol=1e-15)
    np.testing.assert_array_equal(kernel.diagonal(encode(STRINGS)), np.diagonal(K))


@each_algorithm
@pytest.mark.parametrize("rc", [False, True])
@pytest.mark.parametrize("form", [None, "linear"])
@pytest.mark.parametrize(("k", "m"), [(1, 2), (2, 1)])
def test_annotation_equals_the_naive_twin(k, m, form, rc, algorithm):
    if k == 2 and algorithm == "dense" and form is None:
        algorithm = "auto"
    notes = random_notes(STRINGS)
    kernel = raw(k, m, annotation="heptad", distance_weight=form, sigma=4, reverse_complement=rc, algorithm=algorithm)
    expected = naive_pairs.gappy(STRINGS, k, m, notes=notes, form=form, sigma=4, rc=rc)
    X = annotated(STRINGS, notes)
    np.testing.assert_allclose(kernel(X), expected, rtol=1e-13, atol=1e-15)
    for rows, cols in ((slice(0, 9), slice(9, None)), (slice(9, None), slice(0, 9))):
        np.testing.assert_array_equal(kernel(X.take(rows), X.take(cols)), kernel(X)[rows, cols])


@each_algorithm
@pytest.mark.parametrize("form", [None, "gaussian"])
@pytest.mark.parametrize("k", [1, 2])
def test_annotation_letters_that_the_columns_lack_count_in_the_norm(k, form, algorithm):
    if k == 2 and form is None:
        algorithm = "auto"
    strings = random_strings(8, 8, 40, seed=4)
    notes = random_notes(strings[:4], "bd") + random_notes(strings[4:], "abcd")
    X = annotated(strings, notes)
    kernel = GappyPairKernel(k, 2, annotation="heptad", distance_weight=form, sigma=3, algorithm=algorithm)
    expected = naive.normalised(naive_pairs.gappy(strings, k, 2, notes=notes, form=form, sigma=3))
    np.testing.assert_allclose(kernel(X.take(slice(4, 8)), X.take(slice(0, 4))), expected[4:, :4], rtol=1e-13)
    np.testing.assert_array_equal(kernel(X.take(slice(4, 8)), X.take(slice(0, 4))), kernel(X)[4:, :4])


@given(
    strings=st.lists(st.text("ABC*", max_size=20), min_size=1, max_size=5),
    k=st.integers(1, 3),
    m=st.integers(0, 6),
    form=st.sampled_from([None, *FORMS]),
    sigma=st.floats(0.2, 20),
    algorithm=st.sampled_from(ALGORITHMS),
)
def test_any_strings_equal_the_naive_twin(strings, k, m, form, sigma, algorithm):
    X = encode(strings, "ABC")
    options = {"distance_weight": form, "sigma": sigma, "algorithm": algorithm}
    kernel = GappyPairKernel(k, m, short="zero", zero_diagonal="zero", **options)
    expected = naive_pairs.gappy(strings, k, m, form=form, sigma=sigma)
    np.testing.assert_allclose(kernel(X), naive.normalised(expected), rtol=1e-12, atol=1e-14)
    kernel.set_params(normalize=False)
    np.testing.assert_allclose(kernel(X.take([0]), X), expected[:1], rtol=1e-12, atol=1e-15)
    if form is None:
        np.testing.assert_array_equal(kernel(X), expected)


@pytest.mark.parametrize("algorithm", [*ALGORITHMS, "auto"])
@pytest.mark.parametrize("form", [None, "linear"])
def test_weighted_range_is_the_sum_in_order(form, algorithm):
    ks, weights = [1, 2], [0.3, 1 / 7]
    X = encode(STRINGS)
    parts = [raw(k, 3, distance_weight=form, sigma=7)(X) for k in ks]
    kernel = raw(ks, 3, weights=weights, distance_weight=form, sigma=7, algorithm=algorithm)
    np.testing.assert_array_equal(kernel(X), naive.weighted(parts, weights))


# ---- limits --------------------------------------------------------------------------------------


@each_algorithm
@pytest.mark.parametrize("rc", [False, True])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_no_gap_is_the_spectrum_kernel_of_twice_the_length(k, rc, algorithm):
    X = encode(STRINGS)
    spectrum = SpectrumKernel(2 * k, normalize=False, short="zero", reverse_complement=rc)
    np.testing.assert_array_equal(raw(k, 0, reverse_complement=rc, algorithm=algorithm)(X), spectrum(X))


@pytest.mark.parametrize("form", [None, *FORMS])
def test_one_annotation_letter_everywhere_is_the_plain_kernel(form):
    X = annotated(STRINGS, ["q" * len(string) for string in STRINGS])
    plain = raw(2, 3, distance_weight=form, sigma=5)
    np.testing.assert_array_equal(raw(2, 3, annotation="heptad", distance_weight=form, sigma=5)(X), plain(X))


@pytest.mark.parametrize("form", FORMS[1:])
def test_small_sigma_is_the_position_specific_kernel(form):
    X = encode(STRINGS)
    specific = raw(1, 2, distance_weight="specific")(X)
    np.testing.assert_array_equal(raw(1, 2, distance_weight=form, sigma=1e-3)(X), specific)


@pytest.mark.parametrize("form", FORMS[1:])
def test_huge_sigma_is_the_plain_kernel(form):
    X = encode(STRINGS)
    np.testing.assert_allclose(raw(1, 2, distance_weight=form, sigma=1e9)(X), raw(1, 2)(X), rtol=1e-6)


@each_algorithm
@pytest.mark.parametrize("form", [None, "exponential"])
def test_levels_threads_and_blocks_give_the_same_bits(form, algorithm, monkeypatch):
    X = encode(random_strings(90, 5, 200, seed=3))
    kernel = GappyPairKernel([1, 2], 2, weights=[0.3, 0.7], distance_weight=form, sigma=4, algorithm=algorithm)
    K = kernel(X)
    highest = _product.level()
    try:
        for level in range(highest + 1):
            _product.set_level(level)
            for n_threads, step in ((1, 7), (2, 90), (3, 16)):
                spans = [(start, min(start + step, 90)) for start in range(0, 90, step)]
                monkeypatch.setattr(blocks, "row_blocks", lambda *_, spans=spans: spans)
                np.testing.assert_array_equal(kernel(X, n_threads=n_threads), K)
            monkeypatch.undo()
    finally:
        _product.set_level(highest)


@each_algorithm
def test_long_repeats_do_not_overflow(algorithm):
    strings = ["A" * 100_000, "A" * 50_001 + "*" + "C" * 50_001]
    X = encode(strings)
    # At distance d, n − d pairs in n letters.
    a, b = [100_000 - d for d in (1, 2, 3)], [50_001 - d for d in (1, 2, 3)]
    # And A.C, A..C across the mask: 1 and 2.
    K = raw(1, 2, algorithm=algorithm)(X)
    assert K.tolist() == [
        [sum(n * n for n in a), sum(n * o for n, o in zip(a, b, strict=True))],
        [sum(n * o for n, o in zip(a, b, strict=True)), 2 * sum(n * n for n in b) + 1 + 4],
    ]
    K = raw(1, 2, distance_weight="specific", algorithm=algorithm)(X)
    assert K.tolist() == [[sum(a), sum(b)], [sum(b), 2 * sum(b) + 3]]
    with pytest.raises(SequenceError, match="too many for exact sums"):
        raw(1, 2, distance_weight="linear", sigma=1e6, algorithm=algorithm)(X)


# ---- features and names --------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"presence": True}, {"reverse_complement": True}, {"weights": [0.3, 2]}])
def test_features_give_the_kernel(options):
    kernel = raw([1, 2], 2, alphabet="dna", **options)
    features = kernel.features(encode(STRINGS))
    assert features.shape == (len(STRINGS), 3 * 16 + 3 * 256)
    np.testing.assert_allclose((features @ features.T).toarray(), kernel(encode(STRINGS)), rtol=1e-12)


def test_feature_names():
    kernel = raw(1, 2, alphabet="dna")
    names = kernel.features.names()
    assert names[:3] == ["AA", "AC", "AG"]
    assert names[-1] == "T..T"
    row = kernel.features(encode(["ACTA"])).toarray()[0]
    found = {name: value for name, value in zip(names, row, strict=True) if value}
    assert found == {"AC": 1, "CT": 1, "TA": 1, "A.T": 1, "C.A": 1, "A..A": 1}


def test_features_with_annotation():
    kernel = raw(1, 1, alphabet="dna", annotation="heptad", annotation_letters="yx")
    X = annotated(["ACA", "CAC"], ["xyx", "yyx"])
    names, features = kernel.features.names(), kernel.features(X)
    assert features.shape == (2, 2 * 64)
    found = [{name: v for name, v in zip(names, row, strict=True) if v} for row in features.toarray()]
    assert found == [{"ACxy": 1, "CAyx": 1, "A.Ax.x": 1}, {"CAyy": 1, "ACyx": 1, "C.Cy.x": 1}]
    np.testing.assert_array_equal((features @ features.T).toarray(), kernel(X))
    np.testing.assert_array_equal(raw(1, 1, annotation="heptad")(X), kernel(X))


# ---- taken apart ---------------------------------------------------------------------------------

EXPLAINED = [
    {},
    {"presence": True},
    {"reverse_complement": True},
    {"annotation": "heptad"},
    {"distance_weight": "specific"},
    {"distance_weight": "linear", "sigma": 6.5},
    {"distance_weight": "gaussian", "sigma": 3, "annotation": "heptad", "reverse_complement": True},
]


def support_set():
    strings = random_strings(6, 0, 50, seed=11)
    return annotated(strings, random_notes(strings, "abe", seed=1)), np.random.default_rng(2).standard_normal(6)


@pytest.mark.parametrize("options", EXPLAINED)
@pytest.mark.parametrize("normalize", [False, True])
def test_letters_add_up_to_the_decision(normalize, options):
    support, coefficients = support_set()
    X = annotated(STRINGS, random_notes(STRINGS))
    kernel = GappyPairKernel(
        [1, 2], 2, weights=[0.3, 2], normalize=normalize, short="zero", zero_diagonal="zero", **options
    )
    letters = attributions(kernel, X, support, coefficients)
    record = np.repeat(np.arange(len(X)), X.lengths)
    sums = np.bincount(record, weights=letters, minlength=len(X))
    np.testing.assert_allclose(sums, kernel(X, support) @ coefficients, rtol=1e-9, atol=1e-12)
    assert not letters[X.codes == 255].any()


@pytest.mark.parametrize("options", EXPLAINED)
def test_folded_is_the_matrix_times_the_coefficients(options):
    support, coefficients = support_set()
    X = annotated(STRINGS, random_notes(STRINGS))
    kernel = raw([1, 2], 2, weights=[0.3, 2], **options)
    columns = kernel.prepare(support)
    values = fold(kernel, columns, coefficients)(kernel.prepare(X, like=columns))
    np.testing.assert_allclose(values, kernel(X, support) @ coefficients, rtol=1e-9, atol=1e-12)


def test_letters_share_by_hand():
    # AC.. in ACG is found once in the support AC with coefficient 3: half each for A and C.
    kernel = raw(1, 1)
    assert attributions(kernel, encode(["ACG"]), encode(["AC"]), np.array([3.0])).tolist() == [1.5, 1.5, 0]
    # One letter apart, at half the weight.
    kernel = raw(1, 1, distance_weight="linear", sigma=2)
    assert attributions(kernel, encode(["TACG"]), encode(["AC"]), np.array([3.0])).tolist() == [0, 0.75, 0.75, 0]


def test_word_weights_by_hand():
    X, support = encode(["ACG"]), encode(["ACAC", "AG"])
    words, weights, _ = kmer_weights(raw(1, 1), X, support, np.array([3.0, 5.0]))
    found = dict(zip(words, weights, strict=True))
    assert found == {"AC": 6, "CG": 0, "A.G": 0, "CA": 3, "A.A": 3, "C.C": 3, "AG": 5}
    # AC at 0 in X; at 0 and 2 in the first support record, E(2) = 1/3: each occurrence adds 3·(1 + 1/3).
    words, weights, _ = kmer_weights(raw(1, 1, distance_weight="linear", sigma=3), X, support, np.array([3.0, 5.0]))
    found = dict(zip(words, weights, strict=True))
    assert found["AC"] == pytest.approx(4)
    assert found["AG"] == 5


@pytest.mark.parametrize("options", [{}, {"annotation": "heptad"}, {"reverse_complement": True}])
def test_words_add_up_to_the_decision(options):
    support, coefficients = support_set()
    X = annotated(STRINGS, random_notes(STRINGS))
    words, weights, _ = kmer_weights(raw(1, 2, **options), X, support, coefficients)
    assert len(set(words)) == len(words)
    letters = {"annotation_letters": "abce"} if "annotation" in options else {}
    kernel = raw(1, 2, alphabet="dna", **options, **letters)
    known = dict(zip(words, weights, strict=True))
    vector = np.array([known.get(name, 0.0) for name in kernel.features.names()])
    np.testing.assert_allclose(kernel.features(X) @ vector, kernel(X, support) @ coefficients, rtol=1e-9, atol=1e-12)


def test_annotation_letters_that_cannot_be_printed_are_numbers():
    X = encode(["AC"]).replace(tracks={"heptad": np.array([0, 7], dtype=np.uint8)})
    words, _, _ = kmer_weights(raw(1, 0, annotation="heptad"), X, X, np.ones(1))
    assert words == ["AC<0><7>"]


# ---- plans and errors ----------------------------------------------------------------------------


def test_plan_names_the_candidates():
    X = encode(random_strings(50, 90, 110, letters=AMINO), "protein")
    assert GappyPairKernel(2, 4).plan(X).algorithm == "index"
    plan = GappyPairKernel(1, 4).plan(X)
    assert plan.algorithm == "dense"
    assert all(name in plan.reason for name in ALGORITHMS)
    X = encode(random_strings(300, 90, 110))
    assert GappyPairKernel(1, 2, distance_weight="gaussian", sigma=20).plan(X).algorithm == "dense"
    assert GappyPairKernel(3, 1, distance_weight="specific").plan(X).algorithm == "index"


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"m": -1}, "m=-1"),
        ({"k": 0}, "k=0"),
        ({"sigma": 0}, "sigma=0"),
        ({"distance_weight": "cosine"}, "specific or linear or exponential or gaussian"),
        ({"distance_weight": "linear", "presence": True}, "presence does not apply"),
        ({"annotation_letters": "aa"}, "give distinct ASCII letters"),
        ({"annotation_letters": ""}, "give distinct ASCII letters"),
        ({"k": 16}, "choose k up to 15"),
        ({"k": 9999}, "choose k up to 15"),
        ({"k": 1, "m": 10**18}, "choose fewer distances"),
        ({"k": 6, "algorithm": "dense"}, "choose algorithm=index"),
        ({"k": 2, "weights": [1, 2]}, "weights has 2 numbers, k has 1"),
    ],
)
def test_wrong_parameters_are_named(params, message):
    with pytest.raises(ParameterError, match=message):
        GappyPairKernel(**params)(encode(["ACGT" * 20]))


def test_what_has_no_explicit_features_says_so():
    X = annotated(["ACGT"], ["aabb"])
    with pytest.raises(ParameterError, match="remove distance_weight"):
        GappyPairKernel(distance_weight="linear").features(X)
    with pytest.raises(ParameterError, match="give annotation_letters"):
        GappyPairKernel(annotation="heptad").features(X)
    with pytest.raises(ParameterError, match="give alphabet"):
        GappyPairKernel().features.names()
    with pytest.raises(ParameterError, match="too many"):
        GappyPairKernel(3, alphabet="protein").features.names()


def test_wrong_sequences_are_named():
    with pytest.raises(SequenceError, match=r"record '2': 3 residues are too few: a pair of k-mers needs 4"):
        GappyPairKernel(2, 1)(encode(["ACGTACGT", "ACG"]))
    with pytest.raises(SequenceError, match="needs the track 'heptad'"):
        GappyPairKernel(annotation="heptad")(encode(["ACGTACGT"]))
    X = annotated(["A*CA", "ACGT"], ["abab", "abxb"])
    with pytest.raises(SequenceError, match=r"record '2': annotation letter 'x' is not one of 'ab'"):
        GappyPairKernel(annotation="heptad", annotation_letters="ab")(X)
    columns = np.zeros((4, 3), dtype=np.float32)
    profile = SequenceSet.from_offsets(np.zeros(4, np.uint8), [0, 4], ["1"], "dna", {"heptad": columns})
    with pytest.raises(SequenceError, match="has no letters"):
        GappyPairKernel(annotation="heptad")(profile)


def test_a_masked_letter_has_no_annotation():
    X = annotated(["A*CA"], ["axab"])
    assert GappyPairKernel(1, 1, annotation="heptad", annotation_letters="ab", normalize=False)(X).item() == 2
