"""The product engine: blocks of features, dense, by posting lists and by bitmaps, against plain sums."""

import itertools

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqkern.core.errors import SequenceError
from seqkern.kernels import _blocks
from seqkern.kernels.kmer.kmers import Counted, Occurrences, rank_codes
from seqkern.kernels.products import _product
from seqkern.kernels.products import product as sparse
from seqkern.kernels.products.product import (
    DenseBlock,
    RealDenseBlock,
    RealSparseBlock,
    SignedBlock,
    Span,
    SparseBlock,
    Term,
    TermBlocks,
    product,
)

HIGHEST = _product.level()
VNNI = 1.5
"""Level 1 with VNNI, where the processor has it."""
LEVELS = [one for one in (0, 1, VNNI, 2) if int(one) <= HIGHEST and (one != VNNI or _product.set_vnni(True))]


@pytest.fixture(params=LEVELS, ids="level {}".format)
def level(request):
    """Run at one level of vector instructions."""
    _product.set_level(int(request.param))
    _product.set_vnni(request.param == VNNI)
    yield request.param
    _product.set_level(HIGHEST)
    _product.set_vnni(True)


def counts(n, width, peak, share=0.3, seed=0):
    """Return a random matrix of counts up to `peak`, most of them small."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 4, size=(n, width)) * (rng.random((n, width)) < share)
    values[rng.integers(n), rng.integers(width)] = peak
    return values.astype(np.int32)


def dense(values):
    def fill(row, tables):
        for i, record in enumerate(values[row : row + 16 * len(tables)]):
            tables[i // 16, :, i % 16] = record

    return DenseBlock(*values.shape, fill, int(values.max()))


def sparse_block(values, like=None, bitmaps=False):
    rows, features = np.nonzero(values)
    start = np.concatenate(([0], np.cumsum(np.count_nonzero(values, axis=1))))
    counted = Counted(
        start.astype(np.int64),
        features.astype(np.int32),
        values[rows, features].astype(np.int32),
        values.shape[1],
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sparse, "bitmaps_are_cheaper", lambda *_: bitmaps)
        return SparseBlock(counted, like)


def bitmap_block(values, like=None):
    return sparse_block(values, like, bitmaps=True)


def matrix(rows, cols=None):
    cols = rows if cols is None else cols
    out = np.empty((len(rows), len(cols)))
    product(rows, cols, out)
    return out


def exact(a, b=None):
    """Return the matrix of products as Python integers."""
    return (a.astype(object) @ (a if b is None else b).astype(object).T).astype(float)


SHAPES = [(1, 1), (3, 5), (16, 4), (17, 64), (50, 33), (49, 259), (130, 70)]


PEAKS = [1, 127, 128, 255, 256, 32767, 32768, 65535, 65536, 200_000, 2**31 - 1]


@pytest.mark.parametrize(
    ("make", "peak"), [*itertools.product([dense, sparse_block], PEAKS), *itertools.product([bitmap_block], PEAKS[::4])]
)
@pytest.mark.parametrize("shape", SHAPES)
def test_counts_of_every_size(level, make, peak, shape):
    values = counts(*shape, peak)
    payload = TermBlocks([Term(1.0, [(1, make(values))])])
    np.testing.assert_array_equal(matrix(payload), exact(values))
    np.testing.assert_array_equal(payload.diagonal(), np.diagonal(exact(values)))


@pytest.mark.parametrize("peak", [1, 127, 128, 32767])
@pytest.mark.parametrize("shape", [(1, 1), (17, 5), (50, 2051)])
def test_signed_numbers(level, shape, peak):
    rng = np.random.default_rng(1)
    values = rng.integers(-min(peak, 100), min(peak, 100), size=shape, endpoint=True)
    values[-1, -1] = -peak  # the first panel may have 8 bits, the last 16
    block = SignedBlock(*shape)
    for row in range(0, shape[0], 16):
        tables = np.zeros((1, shape[1], 16), dtype=np.int16)
        tables[0, :, : len(values[row : row + 16])] = values[row : row + 16].T
        block.add(row // 16, tables)
    for factor in (1, -3):
        sums = np.zeros((shape[0], shape[0]), dtype=np.int64)
        block.accumulate(block, Span(0, 0, shape[0], factor, False), sums)
        np.testing.assert_array_equal(sums, factor * values @ values.T)
    np.testing.assert_array_equal(block.squares, (values**2).sum(axis=1))


@pytest.mark.parametrize("width", [4, 300, 9000])
@pytest.mark.parametrize(("mine", "theirs"), [(127, 127), (255, 255), (255, 64), (255, 65), (64, 255), (1, 255)])
def test_full_bytes_do_not_saturate(level, width, mine, theirs):
    """The largest sums of 8-bit products, over more steps than one chunk."""
    a, b = (TermBlocks([Term(1.0, [(1, dense(np.full((9, width), peak)))])]) for peak in (mine, theirs))
    np.testing.assert_array_equal(matrix(a, b), np.full((9, 9), float(mine * theirs * width)))


def test_sums_that_wrap_on_the_way_are_right(level):
    """128 times the sum of a row, which corrects products of bytes, exceeds 31 bits, and the product does not."""
    a, b = np.full((1, 100_000), 200), np.zeros((1, 100_000), dtype=int)
    b[0, :10] = 255
    rows, cols = (TermBlocks([Term(1.0, [(7, dense(values))])]) for values in (a, b))
    np.testing.assert_array_equal(matrix(rows, cols), [[7.0 * 10 * 200 * 255]])


def test_full_words_do_not_overflow(level):
    payload = TermBlocks([Term(1.0, [(1, dense(np.full((9, 301), 32767, dtype=np.int32)))])])
    np.testing.assert_array_equal(matrix(payload), np.full((9, 9), 32767.0**2 * 301))


@pytest.mark.parametrize(("mine", "theirs"), [(90, 300), (300, 90), (90, 40_000), (70_000, 3), (5, 127)])
def test_rows_and_columns_of_different_sizes(level, mine, theirs):
    a, b = counts(21, 37, mine, seed=1), counts(40, 37, theirs, seed=2)
    rows, cols = (TermBlocks([Term(1.0, [(1, dense(values))])]) for values in (a, b))
    np.testing.assert_array_equal(matrix(rows, cols), exact(a, b))
    np.testing.assert_array_equal(matrix(rows.rows(3, 20), cols.rows(5, 38)), exact(a, b)[3:20, 5:38])
    for make in (sparse_block, bitmap_block):
        columns = make(b)
        rows, cols = (TermBlocks([Term(1.0, [(1, block)])]) for block in (sparse_block(a, columns), columns))
        np.testing.assert_array_equal(matrix(rows, cols), exact(a, b))


@pytest.mark.parametrize("make", [dense, sparse_block])
@pytest.mark.parametrize("tile", [3, 7, 16, 8192])
def test_any_rectangle_is_a_slice(make, tile, monkeypatch):
    monkeypatch.setattr(sparse, "TILE", tile)
    values = counts(60, 50, 70_000)
    whole = exact(values)
    payload = TermBlocks([Term(1.0, [(1, make(values))])])
    if make is sparse_block:
        assert payload.blocks[0].tile == min(tile, 60)
    for a, b, c, d in ((0, 60, 0, 60), (5, 6, 0, 60), (10, 30, 10, 60), (10, 30, 10, 30), (10, 30, 20, 60)):
        for rows, cols in (((a, b), (c, d)), ((c, d), (a, b))):
            part = matrix(payload.rows(*rows), payload.rows(*cols))
            np.testing.assert_array_equal(part, whole[slice(*rows), slice(*cols)])
    view = payload.rows(10, 50).rows(5, 20)
    np.testing.assert_array_equal(matrix(view), whole[15:30, 15:30])
    np.testing.assert_array_equal(view.diagonal(), np.diagonal(whole)[15:30])


@pytest.mark.parametrize("n", [1024, 1500])
def test_bitmaps_of_several_tiles(level, n):
    """Rectangles that start and end within a tile, rows with more entries than are looked up at once."""
    values = counts(n, 40, 9)
    wide = np.hstack([values, counts(n, 700, 5, share=0.9)])
    whole = wide[:50].astype(float) @ wide.T.astype(float)
    payload = TermBlocks([Term(1.0, [(1, bitmap_block(wide))])])
    for a, b, c, d in ((0, 50, 0, n), (3, 17, 3, n), (3, 17, 1000, n), (3, 17, 5, 1024), (40, 50, 1022, 1023)):
        part = matrix(payload.rows(a, b), payload.rows(c, d))
        np.testing.assert_array_equal(part, whole[a:b, c:d])
    columns = payload.blocks[0]
    rows = TermBlocks([Term(1.0, [(7, sparse_block(wide[:9], columns))])])
    np.testing.assert_array_equal(matrix(rows, TermBlocks([Term(1.0, [(7, columns)])])), 7 * whole[:9])


def test_long_lists_become_bitmaps():
    assert sparse.bitmaps_are_cheaper(2000, 190_000, 1024)  # at every level of instructions
    assert not sparse.bitmaps_are_cheaper(2000, 190_000, 1 << 20)
    rng = np.random.default_rng(3)
    start = np.arange(0, 60_001, 60)
    codes = rng.integers(0, 200, size=(1, 60_000)).astype(np.uint32)
    assert SparseBlock(Occurrences(codes, start, 200).count()).bitmaps is not None
    assert SparseBlock(Occurrences(codes, start, 60_000).count()).bitmaps is None


def test_few_tiles_where_features_are_many(monkeypatch):
    monkeypatch.setattr(sparse, "TILE", 2)
    values = counts(64, 3000, 3, share=0.005)
    block = sparse_block(values)
    assert block.tile > 2
    assert len(block.bounds) <= 2 * len(block.feature) + 2 * block.n_features
    np.testing.assert_array_equal(matrix(TermBlocks([Term(1.0, [(1, block)])])), exact(values))


def test_more_rows_than_a_posting_can_number():
    n = 70_000
    values = np.zeros((n, 2), dtype=np.int32)
    values[:, 0] = np.arange(n) % 3
    values[65_530:65_545, 1] = 2
    block = sparse_block(values)
    assert block.tile <= 1 << 16
    payload = TermBlocks([Term(1.0, [(1, block)])])
    for start, stop in ((0, 3), (65_533, 65_540)):
        part = matrix(payload.rows(start, stop), payload)
        np.testing.assert_array_equal(part, exact(values[start:stop], values))
        upper = matrix(payload.rows(start, stop), payload.rows(start, n))
        np.testing.assert_array_equal(upper, part[:, start:])


def test_terms_factors_divisors_and_scale():
    a, b, c = (counts(20, width, 40, seed=width) for width in (30, 50, 70))
    A, B, C = exact(a), exact(b), exact(c)
    blocks = dense(a), sparse_block(b), dense(3 * c)
    terms = [Term(0.3, [(2, blocks[0]), (-1, blocks[1])]), Term(1 / 7, [(5, blocks[2])], 9)]
    payload = TermBlocks(terms, scale=0.5)
    expected = 0.5 * (0.3 * (2 * A - B) + 1 / 7 * (5 * C))
    np.testing.assert_array_equal(matrix(payload), expected)
    np.testing.assert_array_equal(payload.diagonal(), np.diagonal(expected))
    whole = TermBlocks([Term(2, [(3, blocks[0])]), Term(1, [(1, blocks[2])], 9)])
    assert len(whole.terms) == 1
    np.testing.assert_array_equal(matrix(whole), 6 * A + C)
    np.testing.assert_array_equal(whole.diagonal(), np.diagonal(6 * A + C))


def test_divisions_of_large_sums_are_exact():
    values = np.array([[3 * 94_906_267, 1], [3, 2]], dtype=np.int32)
    payload = TermBlocks([Term(1.0, [(1, sparse_block(values))], 1)])
    np.testing.assert_array_equal(matrix(payload), exact(values))
    tripled = TermBlocks([Term(1.0, [(3, sparse_block(values))], 3)])
    np.testing.assert_array_equal(matrix(tripled), exact(values))


def test_sums_beyond_64_bits_are_refused():
    values = np.full((1, 3), 2**31 - 1, dtype=np.int32)
    for make in (dense, sparse_block):
        with pytest.raises(SequenceError, match="too long"):
            TermBlocks([Term(1.0, [(1, make(values))])])
        np.testing.assert_array_equal(matrix(TermBlocks([Term(1.0, [(1, make(values[:, 2:]))])])), exact(values[:, 2:]))


def test_normalised_products(level):
    values = counts(70, 40, 100, share=0.1)
    values[5] = 0
    for make in (dense, sparse_block, bitmap_block):
        payload = TermBlocks([Term(1.0, [(1, make(values))])])
        d = payload.diagonal()
        out = np.empty((70, 70))
        product(payload, payload, out, d, d)
        np.testing.assert_array_equal(out, naive.normalised(exact(values)))
        assert set(np.diagonal(out)) == {0.0, 1.0}


def test_without_columns_no_posting_list_is_read():
    enter, rest = np.full(3, -7, np.int32), np.full(3, -7, np.int32)
    _product.enter_lists(np.arange(3, dtype=np.int32), np.zeros(1, np.int64), enter, rest)
    assert set(enter) | set(rest) == {-7}


def test_normalise_divides_by_the_root_of_the_product():
    rng = np.random.default_rng(0)
    block, rows, cols = rng.normal(size=(9, 23)), rng.random(9), rng.random(23)
    rows[3], cols[5], rows[4], cols[7] = 0.0, 0.0, -1.0, -1.0
    out = block.copy()
    _blocks.normalise(out, rows, cols)
    good = (rows[:, None] > 0) & (cols > 0)
    roots = np.sqrt(np.where(good, np.outer(rows, cols), 1.0))
    np.testing.assert_array_equal(out, np.where(good, block / roots, 0.0))
    wide = np.zeros((9, 40))
    wide[:, 10:33] = block
    _blocks.normalise(wide[:, 10:33], rows, cols)
    np.testing.assert_array_equal(wide[:, 10:33], out)
    assert not wide[:, :10].any()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 31, 32, 33, 100])
def test_mirror(n, dtype):
    values = np.random.default_rng(n).random((n, n + 5)).astype(dtype)
    expected = np.triu(values[:, :n]) + np.triu(values[:, :n], 1).T
    for step in (7, 40, n):
        out = values.copy()
        for start in range(0, n, step):
            _blocks.mirror(out[:, :n], start, min(start + step, n))
        np.testing.assert_array_equal(out[:, :n], expected)
        np.testing.assert_array_equal(out[:, n:], values[:, n:])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 1), (8, 16), (19, 35)])
def test_turned_blocks(shape, dtype):
    n, m = shape
    values, out = np.random.default_rng(n).random((n, m + 4)).astype(dtype), np.zeros((m + 2, n + 3), dtype)
    _blocks.turn(values[:, 2 : m + 2], out[1 : m + 1, 3:])
    expected = np.zeros_like(out)
    expected[1 : m + 1, 3:] = values[:, 2 : m + 2].T
    np.testing.assert_array_equal(out, expected)


@given(
    codes=st.lists(st.integers(0, 2**63 - 1) | st.integers(0, 50), max_size=60),
    dtype=st.sampled_from([np.uint64, np.uint32]),
)
def test_ranks_of_codes(codes, dtype):
    codes = np.array([code % (int(np.iinfo(dtype).max) + 1) for code in codes], dtype=dtype)
    ranks, vocabulary = rank_codes(codes.copy())
    distinct, inverse = np.unique(codes, return_inverse=True)
    np.testing.assert_array_equal(vocabulary, distinct)
    np.testing.assert_array_equal(ranks, inverse)


@pytest.mark.parametrize("space", [50, 2**62])
def test_counting_codes_in_small_and_large_spaces(space):
    rng = np.random.default_rng(1)
    lengths = rng.integers(0, 30, size=12)
    start = np.concatenate(([0], np.cumsum(lengths)))
    codes = rng.integers(0, 50, size=(2, start[-1])).astype(np.uint32 if space <= 2**32 else np.uint64)
    counted = Occurrences(codes, start, space).count()
    assert (counted.vocabulary is None) == (space == 50)
    for i in range(12):
        found = {}
        for code in codes[:, start[i] : start[i + 1]].ravel().tolist():
            found[code] = found.get(code, 0) + 1
        entries = slice(counted.start[i], counted.start[i + 1])
        features = counted.feature[entries]
        names = features if counted.vocabulary is None else counted.vocabulary[features]
        assert dict(zip(names.tolist(), counted.count[entries].tolist(), strict=True)) == found


@pytest.mark.parametrize("columns", [50, 2**40])
@pytest.mark.parametrize("rows", [50, 2**40])
def test_features_that_the_columns_lack_are_left_out(rows, columns):
    rng = np.random.default_rng(2)
    spaces = {"rows": rows, "columns": columns}
    found = {}
    for name, space in spaces.items():
        start = np.arange(0, 101, 10)
        codes = rng.integers(0, 50, size=(1, 100))
        found[name] = Occurrences(codes.astype(np.uint32 if space == 50 else np.uint64), start, space).count()
    block = SparseBlock(found["columns"])
    expected = np.array(naive.gram(*(as_dicts(found[name]) for name in spaces)), dtype=float)
    squares = [naive.dot(row, row) for row in as_dicts(found["rows"])]
    mine = TermBlocks([Term(1.0, [(1, SparseBlock(found["rows"], block))])])
    np.testing.assert_array_equal(matrix(mine, TermBlocks([Term(1.0, [(1, block)])])), expected)
    assert mine.diagonal().tolist() == squares


def as_dicts(counted):
    """Return the rows of a Counted as dicts from code to count."""
    names = np.arange(counted.n_features) if counted.vocabulary is None else counted.vocabulary
    return [
        dict(zip(names[counted.feature[a:b]].tolist(), counted.count[a:b].tolist(), strict=True))
        for a, b in zip(counted.start[:-1], counted.start[1:], strict=True)
    ]


# ---- real values -------------------------------------------------------------------------------


def real_values(n, width, share=1.0, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, width)) * 10.0 ** rng.integers(-6, 6, size=(n, width)) * (rng.random((n, width)) < share)


def sums_in_order(a, b):
    """Return the matrix of products, each summed feature after feature."""
    total = np.zeros((len(a), len(b)))
    for f in range(a.shape[1]):
        total += np.outer(a[:, f], b[:, f])
    return total


@pytest.mark.parametrize("make", [RealDenseBlock, RealSparseBlock])
@pytest.mark.parametrize(("n", "width", "share"), [(1, 1, 1.0), (5, 40, 1.0), (50, 33, 0.2), (33, 0, 1.0)])
def test_real_values_are_summed_in_order(make, n, width, share):
    values = real_values(n, width, share)
    values[n // 2] = 0
    payload = TermBlocks([Term(1.0, [(1, make(values))])])
    K = matrix(payload)
    np.testing.assert_array_equal(K, sums_in_order(values, values))
    np.testing.assert_array_equal(payload.diagonal(), np.diagonal(K))
    for a, b, c, d in ((0, n, 0, n), (n // 3, n, n // 3, n), (n // 3, n, 0, n // 2), (0, n // 2, n // 3, n)):
        np.testing.assert_array_equal(matrix(payload.rows(a, b), payload.rows(c, d)), K[a:b, c:d])
    others = real_values(20, width, share, seed=9)
    rows = TermBlocks([Term(1.0, [(1, make(others))])])
    np.testing.assert_array_equal(matrix(rows, payload), sums_in_order(others, values))
    if width:
        largest = max(map(abs, others[3] * values[0]))
        assert abs(matrix(rows, payload)[3, 0] - naive.exact_dot(others[3], values[0])) <= 1e-14 * width * largest


def test_real_values_beside_counts():
    values, numbers = real_values(30, 12), counts(30, 20, 9)
    terms = [Term(0.3, [(1, RealDenseBlock(values))]), Term(2, [(1, sparse_block(numbers))])]
    expected = 0.5 * (0.3 * sums_in_order(values, values) + 2 * exact(numbers))
    payload = TermBlocks(terms, scale=0.5)
    np.testing.assert_array_equal(matrix(payload), expected)
    np.testing.assert_array_equal(payload.diagonal(), np.diagonal(expected))


def test_real_values_at_every_level():
    values = real_values(40, 100)
    panels = RealDenseBlock(values)._panels
    for level in range(_product.level() + 1):
        sums = np.zeros((40, 40))
        _product.multiply_real(panels, panels, 0, 0, 40, False, sums, level)
        np.testing.assert_array_equal(sums, sums_in_order(values, values))
