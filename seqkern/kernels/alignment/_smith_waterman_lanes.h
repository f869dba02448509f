/* The recursion of _smith_waterman.h in lanes of WIDTH bits for one set of instructions: included once for each, by
 * that file.
 *
 * LEVEL (a suffix of names), TARGET and BYTES (of a vector) say which instructions; OPERATION(name), if there are
 * intrinsics, which one of this width. Numbers of 8 and 16 bits are then those that saturate: 0 is stored as the
 * smallest number there is, so that no score falls below it, and one that reaches the largest may have been larger.
 * Elsewhere 0 is 0, and scores end where adding one more letter might wrap.
 *
 * A *group* is LANES lane sequences. Its columns are cut into strips of STRIP; for each letter that a row may have there
 * is a *profile* of every strip, its scores in each lane and column. Within a strip H and F are in registers for all
 * its columns while all rows pass; from strip to strip there remain for each row H of the last column, and E. */

#define NAME(name) JOIN(JOIN(name##_, WIDTH), LEVEL)
#define SCORE JOIN(JOIN(int, WIDTH), _t)
#define MOST ((int64_t)(((uint64_t)1 << (WIDTH - 1)) - 1))

#ifdef OPERATION
#define SATURATES (WIDTH < 32)
#define VECTOR JOIN(vector_, BYTES)
#define SPLAT(value) OPERATION(set1)((SCORE)(value))
#define MAXIMUM(a, b) OPERATION(max)(a, b)
#if WIDTH < 32
#define ADD(a, b) OPERATION(adds)(a, b)
#define SUBTRACT(a, b) OPERATION(subs)(a, b)
#else
#define ADD(a, b) OPERATION(add)(a, b)
#define SUBTRACT(a, b) OPERATION(sub)(a, b)
#endif
#else
#define SATURATES 0
#define VECTOR JOIN(plain_, WIDTH)
#define SPLAT(value) ((VECTOR){0} + (SCORE)(value))
#define MAXIMUM(a, b) NAME(maximum)(a, b)
#define ADD(a, b) ((a) + (b))
#define SUBTRACT(a, b) ((a) - (b))
#endif

enum { NAME(LANES) = sizeof(VECTOR) / sizeof(SCORE) };
#define LANES NAME(LANES)
#define ZERO (SATURATES ? -MOST - 1 : 0)

#ifndef OPERATION
static inline VECTOR NAME(maximum)(VECTOR a, VECTOR b)
{
#if defined(__GNUC__)
    const VECTOR larger = a > b;
    return (a & larger) | (b & ~larger);
#else
    return a > b ? a : b;
#endif
}
#endif

typedef struct {
    memory profile; /* VECTOR (strips, letters, STRIP) */
    memory carry;   /* VECTOR (rows, 2): H and E */
    ptrdiff_t columns;
    int count;
    SCORE best[LANES];
} NAME(group);

/* Make the profiles of the first `columns` columns of `count` lanes, members[0], members[1], …. */
TARGET static int NAME(make_group)(NAME(group) * g, const scoring *f, const records *lanes, const int64_t *members,
                                   int count, ptrdiff_t columns)
{
    const ptrdiff_t strips = (columns + STRIP - 1) / STRIP;
    const uint8_t *text[LANES];
    ptrdiff_t length[LANES];
    if (reserve(&g->profile, sizeof(VECTOR) * strips * f->letters * STRIP))
        return 1;
    g->columns = columns;
    g->count = count;
    for (int l = 0; l < count; ++l) {
        text[l] = record_codes(lanes, members[l]);
        length[l] = record_length(lanes, members[l]);
    }
    VECTOR *profile = g->profile.start;
    for (ptrdiff_t j = 0; j < strips * STRIP; ++j) {
        uint8_t codes[LANES + 32];
        VECTOR *entry = profile + j / STRIP * f->letters * STRIP + j % STRIP;
        memset(codes, f->letters, sizeof codes);
        for (int l = 0; l < count; ++l)
            if (j < length[l])
                codes[l] = text[l][j];
        for (int a = 0; a < f->letters; ++a, entry += STRIP) {
            SCORE values[LANES];
            if (f->table) {
                int8_t narrow[LANES + 32];
                LOOK_UP(f->table + a * TABLE, codes, narrow, LANES);
                for (int l = 0; l < LANES; ++l)
                    values[l] = narrow[l];
            } else
                for (int l = 0; l < LANES; ++l)
                    values[l] = (SCORE)f->score[a * (f->letters + 1) + codes[l]];
            memcpy(entry, values, sizeof values);
        }
    }
    return 0;
}

/* One strip of C columns, all rows; x[0 … n − 1] are the row's codes, `carry` their H and E.
 *
 * As open ≥ extend, neither E after E nor F after F is to be opened again, and of two gaps beside each other that of F
 * may come first. So both are opened from max(0, H(i − 1, j − 1) + s, F), and do not wait for E. */
TARGET ALWAYS_INLINE VECTOR NAME(strip)(const int C, const int is_first, const VECTOR *profile, const uint8_t *x,
                                        ptrdiff_t n, VECTOR open, VECTOR extend, VECTOR best, VECTOR *carry)
{
    const VECTOR zero = SPLAT(ZERO);
    VECTOR H[STRIP], F[STRIP], before = zero;
    UNROLLED for (int c = 0; c < C; ++c)
        H[c] = F[c] = zero;
    for (ptrdiff_t i = 0; i < n; ++i) {
        const VECTOR *entry = profile + (ptrdiff_t)x[i] * STRIP;
        VECTOR diagonal = before, E = is_first ? zero : carry[2 * i + 1];
        before = is_first ? zero : carry[2 * i];
        UNROLLED for (int c = 0; c < C; ++c) {
            VECTOR h = MAXIMUM(ADD(diagonal, entry[c]), F[c]);
            if (!SATURATES)
                h = MAXIMUM(h, zero);
            best = MAXIMUM(best, h);
            diagonal = H[c];
            H[c] = MAXIMUM(h, E);
            h = SUBTRACT(h, open);
            E = MAXIMUM(SUBTRACT(E, extend), h);
            F[c] = MAXIMUM(SUBTRACT(F[c], extend), h);
        }
        carry[2 * i] = H[C - 1];
        carry[2 * i + 1] = E;
    }
    return best;
}

/* Set g->best to the scores of a row with the lanes of a group, over its first `columns` columns. Those of at least
 * `limit` may be too small; where all are, what is left to do is left out. */
TARGET static int NAME(score)(NAME(group) * g, const scoring *f, const uint8_t *x, ptrdiff_t n, ptrdiff_t columns,
                              int count, int64_t limit)
{
    const VECTOR open = SPLAT(f->open), extend = SPLAT(f->extend);
    const VECTOR *profile = g->profile.start;
    VECTOR best = SPLAT(ZERO);
    if (reserve(&g->carry, sizeof(VECTOR) * 2 * n))
        return 1;
    VECTOR *carry = g->carry.start;
    for (ptrdiff_t j = 0; j < columns; j += STRIP, profile += f->letters * STRIP) {
        const int is_first = j == 0, half = columns - j <= STRIP / 2;
        if (is_first && half)
            best = NAME(strip)(STRIP / 2, 1, profile, x, n, open, extend, best, carry);
        else if (is_first)
            best = NAME(strip)(STRIP, 1, profile, x, n, open, extend, best, carry);
        else if (half)
            best = NAME(strip)(STRIP / 2, 0, profile, x, n, open, extend, best, carry);
        else
            best = NAME(strip)(STRIP, 0, profile, x, n, open, extend, best, carry);
        if (WIDTH < 32 && j % (CHECKED * STRIP) == (CHECKED - 1) * STRIP) {
            int full = 1;
            memcpy(g->best, &best, sizeof best);
            for (int l = 0; l < count; ++l)
                full &= g->best[l] >= limit;
            if (full)
                return 0;
        }
    }
    memcpy(g->best, &best, sizeof best);
    return 0;
}

/* Score one row with the lanes members[0 … count − 1], which are the group's, and by length. */
TARGET static int NAME(score_row)(NAME(group) * g, const scoring *f, const rectangle *r, ptrdiff_t row,
                                  const int64_t *members, int count)
{
    const int64_t limit = SATURATES ? MOST : MOST - f->largest + 1;
    const ptrdiff_t columns = record_length(r->lanes, members[count - 1]);
    if (NAME(score)(g, f, record_codes(r->rows, row), record_length(r->rows, row), columns, count, limit))
        return 1;
    for (int l = 0; l < count; ++l)
        *entry_of(r, row, members[l]) = g->best[l] >= limit ? -1.0 : (double)(g->best[l] - ZERO);
    return 0;
}

/* Score every row with the lanes bounds[k] … bounds[k + 1] − 1 of each k, at most LANES, as far as it reaches. */
TARGET static int NAME(fill)(const scoring *f, const rectangle *r, const int64_t *bounds, ptrdiff_t n_bounds)
{
    NAME(group) g = {0};
    int failed = 0;
    for (ptrdiff_t k = 0; k + 1 < n_bounds && !failed; ++k) {
        const ptrdiff_t first = bounds[k];
        ptrdiff_t furthest = first;
        int64_t members[LANES];
        for (ptrdiff_t row = 0; row < r->rows->n; ++row)
            if (r->reach[row] > furthest)
                furthest = r->reach[row];
        furthest = smaller(furthest, bounds[k + 1]);
        if (furthest == first)
            continue;
        for (ptrdiff_t l = first; l < furthest; ++l)
            members[l - first] = l;
        failed = NAME(make_group)(&g, f, r->lanes, members, (int)(furthest - first),
                                  record_length(r->lanes, furthest - 1));
        for (ptrdiff_t row = 0; row < r->rows->n && !failed; ++row)
            if (r->reach[row] > first)
                failed = NAME(score_row)(&g, f, r, row, members, (int)(smaller(r->reach[row], furthest) - first));
    }
    free(g.profile.block);
    free(g.carry.block);
    return failed;
}

/* Score again what is negative in the rectangle. */
TARGET static int NAME(correct)(const scoring *f, const rectangle *r)
{
    NAME(group) g = {0};
    int failed = 0;
    for (ptrdiff_t row = 0; row < r->rows->n && !failed; ++row) {
        int64_t members[LANES];
        int count = 0;
        for (ptrdiff_t lane = 0; lane < r->reach[row] && !failed; ++lane) {
            if (*entry_of(r, row, lane) < 0)
                members[count++] = lane;
            if (count == LANES || (count && lane + 1 == r->reach[row])) {
                failed = NAME(make_group)(&g, f, r->lanes, members, count,
                                          record_length(r->lanes, members[count - 1])) ||
                         NAME(score_row)(&g, f, r, row, members, count);
                count = 0;
            }
        }
    }
    free(g.profile.block);
    free(g.carry.block);
    return failed;
}

#undef NAME
#undef SCORE
#undef MOST
#undef SATURATES
#undef VECTOR
#undef SPLAT
#undef MAXIMUM
#undef ADD
#undef SUBTRACT
#undef LANES
#undef ZERO
#undef WIDTH
