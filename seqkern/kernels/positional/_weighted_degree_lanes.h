/* The sums of _weighted_degree.h for one row and some groups of columns, for one set of instructions: that file
 * includes this one for each, with VECTOR, LANES words, REALS, LANES doubles, and their operations defined:
 *
 *     COUNTS(v): for each lane the number of bits; or for each byte, and TOTALS(v) is the sum of the bytes of a lane;
 *     ANY(v): whether any bit is set; AS_REALS(v): the lanes as doubles;
 *     AND_NEXT(v, next), optional: v & (v >> 1), the lowest bit of next coming in;
 *     ADD_WHERE(sum, v, bit, weight), optional: sum + weight, in lanes that have the bit. */

#define INLINE TARGET ALWAYS_INLINE
#ifndef AND_NEXT
#define AND_NEXT_DEFINED
#define AND_NEXT(v, next) ((v) & ((v) >> 1 | (next) << 63))
#endif

typedef VECTOR NAME(vector);
typedef REALS NAME(reals);

INLINE VECTOR NAME(load)(const uint64_t *from)
{
    VECTOR v;
    memcpy(&v, from, sizeof v);
    return v;
}

/* m = where the letters of a row and of LANES columns are the same. */
INLINE void NAME(compare)(const degree_sum *f, const uint64_t *row, const uint64_t *col, VECTOR *m, const int W,
                          const int fixed)
{
    const uint64_t *mine = row + (size_t)f->planes * W, *theirs = col + (size_t)f->planes * W * GROUP;
    EACH(w, W, fixed, m[w] = row[w] ^ NAME(load)(col + w * GROUP););
    for (int p = f->planes - 1; p > 1; --p) {
        const uint64_t *a = row + p * W, *b = col + p * W * GROUP;
        EACH(w, W, fixed, m[w] |= a[w] ^ NAME(load)(b + w * GROUP););
    }
    if (f->planes > 1)
        EACH(w, W, fixed, m[w] |= row[W + w] ^ NAME(load)(col + (W + w) * GROUP););
    EACH(w, W, fixed, m[w] = mine[w] & NAME(load)(theirs + w * GROUP) & ~m[w];);
}

/* N_k, of n words. */
INLINE VECTOR NAME(count)(const VECTOR *m, const uint64_t *filter, const int n, const int fixed, const int filtered)
{
    VECTOR total = {0};
    if (fixed) {
        VECTOR counts = COUNTS(filtered ? m[0] & filter[0] : m[0]);
        EACH(w, n - 1, 1, counts += COUNTS(filtered ? m[w + 1] & filter[w + 1] : m[w + 1]););
        return TOTALS(counts);
    }
    for (int w = 0; w < n;) {
        const int stop = w + 31 < n ? w + 31 : n; /* bytes count to 255 */
        VECTOR counts = {0};
        for (; w < stop; ++w)
            counts += COUNTS(filtered ? m[w] & filter[w] : m[w]);
        total += TOTALS(counts);
    }
    return total;
}

/* From k-mers to those one letter longer, of one variant. */
INLINE void NAME(lengthen)(VECTOR *m, const int W, const int fixed)
{
    const VECTOR none = {0};
    EACH(w, W - 1, fixed, m[w] = AND_NEXT(m[w], m[w + 1]););
    m[W - 1] = AND_NEXT(m[W - 1], none);
}

/* Σ of the weights of the positions where m has bits, in ascending order. */
INLINE REALS NAME(weigh)(const VECTOR *m, const double *weights, const int W)
{
    REALS sum = {0};
    for (int w = 0; w < W; ++w) {
        uint64_t lane[LANES], any = 0;
        memcpy(lane, &m[w], sizeof lane);
        for (int l = 0; l < LANES; ++l)
            any |= lane[l];
        for (; any; any &= any - 1) {
            const int i = lowest_bit(any);
#ifdef ADD_WHERE
            sum = ADD_WHERE(sum, m[w], (uint64_t)1 << i, weights[64 * w + i]);
#else
            const VECTOR there = m[w] >> i & 1;
            sum += AS_REALS(there) * weights[64 * w + i];
#endif
        }
    }
    return sum;
}

/* Σ_k β_k·(N_k, or position weights), of one variant or of two. */
INLINE REALS NAME(sum_lengths)(const degree_sum *f, ptrdiff_t variant, VECTOR *m, const int W, const int directions,
                               const int fixed, const int by_position, const int filtered)
{
    const uint64_t *filter = filtered ? f->filters + variant * W : NULL;
    const double *weights = by_position ? f->starts + variant * W * 64 : NULL;
    VECTOR running = {0}, total = {0};
    REALS sum = {0};
    for (int k = 1;; ++k) {
        if (by_position) {
            REALS part = NAME(weigh)(m, weights, W);
            if (directions == 2)
                part += NAME(weigh)(m + W, weights + 64 * W, W);
            sum += f->length_weights[k - 1] * part;
        } else {
            const VECTOR n = NAME(count)(m, filter, directions * W, fixed, filtered);
            if (f->mode == BY_DEGREE) {
                running += n;
                total += running;
            } else {
                sum += f->length_weights[k - 1] * AS_REALS(n);
            }
        }
        if (k == f->degree)
            break;
        NAME(lengthen)(m, W, fixed);
        if (directions == 2)
            NAME(lengthen)(m + W, W, fixed);
        if (k >= f->unchecked) {
            VECTOR left = m[0];
            EACH(w, directions * W - 1, fixed, left |= m[w + 1];);
            if (!ANY(left)) {
                total += running * (uint64_t)(f->degree - k);
                break;
            }
        }
    }
    return f->mode == BY_DEGREE ? AS_REALS(total) : sum;
}

INLINE void NAME(sum_some)(const degree_sum *f, const uint64_t *row, const uint64_t *groups, ptrdiff_t n_groups,
                           uint64_t *masks, double *out, const int words, const int by_position,
                           const int filtered)
{
    const int fixed = words > 0, W = fixed ? words : f->words;
    const size_t size = (size_t)(f->planes + 1) * W;
    VECTOR own[16], *m = fixed ? own : (VECTOR *)masks;
    for (ptrdiff_t part = 0; part < n_groups * (GROUP / LANES); ++part) {
        const uint64_t *col = groups + part / (GROUP / LANES) * size * GROUP + part % (GROUP / LANES) * LANES;
        NAME(compare)(f, row, col, m, W, fixed);
        REALS sum = NAME(sum_lengths)(f, 0, m, W, 1, fixed, by_position, 0);
        for (ptrdiff_t s = 1; s <= f->shift; ++s) {
            NAME(compare)(f, row + (2 * s - 1) * size, col, m, W, fixed);
            NAME(compare)(f, row + 2 * s * size, col, m + W, W, fixed);
            sum += f->shift_weights[s] * NAME(sum_lengths)(f, 2 * s - 1, m, W, 2, fixed, by_position, filtered);
        }
        memcpy(out + part * LANES, &sum, sizeof sum);
    }
}

/* Few words have code of their own, in registers; not where position weights take most of the time. */
#define SUM_SOME(words, by_position, filtered) \
    NAME(sum_some)(f, row, groups, n_groups, masks, out, words, by_position, filtered)
#define FEW(words, filtered)              \
    case words:                           \
        SUM_SOME(words, 0, filtered);     \
        break;

TARGET static void NAME(sum)(const degree_sum *f, const uint64_t *row, const uint64_t *groups, ptrdiff_t n_groups,
                             uint64_t *masks, double *out)
{
    if (f->mode == BY_POSITION) {
        SUM_SOME(0, 1, 0);
    } else if (f->filters) {
        switch (f->mode == BY_DEGREE ? f->words : 0) {
            FEW(1, 1)
            FEW(2, 1)
            FEW(3, 1)
        default:
            SUM_SOME(0, 0, 1);
        }
    } else {
        switch (f->words) {
            FEW(1, 0)
            FEW(2, 0)
            FEW(3, 0)
            FEW(4, 0)
            FEW(5, 0)
            FEW(6, 0)
            FEW(7, 0)
            FEW(8, 0)
        default:
            SUM_SOME(0, 0, 0);
        }
    }
}

#undef FEW
#undef SUM_SOME
#undef INLINE
#ifdef AND_NEXT_DEFINED
#undef AND_NEXT
#undef AND_NEXT_DEFINED
#endif
