"""Products of vectors, and functions of a block of products and its two diagonals.

Each entry is summed over the features in their order, by itself: its bits depend on its two vectors only, not
on the rectangle it is computed in, on threads, or on a library. That is why BLAS does not do it.
"""

from libc.math cimport exp, tanh
from libc.stdlib cimport free, malloc

cdef extern from "_vector.h" nogil:
    int highest_simd_level()
    size_t products_bytes(Py_ssize_t rows, Py_ssize_t features, Py_ssize_t columns)
    void vector_products(
        int level, const double *x, Py_ssize_t x_stride, const double *y, Py_ssize_t y_stride, double *out,
        Py_ssize_t out_stride, Py_ssize_t n, Py_ssize_t d, Py_ssize_t m, double *room)


def products(const double[:, :] x, const double[:, :] y, double[:, :] out, int level=highest_simd_level()):
    """Write x · y to `out`: x (n, d), y (d, m) and out (n, m), each with contiguous rows."""
    cdef Py_ssize_t n = x.shape[0], d = x.shape[1], m = y.shape[1], width = sizeof(double)
    cdef double *room
    if y.shape[0] != d or out.shape[0] != n or out.shape[1] != m:
        raise ValueError("the shapes of two factors and their product do not fit")
    if (d > 1 and x.strides[1] != width) or (m > 1 and (y.strides[1] != width or out.strides[1] != width)):
        raise ValueError("the rows of a factor or the product are not contiguous")
    if n == 0 or m == 0:
        return
    room = <double *> malloc(products_bytes(n, d, m))
    if room == NULL:
        raise MemoryError
    with nogil:
        vector_products(
            level, &x[0, 0] if d else NULL, x.strides[0] // width, &y[0, 0] if d else NULL, y.strides[0] // width,
            &out[0, 0], out.strides[0] // width, n, d, m, room)
        free(room)


def squares(const double[:, :] x, double[::1] out):
    """Write x · x to `out` for each row of x (n, d), with the bits that `products` gives."""
    cdef Py_ssize_t i, f
    cdef double total
    with nogil:
        for i in range(x.shape[0]):
            total = 0.0
            for f in range(x.shape[1]):
                total += x[i, f] * x[i, f]
            out[i] = total


def polynomial(double[:, :] block, double gamma, double coef0, int degree):
    """Replace each entry K by (gamma · K + coef0)^degree, degree ≥ 1."""
    cdef Py_ssize_t i, j
    cdef int _power
    cdef double factor, result
    with nogil:
        for i in range(block.shape[0]):
            for j in range(block.shape[1]):
                factor = result = gamma * block[i, j] + coef0
                for _power in range(1, degree):
                    result *= factor
                block[i, j] = result


def sigmoid(double[:, :] block, double gamma, double coef0):
    """Replace each entry K by tanh(gamma · K + coef0)."""
    cdef Py_ssize_t i, j
    with nogil:
        for i in range(block.shape[0]):
            for j in range(block.shape[1]):
                block[i, j] = tanh(gamma * block[i, j] + coef0)


def radial(double[:, :] block, const double[::1] row_diagonal, const double[::1] col_diagonal, double gamma):
    """Replace each K(x, y) by exp(−gamma · d), d = K(x, x) + K(y, y) − 2 K(x, y), at least 0."""
    cdef Py_ssize_t i, j
    cdef double squared
    with nogil:
        for i in range(block.shape[0]):
            for j in range(block.shape[1]):
                squared = row_diagonal[i] + col_diagonal[j] - 2.0 * block[i, j]
                block[i, j] = exp(-gamma * squared) if squared > 0 else 1.0
