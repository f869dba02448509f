/* Dividing a row of kernel values by the roots of the diagonals. */
#ifndef SEQKERN_BLOCKS_H
#define SEQKERN_BLOCKS_H

#include <math.h>
#include <stddef.h>

#include "_simd.h"

/* Where the quotient is to be 0, whatever the value, 0 is divided by infinity: a division that depended on a condition
 * would not vectorise. 0.0 is added so that no quotient is -0. */
ALWAYS_INLINE void normalise_body(double *values, ptrdiff_t n, double diagonal, const double *diagonals)
{
    for (ptrdiff_t j = 0; j < n; ++j) {
        double product = diagonal * diagonals[j];
        double divisor = product > 0 ? product : HUGE_VAL;
        double value = product > 0 ? values[j] : 0.0;
        values[j] = value / sqrt(divisor) + 0.0;
    }
}

DEFINE_LEVELS(normalise_row, normalise_body,
              (double *values, ptrdiff_t n, double diagonal, const double *diagonals),
              (values, n, diagonal, diagonals))

/* values[j] /= sqrt(diagonal · diagonals[j]); 0 where either is not positive.
 *
 * The root of the product, rather than a product of roots, makes K(x, x) exactly 1: sqrt(d·d) = d in IEEE
 * arithmetic. */
static void normalise_row(int level, double *values, ptrdiff_t n, double diagonal, const double *diagonals)
{
    CALL_LEVEL(level, normalise_row, values, n, diagonal > 0 ? diagonal : 0.0, diagonals);
}

#endif
