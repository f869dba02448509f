"""Training features of the weighted degree kernel: made by `_degree_nodes.h`, used by `_degree_implicit.h`."""

from cpython.pycapsule cimport PyCapsule_GetContext, PyCapsule_New, PyCapsule_SetContext
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t

import numpy as np

cdef extern from "_implicit.h":
    const char *SEQKERN_IMPLICIT
    ctypedef struct ImplicitOperations:
        const void *state
        double (*dot)(const void *state, int64_t row, const double *weights) noexcept nogil
        void (*axpy)(const void *state, int64_t row, double factor, double *weights) noexcept nogil

cdef extern from "_degree_implicit.h" nogil:
    ctypedef struct degree_state:
        const uint8_t *codes
        const int64_t *starts
        int64_t length
        int64_t size
        int64_t depth
        int64_t groups
        const int64_t *tables
        const double *beta
        const double *gamma
        const double *patterns
        int64_t nodes
        const int64_t *first
        const int32_t *node
        const uint16_t *kind
        const double *factors
        int64_t own
        const double *own_factors
    double degree_dot(const void *state, int64_t row, const double *weights)
    void degree_axpy(const void *state, int64_t row, double factor, double *weights)

cdef extern from "_degree_nodes.h" nogil:
    ctypedef struct degree_sweep:
        const uint8_t *codes
        const int64_t *starts
        int64_t n
        int64_t length
        int64_t size
        int64_t degree
        int32_t *order
        int32_t *end
        int32_t *next_order
        int32_t *next_end
        uint8_t *letter
        int32_t *open_length
        int32_t *open_first
    ctypedef struct group_census:
        int64_t *groups
        int64_t *entries
    ctypedef struct group_lists:
        int64_t nodes
        int64_t *cursor
        int32_t *node
        uint16_t *kind
        const int32_t *kinds
        int64_t first_kind
        double *factors
        const double *sums
        double gamma
    ctypedef void (*group_function)(
        void *to, const degree_sweep *s, int64_t first, int64_t n, int64_t shorter, int64_t longest) noexcept
    void sweep_start(degree_sweep *s)
    void sweep_step(degree_sweep *s, int64_t i)
    void walk_groups(const degree_sweep *s, int64_t i, int64_t depth, group_function report, void *to)
    void count_group(
        void *to, const degree_sweep *s, int64_t first, int64_t n, int64_t shorter, int64_t longest) noexcept
    void list_group(
        void *to, const degree_sweep *s, int64_t first, int64_t n, int64_t shorter, int64_t longest) noexcept
    void add_own(
        const degree_sweep *s, int64_t i, int64_t depth, double gamma, const double *sums, const int32_t *whole,
        double *own)


cdef class Sweep:
    """The windows of a set in the order of their letters, from each position on.

    Parameters
    ----------
    codes : ndarray of uint8
    starts : ndarray of int64, shape (n,)
        Where each window starts in `codes`; n is below 2^31.
    length, size, degree : int
        Letters of a window, letters of the alphabet, longest k-mers.
    """

    cdef degree_sweep sweep
    cdef const uint8_t[::1] codes
    cdef const int64_t[::1] starts
    cdef int32_t[:, ::1] places
    cdef int32_t[:, ::1] stack
    cdef uint8_t[::1] letters

    def __init__(self, const uint8_t[::1] codes, const int64_t[::1] starts, length, size, degree):
        n = starts.shape[0]
        self.codes, self.starts = codes, starts
        self.places = np.empty((4, max(n, 1)), dtype=np.int32)
        self.stack = np.empty((2, degree + 2), dtype=np.int32)
        self.letters = np.empty(max(n, 1), dtype=np.uint8)
        self.sweep.n, self.sweep.length, self.sweep.size, self.sweep.degree = n, length, size, degree
        if n:
            self.sweep.codes, self.sweep.starts = &codes[0], &starts[0]
        self.sweep.order, self.sweep.end = &self.places[0, 0], &self.places[1, 0]
        self.sweep.next_order, self.sweep.next_end = &self.places[2, 0], &self.places[3, 0]
        self.sweep.open_length, self.sweep.open_first = &self.stack[0, 0], &self.stack[1, 0]
        self.sweep.letter = &self.letters[0]

    def census(self, int64_t[::1] groups, int64_t[::1] entries):
        """Count the groups that share exactly k letters at a position, and the windows in them.

        They are added to groups[k] and entries[k], both (degree + 1,).
        """
        cdef group_census census
        census.groups, census.entries = &groups[0], &entries[0]
        self._walk(0, count_group, &census)

    def count(self, int64_t depth, int64_t[::1] counts):
        """Return how many groups share more than `depth` letters, and add to counts[window] in how many it is."""
        cdef group_lists lists
        lists.nodes, lists.cursor, lists.node = 0, &counts[0], NULL
        self._walk(depth, list_group, &lists)
        return lists.nodes

    cdef void _walk(self, int64_t depth, group_function report, void *to):
        cdef int64_t i
        with nogil:
            sweep_start(&self.sweep)
            for i in range(self.sweep.length - 1, -1, -1):
                sweep_step(&self.sweep, i)
                walk_groups(&self.sweep, i, depth, report, to)

    def fill(
        self,
        int64_t depth,
        const double[::1] gamma,
        const double[::1] sums,
        const int64_t[::1] first_kind,
        const int32_t[:, ::1] kinds,
        int64_t[::1] cursor,
        int32_t[::1] node,
        uint16_t[::1] kind,
        double[::1] factors,
        double[::1] own,
    ):
        """List the nodes of each window, and sum up what it shares with nobody.

        Parameters
        ----------
        depth : int
            Only longer k-mers count.
        gamma : ndarray of float64, shape (length,)
        sums : ndarray of float64, shape (degree + 1,)
            β_1 + … + β_k.
        first_kind : ndarray of int64, shape (length,)
        kinds : ndarray of int32, shape (degree + 1, degree + 1)
            The kind of a node at position i for the lengths a + 1 to b is first_kind[i] + kinds[a, b].
        cursor : ndarray of int64, shape (n,)
            Where each window's list starts; left where it ends.
        node : ndarray of int32, shape (entries,)
            The lists.
        kind : ndarray of uint16, shape (entries,), or None
            None: nodes have factors of their own, and `first_kind` and `kinds` do not count.
        factors : ndarray of float64, shape (nodes,)
            Those are written here.
        own : ndarray of float64, shape (n,)
        """
        cdef group_lists lists
        cdef int64_t i, t
        cdef int32_t[::1] whole = np.zeros(self.sweep.n, dtype=np.int32)
        lists.nodes, lists.cursor, lists.node, lists.sums = 0, &cursor[0], &node[0], &sums[0]
        lists.kind = NULL
        if kind is not None:
            lists.kind = &kind[0]
        lists.factors, lists.kinds = &factors[0], &kinds[0, 0]
        with nogil:
            sweep_start(&self.sweep)
            for i in range(self.sweep.length - 1, -1, -1):
                sweep_step(&self.sweep, i)
                lists.first_kind, lists.gamma = first_kind[i], gamma[i]
                walk_groups(&self.sweep, i, depth, list_group, &lists)
                for t in range(self.sweep.n):
                    whole[t] = whole[t] + 1 if self.codes[self.starts[t] + i] < self.sweep.size else 0
                add_own(&self.sweep, i, depth, gamma[i], &sums[0], &whole[0], &own[0])


def any_masked(const uint8_t[::1] codes, const int64_t[::1] starts, int64_t length, int64_t size):
    """Return whether a window has a masked letter."""
    cdef Py_ssize_t i
    cdef int64_t p
    cdef bint masked = False
    with nogil:
        for i in range(starts.shape[0]):
            for p in range(starts[i], starts[i] + length):
                masked |= codes[p] >= size
    return masked


cdef void release(object capsule) noexcept:
    """Let go of the object that a capsule has kept alive."""
    Py_DECREF(<object>PyCapsule_GetContext(capsule))


cdef class DegreeOperations:
    """The operations on a set of windows; keeps all arrays that they read.

    Parameters
    ----------
    arrays : dict of str to ndarray
        By the names of `degree_state`; none is empty.
    numbers : dict of str to int
        The same.
    """

    cdef degree_state state
    cdef ImplicitOperations operations
    cdef object arrays

    def __init__(self, arrays, numbers):
        cdef const uint8_t[::1] codes = arrays["codes"]
        cdef const int64_t[::1] starts = arrays["starts"], tables = arrays["tables"], first = arrays["first"]
        cdef const double[::1] beta = arrays["beta"], gamma = arrays["gamma"], patterns = arrays["patterns"]
        cdef const double[::1] factors = arrays["factors"], own_factors = arrays["own_factors"]
        cdef const int32_t[::1] node = arrays["node"]
        cdef const uint16_t[::1] kind = arrays["kind"]
        self.arrays = arrays
        self.state.codes, self.state.starts = &codes[0], &starts[0]
        self.state.tables, self.state.first, self.state.node = &tables[0], &first[0], &node[0]
        self.state.beta, self.state.gamma, self.state.patterns = &beta[0], &gamma[0], &patterns[0]
        self.state.factors, self.state.own_factors = &factors[0], &own_factors[0]
        if kind is not None:
            self.state.kind = &kind[0]
        self.state.length, self.state.size, self.state.depth = numbers["length"], numbers["size"], numbers["depth"]
        self.state.groups, self.state.nodes, self.state.own = numbers["groups"], numbers["nodes"], numbers["own"]
        self.operations.state = &self.state
        self.operations.dot, self.operations.axpy = degree_dot, degree_axpy

    @property
    def capsule(self):
        """The table of functions; it keeps this object alive."""
        capsule = PyCapsule_New(&self.operations, SEQKERN_IMPLICIT, release)
        PyCapsule_SetContext(capsule, <void *>self)
        Py_INCREF(self)
        return capsule
