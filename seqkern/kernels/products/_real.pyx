"""Loops over real-valued features; see `_real.h`."""

from libc.stdint cimport int32_t, int64_t

cdef extern from "_real.h" nogil:
    int highest_simd_level()
    void real_dense(
        int level, const double *a, Py_ssize_t row, Py_ssize_t n, const double *b, Py_ssize_t first, Py_ssize_t last,
        Py_ssize_t width, int upper, double *sums, Py_ssize_t stride)
    void real_walk(
        const int32_t *feature, const double *value, int64_t n, const int64_t *bounds, const int32_t *post_rows,
        const double *post_values, Py_ssize_t first, Py_ssize_t last, double *sums)


def multiply(
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


def walk(
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


def row_squares(const int64_t[::1] start, const double[::1] value, double[::1] squares):
    """Set squares[i] to the sum of the squared values of sparse row i, in their order."""
    cdef Py_ssize_t i
    cdef int64_t q
    with nogil:
        for i in range(squares.shape[0]):
            squares[i] = 0
            for q in range(start[i], start[i + 1]):
                squares[i] += value[q] * value[q]
