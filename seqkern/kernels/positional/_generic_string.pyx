"""The loops of the generic string kernel, and of its derivative; see `_generic_string.h`."""

from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport free, malloc

cdef extern from "_generic_string.h" nogil:
    enum:
        SUMS
        PROFILE_NUMBERS
        PADDING
        PANEL
        SHORT
    ctypedef struct generic_rule:
        Py_ssize_t longest
        Py_ssize_t letters
        const double *weight
        const double *tolerance
        Py_ssize_t reach
    ctypedef struct generic_records:
        const uint8_t *codes
        const int64_t *start
        const int64_t *stop
        Py_ssize_t n
    int generic_block(
        int level, const generic_rule *rule, const generic_records *rows, const generic_records *cols, int upper,
        double *out, Py_ssize_t step)
    int generic_diagonal(int level, const generic_rule *rule, const generic_records *all, double *out)
    void generic_shares(
        const generic_rule *rule, const uint8_t *x, Py_ssize_t n, const uint8_t *y, Py_ssize_t m, double factor,
        double *terms, double *shares)

TOLERANCE_PADDING = SUMS
GROUP_NUMBERS = PROFILE_NUMBERS
ROW_PADDING = PADDING
PANEL_COLUMNS = PANEL
SHORT_LENGTH = SHORT


cdef class Rule:
    """What is compared, and how; what the loops read.

    Parameters
    ----------
    longest : int
        Letters of the longest words.
    weight : float64 (letters, letters)
        How alike two letters are; the last one is the masked letter's.
    tolerance : float64 (reach + TOLERANCE_PADDING,)
        Of the distances 0 … reach − 1, then zeros.
    """

    cdef generic_rule rule
    cdef object arrays

    def __init__(self, Py_ssize_t longest, const double[:, ::1] weight, const double[::1] tolerance):
        self.arrays = weight, tolerance
        self.rule.longest = longest
        self.rule.letters, self.rule.weight = weight.shape[0], &weight[0, 0]
        self.rule.tolerance, self.rule.reach = &tolerance[0], tolerance.shape[0] - SUMS


cdef class Records:
    """Records of a buffer of codes, in which the masked letter is the last one.

    Parameters
    ----------
    codes : uint8 (letters,)
    start, stop : int64 (n,)
    """

    cdef generic_records r
    cdef object arrays

    def __init__(self, const uint8_t[::1] codes, const int64_t[::1] start, const int64_t[::1] stop):
        self.arrays = codes, start, stop
        self.r.n = start.shape[0]
        if codes.shape[0]:
            self.r.codes = &codes[0]
        if start.shape[0]:
            self.r.start, self.r.stop = &start[0], &stop[0]


def fill(Rule rule, int level, Records rows, Records cols, bint upper, double[:, :] out):
    """Set out[i, j] to the kernel of row i and column j; its rows are contiguous.

    With `upper` the rows are the first of the columns, and what is below the diagonal is its mirror image.
    """
    cdef int failed
    if rows.r.n == 0 or cols.r.n == 0:
        return
    with nogil:
        failed = generic_block(
            level, &rule.rule, &rows.r, &cols.r, upper, &out[0, 0], out.strides[0] // <Py_ssize_t>sizeof(double))
    if failed:
        raise MemoryError


def diagonal(Rule rule, int level, Records everything, double[::1] out):
    """Set out[i] to the kernel of record i with itself."""
    cdef int failed
    if everything.r.n == 0:
        return
    with nogil:
        failed = generic_diagonal(level, &rule.rule, &everything.r, &out[0])
    if failed:
        raise MemoryError


def share(Rule rule, Records rows, Records others, const double[::1] coefficients, double[::1] shares):
    """Add coefficients[j] · K(row i, other j), shared by the letters of row i, to `shares`, one row after another."""
    cdef Py_ssize_t i, j, at = 0
    cdef double *terms = <double *>malloc(rule.rule.longest * sizeof(double))
    if terms == NULL:
        raise MemoryError
    with nogil:
        for i in range(rows.r.n):
            for j in range(others.r.n):
                if rows.r.stop[i] > rows.r.start[i] and others.r.stop[j] > others.r.start[j]:
                    generic_shares(
                        &rule.rule, rows.r.codes + rows.r.start[i], rows.r.stop[i] - rows.r.start[i],
                        others.r.codes + others.r.start[j], others.r.stop[j] - others.r.start[j], coefficients[j],
                        terms, &shares[at])
            at += rows.r.stop[i] - rows.r.start[i]
    free(terms)


# ---- the derivative by what the weights depend on, in forward mode -------------------------------

cdef enum:
    DIAGONALS = 4


cdef struct slope_rule:
    Py_ssize_t longest  # letters of the longest words
    Py_ssize_t letters
    const double *weight
    const double *weight_slope
    const double *tolerance
    const double *tolerance_slope
    Py_ssize_t reach


cdef double slope_of_pair(
    const slope_rule *f, const uint8_t *x, Py_ssize_t n, const uint8_t *y, Py_ssize_t m, double *words,
) noexcept nogil:
    """Return the derivative of K(x, y); `words` has room for 2·DIAGONALS·(longest + 1) numbers.

    Adjacent diagonals are summed beside each other. Where one has not begun or has ended, its weights are 0.
    """
    cdef:
        Py_ssize_t d, i, j, k, word, first, last, longest = f.longest
        double *own
        double *d_own
        double *before
        double *d_before
        double *d_words = words + DIAGONALS * (longest + 1)
        double w[DIAGONALS]
        double dw[DIAGONALS]
        double total[DIAGONALS]
        double d_total[DIAGONALS]
        double result = 0
        int c
    first = 1 - n if 1 - n > 1 - f.reach else 1 - f.reach
    last = m if m < f.reach else f.reach
    d = first
    while d < last:
        for word in range(2 * DIAGONALS * (longest + 1)):
            words[word] = 0
        for c in range(DIAGONALS):
            total[c] = d_total[c] = 0
        for i in range(-d - DIAGONALS + 1 if d + DIAGONALS - 1 < 0 else 0, n if n < m - d else m - d):
            for c in range(DIAGONALS):
                j = i + d + c
                w[c] = dw[c] = 0
                if 0 <= j < m:
                    k = x[i] * f.letters + y[j]
                    w[c], dw[c] = f.weight[k], f.weight_slope[k]
            for word in range(longest, 0, -1):  # from words of up to word − 1 letters that end a cell before
                own, d_own = words + DIAGONALS * word, d_words + DIAGONALS * word
                before, d_before = own - DIAGONALS, d_own - DIAGONALS
                for c in range(DIAGONALS):
                    d_own[c] = dw[c] * (1 + before[c]) + w[c] * d_before[c]
                    own[c] = w[c] * (1 + before[c])
            for c in range(DIAGONALS):
                total[c] += words[DIAGONALS * longest + c]
                d_total[c] += d_words[DIAGONALS * longest + c]
        for c in range(DIAGONALS):
            if d + c < last:
                k = d + c if d + c > 0 else -d - c
                result += f.tolerance_slope[k] * total[c] + f.tolerance[k] * d_total[c]
        d += DIAGONALS
    return result


def fill_slopes(
    const uint8_t[::1] codes, const int64_t[::1] start, const int64_t[::1] stop, Py_ssize_t longest,
    const double[:, ::1] weight, const double[:, ::1] weight_slope, const double[::1] tolerance,
    const double[::1] tolerance_slope, Py_ssize_t first, Py_ssize_t last, double[:, ::1] out,
):
    """Set out[i, j], for first ≤ i < last and j ≥ i, to the derivative of K(i, j).

    Parameters
    ----------
    codes : uint8 (letters,)
    start, stop : int64 (n,)
    longest : int
        Letters of the longest words.
    weight, weight_slope : float64 (letters, letters)
        Of pairs of letters, and their derivatives.
    tolerance, tolerance_slope : float64 (reach,)
        Of distances, and their derivatives.
    first, last : int
    out : float64 (n, n)
    """
    cdef Py_ssize_t i, j
    cdef slope_rule f
    cdef double *words = <double *>malloc(sizeof(double) * 2 * DIAGONALS * (longest + 1))
    cdef const uint8_t *text = &codes[0] if codes.shape[0] else NULL
    if words == NULL:
        raise MemoryError
    f.longest, f.letters, f.weight, f.weight_slope = longest, weight.shape[0], &weight[0, 0], &weight_slope[0, 0]
    f.reach, f.tolerance, f.tolerance_slope = tolerance.shape[0], NULL, NULL
    if f.reach:
        f.tolerance, f.tolerance_slope = &tolerance[0], &tolerance_slope[0]
    with nogil:
        for i in range(first, last):
            for j in range(i, start.shape[0]):
                out[i, j] = slope_of_pair(
                    &f, text + start[i], stop[i] - start[i], text + start[j], stop[j] - start[j], words)
    free(words)
