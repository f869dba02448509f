/* Products of dense count vectors, exact, in integers; see `_dense_tiles.h` for the layout. */
#ifndef SEQKERN_DENSE_H
#define SEQKERN_DENSE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "_dense_tiles.h"

/* Return where in the data the first step of row i lies. */
static inline ptrdiff_t place_of_row(ptrdiff_t steps, ptrdiff_t i)
{
    return (i / PANEL) * steps * PANEL * STEP_BYTES + (i % PANEL) * STEP_BYTES;
}

/* What the products of bytes of a row lack, whose counts have the sum `total`; biased: 128 is taken from the columns. */
static inline int64_t missing_of_row(int mode, int biased, int64_t total, ptrdiff_t steps)
{
    if (mode == MODE_BYTES && biased)
        return BIAS * total;
    if (mode == MODE_SIGNED && !biased)
        return -BIAS * (total + BIAS * STEP_BYTES * (int64_t)steps);
    return 0;
}

enum { CHUNK = 2048 };

/* Add weight × the products of rows row .. row + n_rows with the columns first .. last to sums (row-major, `width`
 * apart). Both have `steps` steps of 8- or 16-bit counts. With `upper` (rows and columns are one set), only columns
 * from each row's own on need be right. totals: the sums of the counts of each row, and of each column.
 *
 * Sums may wrap on the way: they are right in the end. 48 columns of CHUNK steps stay in the second-level cache while
 * the rows pass by. */
#define DEFINE_DENSE(name, sum_t, unsigned_t)                                                                    \
    static void name(int level, int vnni, int mode, ptrdiff_t safe, const uint8_t *a, const int64_t *totals,     \
                     ptrdiff_t row, ptrdiff_t n_rows, const uint8_t *b, const int64_t *col_totals,               \
                     ptrdiff_t first, ptrdiff_t last, ptrdiff_t steps, int64_t weight, int upper, sum_t *sums,   \
                     ptrdiff_t width)                                                                            \
    {                                                                                                            \
        dense_tile *multiply = choose_tile(level, vnni, mode);                                                   \
        const int biased = level == 2 || (level == 1 && vnni);                                                   \
        int32_t tile[STRIP][GROUP * PANEL];                                                                      \
        for (ptrdiff_t s = 0; s < steps; s += CHUNK) {                                                           \
            ptrdiff_t here = s + CHUNK < steps ? CHUNK : steps - s, skip = s * PANEL * STEP_BYTES;               \
            for (ptrdiff_t from = first / PANEL * PANEL; from < last; from += GROUP * PANEL) {                   \
                const uint8_t *panels[GROUP];                                                                    \
                int n_panels = 0;                                                                                \
                for (; n_panels < GROUP && from + n_panels * PANEL < last; ++n_panels)                           \
                    panels[n_panels] = b + place_of_row(steps, from + n_panels * PANEL) + skip;                      \
                ptrdiff_t low = from < first ? first : from;                                                     \
                ptrdiff_t high = from + GROUP * PANEL < last ? from + GROUP * PANEL : last;                      \
                for (ptrdiff_t strip = 0; strip < n_rows; strip += STRIP) {                                      \
                    if (upper && high <= row + strip)                                                            \
                        break;                                                                                   \
                    const uint8_t *rows[STRIP];                                                                  \
                    ptrdiff_t count = strip + STRIP < n_rows ? STRIP : n_rows - strip;                           \
                    for (int r = 0; r < STRIP; ++r)                                                              \
                        rows[r] = a + place_of_row(steps, row + strip + (r < count ? r : count - 1)) + skip;         \
                    multiply(rows, panels, n_panels, here, safe, tile);                                          \
                    for (ptrdiff_t r = 0; r < count; ++r) {                                                      \
                        const unsigned_t factor = (unsigned_t)weight;                                            \
                        const int64_t total = totals[row + strip + r];                                           \
                        const int64_t missing = s > 0 ? 0 : missing_of_row(mode, biased, total, steps);          \
                        const unsigned_t constant = factor * (unsigned_t)missing;                                \
                        sum_t *to = sums + (strip + r) * width;                                                  \
                        for (ptrdiff_t j = low; j < high; ++j)                                                   \
                            to[j - first] = (sum_t)((unsigned_t)to[j - first] + constant +                       \
                                                    factor * (unsigned_t)tile[r][j - from]);                     \
                        for (ptrdiff_t j = low; mode == MODE_SIGNED && s == 0 && j < high; ++j)                  \
                            to[j - first] = (sum_t)((unsigned_t)to[j - first] -                                  \
                                                    factor * BIAS * (unsigned_t)col_totals[j]);                  \
                    }                                                                                            \
                }                                                                                                \
            }                                                                                                    \
        }                                                                                                        \
    }

DEFINE_DENSE(dense_int32, int32_t, uint32_t)
DEFINE_DENSE(dense_int64, int64_t, uint64_t)

/* The same for 32-bit counts, whose products need 64 bits. */
#define DEFINE_WIDE(name, sum_t)                                                                                 \
    static void name(const uint8_t *a, ptrdiff_t row, ptrdiff_t n_rows, const uint8_t *b, ptrdiff_t first,       \
                     ptrdiff_t last, ptrdiff_t steps, int64_t weight, sum_t *sums, ptrdiff_t width)              \
    {                                                                                                            \
        for (ptrdiff_t i = 0; i < n_rows; ++i)                                                                   \
            for (ptrdiff_t from = first / PANEL * PANEL; from < last; from += PANEL) {                           \
                const uint8_t *mine = a + place_of_row(steps, row + i), *panel = b + place_of_row(steps, from);  \
                int64_t dots[PANEL] = {0};                                                                       \
                for (ptrdiff_t s = 0; s < steps; ++s) {                                                          \
                    int32_t left, right[PANEL];                                                                  \
                    memcpy(&left, mine + s * PANEL * STEP_BYTES, sizeof left);                                   \
                    memcpy(right, panel + s * PANEL * STEP_BYTES, sizeof right);                                 \
                    for (int c = 0; c < PANEL; ++c)                                                              \
                        dots[c] += (int64_t)left * right[c];                                                     \
                }                                                                                                \
                for (ptrdiff_t j = from < first ? first : from; j < last && j < from + PANEL; ++j)               \
                    sums[i * width + j - first] += (sum_t)(weight * dots[j - from]);                             \
            }                                                                                                    \
    }

DEFINE_WIDE(wide_int32, int32_t)
DEFINE_WIDE(wide_int64, int64_t)

#endif
