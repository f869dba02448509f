"""Coordinate descent on the dual of the direct multi-class machine, a block of one row's variables at a time."""

from libc.float cimport DBL_MIN
from libc.stdint cimport int64_t

cdef extern from "_direct_multiclass.h":
    int highest_simd_level() nogil
    void subtract_multiple(
        int level, double factor, const double *row, double shift, Py_ssize_t n, double *out
    ) nogil

cdef int LEVEL = highest_simd_level()
cdef int PASSES = 20  # over the variables of one row
cdef double SHARE = 0.5  # of the best row's gain


cdef inline double projected(double slope, double value, double cost) noexcept nogil:
    """Return the part of a slope along which a variable in [0, cost] can move downhill; its size is the violation."""
    if (value <= 0 and slope > 0) or (value >= cost and slope < 0):
        return 0
    return slope


def descend(
    const double[:, ::1] K,
    const int64_t[::1] y,
    double cost,
    double sigma,
    double[:, ::1] alpha,
    double[:, ::1] outputs,
    double[::1] own,
    double[::1] gains,
    double[::1] changes,
    double tol,
    int64_t limit,
):
    """Lower the dual until no variable violates its condition by more than `tol`.

    Parameters
    ----------
    K : ndarray of float64, shape (n, n)
        Symmetric; a row is read where a column is meant.
    y : ndarray of int64, shape (n,)
        The place of each row's class.
    cost : float
        Upper bound of each variable.
    sigma : float
        Added to all of K: the square of a constant feature.
    alpha : ndarray of float64, shape (c, n)
        Changed; zero where the class is the row's own.
    outputs : ndarray of float64, shape (c, n)
        Changed: the output of each class for each row, Σ_i β_i (K + sigma).
    own, gains, changes : ndarray of float64, shape (n,), (n,) and (c,)
        Room.
    tol : float
    limit : int
        At most so many rows are moved.

    Returns
    -------
    int
        How many were.
    """
    cdef Py_ssize_t n = K.shape[0], c = alpha.shape[0], i, m
    cdef int64_t moved = 0
    cdef double slope, square, most, worst
    if not (y.shape[0] == K.shape[1] == alpha.shape[1] == outputs.shape[1] == own.shape[0] == n) or not (
        outputs.shape[0] == changes.shape[0] == c and gains.shape[0] == n
    ):
        raise ValueError("matrix, labels and variables differ in size")
    with nogil:
        while moved < limit:
            for i in range(n):
                own[i] = outputs[y[i], i] - 2
                gains[i] = 0
            # by how much one variable of a row violates its condition
            for m in range(c):
                for i in range(n):
                    if y[i] == m:
                        continue
                    slope = projected(own[i] - outputs[m, i], alpha[m, i], cost)
                    slope = slope if slope > 0 else -slope
                    gains[i] = slope if slope > gains[i] else gains[i]
            worst, most = 0, 0
            for i in range(n):
                worst = gains[i] if gains[i] > worst else worst
                square = K[i, i] + sigma
                # twice what it can lower the dual by
                gains[i] = gains[i] * gains[i] / (2 * square if square > 0 else DBL_MIN)
                most = gains[i] if gains[i] > most else most
            if worst <= tol:
                break
            # To look at all rows takes longer than to move one: those that gain nearly as much as the best follow it.
            for i in range(n):
                if gains[i] >= SHARE * most and moved < limit:
                    move(K, y[i], i, cost, sigma, alpha, outputs, changes, 0.1 * tol)
                    moved += 1
    return moved


cdef void move(
    const double[:, ::1] K,
    Py_ssize_t label,
    Py_ssize_t i,
    double cost,
    double sigma,
    double[:, ::1] alpha,
    double[:, ::1] outputs,
    double[::1] changes,
    double tol,
) noexcept nogil:
    """Minimise over the variables of row i, and bring all outputs up to date; `changes` (c,) is room."""
    cdef Py_ssize_t c = alpha.shape[0], m
    cdef int _turn
    cdef double square = K[i, i] + sigma
    cdef double total = 0, worst, slope, before, after
    for m in range(c):
        changes[m] = 0
    for _turn in range(PASSES):
        worst = 0
        for m in range(c):
            if m == label:
                continue
            before = alpha[m, i]
            slope = outputs[label, i] - outputs[m, i] - 2 + square * (total + changes[m])
            slope = projected(slope, before, cost)
            if slope == 0:
                continue
            worst = max(worst, slope if slope > 0 else -slope)
            if square > 0:
                after = before - slope / (2 * square)
                after = 0 if after < 0 else cost if after > cost else after
            else:  # a vector of length zero: nothing bends the dual
                after = 0 if slope > 0 else cost
            alpha[m, i] = after
            changes[m] += after - before
            total += after - before
        if worst <= tol:
            break
    changes[label] = -total
    spread(&K[i, 0], sigma, &changes[0], outputs, LEVEL)


cdef void spread(
    const double *row, double sigma, const double *changes, double[:, ::1] outputs, int level
) noexcept nogil:
    """Take changes[m] · (row + sigma) off the outputs of each class m: one row's β have changed by so much less."""
    cdef Py_ssize_t n = outputs.shape[1], m
    for m in range(outputs.shape[0]):
        if changes[m] != 0:
            subtract_multiple(level, changes[m], row, sigma, n, &outputs[m, 0])


def simd_level():
    """Return the highest level of vector instructions here: 0 plain, 1 AVX2, 2 AVX-512."""
    return LEVEL


def change_outputs(
    const double[:, ::1] K, double sigma, const double[:, ::1] changes, double[:, ::1] outputs, int level=LEVEL
):
    """Bring the outputs (c, n) up to date after changes (n, c) of −β, of which most are zero."""
    cdef Py_ssize_t i
    if not (changes.shape[0] == K.shape[0] == K.shape[1] == outputs.shape[1] and changes.shape[1] == outputs.shape[0]):
        raise ValueError("matrix, changes and outputs differ in size")
    with nogil:
        for i in range(K.shape[0]):
            spread(&K[i, 0], sigma, &changes[i, 0], outputs, level)
