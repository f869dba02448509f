/* The comparison of a matrix with its transpose; sums over its rows and columns, and its largest entry, in one pass. */

#ifndef SEQKERN_SYMMETRY_H
#define SEQKERN_SYMMETRY_H

#include <math.h>
#include <stddef.h>

#include "_simd.h"

/* Rows that are read together, so that the sums of the columns are loaded and stored once for all of them. */
#define TOGETHER 4
/* Partial results of each sum, for vector instructions; the same at every level, and so the result. */
#define LANES 8

enum { SYMMETRY_TILE = 32 };

/* Fetch the rows of a tile that is read later: they are far apart, which processors do not foresee. */
ALWAYS_INLINE void fetch_tile(const double *tile, ptrdiff_t stride, ptrdiff_t rows)
{
    for (ptrdiff_t i = 0; i < rows; i++)
        for (int j = 0; j < SYMMETRY_TILE; j += 8)
            PREFETCH(tile + i * stride + j);
}

/* Whether a tile of rows × columns equals the transpose of its mirror image. */
ALWAYS_INLINE int equals_mirrored(const double *tile, const double *mirrored, ptrdiff_t stride, ptrdiff_t rows,
                                  ptrdiff_t columns)
{
    double turned[SYMMETRY_TILE][SYMMETRY_TILE];
    int differ = 0;
    for (ptrdiff_t j = 0; j < columns; j++)
        for (ptrdiff_t i = 0; i < rows; i++)
            turned[i][j] = mirrored[j * stride + i];
    for (ptrdiff_t i = 0; i < rows; i++)
        for (ptrdiff_t j = 0; j < columns; j++)
            differ |= tile[i * stride + j] != turned[i][j];
    return !differ;
}

/* Whether n rows of n numbers, `stride` numbers apart, are a symmetric matrix. */
ALWAYS_INLINE void compare_with_transpose(const double *matrix, ptrdiff_t n, ptrdiff_t stride, int *same)
{
    for (ptrdiff_t top = 0; top < n; top += SYMMETRY_TILE)
        for (ptrdiff_t left = 0; left <= top; left += SYMMETRY_TILE) {
            const ptrdiff_t next = left + SYMMETRY_TILE, rows = n - top < SYMMETRY_TILE ? n - top : SYMMETRY_TILE;
            if (next < top) {
                fetch_tile(matrix + top * stride + next, stride, rows);
                fetch_tile(matrix + next * stride + top, stride, SYMMETRY_TILE);
            }
            if (!equals_mirrored(matrix + top * stride + left, matrix + left * stride + top, stride, rows,
                                 left < top ? SYMMETRY_TILE : rows)) {
                *same = 0;
                return;
            }
        }
    *same = 1;
}

DEFINE_LEVELS(compare_transposed, compare_with_transpose,
              (const double *matrix, ptrdiff_t n, ptrdiff_t stride, int *same), (matrix, n, stride, same))

/* Run it with vector instructions of a level of _simd.h. */
static inline int symmetric_at(int level, const double *matrix, ptrdiff_t n, ptrdiff_t stride)
{
    int same;
    CALL_LEVEL(level, compare_transposed, matrix, n, stride, &same);
    return same;
}

/* For `count` rows, `stride` numbers apart: write Σ_j row[j]·weights[j] to by_row, add Σ row[j]·(weight of the row) to
 * each by_column[j], and raise *largest to the largest |row[j]|. Loops of constant length are unrolled. */
ALWAYS_INLINE void add_some_rows(
    const double *rows, ptrdiff_t stride, int count, const double *weights, const double *row_weights,
    double *restrict by_row, double *restrict by_column, ptrdiff_t n, double *restrict largest
) {
    double partial[TOGETHER][LANES] = {{0}}, top[LANES] = {0};
    ptrdiff_t j = 0;
    for (; j + LANES <= n; j += LANES)
        for (int lane = 0; lane < LANES; lane++) {
            double column = by_column[j + lane];
            for (int i = 0; i < count; i++) {
                const double value = rows[i * stride + j + lane];
                partial[i][lane] += value * weights[j + lane];
                column += value * row_weights[i];
                top[lane] = fabs(value) > top[lane] ? fabs(value) : top[lane];
            }
            by_column[j + lane] = column;
        }
    for (; j < n; j++)
        for (int i = 0; i < count; i++) {
            const double value = rows[i * stride + j];
            partial[i][0] += value * weights[j];
            by_column[j] += value * row_weights[i];
            top[0] = fabs(value) > top[0] ? fabs(value) : top[0];
        }
    for (int i = 0; i < count; i++) {
        by_row[i] = 0;
        for (int lane = 0; lane < LANES; lane++)
            by_row[i] += partial[i][lane];
    }
    for (int lane = 0; lane < LANES; lane++)
        *largest = top[lane] > *largest ? top[lane] : *largest;
}

/* The same for all rows of a square matrix. */
ALWAYS_INLINE void add_all_rows(
    const double *matrix, ptrdiff_t n, const double *weights, double *by_row, double *by_column, double *largest
) {
    ptrdiff_t i = 0;
    for (; i + TOGETHER <= n; i += TOGETHER)
        add_some_rows(matrix + i * n, n, TOGETHER, weights, weights + i, by_row + i, by_column, n, largest);
    for (; i < n; i++)
        add_some_rows(matrix + i * n, n, 1, weights, weights + i, by_row + i, by_column, n, largest);
}

DEFINE_LEVELS(add_rows, add_all_rows,
              (const double *matrix, ptrdiff_t n, const double *weights, double *by_row, double *by_column,
               double *largest),
              (matrix, n, weights, by_row, by_column, largest))

/* Run it with vector instructions of a level of _simd.h. */
static inline void add_rows(
    int level, const double *matrix, ptrdiff_t n, const double *weights, double *by_row, double *by_column,
    double *largest
) {
    CALL_LEVEL(level, add_rows, matrix, n, weights, by_row, by_column, largest);
}

#endif
