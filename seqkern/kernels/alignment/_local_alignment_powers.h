/* Powers of two of _local_alignment_lanes.h, which includes this for each type: how they are chosen between tiles, so
 * that nothing overflows in one and nothing is lost that matters (see local_factors.py), and the totals that they
 * scale. */

/* 2^d in each lane, as two factors: no power of two holds all that d may be. */
TARGET ALWAYS_INLINE void NAME(scale)(const INTEGER *d, VECTOR *factors)
{
    const INTEGER bias = sizeof(REAL) == 4 ? 127 : 1023;
    INTEGER bits[2][LANES];
    for (int l = 0; l < LANES; ++l) {
        const INTEGER half = d[l] >> 1, rest = d[l] - half;
        const INTEGER a = half > bias ? bias : half < -bias ? -bias : half;
        const INTEGER b = rest > bias ? bias : rest < -bias ? -bias : rest;
        bits[0][l] = (a + bias) << BITS; /* 0 for 2^−bias */
        bits[1][l] = (b + bias) << BITS;
    }
    memcpy(factors, bits, 2 * sizeof(VECTOR));
}

#ifndef MAXIMUM
#define MAXIMUM(a, b) NAME(maximum)(a, b)
TARGET ALWAYS_INLINE VECTOR NAME(maximum)(VECTOR a, VECTOR b)
{
    REAL p[LANES], q[LANES];
    memcpy(p, &a, sizeof p);
    memcpy(q, &b, sizeof q);
    for (int l = 0; l < LANES; ++l)
        p[l] = p[l] > q[l] ? p[l] : q[l];
    memcpy(&a, p, sizeof p);
    return a;
}
/* Whether a ≤ b in all lanes; false for what is no number. */
#define ALL_AT_MOST(a, b) NAME(all_at_most)(a, b)
TARGET ALWAYS_INLINE int NAME(all_at_most)(VECTOR a, VECTOR b)
{
    REAL p[LANES], q[LANES];
    int all = 1;
    memcpy(p, &a, sizeof p);
    memcpy(q, &b, sizeof q);
    for (int l = 0; l < LANES; ++l)
        all &= p[l] <= q[l];
    return all;
}
#endif

/* Add S to the totals and empty it, in lanes where `chosen` is not 0. */
TARGET static void NAME(flush)(NAME(work) * w, int phase, const INTEGER *chosen)
{
    VECTOR sum = (VECTOR){0};
    REAL sums[LANES];
    for (int c = 0; c < COLUMNS; ++c)
        sum = FMA(w->weight[phase + c], w->now->S[c], sum);
    memcpy(sums, &sum, sizeof sum);
    if (w->quiet && w->small && !chosen) {
        for (int l = 0; l < LANES; ++l)
            w->total[l] += sums[l];
        for (int c = 0; c < COLUMNS; ++c)
            w->now->S[c] = (VECTOR){0};
        return;
    }
    REAL keep[LANES];
    for (int l = 0; l < LANES; ++l) {
        const int add = (!chosen || chosen[l]) && sums[l] > 0; /* behind a lane's end powers are of no consequence */
        const INTEGER most = w->power[l] > w->total_power[l] ? w->power[l] : w->total_power[l];
        const double grown = w->total[l] * halved(most - w->total_power[l]) + sums[l] * halved(most - w->power[l]);
        w->total[l] = add ? grown : w->total[l];
        w->total_power[l] = add ? most : w->total_power[l];
        keep[l] = !chosen || chosen[l] ? 0 : 1;
    }
    w->small = 0;
    VECTOR kept;
    memcpy(&kept, keep, sizeof kept);
    for (int c = 0; c < COLUMNS; ++c)
        w->now->S[c] *= kept;
}

/* Set top[l] to the power of two of v[l], plus power[l], if that is more. */
TARGET ALWAYS_INLINE void NAME(raise)(INTEGER *top, VECTOR v, const INTEGER *power)
{
    INTEGER bits[LANES];
    memcpy(bits, &v, sizeof v);
    for (int l = 0; l < LANES; ++l) {
        const INTEGER digits = (bits[l] >> BITS) - (sizeof(REAL) == 4 ? 127 : 1023) + power[l];
        top[l] = bits[l] && digits > top[l] ? digits : top[l];
    }
}

/* Choose powers for a tile, given the largest numbers that it begins with, in lanes and carried, and bring everything
 * to them. */
TARGET static void NAME(set_powers)(NAME(work) * w, int phase, VECTOR most, VECTOR most_carried, INTEGER *carried,
                                    ptrdiff_t from, ptrdiff_t to)
{
    const range *r = &w->f->RANGE;
    INTEGER top[LANES] = {0}, change[LANES], shift[LANES], moved = 0, shifted = 0;
    NAME(raise)(top, most, w->power);
    NAME(raise)(top, most_carried, carried);
    for (int l = 0; l < LANES; ++l) {
        const INTEGER old = w->power[l], above = top[l] - old;
        const INTEGER best = top[l] > r->middle ? top[l] - r->middle : 0;
        const INTEGER next = above >= r->high || (old > 0 && above < r->low) ? best : old;
        change[l] = old - next;
        shift[l] = carried[l] - next;
        moved |= change[l];
        shifted |= shift[l];
    }
    if (moved) {
        INTEGER any = 0, minus[LANES];
        REAL least[LANES];
        NAME(flush)(w, phase, change);
        for (int l = 0; l < LANES; ++l) {
            w->power[l] -= change[l];
            minus[l] = -w->power[l];
            least[l] = w->power[l] ? (REAL)r->least : 0;
            any |= w->power[l];
        }
        VECTOR own[2], ones[2];
        NAME(scale)(change, own);
        NAME(scale)(minus, ones);
        for (int c = 0; c < COLUMNS; ++c) {
            w->now->X[c] = w->now->X[c] * own[0] * own[1];
            w->now->T[c] = w->now->T[c] * own[0] * own[1];
            w->one[c] = w->ones[phase + c] * ones[0] * ones[1];
        }
        w->now->corner = w->now->corner * own[0] * own[1];
        memcpy(&w->least, least, sizeof least);
        w->quiet = any == 0;
    }
    if (shifted) {
        VECTOR factors[2];
        NAME(scale)(shift, factors);
        for (ptrdiff_t i = 2 * from; i < 2 * to; ++i)
            w->in[i] = w->in[i] * factors[0] * factors[1];
    }
    memcpy(carried, w->power, sizeof w->power);
}

/* Look at what a tile begins with, and set powers if any lane needs it. */
TARGET static void NAME(look)(NAME(work) * w, int phase, ptrdiff_t from, ptrdiff_t to, REAL wrap)
{
    INTEGER *carried = w->carried_power + from / w->f->RANGE.rows * LANES;
    VECTOR most = w->now->corner, most_carried = (VECTOR){0};
    for (int c = 0; c < COLUMNS; ++c)
        most = MAXIMUM(most, MAXIMUM(w->now->X[c], w->now->T[c]));
    for (ptrdiff_t i = from; i < to; ++i)
        most_carried = MAXIMUM(most_carried, w->in[2 * i]);
    most_carried *= wrap;
    const VECTOR both = MAXIMUM(most, most_carried), high = (VECTOR){0} + (REAL)w->f->RANGE.most;
    if (!ALL_AT_MOST(both, high) || !ALL_AT_MOST(w->least, both) || memcmp(w->power, carried, sizeof w->power))
        NAME(set_powers)(w, phase, most, most_carried, carried, from, to);
}

/* Tell whether all powers of the block that was just done would stay 0 at any look at them. If so, find bounds on what
 * it leaves. */
TARGET static int NAME(stays_quiet)(NAME(work) * w, ptrdiff_t block, VECTOR limit, REAL wrap)
{
    const VECTOR carried = w->bound[block];
    VECTOR sum = (VECTOR){0};
    for (int c = 0; c < COLUMNS; ++c)
        sum += w->now->S[c];
    /* What gets into Y: what was carried, M, and X, each column's no more than its first and the sum of M. */
    sum += carried * wrap + (w->largest * COLUMNS + sum) * (REAL)w->f->open;
    const VECTOR largest = w->largest + (sum + carried) * 2;
    if (!ALL_AT_MOST(largest, limit))
        return 0;
    w->largest = largest;
    w->bound[block] = sum;
    return 1;
}
