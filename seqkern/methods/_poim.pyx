"""Expectations of weighted degree SVMs over random sequences, see ``_poim.h``."""

from libc.stdint cimport int64_t, uint8_t


cdef extern from "_poim.h" nogil:
    ctypedef struct poim_tables:
        Py_ssize_t length
        Py_ssize_t degree
        Py_ssize_t orders
        Py_ssize_t size
        Py_ssize_t shift
        Py_ssize_t width
        const double *beta
        const double *place
        const double *chance
        double *through
        double *left
        double *right
        double *inside
        double *work
    void poim_add(const poim_tables *t, const uint8_t *z, double c)


def add_windows(
    const uint8_t[::1] codes,
    const int64_t[::1] starts,
    const double[::1] coefficients,
    const double[::1] beta,
    const double[:, ::1] place,
    const double[::1] chance,
    Py_ssize_t orders,
    double[:, ::1] tables,
    double[:, ::1] work,
):
    """Add windows ``codes[starts[j] : starts[j] + length]`` with coefficients[j] to `tables`, in order.

    `beta` (degree,) and `place` (2·shift + 1, length) weigh the runs, `chance` (letters,) is positive. `tables` has the
    rows through, left, right and inside, each with (length, letters^n) entries for n = 1, …, `orders`, one n after the
    other. `work` is (2·shift + 4, at least max(degree, orders) + 2).
    """
    cdef poim_tables t
    cdef Py_ssize_t j
    t.length, t.degree, t.orders, t.size = place.shape[1], beta.shape[0], orders, chance.shape[0]
    t.shift, t.width = place.shape[0] // 2, work.shape[1]
    t.beta, t.place, t.chance, t.work = &beta[0], &place[0, 0], &chance[0], &work[0, 0]
    t.through, t.left, t.right, t.inside = &tables[0, 0], &tables[1, 0], &tables[2, 0], &tables[3, 0]
    with nogil:
        for j in range(starts.shape[0]):
            poim_add(&t, &codes[starts[j]], coefficients[j])
