"""The loops of the local alignment kernel; see `_local_alignment.h` and `_local_alignment_log.h`."""

from cython cimport view
from libc.math cimport ldexp
from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport free, malloc

from seqkern.kernels._blocks cimport Records, record_codes, record_length, records

cdef extern from "_local_alignment.h" nogil:
    enum:
        PATTERN
    ctypedef struct range_ "range":
        int rows
        int low
        int middle
        int high
        double least
        double most
        double quiet
    ctypedef struct recursion:
        int letters
        int even
        const float *single
        const double *twofold
        double open
        double extend
        double reopen
        double wrap
        double *one
        double *weight
        range_ narrow
        range_ wide
    int fill_rectangle(
        int level, int single, const recursion *f, const records *rows, const int64_t *stop, const records *lanes,
        double *out, Py_ssize_t row_step, Py_ssize_t lane_step)
    int fill_diagonal(int level, int single, const recursion *f, const records *all, double *out)

cdef extern from "_local_alignment_log.h" nogil:
    ctypedef struct log_recursion:
        int letters
        const double *score
        double open
        double extend
    double log_kernel(
        const log_recursion *f, const uint8_t *x, Py_ssize_t n, const uint8_t *y, Py_ssize_t m, double *state,
        double *pairs)
    int add_shares(
        const log_recursion *f, const uint8_t *x, Py_ssize_t n, const uint8_t *y, Py_ssize_t m, double value,
        double *shares)
    int fill_logarithms(
        const log_recursion *f, const records *rows, const int64_t *stop, const records *lanes, double *out,
        Py_ssize_t row_step, Py_ssize_t lane_step)


cdef class Recursion:
    """Factors of pairs of letters and gaps, and when powers of two change; what the loops in lanes read.

    Parameters
    ----------
    single : float32 (8, letters, letters + 1)
        Of a row's and a lane's code, for each place in the pattern of columns; 0 in the last column, that of what is
        behind an end.
    twofold : float64, the same shape
    even : bool
        Whether columns are scaled by powers of `extend`.
    open, extend, reopen, wrap : float
    one : float64 (8,)
        What 1 is stored as.
    narrow, wide : (rows, low, middle, high, quiet)
        The ranges for single and double precision.
    """

    cdef recursion f
    cdef object arrays

    def __init__(
        self, const float[:, :, ::1] single, const double[:, :, ::1] twofold, bint even, double open, double extend,
        double reopen, double wrap, const double[::1] one, narrow, wide,
    ):
        cdef int c
        self.arrays = single, twofold
        self.f.letters, self.f.even = single.shape[1], even
        self.f.single, self.f.twofold = &single[0, 0, 0], &twofold[0, 0, 0]
        self.f.open, self.f.extend, self.f.reopen, self.f.wrap = open, extend, reopen, wrap
        for c in range(PATTERN):
            self.f.one[c], self.f.weight[c] = one[c], 1 / one[c]
        set_range(&self.f.narrow, narrow[0], narrow[1], narrow[2], narrow[3], narrow[4])
        set_range(&self.f.wide, wide[0], wide[1], wide[2], wide[3], wide[4])


cdef set_range(range_ *r, int rows, int low, int middle, int high, double quiet):
    r.rows, r.low, r.middle, r.high, r.quiet = rows, low, middle, high, quiet
    r.least, r.most = ldexp(1.0, low), ldexp(1 - ldexp(1.0, -24), high)


cdef class LogRecursion:
    """Scores and gap costs, times β; what the loops in logarithms read.

    Parameters
    ----------
    score : float64 (letters, letters)
    open, extend : float
    """

    cdef log_recursion f
    cdef object arrays

    def __init__(self, const double[:, ::1] score, double open, double extend):
        self.arrays = score
        self.f.letters, self.f.score = score.shape[0], &score[0, 0]
        self.f.open, self.f.extend = open, extend


def fill(recursion, int level, bint single, Records rows, Records lanes, const int64_t[::1] stop, double[:, :] out):
    """Set out[row, lane] to ln K of each row and the lanes 0 … stop[row] − 1 of their order.

    Parameters
    ----------
    recursion : Recursion or LogRecursion
    level : int
        Of instructions.
    single : bool
        Whether to compute in single precision.
    rows, lanes : Records
    stop : int64 (rows,)
    out : float64 (rows, lanes)
    """
    cdef int failed
    cdef Py_ssize_t row_step, lane_step
    cdef Recursion f
    cdef LogRecursion g
    if rows.r.n == 0 or lanes.r.n == 0:
        return
    row_step = out.strides[0] // <Py_ssize_t>sizeof(double)
    lane_step = out.strides[1] // <Py_ssize_t>sizeof(double)
    if isinstance(recursion, LogRecursion):
        g = recursion
        with nogil:
            failed = fill_logarithms(&g.f, &rows.r, &stop[0], &lanes.r, &out[0, 0], row_step, lane_step)
    else:
        f = recursion
        with nogil:
            failed = fill_rectangle(
                level, single, &f.f, &rows.r, &stop[0], &lanes.r, &out[0, 0], row_step, lane_step)
    if failed:
        raise MemoryError


def diagonal(recursion, int level, bint single, Records everything, double[::1] out):
    """Set out[i] to ln K of record i with itself, for those of `everything`; other parameters as in `fill`."""
    cdef int failed = 0
    cdef Py_ssize_t k, n
    cdef double[::1] state
    cdef Recursion f
    cdef LogRecursion g
    if everything.r.n == 0:
        return
    if isinstance(recursion, LogRecursion):
        g = recursion
        for k in range(everything.r.n):
            n = record_length(&everything.r, k)
            state = view.array((3 * n + 1,), sizeof(double), "d")
            with nogil:
                out[everything.r.order[k]] = log_kernel(
                    &g.f, record_codes(&everything.r, k), n, record_codes(&everything.r, k), n, &state[0], NULL)
        return
    f = recursion
    with nogil:
        failed = fill_diagonal(level, single, &f.f, &everything.r, &out[0])
    if failed:
        raise MemoryError


def share(LogRecursion recursion, Records rows, Records lanes, const double[:, ::1] values, double[::1] shares):
    """Add values[row, lane] to the `shares` of a row's letters, as likely as each is in a pair with one of the lane.

    Parameters
    ----------
    recursion : LogRecursion
    rows, lanes : Records
    values : float64 (rows, lanes)
    shares : float64 (letters of the rows,)
        One row after the other.
    """
    cdef Py_ssize_t i, j, n, at = 0
    cdef int failed = 0
    with nogil:
        for i in range(rows.r.n):
            n = record_length(&rows.r, i)
            for j in range(lanes.r.n):
                if n > 0 and values[i, j] != 0 and not failed:
                    failed = add_shares(
                        &recursion.f, record_codes(&rows.r, i), n, record_codes(&lanes.r, j),
                        record_length(&lanes.r, j), values[i, j], &shares[at])
            at += n
    if failed:
        raise MemoryError


# ---- the derivative of the logarithm, in forward mode --------------------------------------------

cdef enum:
    POWER = 200  # numbers above 2^POWER are scaled down by it


cdef struct slope_rule:
    Py_ssize_t letters
    const double *pair  # exp(β·s), and its derivative
    const double *pair_slope
    double open
    double extend
    double open_slope
    double extend_slope


cdef double slope_of_logarithm(
    const slope_rule *f, const uint8_t *x, Py_ssize_t n, const uint8_t *y, Py_ssize_t m, double *state,
) noexcept nogil:
    """Return the derivative of ln K(x, y); `state` has room for 6·m numbers."""
    cdef:
        double *M = state
        double *X = state + m
        double *T = state + 2 * m
        double *dM = state + 3 * m
        double *dX = state + 4 * m
        double *dT = state + 5 * m
        const double *pair
        const double *pair_slope
        double one = 1, total = 1, d_total = 0, most, corner, d_corner, Y, dY, both, d_both, before, d_before, scale
        double next_X, next_dX
        Py_ssize_t i, j
    for j in range(m):
        M[j] = X[j] = dM[j] = dX[j] = dT[j] = 0
        T[j] = 1
    for i in range(n):
        corner, d_corner, Y, dY, most = one, 0, 0, 0, 0
        pair, pair_slope = f.pair + x[i] * f.letters, f.pair_slope + x[i] * f.letters
        for j in range(m):
            next_X = f.open * M[j] + f.extend * X[j]
            next_dX = f.open_slope * M[j] + f.open * dM[j] + f.extend_slope * X[j] + f.extend * dX[j]
            X[j], dX[j] = next_X, next_dX
            M[j], dM[j] = pair[y[j]] * corner, pair_slope[y[j]] * corner + pair[y[j]] * d_corner
            both, d_both = M[j] + X[j], dM[j] + dX[j]
            corner, d_corner = T[j], dT[j]
            T[j], dT[j] = one + Y + both, dY + d_both
            total += M[j]
            d_total += dM[j]
            before, d_before = Y, dY
            Y = f.open * both + f.extend * before
            dY = f.open_slope * both + f.open * d_both + f.extend_slope * before + f.extend * d_before
            if T[j] > most:
                most = T[j]
        if most > ldexp(1.0, POWER) or total > ldexp(1.0, POWER):
            scale = ldexp(1.0, -POWER)
            one *= scale
            total *= scale
            d_total *= scale
            for j in range(6 * m):
                state[j] *= scale
    return d_total / total


def fill_slopes(
    const uint8_t[::1] codes, const int64_t[::1] start, const int64_t[::1] stop, const double[:, ::1] pair,
    const double[:, ::1] pair_slope, double open, double extend, double open_slope, double extend_slope,
    Py_ssize_t first, Py_ssize_t last, double[:, ::1] out,
):
    """Set out[i, j], for first ≤ i < last and j ≥ i, to the derivative of ln K(i, j).

    Parameters
    ----------
    codes : uint8 (letters,)
    start, stop : int64 (n,)
    pair, pair_slope : float64 (letters, letters)
        exp(β·s) and its derivative.
    open, extend, open_slope, extend_slope : float
        exp(−β·gap_open), exp(−β·gap_extend), and their derivatives.
    first, last : int
    out : float64 (n, n)
    """
    cdef Py_ssize_t i, j, longest = 0
    cdef slope_rule f
    cdef double *state
    cdef const uint8_t *text = &codes[0] if codes.shape[0] else NULL
    for i in range(start.shape[0]):
        longest = max(longest, stop[i] - start[i])
    state = <double *>malloc(sizeof(double) * (6 * longest + 1))
    if state == NULL:
        raise MemoryError
    f.letters, f.pair, f.pair_slope = pair.shape[0], &pair[0, 0], &pair_slope[0, 0]
    f.open, f.extend, f.open_slope, f.extend_slope = open, extend, open_slope, extend_slope
    with nogil:
        for i in range(first, last):
            for j in range(i, start.shape[0]):
                out[i, j] = slope_of_logarithm(
                    &f, text + start[i], stop[i] - start[i], text + start[j], stop[j] - start[j], state)
    free(state)
