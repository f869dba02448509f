"""The best alignment of two alignments; see `_alignment.h`."""

import numpy as np

from libc.stdint cimport uint8_t


cdef extern from "_alignment.h" nogil:
    ctypedef struct columns:
        Py_ssize_t length
        double sequences
        const double *letters
        const double *filled
    ctypedef struct costs:
        Py_ssize_t letters
        const double *score
        double open
        double extend
    Py_ssize_t align_columns(const costs *c, const columns *a, const columns *b, uint8_t *path)


def align(
    const double[:, ::1] first,
    double first_sequences,
    const double[:, ::1] second,
    double second_sequences,
    const double[:, ::1] score,
    double open,
    double extend,
):
    """Return the columns of the best alignment in order: 0 of both, 1 of the first, 2 of the second, uint8.

    Parameters
    ----------
    first, second : float64 (letters + 1, columns), at least one column
        How often each letter is in a column; in the last row the residues.
    first_sequences, second_sequences : float
        Number of sequences of each.
    score : float64 (letters, letters)
        Integers.
    open, extend : float
        Integers: costs of the first and of each further residue of a gap.
    """
    cdef columns a, b
    cdef costs c
    cdef Py_ssize_t letters = score.shape[0], steps
    if score.shape[1] != letters or first.shape[0] != letters + 1 or second.shape[0] != letters + 1:
        raise ValueError("the shapes do not fit")
    if not (letters and first.shape[1] and second.shape[1]):
        raise ValueError("there are no columns")
    a.length, a.sequences, a.letters, a.filled = first.shape[1], first_sequences, &first[0, 0], &first[letters, 0]
    b.length, b.sequences, b.letters, b.filled = second.shape[1], second_sequences, &second[0, 0], &second[letters, 0]
    c.letters, c.score, c.open, c.extend = letters, &score[0, 0], open, extend
    out = np.empty(a.length + b.length, dtype=np.uint8)
    cdef uint8_t[::1] path = out
    with nogil:
        steps = align_columns(&c, &a, &b, &path[0])
    if steps < 0:
        raise MemoryError
    return out[:steps][::-1]
