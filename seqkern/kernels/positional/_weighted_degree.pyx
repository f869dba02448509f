"""The loops of the weighted degree kernels; see `_weighted_degree.h`."""

from libc.stddef cimport ptrdiff_t
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

cdef extern from "_weighted_degree.h" nogil:
    enum:
        GROUP
        BY_DEGREE
        BY_LENGTH
        BY_POSITION
    ctypedef struct degree_sum:
        int words
        int planes
        int degree
        int shift
        int mode
        int unchecked
        double divisor
        const double *length_weights
        const double *shift_weights
        const double *starts
        const uint64_t *filters
    ctypedef struct degree_records:
        const uint64_t *words
        ptrdiff_t first
        ptrdiff_t n
        const double *diagonal
    ctypedef struct degree_finish:
        const double *table
        const float *singles
        int even
        int64_t *found
    int even(const double *numbers, Py_ssize_t n)
    int counts_bits()
    void pack_record(const uint8_t *codes, ptrdiff_t length, int size, int words, int planes, uint64_t *group)
    int fill_sums(
        int level, int counting, const degree_sum *f, const degree_records *rows, const degree_records *cols,
        double *out, float *single, ptrdiff_t stride, const degree_finish *how)
    int fill_squares(int level, int counting, const degree_sum *f, const degree_records *records, double *out)

cdef extern from "_degree_places.h" nogil:
    int note_places(
        const degree_sum *f, const uint64_t *packed, ptrdiff_t record, const degree_records *others,
        const double *coefficients, ptrdiff_t lengths, ptrdiff_t length, double *out)
    void share_places(
        const double *places, const double *length_weights, ptrdiff_t lengths, ptrdiff_t length, double *shares)

cdef bint COUNTING = counts_bits()


def counts_vector_bits():
    """Return whether the instructions that count the bits of AVX-512 vectors are used."""
    return COUNTING


def count_vector_bits(bint use):
    """Use these instructions if the processor has them; for tests."""
    global COUNTING
    COUNTING = use and counts_bits()


def pack(
    const uint8_t[::1] codes, const int64_t[::1] starts, Py_ssize_t length, int size, int words, int planes,
    uint64_t[:, :, :, ::1] packed,
):
    """Write the words of records of `length` codes to `packed`, zeros, (groups, planes + 1, words, 8).

    Codes from `size` on are masked letters.
    """
    cdef Py_ssize_t i
    if not length:
        return
    with nogil:
        for i in range(starts.shape[0]):
            pack_record(&codes[starts[i]], length, size, words, planes, &packed[i // GROUP, 0, 0, i % GROUP])


cdef class DegreeSum:
    """What is summed: weights by length, shift and position.

    Parameters
    ----------
    words : int
        64-bit words for the letters of a record.
    planes : int
        Bits of a letter's code.
    degree, shift : int
    unchecked : int
        For so many lengths of k-mers it is not checked whether any match is left.
    divisor : float
        Sums are divided by it.
    length_weights : float64 (degree,), optional
        By default degree − k + 1.
    shift_weights : float64 (shift + 1,)
    filters : uint64 (2·shift + 1, words), optional
        Bits of the positions that count, of each variant of a row; by default all.
    starts : float64 (2·shift + 1, 64·words), optional
        Position weights of each variant of a row; by default 1 each.
    """

    cdef degree_sum f
    cdef object arrays

    def __init__(
        self, int words, int planes, int degree, int shift, int unchecked, double divisor,
        const double[::1] length_weights, const double[::1] shift_weights, const uint64_t[:, ::1] filters,
        const double[:, ::1] starts,
    ):
        self.arrays = length_weights, shift_weights, filters, starts
        self.f.words, self.f.planes, self.f.degree, self.f.shift = words, planes, degree, shift
        self.f.unchecked, self.f.divisor = unchecked, divisor
        self.f.shift_weights = &shift_weights[0]
        self.f.mode = BY_DEGREE
        if length_weights is not None:
            self.f.mode, self.f.length_weights = BY_LENGTH, &length_weights[0]
        if filters is not None:
            self.f.filters = &filters[0, 0]
        if starts is not None:
            self.f.mode, self.f.starts = BY_POSITION, &starts[0, 0]

    @property
    def counts(self):
        """Whether all sums are integers before they are divided."""
        return self.f.mode == BY_DEGREE and self.f.shift == 0

    @property
    def divisor(self):
        """Sums are divided by it."""
        return self.f.divisor

    def fill(
        self, int level, const uint64_t[:, :, :, ::1] rows, Py_ssize_t row, const uint64_t[:, :, :, ::1] cols,
        Py_ssize_t col, const double[::1] row_diagonal, const double[::1] col_diagonal, double[:, :] out,
        bint look=True, const double[::1] table=None,
    ):
        """Write K of records from `row` of `rows` on with those from `col` of `cols` on to `out`, its rows contiguous.

        With the diagonals (both, or None) K is normalised. Returns the largest absolute value, inf and NaN
        included; 0 unless `look`. `table`, if given: the values of the sums 0, 1, 2, …, which are integers.
        """
        cdef degree_records r, c
        cdef degree_finish how
        cdef int done
        cdef int64_t found = 0
        cdef double largest
        if not (out.shape[0] and out.shape[1]):
            return 0.0
        r.words, r.first, r.n, r.diagonal = &rows[0, 0, 0, 0], row, out.shape[0], NULL
        c.words, c.first, c.n, c.diagonal = &cols[0, 0, 0, 0], col, out.shape[1], NULL
        if row_diagonal is not None and col_diagonal is not None:
            r.diagonal, c.diagonal = &row_diagonal[0], &col_diagonal[0]
        how.table, how.singles = NULL, NULL
        if table is not None:
            how.table = &table[0]
        how.even = c.diagonal != NULL and even(c.diagonal, c.n)
        how.found = &found if look else NULL
        with nogil:
            done = fill_sums(
                level, COUNTING, &self.f, &r, &c, &out[0, 0], NULL, out.strides[0] // <Py_ssize_t>sizeof(double),
                &how)
        if not done:
            raise MemoryError
        memcpy(&largest, &found, sizeof(largest))
        return largest

    def fill_single(
        self, int level, const uint64_t[:, :, :, ::1] rows, Py_ssize_t row, const uint64_t[:, :, :, ::1] cols,
        Py_ssize_t col, const float[::1] table, float[:, :] out,
    ):
        """Do what `fill` does with a table, in single precision."""
        cdef degree_records r, c
        cdef degree_finish how
        cdef int done
        if not (out.shape[0] and out.shape[1]):
            return
        r.words, r.first, r.n, r.diagonal = &rows[0, 0, 0, 0], row, out.shape[0], NULL
        c.words, c.first, c.n, c.diagonal = &cols[0, 0, 0, 0], col, out.shape[1], NULL
        how.table, how.even, how.found = NULL, 0, NULL
        how.singles = &table[0]
        with nogil:
            done = fill_sums(
                level, COUNTING, &self.f, &r, &c, NULL, &out[0, 0], out.strides[0] // <Py_ssize_t>sizeof(float), &how)
        if not done:
            raise MemoryError

    def squares(self, int level, const uint64_t[:, :, :, ::1] packed, Py_ssize_t first, double[::1] out):
        """Write K(x, x) of records from `first` on to `out`."""
        cdef degree_records r
        cdef int done
        if not out.shape[0]:
            return
        r.words, r.first, r.n, r.diagonal = &packed[0, 0, 0, 0], first, out.shape[0], NULL
        with nogil:
            done = fill_squares(level, COUNTING, &self.f, &r, &out[0])
        if not done:
            raise MemoryError

    def note(
        self, const uint64_t[:, :, :, ::1] packed, Py_ssize_t record, const uint64_t[:, :, :, ::1] others,
        const double[::1] coefficients, double[:, ::1] places,
    ):
        """Write what each place of a record adds to Σ_j coefficients[j]·K(x, z_j) to `places`, (lengths, letters).

        In row k − 1 are the k-mers that start there, without the weight of the length; there must be `starts`.
        """
        cdef degree_records theirs
        cdef int done
        if not (places.shape[0] and places.shape[1] and coefficients.shape[0]):
            places[...] = 0
            return
        theirs.words, theirs.first, theirs.n, theirs.diagonal = &others[0, 0, 0, 0], 0, coefficients.shape[0], NULL
        with nogil:
            done = note_places(
                &self.f, &packed[0, 0, 0, 0], record, &theirs, &coefficients[0], places.shape[0], places.shape[1],
                &places[0, 0])
        if not done:
            raise MemoryError


def share(const double[:, ::1] places, const double[::1] length_weights, double[::1] shares):
    """Add what places weigh, times the weight of the length, to the shares of the letters of each k-mer."""
    if not (places.shape[0] and places.shape[1]):
        return
    with nogil:
        share_places(&places[0, 0], &length_weights[0], places.shape[0], places.shape[1], &shares[0])
