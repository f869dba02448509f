"""Kernels of samples with several sequences: the same numbers as the base kernel on the sequences kept apart."""

import numpy as np
import pytest
from naive import random_strings

from seqkern import SequenceSet
from seqkern.core.errors import ParameterError, SequenceError
from seqkern.kernels import build_kernel, kernel_from_state
from seqkern.kernels.decisions import attributions, kmer_weights
from seqkern.kernels.kernel_specs import kernel_text
from seqkern.sequences.joining import join_views

N = 11
LETTERS = "ACDEFGHIKLMNPQRSTVWY"
PEPTIDES = SequenceSet.from_strings(random_strings(N, 6, 12, LETTERS, seed=1), "protein", unknown="mask_all")
SITES = SequenceSet.from_strings(random_strings(N, 8, 20, seed=2), "dna", unknown="mask_all")
X = join_views({"peptide": PEPTIDES, "site": SITES})
Y = np.where(np.arange(N) % 3, 1, -1)
BASES = ("spectrum:k=2", "spectrum:k=1,normalize=false", "gappy_pair:k=1,m=2", "spectrum:k=1+2,part=1:-1")


def gram(text, sequences):
    """Return the matrix of a kernel on sequences that are kept apart."""
    return build_kernel(text)(sequences)


@pytest.mark.parametrize("base", [*BASES, "local_alignment:beta=0.2,normalize=true", "mismatch:k=3,m=1"])
def test_a_view_is_compared_as_if_it_were_alone(base):
    np.testing.assert_array_equal(gram(f"{base},view=peptide", X), gram(base, PEPTIDES))
    some = X.take([7, 2, 5])
    np.testing.assert_array_equal(
        build_kernel(f"{base},view=peptide")(some, X), build_kernel(base)(PEPTIDES.take([7, 2, 5]), PEPTIDES)
    )


def test_a_view_with_another_alphabet_is_compared_in_its_own():
    np.testing.assert_array_equal(
        gram("spectrum:k=3,reverse_complement=true,view=site", X), gram("spectrum:k=3,reverse_complement=true", SITES)
    )


def test_without_a_view_no_kmer_crosses_the_border():
    joined = gram("spectrum:k=2,normalize=false", X)
    recoded = SequenceSet.from_strings(SITES.strings(), "protein", unknown="mask_all")
    apart = gram("spectrum:k=2,normalize=false", PEPTIDES) + gram("spectrum:k=2,normalize=false", recoded)
    both = build_kernel("spectrum:k=2,normalize=false")
    cross = both(PEPTIDES, recoded) + both(recoded, PEPTIDES)
    np.testing.assert_array_equal(joined, apart + cross)


def matrices(base):
    return [gram(base, PEPTIDES), gram(base, SITES)]


@pytest.mark.parametrize("base", BASES)
def test_each_view_joins_what_the_base_gives_for_each(base):
    first, second = matrices(base)
    each = f"each_view:base=({base})"
    np.testing.assert_allclose(gram(each, X), (first + second) / 2, rtol=1e-13)
    np.testing.assert_array_equal(gram(f"{each},rule=sum", X), first + second)
    np.testing.assert_array_equal(gram(f"{each},rule=product", X), first * second)
    np.testing.assert_allclose(gram(f"{each},only=[site]", X), second, rtol=1e-13)
    learned = build_kernel(f"{each},rule=combination").fit(X, Y)
    spelled = build_kernel(f"combination:parts=[({base},view=peptide),({base},view=site)]").fit(X, Y)
    np.testing.assert_array_equal(learned(X), spelled(X))
    assert learned.learned() == spelled.learned()
    again = kernel_from_state(*learned.state())
    np.testing.assert_array_equal(again(X), learned(X))


ALT, REF = (
    SequenceSet.from_strings(random_strings(N, 14, 20, seed=seed), "dna", unknown="mask_all") for seed in (3, 4)
)
ALLELES = join_views({"alt": ALT, "ref": REF})
OF_ALLELES = ("gapped_kmer:l=4,k=2,reverse_complement=true,normalize=false", "spectrum:k=3", "oligo:k=2,sigma=1")


@pytest.mark.parametrize("base", OF_ALLELES)
def test_the_difference_is_that_of_features(base):
    B, kernel = build_kernel(base), build_kernel(f"each_view:base=({base}),rule=difference")
    K, vector = kernel(ALLELES), np.linspace(-1, 1, N)
    wanted = [
        [
            B(ALT.take([i]), ALT.take([j]))[0, 0]
            + B(REF.take([i]), REF.take([j]))[0, 0]
            - B(ALT.take([i]), REF.take([j]))[0, 0]
            - B(REF.take([i]), ALT.take([j]))[0, 0]
            for j in range(N)
        ]
        for i in range(N)
    ]
    np.testing.assert_allclose(K, wanted, atol=1e-12)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_array_equal(kernel(join_views({"alt": REF, "ref": ALT}), ALLELES), -K)
    assert not kernel(join_views({"alt": REF, "ref": REF})).any()
    shares = attributions(kernel, ALLELES, ALLELES, vector)
    np.testing.assert_allclose(np.add.reduceat(shares, np.cumsum(ALLELES.lengths) - ALLELES.lengths), K @ vector)
    for products in filter(None, (kernel.implicit, kernel.operator)):
        made = products(ALLELES)
        np.testing.assert_allclose(made.times(vector), K @ vector, atol=1e-10)
        np.testing.assert_allclose(made.take([4, 4, 1]).times([1, 2, 3]), K[np.ix_([4, 4, 1], [4, 4, 1])] @ [1, 2, 3])
    if kernel.features:
        dense = kernel.features.normalised(ALLELES).toarray()
        np.testing.assert_allclose(dense @ dense.T, K, atol=1e-12)
        weights = kmer_weights(kernel, ALLELES, ALLELES, vector)
        of_alt, of_ref = (
            {n.split()[0]: w for n, w in zip(weights.names, weights.weights, strict=True) if n.endswith(f"[{view}]")}
            for view in ("alt", "ref")
        )
        assert of_alt == {name: -weight for name, weight in of_ref.items()}
    if kernel.gradient:
        gradient, (name,) = kernel.gradient(ALLELES), kernel.gradient.tunable()
        near = (gradient.at({name: 1 + change}).matrix for change in (1e-4, -1e-4))
        np.testing.assert_allclose(gradient.derivative(name), np.subtract(*near) / 2e-4, atol=1e-6)


def test_sums_products_and_parts_over_views_follow():
    first, second = gram("spectrum:k=2", PEPTIDES), gram("spectrum:k=3", SITES)
    np.testing.assert_allclose(
        gram("0.5*spectrum:k=2,view=peptide+2*spectrum:k=3,view=site", X), 0.5 * first + 2 * second, rtol=1e-13
    )
    np.testing.assert_array_equal(gram("spectrum:k=2,view=peptide*spectrum:k=3,view=site", X), first * second)
    inside = gram("spectrum:k=1,part=-4:,view=site", X)
    np.testing.assert_array_equal(inside, gram("spectrum:k=1", SITES.part(-4, None)))


@pytest.mark.parametrize("text", ["spectrum:k=2,view=site", "each_view:base=(spectrum:k=2)"])
def test_features_products_and_the_matrix_agree(text):
    kernel, vector = build_kernel(text), np.linspace(-1, 1, N)
    K = kernel(X)
    dense = kernel.features(X).toarray()
    np.testing.assert_allclose(dense @ dense.T, K, atol=1e-12)
    np.testing.assert_allclose(kernel.implicit(X).times(vector), K @ vector, atol=1e-10)
    np.testing.assert_allclose(kernel.operator(X).times(vector), K @ vector, atol=1e-10)
    names = kernel.features.names(X)
    assert len(names) == dense.shape[1]


@pytest.mark.parametrize(
    "text",
    ["spectrum:k=2,view=site", "each_view:base=(spectrum:k=2)", "each_view:base=(gappy_pair:k=1,m=2),rule=product"],
)
def test_contributions_lie_in_the_views_and_sum_to_the_value(text):
    kernel, coefficients = build_kernel(text), np.linspace(-1, 1, N)
    assert np.isfinite(kernel(X)).all()
    shares = attributions(kernel, X, X, coefficients)
    sums = np.bincount(np.repeat(np.arange(N), X.lengths), weights=shares, minlength=N)
    np.testing.assert_allclose(sums, kernel(X) @ coefficients, atol=1e-12)
    outside = np.ones(len(shares), dtype=bool)
    before = np.cumsum(X.lengths) - X.lengths
    for name in kernel.traits.views or ("peptide", "site"):
        for start, (first, last) in zip(before, X.views[name].bounds, strict=True):
            outside[start + first : start + last] = False
    assert outside.any()
    assert not shares[outside].any()


def test_kmers_name_their_view():
    found = kmer_weights(build_kernel("each_view:base=(spectrum:k=1,normalize=false),rule=sum"), X, X, np.ones(N))
    assert {name.partition(" ")[2] for name in found.names} == {"[peptide]", "[site]"}
    assert {pattern.parts for pattern in found.found_by()} == {("peptide",), ("site",)}
    of_site = dict(zip(found.names, found.weights, strict=True))["A [site]"]
    assert of_site == sum(string.count("A") for string in SITES.strings())


def test_text_is_read_and_written_alike():
    for text in (
        "spectrum:k=2,view=a",
        "weighted_degree:degree=3,view=a",
        "each_view:base=(spectrum:k=2),rule=product",
    ):
        assert kernel_text(build_kernel(text)) == text
    assert build_kernel({"kernel": "rbf", "view": "esm"}).traits.views == ("esm",)
    assert build_kernel({"kernel": "rbf", "view": "esm"}).traits.sequence_views == ()


def test_empty_sequences_follow_the_policies_of_the_base():
    some = join_views({"a": ["ACDEF", ""], "b": ["ACD", "CDE"]}, "protein")
    with pytest.raises(SequenceError, match=r"record '2': has 0 residues|\(in the view a\)"):
        gram("each_view:base=(spectrum:k=2)", some)
    lenient = gram("each_view:base=(spectrum:k=2,short=zero,zero_diagonal=zero)", some)
    np.testing.assert_allclose(lenient, [[1, 0.25], [0.25, 0.5]])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("spectrum:view=peptides", "did you mean 'peptide'"),
        ("each_view:base=(spectrum),only=[site,b]", "unknown sequence view 'b'"),
        ("linear:view=site", "compares vectors, and the view 'site' holds sequences"),
        (
            "each_view:base=(spectrum:k=2),rule=difference,only=[site]",
            "rule=difference needs two sequences of each sample",
        ),
        ("each_view:base=(spectrum:k=2),rule=difference", "peptide is protein, but site dna"),
        ("spectrum:view=esm", "holds vectors, and the kernel compares sequences"),
        ("weighted_degree:view=site", "in the view site"),
        ("local_alignment:view=site", "in the view site"),
    ],
)
def test_a_view_that_does_not_suit_is_one_line(text, problem):
    with pytest.raises((SequenceError, ParameterError), match=problem):
        gram(text, X.replace(views={**X.views, "esm": np.zeros((N, 2))}))


def test_samples_of_other_views_are_refused():
    kernel, other = build_kernel("each_view:base=(spectrum:k=1)"), join_views({"site": SITES, "other": SITES}, "dna")
    with pytest.raises(SequenceError, match="site, other"):
        kernel(other, join_views({"site": SITES, "third": SITES}, "dna"))
    with pytest.raises(SequenceError, match="several sequences"):
        kernel(PEPTIDES)
    fitted = build_kernel("each_view:base=(spectrum:k=1),rule=combination").fit(other, Y)
    with pytest.raises(SequenceError, match="compared with site, other"):
        fitted(join_views({"site": SITES, "third": SITES}, "dna"))
