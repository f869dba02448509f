from libc.stdint cimport int64_t, uint8_t


cdef extern from "_records.h" nogil:
    ctypedef struct records:
        const uint8_t *codes
        const int64_t *start
        const int64_t *stop
        const int64_t *order
        Py_ssize_t n
    const uint8_t *record_codes(const records *r, Py_ssize_t k)
    Py_ssize_t record_length(const records *r, Py_ssize_t k)


cdef class Records:
    cdef records r
    cdef object arrays
