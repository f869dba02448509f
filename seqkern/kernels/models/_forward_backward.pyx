"""The loops of profile HMMs; see `_forward_backward.h`, `_scores.h` and `_alignment.h`."""

from libc.stdint cimport int64_t, uint8_t

import numpy as np

cdef extern from "_scores.h" nogil:
    enum:
        WIDTH
        STEPS
    ctypedef struct profile:
        Py_ssize_t columns
        int letters
        const double *emit
        const double *steps[7]
        double insert
        const double *ahead
        const double *behind
    int highest_simd_level()
    int score_records(
        int level, const profile *p, const uint8_t *codes, const int64_t *start, const int64_t *stop, Py_ssize_t first,
        Py_ssize_t last, Py_ssize_t length, const double *inverse, const double *chances, Py_ssize_t rows, double *out,
        Py_ssize_t width, double *odds)
    int find_posteriors(int level, const profile *p, const uint8_t *x, Py_ssize_t n, double *posteriors)

LANES = WIDTH

cdef int LEVEL = highest_simd_level()


def level():
    """Return the level of instructions in use: 0 plain, 1 AVX2, 2 AVX-512."""
    return LEVEL


def set_level(int new):
    """Use a level, at most the processor's highest; all give the same bits."""
    global LEVEL
    LEVEL = max(0, min(new, highest_simd_level()))


cdef class Recursions:
    """A profile HMM as the loops read it; columns are striped, see `_forward_backward.h`.

    Parameters
    ----------
    emit : float64 (letters + 1, Q·8)
    steps : float64 (7, Q·8)
        Those into inserts times `insert`.
    insert : float
        Odds of a letter in an insert state.
    ahead, behind : float64 (Q·8)
    inverse : float64 (length, letters)
        1/θ of the emissions, 0 where θ is 0.
    chances : float64 (length, 7)
        Probabilities of the steps; 0 for those that are no parameters.
    """

    cdef profile p
    cdef object arrays
    cdef const double[:, ::1] inverse
    cdef const double[:, ::1] chances

    def __init__(
        self, const double[:, ::1] emit, const double[:, ::1] steps, double insert,
        const double[::1] ahead, const double[::1] behind, const double[:, ::1] inverse, const double[:, ::1] chances,
    ):
        cdef int t
        self.arrays = emit, steps, ahead, behind
        self.inverse, self.chances = inverse, chances
        self.p.columns, self.p.letters = emit.shape[1] // WIDTH, emit.shape[0] - 1
        self.p.emit = &emit[0, 0]
        self.p.insert = insert
        for t in range(STEPS):
            self.p.steps[t] = &steps[t, 0]
        self.p.ahead, self.p.behind = &ahead[0], &behind[0]

    def scores(
        self, const uint8_t[::1] codes, const int64_t[::1] start, const int64_t[::1] stop, Py_ssize_t first,
        Py_ssize_t last, bint with_steps, Py_ssize_t rows, double[:, ::1] out, double[::1] odds,
    ):
        """Write the scores of records `first` to `last` to their rows of `out`, and the logarithms of their odds.

        Parameters
        ----------
        codes : uint8 (letters,)
        start, stop : int64 (records,)
        first, last : int
        with_steps : bool
            The scores of the steps too.
        rows : int
            Forward rows that are kept at a time; 0: as many as are good.
        out : float64 (records, length·letters, and length·7 more with steps)
        odds : float64 (records,)
        """
        cdef int good, level = LEVEL
        cdef const uint8_t *letters = &codes[0] if codes.shape[0] else NULL
        if first >= last:
            return
        with nogil:
            good = score_records(
                level, &self.p, letters, &start[0], &stop[0], first, last, self.inverse.shape[0], &self.inverse[0, 0],
                &self.chances[0, 0] if with_steps else NULL, rows, &out[0, 0], out.shape[1], &odds[0])
        if not good:
            raise MemoryError

    def posteriors(self, const uint8_t[::1] codes, double[:, ::1] out):
        """Add to `out`, zeros (n, Q·8), the probability of each match state at each of n letters."""
        cdef int good, level = LEVEL
        if codes.shape[0] == 0:
            return
        with nogil:
            good = find_posteriors(level, &self.p, &codes[0], codes.shape[0], &out[0, 0])
        if not good:
            raise MemoryError


# ---- the best alignment of two alignments --------------------------------------------------------

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
