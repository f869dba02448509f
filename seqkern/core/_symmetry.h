/* Sums over the rows and the columns of a matrix, and its largest entry, in one pass over it. */

#ifndef SEQKERN_SYMMETRY_H
#define SEQKERN_SYMMETRY_H

#include <math.h>
#include <stddef.h>

#include "kernels/_simd.h"

/* Rows that are read together, so that the sums of the columns are loaded and stored once for all of them. */
#define TOGETHER 4
/* Partial results of each sum, for vector instructions; the same at every level, and so the result. */
#define LANES 8

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
