"""The l-mers of records as lists of codes, one list for each part of the table of all l-mers.

A part of the table fits into the second-level cache. The code of an l-mer is its place within its part; a list has the
codes of record 0, record 1, … one after the other. Where both strands count and l is odd, an l-mer and its reverse
complement have one code: that of the one whose middle letter is A or C, without the upper bit of that letter.
"""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memset

ctypedef fused code_t:
    uint16_t
    uint32_t

ctypedef fused real_t:
    float
    double


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
    int folded, int bits, int64_t[::1] window_codes, int64_t[::1] cursor, const uint8_t[::1] given,
    code_t[::1] codes, uint8_t[::1] weights, uint32_t[:, ::1] ends
):
    """Write the lists.

    Parameters
    ----------
    letters, starts, stops, length, size, folded, bits, window_codes
        As in `count_codes`.
    cursor : (parts,)
        Where each list starts; changed.
    given : (windows,) or (0,)
        The weight of each l-mer, in the order of the records.
    codes : (windows,)
    weights : as `given`, in the order of `codes`
    ends : (parts, n + 1)
        Where the codes of each record end, counted from the start of the list; the first is 0.
    """
    cdef Py_ssize_t _i, i, j, found, at = 0, parts = cursor.shape[0]
    cdef int64_t top = 1, part, code, mask = ((<int64_t>1) << bits) - 1
    cdef int64_t[::1] base = cursor.copy()
    cdef bint weighted = given.shape[0] > 0
    for _i in range(length - 1):
        top *= size
    for part in range(parts):
        ends[part, 0] = 0
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
                ends[part, i + 1] = <uint32_t>(cursor[part] - base[part])


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
    first, last : int
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
    int folded, int bits, int64_t space, const int64_t[::1] rows, const real_t[::1] table, double[::1] part_table,
    double[::1] sums
):
    """Set sums[i] to the sum of the table over the l-mers of record rows[i].

    `sums` is (m,), the other parameters are as in `collect`; without `part_table` the parts are not copied, which is
    faster for few rows.
    """
    cdef Py_ssize_t part, q, width
    cdef int64_t start
    cdef const uint8_t *own
    if not rows.shape[0]:
        return
    with nogil:
        memset(&sums[0], 0, sums.shape[0] * sizeof(double))
        for part in range(ends.shape[0] if codes.shape[0] else 0):
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
