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

/* Rows as compressed rows, columns as posting lists.
 *
 * Entries start[i] .. start[i + 1] are row i's: feature and count. The list of feature f in column tile t lies between
 * bounds[t * n_features + f] and the next bound. For one tile an entry's list need not be looked up: it starts at
 * `enter` and has `rest` postings. If rows and columns are the same set (`same`) that tile is the row's own, and the
 * list is entered at the row's own posting; else it is the first tile. */
typedef struct {
    const int64_t *start;
    const int32_t *feature;
    const int32_t *count;
    const int32_t *enter;
    const int32_t *rest;
    int same;
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

enum { AHEAD = 8, LARGEST_COUNT = 0xffff };

static inline int64_t postings_of(int32_t count)
{
    return ((int64_t)count + LARGEST_COUNT - 1) / LARGEST_COUNT;
}

/* Add to lengths[f] how many postings the entries of one row have in the list of feature f. */
static void count_postings(const int32_t *feature, const int32_t *count, int64_t n, int64_t *lengths)
{
    for (int64_t q = 0; q < n; ++q)
        lengths[feature[q]] += postings_of(count[q]);
}

/* Append the entries of one row to the lists of their features, of which the next places are cursor[f] and the ends
 * ends[f]; set enter[q] and rest[q] to the place in the list, and to the number of postings from there on. Lists lie
 * anywhere, so their places are fetched some entries ahead. */
static void append_postings(const int32_t *feature, const int32_t *count, int64_t n, uint32_t row, const int64_t *ends,
                            int64_t *cursor, uint32_t *postings, int32_t *enter, int32_t *rest)
{
    for (int64_t q = 0; q < n; ++q) {
        if (q + 2 * AHEAD < n)
            PREFETCH(&cursor[feature[q + 2 * AHEAD]]);
        if (q + AHEAD < n)
            PREFETCH(&postings[cursor[feature[q + AHEAD]]]);
        int64_t at = cursor[feature[q]];
        enter[q] = (int32_t)at;
        rest[q] = (int32_t)(ends[feature[q]] - at);
        int32_t left = count[q];
        for (; left > LARGEST_COUNT; left -= LARGEST_COUNT)
            postings[at++] = (uint32_t)LARGEST_COUNT << 16 | row;
        postings[at++] = (uint32_t)left << 16 | row;
        cursor[feature[q]] = at;
    }
}

/* Add weight × the products of row i with the columns first .. last to sums[0 .. last - first); with `upper` only with
 * those from column i on. Lists are short and lie anywhere, so they are fetched some entries ahead. */
#define DEFINE_WALK(name, sum_t)                                                                                 \
    static void name(const posting_walk *w, ptrdiff_t i, ptrdiff_t first, ptrdiff_t last, int64_t weight, int upper, \
                     sum_t *sums)                                                                                \
    {                                                                                                            \
        const uint32_t *postings = w->postings;                                                                  \
        const int64_t entries = w->start[i + 1];                                                                 \
        ptrdiff_t low = upper && i > first ? i : first;                                                          \
        for (ptrdiff_t t = low / w->tile; t * w->tile < last; ++t) {                                             \
            const int64_t *bounds = w->bounds + t * w->n_features;                                               \
            ptrdiff_t from = t * w->tile, shift = from - first;                                                  \
            int known = w->same ? low >= i && t == i / w->tile : t == 0;                                         \
            int head = from < low && !(known && w->same && low == i), tail = last < from + w->tile;              \
            for (int64_t q = w->start[i]; q < entries; ++q) {                                                    \
                int64_t p, end;                                                                                  \
                if (known) {                                                                                     \
                    p = w->enter[q];                                                                             \
                    end = p + w->rest[q];                                                                        \
                    int64_t next = w->enter[q + AHEAD < entries ? q + AHEAD : q];                                \
                    PREFETCH(postings + next);                                                                   \
                    PREFETCH(postings + next + 16);                                                              \
                } else {                                                                                         \
                    p = bounds[w->feature[q]];                                                                   \
                    end = bounds[w->feature[q] + 1];                                                             \
                }                                                                                                \
                if (head)                                                                                        \
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

/* values = weight × (sums / divisor), or values += that. The divisor leaves no remainder: so the division of doubles is
 * exact for sums of 32 bits, and vectorises; sums of 64 bits are divided as integers. */
#define DEFINE_STORE(name, sum_t, QUOTIENT)                                                                      \
    ALWAYS_INLINE void name##_body(const sum_t *sums, double *values, ptrdiff_t n, int64_t divisor,              \
                                   double weight, int add)                                                       \
    {                                                                                                            \
        if (add)                                                                                                 \
            for (ptrdiff_t j = 0; j < n; ++j)                                                                    \
                values[j] += weight * QUOTIENT(sums[j]);                                                         \
        else if (divisor != 1)                                                                                   \
            for (ptrdiff_t j = 0; j < n; ++j)                                                                    \
                values[j] = weight * QUOTIENT(sums[j]);                                                          \
        else                                                                                                     \
            for (ptrdiff_t j = 0; j < n; ++j)                                                                    \
                values[j] = weight * (double)sums[j];                                                            \
    }                                                                                                            \
    DEFINE_LEVELS(name, name##_body,                                                                             \
                  (const sum_t *sums, double *values, ptrdiff_t n, int64_t divisor, double weight, int add),     \
                  (sums, values, n, divisor, weight, add))                                                       \
    static void name(int level, const sum_t *sums, double *values, ptrdiff_t n, int64_t divisor, double weight,  \
                     int add)                                                                                    \
    {                                                                                                            \
        CALL_LEVEL(level, name, sums, values, n, divisor, weight, add);                                          \
    }

#define QUOTIENT_OF_DOUBLES(sum) ((double)(sum) / (double)divisor)
#define QUOTIENT_OF_INTEGERS(sum) ((double)((sum) / divisor))

DEFINE_STORE(store_int32, int32_t, QUOTIENT_OF_DOUBLES)
DEFINE_STORE(store_int64, int64_t, QUOTIENT_OF_INTEGERS)
DEFINE_STORE(store_double, double, QUOTIENT_OF_DOUBLES)

#endif
