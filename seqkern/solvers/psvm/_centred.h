/* Loops over centred columns of a matrix, with the vector instructions that are there; the bits do not depend on them:
 * eight partial sums, added up in one order. */
#ifndef SEQKERN_CENTRED_H
#define SEQKERN_CENTRED_H

#include <math.h>
#include <stddef.h>

#include "_simd.h"

enum { CENTRED_LANES = 8, CENTRED_TOGETHER = 4 };

/* Σ (column − mean) · vector. The mean is taken off before the product: were it far above the scale, the sum would lose
 * its last digits. */
ALWAYS_INLINE double centred_product_body(const double *column, double mean, const double *vector, ptrdiff_t length)
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
    return total;
}

ALWAYS_INLINE void store_centred_product(const double *column, double mean, const double *vector, ptrdiff_t length,
                                         double *product)
{
    *product = centred_product_body(column, mean, vector, length);
}

DEFINE_LEVELS(centred_product_of, store_centred_product,
              (const double *column, double mean, const double *vector, ptrdiff_t length, double *product),
              (column, mean, vector, length, product))

static inline double centred_product(int level, const double *column, double mean, const double *vector,
                                     ptrdiff_t length)
{
    double product;
    CALL_LEVEL(level, centred_product_of, column, mean, vector, length, &product);
    return product;
}

/* The largest |value| of a column. */
static inline double centred_largest(const double *column, ptrdiff_t length)
{
    double largest = 0;
    for (ptrdiff_t i = 0; i < length; ++i)
        largest = fabs(column[i]) > largest ? fabs(column[i]) : largest;
    return largest;
}

/* Mean and standard deviation (divisor `length`), and 0 for the latter if it is only rounding. The sum of the deviations
 * corrects both (Chan, Golub & LeVeque 1983). */
ALWAYS_INLINE void centred_moments_body(const double *column, ptrdiff_t length, double *mean, double *scale)
{
    const ptrdiff_t whole = length - length % CENTRED_LANES;
    double sums[CENTRED_LANES] = {0}, squares[CENTRED_LANES] = {0}, rests[CENTRED_LANES] = {0};
    double total = 0, rest = 0, square = 0;
    for (ptrdiff_t i = 0; i < whole; i += CENTRED_LANES)
        for (int lane = 0; lane < CENTRED_LANES; ++lane)
            sums[lane] += column[i + lane];
    for (ptrdiff_t i = whole; i < length; ++i)
        total += column[i];
    for (int lane = 0; lane < CENTRED_LANES; ++lane)
        total += sums[lane];
    const double middle = total / length;
    for (ptrdiff_t i = 0; i < whole; i += CENTRED_LANES)
        for (int lane = 0; lane < CENTRED_LANES; ++lane)
            rests[lane] += column[i + lane] - middle;
    /* A loop of its own: compilers vectorise one sum at a time. */
    for (ptrdiff_t i = 0; i < whole; i += CENTRED_LANES)
        for (int lane = 0; lane < CENTRED_LANES; ++lane)
            squares[lane] += (column[i + lane] - middle) * (column[i + lane] - middle);
    for (ptrdiff_t i = whole; i < length; ++i) {
        rest += column[i] - middle;
        square += (column[i] - middle) * (column[i] - middle);
    }
    for (int lane = 0; lane < CENTRED_LANES; ++lane) {
        rest += rests[lane];
        square += squares[lane];
    }
    const double variance = (square - rest * rest / length) / length;
    const double deviation = sqrt(variance > 0 ? variance : 0);
    *mean = middle + rest / length;
    /* No value is farther from the mean than the root of all squares: most columns need no look at the largest. */
    const int varies = deviation > 2e-12 * (fabs(middle) + sqrt(square));
    *scale = varies || deviation > 1e-12 * centred_largest(column, length) ? deviation : 0;
}

DEFINE_LEVELS(centred_moments_of, centred_moments_body,
              (const double *column, ptrdiff_t length, double *mean, double *scale), (column, length, mean, scale))

static inline void centred_moments(int level, const double *column, ptrdiff_t length, double *mean, double *scale)
{
    CALL_LEVEL(level, centred_moments_of, column, length, mean, scale);
}

/* Add Σ weights[k] · (columns[k] − means[k]) to `out`, one after the other; `count` columns are read together. */
ALWAYS_INLINE void add_centred_body(const double *const *columns, const double *means, const double *weights, int count,
                                    ptrdiff_t length, double *restrict out)
{
    for (ptrdiff_t i = 0; i < length; ++i) {
        double sum = out[i];
        for (int k = 0; k < count; ++k)
            sum += weights[k] * (columns[k][i] - means[k]);
        out[i] = sum;
    }
}

ALWAYS_INLINE void add_some_centred(const double *const *columns, const double *means, const double *weights, int count,
                                    ptrdiff_t length, double *restrict out)
{
    if (count == CENTRED_TOGETHER)
        add_centred_body(columns, means, weights, CENTRED_TOGETHER, length, out);
    else
        for (int k = 0; k < count; ++k)
            add_centred_body(columns + k, means + k, weights + k, 1, length, out);
}

DEFINE_LEVELS(add_centred_of, add_some_centred,
              (const double *const *columns, const double *means, const double *weights, int count, ptrdiff_t length,
               double *out),
              (columns, means, weights, count, length, out))

/* The same for at most CENTRED_TOGETHER columns. */
static inline void add_centred(int level, const double *const *columns, const double *means, const double *weights,
                               int count, ptrdiff_t length, double *out)
{
    CALL_LEVEL(level, add_centred_of, columns, means, weights, count, length, out);
}

#endif
