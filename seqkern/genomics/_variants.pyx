"""Sums of the weights of the k-mers of alleles, and the best placements of weight matrices in them."""

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.math cimport fabs


def snv_sums(const uint8_t[::1] codes, const int64_t[::1] places, const uint8_t[::1] alts, const double[::1] table,
             Py_ssize_t length, Py_ssize_t size, double[::1] ref_sums, double[::1] alt_sums,
             double[::1] change, int32_t[::1] offset):
    """Add the weights of the `length`-mers that cover each single-base variant, with either base.

    `change` and `offset` get the largest change of weight by one k-mer and its place: what is before the variant in
    it; -1 if there is no k-mer. Codes from `size` on match nothing.
    """
    cdef Py_ssize_t i, p, q, start, stop, run, at
    cdef Py_ssize_t n = places.shape[0], total = codes.shape[0], space = table.shape[0]
    cdef Py_ssize_t index, power
    cdef double r, a, ref_sum, alt_sum, most
    cdef Py_ssize_t step
    with nogil:
        for i in range(n):
            p = places[i]
            start = p - length + 1 if p >= length - 1 else 0
            stop = p + length if p + length <= total else total
            ref_sum = alt_sum = most = 0
            at = -1
            if codes[p] < size and alts[i] < size:
                step = <Py_ssize_t> alts[i] - <Py_ssize_t> codes[p]
                index = run = 0
                power = 1
                for q in range(start, stop):
                    if q > p:
                        power *= size
                    if codes[q] >= size:
                        run = index = 0
                        continue
                    index = (index * size + codes[q]) % space
                    run += 1
                    if run >= length and q >= p:
                        r = table[index]
                        a = table[index + step * power]
                        ref_sum += r
                        alt_sum += a
                        if at < 0 or fabs(a - r) > fabs(most):
                            most = a - r
                            at = length - 1 - (q - p)
            ref_sums[i] += ref_sum
            alt_sums[i] += alt_sum
            change[i] = most
            offset[i] = at


def window_sums(const uint8_t[::1] codes, const int64_t[::1] starts, const int64_t[::1] stops,
                const double[::1] table, Py_ssize_t length, Py_ssize_t size, double[::1] sums):
    """Add the weights of all `length`-mers of each sequence; `table` has one for each of the size^length k-mers."""
    cdef Py_ssize_t i, q, run, index, space = table.shape[0]
    cdef double total
    with nogil:
        for i in range(starts.shape[0]):
            total = 0
            index = run = 0
            for q in range(starts[i], stops[i]):
                if codes[q] >= size:
                    run = index = 0
                    continue
                index = (index * size + codes[q]) % space
                run += 1
                if run >= length:
                    total += table[index]
            sums[i] += total


def kmer_rows(const uint8_t[::1] codes, const int64_t[::1] starts, const int64_t[::1] stops, Py_ssize_t length,
              const int32_t[::1] ranks, Py_ssize_t size, int32_t[::1] rows):
    """Write the rank of the `length`-mer that begins at each place of each sequence; -1 where there is none.

    `ranks` has one for each of the size^length k-mers. A sequence begins in `rows` where it begins in `codes`.
    """
    cdef Py_ssize_t i, q, run, index, space = ranks.shape[0]
    with nogil:
        for i in range(starts.shape[0]):
            index = run = 0
            for q in range(starts[i], stops[i]):
                rows[q] = -1
                if codes[q] >= size:
                    run = index = 0
                    continue
                index = (index * size + codes[q]) % space
                run += 1
                if run >= length:
                    rows[q - length + 1] = ranks[index]


def row_sums(const int32_t[::1] rows, const int64_t[::1] starts, const int64_t[::1] stops, const double[::1] table,
             double[::1] sums):
    """Add the entries of `table` that the rows of each sequence name, in their order; -1 names none."""
    cdef Py_ssize_t i, q
    cdef double total
    with nogil:
        for i in range(starts.shape[0]):
            total = 0
            for q in range(starts[i], stops[i]):
                if rows[q] >= 0:
                    total += table[rows[q]]
            sums[i] += total


def best_scores(const uint8_t[::1] codes, const int64_t[::1] starts, const int64_t[::1] stops,
                const int64_t[::1] first, const int64_t[::1] last, const int32_t[:, ::1] scores, int32_t[::1] best):
    """Write the best score of a matrix among the placements that touch `first` … `last` - 1 of each sequence.

    A column of `scores` holds the four bases and, for other letters, a fifth. Scores below 0 count as 0.
    """
    cdef Py_ssize_t i, q, j, low, high, width = scores.shape[0]
    cdef int32_t total, most
    with nogil:
        for i in range(starts.shape[0]):
            low = first[i] - width + 1
            low = low if low > starts[i] else starts[i]
            high = last[i] if last[i] < stops[i] - width + 1 else stops[i] - width + 1
            most = 0
            for q in range(low, high):
                total = 0
                for j in range(width):
                    total += scores[j, codes[q + j] if codes[q + j] < 4 else 4]
                if total > most:
                    most = total
            best[i] = most
