"""One pass of dual coordinate descent for the support vector machine over feature vectors that are never stored."""

from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.math cimport INFINITY
from libc.stdint cimport int64_t, uint64_t

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
