"""Loops of the P-SVM: moments of columns, products with the standardised matrix, coordinate descent.

Everywhere `columns` is the transposed matrix (N, l): its row j is column j of K, contiguous in memory. The
standardised column k̃_j = (k_j − means[j]) / scales[j] is never stored; scales[j] = 0 marks a constant one,
whose k̃_j is 0.
"""

from libc.math cimport fabs, sqrt


def is_symmetric(const double[:, :] matrix):
    """Return whether a square matrix equals its transpose, bit for bit; by tiles that fit the cache."""
    cdef Py_ssize_t n = matrix.shape[0], top, left, i, j
    cdef bint same = True
    with nogil:
        for top in range(0, n, 32):
            for left in range(0, top + 1, 32):
                for i in range(top, min(top + 32, n)):
                    for j in range(left, min(left + 32, i)):
                        same &= matrix[i, j] == matrix[j, i]
            if not same:
                break
    return same


def moments(const double[:, ::1] columns, double[::1] means, double[::1] scales):
    """Write mean and standard deviation (divisor l) of each column; 0 for one constant but for rounding."""
    cdef Py_ssize_t length = columns.shape[1], i, j
    cdef double total, square, largest, mean
    with nogil:
        for j in range(columns.shape[0]):
            total = 0.0
            largest = 0.0
            for i in range(length):
                total += columns[j, i]
                largest = max(largest, fabs(columns[j, i]))
            mean = total / length
            square = 0.0
            for i in range(length):
                square += (columns[j, i] - mean) * (columns[j, i] - mean)
            means[j] = mean
            scales[j] = sqrt(square / length)
            if scales[j] <= 1e-12 * largest:
                scales[j] = 0.0


def products(
    const double[:, ::1] columns,
    const double[::1] means,
    const double[::1] scales,
    const double[::1] vector,
    double[::1] out,
):
    """Write K̃ᵀ · vector to `out`, shape (N,).

    The mean is taken off before the product: were it far above the scale, the sum would lose its last digits.
    Eight partial sums let the compiler use vector instructions without reordering anything.
    """
    cdef Py_ssize_t length = columns.shape[1], whole = length - length % 8, i, j, lane
    cdef double mean, total
    cdef double[8] sums
    cdef const double *column
    with nogil:
        for j in range(columns.shape[0]):
            if scales[j] == 0:
                out[j] = 0.0
                continue
            mean = means[j]
            column = &columns[j, 0]
            for lane in range(8):
                sums[lane] = 0.0
            for i in range(0, whole, 8):
                for lane in range(8):
                    sums[lane] += (column[i + lane] - mean) * vector[i + lane]
            total = 0.0
            for i in range(whole, length):
                total += (column[i] - mean) * vector[i]
            for lane in range(8):
                total += sums[lane]
            out[j] = total / scales[j]


def combine(
    const double[:, ::1] columns,
    const double[::1] means,
    const double[::1] scales,
    const double[::1] alpha,
    double[::1] out,
):
    """Add K̃ · alpha to `out`, shape (l,)."""
    cdef Py_ssize_t i, j
    cdef double weight, mean
    with nogil:
        for j in range(columns.shape[0]):
            if alpha[j] != 0 and scales[j] != 0:
                weight = alpha[j] / scales[j]
                mean = means[j]
                for i in range(columns.shape[1]):
                    out[i] += weight * (columns[j, i] - mean)


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
