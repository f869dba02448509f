/* The inner loops of the product engine: walking posting lists, and turning sums into kernel values.
 *
 * A posting is one 32-bit word, count << 16 | row: half the memory traffic of two arrays, and one load. Rows are
 * counted from the start of their column tile, so that 16 bits do and the tile's sums stay in the cache.
 */
#ifndef SEQKERN_PRODUCT_H
#define SEQKERN_PRODUCT_H

#include <stddef.h>
#include <stdint.h>

#include "_simd.h"

/* The rows as features (compressed rows) and the columns as posting lists.
 *
 * Entries start[i] .. start[i + 1] are row i's: its features, their counts and, where rows and columns are the same
 * set, the place of each in `postings` (own, else NULL). The list of feature f in column tile t lies between
 * bounds[t * n_features + f] and the next bound. */
typedef struct {
    const int64_t *start;
    const int32_t *feature;
    const int32_t *count;
    const int64_t *own;
    const int64_t *bounds;
    const uint32_t *postings;
    ptrdiff_t n_features;
    ptrdiff_t tile;
} posting_walk;

/* Return the first place in postings[low, high) whose row is at least `row`. */
static inline int64_t first_posting(const uint32_t *postings, int64_t low, int64_t high, ptrdiff_t row)
{
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if ((ptrdiff_t)(postings[middle] & 0xffff) < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Add weight × the products of row i with the columns first .. last to sums[0 .. last - first).
 *
 * With `upper`, rows and columns are one set and only the columns from i on are wanted: every list is entered at
 * the row's own posting. */
#define DEFINE_WALK(name, sum_t)                                                                                 \
    static void name(const posting_walk *w, ptrdiff_t i, ptrdiff_t first, ptrdiff_t last, int64_t weight, int upper, \
                     sum_t *sums)                                                                                \
    {                                                                                                            \
        const uint32_t *postings = w->postings;                                                                  \
        ptrdiff_t low = upper && i > first ? i : first;                                                          \
        for (ptrdiff_t t = low / w->tile; t * w->tile < last; ++t) {                                             \
            const int64_t *bounds = w->bounds + t * w->n_features;                                               \
            ptrdiff_t from = t * w->tile, shift = from - first;                                                  \
            int head = from < low, tail = last < from + w->tile, enter = head && upper && low == i;              \
            for (int64_t q = w->start[i]; q < w->start[i + 1]; ++q) {                                            \
                int64_t p = enter ? w->own[q] : bounds[w->feature[q]], end = bounds[w->feature[q] + 1];          \
                if (q + 4 < w->start[i + 1])                                                                     \
                    PREFETCH(postings + (enter ? w->own[q + 4] : bounds[w->feature[q + 4]]));                    \
                if (head && !enter)                                                                              \
                    p = first_posting(postings, p, end, low - from);                                             \
                if (tail)                                                                                        \
                    end = first_posting(postings, p, end, last - from);                                          \
                sum_t count = (sum_t)(weight * w->count[q]);                                                     \
                for (; p < end; ++p)                                                                             \
                    sums[(ptrdiff_t)(postings[p] & 0xffff) + shift] += count * (sum_t)(postings[p] >> 16);       \
            }                                                                                                    \
        }                                                                                                        \
    }

DEFINE_WALK(walk_int32, int32_t)
DEFINE_WALK(walk_int64, int64_t)

/* values = weight × sums, or values += weight × sums. */
#define DEFINE_STORE(name, sum_t)                                                                                \
    static void name(const sum_t *sums, double *values, ptrdiff_t n, double weight, int add)                     \
    {                                                                                                            \
        if (add)                                                                                                 \
            for (ptrdiff_t j = 0; j < n; ++j)                                                                    \
                values[j] += weight * (double)sums[j];                                                           \
        else                                                                                                     \
            for (ptrdiff_t j = 0; j < n; ++j)                                                                    \
                values[j] = weight * (double)sums[j];                                                            \
    }

DEFINE_STORE(store_int32, int32_t)
DEFINE_STORE(store_int64, int64_t)
DEFINE_STORE(store_double, double)

#endif
