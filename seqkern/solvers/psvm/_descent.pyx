"""Compiled loops of the minimiser: coordinate descent on a working set, and violations of the conditions."""

from libc.stdint cimport int64_t


cdef extern from "_descent.h":
    ctypedef struct descent:
        const void *Q
        int single
        Py_ssize_t stride, n
        double *alpha
        double *gradient
        double *gains
        double epsilon, cost, tolerance
        Py_ssize_t limit, moves
    int highest_simd_level() nogil
    double descent_violation(double alpha, double gradient, double epsilon, double cost) nogil
    void descend_at(int level, descent *d) nogil

ctypedef fused floating:
    float
    double


def simd_level():
    """Return the highest level of vector instructions here: 0 plain, 1 AVX2, 2 AVX-512."""
    return highest_simd_level()


def violations(
    const double[::1] alpha,
    const double[::1] gradient,
    double epsilon,
    double cost,
    double[::1] out,
):
    """Write by how much each variable violates its optimality condition."""
    cdef Py_ssize_t j
    with nogil:
        for j in range(alpha.shape[0]):
            out[j] = descent_violation(alpha[j], gradient[j], epsilon, cost)


def descend(
    const floating[:, :] Q,
    double[::1] alpha,
    double[::1] gradient,
    double epsilon,
    double cost,
    double tolerance,
    Py_ssize_t limit,
    double[::1] gains,
    int level=highest_simd_level(),
):
    """Minimise ½ αᵀQα − cᵀα + ε‖α‖₁ over |α_j| ≤ cost, one variable at a time; return the number of moves.

    Stops when no variable violates its condition by more than `tolerance`, or after `limit` moves. `alpha` and
    `gradient` (Qα − c) are changed in place; `gains` is room for one number a variable. The rows of `Q` are
    contiguous. `level` is one of vector instructions, `simd_level()` at most.
    """
    cdef descent d
    d.Q = &Q[0, 0]
    d.single = floating is float
    d.stride = Q.strides[0] // <Py_ssize_t>sizeof(floating)
    d.n = alpha.shape[0]
    d.alpha = &alpha[0]
    d.gradient = &gradient[0]
    d.gains = &gains[0]
    d.epsilon = epsilon
    d.cost = cost
    d.tolerance = tolerance
    d.limit = limit
    d.moves = 0
    with nogil:
        descend_at(level, &d)
    return d.moves


def gather(const floating[:, :] Q, const int64_t[::1] which, double damping, floating[:, ::1] out):
    """Write the elements below the diagonal of Q[which, which], and the diagonal + damping, to `out`."""
    cdef Py_ssize_t i, j
    cdef const floating *row
    with nogil:
        for i in range(which.shape[0]):
            row = &Q[which[i], 0]
            for j in range(i + 1):
                out[i, j] = row[which[j]]
            out[i, i] += <floating>damping
