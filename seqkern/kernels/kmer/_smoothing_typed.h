/* The functions of `_smoothing.h` for one type of counts, COUNT. */

#if defined(__GNUC__)
typedef COUNT TYPED(narrow) __attribute__((vector_size(PANEL)));
typedef COUNT TYPED(wide) __attribute__((vector_size(2 * PANEL)));
#else
typedef COUNT TYPED(narrow), TYPED(wide);
#endif

/* Set upper += Σ_letters lower − lower for the position of the k-mer whose letters are `place` counts apart. Written
 * with vectors, as compilers cannot tell that the streams of the letters are apart. */
#ifndef DEFINE_SMOOTH
#define DEFINE_SMOOTH(name, vector)                                                                              \
    ALWAYS_INLINE void TYPED(name)(const COUNT *lower, COUNT *upper, ptrdiff_t length, ptrdiff_t place,          \
                                   const ptrdiff_t size)                                                         \
    {                                                                                                            \
        const ptrdiff_t lanes = (ptrdiff_t)(sizeof(vector) / sizeof(COUNT));                                     \
        for (ptrdiff_t first = 0; first < length; first += size * place)                                         \
            for (ptrdiff_t u = first; u < first + place; u += lanes) {                                           \
                vector all, own, sum;                                                                            \
                memcpy(&all, lower + u, sizeof all);                                                             \
                for (ptrdiff_t at = u + place; at < first + size * place; at += place) {                         \
                    memcpy(&own, lower + at, sizeof own);                                                        \
                    all += own;                                                                                  \
                }                                                                                                \
                for (ptrdiff_t at = u; at < first + size * place; at += place) {                                 \
                    memcpy(&own, lower + at, sizeof own);                                                        \
                    memcpy(&sum, upper + at, sizeof sum);                                                        \
                    sum += all - own;                                                                            \
                    memcpy(upper + at, &sum, sizeof sum);                                                        \
                }                                                                                                \
            }                                                                                                    \
    }
#endif

DEFINE_SMOOTH(smooth_narrow, TYPED(narrow))
DEFINE_SMOOTH(smooth_wide, TYPED(wide))

ALWAYS_INLINE void TYPED(smooth_axis)(const COUNT *lower, COUNT *upper, ptrdiff_t length, ptrdiff_t place,
                                      ptrdiff_t size)
{
    const int even = place % (2 * PANEL) == 0; /* a whole number of wide vectors */
    if (size == 4 && even) /* constants: the loops are unrolled */
        TYPED(smooth_wide)(lower, upper, length, place, 4);
    else if (size == 4)
        TYPED(smooth_narrow)(lower, upper, length, PANEL, 4);
    else if (even)
        TYPED(smooth_wide)(lower, upper, length, place, size);
    else
        TYPED(smooth_narrow)(lower, upper, length, place, size);
}

/* Replace the counts of `length` / 16 = size^k k-mers. planes: m · length counts, for F_1 … F_m; F_0 is the table. */
ALWAYS_INLINE void TYPED(smooth_body)(COUNT *table, ptrdiff_t length, int m, ptrdiff_t size, COUNT *planes)
{
    int done = 0;
    memset(planes, 0, (size_t)(m * length) * sizeof *planes);
    for (ptrdiff_t place = PANEL; place < length; place *= size, ++done)
        for (int j = m < done + 1 ? m : done + 1; j > 0; --j)
            TYPED(smooth_axis)(j > 1 ? planes + (j - 2) * length : table, planes + (j - 1) * length, length, place,
                               size);
    for (int j = 0; j < m; ++j) {
        const COUNT *restrict plane = planes + j * length;
        for (ptrdiff_t i = 0; i < length; ++i)
            table[i] += plane[i];
    }
}

DEFINE_TYPED_LEVELS(TYPED(smooth_at), TYPED(smooth_body),
                    (COUNT *table, ptrdiff_t length, int m, ptrdiff_t size, COUNT *planes),
                    (table, length, m, size, planes))

static void TYPED(smooth)(int level, COUNT *table, ptrdiff_t length, int m, ptrdiff_t size, COUNT *planes)
{
    CALL_TYPED_LEVEL(level, TYPED(smooth_at), table, length, m, size, planes);
}

/* Copy the counts of the features `order` to `folded`, the last `halved` of them divided by two. */
static void TYPED(choose)(const COUNT *restrict table, const int32_t *order, ptrdiff_t n, ptrdiff_t halved,
                          COUNT *restrict folded)
{
    for (ptrdiff_t i = 0; i < n; ++i, folded += PANEL) {
        const COUNT *counts = table + (ptrdiff_t)order[i] * PANEL;
        if (i < n - halved)
            memcpy(folded, counts, PANEL * sizeof *counts);
        else
            for (int r = 0; r < PANEL; ++r)
                folded[r] = (COUNT)(counts[r] / 2);
    }
}
