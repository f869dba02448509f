"""Loops over the columns of a dense matrix: moments, products with the standardised matrix.

Everywhere `columns` is the transposed matrix (N, l): its row j is column j of K, contiguous in memory. The
standardised column k̃_j = (k_j − means[j]) / scales[j] is never stored; scales[j] = 0 marks a constant one,
whose k̃_j is 0.
"""

from libc.stdint cimport int64_t

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
