"""The loops of the search for similar sequences; see `_search.h`, `_exact.h` and `_seeds.h`."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

import numpy as np


cdef extern from "_search.h" nogil:
    ctypedef struct search_set:
        const uint8_t *codes
        const int64_t *starts
        const int64_t *ends
        const int32_t *first
        int64_t total
        int32_t records
        int32_t strands
        int32_t size
        int32_t block
        int32_t gap
    ctypedef struct seed_index:
        const int64_t *bounds
        const int32_t *postings
        int32_t k
        int32_t cap
    ctypedef struct search_rules:
        int32_t match
        int32_t mismatch
        int32_t drop
        int32_t least
        int32_t band
        int32_t most
        int32_t first
    ctypedef struct similar_pair:
        int32_t query
        int32_t other
        int32_t same
    ctypedef struct pair_list:
        similar_pair *items
        int64_t count
        int64_t room
    void scan_kmers(const search_set *s, int k, int64_t n_codes, int64_t *bounds, int32_t *postings)
    int search_pairs(
        const search_set *s, const seed_index *seeds, const search_rules *rules, const int32_t *needed, int32_t begin,
        int32_t end, int32_t n, int64_t n_codes, pair_list *found)

cdef extern from "_exact.h" nogil:
    ctypedef struct placed_kmer:
        uint64_t key
        int64_t place
    int mark_bad(const search_set *s, int k, uint8_t *bad)
    void collect_kmers(
        const search_set *s, const uint8_t *bad, int k, const uint8_t *complement, int bits, uint64_t part,
        placed_kmer *out, int64_t *counts)
    placed_kmer *sort_kmers(placed_kmer *source, placed_kmer *target, int64_t n, uint64_t largest)
    ctypedef struct longest_stretch:
        int32_t length
        int32_t other
    void longest_stretches(
        const search_set *s, int k, const uint8_t *complement, int32_t queries, int cap, const placed_kmer *kmers,
        int64_t n, longest_stretch *best)
    int pair_kmers(
        const search_set *s, const uint8_t *bad, int k, const uint8_t *complement, int cap, const placed_kmer *kmers,
        int64_t n, pair_list *found)

cdef extern from "_seeds.h" nogil:
    ctypedef struct segment:
        pass
    ctypedef struct seed_search:
        const search_set *s
        const uint8_t *bad
        const int32_t *rank
        uint8_t *often
        int pattern, strands, shift
    void collect_seeds(
        const seed_search *w, int sampled, uint64_t parts, uint64_t part, uint64_t *out, int64_t *counts)
    void sort_seeds(uint64_t *seeds, int64_t n, int top)
    int pair_seeds(
        const seed_search *w, const search_rules *rules, uint64_t *seeds, int64_t n, segment **items, int64_t *count,
        int64_t *capped)
    int align_segments(
        const search_set *s, const int64_t *order, int32_t band, const int32_t *needed, const segment *items, int64_t n,
        int32_t longest, int32_t *same)


cdef object _rows(void *items, int64_t n, int columns, int failed):
    """Return structures of int32 as an array (n, columns), and free them; MemoryError if there was no room for them."""
    if failed:
        free(items)
        raise MemoryError
    rows = np.empty((n, columns), dtype=np.int32)
    cdef int32_t[:, ::1] view = rows
    if n:
        memcpy(&view[0, 0], items, n * columns * sizeof(int32_t))
    free(items)
    return rows


cdef class Records:
    """Records one behind the other, each followed by code 254 if `gap` is 1; see `search_set`."""

    cdef search_set s
    cdef object arrays

    def __init__(
        self, const uint8_t[::1] codes, const int64_t[::1] starts, const int64_t[::1] ends, const int32_t[::1] first,
        int strands, int size, int block, int gap,
    ):
        self.arrays = codes, starts, ends, first
        self.s.codes, self.s.starts, self.s.ends, self.s.first = &codes[0], &starts[0], &ends[0], &first[0]
        self.s.total, self.s.strands, self.s.size = codes.shape[0], strands, size
        self.s.records, self.s.block, self.s.gap = starts.shape[0] - 1, block, gap


def postings(Records records, int k):
    """Return the bounds (int64) and the places (int32) of each k-mer."""
    cdef int64_t n_codes = int(records.s.size) ** k
    counts = np.zeros(n_codes + 1, dtype=np.int64)
    cdef int64_t[::1] moving = counts
    with nogil:
        scan_kmers(&records.s, k, n_codes, &moving[0], NULL)
    bounds = np.cumsum(counts)
    places = np.empty(max(int(bounds[n_codes]), 1), dtype=np.int32)
    cdef int32_t[::1] out = places
    counts[:] = bounds
    with nogil:
        scan_kmers(&records.s, k, n_codes, &moving[0], &out[0])
    return bounds, places


def similar(
    Records records, const int64_t[::1] bounds, const int32_t[::1] places, int k, int cap, tuple rules,
    const int32_t[::1] needed, int begin, int end, int n,
):
    """Return int32 (m, 3): query, later sequence, identical residues, for queries from `begin` to `end`."""
    cdef search_rules scores
    scores.match, scores.mismatch, scores.drop, scores.least, scores.band, scores.most = rules[:6]
    scores.first = rules[6]
    cdef seed_index seeds
    seeds.bounds, seeds.postings, seeds.k, seeds.cap = &bounds[0], &places[0], k, cap
    cdef pair_list found
    cdef int64_t n_codes = bounds.shape[0] - 1
    cdef int failed
    found.items, found.count, found.room = NULL, 0, 0
    with nogil:
        failed = search_pairs(&records.s, &seeds, &scores, &needed[0], begin, end, n, n_codes, &found)
    return _rows(found.items, found.count, 3, failed)


def unusable(Records records, int k):
    """Return the bits (uint8) of places where no k-mer starts, or one of low complexity or with a masked residue."""
    bad = np.empty(records.s.total // 8 + 1, dtype=np.uint8)
    cdef uint8_t[::1] view = bad
    cdef int failed
    with nogil:
        failed = mark_bad(&records.s, k, &view[0])
    if failed:
        raise MemoryError
    return bad


def count_kmers(Records records, const uint8_t[::1] bad, int k, const uint8_t[::1] complement, int bits):
    """Return the number of k-mers (int64) of each part."""
    counts = np.zeros(1 << bits, dtype=np.int64)
    cdef int64_t[::1] view = counts
    cdef const uint8_t *turn = &complement[0] if complement is not None else NULL
    cdef const uint8_t *unused = &bad[0] if bad is not None else NULL
    with nogil:
        collect_kmers(&records.s, unused, k, turn, bits, 0, NULL, &view[0])
    return counts


def sharing(
    Records records, const uint8_t[::1] bad, int k, const uint8_t[::1] complement, int queries, int cap, int bits,
    int part, int64_t n,
):
    """Compare the n k-mers of one part; those marked in `bad` are left out.

    With `bad`: int32 (m, 3), two records and the length of the stretch they share. Without: int32 (queries, 2), the
    longest stretch that each of the first records shares with a later one, and which; 0 and 0 where none is shared.
    """
    cdef const uint8_t *turn = &complement[0] if complement is not None else NULL
    cdef const uint8_t *unused = &bad[0] if bad is not None else NULL
    cdef const search_set *s = &records.s
    cdef pair_list found
    cdef placed_kmer *kmers = NULL
    cdef placed_kmer *kept
    cdef int failed = 0
    cdef uint64_t largest = int(s.size) ** k
    stretches = np.zeros((max(queries, 1), 2), dtype=np.int32)
    cdef int32_t[:, ::1] best = stretches
    found.items, found.count, found.room = NULL, 0, 0
    if n:
        with nogil:
            kmers = <placed_kmer *>malloc(2 * n * sizeof(placed_kmer))
            if kmers == NULL:
                failed = -1
            else:
                collect_kmers(s, unused, k, turn, bits, part, kmers, NULL)
                kept = sort_kmers(kmers, kmers + n, n, largest)
                if unused != NULL:
                    failed = pair_kmers(s, unused, k, turn, cap, kept, n, &found)
                else:
                    longest_stretches(s, k, turn, queries, cap, kept, n, <longest_stretch *>&best[0, 0])
            free(kmers)
    pairs = _rows(found.items, found.count, 3, failed)
    return stretches[:queries] if bad is None else pairs


def count_seeds(
    Records records, const uint8_t[::1] bad, const int32_t[::1] rank, int pattern, int strands, bint sampled,
    int64_t parts,
):
    """Return the number of seeds (int64) of each part; of all or of a sample."""
    counts = np.zeros(parts, dtype=np.int64)
    cdef int64_t[::1] view = counts
    cdef seed_search w
    w.shift = int(records.s.total).bit_length() + 1
    w.s, w.bad, w.rank, w.pattern, w.strands = &records.s, &bad[0], &rank[0], pattern, strands
    with nogil:
        collect_seeds(&w, sampled, parts, 0, NULL, &view[0])
    return counts


def segments(
    Records records, const uint8_t[::1] bad, const int32_t[::1] rank, uint8_t[::1] often, int pattern, int strands,
    tuple rules, int64_t parts, int64_t part, int64_t n, int64_t[::1] capped,
):
    """Return int32 (m, 5): the segments found by the n seeds of one part.

    Columns: rank of the record, twice the other one's, odd if its reverse complement is meant, diagonal, score, and the
    longest stretch of identical residues. Capped seeds and places are added to `capped`. Without `rules`, mark the
    frequent seeds of a sample in `often`.
    """
    cdef search_rules scores
    cdef search_rules *given = NULL
    cdef seed_search w
    cdef segment *items = NULL
    cdef int64_t count = 0
    cdef int failed = -1
    cdef uint64_t *seeds
    if rules is not None:
        scores.match, scores.mismatch, scores.drop, scores.least, scores.band, scores.most = rules[:6]
        scores.first, given = rules[6], &scores
    w.shift = int(records.s.total).bit_length() + 1
    w.s, w.bad, w.rank, w.pattern, w.strands, w.often = &records.s, &bad[0], &rank[0], pattern, strands, &often[0]
    with nogil:
        seeds = <uint64_t *>malloc((n + 1) * sizeof(uint64_t))
        if seeds != NULL:
            collect_seeds(&w, given == NULL, parts, part, seeds, NULL)
            sort_seeds(seeds, n, 64)
            failed = pair_seeds(&w, given, seeds, n, &items, &count, &capped[0])
            free(seeds)
    return _rows(items, count, 5, failed)


def align(
    Records records, const int64_t[::1] order, const int32_t[:, ::1] found, int band, const int32_t[::1] needed,
):
    """Return int32 (m,): the identical residues in the alignment of each segment's records; 0 if they are too few."""
    same = np.zeros(found.shape[0], dtype=np.int32)
    cdef int32_t[::1] view = same
    cdef int failed = 0
    if found.shape[0]:
        with nogil:
            failed = align_segments(
                &records.s, &order[0], band, &needed[0], <const segment *>&found[0, 0], found.shape[0],
                needed.shape[0], &view[0])
    if failed:
        raise MemoryError
    return same
