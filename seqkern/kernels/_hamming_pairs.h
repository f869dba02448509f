/* Comparing windows one by one, packed: one word for each bit of the letters' codes, whose bits are the positions. */
#ifndef SEQKERN_HAMMING_PAIRS_H
#define SEQKERN_HAMMING_PAIRS_H

#include <stddef.h>
#include <stdint.h>

#include "_simd.h"

/* distance[b] = in how many positions window `a` differs from each of n windows; words[p * step] is plane p. */
ALWAYS_INLINE void distances_body(const uint32_t *a, ptrdiff_t a_step, const uint32_t *b, ptrdiff_t b_step, int planes,
                                  ptrdiff_t n, uint8_t *distance)
{
    for (ptrdiff_t j = 0; j < n; ++j) {
        uint32_t x = 0;
        for (int p = 0; p < planes; ++p)
            x |= a[p * a_step] ^ b[p * b_step + j];
        x -= x >> 1 & 0x55555555u;
        x = (x & 0x33333333u) + (x >> 2 & 0x33333333u);
        x = (x + (x >> 4)) & 0x0f0f0f0fu;
        distance[j] = (uint8_t)(x * 0x01010101u >> 24);
    }
}

DEFINE_LEVELS(distances, distances_body,
              (const uint32_t *a, ptrdiff_t a_step, const uint32_t *b, ptrdiff_t b_step, int planes, ptrdiff_t n,
               uint8_t *distance),
              (a, a_step, b, b_step, planes, n, distance))

static inline void distances(int level, const uint32_t *a, ptrdiff_t a_step, const uint32_t *b, ptrdiff_t b_step,
                             int planes, ptrdiff_t n, uint8_t *distance)
{
    CALL_LEVEL(level, distances, a, a_step, b, b_step, planes, n, distance);
}

#endif
