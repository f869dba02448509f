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

    Each row is summed in one order, so that its bits depend neither on the other rows nor on threads, as they
    would in a BLAS product; and the columns are read where they lie, so that a memory map is not copied.
    """
    cdef Py_ssize_t i, j
    cdef double total
    if not (columns.shape[0] == means.shape[0] == weights.shape[0]) or out.shape[0] != K.shape[0]:
        raise ValueError("the columns and their weights, or the rows and the room for them, differ in number")
    with nogil:
        for i in range(K.shape[0]):
            total = 0.0
            for j in range(columns.shape[0]):
                total += (K[i, columns[j]] - means[j]) * weights[j]
            out[i] = total + intercept
