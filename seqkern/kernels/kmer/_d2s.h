/* Sums of the statistic D2S over k-mers: one row against many columns, feature after feature, so that the bits depend
 * on the two records only. */
#ifndef SEQKERN_D2S_H
#define SEQKERN_D2S_H

#include <math.h>
#include <stddef.h>

#include "../_simd.h"

enum { D2S_COLUMNS = 512 }; /* whose sums stay in the first cache */

/* Set out[i, j] to Σ_w a·b / sqrt(a² + b²) with a = x[i, w] and b = y[w, j]; 0 where a is 0. */
ALWAYS_INLINE void d2s_body(const double *x, ptrdiff_t x_step, const double *y, ptrdiff_t y_step, double *out,
                            ptrdiff_t out_step, ptrdiff_t n, ptrdiff_t d, ptrdiff_t m)
{
    for (ptrdiff_t first = 0; first < m; first += D2S_COLUMNS) {
        const ptrdiff_t width = first + D2S_COLUMNS < m ? D2S_COLUMNS : m - first;
        for (ptrdiff_t i = 0; i < n; ++i) {
            double *sums = out + i * out_step + first;
            for (ptrdiff_t j = 0; j < width; ++j)
                sums[j] = 0;
            for (ptrdiff_t w = 0; w < d; ++w) {
                const double a = x[i * x_step + w], square = a * a;
                const double *b = y + w * y_step + first;
                if (a == 0)
                    continue;
                for (ptrdiff_t j = 0; j < width; ++j)
                    sums[j] += a * b[j] / sqrt(square + b[j] * b[j]);
            }
        }
    }
}

DEFINE_LEVELS(d2s_sums, d2s_body,
              (const double *x, ptrdiff_t x_step, const double *y, ptrdiff_t y_step, double *out, ptrdiff_t out_step,
               ptrdiff_t n, ptrdiff_t d, ptrdiff_t m),
              (x, x_step, y, y_step, out, out_step, n, d, m))

static void d2s(int level, const double *x, ptrdiff_t x_step, const double *y, ptrdiff_t y_step, double *out,
                ptrdiff_t out_step, ptrdiff_t n, ptrdiff_t d, ptrdiff_t m)
{
    CALL_LEVEL(level, d2s_sums, x, x_step, y, y_step, out, out_step, n, d, m);
}

#endif
