/* Gap-weighted subsequences (Lodhi et al. 2002): one row sequence against many others, one in each vector lane.
 *
 * A chain (i_1, j_1) < … < (i_n, j_n) of matching pairs of letters weighs decay^(i_n − i_1 + 1 + j_n − j_1 + 1): that
 * depends on its first and its last pair only. A first pair therefore brings in decay^−(i + j), a last pair
 * decay^(i + j), and between them chains are merely counted, by sums over rows and columns:
 *
 *     R_p(i, j) = R_p(i, j − 1) + [x_i = y_j]·S_{p−1}(i − 1, j − 1),     S_p(i, j) = S_p(i − 1, j) + R_p(i, j).
 *
 * All weights are split into a mantissa and a power of two. What is stored in a strip of columns and a block of rows is
 * scaled by the power of its first column and row; scaling by powers of two is exact, so that the bits depend neither
 * on the width of strips and blocks nor on that of vectors. */
#ifndef SEQKERN_SUBSEQUENCE_H
#define SEQKERN_SUBSEQUENCE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "_records.h"
#include "_simd.h"
#include "_subnormals.h"

/* Which chains count: of exactly levels + 1 pairs, of up to as many, or of any number. */
enum { EXACTLY, UP_TO, ANY_LENGTH };
enum { UNROLLED_LEVELS = 8 };

typedef struct {
    int mode;
    int levels;           /* pairs of a chain but the last */
    int soft;             /* whether weights are others than 0 and 1 */
    int letters;          /* codes 0 … letters − 1; `letters` itself matches nothing */
    const double *weight; /* (letters, letters): of the pair of a row's and a lane's letter */
    double decay;
    const double *up, *down; /* mantissas of decay^−i and decay^i */
    const int32_t *up_power, *down_power;
    int exact; /* whether decay is a power of two and boost is 0: then products with weights are exact */
    int boost; /* chains of p pairs are stored times 2^(boost·(p − 1)) */
    int rows;  /* in a block */
} recursion;

/* Whether chains of one pair count. */
static inline int counts_singles(const recursion *f)
{
    return f->mode != EXACTLY || f->levels == 0;
}

/* Masks of lanes, stored in place of a vector. */
#if defined(__GNUC__)
typedef uint16_t stored_mask __attribute__((may_alias));
#else
typedef uint16_t stored_mask;
#endif

static inline stored_mask *masks(void *vector)
{
    return vector;
}

#if defined(__GNUC__)
#define UNROLLED _Pragma("GCC unroll 16")
#else
#define UNROLLED
#endif

/* Columns of a strip for each number of levels: as many as the registers hold. */
#define WIDE_STRIP(L) ((L) <= 2 ? 12 : (L) == 3 ? 8 : (L) == 4 ? 6 : (L) == 5 ? 5 : (L) == 6 ? 4 : 3)
#define NARROW_STRIP(L) ((L) == 1 ? 8 : (L) == 2 ? 5 : (L) == 3 ? 4 : (L) == 4 ? 3 : 2)
enum { MOST_COLUMNS = 12 };

#ifdef SEQKERN_X86
typedef float float16 __attribute__((vector_size(64)));
typedef double double8 __attribute__((vector_size(64)));
typedef float float8 __attribute__((vector_size(32)));
typedef double double4 __attribute__((vector_size(32)));

#define NAME(name) name##_float_avx512
#define TARGET AVX512
#define REAL float
#define VECTOR float16
#define LANES 16
#define STRIP WIDE_STRIP
#define MASK __mmask16
#define LOAD_MASK(address) ((MASK)_load_mask16(address))
#define ADD_WHERE(mask, a, b) ((VECTOR)_mm512_mask_add_ps((__m512)(a), mask, (__m512)(a), (__m512)(b)))
#define ADD_PRODUCT(a, b, c) ((VECTOR)_mm512_fmadd_ps((__m512)(b), (__m512)(c), (__m512)(a)))
#define ADD_PRODUCT_WHERE(mask, a, b, c) \
    ((VECTOR)_mm512_mask3_fmadd_ps((__m512)(b), (__m512)(c), (__m512)(a), mask))
#include "_subsequence_lanes.h"

#define NAME(name) name##_double_avx512
#define TARGET AVX512
#define REAL double
#define VECTOR double8
#define LANES 8
#define STRIP WIDE_STRIP
#define MASK __mmask8
#define LOAD_MASK(address) ((MASK)_load_mask16(address))
#define ADD_WHERE(mask, a, b) ((VECTOR)_mm512_mask_add_pd((__m512d)(a), mask, (__m512d)(a), (__m512d)(b)))
#define ADD_PRODUCT(a, b, c) ((VECTOR)_mm512_fmadd_pd((__m512d)(b), (__m512d)(c), (__m512d)(a)))
#define ADD_PRODUCT_WHERE(mask, a, b, c) \
    ((VECTOR)_mm512_mask3_fmadd_pd((__m512d)(b), (__m512d)(c), (__m512d)(a), mask))
#include "_subsequence_lanes.h"

#define NAME(name) name##_float_avx2
#define TARGET AVX2
#define REAL float
#define VECTOR float8
#define LANES 8
#define STRIP NARROW_STRIP
#include "_subsequence_lanes.h"

#define NAME(name) name##_double_avx2
#define TARGET AVX2
#define REAL double
#define VECTOR double4
#define LANES 4
#define STRIP NARROW_STRIP
#include "_subsequence_lanes.h"
#endif

#define NAME(name) name##_float_plain
#define TARGET
#define REAL float
#define VECTOR plain_floats
#define LANES (PLAIN_BYTES ? PLAIN_BYTES / 4 : 1)
#define STRIP NARROW_STRIP
#include "_subsequence_lanes.h"

#define NAME(name) name##_double_plain
#define TARGET
#define REAL double
#define VECTOR plain_doubles
#define LANES (PLAIN_BYTES ? PLAIN_BYTES / 8 : 1)
#define STRIP NARROW_STRIP
#include "_subsequence_lanes.h"

/* Run fill_TYPE or pairs_TYPE (see _subsequence_lanes.h) with the instructions of a level. */
#ifdef SEQKERN_X86
#define RUN_LEVEL(level, name, ...) \
    ((level) == 2 ? name##_avx512(__VA_ARGS__) : (level) == 1 ? name##_avx2(__VA_ARGS__) : name##_plain(__VA_ARGS__))
#else
#define RUN_LEVEL(level, name, ...) ((void)(level), name##_plain(__VA_ARGS__))
#endif

static int fill_rectangle(int level, int single, const recursion *f, const records *rows, const int64_t *first,
                          const int64_t *stop, const records *lanes, double *out, ptrdiff_t row_step,
                          ptrdiff_t lane_step)
{
    if (single) {
        const float_mode before = flush_subnormals();
        const int failed = RUN_LEVEL(level, fill_float, f, rows, first, stop, lanes, out, row_step, lane_step);
        restore_subnormals(before);
        return failed;
    }
    return RUN_LEVEL(level, fill_double, f, rows, first, stop, lanes, out, row_step, lane_step);
}

static int fill_diagonal(int level, int single, const recursion *f, const records *all, double *out)
{
    if (single) {
        const float_mode before = flush_subnormals();
        const int failed = RUN_LEVEL(level, pairs_float, f, all, out);
        restore_subnormals(before);
        return failed;
    }
    return RUN_LEVEL(level, pairs_double, f, all, out);
}

#endif
