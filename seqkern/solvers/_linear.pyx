"""The decision of a machine that is linear in the columns of a kernel matrix."""

from libc.stdint cimport int64_t


def decide(
    const double[:, :] K,
    const int64_t[::1] columns,
    const double[::1] means,
    const double[::1] weights,
    double intercept,
    double[::1] out,
):
    """Write Σ_j (K[i, columns[j]] − means[j]) · weights[j] + intercept to out[i] for every row i.

    Each row is summed in one order, so that its bits depend neither on the other rows nor on threads, as they would
    in a BLAS product; and the columns are read where they lie, so that a memory map is not copied.
    """
    cdef Py_ssize_t i, j
    cdef double total
    with nogil:
        for i in range(K.shape[0]):
            total = 0.0
            for j in range(columns.shape[0]):
                total += (K[i, columns[j]] - means[j]) * weights[j]
            out[i] = total + intercept
