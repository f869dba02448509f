/* Products of vectors of doubles. Every product of two records is summed feature after feature, in one order, and
 * without fused operations: the bits depend on neither vector width nor blocks nor the order of the two records. */
#ifndef SEQKERN_REAL_H
#define SEQKERN_REAL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "_simd.h"

enum { REAL_PANEL = 16 };

/* Rows of a tile, and features that are summed in one go: of 16 columns and many rows, they stay in the first cache. */
enum { REAL_ROWS = 8, REAL_FEATURES = 128 };

/* Add the products of 8 rows and 16 columns, over n features 16 places apart, to a tile. */
typedef void real_tile(const double *const *rows, const double *panel, ptrdiff_t n, double tile[REAL_ROWS][REAL_PANEL]);

static void real_tile_plain(const double *const *rows, const double *panel, ptrdiff_t n,
                            double tile[REAL_ROWS][REAL_PANEL])
{
    for (int r = 0; r < REAL_ROWS; ++r) {
        double sums[REAL_PANEL];
        memcpy(sums, tile[r], sizeof(sums));
        for (ptrdiff_t at = 0; at < n * REAL_PANEL; at += REAL_PANEL)
            for (int c = 0; c < REAL_PANEL; ++c)
                sums[c] += rows[r][at] * panel[at + c];
        memcpy(tile[r], sums, sizeof(sums));
    }
}

#ifdef SEQKERN_X86
/* Sums are named, not arrays, or GCC keeps them in memory: two registers for each of 8 rows. */
#define EACH_ROW(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7)
#define START_ROW(r) __m512d low##r = _mm512_loadu_pd(tile[r]), high##r = _mm512_loadu_pd(tile[r] + 8);
#define STEP_ROW(r)                                           \
    value = _mm512_set1_pd(rows[r][at]);                      \
    low##r = _mm512_add_pd(low##r, _mm512_mul_pd(value, a)); \
    high##r = _mm512_add_pd(high##r, _mm512_mul_pd(value, b));
#define STORE_ROW(r)                      \
    _mm512_storeu_pd(tile[r], low##r);    \
    _mm512_storeu_pd(tile[r] + 8, high##r);

AVX512 static void real_tile_avx512(const double *const *rows, const double *panel, ptrdiff_t n,
                                    double tile[REAL_ROWS][REAL_PANEL])
{
    EACH_ROW(START_ROW)
    for (ptrdiff_t at = 0; at < n * REAL_PANEL; at += REAL_PANEL) {
        const __m512d a = _mm512_loadu_pd(panel + at), b = _mm512_loadu_pd(panel + at + 8);
        __m512d value;
        EACH_ROW(STEP_ROW)
    }
    EACH_ROW(STORE_ROW)
}

#define EACH_PART(M) M(0) M(1) M(2) M(3)
#define START_PART(p) \
    __m256d one##p = _mm256_loadu_pd(tile[r] + 4 * p), two##p = _mm256_loadu_pd(tile[r + 1] + 4 * p);
#define STEP_PART(p)                                             \
    part = _mm256_loadu_pd(panel + at + 4 * p);                  \
    one##p = _mm256_add_pd(one##p, _mm256_mul_pd(first, part)); \
    two##p = _mm256_add_pd(two##p, _mm256_mul_pd(second, part));
#define STORE_PART(p)                             \
    _mm256_storeu_pd(tile[r] + 4 * p, one##p);    \
    _mm256_storeu_pd(tile[r + 1] + 4 * p, two##p);

AVX2 static void real_tile_avx2(const double *const *rows, const double *panel, ptrdiff_t n,
                                double tile[REAL_ROWS][REAL_PANEL])
{
    for (int r = 0; r < REAL_ROWS; r += 2) {
        EACH_PART(START_PART)
        for (ptrdiff_t at = 0; at < n * REAL_PANEL; at += REAL_PANEL) {
            const __m256d first = _mm256_set1_pd(rows[r][at]), second = _mm256_set1_pd(rows[r + 1][at]);
            __m256d part;
            EACH_PART(STEP_PART)
        }
        EACH_PART(STORE_PART)
    }
}

static inline real_tile *real_tile_of(int level)
{
    return level == 2 ? real_tile_avx512 : level == 1 ? real_tile_avx2 : real_tile_plain;
}
#else
static inline real_tile *real_tile_of(int level)
{
    (void)level;
    return real_tile_plain;
}
#endif

/* Add the products of rows row .. row + n of `a` with the columns first .. last of `b` to sums (n, stride); with `upper`
 * only those of columns not before their row. */
static void real_dense(int level, const double *a, ptrdiff_t row, ptrdiff_t n, const double *b, ptrdiff_t first,
                       ptrdiff_t last, ptrdiff_t width, int upper, double *sums, ptrdiff_t stride)
{
    real_tile *add = real_tile_of(level);
    for (ptrdiff_t f = 0; f < width; f += REAL_FEATURES) {
        const ptrdiff_t features = width - f < REAL_FEATURES ? width - f : REAL_FEATURES;
        for (ptrdiff_t from = first / REAL_PANEL * REAL_PANEL; from < last; from += REAL_PANEL)
            for (ptrdiff_t i = 0; i < n && !(upper && row + i >= from + REAL_PANEL); i += REAL_ROWS) {
                const double *rows[REAL_ROWS];
                double tile[REAL_ROWS][REAL_PANEL] = {{0}};
                ptrdiff_t low[REAL_ROWS];
                const ptrdiff_t high = last < from + REAL_PANEL ? last : from + REAL_PANEL;
                for (int r = 0; r < REAL_ROWS; ++r) {
                    const ptrdiff_t k = row + (i + r < n ? i + r : n - 1);
                    rows[r] = a + (k / REAL_PANEL * width + f) * REAL_PANEL + k % REAL_PANEL;
                    low[r] = i + r < n ? (from > first ? from : first) : high;
                    if (upper && low[r] < row + i + r)
                        low[r] = row + i + r;
                    for (ptrdiff_t j = low[r]; j < high; ++j)
                        tile[r][j - from] = sums[(i + r) * stride + j - first];
                }
                add(rows, b + (from * width + f * REAL_PANEL), features, tile);
                for (int r = 0; r < REAL_ROWS; ++r)
                    for (ptrdiff_t j = low[r]; j < high; ++j)
                        sums[(i + r) * stride + j - first] = tile[r][j - from];
            }
    }
}

/* Return the first place in rows[low, high) whose row is at least `row`. */
static inline int64_t first_row(const int32_t *rows, int64_t low, int64_t high, ptrdiff_t row)
{
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (rows[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Add the products of one row, n entries with ascending features, with the columns first .. last of posting lists:
 * that of feature f lies between bounds[f] and bounds[f + 1] of post_rows and post_values. */
static void real_walk(const int32_t *feature, const double *value, int64_t n, const int64_t *bounds,
                      const int32_t *post_rows, const double *post_values, ptrdiff_t first, ptrdiff_t last,
                      double *sums)
{
    for (int64_t q = 0; q < n; ++q) {
        int64_t end = bounds[feature[q] + 1];
        for (int64_t p = first_row(post_rows, bounds[feature[q]], end, first); p < end && post_rows[p] < last; ++p)
            sums[post_rows[p] - first] += value[q] * post_values[p];
    }
}

#endif
