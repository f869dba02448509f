/* Sums over the rows and the columns of a matrix, and its largest entry, in one pass over it. */

#ifndef SEQKERN_SYMMETRY_H
#define SEQKERN_SYMMETRY_H

#include <math.h>
#include <stddef.h>

/* Return Σ_j row[j]·weights[j], add weight·row[j] to each sums[j], and raise *largest to the largest |row[j]|. Eight
 * partial results: vector instructions. */
static double add_row(
    const double *restrict row, const double *restrict weights, double weight, double *restrict sums, ptrdiff_t n, double *largest
) {
    double partial[8] = {0}, top[8] = {0};
    ptrdiff_t j = 0;
    for (; j + 8 <= n; j += 8)
        for (int lane = 0; lane < 8; lane++) {
            partial[lane] += row[j + lane] * weights[j + lane];
            sums[j + lane] += row[j + lane] * weight;
            top[lane] = fabs(row[j + lane]) > top[lane] ? fabs(row[j + lane]) : top[lane];
        }
    for (; j < n; j++) {
        partial[0] += row[j] * weights[j];
        sums[j] += row[j] * weight;
        top[0] = fabs(row[j]) > top[0] ? fabs(row[j]) : top[0];
    }
    for (int lane = 0; lane < 8; lane++)
        *largest = top[lane] > *largest ? top[lane] : *largest;
    return partial[0] + partial[1] + partial[2] + partial[3] + partial[4] + partial[5] + partial[6] + partial[7];
}

#endif
