"""Walsh-Hadamard transforms of the l-mer counts of DNA; see `_hadamard.h`."""

from libc.stdint cimport int16_t, int32_t

cdef extern from "_panel.h":
    enum:
        PANEL

cdef extern from "_hadamard.h" nogil:
    void hadamard(int level, int16_t *table, Py_ssize_t length)
    void choose_numbers "choose"(
        const int16_t *table, const int32_t *order, Py_ssize_t n, Py_ssize_t halved, int16_t *chosen)


def transform(int level, int16_t[:, :, ::1] tables):
    """Transform the counts of each record, in place.

    Parameters
    ----------
    level : int
        Of vector instructions.
    tables : (panels, 4^l, 16)
    """
    cdef Py_ssize_t p
    with nogil:
        for p in range(tables.shape[0]):
            hadamard(level, &tables[p, 0, 0], tables.shape[1] * PANEL)


def choose(
    const int16_t[:, :, ::1] tables, const int32_t[::1] order, Py_ssize_t halved, int16_t[:, :, ::1] chosen
):
    """Set chosen[:, i] to the numbers of feature order[i]; half of them for the last `halved` of these features."""
    cdef Py_ssize_t p
    if order.shape[0] == 0:
        return
    with nogil:
        for p in range(tables.shape[0]):
            choose_numbers(&tables[p, 0, 0], &order[0], order.shape[0], halved, &chosen[p, 0, 0])
