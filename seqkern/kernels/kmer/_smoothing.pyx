"""Counts of k-mers at up to m mismatches; see `_smoothing.h`."""

from libc.stdint cimport int32_t, uint8_t, uint16_t

cdef extern from "_panel.h":
    enum:
        PANEL

cdef extern from "_smoothing.h" nogil:
    void smooth_bytes(
        int level, uint8_t *table, Py_ssize_t length, int m, Py_ssize_t size, uint8_t *planes)
    void smooth_words(
        int level, uint16_t *table, Py_ssize_t length, int m, Py_ssize_t size, uint16_t *planes)
    void smooth_integers(
        int level, int32_t *table, Py_ssize_t length, int m, Py_ssize_t size, int32_t *planes)
    void choose_bytes(
        const uint8_t *table, const int32_t *order, Py_ssize_t n, Py_ssize_t halved, uint8_t *folded)
    void choose_words(
        const uint16_t *table, const int32_t *order, Py_ssize_t n, Py_ssize_t halved, uint16_t *folded)
    void choose_integers(
        const int32_t *table, const int32_t *order, Py_ssize_t n, Py_ssize_t halved, int32_t *folded)

ctypedef fused count_t:
    uint8_t
    uint16_t
    int32_t


def smooth(int level, count_t[:, :, ::1] tables, int m, Py_ssize_t size, count_t[::1] planes):
    """Replace the k-mer counts of each record by the counts of k-mers at up to `m` mismatches.

    Parameters
    ----------
    level : int
        Of vector instructions.
    tables : (panels, size^k, 16)
    m : int
        At least 1.
    size : int
        Letters of the alphabet.
    planes : (m · size^k · 16,)
        Scratch.
    """
    cdef Py_ssize_t p, length = tables.shape[1] * PANEL
    with nogil:
        for p in range(tables.shape[0]):
            if count_t is uint8_t:
                smooth_bytes(level, &tables[p, 0, 0], length, m, size, &planes[0])
            elif count_t is uint16_t:
                smooth_words(level, &tables[p, 0, 0], length, m, size, &planes[0])
            else:
                smooth_integers(level, &tables[p, 0, 0], length, m, size, &planes[0])


def choose(const count_t[:, :, ::1] tables, const int32_t[::1] order, Py_ssize_t halved, count_t[:, :, ::1] folded):
    """Set folded[:, i] to the counts of feature order[i]; half of them for the last `halved` of these features."""
    cdef Py_ssize_t p, n = order.shape[0]
    with nogil:
        for p in range(tables.shape[0]):
            if count_t is uint8_t:
                choose_bytes(&tables[p, 0, 0], &order[0], n, halved, &folded[p, 0, 0])
            elif count_t is uint16_t:
                choose_words(&tables[p, 0, 0], &order[0], n, halved, &folded[p, 0, 0])
            else:
                choose_integers(&tables[p, 0, 0], &order[0], n, halved, &folded[p, 0, 0])
