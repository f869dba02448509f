"""Pairs of windows of each record with itself, by Hamming distance; see `_hamming_own.h`."""

from libc.stdint cimport int64_t, uint8_t, uint64_t, uintptr_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

cdef extern from "_hamming_own.h" nogil:
    enum:
        CLASSES
        LEVELS
        FIRST_KEPT
    ctypedef struct lane_counts:
        void *kept
        void *waiting
        uint64_t arrived
    ctypedef void (*stretch_function)() noexcept nogil
    ctypedef struct own_block:
        const uint64_t *letters
        const uint64_t *other
        const uint64_t *valid
        uint64_t *match
        uint64_t *both
        const Py_ssize_t *places
        Py_ssize_t windows
        Py_ssize_t positions
        Py_ssize_t length
        int bits
        int words
    int lanes_of(int level)
    stretch_function find_stretch_function(int level, int planes, int classes)
    void settle(int level, lane_counts *counts, int classes, int bits)
    void read_lanes(int level, const lane_counts *counts, int m, int bits, int64_t *number)
    void count_own(
        int level, const own_block *own, stretch_function walk, int offset, lane_counts *twice, lane_counts *once)
    void fill_own(
        uint64_t *letters, uint64_t *other, uint64_t *valid, const own_block *own, int lane, const uint8_t *codes,
        Py_ssize_t n, int size, const uint8_t *complement)

cdef enum:
    ALIGNMENT = 64


def own_pairs(
    const uint8_t[::1] letters, const int64_t[::1] starts, const int64_t[::1] stops, int length, int size,
    const uint8_t[::1] complement, int level, const int64_t[:, ::1] passes, int64_t[:, ::1] totals
):
    """Write how many pairs of different windows of each record are in each class of some walks.

    Pairs count in both orders; on the other strand, a window and its own reverse complement count, too.

    Parameters
    ----------
    letters : (total,)
    starts, stops : (records,)
        At most as many records as there are lanes, none shorter than `length`.
    length, size : int
    complement : (256,) or (0,)
        Not empty: the other strand counts as well.
    level : int
    passes : (walks, 3)
        As in `_hamming.walk`.
    totals : (classes of all walks, records)
    """
    cdef own_block own
    cdef lane_counts twice, once
    cdef int bits = FIRST_KEPT, lanes = lanes_of(level), lane, c, at = 0
    cdef bint both = complement.shape[0] > 0
    cdef Py_ssize_t longest = 0, i, p, vector = lanes // 8, kept = LEVELS * CLASSES * vector
    cdef uint64_t *planes
    cdef int64_t *number
    cdef Py_ssize_t *places
    cdef uint8_t *memory
    cdef uint8_t *counts
    for i in range(starts.shape[0]):
        longest = max(longest, stops[i] - starts[i])
    own.bits = 1
    while size - 1 >> own.bits:
        own.bits += 1
    own.positions, own.length, own.windows, own.words = longest, length, longest - length + 1, lanes // 64
    while <uint64_t>(2 * own.windows * own.windows) >> bits:
        bits += 1
    # bit planes of the letters and of the complements, valid windows, and the two masks of a diagonal
    memory = <uint8_t *>calloc(
        ALIGNMENT + vector * ((2 * own.bits + 3) * longest + 2) + 4 * kept
        + lanes * sizeof(int64_t) + (longest + 1) * sizeof(Py_ssize_t), 1)
    if memory == NULL:
        raise MemoryError
    planes = <uint64_t *>((<uintptr_t>memory + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT)
    own.letters = planes
    own.other = planes + own.bits * longest * own.words if both else NULL
    own.valid = planes + 2 * own.bits * longest * own.words
    own.match = <uint64_t *>own.valid + longest * own.words
    own.both = own.match + (longest + 1) * own.words
    counts = <uint8_t *>(own.both + (longest + 1) * own.words)
    twice.kept, twice.waiting, once.kept, once.waiting = counts, counts + kept, counts + 2 * kept, counts + 3 * kept
    number = <int64_t *>(counts + 4 * kept)
    places = <Py_ssize_t *>(number + lanes)
    own.places = places
    with nogil:
        for p in range(longest + 1):
            places[p] = p * vector
        for i in range(starts.shape[0]):
            fill_own(
                <uint64_t *>own.letters, <uint64_t *>own.other, <uint64_t *>own.valid, &own, i, &letters[starts[i]],
                stops[i] - starts[i], size, &complement[0] if both else NULL)
        for p in range(passes.shape[0]):
            memset(counts, 0, 4 * kept)
            twice.arrived = once.arrived = 0
            count_own(
                level, &own, find_stretch_function(level, passes[p, 0], passes[p, 1]), passes[p, 2], &twice, &once)
            settle(level, &twice, passes[p, 1], bits)
            settle(level, &once, passes[p, 1], bits)
            for c in range(passes[p, 1]):
                read_lanes(level, &twice, c, bits, number)
                for lane in range(<int>starts.shape[0]):
                    totals[at, lane] = 2 * number[lane % 8 * (lanes // 8) + lane // 8]
                read_lanes(level, &once, c, bits, number)
                for lane in range(<int>starts.shape[0]):
                    totals[at, lane] += number[lane % 8 * (lanes // 8) + lane // 8]
                at += 1
        free(memory)
