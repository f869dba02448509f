/* Counting pairs of windows by their Hamming distance, many columns at once; see `_hamming_diagonals.h`. */
#ifndef SEQKERN_HAMMING_H
#define SEQKERN_HAMMING_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "_simd.h"

enum {
    CLASSES = 8,     /* counts of matches that one walk tells apart */
    MOST_PLANES = 5, /* bits of a count of matches */
    LEVELS = 56,     /* bits of a count of windows */
    FIRST_KEPT = 3,  /* the lower ones are in registers */
};

/* One vector of lanes. */
typedef struct {
    const void *match;   /* [letter][position] lanes with that letter there; one position more than there are letters */
    const void *valid;   /* [window] lanes that have that many windows */
    ptrdiff_t positions; /* the second size of `match` */
    ptrdiff_t windows;   /* of the longest lane */
    int alone;           /* whether only the main diagonal counts */
} lane_block;

/* kept[level][class] and waiting[level][class], vectors: counts in binary, and carries that wait for a second one. */
typedef struct {
    void *kept;
    void *waiting;
    uint64_t arrived; /* carries so far; bit b says that one waits at level FIRST_KEPT + b */
} lane_counts;

typedef void (*stretch_function)(const lane_block *, const ptrdiff_t *, ptrdiff_t, ptrdiff_t, int, lane_counts *);

#ifdef SEQKERN_X86

#define NAME(name) name##_avx512
#define TARGET AVX512
#define LANES 512
#define vec __m512i
#define LOAD(address) _mm512_load_si512((const void *)(address))
#define ZERO _mm512_setzero_si512()
#define ONES _mm512_set1_epi64(-1)
#define AND(a, b) _mm512_and_si512(a, b)
#define XOR(a, b) _mm512_xor_si512(a, b)
#define AND3(a, b, c) _mm512_ternarylogic_epi64(a, b, c, 0x80)
#define XOR3(a, b, c) _mm512_ternarylogic_epi64(a, b, c, 0x96)
/* From what is overwritten anyway, so that no vector has to be copied. */
#define CARRY(a, sum, b, former) _mm512_ternarylogic_epi64(a, sum, b, 0xb2)
#define OVERFLOW(in, sum, out) _mm512_ternarylogic_epi64(in, sum, out, 0x18)
#define CHANGE(change, sum, out) _mm512_ternarylogic_epi64(change, sum, out, 0x90)
#include "_hamming_diagonals.h"
#undef NAME
#undef TARGET
#undef LANES
#undef vec
#undef LOAD
#undef ZERO
#undef ONES
#undef AND
#undef XOR
#undef AND3
#undef XOR3
#undef CARRY
#undef CHANGE
#undef OVERFLOW

#endif

/* The same without instructions of three operands. */
#define AND3(a, b, c) AND(AND(a, b), c)
#define XOR3(a, b, c) XOR(XOR(a, b), c)
#define CARRY(a, sum, b, former) XOR(AND(XOR(former, a), XOR(a, b)), a)
#define OVERFLOW(in, sum, out) ANDNOT(XOR(sum, out), XOR(in, out))
#define CHANGE(change, sum, out) ANDNOT(XOR(sum, out), change)

#ifdef SEQKERN_X86

#define NAME(name) name##_avx2
#define TARGET AVX2
#define LANES 256
#define vec __m256i
#define LOAD(address) _mm256_load_si256((const __m256i *)(address))
#define ZERO _mm256_setzero_si256()
#define ONES _mm256_set1_epi64x(-1)
#define AND(a, b) _mm256_and_si256(a, b)
#define XOR(a, b) _mm256_xor_si256(a, b)
#define ANDNOT(a, b) _mm256_andnot_si256(a, b)
#include "_hamming_diagonals.h"
#undef NAME
#undef TARGET
#undef LANES
#undef vec
#undef LOAD
#undef ZERO
#undef ONES
#undef AND
#undef XOR
#undef ANDNOT

#endif

#define NAME(name) name##_plain
#define TARGET
#if defined(__GNUC__)
typedef uint64_t plain_lanes __attribute__((vector_size(16)));
#define LANES 128
#define vec plain_lanes
#define ZERO ((vec){0, 0})
#else
#define LANES 64
#define vec uint64_t
#define ZERO ((vec)0)
#endif
#define LOAD(address) (*(const vec *)(address))
#define ONES (~ZERO)
#define AND(a, b) ((a) & (b))
#define XOR(a, b) ((a) ^ (b))
#define ANDNOT(a, b) (~(a) & (b))
#include "_hamming_diagonals.h"
enum { PLAIN_LANES = LANES };
#undef NAME
#undef TARGET
#undef LANES
#undef vec
#undef LOAD
#undef ZERO
#undef ONES
#undef AND
#undef XOR
#undef AND3
#undef XOR3
#undef CARRY
#undef OVERFLOW
#undef CHANGE
#undef ANDNOT

/* Return how many lanes a vector has. */
static inline int lanes_of(int level)
{
    return level == 2 ? 512 : level == 1 ? 256 : PLAIN_LANES;
}

static inline stretch_function find_stretch_function(int level, int planes, int classes)
{
#ifdef SEQKERN_X86
    if (level == 2)
        return stretches_avx512[planes - 4][classes - 1];
    if (level == 1)
        return stretches_avx2[planes - 4][classes - 1];
#endif
    return stretches_plain[planes - 4][classes - 1];
}

/* Set the bit of one lane of a block for each of its letters, and for each of its windows. */
static inline void fill_lane(uint8_t *match, uint8_t *valid, ptrdiff_t positions, int lanes, int lane,
                             const uint8_t *letters, ptrdiff_t windows, ptrdiff_t length)
{
    const ptrdiff_t bytes = lanes / 8;
    const uint8_t bit = (uint8_t)(1 << lane % 8);
    match += lane / 8;
    valid += lane / 8;
    for (ptrdiff_t p = 0; p < windows + length - 1; ++p)
        match[(letters[p] * positions + p) * bytes] |= bit;
    for (ptrdiff_t p = 0; p < windows; ++p)
        valid[p * bytes] |= bit;
}

static inline void settle(int level, lane_counts *counts, int classes, int bits)
{
    CALL_LEVEL(level, settle, counts, classes, bits);
}

static inline void read_lanes(int level, const lane_counts *counts, int m, int bits, int64_t *number)
{
    CALL_LEVEL(level, read_lanes, counts, m, bits, number);
}

/* totals[columns[i]] += numbers[i] */
static inline void scatter(const int64_t *number, const int32_t *columns, int lanes, int64_t *totals)
{
    for (int i = 0; i < lanes; ++i)
        totals[columns[i]] += number[i];
}

#endif
