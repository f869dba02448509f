/* Matches of a sequence with a panel of others, in windows around every position.
 *
 * A panel holds the letters of 32 sequences, position after position. Masked letters are 254 in a row and 255 in a
 * panel, as are the three letters after the last: they match nothing.
 *
 * A match of x_p counts `same` where y_p is the letter, and `shifted` for each of [x_p = y_{p+3}] and
 * [x_{p+3} = y_p]. The sum of a window of 2l + 1 positions with triangular weights is the second difference of a sum of
 * sums, whatever l is; it fits 16 bits, in which the sums of sums may wrap around. Other weights are summed one by one,
 * in double precision. */
#ifndef SEQKERN_LOCALITY_H
#define SEQKERN_LOCALITY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "_simd.h"

/* BUFFER_ROW: doubles for each position, of 8 values and twice 32 counts. */
enum { LANES = 32, FRONT = 2, SHIFT = 3, BUFFER_ROW = 24 };

/* weights: 2l + 1 of them, or NULL for triangular ones: l + 1 − |j|. narrow: every sum of powers fits 32 bits. */
typedef struct {
    ptrdiff_t length;
    ptrdiff_t reach;
    int first_power, second_power;
    int same, shifted;
    int narrow;
    const double *weights;
    double delta;
    double scale;
} locality_rule;

/* Return base^power by multiplications in one order. */
static inline double power_of(double base, int power)
{
    double result = 1;
    for (int e = 0; e < power; ++e)
        result *= base;
    return result;
}

#ifdef SEQKERN_X86
#define NAME(name) name##_avx512
#define TARGET AVX512
#define BYTES 64
#define WORDS_AT(address) ((words_avx512)_mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)(address))))
#define REALS_AT(address) \
    ((reals_avx512)_mm512_cvtepi32_pd(_mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)(address)))))
#include "_locality_lanes.h"

#define NAME(name) name##_avx2
#define TARGET AVX2
#define BYTES 32
#define WORDS_AT(address) ((words_avx2)_mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)(address))))
#define REALS_AT(address) \
    ((reals_avx2)_mm256_cvtepi32_pd(_mm_cvtepu16_epi32(_mm_loadl_epi64((const void *)(address)))))
#include "_locality_lanes.h"
#endif

#define NAME(name) name##_plain
#define TARGET
#if defined(__GNUC__)
#define BYTES 16
typedef uint16_t few_plain __attribute__((vector_size(8)));
static inline few_plain few_at(const uint16_t *address)
{
    few_plain v;
    memcpy(&v, address, sizeof(v));
    return v;
}
#define WORDS_AT(address) __builtin_convertvector(few_at(address), words_plain)
#define REALS_AT(address) (reals_plain){(address)[0], (address)[1]}
#else
#define BYTES 0
#define WORDS_AT(address) (*(address))
#define REALS_AT(address) (*(address))
#endif
#include "_locality_lanes.h"

/* out[0 .. last − first) = the kernel of x with the sequences first .. last of the panels. */
static void locality_row(int level, const uint16_t *x, const uint16_t *panels, const locality_rule *rule,
                         ptrdiff_t first, ptrdiff_t last, double *buffer, double *out)
{
    const ptrdiff_t step = (rule->length + SHIFT) * LANES;
    double sums[LANES];
    for (ptrdiff_t from = first / LANES * LANES; from < last; from += LANES) {
        CALL_LEVEL(level, sum_windows, x, panels + from / LANES * step, rule, buffer, sums);
        for (ptrdiff_t j = from < first ? first : from; j < last && j < from + LANES; ++j)
            out[j - first] = power_of(sums[j - from] / rule->scale, rule->second_power);
    }
}

/* Add coefficient · K(x, z), shared among the letters of x that match, to shares[0 .. length). Both are rows; `buffer`
 * has 2 · length places. A power of a sum is shared in proportion to its terms. */
static void locality_shares(const uint16_t *x, const uint16_t *z, const locality_rule *rule, double coefficient,
                            double *buffer, double *shares)
{
    const ptrdiff_t length = rule->length, reach = rule->reach;
    double *matches = buffer, *powers = buffer + length, total = 0;
    for (ptrdiff_t p = 0; p < length; ++p) {
        const int own = x[p] < 254, next = x[p + SHIFT] < 254;
        const double crossed = (own && x[p] == z[p + SHIFT]) + (next && x[p + SHIFT] == z[p]);
        matches[p] = (own && x[p] == z[p]) + rule->delta * crossed;
    }
    for (ptrdiff_t p = reach; p < length - reach; ++p) {
        double window = 0;
        for (ptrdiff_t j = -reach; j <= reach; ++j)
            window += rule->weights[j + reach] * matches[p + j];
        powers[p] = power_of(window, rule->first_power - 1);
        total += powers[p] * window;
    }
    const double factor = coefficient * power_of(total, rule->second_power - 1);
    for (ptrdiff_t p = 0; p < length; ++p) {
        const int own = x[p] < 254, next = x[p + SHIFT] < 254;
        ptrdiff_t low = p - reach < reach ? reach : p - reach;
        ptrdiff_t high = p + reach < length - reach ? p + reach : length - reach - 1;
        double slope = 0;
        for (ptrdiff_t q = low; q <= high; ++q)
            slope += rule->weights[p - q + reach] * powers[q];
        slope *= factor;
        shares[p] += slope * ((own && x[p] == z[p]) + rule->delta * (own && x[p] == z[p + SHIFT]));
        if (p + SHIFT < length)
            shares[p + SHIFT] += slope * rule->delta * (next && x[p + SHIFT] == z[p]);
    }
}

#endif
