/* Sums over all global alignments of the pair HMM (Watkins 1999; Haussler 1999): one row sequence against many others,
 * one in each vector lane, in double precision.
 *
 * K = (1 − γ) Σ_r γ^r K2 ⋆ (K1 ⋆ K2)^⋆r with K1 of two residues and K2(u, v) = g(u)·g(v), g(u) = 1 − δ for no residue
 * and δ (1 − ε) ε^(n − 1) for n of them. All is divided by background probabilities. With B(i, j) the sum over the
 * beginnings of lengths i and j, without 1 − γ, T = B / (1 − δ)², o = δ (1 − ε) / (1 − δ) and
 * E = γ (1 − δ)² K1 / (q(x_i) q(y_j)),
 *
 *     M(i, j) = E(x_i, y_j)·T(i − 1, j − 1),   X(i, j) = M(i − 1, j) + ε·X(i − 1, j),
 *     A = M + o·X,   Y(i, j) = A(i, j − 1) + ε·Y(i, j − 1),   T = A + o·Y,
 *
 * where M(0, 0) = 1: after each pair come residues of x, then residues of y.
 *
 * A tile, the columns of a strip by some rows, shares a power of two in each lane, that of the largest T it begins
 * with; pair_factors.py finds how many rows it may have so that nothing overflows, and nothing is lost that matters. */
#ifndef SEQKERN_PAIR_HMM_H
#define SEQKERN_PAIR_HMM_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "_records.h"
#include "_simd.h"
#include "_subnormals.h"

typedef struct {
    int letters;         /* codes 0 … letters − 1, the masked one included; `letters` itself is behind an end */
    int rows;            /* of a tile; 0 for logarithms */
    const double *match; /* (letters, letters + 1): E of a row's and a lane's code; 0 behind an end */
    const double *score; /* (letters, letters): ln E */
    double open, extend; /* o, ε */
} pair_hmm;

enum { NEVER = -(1 << 30) }; /* the power of two of zero */

/* 2^d for d up to 1022; 0 if that is too small. */
ALWAYS_INLINE double two_to(int64_t d)
{
    const int64_t bits = d < -1022 ? 0 : (d > 1023 ? 2046 : d + 1023) << 52;
    double result;
    memcpy(&result, &bits, sizeof result);
    return result;
}

/* The power of two of v, 0 or more; NEVER for 0. */
ALWAYS_INLINE int64_t power_of(double v)
{
    int64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return v > 0 ? (bits >> 52) - 1023 : NEVER;
}

/* Set *value and *power to o·ε^k, 1 ≤ *value < 2. */
static void gap_of(const pair_hmm *f, ptrdiff_t k, double *value, int64_t *power)
{
    const double digits = log2(f->open) + (double)k * log2(f->extend), whole = floor(digits);
    *value = exp2(digits - whole);
    *power = (int64_t)whole;
}

/* ln(e^a + e^b); either may be −∞. */
static inline double sum_of_logs(double a, double b)
{
    const double high = a > b ? a : b, low = a > b ? b : a;
    return low == -INFINITY ? high : high + log1p(exp(low - high));
}

/* ln T of all of x and y, in logarithms. `state` has room for 3 (m + 1) numbers. */
static double pair_logarithm(const pair_hmm *f, const uint8_t *x, ptrdiff_t n, const uint8_t *y, ptrdiff_t m,
                             double *state)
{
    const double open = log(f->open), extend = log(f->extend);
    double *M = state, *X = state + m + 1, *T = state + 2 * (m + 1);
    for (ptrdiff_t i = 0; i <= n; ++i) {
        double Y = -INFINITY, corner = -INFINITY;
        for (ptrdiff_t j = 0; j <= m; ++j) {
            X[j] = i ? sum_of_logs(M[j], X[j] == -INFINITY ? X[j] : X[j] + extend) : -INFINITY;
            M[j] = i && j ? f->score[x[i - 1] * f->letters + y[j - 1]] + corner : i || j ? -INFINITY : 0;
            corner = T[j];
            const double A = sum_of_logs(M[j], X[j] == -INFINITY ? X[j] : X[j] + open);
            T[j] = sum_of_logs(A, Y == -INFINITY ? Y : Y + open);
            Y = sum_of_logs(A, Y == -INFINITY ? Y : Y + extend);
        }
    }
    return T[m];
}

/* As fill_pairs, in logarithms. */
static int fill_pair_logarithms(const pair_hmm *f, const records *rows, const int64_t *stop, const records *lanes,
                                double *out, ptrdiff_t row_step, ptrdiff_t lane_step)
{
    double *state = malloc(sizeof(double) * 3 * (longest_record(lanes) + 1));
    if (!state)
        return -1;
    for (ptrdiff_t r = 0; r < rows->n; ++r)
        for (ptrdiff_t k = 0; k < stop[r]; ++k)
            out[rows->order[r] * row_step + lanes->order[k] * lane_step] =
                pair_logarithm(f, record_codes(rows, r), record_length(rows, r), record_codes(lanes, k),
                               record_length(lanes, k), state);
    free(state);
    return 0;
}

#if defined(__GNUC__)
#define UNROLLED _Pragma("GCC unroll 8")
#else
#define UNROLLED
#endif

#ifdef SEQKERN_X86
#define AVX2_FMA __attribute__((target("avx2,fma")))
typedef double double8 __attribute__((vector_size(64)));
typedef double double4 __attribute__((vector_size(32)));

#define NAME(name) name##_avx512
#define TARGET AVX512
#define VECTOR double8
#define LANES 8
#define COLUMNS 8
#define FMA(a, b, c) ((VECTOR)_mm512_fmadd_pd((__m512d)(a), (__m512d)(b), (__m512d)(c)))
#define MAXIMUM(a, b) ((VECTOR)_mm512_max_pd((__m512d)(a), (__m512d)(b)))
#include "_pair_hmm_lanes.h"

#define NAME(name) name##_avx2
#define TARGET AVX2_FMA
#define VECTOR double4
#define LANES 4
#define COLUMNS 4
#define FMA(a, b, c) ((VECTOR)_mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c)))
#define MAXIMUM(a, b) ((VECTOR)_mm256_max_pd((__m256d)(a), (__m256d)(b)))
#include "_pair_hmm_lanes.h"
#endif

#define NAME(name) name##_plain
#define TARGET
#define VECTOR plain_doubles
#define LANES (PLAIN_BYTES ? PLAIN_BYTES / 8 : 1)
#define COLUMNS 4
#define FMA(a, b, c) ((a) * (b) + (c))
#include "_pair_hmm_lanes.h"

/* Set out[order[r] row_step + order[k] lane_step] to ln T of each row r and the lanes k = 0 … stop[r] − 1. Return 0,
 * or -1 without memory. */
static int fill_pairs(int level, const pair_hmm *f, const records *rows, const int64_t *stop, const records *lanes,
                      double *out, ptrdiff_t row_step, ptrdiff_t lane_step)
{
    int failed;
    if (f->rows == 0)
        return fill_pair_logarithms(f, rows, stop, lanes, out, row_step, lane_step);
    const float_mode before = flush_subnormals();
#ifdef SEQKERN_X86
    if (level == 2)
        failed = fill_pairs_avx512(f, rows, stop, lanes, out, row_step, lane_step);
    else if (level == 1 && __builtin_cpu_supports("fma"))
        failed = fill_pairs_avx2(f, rows, stop, lanes, out, row_step, lane_step);
    else
#endif
        failed = fill_pairs_plain(f, rows, stop, lanes, out, row_step, lane_step);
    (void)level;
    restore_subnormals(before);
    return failed;
}

#endif
