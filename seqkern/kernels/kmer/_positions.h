/* Sums over pairs of occurrences of the same feature, each with a weight that depends on the distance of the two.
 *
 * Weights and their sums are fixed-point numbers, high · 2^-29 + low · 2^-59 with |low| <= 2^29. Sums of integers have
 * no order, so every way to walk through the pairs gives the same bits. Fewer than 2^34 weights of at most 1 are added:
 * neither part overflows. */
#ifndef SEQKERN_POSITIONS_H
#define SEQKERN_POSITIONS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    int64_t high, low;
} fixed_t;

static inline double as_double(fixed_t sum)
{
    return (double)sum.high * 0x1p-29 + (double)sum.low * 0x1p-59;
}

static inline void add_fixed(fixed_t *sum, const fixed_t *term)
{
    sum->high += term->high;
    sum->low += term->low;
}

/* Occurrences of features, by (feature, position). Those of feature f lie between bounds[f] and bounds[f + 1]. */
typedef struct {
    const int64_t *bounds;
    const int32_t *position;
    const int32_t *record;
} posting_lists;

/* Return the first place in position[low, high) that holds at least `least`. */
static inline int64_t first_position(const int32_t *position, int64_t low, int64_t high, int64_t least)
{
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (position[middle] < least)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Return the place where the occurrences less than `reach` before `position` start in the list of `feature`; `from` and
 * `last` are the place and the feature of the occurrence before, by (feature, position). */
static inline int64_t window_start(const posting_lists *lists, int32_t feature, int32_t position, int64_t reach,
                                   int64_t from, int32_t last)
{
    int64_t low = feature == last ? from : lists->bounds[feature];
    return first_position(lists->position, low, lists->bounds[feature + 1], (int64_t)position - reach + 1);
}

/* Add the weights of one row's n occurrences, by (feature, position), with the postings of the records first .. last to
 * sums[0 .. last - first). */
static void walk_positions(const int32_t *feature, const int32_t *position, int64_t n, const posting_lists *lists,
                           const fixed_t *weights, int64_t reach, ptrdiff_t first, ptrdiff_t last, fixed_t *sums)
{
    const uint32_t width = (uint32_t)(last - first);
    int64_t from = 0;
    for (int64_t s = 0; s < n; ++s) {
        const int32_t here = position[s];
        const int64_t end = lists->bounds[feature[s] + 1];
        from = window_start(lists, feature[s], here, reach, from, s ? feature[s - 1] : -1);
        for (int64_t q = from; q < end && lists->position[q] - (int64_t)here < reach; ++q) {
            uint32_t column = (uint32_t)(lists->record[q] - (int32_t)first);
            if (column < width) {
                int32_t distance = lists->position[q] - here;
                add_fixed(&sums[column], &weights[distance < 0 ? -distance : distance]);
            }
        }
    }
}

/* Fill table rows with one row's features smoothed over the positions 0 .. width: table[place[f] + q] is the sum of the
 * weights of its occurrences of f with position q. place[f] is 0 before, where a row of zeros is, and set for its
 * features; their rows come in turn. */
static void smooth_positions(const int32_t *feature, const int32_t *position, int64_t n, const fixed_t *weights,
                             int64_t reach, int64_t width, int32_t *place, fixed_t *table)
{
    int64_t at = 0;
    memset(table, 0, (size_t)width * sizeof(fixed_t));
    for (int64_t s = 0; s < n; ++s) {
        if (s == 0 || feature[s] != feature[s - 1]) {
            at += width;
            place[feature[s]] = (int32_t)at;
            memset(&table[at], 0, (size_t)width * sizeof(fixed_t));
        }
        int64_t here = position[s], low = here - reach + 1, high = here + reach;
        low = low < 0 ? 0 : low;
        high = high > width ? width : high;
        for (int64_t q = low; q < high && q < here; ++q)
            add_fixed(&table[at + q], &weights[here - q]);
        for (int64_t q = low > here ? low : here; q < high; ++q)
            add_fixed(&table[at + q], &weights[q - here]);
    }
}

/* Return the sum of what a smoothed row has at n occurrences. */
static fixed_t look_up(const int32_t *feature, const int32_t *position, int64_t n, const int32_t *place,
                       const fixed_t *table)
{
    fixed_t sum = {0, 0};
    for (int64_t s = 0; s < n; ++s)
        add_fixed(&sum, &table[place[feature[s]] + position[s]]);
    return sum;
}

/* Return the sum of the weights of all pairs of one row's own occurrences. */
static fixed_t square_positions(const int32_t *feature, const int32_t *position, int64_t n, const fixed_t *weights,
                                int64_t reach)
{
    fixed_t sum = {0, 0};
    if (reach == 0)
        return sum;
    for (int64_t s = 0; s < n; ++s)
        for (int64_t q = s + 1; q < n && feature[q] == feature[s] && position[q] - (int64_t)position[s] < reach; ++q)
            add_fixed(&sum, &weights[position[q] - position[s]]);
    sum.high = 2 * sum.high + n * weights[0].high;
    sum.low = 2 * sum.low + n * weights[0].low;
    return sum;
}

/* Return Σ weight × coefficient over the entries from `from` on that are less than `reach` from `position`. */
static double window_sum(const posting_lists *lists, const double *coefficients, const double *weights, int64_t reach,
                         int32_t position, int64_t from, int64_t end)
{
    double sum = 0;
    for (int64_t q = from; q < end && lists->position[q] - (int64_t)position < reach; ++q) {
        int32_t distance = lists->position[q] - position;
        sum += coefficients[q] * weights[distance < 0 ? -distance : distance];
    }
    return sum;
}

#endif
