/* The recursion of _pair_hmm.h for one set of instructions: included once for each, by that file.
 *
 * NAME, TARGET, VECTOR of LANES doubles, COLUMNS, FMA(a, b, c) = a·b + c and, where there is an instruction, MAXIMUM say
 * which.
 *
 * A *group* is LANES lane sequences. Its columns are cut into strips. For each letter that a row may have, a *profile*
 * has the factors of the columns of a strip. Within a strip X and T are in registers for all its columns while the rows
 * of a tile pass; from strip to strip there remain for each row Y and T: *carried* vectors. What a lane does depends on
 * its own two sequences only. */

#ifndef MAXIMUM
#define MAXIMUM(a, b) NAME(maximum)(a, b)
TARGET ALWAYS_INLINE VECTOR NAME(maximum)(VECTOR a, VECTOR b)
{
    double p[LANES], q[LANES];
    memcpy(p, &a, sizeof p);
    memcpy(q, &b, sizeof q);
    for (int l = 0; l < LANES; ++l)
        p[l] = p[l] > q[l] ? p[l] : q[l];
    memcpy(&a, p, sizeof p);
    return a;
}
#endif

/* What one group needs. Numbers are stored times 2^−power. */
typedef struct {
    const pair_hmm *f;
    void *blocks[4];
    VECTOR *profiles, *in, *most; /* of all strips; carried, two for each row; the largest T carried by a tile */
    int64_t *carried;             /* the powers of what is carried, (tiles, LANES) */
    int32_t *x;                   /* the places of the rows' profiles */
    VECTOR X[COLUMNS], T[COLUMNS], corner;
    int64_t power[LANES]; /* of those three */
} NAME(work);

/* Profiles of a strip: the factors of its columns, for each letter of a row. */
static void NAME(make_profiles)(const pair_hmm *f, ptrdiff_t s, const uint8_t *const *y, const ptrdiff_t *m,
                                VECTOR *profiles)
{
    for (int c = 0; c < COLUMNS; ++c) {
        const ptrdiff_t j = s * COLUMNS + c;
        for (int a = 0; a < f->letters; ++a) {
            double factors[LANES];
            for (int l = 0; l < LANES; ++l)
                factors[l] = f->match[a * (f->letters + 1) + (j < m[l] ? y[l][j] : f->letters)];
            memcpy(profiles + a * COLUMNS + c, factors, sizeof factors);
        }
    }
}

/* Begin a group of n rows: what is carried to the first strip is a gap of x. */
static void NAME(start)(NAME(work) * w, ptrdiff_t n)
{
    for (ptrdiff_t from = 0, tile = 0; from < n; from += w->f->rows, ++tile) {
        double value;
        int64_t power;
        gap_of(w->f, from, &value, &power);
        w->most[tile] = (VECTOR){0} + value;
        for (int l = 0; l < LANES; ++l)
            w->carried[tile * LANES + l] = power;
        for (ptrdiff_t i = from; i < from + w->f->rows && i < n; ++i, value *= w->f->extend)
            w->in[2 * i] = w->in[2 * i + 1] = (VECTOR){0} + value;
    }
}

/* Bring what a tile begins with to one power; return the factor of what is carried. */
TARGET static VECTOR NAME(set_powers)(NAME(work) * w, ptrdiff_t tile)
{
    int64_t *carried = w->carried + tile * LANES;
    VECTOR above = w->corner, own, left;
    double tops[LANES], lefts[LANES], owns[LANES];
    for (int c = 0; c < COLUMNS; ++c)
        above = MAXIMUM(above, w->T[c]);
    memcpy(tops, &above, sizeof tops);
    memcpy(lefts, &w->most[tile], sizeof lefts);
    for (int l = 0; l < LANES; ++l) {
        const int64_t top = power_of(tops[l]) + w->power[l], side = power_of(lefts[l]) + carried[l];
        const int64_t most = top > side ? top : side, next = most > NEVER / 2 ? most : 0;
        owns[l] = two_to(w->power[l] - next);
        lefts[l] = two_to(carried[l] - next);
        w->power[l] = carried[l] = next;
    }
    memcpy(&own, owns, sizeof own);
    memcpy(&left, lefts, sizeof left);
    for (int c = 0; c < COLUMNS; ++c) {
        w->X[c] *= own;
        w->T[c] *= own;
    }
    w->corner *= own;
    return left;
}

/* The rows `from` to `to`, a tile. */
TARGET static void NAME(tile)(NAME(work) * w, const VECTOR *profiles, ptrdiff_t from, ptrdiff_t to)
{
    const VECTOR open = (VECTOR){0} + w->f->open, extend = (VECTOR){0} + w->f->extend;
    const VECTOR left = NAME(set_powers)(w, from / w->f->rows);
    VECTOR X[COLUMNS], T[COLUMNS], corner = w->corner, most = (VECTOR){0};
    UNROLLED for (int c = 0; c < COLUMNS; ++c) {
        X[c] = w->X[c];
        T[c] = w->T[c];
    }
    for (ptrdiff_t i = from; i < to; ++i) {
        const VECTOR *entry = profiles + w->x[i];
        VECTOR Y = w->in[2 * i] * left, M = entry[0] * corner;
        corner = w->in[2 * i + 1] * left;
        UNROLLED for (int c = 0; c < COLUMNS; ++c) {
            const VECTOR next = c + 1 < COLUMNS ? entry[c + 1] * T[c] : M, A = FMA(open, X[c], M);
            X[c] = FMA(extend, X[c], M);
            T[c] = FMA(open, Y, A);
            Y = FMA(extend, Y, A);
            M = next;
        }
        w->in[2 * i] = Y;
        w->in[2 * i + 1] = T[COLUMNS - 1];
        most = MAXIMUM(most, T[COLUMNS - 1]);
    }
    UNROLLED for (int c = 0; c < COLUMNS; ++c) {
        w->X[c] = X[c];
        w->T[c] = T[c];
    }
    w->corner = corner;
    w->most[from / w->f->rows] = most;
}

/* All rows of one strip. Above it is a gap of y. */
TARGET static void NAME(strip)(NAME(work) * w, ptrdiff_t s, const VECTOR *profiles, ptrdiff_t n)
{
    double value;
    int64_t power;
    gap_of(w->f, s * COLUMNS, &value, &power);
    w->corner = (VECTOR){0} + (s ? value / w->f->extend : two_to(-power));
    for (int c = 0; c < COLUMNS; ++c, value *= w->f->extend) {
        w->X[c] = (VECTOR){0};
        w->T[c] = (VECTOR){0} + value;
    }
    for (int l = 0; l < LANES; ++l)
        w->power[l] = power;
    for (ptrdiff_t from = 0; from < n; from += w->f->rows)
        NAME(tile)(w, profiles, from, from + w->f->rows < n ? from + w->f->rows : n);
}

static void NAME(end)(NAME(work) * w)
{
    for (int k = 0; k < 4; ++k)
        free(w->blocks[k]);
    free(w->x);
}

/* Get memory for groups of up to `rows` rows and `columns` columns. Return 0, or -1 without memory. */
static int NAME(begin)(NAME(work) * w, const pair_hmm *f, ptrdiff_t rows, ptrdiff_t columns)
{
    const ptrdiff_t tiles = rows / f->rows + 1, strips = columns / COLUMNS + 1;
    memset(w, 0, sizeof *w);
    w->f = f;
    w->profiles = aligned_memory(sizeof(VECTOR) * strips * f->letters * COLUMNS, &w->blocks[0]);
    w->in = aligned_memory(sizeof(VECTOR) * 2 * (rows + 1), &w->blocks[1]);
    w->most = aligned_memory(sizeof(VECTOR) * tiles, &w->blocks[2]);
    w->carried = aligned_memory(sizeof(int64_t) * LANES * tiles, &w->blocks[3]);
    w->x = malloc(sizeof(int32_t) * (rows + 1));
    if (w->blocks[0] && w->blocks[1] && w->blocks[2] && w->blocks[3] && w->x)
        return 0;
    NAME(end)(w);
    return -1;
}

/* ln T of n or m residues and none. */
static double NAME(against_nothing)(const pair_hmm *f, ptrdiff_t letters)
{
    return letters ? log(f->open) + (double)(letters - 1) * log(f->extend) : 0.0;
}

/* As fill_pairs of _pair_hmm.h. */
static int NAME(fill_pairs)(const pair_hmm *f, const records *rows, const int64_t *stop, const records *lanes,
                            double *out, ptrdiff_t row_step, ptrdiff_t lane_step)
{
    const double LN2 = 0.693147180559945309417;
    NAME(work) w;
    if (NAME(begin)(&w, f, longest_record(rows), longest_record(lanes)) < 0)
        return -1;
    for (ptrdiff_t g = 0; g < lanes->n; g += LANES) {
        const uint8_t *y[LANES];
        ptrdiff_t m[LANES], widest = 0, strips = -1;
        for (ptrdiff_t r = 0; r < rows->n; ++r) {
            if (stop[r] <= g)
                continue;
            if (strips < 0) { /* the first row that meets this group */
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
            double values[LANES];
            for (int l = 0; l < LANES; ++l)
                values[l] = NAME(against_nothing)(f, n ? n : m[l]);
            for (ptrdiff_t i = 0; i < n; ++i)
                w.x[i] = x[i] * COLUMNS;
            NAME(start)(&w, n);
            for (ptrdiff_t s = 0; n && s < strips; ++s) {
                NAME(strip)(&w, s, w.profiles + s * f->letters * COLUMNS, n);
                for (int l = 0; l < LANES; ++l)
                    if (m[l] > s * COLUMNS && m[l] <= (s + 1) * COLUMNS) {
                        double last[LANES];
                        memcpy(last, &w.T[m[l] - 1 - s * COLUMNS], sizeof last);
                        values[l] = log(last[l]) + (double)w.power[l] * LN2;
                    }
            }
            for (ptrdiff_t k = g; k < stop[r] && k < g + LANES; ++k)
                out[rows->order[r] * row_step + lanes->order[k] * lane_step] = values[k - g];
        }
    }
    NAME(end)(&w);
    return 0;
}

#undef NAME
#undef TARGET
#undef VECTOR
#undef LANES
#undef COLUMNS
#undef FMA
#undef MAXIMUM
