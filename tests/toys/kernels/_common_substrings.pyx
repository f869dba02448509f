"""The loops of `common_substrings.py`."""

from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset


def fill(
    const uint8_t[::1] x, const int64_t[::1] x_start, const int64_t[::1] x_stop,
    const uint8_t[::1] y, const int64_t[::1] y_start, const int64_t[::1] y_stop,
    int size, double square, double[:, :] out,
):
    """Write to out[i, j] the sum over all common substrings of records i and j, of square^length each."""
    cdef Py_ssize_t i, j, p, q, n, longest = 0
    cdef int64_t before, last
    cdef double power, substrings
    cdef int64_t *run  # how many residues agree that end at p and at each q
    cdef int64_t *ends  # by length: how many pairs of positions end such a run
    for j in range(y_start.shape[0]):
        longest = max(longest, y_stop[j] - y_start[j])
    run, ends = <int64_t *>calloc(longest + 1, sizeof(int64_t)), <int64_t *>calloc(longest + 1, sizeof(int64_t))
    try:
        if not run or not ends:
            raise MemoryError
        with nogil:
            for i in range(x_start.shape[0]):
                for j in range(y_start.shape[0]):
                    n = y_stop[j] - y_start[j]
                    memset(run, 0, n * sizeof(int64_t))
                    memset(ends, 0, (n + 1) * sizeof(int64_t))
                    for p in range(x_start[i], x_stop[i]):
                        before = 0
                        for q in range(n):
                            last = run[q]
                            run[q] = before + 1 if x[p] < size and x[p] == y[y_start[j] + q] else 0
                            ends[run[q]] += 1
                            before = last
                    # a run of n residues ends one common substring of each length up to n
                    power, substrings, out[i, j] = 1, 0, 0
                    for q in range(1, n + 1):
                        power *= square
                        substrings += power
                        out[i, j] += ends[q] * substrings
    finally:
        free(run)
        free(ends)
