/* Products of counts by bitmaps: which of 1,024 columns have a feature, 1,024 bits for each bit of their counts.
 *
 * K(x, y) = Σ_f Σ_a Σ_b 2^(a + b) · [bit a of x's count of f] · [bit b of y's count of f]. For a row, the bitmaps of its
 * features are added up in binary counters, one for each column: plane p of the counters holds bit p of all of them. So
 * two logical instructions serve 1,024 columns, where a posting list takes some for each. Lists are better where features
 * are rare. `_bitmaps_lanes.h` has the counters, for each level of instructions. */
#ifndef SEQKERN_BITMAPS_H
#define SEQKERN_BITMAPS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "_simd.h"

enum {
    TILE = 1024, /* columns of a bitmap */
    WORDS = TILE / 64,
    MOST_PLANES = 64,
    GROUP_PLANES = 4,
    ADDED = 1 << GROUP_PLANES, /* bitmaps that are added at once */
    LOOKED_UP = 512,               /* entries that are looked up at once */
};

/* Rows as compressed rows, columns as bitmaps.
 *
 * Entries start[i] .. start[i + 1] are row i's: feature and count. Those of bits 0, 1, … of the counts of feature f in
 * column tile t are the bitmaps from bounds[t * n_features + f] to the next bound. The first bitmap is empty. No product
 * has more bits than `planes`. */
typedef struct {
    const int64_t *start;
    const int32_t *feature;
    const int32_t *count;
    const int32_t *bounds;
    const uint64_t *bitmaps;
    ptrdiff_t n_features;
    int planes;
} bitmap_walk;

/* The counters of a tile, with planes that a group may carry to; and the bitmaps that a chunk of a row's entries adds to
 * planes 0 and 1, and the entries that need more than that. */
typedef struct {
    _Alignas(64) uint64_t planes[MOST_PLANES + GROUP_PLANES][WORDS];
    int32_t ones[LOOKED_UP + ADDED], twos[LOOKED_UP + ADDED], others[LOOKED_UP];
} bitmap_counters;

/* Return the number of bits of a positive count. */
static inline int bits_of(int32_t count)
{
    int bits = 0;
    for (; count > 0; count >>= 1)
        ++bits;
    return bits;
}

#define NAME_OF(name, level) name##_##level
#if defined(SEQKERN_X86)
typedef uint64_t bits_avx2 __attribute__((vector_size(32), may_alias));
#define NAME(name) NAME_OF(name, avx512)
#define TARGET AVX512
#define VEC __m512i
#define XOR3(a, b, c) _mm512_ternarylogic_epi64(a, b, c, 0x96)
#define MAJORITY(a, b, c) _mm512_ternarylogic_epi64(a, b, c, 0xe8)
/* Write the counters' lowest `n` planes, up to eight, as a byte for each column. */
AVX512 ALWAYS_INLINE void read_bytes_avx512(const uint64_t (*planes)[WORDS], int n, uint8_t *bytes)
{
    for (int w = 0; w < WORDS; ++w) {
        __m512i numbers = _mm512_setzero_si512();
        for (int p = 0; p < n; ++p)
            numbers = _mm512_mask_add_epi8(numbers, planes[p][w], numbers, _mm512_set1_epi8((char)(1 << p)));
        _mm512_storeu_si512(bytes + 64 * w, numbers);
    }
}
#include "_bitmaps_lanes.h"
#undef NAME
#undef TARGET
#undef VEC
#undef XOR3
#undef MAJORITY
#endif

#define XOR3(a, b, c) ((a) ^ (b) ^ (c))
#define MAJORITY(a, b, c) ((((a) ^ (b)) & ((a) ^ (c))) ^ (a))
#if defined(SEQKERN_X86)
#define NAME(name) NAME_OF(name, avx2)
#define TARGET AVX2
#define VEC bits_avx2
AVX2 ALWAYS_INLINE void read_bytes_avx2(const uint64_t (*planes)[WORDS], int n, uint8_t *bytes)
{
    const __m256i each = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
    const __m256i bit = _mm256_set1_epi64x((int64_t)0x8040201008040201);
    for (int c = 0; c < TILE; c += 32) {
        __m256i numbers = _mm256_setzero_si256();
        for (int p = 0; p < n; ++p) {
            __m256i four = _mm256_set1_epi32((int32_t)(planes[p][c / 64] >> c % 64));
            __m256i set = _mm256_cmpeq_epi8(_mm256_and_si256(_mm256_shuffle_epi8(four, each), bit), bit);
            numbers = _mm256_or_si256(numbers, _mm256_and_si256(set, _mm256_set1_epi8((char)(1 << p))));
        }
        _mm256_storeu_si256((__m256i *)(bytes + c), numbers);
    }
}
#include "_bitmaps_lanes.h"
#undef NAME
#undef TARGET
#undef VEC
#endif

#define NAME(name) NAME_OF(name, plain)
#define TARGET
#if defined(__GNUC__)
typedef uint64_t bits_plain __attribute__((vector_size(16), may_alias));
#else
typedef uint64_t bits_plain;
#endif
#define VEC bits_plain
static inline void read_bytes_plain(const uint64_t (*planes)[WORDS], int n, uint8_t *bytes)
{
    for (int c = 0; c < TILE; c += 8) {
        uint64_t numbers = 0; /* of eight columns, a byte each */
        for (int p = 0; p < n; ++p) {
            const uint64_t eight = planes[p][c / 64] >> c % 64 & 0xff;
            numbers |= (((eight & 0x7f) * 0x0002040810204081u & 0x0101010101010101u) | eight >> 7 << 56) << p;
        }
        for (int r = 0; r < 8; ++r)
            bytes[c + r] = (uint8_t)(numbers >> 8 * r);
    }
}
#include "_bitmaps_lanes.h"
#undef NAME
#undef TARGET
#undef VEC

#define DEFINE_ADD_PRODUCTS(name)                                                                               \
    static void add_products_##name(int level, const bitmap_walk *walk, ptrdiff_t row, ptrdiff_t n, ptrdiff_t first, \
                                    ptrdiff_t last, int64_t weight, int upper, name##_t *sums, ptrdiff_t step)  \
    {                                                                                                           \
        CALL_LEVEL(level, products_##name, walk, row, n, first, last, weight, upper, sums, step);               \
    }
DEFINE_ADD_PRODUCTS(int32)
DEFINE_ADD_PRODUCTS(int64)

#endif
