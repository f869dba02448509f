/* Products of a centred column and a vector, with the vector instructions that are there; the bits do not depend on
 * them: eight partial sums, added up in one order. */
#ifndef SEQKERN_CENTRED_H
#define SEQKERN_CENTRED_H

#include <stddef.h>

#include "kernels/_simd.h"

enum { CENTRED_LANES = 8 };

/* The mean is taken off before the product: were it far above the scale, the sum would lose its last digits. */
ALWAYS_INLINE void centred_product_body(const double *column, double mean, const double *vector, ptrdiff_t length,
                                        double *product)
{
    const ptrdiff_t whole = length - length % CENTRED_LANES;
    double sums[CENTRED_LANES] = {0}, total = 0;
    for (ptrdiff_t i = 0; i < whole; i += CENTRED_LANES)
        for (int lane = 0; lane < CENTRED_LANES; ++lane)
            sums[lane] += (column[i + lane] - mean) * vector[i + lane];
    for (ptrdiff_t i = whole; i < length; ++i)
        total += (column[i] - mean) * vector[i];
    for (int lane = 0; lane < CENTRED_LANES; ++lane)
        total += sums[lane];
    *product = total;
}

DEFINE_LEVELS(centred_product_of, centred_product_body,
              (const double *column, double mean, const double *vector, ptrdiff_t length, double *product),
              (column, mean, vector, length, product))

static double centred_product(int level, const double *column, double mean, const double *vector, ptrdiff_t length)
{
    double product;
    CALL_LEVEL(level, centred_product_of, column, mean, vector, length, &product);
    return product;
}

#endif
