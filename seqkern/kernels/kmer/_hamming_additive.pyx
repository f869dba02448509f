"""Loops over windows by Hamming distance; see `_hamming_additive.h`."""

from libc.math cimport sqrt
from libc.stdint cimport uint8_t
from libc.stdlib cimport free, malloc

cdef extern from "_hamming_additive.h" nogil:
    const int LANES
    int highest_simd_level()
    void hamming_reflect(
        int level, double *table, Py_ssize_t rows, int high, Py_ssize_t block, int low, Py_ssize_t size, double root,
        double share, double *strip)
    void hamming_share(
        int level, const uint8_t **rows, const double *windows, Py_ssize_t lanes, const double *own, Py_ssize_t n,
        int l, int least, const double *share, double unmatched, double *letters, double *whole, double *ring,
        const uint8_t **shifted)
    void hamming_word(
        int level, const uint8_t **rows, const double *windows, Py_ssize_t lanes, int l, int least,
        const double *value, double *result)

LANE_COUNT = LANES


def highest_level():
    """Return the highest level of vector instructions that this processor has."""
    return highest_simd_level()


def reflect(
    double[::1] table, Py_ssize_t size, int high, int low, double[::1] strip, int level=highest_simd_level()
):
    """Reflect a table over all words of high + low letters of an alphabet, position after position, in place.

    It is its own inverse, and orthogonal. What depends on nothing at a position moves to its first letter.

    Parameters
    ----------
    table : (size^(high + low),)
    strip : (size^high · LANE_COUNT,)
    """
    cdef Py_ssize_t rows = 1, block = 1
    cdef int _i
    for _i in range(high):
        rows *= size
    for _i in range(low):
        block *= size
    with nogil:
        hamming_reflect(
            level, &table[0], rows, high, block, low, size, 1 / sqrt(<double>size), 1 / (sqrt(<double>size) - 1),
            &strip[0])


def scale(
    const double[::1] table, Py_ssize_t size, Py_ssize_t place, const double[::1] first, const double[::1] other,
    double[::1] out
):
    """Set out[w] to table[w] times a factor for the number of letters of the word w that are not the first one.

    The factors are `other` for words whose letter at `place` (size^(positions after it)) is not the first
    one, else `first`. `out` may be `table`.
    """
    cdef Py_ssize_t w, changed = 0, width = table.shape[0], rest = place
    cdef Py_ssize_t[64] digits
    cdef int i, position = -1
    for i in range(64):
        digits[i] = 0
    while rest > 0:
        position += 1
        rest //= size
    with nogil:
        for w in range(width):
            out[w] = table[w] * (other[changed] if digits[position] else first[changed])
            # the next word: carry from the last position on
            i = 0
            while i < 63:
                digits[i] += 1
                if digits[i] < size:
                    changed += digits[i] == 1
                    break
                digits[i] = 0
                changed -= 1
                i += 1


def share(
    const uint8_t[:, ::1] marks,
    const double[::1] windows,
    Py_ssize_t pad,
    const uint8_t[::1] x,
    const double[::1] own,
    int length,
    int least,
    const double[::1] shares,
    double unmatched,
    double[::1] letters,
    double[::1] whole,
    int level=highest_simd_level(),
):
    """Add to `letters` and `whole` what pairs of the windows of x with all others give.

    Parameters
    ----------
    marks : (letters + 1, width)
        Where each letter is in the other sequences; the last row is empty, for masked letters. Empty also
        are the first `pad` places, at least n, and the last pad + LANE_COUNT.
    windows : (width,)
        Weight of the window that starts there; 0 where there is none.
    x : (n,)
        Codes; n at least `length`.
    own : (n,)
        Weights of the windows of x.
    shares : (length + 1,)
        What a pair with that many matches gives to each letter that matches; 0 below `least`.
    unmatched : float
        What a pair without a match gives to the window.
    letters, whole : (n,)
    """
    cdef Py_ssize_t n = x.shape[0], t, none = marks.shape[0] - 1, begin = pad - (n - length)
    # the last diagonal that holds a window of both: the first of x with the last of the others
    cdef Py_ssize_t lanes = marks.shape[1] - 2 * pad - LANES + n - 2 * length + 1
    cdef const uint8_t **rows = <const uint8_t **>malloc(n * sizeof(uint8_t *))
    cdef const uint8_t **shifted = <const uint8_t **>malloc(n * sizeof(uint8_t *))
    cdef double *ring = <double *>malloc(length * LANES * sizeof(double))
    if rows == NULL or shifted == NULL or ring == NULL:
        free(rows)
        free(shifted)
        free(ring)
        raise MemoryError
    with nogil:
        for t in range(n):
            rows[t] = &marks[x[t] if x[t] < none else none, begin]
        hamming_share(
            level, rows, &windows[begin], lanes, &own[0], n, length, least, &shares[0], unmatched, &letters[0],
            &whole[0], ring, shifted)
        free(rows)
        free(shifted)
        free(ring)


def word_sums(
    const uint8_t[:, ::1] marks,
    const double[::1] windows,
    const uint8_t[:, ::1] words,
    int least,
    const double[::1] values,
    double[::1] out,
    int level=highest_simd_level(),
):
    """Set out[i] to the sum over all windows of weight · values[matches with word i].

    `marks` and `windows` are as in `share`, with at least length + LANE_COUNT empty places at the end; `words` are
    codes, (words, length).
    """
    cdef Py_ssize_t i, j, length = words.shape[1], lanes = marks.shape[1] - length - LANES
    cdef const uint8_t **rows = <const uint8_t **>malloc(length * sizeof(uint8_t *))
    if rows == NULL:
        raise MemoryError
    with nogil:
        for i in range(words.shape[0]):
            for j in range(length):
                rows[j] = &marks[words[i, j], 0]
            hamming_word(level, rows, &windows[0], lanes, length, least, &values[0], &out[i])
        free(rows)
