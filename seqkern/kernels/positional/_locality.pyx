"""The loops of the locality- and codon-improved kernels; see `_locality.h`."""

from libc.stdint cimport uint16_t

cdef extern from "_locality.h" nogil:
    enum:
        LANES
        FRONT
        SHIFT
        BUFFER_ROW
    ctypedef struct locality_rule:
        Py_ssize_t length
        Py_ssize_t reach
        int first_power
        int second_power
        int same
        int shifted
        int narrow
        const double *weights
        double delta
        double scale
    void locality_row(
        int level, const uint16_t *x, const uint16_t *panels, const locality_rule *rule, Py_ssize_t first,
        Py_ssize_t last, double *buffer, double *out)
    void locality_shares(
        const uint16_t *x, const uint16_t *z, const locality_rule *rule, double coefficient, double *buffer,
        double *shares)

PANEL = LANES
BEYOND = SHIFT


cdef class Rule:
    """What is summed over the windows of two sequences; what the loops read.

    Parameters
    ----------
    length : int
        Letters of every sequence, at least 2·reach + 1.
    reach : int
        l, letters on both sides of a window's middle.
    powers : (int, int)
        d1 and d2, at least 1.
    weights : float64 (2·reach + 1,)
        Of a window's positions.
    delta : float
        Of a match three positions away.
    whole : (int, int) or None
        Two integers for 1 and `delta`, if the weights are (reach + 1 − |j|)/(reach + 1), for sums of integers below
        2^16.
    narrow : bool
        Whether the sum of the powers of such integers is below 2^32.
    """

    cdef locality_rule rule
    cdef locality_rule one_by_one
    cdef object array

    def __init__(self, Py_ssize_t length, Py_ssize_t reach, powers, const double[::1] weights, double delta, whole,
                 bint narrow):
        self.array = weights
        self.rule.length, self.rule.reach, self.rule.delta = length, reach, delta
        self.rule.first_power, self.rule.second_power = powers
        self.rule.weights, self.rule.scale = &weights[0], 1.0
        self.one_by_one = self.rule
        if whole is not None:
            self.rule.weights, self.rule.narrow = NULL, narrow
            self.rule.same, self.rule.shifted = whole
            for _ in range(self.rule.first_power):
                self.rule.scale *= self.rule.same * (reach + 1)

    @property
    def buffer_size(self):
        """Places in the buffer that `fill` and `diagonal` need."""
        return BUFFER_ROW * (FRONT + self.rule.length)


def fill(
    Rule rule,
    const uint16_t[:, ::1] rows,
    const uint16_t[:, :, ::1] panels,
    Py_ssize_t first,
    double[::1] buffer,
    double[:, :] out,
    int level,
):
    """Write the kernel of the rows with the sequences of the panels from `first` on to `out`, its rows contiguous."""
    cdef Py_ssize_t i
    if out.shape[1] == 0:
        return
    with nogil:
        for i in range(out.shape[0]):
            locality_row(level, &rows[i, 0], &panels[0, 0, 0], &rule.rule, first, first + out.shape[1], &buffer[0],
                         &out[i, 0])


def diagonal(
    Rule rule,
    const uint16_t[:, ::1] rows,
    const uint16_t[:, :, ::1] panels,
    double[::1] buffer,
    double[::1] out,
    int level,
):
    """Write the kernel of each row with itself, the same sequence of the panels, to `out`."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(out.shape[0]):
            locality_row(level, &rows[i, 0], &panels[0, 0, 0], &rule.rule, i, i + 1, &buffer[0], &out[i])


def share(
    Rule rule,
    const uint16_t[:, ::1] rows,
    const uint16_t[:, ::1] others,
    const double[::1] coefficients,
    double[::1] buffer,
    double[:, ::1] shares,
):
    """Add coefficients[j] · K(row i, other j) to shares[i], (rows, length), at the letters of row i that match.

    `buffer` has 2 · length places.
    """
    cdef Py_ssize_t i, j
    with nogil:
        for i in range(rows.shape[0]):
            for j in range(others.shape[0]):
                locality_shares(
                    &rows[i, 0], &others[j, 0], &rule.one_by_one, coefficients[j], &buffer[0], &shares[i, 0])
