/* Coordinate descent on the dual of the P-SVM, for a working set: min ½ αᵀQα − cᵀα + ε‖α‖₁ over |α_j| ≤ C.
 *
 * All diagonal elements of Q are equal, q. With the others fixed, the best α_j is α_j − g_j / q, soft-thresholded and
 * clipped. The variable moved is the one whose move lowers the objective most (second-order selection: Fan, Chen & Lin
 * 2005), of equal ones the first. One pass over the variables updates the gradient after a move and finds the next.
 * Q may be in single precision; everything else is in double. */
#ifndef SEQKERN_DESCENT_H
#define SEQKERN_DESCENT_H

#include <math.h>
#include <stddef.h>

#include "_simd.h"

enum { DESCENT_LANES = 8 };

typedef struct {
    const void *Q; /* of float if `single`, else of double */
    int single;
    ptrdiff_t stride; /* from one row of Q to the next */
    ptrdiff_t n;
    double *alpha, *gradient, *gains;
    double epsilon, cost, tolerance;
    ptrdiff_t limit, moves;
} descent;

ALWAYS_INLINE double smaller(double a, double b) { return a < b ? a : b; }

ALWAYS_INLINE double larger(double a, double b) { return a > b ? a : b; }

/* A value soft-thresholded and clipped to the box. */
ALWAYS_INLINE double descent_goal(double value, double threshold, double cost)
{
    value -= larger(-threshold, smaller(threshold, value));
    return larger(-cost, smaller(cost, value));
}

/* How far below zero the slope of the best direction is: zero where α_j is optimal. */
ALWAYS_INLINE double descent_violation(double alpha, double gradient, double epsilon, double cost)
{
    const double up = -(gradient + (alpha >= 0 ? epsilon : -epsilon));
    const double down = gradient + (alpha > 0 ? epsilon : -epsilon);
    return larger(larger(0.0, alpha < cost ? up : 0.0), alpha > -cost ? down : 0.0);
}

/* Add step · row to the gradient, write what each variable's move gains, and return the largest gain. */
ALWAYS_INLINE double descent_pass(const descent *d, ptrdiff_t place, int single, double step, double q)
{
    const float *floats = (const float *)d->Q + place * d->stride;
    const double *doubles = (const double *)d->Q + place * d->stride;
    const ptrdiff_t n = d->n, whole = n - n % DESCENT_LANES;
    const double inverse = 1.0 / q, half = 0.5 * q, epsilon = d->epsilon, cost = d->cost, threshold = epsilon / q;
    double *gradient = d->gradient, *gains = d->gains;
    const double *alpha = d->alpha;
    for (ptrdiff_t j = 0; j < n; ++j) {
        const double g = gradient[j] + step * (single ? (double)floats[j] : doubles[j]), a = alpha[j];
        const double goal = descent_goal(a - g * inverse, threshold, cost), move = goal - a;
        gradient[j] = g;
        gains[j] = -move * (g + half * move) - epsilon * (fabs(goal) - fabs(a));
    }
    double most[DESCENT_LANES] = {0};
    for (ptrdiff_t j = 0; j < whole; j += DESCENT_LANES)
        for (int lane = 0; lane < DESCENT_LANES; ++lane)
            most[lane] = larger(gains[j + lane], most[lane]);
    for (ptrdiff_t j = whole; j < n; ++j)
        most[0] = larger(gains[j], most[0]);
    for (int lane = 1; lane < DESCENT_LANES; ++lane)
        most[0] = larger(most[lane], most[0]);
    return most[0];
}

ALWAYS_INLINE void descent_loop(descent *d, int single)
{
    const double q = single ? (double)*(const float *)d->Q : *(const double *)d->Q;
    const double enough = d->tolerance * d->tolerance / (2 * q);
    ptrdiff_t best = 0;
    double step = 0.0;
    for (;;) {
        const double gain = descent_pass(d, best, single, step, q);
        if (d->moves == d->limit || !(gain > 0))
            return;
        /* A variable that violates its condition by v gains v² / 2q at most; less where the box cuts it short. */
        if (gain <= enough) {
            double worst = 0.0;
            for (ptrdiff_t j = 0; j < d->n; ++j)
                worst = larger(descent_violation(d->alpha[j], d->gradient[j], d->epsilon, d->cost), worst);
            if (worst <= d->tolerance)
                return;
        }
        best = 0;
        while (d->gains[best] != gain)
            ++best;
        const double a = d->alpha[best];
        d->alpha[best] = descent_goal(a - d->gradient[best] * (1.0 / q), d->epsilon / q, d->cost);
        step = d->alpha[best] - a;
        ++d->moves;
    }
}

ALWAYS_INLINE void descent_run(descent *d)
{
    if (d->single)
        descent_loop(d, 1);
    else
        descent_loop(d, 0);
}

DEFINE_LEVELS(run_descent, descent_run, (descent * d), (d))

/* Run it with vector instructions of a level of _simd.h. */
static inline void descend_at(int level, descent *d)
{
    CALL_LEVEL(level, run_descent, d);
}

#endif
