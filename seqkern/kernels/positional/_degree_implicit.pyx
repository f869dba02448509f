"""Training features of the weighted degree kernels: made by `_degree_nodes.h`, used by `_degree_implicit.h`;
those with shifts made by `_shifted_cells.h`, used by `_shifted_implicit.h`.
"""

from cpython.pycapsule cimport PyCapsule_GetContext, PyCapsule_New, PyCapsule_SetContext
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.stdint cimport int32_t, int64_t, uint16_t, uint8_t
from libc.stdlib cimport free

import numpy as np

# ---- without shifts ------------------------------------------------------------------------------

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


# ---- with shifts ---------------------------------------------------------------------------------

cdef extern from "_shifted_implicit.h" nogil:
    enum:
        FIRST
    ctypedef struct cell_place:
        pass
    ctypedef struct shifted_state:
        const uint8_t *codes
        const int64_t *starts
        int64_t length
        int64_t size
        int64_t depth
        const int64_t *tables
        const double *beta
        int64_t stride
        int64_t shift
        const int32_t *nearest
        const int32_t *span
        const double *reach
        int64_t width
        int64_t cells
        const int64_t *first
        const int32_t *cell
        const cell_place *places
        const double *factors
        bint kinds
        int64_t own
        const double *own_factors
    ctypedef void (*axpy_function)(const void *state, int64_t row, double factor, double *weights) noexcept
    int highest_simd_level()
    double shifted_dot(const void *state, int64_t row, const double *weights)
    axpy_function shifted_axpy_of(int level)

cdef extern from "_shifted_cells.h" nogil:
    ctypedef struct kmer_place:
        int32_t window
        int32_t position
    ctypedef struct open_cluster:
        pass
    ctypedef struct cluster_search:
        const uint8_t *codes
        const int64_t *starts
        int64_t length
        int64_t size
        int64_t degree
        int64_t depth
        int64_t reach
        const double *gamma
        const double *sums
        kmer_place *places
        kmer_place *scratch
        open_cluster *open
        int64_t most_open
        int64_t *census_cells
        int64_t *census_entries
        int64_t cells
        int64_t *cursor
        int32_t *cell
        cell_place *cell_places
        const int32_t *kinds
        double *factors
        double *own
    void count_places(const cluster_search *s, int64_t n, int64_t *counts)
    void sort_places(cluster_search *s, int64_t n, int64_t first, int64_t last, int64_t *at) nogil
    int search_clusters(cluster_search *s, int64_t start, int64_t stop)

cdef int LEVEL = highest_simd_level()
FIRST_CELL = FIRST


def level():
    """Return which vector instructions new operations use: 0 none, 1 AVX2, 2 AVX-512."""
    return LEVEL


def set_level(int chosen):
    """Let new operations use vector instructions up to level `chosen`, for tests."""
    global LEVEL
    LEVEL = min(chosen, highest_simd_level())


cdef class ClusterSearch:
    """Search for clusters of shared k-mers in a set of windows.

    Parameters
    ----------
    codes : ndarray of uint8
    starts : ndarray of int64, shape (n,)
        Where each window starts in `codes`; n is below 2^31.
    length, size, reach : int
        Letters of a window, below 2^16, letters of the alphabet, the largest shift.
    gamma : ndarray of float64, shape (length,)
    sums : ndarray of float64, shape (degree + 1,)
        β_1 + … + β_k.
    most : int
        Places (window, position) to sort at once, unless a single k-mer has more.
    """

    cdef cluster_search search
    cdef int64_t n, most
    cdef object kept

    def __cinit__(self):
        self.search.open = NULL

    def __init__(
        self,
        const uint8_t[::1] codes,
        const int64_t[::1] starts,
        length,
        size,
        reach,
        const double[::1] gamma,
        const double[::1] sums,
        most,
    ):
        self.kept = codes, starts, gamma, sums
        self.search.codes, self.search.starts = &codes[0], &starts[0]
        self.search.gamma, self.search.sums = &gamma[0], &sums[0]
        self.search.length, self.search.size, self.search.reach = length, size, reach
        self.search.degree = sums.shape[0] - 1
        self.n, self.most = starts.shape[0], most

    def __dealloc__(self):
        free(self.search.open)

    cdef void _clear(self):
        self.search.census_cells, self.search.census_entries = NULL, NULL
        self.search.cells, self.search.cursor, self.search.cell, self.search.cell_places = 0, NULL, NULL, NULL
        self.search.kinds, self.search.factors, self.search.own = NULL, NULL, NULL

    def census(self, depth, int64_t[::1] cells, int64_t[::1] entries):
        """Count the cells, and the windows' k-mers in them, of clusters that share k letters, more than `depth`.

        They are added to cells[k] and entries[k], both (degree + 1,).
        """
        self._clear()
        self.search.census_cells, self.search.census_entries = &cells[0], &entries[0]
        self._run(depth)

    def count(self, depth, int64_t[::1] counts):
        """Return how many cells more than `depth` letters need, and add to counts[window] in how many it is."""
        self._clear()
        self.search.cursor = &counts[0]
        self._run(depth)
        return self.search.cells

    def fill(
        self,
        depth,
        int64_t[::1] cursor,
        int32_t[::1] cell,
        const int32_t[:, ::1] kinds,
        uint8_t[::1] places,
        double[::1] factors,
        double[::1] own,
    ):
        """List the cells of each window, and sum up what it shares with nobody.

        Parameters
        ----------
        depth : int
            Only longer k-mers count.
        cursor : ndarray of int64, shape (n,)
            Where each window's list starts; left where it ends.
        cell : ndarray of int32, shape (entries,)
            The lists.
        kinds : ndarray of int32, shape (degree + 1, degree + 1), or None
            The kind of a cell for the lengths a + 1 to b is kinds[a, b]. None: cells have factors of their own.
        places : ndarray of uint8, shape (4 · cells,)
            A `cell_place` for each cell.
        factors : ndarray of float64, shape (cells,)
            Those are written here.
        own : ndarray of float64, shape (n,)
        """
        self._clear()
        self.search.cursor, self.search.cell, self.search.own = &cursor[0], &cell[0], &own[0]
        self.search.cell_places, self.search.factors = <cell_place *>&places[0], &factors[0]
        if kinds is not None:
            self.search.kinds = &kinds[0, 0]
        self._run(depth)

    cdef object _run(self, int64_t depth):
        """Search all places, the k-mers of `depth` letters in order, as many at once as `most` allows."""
        cdef int64_t size = self.search.size ** depth, code, first, last, total, start
        cdef int64_t[::1] counts = np.zeros(size, dtype=np.int64), at
        cdef kmer_place[::1] places, scratch
        cdef int failed = 0
        self.search.depth = depth
        with nogil:
            count_places(&self.search, self.n, &counts[0])
        kind = np.dtype([("window", np.int32), ("position", np.int32)])
        scratch = np.empty(max(1, np.max(counts)), dtype=kind)
        self.search.scratch = &scratch[0]
        last = 0
        while last < size and not failed:
            first, total = last, counts[last]
            last += 1
            while last < size and total + counts[last] <= self.most:
                total += counts[last]
                last += 1
            if total == 0:
                continue
            places = np.empty(total, dtype=kind)
            at = np.concatenate(([0], np.cumsum(counts[first : last - 1], dtype=np.int64)))
            self.search.places = &places[0]
            with nogil:
                sort_places(&self.search, self.n, first, last, &at[0])
                start = 0
                for code in range(first, last):
                    failed = failed or search_clusters(&self.search, start, start + counts[code])
                    start += counts[code]
        if failed:
            raise MemoryError


cdef class ShiftedOperations:
    """The operations on a set of windows; keeps all arrays that they read.

    Parameters
    ----------
    arrays : dict of str to ndarray
        By the names of `shifted_state`, `places` as bytes; none is empty.
    numbers : dict of str to int
        The same.
    """

    cdef shifted_state state
    cdef ImplicitOperations operations
    cdef object arrays

    def __init__(self, arrays, numbers):
        cdef const uint8_t[::1] codes = arrays["codes"], places = arrays["places"]
        cdef const int64_t[::1] starts = arrays["starts"], tables = arrays["tables"], first = arrays["first"]
        cdef const double[::1] beta = arrays["beta"], factors = arrays["factors"], own = arrays["own_factors"]
        cdef const double[:, ::1] reach = arrays["reach"]
        cdef const int32_t[::1] nearest = arrays["nearest"], span = arrays["span"], cell = arrays["cell"]
        self.arrays = arrays
        self.state.codes, self.state.starts, self.state.tables = &codes[0], &starts[0], &tables[0]
        self.state.beta, self.state.reach, self.state.nearest = &beta[0], &reach[0, 0], &nearest[0]
        self.state.span, self.state.width = &span[0], reach.shape[1]
        self.state.stride, self.state.shift = numbers["stride"], numbers["shift"]
        self.state.first, self.state.cell, self.state.places = &first[0], &cell[0], <const cell_place *>&places[0]
        self.state.factors, self.state.own_factors = &factors[0], &own[0]
        self.state.length, self.state.size, self.state.depth = numbers["length"], numbers["size"], numbers["depth"]
        self.state.cells, self.state.own, self.state.kinds = numbers["cells"], numbers["own"], numbers["kinds"]
        self.operations.state = &self.state
        self.operations.dot, self.operations.axpy = shifted_dot, shifted_axpy_of(LEVEL)

    @property
    def capsule(self):
        """The table of functions; it keeps this object alive."""
        capsule = PyCapsule_New(&self.operations, SEQKERN_IMPLICIT, release)
        PyCapsule_SetContext(capsule, <void *>self)
        Py_INCREF(self)
        return capsule
