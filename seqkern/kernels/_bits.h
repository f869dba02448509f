/* The lowest bit of a word, and how many there are. */
#ifndef SEQKERN_BITS_H
#define SEQKERN_BITS_H

#include <stdint.h>

#include "_simd.h"

/* Return the number of zeros below the lowest bit of a word that is not 0. */
ALWAYS_INLINE int lowest_bit(uint64_t word)
{
#if defined(__GNUC__)
    return __builtin_ctzll(word);
#else
    int bit = 0;
    while (!(word >> bit & 1))
        bit++;
    return bit;
#endif
}

ALWAYS_INLINE int count_bits(uint64_t word)
{
#if defined(__GNUC__)
    return __builtin_popcountll(word);
#else
    int bits = 0;
    for (; word; word &= word - 1)
        bits++;
    return bits;
#endif
}

#endif
