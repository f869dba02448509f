"""Products of counts by bitmaps: which of 1,024 columns have a feature."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t


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

ctypedef fused count_sum_t:
    int32_t
    int64_t

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
