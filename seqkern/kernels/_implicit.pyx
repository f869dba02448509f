"""Feature vectors for compiled training: rows of a sparse matrix, weighted sums of others, and loops over any.

A class here fills the table of functions of `_implicit.h` and hands it out as a capsule, which keeps the object, and so
the arrays behind the table, alive.
"""

from cpython.pycapsule cimport (
    PyCapsule_GetContext,
    PyCapsule_GetPointer,
    PyCapsule_New,
    PyCapsule_SetContext,
)
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc

cdef extern from "_implicit.h":
    const char *SEQKERN_IMPLICIT
    ctypedef struct ImplicitOperations:
        const void *state
        double (*dot)(const void *, int64_t, const double *) noexcept nogil
        void (*axpy)(const void *, int64_t, double, double *) noexcept nogil


cdef void release(object capsule) noexcept:
    """Let go of the object that a capsule has kept alive."""
    Py_DECREF(<object>PyCapsule_GetContext(capsule))


cdef object in_capsule(ImplicitOperations *operations, object owner):
    """Return a capsule of `operations`, a member of `owner`, which it keeps alive."""
    capsule = PyCapsule_New(operations, SEQKERN_IMPLICIT, release)
    PyCapsule_SetContext(capsule, <void *>owner)
    Py_INCREF(owner)
    return capsule


cdef const ImplicitOperations *operations_of(object capsule) except NULL:
    """Return the table of functions in a capsule."""
    return <const ImplicitOperations *>PyCapsule_GetPointer(capsule, SEQKERN_IMPLICIT)


# ---- rows of a sparse matrix ---------------------------------------------------------------------------------

ctypedef struct Rows:
    const int64_t *start
    const int32_t *feature
    const void *value


cdef double dot_counts(const void *state, int64_t row, const double *weights) noexcept nogil:
    cdef const Rows *rows = <const Rows *>state
    cdef const int32_t *count = <const int32_t *>rows.value
    cdef double total = 0
    cdef int64_t q
    for q in range(rows.start[row], rows.start[row + 1]):
        total += count[q] * weights[rows.feature[q]]
    return total


cdef void axpy_counts(const void *state, int64_t row, double factor, double *weights) noexcept nogil:
    cdef const Rows *rows = <const Rows *>state
    cdef const int32_t *count = <const int32_t *>rows.value
    cdef int64_t q
    for q in range(rows.start[row], rows.start[row + 1]):
        weights[rows.feature[q]] += factor * count[q]


cdef double dot_reals(const void *state, int64_t row, const double *weights) noexcept nogil:
    cdef const Rows *rows = <const Rows *>state
    cdef const double *value = <const double *>rows.value
    cdef double total = 0
    cdef int64_t q
    for q in range(rows.start[row], rows.start[row + 1]):
        total += value[q] * weights[rows.feature[q]]
    return total


cdef void axpy_reals(const void *state, int64_t row, double factor, double *weights) noexcept nogil:
    cdef const Rows *rows = <const Rows *>state
    cdef const double *value = <const double *>rows.value
    cdef int64_t q
    for q in range(rows.start[row], rows.start[row + 1]):
        weights[rows.feature[q]] += factor * value[q]


cdef class SparseRows:
    """The rows of a matrix with few values that are not zero.

    Parameters
    ----------
    start : ndarray of int64, shape (n + 1,)
    feature : ndarray of int32, shape (entries,)
    count : ndarray of int32, shape (entries,), or None
    real : ndarray of float64, shape (entries,), or None
        The values, whole numbers or real ones; the other is None.
    """

    cdef Rows rows
    cdef ImplicitOperations operations
    cdef const int64_t[::1] start
    cdef const int32_t[::1] feature
    cdef const int32_t[::1] count
    cdef const double[::1] real

    def __init__(
        self,
        const int64_t[::1] start,
        const int32_t[::1] feature,
        const int32_t[::1] count,
        const double[::1] real,
    ):
        self.start, self.feature, self.count, self.real = start, feature, count, real
        self.rows.start = &start[0]
        self.rows.feature = &feature[0] if feature.shape[0] else NULL
        self.operations.state = &self.rows
        if real is None:
            self.rows.value = &count[0] if count.shape[0] else NULL
            self.operations.dot, self.operations.axpy = dot_counts, axpy_counts
        else:
            self.rows.value = &real[0] if real.shape[0] else NULL
            self.operations.dot, self.operations.axpy = dot_reals, axpy_reals

    @property
    def capsule(self):
        """The table of functions."""
        return in_capsule(&self.operations, self)

    def squares(self, double[::1] out):
        """Write Σ value² of each row to `out` (n,)."""
        cdef Py_ssize_t i
        cdef int64_t q
        cdef double total, value
        for i in range(out.shape[0]):
            total = 0
            for q in range(self.start[i], self.start[i + 1]):
                value = self.count[q] if self.real is None else self.real[q]
                total += value * value
            out[i] = total


# ---- weighted sums of others, of some of their rows ----------------------------------------------------------

ctypedef struct Combination:
    int64_t parts
    const ImplicitOperations **operations
    const int64_t *offset
    const double *factor
    const int64_t *row
    const double *scale


cdef double dot_combined(const void *state, int64_t row, const double *weights) noexcept nogil:
    """The factor of a part counts here alone: after both functions it is there once."""
    cdef const Combination *own = <const Combination *>state
    cdef int64_t p, inner = own.row[row] if own.row != NULL else row
    cdef double total = 0
    for p in range(own.parts):
        total += own.factor[p] * own.operations[p].dot(own.operations[p].state, inner, weights + own.offset[p])
    return total * own.scale[row] if own.scale != NULL else total


cdef void axpy_combined(const void *state, int64_t row, double factor, double *weights) noexcept nogil:
    cdef const Combination *own = <const Combination *>state
    cdef int64_t p, inner = own.row[row] if own.row != NULL else row
    if own.scale != NULL:
        factor *= own.scale[row]
    for p in range(own.parts):
        own.operations[p].axpy(own.operations[p].state, inner, factor, weights + own.offset[p])


cdef class CombinedRows:
    """Rows of Σ_p factor_p·K_p, each divided by a number of its own.

    Parameters
    ----------
    capsules : list of PyCapsule
        The parts.
    offset : ndarray of int64, shape (parts,)
        Where the weights of each part begin.
    factor : ndarray of float64, shape (parts,)
    row : ndarray of int64, shape (n,), or None
        Which rows of the parts are taken; None for all.
    scale : ndarray of float64, shape (n,), or None
        Multiplies each feature vector.
    """

    cdef Combination combination
    cdef ImplicitOperations operations
    cdef list capsules
    cdef const int64_t[::1] offset
    cdef const double[::1] factor
    cdef const int64_t[::1] row
    cdef const double[::1] scale

    def __cinit__(self):
        self.combination.operations = NULL

    def __init__(
        self,
        list capsules,
        const int64_t[::1] offset,
        const double[::1] factor,
        const int64_t[::1] row,
        const double[::1] scale,
    ):
        cdef Py_ssize_t p, parts = len(capsules)
        self.capsules, self.offset, self.factor, self.row, self.scale = capsules, offset, factor, row, scale
        self.combination.operations = <const ImplicitOperations **>malloc(parts * sizeof(void *))
        if self.combination.operations == NULL:
            raise MemoryError
        for p in range(parts):
            self.combination.operations[p] = operations_of(capsules[p])
        self.combination.parts = parts
        self.combination.offset = &offset[0]
        self.combination.factor = &factor[0]
        self.combination.row = &row[0] if row is not None and row.shape[0] else NULL
        self.combination.scale = &scale[0] if scale is not None and scale.shape[0] else NULL
        self.operations.state = &self.combination
        self.operations.dot, self.operations.axpy = dot_combined, axpy_combined

    def __dealloc__(self):
        free(self.combination.operations)

    @property
    def capsule(self):
        """The table of functions."""
        return in_capsule(&self.operations, self)


# ---- loops over the rows of any ------------------------------------------------------------------------------


def dots(capsule, const double[::1] weights, double[::1] out):
    """Write the product of the feature vector of each row with `weights` to `out` (n,)."""
    cdef const ImplicitOperations *operations = operations_of(capsule)
    cdef const double *start = &weights[0] if weights.shape[0] else NULL
    cdef Py_ssize_t i
    with nogil:
        for i in range(out.shape[0]):
            out[i] = operations.dot(operations.state, i, start)


def add(capsule, const double[::1] coefficients, double[::1] weights):
    """Add Σ_i coefficients[i]·φ_i to `weights`."""
    cdef const ImplicitOperations *operations = operations_of(capsule)
    cdef double *start = &weights[0] if weights.shape[0] else NULL
    cdef Py_ssize_t i
    with nogil:
        for i in range(coefficients.shape[0]):
            if coefficients[i] != 0:
                operations.axpy(operations.state, i, coefficients[i], start)
