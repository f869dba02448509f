"""Lines of tables: numbers to text, many lines at once, the same bytes as Python's ``f"{value:.10g}"``."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.mem cimport PyMem_Free
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy, strlen

cdef extern from "Python.h":
    char *PyOS_double_to_string(double value, char code, int precision, int flags, int *kind) except NULL

cdef enum:
    DIGITS = 10
    NUMBER = 32  # bytes that a number takes at most


cdef inline char *put_integer(char *out, int64_t value) noexcept:
    """Write a number that is not negative; return where it ends."""
    cdef char[NUMBER] digits
    cdef int n = 0
    while value >= 10:
        digits[n] = 48 + <char> (value % 10)
        value //= 10
        n += 1
    digits[n] = 48 + <char> value
    while n >= 0:
        out[0] = digits[n]
        out += 1
        n -= 1
    return out


cdef inline char *put_text(char *out, bytes text) noexcept:
    """Write a text; return where it ends."""
    memcpy(out, PyBytes_AS_STRING(text), PyBytes_GET_SIZE(text))
    return out + PyBytes_GET_SIZE(text)


cdef inline char *put_number(char *out, double value) except NULL:
    """Write a number as Python does, whatever the locale; return where it ends."""
    cdef char *text = PyOS_double_to_string(value, b"g", DIGITS, 0, NULL)
    cdef size_t n = strlen(text)
    memcpy(out, text, n)
    PyMem_Free(text)
    return out + n


def lines(
    bytes before,
    const int64_t[:, ::1] integers,
    list texts,
    const int32_t[::1] which,
    const double[:, ::1] numbers,
    const int64_t[:, ::1] more_integers=None,
    list more_texts=None,
    const int32_t[::1] which_more=None,
):
    """Return the lines of a table as bytes, tabs between all.

    A text, integers, one of some texts, more integers, one of some more texts, numbers.

    Parameters
    ----------
    before : bytes
        What each line begins with, its tab included.
    integers : ndarray of int64, shape (n, p)
        Not negative.
    texts : list of bytes
        What may follow the integers, with its tab; empty for nothing.
    which : ndarray of int32, shape (n,)
        Which of the texts each line has.
    numbers : ndarray of float64, shape (n, q)
        Without any, the last texts end the lines.
    more_integers : ndarray of int64, shape (n, r), optional
        As `integers`; the next two are given with it.
    more_texts : list of bytes, optional
        As `texts`.
    which_more : ndarray of int32, shape (n,), optional
        As `which`.
    """
    cdef Py_ssize_t n = integers.shape[0], p = integers.shape[1], q = numbers.shape[1], r = 0, i, j
    cdef bint more = more_texts is not None
    if more:
        r = more_integers.shape[1]
    for i in range(n):
        if not 0 <= which[i] < len(texts):
            raise IndexError(f"line {i} has text {which[i]} of {len(texts)}")
        if more and not 0 <= which_more[i] < len(more_texts):
            raise IndexError(f"line {i} has text {which_more[i]} of {len(more_texts)}")
    cdef Py_ssize_t longest = max([len(text) for text in texts]) + max([len(text) for text in more_texts or [b""]])
    cdef bytes room = PyBytes_FromStringAndSize(NULL, n * (len(before) + longest + NUMBER * (p + q + r) + 2))
    cdef char *start = PyBytes_AS_STRING(room)
    cdef char *out = start
    for i in range(n):
        out = put_text(out, before)
        for j in range(p):
            out = put_integer(out, integers[i, j])
            out[0] = 9
            out += 1
        out = put_text(out, <bytes> texts[which[i]])
        for j in range(r):
            out = put_integer(out, more_integers[i, j])
            out[0] = 9
            out += 1
        if more:
            out = put_text(out, <bytes> more_texts[which_more[i]])
        for j in range(q):
            out = put_number(out, numbers[i, j])
            out[0] = 9 if j + 1 < q else 10
            out += 1
    return room[: out - start]
