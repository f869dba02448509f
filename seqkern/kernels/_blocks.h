/* Dividing a row of kernel values by the roots of the diagonals. */
#ifndef SEQKERN_BLOCKS_H
#define SEQKERN_BLOCKS_H

#include <math.h>
#include <stddef.h>

/* values[j] /= sqrt(diagonal · diagonals[j]); 0 where either is not positive.
 *
 * The root of the product, rather than a product of roots, makes K(x, x) exactly 1: sqrt(d·d) = d in IEEE arithmetic.
 * The quotient is computed before it is chosen, so that the loop vectorises. */
static void normalise_row(double *values, ptrdiff_t n, double diagonal, const double *diagonals)
{
    if (!(diagonal > 0))
        diagonal = 0;
    for (ptrdiff_t j = 0; j < n; ++j) {
        double product = diagonal * diagonals[j];
        double quotient = values[j] / sqrt(product);
        values[j] = product > 0 ? quotient : 0.0;
    }
}

#endif
