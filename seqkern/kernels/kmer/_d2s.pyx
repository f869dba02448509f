"""The loops of the statistic D2S; see `_d2s.h`."""

cdef extern from "_d2s.h" nogil:
    void d2s(
        int level, const double *x, Py_ssize_t x_step, const double *y, Py_ssize_t y_step, double *out,
        Py_ssize_t out_step, Py_ssize_t n, Py_ssize_t d, Py_ssize_t m)


def sums(const double[:, ::1] x, const double[:, :] y, double[:, :] out, int level):
    """Set out[i, j] to Σ_w x_iw·y_wj / sqrt(x_iw² + y_wj²), without the w of which both are 0.

    Parameters
    ----------
    x : float64 (n, d)
    y : float64 (d, m)
        With contiguous rows.
    out : float64 (n, m)
        With contiguous rows.
    level : int
        Of instructions.
    """
    cdef Py_ssize_t n = x.shape[0], d = x.shape[1], m = y.shape[1], width = sizeof(double)
    if y.shape[0] != d or out.shape[0] != n or out.shape[1] != m:
        raise ValueError("the shapes of features and sums do not fit")
    if m > 1 and (out.strides[1] != width or (d > 0 and y.strides[1] != width)):
        raise ValueError("rows are not contiguous")
    if n == 0 or m == 0:
        return
    with nogil:
        d2s(
            level, &x[0, 0] if d else NULL, d, &y[0, 0] if d else NULL, y.strides[0] // width, &out[0, 0],
            out.strides[0] // width, n, d, m)
