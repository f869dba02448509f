"""Loops over whole rectangles of a kernel matrix: normalising, mirroring, the largest value."""

from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy

cdef extern from "_blocks.h" nogil:
    int highest_simd_level()
    void normalise_row(
        int level, double *values, Py_ssize_t n, double diagonal, const double *diagonals, int same, int64_t *found
    )
    int even(const double *numbers, Py_ssize_t n)
    int far_apart(const double *rows, Py_ssize_t n, const double *columns, Py_ssize_t m)
    void normalise_far(double *values, Py_ssize_t n, double diagonal, const double *diagonals)
    void largest_of_row(int level, const double *values, Py_ssize_t n, int64_t *found)
    void turn_doubles(
        const double *values, Py_ssize_t step, Py_ssize_t n, Py_ssize_t m, double *out, Py_ssize_t out_step)
    void turn_floats(
        const float *values, Py_ssize_t step, Py_ssize_t n, Py_ssize_t m, float *out, Py_ssize_t out_step)

ctypedef fused floating:
    float
    double

cdef int LEVEL = highest_simd_level()


def normalise(double[:, :] block, const double[::1] row_diagonal, const double[::1] col_diagonal):
    """Divide block[i, j] by sqrt(row_diagonal[i] · col_diagonal[j]), in place.

    It is zero where either is not positive. The product of two diagonals may overflow although the quotient does not.
    The rows of `block` must be contiguous. Returns what `largest` returns for the result.
    """
    cdef Py_ssize_t i, n = block.shape[0], m = block.shape[1]
    cdef int far, same
    cdef int64_t found = 0
    cdef double value
    if n == 0 or m == 0:
        return 0.0
    with nogil:
        far = far_apart(&row_diagonal[0], n, &col_diagonal[0], m)
        same = even(&col_diagonal[0], m)
        for i in range(n):
            if far:
                normalise_far(&block[i, 0], m, row_diagonal[i], &col_diagonal[0])
                largest_of_row(LEVEL, &block[i, 0], m, &found)
            else:
                normalise_row(LEVEL, &block[i, 0], m, row_diagonal[i], &col_diagonal[0], same, &found)
    memcpy(&value, &found, sizeof(value))
    return value


def far_diagonals(const double[::1] row_diagonal, const double[::1] col_diagonal):
    """Return whether `normalise` has to divide in steps, because products of the diagonals overflow or lose digits."""
    cdef Py_ssize_t n = row_diagonal.shape[0], m = col_diagonal.shape[0]
    return n > 0 and m > 0 and far_apart(&row_diagonal[0], n, &col_diagonal[0], m) != 0


def largest(const double[:, :] block):
    """Return the largest absolute value of `block`, whose rows are contiguous; inf or NaN if it has any, 0 if empty."""
    cdef Py_ssize_t i
    cdef int64_t found = 0
    cdef double value
    if block.shape[0] and block.shape[1]:
        with nogil:
            for i in range(block.shape[0]):
                largest_of_row(LEVEL, &block[i, 0], block.shape[1], &found)
    memcpy(&value, &found, sizeof(value))
    return value


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


def mirror_below(floating[:, :] matrix, Py_ssize_t top, Py_ssize_t bottom, Py_ssize_t left, Py_ssize_t right):
    """Copy rows `top`:`bottom` and columns `left`:`right`, on the diagonal or right of it, to its other side.

    The columns begin at `top`, and then include the square there; or at `bottom` or beyond. The rows of `matrix` are
    contiguous.
    """
    cdef Py_ssize_t i, j, beyond = max(left, bottom), step = matrix.strides[0] // <Py_ssize_t>sizeof(floating)
    if top >= bottom or left >= right:
        return
    with nogil:
        if left == top:
            for i in range(top, bottom):
                for j in range(top, i):
                    matrix[i, j] = matrix[j, i]
        if beyond < right:
            if floating is float:
                turn_floats(&matrix[top, beyond], step, bottom - top, right - beyond, &matrix[beyond, top], step)
            else:
                turn_doubles(&matrix[top, beyond], step, bottom - top, right - beyond, &matrix[beyond, top], step)


def turn(const floating[:, :] block, floating[:, :] out):
    """Copy a block to another place, transposed; the rows of both are contiguous."""
    cdef Py_ssize_t size = sizeof(floating)
    if block.shape[0] == 0 or block.shape[1] == 0:
        return
    with nogil:
        if floating is float:
            turn_floats(
                &block[0, 0], block.strides[0] // size, block.shape[0], block.shape[1], &out[0, 0],
                out.strides[0] // size)
        else:
            turn_doubles(
                &block[0, 0], block.strides[0] // size, block.shape[0], block.shape[1], &out[0, 0],
                out.strides[0] // size)


# ---- records of a buffer of codes, as the loops over pairs of sequences read them; see `_records.h`

cdef class Records:
    """Records of a buffer of codes, in an order of their own.

    Parameters
    ----------
    codes : uint8 (letters,)
    start, stop : int64 (records,)
    order : int64 (n,)
        Which of the records, in which order.
    """

    def __init__(
        self, const uint8_t[::1] codes, const int64_t[::1] start, const int64_t[::1] stop, const int64_t[::1] order,
    ):
        self.arrays = codes, start, stop, order
        self.r.n = order.shape[0]
        if codes.shape[0]:
            self.r.codes = &codes[0]
        if start.shape[0]:
            self.r.start, self.r.stop = &start[0], &stop[0]
        if order.shape[0]:
            self.r.order = &order[0]
