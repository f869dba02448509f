"""Counts of features into packed vectors; see `_panels.h`."""

from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t, uint64_t

cdef extern from "_panel.h":
    enum:
        PANEL

cdef extern from "_panels.h" nogil:
    void measure_bytes(
        int level, const uint8_t *table, Py_ssize_t width, int32_t *peak, uint64_t *totals, uint64_t *squares)
    void measure_words(
        int level, const uint16_t *table, Py_ssize_t width, int32_t *peak, uint64_t *totals, uint64_t *squares)
    void measure_integers(
        int level, const int32_t *table, Py_ssize_t width, int32_t *peak, uint64_t *totals, uint64_t *squares)
    void measure_signed(
        int level, const int16_t *table, Py_ssize_t width, int32_t *peak, uint64_t *totals, uint64_t *squares)
    void pack_signed(int level, const int16_t *table, Py_ssize_t width, int kind, uint8_t *panel)
    void pack_bytes(int level, const uint8_t *table, Py_ssize_t width, int kind, uint8_t *panel)
    void pack_words(int level, const uint16_t *table, Py_ssize_t width, int kind, uint8_t *panel)
    void pack_integers(int level, const int32_t *table, Py_ssize_t width, int kind, uint8_t *panel)

ctypedef fused count_t:
    uint8_t
    uint16_t
    int32_t
    int16_t


def measure(int level, const count_t[:, :, ::1] tables, int64_t[::1] totals, int64_t[::1] squares):
    """Write the sum of the counts of each record, and of their squares; return the largest absolute count.

    Parameters
    ----------
    level : int
        Of vector instructions.
    tables : (panels, features, 16)
    totals, squares : (records,)
        At most 16 records for each panel.
    """
    cdef Py_ssize_t p, r, i, width = tables.shape[1]
    cdef int32_t peak = 0
    cdef uint64_t[PANEL] total
    cdef uint64_t[PANEL] square
    if width == 0:
        return 0
    with nogil:
        for p in range(tables.shape[0]):
            if count_t is uint8_t:
                measure_bytes(level, &tables[p, 0, 0], width, &peak, total, square)
            elif count_t is uint16_t:
                measure_words(level, &tables[p, 0, 0], width, &peak, total, square)
            elif count_t is int16_t:
                measure_signed(level, &tables[p, 0, 0], width, &peak, total, square)
            else:
                measure_integers(level, &tables[p, 0, 0], width, &peak, total, square)
            for r in range(min(<Py_ssize_t>PANEL, squares.shape[0] - p * PANEL)):
                i = p * PANEL + r
                totals[i] = <int64_t>total[r]
                squares[i] = <int64_t>square[r]
    return peak


def pack(int level, const count_t[:, :, ::1] tables, int kind, uint8_t[:, :, :, ::1] packed):
    """Write the counts of each table to a panel of `packed`, in `kind` bytes each, as `_dense.h` lays them out.

    Signed counts in one byte have 128 added to them, and to the places beyond the last.
    """
    cdef Py_ssize_t p, width = tables.shape[1]
    if width == 0:
        return
    with nogil:
        for p in range(tables.shape[0]):
            if count_t is uint8_t:
                pack_bytes(level, &tables[p, 0, 0], width, kind, &packed[p, 0, 0, 0])
            elif count_t is uint16_t:
                pack_words(level, &tables[p, 0, 0], width, kind, &packed[p, 0, 0, 0])
            elif count_t is int16_t:
                pack_signed(level, &tables[p, 0, 0], width, kind, &packed[p, 0, 0, 0])
            else:
                pack_integers(level, &tables[p, 0, 0], width, kind, &packed[p, 0, 0, 0])
