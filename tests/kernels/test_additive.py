"""Σ_j c_j·K(x, z_j) of every kernel: folded, and shared among letters and words."""

import copy
from collections import Counter

import numpy as np
import pytest
from naive import encode, kmers, random_strings, reverse_complement
from test_kernel_contract import EXAMPLES, learn, random_sequences

from seqkern.core.errors import NoKmersError, ParameterError, SequenceError
from seqkern.gram.transforms import build_transform
from seqkern.kernels import SpectrumKernel, build_kernel
from seqkern.kernels.decisions import attributions, fold, kmer_weights
from seqkern.kernels.kernel import Kernel
from seqkern.kernels.occurrences import spread
from seqkern.kernels.products.product import FeatureKernel, RealDenseBlock, RealSparseBlock, Term, TermBlocks
from seqkern.methods.model import affine_form
from seqkern.sequences.tables import FeatureTable
from seqkern.solvers import make_solver

pytestmark = pytest.mark.contract
# those that can be taken apart: a kernel need not
OF_SEQUENCES = {
    key: kernel
    for key, kernel in EXAMPLES.items()
    if kernel.traits.accepts == "sequences" and type(kernel)._attribute is not Kernel._attribute
}
BY_MATRIX = {"polynomial", "product", "rbf", "sigmoid", "string"}
BY_MATRIX |= {"locality_improved", "codon_improved", "local_alignment", "profile_alignment", "smith_waterman"}
BY_MATRIX |= {"generic_string"}
BY_MATRIX |= {"property", "pssm_window", "window"}  # unless linear
BY_MATRIX |= {"weighted_degree", "shifted_weighted_degree"}  # of few sequences; of many see test_position_weights


def wordless(kernel):
    """Tell whether a kernel has no k-mers to weigh: it writes no weights, or has them of other base kernels alone."""
    given = kernel.name in ("nystroem", "profile", "random_fourier")
    return given or type(kernel)._kmer_weights is Kernel._kmer_weights


def sums_of(X, shares):
    """The sum over the letters of each record."""
    return np.array([part.sum() for part in np.split(shares, np.cumsum(X.lengths)[:-1])])


@pytest.fixture(params=OF_SEQUENCES.values(), ids=OF_SEQUENCES)
def case(request):
    """A kernel, sequences to be decided about, support sequences, coefficients; the kernel fitted on the support."""
    kernel = request.param
    X, support = random_sequences(kernel, seed=1), random_sequences(kernel, seed=2)
    return learn(kernel, support), X, support, np.random.default_rng(3).normal(size=len(support))


def expected(kernel, X, support, coefficients):
    """Return Σ_j c_j·K(x, z_j), and how far from it a value may be."""
    terms = kernel(X, support) * coefficients
    limit = 1e-6 if getattr(kernel, "precision", "double") == "single" else 1e-9
    return terms.sum(axis=1), limit * np.abs(terms).sum(axis=1)


def test_letters_share_the_whole_value(case):
    kernel, X, support, coefficients = case
    shares = attributions(kernel, X, support, coefficients)
    assert shares.shape == (X.lengths.sum(),)
    value, limit = expected(kernel, X, support, coefficients)
    assert np.all(np.abs(sums_of(X, shares) - value) <= limit)
    assert np.abs(shares).max() > 0
    # they are those of each sequence alone
    together = np.split(shares, np.cumsum(X.lengths)[:-1])
    for i in (0, 2, len(X) - 1):
        alone = attributions(kernel, X.take([i]), support, coefficients)
        np.testing.assert_allclose(alone, together[i], rtol=1e-9, atol=1e-12 * np.abs(together[i]).max())
    # and linear in the coefficients
    halves = [
        attributions(kernel, X, support, np.where(np.arange(len(support)) % 2 == odd, coefficients, 0.0))
        for odd in (0, 1)
    ]
    np.testing.assert_allclose(sum(halves), shares, rtol=1e-9, atol=1e-9 * np.abs(shares).max())


def test_words_have_weights(case):
    kernel, X, support, coefficients = case
    if kernel.name == "string" and kernel.n is None:
        with pytest.raises(ParameterError, match="choose an n"):
            kmer_weights(kernel, X, support, coefficients)
        return
    if wordless(kernel):
        with pytest.raises(NoKmersError):
            kmer_weights(kernel, X, support, coefficients)
        return
    words, weights, _ = kmer_weights(kernel, X, support, coefficients)
    assert len(words) == len(weights) == len(set(words)) > 0
    assert all(isinstance(word, str) for word in words)
    assert np.isfinite(weights).all()
    assert np.abs(weights).max() > 0
    double = kmer_weights(kernel, X, support, 2 * coefficients)
    assert double[0] == words
    np.testing.assert_allclose(double[1], 2 * weights, rtol=1e-9, atol=1e-9 * np.abs(weights).max())


NOT_ALONE = {
    "combination": "a word of one part may hold words of another",
    "sum": "a word of one part may hold words of another, and parts are normalised each",
    "part": "a sequence that is the word has it at another place",
    "view": "a sequence that is the word is not one of several",
    "each_view": "a sequence that is the word is not one of several",
    "pairwise": "the base is normalised",
    "likelihood": "the base is normalised",
    "oligo_distance": "each of the two k-mers is a pair with itself too",
    "motif": "a motif is no letters; see test_motif",
    "string": "weights are those of subsequences, for which a word counts decay^n",
}


@pytest.mark.nightly
def test_a_sequence_that_is_one_word_has_its_weight(case):
    kernel, X, support, coefficients = case
    if kernel.name in NOT_ALONE:
        pytest.skip(NOT_ALONE[kernel.name])
    if wordless(kernel):
        pytest.skip("has no k-mers")
    if kernel.traits.kmers_vary:
        pytest.skip("weights are means")
    if isinstance(getattr(kernel, "k", None), list):
        pytest.skip("long words hold short ones")
    if getattr(kernel, "center_weighted", False):
        pytest.skip("a window in the middle of a long sequence counts more than one alone")
    kernel = copy.copy(kernel).set_params(normalize=False)
    found = kmer_weights(kernel, X, support, coefficients)
    if kernel.traits.tracks:
        assert set(found.found_by()) == {None}
        pytest.skip("an annotated pair cannot be made of its letters")
    strings = []
    for pattern in found.found_by():
        letters = ["*"] * (max(pattern.offsets) + 1)
        for letter, offset in zip(pattern.letters, pattern.offsets, strict=True):
            letters[offset] = letter
        strings.append("".join(letters))
    value, limit = expected(kernel, encode(strings, X.alphabet), support, coefficients)
    assert np.all(np.abs(found.weights - value) <= limit + 1e-12)


def test_fold_gives_the_values_of_the_matrix(case):
    kernel, X, support, coefficients = case
    columns = kernel.prepare(support)
    folded = fold(kernel, columns, coefficients)
    linear = getattr(kernel, "vector_kernel", None) == "linear"
    if kernel.name != "shifted_weighted_degree":  # where it is expected to be faster
        name = kernel.base.name if kernel.name in ("each_view", "likelihood") else kernel.name
        by_matrix = name in BY_MATRIX or getattr(kernel, "rule", None) == "product"
        assert (folded is None) == (by_matrix and not linear)
    if folded is None:
        return
    rows = kernel.prepare(X, like=columns)
    value, limit = expected(kernel, X, support, coefficients)
    values = folded(rows)
    assert np.all(np.abs(values - value) <= limit)
    one_by_one = [folded(rows.rows(i, i + 1)) for i in range(len(X))]
    assert np.concatenate(one_by_one).tobytes() == values.tobytes()
    alone = [folded(kernel.prepare(X.take([i]), like=columns)) for i in range(len(X))]
    assert np.concatenate(alone).tobytes() == values.tobytes()


# ---- the spectrum kernel, against the definition ----------------------------------------------------------


def naive_shares(strings, support, coefficients, k, presence, rc):
    """Each occurrence of a word adds its weight, shared by its letters; with `presence` the first sharing is among
    the occurrences."""

    def words(string):
        return [min(word, reverse_complement(word)) if rc else word for word in kmers(string, k)]

    weight = Counter()
    for string, c in zip(support, coefficients, strict=True):
        for word, count in Counter(words(string)).items():
            weight[word] += c * (1 if presence else count)
    shares = []
    for string in strings:
        own, counts = np.zeros(len(string)), Counter(words(string))
        for i in range(len(string) - k + 1):
            word = string[i : i + k]
            if "*" not in word:
                word = min(word, reverse_complement(word)) if rc else word
                own[i : i + k] += weight[word] / k / (counts[word] if presence else 1)
        shares.append(own)
    return np.concatenate(shares), weight


@pytest.mark.parametrize("rc", [False, True])
@pytest.mark.parametrize("presence", [False, True])
@pytest.mark.parametrize("k", [1, 3, 40])
def test_spectrum_shares_are_the_naive_ones(k, presence, rc):
    strings, support = random_strings(9, 0, 70, seed=1), random_strings(11, 0, 70, seed=2)
    strings += ["A" * 50, "*" * 9, ""]
    support += ["A" * 45, strings[0]]
    coefficients = np.random.default_rng(0).normal(size=len(support))
    kernel = SpectrumKernel(k, presence=presence, reverse_complement=rc, normalize=False, short="zero")
    X, Z = encode(strings), encode(support)
    shares, weight = naive_shares(strings, support, coefficients, k, presence, rc)
    np.testing.assert_allclose(attributions(kernel, X, Z, coefficients), shares, rtol=1e-12, atol=1e-12)
    words, weights, _ = kmer_weights(kernel, X, Z, coefficients)
    found = {min(w, reverse_complement(w)) if rc else w for s in (*strings, *support) for w in kmers(s, k)}
    assert set(words) == found
    np.testing.assert_allclose(weights, [weight[word] for word in words], rtol=1e-12, atol=1e-12)


def test_mixed_spectrum_adds_its_lengths():
    X, Z = encode(random_strings(5, 10, 30, seed=1)), encode(random_strings(7, 10, 30, seed=2))
    c = np.random.default_rng(0).normal(size=7)
    kernel = SpectrumKernel([2, 3], weights=[0.5, 2.0], normalize=False)
    parts = [attributions(SpectrumKernel(k, normalize=False), X, Z, c) for k in (2, 3)]
    np.testing.assert_allclose(attributions(kernel, X, Z, c), 0.5 * parts[0] + 2.0 * parts[1], rtol=1e-12)


def test_protein_words_are_spelled():
    kernel = SpectrumKernel(2, normalize=False)
    X = encode(["WYVW"], "protein")
    words, weights, _ = kmer_weights(kernel, X, X, np.array([1.0]))
    assert dict(zip(words, weights.tolist(), strict=True)) == {"WY": 1.0, "YV": 1.0, "VW": 1.0}


def test_spread_shares_equally():
    np.testing.assert_array_equal(spread([3.0, 1.0], [0, 1], (0, 2), 4), [1.5, 0.5, 1.5, 0.5])


# ---- kernels made of kernels ------------------------------------------------------------------------------


def data():
    X, Z = encode(random_strings(6, 20, 30, seed=1)), encode(random_strings(8, 20, 30, seed=2))
    return X, Z, np.random.default_rng(0).normal(size=8)


def test_part_gives_nothing_to_the_other_letters():
    X, Z, c = data()
    shares = np.split(attributions(build_kernel("spectrum:k=2,part=3:-4"), X, Z, c), np.cumsum(X.lengths)[:-1])
    inner = attributions(build_kernel("spectrum:k=2"), X.part(3, -4), Z.part(3, -4), c)
    assert all(not part[:3].any() and not part[-4:].any() for part in shares)
    np.testing.assert_array_equal(np.concatenate([part[3:-4] for part in shares]), inner)
    words, _, _ = kmer_weights(build_kernel("spectrum:k=2,part=3:-4"), X, Z, c)
    assert all(word.endswith(" [3:-4]") for word in words)


def test_a_polynomial_of_degree_one_is_its_base():
    X, Z, c = data()
    kernel = build_kernel("polynomial:degree=1,gamma=2,coef0=0,base=(spectrum:k=2)")
    base = attributions(build_kernel("spectrum:k=2"), X, Z, c)
    np.testing.assert_allclose(attributions(kernel, X, Z, c), 2 * base, rtol=1e-9, atol=1e-12)


def test_a_product_of_two_equals_is_their_square():
    X, Z, c = data()
    product = attributions(build_kernel("spectrum:k=2*spectrum:k=2"), X, Z, c)
    square = attributions(build_kernel("polynomial:degree=2,coef0=0,base=(spectrum:k=2)"), X, Z, c)
    np.testing.assert_allclose(product, square, rtol=1e-9, atol=1e-12)


def test_what_rests_on_no_letter_is_shared_by_all():
    kernel = build_kernel("rbf:gamma=0.5,base=(spectrum:k=3)")
    X, Z = encode(["AAAAACC"]), encode(["GGGGGG"])
    value = kernel(X, Z)[0, 0]
    assert value > 0
    np.testing.assert_allclose(attributions(kernel, X, Z, np.array([2.0])), np.full(7, 2 * value / 7))


def test_a_radial_function_is_shared_by_hand():
    # K = 2, from the As; K(x, x) = 5, K(z, z) = 2: f(K) = exp(−3/2), f(0) = exp(−7/2)
    kernel = build_kernel("rbf:gamma=0.5,base=(spectrum:k=1,normalize=false)")
    shares = attributions(kernel, encode(["AAC"]), encode(["AG"]), np.array([3.0]))
    rest, more = np.exp(-3.5), np.exp(-1.5) - np.exp(-3.5)
    np.testing.assert_allclose(shares, 3 * np.array([rest / 3 + more / 2, rest / 3 + more / 2, rest / 3]), rtol=1e-12)


OF_ANOTHER = {
    "polynomial:degree=3,gamma=0.5,coef0=2": (lambda K, d, e: (K / 2 + 2) ** 3, lambda d, e: 6.0),
    "rbf:gamma=0.3": (
        lambda K, d, e: np.exp(-0.3 * max(d + e - 2 * K, 0)),
        lambda d, e: 0.6 * np.exp(-0.3 * (d + e)),
    ),
    "sigmoid:gamma=0.7,coef0=-1": (lambda K, d, e: np.tanh(0.7 * K - 1), lambda d, e: 0.7 * (1 - np.tanh(1) ** 2)),
}


@pytest.mark.parametrize("spec", OF_ANOTHER)
def test_slopes_are_those_of_the_function(spec):
    function, derivative = OF_ANOTHER[spec]
    kernel = build_kernel(f"{spec},base=(spectrum:k=2)")
    block = np.array([[0.9, 0.3, -0.2, 0.0, 1e-13, -1e-300, -4.0, 40.0]])
    rows, cols = np.array([1.0]), np.array([1.0, 2.0, 0.5, 3.0, 1.0, 1.0, 9.0, 70.0])
    slopes = kernel._slopes(block, rows, cols)[0]
    for slope, K, e in zip(slopes, block[0], cols, strict=True):
        if abs(K) < 1e-10:
            assert slope == pytest.approx(derivative(1.0, e), rel=1e-9)
        else:
            assert slope == pytest.approx((function(K, 1.0, e) - function(0.0, 1.0, e)) / K, rel=1e-9)


def test_the_slope_of_a_radial_function_ends_where_the_distance_is_0():
    kernel = build_kernel("rbf:gamma=0.3,base=(spectrum:k=2)")
    block, rows, cols = np.array([[2.0, 1.0, -3.0, 0.0]]), np.array([-1.0]), np.array([3.0, 0.5, 0.5, 0.5])
    values = np.array([1.0, 1.0, np.exp(-0.3 * 5.5), 1.0])
    at_zero = np.array([np.exp(-0.6), 1.0, 1.0, 1.0])
    np.testing.assert_allclose(kernel._slopes(block, rows, cols)[0] * block[0], values - at_zero, rtol=1e-12)


STEEPEST = {
    "polynomial:degree=3,gamma=0.5,coef0=2": lambda K: 1.5 * (np.abs(K) / 2 + 2) ** 2,
    "rbf:gamma=0.3": lambda K: np.full_like(K, 0.6),
    "sigmoid:gamma=0.7,coef0=-1": lambda K: np.full_like(K, 0.7),
}


@pytest.mark.parametrize("spec", STEEPEST)
@pytest.mark.parametrize("base", ["spectrum:k=6", "gapped_kmer:l=6,k=3,estimator=full,normalize=false"])
def test_little_in_common_gives_little_to_a_letter(spec, base):
    """What a letter has beyond its even share is bounded by the steepest slope times what it has in the base kernel."""
    kernel, inner = build_kernel(f"{spec},base=({base})"), build_kernel(base)
    X = encode(["ACGTAC" + "A" * 200, "C" * 60, *random_strings(20, 30, 60, seed=5)])
    Z = encode(["ACGTAC" + "G" * 200, *random_strings(20, 30, 60, seed=6)])
    if "estimator" in base:
        assert inner(X, Z).min() < 0
    for j in range(len(Z)):
        z, one = Z.take([j]), np.array([1.0])
        shares, own = attributions(kernel, X, z, one), attributions(inner, X, z, one)
        np.testing.assert_allclose(sums_of(X, shares), kernel(X, z)[:, 0], rtol=1e-9, atol=1e-12)
        K = inner(X, z)
        nothing = np.zeros_like(K)
        kernel._change(nothing, inner.diagonal(X), inner.diagonal(z))
        even, most = nothing[:, 0] / X.lengths, STEEPEST[spec](K[:, 0])
        bound = np.repeat(most, X.lengths) * np.abs(own) * (1 + 1e-9) + 1e-15
        assert np.all(np.abs(shares - np.repeat(even, X.lengths)) <= bound)


@pytest.mark.parametrize("spec", ["polynomial:degree=2", "rbf:gamma=2", "sigmoid:coef0=1"])
def test_a_letter_more_in_common_changes_little(spec):
    """Contributions do not jump when K leaves 0."""
    kernel = build_kernel(f"{spec},base=(spectrum:k=2)")
    support = encode(["G" * 400, "G" * 400 + "CA"])
    none, some = (attributions(kernel, encode(["CACCA"]), support.take([j]), np.array([1.0])) for j in (0, 1))
    assert np.abs(some - none).max() < 0.02
    assert some[0] > none[0]


def test_a_sequence_without_letters_cannot_share():
    kernel = build_kernel("rbf:gamma=0.5,base=(spectrum:k=3,short=zero,normalize=false)")
    with pytest.raises(SequenceError, match=r"'2'.*no residues"):
        attributions(kernel, encode(["AAAA", ""]), encode(["AAAA"]), np.array([1.0]))


def test_pairwise_radial_is_refused_with_a_remedy():
    X, Z, c = data()
    kernel = build_kernel("pairwise:vector_kernel=rbf,base=(spectrum:k=2)").fit(Z)
    with pytest.raises(ParameterError, match="vector_kernel=linear"):
        attributions(kernel, X, Z, c)


def test_kernels_of_numbers_fold_but_have_no_letters():
    rng = np.random.default_rng(0)
    X, Z = FeatureTable(rng.normal(size=(5, 3))), FeatureTable(rng.normal(size=(7, 3)))
    c = rng.normal(size=7)
    kernel = build_kernel("linear:normalize=true")
    columns = kernel.prepare(Z)
    rows = kernel.prepare(X, like=columns)
    np.testing.assert_allclose(fold(kernel, columns, c)(rows), kernel(X, Z) @ c, rtol=1e-12)
    with pytest.raises(ParameterError, match="residue by residue"):
        kernel._attribute(X, Z, c)


# ---- blocks of features -----------------------------------------------------------------------------------


class RealKernel(FeatureKernel):
    """Real features, for the blocks that no kernel of this package has yet."""

    normalize = False

    def __init__(self, block):
        self.block_type = block

    def _prepare(self, X, like):
        return TermBlocks([Term(0.7, [(1, self.block_type(X.values))])], 2.0)


@pytest.mark.parametrize("block", [RealDenseBlock, RealSparseBlock])
def test_real_blocks_fold(block):
    rng = np.random.default_rng(0)
    X, Z = (np.where(rng.random((n, 6)) < 0.4, rng.normal(size=(n, 6)), 0.0) for n in (40, 37))
    c = rng.normal(size=37)
    kernel = RealKernel(block)
    cols, rows = (kernel._prepare(FeatureTable(values), None) for values in (Z, X))
    values = kernel._fold(cols, c)(rows)
    np.testing.assert_allclose(values, 1.4 * (X @ Z.T) @ c, rtol=1e-12, atol=1e-12)
    assert kernel._fold(cols, c)(rows.rows(17, 35)).tobytes() == values[17:35].tobytes()
    half = kernel._fold(cols.rows(5, 30), c[5:30])(rows)
    np.testing.assert_allclose(half, 1.4 * (X @ Z[5:30].T) @ c[5:30], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("longest", [60, 2000, 70_000])
def test_dense_counts_of_every_width_fold(longest):
    strings = ["A" * longest, "ACGT" * 9, *random_strings(20, 5, 60)]
    kernel = SpectrumKernel(2, normalize=False, algorithm="dense")
    X = encode(strings)
    columns = kernel.prepare(X)
    c = np.random.default_rng(0).normal(size=len(X))
    value = kernel(X) @ c
    np.testing.assert_allclose(fold(kernel, columns, c)(columns), value, rtol=1e-9)


# ---- machines ---------------------------------------------------------------------------------------------

CHAINS = [
    [],
    ["centre"],
    ["normalise"],
    ["normalise:zero_diagonal=zero"],
    ["repair:method=flip"],
    ["repair:method=clip", "centre"],
    ["repair:method=shift", "normalise", "centre"],
]


def fitted(solver, chain, kernel):
    """Return (X, solver, transforms) of a machine on an indefinite kernel, and the decisions about new units."""
    X, Z = encode(random_strings(12, 20, 30, seed=1)), encode(random_strings(30, 20, 30, seed=2))
    y = np.where(np.arange(30) % 3 == 0, 1.0, -1.0)
    kernel = build_kernel(kernel)
    K, diagonal, transforms = kernel(Z), kernel.diagonal(Z), []
    K_new, new_diagonal = kernel(X, Z), kernel.diagonal(X)
    for spec in chain:
        transforms.append(build_transform(spec).fit(K, diagonal))
        K, diagonal = transforms[-1].transform_train()
        K_new, new_diagonal = transforms[-1].transform(K_new, new_diagonal)
    machine = make_solver(solver, "binary").fit(np.ascontiguousarray(K), y)
    return kernel, X, Z, machine, transforms, machine.decision_function(K_new)


@pytest.mark.parametrize("chain", CHAINS, ids=str)
@pytest.mark.parametrize("solver", ["csvc:C=1", "psvc:epsilon=0.1"])
@pytest.mark.parametrize("kernel", ["spectrum:k=2,normalize=false", "sigmoid:coef0=-1,base=(spectrum:k=2)"])
def test_affine_form_is_the_decision(solver, chain, kernel):
    if "sigmoid" in kernel and any("normalise" in item for item in chain):
        pytest.skip("its diagonal is not positive")
    kernel, X, Z, machine, transforms, decision = fitted(solver, chain, kernel)
    form = affine_form(kernel, Z, machine, transforms)
    shares = form.attributions(X)
    np.testing.assert_allclose(sums_of(X, shares) + form.constant, decision, rtol=1e-9, atol=1e-9)
    columns = kernel.prepare(Z)
    folded = form.fold(columns)
    if folded is not None:
        np.testing.assert_allclose(folded(kernel.prepare(X, like=columns)), decision, rtol=1e-9, atol=1e-10)


def test_normalising_what_is_centred_is_refused():
    kernel, _, Z, machine, transforms, _ = fitted("csvc", ["centre", "normalise"], "spectrum:k=2,normalize=false")
    with pytest.raises(ParameterError, match="normalise first"):
        affine_form(kernel, Z, machine, transforms)


def test_a_solver_that_is_no_sum_is_refused():
    kernel, _, Z, machine, transforms, _ = fitted("csvc", [], "spectrum:k=2")
    machine.linear = lambda: None
    with pytest.raises(ParameterError, match="choose a solver"):
        affine_form(kernel, Z, machine, transforms)
