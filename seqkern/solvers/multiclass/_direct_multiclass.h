/* The update of outputs after a move, with the vector instructions that are there; the bits do not depend on them. */
#ifndef SEQKERN_DIRECT_MULTICLASS_H
#define SEQKERN_DIRECT_MULTICLASS_H

#include <stddef.h>

#include "_simd.h"

ALWAYS_INLINE void subtract_body(double factor, const double *restrict row, double shift, ptrdiff_t n,
                                 double *restrict out)
{
    for (ptrdiff_t j = 0; j < n; ++j)
        out[j] -= factor * (row[j] + shift);
}

DEFINE_LEVELS(subtract_at, subtract_body,
              (double factor, const double *row, double shift, ptrdiff_t n, double *out),
              (factor, row, shift, n, out))

/* out[j] -= factor * (row[j] + shift) */
static inline void subtract_multiple(int level, double factor, const double *row, double shift, ptrdiff_t n,
                                     double *out)
{
    CALL_LEVEL(level, subtract_at, factor, row, shift, n, out);
}

#endif
