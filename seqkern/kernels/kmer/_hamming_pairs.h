/* Comparing windows one by one, packed: one word for each bit of the letters' codes, whose bits are the positions.
 * Written for the compiler to turn into vectors: the distances of a chunk of windows, then for each distance how
 * often it occurs there. */
#ifndef SEQKERN_HAMMING_PAIRS_H
#define SEQKERN_HAMMING_PAIRS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "_simd.h"

enum {
    CHUNK = 2048,  /* windows of a column that are compared with all of the row, one by one */
    CELLS = 64,    /* counters of a distance, side by side; so many windows more can be read than there are */
    FULL_CELL = 255,
    NO_DISTANCE = 255,
    MOST_DISTANCES = 32,
    LARGEST_LIGHT = 0x7fffffff / CHUNK, /* the sum of a chunk of such weights has 32 bits */
};

/* distance[j] = in how many positions window `a` differs from each of n others, a multiple of CELLS; plane p is p * step words further. */
ALWAYS_INLINE void distances16_body(const uint16_t *a, ptrdiff_t a_step, const uint16_t *b, ptrdiff_t b_step,
                                    int planes, ptrdiff_t n, uint8_t *distance)
{
    for (ptrdiff_t j = 0; j < n / CELLS * CELLS; ++j) {
        uint16_t x = 0;
        for (int p = 0; p < planes; ++p)
            x |= a[p * a_step] ^ b[p * b_step + j];
        x = (uint16_t)(x - (x >> 1 & 0x5555));
        x = (uint16_t)((x & 0x3333) + (x >> 2 & 0x3333));
        x = (x + (x >> 4)) & 0x0f0f;
        distance[j] = (uint8_t)(x + (x >> 8));
    }
}

ALWAYS_INLINE void distances32_body(const uint32_t *a, ptrdiff_t a_step, const uint32_t *b, ptrdiff_t b_step,
                                    int planes, ptrdiff_t n, uint8_t *distance)
{
    for (ptrdiff_t j = 0; j < n / CELLS * CELLS; ++j) {
        uint32_t x = 0;
        for (int p = 0; p < planes; ++p)
            x |= a[p * a_step] ^ b[p * b_step + j];
        x -= x >> 1 & 0x55555555u;
        x = (x & 0x33333333u) + (x >> 2 & 0x33333333u);
        x = (x + (x >> 4)) & 0x0f0f0f0fu;
        x += x >> 8;
        distance[j] = (uint8_t)(x + (x >> 16)) & 63;
    }
}

/* The number of planes as a constant, so that the loop over them is unrolled. */
#define FOR_PLANES(distances, a, a_step, b, b_step, planes, n, distance)         \
    do {                                                                         \
        if ((planes) == 1)                                                       \
            distances(a, a_step, b, b_step, 1, n, distance);                     \
        else if ((planes) == 2)                                                  \
            distances(a, a_step, b, b_step, 2, n, distance);                     \
        else if ((planes) == 5)                                                  \
            distances(a, a_step, b, b_step, 5, n, distance);                     \
        else                                                                     \
            distances(a, a_step, b, b_step, planes, n, distance);                \
    } while (0)

/* cells[c] += how many of the n distances, a multiple of CELLS, at places c + CELLS · i are h; with vectors of 32 or 16
 * bytes, which the compiler does not find by itself. */
#if defined(__GNUC__)
#define COUNT_DISTANCE(bytes)                                                              \
    do {                                                                                   \
        typedef uint8_t cells_t __attribute__((vector_size(bytes)));                       \
        const cells_t wanted = (cells_t){0} + h;                                           \
        for (int c = 0; c < CELLS; c += (bytes)) {                                         \
            cells_t sums, here;                                                            \
            memcpy(&sums, cells + c, bytes);                                               \
            for (ptrdiff_t j = c; j < n; j += CELLS) {                                     \
                memcpy(&here, distance + j, bytes);                                        \
                sums -= (cells_t)(here == wanted);                                         \
            }                                                                              \
            memcpy(cells + c, &sums, bytes);                                               \
        }                                                                                  \
    } while (0)
#else
#define COUNT_DISTANCE(bytes)               \
    for (ptrdiff_t j = 0; j < n; ++j)       \
    cells[j % CELLS] += distance[j] == h
#endif

ALWAYS_INLINE void count_distance(const uint8_t *distance, ptrdiff_t n, uint8_t h, uint8_t *cells, const int bytes)
{
    if (bytes == 32)
        COUNT_DISTANCE(32);
    else
        COUNT_DISTANCE(16);
}

/* tally[h] += how many pairs of one of n_rows row windows and one of n_cols column windows differ in h < `many`
 * positions. Words have 16 bits if `narrow`, else 32. */
ALWAYS_INLINE void tally_pairs_body(const void *rows, ptrdiff_t row_step, ptrdiff_t n_rows, const void *cols,
                                    ptrdiff_t col_step, ptrdiff_t n_cols, int narrow, int planes, int many,
                                    int64_t *tally, const int bytes)
{
    uint8_t distance[CHUNK];
    uint8_t cells[MOST_DISTANCES][CELLS];
    for (ptrdiff_t from = 0; from < n_cols; from += CHUNK) {
        ptrdiff_t n = n_cols - from < CHUNK ? n_cols - from : CHUNK, whole = (n + CELLS - 1) / CELLS * CELLS;
        ptrdiff_t fill = 0;
        memset(cells, 0, (size_t)many * CELLS);
        for (ptrdiff_t i = 0; i < n_rows; ++i) {
            if (narrow)
                FOR_PLANES(distances16_body, (const uint16_t *)rows + i, row_step, (const uint16_t *)cols + from,
                           col_step, planes, whole, distance);
            else
                FOR_PLANES(distances32_body, (const uint32_t *)rows + i, row_step, (const uint32_t *)cols + from,
                           col_step, planes, whole, distance);
            memset(distance + n, NO_DISTANCE, (size_t)(whole - n));
            for (int h = 0; h < many; ++h)
                count_distance(distance, whole, (uint8_t)h, cells[h], bytes);
            fill += whole / CELLS;
            if (fill + whole / CELLS <= FULL_CELL && i + 1 < n_rows)
                continue;
            for (int h = 0; h < many; ++h) {
                int32_t sum = 0;
                for (int c = 0; c < CELLS; ++c)
                    sum += cells[h][c];
                tally[h] += sum;
            }
            memset(cells, 0, (size_t)many * CELLS);
            fill = 0;
        }
    }
}

/* The same with a weight for each window; `light`: the columns' weights, if none is larger than LARGEST_LIGHT. */
ALWAYS_INLINE void weigh_pairs_body(const void *rows, ptrdiff_t row_step, ptrdiff_t n_rows, const int64_t *row_weights,
                                    const void *cols, ptrdiff_t col_step, ptrdiff_t n_cols, const int64_t *col_weights,
                                    const int32_t *light, int narrow, int planes, int many, int64_t *tally)
{
    uint8_t distance[CHUNK];
    int32_t wide[CHUNK];
    for (ptrdiff_t from = 0; from < n_cols; from += CHUNK) {
        ptrdiff_t n = n_cols - from < CHUNK ? n_cols - from : CHUNK, whole = (n + CELLS - 1) / CELLS * CELLS;
        for (ptrdiff_t i = 0; i < n_rows; ++i) {
            if (narrow)
                FOR_PLANES(distances16_body, (const uint16_t *)rows + i, row_step, (const uint16_t *)cols + from,
                           col_step, planes, whole, distance);
            else
                FOR_PLANES(distances32_body, (const uint32_t *)rows + i, row_step, (const uint32_t *)cols + from,
                           col_step, planes, whole, distance);
            memset(distance + n, NO_DISTANCE, (size_t)(whole - n));
            for (ptrdiff_t j = 0; j < whole; ++j)
                wide[j] = distance[j];
            for (int h = 0; h < many; ++h) {
                int64_t sum = 0;
                if (light) {
                    int32_t part = 0;
                    for (ptrdiff_t j = 0; j < whole; ++j)
                        part += light[from + j] & -(int32_t)(wide[j] == h);
                    sum = part;
                } else {
                    for (ptrdiff_t j = 0; j < n; ++j)
                        sum += col_weights[from + j] & -(int64_t)(wide[j] == h);
                }
                tally[h] += row_weights[i] * sum;
            }
        }
    }
}

#define DEFINE_TALLY(name, attributes, bytes)                                                                       \
    attributes static void name(const void *rows, ptrdiff_t row_step, ptrdiff_t n_rows, const void *cols,           \
                                ptrdiff_t col_step, ptrdiff_t n_cols, int narrow, int planes, int many,             \
                                int64_t *tally)                                                                     \
    {                                                                                                               \
        tally_pairs_body(rows, row_step, n_rows, cols, col_step, n_cols, narrow, planes, many, tally, bytes);       \
    }
#ifdef SEQKERN_X86
DEFINE_TALLY(tally_pairs_avx512, AVX512, 32)
DEFINE_TALLY(tally_pairs_avx2, AVX2, 32)
#endif
DEFINE_TALLY(tally_pairs_plain, , 16)

DEFINE_LEVELS(weigh_pairs, weigh_pairs_body,
              (const void *rows, ptrdiff_t row_step, ptrdiff_t n_rows, const int64_t *row_weights, const void *cols,
               ptrdiff_t col_step, ptrdiff_t n_cols, const int64_t *col_weights, const int32_t *light, int narrow,
               int planes, int many, int64_t *tally),
              (rows, row_step, n_rows, row_weights, cols, col_step, n_cols, col_weights, light, narrow, planes, many,
               tally))

static inline void tally_pairs(int level, const void *rows, ptrdiff_t row_step, ptrdiff_t n_rows, const void *cols,
                               ptrdiff_t col_step, ptrdiff_t n_cols, int narrow, int planes, int many, int64_t *tally)
{
    CALL_LEVEL(level, tally_pairs, rows, row_step, n_rows, cols, col_step, n_cols, narrow, planes, many, tally);
}

static inline void weigh_pairs(int level, const void *rows, ptrdiff_t row_step, ptrdiff_t n_rows,
                               const int64_t *row_weights, const void *cols, ptrdiff_t col_step, ptrdiff_t n_cols,
                               const int64_t *col_weights, const int32_t *light, int narrow, int planes, int many,
                               int64_t *tally)
{
    CALL_LEVEL(level, weigh_pairs, rows, row_step, n_rows, row_weights, cols, col_step, n_cols, col_weights, light,
               narrow, planes, many, tally);
}

#endif
