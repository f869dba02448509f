/* Products of vectors of doubles. Every product of two records is summed feature after feature, in one order, and
 * without fused operations: the bits depend on neither vector width nor blocks nor the order of the two records. */
#ifndef SEQKERN_REAL_H
#define SEQKERN_REAL_H

#include <stddef.h>
#include <stdint.h>

#include "_simd.h"

enum { REAL_PANEL = 16 };

/* dots[c] = the product of one row (its features `REAL_PANEL` apart) with 16 columns. */
ALWAYS_INLINE void real_panel_body(const double *row, const double *panel, ptrdiff_t width, double *dots)
{
    double sums[REAL_PANEL] = {0};
    for (ptrdiff_t f = 0; f < width; ++f, row += REAL_PANEL, panel += REAL_PANEL)
        for (int c = 0; c < REAL_PANEL; ++c)
            sums[c] += *row * panel[c];
    for (int c = 0; c < REAL_PANEL; ++c)
        dots[c] = sums[c];
}

DEFINE_LEVELS(real_panel, real_panel_body,
              (const double *row, const double *panel, ptrdiff_t width, double *dots), (row, panel, width, dots))

/* Add the products of row i of `a` with the columns first .. last of `b` to sums[0 .. last - first). */
static void real_dense(int level, const double *a, ptrdiff_t i, const double *b, ptrdiff_t first, ptrdiff_t last,
                       ptrdiff_t width, double *sums)
{
    const double *row = a + (i / REAL_PANEL) * width * REAL_PANEL + i % REAL_PANEL;
    double dots[REAL_PANEL];
    for (ptrdiff_t from = first / REAL_PANEL * REAL_PANEL; from < last; from += REAL_PANEL) {
        CALL_LEVEL(level, real_panel, row, b + from * width, width, dots);
        for (ptrdiff_t j = from < first ? first : from; j < last && j < from + REAL_PANEL; ++j)
            sums[j - first] += dots[j - from];
    }
}

/* Return the first place in rows[low, high) whose row is at least `row`. */
static inline int64_t first_row(const int32_t *rows, int64_t low, int64_t high, ptrdiff_t row)
{
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (rows[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Add the products of one row, n entries with ascending features, with the columns first .. last of posting lists:
 * that of feature f lies between bounds[f] and bounds[f + 1] of post_rows and post_values. */
static void real_walk(const int32_t *feature, const double *value, int64_t n, const int64_t *bounds,
                      const int32_t *post_rows, const double *post_values, ptrdiff_t first, ptrdiff_t last,
                      double *sums)
{
    for (int64_t q = 0; q < n; ++q) {
        int64_t end = bounds[feature[q] + 1];
        for (int64_t p = first_row(post_rows, bounds[feature[q]], end, first); p < end && post_rows[p] < last; ++p)
            sums[post_rows[p] - first] += value[q] * post_values[p];
    }
}

#endif
