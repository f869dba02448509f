/* Products of vectors, one tile of 8 rows × 16 columns at a time.
 *
 * Every product is summed feature after feature, by itself and without fused operations: its bits depend on neither the
 * tile, the vector width nor the order of the two vectors. */
#ifndef SEQKERN_VECTOR_H
#define SEQKERN_VECTOR_H

#include <stddef.h>
#include <string.h>

#include "_simd.h"

/* 256 features of 256 columns (512 KB) stay in the second-level cache while all rows pass. */
enum { TILE_ROWS = 8, TILE_COLUMNS = 16, TILE_FEATURES = 256, PANELS = 16 };

/* Add the products of 8 rows (rows[f][8]) and 16 columns (columns[f][16]) over `depth` features to sums[8][16].
 * HEIGHT × WIDTH vectors of sums are as many as the level has registers for. */
#if defined(__GNUC__)
#define DEFINE_TILE(level, attributes, lanes, height, width)                                                  \
    typedef double level##_doubles __attribute__((vector_size(8 * (lanes)), aligned(8), may_alias));          \
    attributes static void add_tile_##level(const double *rows, const double *columns, ptrdiff_t depth,       \
                                            double *sums)                                                     \
    {                                                                                                         \
        for (int c = 0; c < TILE_COLUMNS; c += (lanes) * (width))                                             \
            for (int r = 0; r < TILE_ROWS; r += (height)) {                                                   \
                level##_doubles total[height][width];                                                         \
                _Pragma("GCC unroll 8") for (int i = 0; i < (height); ++i)                                    \
                    _Pragma("GCC unroll 4") for (int j = 0; j < (width); ++j)                                 \
                        total[i][j] = *(level##_doubles *)(sums + (r + i) * TILE_COLUMNS + c + j * (lanes));  \
                const double *row = rows + r, *column = columns + c;                                          \
                for (ptrdiff_t f = 0; f < depth; ++f, row += TILE_ROWS, column += TILE_COLUMNS) {             \
                    level##_doubles here[width];                                                              \
                    _Pragma("GCC unroll 4") for (int j = 0; j < (width); ++j)                                 \
                        here[j] = *(const level##_doubles *)(column + j * (lanes));                           \
                    _Pragma("GCC unroll 8") for (int i = 0; i < (height); ++i)                                \
                        _Pragma("GCC unroll 4") for (int j = 0; j < (width); ++j)                             \
                            total[i][j] += row[i] * here[j];                                                  \
                }                                                                                             \
                _Pragma("GCC unroll 8") for (int i = 0; i < (height); ++i)                                    \
                    _Pragma("GCC unroll 4") for (int j = 0; j < (width); ++j)                                 \
                        *(level##_doubles *)(sums + (r + i) * TILE_COLUMNS + c + j * (lanes)) = total[i][j];  \
            }                                                                                                 \
    }
DEFINE_TILE(plain, , 2, 4, 2)
#else
static void add_tile_plain(const double *rows, const double *columns, ptrdiff_t depth, double *sums)
{
    for (int r = 0; r < TILE_ROWS; ++r)
        for (int c = 0; c < TILE_COLUMNS; ++c)
            for (ptrdiff_t f = 0; f < depth; ++f)
                sums[r * TILE_COLUMNS + c] += rows[f * TILE_ROWS + r] * columns[f * TILE_COLUMNS + c];
}
#endif
#ifdef SEQKERN_X86
DEFINE_TILE(avx2, AVX2, 4, 4, 2)
DEFINE_TILE(avx512, AVX512, 8, 8, 2)
#endif

/* to[f][8] = feature f of `used` rows, the rest 0. */
static void pack_rows(const double *from, ptrdiff_t stride, ptrdiff_t depth, ptrdiff_t used, double *to)
{
    for (ptrdiff_t f = 0; f < depth; ++f)
        for (ptrdiff_t r = 0; r < TILE_ROWS; ++r)
            to[f * TILE_ROWS + r] = r < used ? from[r * stride + f] : 0.0;
}

/* to[panel][f][16] = feature f of `used` columns, 16 in each panel, the rest 0. Rows are read from end to end: their
 * pages are far apart. */
static void pack_columns(const double *from, ptrdiff_t stride, ptrdiff_t depth, ptrdiff_t used, double *to)
{
    ptrdiff_t whole = used / TILE_COLUMNS * TILE_COLUMNS, rest = used - whole, panel = depth * TILE_COLUMNS;
    if (rest)
        memset(to + whole * depth, 0, sizeof(double) * (size_t)panel);
    for (ptrdiff_t f = 0; f < depth; ++f, from += stride, to += TILE_COLUMNS) {
        double *place = to;
        for (ptrdiff_t j = 0; j < whole; j += TILE_COLUMNS, place += panel)
            memcpy(place, from + j, sizeof(double) * TILE_COLUMNS);
        if (rest)
            memcpy(place, from + whole, sizeof(double) * (size_t)rest);
    }
}

static inline ptrdiff_t at_most(ptrdiff_t value, ptrdiff_t limit) { return value < limit ? value : limit; }

/* Bytes of working memory that `products` needs. */
static size_t products_bytes(ptrdiff_t rows, ptrdiff_t features, ptrdiff_t columns)
{
    ptrdiff_t panels = at_most((columns + TILE_COLUMNS - 1) / TILE_COLUMNS, PANELS);
    return sizeof(double) * (size_t)(at_most(features, TILE_FEATURES) * (panels * TILE_COLUMNS + rows + TILE_ROWS) + 1);
}

/* out = x · y for x (n, d), y (d, m) and out (n, m), each with its distance from row to row. */
static void vector_products(int level, const double *x, ptrdiff_t x_stride, const double *y, ptrdiff_t y_stride,
                            double *out, ptrdiff_t out_stride, ptrdiff_t n, ptrdiff_t d, ptrdiff_t m, double *room)
{
    double sums[TILE_ROWS * TILE_COLUMNS];
    for (ptrdiff_t i = 0; i < n && d == 0; ++i)
        memset(out + i * out_stride, 0, sizeof(double) * (size_t)m);
    for (ptrdiff_t first = 0; first < d; first += TILE_FEATURES) {
        ptrdiff_t depth = at_most(d - first, TILE_FEATURES);
        double *rows = room, *panels = room + depth * ((n + TILE_ROWS - 1) / TILE_ROWS * TILE_ROWS);
        for (ptrdiff_t i = 0; i < n; i += TILE_ROWS)
            pack_rows(x + i * x_stride + first, x_stride, depth, at_most(n - i, TILE_ROWS), rows + i * depth);
        for (ptrdiff_t left = 0; left < m; left += PANELS * TILE_COLUMNS) {
            ptrdiff_t right = at_most(m, left + PANELS * TILE_COLUMNS);
            pack_columns(y + first * y_stride + left, y_stride, depth, right - left, panels);
            for (ptrdiff_t i = 0; i < n; i += TILE_ROWS) {
                ptrdiff_t height = at_most(n - i, TILE_ROWS);
                for (ptrdiff_t j = left; j < right; j += TILE_COLUMNS) {
                    ptrdiff_t width = at_most(right - j, TILE_COLUMNS);
                    double *corner = out + i * out_stride + j;
                    memset(sums, 0, sizeof sums);
                    for (ptrdiff_t r = 0; r < height && first > 0; ++r)
                        memcpy(sums + r * TILE_COLUMNS, corner + r * out_stride, sizeof(double) * (size_t)width);
#ifdef SEQKERN_X86
                    if (level == 2)
                        add_tile_avx512(rows + i * depth, panels + (j - left) * depth, depth, sums);
                    else if (level == 1)
                        add_tile_avx2(rows + i * depth, panels + (j - left) * depth, depth, sums);
                    else
#endif
                        add_tile_plain(rows + i * depth, panels + (j - left) * depth, depth, sums);
                    for (ptrdiff_t r = 0; r < height; ++r)
                        memcpy(corner + r * out_stride, sums + r * TILE_COLUMNS, sizeof(double) * (size_t)width);
                }
            }
        }
    }
    (void)level;
}

#endif
