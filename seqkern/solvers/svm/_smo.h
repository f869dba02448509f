/* The loops of sequential minimal optimisation (smo.py), over the gradient times y of each variable. */

#ifndef SEQKERN_SMO_H
#define SEQKERN_SMO_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "_simd.h"

#define SMO_UP 1   /* the variable may still move along y ... */
#define SMO_LOW 2  /* ... and against it */
#define SMO_TAU 1e-12

/* The last variable, in the order of `order`, with the largest −F of those that may grow along y; −1 if none may. */
static ptrdiff_t smo_first(
    const int64_t *order, ptrdiff_t active, const double *F, const uint8_t *moves, double *largest)
{
    ptrdiff_t found = -1;
    double best = -INFINITY;
    for (ptrdiff_t k = 0; k < active; k++) {
        const int64_t t = order[k];
        if ((moves[t] & SMO_UP) && -F[t] >= best) {
            best = -F[t];
            found = t;
        }
    }
    *largest = best;
    return found;
}

/* The partner of the first variable that lowers the objective most (Fan, Chen & Lin 2005, "WSS 2"); −1 if there is
   none. `row` are the first variable's kernel values with the n samples. */
static ptrdiff_t smo_second(
    const int64_t *order, ptrdiff_t active, const double *F, const uint8_t *moves, const float *row,
    const double *diagonal, ptrdiff_t n, double own, double largest, double *second)
{
    ptrdiff_t found = -1;
    double best = INFINITY, most = -INFINITY;
    for (ptrdiff_t k = 0; k < active; k++) {
        const int64_t t = order[k];
        if (!(moves[t] & SMO_LOW))
            continue;
        const double step = largest + F[t];
        if (F[t] >= most)
            most = F[t];
        if (step > 0) {
            const int64_t s = t < n ? t : t - n;
            const double curvature = own + diagonal[s] - 2.0 * row[s];
            const double change = -(step * step) / (curvature > 0 ? curvature : SMO_TAU);
            if (change <= best) {
                best = change;
                found = t;
            }
        }
    }
    *second = most;
    return found;
}

ALWAYS_INLINE void add_two_rows(
    double *F, ptrdiff_t size, ptrdiff_t n, const float *a, double u, const float *b, double v)
{
    for (double *end = F + size; F < end; F += n)
        for (ptrdiff_t k = 0; k < n; k++)
            F[k] += a[k] * u + b[k] * v;
}

ALWAYS_INLINE void add_row(double *F, ptrdiff_t size, ptrdiff_t n, const float *a, double u)
{
    for (double *end = F + size; F < end; F += n)
        for (ptrdiff_t k = 0; k < n; k++)
            F[k] += a[k] * u;
}

DEFINE_LEVELS(
    add_two_rows_at, add_two_rows,
    (double *F, ptrdiff_t size, ptrdiff_t n, const float *a, double u, const float *b, double v),
    (F, size, n, a, u, b, v))
DEFINE_LEVELS(
    add_row_at, add_row, (double *F, ptrdiff_t size, ptrdiff_t n, const float *a, double u), (F, size, n, a, u))

/* F += a·u + b·v for each n of `size` variables, with vector instructions of a level of _simd.h. */
static void smo_add_two(
    int level, double *F, ptrdiff_t size, ptrdiff_t n, const float *a, double u, const float *b, double v)
{
    CALL_LEVEL(level, add_two_rows_at, F, size, n, a, u, b, v);
}

/* F += a·u for each n of `size` variables, likewise. */
static void smo_add(int level, double *F, ptrdiff_t size, ptrdiff_t n, const float *a, double u)
{
    CALL_LEVEL(level, add_row_at, F, size, n, a, u);
}

/* Whether a variable at a bound is so far from moving that it is set aside: `up` and `low` are the largest −F of the
   variables that may grow along y and the largest F of those that may shrink. */
static int smo_rests(uint8_t moves, double F, double up, double low)
{
    if (!(moves & SMO_UP))
        return -F > up;
    if (!(moves & SMO_LOW))
        return F > low;
    return 0;
}

/* Move the variables that rest to the end of `order`; return the number of the others. */
static ptrdiff_t smo_shrink(
    int64_t *order, ptrdiff_t active, const double *F, const uint8_t *moves, double up, double low)
{
    for (ptrdiff_t k = 0; k < active; k++) {
        if (!smo_rests(moves[order[k]], F[order[k]], up, low))
            continue;
        for (active--; active > k; active--) {
            const int64_t t = order[active];
            if (!smo_rests(moves[t], F[t], up, low)) {
                order[active] = order[k];
                order[k] = t;
                break;
            }
        }
    }
    return active;
}

/* The largest −F of the active variables that may grow along y, and the largest F of those that may shrink. */
static void smo_violation(
    const int64_t *order, ptrdiff_t active, const double *F, const uint8_t *moves, double *up, double *low)
{
    *up = *low = -INFINITY;
    for (ptrdiff_t k = 0; k < active; k++) {
        const int64_t t = order[k];
        if ((moves[t] & SMO_UP) && -F[t] >= *up)
            *up = -F[t];
        if ((moves[t] & SMO_LOW) && F[t] >= *low)
            *low = F[t];
    }
}

/* The new values of two variables along their constraint, within 0 and their costs. */
static void smo_step(
    double *first, double *second, int same, double G_first, double G_second, double curvature, double cost_first,
    double cost_second)
{
    double i = *first, j = *second;
    if (!(curvature > 0))
        curvature = SMO_TAU;
    if (same) {
        const double step = (G_first - G_second) / curvature, sum = i + j;
        i -= step;
        j += step;
        if (sum > cost_first) {
            if (i > cost_first) { i = cost_first; j = sum - cost_first; }
        } else if (j < 0) { j = 0; i = sum; }
        if (sum > cost_second) {
            if (j > cost_second) { j = cost_second; i = sum - cost_second; }
        } else if (i < 0) { i = 0; j = sum; }
    } else {
        const double step = (-G_first - G_second) / curvature, gap = i - j;
        i += step;
        j += step;
        if (gap > 0) {
            if (j < 0) { j = 0; i = gap; }
        } else if (i < 0) { i = 0; j = -gap; }
        if (gap > cost_first - cost_second) {
            if (i > cost_first) { i = cost_first; j = cost_first - gap; }
        } else if (j > cost_second) { j = cost_second; i = cost_second + gap; }
    }
    *first = i;
    *second = j;
}

#endif
