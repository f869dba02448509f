"""Products of single-precision vectors with a packed matrix; see `seqkern.kernels.vectors.approximation`."""

from libc.stdint cimport int64_t

cdef extern from "_single_product.h" nogil:
    enum: WIDTH
    ctypedef struct packed_matrix:
        Py_ssize_t d, k
        const float *panels
        const int64_t *starts
        const int64_t *tops
    int highest_simd_level()
    void single_product(int level, const float *values, Py_ssize_t n, const packed_matrix *matrix, float *out)
    void single_squares(const float *values, Py_ssize_t n, Py_ssize_t d, float *out)

PANEL_COLUMNS = WIDTH


def simd_level():
    """Return the level of vector instructions that is used: 0, 1 or 2."""
    return highest_simd_level()


def product(
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


def squares(const float[:, ::1] values, float[::1] out):
    """Write x · x to `out` for each row x of values (n, d)."""
    if out.shape[0] != values.shape[0]:
        raise ValueError("there is not one square for each row")
    if values.shape[0] == 0:
        return
    with nogil:
        single_squares(&values[0, 0] if values.shape[1] else NULL, values.shape[0], values.shape[1], &out[0])
