/* Optimal local alignments with affine gaps: one row sequence against many others, one in each vector lane.
 *
 * With H, E and F the best scores of alignments that end at a pair of letters, in a gap of the row sequence and in one
 * of the lane sequence (Gotoh 1982),
 *
 *     H(i, j) = max(0, H(i − 1, j − 1) + s(x_i, y_j), E(i, j), F(i, j)),
 *     E(i, j) = max(E(i, j − 1) − extend, H(i, j − 1) − open),   F(i, j) = max(F(i − 1, j) − extend, H(i − 1, j) − open),
 *
 * and the result is the largest H. Lanes are as narrow as possible: a score that 8 bits cannot hold is computed again
 * in 16, one that these cannot hold in 32. Entries of a matrix that wait for wider lanes are negative. */
#ifndef SEQKERN_SMITH_WATERMAN_H
#define SEQKERN_SMITH_WATERMAN_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "_records.h"
#include "_simd.h"

enum { TABLE = 32 };   /* codes that one table for vector look-up holds */
enum { CHECKED = 16 }; /* strips after which it is looked whether narrow lanes suffice */

typedef struct {
    int letters;          /* codes 0 … letters − 1, the masked letter included; `letters` itself is behind an end */
    const int32_t *score; /* (letters, letters + 1) */
    const int8_t *table;  /* (letters, TABLE): the same in 8 bits, or NULL where they do not fit */
    int32_t open, extend, largest;
} scoring;

/* A rectangle of a matrix: for each row the lanes 0 … reach[row] − 1 of their order. */
typedef struct {
    const records *rows, *lanes;
    const int64_t *reach;
    double *out;
    ptrdiff_t row_step, lane_step;
} rectangle;

static inline double *entry_of(const rectangle *r, ptrdiff_t row, ptrdiff_t lane)
{
    return r->out + r->rows->order[row] * r->row_step + r->lanes->order[lane] * r->lane_step;
}

/* Memory, aligned to vectors, that grows. */
typedef struct {
    void *block, *start;
    size_t size;
} memory;

static int reserve(memory *m, size_t size)
{
    if (size <= m->size)
        return 0;
    free(m->block);
    m->size = 0;
    m->block = malloc(size + 64);
    if (!m->block)
        return 1;
    m->start = (void *)(((uintptr_t)m->block + 63) & ~(uintptr_t)63);
    m->size = size;
    return 0;
}

static inline ptrdiff_t smaller(ptrdiff_t a, ptrdiff_t b)
{
    return a < b ? a : b;
}

#if defined(__GNUC__)
#define UNROLLED _Pragma("GCC unroll 16")
#else
#define UNROLLED
#endif

static void look_up_plain(const int8_t *table, const uint8_t *codes, int8_t *out, int n)
{
    for (int l = 0; l < n; ++l)
        out[l] = table[codes[l]];
}

#define JOIN_TWO(a, b) a##b
#define JOIN(a, b) JOIN_TWO(a, b)

#ifdef SEQKERN_X86
/* out[l] = table[codes[l]] for `n` lanes, and up to 31 more. */
AVX2 static void look_up(const int8_t *table, const uint8_t *codes, int8_t *out, int n)
{
    const __m256i low = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)table));
    const __m256i high = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(table + 16)));
    for (int l = 0; l < n; l += 32) {
        const __m256i code = _mm256_loadu_si256((const __m256i *)(codes + l));
        const __m256i one = _mm256_shuffle_epi8(low, code), other = _mm256_shuffle_epi8(high, code);
        const __m256i second = _mm256_cmpgt_epi8(code, _mm256_set1_epi8(15));
        _mm256_storeu_si256((__m256i *)(out + l), _mm256_blendv_epi8(one, other, second));
    }
}

typedef __m512i vector_64;
typedef __m256i vector_32;
#define LOOK_UP look_up

#define LEVEL _avx512
#define TARGET AVX512
#define BYTES 64
#define STRIP 8
#define OPERATION(name) JOIN(_mm512_##name##_epi, WIDTH)
#define WIDTH 8
#include "_smith_waterman_lanes.h"
#define WIDTH 16
#include "_smith_waterman_lanes.h"
#define WIDTH 32
#include "_smith_waterman_lanes.h"
#undef LEVEL
#undef TARGET
#undef BYTES
#undef STRIP
#undef OPERATION

#define LEVEL _avx2
#define TARGET AVX2
#define BYTES 32
#define STRIP 4
#define OPERATION(name) JOIN(_mm256_##name##_epi, WIDTH)
#define WIDTH 8
#include "_smith_waterman_lanes.h"
#define WIDTH 16
#include "_smith_waterman_lanes.h"
#define WIDTH 32
#include "_smith_waterman_lanes.h"
#undef LEVEL
#undef TARGET
#undef BYTES
#undef STRIP
#undef OPERATION
#undef LOOK_UP
#endif

#if defined(__GNUC__)
typedef int16_t plain_16 __attribute__((vector_size(16)));
typedef int32_t plain_32 __attribute__((vector_size(16)));
#else
typedef int16_t plain_16;
typedef int32_t plain_32;
#endif
#define LOOK_UP look_up_plain
#define LEVEL _plain
#define TARGET
#define STRIP 4
#define WIDTH 16
#include "_smith_waterman_lanes.h"
#define WIDTH 32
#include "_smith_waterman_lanes.h"

/* Run name_WIDTH_LEVEL. Without numbers that saturate nothing is gained by 8 bits. */
#ifdef SEQKERN_X86
#define RUN(name, level, width, ...)                                  \
    ((level) == 2   ? (width) == 8    ? name##_8_avx512(__VA_ARGS__)  \
                      : (width) == 16 ? name##_16_avx512(__VA_ARGS__) \
                                      : name##_32_avx512(__VA_ARGS__) \
     : (level) == 1 ? (width) == 8    ? name##_8_avx2(__VA_ARGS__)    \
                      : (width) == 16 ? name##_16_avx2(__VA_ARGS__)   \
                                      : name##_32_avx2(__VA_ARGS__)   \
     : (width) < 32 ? name##_16_plain(__VA_ARGS__)                    \
                    : name##_32_plain(__VA_ARGS__))
#define LANES_OF(level, width) ((level) ? ((level) == 2 ? 512 : 256) / (width) : (width) < 32 ? 8 : 4)
#else
#define RUN(name, level, width, ...) \
    ((void)(level), (width) < 32 ? name##_16_plain(__VA_ARGS__) : name##_32_plain(__VA_ARGS__))
#define LANES_OF(level, width) ((void)(level), (width) < 32 ? (int)LANES_16_plain : (int)LANES_32_plain)
#endif

static int lanes_of(int level, int width)
{
    return LANES_OF(level, width);
}

static int fill_rectangle(int level, int width, const scoring *f, const rectangle *r, const int64_t *bounds,
                          ptrdiff_t n_bounds)
{
    return RUN(fill, level, width, f, r, bounds, n_bounds);
}

static int correct_rectangle(int level, int width, const scoring *f, const rectangle *r)
{
    return RUN(correct, level, width, f, r);
}

#endif
