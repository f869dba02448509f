"""Loops over the columns of a sparse matrix, stored by columns (CSC): moments, products with K̃.

Entry p of column j, for indptr[j] ≤ p < indptr[j + 1], is data[p] in row indices[p]; no row comes twice. Elements that
are not stored are zero, and (0 − mean) in K̃: what they add is taken together. A column whose elements are all stored
is computed as if dense, so that nothing is lost where its mean is far above its scale.
"""

from libc.math cimport fabs, sqrt
from libc.stdint cimport int32_t, int64_t

ctypedef fused index:
    int32_t
    int64_t


def moments(const double[::1] data, const index[::1] indptr, Py_ssize_t length, double[::1] means, double[::1] scales):
    """Write mean and standard deviation (divisor l) of each column; 0 for one constant but for rounding."""
    cdef Py_ssize_t j, p
    cdef double total, square, rest, largest, mean
    with nogil:
        for j in range(means.shape[0]):
            total = 0.0
            largest = 0.0
            for p in range(indptr[j], indptr[j + 1]):
                total += data[p]
                largest = max(largest, fabs(data[p]))
            mean = total / length
            rest = -(length - (indptr[j + 1] - indptr[j])) * mean
            square = -rest * mean
            for p in range(indptr[j], indptr[j + 1]):
                rest += data[p] - mean
                square += (data[p] - mean) * (data[p] - mean)
            # The sum of the deviations corrects both (Chan, Golub & LeVeque 1983).
            means[j] = mean + rest / length
            scales[j] = sqrt(max(0.0, square - rest * rest / length) / length)
            if scales[j] <= 1e-12 * largest:
                scales[j] = 0.0


def products(
    const double[::1] data,
    const index[::1] indices,
    const index[::1] indptr,
    const double[::1] means,
    const double[::1] scales,
    const int64_t[::1] which,
    const double[::1] vector,
    double[::1] out,
):
    """Write the elements `which`, or all if it is None, of K̃ᵀ · vector to `out`."""
    cdef Py_ssize_t length = vector.shape[0], place, i, j, p
    cdef double whole = 0.0, total, stored, mean
    with nogil:
        for i in range(length):
            whole += vector[i]
        for place in range(out.shape[0]):
            j = place if which is None else which[place]
            if scales[j] == 0:
                out[place] = 0.0
                continue
            mean = means[j]
            total = 0.0
            stored = 0.0
            for p in range(indptr[j], indptr[j + 1]):
                total += (data[p] - mean) * vector[indices[p]]
                stored += vector[indices[p]]
            if indptr[j + 1] - indptr[j] < length:
                total -= mean * (whole - stored)
            out[place] = total / scales[j]


def combine(
    const double[::1] data,
    const index[::1] indices,
    const index[::1] indptr,
    const double[::1] means,
    const double[::1] scales,
    const double[::1] alpha,
    double[::1] out,
):
    """Add K̃ · alpha to `out`, shape (l,)."""
    cdef Py_ssize_t i, j, p
    cdef double weight, shift, everywhere = 0.0
    with nogil:
        for j in range(alpha.shape[0]):
            if alpha[j] != 0 and scales[j] != 0:
                weight = alpha[j] / scales[j]
                shift = means[j] if indptr[j + 1] - indptr[j] == out.shape[0] else 0.0
                for p in range(indptr[j], indptr[j + 1]):
                    out[indices[p]] += weight * (data[p] - shift)
                if shift == 0:
                    everywhere += weight * means[j]
        for i in range(out.shape[0]):
            out[i] -= everywhere


def standardise(
    const double[::1] data,
    const index[::1] indices,
    const index[::1] indptr,
    const double[::1] means,
    const double[::1] scales,
    const int64_t[::1] which,
    double[:, ::1] out,
):
    """Write the columns `which` of K̃ to the rows of `out`, (w, l)."""
    cdef Py_ssize_t place, i, j, p
    cdef double mean, scale
    with nogil:
        for place in range(which.shape[0]):
            j = which[place]
            mean = means[j]
            scale = scales[j]
            for i in range(out.shape[1]):
                out[place, i] = -mean / scale if scale != 0 else 0.0
            if scale != 0:
                for p in range(indptr[j], indptr[j + 1]):
                    out[place, indices[p]] = (data[p] - mean) / scale
