/* Many patterns at once, bit-parallel (Shift-And; with letters that may be left out: Navarro and Raffinot 2001).
 *
 * Sequences are read from their last letter to the first, and so are patterns: a match is complete at the letter where
 * it begins, and however many ends it may have, it counts once. Each place of a pattern is a bit of a word of 64; bit i
 * of the state says that the letters read last match the places up to i. For a letter,
 *
 *     state = (state << 1 | first) & takes[letter]
 *
 * and after that, for places that may be left out (a *block* of them, between the place before it and its last one),
 *
 *     filled = state | block_end;  state |= optional & ~((filled - block_start) ^ filled)
 *
 * A pattern of at most 64 places is in one word, with others; LANES words are a *group*, scanned together in vector
 * registers. A longer pattern is a *chain* of words with carries. */
#ifndef SEQKERN_PATTERNS_H
#define SEQKERN_PATTERNS_H

#include <string.h>

#include "_bits.h"
#include "_hits.h"
#include "_simd.h"

enum { LANES = 16 };

/* What is known of one group, or one chain, of `words` words; each array has `words` of them. */
typedef struct {
    const uint64_t *takes;       /* (letters + 1, words) */
    const uint64_t *first;       /* places where a match may begin to be read, anywhere */
    const uint64_t *at_end;      /* and at the last letter of the sequence */
    const uint64_t *last;        /* places that complete a match, anywhere */
    const uint64_t *at_start;    /* and at the first letter of the sequence */
    const uint64_t *optional;
    const uint64_t *block_start; /* the places before blocks */
    const uint64_t *block_end;   /* the last places of blocks */
    const int32_t *owner;        /* (words, 64): the motif of each place */
    ptrdiff_t words;
    int gaps;                    /* whether there are optional places */
} pattern_bank;

static void add_matches(const pattern_bank *b, const uint64_t *state, const uint64_t *last, ptrdiff_t i, hit_list *hits)
{
    for (ptrdiff_t w = 0; w < b->words; ++w)
        for (uint64_t found = state[w] & last[w]; found; found &= found - 1)
            add_hit(hits, b->owner[64 * w + lowest_bit(found)], i);
}

#if defined(__GNUC__)
typedef uint64_t pattern_words __attribute__((vector_size(32), aligned(8), may_alias));
#else
typedef uint64_t pattern_words;
#endif
enum { PATTERN_VECTORS = LANES * sizeof(uint64_t) / sizeof(pattern_words) };

ALWAYS_INLINE int any_bit(pattern_words found)
{
    uint64_t words[sizeof(pattern_words) / sizeof(uint64_t)], all = 0;
    memcpy(words, &found, sizeof words);
    for (size_t w = 0; w < sizeof(pattern_words) / sizeof(uint64_t); ++w)
        all |= words[w];
    return all != 0;
}

/* Read one letter of the sequence; return whether a match is complete. */
ALWAYS_INLINE int read_letter(const pattern_bank *b, int gaps, uint8_t code, const pattern_words *first,
                              const pattern_words *last, pattern_words *state)
{
    const pattern_words *takes = (const pattern_words *)b->takes + (ptrdiff_t)code * PATTERN_VECTORS;
    const pattern_words *optional = (const pattern_words *)b->optional;
    const pattern_words *start = (const pattern_words *)b->block_start, *end = (const pattern_words *)b->block_end;
    pattern_words found = state[0] ^ state[0];
    for (int v = 0; v < PATTERN_VECTORS; ++v) {
        pattern_words next = (state[v] << 1 | first[v]) & takes[v];
        if (gaps) {
            const pattern_words filled = next | end[v];
            next |= optional[v] & ~((filled - start[v]) ^ filled);
        }
        state[v] = next;
        found |= next & last[v];
    }
    return any_bit(found);
}

ALWAYS_INLINE void scan_group(const pattern_bank *b, int gaps, const uint8_t *codes, ptrdiff_t n, hit_list *hits)
{
    pattern_words state[PATTERN_VECTORS];
    memset(state, 0, sizeof state);
    const pattern_words *first = (const pattern_words *)b->first, *last = (const pattern_words *)b->last;
    const pattern_words *at_end = (const pattern_words *)b->at_end, *at_start = (const pattern_words *)b->at_start;
    for (ptrdiff_t i = n - 1; i >= 0; --i)
        if (read_letter(b, gaps, codes[i], i == n - 1 ? at_end : first, i == 0 ? at_start : last, state))
            add_matches(b, (const uint64_t *)state, i == 0 ? b->at_start : b->last, i, hits);
}

ALWAYS_INLINE void scan_groups_body(const pattern_bank *banks, ptrdiff_t count, const uint8_t *codes, ptrdiff_t n,
                                    hit_list *hits)
{
    for (ptrdiff_t g = 0; g < count; ++g)
        if (banks[g].gaps)
            scan_group(banks + g, 1, codes, n, hits);
        else
            scan_group(banks + g, 0, codes, n, hits);
}

DEFINE_LEVELS(scan_groups, scan_groups_body,
              (const pattern_bank *banks, ptrdiff_t count, const uint8_t *codes, ptrdiff_t n, hit_list *hits),
              (banks, count, codes, n, hits))

static void scan_pattern_groups(int level, const pattern_bank *banks, ptrdiff_t count, const uint8_t *codes,
                                ptrdiff_t n, hit_list *hits)
{
    CALL_LEVEL(level, scan_groups, banks, count, codes, n, hits);
}

/* Scan for a pattern of more than 64 places; `state` is memory for its words. */
static void scan_chain(const pattern_bank *b, const uint8_t *codes, ptrdiff_t n, uint64_t *state, hit_list *hits)
{
    for (ptrdiff_t w = 0; w < b->words; ++w)
        state[w] = 0;
    for (ptrdiff_t i = n - 1; i >= 0; --i) {
        const uint64_t *takes = b->takes + (ptrdiff_t)codes[i] * b->words, *first = i == n - 1 ? b->at_end : b->first;
        const uint64_t *last = i == 0 ? b->at_start : b->last;
        uint64_t carry = 0, borrow = 0, found = 0;
        for (ptrdiff_t w = 0; w < b->words; ++w) {
            uint64_t next = (state[w] << 1 | carry | first[w]) & takes[w];
            carry = state[w] >> 63;
            if (b->gaps) {
                const uint64_t filled = next | b->block_end[w];
                const uint64_t rest = filled - b->block_start[w] - borrow;
                borrow = filled < b->block_start[w] || (borrow && filled == b->block_start[w]);
                next |= b->optional[w] & ~(rest ^ filled);
            }
            state[w] = next;
            found |= next & last[w];
        }
        if (found)
            add_matches(b, state, last, i, hits);
    }
}

#endif
