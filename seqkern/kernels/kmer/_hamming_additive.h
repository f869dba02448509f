/* Sums over windows by Hamming distance: tables over all words, and diagonals of one sequence against many.
 *
 * All levels do the same additions in the same order. */
#ifndef SEQKERN_HAMMING_ADDITIVE_H
#define SEQKERN_HAMMING_ADDITIVE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "_simd.h"

#define LANES 64

/* Reflect along one position: with b letters, f_0 ← (f_0 + … + f_{b−1}) / √b, and the others lose what the first
 * one lost, times 1 / (√b − 1). This is orthogonal and its own inverse, and sends what is the same for every letter
 * to the first one. `inner` numbers lie between two letters, `outer` groups of size · inner follow each other. */
ALWAYS_INLINE void reflect_position(double *table, ptrdiff_t outer, ptrdiff_t inner, ptrdiff_t size, double root,
                                    double share)
{
    for (ptrdiff_t group = 0; group < outer; group++, table += size * inner) {
        for (ptrdiff_t u = 0; u < inner; u++) {
            double total = table[u];
            for (ptrdiff_t a = 1; a < size; a++)
                total += table[a * inner + u];
            double first = root * total, lost = share * (table[u] - first);
            table[u] = first;
            for (ptrdiff_t a = 1; a < size; a++)
                table[a * inner + u] += lost;
        }
    }
}

/* Reflect `count` adjacent positions of one array of size^count · inner numbers. */
ALWAYS_INLINE void reflect_positions(double *table, int count, ptrdiff_t inner, ptrdiff_t size, double root,
                                     double share)
{
    ptrdiff_t outer = 1;
    for (int i = 1; i < count; i++)
        outer *= size;
    for (int i = 0; i < count; i++, outer /= size, inner *= size) {
        if (size == 4) /* constant: the loop over the letters is unrolled */
            reflect_position(table, outer, inner, 4, root, share);
        else
            reflect_position(table, outer, inner, size, root, share);
    }
}

/* Reflect all positions. The `low` last ones are done in a block of `block` = size^low numbers at a time, the others
 * in strips of LANES columns, copied to `strip` (size^high · LANES) because columns a power of two apart share
 * their place in the cache. */
ALWAYS_INLINE void reflect_all(double *table, ptrdiff_t rows, int high, ptrdiff_t block, int low, ptrdiff_t size,
                               double root, double share, double *strip)
{
    for (ptrdiff_t row = 0; row < rows; row++)
        reflect_positions(table + row * block, low, 1, size, root, share);
    if (high == 0)
        return;
    for (ptrdiff_t first = 0; first < block; first += LANES) {
        ptrdiff_t width = block - first < LANES ? block - first : LANES;
        for (ptrdiff_t row = 0; row < rows; row++)
            memcpy(strip + row * width, table + row * block + first, (size_t)width * sizeof(double));
        reflect_positions(strip, high, width, size, root, share);
        for (ptrdiff_t row = 0; row < rows; row++)
            memcpy(table + row * block + first, strip + row * width, (size_t)width * sizeof(double));
    }
}

DEFINE_LEVELS(reflect_all_at, reflect_all,
              (double *table, ptrdiff_t rows, int high, ptrdiff_t block, int low, ptrdiff_t size, double root,
               double share, double *strip),
              (table, rows, high, block, low, size, root, share, strip))

static void hamming_reflect(int level, double *table, ptrdiff_t rows, int high, ptrdiff_t block, int low,
                            ptrdiff_t size, double root, double share, double *strip)
{
    CALL_LEVEL(level, reflect_all_at, table, rows, high, block, low, size, root, share, strip);
}

/* Count one letter more of LANES windows, and one less if `out` is not NULL. */
ALWAYS_INLINE void slide(uint8_t *restrict count, const uint8_t *restrict in, const uint8_t *restrict out)
{
    if (out)
        for (int lane = 0; lane < LANES; lane++)
            count[lane] = (uint8_t)(count[lane] + in[lane] - out[lane]);
    else
        for (int lane = 0; lane < LANES; lane++)
            count[lane] = (uint8_t)(count[lane] + in[lane]);
}

/* Count the matches of a word with LANES windows: bytes, eight at a time, as none exceeds 255. */
ALWAYS_INLINE void count_matches(const uint8_t *const *rows, ptrdiff_t first, int l, uint8_t *count)
{
    uint64_t counts[LANES / 8] = {0}, more;
    for (int i = 0; i < l; i++)
        for (int part = 0; part < LANES / 8; part++) {
            memcpy(&more, rows[i] + first + i + 8 * part, sizeof more);
            counts[part] += more;
        }
    memcpy(count, counts, sizeof counts);
}

ALWAYS_INLINE int largest(const uint8_t *count)
{
    uint8_t most = 0;
    for (int lane = 0; lane < LANES; lane++)
        most = count[lane] > most ? count[lane] : most;
    return most;
}

/* Return the sum of LANES numbers, halved again and again: one order for vectors of any width. */
ALWAYS_INLINE double add_up(double *parts)
{
    for (int lane = 0; lane < LANES / 2; lane++)
        parts[lane] += parts[lane + LANES / 2];
    for (int lane = 0; lane < LANES / 4; lane++)
        parts[lane] += parts[lane + LANES / 4];
    for (int lane = 0; lane < LANES / 8; lane++)
        parts[lane] += parts[lane + LANES / 8];
    return ((parts[0] + parts[4]) + (parts[2] + parts[6])) + ((parts[1] + parts[5]) + (parts[3] + parts[7]));
}

/* Set out[lane] to factor · weight[lane] times the value for that many matches. */
ALWAYS_INLINE void look_up(const uint8_t *restrict count, double factor, const double *restrict weight,
                           const double *restrict value, double *restrict out)
{
    for (int lane = 0; lane < LANES; lane++)
        out[lane] = factor * weight[lane] * value[count[lane]];
}

/* Add what LANES adjacent diagonals give to each letter of x.
 *
 * The others' letters that equal x_t are marked (1) in rows[t], seen so that lane 0 has its letter number t at
 * rows[t][t]; windows[t], seen likewise, is what the window that starts there weighs. `own`[p] weighs the windows of
 * x (0: none starts there). A pair of windows with g matches gives share[g] to each letter that matches; without any
 * it gives `unmatched` to whole[p]. Where no window has `least` matches nothing is done but counting.
 *
 * `sum` is what a match of letter p receives, from the windows of x that cover it; `ring` (l, LANES) has them singly. */
ALWAYS_INLINE void share_lanes(const uint8_t *const *rows, const double *windows, const double *own, ptrdiff_t n,
                               int l, int least, const double *share, double unmatched, double *letters,
                               double *whole, double *ring)
{
    uint8_t count[LANES] = {0};
    double sum[LANES] = {0}, parts[LANES];
    ptrdiff_t active = 0; /* no letter from here on is covered by a window that counts */
    memset(ring, 0, (size_t)l * LANES * sizeof(double));
    for (ptrdiff_t t = 0; t < n + l - 1; t++) {
        ptrdiff_t p = t - l + 1;
        if (t < n)
            slide(count, rows[t] + t, t >= l ? rows[t - l] + t - l : NULL);
        if (p < 0)
            continue;
        int hit = t < n && own[p] != 0 && largest(count) >= least;
        if (hit)
            active = p + l;
        else if (p >= active)
            continue;
        double *slot = ring + (p % l) * LANES;
        for (int lane = 0; lane < LANES; lane++)
            sum[lane] -= slot[lane];
        if (hit) {
            look_up(count, own[p], windows + p, share, slot);
            for (int lane = 0; lane < LANES; lane++)
                sum[lane] += slot[lane];
            if (unmatched != 0) {
                for (int lane = 0; lane < LANES; lane++)
                    parts[lane] = (count[lane] == 0) * windows[p + lane];
                whole[p] += own[p] * unmatched * add_up(parts);
            }
        } else {
            memset(slot, 0, LANES * sizeof(double));
        }
        for (int lane = 0; lane < LANES; lane++)
            parts[lane] = rows[p][p + lane] * sum[lane];
        letters[p] += add_up(parts);
        if (p == active - 1) { /* all windows are past: drop the last one's share, and what rounding has left */
            memset(sum, 0, sizeof sum);
            memset(ring + (active % l) * LANES, 0, LANES * sizeof(double));
        }
    }
}

/* Do so for all diagonals, `lanes` of them. */
ALWAYS_INLINE void share_all(const uint8_t *const *rows, const double *windows, ptrdiff_t lanes, const double *own,
                             ptrdiff_t n, int l, int least, const double *share, double unmatched, double *letters,
                             double *whole, double *ring, const uint8_t **shifted)
{
    for (ptrdiff_t first = 0; first < lanes; first += LANES) {
        for (ptrdiff_t t = 0; t < n; t++)
            shifted[t] = rows[t] + first;
        share_lanes(shifted, windows + first, own, n, l, least, share, unmatched, letters, whole, ring);
    }
}

DEFINE_LEVELS(share_all_at, share_all,
              (const uint8_t *const *rows, const double *windows, ptrdiff_t lanes, const double *own, ptrdiff_t n,
               int l, int least, const double *share, double unmatched, double *letters, double *whole, double *ring,
               const uint8_t **shifted),
              (rows, windows, lanes, own, n, l, least, share, unmatched, letters, whole, ring, shifted))

static void hamming_share(int level, const uint8_t *const *rows, const double *windows, ptrdiff_t lanes,
                          const double *own, ptrdiff_t n, int l, int least, const double *share, double unmatched,
                          double *letters, double *whole, double *ring, const uint8_t **shifted)
{
    CALL_LEVEL(level, share_all_at, rows, windows, lanes, own, n, l, least, share, unmatched, letters, whole, ring,
               shifted);
}

/* Return the sum over `lanes` windows of weight · value[matches with the word], rows[i] as above for its letter i. */
ALWAYS_INLINE void word_sum(const uint8_t *const *rows, const double *windows, ptrdiff_t lanes, int l, int least,
                            const double *value, double *result)
{
    double parts[LANES];
    *result = 0;
    for (ptrdiff_t first = 0; first < lanes; first += LANES) {
        uint8_t count[LANES];
        count_matches(rows, first, l, count);
        if (largest(count) >= least) {
            look_up(count, 1.0, windows + first, value, parts);
            *result += add_up(parts);
        }
    }
}

DEFINE_LEVELS(word_sum_at, word_sum,
              (const uint8_t *const *rows, const double *windows, ptrdiff_t lanes, int l, int least,
               const double *value, double *result),
              (rows, windows, lanes, l, least, value, result))

static void hamming_word(int level, const uint8_t *const *rows, const double *windows, ptrdiff_t lanes, int l,
                         int least, const double *value, double *result)
{
    /* loads of 64 bytes that are not aligned cross a line of the cache each: AVX2 is faster */
    CALL_LEVEL(level > 1 ? 1 : level, word_sum_at, rows, windows, lanes, l, least, value, result);
}

#endif
