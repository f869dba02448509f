/* Counting the pairs of windows of each record with itself by their Hamming distance, many records at once.
 *
 * Each lane is a record. The letters of a position are bit planes over the lanes; two windows of a record are on the
 * diagonal of their shift, on which letter p meets letter p + shift, or on the other strand the complement of letter
 * sum − p. The masks of the matches along one diagonal are made first; `_hamming_diagonals.h` then walks along it. */
#ifndef SEQKERN_HAMMING_OWN_H
#define SEQKERN_HAMMING_OWN_H

#include "_hamming.h"

/* Records side by side; vectors of `words` 64-bit words each. */
typedef struct {
    const uint64_t *letters; /* [bit][position] */
    const uint64_t *other;   /* of the complements; NULL if one strand counts */
    const uint64_t *valid;   /* [window] */
    uint64_t *match, *both;  /* scratch for one diagonal, one vector more than there are positions */
    const ptrdiff_t *places; /* the byte of each position in `match` */
    ptrdiff_t windows;       /* of the longest */
    ptrdiff_t positions;
    ptrdiff_t length;
    int bits; /* of a letter */
    int words;
} own_block;

ALWAYS_INLINE void equal_words(const own_block *own, const uint64_t *theirs, ptrdiff_t first, ptrdiff_t partner,
                               ptrdiff_t step, ptrdiff_t count, const ptrdiff_t words)
{
    const ptrdiff_t plane = own->positions * words;
    const uint64_t *a = own->letters + first * words, *b = theirs + partner * words;
    uint64_t *match = own->match;
    for (ptrdiff_t p = 0; p < count; p++, a += words, b += step * words, match += words)
        for (ptrdiff_t w = 0; w < words; w++) {
            uint64_t differ = 0;
            for (int bit = 0; bit < own->bits; bit++)
                differ |= a[bit * plane + w] ^ b[bit * plane + w];
            match[w] = ~differ;
        }
    memset(match, 0, (size_t)words * sizeof(uint64_t));
}

ALWAYS_INLINE void both_words(const own_block *own, ptrdiff_t first, ptrdiff_t partner, ptrdiff_t step,
                              ptrdiff_t count, const ptrdiff_t words)
{
    const uint64_t *a = own->valid + first * words, *b = own->valid + partner * words;
    uint64_t *both = own->both;
    for (ptrdiff_t p = 0; p < count; p++, a += words, b += step * words, both += words)
        for (ptrdiff_t w = 0; w < words; w++)
            both[w] = a[w] & b[w];
}

/* Make the masks of `count` pairs of windows: first + i with partner + step · i. */
ALWAYS_INLINE void diagonal_masks(const own_block *own, const uint64_t *theirs, ptrdiff_t first, ptrdiff_t partner,
                                  ptrdiff_t step, ptrdiff_t count)
{
    const ptrdiff_t letters = count + own->length - 1, end = step < 0 ? partner + own->length - 1 : partner;
    if (own->words == 8) { /* constants: vectors */
        equal_words(own, theirs, first, end, step, letters, 8);
        both_words(own, first, partner, step, count, 8);
    } else if (own->words == 4) {
        equal_words(own, theirs, first, end, step, letters, 4);
        both_words(own, first, partner, step, count, 4);
    } else {
        equal_words(own, theirs, first, end, step, letters, own->words);
        both_words(own, first, partner, step, count, own->words);
    }
}

DEFINE_LEVELS(diagonal_masks_at, diagonal_masks,
              (const own_block *own, const uint64_t *theirs, ptrdiff_t first, ptrdiff_t partner, ptrdiff_t step,
               ptrdiff_t count),
              (own, theirs, first, partner, step, count))

static void walk_own(int level, const own_block *own, const uint64_t *theirs, ptrdiff_t first, ptrdiff_t partner,
                     ptrdiff_t step, ptrdiff_t count, stretch_function walk, int offset, lane_counts *counts)
{
    lane_block block = {own->match, own->both, count + own->length - 1, count, 1};
    if (count <= 0)
        return;
    CALL_LEVEL(level, diagonal_masks_at, own, theirs, first, partner, step, count);
    walk(&block, own->places, count, own->length, offset, counts);
}

/* Count the pairs of different windows of each record: those that count `twice`, in either order, and those on the
 * other strand that count `once`, of a window and its own reverse complement. */
static inline void count_own(int level, const own_block *own, stretch_function walk, int offset, lane_counts *twice,
                             lane_counts *once)
{
    const ptrdiff_t n = own->windows;
    for (ptrdiff_t shift = 1; shift < n; shift++)
        walk_own(level, own, own->letters, 0, shift, 1, n - shift, walk, offset, twice);
    for (ptrdiff_t sum = 0; own->other && sum < 2 * n - 1; sum++) {
        ptrdiff_t first = sum < n ? 0 : sum - n + 1, middle = (sum + 1) / 2;
        walk_own(level, own, own->other, first, sum - first, -1, middle - first, walk, offset, twice);
        if (sum % 2 == 0)
            walk_own(level, own, own->other, middle, middle, -1, 1, walk, offset, once);
    }
}

static inline void set_lane(uint64_t *vectors, ptrdiff_t position, int words, int lane)
{
    vectors[position * words + lane / 64] |= (uint64_t)1 << lane % 64;
}

/* Set the bits of one record in a block's zeroed vectors. */
static inline void fill_own(uint64_t *letters, uint64_t *other, uint64_t *valid, const own_block *own, int lane,
                            const uint8_t *codes, ptrdiff_t n, int size, const uint8_t *complement)
{
    ptrdiff_t run = 0;
    for (ptrdiff_t p = 0; p < n; p++) {
        run = codes[p] < size ? run + 1 : 0;
        if (!run)
            continue;
        for (int bit = 0; bit < own->bits; bit++) {
            if (codes[p] >> bit & 1)
                set_lane(letters, bit * own->positions + p, own->words, lane);
            if (other && complement[codes[p]] >> bit & 1)
                set_lane(other, bit * own->positions + p, own->words, lane);
        }
        if (run >= own->length)
            set_lane(valid, p - own->length + 1, own->words, lane);
    }
}

#endif
