/* Products of single-precision vectors with a packed matrix, one tile of 6 rows × 64 columns at a time.
 *
 * Every product is the sum of the partial sums of 128 terms each, every term added by one fused multiplication. The
 * order is that of the terms: the bits depend on neither the tile nor the vector instructions. */
#ifndef SEQKERN_SINGLE_PRODUCT_H
#define SEQKERN_SINGLE_PRODUCT_H

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "_simd.h"
#include "_vector.h"

/* 128 terms of 64 columns (32 KB) stay in the first-level cache while all rows pass. */
enum { HEIGHT = 6, WIDTH = 64, DEPTH = 128 };

/* A matrix (d, k) as panels of 64 columns, the last filled up with zeros. Panel p has the rows from tops[p] to d; those
 * above are zeros. Its first number is panels[starts[p]]. */
typedef struct {
    ptrdiff_t d, k;
    const float *panels;
    const int64_t *starts, *tops;
} packed_matrix;

/* a · b + c, rounded once. */
ALWAYS_INLINE float fused(float a, float b, float c)
{
#ifdef __FP_FAST_FMAF
    return __builtin_fmaf(a, b, c);
#else
    /* The product is exact in double precision. Rounding the sum twice errs only if the first gives the middle of two
     * numbers of single precision: a 1 and 28 zeros at the end, or another pattern below the least normal number. */
    const double sum = (double)a * (double)b + (double)c;
    const float result = (float)sum;
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    if ((bits & 0x1FFFFFFF) == 0x10000000 || (fabs(sum) < FLT_MIN && sum != (double)result))
        return fmaf(a, b, c);
    return result;
#endif
}

/* Add the products of 6 rows and the 64 columns of a panel over `depth` terms to 6 × 64 numbers `out`. */
static void add_single_tile_plain(const float *rows, ptrdiff_t row_stride, const float *panel, ptrdiff_t depth, float *out,
                           ptrdiff_t out_stride)
{
    for (int r = 0; r < HEIGHT; ++r) {
        float sums[WIDTH] = {0};
        for (ptrdiff_t t = 0; t < depth; ++t)
            for (int c = 0; c < WIDTH; ++c)
                sums[c] = fused(rows[r * row_stride + t], panel[t * WIDTH + c], sums[c]);
        for (int c = 0; c < WIDTH; ++c)
            out[r * out_stride + c] += sums[c];
    }
}

/* The same with `columns` vectors at a time: 6 · columns sums are as many as the level has registers for. */
#ifdef SEQKERN_X86
#define DEFINE_TILE(level, attributes, prefix, type, lanes, columns)                                             \
    attributes static void add_single_tile_##level(const float *rows, ptrdiff_t row_stride, const float *panel,         \
                                            ptrdiff_t depth, float *out, ptrdiff_t out_stride)                   \
    {                                                                                                            \
        for (int c = 0; c < WIDTH; c += (lanes) * (columns)) {                                                   \
            type sums[HEIGHT][columns];                                                                          \
            const float *upper = rows, *lower = rows + 3 * row_stride, *here = panel + c;                        \
            _Pragma("GCC unroll 6") for (int r = 0; r < HEIGHT; ++r)                                             \
                _Pragma("GCC unroll 4") for (int j = 0; j < (columns); ++j) sums[r][j] = prefix##_setzero_ps();  \
            for (ptrdiff_t t = 0; t < depth; ++t, ++upper, ++lower, here += WIDTH) {                             \
                type factors[columns];                                                                           \
                _Pragma("GCC unroll 4") for (int j = 0; j < (columns); ++j)                                      \
                    factors[j] = prefix##_loadu_ps(here + j * (lanes));                                          \
                _Pragma("GCC unroll 6") for (int r = 0; r < HEIGHT; ++r) {                                       \
                    const float *place = r < 3 ? upper + r * row_stride : lower + (r - 3) * row_stride;          \
                    const type value = prefix##_set1_ps(*place);                                                 \
                    _Pragma("GCC unroll 4") for (int j = 0; j < (columns); ++j)                                  \
                        sums[r][j] = prefix##_fmadd_ps(value, factors[j], sums[r][j]);                           \
                }                                                                                                \
            }                                                                                                    \
            _Pragma("GCC unroll 6") for (int r = 0; r < HEIGHT; ++r)                                             \
                _Pragma("GCC unroll 4") for (int j = 0; j < (columns); ++j) {                                    \
                    float *place = out + r * out_stride + c + j * (lanes);                                       \
                    prefix##_storeu_ps(place, prefix##_add_ps(prefix##_loadu_ps(place), sums[r][j]));            \
                }                                                                                                \
        }                                                                                                        \
    }
DEFINE_TILE(avx2, __attribute__((target("avx2,fma"))), _mm256, __m256, 8, 2)
DEFINE_TILE(avx512, AVX512, _mm512, __m512, 16, 4)
#endif

typedef void (*tile_adder)(const float *rows, ptrdiff_t row_stride, const float *panel, ptrdiff_t depth, float *out,
                           ptrdiff_t out_stride);

static tile_adder tile_adder_of(int level)
{
#ifdef SEQKERN_X86
    if (level == 2)
        return add_single_tile_avx512;
    if (level == 1 && __builtin_cpu_supports("fma"))
        return add_single_tile_avx2;
#endif
    (void)level;
    return add_single_tile_plain;
}

/* Add a tile that has less than 6 rows or 64 columns. The rows exist, if only as zeros. */
static void add_edge(tile_adder add_tile, const float *rows, ptrdiff_t row_stride, const float *panel, ptrdiff_t depth,
                     float *out, ptrdiff_t out_stride, ptrdiff_t height, ptrdiff_t width)
{
    float sums[HEIGHT * WIDTH] = {0};
    add_tile(rows, row_stride, panel, depth, sums, WIDTH);
    for (ptrdiff_t r = 0; r < height; ++r)
        for (ptrdiff_t c = 0; c < width; ++c)
            out[r * out_stride + c] += sums[r * WIDTH + c];
}

/* out = values · matrix for values (n, d) and out (n, k), both without gaps. */
static void single_product(int level, const float *values, ptrdiff_t n, const packed_matrix *matrix, float *out)
{
    const tile_adder add_tile = tile_adder_of(level);
    const ptrdiff_t d = matrix->d, k = matrix->k, whole = n / HEIGHT * HEIGHT;
    float last[HEIGHT * DEPTH] = {0}; /* the rows after the whole tiles */
    memset(out, 0, sizeof(float) * (size_t)(n * k));
    for (ptrdiff_t first = 0; first < d; first += DEPTH) {
        const ptrdiff_t stop = at_most(d, first + DEPTH);
        for (ptrdiff_t i = whole; i < n; ++i)
            memcpy(last + (i - whole) * DEPTH, values + i * d + first, sizeof(float) * (size_t)(stop - first));
        for (ptrdiff_t p = 0; p * WIDTH < k; ++p) {
            const ptrdiff_t top = (ptrdiff_t)matrix->tops[p], from = top > first ? top : first, depth = stop - from;
            if (depth <= 0)
                continue;
            const float *panel = matrix->panels + matrix->starts[p] + (from - top) * WIDTH;
            const ptrdiff_t width = at_most(WIDTH, k - p * WIDTH);
            float *column = out + p * WIDTH;
            for (ptrdiff_t i = 0; i < whole; i += HEIGHT)
                if (width == WIDTH)
                    add_tile(values + i * d + from, d, panel, depth, column + i * k, k);
                else
                    add_edge(add_tile, values + i * d + from, d, panel, depth, column + i * k, k, HEIGHT, width);
            if (whole < n)
                add_edge(add_tile, last + (from - first), DEPTH, panel, depth, column + whole * k, k, n - whole, width);
        }
    }
}

/* out[i] = x · x for each row x of values (n, d): 8 sums in double precision, whose terms are exact. */
static void single_squares(const float *values, ptrdiff_t n, ptrdiff_t d, float *out)
{
    enum { SUMS = 8 };
    for (ptrdiff_t i = 0; i < n; ++i, values += d) {
        double sums[SUMS] = {0};
        ptrdiff_t t = 0;
        for (; t + SUMS <= d; t += SUMS)
            for (int j = 0; j < SUMS; ++j)
                sums[j] += (double)values[t + j] * (double)values[t + j];
        for (; t < d; ++t)
            sums[t % SUMS] += (double)values[t] * (double)values[t];
        for (int j = 1; j < SUMS; ++j)
            sums[0] += sums[j];
        out[i] = (float)sums[0];
    }
}

#endif
