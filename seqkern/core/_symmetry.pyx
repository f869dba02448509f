"""The comparison of a matrix with its transpose."""


def is_symmetric(const double[:, :] matrix):
    """Return whether a square matrix equals its transpose, bit for bit; by tiles that fit the cache."""
    cdef Py_ssize_t n = matrix.shape[0], top, left, i, j
    cdef bint same = True
    with nogil:
        for top in range(0, n, 32):
            for left in range(0, top + 1, 32):
                for i in range(top, min(top + 32, n)):
                    for j in range(left, min(left + 32, i)):
                        same &= matrix[i, j] == matrix[j, i]
            if not same:
                break
    return same
