"""The loops of the P-SVM: over the columns of a matrix, dense or sparse, and of the minimiser.

Everywhere `columns` is the transposed matrix (N, l): its row j is column j of K, contiguous in memory. The
standardised column k̃_j = (k_j − means[j]) / scales[j] is never stored; scales[j] = 0 marks a constant one,
whose k̃_j is 0.
"""

from libc.math cimport fabs, sqrt
from libc.stdint cimport int32_t, int64_t

# ---- dense columns -------------------------------------------------------------------------------

cdef extern from "_centred.h":
    enum: CENTRED_TOGETHER
    int highest_simd_level() nogil
    double centred_product(
        int level, const double *column, double mean, const double *vector, Py_ssize_t length
    ) nogil
    void centred_moments(
        int level, const double *column, Py_ssize_t length, double *mean, double *scale
    ) nogil
    void add_centred(
        int level,
        const double **columns,
        const double *means,
        const double *weights,
        int count,
        Py_ssize_t length,
        double *out,
    ) nogil

cdef extern from "_descent.h":
    double descent_goal(double value, double threshold, double cost) nogil

ctypedef fused floating:
    float
    double

cdef int LEVEL = highest_simd_level()


def simd_level():
    """Return the highest level of vector instructions here: 0 plain, 1 AVX2, 2 AVX-512."""
    return LEVEL


def moments(const double[:, ::1] columns, double[::1] means, double[::1] scales, int level=LEVEL):
    """Write mean and standard deviation (divisor l) of each column; 0 for one constant but for rounding."""
    cdef Py_ssize_t j
    with nogil:
        for j in range(columns.shape[0]):
            centred_moments(level, &columns[j, 0], columns.shape[1], &means[j], &scales[j])


def products(
    const double[:, ::1] columns,
    const double[::1] means,
    const double[::1] scales,
    const int64_t[::1] which,
    const double[::1] vector,
    double[::1] out,
    int level=LEVEL,
):
    """Write the elements `which`, or all if it is None, of K̃ᵀ · vector to `out`."""
    cdef Py_ssize_t length = columns.shape[1], place, j
    cdef double product
    with nogil:
        for place in range(out.shape[0]):
            j = place if which is None else which[place]
            if scales[j] == 0:
                out[place] = 0.0
                continue
            product = centred_product(level, &columns[j, 0], means[j], &vector[0], length)
            out[place] = product / scales[j]


def combine(
    const double[:, ::1] columns,
    const double[::1] means,
    const double[::1] scales,
    const double[::1] alpha,
    double[::1] out,
    int level=LEVEL,
):
    """Add K̃ · alpha to `out`, shape (l,)."""
    cdef Py_ssize_t length = columns.shape[1], j
    cdef const double *some[CENTRED_TOGETHER]
    cdef double middles[CENTRED_TOGETHER]
    cdef double weights[CENTRED_TOGETHER]
    cdef int count = 0
    with nogil:
        for j in range(columns.shape[0]):
            if alpha[j] != 0 and scales[j] != 0:
                some[count] = &columns[j, 0]
                middles[count] = means[j]
                weights[count] = alpha[j] / scales[j]
                count += 1
                if count == CENTRED_TOGETHER:
                    add_centred(level, some, middles, weights, count, length, &out[0])
                    count = 0
        add_centred(level, some, middles, weights, count, length, &out[0])


def sweep(
    const double[:, ::1] columns,
    const double[::1] means,
    const double[::1] scales,
    const int64_t[::1] which,
    double[::1] alpha,
    double[::1] residual,
    double epsilon,
    double cost,
    int level=LEVEL,
):
    """Minimise ½ ‖K̃α − y‖² + ε‖α‖₁ over |α_j| ≤ cost for each of `which`, in turn; return how many have moved.

    `alpha` and `residual` (K̃α − y) are changed in place.
    """
    cdef Py_ssize_t length = columns.shape[1], place, j, moves = 0
    cdef const double *column
    cdef double gradient, goal, weight, mean
    with nogil:
        for place in range(which.shape[0]):
            j = which[place]
            if scales[j] == 0:
                continue
            column = &columns[j, 0]
            mean = means[j]
            gradient = centred_product(level, column, mean, &residual[0], length) / scales[j]
            goal = descent_goal(alpha[j] - gradient / length, epsilon / length, cost)
            if goal != alpha[j]:
                weight = (goal - alpha[j]) / scales[j]
                add_centred(level, &column, &mean, &weight, 1, length, &residual[0])
                alpha[j] = goal
                moves += 1
    return moves


def standardise(
    const double[:, ::1] columns,
    const double[::1] means,
    const double[::1] scales,
    const int64_t[::1] which,
    floating[:, ::1] out,
):
    """Write the columns `which` of K̃ to the rows of `out`, (w, l)."""
    cdef Py_ssize_t place, i, j
    cdef double mean, scale
    with nogil:
        for place in range(which.shape[0]):
            j = which[place]
            mean = means[j]
            scale = scales[j]
            for i in range(columns.shape[1]):
                out[place, i] = <floating>((columns[j, i] - mean) / scale) if scale != 0 else <floating>0.0


def add_products_by_rows(
    const double[:, ::1] rows,
    const double[::1] means,
    const double[::1] vector,
    double[::1] out,
):
    """Add Σ_i (rows[i, j] − means[j]) · vector[i] to out[j], for consecutive rows of K."""
    cdef Py_ssize_t i, j
    with nogil:
        for i in range(rows.shape[0]):
            for j in range(rows.shape[1]):
                out[j] += (rows[i, j] - means[j]) * vector[i]


# ---- sparse columns, stored as such (CSC) ---------------------------------------------------------

# Entry p of column j, for indptr[j] ≤ p < indptr[j + 1], is data[p] in row indices[p]; no row comes twice. Elements
# that are not stored are zero, and (0 − mean) in K̃: what they add is taken together. A column whose elements are all
# stored is computed as if dense, so that nothing is lost where its mean is far above its scale.

ctypedef fused index:
    int32_t
    int64_t


def sparse_moments(
    const double[::1] data, const index[::1] indptr, Py_ssize_t length, double[::1] means, double[::1] scales
):
    """Write mean and standard deviation (divisor l) of each column; 0 for one constant but for rounding."""
    cdef Py_ssize_t j, p
    cdef double total, square, rest, largest, mean
    with nogil:
        for j in range(means.shape[0]):
            total = 0.0
            largest = 0.0
            for p in range(indptr[j], indptr[j + 1]):
                total += data[p]
                largest = max(largest, fabs(data[p]))
            mean = total / length
            rest = -(length - (indptr[j + 1] - indptr[j])) * mean
            square = -rest * mean
            for p in range(indptr[j], indptr[j + 1]):
                rest += data[p] - mean
                square += (data[p] - mean) * (data[p] - mean)
            # The sum of the deviations corrects both (Chan, Golub & LeVeque 1983).
            means[j] = mean + rest / length
            scales[j] = sqrt(max(0.0, square - rest * rest / length) / length)
            if scales[j] <= 1e-12 * largest:
                scales[j] = 0.0


def sparse_products(
    const double[::1] data,
    const index[::1] indices,
    const index[::1] indptr,
    const double[::1] means,
    const double[::1] scales,
    const int64_t[::1] which,
    const double[::1] vector,
    double[::1] out,
):
    """Write the elements `which`, or all if it is None, of K̃ᵀ · vector to `out`."""
    cdef Py_ssize_t length = vector.shape[0], place, i, j, p
    cdef double whole = 0.0, total, stored, mean
    with nogil:
        for i in range(length):
            whole += vector[i]
        for place in range(out.shape[0]):
            j = place if which is None else which[place]
            if scales[j] == 0:
                out[place] = 0.0
                continue
            mean = means[j]
            total = 0.0
            stored = 0.0
            for p in range(indptr[j], indptr[j + 1]):
                total += (data[p] - mean) * vector[indices[p]]
                stored += vector[indices[p]]
            if indptr[j + 1] - indptr[j] < length:
                total -= mean * (whole - stored)
            out[place] = total / scales[j]


def sparse_combine(
    const double[::1] data,
    const index[::1] indices,
    const index[::1] indptr,
    const double[::1] means,
    const double[::1] scales,
    const double[::1] alpha,
    double[::1] out,
):
    """Add K̃ · alpha to `out`, shape (l,)."""
    cdef Py_ssize_t i, j, p
    cdef double weight, shift, everywhere = 0.0
    with nogil:
        for j in range(alpha.shape[0]):
            if alpha[j] != 0 and scales[j] != 0:
                weight = alpha[j] / scales[j]
                shift = means[j] if indptr[j + 1] - indptr[j] == out.shape[0] else 0.0
                for p in range(indptr[j], indptr[j + 1]):
                    out[indices[p]] += weight * (data[p] - shift)
                if shift == 0:
                    everywhere += weight * means[j]
        for i in range(out.shape[0]):
            out[i] -= everywhere


def sparse_standardise(
    const double[::1] data,
    const index[::1] indices,
    const index[::1] indptr,
    const double[::1] means,
    const double[::1] scales,
    const int64_t[::1] which,
    double[:, ::1] out,
):
    """Write the columns `which` of K̃ to the rows of `out`, (w, l)."""
    cdef Py_ssize_t place, i, j, p
    cdef double mean, scale
    with nogil:
        for place in range(which.shape[0]):
            j = which[place]
            mean = means[j]
            scale = scales[j]
            for i in range(out.shape[1]):
                out[place, i] = -mean / scale if scale != 0 else 0.0
            if scale != 0:
                for p in range(indptr[j], indptr[j + 1]):
                    out[place, indices[p]] = (data[p] - mean) / scale


# ---- coordinate descent on a working set, and violations of the conditions -----------------------

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
    double descent_violation(double alpha, double gradient, double epsilon, double cost) nogil
    void descend_at(int level, descent *d) nogil


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
