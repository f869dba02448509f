/* Sums of diagonals in vector lanes, for one level of instructions.
 *
 * `_generic_string.h` includes this file once for each level, with NAME, TARGET, and BYTES, the size of a vector; 0 for
 * compilers without vectors: then a vector is a number. */

#if BYTES
#define REALS (BYTES / 8)
typedef double NAME(reals) __attribute__((vector_size(BYTES)));
typedef double NAME(anywhere) __attribute__((vector_size(BYTES), aligned(8), may_alias));
#else
#define REALS 1
typedef double NAME(reals), NAME(anywhere);
#endif
#define INLINE TARGET ALWAYS_INLINE
/* One instruction each; memcpy would be two of half the width. */
#define LOAD(address) (*(const NAME(anywhere) *)(address))
#define STORE(address, v) (*(NAME(anywhere) *)(address) = (v))
#define MOST (PANEL / REALS > 4 ? PANEL / REALS : 4)
#define EACH UNROLLED for (int v = 0; v < V; ++v)

/* The weights of row i in V · REALS lanes; in the profile of its letter they begin `step` numbers after those of the
 * row before. */
#define WEIGHTS(i)                                                   \
    do {                                                             \
        const double *entry = profile + x[i] * stride + (i) * step;  \
        EACH w[v] = LOAD(entry + v * REALS);                         \
    } while (0)

/* Words of up to L letters, a constant; U_1 … U_{L−1} of the row before are side by side. */
INLINE void NAME(walk_chained)(const int L, const int V, const uint8_t *x, ptrdiff_t rows, const double *profile,
                               ptrdiff_t stride, const int step, double *sums)
{
    NAME(reals) before[CHAINED][MOST], total[MOST], w[MOST];
    EACH total[v] = (NAME(reals)){0};
    UNROLLED for (int l = 0; l < L - 1; ++l)
        EACH before[l][v] = (NAME(reals)){0};
    for (ptrdiff_t i = 0; i < rows; ++i) {
        WEIGHTS(i);
        if (L > 1) {
            EACH total[v] += w[v] + w[v] * before[L - 2][v];
            UNROLLED for (int l = L - 2; l > 0; --l)
                EACH before[l][v] = w[v] + w[v] * before[l - 1][v];
            EACH before[0][v] = w[v];
        } else
            EACH total[v] += w[v];
    }
    EACH STORE(sums + v * REALS, total[v]);
}

/* Words of any length: no more rows than letters. */
INLINE void NAME(walk_all)(const int V, const uint8_t *x, ptrdiff_t rows, const double *profile, ptrdiff_t stride,
                           const int step, double *sums)
{
    NAME(reals) total[MOST], run[MOST], w[MOST];
    EACH total[v] = run[v] = (NAME(reals)){0};
    for (ptrdiff_t i = 0; i < rows; ++i) {
        WEIGHTS(i);
        EACH run[v] = w[v] + w[v] * run[v];
        EACH total[v] += run[v];
    }
    EACH STORE(sums + v * REALS, total[v]);
}

/* Words of up to L letters, in a time that does not depend on L: rows come in blocks of L. Words that end in a block
 * begin in it, `run`, or in the one before: the product from the block's beginning on, times back[q], the sum over the
 * words of 1 … q letters that end just before the block. */
INLINE void NAME(walk_blocks)(const ptrdiff_t L, const int V, const uint8_t *x, ptrdiff_t rows, const double *profile,
                              ptrdiff_t stride, const int step, double *back, double *sums)
{
    NAME(reals) total[MOST], run[MOST], product[MOST], sum[MOST], w[MOST];
    EACH total[v] = (NAME(reals)){0};
    for (ptrdiff_t from = 0; from < rows; from += L) {
        const ptrdiff_t to = from + L < rows ? from + L : rows;
        EACH run[v] = sum[v] = (NAME(reals)){0};
        EACH product[v] = sum[v] + 1.0;
        for (ptrdiff_t q = 0; q < L; ++q) {
            EACH STORE(back + (q * V + v) * REALS, sum[v]);
            if (from == 0)
                continue;
            WEIGHTS(from - 1 - q);
            EACH product[v] *= w[v];
            EACH sum[v] += product[v];
        }
        EACH product[v] = (NAME(reals)){0} + 1.0;
        for (ptrdiff_t i = from; i < to; ++i) {
            WEIGHTS(i);
            EACH {
                const NAME(reals) rest = LOAD(back + ((from + L - 1 - i) * V + v) * REALS);
                run[v] = w[v] + w[v] * run[v];
                product[v] *= w[v];
                total[v] += run[v] + product[v] * rest;
            }
        }
    }
    EACH STORE(sums + v * REALS, total[v]);
}

INLINE void NAME(walk)(const generic_rule *rule, const int V, const uint8_t *x, ptrdiff_t rows, const double *profile,
                       ptrdiff_t stride, const int step, double *back, double *sums)
{
#define CASE(L)                                                             \
    case L:                                                                 \
        NAME(walk_chained)(L, V, x, rows, profile, stride, step, sums);           \
        break
    switch (rule->longest) {
        CASE(1);
        CASE(2);
        CASE(3);
        CASE(4);
        CASE(5);
        CASE(6);
    default:
        if (rows <= rule->longest)
            NAME(walk_all)(V, x, rows, profile, stride, step, sums);
        else
            NAME(walk_blocks)(rule->longest, V, x, rows, profile, stride, step, back, sums);
    }
#undef CASE
}

/* Four vectors at once while there are registers for what is kept of them. */
#define WIDE(longest) ((longest) < 4 || (longest) > CHAINED)

/* sums[d] = the sum of diagonal d, d < m and d < count, of x and the profile of a y of m letters; sums has room for
 * PADDING more. */
TARGET static void NAME(sum_diagonals)(const generic_rule *rule, const uint8_t *x, ptrdiff_t n, const double *profile,
                                       ptrdiff_t stride, ptrdiff_t m, ptrdiff_t count, double *sums, double *back)
{
    const ptrdiff_t end = m < count ? m : count;
    for (ptrdiff_t d = 0; d < end;) {
        const ptrdiff_t rows = n < m - d ? n : m - d;
        if (end - d > 2 * REALS && WIDE(rule->longest)) {
            NAME(walk)(rule, 4, x, rows, profile + d, stride, 1, back, sums + d);
            d += 4 * REALS;
        } else if (end - d > REALS) {
            NAME(walk)(rule, 2, x, rows, profile + d, stride, 1, back, sums + d);
            d += 2 * REALS;
        } else {
            NAME(walk)(rule, 1, x, rows, profile + d, stride, 1, back, sums + d);
            d += REALS;
        }
    }
}

/* out[lane] = K(x, y) for the PANEL sequences y of a panel, the longest of which has m letters. */
TARGET static void NAME(sum_panel)(const generic_rule *rule, const uint8_t *x, ptrdiff_t n, const double *profile,
                                   ptrdiff_t m, ptrdiff_t count, double *back, double *out)
{
    double sums[SUMS][PANEL] = {{0}}, right[PANEL] = {0}, left[PANEL] = {0};
    const ptrdiff_t stride = m * PANEL;
    for (ptrdiff_t d = 0; d < count; ++d) {
        if (d < m)
            NAME(walk)(rule, PANEL / REALS, x, n < m - d ? n : m - d, profile + d * PANEL, stride, PANEL, back, right);
        else
            memset(right, 0, sizeof(right));
        if (d > 0 && d < n)
            NAME(walk)(rule, PANEL / REALS, x + d, m < n - d ? m : n - d, profile, stride, PANEL, back, left);
        else
            memset(left, 0, sizeof(left));
        for (int c = 0; c < PANEL; ++c)
            sums[d % SUMS][c] += rule->tolerance[d] * (right[c] + left[c]);
    }
    for (int c = 0; c < PANEL; ++c)
        out[c] = ADD_UP(sums[0][c], sums[1][c], sums[2][c], sums[3][c], sums[4][c], sums[5][c], sums[6][c], sums[7][c]);
}

#undef BYTES
#undef NAME
#undef TARGET
#undef REALS
#undef INLINE
#undef LOAD
#undef STORE
#undef EACH
#undef MOST
#undef WEIGHTS
#undef WIDE
