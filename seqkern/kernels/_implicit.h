/* How compiled training reads feature vectors that are never stored: one table of functions for each kind.
 *
 * Both functions are called without the GIL. `weights` is a buffer that only the two of them understand; what counts is
 * that dot(i) after axpy(j, c) on weights of zero is c·K(x_i, x_j). */
#ifndef SEQKERN_IMPLICIT_H
#define SEQKERN_IMPLICIT_H

#include <stdint.h>

#define SEQKERN_IMPLICIT "seqkern.implicit" /* the name of the PyCapsules that hold one */

typedef struct {
    const void *state;
    double (*dot)(const void *state, int64_t row, const double *weights);
    void (*axpy)(const void *state, int64_t row, double factor, double *weights);
} ImplicitOperations;

#endif
