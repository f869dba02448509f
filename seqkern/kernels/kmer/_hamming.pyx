"""Walks along the diagonals that count pairs of windows by their Hamming distance; see `_hamming.h`."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t, uintptr_t
from libc.string cimport memset


cdef extern from "_hamming.h" nogil:
    enum:
        CLASSES
        LEVELS
        FIRST_KEPT
    ctypedef struct lane_block:
        const void *match
        const void *valid
        Py_ssize_t positions
        Py_ssize_t windows
        int alone
    ctypedef struct lane_counts:
        void *kept
        void *waiting
        uint64_t arrived
    ctypedef void (*stretch_function)(
        const lane_block *, const Py_ssize_t *, Py_ssize_t, Py_ssize_t, int, lane_counts *) noexcept nogil
    int lanes_of(int level)
    stretch_function find_stretch_function(int level, int planes, int classes)
    void fill_lane(
        uint8_t *match, uint8_t *valid, Py_ssize_t positions, int lanes, int lane, const uint8_t *letters,
        Py_ssize_t windows, Py_ssize_t length)
    void settle(int level, lane_counts *counts, int classes, int bits)
    void read_lanes(int level, const lane_counts *counts, int m, int bits, int64_t *number)
    void scatter(const int64_t *number, const int32_t *columns, int lanes, int64_t *totals)

ctypedef fused sum_t:
    int32_t
    int64_t
    double

cdef enum:
    ALIGNMENT = 64


def lanes(int level):
    """Return how many columns are compared at once, at a level of vector instructions."""
    return lanes_of(level)


cdef inline uint8_t *_aligned(uint8_t *memory) noexcept nogil:
    """Return the first address from `memory` on that vectors can lie at."""
    return <uint8_t *>((<uintptr_t>memory + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT)


def block_bytes(Py_ssize_t windows, int length, int size, int level):
    """Return how many bytes the masks of one block of lanes have, of which the longest has so many windows."""
    return ((windows + length) * size + windows) * lanes_of(level) // 8


def scratch_bytes(int level, Py_ssize_t longest, Py_ssize_t totals):
    """Return how many bytes `walk` needs, for rows of at most `longest` letters and so many totals."""
    cdef Py_ssize_t lanes = lanes_of(level)
    return ALIGNMENT + 2 * LEVELS * CLASSES * lanes // 8 + 8 * (2 * lanes + longest + 1 + totals) + longest


def fill_blocks(
    const uint8_t[::1] letters,
    const int64_t[::1] first,
    const int64_t[::1] windows,
    const int64_t[::1] longest,
    int length,
    int size,
    int level,
    uint8_t[::1] memory,
):
    """Write the masks of all blocks of lanes, one after the other, to `memory`, from its first aligned address on.

    Parameters
    ----------
    letters : (total,)
    first, windows : (lanes,)
        First letter and number of windows of each lane.
    longest : (blocks,)
        The largest number of windows in each block.
    memory : (bytes,)
        64 more than `block_bytes` says of all blocks.
    """
    cdef int width = lanes_of(level), bytes = width // 8
    cdef Py_ssize_t block, lane, at, positions
    cdef uint8_t *masks = _aligned(&memory[0])
    cdef uint8_t *valid
    with nogil:
        memset(&memory[0], 0, memory.shape[0])
        for block in range(longest.shape[0]):
            at = block * width
            positions = longest[block] + length
            valid = masks + positions * size * bytes
            for lane in range(min(<Py_ssize_t>width, first.shape[0] - at)):
                if windows[at + lane]:
                    fill_lane(
                        masks, valid, positions, width, lane, &letters[first[at + lane]], windows[at + lane], length)
            masks = valid + longest[block] * bytes


cdef void _walk_block(
    const uint8_t *letters,
    const int64_t *first,
    const int64_t *windows,
    Py_ssize_t stretches,
    const uint8_t *complement,
    int length,
    int level,
    int planes,
    int classes,
    int offset,
    const lane_block *block,
    lane_counts *counts,
    Py_ssize_t *places,
    uint8_t *reverse,
) noexcept nogil:
    """Count the pairs of windows of one row's stretches, of both strands if there are complements, and one block."""
    cdef int bytes = lanes_of(level) // 8, strand
    cdef Py_ssize_t s, c, n
    cdef const uint8_t *text
    cdef stretch_function walk_stretch = find_stretch_function(level, planes, classes)
    for s in range(stretches):
        n = windows[s] + length - 1
        for strand in range(2 if complement else 1):
            text = letters + first[s]
            if strand:
                for c in range(n):
                    reverse[c] = complement[text[n - 1 - c]]
                text = reverse
            for c in range(n):
                places[c] = (text[c] * block.positions + c) * bytes
            places[n] = n * bytes
            walk_stretch(block, places, windows[s], length, offset, counts)


def walk(
    const uint8_t[::1] letters,
    const int64_t[::1] stretches,
    const int64_t[::1] first,
    const int64_t[::1] windows,
    const uint8_t[::1] complement,
    Py_ssize_t longest,
    const uint8_t[::1] memory,
    const int64_t[::1] lane_windows,
    const int32_t[::1] columns,
    const int64_t[::1] all_windows,
    int size,
    int length,
    int level,
    const int64_t[:, ::1] passes,
    const int64_t[::1] factors,
    const int64_t[::1] order,
    const double[::1] weights,
    const int64_t rest,
    Py_ssize_t row,
    uint8_t[::1] scratch,
    sum_t[:, ::1] sums,
):
    """Add Σ_h weights[h]·N_h of some rows and columns to `sums`.

    Parameters
    ----------
    letters : (total,)
    stretches : (records + 1,)
        Where the stretches of each row start in the next two.
    first, windows : (stretches,)
        First letter and number of windows of each.
    complement : (256,) or (0,)
        Not empty: the row's other strand counts as well.
    longest : int
        No stretch of these rows has more letters.
    memory : (bytes,)
        From `fill_blocks`.
    lane_windows : (blocks,)
        The number of windows of the longest lane of each block.
    columns : (blocks · lanes,)
        The column of each lane in the order of `read_lanes`, the number of columns for a lane not in use.
    all_windows : (columns,)
    size, length, level : int
    passes : (walks, 3)
        Planes, classes, and offset of the codes.
    factors : (classes of all walks,)
        What a window of each class adds to an integer sum.
    order, weights : (distances,) or (0,)
        For real sums: the class of each distance, or −1 for what no class counts, and its weight.
    rest : int
        What every pair of windows adds to an integer sum.
    row : int
        The first row.
    scratch : (bytes,)
        As many as `scratch_bytes` says.
    sums : (rows, columns)
    """
    cdef int width = lanes_of(level), bytes = width // 8, bits, classes, c
    cdef Py_ssize_t m = sums.shape[1], blocks = lane_windows.shape[0], n_classes = factors.shape[0]
    cdef Py_ssize_t i, j, k, s, p, at, lane
    cdef bint real = sum_t is double
    cdef int64_t own, left
    cdef uint64_t steps
    cdef double value
    cdef const uint8_t *masks
    cdef uint8_t *kept = _aligned(&scratch[0])
    cdef int64_t *number = <int64_t *>(kept + 2 * LEVELS * CLASSES * bytes)
    cdef int64_t *mixed = number + width
    cdef Py_ssize_t *places = <Py_ssize_t *>(mixed + width)
    cdef int64_t *totals = <int64_t *>(places + longest + 1)
    cdef uint8_t *reverse = <uint8_t *>(totals + (n_classes if real else 1) * (m + 1))
    cdef lane_counts counts
    cdef lane_block block
    if blocks == 0:
        return
    counts.kept = kept
    counts.waiting = kept + LEVELS * CLASSES * bytes
    with nogil:
        for i in range(sums.shape[0]):
            memset(totals, 0, (n_classes if real else 1) * (m + 1) * sizeof(int64_t))
            own = 0
            for s in range(stretches[row + i], stretches[row + i + 1]):
                own += windows[s] * (2 if complement.shape[0] else 1)
            if own == 0:
                continue
            s = stretches[row + i]
            masks = _aligned(<uint8_t *>&memory[0])
            for k in range(blocks):
                block.windows, block.alone = lane_windows[k], 0
                block.positions = block.windows + length
                block.match = masks
                block.valid = masks + block.positions * size * bytes
                masks = <const uint8_t *>block.valid + block.windows * bytes
                steps = own * block.windows
                bits = FIRST_KEPT
                while steps >> bits:
                    bits += 1
                at = 0
                for lane in range(width):
                    mixed[lane] = 0
                for p in range(passes.shape[0]):
                    classes = passes[p, 1]
                    memset(kept, 0, bits * CLASSES * bytes)
                    counts.arrived = 0
                    _walk_block(
                        &letters[0], &first[s], &windows[s], stretches[row + i + 1] - s,
                        &complement[0] if complement.shape[0] else NULL, length, level, passes[p, 0], classes,
                        passes[p, 2], &block, &counts, places, reverse)
                    settle(level, &counts, classes, bits)
                    for c in range(classes):
                        read_lanes(level, &counts, c, bits, number)
                        if real:
                            scatter(number, &columns[k * width], width, totals + at * (m + 1))
                        else:
                            for lane in range(width):
                                mixed[lane] += factors[at] * number[lane]
                        at += 1
                if not real:
                    scatter(mixed, &columns[k * width], width, totals)
            if sum_t is double:
                _tell_apart(passes, totals, m + 1)
                for j in range(m):
                    value = 0
                    left = own * all_windows[j]
                    for p in range(order.shape[0]):
                        if order[p] >= 0:
                            left -= totals[order[p] * (m + 1) + j]
                            if weights[p] != 0:
                                value += weights[p] * <double>totals[order[p] * (m + 1) + j]
                        else:
                            value += weights[p] * <double>left
                    sums[i, j] += value
            else:
                for j in range(m):
                    sums[i, j] += <sum_t>(totals[j] + rest * own * all_windows[j])


cdef void _tell_apart(const int64_t[:, ::1] passes, int64_t *totals, Py_ssize_t m) noexcept nogil:
    """Turn class m, the counts of all codes whose bits contain those of m, into the count of the code m alone."""
    cdef int bit, code, classes
    cdef Py_ssize_t p, j
    for p in range(passes.shape[0]):
        classes = passes[p, 1]
        for bit in range(3):
            for code in range(classes):
                if not code >> bit & 1 and code | 1 << bit < classes:
                    for j in range(m):
                        totals[code * m + j] -= totals[(code | 1 << bit) * m + j]
        totals += classes * m
