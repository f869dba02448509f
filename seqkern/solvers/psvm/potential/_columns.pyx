"""Loops over the columns of a dense matrix: moments, products with the standardised matrix.

Everywhere `columns` is the transposed matrix (N, l): its row j is column j of K, contiguous in memory. The
standardised column k̃_j = (k_j − means[j]) / scales[j] is never stored; scales[j] = 0 marks a constant one,
whose k̃_j is 0.
"""

from libc.math cimport fabs, sqrt
from libc.stdint cimport int64_t

cdef extern from "_centred.h":
    int highest_simd_level() nogil
    double centred_product(
        int level, const double *column, double mean, const double *vector, Py_ssize_t length
    ) nogil

cdef int LEVEL = highest_simd_level()


def moments(const double[:, ::1] columns, double[::1] means, double[::1] scales):
    """Write mean and standard deviation (divisor l) of each column; 0 for one constant but for rounding.

    The sum of the deviations corrects both (Chan, Golub & LeVeque 1983). Eight partial sums let the compiler use vector
    instructions without reordering anything.
    """
    cdef Py_ssize_t length = columns.shape[1], whole = length - length % 8, i, j, lane
    cdef double total, square, rest, largest, mean, deviation
    cdef double[8] sums, peaks, rests
    cdef const double *column
    with nogil:
        for j in range(columns.shape[0]):
            column = &columns[j, 0]
            for lane in range(8):
                sums[lane] = 0.0
                peaks[lane] = 0.0
            for i in range(0, whole, 8):
                for lane in range(8):
                    sums[lane] += column[i + lane]
                    peaks[lane] = max(peaks[lane], fabs(column[i + lane]))
            total = 0.0
            largest = 0.0
            for i in range(whole, length):
                total += column[i]
                largest = max(largest, fabs(column[i]))
            for lane in range(8):
                total += sums[lane]
                largest = max(largest, peaks[lane])
                sums[lane] = 0.0
                rests[lane] = 0.0
            mean = total / length
            for i in range(0, whole, 8):
                for lane in range(8):
                    deviation = column[i + lane] - mean
                    rests[lane] += deviation
                    sums[lane] += deviation * deviation
            rest = 0.0
            square = 0.0
            for i in range(whole, length):
                rest += column[i] - mean
                square += (column[i] - mean) * (column[i] - mean)
            for lane in range(8):
                rest += rests[lane]
                square += sums[lane]
            means[j] = mean + rest / length
            scales[j] = sqrt(max(0.0, square - rest * rest / length) / length)
            if scales[j] <= 1e-12 * largest:
                scales[j] = 0.0


def products(
    const double[:, ::1] columns,
    const double[::1] means,
    const double[::1] scales,
    const int64_t[::1] which,
    const double[::1] vector,
    double[::1] out,
):
    """Write the elements `which`, or all if it is None, of K̃ᵀ · vector to `out`."""
    cdef Py_ssize_t length = columns.shape[1], place, j
    cdef double product
    with nogil:
        for place in range(out.shape[0]):
            j = place if which is None else which[place]
            if scales[j] == 0:
                out[place] = 0.0
                continue
            product = centred_product(LEVEL, &columns[j, 0], means[j], &vector[0], length)
            out[place] = product / scales[j]


def combine(
    const double[:, ::1] columns,
    const double[::1] means,
    const double[::1] scales,
    const double[::1] alpha,
    double[::1] out,
):
    """Add K̃ · alpha to `out`, shape (l,)."""
    cdef Py_ssize_t i, j
    cdef double weight, mean
    with nogil:
        for j in range(columns.shape[0]):
            if alpha[j] != 0 and scales[j] != 0:
                weight = alpha[j] / scales[j]
                mean = means[j]
                for i in range(columns.shape[1]):
                    out[i] += weight * (columns[j, i] - mean)


def standardise(
    const double[:, ::1] columns,
    const double[::1] means,
    const double[::1] scales,
    const int64_t[::1] which,
    double[:, ::1] out,
):
    """Write the columns `which` of K̃ to the rows of `out`, (w, l)."""
    cdef Py_ssize_t place, i, j
    cdef double mean, scale
    with nogil:
        for place in range(which.shape[0]):
            j = which[place]
            mean = means[j]
            scale = scales[j]
            for i in range(columns.shape[1]):
                out[place, i] = (columns[j, i] - mean) / scale if scale != 0 else 0.0


def add_products_by_rows(
    const double[:, ::1] rows,
    const double[::1] means,
    const double[::1] vector,
    double[::1] out,
):
    """Add Σ_i (rows[i, j] − means[j]) · vector[i] to out[j], for consecutive rows of K."""
    cdef Py_ssize_t i, j
    with nogil:
        for i in range(rows.shape[0]):
            for j in range(rows.shape[1]):
                out[j] += (rows[i, j] - means[j]) * vector[i]
