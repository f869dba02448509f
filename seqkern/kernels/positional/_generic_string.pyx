"""The loops of the generic string kernel; see `_generic_string.h`."""

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
