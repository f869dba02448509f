"""Tables over all l-mers of DNA times a function of the Hamming distance; see `_lmer_transform.h`."""

cdef extern from "_lmer_transform.h" nogil:
    const int ROW_LETTERS
    const int STRIP
    const int TILE
    int highest_simd_level()
    void lmer_rows_double(int level, double *table, Py_ssize_t rows, int letters)
    void lmer_rows_float(int level, float *table, Py_ssize_t rows, int letters)
    void lmer_columns_double(
        int level, double *table, int letters, Py_ssize_t width, Py_ssize_t first, Py_ssize_t last,
        const double *eigenvalue, double *strip)
    void lmer_columns_float(
        int level, float *table, int letters, Py_ssize_t width, Py_ssize_t first, Py_ssize_t last,
        const float *eigenvalue, float *strip)
    void lmer_fold_double(double *table, int letters, double *tile)
    void lmer_fold_float(float *table, int letters, float *tile)

ctypedef fused real_t:
    float
    double

ROW = ROW_LETTERS
STRIP_COLUMNS = STRIP
TILE_SIZE = TILE


def transform_rows(real_t[::1] table, int letters, Py_ssize_t first, Py_ssize_t last, int level=highest_simd_level()):
    """Transform the rows `first` to `last` of 4^letters numbers each, in place.

    Parameters
    ----------
    table : (4^l,)
    """
    with nogil:
        if real_t is double:
            lmer_rows_double(level, &table[0] + (first << 2 * letters), last - first, letters)
        else:
            lmer_rows_float(level, &table[0] + (first << 2 * letters), last - first, letters)


def multiply_columns(
    real_t[::1] table, int letters, Py_ssize_t width, Py_ssize_t first, Py_ssize_t last,
    const real_t[::1] eigenvalues, real_t[::1] strip, int level=highest_simd_level()
):
    """Transform the first `letters` letters of the columns `first` to `last`, multiply, and transform back.

    Parameters
    ----------
    table : (4^l,)
        Rows of `width` numbers.
    eigenvalues : (l + 1,)
        By the number of letters on which a function depends.
    strip : (4^letters · STRIP_COLUMNS,)
        Scratch.
    """
    with nogil:
        if real_t is double:
            lmer_columns_double(level, &table[0], letters, width, first, last, &eigenvalues[0], &strip[0])
        else:
            lmer_columns_float(level, &table[0], letters, width, first, last, &eigenvalues[0], &strip[0])


def fold_strands(real_t[::1] table, int letters, real_t[::1] tile):
    """Add to each entry that of the reverse complement, in place.

    Parameters
    ----------
    table : (4^letters,)
        Letters in the order A, C, G, T.
    tile : (TILE_SIZE²,)
        Scratch.
    """
    with nogil:
        if real_t is double:
            lmer_fold_double(&table[0], letters, &tile[0])
        else:
            lmer_fold_float(&table[0], letters, &tile[0])
