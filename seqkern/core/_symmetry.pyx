"""The comparison of a matrix with its transpose."""

cdef extern from "_symmetry.h" nogil:
    int highest_simd_level()
    void add_rows(
        int level,
        const double *matrix,
        Py_ssize_t n,
        const double *weights,
        double *by_row,
        double *by_column,
        double *largest,
    )


def is_symmetric(const double[:, :] matrix):
    """Return whether a square matrix equals its transpose, bit for bit; by tiles that fit the cache."""
    cdef Py_ssize_t n = matrix.shape[0], top, left, i, j
    cdef bint same = True
    with nogil:
        for top in range(0, n, 32):
            for left in range(0, top + 1, 32):
                for i in range(top, min(top + 32, n)):
                    for j in range(left, min(left + 32, i)):
                        same &= matrix[i, j] == matrix[j, i]
            if not same:
                break
    return same


def weighted_sums(
    const double[:, ::1] matrix,
    const double[::1] weights,
    double[::1] by_row,
    double[::1] by_column,
    int level=highest_simd_level(),
):
    """Write the weighted sums of the rows of a square matrix, and those of its columns; return its largest |entry|.

    The sums are equal where it is symmetric, but for rounding, and finite only if all entries are.
    """
    cdef Py_ssize_t n = matrix.shape[0]
    cdef double largest = 0.0
    by_column[:] = 0.0
    if n:
        with nogil:
            add_rows(level, &matrix[0, 0], n, &weights[0], &by_row[0], &by_column[0], &largest)
    return largest
