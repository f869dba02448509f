"""The loops of the gap-weighted subsequence kernels, and of their derivative; see `_subsequence.h`."""

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport free, malloc

from seqkern.kernels._blocks cimport Records, record_codes, record_length, records

cdef extern from "_subsequence.h" nogil:
    ctypedef struct recursion:
        int mode
        int levels
        int soft
        int letters
        const double *weight
        double decay
        const double *up
        const double *down
        const int32_t *up_power
        const int32_t *down_power
        int exact
        int boost
        int rows
    int fill_rectangle(
        int level, int single, const recursion *f, const records *rows, const int64_t *first, const int64_t *stop,
        const records *lanes, double *out, Py_ssize_t row_step, Py_ssize_t lane_step)
    int fill_diagonal(int level, int single, const recursion *f, const records *all, double *out)

cdef extern from "_subsequence_wide.h" nogil:
    ctypedef struct wide:
        double mantissa
        int64_t power
    int wide_kernel(
        const recursion *f, const uint8_t *x, Py_ssize_t n, const uint8_t *y, Py_ssize_t m, wide *result)
    int add_shares(
        const recursion *f, double z, double factor, const uint8_t *x, Py_ssize_t n, const uint8_t *y, Py_ssize_t m,
        double *shares)


cdef class Recursion:
    """Which chains count, and the weights of their letters and positions; what the loops read.

    Parameters
    ----------
    mode : int
        0: chains of `levels` + 1 pairs; 1: of up to as many; 2: of any number.
    levels : int
    weight : float64 (letters, letters)
        Of the pair of a row's and a lane's letter.
    soft : bool
        Whether there are others than 0 and 1.
    decay : float
    up, down : float64 (positions,)
        Mantissas of decay^−i and decay^i.
    up_power, down_power : int32 (positions,)
        Their powers of two.
    exact : bool
        Whether decay is a power of two and `boost` is 0.
    boost : int
        Chains of p pairs are stored times 2^(boost·(p − 1)).
    rows : int
        In a block, before which what is stored is scaled anew.
    """

    cdef recursion f
    cdef object arrays

    def __init__(
        self, int mode, int levels, const double[:, ::1] weight, bint soft, double decay, const double[::1] up,
        const double[::1] down, const int32_t[::1] up_power, const int32_t[::1] down_power, bint exact, int boost,
        int rows,
    ):
        self.arrays = weight, up, down, up_power, down_power
        self.f.mode, self.f.levels, self.f.soft = mode, levels, soft
        self.f.letters, self.f.weight = weight.shape[0], &weight[0, 0]
        self.f.decay = decay
        self.f.up, self.f.down = &up[0], &down[0]
        self.f.up_power, self.f.down_power = &up_power[0], &down_power[0]
        self.f.exact, self.f.boost, self.f.rows = exact, boost, rows


def fill(
    Recursion recursion, int level, bint single, Records rows, Records lanes, const int64_t[::1] first,
    const int64_t[::1] stop, double[:, :] out,
):
    """Set out[row, lane] to the kernel of each row and the lanes first[row] … stop[row] − 1 of their order.

    Parameters
    ----------
    recursion : Recursion
    level : int
        Of instructions.
    single : bool
        Whether to compute in single precision.
    rows, lanes : Records
    first, stop : int64 (rows,)
    out : float64 (rows, lanes)
    """
    cdef int failed
    if rows.r.n == 0 or lanes.r.n == 0:
        return
    with nogil:
        failed = fill_rectangle(
            level, single, &recursion.f, &rows.r, &first[0], &stop[0], &lanes.r, &out[0, 0],
            out.strides[0] // <Py_ssize_t>sizeof(double), out.strides[1] // <Py_ssize_t>sizeof(double))
    if failed:
        raise MemoryError


def diagonal(Recursion recursion, int level, bint single, Records everything, double[::1] out):
    """Set out[i] to the kernel of record i with itself, for those of `everything`."""
    cdef int failed
    if everything.r.n == 0:
        return
    with nogil:
        failed = fill_diagonal(level, single, &recursion.f, &everything.r, &out[0])
    if failed:
        raise MemoryError


def wide_value(Recursion recursion, Records row, Records lane):
    """Return the kernel of two records, the first of each order, as (mantissa, power of two)."""
    cdef wide result
    cdef int failed
    with nogil:
        failed = wide_kernel(
            &recursion.f, record_codes(&row.r, 0), record_length(&row.r, 0), record_codes(&lane.r, 0),
            record_length(&lane.r, 0), &result)
    if failed:
        raise MemoryError
    return result.mantissa, 512 * result.power


def share(
    Recursion recursion, Records rows, Records lanes, const double[::1] coefficients, const double[::1] nodes,
    const double[::1] factors, double[::1] shares,
):
    """Add to `shares` what the letters of the rows, one row after the other, share of their sums over the lanes.

    Parameters
    ----------
    recursion : Recursion
    rows, lanes : Records
    coefficients : float64 (lanes,)
    nodes, factors : float64 (nodes,)
        A chain of p pairs with a letter adds Σ_k factors[k]·nodes[k]^p times its weight to it.
    shares : float64 (letters of the rows,)
    """
    cdef Py_ssize_t i, j, k, n, at = 0
    cdef int failed = 0
    with nogil:
        for i in range(rows.r.n):
            n = record_length(&rows.r, i)
            for j in range(lanes.r.n):
                for k in range(nodes.shape[0]):
                    if n > 0 and coefficients[j] != 0 and not failed:
                        failed = add_shares(
                            &recursion.f, nodes[k], factors[k] * coefficients[j], record_codes(&rows.r, i), n,
                            record_codes(&lanes.r, j), record_length(&lanes.r, j), &shares[at])
            at += n
    if failed:
        raise MemoryError


# ---- the derivative, in forward mode -------------------------------------------------------------

cdef enum:
    EXACTLY, UP_TO, ANY_LENGTH  # chains of levels + 1 pairs, of up to as many, of any number


cdef struct slope_rule:
    int mode
    int levels
    Py_ssize_t letters  # codes from here on match nothing
    const double *weight
    double decay


cdef double slope(
    const slope_rule *f, const uint8_t *x, Py_ssize_t n, const uint8_t *y, Py_ssize_t m, double *state,
) noexcept nogil:
    """Return ∂K(x, y)/∂decay; `state` has room for 2·levels·(m + 2) numbers.

    With K'_p(i, j) the chains of p pairs in x_0 … x_i and y_0 … y_j, weighted by their spans up to i and j, `run` is
    the part of K'_p of this row, `corner` K'_p(i − 1, j − 1), and K'_0 = 1.
    """
    cdef:
        Py_ssize_t levels = f.levels, i, j, p
        double *run = state
        double *d_run = run + levels
        double *corner = d_run + levels
        double *d_corner = corner + levels
        double *kept
        double *d_kept
        double decay = f.decay, square = f.decay * f.decay, w, ends, d_ends, before, d_before, result = 0
    for p in range(2 * levels * m):
        (state + 4 * levels)[p] = 0
    for i in range(n):
        for p in range(4 * levels):
            state[p] = 0
        for j in range(m):
            kept = state + 4 * levels + 2 * levels * j
            d_kept = kept + levels
            w = 0
            if x[i] < f.letters and y[j] < f.letters:
                w = f.weight[x[i] * f.letters + y[j]]
            if w != 0:
                # the last pair of a chain
                ends, d_ends = 1, 0  # chains of one pair
                if f.mode == EXACTLY and levels > 0:
                    ends, d_ends = corner[levels - 1], d_corner[levels - 1]
                elif f.mode != EXACTLY:
                    for p in range(levels):
                        ends += corner[p]
                        d_ends += d_corner[p]
                result += w * (2 * decay * ends + square * d_ends)
            for p in range(levels - 1, -1, -1):
                d_run[p] = run[p] + decay * d_run[p]
                run[p] *= decay
                if w != 0:
                    before = 1 + corner[0] if f.mode == ANY_LENGTH else corner[p - 1] if p > 0 else 1
                    d_before = d_corner[0] if f.mode == ANY_LENGTH else d_corner[p - 1] if p > 0 else 0
                    d_run[p] += w * (2 * decay * before + square * d_before)
                    run[p] += w * square * before
            for p in range(levels):
                corner[p], d_corner[p] = kept[p], d_kept[p]
                kept[p] = decay * corner[p] + run[p]
                d_kept[p] = corner[p] + decay * d_corner[p] + d_run[p]
    return result


def fill_slopes(
    const uint8_t[::1] codes, const int64_t[::1] start, const int64_t[::1] stop, int mode, int levels,
    const double[:, ::1] weight, double decay, Py_ssize_t first, Py_ssize_t last, double[:, ::1] out,
):
    """Set out[i, j], for first ≤ i < last and j ≥ i, to ∂K(i, j)/∂decay.

    Parameters
    ----------
    codes : uint8 (letters,)
        Masked letters are beyond those of `weight`.
    start, stop : int64 (n,)
    mode, levels : int
        As those of `chains.Chains`.
    weight : float64 (letters, letters)
    decay : float
    first, last : int
    out : float64 (n, n)
    """
    cdef Py_ssize_t i, j, longest = 0
    cdef slope_rule f
    cdef double *state
    cdef const uint8_t *text = &codes[0] if codes.shape[0] else NULL
    for i in range(start.shape[0]):
        longest = max(longest, stop[i] - start[i])
    state = <double *>malloc(sizeof(double) * (2 * levels * (longest + 2) + 1))
    if state == NULL:
        raise MemoryError
    f.mode, f.levels, f.letters, f.weight, f.decay = mode, levels, weight.shape[0], &weight[0, 0], decay
    with nogil:
        for i in range(first, last):
            for j in range(i, start.shape[0]):
                out[i, j] = slope(
                    &f, text + start[i], stop[i] - start[i], text + start[j], stop[j] - start[j], state)
    free(state)
