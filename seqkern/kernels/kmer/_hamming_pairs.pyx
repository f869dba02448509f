"""Windows compared one by one; see `_hamming_pairs.h`."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memset


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

ctypedef fused sum_t:
    int32_t
    int64_t
    double

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
