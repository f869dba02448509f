"""The comparison of a matrix with its transpose."""

cdef extern from "_symmetry.h" nogil:
    int highest_simd_level()
    int symmetric_at(int level, const double *matrix, Py_ssize_t n, Py_ssize_t stride)
    void add_rows(
        int level,
        const double *matrix,
        Py_ssize_t n,
        const double *weights,
        double *by_row,
        double *by_column,
        double *largest,
    )


def highest_level():
    """Return the highest level of vector instructions here: 0 plain, 1 AVX2, 2 AVX-512."""
    return highest_simd_level()


def is_symmetric(const double[:, :] matrix, int level=highest_simd_level()):
    """Return whether a square matrix equals its transpose, bit for bit; by tiles if its rows are contiguous."""
    cdef Py_ssize_t n = matrix.shape[0], i, j
    cdef int same = 1
    if n < 2:
        return True
    with nogil:
        if matrix.strides[1] == sizeof(double):
            same = symmetric_at(level, &matrix[0, 0], n, matrix.strides[0] // <Py_ssize_t>sizeof(double))
        else:
            for i in range(n):
                for j in range(i):
                    same &= matrix[i, j] == matrix[j, i]
    return same != 0


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
