"""Products of vectors, and functions of a block of products and its two diagonals.

Each entry is summed over the features in their order, by itself: its bits depend on its two vectors only, not
on the rectangle it is computed in, on threads, or on a library. That is why BLAS does not do it.
"""

from libc.math cimport exp, tanh
from libc.stdint cimport int64_t
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


# ---- single precision, with a packed matrix: `approximation` says what for -----------------------

cdef extern from "_single_product.h" nogil:
    enum: WIDTH
    ctypedef struct packed_matrix:
        Py_ssize_t d, k
        const float *panels
        const int64_t *starts
        const int64_t *tops
    void single_product(int level, const float *values, Py_ssize_t n, const packed_matrix *matrix, float *out)
    void single_squares(const float *values, Py_ssize_t n, Py_ssize_t d, float *out)

PANEL_COLUMNS = WIDTH


def simd_level():
    """Return the level of vector instructions that is used: 0, 1 or 2."""
    return highest_simd_level()


def single_precision_product(
    const float[:, ::1] values, const float[::1] panels, const int64_t[::1] starts, const int64_t[::1] tops,
    float[:, ::1] out, int level=highest_simd_level()
):
    """Write values (n, d) times the matrix (d, k) to `out` (n, k).

    Panel p has the rows from ``tops[p]`` to d, of `PANEL_COLUMNS` columns, at ``panels[starts[p]:starts[p + 1]]``.
    """
    cdef Py_ssize_t n = values.shape[0], d = values.shape[1], p
    cdef packed_matrix matrix
    if out.shape[0] != n or tops.shape[0] != (out.shape[1] + WIDTH - 1) // WIDTH:
        raise ValueError("the shapes of two factors and their product do not fit")
    if starts.shape[0] != tops.shape[0] + 1 or starts[0] != 0 or starts[tops.shape[0]] != panels.shape[0]:
        raise ValueError("the panels do not start where they should")
    for p in range(tops.shape[0]):
        if tops[p] < 0 or tops[p] > d or starts[p + 1] - starts[p] != (d - tops[p]) * WIDTH:
            raise ValueError("the shapes of two factors and their product do not fit")
    if out.shape[0] == 0 or out.shape[1] == 0:
        return
    matrix.d, matrix.k = d, out.shape[1]
    matrix.panels, matrix.starts, matrix.tops = &panels[0] if panels.shape[0] else NULL, &starts[0], &tops[0]
    with nogil:
        single_product(level, &values[0, 0] if d else NULL, n, &matrix, &out[0, 0])


def single_precision_squares(const float[:, ::1] values, float[::1] out):
    """Write x · x to `out` for each row x of values (n, d)."""
    if out.shape[0] != values.shape[0]:
        raise ValueError("there is not one square for each row")
    if values.shape[0] == 0:
        return
    with nogil:
        single_squares(&values[0, 0] if values.shape[1] else NULL, values.shape[0], values.shape[1], &out[0])
