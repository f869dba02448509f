"""Sequential minimal optimisation on rows of a kernel matrix that are taken when needed: see smo.py."""

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport INFINITY
from libc.stdint cimport int64_t, uint8_t

import numpy as np

cdef extern from "_smo.h" nogil:
    int SMO_UP
    int SMO_LOW
    ptrdiff_t smo_first(const int64_t *, ptrdiff_t, const double *, const uint8_t *, double *)
    ptrdiff_t smo_second(
        const int64_t *, ptrdiff_t, const double *, const uint8_t *, const float *, const double *, ptrdiff_t, double,
        double, double *
    )
    int highest_simd_level()
    void smo_add_two(int, double *, ptrdiff_t, ptrdiff_t, const float *, double, const float *, double)
    void smo_add(int, double *, ptrdiff_t, ptrdiff_t, const float *, double)
    ptrdiff_t smo_shrink(int64_t *, ptrdiff_t, const double *, const uint8_t *, double, double)
    void smo_violation(const int64_t *, ptrdiff_t, const double *, const uint8_t *, double *, double *)
    void smo_step(double *, double *, int, double, double, double, double, double)

cdef int64_t SHRINK_EVERY = 1000
cdef int64_t NONE = -1
cdef int LEVEL = highest_simd_level()


cdef class RowCache:
    """The rows used last, in single precision."""

    cdef object _read
    cdef float[:, ::1] _store
    cdef int64_t[::1] _slot  # of each sample; NONE: not kept
    cdef int64_t[::1] _owner  # the sample in each slot
    cdef int64_t[::1] _newer  # of each slot, used later and ...
    cdef int64_t[::1] _older  # ... used earlier
    cdef int64_t _newest
    cdef int64_t _oldest
    cdef int64_t _used
    cdef readonly int64_t reads

    def __init__(self, read, Py_ssize_t n, Py_ssize_t kept):
        self._read = read
        self._store = np.empty((kept, n), dtype=np.float32)
        self._slot = np.full(n, NONE, dtype=np.int64)
        self._owner = np.full(kept, NONE, dtype=np.int64)
        self._newer = np.full(kept, NONE, dtype=np.int64)
        self._older = np.full(kept, NONE, dtype=np.int64)
        self._newest = self._oldest = NONE
        self._used = 0
        self.reads = 0

    cdef void _leave(self, int64_t slot) noexcept:
        """Take a slot out of the sequence of use."""
        cdef int64_t newer = self._newer[slot], older = self._older[slot]
        if newer == NONE:
            self._newest = older
        else:
            self._older[newer] = older
        if older == NONE:
            self._oldest = newer
        else:
            self._newer[older] = newer

    cdef void _enter(self, int64_t slot) noexcept:
        """Put a slot at the end of the sequence of use."""
        self._newer[slot] = NONE
        self._older[slot] = self._newest
        if self._newest == NONE:
            self._oldest = slot
        else:
            self._newer[self._newest] = slot
        self._newest = slot

    cdef const float *get(self, Py_ssize_t sample) except NULL:
        """Return a row, which stays valid until two others have been asked for."""
        cdef int64_t slot = self._slot[sample]
        if slot != NONE:
            if slot != self._newest:
                self._leave(slot)
                self._enter(slot)
            return &self._store[slot, 0]
        if self._used < self._store.shape[0]:
            slot = self._used
            self._used += 1
        else:
            slot = self._oldest
            self._leave(slot)
            self._slot[self._owner[slot]] = NONE
            self._owner[slot] = NONE
        self._enter(slot)
        np.asarray(self._store[slot])[:] = self._read(sample)
        self._owner[slot] = sample
        self._slot[sample] = slot
        self.reads += 1
        return &self._store[slot, 0]


cdef class Minimiser:
    """Minimises ½ αᵀQα + pᵀα over 0 ≤ α ≤ cost and constant yᵀα, with Q[t, u] = y[t] y[u] K[t, u].

    With 2n variables, both of sample s = t modulo n, as a regression has.
    """

    cdef RowCache _rows
    cdef Py_ssize_t _n
    cdef Py_ssize_t _size
    cdef Py_ssize_t _active
    cdef const double[::1] _y
    cdef const double[::1] _linear
    cdef const double[::1] _cost
    cdef const double[::1] _diagonal
    cdef int64_t[::1] _order
    cdef double[::1] _alpha
    cdef double[::1] _gradient  # times y
    cdef double[::1] _at_cost  # the share of the gradient, times y, of variables at their cost
    cdef uint8_t[::1] _moves

    def __init__(self, RowCache rows, y, linear, cost, diagonal, order, alpha):
        cdef Py_ssize_t t
        self._rows = rows
        self._n, self._size = len(diagonal), len(y)
        self._active = self._size
        self._y, self._linear, self._cost, self._diagonal = y, linear, cost, diagonal
        self._order, self._alpha = order, alpha
        self._gradient = np.multiply(y, linear)
        self._at_cost = np.zeros(self._size)
        self._moves = np.empty(self._size, dtype=np.uint8)
        for t in range(self._size):
            self._mark(t)
            if alpha[t] > 0:
                self._add(self._gradient, t, self._alpha[t])
                if alpha[t] >= cost[t]:
                    self._add(self._at_cost, t, self._cost[t])

    cdef void _mark(self, Py_ssize_t t) noexcept:
        """Set in which directions a variable may move."""
        cdef bint grows = self._alpha[t] < self._cost[t], shrinks = self._alpha[t] > 0
        if self._y[t] < 0:
            grows, shrinks = shrinks, grows
        self._moves[t] = (SMO_UP if grows else 0) | (SMO_LOW if shrinks else 0)

    cdef int _add(self, double[::1] to, Py_ssize_t t, double alpha) except -1:
        """Add what α of a variable contributes to the gradient times y."""
        cdef const float *row = self._rows.get(t % self._n)
        cdef double factor = alpha * self._y[t]
        with nogil:
            smo_add(LEVEL, &to[0], self._size, self._n, row, factor)
        return 0

    cdef int _return_all(self) except -1:
        """Return the variables set aside, with their gradients."""
        cdef Py_ssize_t k, t
        cdef double[::1] fresh
        cdef int64_t[::1] order = self._order
        if self._active == self._size:
            return 0
        fresh = np.asarray(self._at_cost) + np.multiply(self._y, self._linear)
        for k in range(self._active):
            t = order[k]
            if self._moves[t] == (SMO_UP | SMO_LOW):
                self._add(fresh, t, self._alpha[t])
                PyErr_CheckSignals()
        for k in range(self._active, self._size):
            self._gradient[order[k]] = fresh[order[k]]
        self._active = self._size
        return 0

    cdef bint _select(self, double tol, Py_ssize_t *first, Py_ssize_t *second) except -1:
        """Find the two variables to change; return False if none violates its condition."""
        cdef double largest, most
        cdef const float *row
        with nogil:
            first[0] = smo_first(&self._order[0], self._active, &self._gradient[0], &self._moves[0], &largest)
        if first[0] < 0:
            return False
        row = self._rows.get(first[0] % self._n)
        with nogil:
            second[0] = smo_second(
                &self._order[0], self._active, &self._gradient[0], &self._moves[0], row, &self._diagonal[0], self._n,
                self._diagonal[first[0] % self._n], largest, &most
            )
        return second[0] >= 0 and not largest + most < tol

    cdef int _change(self, Py_ssize_t i, Py_ssize_t j) except -1:
        """Minimise over two variables."""
        cdef const float *row_i = self._rows.get(i % self._n)
        cdef const float *row_j = self._rows.get(j % self._n)
        cdef double y_i = self._y[i], y_j = self._y[j]
        cdef double alpha_i = self._alpha[i], alpha_j = self._alpha[j], u, v
        cdef bint full_i = alpha_i >= self._cost[i], full_j = alpha_j >= self._cost[j]
        cdef double curvature = self._diagonal[i % self._n] + self._diagonal[j % self._n] - 2.0 * row_i[j % self._n]
        smo_step(
            &self._alpha[i], &self._alpha[j], y_i == y_j, y_i * self._gradient[i], y_j * self._gradient[j], curvature,
            self._cost[i], self._cost[j]
        )
        u, v = y_i * (self._alpha[i] - alpha_i), y_j * (self._alpha[j] - alpha_j)
        with nogil:
            smo_add_two(LEVEL, &self._gradient[0], self._size, self._n, row_i, u, row_j, v)
        self._mark(i)
        self._mark(j)
        if full_i != (self._alpha[i] >= self._cost[i]):
            self._add(self._at_cost, i, -self._cost[i] if full_i else self._cost[i])
        if full_j != (self._alpha[j] >= self._cost[j]):
            self._add(self._at_cost, j, -self._cost[j] if full_j else self._cost[j])
        return 0

    def run(self, double tol, int64_t max_iter, tell=None):
        """Minimise until the largest violation is below `tol`; return (converged, iterations).

        ``tell(iterations)`` is called from time to time.
        """
        cdef int64_t iterations = 0, every = min(self._size, SHRINK_EVERY), left = every + 1
        cdef Py_ssize_t i, j
        cdef double up, low
        cdef bint returned = False, converged = False
        while iterations < max_iter:
            left -= 1
            if left == 0:
                left = every
                smo_violation(&self._order[0], self._active, &self._gradient[0], &self._moves[0], &up, &low)
                if not returned and up + low <= 10 * tol:
                    returned = True
                    self._return_all()
                self._active = smo_shrink(
                    &self._order[0], self._active, &self._gradient[0], &self._moves[0], up, low
                )
                PyErr_CheckSignals()
                if tell is not None:
                    tell(iterations)
            if not self._select(tol, &i, &j):
                self._return_all()
                if not self._select(tol, &i, &j):
                    converged = True
                    break
                left = 1
            iterations += 1
            self._change(i, j)
        self._return_all()
        return converged, iterations

    def bias(self):
        """Return ρ: the mean of the gradient times y of variables between their bounds, or the middle of its limits."""
        cdef double total = 0, least = INFINITY, most = -INFINITY, value
        cdef Py_ssize_t k, t, free = 0
        for k in range(self._size):
            t = self._order[k]
            value = self._gradient[t]
            if self._moves[t] == (SMO_UP | SMO_LOW):
                free += 1
                total += value
            elif self._moves[t] == SMO_UP:
                least = min(least, value)
            else:
                most = max(most, value)
        return total / free if free else (least + most) / 2
