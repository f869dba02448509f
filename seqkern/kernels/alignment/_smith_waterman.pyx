"""The loops of Smith-Waterman scores; see `_smith_waterman.h`."""

from libc.math cimport NAN
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t
from libc.stdlib cimport free
from libc.string cimport memset

from seqkern.kernels._blocks cimport Records, record_codes, record_length, records


cdef extern from "_smith_waterman.h" nogil:
    ctypedef struct scoring:
        int letters
        const int32_t *score
        const int8_t *table
        int32_t open
        int32_t extend
        int32_t largest
    ctypedef struct rectangle:
        const records *rows
        const records *lanes
        const int64_t *reach
        double *out
        Py_ssize_t row_step
        Py_ssize_t lane_step
    int lanes_of(int level, int width)
    int fill_rectangle(
        int level, int width, const scoring *f, const rectangle *r, const int64_t *bounds, Py_ssize_t n_bounds)
    int correct_rectangle(int level, int width, const scoring *f, const rectangle *r)
    ctypedef struct memory:
        void *block

cdef extern from "_best_alignment.h" nogil:
    int share_alignment(
        const scoring *f, const uint8_t *x, Py_ssize_t n, const uint8_t *y, Py_ssize_t length, double weight,
        double *shares, memory *m)


cdef class Scoring:
    """Scores and gap costs as integers; what the loops read.

    Parameters
    ----------
    score : int32 (letters, letters + 1)
        Of a row's and a lane's code; the last column is behind the end of a lane's sequence, and at most 0.
    table : int8 (letters, 32) or None
        The same, if 8 bits are enough.
    open, extend : int
        Costs of a gap's first letter and of each further one.
    largest : int
        The largest score, or 0.
    """

    cdef scoring f
    cdef object arrays

    def __init__(self, const int32_t[:, ::1] score, const int8_t[:, ::1] table, int open, int extend, int largest):
        self.arrays = score, table
        self.f.letters, self.f.score = score.shape[0], &score[0, 0]
        if table is not None:
            self.f.table = &table[0, 0]
        self.f.open, self.f.extend, self.f.largest = open, extend, largest


def own_scores(Records every, const int64_t[::1] own, const uint8_t[::1] fair, int open, double[::1] out):
    """Set out[k] to the score of the k-th record with itself, or NaN if that takes an alignment.

    With 2·s(a, b) ≤ o(a) + o(b), o(a) = max(0, s(a, a)), for any two letters, either letter of a pair is charged
    o / 2 at most. So no alignment is better than U = Σ o(x_i), none with a gap better than U − open, and none of x
    with itself shifted better than U without the halves of the first and last o: the best part of x, letter by letter,
    is an optimal alignment if it is not worse than these.

    Parameters
    ----------
    every : Records
    own : int64 (letters,)
        s(a, a).
    fair : uint8 (letters,)
        Whether the condition holds for a letter and all others.
    open : int
    out : float64 (n,)
    """
    cdef Py_ssize_t k, i, n
    cdef const uint8_t *x
    cdef int64_t value, part, best, most, lost
    cdef bint known
    with nogil:
        for k in range(every.r.n):
            x, n = record_codes(&every.r, k), record_length(&every.r, k)
            known, part, best, most = True, 0, 0, 0
            for i in range(n):
                value = own[x[i]]
                part = max(part, 0) + value
                best, most, known = max(best, part), most + max(value, 0), known and fair[x[i]]
            lost = most - best
            if lost > 0:
                known = known and lost <= open and 2 * lost <= max(own[x[0]], 0) + max(own[x[n - 1]], 0)
            out[k] = <double>best if known else NAN


def lanes(int level, int width):
    """Return how many lanes of `width` bits a vector has."""
    return lanes_of(level, width)


def fill(
    int level, int width, Scoring scoring, Records rows, Records lanes, const int64_t[::1] reach,
    const int64_t[::1] bounds, double[:, :] out,
):
    """Set out[row, lane] to the score of each row and the lanes 0 … reach[row] − 1 of their order, −1 for too large.

    Parameters
    ----------
    level : int
        Of instructions.
    width : {8, 16, 32}
        Bits of a lane.
    scoring : Scoring
    rows, lanes : Records
    reach : int64 (rows,)
    bounds : int64
        Where groups of lanes, of at most `lanes(level, width)`, begin and end.
    out : float64 (rows, lanes)
    """
    cdef rectangle r
    cdef int failed
    if rows.r.n == 0 or lanes.r.n == 0:
        return
    set_rectangle(&r, rows, lanes, reach, out)
    with nogil:
        failed = fill_rectangle(level, width, &scoring.f, &r, &bounds[0], bounds.shape[0])
    if failed:
        raise MemoryError


def correct(
    int level, int width, Scoring scoring, Records rows, Records lanes, const int64_t[::1] reach,
    const int64_t[::1] bounds, double[:, :] out,
):
    """Compute again, in lanes of `width` bits, what is negative in `out`; parameters as of `fill`."""
    cdef rectangle r
    cdef int failed
    if rows.r.n == 0 or lanes.r.n == 0:
        return
    set_rectangle(&r, rows, lanes, reach, out)
    with nogil:
        failed = correct_rectangle(level, width, &scoring.f, &r)
    if failed:
        raise MemoryError


cdef void set_rectangle(rectangle *r, Records rows, Records lanes, const int64_t[::1] reach, double[:, :] out):
    r.rows, r.lanes, r.reach = &rows.r, &lanes.r, &reach[0]
    r.out, r.row_step, r.lane_step = &out[0, 0], out.strides[0] // 8, out.strides[1] // 8


def share(Scoring scoring, Records rows, Records lanes, const double[::1] weights, double[::1] shares):
    """Add to `shares` what the letters of the rows, one row after the other, have of their scores with the lanes.

    Parameters
    ----------
    scoring : Scoring
    rows, lanes : Records
    weights : float64 (lanes,)
    shares : float64 (letters of the rows,)
    """
    cdef Py_ssize_t i, j, n, length, at = 0
    cdef int failed = 0
    cdef memory m
    memset(&m, 0, sizeof(m))
    with nogil:
        for i in range(rows.r.n):
            n = record_length(&rows.r, i)
            for j in range(lanes.r.n):
                length = record_length(&lanes.r, j)
                if n > 0 and length > 0 and weights[j] != 0 and not failed:
                    failed = share_alignment(
                        &scoring.f, record_codes(&rows.r, i), n, record_codes(&lanes.r, j), length, weights[j],
                        &shares[at], &m)
            at += n
        free(m.block)
    if failed:
        raise MemoryError
