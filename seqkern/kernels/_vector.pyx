"""Products of vectors, and functions of a block of products and its two diagonals.

Each entry is summed over the features in their order, by itself: its bits depend on its two vectors only, not
on the rectangle it is computed in, on threads, or on a library. That is why BLAS does not do it.
"""

from libc.math cimport exp, tanh

cdef enum:
    ROWS = 4  # rows and columns of products that are kept in registers
    COLUMNS = 4


def products(const double[:, :] x, const double[:, :] y, double[:, :] out):
    """Write x · y to `out`: x (n, d) with contiguous rows, y (d, m) and out (n, m) too."""
    cdef Py_ssize_t n = x.shape[0], d = x.shape[1], m = y.shape[1]
    cdef Py_ssize_t first, last, i, j
    if y.shape[0] != d or out.shape[0] != n or out.shape[1] != m:
        raise ValueError("the shapes of two factors and their product do not fit")
    with nogil:
        for i in range(n):
            for j in range(m):
                out[i, j] = 0.0
        # 256 features of 4 columns stay in the first-level cache while all rows pass.
        for first in range(0, d, 256):
            last = min(first + 256, d)
            for j in range(0, m, 4):
                for i in range(0, n, 4):
                    if i + ROWS <= n and j + COLUMNS <= m:
                        _add_tile(x, y, out, i, j, first, last)
                    else:
                        _add_edge(x, y, out, i, min(i + ROWS, n), j, min(j + COLUMNS, m), first, last)


cdef inline void _add_tile(
    const double[:, :] x, const double[:, :] y, double[:, :] out,
    Py_ssize_t i, Py_ssize_t j, Py_ssize_t first, Py_ssize_t last,
) noexcept nogil:
    """Add features `first` to `last` of ROWS × COLUMNS products."""
    cdef double total[ROWS][COLUMNS]
    cdef const double* row[ROWS]
    cdef const double* column
    cdef Py_ssize_t f, r, c
    for r in range(ROWS):
        row[r] = &x[i + r, 0]
        for c in range(COLUMNS):
            total[r][c] = out[i + r, j + c]
    for f in range(first, last):
        column = &y[f, j]
        for r in range(ROWS):
            for c in range(COLUMNS):
                total[r][c] += row[r][f] * column[c]
    for r in range(ROWS):
        for c in range(COLUMNS):
            out[i + r, j + c] = total[r][c]


cdef void _add_edge(
    const double[:, :] x, const double[:, :] y, double[:, :] out,
    Py_ssize_t i, Py_ssize_t i_stop, Py_ssize_t j, Py_ssize_t j_stop, Py_ssize_t first, Py_ssize_t last,
) noexcept nogil:
    """Add features `first` to `last` of the products left over at the edges."""
    cdef Py_ssize_t f, r, c
    cdef double total
    for r in range(i, i_stop):
        for c in range(j, j_stop):
            total = out[r, c]
            for f in range(first, last):
                total += x[r, f] * y[f, c]
            out[r, c] = total


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
