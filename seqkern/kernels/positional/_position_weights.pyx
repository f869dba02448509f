"""Weights of k-mers at positions: made from support sequences, and summed over windows; see `_position_weights.h`."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.stdlib cimport free
from libc.string cimport memcpy

import numpy as np

cdef extern from "_position_weights.h" nogil:
    const int PACKED_PAD
    int highest_simd_level()
    int64_t pack_letters(
        const uint8_t *codes, Py_ssize_t n, int size, int bits, uint8_t *letters, uint8_t *masked)
    Py_ssize_t level_start(int bits, int r)
    ctypedef struct trie_node:
        pass
    ctypedef struct trie_task:
        pass
    ctypedef struct trie_roots:
        pass
    ctypedef struct placement:
        int32_t here
        int32_t there
        int32_t longest
        double weight
    ctypedef struct support_set:
        const uint8_t *letters
        const uint8_t *masked
        const double *coefficients
        Py_ssize_t n
        Py_ssize_t length
        int bits
        int size
        int prefix
    ctypedef struct trie_builder:
        const support_set *support
        int32_t *reach
        uint32_t *items
        uint32_t *others
        trie_task *tasks
        uint32_t *starts
        uint32_t *counts
        trie_node *nodes
        size_t used
        size_t room
    void build_table(
        const support_set *s, const placement *placements, Py_ssize_t count, const double *weights, double *table)
    void build_tail(const support_set *s, const double *tables, double *tail)
    Py_ssize_t build_trie(trie_builder *b, Py_ssize_t place, Py_ssize_t longest, trie_roots *roots)
    ctypedef struct position_trie:
        const trie_roots *roots
        const trie_node *nodes
    ctypedef struct position_model:
        Py_ssize_t length
        int bits
        int prefix
        const double *tables
        const double *tail
        const double *cumulative
        const position_trie *tries
        const placement *placements
        Py_ssize_t n_placements
    void scan_windows(
        int level, const position_model *m, const uint8_t *letters, const uint8_t *masked, const int64_t *starts,
        Py_ssize_t n, uint32_t *first, uint32_t *rows, double *sums, double *out)

NODE_BYTES = sizeof(trie_node)
ROOT_BYTES = sizeof(trie_roots)
TASK_BYTES = sizeof(trie_task)
PLACEMENT = np.dtype(
    [("here", np.int32), ("there", np.int32), ("longest", np.int32), ("weight", np.float64)], align=True
)
TRIE = np.dtype([("roots", np.uintp), ("nodes", np.uintp)])
assert PLACEMENT.itemsize == sizeof(placement) and TRIE.itemsize == sizeof(position_trie)


def highest_level():
    """Return the highest level of vector instructions that this processor has."""
    return highest_simd_level()


def table_entries(int bits, int prefix):
    """Return how many words of up to `prefix` letters a table has."""
    return level_start(bits, prefix + 1)


cdef class Letters:
    """Letters packed into `bits` bits each.

    Parameters
    ----------
    codes : ndarray of uint8, shape (n,)
    size : int
        Of the alphabet; other codes are masked.
    bits : int
        Of one letter.
    """

    cdef readonly Py_ssize_t n
    cdef readonly int bits
    cdef readonly int size
    cdef readonly int64_t outside
    cdef uint8_t[::1] letters
    cdef uint8_t[::1] masked

    def __init__(self, const uint8_t[::1] codes, int size, int bits):
        assert 0 < size <= 1 << bits <= 256
        self.n, self.size, self.bits = len(codes), size, bits
        groups = (self.n + 7) // 8
        self.letters = np.zeros(groups * bits + PACKED_PAD, dtype=np.uint8)
        self.masked = np.zeros(groups + PACKED_PAD, dtype=np.uint8)
        if self.n:
            with nogil:
                self.outside = pack_letters(&codes[0], self.n, size, bits, &self.letters[0], &self.masked[0])

    cdef const uint8_t *mask(self) noexcept:
        """Return where masked letters are marked; NULL if there are none."""
        return &self.masked[0] if self.outside else NULL


cdef class Support:
    """Support sequences of one length and their coefficients.

    Parameters
    ----------
    letters : Letters
        Record after record.
    coefficients : ndarray of float64, shape (n,)
    prefix : int
    """

    cdef support_set c
    cdef tuple kept

    def __init__(self, Letters letters, const double[::1] coefficients, Py_ssize_t length, int prefix):
        assert len(coefficients) > 0 and letters.n == len(coefficients) * length and 0 <= prefix * letters.bits <= 24
        self.kept = (letters, coefficients)
        self.c.letters = &letters.letters[0]
        self.c.masked = letters.mask()
        self.c.coefficients = &coefficients[0]
        self.c.n = len(coefficients)
        self.c.length = length
        self.c.bits = letters.bits
        self.c.size = letters.size
        self.c.prefix = prefix


def fill_table(Support support, const uint8_t[::1] placements, const double[::1] weights, double[::1] table):
    """Write the table of one position.

    Parameters
    ----------
    support : Support
    placements : bytes of PLACEMENT
        Those of this position.
    weights : ndarray of float64, shape (degree,)
        Of the lengths.
    table : ndarray of float64, shape (table_entries,)
    """
    cdef const placement *at = <const placement *>&placements[0] if len(placements) else NULL
    cdef Py_ssize_t count = len(placements) // sizeof(placement)
    assert len(weights) >= support.c.prefix and len(table) == level_start(support.c.bits, support.c.prefix + 1)
    with nogil:
        build_table(&support.c, at, count, &weights[0], &table[0])


def fill_tail(Support support, const double[:, ::1] tables, double[::1] tail):
    """Write to `tail` what the last letters of a window have in the last tables.

    Parameters
    ----------
    support : Support
    tables : ndarray of float64, shape (length, table_entries)
    tail : ndarray of float64, shape (2^(bits · prefix),)
    """
    assert tables.shape[0] == support.c.length and len(tail) == 1 << (support.c.bits * support.c.prefix)
    with nogil:
        build_tail(&support.c, &tables[0, 0], &tail[0])


def make_tries(Support support, places, Py_ssize_t degree):
    """Return for each place (roots, nodes), uint8 arrays: its trie of k-mers of up to `degree` letters."""
    cdef size_t prefixes = <size_t>1 << (support.c.bits * support.c.prefix)
    cdef Py_ssize_t n = support.c.n, place, longest, used
    cdef trie_builder builder
    cdef int32_t[::1] reach = np.empty(n, dtype=np.int32)
    cdef uint32_t[::1] items = np.empty(n, dtype=np.uint32)
    cdef uint32_t[::1] others = np.empty(2 * n, dtype=np.uint32)
    cdef uint8_t[::1] tasks = np.empty((n + 1) * sizeof(trie_task), dtype=np.uint8)
    cdef uint32_t[::1] starts = np.empty(prefixes + 1, dtype=np.uint32)
    cdef uint32_t[::1] counts = np.empty(support.c.size + 1, dtype=np.uint32)
    cdef uint8_t[::1] roots, nodes
    builder.support = &support.c
    builder.reach, builder.items, builder.others = &reach[0], &items[0], &others[0]
    builder.tasks = <trie_task *>&tasks[0]
    builder.starts, builder.counts = &starts[0], &counts[0]
    builder.nodes = NULL
    builder.used = builder.room = 0
    made = []
    try:
        for place in places:
            longest = min(degree, support.c.length - place)
            roots = np.empty((prefixes + 63) // 64 * sizeof(trie_roots), dtype=np.uint8)
            with nogil:
                used = build_trie(&builder, place, longest, <trie_roots *>&roots[0])
            if used < 0:
                raise MemoryError
            nodes = np.empty(used * sizeof(trie_node), dtype=np.uint8)
            if used:
                memcpy(&nodes[0], builder.nodes, used * sizeof(trie_node))
            made.append((np.asarray(roots), np.asarray(nodes)))
    finally:
        free(builder.nodes)
    return made


cdef class Tables:
    """All that a window's value is summed from.

    Parameters
    ----------
    bits, prefix : int
    tables : ndarray of float64, shape (length, table_entries)
    tail : ndarray of float64, shape (2^(bits · prefix),)
    cumulative : ndarray of float64, shape (degree + 1,)
    tries : list of (roots, nodes), length `length`, or empty
        From `make_tries`.
    placements : ndarray of PLACEMENT
    """

    cdef position_model c
    cdef tuple kept

    def __init__(
        self,
        int bits,
        int prefix,
        const double[:, ::1] tables,
        const double[::1] tail,
        const double[::1] cumulative,
        tries,
        placements,
    ):
        cdef const uint8_t[::1] pointers, rows = placements.view(np.uint8)
        assert tables.shape[1] == level_start(bits, prefix + 1) and placements.dtype == PLACEMENT
        assert tables.shape[0] >= prefix and len(tail) == 1 << (bits * prefix)
        table = np.zeros(max(len(tries), 1), dtype=TRIE)
        for i, (roots, nodes) in enumerate(tries):
            table[i] = roots.ctypes.data, nodes.ctypes.data
        pointers = table.view(np.uint8)
        self.kept = (tables, tail, cumulative, tries, pointers, rows)
        self.c.length = tables.shape[0]
        self.c.bits, self.c.prefix = bits, prefix
        self.c.tables = &tables[0, 0]
        self.c.tail = &tail[0]
        self.c.cumulative = &cumulative[0]
        self.c.tries = <const position_trie *>&pointers[0]
        self.c.placements = <const placement *>&rows[0] if len(rows) else NULL
        self.c.n_placements = len(placements)


def scan(Tables tables, Letters letters, const int64_t[::1] starts, double[::1] out, int level=highest_simd_level()):
    """Write the values of the windows that begin at `starts` to `out`.

    Parameters
    ----------
    tables : Tables
    letters : Letters
        With the bits of the tables.
    starts : ndarray of int64, shape (n,)
        Ascending, within the letters, less than 2^32 letters apart.
    out : ndarray of float64, shape (n,)
    """
    cdef Py_ssize_t n = len(starts)
    assert letters.bits == tables.c.bits and len(out) == n
    if n == 0:
        return
    assert starts[0] >= 0 and starts[n - 1] + tables.c.length <= letters.n
    cdef uint32_t[::1] first = np.empty(n, dtype=np.uint32)
    cdef const uint8_t *mask = letters.mask()
    cdef uint32_t[::1] rows = np.empty(n if mask else 1, dtype=np.uint32)
    cdef double[::1] sums = np.empty(n if mask else 1)
    with nogil:
        scan_windows(
            level, &tables.c, &letters.letters[0], mask, &starts[0], n, &first[0], &rows[0], &sums[0], &out[0])
