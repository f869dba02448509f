"""Pairs of windows counted by their Hamming distance: of rows and columns in the lanes of vectors (`_hamming.h`), of a
record with itself (`_hamming_own.h`), and one by one (`_hamming_pairs.h`).
"""

from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t, uint64_t, uint8_t, uintptr_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

# ---- stretches, cut into the lanes of vectors ----------------------------------------------------

cdef enum:
    BLOCK_STEPS = 8  # what a block of lanes costs besides the windows of its longest, in windows


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


def plan_lanes(const int64_t[::1] windows, int lanes, int64_t[:, ::1] numbers):
    """Return into pieces of how many windows at most stretches are best cut, and how many lanes that makes.

    The blocks are as costly as their longest lanes, so that stretches much longer than others are better cut.

    Parameters
    ----------
    windows : (stretches,)
    lanes : int
        Of a block.
    numbers : (2, longest + 1)
        Zeros.
    """
    cdef Py_ssize_t s, most = numbers.shape[1] - 1, best = most, n_lanes = 0
    cdef double cost, least = 0
    with nogil:
        for s in range(windows.shape[0]):
            numbers[0, windows[s]] += 1
        while most > 0:
            cost = _blocks_cost(numbers, most, lanes)
            if most == best or cost < least:
                best, least = most, cost
            most = most * 7 // 8
        for s in range(windows.shape[0]):
            n_lanes += (windows[s] + best - 1) // best
    return best, n_lanes


cdef double _blocks_cost(int64_t[:, ::1] numbers, Py_ssize_t most, Py_ssize_t lanes) noexcept nogil:
    """Return what all blocks cost, in windows, with pieces of at most `most` windows of numbers[0, n] stretches."""
    cdef Py_ssize_t n, pieces, last = 0
    cdef int64_t here, used = lanes
    cdef double cost = 0
    for n in range(1, numbers.shape[1]):
        if numbers[0, n]:
            pieces = (n + most - 1) // most
            numbers[1, (n + pieces - 1) // pieces] += pieces * numbers[0, n]
    for n in range(most, 0, -1):
        here = numbers[1, n]
        numbers[1, n] = 0
        while here:
            if used == lanes:
                cost += n + BLOCK_STEPS
                used = 0
                last = n
            pieces = min(here, lanes - used)
            here -= pieces
            used += pieces
    return cost - last + (last + lanes // used - 1) // (lanes // used) if used else cost


def cut_lanes(
    const int64_t[::1] first,
    const int64_t[::1] windows,
    const int32_t[::1] columns,
    Py_ssize_t most,
    int64_t[::1] places,
    int64_t[::1] lane_first,
    int64_t[::1] lane_windows,
    int32_t[::1] lane_columns,
):
    """Cut stretches into pieces of at most `most` windows, the longest pieces first.

    Parameters
    ----------
    first, windows, columns : (stretches,)
    places : (most + 2,)
        Zeros.
    lane_first, lane_windows, lane_columns : (lanes,)
        First letter, number of windows and column of each piece; filled.
    """
    cdef Py_ssize_t s, piece, pieces, n, at
    cdef int64_t letter
    with nogil:
        for s in range(windows.shape[0]):
            pieces = (windows[s] + most - 1) // most
            n = windows[s] // pieces
            places[n] += windows[s] % pieces
            if n:
                places[n - 1] += pieces - windows[s] % pieces
        # places[n]: how many pieces are longer than n + 1, where the next one of n + 1 windows goes
        at = 0
        for n in range(places.shape[0] - 1, -1, -1):
            piece = places[n]
            places[n] = at
            at += piece
        for s in range(windows.shape[0]):
            pieces = (windows[s] + most - 1) // most
            letter = first[s]
            for piece in range(pieces):
                n = windows[s] // pieces + (piece < windows[s] % pieces)
                at = places[n - 1]
                places[n - 1] += 1
                lane_first[at] = letter
                lane_windows[at] = n
                lane_columns[at] = columns[s]
                letter += n


def cut_last(
    Py_ssize_t start,
    Py_ssize_t used,
    Py_ssize_t pieces,
    int64_t[::1] lane_first,
    int64_t[::1] lane_windows,
    int32_t[::1] lane_columns,
):
    """Cut the lanes `start` … `used` into so many pieces each, some of them perhaps of no windows."""
    cdef Py_ssize_t lane, piece, at = start + (used - start) * pieces
    cdef int64_t n, letter
    with nogil:
        for lane in range(used - 1, start - 1, -1):
            n = lane_windows[lane]
            letter = lane_first[lane] + n
            for piece in range(pieces):
                at -= 1
                lane_windows[at] = n // pieces + (piece < n % pieces)
                letter -= lane_windows[at]
                lane_first[at] = letter
                lane_columns[at] = lane_columns[lane]


# ---- walks along the diagonals: rows and columns -------------------------------------------------

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


# ---- walks along the diagonals: each record with itself ------------------------------------------

cdef extern from "_hamming_own.h" nogil:
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
    void count_own(
        int level, const own_block *own, stretch_function walk, int offset, lane_counts *twice, lane_counts *once)
    void fill_own(
        uint64_t *letters, uint64_t *other, uint64_t *valid, const own_block *own, int lane, const uint8_t *codes,
        Py_ssize_t n, int size, const uint8_t *complement)


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


# ---- window by window ----------------------------------------------------------------------------

cdef extern from "_hamming_pairs.h" nogil:
    enum:
        MOST_DISTANCES
        LARGEST_LIGHT
        CELLS
    void tally_pairs(
        int level, const void *rows, Py_ssize_t row_step, Py_ssize_t n_rows, const void *cols, Py_ssize_t col_step,
        Py_ssize_t n_cols, int narrow, int planes, int many, int64_t *tally)
    void weigh_pairs(
        int level, const void *rows, Py_ssize_t row_step, Py_ssize_t n_rows, const int64_t *row_weights,
        const void *cols, Py_ssize_t col_step, Py_ssize_t n_cols, const int64_t *col_weights, const int32_t *light,
        int narrow, int planes, int many, int64_t *tally)


ctypedef fused word_t:
    uint16_t
    uint32_t

LARGEST_LIGHT_WEIGHT = LARGEST_LIGHT
MORE_WINDOWS = CELLS


def pack_windows(
    const uint8_t[::1] letters,
    const int64_t[::1] first,
    const int64_t[::1] windows,
    const uint8_t[::1] complement,
    int length,
    word_t[:, ::1] words,
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
        At most the bits of a word, and less than 32.
    words : (bits, windows + MORE_WINDOWS)
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
                        words[p, at] = <word_t>word
                        at += 1


def compare(
    const word_t[:, ::1] words,
    const word_t[:, ::1] other_words,
    const int64_t[::1] start,
    const int64_t[::1] window_weights,
    const word_t[:, ::1] col_words,
    const int64_t[::1] col_start,
    const int64_t[::1] col_window_weights,
    const int32_t[::1] light,
    int level,
    const int64_t[::1] factors,
    const double[::1] weights,
    Py_ssize_t row,
    Py_ssize_t first,
    bint upper,
    bint own,
    sum_t[:, ::1] sums,
):
    """Add Σ_h weights[h]·N_h of some rows and columns to `sums`, window by window.

    Parameters
    ----------
    words, col_words : (bits, windows + MORE_WINDOWS)
        From `pack_windows`.
    other_words : (bits, windows + MORE_WINDOWS) or (bits, 0)
        The other strand of the rows, if it counts as well.
    start, col_start : (records + 1,)
        Where the windows of each record start.
    window_weights, col_window_weights : (windows + MORE_WINDOWS,) or (0,)
        Empty: every weight is 1.
    light : (windows + MORE_WINDOWS,) or (0,)
        The weights of the columns' windows, if none is beyond `LARGEST_LIGHT_WEIGHT`.
    level : int
    factors : (distances,)
        What a pair adds to integer sums, for each distance up to the last that matters.
    weights : (distances,)
        The same for real sums.
    row, first : int
        The first row, and the first column.
    upper : bool
        Only the columns j ≥ i of row i are wanted.
    own : bool
        Each row is compared with the column of its number alone.
    sums : (rows, columns)
    """
    cdef Py_ssize_t i, j, a, b, n_rows, n_cols, step = words.shape[1], col_step = col_words.shape[1]
    cdef int h, strand, many = factors.shape[0], planes = words.shape[0], narrow = word_t is uint16_t
    cdef int64_t tally[MOST_DISTANCES]
    cdef const word_t *rows
    cdef double value
    with nogil:
        for i in range(sums.shape[0]):
            a = start[row + i]
            n_rows = start[row + i + 1] - a
            for j in range(max(<Py_ssize_t>0, row + i - first) if upper else 0, sums.shape[1]):
                b = col_start[row + i if own else first + j]
                n_cols = col_start[(row + i if own else first + j) + 1] - b
                if n_rows == 0 or n_cols == 0:
                    continue
                memset(tally, 0, sizeof(tally))
                for strand in range(2 if other_words.shape[1] else 1):
                    rows = &other_words[0, a] if strand else &words[0, a]
                    if window_weights.shape[0]:
                        weigh_pairs(
                            level, rows, step, n_rows, &window_weights[a], &col_words[0, b], col_step, n_cols,
                            &col_window_weights[b], &light[b] if light.shape[0] else NULL, narrow, planes, many,
                            tally)
                    else:
                        tally_pairs(
                            level, rows, step, n_rows, &col_words[0, b], col_step, n_cols, narrow, planes, many,
                            tally)
                if sum_t is double:
                    value = 0
                    for h in range(many):
                        if weights[h] != 0:
                            value += weights[h] * <double>tally[h]
                    sums[i, j] += value
                else:
                    for h in range(many):
                        sums[i, j] += <sum_t>(factors[h] * tally[h])
