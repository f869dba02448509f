"""k-mers as integers: coding the windows of all records, and sorting the codes.

The k-mer a_1…a_k over an alphabet of b letters has the code Σ a_i·b^(k−i), so codes sort as their k-mers do.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memset

ctypedef fused key_t:
    uint32_t
    uint64_t


def count_windows(
    const uint8_t[::1] codes, const int64_t[::1] starts, const int64_t[::1] stops, int k, int size, int64_t[::1] windows
):
    """Write to windows[i] how many windows of k letters below `size` record i has."""
    cdef Py_ssize_t i, p
    cdef int64_t run, found
    with nogil:
        for i in range(starts.shape[0]):
            run = 0
            found = 0
            for p in range(starts[i], stops[i]):
                run = run + 1 if codes[p] < size else 0
                found += run >= k
            windows[i] = found


def code_windows(
    const uint8_t[::1] codes,
    const int64_t[::1] starts,
    const int64_t[::1] stops,
    int k,
    int size,
    const int64_t[::1] positions,
    const uint8_t[::1] complement,
    bint canonical,
    bint both,
    uint64_t offset,
    key_t[::1] keys,
    int32_t[::1] rows,
):
    """Write `offset` + the code of the letters at `positions` of every window, and the window's record.

    With `canonical`, the smaller of the codes of the window and its reverse complement; with `both`, both, one after
    the other. The windows are those that `count_windows` counts, in order.
    """
    cdef Py_ssize_t i, p, s, first, at = 0, chosen = positions.shape[0]
    cdef int64_t run
    cdef key_t key, reverse, base = <key_t>size
    with nogil:
        for i in range(starts.shape[0]):
            run = 0
            for p in range(starts[i], stops[i]):
                run = run + 1 if codes[p] < size else 0
                if run < k:
                    continue
                first = p - k + 1
                key = 0
                for s in range(chosen):
                    key = key * base + codes[first + positions[s]]
                if canonical or both:
                    reverse = 0
                    for s in range(chosen):
                        reverse = reverse * base + complement[codes[p - positions[s]]]
                    if canonical and reverse < key:
                        key = reverse
                keys[at] = <key_t>offset + key
                rows[at] = <int32_t>i
                at += 1
                if both:
                    keys[at] = <key_t>offset + reverse
                    rows[at] = <int32_t>i
                    at += 1


cdef void _radix_pass(
    const key_t[::1] keys, const int32_t[::1] rows, key_t[::1] new_keys, int32_t[::1] new_rows,
    int64_t[::1] place, int shift, key_t mask
) noexcept nogil:
    """Sort stably by the digit ``keys >> shift & mask``."""
    cdef Py_ssize_t i, digit, buckets = place.shape[0]
    cdef int64_t total = 0, here
    memset(&place[0], 0, buckets * sizeof(int64_t))
    for i in range(keys.shape[0]):
        place[(keys[i] >> shift) & mask] += 1
    for digit in range(buckets):
        here = place[digit]
        place[digit] = total
        total += here
    for i in range(keys.shape[0]):
        digit = (keys[i] >> shift) & mask
        here = place[digit]
        place[digit] = here + 1
        new_keys[here] = keys[i]
        new_rows[here] = rows[i]


def radix_sort(
    key_t[::1] keys, int32_t[::1] rows, key_t[::1] spare_keys, int32_t[::1] spare_rows, int64_t[::1] place,
    int digit_bits, int passes
):
    """Sort (key, row) pairs stably by key, least significant digit first.

    The result is in `keys` and `rows` after an even number of passes, in the spare arrays after an odd one; `place`
    has 2^`digit_bits` elements.
    """
    cdef key_t mask = (<key_t>1 << digit_bits) - 1
    cdef int step
    with nogil:
        for step in range(passes):
            if step % 2 == 0:
                _radix_pass(keys, rows, spare_keys, spare_rows, place, step * digit_bits, mask)
            else:
                _radix_pass(spare_keys, spare_rows, keys, rows, place, step * digit_bits, mask)


def group_sorted(
    const key_t[::1] keys, const int32_t[::1] rows, key_t[::1] vocabulary, int64_t[::1] bounds, int32_t[::1] entry_rows,
    int32_t[::1] entry_counts
):
    """Count equal (key, row) pairs of a sorted list.

    Writes the distinct keys, where each key's entries start, and each entry's row and count.

    Returns
    -------
    n_keys, n_entries : int
    """
    cdef Py_ssize_t i, f = -1, e = -1
    with nogil:
        for i in range(keys.shape[0]):
            if i == 0 or keys[i] != keys[i - 1]:
                f += 1
                e += 1
                vocabulary[f] = keys[i]
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
