/* The recursion of _subsequence.h where doubles are too narrow, and the shares of single letters; pair by pair.
 *
 * A wide number is mantissa·2^(512·power) with 2^−256 ≤ mantissa < 2^256, or 0. As long as doubles suffice it gives
 * their bits: the operations are the same, in the same order. */
#ifndef SEQKERN_SUBSEQUENCE_WIDE_H
#define SEQKERN_SUBSEQUENCE_WIDE_H

#include "_subsequence.h"

typedef struct {
    double mantissa;
    int64_t power;
} wide;

static inline wide make_wide(double mantissa, int64_t power)
{
    if (mantissa >= 0x1p256) {
        mantissa *= 0x1p-512;
        ++power;
    } else if (mantissa < 0x1p-256) {
        mantissa *= 0x1p512;
        --power;
    }
    return (wide){mantissa, power};
}

static inline wide add_wide(wide a, wide b)
{
    if (a.mantissa == 0 || b.mantissa == 0)
        return a.mantissa == 0 ? b : a;
    if (a.power < b.power) {
        wide c = a;
        a = b;
        b = c;
    }
    if (a.power > b.power + 1)
        return a;
    return make_wide(a.mantissa + (a.power == b.power ? b.mantissa : b.mantissa * 0x1p-512), a.power);
}

/* a·factor·2^power, 0 ≤ factor < 2^256 and not tiny */
static inline wide scale_wide(wide a, double factor, int64_t power)
{
    int64_t whole = power >= 0 ? power / 512 : -((511 - power) / 512);
    wide b = make_wide(a.mantissa * factor, a.power + whole);
    return make_wide(ldexp(b.mantissa, (int)(power - 512 * whole)), b.power);
}

static inline double pair_weight(const recursion *f, int a, int b)
{
    if (a >= f->letters || b >= f->letters)
        return 0;
    return f->soft ? f->weight[a * f->letters + b] : a == b;
}

/* Set *result to K(x, y), x the row. Return 0, or -1 without memory. */
static int wide_kernel(const recursion *f, const uint8_t *x, ptrdiff_t n, const uint8_t *y, ptrdiff_t m, wide *result)
{
    const int levels = f->levels, up_to = f->mode == UP_TO, back = f->mode == ANY_LENGTH;
    wide *S = calloc((size_t)(levels + 1) * (m + 1), sizeof(wide)); /* S[c·levels + p]: at the column before c */
    wide *R = malloc(sizeof(wide) * (levels + 1));
    wide total = {0, 0};
    double singles = 0;
    if (!S || !R) {
        free(S);
        free(R);
        return -1;
    }
    for (ptrdiff_t i = 0; i < n; ++i) {
        wide sum = {0, 0}, start = {0, 0};
        double run = 0, single = 0;
        for (int p = 0; p < levels; ++p)
            R[p] = (wide){0, 0};
        for (ptrdiff_t c = 0; c < m; ++c) {
            const double weight = pair_weight(f, x[i], y[c]);
            wide *here = S + c * levels;
            if (levels) {
                if (weight) {
                    wide last = scale_wide(here[levels - 1], f->down[c], f->down_power[c]);
                    sum = add_wide(sum, scale_wide(last, weight, 0));
                }
                for (int p = levels - 1; p >= 0; --p) {
                    wide below = here[p && !back ? p - 1 : p];
                    if (p || back) {
                        here[p] = add_wide(here[p], up_to || back ? add_wide(R[p], start) : R[p]);
                        if (weight)
                            R[p] = add_wide(R[p], scale_wide(below, weight, 0));
                    } else
                        here[p] = add_wide(here[p], start);
                }
            }
            single += weight;
            run = run * f->decay + weight;
            start = scale_wide(make_wide(run * f->up[c], 0), f->up[i], (int64_t)f->up_power[c] + f->up_power[i]);
        }
        singles += single;
        total = add_wide(total, scale_wide(sum, f->down[i], f->down_power[i]));
    }
    if (counts_singles(f))
        total = add_wide(total, make_wide(singles, 0));
    *result = scale_wide(total, f->decay * f->decay, 0);
    free(S);
    free(R);
    return 0;
}

/* S of one row from that of the row before, (m + 1, levels) each, weights of letters times z. Here chains are weighted
 * by decay from their end to the cell; there is no other scale. */
static void next_row(const recursion *f, double z, int letter, const uint8_t *y, ptrdiff_t m, const double *before,
                     double *after, double *R)
{
    const int levels = f->levels, back = f->mode == ANY_LENGTH;
    const double square = f->decay * f->decay;
    for (int p = 0; p < levels; ++p)
        R[p] = after[p] = 0;
    for (ptrdiff_t c = 0; c < m; ++c) {
        const double weight = z * square * pair_weight(f, letter, y[c]);
        const double *old = before + c * levels;
        for (int p = 0; p < levels; ++p)
            R[p] *= f->decay;
        if (weight) {
            R[0] += weight * (back ? 1 + old[0] : 1);
            for (int p = 1; p < levels; ++p)
                R[p] += weight * ((f->mode == UP_TO) + old[p - 1]);
        }
        for (int p = 0; p < levels; ++p)
            after[(c + 1) * levels + p] = f->decay * old[levels + p] + R[p];
    }
}

/* The other way round: U of one row from that of the row after it, and return the sum over chains with a letter of this
 * row, of each one's weight; `before` is S of the row before. */
static double last_row(const recursion *f, double z, int letter, const uint8_t *y, ptrdiff_t m, const double *before,
                       const double *below, double *here, double *R)
{
    const int levels = f->levels, back = f->mode == ANY_LENGTH;
    const double square = f->decay * f->decay;
    double total = 0;
    for (int p = 0; p < levels; ++p)
        R[p] = here[m * levels + p] = 0;
    for (ptrdiff_t c = m - 1; c >= 0; --c) {
        const double weight = z * pair_weight(f, letter, y[c]);
        const double *old = below + (c + 1) * levels, *S = before + c * levels;
        for (int p = 0; p < levels; ++p)
            R[p] *= f->decay;
        if (weight && back) {
            const double rest = 1 + square * old[0];
            total += weight * square * (1 + S[0]) * rest;
            R[0] += weight * rest;
        } else if (weight) {
            /* The pair is the (p + 1)st of levels + 1: p pairs before it, levels − p after it. */
            for (int p = 0; p <= levels; ++p) {
                const double prefix = p ? (f->mode == UP_TO) + S[p - 1] : 1;
                total += weight * square * prefix * (p < levels ? square * old[levels - p - 1] : 1);
            }
            for (int p = levels - 1; p > 0; --p)
                R[p] += weight * square * old[p - 1];
            if (levels)
                R[0] += weight;
        }
        for (int p = 0; p < levels; ++p)
            here[c * levels + p] = f->decay * below[c * levels + p] + R[p];
    }
    return total;
}

/* Add factor · (the sum over chains that use letter i of x, of each one's weight times z for each pair) to shares[i].
 *
 * S is kept for every `step`-th row only, and computed again for the rows between when they are needed. Return 0, or -1
 * without memory. */
static int add_shares(const recursion *f, double z, double factor, const uint8_t *x, ptrdiff_t n, const uint8_t *y,
                      ptrdiff_t m, double *shares)
{
    const ptrdiff_t size = (m + 1) * (f->levels > 0 ? f->levels : 1), step = (ptrdiff_t)sqrt((double)n) + 1;
    const ptrdiff_t kept = n / step + 1;
    double *memory = calloc((size_t)(kept + step + 3) * size, sizeof(double));
    if (!memory)
        return -1;
    double *rows = memory + kept * size, *below = rows + (step + 1) * size, *R = below + size;
    for (ptrdiff_t i = 0; i + 1 < n; ++i) {
        /* S after row i: at the end of a step in its place among those kept, else in one of two rows by turns. */
        double *from = i % step == 0 ? memory + i / step * size : rows + i % 2 * size;
        double *to = (i + 1) % step == 0 ? memory + (i + 1) / step * size : rows + (i + 1) % 2 * size;
        next_row(f, z, x[i], y, m, from, to, R);
    }
    for (ptrdiff_t first = (n - 1) / step * step; n > 0 && first >= 0; first -= step) {
        const ptrdiff_t last = first + step < n ? first + step : n;
        memcpy(rows, memory + first / step * size, sizeof(double) * size);
        for (ptrdiff_t i = first; i + 1 < last; ++i)
            next_row(f, z, x[i], y, m, rows + (i - first) * size, rows + (i + 1 - first) * size, R);
        for (ptrdiff_t i = last - 1; i >= first; --i) {
            double *here = rows + step * size;
            shares[i] += factor * last_row(f, z, x[i], y, m, rows + (i - first) * size, below, here, R);
            memcpy(below, here, sizeof(double) * size);
        }
    }
    free(memory);
    return 0;
}

#endif
