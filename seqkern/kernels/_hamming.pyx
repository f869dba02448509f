"""Loops that count pairs of windows by their Hamming distance; see `_hamming.h` and `_hamming_pairs.h`."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, uintptr_t
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
    void add_lanes(
        const lane_counts *counts, int lanes, int classes, int bits, const int64_t *columns, int used,
        int64_t *totals, Py_ssize_t width)
    void settle(int level, lane_counts *counts)

cdef extern from "_hamming_pairs.h" nogil:
    void distances(
        int level, const uint32_t *a, Py_ssize_t a_step, const uint32_t *b, Py_ssize_t b_step, int planes,
        Py_ssize_t n, uint8_t *distance)

cdef enum:
    CHUNK = 2048
    ALIGNMENT = 64
    MOST_DISTANCES = 32


def lanes(int level):
    """Return how many columns are compared at once, at a level of vector instructions."""
    return lanes_of(level)


def find_stretches(
    const uint8_t[::1] letters,
    const int64_t[::1] starts,
    const int64_t[::1] stops,
    int length,
    int size,
    int64_t[::1] first,
    int64_t[::1] windows,
):
    """Write the first letter and the number of windows of each stretch of at least `length` letters below `size`."""
    cdef Py_ssize_t i, p, at = 0
    cdef int64_t run
    with nogil:
        for i in range(starts.shape[0]):
            run = 0
            for p in range(starts[i], stops[i]):
                run = run + 1 if letters[p] < size else 0
                if run >= length and (p + 1 == stops[i] or letters[p + 1] >= size):
                    first[at] = p - run + 1
                    windows[at] = run - length + 1
                    at += 1


cdef inline uint8_t *_aligned(uint8_t *memory) noexcept nogil:
    """Return the first address from `memory` on that vectors can lie at."""
    return <uint8_t *>((<uintptr_t>memory + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT)


def block_bytes(Py_ssize_t windows, int length, int size, int level):
    """Return how many bytes the masks of one block of lanes have, of which the longest has so many windows."""
    return ((windows + length) * size + windows) * lanes_of(level) // 8


def scratch_bytes(int level, Py_ssize_t letters):
    """Return how many bytes `count` needs besides the masks, for rows of at most so many letters."""
    return 2 * LEVELS * CLASSES * lanes_of(level) // 8 + (letters + 1) * sizeof(Py_ssize_t) + letters + 2 * ALIGNMENT


def count(
    const uint8_t[::1] row_letters,
    const int64_t[::1] row_stretches,
    const int64_t[::1] row_first,
    const int64_t[::1] row_windows,
    const uint8_t[::1] complement,
    const uint8_t[::1] letters,
    const int64_t[::1] first,
    const int64_t[::1] windows,
    const int64_t[::1] columns,
    int size,
    int length,
    int level,
    const int64_t[:, ::1] passes,
    Py_ssize_t row,
    Py_ssize_t longest,
    uint8_t[::1] memory,
    uint8_t[::1] scratch,
    int64_t[:, :, ::1] totals,
):
    """Write how many pairs of windows of some rows and columns are in each class.

    Parameters
    ----------
    row_letters : (total,)
    row_stretches : (records + 1,)
        Where the stretches of each row start in the next two.
    row_first, row_windows : (stretches,)
        First letter and number of windows of each.
    complement : (256,) or (0,)
        Not empty: the row's other strand counts as well.
    letters : (total,)
        Of the columns.
    first, windows, columns : (lanes,)
        First letter, number of windows, and column of each lane; the largest number of windows first.
    passes : (passes, 3)
        Planes, classes, and offset of the codes, for each walk.
    row : int
        The first row.
    longest : int
        No stretch of these rows has more letters.
    memory, scratch : (bytes,)
        For the masks of all blocks, as many as `block_bytes` says and 64 more, and `scratch_bytes`.
    totals : (rows, classes of all passes, columns)
    """
    cdef int width = lanes_of(level), bytes = width // 8, lane, strand, strands = 2 if complement.shape[0] else 1
    cdef int classes, bits, at_class
    cdef Py_ssize_t n_lanes = first.shape[0], n_blocks = (n_lanes + width - 1) // width, k, at, i, s, p, c, n_letters, used
    cdef uint64_t steps
    cdef uint8_t *masks
    cdef uint8_t *start = _aligned(&memory[0])
    cdef uint8_t *kept = _aligned(&scratch[0])
    cdef lane_counts counts
    cdef lane_block block
    cdef Py_ssize_t *places
    cdef uint8_t *reverse
    cdef const uint8_t *text
    if n_lanes == 0:
        return
    counts.kept = kept
    counts.waiting = kept + LEVELS * CLASSES * bytes
    places = <Py_ssize_t *>(kept + 2 * LEVELS * CLASSES * bytes)
    reverse = <uint8_t *>(places + longest + 1)
    with nogil:
        memset(&memory[0], 0, memory.shape[0])
        masks = start
        for k in range(n_blocks):
            at = k * width
            block.positions = windows[at] + length
            block.match = masks
            block.valid = masks + block.positions * size * bytes
            for lane in range(min(width, n_lanes - at)):
                fill_lane(
                    masks, <uint8_t *>block.valid, block.positions, width, lane, &letters[first[at + lane]],
                    windows[at + lane], length)
            masks = <uint8_t *>block.valid + windows[at] * bytes
        for i in range(totals.shape[0]):
            masks = start
            for k in range(n_blocks):
                at = k * width
                used = min(width, n_lanes - at)
                block.windows = windows[at]
                block.positions = windows[at] + length
                block.match = masks
                block.valid = masks + block.positions * size * bytes
                masks = <uint8_t *>block.valid + windows[at] * bytes
                steps = 0
                for s in range(row_stretches[row + i], row_stretches[row + i + 1]):
                    steps += strands * row_windows[s] * block.windows
                if steps == 0:
                    continue
                bits = 0
                while steps >> bits:
                    bits += 1
                at_class = 0
                for p in range(passes.shape[0]):
                    classes = passes[p, 1]
                    memset(kept, 0, max(bits, FIRST_KEPT) * CLASSES * bytes)
                    counts.arrived = 0
                    for s in range(row_stretches[row + i], row_stretches[row + i + 1]):
                        n_letters = row_windows[s] + length - 1
                        for strand in range(strands):
                            text = &row_letters[row_first[s]]
                            if strand:
                                for c in range(n_letters):
                                    reverse[c] = complement[text[n_letters - 1 - c]]
                                text = reverse
                            for c in range(n_letters):
                                places[c] = (text[c] * block.positions + c) * bytes
                            places[n_letters] = n_letters * bytes
                            find_stretch_function(level, passes[p, 0], classes)(
                                &block, places, row_windows[s], length, passes[p, 2], &counts)
                    settle(level, &counts)
                    add_lanes(
                        &counts, width, classes, bits, &columns[at], used, &totals[i, at_class, 0], totals.shape[2])
                    at_class += classes


def pack_windows(
    const uint8_t[::1] letters,
    const int64_t[::1] first,
    const int64_t[::1] windows,
    const uint8_t[::1] complement,
    int length,
    uint32_t[:, ::1] words,
):
    """Write bit p of the codes of each window's letters to words[p, window], the first letter the highest bit.

    Parameters
    ----------
    letters : (total,)
    first, windows : (stretches,)
        First letter and number of windows of each stretch.
    complement : (256,) or (0,)
        Not empty: of each window the other strand, read backwards.
    length : int
    words : (bits, windows)
    """
    cdef Py_ssize_t s, p, at, c
    cdef uint32_t word, mask = (<uint32_t>1 << length) - 1
    cdef bint other = complement.shape[0] > 0
    cdef uint8_t letter
    with nogil:
        for p in range(words.shape[0]):
            at = 0
            for s in range(first.shape[0]):
                word = 0
                for c in range(windows[s] + length - 1):
                    letter = letters[first[s] + c]
                    if other:
                        word = word >> 1 | <uint32_t>(complement[letter] >> p & 1) << (length - 1)
                    else:
                        word = (word << 1 | <uint32_t>(letter >> p & 1)) & mask
                    if c >= length - 1:
                        words[p, at] = word
                        at += 1


def compare(
    const uint32_t[:, ::1] row_words,
    const int64_t[::1] row_start,
    const int64_t[::1] row_weights,
    const uint32_t[:, ::1] col_words,
    const int64_t[::1] col_start,
    const int64_t[::1] col_weights,
    int level,
    Py_ssize_t row,
    Py_ssize_t first,
    bint own,
    int64_t[:, :, ::1] totals,
):
    """Add to totals[row, h, column] the sum of the products of the weights of pairs of windows at distance h.

    Parameters
    ----------
    row_words, col_words : (bits, windows)
        From `pack_windows`.
    row_start, col_start : (records + 1,)
        Where the windows of each record start.
    row_weights, col_weights : (windows,) or (0,)
        Empty: every weight is 1.
    row, first : int
        The first row, and the first column.
    own : bool
        Each row is compared with the column of its number alone, which comes first in `totals`.
    totals : (rows, at least the largest distance + 1, columns)
    """
    cdef Py_ssize_t i, j, k, a, b, column, n
    cdef int h, planes = row_words.shape[0]
    cdef int64_t tally[MOST_DISTANCES]
    cdef int64_t weight
    cdef bint weighted = col_weights.shape[0] > 0
    cdef uint8_t distance[CHUNK]
    with nogil:
        for i in range(totals.shape[0]):
            for j in range(totals.shape[2]):
                column = row + i if own else first + j
                for a in range(row_start[row + i], row_start[row + i + 1]):
                    memset(tally, 0, sizeof(tally))
                    b = col_start[column]
                    while b < col_start[column + 1]:
                        n = min(<Py_ssize_t>CHUNK, col_start[column + 1] - b)
                        distances(
                            level, &row_words[0, a], row_words.shape[1], &col_words[0, b], col_words.shape[1], planes,
                            n, distance)
                        if weighted:
                            for k in range(n):
                                tally[distance[k]] += col_weights[b + k]
                        else:
                            for k in range(n):
                                tally[distance[k]] += 1
                        b += n
                    weight = row_weights[a] if row_weights.shape[0] else 1
                    for h in range(totals.shape[1]):
                        totals[i, h, j] += weight * tally[h]
