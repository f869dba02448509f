"""Tables of numbers of all k-mers: transformed, smoothed, looked up; see the header of each section."""

from libc.math cimport sqrt
from libc.stdint cimport int16_t, int32_t, int64_t, uint16_t, uint32_t, uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

# ---- Walsh-Hadamard transforms of the l-mer counts of DNA, `_hadamard.h` -------------------------

cdef extern from "_panel.h":
    enum:
        PANEL

cdef extern from "_hadamard.h" nogil:
    void hadamard(int level, int16_t *table, Py_ssize_t length)
    void choose_numbers "choose"(
        const int16_t *table, const int32_t *order, Py_ssize_t n, Py_ssize_t halved, int16_t *chosen)


def transform_counts(int level, int16_t[:, :, ::1] tables):
    """Transform the counts of each record, in place.

    Parameters
    ----------
    level : int
        Of vector instructions.
    tables : (panels, 4^l, 16)
    """
    cdef Py_ssize_t p
    with nogil:
        for p in range(tables.shape[0]):
            hadamard(level, &tables[p, 0, 0], tables.shape[1] * PANEL)


def choose_transformed(
    const int16_t[:, :, ::1] tables, const int32_t[::1] order, Py_ssize_t halved, int16_t[:, :, ::1] chosen
):
    """Set chosen[:, i] to the numbers of feature order[i]; half of them for the last `halved` of these features."""
    cdef Py_ssize_t p
    if order.shape[0] == 0:
        return
    with nogil:
        for p in range(tables.shape[0]):
            choose_numbers(&tables[p, 0, 0], &order[0], order.shape[0], halved, &chosen[p, 0, 0])


# ---- counts of k-mers at up to m mismatches, `_smoothing.h` --------------------------------------

cdef extern from "_smoothing.h" nogil:
    void smooth_bytes(
        int level, uint8_t *table, Py_ssize_t length, int m, Py_ssize_t size, uint8_t *planes)
    void smooth_words(
        int level, uint16_t *table, Py_ssize_t length, int m, Py_ssize_t size, uint16_t *planes)
    void smooth_integers(
        int level, int32_t *table, Py_ssize_t length, int m, Py_ssize_t size, int32_t *planes)
    void choose_bytes(
        const uint8_t *table, const int32_t *order, Py_ssize_t n, Py_ssize_t halved, uint8_t *folded)
    void choose_words(
        const uint16_t *table, const int32_t *order, Py_ssize_t n, Py_ssize_t halved, uint16_t *folded)
    void choose_integers(
        const int32_t *table, const int32_t *order, Py_ssize_t n, Py_ssize_t halved, int32_t *folded)

ctypedef fused count_t:
    uint8_t
    uint16_t
    int32_t


def smooth(int level, count_t[:, :, ::1] tables, int m, Py_ssize_t size, count_t[::1] planes):
    """Replace the k-mer counts of each record by the counts of k-mers at up to `m` mismatches.

    Parameters
    ----------
    level : int
        Of vector instructions.
    tables : (panels, size^k, 16)
    m : int
        At least 1.
    size : int
        Letters of the alphabet.
    planes : (m · size^k · 16,)
        Scratch.
    """
    cdef Py_ssize_t p, length = tables.shape[1] * PANEL
    with nogil:
        for p in range(tables.shape[0]):
            if count_t is uint8_t:
                smooth_bytes(level, &tables[p, 0, 0], length, m, size, &planes[0])
            elif count_t is uint16_t:
                smooth_words(level, &tables[p, 0, 0], length, m, size, &planes[0])
            else:
                smooth_integers(level, &tables[p, 0, 0], length, m, size, &planes[0])


def choose_smoothed(
    const count_t[:, :, ::1] tables, const int32_t[::1] order, Py_ssize_t halved, count_t[:, :, ::1] folded
):
    """Set folded[:, i] to the counts of feature order[i]; half of them for the last `halved` of these features."""
    cdef Py_ssize_t p, n = order.shape[0]
    with nogil:
        for p in range(tables.shape[0]):
            if count_t is uint8_t:
                choose_bytes(&tables[p, 0, 0], &order[0], n, halved, &folded[p, 0, 0])
            elif count_t is uint16_t:
                choose_words(&tables[p, 0, 0], &order[0], n, halved, &folded[p, 0, 0])
            else:
                choose_integers(&tables[p, 0, 0], &order[0], n, halved, &folded[p, 0, 0])


# ---- functions of the Hamming distance, `_lmer_transform.h` --------------------------------------

cdef extern from "_lmer_transform.h" nogil:
    const int ROW_LETTERS
    const int STRIP
    const int TILE
    int highest_simd_level()
    void lmer_rows_double(int level, double *table, Py_ssize_t rows, int letters)
    void lmer_rows_float(int level, float *table, Py_ssize_t rows, int letters)
    void lmer_columns_double(
        int level, double *table, int letters, Py_ssize_t width, Py_ssize_t first, Py_ssize_t last,
        const double *eigenvalue, double *strip)
    void lmer_columns_float(
        int level, float *table, int letters, Py_ssize_t width, Py_ssize_t first, Py_ssize_t last,
        const float *eigenvalue, float *strip)
    void lmer_fold_double(double *table, int letters, double *tile)
    void lmer_fold_float(float *table, int letters, float *tile)

ctypedef fused real_t:
    float
    double

ROW = ROW_LETTERS
STRIP_COLUMNS = STRIP
TILE_SIZE = TILE


def transform_rows(real_t[::1] table, int letters, Py_ssize_t first, Py_ssize_t last, int level=highest_simd_level()):
    """Transform the rows `first` to `last` of 4^letters numbers each, in place.

    Parameters
    ----------
    table : (4^l,)
    """
    with nogil:
        if real_t is double:
            lmer_rows_double(level, &table[0] + (first << 2 * letters), last - first, letters)
        else:
            lmer_rows_float(level, &table[0] + (first << 2 * letters), last - first, letters)


def multiply_columns(
    real_t[::1] table, int letters, Py_ssize_t width, Py_ssize_t first, Py_ssize_t last,
    const real_t[::1] eigenvalues, real_t[::1] strip, int level=highest_simd_level()
):
    """Transform the first `letters` letters of the columns `first` to `last`, multiply, and transform back.

    Parameters
    ----------
    table : (4^l,)
        Rows of `width` numbers.
    eigenvalues : (l + 1,)
        By the number of letters on which a function depends.
    strip : (4^letters · STRIP_COLUMNS,)
        Scratch.
    """
    with nogil:
        if real_t is double:
            lmer_columns_double(level, &table[0], letters, width, first, last, &eigenvalues[0], &strip[0])
        else:
            lmer_columns_float(level, &table[0], letters, width, first, last, &eigenvalues[0], &strip[0])


def fold_strands(real_t[::1] table, int letters, real_t[::1] tile):
    """Add to each entry that of the reverse complement, in place.

    Parameters
    ----------
    table : (4^letters,)
        Letters in the order A, C, G, T.
    tile : (TILE_SIZE²,)
        Scratch.
    """
    with nogil:
        if real_t is double:
            lmer_fold_double(&table[0], letters, &tile[0])
        else:
            lmer_fold_float(&table[0], letters, &tile[0])


# ---- reflections, and sums over windows, `_hamming_additive.h` -----------------------------------

cdef extern from "_hamming_additive.h" nogil:
    const int LANES
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


# ---- lists of the l-mers of records, one for each part of the table of all l-mers -------------------

# A part of the table fits into the second-level cache. The code of an l-mer is its place within its part; a list has
# the codes of record 0, record 1, … one after the other. Where both strands count and l is odd, an l-mer and its
# reverse complement have one code: that of the one whose middle letter is A or C, without the upper bit of that letter.

ctypedef fused code_t:
    uint16_t
    uint32_t


cdef inline int64_t natural_code(int64_t code, int folded) noexcept nogil:
    """Return the place in the table of a code without the bit number `folded`; of any code if it is 0."""
    return (code >> folded << folded << 1 | code & ((<int64_t>1 << folded) - 1)) if folded else code


cdef inline Py_ssize_t next_windows(
    const uint8_t *letters, Py_ssize_t n, int length, int64_t size, int64_t top, int folded, int64_t *codes
) noexcept nogil:
    """Write the codes of the windows of one record without masked letters; return how many there are."""
    cdef Py_ssize_t p, found = 0
    cdef int64_t code = 0, reverse = 0, letter, run = 0
    for p in range(n):
        letter = letters[p]
        if letter >= size:
            run, code, reverse = 0, 0, 0
            continue
        if run >= length:
            code -= letters[p - length] * top
        run += 1
        code = code * size + letter
        if folded:
            reverse = reverse >> 2 | (3 - letter) * top
        if run >= length:
            codes[found] = reverse if folded and code >> folded & 1 else code
            if folded:
                codes[found] = codes[found] >> (folded + 1) << folded | codes[found] & (((<int64_t>1) << folded) - 1)
            found += 1
    return found


def count_codes(
    const uint8_t[::1] letters, const int64_t[::1] starts, const int64_t[::1] stops, int length, int64_t size,
    int folded, int bits, int64_t[::1] window_codes, int64_t[::1] numbers
):
    """Write how many l-mers each part of the table has.

    Parameters
    ----------
    letters, starts, stops
        As in a SequenceSet.
    length, size : int
        Letters of an l-mer, and of the alphabet.
    folded : int
        `length` if an l-mer and its reverse complement have one code (DNA, odd length), else 0.
    bits : int
        A part of the table has 2^bits entries.
    window_codes : (windows of the longest record,)
        Scratch.
    numbers : (parts,)
    """
    cdef Py_ssize_t _i, i, j, found
    cdef int64_t top = 1
    for _i in range(length - 1):
        top *= size
    if not letters.shape[0] or not window_codes.shape[0]:
        return
    with nogil:
        for i in range(starts.shape[0]):
            found = next_windows(&letters[0] + starts[i], stops[i] - starts[i], length, size, top, folded,
                                 &window_codes[0])
            for j in range(found):
                numbers[window_codes[j] >> bits] += 1


def list_codes(
    const uint8_t[::1] letters, const int64_t[::1] starts, const int64_t[::1] stops, int length, int64_t size,
    int folded, int bits, int64_t[::1] window_codes, const int64_t[::1] base, int64_t[::1] cursor, Py_ssize_t first,
    const uint8_t[::1] given, code_t[::1] codes, uint8_t[::1] weights, uint32_t[:, ::1] ends
):
    """Append some records to the lists.

    Parameters
    ----------
    letters, starts, stops, length, size, folded, bits, window_codes
        As in `count_codes`.
    base : (parts + 1,)
        Where each list starts.
    cursor : (parts,)
        Where each list ends; changed.
    first : int
        The number of the first of these records.
    given : (windows,) or (0,)
        The weight of each l-mer, in the order of the records.
    codes, weights : (windows,)
    ends : (parts, n + 1)
        Where the codes of each record end, counted from the start of the list; the first is 0.
    """
    cdef Py_ssize_t _i, i, j, found, at = 0, parts = cursor.shape[0]
    cdef int64_t top = 1, part, code, mask = ((<int64_t>1) << bits) - 1
    cdef bint weighted = given.shape[0] > 0
    for _i in range(length - 1):
        top *= size
    for part in range(parts):
        ends[part, first] = <uint32_t>(cursor[part] - base[part])
    if not window_codes.shape[0]:
        return
    with nogil:
        for i in range(starts.shape[0]):
            found = 0
            if stops[i] - starts[i] >= length:
                found = next_windows(&letters[starts[i]], stops[i] - starts[i], length, size, top, folded,
                                     &window_codes[0])
            for j in range(found):
                code = window_codes[j]
                part = code >> bits
                codes[cursor[part]] = <code_t>(code & mask)
                if weighted:
                    weights[cursor[part]] = given[at + j]
                cursor[part] += 1
            at += found
            for part in range(parts):
                ends[part, first + i + 1] = <uint32_t>(cursor[part] - base[part])


cdef inline void add_codes(
    const code_t *codes, const uint8_t *weights, const uint32_t *ends, const int64_t *rows, Py_ssize_t n,
    const double *values, double *table
) noexcept nogil:
    """Add the value of each of the rows to its l-mers in one part of the table."""
    cdef Py_ssize_t i, row
    cdef uint32_t j
    cdef double value
    for i in range(n):
        row = rows[i]
        value = values[row]
        if weights == NULL:
            for j in range(ends[row], ends[row + 1]):
                table[codes[j]] += value
        else:
            for j in range(ends[row], ends[row + 1]):
                table[codes[j]] += value * weights[j]


cdef inline void sum_codes_at(
    const code_t *codes, const uint8_t *weights, const uint32_t *ends, const int64_t *rows, Py_ssize_t n,
    const real_t *table, int64_t start, int folded, double *sums
) noexcept nogil:
    """Do as `sum_codes`, from the whole table; `start` is the first code of the part."""
    cdef Py_ssize_t i, row
    cdef uint32_t j
    cdef double total
    for i in range(n):
        row = rows[i]
        total = 0
        for j in range(ends[row], ends[row + 1]):
            total += <double>table[natural_code(start + codes[j], folded)] * (1 if weights == NULL else weights[j])
        sums[i] += total


cdef inline void sum_codes(
    const code_t *codes, const uint8_t *weights, const uint32_t *ends, const int64_t *rows, Py_ssize_t n,
    const double *table, double *sums
) noexcept nogil:
    """Add the weights of the l-mers in one part of the table to the sum of each of the rows."""
    cdef Py_ssize_t i, row
    cdef uint32_t j
    cdef double total
    for i in range(n):
        row = rows[i]
        total = 0
        if weights == NULL:
            for j in range(ends[row], ends[row + 1]):
                total += table[codes[j]]
        else:
            for j in range(ends[row], ends[row + 1]):
                total += table[codes[j]] * weights[j]
        sums[i] += total


def collect(
    const code_t[::1] codes, const uint8_t[::1] weights, const uint32_t[:, ::1] ends, const int64_t[::1] base,
    int folded, int bits, int64_t space, const int64_t[::1] rows, const double[::1] values, Py_ssize_t first,
    Py_ssize_t last, double[::1] part_table, real_t[::1] table
):
    """Set the parts `first` to `last` of the table: for each l-mer, the sum of values[row] over its occurrences.

    Parameters
    ----------
    codes, weights, ends
        From `list_codes`.
    base : (parts + 1,)
        Where each list starts.
    folded, bits : int
        As in `count_codes`.
    space : int
        Number of codes.
    rows : (m,)
        The records that count, ascending.
    values : (n,)
    part_table : (2^bits,)
        Scratch.
    table : (letters^length,)
        Entries without a code are not touched.
    """
    cdef Py_ssize_t part, q, width
    cdef int64_t start
    if not codes.shape[0] or not rows.shape[0]:
        with nogil:
            for start in range(first << bits, min(<int64_t>last << bits, space)):
                table[natural_code(start, folded)] = 0
        return
    with nogil:
        for part in range(first, last):
            start = <int64_t>part << bits
            width = min((<int64_t>1) << bits, space - start)
            memset(&part_table[0], 0, width * sizeof(double))
            add_codes(&codes[0] + base[part], &weights[0] + base[part] if weights.shape[0] else NULL, &ends[part, 0],
                      &rows[0], rows.shape[0], &values[0], &part_table[0])
            for q in range(width):
                table[natural_code(start + q, folded)] = <real_t>part_table[q]


def dots(
    const code_t[::1] codes, const uint8_t[::1] weights, const uint32_t[:, ::1] ends, const int64_t[::1] base,
    int folded, int bits, int64_t space, const int64_t[::1] rows, const real_t[::1] table, Py_ssize_t first,
    Py_ssize_t last, double[::1] part_table, double[::1] sums
):
    """Add to sums[i] the sum of the parts `first` to `last` of the table over the l-mers of record rows[i].

    `sums` is (m,), the other parameters are as in `collect`; without `part_table` the parts are not copied, which is
    faster for few rows.
    """
    cdef Py_ssize_t part, q, width
    cdef int64_t start
    cdef const uint8_t *own
    if not rows.shape[0]:
        return
    with nogil:
        for part in range(first, last if codes.shape[0] else first):
            start = <int64_t>part << bits
            own = &weights[0] + base[part] if weights.shape[0] else NULL
            if not part_table.shape[0]:
                sum_codes_at(&codes[0] + base[part], own, &ends[part, 0], &rows[0], rows.shape[0], &table[0], start,
                             folded, &sums[0])
                continue
            width = min((<int64_t>1) << bits, space - start)
            for q in range(width):
                part_table[q] = table[natural_code(start + q, folded)]
            sum_codes(&codes[0] + base[part], own, &ends[part, 0], &rows[0], rows.shape[0], &part_table[0], &sums[0])


# ---- the statistic D2S, `_d2s.h` -----------------------------------------------------------------

cdef extern from "_d2s.h" nogil:
    void d2s(
        int level, const double *x, Py_ssize_t x_step, const double *y, Py_ssize_t y_step, double *out,
        Py_ssize_t out_step, Py_ssize_t n, Py_ssize_t d, Py_ssize_t m)


def d2s_sums(const double[:, ::1] x, const double[:, :] y, double[:, :] out, int level):
    """Set out[i, j] to Σ_w x_iw·y_wj / sqrt(x_iw² + y_wj²), without the w of which both are 0.

    Parameters
    ----------
    x : float64 (n, d)
    y : float64 (d, m)
        With contiguous rows.
    out : float64 (n, m)
        With contiguous rows.
    level : int
        Of instructions.
    """
    cdef Py_ssize_t n = x.shape[0], d = x.shape[1], m = y.shape[1], width = sizeof(double)
    if y.shape[0] != d or out.shape[0] != n or out.shape[1] != m:
        raise ValueError("the shapes of features and sums do not fit")
    if m > 1 and (out.strides[1] != width or (d > 0 and y.strides[1] != width)):
        raise ValueError("rows are not contiguous")
    if n == 0 or m == 0:
        return
    with nogil:
        d2s(
            level, &x[0, 0] if d else NULL, d, &y[0, 0] if d else NULL, y.strides[0] // width, &out[0, 0],
            out.strides[0] // width, n, d, m)
