/* Sums over all local alignments (Vert, Saigo, Akutsu 2004): one row sequence against many others, one in each vector
 * lane.
 *
 * With M, X and Y the sums over alignments that end at a pair of letters, in a gap of the lane sequence and in one of
 * the row sequence, E = exp(β·s), T(i, j) = 1 + X + Y + M, o = exp(−β·gap_open) and e = exp(−β·gap_extend),
 *
 *     M(i, j) = E(x_i, y_j)·T(i − 1, j − 1),   X(i, j) = o·M(i − 1, j) + e·X(i − 1, j),
 *     Y(i, j) = o·(M(i, j − 1) + X(i, j − 1)) + e·Y(i, j − 1),
 *
 * and K = 1 + ΣM over all cells. Stored are X / o and Y / o, and if e allows it everything in column j times e^−(j mod
 * PATTERN): then Y(i, j) is a mere sum. The factors that this needs are part of the tables of E, one for each column of
 * the pattern. Those tables also spread the roundings of E: see local_factors.py. */
#ifndef SEQKERN_LOCAL_ALIGNMENT_H
#define SEQKERN_LOCAL_ALIGNMENT_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "_records.h"
#include "_simd.h"
#include "_subnormals.h"

enum { PATTERN = 8 };     /* columns after which tables and factors repeat themselves */
enum { BLOCK_ROWS = 128 }; /* sums over more than those are in double precision */

static const double LN2 = 0.693147180559945309417;

/* When powers of two change. */
typedef struct {
    int rows;              /* of a tile */
    int low, middle, high; /* what is stored is brought to 2^middle if it is not from 2^low to 2^high */
    double least, most;    /* 2^low, and a bit less than 2^high */
    double quiet;          /* sums up to this show that nothing reaches 2^high */
} range;

typedef struct {
    int letters;            /* codes 0 … letters − 1, the masked letter included; `letters` itself is behind an end */
    int even;               /* whether columns are scaled by powers of e */
    const float *single;    /* (PATTERN, letters, letters + 1): E of a row's and a lane's code, scaled */
    const double *twofold;  /* the same */
    double open, extend;    /* o, e */
    double reopen;          /* o, or o / e with scaled columns: what is stored of Y times this is Y */
    double wrap;            /* what Y is multiplied by where the pattern begins again */
    double one[PATTERN];    /* what 1 is stored as */
    double weight[PATTERN]; /* 1 / one */
    range narrow, wide;     /* for single and double precision */
} recursion;

/* 2^−d, 0 if that is too small; d is 0 or more. */
ALWAYS_INLINE double halved(int64_t d)
{
    const int64_t bits = d > 1022 ? 0 : (1023 - d) << 52;
    double result;
    memcpy(&result, &bits, sizeof result);
    return result;
}

#if defined(__GNUC__)
#define UNROLLED _Pragma("GCC unroll 8")
#else
#define UNROLLED
#endif

#ifdef SEQKERN_X86
#define AVX2_FMA __attribute__((target("avx2,fma")))
typedef float float16 __attribute__((vector_size(64)));
typedef double double8 __attribute__((vector_size(64)));
typedef float float8 __attribute__((vector_size(32)));
typedef double double4 __attribute__((vector_size(32)));

/* What uses a and b stays behind what computes them. Without it, the compiler takes the products of all columns first,
 * and vectors wait for each other: the loop over columns takes a fifth longer. */
#define IN_TURN(a, b) __asm__ volatile("" : "+v"(a), "+v"(b))

#define NAME(name) name##_float_avx512
#define TARGET AVX512
#define REAL float
#define BITS 23
#define INTEGER int32_t
#define VECTOR float16
#define LANES 16
#define COLUMNS 8
#define TABLE single
#define RANGE narrow
#define FMA(a, b, c) ((VECTOR)_mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(c)))
#define MAXIMUM(a, b) ((VECTOR)_mm512_max_ps((__m512)(a), (__m512)(b)))
#define ALL_AT_MOST(a, b) (_mm512_cmp_ps_mask((__m512)(a), (__m512)(b), _CMP_LE_OQ) == 0xFFFF)
#include "_local_alignment_lanes.h"

#define NAME(name) name##_double_avx512
#define TARGET AVX512
#define REAL double
#define BITS 52
#define INTEGER int64_t
#define VECTOR double8
#define LANES 8
#define COLUMNS 8
#define TABLE twofold
#define RANGE wide
#define FMA(a, b, c) ((VECTOR)_mm512_fmadd_pd((__m512d)(a), (__m512d)(b), (__m512d)(c)))
#define MAXIMUM(a, b) ((VECTOR)_mm512_max_pd((__m512d)(a), (__m512d)(b)))
#define ALL_AT_MOST(a, b) (_mm512_cmp_pd_mask((__m512d)(a), (__m512d)(b), _CMP_LE_OQ) == 0xFF)
#include "_local_alignment_lanes.h"

/* Fewer registers and columns: there the compiler's order is as good, or better. */
#undef IN_TURN
#define IN_TURN(a, b) ((void)0)

#define NAME(name) name##_float_avx2
#define TARGET AVX2_FMA
#define REAL float
#define BITS 23
#define INTEGER int32_t
#define VECTOR float8
#define LANES 8
#define COLUMNS 4
#define TABLE single
#define RANGE narrow
#define FMA(a, b, c) ((VECTOR)_mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c)))
#define MAXIMUM(a, b) ((VECTOR)_mm256_max_ps((__m256)(a), (__m256)(b)))
#define ALL_AT_MOST(a, b) (_mm256_movemask_ps(_mm256_cmp_ps((__m256)(a), (__m256)(b), _CMP_LE_OQ)) == 0xFF)
#include "_local_alignment_lanes.h"

#define NAME(name) name##_double_avx2
#define TARGET AVX2_FMA
#define REAL double
#define BITS 52
#define INTEGER int64_t
#define VECTOR double4
#define LANES 4
#define COLUMNS 4
#define TABLE twofold
#define RANGE wide
#define FMA(a, b, c) ((VECTOR)_mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c)))
#define MAXIMUM(a, b) ((VECTOR)_mm256_max_pd((__m256d)(a), (__m256d)(b)))
#define ALL_AT_MOST(a, b) (_mm256_movemask_pd(_mm256_cmp_pd((__m256d)(a), (__m256d)(b), _CMP_LE_OQ)) == 0xF)
#include "_local_alignment_lanes.h"
#else
#define IN_TURN(a, b) ((void)0)
#endif

#define NAME(name) name##_float_plain
#define TARGET
#define REAL float
#define BITS 23
#define INTEGER int32_t
#define VECTOR plain_floats
#define LANES (PLAIN_BYTES ? PLAIN_BYTES / 4 : 1)
#define COLUMNS 4
#define TABLE single
#define RANGE narrow
#define FMA(a, b, c) ((a) * (b) + (c))
#include "_local_alignment_lanes.h"

#define NAME(name) name##_double_plain
#define TARGET
#define REAL double
#define BITS 52
#define INTEGER int64_t
#define VECTOR plain_doubles
#define LANES (PLAIN_BYTES ? PLAIN_BYTES / 8 : 1)
#define COLUMNS 4
#define TABLE twofold
#define RANGE wide
#define FMA(a, b, c) ((a) * (b) + (c))
#include "_local_alignment_lanes.h"

/* Run fill_TYPE or pairs_TYPE (see _local_alignment_lanes.h) with the instructions of a level. */
#ifdef SEQKERN_X86
#define RUN_LEVEL(level, name, ...)                                                                     \
    ((level) == 2                                           ? name##_avx512(__VA_ARGS__)                \
     : (level) == 1 && __builtin_cpu_supports("fma")        ? name##_avx2(__VA_ARGS__)                  \
                                                            : name##_plain(__VA_ARGS__))
#else
#define RUN_LEVEL(level, name, ...) ((void)(level), name##_plain(__VA_ARGS__))
#endif

static int fill_rectangle(int level, int single, const recursion *f, const records *rows, const int64_t *stop,
                          const records *lanes, double *out, ptrdiff_t row_step, ptrdiff_t lane_step)
{
    const float_mode before = flush_subnormals();
    const int failed = single ? RUN_LEVEL(level, fill_float, f, rows, stop, lanes, out, row_step, lane_step)
                              : RUN_LEVEL(level, fill_double, f, rows, stop, lanes, out, row_step, lane_step);
    restore_subnormals(before);
    return failed;
}

static int fill_diagonal(int level, int single, const recursion *f, const records *all, double *out)
{
    const float_mode before = flush_subnormals();
    const int failed =
        single ? RUN_LEVEL(level, pairs_float, f, all, out) : RUN_LEVEL(level, pairs_double, f, all, out);
    restore_subnormals(before);
    return failed;
}

#endif
