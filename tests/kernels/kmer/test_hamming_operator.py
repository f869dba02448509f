"""Products with the kernel matrix by a transform over all l-mers, against the Gram matrix."""

import tracemalloc
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from naive import hamming, random_strings, reverse_complement

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.core.threads import given_threads
from seqkern.kernels import MismatchKernel, build_kernel
from seqkern.kernels.capabilities import required
from seqkern.kernels.decisions import fold
from seqkern.kernels.kernel_operator import Implicit
from seqkern.kernels.kmer import _tables, hamming_operator
from seqkern.kernels.kmer import hamming as lmer_tables
from seqkern.kernels.kmer.hamming_operator import HammingOperator, LmerTransform
from seqkern.kernels.kmer.kmer_kernel import KmerKernel
from seqkern.kernels.products.product import DeferredBlocks
from seqkern.sequences.alphabets import as_alphabet
from seqkern.sequences.sequence_set import SequenceSet

PROTEIN = "ACDEFGHIKLMNPQRSTVWY"
DNA = SequenceSet.from_strings(
    [*random_strings(14, 16, 60), "A" * 40, "ACGT" * 8, "AC*GT*ACT*ACGTACA*****ACGTAC*TTTT", "***", "GCA", ""],
    "dna",
    unknown="mask_all",
)
PROTEINS = SequenceSet.from_strings(
    [*random_strings(14, 16, 60, PROTEIN, seed=1), "MKV*LLAW*", "M", ""], "protein", unknown="mask_all"
)
LENIENT = ",short=zero,zero_diagonal=zero"
KERNELS = [
    "mismatch:k=4,m=0",
    "mismatch:k=4,m=1,reverse_complement=true",
    "mismatch:k=3+5,m=1,weights=[0.5,2],reverse_complement=true",
    "mismatch:k=3,m=1,presence=true",
    "wildcard:k=5,m=2",
    "wildcard:k=4,m=1,decay=0.3,reverse_complement=true",
    "gapped_kmer:l=6,k=4",
    "gapped_kmer:l=7,k=4,reverse_complement=true",
    "gapped_kmer:l=8,k=5,d=2,reverse_complement=true",
    "gapped_kmer:l=7,k=4,d=2,clip=true,reverse_complement=true",
    "gapped_kmer:l=5,k=3,estimator=full,reverse_complement=true",
    "gapped_kmer:l=9,k=5,d=3,estimator=truncated,reverse_complement=true",
    "gapped_kmer:l=5,k=3,center_weighted=true",
    "gapped_kmer:l=7,k=3,estimator=truncated,center_weighted=true,reverse_complement=true",
    "gapped_kmer:l=1,k=1,reverse_complement=true",
]
SUMS = [
    f"0.5*(gapped_kmer:l=5,k=3{LENIENT})+(spectrum:k=3{LENIENT})",
    f"(gapped_kmer:l=5,k=3,normalize=false{LENIENT})+3*(mismatch:k=4,m=1{LENIENT})",
    f"gapped_kmer:l=5,k=3,reverse_complement=true,part=2:-3{LENIENT}",
    f"0.5*((gapped_kmer:l=4,k=3{LENIENT})+(mismatch:k=3,m=1,part=4:{LENIENT}))+(spectrum:k=2{LENIENT})",
]


def close(got, K, coefficients):
    """Compare a product with that of the matrix."""
    scale = np.abs(K) @ np.abs(coefficients)
    np.testing.assert_allclose(got, K @ coefficients, rtol=1e-9, atol=1e-12 * scale.max(initial=1e-300))


def check(kernel, X):
    """Compare all products with those of the matrix."""
    K, operator = kernel(X), kernel.operator(X)
    rng = np.random.default_rng(3)
    coefficients = rng.normal(size=len(X))
    assert len(operator) == len(X)
    np.testing.assert_allclose(operator.squares, np.diag(K), rtol=1e-12)
    assert operator.counts == kernel.prepare(X).counts
    close(operator.times(coefficients), K, coefficients)
    # K(Y, X)·v, Y and X parts of one operator
    mine, theirs = rng.permutation(len(X))[:7], [0, 5, 2, 9]
    some, columns = operator.take(mine), operator.take([5, 0, 9, 2]).take([1, 0, 3, 2])
    np.testing.assert_array_equal(some.squares, operator.squares[mine])
    close(some.dots(columns.weights(coefficients[:4])), K[np.ix_(mine, theirs)], coefficients[:4])
    out = np.full(7, np.nan)
    assert some.dots(operator.weights(coefficients), out) is out
    np.testing.assert_array_equal(out, operator.times(coefficients)[mine])


@pytest.mark.parametrize("text", KERNELS)
@pytest.mark.parametrize("normalize", ["true", "false"])
def test_products_are_the_kernel(text, normalize):
    check(build_kernel(f"{text},normalize={normalize}{LENIENT}"), DNA)


@pytest.mark.parametrize("text", ["mismatch:k=3,m=1", "gapped_kmer:l=4,k=2", "wildcard:k=3,m=1", "mismatch:k=5,m=1"])
def test_products_of_proteins(text):
    check(build_kernel(text + LENIENT), PROTEINS)


@pytest.mark.parametrize("text", SUMS)
def test_products_of_sums_and_parts(text):
    kernel = build_kernel(text)
    check(kernel, DNA)
    if kernel.name == "sum":
        check(kernel.set_params(normalize=True, zero_diagonal="zero"), DNA)


def test_a_sum_of_feature_vectors_keeps_them():
    kernel = build_kernel("(spectrum:k=2)+(spectrum:k=3)")
    assert isinstance(kernel.operator(DNA.take([0, 1])), Implicit)


def naive_matrix(size, length, values, complement):
    """Return G over all l-mers, entry by entry."""
    lmers = np.array(list(np.ndindex(*[size] * length)))
    near = np.array(values)[(lmers[:, None] != lmers[None]).sum(axis=2)]
    if complement is None:
        return near
    other = complement[lmers[:, ::-1]]
    return near + np.array(values)[(lmers[:, None] != other[None]).sum(axis=2)]


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize(("size", "length"), [(4, 1), (4, 3), (4, 4), (3, 4), (2, 6)])
def test_transform(size, length, both):
    complement = np.arange(size)[::-1].astype(np.uint8) if both else None
    rng = np.random.default_rng(size + length)
    values, table = rng.normal(size=length + 1), rng.normal(size=size**length)
    expected = naive_matrix(size, length, values, complement) @ table
    LmerTransform(size, length, values.tolist(), complement).multiply(table)
    np.testing.assert_allclose(table, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("length", [6, 7, 9])
def test_transform_of_one_lmer(length):
    """A table of one l-mer becomes its row of G: all tiles of the strands, rows and strips are used."""
    values = np.random.default_rng(length).normal(size=length + 1).tolist()
    transform = LmerTransform(4, length, values, np.array([3, 2, 1, 0], np.uint8))
    mine = ("GATTACAC" * 2)[:length]
    table = np.zeros(4**length)
    table[int("".join(str("ACGT".index(letter)) for letter in mine), 4)] = 1
    transform.multiply(table)
    for code in np.random.default_rng(0).integers(0, 4**length, 200).tolist():
        other = "".join("ACGT"[code >> 2 * place & 3] for place in reversed(range(length)))
        expected = values[hamming(mine, other)] + values[hamming(mine, reverse_complement(other))]
        assert table[code] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("letters", "options"), [("ACGT", "l=5,k=3,reverse_complement=true"), ("HEC", "l=4,k=2")])
def test_smoothing_is_the_inverse_of_a_sum_of_matrices(letters, options):
    strings = [string.replace("*", letters[0]) for string in random_strings(9, 30, 50, letters)]
    X = SequenceSet.from_strings(strings, "dna" if letters == "ACGT" else letters)
    products = build_kernel(f"gapped_kmer:normalize=false,{options}").operator(X)
    transform, size = products.transform, len(letters)
    length, n, strands = transform.length, products.n_weights, 1 if transform.complement is None else 2
    windows = float(np.mean(X.lengths - length + 1))
    G = naive_matrix(size, length, build_kernel(f"gapped_kmer:{options}")._pair_weights(size, length), None)
    lmers = np.stack(np.unravel_index(np.arange(n), (size,) * length), axis=1)
    covariance = np.zeros((n, n))
    for d in range(-length + 1, length):  # windows at p and p + d agree where they overlap
        here, there = lmers[:, max(d, 0) : length + min(d, 0)], lmers[:, max(-d, 0) : length - max(d, 0)]
        agree = (here[:, None] == there).all(axis=2) / size ** (length + abs(d))
        covariance += (agree - 1 / size ** (2 * length)) * (1 - abs(d) / windows) * size**length
    table, strands_table = np.random.default_rng(0).normal(size=n), np.eye(n)
    if strands == 2:
        table = products.whole(products.compact(table))
        strands_table += np.eye(n)[(3 - lmers[:, ::-1]) @ size ** np.arange(length - 1, -1, -1)]
        covariance = strands_table @ covariance @ strands_table / 4
    expected = np.linalg.solve(np.eye(n) + strands * 100 / np.trace(G) * covariance @ G, strands_table @ table)
    products.smooth(table, 100.0)
    expected, table = expected - expected.mean(), table - table.mean()
    np.testing.assert_allclose(table * (expected @ expected) / (table @ expected), expected, atol=1e-10)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_transform_has_the_same_bits_at_any_level_and_number_of_threads(dtype):
    transform = LmerTransform(4, 9, [3, 1, 0.25, *[0] * 7], np.array([3, 2, 1, 0], np.uint8))
    start = np.random.default_rng(5).normal(size=4**9).astype(dtype)
    results = []
    for level in range(_tables.highest_level() + 1):
        for threads in (1, 3):
            table = start.copy()
            transform.multiply(table, threads, level)
            results.append(table.tobytes())
    assert len(set(results)) == 1


def operator(X=DNA, length=7, **options):
    """Return an operator of a truncated kernel."""
    kernel = SimpleNamespace(
        reverse_complement=True,
        n_threads=options.get("n_threads"),
        _pair_weights=lambda size, length: [2.0, 1.0, 0.25, 0.125, *[0.0] * (length - 3)],
        _window_weights=lambda X, length: options.get("window_weights"),
    )
    return HammingOperator(kernel, X, length)


def test_threads_and_parts_of_the_table_do_not_change_bits(monkeypatch):
    coefficients = np.random.default_rng(0).normal(size=len(DNA))
    expected = operator().times(coefficients)
    for module in (lmer_tables, hamming_operator):
        monkeypatch.setattr(module, "PART_BITS", 5)
    many = operator(n_threads=1)
    assert len(many.ends) > 3
    close(many.times(coefficients), np.diag(np.ones(len(DNA))), expected)
    bits = many.times(coefficients).tobytes()
    monkeypatch.setattr(hamming_operator, "THREADED_WINDOWS", 1)
    assert operator(n_threads=3).times(coefficients).tobytes() == bits
    with given_threads(2):
        assert operator().times(coefficients).tobytes() == bits
    monkeypatch.setattr(lmer_tables, "FEWEST_LISTS", 1)
    monkeypatch.setattr(lmer_tables, "WINDOWS_IN_LIST", 1e9)
    wide = operator(n_threads=1)
    assert wide.codes.dtype == np.uint32
    assert len(wide.ends) == 1
    np.testing.assert_allclose(wide.times(coefficients), expected, rtol=1e-12, atol=1e-12)


def test_stored_lists_give_the_same_products(monkeypatch):
    coefficients = np.random.default_rng(0).normal(size=len(DNA))
    kernel = build_kernel("gapped_kmer:l=5,k=3,reverse_complement=true,center_weighted=true" + LENIENT)
    whole = kernel.operator(DNA)
    monkeypatch.setattr(hamming_operator, "LISTS_IN_MEMORY", 0)
    monkeypatch.setattr(hamming_operator, "STORED_LISTS", 300)
    stored = kernel.operator(DNA)
    assert stored.base.pages is not None
    np.testing.assert_array_equal(stored.squares, whole.squares)
    np.testing.assert_allclose(stored.times(coefficients), whole.times(coefficients), rtol=1e-12, atol=1e-12)
    rows = np.array([len(DNA) - 1, 0, 3, 0])
    table = whole.weights(coefficients)
    np.testing.assert_array_equal(stored.take(rows).dots(table), whole.take(rows).dots(table))
    monkeypatch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(free=100))
    with pytest.raises(SequenceError, match=r"lists of l-mers need .* of disk.*TMPDIR"):
        kernel.operator(DNA)


def test_rows_without_copies_of_the_table(monkeypatch):
    products = operator(window_weights=np.arange(operator().base[-1]) % 7)
    weights = products.weights(np.arange(len(DNA)))
    results = []
    for factor in (0, 1e9):
        monkeypatch.setattr(hamming_operator, "LOOK_UPS_TO_COPY", factor)
        results.append(products.dots(weights, rows=np.array([3, 3, 15, 0])))
    np.testing.assert_array_equal(*results)
    np.testing.assert_array_equal(results[0], products.dots(weights)[[3, 3, 15, 0]])


@pytest.mark.parametrize("spread", [1, 1000])
def test_error_of_single_precision(spread):
    strings = [string.replace("*", "A") for string in random_strings(60, 30, 90, seed=4)]
    X = SequenceSet.from_strings(strings, "dna")
    double = build_kernel("gapped_kmer:l=8,k=5,reverse_complement=true,normalize=false").operator(X)
    single = double.with_tables(np.float32)
    coefficients = np.random.default_rng(1).normal(size=len(X)) ** 3 * spread
    table = single.collect(coefficients)
    assert table.dtype == np.float32
    assert single.take([1]).dtype == np.float32
    both = double.collect(coefficients)
    both += LmerTransform(4, 8, [1] + [0] * 8)._other_strand(both, np.array([3, 2, 1, 0]))
    error = np.abs(single.times(coefficients) - double.times(coefficients))
    largest = np.abs(double.transform.eigenvalues).max()
    counts = [Counter(string[p : p + 8] for p in range(len(string) - 7)) for string in strings]
    norms = np.sqrt([sum(count**2 for count in each.values()) for each in counts])
    bound = (4 * 8 + 4) * 2.0**-24 * largest * norms * np.linalg.norm(both)
    assert (error < bound).all()
    assert error.max() > 0
    kernel = build_kernel("0.5*(gapped_kmer:l=5,k=3)+(mismatch:k=3,m=1)")
    assert kernel.operator(X, dtype="float32").weights(coefficients).dtype == np.float32


def test_zero_coefficients():
    coefficients = np.random.default_rng(1).normal(size=len(DNA))
    coefficients[::2] = 0
    products = operator()
    some = products.take(np.arange(1, len(DNA), 2))
    np.testing.assert_array_equal(products.collect(coefficients), some.collect(coefficients[1::2]))
    assert not products.times(np.zeros(len(DNA))).any()


def test_no_records_and_no_lmers():
    assert operator(DNA.take([])).times([]).shape == (0,)
    np.testing.assert_array_equal(operator(DNA.take([17, 18, 19])).times([1, 2, 3]), [0, 0, 0])
    assert operator().take([]).times([]).shape == (0,)


def test_refusals():
    with pytest.raises(ParameterError, match=r"l=14 is too large.*choose l up to 13"):
        required(build_kernel("gapped_kmer:l=14,k=6,reverse_complement=true"), "operator")
    with pytest.raises(ParameterError, match=r"l=7 is too large.*20 letters.*choose l up to 6"):
        build_kernel("gapped_kmer:l=7,k=4,short=zero,zero_diagonal=zero").operator(PROTEINS)
    with pytest.raises(ParameterError, match="l up to 6"):
        required(build_kernel("gapped_kmer:l=7,k=4,alphabet=protein"), "operator")
    with pytest.raises(SequenceError, match=r"fewer than l=6"):
        build_kernel("gapped_kmer:l=6,k=4").operator(DNA)
    with pytest.raises(SequenceError, match=r"in the part 0:3"):
        build_kernel("gapped_kmer:l=6,k=4,part=0:3").operator(DNA)
    for text in ("(gapped_kmer:l=5,k=3)*spectrum", "spectrum+(oligo*spectrum)"):
        with pytest.raises(ParameterError, match="without a Gram matrix"):
            required(build_kernel(text), "operator")
    with pytest.raises(ParameterError, match="weights of l-mers"):
        operator(window_weights=np.full(operator().base[-1], 256))
    with pytest.raises(IndexError, match="rows are numbers from 0 to 19"):
        operator().dots(np.zeros(4**7), rows=np.array([20]))


def test_mismatch_without_a_table_has_feature_vectors():
    kernel = MismatchKernel(7, 0, short="zero", zero_diagonal="zero")
    assert isinstance(kernel.operator(PROTEINS), Implicit)
    check(kernel, PROTEINS)
    assert kernel.operator.bytes(PROTEINS) == kernel.implicit.bytes(PROTEINS)


@pytest.mark.parametrize("text", ["gapped_kmer:l=8,k=5", "gapped_kmer:l=9,k=5,reverse_complement=true", *SUMS[1:3]])
def test_memory_is_predicted(text):
    X = SequenceSet.from_strings(random_strings(800, 40, 90), "dna", unknown="mask_all")
    kernel = build_kernel(text)
    held, parts = 0, [kernel.operator(X)]
    while parts:
        one = parts.pop()
        parts += [one.base] if hasattr(one, "ends") is False and hasattr(one, "rows") else getattr(one, "parts", [])
        if isinstance(one, HammingOperator):
            held += one.codes.nbytes + one.ends.nbytes + one.squares.nbytes + 3 * 8 * one.n_weights
    assert held <= kernel.operator.bytes(X) < 1.5 * held


def test_a_product_with_a_sum_has_the_table_of_one_part_at_a_time():
    kernel = build_kernel(
        f"(gapped_kmer:l=9,k=5{LENIENT})+(gapped_kmer:l=9,k=6{LENIENT})+(gapped_kmer:l=9,k=7{LENIENT})"
    )
    rows = np.arange(3, 15)
    operator = kernel.operator(DNA).take(rows)
    tracemalloc.start()
    product = operator.times(np.ones(len(rows)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2.5 * 8 * 4**9  # with all parts, six tables
    close(product, kernel(DNA.take(rows)), np.ones(len(rows)))


def test_cost_grows_with_the_records():
    X = SequenceSet.from_strings(random_strings(500, 80, 90), "dna", unknown="mask_all")
    kernel = build_kernel("gapped_kmer:l=6,k=4")
    small, large = kernel.operator.cost(X.take(slice(0, 50))), kernel.operator.cost(X)
    assert 0 < small < large < 20 * small
    assert build_kernel("(gapped_kmer:l=6,k=4)+(gapped_kmer:l=6,k=4)").operator.cost(X) == pytest.approx(2 * large)
    assert build_kernel("spectrum:k=4").operator.cost(X) > 0


def test_complements_of_other_alphabets():
    """A complement of four letters in another order has no table of half the size, but the same products."""
    other = as_alphabet("dna").__class__("paired", "ATCG", complement="TAGC")
    strings = [string.replace("*", "A") for string in random_strings(8, 12, 30)]
    kernel = build_kernel("gapped_kmer:l=5,k=3,reverse_complement=true")
    expected = kernel.operator(SequenceSet.from_strings(strings, "dna")).times(np.arange(8))
    got = kernel.operator(SequenceSet.from_strings(strings, other)).times(np.arange(8))
    np.testing.assert_allclose(got, expected, rtol=1e-12)


@pytest.mark.parametrize("algorithm", ["subsets", "dense", "neighbours", "trie"])
def test_decisions_by_tables_make_no_blocks(algorithm, monkeypatch):
    """Neither for the support nor for new records, whose K(x, x) are those of the blocks to the last bit."""
    kernel = build_kernel(f"mismatch:k=3+6,m=1,weights=[0.3,2],reverse_complement=true,algorithm={algorithm}{LENIENT}")
    support, new = DNA.take(np.tile(np.arange(len(DNA)), 30)), DNA.take(np.arange(10).repeat(20))
    coefficients = np.random.default_rng(3).normal(size=len(support))
    made = KmerKernel._prepare(kernel, support, None)
    expected = kernel(new, support) @ coefficients
    columns = kernel.prepare(support)
    np.testing.assert_array_equal(columns.raw_diagonal, made.diagonal())
    with monkeypatch.context() as patched:
        patched.setattr(MismatchKernel, "_members", None)
        values = fold(kernel, columns, coefficients)(kernel.prepare(new, like=columns))
    np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-9)
    rows = kernel.prepare(new, like=columns)
    np.testing.assert_array_equal(kernel.block(rows.rows(3, 9), columns.rows(5, 80)), kernel(new, support)[3:9, 5:80])


def test_blocks_are_made_at_once_where_a_diagonal_by_pairs_costs_more():
    kernel = MismatchKernel(4, 1, algorithm="dense")
    long = SequenceSet.from_strings(["ACGTTGCA" * 4000], "dna")
    assert not isinstance(kernel.prepare(long).payload, DeferredBlocks)
    columns = kernel.prepare(DNA.take(np.zeros(500, dtype=np.int64)))
    assert isinstance(columns.payload, DeferredBlocks)
    assert not isinstance(kernel.prepare(long, like=columns).payload, DeferredBlocks)
