"""The loops of the search for similar sequences; see `_search.h` and `_exact.h`."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

import numpy as np


cdef extern from "_search.h" nogil:
    ctypedef struct search_set:
        const uint8_t *codes
        const int64_t *starts
        const int32_t *first
        int64_t total
        int32_t strands
        int32_t size
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
    int mark_bad(const uint8_t *codes, int64_t total, int size, int k, uint8_t *bad)
    int64_t collect_kmers(
        const uint8_t *codes, int64_t total, const uint8_t *bad, int size, int k, const uint8_t *complement, int bits,
        uint64_t part, placed_kmer *out)
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


cdef object _pairs(pair_list *found, int failed):
    """Return the pairs as int32 (m, 3), and free them; MemoryError if there was no room for them."""
    if failed:
        free(found.items)
        raise MemoryError
    pairs = np.empty((found.count, 3), dtype=np.int32)
    cdef int32_t[:, ::1] view = pairs
    if found.count:
        memcpy(&view[0, 0], found.items, found.count * sizeof(similar_pair))
    free(found.items)
    return pairs


cdef class Records:
    """Records one behind the other, each followed by code 254.

    Parameters
    ----------
    codes : uint8 (total,)
    starts : int64 (records + 1,)
    first : int32
        The record of each 32nd position.
    strands : int
        2 if every other record is the reverse complement of the one before.
    size : int
        Of the alphabet.
    """

    cdef search_set s
    cdef object arrays

    def __init__(
        self, const uint8_t[::1] codes, const int64_t[::1] starts, const int32_t[::1] first, int strands, int size
    ):
        self.arrays = codes, starts, first
        self.s.codes, self.s.starts, self.s.first = &codes[0], &starts[0], &first[0]
        self.s.total, self.s.strands, self.s.size = codes.shape[0], strands, size


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
    return _pairs(&found, failed)


def unusable(Records records, int k):
    """Return uint8 (total,): 1 where no k-mer starts, or one of low complexity or with a masked residue."""
    bad = np.empty(records.s.total, dtype=np.uint8)
    cdef uint8_t[::1] view = bad
    cdef int failed
    with nogil:
        failed = mark_bad(records.s.codes, records.s.total, records.s.size, k, &view[0])
    if failed:
        raise MemoryError
    return bad


def sharing(Records records, const uint8_t[::1] bad, int k, const uint8_t[::1] complement, int cap, int bits, int part):
    """Return int32 (m, 3): two records and the length of the stretch they share, of one part of the k-mers."""
    cdef const uint8_t *turn = NULL
    cdef const search_set *s = &records.s
    cdef pair_list found
    cdef placed_kmer *kmers = NULL
    cdef int64_t n
    cdef int failed = 0
    cdef uint64_t largest = int(s.size) ** k
    if complement is not None:
        turn = &complement[0]
    found.items, found.count, found.room = NULL, 0, 0
    with nogil:
        n = collect_kmers(s.codes, s.total, &bad[0], s.size, k, turn, bits, part, NULL)
        if n:
            kmers = <placed_kmer *>malloc(2 * n * sizeof(placed_kmer))
            if kmers == NULL:
                failed = -1
            else:
                collect_kmers(s.codes, s.total, &bad[0], s.size, k, turn, bits, part, kmers)
                failed = pair_kmers(s, &bad[0], k, turn, cap, sort_kmers(kmers, kmers + n, n, largest), n, &found)
            free(kmers)
    return _pairs(&found, failed)


def longest(Records records, int k, const uint8_t[::1] complement, int queries, int cap, int bits, int part):
    """Return int32 (queries, 2): the longest stretch that each of the first records shares with a later one, and which.

    By one part of the k-mers; 0 and 0 where none is shared.
    """
    cdef const uint8_t *turn = NULL
    cdef const search_set *s = &records.s
    cdef placed_kmer *kmers = NULL
    cdef int64_t n
    cdef int failed = 0
    cdef uint64_t largest = int(s.size) ** k
    usable = np.zeros(s.total, dtype=np.uint8)
    cdef uint8_t[::1] bad = usable
    found = np.zeros((max(queries, 1), 2), dtype=np.int32)
    cdef int32_t[:, ::1] best = found
    if complement is not None:
        turn = &complement[0]
    with nogil:
        n = collect_kmers(s.codes, s.total, &bad[0], s.size, k, turn, bits, part, NULL)
        if n:
            kmers = <placed_kmer *>malloc(2 * n * sizeof(placed_kmer))
            if kmers == NULL:
                failed = -1
            else:
                collect_kmers(s.codes, s.total, &bad[0], s.size, k, turn, bits, part, kmers)
                longest_stretches(
                    s, k, turn, queries, cap, sort_kmers(kmers, kmers + n, n, largest), n,
                    <longest_stretch *>&best[0, 0])
            free(kmers)
    if failed:
        raise MemoryError
    return found[:queries]
