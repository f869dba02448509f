/* The recursion of _local_alignment.h for one type and one set of instructions: included once for each, by that file.
 *
 * NAME, TARGET, REAL (float or double), BITS and INTEGER (of the same size), VECTOR of LANES of them, COLUMNS,
 * FMA(a, b, c) = a·b + c and IN_TURN(a, b), which orders instructions, say which.
 *
 * A *group* is LANES lane sequences. Its columns are cut into strips. For each letter that a row may have, a *profile*
 * has the factors of the columns of a strip. Within a strip M, X and T = 1 + X + Y + M are in registers for all its
 * columns while all rows pass; from strip to strip there remain for each row Y and T: *carried* vectors.
 *
 * Numbers of lane l are stored times 2^−power[l]; powers are 0 or more, as T ≥ 1. A strip is done in blocks of rows.
 * A *quiet* block is one in which all powers are and stay 0. If it turns out that one is not, it is done again, in
 * tiles of few rows: so few that nothing can overflow, and nothing is lost that matters, between two looks at the
 * powers (_local_alignment_powers.h). What a lane does depends on its own two sequences only. */

/* The columns of a strip after a row; `corner` is T to the left of T[0], S sums up M since S was emptied. */
typedef struct {
    VECTOR X[COLUMNS], T[COLUMNS], S[COLUMNS], corner;
} NAME(columns);

/* What one group needs. */
typedef struct {
    const recursion *f;
    ptrdiff_t longest; /* rows */
    void *blocks[5];
    VECTOR *profiles, *in, *out; /* of all strips; carried, two for each row, behind those of row −1 */
    INTEGER *carried_power;      /* (tiles, LANES) */
    char *loud;                  /* of blocks: whether some carried power is not 0 */
    VECTOR *bound;               /* of blocks that are not: more than all that is carried of Y */
    int32_t *x;                  /* the places of the rows' profiles */
    NAME(columns) states[2], *now, *before; /* after the last row, and before the rows that were done last */
    VECTOR one[COLUMNS], ones[PATTERN], weight[PATTERN]; /* with the powers of now, and without; 1 / ones */
    VECTOR largest, least; /* a bound on X and T if all powers are 0; what is less than `least` is to be scaled anew */
    INTEGER power[LANES], total_power[LANES];
    double total[LANES]; /* ΣM, times 2^−total_power */
    int quiet, small;    /* whether all powers are 0; whether all those of the totals are */
} NAME(work);

#include "_local_alignment_powers.h"

ALWAYS_INLINE void NAME(swap)(NAME(work) * w)
{
    NAME(columns) *now = w->now;
    w->now = w->before;
    w->before = now;
}

/* The rows `from` to `to` of a strip. */
TARGET ALWAYS_INLINE void NAME(rows_body)(NAME(work) * w, const int even, const VECTOR *profiles, ptrdiff_t from,
                                          ptrdiff_t to, REAL wrap)
{
    const recursion *f = w->f;
    const NAME(columns) *old = w->now;
    VECTOR X[COLUMNS], T[COLUMNS], S[COLUMNS], corner = old->corner;
    const VECTOR open = (VECTOR){0} + (REAL)f->open, extend = (VECTOR){0} + (REAL)f->extend;
    const VECTOR reopen = (VECTOR){0} + (REAL)f->reopen, back = (VECTOR){0} + wrap;
    UNROLLED for (int c = 0; c < COLUMNS; ++c) {
        X[c] = old->X[c];
        T[c] = old->T[c];
        S[c] = old->S[c];
    }
    for (ptrdiff_t i = from; i < to; ++i) {
        const VECTOR *entry = profiles + w->x[i];
        VECTOR Y = w->in[2 * i] * back, M = entry[0] * corner;
        corner = w->in[2 * i + 1];
        UNROLLED for (int c = 0; c < COLUMNS; ++c) {
            IN_TURN(M, Y);
            const VECTOR next = c + 1 < COLUMNS ? entry[c + 1] * T[c] : M, A = FMA(open, X[c], M);
            S[c] += M;
            X[c] = FMA(extend, X[c], M);
            T[c] = FMA(reopen, Y, A + w->one[c]);
            Y = even ? Y + A : FMA(extend, Y, A);
            M = next;
        }
        w->out[2 * i] = Y;
        w->out[2 * i + 1] = T[COLUMNS - 1];
    }
    NAME(columns) *new = w->before;
    UNROLLED for (int c = 0; c < COLUMNS; ++c) {
        new->X[c] = X[c];
        new->T[c] = T[c];
        new->S[c] = S[c];
    }
    new->corner = corner;
    NAME(swap)(w);
}

TARGET static void NAME(rows)(NAME(work) * w, const VECTOR *profiles, ptrdiff_t from, ptrdiff_t to, REAL wrap)
{
    if (w->f->even)
        NAME(rows_body)(w, 1, profiles, from, to, wrap);
    else
        NAME(rows_body)(w, 0, profiles, from, to, wrap);
}

/* The rows `from` to `to`, a block, in tiles. */
TARGET static void NAME(tiles)(NAME(work) * w, int phase, const VECTOR *profiles, ptrdiff_t block, ptrdiff_t from,
                               ptrdiff_t to, REAL wrap)
{
    const ptrdiff_t tile_rows = w->f->RANGE.rows;
    VECTOR carried = (VECTOR){0};
    int loud = 0;
    for (ptrdiff_t i = from; i < to; i += tile_rows) {
        const ptrdiff_t end = i + tile_rows < to ? i + tile_rows : to;
        NAME(look)(w, phase, i, end, wrap);
        NAME(rows)(w, profiles, i, end, wrap);
        loud |= !w->quiet;
    }
    w->loud[block] = (char)loud;
    if (loud)
        return;
    for (ptrdiff_t i = from; i < to; ++i)
        carried = MAXIMUM(carried, w->out[2 * i]);
    w->bound[block] = carried;
    w->largest = w->now->corner;
    for (int c = 0; c < COLUMNS; ++c)
        w->largest = MAXIMUM(w->largest, MAXIMUM(w->now->X[c], w->now->T[c]));
}

/* All rows of one strip, the first column of which is the place `phase` of the pattern. */
TARGET static void NAME(strip)(NAME(work) * w, ptrdiff_t s, const VECTOR *profiles, ptrdiff_t n)
{
    const int phase = (int)(s * COLUMNS % PATTERN);
    const REAL wrap = phase ? 1 : (REAL)w->f->wrap;
    const VECTOR limit = (VECTOR){0} + (REAL)w->f->RANGE.quiet;
    for (int l = 0; l < LANES; ++l)
        w->power[l] = 0;
    w->quiet = 1;
    w->least = (VECTOR){0};
    w->largest = w->ones[PATTERN - 1];
    for (int c = 0; c < COLUMNS; ++c) {
        w->now->X[c] = w->now->S[c] = (VECTOR){0};
        w->now->T[c] = w->one[c] = w->ones[phase + c];
    }
    w->now->corner = w->ones[(phase + PATTERN - 1) % PATTERN];
    for (ptrdiff_t from = 0, block = 0; from < n; from += BLOCK_ROWS, ++block) {
        const ptrdiff_t to = from + BLOCK_ROWS < n ? from + BLOCK_ROWS : n;
        int done = 0;
        if (w->quiet && !w->loud[block] && ALL_AT_MOST(w->bound[block], limit)) {
            NAME(rows)(w, profiles, from, to, wrap);
            done = NAME(stays_quiet)(w, block, limit, wrap);
            if (!done)
                NAME(swap)(w);
        }
        if (!done)
            NAME(tiles)(w, phase, profiles, block, from, to, wrap);
        NAME(flush)(w, phase, NULL);
    }
    VECTOR *carried = w->in;
    w->in = w->out;
    w->out = carried;
}

/* Begin a group. */
TARGET static void NAME(start)(NAME(work) * w, ptrdiff_t n)
{
    memset(w->in, 0, 2 * sizeof(VECTOR) * n);
    for (ptrdiff_t i = 0; i < n; ++i)
        w->in[2 * i + 1] = w->ones[PATTERN - 1];
    memset(w->carried_power, 0, sizeof(INTEGER) * LANES * (n / w->f->RANGE.rows + 1));
    memset(w->loud, 0, n / BLOCK_ROWS + 1);
    memset(w->bound, 0, sizeof(VECTOR) * (n / BLOCK_ROWS + 1));
    memset(w->total, 0, sizeof w->total);
    memset(w->total_power, 0, sizeof w->total_power);
    w->small = 1;
}

/* Set values[l] to ln K. */
static void NAME(finish)(const NAME(work) * w, double *values)
{
    for (int l = 0; l < LANES; ++l)
        values[l] = w->total_power[l] == 0 ? log1p(w->total[l])
                                           : log(w->total[l] + halved(w->total_power[l])) + w->total_power[l] * LN2;
}

static void NAME(end)(NAME(work) * w)
{
    for (int k = 0; k < 5; ++k)
        free(w->blocks[k]);
    free(w->x);
    free(w->loud);
}

/* Prepare for rows of up to `longest` letters and `entries` vectors of profiles; return 0, or -1 without memory. */
TARGET static int NAME(begin)(NAME(work) * w, const recursion *f, ptrdiff_t longest, ptrdiff_t entries)
{
    memset(w->blocks, 0, sizeof w->blocks);
    w->f = f;
    w->now = &w->states[0];
    w->before = &w->states[1];
    for (int c = 0; c < PATTERN; ++c) {
        w->ones[c] = (VECTOR){0} + (REAL)f->one[c];
        w->weight[c] = (VECTOR){0} + (REAL)f->weight[c];
    }
    w->profiles = aligned_memory(sizeof(VECTOR) * (entries + 1), &w->blocks[0]);
    w->in = aligned_memory(sizeof(VECTOR) * 2 * (longest + 1), &w->blocks[1]);
    w->out = aligned_memory(sizeof(VECTOR) * 2 * (longest + 1), &w->blocks[2]);
    w->carried_power = aligned_memory(sizeof(INTEGER) * LANES * (longest / f->RANGE.rows + 1), &w->blocks[3]);
    w->bound = aligned_memory(sizeof(VECTOR) * (longest / BLOCK_ROWS + 1), &w->blocks[4]);
    w->x = malloc(sizeof(int32_t) * (longest + 1));
    w->loud = malloc(longest / BLOCK_ROWS + 1);
    if (w->profiles && w->in && w->out && w->carried_power && w->bound && w->x && w->loud)
        return 0;
    NAME(end)(w);
    return -1;
}

/* Fill the profiles of a strip's columns for all letters of rows; y[l] are the lanes' codes and m[l] their lengths. */
TARGET static void NAME(make_profiles)(const recursion *f, ptrdiff_t s, const uint8_t *const *y, const ptrdiff_t *m,
                                       VECTOR *profiles)
{
    for (int c = 0; c < COLUMNS; ++c) {
        const ptrdiff_t j = s * COLUMNS + c;
        const REAL *table = f->TABLE + (j % PATTERN) * f->letters * (f->letters + 1);
        int code[LANES];
        for (int l = 0; l < LANES; ++l)
            code[l] = j < m[l] ? y[l][j] : f->letters;
        for (int a = 0; a < f->letters; ++a, table += f->letters + 1) {
            REAL *entry = (REAL *)(profiles + a * COLUMNS + c);
            for (int l = 0; l < LANES; ++l)
                entry[l] = table[code[l]];
        }
    }
}

/* Set out[row·row_step + lane·lane_step] to ln K of each row and the lanes 0 … stop[row] − 1; rows and lanes are
 * meant by their places in the records' order. Return 0, or -1 without memory. */
static int NAME(fill)(const recursion *f, const records *rows, const int64_t *stop, const records *lanes, double *out,
                      ptrdiff_t row_step, ptrdiff_t lane_step)
{
    NAME(work) w;
    const ptrdiff_t most = (longest_record(lanes) + COLUMNS - 1) / COLUMNS;
    if (NAME(begin)(&w, f, longest_record(rows), most * COLUMNS * f->letters) < 0)
        return -1;
    for (ptrdiff_t g = 0; g < lanes->n; g += LANES) {
        const uint8_t *y[LANES];
        ptrdiff_t m[LANES], strips = -1;
        for (ptrdiff_t r = 0; r < rows->n; ++r) {
            if (stop[r] <= g)
                continue;
            if (strips < 0) {
                ptrdiff_t widest = 0;
                for (int l = 0; l < LANES; ++l) {
                    y[l] = g + l < lanes->n ? record_codes(lanes, g + l) : NULL;
                    m[l] = g + l < lanes->n ? record_length(lanes, g + l) : 0;
                    widest = m[l] > widest ? m[l] : widest;
                }
                strips = (widest + COLUMNS - 1) / COLUMNS;
                for (ptrdiff_t s = 0; s < strips; ++s)
                    NAME(make_profiles)(f, s, y, m, w.profiles + s * f->letters * COLUMNS);
            }
            const uint8_t *x = record_codes(rows, r);
            const ptrdiff_t n = record_length(rows, r);
            for (ptrdiff_t i = 0; i < n; ++i)
                w.x[i] = x[i] * COLUMNS;
            NAME(start)(&w, n);
            for (ptrdiff_t s = 0; s < strips; ++s)
                NAME(strip)(&w, s, w.profiles + s * f->letters * COLUMNS, n);
            double values[LANES];
            NAME(finish)(&w, values);
            for (ptrdiff_t k = g; k < stop[r] && k < g + LANES; ++k)
                out[rows->order[r] * row_step + lanes->order[k] * lane_step] = values[k - g];
        }
    }
    NAME(end)(&w);
    return 0;
}

/* Set out[order[k]] to ln K of record k with itself. Return 0, or -1 without memory. */
static int NAME(pairs)(const recursion *f, const records *all, double *out)
{
    NAME(work) w;
    const ptrdiff_t longest = longest_record(all);
    /* Each lane has a row letter of its own: every row gets a profile of its own. */
    if (NAME(begin)(&w, f, longest, longest * COLUMNS) < 0)
        return -1;
    for (ptrdiff_t i = 0; i < longest; ++i)
        w.x[i] = (int32_t)(i * COLUMNS);
    for (ptrdiff_t g = 0; g < all->n; g += LANES) {
        const uint8_t *y[LANES];
        ptrdiff_t m[LANES], n = 0;
        for (int l = 0; l < LANES; ++l) {
            y[l] = g + l < all->n ? record_codes(all, g + l) : NULL;
            m[l] = g + l < all->n ? record_length(all, g + l) : 0;
            n = m[l] > n ? m[l] : n;
        }
        NAME(start)(&w, n);
        for (ptrdiff_t s = 0; s * COLUMNS < n; ++s) {
            memset(w.profiles, 0, sizeof(VECTOR) * n * COLUMNS);
            for (int c = 0; c < COLUMNS; ++c) {
                const ptrdiff_t j = s * COLUMNS + c;
                const REAL *table = f->TABLE + (j % PATTERN) * f->letters * (f->letters + 1);
                for (int l = 0; l < LANES; ++l)
                    for (ptrdiff_t i = 0; i < m[l] && j < m[l]; ++i)
                        ((REAL *)(w.profiles + i * COLUMNS + c))[l] = table[y[l][i] * (f->letters + 1) + y[l][j]];
            }
            NAME(strip)(&w, s, w.profiles, n);
        }
        double values[LANES];
        NAME(finish)(&w, values);
        for (int l = 0; l < LANES && g + l < all->n; ++l)
            out[all->order[g + l]] = values[l];
    }
    NAME(end)(&w);
    return 0;
}

#undef NAME
#undef TARGET
#undef REAL
#undef BITS
#undef INTEGER
#undef VECTOR
#undef LANES
#undef COLUMNS
#undef FMA
#undef MAXIMUM
#undef ALL_AT_MOST
#undef TABLE
#undef RANGE
