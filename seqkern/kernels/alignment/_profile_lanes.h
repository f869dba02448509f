/* The loops of _profile_alignment.h for one set of instructions: included once for each, by that file.
 *
 * NAME, TARGET, FLOATS (LANES of float), DOUBLES (WIDE_LANES of double; HALVES of them make LANES), BITS, TILE_COLUMNS
 * and operations say which.
 *
 * A *group* is LANES lane sequences. Its columns come in strips of STRIP. Of a strip are kept, in the order of use,
 *
 *     for each letter a  s_j(a) of its columns, then p_j(a) of its columns;
 *     for each column the shift; where a lane's sequence has ended, so little that no alignment goes there.
 *
 * All rows pass through a strip, CHUNK of them at a time: first their scores, as a product of two matrices with 40
 * multiply-adds for a cell, in tiles that stay in registers; then the recursion over these. From strip to strip there
 * remain for each row two numbers of its last column. */

#define HALVES (LANES / WIDE_LANES)

enum { NAME(per_letter) = 2 * STRIP };

/* Floats of a strip. */
static inline ptrdiff_t NAME(strip_floats)(int size)
{
    return (ptrdiff_t)LANES * STRIP * (2 * size + 1);
}

/* Put the strips from … to − 1 of the lanes g, g + 1, … in the order of use. */
static void NAME(make_panel)(const scoring *f, const records *lanes, ptrdiff_t g, ptrdiff_t from, ptrdiff_t to,
                             float *out)
{
    const int size = lanes->size;
    memset(out, 0, sizeof(float) * NAME(strip_floats)(size) * (to - from));
    for (ptrdiff_t strip = from; strip < to; ++strip, out += NAME(strip_floats)(size))
        for (int l = 0; l < LANES; ++l) {
            const ptrdiff_t n = g + l < lanes->n ? record_length(lanes, g + l) : 0;
            for (int c = 0; c < STRIP; ++c) {
                const ptrdiff_t j = strip * STRIP + c;
                float *to_lane = out + c * LANES + l;
                to_lane[(ptrdiff_t)2 * size * STRIP * LANES] = j < n ? f->shift : NOTHING;
                if (j >= n)
                    continue;
                const ptrdiff_t place = (record_start(lanes, g + l) + j) * size;
                for (int a = 0; a < size; ++a) {
                    to_lane[(2 * a) * STRIP * LANES] = lanes->pssm[place + a];
                    to_lane[(2 * a + 1) * STRIP * LANES] = lanes->profile[place + a];
                }
            }
        }
}

/* The value, loaded once: a load for each use of it would take longer than the multiply-adds. */
TARGET ALWAYS_INLINE FLOATS NAME(in_register)(FLOATS value)
{
#ifdef SEQKERN_X86
    __asm__("" : "+v"(value));
#endif
    return value;
}

/* Scores of the rows p[0] … (their profile) and s[0] … (their pssm) and of TILE_COLUMNS columns: out is (rows, STRIP).
 */
TARGET ALWAYS_INLINE void NAME(tile)(const int size, const FLOATS *strip, const float *const *p, const float *const *s,
                                     FLOATS *out)
{
    FLOATS one[TILE_ROWS][TILE_COLUMNS], other[TILE_ROWS][TILE_COLUMNS];
    UNROLLED for (int r = 0; r < TILE_ROWS; ++r)
        UNROLLED for (int c = 0; c < TILE_COLUMNS; ++c)
            one[r][c] = other[r][c] = SET(0.0f);
    for (int a = 0; a < size; ++a, strip += 2 * STRIP) {
        FLOATS column[TILE_COLUMNS];
        UNROLLED for (int c = 0; c < TILE_COLUMNS; ++c)
            column[c] = NAME(in_register)(strip[c]);
        UNROLLED for (int r = 0; r < TILE_ROWS; ++r) {
            const FLOATS row = NAME(in_register)(SET(p[r][a]));
            UNROLLED for (int c = 0; c < TILE_COLUMNS; ++c)
                one[r][c] = FMA(row, column[c], one[r][c]);
        }
        UNROLLED for (int c = 0; c < TILE_COLUMNS; ++c)
            column[c] = NAME(in_register)(strip[STRIP + c]);
        UNROLLED for (int r = 0; r < TILE_ROWS; ++r) {
            const FLOATS row = NAME(in_register)(SET(s[r][a]));
            UNROLLED for (int c = 0; c < TILE_COLUMNS; ++c)
                other[r][c] = FMA(row, column[c], other[r][c]);
        }
    }
    UNROLLED for (int r = 0; r < TILE_ROWS; ++r)
        UNROLLED for (int c = 0; c < TILE_COLUMNS; ++c)
            out[r * STRIP + c] = (one[r][c] + other[r][c]) + strip[c];
}

/* Scores of n rows, the letters from `place` on, at most CHUNK of them, with a strip: scores is (CHUNK, STRIP). */
TARGET static void NAME(score)(const records *rows, ptrdiff_t place, int n, const FLOATS *strip, FLOATS *scores)
{
    const int size = rows->size;
    for (int i = 0; i < n; i += TILE_ROWS) {
        const float *p[TILE_ROWS], *s[TILE_ROWS];
        for (int r = 0; r < TILE_ROWS; ++r) {
            /* Rows after the last one: their scores are not used. */
            const ptrdiff_t at = (place + (i + r < n ? i + r : n - 1)) * size;
            p[r] = rows->profile + at;
            s[r] = rows->pssm + at;
        }
        for (int c = 0; c < STRIP; c += TILE_COLUMNS)
            NAME(tile)(size, strip + c, p, s, scores + i * STRIP + c);
    }
}

/* Smith-Waterman: H is the best score of alignments that end in a cell, E and F of those that end in a gap. */
typedef struct {
    FLOATS H[STRIP], F[STRIP], corner, best; /* of the row above; corner: H of the column before the strip */
} NAME(best_state);

/* The rows of a chunk; carry has, for each, H of the column before and E of the first column. */
TARGET static void NAME(best_chunk)(const scoring *f, const FLOATS *scores, int n, FLOATS *carry,
                                    NAME(best_state) * state)
{
    const FLOATS open = SET(f->gap_open), extend = SET(f->gap_extend), zero = SET(0.0f);
    FLOATS H[STRIP], F[STRIP], corner = state->corner, best = state->best;
    UNROLLED for (int c = 0; c < STRIP; ++c) {
        H[c] = state->H[c];
        F[c] = state->F[c];
    }
    for (int i = 0; i < n; ++i, scores += STRIP, carry += 2) {
        FLOATS diagonal = corner, E = carry[1];
        corner = carry[0];
        UNROLLED for (int c = 0; c < STRIP; ++c) {
            const FLOATS match = diagonal + scores[c];
            const FLOATS without = MAX(MAX(match, zero), F[c]), here = MAX(without, E);
            diagonal = H[c];
            H[c] = here;
            best = MAX(best, match);
            F[c] = MAX(F[c] - extend, here - open);
            /* As gap_open ≥ gap_extend, a gap after a gap in the same row is no better. */
            E = MAX(E - extend, without - open);
        }
        carry[0] = H[STRIP - 1];
        carry[1] = E;
    }
    UNROLLED for (int c = 0; c < STRIP; ++c) {
        state->H[c] = H[c];
        state->F[c] = F[c];
    }
    state->corner = corner;
    state->best = best;
}

/* exp2 of each, within 2e-7 of itself from 2^-125 to 2^126; 0 for what is far below. */
TARGET ALWAYS_INLINE FLOATS NAME(exp2)(FLOATS x)
{
    const FLOATS magic = SET(12582912.0f); /* 1.5·2^23: adding it rounds to an integer, which is then the last bits */
    x = MIN(MAX(x, SET(-127.0f)), SET(126.0f));
    const FLOATS shifted = x + magic, rest = x - (shifted - magic);
    FLOATS value = SET(1.5353362e-4f);
    value = FMA(value, rest, SET(1.3398874e-3f));
    value = FMA(value, rest, SET(9.6184373e-3f));
    value = FMA(value, rest, SET(5.5503324e-2f));
    value = FMA(value, rest, SET(2.4022648e-1f));
    value = FMA(value, rest, SET(6.9314720e-1f));
    value = FMA(value, rest, SET(1.0f));
    BITS power, bits;
    memcpy(&power, &shifted, sizeof power);
    memcpy(&bits, &value, sizeof bits);
    bits += power << 23;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Local alignment kernel: M is the sum over alignments that end in the pair of a cell, X and Y over those that end in a
 * gap, of row letters or of column letters; a gap of column letters may follow one of row letters, not the other way
 * round, so that each alignment counts once. All numbers of lane l are stored times 2^−power[l]. */
typedef struct {
    DOUBLES all[HALVES][STRIP], X[HALVES][STRIP]; /* M + X + Y of the row above; X of this row */
    DOUBLES corner[HALVES];                       /* M + X + Y of the row above in the column before the strip */
    int64_t power[LANES];
    double total[LANES]; /* Σ M, times 2^−total_power */
    int64_t total_power[LANES];
} NAME(sum_state);

/* Choose the powers for a chunk: the largest number that comes in, or 1, becomes about 2^START_POWER. What is carried in
 * is stored times 2^−carried, and at most 2^(top + 1). Set what to multiply it by, and `one`. */
TARGET static void NAME(set_powers)(NAME(sum_state) * state, const int64_t *carried, const int64_t *top,
                                    double *carried_factor, double *one)
{
    DOUBLES largest[HALVES], factors[HALVES];
    double most[LANES], factor[LANES];
    for (int h = 0; h < HALVES; ++h) {
        largest[h] = state->corner[h];
        for (int c = 0; c < STRIP; ++c)
            largest[h] = WIDE_MAX(largest[h], state->all[h][c]);
    }
    memcpy(most, largest, sizeof most);
    for (int l = 0; l < LANES; ++l) {
        int64_t power = power_of(most[l]) + state->power[l];
        power = most[l] > 0 && power > top[l] ? power : top[l];
        power = (power > 0 ? power : 0) - START_POWER;
        /* What is multiplied by more than a double can hold waits for the next chunk. */
        power = power < state->power[l] - 1023 ? state->power[l] - 1023 : power;
        power = power < carried[l] - 1023 ? carried[l] - 1023 : power;
        factor[l] = power_of_two(state->power[l] - power);
        carried_factor[l] = power_of_two(carried[l] - power);
        one[l] = power_of_two(-power);
        state->power[l] = power;
    }
    memcpy(factors, factor, sizeof factor);
    for (int h = 0; h < HALVES; ++h) {
        state->corner[h] = state->corner[h] * factors[h];
        for (int c = 0; c < STRIP; ++c) {
            state->all[h][c] = state->all[h][c] * factors[h];
            state->X[h][c] = state->X[h][c] * factors[h];
        }
    }
}

/* The rows of a chunk; carry has, for each, M + X + Y of the column before, then Y of the first column, HALVES each.
 * carried and top are those of set_powers, for this strip and then for the next one. */
TARGET static void NAME(sum_chunk)(const scoring *f, FLOATS *scores, int n, DOUBLES *carry, int64_t *carried,
                                   int64_t *top, NAME(sum_state) * state)
{
    DOUBLES factor[HALVES], one[HALVES], peak[HALVES], sum[HALVES];
    NAME(set_powers)(state, carried, top, (double *)factor, (double *)one);
    const FLOATS digits = SET(f->digits);
    for (int k = 0; k < n * STRIP; ++k)
        scores[k] = NAME(exp2)(scores[k] * digits);
    const DOUBLES open = WIDE_SET(f->open_weight), extend = WIDE_SET(f->extend_weight);
    for (int h = 0; h < HALVES; ++h) {
        const float *weight = (const float *)scores + h * WIDE_LANES;
        DOUBLES *edge = carry + h, all[STRIP], X[STRIP];
        DOUBLES corner = state->corner[h], most = WIDE_SET(0.0), M_sum = WIDE_SET(0.0);
        UNROLLED for (int c = 0; c < STRIP; ++c) {
            all[c] = state->all[h][c];
            X[c] = state->X[h][c];
        }
        for (int i = 0; i < n; ++i, weight += STRIP * LANES, edge += 2 * HALVES) {
            DOUBLES diagonal = corner, Y = edge[HALVES] * factor[h];
            corner = edge[0] * factor[h];
            UNROLLED for (int c = 0; c < STRIP; ++c) {
                const DOUBLES M = WIDEN(weight + c * LANES) * (diagonal + one[h]), before = M + X[c];
                diagonal = all[c];
                all[c] = before + Y;
                M_sum = M_sum + M;
                X[c] = WIDE_FMA(X[c], extend, M * open);
                Y = WIDE_FMA(Y, extend, before * open);
            }
            edge[0] = all[STRIP - 1];
            edge[HALVES] = Y;
            most = WIDE_MAX(most, all[STRIP - 1]);
        }
        UNROLLED for (int c = 0; c < STRIP; ++c) {
            state->all[h][c] = all[c];
            state->X[h][c] = X[c];
        }
        state->corner[h] = corner;
        peak[h] = most;
        sum[h] = M_sum;
    }
    for (int l = 0; l < LANES; ++l) {
        const int64_t power = state->power[l];
        const double most = ((const double *)peak)[l], more = ((const double *)sum)[l];
        carried[l] = power;
        top[l] = most > 0 ? power + power_of(most) : INT32_MIN;
        const int64_t old = state->total_power[l], large = power > old ? power : old;
        state->total[l] = state->total[l] * power_of_two(old - large) + more * power_of_two(power - large);
        state->total_power[l] = large;
    }
}

/* What all pairs of one call need. */
typedef struct {
    float *panel, *scores;
    void *carry;
    int64_t *powers; /* for each chunk: carried, then top, LANES each */
    void *blocks[4];
    ptrdiff_t group, first, last; /* what the panel holds: strips first … last − 1 of a group */
} NAME(work);

static void NAME(end)(NAME(work) * w)
{
    for (int k = 0; k < 4; ++k)
        free(w->blocks[k]);
}

static void *NAME(allocate)(size_t size, void **block)
{
    *block = malloc(size + 64);
    return *block ? (void *)(((uintptr_t)*block + 63) & ~(uintptr_t)63) : NULL;
}

/* Prepare for rows of up to `longest` letters and lanes of up to `widest`; return 0, or -1 without memory. */
static int NAME(begin)(NAME(work) * w, int size, ptrdiff_t longest, ptrdiff_t widest)
{
    const ptrdiff_t strips = (widest + STRIP - 1) / STRIP, kept = strips < PANEL ? strips : PANEL;
    const ptrdiff_t chunks = (longest + CHUNK - 1) / CHUNK;
    memset(w, 0, sizeof *w);
    w->group = -1;
    w->panel = NAME(allocate)(sizeof(float) * kept * NAME(strip_floats)(size), &w->blocks[0]);
    w->scores = NAME(allocate)(sizeof(float) * LANES * STRIP * (CHUNK + TILE_ROWS), &w->blocks[1]);
    w->carry = NAME(allocate)(sizeof(double) * LANES * 2 * longest, &w->blocks[2]);
    w->powers = NAME(allocate)(sizeof(int64_t) * LANES * 2 * chunks, &w->blocks[3]);
    if (w->panel && w->scores && w->carry && w->powers)
        return 0;
    NAME(end)(w);
    return -1;
}

/* Return strip s, of `strips`, of the lanes g, g + 1, … in the order of use. */
static const float *NAME(strip)(NAME(work) * w, const scoring *f, const records *lanes, ptrdiff_t g, ptrdiff_t s,
                                ptrdiff_t strips)
{
    if (w->group != g || s < w->first || s >= w->last) {
        w->group = g;
        w->first = s - s % PANEL;
        w->last = w->first + PANEL < strips ? w->first + PANEL : strips;
        NAME(make_panel)(f, lanes, g, w->first, w->last, w->panel);
    }
    return w->panel + (s - w->first) * NAME(strip_floats)(lanes->size);
}

/* Set values[l] to the score of the best alignment of row r and lane g + l. */
TARGET static void NAME(best)(NAME(work) * w, const scoring *f, const records *rows, ptrdiff_t r, const records *lanes,
                              ptrdiff_t g, ptrdiff_t strips, double *values)
{
    const ptrdiff_t n = record_length(rows, r), place = record_start(rows, r);
    FLOATS *carry = w->carry, *scores = (FLOATS *)w->scores;
    NAME(best_state) state;
    state.best = SET(0.0f);
    for (ptrdiff_t i = 0; i < n; ++i) {
        carry[2 * i] = SET(0.0f);
        carry[2 * i + 1] = SET(NOTHING);
    }
    for (ptrdiff_t s = 0; s < strips; ++s) {
        const FLOATS *strip = (const FLOATS *)NAME(strip)(w, f, lanes, g, s, strips);
        state.corner = SET(0.0f);
        for (int c = 0; c < STRIP; ++c) {
            state.H[c] = SET(0.0f);
            state.F[c] = SET(NOTHING);
        }
        for (ptrdiff_t i = 0; i < n; i += TILE_ROWS) {
            const int count = (int)(n - i < TILE_ROWS ? n - i : TILE_ROWS);
            NAME(score)(rows, place + i, count, strip, scores);
            NAME(best_chunk)(f, scores, count, carry + 2 * i, &state);
        }
    }
    for (int l = 0; l < LANES; ++l)
        values[l] = ((const float *)&state.best)[l];
}

/* Set values[l] to (1/β)·ln(1 + Σ M) of row r and lane g + l. */
TARGET static void NAME(sum)(NAME(work) * w, const scoring *f, const records *rows, ptrdiff_t r, const records *lanes,
                             ptrdiff_t g, ptrdiff_t strips, double *values)
{
    const ptrdiff_t n = record_length(rows, r), place = record_start(rows, r);
    FLOATS *scores = (FLOATS *)w->scores;
    DOUBLES *carry = w->carry;
    NAME(sum_state) state;
    memset(&state, 0, sizeof state);
    memset(carry, 0, sizeof(double) * LANES * 2 * n);
    for (ptrdiff_t i = 0; i < n; i += CHUNK)
        for (int l = 0; l < LANES; ++l) {
            int64_t *powers = w->powers + i / CHUNK * 2 * LANES;
            powers[l] = 0;
            powers[LANES + l] = INT32_MIN;
        }
    for (ptrdiff_t s = 0; s < strips; ++s) {
        const FLOATS *strip = (const FLOATS *)NAME(strip)(w, f, lanes, g, s, strips);
        memset(state.all, 0, sizeof state.all);
        memset(state.X, 0, sizeof state.X);
        memset(state.corner, 0, sizeof state.corner);
        memset(state.power, 0, sizeof state.power);
        for (ptrdiff_t i = 0; i < n; i += CHUNK) {
            const int count = (int)(n - i < CHUNK ? n - i : CHUNK);
            int64_t *powers = w->powers + i / CHUNK * 2 * LANES;
            NAME(score)(rows, place + i, count, strip, scores);
            NAME(sum_chunk)(f, scores, count, carry + 2 * HALVES * i, powers, powers + LANES, &state);
        }
    }
    for (int l = 0; l < LANES; ++l) {
        /* The one mantissa of the sum: how it is stored depends on the other lanes, too. */
        int digits;
        const double mantissa = frexp(state.total[l], &digits);
        const int64_t power = state.total_power[l] + digits;
        const double sum = power < 1000 ? log1p(ldexp(mantissa, power > -1000 ? (int)power : -1000))
                                        : log(mantissa) + (double)power * 0.69314718055994531;
        values[l] = sum / f->beta;
    }
}

TARGET static int NAME(fill)(const scoring *f, const records *rows, const int64_t *first, const int64_t *stop,
                             const records *lanes, double *out, ptrdiff_t row_step, ptrdiff_t lane_step)
{
    NAME(work) w;
    if (NAME(begin)(&w, lanes->size, longest_record(rows), longest_record(lanes)) < 0)
        return -1;
    for (ptrdiff_t g = 0; g < lanes->n; g += LANES) {
        ptrdiff_t widest = 0;
        for (ptrdiff_t k = g; k < g + LANES && k < lanes->n; ++k)
            widest = record_length(lanes, k) > widest ? record_length(lanes, k) : widest;
        const ptrdiff_t strips = (widest + STRIP - 1) / STRIP;
        for (ptrdiff_t r = 0; r < rows->n; ++r) {
            const ptrdiff_t low = first[r] > g ? first[r] : g, high = stop[r] < g + LANES ? stop[r] : g + LANES;
            if (low >= high)
                continue;
            double values[LANES];
            if (f->method == SMITH_WATERMAN)
                NAME(best)(&w, f, rows, r, lanes, g, strips, values);
            else
                NAME(sum)(&w, f, rows, r, lanes, g, strips, values);
            for (ptrdiff_t k = low; k < high; ++k)
                out[rows->order[r] * row_step + lanes->order[k] * lane_step] = values[k - g];
        }
    }
    NAME(end)(&w);
    return 0;
}

#undef NAME
#undef TARGET
#undef LANES
#undef TILE_COLUMNS
#undef FLOATS
#undef BITS
#undef SET
#undef MAX
#undef MIN
#undef FMA
#undef WIDE_LANES
#undef DOUBLES
#undef WIDE_SET
#undef WIDE_MAX
#undef WIDE_FMA
#undef WIDEN
#undef HALVES
