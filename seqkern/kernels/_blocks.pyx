"""Loops over whole rectangles of a kernel matrix: normalising, mirroring."""

from libc.math cimport sqrt

ctypedef fused floating:
    float
    double


def normalise(double[:, :] block, const double[::1] row_diagonal, const double[::1] col_diagonal):
    """Divide block[i, j] by sqrt(row_diagonal[i] · col_diagonal[j]), in place; zero where a diagonal is not positive.

    The root of the product, rather than a product of roots, makes K(x, x) exactly 1: sqrt(d·d) = d in IEEE arithmetic.
    """
    cdef Py_ssize_t i, j, n = block.shape[0], m = block.shape[1]
    cdef double d
    with nogil:
        for i in range(n):
            d = row_diagonal[i]
            for j in range(m):
                block[i, j] = block[i, j] / sqrt(d * col_diagonal[j]) if d > 0 and col_diagonal[j] > 0 else 0.0


def mirror(floating[:, ::1] matrix, Py_ssize_t start, Py_ssize_t stop):
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
