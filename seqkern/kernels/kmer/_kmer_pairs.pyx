"""Codes of pairs of k-mers: first the k-mer at every place, then pairs of those some letters apart."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

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

cdef enum:
    NO_WORD = 0xffffffff


def code_words(
    const uint16_t[::1] symbols,
    const int64_t[::1] start,
    int k,
    uint32_t size,
    const uint16_t[::1] complement,
    uint32_t[::1] words,
    uint32_t[::1] reverse,
    int64_t[::1] found,
):
    """Write to words[p] the code of the k symbols from p on; `NO_WORD` where one is not below `size`, or the record
    ends.

    Record i has the symbols ``start[i]`` to ``start[i + 1]``, and found[i] words. If `complement` is not empty, the
    codes of the reverse complements go to `reverse`.
    """
    cdef Py_ssize_t i, p, first, s
    cdef int64_t run
    cdef uint32_t word, other
    cdef bint both = complement.shape[0] > 0
    with nogil:
        for i in range(start.shape[0] - 1):
            run = 0
            found[i] = 0
            for p in range(start[i], start[i + 1]):
                words[p] = NO_WORD
                run = run + 1 if symbols[p] < size else 0
                if run < k:
                    continue
                first = p - k + 1
                word = 0
                for s in range(first, p + 1):
                    word = word * size + symbols[s]
                words[first] = word
                found[i] += 1
                if both:
                    other = 0
                    for s in range(p, first - 1, -1):
                        other = other * size + complement[symbols[s]]
                    reverse[first] = other


cdef Py_ssize_t _code_record(
    const uint32_t *words,
    const uint32_t *reverse,
    Py_ssize_t places,
    bint whole,
    const int64_t[::1] distances,
    code_t space,
    code_t *codes,
    int32_t *positions,
) noexcept nogil:
    """Write the codes of the pairs of one record, of whose `places` all have a word if it is `whole`.

    Returns their number. `reverse` and `positions` may be NULL.
    """
    cdef Py_ssize_t t, p, d, at = 0
    cdef code_t code, other, zero
    for t in range(distances.shape[0]):
        d = distances[t]
        zero = <code_t>t * space * space
        if whole and reverse == NULL and positions == NULL:
            for p in range(places - d):
                codes[at + p] = zero + words[p] * space + words[p + d]
            at += max(places - d, <Py_ssize_t>0)
            continue
        for p in range(places - d):
            if words[p] == NO_WORD or words[p + d] == NO_WORD:
                continue
            code = words[p] * space + words[p + d]
            if reverse != NULL:
                other = reverse[p + d] * space + reverse[p]
                if other < code:
                    code = other
            codes[at] = zero + code
            if positions != NULL:
                positions[at] = <int32_t>p
            at += 1
    return at


def code_pairs(
    const uint32_t[::1] words,
    const uint32_t[::1] reverse,
    const int64_t[::1] start,
    const int64_t[::1] found,
    int k,
    const int64_t[::1] distances,
    uint64_t space,
    code_t[::1] codes,
    int32_t[::1] positions,
    int64_t[::1] pair_start,
):
    """Write the code of every pair of words whose starts are distances[t] apart: (t · space + first) · space + second.

    Record after record, distance after distance. If `reverse` is not empty, the smaller of the codes of the pair and
    of its reverse complement; if `positions` is not empty, also where in its record the pair starts. `pair_start`
    (n + 1,) is filled with where each record's pairs start; the last is the number of all.
    """
    cdef Py_ssize_t i, places, at = 0
    cdef const uint32_t *other = NULL
    cdef int32_t *where = NULL
    with nogil:
        for i in range(start.shape[0] - 1):
            pair_start[i] = at
            places = start[i + 1] - start[i] - k + 1
            if found[i] == 0:
                continue
            if reverse.shape[0]:
                other = &reverse[start[i]]
            if at < codes.shape[0]:
                if positions.shape[0]:
                    where = &positions[at]
                at += _code_record(
                    &words[start[i]], other, places, found[i] == places, distances, <code_t>space, &codes[at], where)
        pair_start[start.shape[0] - 1] = at


def tally_pairs(
    const uint32_t[::1] words,
    const uint32_t[::1] reverse,
    const int64_t[::1] start,
    int k,
    const int64_t[::1] distances,
    uint32_t space,
    Py_ssize_t row,
    count_t[:, :, ::1] tables,
):
    """Add to tables[i // 16, c, i % 16] how often the pair of code c occurs in record row + i."""
    cdef Py_ssize_t i, t, p, d, first, places, zero, records = min(tables.shape[0] * PANEL, start.shape[0] - 1 - row)
    cdef uint32_t code, other
    with nogil:
        for i in range(records):
            first = start[row + i]
            places = start[row + i + 1] - first - k + 1
            for t in range(distances.shape[0]):
                d = distances[t]
                zero = t * <Py_ssize_t>space * space
                for p in range(first, first + places - d):
                    if words[p] == NO_WORD or words[p + d] == NO_WORD:
                        continue
                    code = words[p] * space + words[p + d]
                    if reverse.shape[0]:
                        other = reverse[p + d] * space + reverse[p]
                        if other < code:
                            code = other
                    tables[i // PANEL, zero + code, i % PANEL] += 1
