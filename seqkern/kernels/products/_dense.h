/* Products of dense count vectors, exact, in integers.
 *
 * Layout: 16 rows make a panel. A panel is a sequence of steps; a step holds, for each of its 16 rows, 4 bytes: four
 * counts of 8 bits, two of 16 bits or one of 32. So one 64-byte load brings the same step of 16 columns, and one
 * 4-byte broadcast that of a row; the dot products of a row with 16 columns build up in one register.
 *
 * 8-bit counts are at most 127: they are valid as signed and as unsigned operand, and the sum of two products,
 * 2·127², fits in 16 bits.
 */
#ifndef SEQKERN_DENSE_H
#define SEQKERN_DENSE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "_simd.h"

enum { PANEL = 16, STRIP = 8, GROUP = 3, STEP_BYTES = 4 };
enum { KIND_INT8 = 1, KIND_INT16 = 2, KIND_INT32 = 4 };

/* Eight rows (pointers to their first step; steps are 64 bytes apart) times up to three panels of columns:
 * tile[r][c] = the dot products over `steps` steps. */
typedef void dense_tile(const uint8_t *const *rows, const uint8_t *const *panels, int n_panels, ptrdiff_t steps,
                        ptrdiff_t safe, int32_t tile[STRIP][GROUP * PANEL]);

static void tile_int8_plain(const uint8_t *const *rows, const uint8_t *const *panels, int n_panels, ptrdiff_t steps,
                            ptrdiff_t safe, int32_t tile[STRIP][GROUP * PANEL])
{
    (void)safe;
    for (int g = 0; g < n_panels; ++g)
        for (int r = 0; r < STRIP; ++r) {
            const uint8_t *a = rows[r], *b = panels[g];
            int32_t sums[PANEL] = {0};
            for (ptrdiff_t s = 0; s < steps; ++s, a += PANEL * STEP_BYTES, b += PANEL * STEP_BYTES)
                for (int c = 0; c < PANEL; ++c)
                    sums[c] += a[0] * b[4 * c] + a[1] * b[4 * c + 1] + a[2] * b[4 * c + 2] + a[3] * b[4 * c + 3];
            memcpy(&tile[r][g * PANEL], sums, sizeof sums);
        }
}

static void tile_int16_plain(const uint8_t *const *rows, const uint8_t *const *panels, int n_panels, ptrdiff_t steps,
                             ptrdiff_t safe, int32_t tile[STRIP][GROUP * PANEL])
{
    (void)safe;
    for (int g = 0; g < n_panels; ++g)
        for (int r = 0; r < STRIP; ++r) {
            const uint8_t *from = rows[r], *panel = panels[g];
            int32_t sums[PANEL] = {0};
            for (ptrdiff_t s = 0; s < steps; ++s, from += PANEL * STEP_BYTES, panel += PANEL * STEP_BYTES) {
                int16_t a[2], b[2 * PANEL];
                memcpy(a, from, sizeof a);
                memcpy(b, panel, sizeof b);
                for (int c = 0; c < PANEL; ++c)
                    sums[c] += a[0] * b[2 * c] + a[1] * b[2 * c + 1];
            }
            memcpy(&tile[r][g * PANEL], sums, sizeof sums);
        }
}

#ifdef SEQKERN_X86

static inline int32_t load_step(const uint8_t *address)
{
    int32_t step;
    memcpy(&step, address, sizeof step);
    return step;
}

/* Accumulators are named, not arrays, or GCC keeps them in memory. Of 32 registers the 24 sums of 8 rows and 3 panels,
 * 3 of columns and one row are in use: enough independent sums to keep both multipliers busy. */
#define EACH_OF_8(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7)
#define START_512(r) __m512i sum##r##a = zero, sum##r##b = zero, sum##r##c = zero;
#define STEP_512(r)                                                                  \
    row = _mm512_set1_epi32(load_step(rows[r] + at));                                \
    sum##r##a = int8 ? _mm512_dpbusd_epi32(sum##r##a, row, a) : _mm512_dpwssd_epi32(sum##r##a, row, a); \
    if (n_panels > 1)                                                                \
        sum##r##b = int8 ? _mm512_dpbusd_epi32(sum##r##b, row, b) : _mm512_dpwssd_epi32(sum##r##b, row, b); \
    if (n_panels > 2)                                                                \
        sum##r##c = int8 ? _mm512_dpbusd_epi32(sum##r##c, row, c) : _mm512_dpwssd_epi32(sum##r##c, row, c);
#define STORE_512(r)                                      \
    _mm512_storeu_si512(&tile[r][0], sum##r##a);          \
    _mm512_storeu_si512(&tile[r][PANEL], sum##r##b);      \
    _mm512_storeu_si512(&tile[r][2 * PANEL], sum##r##c);

AVX512 static inline __attribute__((always_inline)) void tile_avx512(
    const uint8_t *const *rows, const uint8_t *const *panels, const int n_panels, ptrdiff_t steps, const int int8,
    int32_t tile[STRIP][GROUP * PANEL])
{
    const __m512i zero = _mm512_setzero_si512();
    __m512i a, b = zero, c = zero, row;
    EACH_OF_8(START_512)
    for (ptrdiff_t at = 0; at < steps * PANEL * STEP_BYTES; at += PANEL * STEP_BYTES) {
        a = _mm512_loadu_si512(panels[0] + at);
        if (n_panels > 1)
            b = _mm512_loadu_si512(panels[1] + at);
        if (n_panels > 2)
            c = _mm512_loadu_si512(panels[2] + at);
        EACH_OF_8(STEP_512)
    }
    EACH_OF_8(STORE_512)
}

#define DEFINE_TILES_AVX512(name, int8)                                                                          \
    AVX512 static void name(const uint8_t *const *rows, const uint8_t *const *panels, int n_panels,              \
                            ptrdiff_t steps, ptrdiff_t safe, int32_t tile[STRIP][GROUP * PANEL])                 \
    {                                                                                                            \
        (void)safe;                                                                                              \
        if (n_panels == 3)                                                                                       \
            tile_avx512(rows, panels, 3, steps, int8, tile);                                                     \
        else if (n_panels == 2)                                                                                  \
            tile_avx512(rows, panels, 2, steps, int8, tile);                                                     \
        else                                                                                                     \
            tile_avx512(rows, panels, 1, steps, int8, tile);                                                     \
    }

DEFINE_TILES_AVX512(tile_int8_avx512, 1)
DEFINE_TILES_AVX512(tile_int16_avx512, 0)

/* Four rows times one panel: 8 sums of 16 bits, 2 registers of columns and one row leave 5 of 16 registers.
 *
 * Products of 8-bit counts are added in 16 bits for `safe` steps, which the largest counts allow without overflow, and
 * widened only then. */
#define EACH_OF_4(M) M(0) M(1) M(2) M(3)
#define START_256(r) __m256i sum##r##a = zero, sum##r##b = zero;
#define ZERO_256(r) sum##r##a = sum##r##b = zero;
#define STEP_INT8_256(r)                                                          \
    row = _mm256_set1_epi32(load_step(rows[r] + at));                             \
    sum##r##a = _mm256_add_epi16(sum##r##a, _mm256_maddubs_epi16(row, a));        \
    sum##r##b = _mm256_add_epi16(sum##r##b, _mm256_maddubs_epi16(row, b));
#define STEP_INT16_256(r)                                                         \
    row = _mm256_set1_epi32(load_step(rows[r] + at));                             \
    sum##r##a = _mm256_add_epi32(sum##r##a, _mm256_madd_epi16(row, a));           \
    sum##r##b = _mm256_add_epi32(sum##r##b, _mm256_madd_epi16(row, b));
#define ADD_256(r)                                        \
    add_to_tile(tile + r * GROUP * PANEL, int8 ? _mm256_madd_epi16(sum##r##a, ones) : sum##r##a);     \
    add_to_tile(tile + r * GROUP * PANEL + 8, int8 ? _mm256_madd_epi16(sum##r##b, ones) : sum##r##b);

AVX2 static inline __attribute__((always_inline)) void add_to_tile(int32_t *tile, __m256i sums)
{
    __m256i *place = (__m256i *)tile;
    _mm256_storeu_si256(place, _mm256_add_epi32(_mm256_loadu_si256(place), sums));
}

AVX2 static inline __attribute__((always_inline)) void half_strip_avx2(
    const uint8_t *const *rows, const uint8_t *panel, ptrdiff_t steps, ptrdiff_t safe, const int int8, int32_t *tile)
{
    const __m256i zero = _mm256_setzero_si256(), ones = _mm256_set1_epi16(1);
    const ptrdiff_t end = steps * PANEL * STEP_BYTES, span = int8 ? safe * PANEL * STEP_BYTES : end;
    __m256i a, b, row;
    EACH_OF_4(START_256)
    for (ptrdiff_t at = 0; at < end;) {
        ptrdiff_t stop = at + span < end ? at + span : end;
        EACH_OF_4(ZERO_256)
        for (; at < stop; at += PANEL * STEP_BYTES) {
            a = _mm256_loadu_si256((const __m256i *)(panel + at));
            b = _mm256_loadu_si256((const __m256i *)(panel + at + 32));
            if (int8) {
                EACH_OF_4(STEP_INT8_256)
            } else {
                EACH_OF_4(STEP_INT16_256)
            }
        }
        EACH_OF_4(ADD_256)
    }
}

#define DEFINE_TILES_AVX2(name, int8)                                                                            \
    AVX2 static void name(const uint8_t *const *rows, const uint8_t *const *panels, int n_panels,                \
                          ptrdiff_t steps, ptrdiff_t safe, int32_t tile[STRIP][GROUP * PANEL])                   \
    {                                                                                                            \
        memset(tile, 0, STRIP * GROUP * PANEL * sizeof(int32_t));                                                \
        for (int g = 0; g < n_panels; ++g)                                                                       \
            for (int r = 0; r < STRIP; r += 4)                                                                   \
                half_strip_avx2(rows + r, panels[g], steps, safe, int8, &tile[r][g * PANEL]);                    \
    }

DEFINE_TILES_AVX2(tile_int8_avx2, 1)
DEFINE_TILES_AVX2(tile_int16_avx2, 0)

#endif

static dense_tile *choose_tile(int level, int kind)
{
#ifdef SEQKERN_X86
    if (level == 2)
        return kind == KIND_INT8 ? tile_int8_avx512 : tile_int16_avx512;
    if (level == 1)
        return kind == KIND_INT8 ? tile_int8_avx2 : tile_int16_avx2;
#endif
    (void)level;
    return kind == KIND_INT8 ? tile_int8_plain : tile_int16_plain;
}

/* Return where in the data the first step of row i lies. */
static inline ptrdiff_t place_of_row(ptrdiff_t steps, ptrdiff_t i)
{
    return (i / PANEL) * steps * PANEL * STEP_BYTES + (i % PANEL) * STEP_BYTES;
}

/* Write the counts of row i. */
static void pack_row(const int32_t *counts, ptrdiff_t n, int kind, uint8_t *data, ptrdiff_t steps, ptrdiff_t i)
{
    uint8_t *step = data + place_of_row(steps, i);
    ptrdiff_t per_step = STEP_BYTES / kind;
    for (ptrdiff_t s = 0; s < steps; ++s, step += PANEL * STEP_BYTES) {
        int32_t four[4] = {0};
        ptrdiff_t left = n - s * per_step;
        if (left > 0)
            memcpy(four, counts + s * per_step, (size_t)(left < per_step ? left : per_step) * sizeof *four);
        uint32_t word = kind == KIND_INT8    ? (uint32_t)(four[0] | four[1] << 8 | four[2] << 16 | four[3] << 24)
                        : kind == KIND_INT16 ? (uint32_t)(four[0] | four[1] << 16)
                                             : (uint32_t)four[0];
        memcpy(step, &word, sizeof word);
    }
}

enum { CHUNK = 2048 };

/* Add weight × the products of rows row .. row + n_rows with the columns first .. last to sums (row-major, `width`
 * apart). Both have `steps` steps of 8- or 16-bit counts. With `upper` (rows and columns are one set), only columns
 * from each row's own on need be right.
 *
 * 48 columns of CHUNK steps stay in the second-level cache while the rows pass by. */
#define DEFINE_DENSE(name, sum_t)                                                                                \
    static void name(int level, int kind, ptrdiff_t safe, const uint8_t *a, ptrdiff_t row, ptrdiff_t n_rows,     \
                     const uint8_t *b, ptrdiff_t first, ptrdiff_t last, ptrdiff_t steps, int64_t weight,         \
                     int upper, sum_t *sums, ptrdiff_t width)                                                    \
    {                                                                                                            \
        dense_tile *multiply = choose_tile(level, kind);                                                         \
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
                    for (ptrdiff_t r = 0; r < count; ++r)                                                        \
                        for (ptrdiff_t j = low; j < high; ++j)                                                   \
                            sums[(strip + r) * width + j - first] += (sum_t)(weight * tile[r][j - from]);        \
                }                                                                                                \
            }                                                                                                    \
        }                                                                                                        \
    }

DEFINE_DENSE(dense_int32, int32_t)
DEFINE_DENSE(dense_int64, int64_t)

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

/* Raise *peak to the largest count, and set *squares to the sum of the squares. */
ALWAYS_INLINE void measure_body(const int32_t *counts, ptrdiff_t n, int32_t *peak, int64_t *squares)
{
    int32_t largest = *peak;
    uint64_t total = 0; /* wraps where the caller will refuse the sum */
    for (ptrdiff_t i = 0; i < n; ++i) {
        largest = counts[i] > largest ? counts[i] : largest;
        total += (uint64_t)((int64_t)counts[i] * counts[i]);
    }
    *peak = largest;
    *squares = (int64_t)total;
}

DEFINE_LEVELS(measure_row, measure_body, (const int32_t *counts, ptrdiff_t n, int32_t *peak, int64_t *squares),
              (counts, n, peak, squares))

static void measure_row(int level, const int32_t *counts, ptrdiff_t n, int32_t *peak, int64_t *squares)
{
    CALL_LEVEL(level, measure_row, counts, n, peak, squares);
}

#endif
