"""Records of a buffer of codes, as the loops over pairs of sequences read them; see `_records.h`."""

from libc.stdint cimport int64_t, uint8_t


cdef class Records:
    """Records of a buffer of codes, in an order of their own.

    Parameters
    ----------
    codes : uint8 (letters,)
    start, stop : int64 (records,)
    order : int64 (n,)
        Which of the records, in which order.
    """

    def __init__(
        self, const uint8_t[::1] codes, const int64_t[::1] start, const int64_t[::1] stop, const int64_t[::1] order,
    ):
        self.arrays = codes, start, stop, order
        self.r.n = order.shape[0]
        if codes.shape[0]:
            self.r.codes = &codes[0]
        if start.shape[0]:
            self.r.start, self.r.stop = &start[0], &stop[0]
        if order.shape[0]:
            self.r.order = &order[0]
