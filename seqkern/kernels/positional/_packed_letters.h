/* Letters packed into a few bits each, the first one in the lowest bits, and one bit for each that is masked.
 *
 * Buffers have PACKED_PAD bytes more than they need: words are read and written whole. */
#ifndef SEQKERN_PACKED_LETTERS_H
#define SEQKERN_PACKED_LETTERS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "_bits.h"

#define PACKED_PAD 16
#define WORD_BITS 57 /* of a word that begins at any bit of a byte, so many are sure to be there */

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define LOW_FIRST(word) __builtin_bswap64(word)
#else
#define LOW_FIRST(word) (word)
#endif

/* Return the bits from `bit` on, WORD_BITS of them at least. */
ALWAYS_INLINE uint64_t word_at(const uint8_t *bytes, uint64_t bit)
{
    uint64_t word;
    memcpy(&word, bytes + (bit >> 3), sizeof word);
    return LOW_FIRST(word) >> (bit & 7);
}

ALWAYS_INLINE uint64_t low_bits(int count)
{
    return ((uint64_t)1 << count) - 1;
}

/* Return how many of the first `most` letters of two words are the same, before the first that differs. */
ALWAYS_INLINE int common_letters(uint64_t a, uint64_t b, int bits, int most)
{
    uint64_t unlike = a ^ b;
    int same = unlike ? lowest_bit(unlike) / bits : most;
    return same < most ? same : most;
}

/* Return how many letters from `at` on, up to `most`, come before the first masked one. */
ALWAYS_INLINE ptrdiff_t unmasked_letters(const uint8_t *masked, int64_t at, ptrdiff_t most)
{
    for (ptrdiff_t done = 0; done < most; done += WORD_BITS) {
        uint64_t word = word_at(masked, (uint64_t)(at + done)) & low_bits(WORD_BITS);
        if (word) {
            ptrdiff_t found = done + lowest_bit(word);
            return found < most ? found : most;
        }
    }
    return most;
}

/* Pack eight letters (fewer at the end) at a time. Letters outside the alphabet are masked, and packed as 0. */
ALWAYS_INLINE int64_t pack_groups(const uint8_t *codes, ptrdiff_t n, int size, int bits, uint8_t *letters,
                                  uint8_t *masked)
{
    int64_t outside = 0;
    for (ptrdiff_t first = 0; first < n; first += 8) {
        uint8_t group[8] = {0};
        memcpy(group, codes + first, n - first < 8 ? (size_t)(n - first) : 8);
        uint64_t word = 0;
        unsigned mask = 0;
        for (int i = 0; i < 8; i++) {
            unsigned out = group[i] >= size;
            word |= (uint64_t)(out ? 0 : group[i]) << (bits * i);
            mask |= out << i;
        }
        word = LOW_FIRST(word);
        memcpy(letters + (first >> 3) * bits, &word, sizeof word);
        masked[first >> 3] = (uint8_t)mask;
        outside += mask ? count_bits(mask) : 0;
    }
    return outside;
}

/* Pack the codes of n letters, and return how many are masked. */
static int64_t pack_letters(const uint8_t *codes, ptrdiff_t n, int size, int bits, uint8_t *letters, uint8_t *masked)
{
    return bits == 2 ? pack_groups(codes, n, size, 2, letters, masked)
                     : pack_groups(codes, n, size, bits, letters, masked);
}

#endif
