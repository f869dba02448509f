"""The compiled half of the product engine: features packed, multiplied as they are stored, and folded."""

from libc.stdint cimport int16_t, int32_t, int64_t, uint16_t, uint32_t, uint64_t, uint8_t
from libc.string cimport memcpy

# ---- counts: posting lists, the walk along them, sums to kernel values ---------------------------

cdef extern from "_blocks.h" nogil:
    int highest_simd_level()
    void normalise_row(
        int level, double *values, Py_ssize_t n, double diagonal, const double *diagonals, int same, int64_t *found
    )
    int even(const double *numbers, Py_ssize_t n)
    void largest_of_row(int level, const double *values, Py_ssize_t n, int64_t *found)

cdef extern from "_dense.h" nogil:
    enum:
        MODE_SMALL
        MODE_BYTES
        MODE_SIGNED
        MODE_WORDS
        MODE_INTEGERS
    int avx_vnni()
    void dense_int32(
        int level, int vnni, int mode, Py_ssize_t safe, const uint8_t *a, const int64_t *totals, Py_ssize_t row,
        Py_ssize_t n_rows, const uint8_t *b, const int64_t *col_totals, Py_ssize_t first, Py_ssize_t last,
        Py_ssize_t steps, int64_t weight, bint upper, int32_t *sums, Py_ssize_t width)
    void dense_int64(
        int level, int vnni, int mode, Py_ssize_t safe, const uint8_t *a, const int64_t *totals, Py_ssize_t row,
        Py_ssize_t n_rows, const uint8_t *b, const int64_t *col_totals, Py_ssize_t first, Py_ssize_t last,
        Py_ssize_t steps, int64_t weight, bint upper, int64_t *sums, Py_ssize_t width)
    void wide_int32(
        const uint8_t *a, Py_ssize_t row, Py_ssize_t n_rows, const uint8_t *b, Py_ssize_t first, Py_ssize_t last,
        Py_ssize_t steps, int64_t weight, int32_t *sums, Py_ssize_t width)
    void wide_int64(
        const uint8_t *a, Py_ssize_t row, Py_ssize_t n_rows, const uint8_t *b, Py_ssize_t first, Py_ssize_t last,
        Py_ssize_t steps, int64_t weight, int64_t *sums, Py_ssize_t width)

cdef extern from "_product.h" nogil:
    ctypedef struct posting_walk:
        const int64_t *start
        const int32_t *feature
        const int32_t *count
        const int32_t *enter
        const int32_t *rest
        bint same
        const int64_t *bounds
        const uint32_t *postings
        Py_ssize_t n_features
        Py_ssize_t tile
    void count_postings(const int32_t *feature, const int32_t *count, int64_t n, int64_t *lengths)
    void append_postings(
        const int32_t *feature, const int32_t *count, int64_t n, uint32_t row, const int64_t *ends,
        int64_t *cursor, uint32_t *postings, int32_t *enter, int32_t *rest)
    void walk_int32(
        const posting_walk *w, Py_ssize_t i, Py_ssize_t first, Py_ssize_t last, int64_t weight, bint upper,
        int32_t *sums)
    void walk_int64(
        const posting_walk *w, Py_ssize_t i, Py_ssize_t first, Py_ssize_t last, int64_t weight, bint upper,
        int64_t *sums)
    void store_int32(
        int level, const int32_t *sums, double *values, Py_ssize_t n, int64_t divisor, double weight, bint add)
    void store_int64(
        int level, const int64_t *sums, double *values, Py_ssize_t n, int64_t divisor, double weight, bint add)
    void store_double(
        int level, const double *sums, double *values, Py_ssize_t n, int64_t divisor, double weight, bint add)

ctypedef fused count_sum_t:
    int32_t
    int64_t

ctypedef fused sum_t:
    int32_t
    int64_t
    double

SMALL, BYTES, SIGNED, WORDS, INTEGERS = MODE_SMALL, MODE_BYTES, MODE_SIGNED, MODE_WORDS, MODE_INTEGERS

cdef int LEVEL = highest_simd_level()
cdef int VNNI = avx_vnni()


def level():
    """Return which vector instructions are used: 0 plain, 1 AVX2, 2 AVX-512 with VNNI."""
    return LEVEL


def set_level(int level):
    """Use the instructions of `level`, or the highest that the processor has, if that is lower; for tests."""
    global LEVEL
    LEVEL = max(0, min(level, highest_simd_level()))


def set_vnni(bint used):
    """Use VNNI at level 1, or not even where the processor has it; for tests. Returns whether it is used."""
    global VNNI
    VNNI = used and avx_vnni()
    return VNNI != 0


def row_squares(const int64_t[::1] start, const int32_t[::1] count, int64_t[::1] squares):
    """Set squares[i] to the sum of the squared counts of row i; return the largest, rounded, even if it overflowed."""
    cdef Py_ssize_t i
    cdef int64_t q
    cdef uint64_t total  # wraps, which signed numbers must not
    cdef double rounded, largest = 0
    with nogil:
        for i in range(squares.shape[0]):
            total = 0
            rounded = 0
            for q in range(start[i], start[i + 1]):
                total += <uint64_t>(<int64_t>count[q] * count[q])
                rounded += <double>count[q] * count[q]
            squares[i] = <int64_t>total
            largest = max(largest, rounded)
    return largest


def relabel(int64_t[::1] start, int32_t[::1] feature, int32_t[::1] count, const int32_t[::1] labels):
    """Replace each feature by its label, in place, without those whose label is negative; return how many are left."""
    cdef Py_ssize_t i
    cdef int64_t q, first = start[0], last, at = 0
    with nogil:
        for i in range(start.shape[0] - 1):
            last = start[i + 1]
            start[i] = at
            for q in range(first, last):
                if labels[feature[q]] >= 0:
                    feature[at] = labels[feature[q]]
                    count[at] = count[q]
                    at += 1
            first = last
        start[start.shape[0] - 1] = at
    return at


def list_lengths(
    const int64_t[::1] start,
    const int32_t[::1] feature,
    const int32_t[::1] count,
    Py_ssize_t tile,
    int64_t[:, ::1] lengths,
):
    """Add to lengths[t, f] how many postings feature f has in column tile t: one for each 65,535 of a count."""
    cdef Py_ssize_t i
    cdef int64_t q
    if feature.shape[0] == 0:
        return
    with nogil:
        for i in range(start.shape[0] - 1):
            q = start[i]
            if q < start[i + 1]:
                count_postings(&feature[q], &count[q], start[i + 1] - q, &lengths[i // tile, 0])


def make_postings(
    const int64_t[::1] start,
    const int32_t[::1] feature,
    const int32_t[::1] count,
    Py_ssize_t tile,
    const int64_t[:, ::1] ends,
    int64_t[:, ::1] cursor,
    uint32_t[::1] postings,
    int32_t[::1] enter,
    int32_t[::1] rest,
):
    """Write the posting lists of the columns.

    Parameters
    ----------
    start, feature, count
        The compressed rows.
    tile : int
        Columns of a tile, at most 65,536.
    ends, cursor : (tiles, features)
        Where the list of each feature in each tile ends, and starts; the latter is used up.
    postings : (sum of `list_lengths`,)
    enter, rest : (entries,)
        Filled with the entry's own posting, and the number of postings from there to the end of the list.
    """
    cdef Py_ssize_t i, t
    cdef int64_t q
    if feature.shape[0] == 0:
        return
    with nogil:
        for i in range(start.shape[0] - 1):
            q = start[i]
            t = i // tile
            if q < start[i + 1]:
                append_postings(
                    &feature[q], &count[q], start[i + 1] - q, <uint32_t>(i - t * tile), &ends[t, 0], &cursor[t, 0],
                    &postings[0], &enter[q], &rest[q])


def enter_lists(
    const int32_t[::1] feature, const int64_t[::1] bounds, int32_t[::1] enter, int32_t[::1] rest
):
    """Set enter[q] and rest[q] to the start and the length of feature[q] in the first tile, if there is a tile."""
    cdef Py_ssize_t q
    if bounds.shape[0] == 1:  # a matrix without columns has no tile
        return
    with nogil:
        for q in range(feature.shape[0]):
            enter[q] = <int32_t>bounds[feature[q]]
            rest[q] = <int32_t>(bounds[feature[q] + 1] - enter[q])


def walk(
    const int64_t[::1] start,
    const int32_t[::1] feature,
    const int32_t[::1] count,
    const int32_t[::1] enter,
    const int32_t[::1] rest,
    bint same,
    const int64_t[::1] bounds,
    const uint32_t[::1] postings,
    Py_ssize_t n_features,
    Py_ssize_t tile,
    Py_ssize_t row,
    Py_ssize_t first,
    Py_ssize_t last,
    int64_t weight,
    bint upper,
    count_sum_t[:, ::1] sums,
):
    """Add weight × the products of the rows from `row` on with the columns `first` … `last` to `sums`.

    The other parameters are those of `posting_walk` in `_product.h`. With `upper` (rows and columns are one
    set) only the columns j ≥ i of row i are touched.
    """
    cdef posting_walk w
    cdef Py_ssize_t i
    if feature.shape[0] == 0 or postings.shape[0] == 0 or last <= first:
        return
    w.start = &start[0]
    w.feature = &feature[0]
    w.count = &count[0]
    w.enter = &enter[0]
    w.rest = &rest[0]
    w.same = same
    w.bounds = &bounds[0]
    w.postings = &postings[0]
    w.n_features = n_features
    w.tile = tile
    with nogil:
        for i in range(sums.shape[0]):
            if count_sum_t is int32_t:
                walk_int32(&w, row + i, first, last, weight, upper, &sums[i, 0])
            else:
                walk_int64(&w, row + i, first, last, weight, upper, &sums[i, 0])


def multiply(
    const uint8_t[:, :, :, ::1] rows,
    const uint8_t[:, :, :, ::1] cols,
    const int64_t[::1] totals,
    const int64_t[::1] col_totals,
    int mode,
    Py_ssize_t safe,
    Py_ssize_t row,
    Py_ssize_t first,
    Py_ssize_t last,
    int64_t weight,
    bint upper,
    count_sum_t[:, ::1] sums,
):
    """Add weight × the products of the packed `rows` from `row` on with the packed `cols` `first` … `last`
    to `sums`.

    `totals` and `col_totals` are the sums of the counts of each record, `mode` is one of `_dense_tiles.h`. `safe` is
    the number of steps in which pairs of small counts cannot overflow 16 bits. With `upper` (rows and columns are one
    set) only the columns j ≥ i of row i need be right.
    """
    cdef Py_ssize_t n = sums.shape[0], width = sums.shape[1], steps = rows.shape[1]
    cdef const uint8_t *a
    cdef const uint8_t *b
    if n == 0 or last <= first or steps == 0:
        return
    a = &rows[0, 0, 0, 0]
    b = &cols[0, 0, 0, 0]
    with nogil:
        if count_sum_t is int32_t:
            if mode == MODE_INTEGERS:
                wide_int32(a, row, n, b, first, last, steps, weight, &sums[0, 0], width)
            else:
                dense_int32(
                    LEVEL, VNNI, mode, safe, a, &totals[0], row, n, b, &col_totals[0], first, last, steps, weight,
                    upper, &sums[0, 0], width)
        else:
            if mode == MODE_INTEGERS:
                wide_int64(a, row, n, b, first, last, steps, weight, &sums[0, 0], width)
            else:
                dense_int64(
                    LEVEL, VNNI, mode, safe, a, &totals[0], row, n, b, &col_totals[0], first, last, steps, weight,
                    upper, &sums[0, 0], width)


cdef inline void _store_row(
    const sum_t *sums, double *values, Py_ssize_t m, int64_t divisor, double weight, bint add
) noexcept nogil:
    """Call the store of the right type."""
    if sum_t is int32_t:
        store_int32(LEVEL, sums, values, m, divisor, weight, add)
    elif sum_t is int64_t:
        store_int64(LEVEL, sums, values, m, divisor, weight, add)
    else:
        store_double(LEVEL, sums, values, m, divisor, weight, add)


def store(const sum_t[:, ::1] sums, double[:, :] values, int64_t divisor, double weight, bint add):
    """Set values = weight × sums / divisor, or with `add` add that; the rows of `values` are contiguous."""
    cdef Py_ssize_t i, m = values.shape[1]
    if m == 0:
        return
    with nogil:
        for i in range(values.shape[0]):
            _store_row(&sums[i, 0], &values[i, 0], m, divisor, weight, add)


def finish(
    const sum_t[:, ::1] sums,
    double[:, :] values,
    int64_t divisor,
    double weight,
    bint add,
    double scale,
    const double[::1] row_diagonal,
    const double[::1] col_diagonal,
    bint upper,
    bint search,
):
    """Do the last `store`, multiply by `scale` and normalise (unless the diagonals are empty), row by row.

    With `upper`, only the columns j ≥ i are computed, and mirrored to the left part of the square. Returns the largest
    absolute value, inf and NaN included; values that are not normalised are looked through only with `search`.
    """
    cdef Py_ssize_t i, j, left, m = values.shape[1]
    cdef bint normal = row_diagonal.shape[0] > 0
    cdef int same
    cdef int64_t found = 0
    cdef double largest
    if m == 0:
        return 0.0
    with nogil:
        same = normal and even(&col_diagonal[0], m)
        for i in range(values.shape[0]):
            left = i if upper else 0
            _store_row(&sums[i, left], &values[i, left], m - left, divisor, weight, add)
            if scale != 1:
                for j in range(left, m):
                    values[i, j] = scale * values[i, j]
            if normal:
                normalise_row(LEVEL, &values[i, left], m - left, row_diagonal[i], &col_diagonal[left], same, &found)
            elif search:
                largest_of_row(LEVEL, &values[i, left], m - left, &found)
            for j in range(left):
                values[i, j] = values[j, i]
    memcpy(&largest, &found, sizeof(largest))
    return largest


# ---- counts: bitmaps, which of 1,024 columns have a feature --------------------------------------

cdef extern from "_bitmaps.h" nogil:
    enum:
        TILE
        WORDS
    ctypedef struct bitmap_walk:
        const int64_t *start
        const int32_t *feature
        const int32_t *count
        const int32_t *bounds
        const uint64_t *bitmaps
        Py_ssize_t n_features
        int planes
    int bits_of(int32_t count)
    void add_products_int32(
        int level, const bitmap_walk *walk, Py_ssize_t row, Py_ssize_t n, Py_ssize_t first, Py_ssize_t last,
        int64_t weight, bint upper, int32_t *sums, Py_ssize_t step)
    void add_products_int64(
        int level, const bitmap_walk *walk, Py_ssize_t row, Py_ssize_t n, Py_ssize_t first, Py_ssize_t last,
        int64_t weight, bint upper, int64_t *sums, Py_ssize_t step)


TILE_COLUMNS = TILE
TILE_WORDS = WORDS


def count_bitmaps(
    const int64_t[::1] start, const int32_t[::1] feature, const int32_t[::1] count, uint8_t[:, ::1] needed
):
    """Set needed[t, f] to the number of bits of the largest count of feature f in column tile t."""
    cdef Py_ssize_t i
    cdef int64_t q
    cdef int bits
    with nogil:
        for i in range(start.shape[0] - 1):
            for q in range(start[i], start[i + 1]):
                bits = 1 if count[q] == 1 else bits_of(count[q])
                if bits > needed[i // TILE, feature[q]]:
                    needed[i // TILE, feature[q]] = bits


def set_bitmaps(
    const int64_t[::1] start,
    const int32_t[::1] feature,
    const int32_t[::1] count,
    const int32_t[::1] bounds,
    Py_ssize_t n_features,
    uint64_t[:, ::1] bitmaps,
):
    """Set the bits of all columns in empty bitmaps, of which `bounds` tells the places (see `_bitmaps.h`)."""
    cdef Py_ssize_t i, at, word
    cdef int64_t q
    cdef int32_t left
    cdef uint64_t bit
    with nogil:
        for i in range(start.shape[0] - 1):
            word = i % TILE // 64
            bit = <uint64_t>1 << (i % 64)
            for q in range(start[i], start[i + 1]):
                at = bounds[i // TILE * n_features + feature[q]]
                left = count[q]
                while left > 0:
                    if left & 1:
                        bitmaps[at, word] |= bit
                    left >>= 1
                    at += 1


def add_products(
    const int64_t[::1] start,
    const int32_t[::1] feature,
    const int32_t[::1] count,
    const int32_t[::1] bounds,
    const uint64_t[:, ::1] bitmaps,
    Py_ssize_t n_features,
    int planes,
    Py_ssize_t row,
    Py_ssize_t first,
    Py_ssize_t last,
    int64_t weight,
    bint upper,
    count_sum_t[:, ::1] sums,
    int level,
):
    """Add weight × the products of the rows from `row` on with the columns `first` … `last` to `sums`.

    The other parameters are those of `bitmap_walk` in `_bitmaps.h`. With `upper` (rows and columns are one set) only
    the columns j ≥ i of row i need be right.
    """
    cdef bitmap_walk walk
    if feature.shape[0] == 0 or bitmaps.shape[0] == 0 or last <= first or sums.shape[0] == 0:
        return
    walk.start = &start[0]
    walk.feature = &feature[0]
    walk.count = &count[0]
    walk.bounds = &bounds[0]
    walk.bitmaps = &bitmaps[0, 0]
    walk.n_features = n_features
    walk.planes = planes
    with nogil:
        if count_sum_t is int32_t:
            add_products_int32(
                level, &walk, row, sums.shape[0], first, last, weight, upper, &sums[0, 0], sums.shape[1])
        else:
            add_products_int64(
                level, &walk, row, sums.shape[0], first, last, weight, upper, &sums[0, 0], sums.shape[1])


# ---- counts into packed vectors, `_panels.h` -----------------------------------------------------

cdef extern from "_panel.h":
    enum:
        PANEL

cdef extern from "_panels.h" nogil:
    void measure_bytes(
        int level, const uint8_t *table, Py_ssize_t width, int32_t *peak, uint64_t *totals, uint64_t *squares)
    void measure_words(
        int level, const uint16_t *table, Py_ssize_t width, int32_t *peak, uint64_t *totals, uint64_t *squares)
    void measure_integers(
        int level, const int32_t *table, Py_ssize_t width, int32_t *peak, uint64_t *totals, uint64_t *squares)
    void measure_signed(
        int level, const int16_t *table, Py_ssize_t width, int32_t *peak, uint64_t *totals, uint64_t *squares)
    void pack_signed(int level, const int16_t *table, Py_ssize_t width, int kind, uint8_t *panel)
    void pack_bytes(int level, const uint8_t *table, Py_ssize_t width, int kind, uint8_t *panel)
    void pack_words(int level, const uint16_t *table, Py_ssize_t width, int kind, uint8_t *panel)
    void pack_integers(int level, const int32_t *table, Py_ssize_t width, int kind, uint8_t *panel)

ctypedef fused count_t:
    uint8_t
    uint16_t
    int32_t
    int16_t


def measure(int level, const count_t[:, :, ::1] tables, int64_t[::1] totals, int64_t[::1] squares):
    """Write the sum of the counts of each record, and of their squares; return the largest absolute count.

    Parameters
    ----------
    level : int
        Of vector instructions.
    tables : (panels, features, 16)
    totals, squares : (records,)
        At most 16 records for each panel.
    """
    cdef Py_ssize_t p, r, i, width = tables.shape[1]
    cdef int32_t peak = 0
    cdef uint64_t[PANEL] total
    cdef uint64_t[PANEL] square
    if width == 0:
        return 0
    with nogil:
        for p in range(tables.shape[0]):
            if count_t is uint8_t:
                measure_bytes(level, &tables[p, 0, 0], width, &peak, total, square)
            elif count_t is uint16_t:
                measure_words(level, &tables[p, 0, 0], width, &peak, total, square)
            elif count_t is int16_t:
                measure_signed(level, &tables[p, 0, 0], width, &peak, total, square)
            else:
                measure_integers(level, &tables[p, 0, 0], width, &peak, total, square)
            for r in range(min(<Py_ssize_t>PANEL, squares.shape[0] - p * PANEL)):
                i = p * PANEL + r
                totals[i] = <int64_t>total[r]
                squares[i] = <int64_t>square[r]
    return peak


def pack(int level, const count_t[:, :, ::1] tables, int kind, uint8_t[:, :, :, ::1] packed):
    """Write the counts of each table to a panel of `packed`, in `kind` bytes each, as `_dense.h` lays them out.

    Signed counts in one byte have 128 added to them, and to the places beyond the last.
    """
    cdef Py_ssize_t p, width = tables.shape[1]
    if width == 0:
        return
    with nogil:
        for p in range(tables.shape[0]):
            if count_t is uint8_t:
                pack_bytes(level, &tables[p, 0, 0], width, kind, &packed[p, 0, 0, 0])
            elif count_t is uint16_t:
                pack_words(level, &tables[p, 0, 0], width, kind, &packed[p, 0, 0, 0])
            elif count_t is int16_t:
                pack_signed(level, &tables[p, 0, 0], width, kind, &packed[p, 0, 0, 0])
            else:
                pack_integers(level, &tables[p, 0, 0], width, kind, &packed[p, 0, 0, 0])


# ---- real-valued features, `_real.h` -------------------------------------------------------------

cdef extern from "_real.h" nogil:
    void real_dense(
        int level, const double *a, Py_ssize_t row, Py_ssize_t n, const double *b, Py_ssize_t first, Py_ssize_t last,
        Py_ssize_t width, int upper, double *sums, Py_ssize_t stride)
    void real_walk(
        const int32_t *feature, const double *value, int64_t n, const int64_t *bounds, const int32_t *post_rows,
        const double *post_values, Py_ssize_t first, Py_ssize_t last, double *sums)


def multiply_real(
    const double[:, :, ::1] rows,
    const double[:, :, ::1] cols,
    Py_ssize_t row,
    Py_ssize_t first,
    Py_ssize_t last,
    bint upper,
    double[:, ::1] sums,
    int level=highest_simd_level(),
):
    """Add the products of the dense `rows` from `row` on with the dense `cols` `first` … `last` to `sums`.

    Both are panels (panels, features, 16). With `upper`, only the columns j ≥ i of row i.
    """
    cdef Py_ssize_t width = rows.shape[1]
    if width == 0 or last <= first or sums.shape[0] == 0:
        return
    with nogil:
        real_dense(
            level, &rows[0, 0, 0], row, sums.shape[0], &cols[0, 0, 0], first, last, width, upper, &sums[0, 0],
            sums.shape[1])


def walk_real(
    const int64_t[::1] start,
    const int32_t[::1] feature,
    const double[::1] value,
    const int64_t[::1] bounds,
    const int32_t[::1] post_rows,
    const double[::1] post_values,
    Py_ssize_t row,
    Py_ssize_t first,
    Py_ssize_t last,
    bint upper,
    double[:, ::1] sums,
):
    """Add the products of the sparse rows from `row` on with the columns `first` … `last` to `sums`.

    With `upper`, only the columns j ≥ i of row i.
    """
    cdef Py_ssize_t i, low
    cdef int64_t q
    if feature.shape[0] == 0 or post_rows.shape[0] == 0 or last <= first:
        return
    with nogil:
        for i in range(sums.shape[0]):
            low = max(first, row + i) if upper else first
            q = start[row + i]
            if q < start[row + i + 1]:
                real_walk(
                    &feature[q], &value[q], start[row + i + 1] - q, &bounds[0], &post_rows[0], &post_values[0],
                    low, last, &sums[i, low - first])


def real_row_squares(const int64_t[::1] start, const double[::1] value, double[::1] squares):
    """Set squares[i] to the sum of the squared values of sparse row i, in their order."""
    cdef Py_ssize_t i
    cdef int64_t q
    with nogil:
        for i in range(squares.shape[0]):
            squares[i] = 0
            for q in range(start[i], start[i + 1]):
                squares[i] += value[q] * value[q]


# ---- folds: a decision as one weight for each feature ---------------------------------------------

# Every loop adds in one fixed order, feature after feature and record after record: a value has the same bits whatever
# records stand beside it.

ctypedef fused value_t:
    int32_t
    double

ctypedef fused packed_t:
    uint8_t
    int16_t
    int32_t


def gather_sparse(
    const int64_t[::1] start,
    const int32_t[::1] feature,
    const value_t[::1] value,
    Py_ssize_t first,
    const double[::1] coefficients,
    double[::1] weights,
):
    """Add Σ_j coefficients[j]·Φ(z_j) to `weights` (features,); z_j is the compressed row ``first + j``."""
    cdef Py_ssize_t j
    cdef int64_t q
    with nogil:
        for j in range(coefficients.shape[0]):
            for q in range(start[first + j], start[first + j + 1]):
                weights[feature[q]] += coefficients[j] * value[q]


def apply_sparse(
    const int64_t[::1] start,
    const int32_t[::1] feature,
    const value_t[::1] value,
    Py_ssize_t first,
    const double[::1] weights,
    double[::1] out,
):
    """Write Φ(x_i)·weights to out[i]; x_i is the compressed row ``first + i``."""
    cdef Py_ssize_t i
    cdef int64_t q
    cdef double total
    with nogil:
        for i in range(out.shape[0]):
            total = 0
            for q in range(start[first + i], start[first + i + 1]):
                total += value[q] * weights[feature[q]]
            out[i] = total


def gather_packed(
    const packed_t[:, :, :, ::1] packed, Py_ssize_t first, const double[::1] coefficients, double[::1] weights
):
    """Add Σ_j coefficients[j]·Φ(z_j) to `weights`; z_j is row ``first + j`` of the layout of `_dense.h`.

    `packed` is (panels of 16 rows, steps, 16, counts of a step), `weights` has a place for each count of all steps.
    """
    cdef Py_ssize_t j, s, e, panel, lane, per_step = packed.shape[3]
    with nogil:
        for j in range(coefficients.shape[0]):
            panel, lane = (first + j) // PANEL, (first + j) % PANEL
            for s in range(packed.shape[1]):
                for e in range(per_step):
                    weights[s * per_step + e] += coefficients[j] * packed[panel, s, lane, e]


def apply_packed(
    const packed_t[:, :, :, ::1] packed, Py_ssize_t first, const double[::1] weights, double[::1] out
):
    """Write Φ(x_i)·weights to out[i]; x_i is row ``first + i``; the other parameters as in `gather_packed`."""
    cdef Py_ssize_t s, e, lane, row, per_step = packed.shape[3]
    cdef Py_ssize_t panel = first // PANEL, last = first + out.shape[0]
    cdef double[PANEL] sums
    cdef double weight
    with nogil:
        while panel * PANEL < last:
            for lane in range(PANEL):
                sums[lane] = 0
            for s in range(packed.shape[1]):
                for e in range(per_step):
                    weight = weights[s * per_step + e]
                    for lane in range(PANEL):
                        sums[lane] += weight * packed[panel, s, lane, e]
            for lane in range(PANEL):
                row = panel * PANEL + lane
                if first <= row < last:
                    out[row - first] = sums[lane]
            panel += 1


def gather_panels(
    const double[:, :, ::1] panels, Py_ssize_t first, const double[::1] coefficients, double[::1] weights
):
    """Add Σ_j coefficients[j]·Φ(z_j) to `weights` (features,); z_j is row ``first + j`` of panels of 16 rows."""
    cdef Py_ssize_t j, f, panel, lane
    with nogil:
        for j in range(coefficients.shape[0]):
            panel, lane = (first + j) // PANEL, (first + j) % PANEL
            for f in range(panels.shape[1]):
                weights[f] += coefficients[j] * panels[panel, f, lane]


def apply_panels(const double[:, :, ::1] panels, Py_ssize_t first, const double[::1] weights, double[::1] out):
    """Write Φ(x_i)·weights to out[i]; x_i is row ``first + i`` of panels of 16 rows."""
    cdef Py_ssize_t f, lane, row, panel = first // PANEL, last = first + out.shape[0]
    cdef double[PANEL] sums
    with nogil:
        while panel * PANEL < last:
            for lane in range(PANEL):
                sums[lane] = 0
            for f in range(panels.shape[1]):
                for lane in range(PANEL):
                    sums[lane] += weights[f] * panels[panel, f, lane]
            for lane in range(PANEL):
                row = panel * PANEL + lane
                if first <= row < last:
                    out[row - first] = sums[lane]
            panel += 1


def spread(
    const double[::1] values, const int64_t[::1] starts, const int64_t[::1] offsets, double[::1] out
):
    """Share values[i] equally among the letters ``starts[i] + offsets``: add values[i] / len(offsets) to each."""
    cdef Py_ssize_t i, p
    cdef double share
    with nogil:
        for i in range(values.shape[0]):
            share = values[i] / offsets.shape[0]
            for p in range(offsets.shape[0]):
                out[starts[i] + offsets[p]] += share
