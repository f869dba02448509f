/* The recursion of _local_alignment.h in logarithms, one pair at a time: for parameters whose exponentials are beyond
 * any number, or so near to it that the lanes could lose something. */
#ifndef SEQKERN_LOCAL_ALIGNMENT_LOG_H
#define SEQKERN_LOCAL_ALIGNMENT_LOG_H

#include "_local_alignment.h"

typedef struct {
    int letters;
    const double *score; /* (letters, letters): β·s */
    double open, extend; /* β·gap_open, β·gap_extend */
} log_recursion;

/* ln(e^a + e^b); either may be −∞. */
static inline double log_sum(double a, double b)
{
    const double high = a > b ? a : b, low = a > b ? b : a;
    return low == -INFINITY ? high : high + log1p(exp(low - high));
}

/* ln K of x and y. `state` has room for 3·m numbers; `pairs`, unless it is NULL, for n·m, and gets the M(i, j). */
static double log_kernel(const log_recursion *f, const uint8_t *x, ptrdiff_t n, const uint8_t *y, ptrdiff_t m,
                         double *state, double *pairs)
{
    double *M = state, *X = state + m, *T = state + 2 * m, K = 0;
    for (ptrdiff_t j = 0; j < m; ++j) {
        M[j] = X[j] = -INFINITY;
        T[j] = 0;
    }
    for (ptrdiff_t i = 0; i < n; ++i) {
        double corner = 0, Y = -INFINITY, row = -INFINITY;
        for (ptrdiff_t j = 0; j < m; ++j) {
            X[j] = log_sum(M[j] - f->open, X[j] - f->extend);
            M[j] = f->score[x[i] * f->letters + y[j]] + corner;
            corner = T[j];
            T[j] = log_sum(log_sum(0, Y), log_sum(M[j], X[j]));
            row = log_sum(row, M[j]);
            Y = log_sum(log_sum(M[j], X[j]) - f->open, Y - f->extend);
        }
        K = log_sum(K, row);
        if (pairs)
            memcpy(pairs + i * m, M, sizeof(double) * m);
    }
    return K;
}

/* Add `value` to shares[0 … n − 1], in proportion to how likely each letter of x is in a pair with one of y, if
 * alignments are as likely as they weigh; evenly if none is. N, X and Y are the sums over what may follow a pair (i, j),
 * or a gap there: a pair next to it, a gap of y, a gap of x. Return 0, or -1 without memory. */
static int add_shares(const log_recursion *f, const uint8_t *x, ptrdiff_t n, const uint8_t *y, ptrdiff_t m,
                      double value, double *shares)
{
    double *pairs = malloc(sizeof(double) * (n * m + 3 * m + n + 1)), sum = 0;
    if (!pairs)
        return -1;
    double *N = pairs + n * m, *X = N + m, *likely = N + 3 * m;
    const double K = log_kernel(f, x, n, y, m, N, pairs);
    for (ptrdiff_t j = 0; j < m; ++j)
        N[j] = X[j] = -INFINITY;
    for (ptrdiff_t i = n - 1; i >= 0; --i) {
        double next = -INFINITY, Y = -INFINITY;
        likely[i] = 0;
        for (ptrdiff_t j = m - 1; j >= 0; --j) {
            const double ends = log_sum(log_sum(0, N[j]), log_sum(X[j], Y) - f->open);
            const double gap = log_sum(log_sum(N[j], Y - f->open), X[j] - f->extend);
            likely[i] += exp(pairs[i * m + j] + ends - K);
            Y = log_sum(N[j], Y - f->extend);
            X[j] = gap;
            N[j] = next;
            next = f->score[x[i] * f->letters + y[j]] + ends;
        }
        sum += likely[i];
    }
    for (ptrdiff_t i = 0; i < n; ++i)
        shares[i] += value * (sum > 0 ? likely[i] / sum : 1.0 / n);
    free(pairs);
    return 0;
}

/* As fill_rectangle. */
static int fill_logarithms(const log_recursion *f, const records *rows, const int64_t *stop, const records *lanes,
                           double *out, ptrdiff_t row_step, ptrdiff_t lane_step)
{
    double *state = malloc(sizeof(double) * (3 * longest_record(lanes) + 1));
    if (!state)
        return -1;
    for (ptrdiff_t r = 0; r < rows->n; ++r)
        for (ptrdiff_t k = 0; k < stop[r]; ++k)
            out[rows->order[r] * row_step + lanes->order[k] * lane_step] = log_kernel(
                f, record_codes(rows, r), record_length(rows, r), record_codes(lanes, k), record_length(lanes, k), state,
                NULL);
    free(state);
    return 0;
}

#endif
