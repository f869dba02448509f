"""k-mers as integers: coding the windows of all records, sorting and counting the codes."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memset

ctypedef fused code_t:
    uint32_t
    uint64_t


def count_windows(
    const uint8_t[::1] letters,
    const int64_t[::1] starts,
    const int64_t[::1] stops,
    int k,
    int size,
    int64_t[::1] windows,
):
    """Write to windows[i] how many windows of k letters below `size` record i has."""
    cdef Py_ssize_t i, p
    cdef int64_t run, found
    with nogil:
        for i in range(starts.shape[0]):
            run = 0
            found = 0
            for p in range(starts[i], stops[i]):
                run = run + 1 if letters[p] < size else 0
                found += run >= k
            windows[i] = found


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
    """Write `offset` + the code of the letters at `positions` of every window that `count_windows` counts, in order.

    With `canonical`, the smaller of the codes of the window and its reverse complement; with `both`, both, one after
    the other.
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


cdef void _radix_pass(
    const code_t[::1] codes,
    const int32_t[::1] rows,
    code_t[::1] new_codes,
    int32_t[::1] new_rows,
    int64_t[::1] place,
    int shift,
    code_t mask,
) noexcept nogil:
    """Sort stably by the digit ``codes >> shift & mask``."""
    cdef Py_ssize_t i, digit
    cdef int64_t total = 0, here
    memset(&place[0], 0, place.shape[0] * sizeof(int64_t))
    for i in range(codes.shape[0]):
        place[(codes[i] >> shift) & mask] += 1
    for digit in range(place.shape[0]):
        here = place[digit]
        place[digit] = total
        total += here
    for i in range(codes.shape[0]):
        digit = (codes[i] >> shift) & mask
        here = place[digit]
        place[digit] = here + 1
        new_codes[here] = codes[i]
        new_rows[here] = rows[i]


def radix_sort(
    code_t[::1] codes,
    int32_t[::1] rows,
    code_t[::1] spare_codes,
    int32_t[::1] spare_rows,
    int64_t[::1] place,
    int digit_bits,
    int passes,
):
    """Sort (code, row) pairs stably by code, least significant digit first.

    The result is in `codes` and `rows` after an even number of passes, in the spare arrays after an odd one; `place`
    has 2^`digit_bits` elements.
    """
    cdef code_t mask = (<code_t>1 << digit_bits) - 1
    cdef int step
    with nogil:
        for step in range(passes):
            if step % 2 == 0:
                _radix_pass(codes, rows, spare_codes, spare_rows, place, step * digit_bits, mask)
            else:
                _radix_pass(spare_codes, spare_rows, codes, rows, place, step * digit_bits, mask)


def group_sorted(
    const code_t[::1] codes,
    const int32_t[::1] rows,
    code_t[::1] vocabulary,
    int64_t[::1] bounds,
    int32_t[::1] entry_rows,
    int32_t[::1] entry_counts,
):
    """Count equal (code, row) pairs of a sorted list.

    Writes the distinct codes, where each code's entries start, and each entry's row and count.

    Returns
    -------
    n_codes, n_entries : int
    """
    cdef Py_ssize_t i, f = -1, e = -1
    with nogil:
        for i in range(codes.shape[0]):
            if i == 0 or codes[i] != codes[i - 1]:
                f += 1
                e += 1
                vocabulary[f] = codes[i]
                bounds[f] = e
                entry_rows[e] = rows[i]
                entry_counts[e] = 1
            elif rows[i] != rows[i - 1]:
                e += 1
                entry_rows[e] = rows[i]
                entry_counts[e] = 1
            else:
                entry_counts[e] += 1
        bounds[f + 1] = e + 1
    return f + 1, e + 1


def tally(const uint32_t[:, ::1] codes, const int64_t[::1] start, Py_ssize_t row, int32_t[:, ::1] counts):
    """Set counts[i, c] to how often code c occurs in record row + i, whose codes are in columns start[row + i] ff."""
    cdef Py_ssize_t i, s, q
    with nogil:
        for i in range(counts.shape[0]):
            memset(&counts[i, 0], 0, counts.shape[1] * sizeof(int32_t))
            for s in range(codes.shape[0]):
                for q in range(start[row + i], start[row + i + 1]):
                    counts[i, codes[s, q]] += 1


cdef void _add_neighbours(
    int32_t *counts, uint32_t code, const uint32_t *digits, const uint32_t *places, int k, uint32_t size, int first,
    int left
) noexcept nogil:
    """Add one for every k-mer that differs from `code` in up to `left` of the positions from `first` on."""
    cdef int p
    cdef uint32_t base, other, place
    counts[code] += 1
    if left == 1:
        counts[code] -= k - first
        for p in range(first, k):
            place = places[p]
            base = code - digits[p] * place
            for other in range(size):
                counts[base + other * place] += 1
    elif left > 1:
        for p in range(first, k):
            base = code - digits[p] * places[p]
            for other in range(size):
                if other != digits[p]:
                    _add_neighbours(counts, base + other * places[p], digits, places, k, size, p + 1, left - 1)


def tally_neighbours(
    const uint32_t[:, ::1] codes,
    const int64_t[::1] start,
    Py_ssize_t row,
    int k,
    int m,
    uint32_t size,
    int32_t[:, ::1] counts,
):
    """Set counts[i, c] to how many k-mers of record row + i differ from k-mer c in at most `m` positions."""
    cdef Py_ssize_t i, q
    cdef uint32_t code
    cdef uint32_t[32] digits
    cdef uint32_t[32] places
    cdef int p
    # code // size = code · reciprocal >> 40, exactly for 32 bits: the error of the reciprocal is below size ≤ 255.
    cdef uint64_t reciprocal = ((<uint64_t>1 << 40) + size - 1) // size, quotient
    places[k - 1] = 1
    for p in range(k - 1, 0, -1):
        places[p - 1] = places[p] * size
    with nogil:
        for i in range(counts.shape[0]):
            memset(&counts[i, 0], 0, counts.shape[1] * sizeof(int32_t))
            for q in range(start[row + i], start[row + i + 1]):
                code = codes[0, q]
                for p in range(k - 1, -1, -1):
                    quotient = code * reciprocal >> 40
                    digits[p] = code - <uint32_t>quotient * size
                    code = <uint32_t>quotient
                _add_neighbours(&counts[i, 0], codes[0, q], digits, places, k, size, 0, m)


def smooth(int32_t[:, ::1] counts, int k, int m, Py_ssize_t size, int32_t[:, ::1] planes, int32_t[::1] sums):
    """Replace the k-mer counts of each row by the counts of k-mers at up to `m` mismatches.

    With F_j[c] the number of k-mers that differ from c in exactly j of the positions done so far, one more position
    makes F_j += Σ_letters F_{j-1} − F_{j-1}.

    Parameters
    ----------
    counts : (rows, size^k)
    planes : (m, size^k)
        For F_1 … F_m; F_0 is the row itself.
    sums : (size^(k - 1),)
    """
    cdef Py_ssize_t i, c, place, high, a, u, width = counts.shape[1]
    cdef int j
    cdef int32_t *lower
    cdef int32_t *upper
    with nogil:
        for i in range(counts.shape[0]):
            memset(&planes[0, 0], 0, m * width * sizeof(int32_t))
            place = 1
            while place < width:
                for j in range(m - 1, -1, -1):
                    upper = &planes[j, 0]
                    lower = &planes[j - 1, 0] if j else &counts[i, 0]
                    high = 0
                    while high < width:
                        memset(&sums[0], 0, place * sizeof(int32_t))
                        for a in range(size):
                            for u in range(place):
                                sums[u] += lower[high + a * place + u]
                        for a in range(size):
                            for u in range(place):
                                upper[high + a * place + u] += sums[u] - lower[high + a * place + u]
                        high += place * size
                place *= size
            for j in range(m):
                for c in range(width):
                    counts[i, c] += planes[j, c]


cdef Py_ssize_t _list_neighbours(
    code_t *out, code_t code, const code_t *digits, const code_t *places, int k, code_t size, int first, int left
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
