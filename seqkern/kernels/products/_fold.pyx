"""Sums over records and over features that fold a decision into one weight for each feature.

Every loop adds in one fixed order, feature after feature and record after record: a value has the same bits whatever
records stand beside it.
"""

from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t

ctypedef fused value_t:
    int32_t
    double

ctypedef fused packed_t:
    uint8_t
    int16_t
    int32_t

cdef enum:
    PANEL = 16


def gather_sparse(
    const int64_t[::1] start,
    const int32_t[::1] feature,
    const value_t[::1] value,
    Py_ssize_t first,
    const double[::1] coefficients,
    double[::1] weights,
):
    """Add Σ_j coefficients[j]·Φ(z_j) to `weights` (features,); z_j is the compressed row ``first + j``."""
    cdef Py_ssize_t j
    cdef int64_t q
    with nogil:
        for j in range(coefficients.shape[0]):
            for q in range(start[first + j], start[first + j + 1]):
                weights[feature[q]] += coefficients[j] * value[q]


def apply_sparse(
    const int64_t[::1] start,
    const int32_t[::1] feature,
    const value_t[::1] value,
    Py_ssize_t first,
    const double[::1] weights,
    double[::1] out,
):
    """Write Φ(x_i)·weights to out[i]; x_i is the compressed row ``first + i``."""
    cdef Py_ssize_t i
    cdef int64_t q
    cdef double total
    with nogil:
        for i in range(out.shape[0]):
            total = 0
            for q in range(start[first + i], start[first + i + 1]):
                total += value[q] * weights[feature[q]]
            out[i] = total


def gather_packed(
    const packed_t[:, :, :, ::1] packed, Py_ssize_t first, const double[::1] coefficients, double[::1] weights
):
    """Add Σ_j coefficients[j]·Φ(z_j) to `weights`; z_j is row ``first + j`` of the layout of `_dense.h`.

    `packed` is (panels of 16 rows, steps, 16, counts of a step), `weights` has a place for each count of all steps.
    """
    cdef Py_ssize_t j, s, e, panel, lane, per_step = packed.shape[3]
    with nogil:
        for j in range(coefficients.shape[0]):
            panel, lane = (first + j) // PANEL, (first + j) % PANEL
            for s in range(packed.shape[1]):
                for e in range(per_step):
                    weights[s * per_step + e] += coefficients[j] * packed[panel, s, lane, e]


def apply_packed(
    const packed_t[:, :, :, ::1] packed, Py_ssize_t first, const double[::1] weights, double[::1] out
):
    """Write Φ(x_i)·weights to out[i]; x_i is row ``first + i``; the other parameters as in `gather_packed`."""
    cdef Py_ssize_t s, e, lane, row, per_step = packed.shape[3]
    cdef Py_ssize_t panel = first // PANEL, last = first + out.shape[0]
    cdef double[PANEL] sums
    cdef double weight
    with nogil:
        while panel * PANEL < last:
            for lane in range(PANEL):
                sums[lane] = 0
            for s in range(packed.shape[1]):
                for e in range(per_step):
                    weight = weights[s * per_step + e]
                    for lane in range(PANEL):
                        sums[lane] += weight * packed[panel, s, lane, e]
            for lane in range(PANEL):
                row = panel * PANEL + lane
                if first <= row < last:
                    out[row - first] = sums[lane]
            panel += 1


def gather_panels(
    const double[:, :, ::1] panels, Py_ssize_t first, const double[::1] coefficients, double[::1] weights
):
    """Add Σ_j coefficients[j]·Φ(z_j) to `weights` (features,); z_j is row ``first + j`` of panels of 16 rows."""
    cdef Py_ssize_t j, f, panel, lane
    with nogil:
        for j in range(coefficients.shape[0]):
            panel, lane = (first + j) // PANEL, (first + j) % PANEL
            for f in range(panels.shape[1]):
                weights[f] += coefficients[j] * panels[panel, f, lane]


def apply_panels(const double[:, :, ::1] panels, Py_ssize_t first, const double[::1] weights, double[::1] out):
    """Write Φ(x_i)·weights to out[i]; x_i is row ``first + i`` of panels of 16 rows."""
    cdef Py_ssize_t f, lane, row, panel = first // PANEL, last = first + out.shape[0]
    cdef double[PANEL] sums
    with nogil:
        while panel * PANEL < last:
            for lane in range(PANEL):
                sums[lane] = 0
            for f in range(panels.shape[1]):
                for lane in range(PANEL):
                    sums[lane] += weights[f] * panels[panel, f, lane]
            for lane in range(PANEL):
                row = panel * PANEL + lane
                if first <= row < last:
                    out[row - first] = sums[lane]
            panel += 1


def spread(
    const double[::1] values, const int64_t[::1] starts, const int64_t[::1] offsets, double[::1] out
):
    """Share values[i] equally among the letters ``starts[i] + offsets``: add values[i] / len(offsets) to each."""
    cdef Py_ssize_t i, p
    cdef double share
    with nogil:
        for i in range(values.shape[0]):
            share = values[i] / offsets.shape[0]
            for p in range(offsets.shape[0]):
                out[starts[i] + offsets[p]] += share
