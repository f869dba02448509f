/* Counts of l-mers of DNA into their Walsh-Hadamard transforms, for 16 records at a time: table[l-mer][record].
 *
 * No number becomes larger than the l-mers of the record, and additions of 16 bits are exact. */
#ifndef SEQKERN_HADAMARD_H
#define SEQKERN_HADAMARD_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "_panel.h"
#include "_simd.h"

#if defined(__GNUC__)
typedef int16_t hadamard_lanes __attribute__((vector_size(2 * PANEL)));
#else
typedef int16_t hadamard_lanes;
#endif

/* The stages of one letter, whose values are `place` numbers apart. */
ALWAYS_INLINE void hadamard_letter(int16_t *table, ptrdiff_t length, ptrdiff_t place)
{
    const ptrdiff_t lanes = (ptrdiff_t)(sizeof(hadamard_lanes) / sizeof(int16_t));
    for (ptrdiff_t first = 0; first < length; first += 4 * place)
        for (ptrdiff_t u = first; u < first + place; u += lanes) {
            hadamard_lanes a, c, g, t, sum, difference;
            memcpy(&a, table + u, sizeof a);
            memcpy(&c, table + u + place, sizeof c);
            memcpy(&g, table + u + 2 * place, sizeof g);
            memcpy(&t, table + u + 3 * place, sizeof t);
            sum = a + c + g + t;
            memcpy(table + u, &sum, sizeof sum);
            difference = a - c + g - t;
            memcpy(table + u + place, &difference, sizeof difference);
            difference = a + c - g - t;
            memcpy(table + u + 2 * place, &difference, sizeof difference);
            difference = a - c - g + t;
            memcpy(table + u + 3 * place, &difference, sizeof difference);
        }
}

ALWAYS_INLINE void hadamard_body(int16_t *table, ptrdiff_t length)
{
    for (ptrdiff_t place = PANEL; place < length; place *= 4)
        hadamard_letter(table, length, place);
}

DEFINE_LEVELS(hadamard_at, hadamard_body, (int16_t *table, ptrdiff_t length), (table, length))

/* Transform the `length` / 16 = 4^l counts of each record, in place. */
static void hadamard(int level, int16_t *table, ptrdiff_t length)
{
    CALL_LEVEL(level, hadamard_at, table, length);
}

/* Copy the numbers of the features `order` to `chosen`, the last `halved` of them divided by two. */
static void choose(const int16_t *restrict table, const int32_t *order, ptrdiff_t n, ptrdiff_t halved,
                   int16_t *restrict chosen)
{
    for (ptrdiff_t i = 0; i < n; ++i, chosen += PANEL) {
        const int16_t *numbers = table + (ptrdiff_t)order[i] * PANEL;
        if (i < n - halved)
            memcpy(chosen, numbers, PANEL * sizeof *numbers);
        else
            for (int r = 0; r < PANEL; ++r)
                chosen[r] = (int16_t)(numbers[r] / 2);
    }
}

#endif
