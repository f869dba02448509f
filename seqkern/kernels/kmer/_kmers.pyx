"""k-mers as integers: coding the windows of all records, sorting and counting the codes."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset

import numpy as np

cdef extern from "_panel.h":
    enum:
        PANEL

ctypedef fused code_t:
    uint32_t
    uint64_t

ctypedef fused count_t:
    uint8_t
    uint16_t
    int32_t


def count_windows(
    const uint8_t[::1] letters,
    const int64_t[::1] starts,
    const int64_t[::1] stops,
    int k,
    int size,
    bint stretches,
    int64_t[::1] number,
):
    """Write to number[i] how many windows of k letters below `size` record i has; or how many `stretches` of them."""
    cdef Py_ssize_t i, p
    cdef int64_t run, found
    with nogil:
        for i in range(starts.shape[0]):
            run = 0
            found = 0
            for p in range(starts[i], stops[i]):
                run = run + 1 if letters[p] < size else 0
                found += run == k if stretches else run >= k
            number[i] = found


def code_windows(
    const uint8_t[::1] letters,
    const int64_t[::1] starts,
    const int64_t[::1] stops,
    int k,
    int size,
    const int64_t[::1] positions,
    const uint8_t[::1] complement,
    bint canonical,
    bint both,
    uint64_t offset,
    code_t[::1] codes,
):
    """Write `offset` + the code of the letters at `positions` of every window that `count_windows` counts,
    in order.

    With `canonical`, the smaller of the codes of the window and its reverse complement; with `both`, both,
    one after the other.
    """
    cdef Py_ssize_t i, p, s, at = 0, chosen = positions.shape[0]
    cdef int64_t run
    cdef code_t code, reverse, base = <code_t>size, zero = <code_t>offset
    with nogil:
        for i in range(starts.shape[0]):
            run = 0
            for p in range(starts[i], stops[i]):
                run = run + 1 if letters[p] < size else 0
                if run < k:
                    continue
                code = 0
                for s in range(chosen):
                    code = code * base + letters[p - k + 1 + positions[s]]
                if canonical or both:
                    reverse = 0
                    for s in range(chosen):
                        reverse = reverse * base + complement[letters[p - positions[s]]]
                    if both:
                        codes[at] = zero + reverse
                        at += 1
                    elif reverse < code:
                        code = reverse
                codes[at] = zero + code
                at += 1


cdef code_t _code_end(
    const uint8_t[::1] letters,
    Py_ssize_t first,
    Py_ssize_t last,
    Py_ssize_t place,
    int k,
    code_t base,
    const int64_t[::1] pattern,
    const uint8_t[::1] complement,
    bint reverse,
) noexcept nogil:
    """Return the code of the pattern's occurrence number `place` in the windows `first` … `last` of a
    stretch.

    Past the last window, the pattern is seen through that window, shifted. With `reverse`, on the other
    strand.
    """
    cdef Py_ssize_t shift = max(place - (last - first), <Py_ssize_t>0), window = place - shift, s
    cdef code_t code = 0
    for s in range(pattern.shape[0]):
        if reverse:
            code = code * base + complement[letters[last - window + k - 1 - pattern[s] - shift]]
        else:
            code = code * base + letters[first + window + pattern[s] + shift]
    return code


def code_ends(
    const uint8_t[::1] letters,
    const int64_t[::1] starts,
    const int64_t[::1] stops,
    int k,
    int size,
    const int64_t[::1] pattern,
    int shifts,
    const uint8_t[::1] complement,
    uint64_t step,
    uint64_t offset,
    code_t[::1] codes,
):
    """Write the codes of the occurrences of a pattern that a shift of it lacks, for each of its shifts in a
    window.

    A stretch with the windows a … b has the occurrences a … b + shifts − 1 of the pattern. Shift t sees
    those from a + t to b + t, and lacks t before and shifts − 1 − t after them: their codes are `offset` +
    t · `step` + that of the letters. If `complement` is not empty, the other strand's follow.
    """
    cdef Py_ssize_t i, p, last, at = 0
    cdef int64_t run
    cdef int strand, strands = 2 if complement.shape[0] else 1, t, missing
    cdef code_t base = <code_t>size, zero
    with nogil:
        for i in range(starts.shape[0]):
            run = 0
            for p in range(starts[i], stops[i]):
                run = run + 1 if letters[p] < size else 0
                if run < k or (p + 1 < stops[i] and letters[p + 1] < size):
                    continue
                last = p - k + 1
                for strand in range(strands):
                    for t in range(shifts):
                        zero = <code_t>(offset + t * step)
                        for missing in range(shifts - 1):
                            codes[at] = zero + _code_end(
                                letters,
                                last - (run - k),
                                last,
                                missing if missing < t else run - k + missing + 1,
                                k,
                                base,
                                pattern,
                                complement,
                                strand == 1,
                            )
                            at += 1


cdef void _radix_pass(
    const code_t[::1] codes,
    const int32_t[::1] places,
    code_t[::1] new_codes,
    int32_t[::1] new_places,
    int64_t[::1] cursor,
    int shift,
    code_t mask,
) noexcept nogil:
    """Sort stably by the digit ``codes >> shift & mask``."""
    cdef Py_ssize_t i, digit
    cdef int64_t total = 0, here
    memset(&cursor[0], 0, cursor.shape[0] * sizeof(int64_t))
    for i in range(codes.shape[0]):
        cursor[(codes[i] >> shift) & mask] += 1
    for digit in range(cursor.shape[0]):
        here = cursor[digit]
        cursor[digit] = total
        total += here
    for i in range(codes.shape[0]):
        digit = (codes[i] >> shift) & mask
        here = cursor[digit]
        cursor[digit] = here + 1
        new_codes[here] = codes[i]
        new_places[here] = places[i]


def radix_sort(
    code_t[::1] codes,
    int32_t[::1] places,
    code_t[::1] spare_codes,
    int32_t[::1] spare_places,
    int64_t[::1] cursor,
    int digit_bits,
    int passes,
):
    """Sort (code, place) pairs stably by code, least significant digit first.

    The result is in `codes` and `places` after an even number of passes, in the spare arrays after an odd
    one; `cursor` has 2^`digit_bits` elements.
    """
    cdef code_t mask = (<code_t>1 << digit_bits) - 1
    cdef int step
    with nogil:
        for step in range(passes):
            if step % 2 == 0:
                _radix_pass(codes, places, spare_codes, spare_places, cursor, step * digit_bits, mask)
            else:
                _radix_pass(spare_codes, spare_places, codes, places, cursor, step * digit_bits, mask)


def rank_sorted(code_t[::1] codes, const int32_t[::1] places, uint32_t[::1] ranks):
    """Set ranks[place] to the rank of its code among the distinct ones.

    The distinct codes move to the front of `codes`, which are sorted; their number is returned.
    """
    cdef Py_ssize_t i, rank = -1
    with nogil:
        for i in range(codes.shape[0]):
            if rank < 0 or codes[i] != codes[rank]:
                rank += 1
                codes[rank] = codes[i]
            ranks[places[i]] = <uint32_t>rank
    return rank + 1


def count_rows(
    const uint32_t[:, ::1] codes,
    const int64_t[::1] start,
    int32_t[::1] slot,
    int64_t[::1] entry_start,
    int32_t[::1] feature,
    int32_t[::1] count,
    const int32_t[::1] weight=None,
):
    """Count equal codes of each record; return the number of (record, code) entries.

    Parameters
    ----------
    codes : (subsets, windows)
    start : (n + 1,)
        The windows of each record.
    slot : (codes that there can be,)
        Filled with −1; holds the last entry of each code.
    entry_start : (n + 1,)
        Filled with where each record's entries start.
    feature, count : (codes.size,)
        Filled with the code and the count of each entry.
    weight : (windows,), optional
        What each window counts.
    """
    cdef Py_ssize_t i, s, q
    cdef bint weighted = weight is not None
    cdef int32_t at = 0, first, place
    cdef uint32_t code
    with nogil:
        for i in range(start.shape[0] - 1):
            first = at
            entry_start[i] = at
            for s in range(codes.shape[0]):
                for q in range(start[i], start[i + 1]):
                    code = codes[s, q]
                    place = slot[code]
                    if place >= first:
                        count[place] += weight[q] if weighted else 1
                    else:
                        slot[code] = at
                        feature[at] = <int32_t>code
                        count[at] = weight[q] if weighted else 1
                        at += 1
        entry_start[start.shape[0] - 1] = at
    return at


def tally(const uint32_t[:, ::1] codes, const int64_t[::1] start, Py_ssize_t row, count_t[:, :, ::1] tables):
    """Add to tables[i // 16, c, i % 16] how often code c occurs in record row + i.

    The codes of record r are in the columns start[r] to start[r + 1].
    """
    cdef Py_ssize_t i, s, q, records = min(tables.shape[0] * PANEL, start.shape[0] - 1 - row)
    with nogil:
        for i in range(records):
            for s in range(codes.shape[0]):
                for q in range(start[row + i], start[row + i + 1]):
                    tables[i // PANEL, codes[s, q], i % PANEL] += 1


cdef Py_ssize_t _list_neighbours(
    code_t *out, code_t code, const code_t *digits, const code_t *places, int k, code_t size, int first, int
    left
) noexcept nogil:
    """Write every k-mer that differs from `code` in up to `left` of the positions from `first` on; return how many."""
    cdef int p
    cdef code_t base, other
    cdef Py_ssize_t at = 1
    out[0] = code
    if left:
        for p in range(first, k):
            base = code - digits[p] * places[p]
            for other in range(size):
                if other != digits[p]:
                    at += _list_neighbours(
                        out + at, base + other * places[p], digits, places, k, size, p + 1, left - 1)
    return at


def list_neighbours(const code_t[::1] codes, int k, int m, int size, code_t[:, ::1] neighbours):
    """Write to neighbours[i] every k-mer that differs from codes[i] in at most `m` positions."""
    cdef Py_ssize_t i
    cdef code_t[64] digits
    cdef code_t[64] places
    cdef code_t code
    cdef int p
    places[k - 1] = 1
    for p in range(k - 1, 0, -1):
        places[p - 1] = places[p] * <code_t>size
    with nogil:
        for i in range(codes.shape[0]):
            code = codes[i]
            for p in range(k - 1, -1, -1):
                digits[p] = code % <code_t>size
                code = code // <code_t>size
            _list_neighbours(&neighbours[i, 0], codes[i], digits, places, k, <code_t>size, 0, m)


def window_sums(
    const uint8_t[::1] letters,
    int size,
    int k,
    Py_ssize_t length,
    const int64_t[::1] table,
    const int64_t[::1] tail,
    const int64_t[::1] starts,
    int64_t[::1] sums,
):
    """Write the sum of the table's entries for the k-mers of each window, and the tail's for its last k − 1 letters.

    Integers make the sums independent of what precedes a window. Masked letters may lie outside the windows.

    Parameters
    ----------
    length : int
        Of a window, at least k.
    table : ndarray of int64, shape (size^k,)
    tail : ndarray of int64, shape (size^(k − 1),)
    starts : ndarray of int64, shape (n,)
        Ascending, within the letters.
    sums : ndarray of int64, shape (n,)
    """
    cdef Py_ssize_t n = starts.shape[0], i = 0, p, _power, end, ring = 1
    cdef int64_t code = 0, total = 0, high = 1, wrap, letter
    assert length >= k and sums.shape[0] == n
    if n == 0:
        return
    assert starts[0] >= 0 and starts[n - 1] + length <= letters.shape[0]
    while ring <= length:
        ring *= 2
    cdef int64_t[::1] before = np.zeros(ring, dtype=np.int64)  # the total before each of the last letters
    ring -= 1
    for _power in range(k - 1):
        high *= size
    wrap = high * size - 1
    assert table.shape[0] == wrap + 1 and tail.shape[0] == high
    with nogil:
        p = starts[0]
        while i < n:
            end = starts[i] + length
            for p in range(p, end):
                letter = letters[p]
                if size == 4:
                    code = (code << 2 | letter & 3) & wrap
                else:
                    code = (code % high) * size + (letter if letter < size else 0)
                before[p & ring] = total
                total += table[code]
            p = end
            sums[i] = total - before[(starts[i] + k - 1) & ring] + tail[code % high]
            i += 1
