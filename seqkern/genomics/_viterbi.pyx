"""The loops of `decoding`; see `_viterbi.h`."""

from libc.math cimport isnan
from libc.stdint cimport int64_t, uint8_t

import numpy as np


cdef extern from "_viterbi.h" nogil:
    ctypedef struct boundaries:
        int64_t n
        const int64_t *position
        const uint8_t *kind
        const uint8_t *strand
        const double *score
        const double *coding
        const double *intron
        const int64_t *closed
        const uint8_t *near
    ctypedef struct lengths:
        const double *exon
        const double *intron
        int64_t shortest_exon
        int64_t longest_exon
        int64_t shortest_intron
        int64_t longest_intron
        const uint8_t *stops
    double best_path(const boundaries *b, const lengths *l, double *value, int64_t *from_, int64_t *last)


def viterbi(
    const int64_t[::1] position,
    const uint8_t[::1] kind,
    const uint8_t[::1] strand,
    const double[::1] score,
    const double[:, ::1] coding,
    const double[::1] intron,
    const int64_t[:, ::1] closed,
    const uint8_t[:, ::1] near,
    const double[:, ::1] exon_lengths,
    const double[::1] intron_lengths,
    int64_t shortest_exon,
    int64_t shortest_intron,
    const uint8_t[:, ::1] stops,
):
    """Return the score of the best path, where its last gene ends (-1: no gene), and where each came from, (n, 3).

    `decoding.decode` describes and checks the arrays.
    """
    cdef int64_t n = position.shape[0], last = -1
    value = np.empty((n, 3))
    came = np.empty((n, 3), dtype=np.int64)
    if n == 0:
        return 0.0, -1, came
    cdef double[:, ::1] values = value
    cdef int64_t[:, ::1] origins = came
    cdef boundaries b
    cdef lengths l
    cdef double best
    b.n = n
    b.position, b.kind, b.strand = &position[0], &kind[0], &strand[0]
    b.score, b.coding, b.intron = &score[0], &coding[0, 0], &intron[0]
    b.closed, b.near = &closed[0, 0], &near[0, 0]
    l.exon, l.intron, l.stops = &exon_lengths[0, 0], &intron_lengths[0], &stops[0, 0]
    l.shortest_exon, l.longest_exon = shortest_exon, exon_lengths.shape[1] - 1
    l.shortest_intron, l.longest_intron = shortest_intron, intron_lengths.shape[0] - 1
    with nogil:
        best = best_path(&b, &l, &values[0, 0], &origins[0, 0], &last)
    if isnan(best):
        raise MemoryError
    return best, last, came
