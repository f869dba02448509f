"""Machines that are linear in the columns of a kernel matrix or in features: what they decide, and passes over the
samples that train them, one at a time.
"""

from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.math cimport INFINITY, fabs
from libc.stdint cimport int64_t, uint64_t

# ---- decisions -----------------------------------------------------------------------------------


def decide(
    const double[:, :] K,
    const int64_t[::1] columns,
    const double[::1] means,
    const double[::1] weights,
    double intercept,
    double[::1] out,
):
    """Write Σ_j (K[i, columns[j]] − means[j]) · weights[j] + intercept to out[i] for every row i.

    Each row is summed in one order, so that its bits depend neither on the other rows nor on threads, as they
    would in a BLAS product; and the columns are read where they lie, so that a memory map is not copied.
    """
    cdef Py_ssize_t i, j
    cdef double total
    if not (columns.shape[0] == means.shape[0] == weights.shape[0]) or out.shape[0] != K.shape[0]:
        raise ValueError("the columns and their weights, or the rows and the room for them, differ in number")
    with nogil:
        for i in range(K.shape[0]):
            total = 0.0
            for j in range(columns.shape[0]):
                total += (K[i, columns[j]] - means[j]) * weights[j]
            out[i] = total + intercept


# ---- perceptron, MinOver and AdaTron, with the outputs of all samples kept -----------------------

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


# ---- dual coordinate descent over feature vectors that are never stored --------------------------

cdef extern from "kernels/_implicit.h":
    const char *SEQKERN_IMPLICIT
    ctypedef struct ImplicitOperations:
        const void *state
        double (*dot)(const void *, int64_t, const double *) noexcept nogil
        void (*axpy)(const void *, int64_t, double, double *) noexcept nogil


cdef inline uint64_t draw(uint64_t *state) noexcept nogil:
    """Return the next number of the generator splitmix64 (Steele, Lea & Flood 2014)."""
    cdef uint64_t z
    state[0] += <uint64_t>0x9E3779B97F4A7C15
    z = state[0]
    z = (z ^ (z >> 30)) * <uint64_t>0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * <uint64_t>0x94D049BB133111EB
    return z ^ (z >> 31)


def shuffle(int64_t[::1] order, Py_ssize_t count, uint64_t[::1] generator):
    """Put the first `count` numbers of `order` in a random order; `generator` (1,) moves on."""
    cdef Py_ssize_t last, other
    with nogil:
        for last in range(count - 1, 0, -1):
            # The upper half of the product of a 32-bit draw: no division, and no bias that could matter.
            other = <Py_ssize_t>(((draw(&generator[0]) >> 32) * <uint64_t>(last + 1)) >> 32)
            order[last], order[other] = order[other], order[last]


def epoch(
    capsule,
    const double[::1] squares,
    const double[::1] means,
    double mean,
    const double[::1] y,
    const double[::1] cost,
    double sigma,
    double[::1] alpha,
    double[::1] weights,
    double[::1] gradient,
    int64_t[::1] order,
    Py_ssize_t active,
    double upper,
    double lower,
    double[::1] sums,
):
    """Minimise over each of the first `active` records of `order` in turn.

    Parameters
    ----------
    capsule : PyCapsule
        Operations of the feature vectors.
    squares : ndarray of float64, shape (n,)
        ‖φ − m‖² of each record.
    means : ndarray of float64, shape (n,)
        φ·m of each record.
    mean : float
        m·m.
    y, cost : ndarray of float64, shape (n,)
        −1 or 1, and C of each record.
    sigma : float
        The bias moves by sigma·y·Δα.
    alpha, weights : ndarray of float64, shape (n,) and (n_weights,)
        Changed.
    gradient : ndarray of float64, shape (n,)
        y·f(x) − 1 of the records looked at, as it was then.
    order : ndarray of int64, shape (n,)
        A record that leaves changes its place with the last active one.
    upper, lower : float
        A record at a bound whose gradient is beyond them leaves.
    sums : ndarray of float64, shape (7,)
        Changed: the bias, Σα, ½ ‖Σ α y (φ − m)‖², Σ α y, and Σ α y φ·m; written: the largest and the least projected
        gradient.

    Returns
    -------
    active : int
    gap : float
        Σ C·max(0, −gradient) + α·gradient of the records looked at, as they were then.
    """
    cdef const ImplicitOperations *operations = <const ImplicitOperations *>PyCapsule_GetPointer(
        capsule, SEQKERN_IMPLICIT
    )
    cdef double bias = sums[0], total = sums[1], quadratic = sums[2], excess = sums[3], along = sums[4]
    cdef double largest = -INFINITY, least = INFINITY
    cdef double product, slope, before, after, change, gap = 0
    cdef double *w = &weights[0] if weights.shape[0] else NULL
    cdef Py_ssize_t place = 0
    cdef int64_t i
    with nogil:
        while place < active:
            i = order[place]
            before = alpha[i]
            product = operations.dot(operations.state, i, w) - excess * (means[i] - mean) - along
            slope = y[i] * (product + bias) - 1
            gradient[i] = slope
            gap += before * slope + (cost[i] * -slope if slope < 0 else 0)
            if (before == 0 and slope > upper) or (before == cost[i] and slope < lower):
                active -= 1
                order[place], order[active] = order[active], i
                continue
            place += 1
            if before == 0 and slope > 0 or before == cost[i] and slope < 0:
                largest, least = max(largest, 0.0), min(least, 0.0)
                continue
            largest, least = max(largest, slope), min(least, slope)
            after = before - slope / (squares[i] + sigma)
            after = 0 if after < 0 else cost[i] if after > cost[i] else after
            change = after - before
            if change == 0:
                continue
            alpha[i] = after
            operations.axpy(operations.state, i, y[i] * change, w)
            bias += sigma * y[i] * change
            total += change
            quadratic += change * (y[i] * product + 0.5 * squares[i] * change)
            excess += y[i] * change
            along += y[i] * change * means[i]
    sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], sums[6] = (
        bias, total, quadratic, excess, along, largest, least
    )
    return active, gap
