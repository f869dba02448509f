"""The loops over paths of labels, run after run; see `_paths.h`."""

from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc


cdef extern from "_paths.h" nogil:
    ctypedef struct steps:
        Py_ssize_t labels
        Py_ssize_t memory
        const double *scores
    void go_forward(const steps *m, const double *E, Py_ssize_t n, int sum, double *forward, double *room)
    void go_backward(const steps *m, const double *E, Py_ssize_t n, int sum, double *backward, double *room)
    void trace_back(const steps *m, Py_ssize_t n, const double *forward, int64_t *path)
    void write_maxima(const steps *m, Py_ssize_t n, const double *forward, const double *backward, double *out)
    double write_shares(
        const steps *m, const double *E, Py_ssize_t n, const double *forward, const double *backward, double *out,
        double *counts, double *room)
    void count_steps(const steps *m, const int64_t *path, Py_ssize_t n, double *counts)


cdef steps read_steps(const double[:, ::1] T) except *:
    """Return the steps with the scores T; ValueError unless its rows are the states of its columns."""
    cdef steps m
    if T.shape[1] == 0 or T.shape[0] == 0 or T.shape[0] % T.shape[1]:
        raise ValueError("T needs `memory` rows for each column")
    m.labels, m.memory, m.scores = T.shape[1], T.shape[0] // T.shape[1], &T[0, 0]
    return m


cdef Py_ssize_t longest_run(const int64_t[::1] starts, Py_ssize_t n) except -1:
    """Return the length of the longest run; ValueError unless runs are not empty and are all of n residues."""
    cdef Py_ssize_t r, most = 0
    if starts.shape[0] == 0 or starts[0] != 0 or starts[starts.shape[0] - 1] != n:
        raise ValueError("the runs are not those of the residues")
    for r in range(starts.shape[0] - 1):
        if starts[r + 1] <= starts[r]:
            raise ValueError("a run without residues")
        most = max(most, starts[r + 1] - starts[r])
    return most


cdef double* space(Py_ssize_t tables, Py_ssize_t longest, Py_ssize_t states) except NULL:
    """Return space for tables of states of the longest run, and one value of each state."""
    cdef double *room = <double*>malloc(max(1, (tables * longest + 1) * states) * sizeof(double))
    if room == NULL:
        raise MemoryError
    return room


def best_paths(const double[:, ::1] E, const double[:, ::1] T, const int64_t[::1] starts, int64_t[::1] path):
    """Write the labels on the best path of each run.

    Parameters
    ----------
    E : ndarray of float64, shape (n, labels)
        Scores of the labels of each residue.
    T : ndarray of float64, shape (labels · memory, labels)
        Scores of the steps, from a state (row) to a label.
    starts : ndarray of int64, shape (runs + 1,)
        First row of each run, and n.
    path : ndarray of int64, shape (n,)
        Changed.
    """
    cdef steps m = read_steps(T)
    cdef Py_ssize_t states = T.shape[0], longest = longest_run(starts, E.shape[0]), r, first, n
    cdef double *forward
    if E.shape[1] != m.labels or path.shape[0] != E.shape[0]:
        raise ValueError("arrays of different lengths")
    forward = space(1, longest, states)
    with nogil:
        for r in range(starts.shape[0] - 1):
            first, n = starts[r], starts[r + 1] - starts[r]
            go_forward(&m, &E[first, 0], n, False, forward, forward + longest * states)
            trace_back(&m, n, forward, &path[first])
    free(forward)


def best_scores(const double[:, ::1] E, const double[:, ::1] T, const int64_t[::1] starts, double[:, ::1] out):
    """Write for each residue and label the score of the best path with it.

    Parameters
    ----------
    E, T, starts : object
        As for `best_paths`.
    out : ndarray of float64, shape (n, labels)
        Changed.
    """
    cdef steps m = read_steps(T)
    cdef Py_ssize_t states = T.shape[0], longest = longest_run(starts, E.shape[0]), r, first, n
    cdef double *forward
    cdef double *backward
    if E.shape[1] != m.labels or out.shape[0] != E.shape[0] or out.shape[1] != m.labels:
        raise ValueError("arrays of different lengths")
    forward = space(2, longest, states)
    backward = forward + longest * states
    with nogil:
        for r in range(starts.shape[0] - 1):
            first, n = starts[r], starts[r + 1] - starts[r]
            go_forward(&m, &E[first, 0], n, False, forward, backward + longest * states)
            go_backward(&m, &E[first, 0], n, False, backward, backward + longest * states)
            write_maxima(&m, n, forward, backward, &out[first, 0])
    free(forward)


def log_shares(
    const double[:, ::1] E, const double[:, ::1] T, const int64_t[::1] starts, double[:, ::1] out,
    double[:, ::1] counts=None,
):
    """Write for each residue and label the logarithm of its probability, the path's being in proportion to exp(score).

    Parameters
    ----------
    E, T, starts : object
        As for `best_paths`.
    out : ndarray of float64, shape (n, labels)
        Changed.
    counts : ndarray of float64, shape (labels · memory, labels), or None
        Changed: the expected number of each step is added.

    Returns
    -------
    float
        Sum over the runs of log Σ exp(score) over all paths.
    """
    cdef steps m = read_steps(T)
    cdef Py_ssize_t states = T.shape[0], longest = longest_run(starts, E.shape[0]), r, first, n
    cdef double total = 0
    cdef double *forward
    cdef double *backward
    cdef double *number = NULL
    if E.shape[1] != m.labels or out.shape[0] != E.shape[0] or out.shape[1] != m.labels:
        raise ValueError("arrays of different lengths")
    if counts is not None:
        if counts.shape[0] != states or counts.shape[1] != m.labels:
            raise ValueError("arrays of different lengths")
        number = &counts[0, 0]
    forward = space(2, longest, states)
    backward = forward + longest * states
    with nogil:
        for r in range(starts.shape[0] - 1):
            first, n = starts[r], starts[r + 1] - starts[r]
            go_forward(&m, &E[first, 0], n, True, forward, backward + longest * states)
            go_backward(&m, &E[first, 0], n, True, backward, backward + longest * states)
            total += write_shares(
                &m, &E[first, 0], n, forward, backward, &out[first, 0], number, backward + longest * states)
    free(forward)
    return total


def add_steps(const int64_t[::1] path, const int64_t[::1] starts, double[:, ::1] counts):
    """Add the steps of the paths of runs to their counts.

    Parameters
    ----------
    path : ndarray of int64, shape (n,)
        Labels.
    starts : ndarray of int64, shape (runs + 1,)
        First row of each run, and n.
    counts : ndarray of float64, shape (labels · memory, labels)
        Changed.
    """
    cdef steps m = read_steps(counts)
    cdef Py_ssize_t r, i
    longest_run(starts, path.shape[0])
    for i in range(path.shape[0]):
        if path[i] < 0 or path[i] >= m.labels:
            raise ValueError("a label outside the columns")
    with nogil:
        for r in range(starts.shape[0] - 1):
            count_steps(&m, &path[starts[r]], starts[r + 1] - starts[r], &counts[0, 0])
