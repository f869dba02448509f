/* The recursion of _subsequence.h for one type and one set of instructions: included once for each, by that file.
 *
 * NAME, TARGET, REAL (float or double), VECTOR of LANES of them and STRIP say which. With MASK, a type, there are masks
 * of lanes: LOAD_MASK reads one, ADD_WHERE(mask, a, b) is a + b there, ADD_PRODUCT_WHERE(mask, a, b, c) is a + b·c
 * there, and a elsewhere; ADD_PRODUCT(a, b, c) is a + b·c. Products in these are exact: one rounding there, and two
 * elsewhere, give the same.
 *
 * A *group* is LANES lane sequences. Its columns are cut into strips of C. What is known of a strip beforehand is
 *
 *     for each column the weight decay^j of a last pair;
 *     for each letter that a row may have a *profile*: R_1 at the column before each one, then the weight of a match in
 *     each one. Where all are 0 or 1 and there are masks, these are C masks, in one vector.
 *
 * R_1, what first pairs bring in, depends on the row's letter only. Within a strip S is in registers for all its
 * columns while all rows pass; from strip to strip there remain for each row R_2 … R_levels and the sum over last
 * pairs. */

/* Vectors of a profile, and of all that is known of a strip. */
#define PROFILE(C, masked) ((C) + ((masked) ? 1 : (C)))
#define PROFILES(f, C, masked) ((C) + ((ptrdiff_t)(f)->letters + 1) * PROFILE(C, masked))

#ifdef MASK
enum { NAME(has_masks) = 1 };
#else
enum { NAME(has_masks) = 0 };
#define MASK int
#define LOAD_MASK(address) 0
#define ADD_WHERE(mask, a, b) ((void)(mask), (a))
#define ADD_PRODUCT(a, b, c) (a)
#define ADD_PRODUCT_WHERE(mask, a, b, c) ((void)(mask), (void)(c), (a))
#endif

/* Fill the profiles of a group; y[l] are the lanes' codes and n[l] their lengths; run is (letters, LANES). */
TARGET static void NAME(make_profiles)(const recursion *f, int C, int masked, const uint8_t *const *y,
                                       const ptrdiff_t *n, ptrdiff_t strips, double *run, VECTOR *profiles)
{
    const int letters = f->letters;
    REAL *out = (REAL *)profiles;
    memset(run, 0, sizeof(double) * letters * LANES);
    memset(out, 0, sizeof(VECTOR) * strips * PROFILES(f, C, masked));
    for (ptrdiff_t s = 0; s < strips; ++s, out += PROFILES(f, C, masked) * LANES) {
        const int base = f->up_power[s * C];
        if (s > 0) {
            const double up = f->up[s * C - 1];
            const REAL scale = (REAL)ldexp(1.0, f->up_power[s * C - 1] - base);
            for (int a = 0; a < letters; ++a)
                for (int l = 0; l < LANES; ++l)
                    out[(C + (ptrdiff_t)a * PROFILE(C, masked)) * LANES + l] =
                        (REAL)(run[a * LANES + l] * up) * scale;
        }
        for (int c = 0; c < C; ++c) {
            const ptrdiff_t j = s * C + c;
            const double up = f->up[j];
            const REAL scale = (REAL)ldexp(1.0, f->up_power[j] - base), boost = (REAL)ldexp(1.0, f->boost);
            int32_t code[LANES];
            const REAL down = (REAL)f->down[j] * (REAL)ldexp(1.0, f->down_power[j] + base);
            for (int l = 0; l < LANES; ++l) {
                code[l] = j < n[l] ? y[l][j] : letters;
                out[c * LANES + l] = masked ? down : down / boost;
            }
            for (int a = 0; a < letters; ++a) {
                REAL *entry = out + (C + (ptrdiff_t)a * PROFILE(C, masked)) * LANES;
                double weight[LANES];
                if (f->soft)
                    for (int l = 0; l < LANES; ++l)
                        weight[l] = code[l] < letters ? f->weight[a * letters + code[l]] : 0.0;
                else
                    for (int l = 0; l < LANES; ++l)
                        weight[l] = code[l] == a ? 1.0 : 0.0;
                for (int l = 0; l < LANES; ++l) {
                    double total = run[a * LANES + l] * f->decay + weight[l];
                    run[a * LANES + l] = total;
                    if (c + 1 < C)
                        entry[(c + 1) * LANES + l] = (REAL)(total * up) * scale;
                }
                if (masked) {
                    unsigned mask = 0;
                    for (int l = 0; l < LANES; ++l)
                        mask |= (unsigned)(code[l] == a) << l;
                    masks(entry + C * LANES)[c] = (uint16_t)mask;
                } else
                    for (int l = 0; l < LANES; ++l)
                        entry[(C + c) * LANES + l] = (REAL)weight[l] * boost;
            }
        }
    }
}

/* One strip, all rows. x[i] is the place of row i's profile in `profiles`, weight[i] what a first pair in row i weighs;
 * rows come in blocks of `rows`, before each of which everything is multiplied by block[…]. carry has `levels` vectors
 * for each row: R_2 … R_levels, which are to be multiplied by `shift`, and the sum. With `masked`, `exact` says that
 * all weights are powers of two and nothing is boosted. */
TARGET ALWAYS_INLINE void NAME(strip_body)(const int levels, const int C, const int up_to, const int masked,
                                           const int exact, const VECTOR *profiles, const int32_t *x, ptrdiff_t n,
                                           REAL factor, const REAL *weight, ptrdiff_t rows, const REAL *block,
                                           REAL shift, VECTOR *carry)
{
    const VECTOR boost = (VECTOR){0} + factor;
    VECTOR S[UNROLLED_LEVELS][MOST_COLUMNS]; /* S[p][c] is at the column before c */
    UNROLLED for (int p = 0; p < levels; ++p)
        UNROLLED for (int c = 0; c < C; ++c)
            S[p][c] = (VECTOR){0};
    for (ptrdiff_t from = 0; from < n; from += rows, ++block) {
        UNROLLED for (int p = 0; p < levels; ++p)
            UNROLLED for (int c = 0; c < C; ++c)
                S[p][c] *= *block;
        ptrdiff_t to = from + rows < n ? from + rows : n;
        for (ptrdiff_t i = from; i < to; ++i, carry += levels) {
            const VECTOR *entry = profiles + x[i];
            const VECTOR first = (VECTOR){0} + weight[i];
            VECTOR sum = carry[levels - 1], R[UNROLLED_LEVELS];
            UNROLLED for (int p = 1; p < levels; ++p)
                R[p] = carry[p - 1] * shift;
            UNROLLED for (int c = 0; c < C; ++c) {
                /* From the last level to the first: each reads what the one below was in the row before. */
                const VECTOR match = entry[masked ? C : C + c], start = entry[c] * first;
                const MASK where = LOAD_MASK(masks((void *)(entry + C)) + c);
                if (exact)
                    sum = ADD_PRODUCT_WHERE(where, sum, S[levels - 1][c], profiles[c]);
                else if (masked)
                    sum = ADD_WHERE(where, sum, S[levels - 1][c] * profiles[c]);
                else
                    sum += match * (S[levels - 1][c] * profiles[c]);
                UNROLLED for (int p = levels - 1; p > 0; --p) {
                    S[p][c] += up_to ? R[p] + start : R[p];
                    /* Adders and multipliers work side by side: every other level is for the ones. */
                    if (exact && p % 2 == 0)
                        R[p] = ADD_WHERE(where, R[p], S[p - 1][c]);
                    else if (masked)
                        R[p] = ADD_PRODUCT_WHERE(where, R[p], S[p - 1][c], boost);
                    else
                        R[p] += match * S[p - 1][c];
                }
                if (exact && !up_to)
                    S[0][c] = ADD_PRODUCT(S[0][c], entry[c], first);
                else
                    S[0][c] += start;
            }
            UNROLLED for (int p = 1; p < levels; ++p)
                carry[p - 1] = R[p];
            carry[levels - 1] = sum;
        }
    }
}

/* Variants: 0 without masks, 1 masked, 2 masked and exact. */
#define DEFINE_STRIP(L)                                                                                            \
    TARGET static void NAME(strip_##L)(int up_to, int variant, const VECTOR *profiles, const int32_t *x,           \
                                       ptrdiff_t n, REAL factor, const REAL *weight, ptrdiff_t rows,               \
                                       const REAL *block, REAL shift, VECTOR *carry)                               \
    {                                                                                                              \
        if (up_to && NAME(has_masks) && variant)                                                                   \
            NAME(strip_body)(L, STRIP(L), 1, 1, 0, profiles, x, n, factor, weight, rows, block, shift, carry);     \
        else if (up_to)                                                                                            \
            NAME(strip_body)(L, STRIP(L), 1, 0, 0, profiles, x, n, factor, weight, rows, block, shift, carry);     \
        else if (NAME(has_masks) && variant == 2)                                                                  \
            NAME(strip_body)(L, STRIP(L), 0, 1, 1, profiles, x, n, factor, weight, rows, block, shift, carry);     \
        else if (NAME(has_masks) && variant)                                                                       \
            NAME(strip_body)(L, STRIP(L), 0, 1, 0, profiles, x, n, factor, weight, rows, block, shift, carry);     \
        else                                                                                                       \
            NAME(strip_body)(L, STRIP(L), 0, 0, 0, profiles, x, n, factor, weight, rows, block, shift, carry);     \
    }

DEFINE_STRIP(1)
DEFINE_STRIP(2)
DEFINE_STRIP(3)
DEFINE_STRIP(4)
DEFINE_STRIP(5)
DEFINE_STRIP(6)
DEFINE_STRIP(7)
DEFINE_STRIP(8)

enum { NAME(many_columns) = 4 };

/* The same for any number of levels, without masks: S is (levels, C), in memory. */
TARGET static void NAME(strip_many)(int levels, int up_to, const VECTOR *profiles, const int32_t *x, ptrdiff_t n,
                                    const REAL *weight, ptrdiff_t rows, const REAL *block, REAL shift, VECTOR *carry,
                                    VECTOR *S)
{
    enum { C = NAME(many_columns) };
    memset(S, 0, sizeof(VECTOR) * levels * C);
    for (ptrdiff_t i = 0; i < n; ++i, carry += levels) {
        if (i % rows == 0)
            for (ptrdiff_t k = 0; k < (ptrdiff_t)levels * C; ++k)
                S[k] *= block[i / rows];
        const VECTOR *entry = profiles + x[i];
        VECTOR *top = S + (ptrdiff_t)(levels - 1) * C;
        VECTOR start[C], sum = carry[levels - 1];
        for (int c = 0; c < C; ++c)
            start[c] = entry[c] * weight[i];
        for (int c = 0; c < C; ++c)
            sum += entry[C + c] * (top[c] * profiles[c]);
        carry[levels - 1] = sum;
        for (int p = levels - 1; p > 0; --p, top -= C) {
            const VECTOR *below = top - C;
            VECTOR R = carry[p - 1] * shift;
            for (int c = 0; c < C; ++c) {
                top[c] += up_to ? R + start[c] : R;
                R += entry[C + c] * below[c];
            }
            carry[p - 1] = R;
        }
        for (int c = 0; c < C; ++c)
            S[c] += start[c];
    }
}

/* Chains of any length: one level, which feeds itself. carry has R and the sum over last pairs for each row. */
TARGET static void NAME(strip_fed_back)(const VECTOR *profiles, const int32_t *x, ptrdiff_t n, const REAL *weight,
                                        ptrdiff_t rows, const REAL *block, REAL shift, VECTOR *carry)
{
    enum { C = STRIP(1) };
    VECTOR S[C];
    UNROLLED for (int c = 0; c < C; ++c)
        S[c] = (VECTOR){0};
    for (ptrdiff_t from = 0; from < n; from += rows, ++block) {
        UNROLLED for (int c = 0; c < C; ++c)
            S[c] *= *block;
        ptrdiff_t to = from + rows < n ? from + rows : n;
        for (ptrdiff_t i = from; i < to; ++i, carry += 2) {
            const VECTOR *entry = profiles + x[i];
            VECTOR sum = carry[1], R = carry[0] * shift;
            UNROLLED for (int c = 0; c < C; ++c) {
                VECTOR old = S[c];
                S[c] += R + entry[c] * weight[i];
                sum += entry[C + c] * (old * profiles[c]);
                R += entry[C + c] * old;
            }
            carry[0] = R;
            carry[1] = sum;
        }
    }
}

/* What all pairs of one call need. */
typedef struct {
    const recursion *f;
    int C, carried, masked; /* columns of a strip, vectors carried for each row */
    ptrdiff_t strip;        /* vectors of a strip's profiles */
    ptrdiff_t longest;
    void *blocks[6];
    VECTOR *carry, *profiles, *state;
    REAL *weight, *block; /* of rows, of blocks of rows */
    double *last, *run;   /* of rows: what a last pair weighs; for make_profiles */
    int32_t *x;
} NAME(work);

TARGET static void NAME(end)(NAME(work) * w)
{
    for (int k = 0; k < 6; ++k)
        free(w->blocks[k]);
    free(w->x);
}

/* Prepare for rows of up to `longest` letters and lanes of up to `widest`; return 0, or -1 without memory. */
TARGET static int NAME(begin)(NAME(work) * w, const recursion *f, ptrdiff_t longest, ptrdiff_t widest)
{
    memset(w, 0, sizeof *w);
    w->f = f;
    switch (f->mode == ANY_LENGTH ? 1 : f->levels) {
    case 1: w->C = STRIP(1); break;
    case 2: w->C = STRIP(2); break;
    case 3: w->C = STRIP(3); break;
    case 4: w->C = STRIP(4); break;
    case 5: w->C = STRIP(5); break;
    case 6: w->C = STRIP(6); break;
    case 7: w->C = STRIP(7); break;
    case 8: w->C = STRIP(8); break;
    default: w->C = NAME(many_columns);
    }
    w->carried = f->mode == ANY_LENGTH ? 2 : f->levels > 1 ? f->levels : 1;
    w->longest = longest;
    w->masked = NAME(has_masks) && !f->soft && f->mode != ANY_LENGTH && f->levels <= UNROLLED_LEVELS;
    w->strip = PROFILES(f, w->C, w->masked);
    const ptrdiff_t n_blocks = (longest + f->rows - 1) / f->rows + 1;
    w->carry = aligned_memory(sizeof(VECTOR) * (longest + 1) * w->carried, &w->blocks[0]);
    w->profiles = aligned_memory(sizeof(VECTOR) * (widest / w->C + 1) * w->strip, &w->blocks[1]);
    w->state = aligned_memory(sizeof(VECTOR) * (f->levels + 1) * w->C, &w->blocks[2]);
    w->weight = aligned_memory(sizeof(REAL) * (longest + n_blocks), &w->blocks[3]);
    w->last = aligned_memory(sizeof(double) * (longest + 1), &w->blocks[4]);
    w->run = aligned_memory(sizeof(double) * f->letters * LANES, &w->blocks[5]);
    w->x = malloc(sizeof(int32_t) * (longest + 1));
    if (!w->carry || !w->profiles || !w->state || !w->weight || !w->last || !w->run || !w->x) {
        NAME(end)(w);
        return -1;
    }
    w->block = w->weight + longest;
    for (ptrdiff_t i = 0; i < longest; ++i) {
        const ptrdiff_t from = i - i % f->rows;
        const int base = f->up_power[from];
        w->weight[i] = (REAL)f->up[i] * (REAL)ldexp(1.0, f->up_power[i] - base);
        w->last[i] = ldexp(f->down[i], f->down_power[i] + base);
        if (i == from)
            w->block[i / f->rows] = i ? (REAL)ldexp(1.0, f->up_power[i - f->rows] - base) : 1;
    }
    return 0;
}

/* Add the columns of one strip to what is carried for n rows. */
TARGET static void NAME(strip)(const NAME(work) * w, ptrdiff_t s, const VECTOR *profiles, ptrdiff_t n)
{
    const recursion *f = w->f;
    const int up_to = f->mode == UP_TO;
    const REAL shift = s ? (REAL)ldexp(1.0, f->up_power[(s - 1) * w->C] - f->up_power[s * w->C]) : 1;
    const REAL boost = (REAL)ldexp(1.0, f->boost);
    const int variant = w->masked ? 1 + f->exact : 0;
#define CASE(L)                                                                                                        \
    case L: \
        NAME(strip_##L)(up_to, variant, profiles, w->x, n, boost, w->weight, f->rows, w->block, shift, w->carry);  \
        break;
    if (f->mode == ANY_LENGTH)
        NAME(strip_fed_back)(profiles, w->x, n, w->weight, f->rows, w->block, shift, w->carry);
    else
        switch (f->levels) {
        case 0: break;
            CASE(1)
            CASE(2)
            CASE(3)
            CASE(4)
            CASE(5)
            CASE(6)
            CASE(7)
            CASE(8)
        default:
            NAME(strip_many)(f->levels, up_to, profiles, w->x, n, w->weight, f->rows, w->block, shift,
                             w->carry, w->state);
        }
#undef CASE
}

/* Set values[l] to K(x_l, y_l) from what is carried for n rows; m[l] are the lengths of the rows x[l], `single` is that
 * of sum_singles. */
TARGET static void NAME(finish)(const NAME(work) * w, ptrdiff_t n, const uint8_t *const *x, const ptrdiff_t *m,
                                const double *single, double *values)
{
    const recursion *f = w->f;
    const double unboost = f->levels > 1 ? ldexp(1.0, -f->boost * (f->levels - 1)) : 1;
    double sums[LANES] = {0}, singles[LANES] = {0};
    if (f->levels > 0)
        for (ptrdiff_t i = 0; i < n; ++i) {
            const REAL *carried = (const REAL *)(w->carry + (i + 1) * w->carried - 1);
            for (int l = 0; l < LANES; ++l)
                sums[l] += (double)carried[l] * w->last[i];
        }
    if (counts_singles(f))
        for (int l = 0; l < LANES; ++l)
            for (ptrdiff_t i = 0; i < m[l]; ++i)
                singles[l] += single[x[l][i] * LANES + l];
    for (int l = 0; l < LANES; ++l)
        values[l] = f->decay * f->decay * (sums[l] * unboost + singles[l]);
}

/* Set single[a·LANES + l] to Σ_j weight(a, y_lj), if that is needed; 0 for the letter that matches nothing. */
TARGET static void NAME(sum_singles)(const recursion *f, const uint8_t *const *y, const ptrdiff_t *n, double *single)
{
    memset(single, 0, sizeof(double) * (f->letters + 1) * LANES);
    if (!counts_singles(f))
        return;
    for (int l = 0; l < LANES; ++l)
        for (ptrdiff_t j = 0; j < n[l]; ++j)
            if (y[l][j] < f->letters)
                for (int a = 0; a < f->letters; ++a)
                    single[a * LANES + l] += f->soft ? f->weight[a * f->letters + y[l][j]] : a == y[l][j];
}

/* Set out[row·row_step + lane·lane_step] to K of each row and the lanes first[row] … stop[row] − 1; rows and lanes are
 * meant by their places in the records' order. Return 0, or -1 without memory. */
TARGET static int NAME(fill)(const recursion *f, const records *rows, const int64_t *first, const int64_t *stop,
                             const records *lanes, double *out, ptrdiff_t row_step, ptrdiff_t lane_step)
{
    NAME(work) w;
    ptrdiff_t longest = 0, widest = 0;
    for (ptrdiff_t r = 0; r < rows->n; ++r)
        if (record_length(rows, r) > longest)
            longest = record_length(rows, r);
    for (ptrdiff_t k = 0; k < lanes->n; ++k)
        if (record_length(lanes, k) > widest)
            widest = record_length(lanes, k);
    double *single = malloc(sizeof(double) * (f->letters + 1) * LANES);
    if (!single || NAME(begin)(&w, f, longest, widest) < 0) {
        free(single);
        return -1;
    }
    for (ptrdiff_t g = 0; g < lanes->n; g += LANES) {
        const uint8_t *y[LANES], *x[LANES];
        ptrdiff_t n[LANES], m[LANES], strips = -1;
        for (ptrdiff_t r = 0; r < rows->n; ++r) {
            const ptrdiff_t low = first[r] > g ? first[r] : g, high = stop[r] < g + LANES ? stop[r] : g + LANES;
            if (low >= high)
                continue;
            if (strips < 0) {
                widest = 0;
                for (int l = 0; l < LANES; ++l) {
                    y[l] = g + l < lanes->n ? record_codes(lanes, g + l) : NULL;
                    n[l] = g + l < lanes->n ? record_length(lanes, g + l) : 0;
                    widest = n[l] > widest ? n[l] : widest;
                }
                strips = (widest + w.C - 1) / w.C;
                NAME(make_profiles)(f, w.C, w.masked, y, n, strips, w.run, w.profiles);
                NAME(sum_singles)(f, y, n, single);
            }
            const ptrdiff_t length = record_length(rows, r);
            for (int l = 0; l < LANES; ++l) {
                x[l] = record_codes(rows, r);
                m[l] = length;
            }
            for (ptrdiff_t i = 0; i < length; ++i)
                w.x[i] = w.C + x[0][i] * PROFILE(w.C, w.masked);
            memset(w.carry, 0, sizeof(VECTOR) * length * w.carried);
            for (ptrdiff_t s = 0; s < strips; ++s)
                NAME(strip)(&w, s, w.profiles + s * w.strip, length);
            double values[LANES];
            NAME(finish)(&w, length, x, m, single, values);
            for (ptrdiff_t k = low; k < high; ++k)
                out[rows->order[r] * row_step + lanes->order[k] * lane_step] = values[k - g];
        }
    }
    free(single);
    NAME(end)(&w);
    return 0;
}

/* Put together the profile of a row of which lane l has the letter i of y[l]. */
TARGET static void NAME(mix)(const NAME(work) * w, const VECTOR *profiles, ptrdiff_t i, const uint8_t *const *y,
                             const ptrdiff_t *n, VECTOR *out)
{
    const int size = PROFILE(w->C, w->masked), reals = w->masked ? w->C : size;
    ptrdiff_t place[LANES];
    for (int l = 0; l < LANES; ++l)
        place[l] = (ptrdiff_t)(i < n[l] ? y[l][i] : w->f->letters) * size;
    for (int k = 0; k < reals; ++k) {
        const REAL *from = (const REAL *)(profiles + k);
        for (int l = 0; l < LANES; ++l)
            ((REAL *)out)[k * LANES + l] = from[place[l] * LANES + l];
    }
    if (w->masked)
        for (int c = 0; c < w->C; ++c) {
            unsigned mask = 0;
            for (int l = 0; l < LANES; ++l)
                mask |= masks((void *)(profiles + place[l] + w->C))[c] & 1u << l;
            masks(out + w->C)[c] = (uint16_t)mask;
        }
}

/* Set out[order[k]] to K of record k with itself. Return 0, or -1 without memory. */
TARGET static int NAME(pairs)(const recursion *f, const records *all, double *out)
{
    NAME(work) w;
    ptrdiff_t longest = 0;
    for (ptrdiff_t k = 0; k < all->n; ++k)
        if (record_length(all, k) > longest)
            longest = record_length(all, k);
    void *block = NULL;
    double *single = malloc(sizeof(double) * (f->letters + 1) * LANES);
    if (!single || NAME(begin)(&w, f, longest, longest) < 0) {
        free(single);
        return -1;
    }
    /* Each lane has a row letter of its own: every row gets a profile of its own, put together from those. */
    const int size = PROFILE(w.C, w.masked);
    VECTOR *mixed = aligned_memory(sizeof(VECTOR) * (longest * size + w.C), &block);
    for (ptrdiff_t g = 0; g < all->n && mixed; g += LANES) {
        const uint8_t *y[LANES];
        ptrdiff_t n[LANES], length = 0;
        for (int l = 0; l < LANES; ++l) {
            y[l] = g + l < all->n ? record_codes(all, g + l) : NULL;
            n[l] = g + l < all->n ? record_length(all, g + l) : 0;
            length = n[l] > length ? n[l] : length;
        }
        const ptrdiff_t strips = (length + w.C - 1) / w.C;
        NAME(make_profiles)(f, w.C, w.masked, y, n, strips, w.run, w.profiles);
        NAME(sum_singles)(f, y, n, single);
        memset(w.carry, 0, sizeof(VECTOR) * length * w.carried);
        for (ptrdiff_t i = 0; i < length; ++i)
            w.x[i] = (int32_t)(w.C + i * size);
        for (ptrdiff_t s = 0; s < strips; ++s) {
            const VECTOR *profiles = w.profiles + s * w.strip;
            memcpy(mixed, profiles, sizeof(VECTOR) * w.C);
            for (ptrdiff_t i = 0; i < length; ++i)
                NAME(mix)(&w, profiles + w.C, i, y, n, mixed + w.C + i * size);
            NAME(strip)(&w, s, mixed, length);
        }
        double values[LANES];
        NAME(finish)(&w, length, y, n, single, values);
        for (int l = 0; l < LANES && g + l < all->n; ++l)
            out[all->order[g + l]] = values[l];
    }
    free(single);
    free(block);
    NAME(end)(&w);
    return mixed ? 0 : -1;
}

#undef NAME
#undef TARGET
#undef REAL
#undef VECTOR
#undef LANES
#undef STRIP
#undef MASK
#undef LOAD_MASK
#undef ADD_WHERE
#undef ADD_PRODUCT
#undef ADD_PRODUCT_WHERE
#undef PROFILE
#undef PROFILES
#undef DEFINE_STRIP
