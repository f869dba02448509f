/* The generic string kernel of two sequences: words at every pair of positions, compared letter by letter.
 *
 * With w(a, b) how alike two letters are, the word of l letters at i in x and the one at j in y are alike by the
 * product of w over their letters. All words that are compared with a fixed d = j − i lie on one diagonal, and what
 * they add is weighted by the tolerance of |d| alone. So a diagonal is summed first: at each of its cells, over the
 * words of 1 … L letters that end there,
 *
 *     U_L = w·(1 + U_{L−1} of the cell before), U_1 = w.
 *
 * Vector lanes are adjacent diagonals. Of a row's letter and of all lanes, w is one load from the *profile* of y: for
 * each letter its w with y_0, y_1, …, then zeros, so that lanes whose diagonal has ended add nothing. Diagonals on the
 * left of x_0, y_0 are those of y with the profile of x. So each diagonal is summed from its first cell on, whichever
 * sequence is the row, whatever the width of vectors: the sums have the same bits, and K(x, y) those of K(y, x).
 *
 * Of short sequences there are few diagonals. There lanes are the sequences of a *panel* of columns, whose profile has
 * for each letter its w with their letters at 0, at 1, …; the sums are the same, one diagonal after the other. */
#ifndef SEQKERN_GENERIC_STRING_H
#define SEQKERN_GENERIC_STRING_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "_simd.h"

/* PADDING: zeros after a profile's row. SUMS: in which the diagonals are added up. CHAINED: the longest words for which
 * U_1 … U_L are kept side by side. GROUP: rows whose profiles are kept at once, if they fit PROFILE_NUMBERS. PANEL:
 * columns in the lanes of a panel, if none is longer than SHORT. */
enum { PADDING = 32, SUMS = 8, CHAINED = 6, GROUP = 32, PROFILE_NUMBERS = 1 << 17, PANEL = 8, SHORT = 64 };

#define ADD_UP(a, b, c, d, e, f, g, h) ((((a) + (e)) + ((c) + (g))) + (((b) + (f)) + ((d) + (h))))

/* letters: those of the alphabet and the masked one, the last, whose w are 0. tolerance: of distances 0 … reach − 1,
 * all that are not 0, then SUMS zeros. */
typedef struct {
    ptrdiff_t longest;
    ptrdiff_t letters;
    const double *weight;
    const double *tolerance;
    ptrdiff_t reach;
} generic_rule;

typedef struct {
    const uint8_t *codes;
    const int64_t *start;
    const int64_t *stop;
    ptrdiff_t n;
} generic_records;

#if defined(__GNUC__)
#define UNROLLED _Pragma("GCC unroll 8")
#else
#define UNROLLED
#endif

#ifdef SEQKERN_X86
#define NAME(name) name##_avx512
#define TARGET AVX512
#define BYTES 64
#include "_generic_string_lanes.h"

#define NAME(name) name##_avx2
#define TARGET AVX2
#define BYTES 32
#include "_generic_string_lanes.h"
#endif

#define NAME(name) name##_plain
#define TARGET
#if defined(__GNUC__)
#define BYTES 16
#else
#define BYTES 0
#endif
#include "_generic_string_lanes.h"

static inline ptrdiff_t generic_length(const generic_records *r, ptrdiff_t i)
{
    return (ptrdiff_t)(r->stop[i] - r->start[i]);
}

static inline ptrdiff_t longest_record(const generic_records *r)
{
    ptrdiff_t longest = 0;
    for (ptrdiff_t i = 0; i < r->n; ++i)
        if (generic_length(r, i) > longest)
            longest = generic_length(r, i);
    return longest;
}

static inline ptrdiff_t profile_size(const generic_rule *rule, ptrdiff_t length)
{
    return rule->letters * (length + PADDING);
}

/* Write the profile of y, (letters, m + PADDING). */
static void make_profile(const generic_rule *rule, const uint8_t *y, ptrdiff_t m, double *profile)
{
    for (ptrdiff_t a = 0; a < rule->letters; ++a) {
        const double *weight = rule->weight + a * rule->letters;
        for (ptrdiff_t j = 0; j < m; ++j)
            profile[j] = weight[y[j]];
        memset(profile + m, 0, PADDING * sizeof(double));
        profile += m + PADDING;
    }
}

/* Return the sum over all diagonals: right[d] from the main one on, left[d] from the one beside it. */
static double sum_of_diagonals(const generic_rule *rule, const double *right, const double *left, ptrdiff_t count)
{
    double sums[SUMS] = {0};
    for (ptrdiff_t d = 0; d < count; d += SUMS)
        for (int c = 0; c < SUMS; ++c)
            sums[c] += rule->tolerance[d + c] * (right[d + c] + left[d + c]);
    return ADD_UP(sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], sums[6], sums[7]);
}

/* Numbers that `generic_pair` needs room for: the sums of diagonals on both sides, and of a block of words. */
static inline ptrdiff_t room_of_pair(const generic_rule *rule, ptrdiff_t longest)
{
    return 2 * (longest + 2 * PADDING) + (rule->longest < longest ? rule->longest : longest) * PADDING;
}

/* Return K(x, y); `px` and `py` are the profiles, `room` is as `room_of_pair` says. y is NULL for K(x, x). */
static double generic_pair(int level, const generic_rule *rule, const uint8_t *x, ptrdiff_t n, const double *px,
                           const uint8_t *y, ptrdiff_t m, const double *py, double *room)
{
    const ptrdiff_t longest = n > m ? n : m, count = longest < rule->reach ? longest : rule->reach;
    double *right = room, *left = right + longest + 2 * PADDING, *block = left + longest + 2 * PADDING;
    memset(right, 0, sizeof(double) * (count + SUMS));
    memset(left, 0, sizeof(double) * (count + SUMS));
    CALL_LEVEL(level, sum_diagonals, rule, x, n, py, m + PADDING, m, count, right, block);
    if (y)
        CALL_LEVEL(level, sum_diagonals, rule, y, m, px + 1, n + PADDING, n - 1, count - 1, left + 1, block);
    else
        memcpy(left + 1, right + 1, sizeof(double) * (count - 1));
    return sum_of_diagonals(rule, right, left, count);
}

/* Write the profile of the columns j … j + PANEL − 1, (letters, m, PANEL), with zeros after the end of each. */
static void make_panel(const generic_rule *rule, const generic_records *cols, ptrdiff_t j, ptrdiff_t m, double *profile)
{
    memset(profile, 0, sizeof(double) * rule->letters * m * PANEL);
    for (int c = 0; c < PANEL && j + c < cols->n; ++c) {
        const uint8_t *y = cols->codes + cols->start[j + c];
        for (ptrdiff_t p = 0; p < generic_length(cols, j + c); ++p)
            for (ptrdiff_t a = 0; a < rule->letters; ++a)
                profile[(a * m + p) * PANEL + c] = rule->weight[a * rule->letters + y[p]];
    }
}

/* Where a thread works: `room` as `room_of_pair` says, the profiles of a column or a panel, and of a group of rows. */
typedef struct {
    double *room, *column, *group;
    ptrdiff_t group_size;
} generic_space;

/* Fill the columns of a panel from j on, whose longest has m letters. */
static void fill_panel(int level, const generic_rule *rule, const generic_records *rows, const generic_records *cols,
                       ptrdiff_t j, ptrdiff_t m, int upper, const generic_space *space, double *out, ptrdiff_t step)
{
    const ptrdiff_t columns = cols->n - j < PANEL ? cols->n - j : PANEL;
    double values[PANEL];
    make_panel(rule, cols, j, m, space->column);
    for (ptrdiff_t i = 0; i < rows->n && (!upper || i < j + columns); ++i) {
        const ptrdiff_t n = generic_length(rows, i), longest = n > m ? n : m;
        const ptrdiff_t count = longest < rule->reach ? longest : rule->reach;
        CALL_LEVEL(level, sum_panel, rule, rows->codes + rows->start[i], n, space->column, m, count, space->room,
                   values);
        for (ptrdiff_t c = upper && i > j ? i - j : 0; c < columns; ++c)
            out[i * step + j + c] = values[c];
    }
}

/* Fill the columns j … end − 1 by pairs. */
static void fill_pairs(int level, const generic_rule *rule, const generic_records *rows, const generic_records *cols,
                       ptrdiff_t j, ptrdiff_t end, int upper, const generic_space *space, double *out, ptrdiff_t step)
{
    for (ptrdiff_t first = 0, last; first < rows->n; first = last) {
        const double *px[GROUP];
        double *next = space->group;
        for (last = first; last < rows->n && last - first < GROUP; ++last) {
            const ptrdiff_t n = generic_length(rows, last);
            if (last > first && next - space->group + profile_size(rule, n) > space->group_size)
                break;
            make_profile(rule, rows->codes + rows->start[last], n, next);
            px[last - first] = next;
            next += profile_size(rule, n);
        }
        for (ptrdiff_t k = upper && first > j ? first : j; k < end; ++k) {
            const uint8_t *y = cols->codes + cols->start[k];
            const ptrdiff_t m = generic_length(cols, k);
            make_profile(rule, y, m, space->column);
            for (ptrdiff_t i = first; i < last && (!upper || i <= k); ++i) {
                const ptrdiff_t n = generic_length(rows, i);
                const uint8_t *x = rows->codes + rows->start[i];
                out[i * step + k] =
                    n && m ? generic_pair(level, rule, x, n, px[i - first], y, m, space->column, space->room) : 0;
            }
        }
    }
}

/* Return the letters of the longest of the columns j … j + PANEL − 1. */
static ptrdiff_t panel_length(const generic_records *cols, ptrdiff_t j)
{
    generic_records some = *cols;
    some.start += j;
    some.stop += j;
    some.n = cols->n - j < PANEL ? cols->n - j : PANEL;
    return longest_record(&some);
}

/* out[i, j] = K(row i, column j). With `upper` the rows are the first columns, and that square is computed once.
 * Returns whether there was too little memory. */
static int generic_block(int level, const generic_rule *rule, const generic_records *rows,
                         const generic_records *cols, int upper, double *out, ptrdiff_t step)
{
    const ptrdiff_t wide = longest_record(cols), tall = longest_record(rows), both = wide > tall ? wide : tall;
    const ptrdiff_t panel = rule->letters * SHORT * PANEL, room = room_of_pair(rule, both);
    const ptrdiff_t column = profile_size(rule, wide) > panel ? profile_size(rule, wide) : panel;
    generic_space space = {0};
    space.group_size = profile_size(rule, tall) > PROFILE_NUMBERS ? profile_size(rule, tall) : PROFILE_NUMBERS;
    space.room = malloc(sizeof(double) * (room + column + space.group_size));
    if (!space.room)
        return 1;
    space.column = space.room + room;
    space.group = space.column + column;
    for (ptrdiff_t j = 0, end; j < cols->n; j = end) {
        const ptrdiff_t m = panel_length(cols, j);
        end = j + PANEL;
        if (m <= SHORT) {
            fill_panel(level, rule, rows, cols, j, m, upper, &space, out, step);
            continue;
        }
        while (end < cols->n && panel_length(cols, end) > SHORT)
            end += PANEL;
        fill_pairs(level, rule, rows, cols, j, end < cols->n ? end : cols->n, upper, &space, out, step);
    }
    if (upper)
        for (ptrdiff_t i = 0; i < rows->n; ++i)
            for (ptrdiff_t j = 0; j < i; ++j)
                out[i * step + j] = out[j * step + i];
    free(space.room);
    return 0;
}

/* out[i] = K(record i, itself). Returns whether there was too little memory. */
static int generic_diagonal(int level, const generic_rule *rule, const generic_records *all, double *out)
{
    const ptrdiff_t longest = longest_record(all);
    double *room = malloc(sizeof(double) * (room_of_pair(rule, longest) + profile_size(rule, longest)));
    if (!room)
        return 1;
    double *profile = room + room_of_pair(rule, longest);
    for (ptrdiff_t i = 0; i < all->n; ++i) {
        const uint8_t *x = all->codes + all->start[i];
        const ptrdiff_t n = generic_length(all, i);
        make_profile(rule, x, n, profile);
        out[i] = n ? generic_pair(level, rule, x, n, NULL, NULL, n, profile, room) : 0;
    }
    free(room);
    return 0;
}

/* Add factor times what pairs of words add to K(x, y), shared equally by the letters of x's word, to shares[0 .. n).
 * `terms` has room for `longest` numbers: of the words of 1, 2, … letters that end at a cell. */
static void generic_shares(const generic_rule *rule, const uint8_t *x, ptrdiff_t n, const uint8_t *y, ptrdiff_t m,
                           double factor, double *terms, double *shares)
{
    for (ptrdiff_t d = 1 - n; d < m; ++d) {
        const ptrdiff_t far = d < 0 ? -d : d, from = d < 0 ? -d : 0, to = n < m - d ? n : m - d;
        if (far >= rule->reach)
            continue;
        for (ptrdiff_t i = from; i < to; ++i) {
            const double w = rule->weight[x[i] * rule->letters + y[i + d]];
            const ptrdiff_t most = i - from + 1 < rule->longest ? i - from + 1 : rule->longest;
            for (ptrdiff_t l = most; l > 1; --l)
                terms[l - 1] = terms[l - 2] * w;
            terms[0] = w;
            double longer = 0;
            for (ptrdiff_t l = most; l > 0; --l) {
                longer += terms[l - 1] / (double)l;
                shares[i - l + 1] += factor * rule->tolerance[far] * longer;
            }
        }
    }
}

#endif
