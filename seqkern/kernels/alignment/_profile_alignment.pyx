"""The loops of the profile alignment kernel; see `_profile_alignment.h`."""

from libc.math cimport M_LN2, exp
from libc.stdint cimport int64_t


cdef extern from "_profile_alignment.h" nogil:
    enum:
        SMITH_WATERMAN
        LOCAL_ALIGNMENT
        STRIP
        CHUNK
        PANEL
    ctypedef struct scoring:
        int method
        float shift
        float gap_open
        float gap_extend
        float digits
        double open_weight
        double extend_weight
        double beta
    ctypedef struct records:
        const float *profile
        const float *pssm
        const int64_t *start
        const int64_t *stop
        const int64_t *order
        Py_ssize_t n
        int size
    int fill_rectangle(
        int level, const scoring *f, const records *rows, const int64_t *first, const int64_t *stop,
        const records *lanes, double *out, Py_ssize_t row_step, Py_ssize_t lane_step)

cdef extern from "_profile_shares.h" nogil:
    Py_ssize_t record_length(const records *r, Py_ssize_t k)
    int share_pair(
        const scoring *f, const records *rows, Py_ssize_t r, const records *lanes, Py_ssize_t l, double value,
        double *shares)

REACH = STRIP + CHUNK
PANEL_COLUMNS = STRIP * PANEL


cdef class Scoring:
    """What a pair of columns and a gap score.

    Parameters
    ----------
    beta : float
        Of the local alignment kernel; 0 for Smith-Waterman.
    gap_open, gap_extend, shift : float
    """

    cdef scoring f

    def __init__(self, double beta, double gap_open, double gap_extend, double shift):
        self.f.method = LOCAL_ALIGNMENT if beta else SMITH_WATERMAN
        self.f.shift, self.f.gap_open, self.f.gap_extend = shift, gap_open, gap_extend
        self.f.digits = beta / M_LN2
        self.f.open_weight, self.f.extend_weight = exp(-beta * gap_open), exp(-beta * gap_extend)
        self.f.beta = beta


cdef class Columns:
    """Records of two tracks, in an order of their own.

    Parameters
    ----------
    profile, pssm : float32 (letters, size)
    start, stop : int64 (records,)
    order : int64 (n,)
        Which of the records, in which order.
    """

    cdef records r
    cdef object arrays

    def __init__(
        self, const float[:, ::1] profile, const float[:, ::1] pssm, const int64_t[::1] start,
        const int64_t[::1] stop, const int64_t[::1] order,
    ):
        self.arrays = profile, pssm, start, stop, order
        self.r.n, self.r.size = order.shape[0], profile.shape[1]
        if profile.shape[0]:
            self.r.profile, self.r.pssm = &profile[0, 0], &pssm[0, 0]
        if start.shape[0]:
            self.r.start, self.r.stop = &start[0], &stop[0]
        if order.shape[0]:
            self.r.order = &order[0]


def fill(
    Scoring scoring, int level, Columns rows, Columns lanes, const int64_t[::1] first, const int64_t[::1] stop,
    double[:, :] out,
):
    """Set out[row, lane] to the kernel of each row and the lanes first[row] … stop[row] − 1 of their order.

    Parameters
    ----------
    scoring : Scoring
    level : int
        Of instructions.
    rows, lanes : Columns
    first, stop : int64 (rows,)
    out : float64 (records of the rows, records of the lanes)
    """
    cdef int failed
    if rows.r.n == 0 or lanes.r.n == 0:
        return
    with nogil:
        failed = fill_rectangle(
            level, &scoring.f, &rows.r, &first[0], &stop[0], &lanes.r, &out[0, 0],
            out.strides[0] // <Py_ssize_t>sizeof(double), out.strides[1] // <Py_ssize_t>sizeof(double))
    if failed:
        raise MemoryError


def share(Scoring scoring, Columns rows, Columns lanes, const double[:, ::1] values, double[::1] shares):
    """Add to `shares` what the letters of the rows, one row after the other, have of `values`.

    Parameters
    ----------
    scoring : Scoring
    rows, lanes : Columns
    values : float64 (rows, lanes)
    shares : float64 (letters of the rows,)
    """
    cdef Py_ssize_t i, j, at = 0
    cdef int failed = 0
    with nogil:
        for i in range(rows.r.n):
            for j in range(lanes.r.n):
                if values[i, j] != 0 and not failed:
                    failed = share_pair(&scoring.f, &rows.r, i, &lanes.r, j, values[i, j], &shares[at])
            at += record_length(&rows.r, i)
    if failed:
        raise MemoryError
