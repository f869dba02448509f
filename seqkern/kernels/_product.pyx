"""The compiled half of the product engine: posting lists, the walk along them, sums to kernel values."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t


cdef extern from "_blocks.h" nogil:
    int highest_simd_level()
    void normalise_row(int level, double *values, Py_ssize_t n, double diagonal, const double *diagonals)

cdef extern from "_dense.h" nogil:
    enum:
        KIND_INT32
    void pack_row(const int32_t *counts, Py_ssize_t n, int kind, uint8_t *data, Py_ssize_t steps, Py_ssize_t i)
    void measure_row(int level, const int32_t *counts, Py_ssize_t n, int32_t *peak, int64_t *squares)
    void dense_int32(
        int level, int kind, Py_ssize_t safe, const uint8_t *a, Py_ssize_t row, Py_ssize_t n_rows, const uint8_t *b,
        Py_ssize_t first, Py_ssize_t last, Py_ssize_t steps, int64_t weight, bint upper, int32_t *sums,
        Py_ssize_t width)
    void dense_int64(
        int level, int kind, Py_ssize_t safe, const uint8_t *a, Py_ssize_t row, Py_ssize_t n_rows, const uint8_t *b,
        Py_ssize_t first, Py_ssize_t last, Py_ssize_t steps, int64_t weight, bint upper, int64_t *sums,
        Py_ssize_t width)
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
        const int64_t *own
        const int64_t *bounds
        const uint32_t *postings
        Py_ssize_t n_features
        Py_ssize_t tile
    void walk_int32(
        const posting_walk *w, Py_ssize_t i, Py_ssize_t first, Py_ssize_t last, int64_t weight, bint upper,
        int32_t *sums)
    void walk_int64(
        const posting_walk *w, Py_ssize_t i, Py_ssize_t first, Py_ssize_t last, int64_t weight, bint upper,
        int64_t *sums)
    void store_int32(const int32_t *sums, double *values, Py_ssize_t n, double weight, bint add)
    void store_int64(const int64_t *sums, double *values, Py_ssize_t n, double weight, bint add)
    void store_double(const double *sums, double *values, Py_ssize_t n, double weight, bint add)

ctypedef fused sum_t:
    int32_t
    int64_t
    double

ctypedef fused integer_sum_t:
    int32_t
    int64_t

cdef uint32_t MOST = 0xffff
cdef int LEVEL = highest_simd_level()


def level():
    """Return which vector instructions are used: 0 plain, 1 AVX2, 2 AVX-512 with VNNI."""
    return LEVEL


def set_level(int level):
    """Use the instructions of `level`, or the highest that the processor has, if that is lower; for tests."""
    global LEVEL
    LEVEL = max(0, min(level, highest_simd_level()))


def row_squares(const int32_t[::1] entry_rows, const int32_t[::1] entry_counts, int64_t[::1] squares):
    """Add the square of each entry's count to squares[row of the entry]."""
    cdef Py_ssize_t e
    with nogil:
        for e in range(entry_rows.shape[0]):
            squares[entry_rows[e]] += <int64_t>entry_counts[e] * entry_counts[e]


def transpose(
    const int64_t[::1] bounds,
    const int32_t[::1] entry_rows,
    const int32_t[::1] entry_counts,
    const int32_t[::1] labels,
    const int64_t[::1] places,
    int64_t[::1] start,
    int32_t[::1] feature,
    int32_t[::1] count,
    int64_t[::1] own,
):
    """Turn entries sorted by feature into entries sorted by row, then by feature.

    Parameters
    ----------
    bounds : (features + 1,)
        Where each feature's entries start.
    entry_rows, entry_counts : (entries,)
    labels : (features,) or empty
        New number of each feature, negative to leave it out; empty: as they are.
    places : (entries,) or empty
        Place of each entry in the posting lists, copied to `own`.
    start : (rows + 1,), zeros
        Filled with where each row's entries start.
    feature, count, own : (entries,)
        Filled; `own` empty if `places` is.
    """
    cdef Py_ssize_t f, e, i, n = start.shape[0] - 1
    cdef int64_t q, total = 0, here
    cdef int32_t label
    cdef bint relabel = labels.shape[0] > 0, placed = places.shape[0] > 0
    with nogil:
        for f in range(bounds.shape[0] - 1):
            if not relabel or labels[f] >= 0:
                for e in range(bounds[f], bounds[f + 1]):
                    start[entry_rows[e] + 1] += 1
        # start[i + 1] is first the number of entries, then the cursor of row i, and at last the start of row i + 1.
        for i in range(n):
            here = start[i + 1]
            start[i + 1] = total
            total += here
        for f in range(bounds.shape[0] - 1):
            label = labels[f] if relabel else <int32_t>f
            if label < 0:
                continue
            for e in range(bounds[f], bounds[f + 1]):
                i = entry_rows[e]
                q = start[i + 1]
                start[i + 1] = q + 1
                feature[q] = label
                count[q] = entry_counts[e]
                if placed:
                    own[q] = places[e]


def count_postings(const int32_t[::1] entry_counts):
    """Return how many postings the entries take: one for each 65,535 of a count."""
    cdef Py_ssize_t e
    cdef int64_t total = 0
    with nogil:
        for e in range(entry_counts.shape[0]):
            total += (<int64_t>entry_counts[e] + MOST - 1) // MOST
    return total


def make_postings(
    const int64_t[::1] bounds,
    const int32_t[::1] entry_rows,
    const int32_t[::1] entry_counts,
    Py_ssize_t tile,
    int64_t[::1] cursor,
    int64_t[::1] tile_bounds,
    uint32_t[::1] postings,
    int64_t[::1] places,
):
    """Write the posting lists of the column tiles, one tile after the other.

    Parameters
    ----------
    bounds, entry_rows, entry_counts
        Entries sorted by feature, then by row.
    tile : int
        Columns of a tile, at most 65,536.
    cursor : (features,)
        A copy of where each feature's entries start; used up.
    tile_bounds : (tiles · features + 1,)
    postings : (count_postings(entry_counts),)
    places : (entries,)
        Filled with the first posting of each entry.
    """
    cdef Py_ssize_t f, t = 0, last, n_features = bounds.shape[0] - 1
    cdef int64_t e, at = 0, left
    cdef uint32_t here
    with nogil:
        for t in range((tile_bounds.shape[0] - 1) // max(n_features, 1)):
            last = (t + 1) * tile
            for f in range(n_features):
                tile_bounds[t * n_features + f] = at
                e = cursor[f]
                while e < bounds[f + 1] and entry_rows[e] < last:
                    places[e] = at
                    left = entry_counts[e]
                    while left > 0:
                        here = <uint32_t>min(left, <int64_t>MOST)
                        postings[at] = here << 16 | <uint32_t>(entry_rows[e] - t * tile)
                        at += 1
                        left -= here
                    e += 1
                cursor[f] = e
        tile_bounds[tile_bounds.shape[0] - 1] = at


def walk(
    const int64_t[::1] start,
    const int32_t[::1] feature,
    const int32_t[::1] count,
    const int64_t[::1] own,
    const int64_t[::1] bounds,
    const uint32_t[::1] postings,
    Py_ssize_t n_features,
    Py_ssize_t tile,
    Py_ssize_t row,
    Py_ssize_t first,
    Py_ssize_t last,
    int64_t weight,
    bint upper,
    integer_sum_t[:, ::1] sums,
):
    """Add weight × the products of the rows from `row` on with the columns `first` … `last` to `sums`.

    With `upper` (rows and columns are one set) only the columns j ≥ i of row i are touched.
    """
    cdef posting_walk w
    cdef Py_ssize_t i
    if feature.shape[0] == 0 or postings.shape[0] == 0 or last <= first:
        return
    w.start = &start[0]
    w.feature = &feature[0]
    w.count = &count[0]
    w.own = &own[0] if own.shape[0] else NULL
    w.bounds = &bounds[0]
    w.postings = &postings[0]
    w.n_features = n_features
    w.tile = tile
    with nogil:
        for i in range(sums.shape[0]):
            if integer_sum_t is int32_t:
                walk_int32(&w, row + i, first, last, weight, upper, &sums[i, 0])
            else:
                walk_int64(&w, row + i, first, last, weight, upper, &sums[i, 0])


def measure(const int32_t[:, ::1] counts, int64_t[::1] squares):
    """Write the sum of squares of each row of `counts` to `squares`; return the largest count."""
    cdef Py_ssize_t i
    cdef int32_t peak = 0
    if counts.shape[1]:
        with nogil:
            for i in range(counts.shape[0]):
                measure_row(LEVEL, &counts[i, 0], counts.shape[1], &peak, &squares[i])
    return peak


def pack(const int32_t[:, ::1] counts, int kind, uint8_t[:, :, :, ::1] packed, Py_ssize_t row):
    """Write `counts` as the records from `row` on of `packed`, in `kind` bytes each, as `_dense.h` lays them out."""
    cdef Py_ssize_t i
    if counts.shape[1]:
        with nogil:
            for i in range(counts.shape[0]):
                pack_row(&counts[i, 0], counts.shape[1], kind, &packed[0, 0, 0, 0], packed.shape[1], row + i)


def multiply(
    const uint8_t[:, :, :, ::1] rows,
    const uint8_t[:, :, :, ::1] cols,
    int kind,
    Py_ssize_t safe,
    Py_ssize_t row,
    Py_ssize_t first,
    Py_ssize_t last,
    int64_t weight,
    bint upper,
    integer_sum_t[:, ::1] sums,
):
    """Add weight × the products of the packed `rows` from `row` on with the packed `cols` `first` … `last` to `sums`.

    `safe` is the number of steps in which pairs of 8-bit counts cannot overflow 16 bits. With `upper` (rows and
    columns are one set) only the columns j ≥ i of row i need be right.
    """
    cdef Py_ssize_t n = sums.shape[0], width = sums.shape[1], steps = rows.shape[1]
    cdef const uint8_t *a
    cdef const uint8_t *b
    if n == 0 or last <= first or steps == 0:
        return
    a = &rows[0, 0, 0, 0]
    b = &cols[0, 0, 0, 0]
    with nogil:
        if integer_sum_t is int32_t:
            if kind == KIND_INT32:
                wide_int32(a, row, n, b, first, last, steps, weight, &sums[0, 0], width)
            else:
                dense_int32(
                    LEVEL, kind, safe, a, row, n, b, first, last, steps, weight, upper, &sums[0, 0], width)
        else:
            if kind == KIND_INT32:
                wide_int64(a, row, n, b, first, last, steps, weight, &sums[0, 0], width)
            else:
                dense_int64(
                    LEVEL, kind, safe, a, row, n, b, first, last, steps, weight, upper, &sums[0, 0], width)


def store(const sum_t[:, ::1] sums, double[:, :] values, double weight, bint add):
    """Set values = weight × sums, or with `add` values += weight × sums; the rows of `values` are contiguous."""
    cdef Py_ssize_t i, m = values.shape[1]
    if m == 0:
        return
    with nogil:
        for i in range(values.shape[0]):
            _store_row(&sums[i, 0], &values[i, 0], m, weight, add)


cdef inline void _store_row(
    const sum_t *sums, double *values, Py_ssize_t m, double weight, bint add
) noexcept nogil:
    """Call the store of the right type."""
    if sum_t is int32_t:
        store_int32(sums, values, m, weight, add)
    elif sum_t is int64_t:
        store_int64(sums, values, m, weight, add)
    else:
        store_double(sums, values, m, weight, add)


def finish(
    const sum_t[:, ::1] sums,
    double[:, :] values,
    double weight,
    bint add,
    double scale,
    const double[::1] row_diagonal,
    const double[::1] col_diagonal,
    bint upper,
):
    """Do the last `store`, multiply by `scale` and normalise (unless the diagonals are empty), row by row.

    With `upper`, only the columns j ≥ i are computed, and mirrored to the left part of the square.
    """
    cdef Py_ssize_t i, j, left, m = values.shape[1]
    cdef bint normal = row_diagonal.shape[0] > 0
    if m == 0:
        return
    with nogil:
        for i in range(values.shape[0]):
            left = i if upper else 0
            _store_row(&sums[i, left], &values[i, left], m - left, weight, add)
            if scale != 1:
                for j in range(left, m):
                    values[i, j] = scale * values[i, j]
            if normal:
                normalise_row(LEVEL, &values[i, left], m - left, row_diagonal[i], &col_diagonal[left])
            for j in range(left):
                values[i, j] = values[j, i]
