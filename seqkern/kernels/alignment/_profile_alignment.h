/* Alignments of profiles: one row sequence against many others, one in each vector lane.
 *
 * The score of two columns is S(i, j) = Σ_a p_i(a)·s_j(a) + Σ_a s_i(a)·p_j(a) + shift. Each of the two sums has one
 * order, and they are added last: so S(i, j) and S(j, i) are the same to the bit, and with them the score of
 * Smith-Waterman, which is made of sums and maxima. A local alignment kernel is a sum over many cells: there the caller
 * says which sequence is the row.
 *
 * All this is in single precision but the sums over alignments, which are in double precision, with a power of two for
 * each lane. Levels with fused multiply-adds round S less often than the plain one. */
#ifndef SEQKERN_PROFILE_ALIGNMENT_H
#define SEQKERN_PROFILE_ALIGNMENT_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "_simd.h"

#if defined(__GNUC__)
#define UNROLLED _Pragma("GCC unroll 16")
#else
#define UNROLLED
#endif

enum { SMITH_WATERMAN, LOCAL_ALIGNMENT };

enum {
    STRIP = 4,         /* columns in work at once */
    TILE_ROWS = 3,     /* rows whose scores are computed at once */
    CHUNK = 12,        /* rows between two looks at the powers of two */
    PANEL = 256,       /* strips that are kept in the order of vectors; longer sequences come in several panels */
    START_POWER = 600, /* of what comes into a chunk; STRIP pairs of columns may make it 2^350 times as much */
};

static const float NOTHING = -1e30f; /* no alignment: far below all scores */

typedef struct {
    int method;
    float shift;
    float gap_open, gap_extend;       /* Smith-Waterman */
    float digits;                     /* local alignment: β·log2 e, binary digits for one of score, */
    double open_weight, extend_weight; /* exp(−β·gap_open), exp(−β·gap_extend), */
    double beta;
} scoring;

/* Records order[0], order[1], … of two tracks, both (letters, size). */
typedef struct {
    const float *profile, *pssm;
    const int64_t *start, *stop, *order;
    ptrdiff_t n;
    int size;
} records;

static inline ptrdiff_t record_start(const records *r, ptrdiff_t k)
{
    return r->start[r->order[k]];
}

static inline ptrdiff_t record_length(const records *r, ptrdiff_t k)
{
    return r->stop[r->order[k]] - r->start[r->order[k]];
}

static inline ptrdiff_t longest_record(const records *r)
{
    ptrdiff_t longest = 0;
    for (ptrdiff_t k = 0; k < r->n; ++k)
        longest = record_length(r, k) > longest ? record_length(r, k) : longest;
    return longest;
}

/* 2^power, or 0 below the range of normal numbers. */
static inline double power_of_two(int64_t power)
{
    const int64_t bits = power < -1022 ? 0 : (power + 1023) << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The power of two not above a positive normal number; below those, and for 0, -1023. */
static inline int64_t power_of(double value)
{
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (bits >> 52) - 1023;
}

#ifdef SEQKERN_X86
typedef uint32_t bits16 __attribute__((vector_size(64)));
typedef uint32_t bits8 __attribute__((vector_size(32)));

#define NAME(name) name##_avx512
#define TARGET AVX512
#define LANES 16
#define TILE_COLUMNS 4
#define FLOATS __m512
#define BITS bits16
#define SET _mm512_set1_ps
#define MAX _mm512_max_ps
#define MIN _mm512_min_ps
#define FMA _mm512_fmadd_ps
#define WIDE_LANES 8
#define DOUBLES __m512d
#define WIDE_SET _mm512_set1_pd
#define WIDE_MAX _mm512_max_pd
#define WIDE_FMA _mm512_fmadd_pd
#define WIDEN(address) _mm512_cvtps_pd(_mm256_load_ps(address))
#include "_profile_lanes.h"

#define NAME(name) name##_avx2
#define TARGET __attribute__((target("avx2,fma")))
#define LANES 8
#define TILE_COLUMNS 2
#define FLOATS __m256
#define BITS bits8
#define SET _mm256_set1_ps
#define MAX _mm256_max_ps
#define MIN _mm256_min_ps
#define FMA _mm256_fmadd_ps
#define WIDE_LANES 4
#define DOUBLES __m256d
#define WIDE_SET _mm256_set1_pd
#define WIDE_MAX _mm256_max_pd
#define WIDE_FMA _mm256_fmadd_pd
#define WIDEN(address) _mm256_cvtps_pd(_mm_load_ps(address))
#include "_profile_lanes.h"
#endif

#define LANES (PLAIN_BYTES ? PLAIN_BYTES / 4 : 1)
#define WIDE_LANES (PLAIN_BYTES ? PLAIN_BYTES / 8 : 1)

/* Return a where it is larger, or smaller, than b, else b. */
static inline plain_floats plain_max(plain_floats a, plain_floats b)
{
    for (int l = 0; l < LANES; ++l)
        ((float *)&a)[l] = ((float *)&a)[l] > ((float *)&b)[l] ? ((float *)&a)[l] : ((float *)&b)[l];
    return a;
}

static inline plain_doubles plain_wide_max(plain_doubles a, plain_doubles b)
{
    for (int l = 0; l < WIDE_LANES; ++l)
        ((double *)&a)[l] = ((double *)&a)[l] > ((double *)&b)[l] ? ((double *)&a)[l] : ((double *)&b)[l];
    return a;
}

static inline plain_doubles plain_widen(const float *values)
{
    plain_doubles wide;
    for (int l = 0; l < WIDE_LANES; ++l)
        ((double *)&wide)[l] = values[l];
    return wide;
}

#define NAME(name) name##_plain
#define TARGET
#define TILE_COLUMNS 2
#define FLOATS plain_floats
#define BITS plain_bits
#define SET(value) ((plain_floats){0} + (value))
#define MAX plain_max
#define MIN(a, b) (-plain_max(-(a), -(b)))
#define FMA(a, b, c) ((a) * (b) + (c))
#define DOUBLES plain_doubles
#define WIDE_SET(value) ((plain_doubles){0} + (value))
#define WIDE_MAX plain_wide_max
#define WIDE_FMA(a, b, c) ((a) * (b) + (c))
#define WIDEN plain_widen
#include "_profile_lanes.h"

/* Set out[row·row_step + lane·lane_step] for each row and the lanes first[row] … stop[row] − 1; rows and lanes are
 * meant by their places in the records' order. Return 0, or -1 without memory. */
static int fill_rectangle(int level, const scoring *f, const records *rows, const int64_t *first, const int64_t *stop,
                          const records *lanes, double *out, ptrdiff_t row_step, ptrdiff_t lane_step)
{
#ifdef SEQKERN_X86
    if (level == 2)
        return fill_avx512(f, rows, first, stop, lanes, out, row_step, lane_step);
    if (level == 1 && __builtin_cpu_supports("fma"))
        return fill_avx2(f, rows, first, stop, lanes, out, row_step, lane_step);
#endif
    (void)level;
    return fill_plain(f, rows, first, stop, lanes, out, row_step, lane_step);
}

#endif
