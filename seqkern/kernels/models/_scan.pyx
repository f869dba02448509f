"""Where motifs match: patterns bit-parallel (`_patterns.h`), weight matrices in vector lanes (`_matrices.h`)."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

import numpy as np

from seqkern.kernels.products import _product

cdef extern from "_hits.h" nogil:
    ctypedef struct motif_hit:
        int32_t motif
        int32_t value
    ctypedef struct hit_list:
        motif_hit *items
        Py_ssize_t count
        bint failed
        bint other_strand
        const uint8_t *one_strand
        int64_t *place
        Py_ssize_t begin

cdef extern from "_patterns.h" nogil:
    enum:
        PATTERN_LANES "LANES"
    ctypedef struct pattern_bank:
        const uint64_t *takes
        const uint64_t *first
        const uint64_t *at_end
        const uint64_t *last
        const uint64_t *at_start
        const uint64_t *optional
        const uint64_t *block_start
        const uint64_t *block_end
        const int32_t *owner
        Py_ssize_t words
        bint gaps
    void scan_pattern_groups(
        int level, const pattern_bank *banks, Py_ssize_t count, const uint8_t *codes, Py_ssize_t n, hit_list *hits)
    void scan_chain(const pattern_bank *b, const uint8_t *codes, Py_ssize_t n, uint64_t *state, hit_list *hits)

cdef extern from "_matrices.h" nogil:
    enum:
        LANES_OF_MATRICES "MATRIX_LANES"
    ctypedef struct matrix_bank:
        const int32_t *scores
        const int32_t *thresholds
        const int32_t *owner
        Py_ssize_t width
        Py_ssize_t codes
    void scan_matrix_banks(
        int level, const matrix_bank *banks, Py_ssize_t count, const uint8_t *text, Py_ssize_t n, hit_list *hits)

LANES = PATTERN_LANES
MATRIX_LANES = LANES_OF_MATRICES


cdef class Banks:
    """Tables of motifs.

    Attributes
    ----------
    beyond : int
        How many codes of the end a text needs after its letters.
    """

    cdef readonly Py_ssize_t beyond
    cdef Py_ssize_t scratch
    cdef tuple arrays

    cdef void scan(self, int level, const uint8_t *text, Py_ssize_t n, uint64_t *scratch,
                   hit_list *hits) noexcept nogil:
        pass

    def __reduce__(self):
        return type(self), self.arrays


cdef class PatternBanks(Banks):
    """Patterns: groups of words, and chains.

    Parameters
    ----------
    groups, chains : list of tuple
        Arrays as in `_patterns.h`, in its order, and whether there are gaps.
    """

    cdef pattern_bank *banks
    cdef Py_ssize_t n_groups, n_chains

    def __cinit__(self, list groups, list chains):
        self.arrays = (groups, chains)
        self.n_groups, self.n_chains = len(groups), len(chains)
        self.banks = <pattern_bank *>calloc(self.n_groups + self.n_chains + 1, sizeof(pattern_bank))
        if self.banks == NULL:
            raise MemoryError
        for i, arrays in enumerate([*groups, *chains]):
            self._set(&self.banks[i], arrays)
            if i >= self.n_groups:
                self.scratch = max(self.scratch, self.banks[i].words)
            else:
                assert self.banks[i].words == PATTERN_LANES

    cdef _set(self, pattern_bank *bank, arrays):
        """Point to the arrays, which this object keeps."""
        cdef const uint64_t[:, ::1] takes
        cdef const uint64_t[::1] first, at_end, last, at_start, optional, block_start, block_end
        cdef const int32_t[::1] owner
        takes, first, at_end, last, at_start, optional, block_start, block_end, owner, bank.gaps = arrays
        bank.words = takes.shape[1]
        assert owner.shape[0] == 64 * bank.words
        bank.takes, bank.owner = &takes[0, 0], &owner[0]
        bank.first, bank.at_end, bank.last, bank.at_start = &first[0], &at_end[0], &last[0], &at_start[0]
        bank.optional, bank.block_start, bank.block_end = &optional[0], &block_start[0], &block_end[0]

    def __dealloc__(self):
        free(self.banks)

    cdef void scan(self, int level, const uint8_t *text, Py_ssize_t n, uint64_t *scratch,
                   hit_list *hits) noexcept nogil:
        scan_pattern_groups(level, self.banks, self.n_groups, text, n, hits)
        for i in range(self.n_groups, self.n_groups + self.n_chains):
            scan_chain(&self.banks[i], text, n, scratch, hits)


cdef class MatrixBanks(Banks):
    """Weight matrices.

    Parameters
    ----------
    banks : list of (int32 (width, letters + 2, lanes), int32 (lanes,), int32 (lanes,))
        Scores, thresholds and motifs, as in `_matrices.h`.
    """

    cdef matrix_bank *banks
    cdef Py_ssize_t n_banks

    def __cinit__(self, list banks):
        cdef const int32_t[:, :, ::1] scores
        cdef const int32_t[::1] thresholds, owner
        self.arrays = (banks,)
        self.n_banks = len(banks)
        self.banks = <matrix_bank *>calloc(self.n_banks + 1, sizeof(matrix_bank))
        if self.banks == NULL:
            raise MemoryError
        for i, (scores, thresholds, owner) in enumerate(banks):
            assert scores.shape[2] == thresholds.shape[0] == owner.shape[0] == LANES_OF_MATRICES
            self.banks[i].scores, self.banks[i].thresholds = &scores[0, 0, 0], &thresholds[0]
            self.banks[i].owner = &owner[0]
            self.banks[i].width, self.banks[i].codes = scores.shape[0], scores.shape[1]
            self.beyond = max(self.beyond, scores.shape[0])

    def __dealloc__(self):
        free(self.banks)

    cdef void scan(self, int level, const uint8_t *text, Py_ssize_t n, uint64_t *scratch,
                   hit_list *hits) noexcept nogil:
        scan_matrix_banks(level, self.banks, self.n_banks, text, n, hits)


def scan(Banks banks, const uint8_t[::1] codes, const int64_t[::1] starts, const int64_t[::1] stops, int size,
         complement, const uint8_t[::1] one_strand, bint counted):
    """Find all matches in some records.

    Parameters
    ----------
    banks : Banks
    codes, starts, stops : ndarray
        As in SequenceSet.
    size : int
        Letters of the alphabet.
    complement : ndarray of uint8, shape (256,), or None
        The code of each code's complement: then the reverse complements are scanned, too.
    one_strand : ndarray of uint8, shape (motifs,)
        1 for a motif whose matches on the other strand do not count.
    counted : bool

    Returns
    -------
    start : ndarray of int64, shape (records + 1,)
        The items of record i are ``start[i]`` to ``start[i + 1]``.
    items : ndarray of int32, shape (items, 2)
        With `counted`, a motif and how many places it matches at. Else a motif and a place where it matches: the first
        letter of the match; or −1 minus that of the reverse complement.
    """
    cdef Py_ssize_t i, j, n, longest = 0, records = starts.shape[0]
    cdef int level = _product.level(), strand, strands = 1 if complement is None else 2
    cdef const uint8_t[::1] other = np.zeros(256, dtype=np.uint8) if complement is None else complement
    cdef int64_t[::1] place = np.zeros(one_strand.shape[0], dtype=np.int64)
    cdef int32_t[:, ::1] view
    start = np.zeros(records + 1, dtype=np.int64)
    cdef int64_t[::1] begin = start
    cdef hit_list hits
    memset(&hits, 0, sizeof(hits))
    hits.one_strand = &one_strand[0]
    hits.place = &place[0] if counted else NULL
    for i in range(records):
        longest = max(longest, stops[i] - starts[i])
    cdef uint8_t *text = <uint8_t *>malloc(longest + banks.beyond + 1)
    cdef uint64_t *scratch = <uint64_t *>malloc(8 * (banks.scratch + 1))
    try:
        if text == NULL or scratch == NULL:
            raise MemoryError
        with nogil:
            for i in range(records):
                n = stops[i] - starts[i]
                hits.begin = hits.count
                for strand in range(strands):
                    hits.other_strand = strand
                    for j in range(n):
                        text[j] = min(other[codes[stops[i] - 1 - j]] if strand else codes[starts[i] + j], size)
                    memset(text + n, size + 1, banks.beyond)
                    banks.scan(level, text, n, scratch, &hits)
                begin[i + 1] = hits.count
        if hits.failed:
            raise MemoryError
        items = np.empty((hits.count, 2), dtype=np.int32)
        if hits.count:
            view = items
            memcpy(&view[0, 0], hits.items, hits.count * sizeof(motif_hit))
        return start, items
    finally:
        free(text)
        free(scratch)
        free(hits.items)


def match_lengths(const uint8_t[:, ::1] accepts, const uint8_t[::1] optional, bint at_end,
                  const uint8_t[::1] text, const int64_t[::1] starts):
    """Return the length of the shortest match of one pattern at each of some places where it matches, int64.

    Parameters
    ----------
    accepts : ndarray of uint8, shape (places, letters + 1)
    optional : ndarray of uint8, shape (places,)
    at_end : bool
        Whether a match ends with the sequence.
    text : ndarray of uint8, shape (n,)
        Codes of a sequence, those of masked letters the last.
    starts : ndarray of int64
    """
    cdef Py_ssize_t places = accepts.shape[0], n = text.shape[0], s, i, j
    lengths = np.zeros(starts.shape[0], dtype=np.int64)
    cdef int64_t[::1] out = lengths
    cdef uint8_t[::1] state = np.empty(places + 1, dtype=np.uint8)
    with nogil:
        for s in range(starts.shape[0]):
            state[:] = 0
            state[0] = 1
            i = starts[s]
            while True:
                for j in range(places):
                    state[j + 1] |= state[j] & optional[j]
                if i == n or (state[places] and not at_end):
                    break
                for j in range(places, 0, -1):
                    state[j] = state[j - 1] & accepts[j - 1, text[i]]
                state[0] = 0
                i += 1
            out[s] = i - starts[s]
    return lengths
