/* A table over all l-mers of DNA times the matrix of a function of the Hamming distance.
 *
 * Its eigenvectors are products of the rows of a 4 × 4 Hadamard matrix, one for each letter: the transform is the fast
 * Walsh-Hadamard transform of the 2·l bits of an l-mer. Only additions in a fixed order, so that all levels of
 * instructions give the same bits. */
#ifndef SEQKERN_LMER_TRANSFORM_H
#define SEQKERN_LMER_TRANSFORM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "_simd.h"

enum {
    ROW_LETTERS = 7, /* a row of the table, 4^7 adjacent numbers, stays in the second-level cache */
    STRIP = 64,      /* columns that are transformed together */
    TILE_LETTERS = 3,
    TILE = 64, /* 4^TILE_LETTERS */
    MOST_LETTERS = 16,
};

static inline int odd_letters(uint32_t code)
{
    uint32_t present = (code | code >> 1) & 0x55555555u;
    int n = 0;
    for (; present; present &= present - 1)
        n++;
    return n;
}

static inline uint32_t other_strand(uint32_t code, int letters)
{
    uint32_t reverse = 0;
    for (int i = 0; i < letters; i++, code >>= 2)
        reverse = reverse << 2 | (3 - (code & 3));
    return reverse;
}

#define REAL double
#define TYPED(name) name##_double
#include "_lmer_transform_typed.h"
#undef REAL
#undef TYPED

#define REAL float
#define TYPED(name) name##_float
#include "_lmer_transform_typed.h"
#undef REAL
#undef TYPED

#endif
