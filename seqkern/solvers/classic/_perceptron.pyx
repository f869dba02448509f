"""The loops of perceptron, MinOver and AdaTron: one multiplier at a time, with the outputs of all samples kept."""

from libc.math cimport fabs
from libc.stdint cimport int64_t


cdef inline void add_row(
    const double* row, double factor, double shift, double[::1] f, Py_ssize_t n
) noexcept nogil:
    """Add factor · (K + shift) of one sample to the outputs."""
    cdef Py_ssize_t j
    for j in range(n):
        f[j] += factor * (row[j] + shift)


cdef inline double violation(double slope, double value, double cost) noexcept nogil:
    """Return how far a multiplier in [0, cost] violates its condition, for its slope 1 − y f."""
    if (value <= 0 and slope <= 0) or (value >= cost and slope >= 0):
        return 0
    return fabs(slope)


cdef int check(K, y, order, a, f) except -1:
    """Raise ValueError unless all arrays have the length of K."""
    if not len(K) == K.shape[1] == len(y) == len(order) == len(a) == len(f):
        raise ValueError("arrays of different lengths")
    return 0


def perceptron(
    const double[:, ::1] K,
    const double[::1] y,
    const int64_t[::1] order,
    double shift,
    double[::1] updates,
    double[::1] late,
    double[::1] f,
    int64_t max_epochs,
):
    """Pass over the samples, and add each whose output has the wrong sign, until none has.

    Parameters
    ----------
    K : ndarray of float64, shape (n, n)
        Symmetric.
    y : ndarray of float64, shape (n,)
        −1 and 1.
    order : ndarray of int64, shape (n,)
        In which samples are visited.
    shift : float
        Added to all of K.
    updates : ndarray of float64, shape (n,)
        Changed: how often each sample was added.
    late : ndarray of float64, shape (n,)
        Changed: Σ of the time of each of these, counted in visits.
    f : ndarray of float64, shape (n,)
        Changed: the outputs.
    max_epochs : int
        At most so many passes.

    Returns
    -------
    epochs : int
        Passes.
    wrong : int
        Updates in the last of them.
    """
    cdef Py_ssize_t n = K.shape[0], place, i
    cdef int64_t epoch = 0, wrong = 1
    cdef double time = 0
    check(K, y, order, updates, f)
    if late.shape[0] != n:
        raise ValueError("arrays of different lengths")
    with nogil:
        while wrong > 0 and epoch < max_epochs:
            wrong = 0
            for place in range(n):
                i = order[place]
                if y[i] * f[i] <= 0:
                    updates[i] += 1
                    late[i] += time
                    wrong += 1
                    add_row(&K[i, 0], y[i], shift, f, n)
                time += 1
            epoch += 1
    return epoch, wrong


def minover(
    const double[:, ::1] K,
    const double[::1] y,
    const int64_t[::1] order,
    double shift,
    double[::1] updates,
    double[::1] f,
    double tol,
    int64_t max_iter,
):
    """Add the sample of least stability, until the margin is within a share of its upper bound.

    Parameters
    ----------
    K, y, order, shift, updates, f : object
        As for `perceptron`; of equal stabilities, the first in `order` counts.
    tol : float
        The share.
    max_iter : int
        At most so many updates.

    Returns
    -------
    steps : int
        Updates.
    squares : float
        ‖w‖².
    least : float
        The least y f.
    """
    cdef Py_ssize_t n = K.shape[0], place, i, worst = 0
    cdef int64_t steps = 0
    cdef double squares = 0, least = 0
    check(K, y, order, updates, f)
    with nogil:
        while True:
            worst = order[0]
            for place in range(n):
                i = order[place]
                if y[i] * f[i] < y[worst] * f[worst]:
                    worst = i
            least = y[worst] * f[worst]
            # the bound ‖w‖ / steps on the margin; least / ‖w‖ is the margin reached
            if steps >= max_iter or (steps > 0 and squares > 0 and least * steps >= (1 - tol) * squares):
                break
            squares += 2 * least + K[worst, worst] + shift
            updates[worst] += 1
            steps += 1
            add_row(&K[worst, 0], y[worst], shift, f, n)
    return steps, squares, least


def adatron(
    const double[:, ::1] K,
    const double[::1] y,
    const int64_t[::1] order,
    double shift,
    double eta,
    double cost,
    double[::1] X,
    double[::1] f,
    double tol,
    int64_t max_epochs,
):
    """Move each multiplier in turn by eta (1 − y f), within [0, cost], until no condition is violated by more than tol.

    Parameters
    ----------
    K, y, order, shift, f : object
        As for `perceptron`.
    eta : float
        Below 2 / max (K_ii + shift).
    cost : float
        The largest multiplier, which may be infinite.
    X : ndarray of float64, shape (n,)
        Changed: the multipliers.
    tol : float
    max_epochs : int
        At most so many passes.

    Returns
    -------
    epochs : int
        Passes.
    residual : float
        The largest violation.
    """
    cdef Py_ssize_t n = K.shape[0], place, i
    cdef int64_t epoch = 0
    cdef double worst = tol + 1, slope, new, last
    check(K, y, order, X, f)
    with nogil:
        while worst > tol and epoch < max_epochs:
            last = 0
            for place in range(n):
                i = order[place]
                slope = 1 - y[i] * f[i]
                new = violation(slope, X[i], cost)
                if new == 0:
                    continue
                last = max(last, new)
                new = min(max(X[i] + eta * slope, 0.0), cost)
                if new != X[i]:
                    add_row(&K[i, 0], y[i] * (new - X[i]), shift, f, n)
                    X[i] = new
            epoch += 1
            if last <= tol or epoch == max_epochs:  # then of all at the same time
                worst = 0
                for i in range(n):
                    worst = max(worst, violation(1 - y[i] * f[i], X[i], cost))
    return epoch, worst
