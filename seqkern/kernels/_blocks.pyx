"""Loops over whole rectangles of a kernel matrix: normalising, mirroring."""

cdef extern from "_blocks.h" nogil:
    int highest_simd_level()
    void normalise_row(int level, double *values, Py_ssize_t n, double diagonal, const double *diagonals)

ctypedef fused floating:
    float
    double

cdef int LEVEL = highest_simd_level()


def normalise(double[:, :] block, const double[::1] row_diagonal, const double[::1] col_diagonal):
    """Divide block[i, j] by sqrt(row_diagonal[i] · col_diagonal[j]), in place.

    It is zero where either is not positive. The rows of `block` must be contiguous.
    """
    cdef Py_ssize_t i, m = block.shape[1]
    if m == 0:
        return
    with nogil:
        for i in range(block.shape[0]):
            normalise_row(LEVEL, &block[i, 0], m, row_diagonal[i], &col_diagonal[0])


def mirror(floating[:, :] matrix, Py_ssize_t start, Py_ssize_t stop):
    """Copy the upper triangle of the square `matrix` to rows `start`:`stop` of the lower one.

    Tiles of 32 × 32 keep both the rows read and the rows written in the first-level cache.
    """
    cdef Py_ssize_t i0, j0, i, j, i1, j1
    with nogil:
        for i0 in range(start, stop, 32):
            i1 = min(i0 + 32, stop)
            for j0 in range(0, i1, 32):
                for i in range(i0, i1):
                    j1 = min(j0 + 32, i)
                    for j in range(j0, j1):
                        matrix[i, j] = matrix[j, i]
