"""The loops of the pair HMM kernel; see `_pair_hmm.h`."""

from libc.stdint cimport int64_t

from seqkern.kernels._blocks cimport Records, records


cdef extern from "_pair_hmm.h" nogil:
    ctypedef struct pair_hmm:
        int letters
        int rows
        const double *match
        const double *score
        double open
        double extend
    int fill_pairs(
        int level, const pair_hmm *f, const records *rows, const int64_t *stop, const records *lanes, double *out,
        Py_ssize_t row_step, Py_ssize_t lane_step)


cdef class PairHMM:
    """What the loops read.

    Parameters
    ----------
    match : float64 (letters, letters + 1)
        The factor of a pair, of a row's and a lane's code; 0 in the last column, that of what is behind an end.
    score : float64 (letters, letters)
        Its logarithm.
    open, extend : float
        The factors of the first residue of a gap and of each further one.
    rows : int
        Of a tile; 0 to compute in logarithms.
    """

    cdef pair_hmm f
    cdef object arrays

    def __init__(self, const double[:, ::1] match, const double[:, ::1] score, double open, double extend, int rows):
        self.arrays = match, score
        self.f.letters, self.f.rows = match.shape[0], rows
        self.f.match, self.f.score = &match[0, 0], &score[0, 0]
        self.f.open, self.f.extend = open, extend


def fill(PairHMM model, int level, Records rows, Records lanes, const int64_t[::1] stop, double[:, :] out):
    """Set out[row, lane] to ln T of each row and the lanes 0 … stop[row] − 1 of their order.

    Parameters
    ----------
    model : PairHMM
    level : int
        Of instructions.
    rows, lanes : Records
    stop : int64 (rows,)
    out : float64 (rows, lanes)
    """
    cdef int failed
    cdef Py_ssize_t row_step, lane_step
    if rows.r.n == 0 or lanes.r.n == 0:
        return
    row_step = out.strides[0] // <Py_ssize_t>sizeof(double)
    lane_step = out.strides[1] // <Py_ssize_t>sizeof(double)
    with nogil:
        failed = fill_pairs(level, &model.f, &rows.r, &stop[0], &lanes.r, &out[0, 0], row_step, lane_step)
    if failed:
        raise MemoryError
