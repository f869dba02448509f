"""Loops of the P-SVM: violations of the optimality conditions, coordinate descent."""

from libc.math cimport fabs


cdef inline double violation(double alpha, double gradient, double epsilon, double cost) noexcept nogil:
    """Return how far below zero the slope of the best direction is: zero where α_j is optimal."""
    cdef double up = -(gradient + (epsilon if alpha >= 0 else -epsilon)) if alpha < cost else 0.0
    cdef double down = gradient + (epsilon if alpha > 0 else -epsilon) if alpha > -cost else 0.0
    return max(0.0, up, down)


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
            out[j] = violation(alpha[j], gradient[j], epsilon, cost)


def descend(
    const double[:, ::1] Q,
    double[::1] alpha,
    double[::1] gradient,
    double epsilon,
    double cost,
    double tolerance,
    Py_ssize_t limit,
    double[::1] gains,
):
    """Minimise ½ αᵀQα − cᵀα + ε‖α‖₁ over |α_j| ≤ cost, one variable at a time; return the number of moves.

    With the others fixed, the best α_j is α_j − g_j / Q_jj, soft-thresholded and clipped. The variable moved
    is the one whose move lowers the objective most (second-order selection: Fan, Chen & Lin 2005). Stops when
    none violates its condition by more than `tolerance`, or after `limit` moves. `alpha` and `gradient`
    (Qα − c) are changed in place; `gains` is room for one number a variable. All diagonal elements of Q are
    equal.
    """
    cdef Py_ssize_t n = alpha.shape[0], moves = 0, best, j
    cdef double q = Q[0, 0], threshold = epsilon / q, new, step, worst
    with nogil:
        while moves < limit:
            worst = 0.0
            for j in range(n):
                new = moved(alpha[j] - gradient[j] / q, threshold, cost)
                step = new - alpha[j]
                gains[j] = -step * (gradient[j] + 0.5 * q * step) - epsilon * (fabs(new) - fabs(alpha[j]))
                worst = max(worst, violation(alpha[j], gradient[j], epsilon, cost))
            best = 0
            for j in range(1, n):
                if gains[j] > gains[best]:
                    best = j
            if worst <= tolerance or gains[best] <= 0:
                break
            new = moved(alpha[best] - gradient[best] / q, threshold, cost)
            step = new - alpha[best]
            alpha[best] = new
            for j in range(n):
                gradient[j] += step * Q[best, j]
            moves += 1
    return moves


cdef inline double moved(double target, double threshold, double cost) noexcept nogil:
    """Return `target` soft-thresholded and clipped to the box."""
    target = target - max(-threshold, min(threshold, target))
    return max(-cost, min(cost, target))
