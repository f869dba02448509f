/* Loops over rectangles of kernel values: dividing by the roots of the diagonals, the largest absolute value, copying to
 * the other side of the diagonal. */
#ifndef SEQKERN_BLOCKS_H
#define SEQKERN_BLOCKS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "_simd.h"

/* The larger of `bits` and the bits of |value|; those of NaN are above those of infinity. Integers are compared in
 * vectors, so that one pass shows whether all values are finite. */
ALWAYS_INLINE int64_t larger_bits(int64_t bits, double value)
{
    int64_t other;
    memcpy(&other, &value, sizeof other);
    other &= INT64_MAX;
    return other > bits ? other : bits;
}

/* Where the quotient is to be 0, whatever the value, 0 is divided by infinity: a division that depended on a condition
 * would not vectorise. 0.0 is added so that no quotient is -0. */
ALWAYS_INLINE void normalise_body(double *values, ptrdiff_t n, double diagonal, const double *diagonals, int64_t *found)
{
    int64_t largest = *found;
    for (ptrdiff_t j = 0; j < n; ++j) {
        double product = diagonal * diagonals[j];
        double divisor = product > 0 ? product : HUGE_VAL;
        double value = product > 0 ? values[j] : 0.0;
        values[j] = value / sqrt(divisor) + 0.0;
        largest = larger_bits(largest, values[j]);
    }
    *found = largest;
}

/* The same where all of `diagonals` are one number: then all values have one divisor. */
ALWAYS_INLINE void normalise_even_body(double *values, ptrdiff_t n, double diagonal, const double *diagonals,
                                       int64_t *found)
{
    const double product = diagonal * diagonals[0], root = sqrt(product > 0 ? product : HUGE_VAL);
    int64_t largest = *found;
    if (product > 0)
        for (ptrdiff_t j = 0; j < n; ++j) {
            values[j] = values[j] / root + 0.0;
            largest = larger_bits(largest, values[j]);
        }
    else
        memset(values, 0, n * sizeof *values);
    *found = largest;
}

DEFINE_LEVELS(normalise_even, normalise_even_body,
              (double *values, ptrdiff_t n, double diagonal, const double *diagonals, int64_t *found),
              (values, n, diagonal, diagonals, found))

DEFINE_LEVELS(normalise_uneven, normalise_body,
              (double *values, ptrdiff_t n, double diagonal, const double *diagonals, int64_t *found),
              (values, n, diagonal, diagonals, found))

/* Whether all n numbers are one number, not NaN. */
static inline int even(const double *numbers, ptrdiff_t n)
{
    int same = 1;
    for (ptrdiff_t i = 0; i < n; ++i)
        same &= numbers[i] == numbers[0];
    return same;
}

/* values[j] /= sqrt(diagonal · diagonals[j]); 0 where either is not positive. `found` as for largest_of_row; `same`:
 * whether the diagonals are `even`, which changes no bit.
 *
 * The root of the product, rather than a product of roots, makes K(x, x) exactly 1: sqrt(d·d) = d in IEEE
 * arithmetic. */
static inline void normalise_row(int level, double *values, ptrdiff_t n, double diagonal, const double *diagonals,
                                 int same, int64_t *found)
{
    if (same)
        CALL_LEVEL(level, normalise_even, values, n, diagonal > 0 ? diagonal : 0.0, diagonals, found);
    else
        CALL_LEVEL(level, normalise_uneven, values, n, diagonal > 0 ? diagonal : 0.0, diagonals, found);
}

/* Products of diagonals between these have neither overflowed nor lost digits. */
#define LEAST_PRODUCT 0x1p-1000
#define LARGEST_PRODUCT 0x1p1000

/* Whether the product of a row's diagonal and a column's, both positive and finite, may be outside these limits. */
static inline int far_apart(const double *rows, ptrdiff_t n, const double *columns, ptrdiff_t m)
{
    const double *diagonals[2] = {rows, columns};
    const ptrdiff_t sizes[2] = {n, m};
    double least = 1, largest = 1;
    for (int side = 0; side < 2; ++side) {
        double low = HUGE_VAL, high = 0;
        for (ptrdiff_t i = 0; i < sizes[side]; ++i) {
            const double value = diagonals[side][i];
            low = value > 0 && value < low ? value : low;
            high = value < HUGE_VAL && value > high ? value : high;
        }
        least *= low;
        largest *= high;
    }
    return least < LEAST_PRODUCT || largest > LARGEST_PRODUCT;
}

/* normalise_row for any diagonals: each is m·4^p with m from 1 to 4, and 2^p is taken from the value instead. Where
 * normalise_row would not overflow, the bits are the same. */
static inline void normalise_far(double *values, ptrdiff_t n, double diagonal, const double *diagonals)
{
    for (ptrdiff_t j = 0; j < n; ++j) {
        const int known = diagonal > 0 && diagonals[j] > 0, finite = diagonal < HUGE_VAL && diagonals[j] < HUGE_VAL;
        if (known && finite) {
            const int row = ilogb(diagonal) >> 1, column = ilogb(diagonals[j]) >> 1;
            const double root = sqrt(ldexp(diagonal, -2 * row) * ldexp(diagonals[j], -2 * column));
            values[j] = ldexp(values[j], -row - column) / root + 0.0;
        } else
            values[j] = known ? values[j] / HUGE_VAL + 0.0 : 0.0;
    }
}

ALWAYS_INLINE void largest_body(const double *values, ptrdiff_t n, int64_t *found)
{
    int64_t largest = *found;
    for (ptrdiff_t j = 0; j < n; ++j) {
        largest = larger_bits(largest, values[j]);
    }
    *found = largest;
}

DEFINE_LEVELS(largest_bits, largest_body, (const double *values, ptrdiff_t n, int64_t *found), (values, n, found))

/* Raise `found`, the bits of a number, to those of the largest absolute value of a row. */
static inline void largest_of_row(int level, const double *values, ptrdiff_t n, int64_t *found)
{
    CALL_LEVEL(level, largest_bits, values, n, found);
}

/* to[j][i] = from[i][j] for n × m numbers, in rows that are `from_step` and `to_step` numbers apart. Squares of 8 × 8
 * use whole cache lines; those to be written next are fetched meanwhile, as each is on another page. */
#define DEFINE_TURN(name, number)                                                                           \
    static inline void name(const number *from, ptrdiff_t from_step, ptrdiff_t n, ptrdiff_t m, number *to,  \
                            ptrdiff_t to_step)                                                              \
    {                                                                                                       \
        for (ptrdiff_t j = 0; j < m; j += 8) {                                                              \
            const ptrdiff_t wide = m - j < 8 ? m - j : 8;                                                   \
            ptrdiff_t i = 0;                                                                                \
            for (; wide == 8 && i + 8 <= n; i += 8) {                                                       \
                for (int c = 0; c < 8 && j + 16 <= m; ++c)                                                  \
                    PREFETCH_TO_WRITE(to + (j + 8 + c) * to_step + i);                                      \
                for (int c = 0; c < 8; ++c)                                                                 \
                    for (int r = 0; r < 8; ++r)                                                             \
                        to[(j + c) * to_step + i + r] = from[(i + r) * from_step + j + c];                  \
            }                                                                                               \
            for (; i < n; ++i)                                                                              \
                for (ptrdiff_t c = 0; c < wide; ++c)                                                        \
                    to[(j + c) * to_step + i] = from[i * from_step + j + c];                                \
        }                                                                                                   \
    }

DEFINE_TURN(turn_doubles, double)
DEFINE_TURN(turn_floats, float)

#endif
