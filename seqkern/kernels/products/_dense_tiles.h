/* Dot products of tiles of dense count vectors, exact, in integers.
 *
 * Layout: 16 rows make a panel. A panel is a sequence of steps; a step holds, for each of its 16 rows, 4 bytes: four
 * counts of 8 bits, two of 16 bits or one of 32. So one 64-byte load brings the same step of 16 columns, and one
 * 4-byte broadcast that of a row; the dot products of a row with 16 columns build up in one register.
 *
 * 8-bit counts up to 127 are valid as signed and as unsigned operand, and the sum of two products, 2·127², fits in 16
 * bits: MODE_SMALL. Others, MODE_BYTES, have the columns less 128 as signed operand, which `_dense.h` makes up for by
 * 128 times the sum of a row's counts; or they are widened in the registers. MODE_SIGNED is the same for signed counts,
 * which are stored with 128 added.
 */
#ifndef SEQKERN_DENSE_TILES_H
#define SEQKERN_DENSE_TILES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "_panel.h"
#include "_simd.h"

enum { STRIP = 8, GROUP = 3 };
enum { MODE_SMALL, MODE_BYTES, MODE_SIGNED, MODE_WORDS, MODE_INTEGERS };

/* Eight rows (pointers to their first step; steps are 64 bytes apart) times up to three panels of columns:
 * tile[r][c] = the dot products over `steps` steps. */
typedef void dense_tile(const uint8_t *const *rows, const uint8_t *const *panels, int n_panels, ptrdiff_t steps,
                        ptrdiff_t safe, int32_t tile[STRIP][GROUP * PANEL]);

#if defined(__GNUC__)
/* Products of the even and of the odd bytes fit into 16 bits. Those of small counts are added there for `safe` steps, and
 * widened only then. */
typedef uint16_t plain_words __attribute__((vector_size(16)));
typedef uint32_t plain_integers __attribute__((vector_size(16)));
enum { QUARTERS = PANEL * STEP_BYTES / 16 };

ALWAYS_INLINE plain_integers widened(plain_words sums)
{
    return ((plain_integers)sums & 0xffff) + ((plain_integers)sums >> 16);
}

/* Add `span` bytes of a row times a panel to `sums`. */
ALWAYS_INLINE void add_plain(const uint8_t *row, const uint8_t *panel, ptrdiff_t span, const int small,
                             plain_integers sums[QUARTERS])
{
    plain_words parts[QUARTERS] = {0};
    for (ptrdiff_t p = 0; p < span; p += PANEL * STEP_BYTES) {
        uint32_t step;
        memcpy(&step, row + p, sizeof step);
        const plain_words four = (plain_words)((plain_integers){step, step, step, step});
        const plain_words even = four & 0xff, odd = four >> 8;
        for (int q = 0; q < QUARTERS; ++q) {
            plain_words columns;
            memcpy(&columns, panel + p + q * sizeof columns, sizeof columns);
            const plain_words evens = even * (columns & 0xff), odds = odd * (columns >> 8);
            if (small)
                parts[q] += evens + odds;
            else
                sums[q] += widened(evens) + widened(odds);
        }
    }
    for (int q = 0; small && q < QUARTERS; ++q)
        sums[q] += widened(parts[q]);
}

#define DEFINE_TILES_PLAIN(name, small)                                                                          \
    static void name(const uint8_t *const *rows, const uint8_t *const *panels, int n_panels, ptrdiff_t steps,    \
                     ptrdiff_t safe, int32_t tile[STRIP][GROUP * PANEL])                                         \
    {                                                                                                            \
        const ptrdiff_t end = steps * PANEL * STEP_BYTES, most = small ? safe * PANEL * STEP_BYTES : end;        \
        for (int g = 0; g < n_panels; ++g)                                                                       \
            for (int r = 0; r < STRIP; ++r) {                                                                    \
                plain_integers sums[QUARTERS] = {0};                                                             \
                for (ptrdiff_t at = 0; at < end; at += most)                                                     \
                    add_plain(rows[r] + at, panels[g] + at, at + most < end ? most : end - at, small, sums);     \
                memcpy(&tile[r][g * PANEL], sums, sizeof sums);                                                  \
            }                                                                                                    \
    }

DEFINE_TILES_PLAIN(tile_small_plain, 1)
DEFINE_TILES_PLAIN(tile_bytes_plain, 0)
#else
static void tile_bytes_plain(const uint8_t *const *rows, const uint8_t *const *panels, int n_panels, ptrdiff_t steps,
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

#define tile_small_plain tile_bytes_plain
#endif

static void tile_words_plain(const uint8_t *const *rows, const uint8_t *const *panels, int n_panels, ptrdiff_t steps,
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

#if __GNUC__ >= 12 || __clang_major__ >= 14
#define AVX_VNNI __attribute__((target("avx2,avxvnni")))
#endif

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
    sum##r##a = words ? _mm512_dpwssd_epi32(sum##r##a, row, a) : _mm512_dpbusd_epi32(sum##r##a, row, a); \
    if (n_panels > 1)                                                                \
        sum##r##b = words ? _mm512_dpwssd_epi32(sum##r##b, row, b) : _mm512_dpbusd_epi32(sum##r##b, row, b); \
    if (n_panels > 2)                                                                \
        sum##r##c = words ? _mm512_dpwssd_epi32(sum##r##c, row, c) : _mm512_dpbusd_epi32(sum##r##c, row, c);
#define LOAD_512(panel) (biased ? _mm512_xor_si512(_mm512_loadu_si512((panel) + at), bias) : _mm512_loadu_si512((panel) + at))
#define STORE_512(r)                                      \
    _mm512_storeu_si512(&tile[r][0], sum##r##a);          \
    _mm512_storeu_si512(&tile[r][PANEL], sum##r##b);      \
    _mm512_storeu_si512(&tile[r][2 * PANEL], sum##r##c);

AVX512 static inline __attribute__((always_inline)) void tile_avx512(
    const uint8_t *const *rows, const uint8_t *const *panels, const int n_panels, ptrdiff_t steps, const int mode,
    int32_t tile[STRIP][GROUP * PANEL])
{
    const int words = mode == MODE_WORDS, biased = mode == MODE_BYTES;
    const __m512i zero = _mm512_setzero_si512(), bias = _mm512_set1_epi8(-BIAS);
    __m512i a, b = zero, c = zero, row;
    EACH_OF_8(START_512)
    for (ptrdiff_t at = 0; at < steps * PANEL * STEP_BYTES; at += PANEL * STEP_BYTES) {
        a = LOAD_512(panels[0]);
        if (n_panels > 1)
            b = LOAD_512(panels[1]);
        if (n_panels > 2)
            c = LOAD_512(panels[2]);
        EACH_OF_8(STEP_512)
    }
    EACH_OF_8(STORE_512)
}

#define DEFINE_TILES_AVX512(name, mode)                                                                          \
    AVX512 static void name(const uint8_t *const *rows, const uint8_t *const *panels, int n_panels,              \
                            ptrdiff_t steps, ptrdiff_t safe, int32_t tile[STRIP][GROUP * PANEL])                 \
    {                                                                                                            \
        (void)safe;                                                                                              \
        if (n_panels == 3)                                                                                       \
            tile_avx512(rows, panels, 3, steps, mode, tile);                                                     \
        else if (n_panels == 2)                                                                                  \
            tile_avx512(rows, panels, 2, steps, mode, tile);                                                     \
        else                                                                                                     \
            tile_avx512(rows, panels, 1, steps, mode, tile);                                                     \
    }

DEFINE_TILES_AVX512(tile_small_avx512, MODE_SMALL)
DEFINE_TILES_AVX512(tile_bytes_avx512, MODE_BYTES)
DEFINE_TILES_AVX512(tile_words_avx512, MODE_WORDS)

/* Four rows times one panel: 8 sums of 16 bits, 2 registers of columns and one row leave 5 of 16 registers.
 *
 * Products of small counts are added in 16 bits for `safe` steps, which the largest counts allow without overflow, and
 * widened only then. Other bytes are split into words, the even and the odd ones. */
#define EACH_OF_4(M) M(0) M(1) M(2) M(3)
#define IN_PLACE(sum) __asm__("" : "+x"(sum)); /* else GCC copies each sum to another register in each step */
#define START_256(r) __m256i sum##r##a = zero, sum##r##b = zero;
#define STEP_SMALL_256(r)                                                         \
    row = _mm256_set1_epi32(load_step(rows[r] + at));                             \
    sum##r##a = _mm256_add_epi16(sum##r##a, _mm256_maddubs_epi16(row, a));        \
    sum##r##b = _mm256_add_epi16(sum##r##b, _mm256_maddubs_epi16(row, b));        \
    IN_PLACE(sum##r##a) IN_PLACE(sum##r##b)
#define STEP_WORDS_256(r)                                                         \
    row = _mm256_set1_epi32(load_step(rows[r] + at));                             \
    sum##r##a = _mm256_add_epi32(sum##r##a, _mm256_madd_epi16(row, a));           \
    sum##r##b = _mm256_add_epi32(sum##r##b, _mm256_madd_epi16(row, b));
#define STEP_BYTES_256(r)                                                         \
    row = _mm256_set1_epi32(load_step(rows[r] + at));                             \
    sum##r##a = _mm256_add_epi32(sum##r##a, dot_bytes(row, a));                   \
    sum##r##b = _mm256_add_epi32(sum##r##b, dot_bytes(row, b));
#define ADD_256(r)                                        \
    add_to_tile(tile + r * GROUP * PANEL, small ? _mm256_madd_epi16(sum##r##a, ones) : sum##r##a);     \
    add_to_tile(tile + r * GROUP * PANEL + 8, small ? _mm256_madd_epi16(sum##r##b, ones) : sum##r##b);

AVX2 static inline __attribute__((always_inline)) void add_to_tile(int32_t *tile, __m256i sums)
{
    __m256i *place = (__m256i *)tile;
    _mm256_storeu_si256(place, _mm256_add_epi32(_mm256_loadu_si256(place), sums));
}

/* The dot products of each four bytes. */
AVX2 static inline __attribute__((always_inline)) __m256i dot_bytes(__m256i a, __m256i b)
{
    const __m256i even = _mm256_set1_epi16(0xff);
    return _mm256_add_epi32(_mm256_madd_epi16(_mm256_and_si256(a, even), _mm256_and_si256(b, even)),
                            _mm256_madd_epi16(_mm256_srli_epi16(a, 8), _mm256_srli_epi16(b, 8)));
}

AVX2 static inline __attribute__((always_inline)) void half_strip_avx2(
    const uint8_t *const *rows, const uint8_t *panel, ptrdiff_t steps, ptrdiff_t safe, const int mode, int32_t *tile)
{
    const int small = mode == MODE_SMALL;
    const __m256i zero = _mm256_setzero_si256(), ones = _mm256_set1_epi16(1);
    const ptrdiff_t end = steps * PANEL * STEP_BYTES, span = small ? safe * PANEL * STEP_BYTES : end;
    __m256i a, b, row;
    for (ptrdiff_t at = 0; at < end;) {
        const ptrdiff_t stop = at + span < end ? at + span : end;
        EACH_OF_4(START_256)
        do {
            a = _mm256_loadu_si256((const __m256i *)(panel + at));
            b = _mm256_loadu_si256((const __m256i *)(panel + at + 32));
            if (mode == MODE_SMALL) {
                EACH_OF_4(STEP_SMALL_256)
            } else if (mode == MODE_BYTES) {
                EACH_OF_4(STEP_BYTES_256)
            } else {
                EACH_OF_4(STEP_WORDS_256)
            }
            at += PANEL * STEP_BYTES;
        } while (at < stop);
        EACH_OF_4(ADD_256)
    }
}

#ifdef AVX_VNNI
/* The same with the instructions of `tile_avx512`, for half as many columns. */
#define STEP_VNNI(r)                                                                                    \
    row = _mm256_set1_epi32(load_step(rows[r] + at));                                                   \
    sum##r##a = words ? _mm256_dpwssd_avx_epi32(sum##r##a, row, a) : _mm256_dpbusd_avx_epi32(sum##r##a, row, a); \
    sum##r##b = words ? _mm256_dpwssd_avx_epi32(sum##r##b, row, b) : _mm256_dpbusd_avx_epi32(sum##r##b, row, b); \
    IN_PLACE(sum##r##a) IN_PLACE(sum##r##b)
#define STORE_VNNI(r)                                                                   \
    _mm256_storeu_si256((__m256i *)(tile + r * GROUP * PANEL), sum##r##a);              \
    _mm256_storeu_si256((__m256i *)(tile + r * GROUP * PANEL + PANEL / 2), sum##r##b);

AVX_VNNI static inline __attribute__((always_inline)) void half_strip_vnni(
    const uint8_t *const *rows, const uint8_t *panel, ptrdiff_t steps, const int mode, int32_t *tile)
{
    const int words = mode == MODE_WORDS;
    const __m256i zero = _mm256_setzero_si256(), bias = mode == MODE_BYTES ? _mm256_set1_epi8(-BIAS) : zero;
    __m256i a, b, row;
    EACH_OF_4(START_256)
    for (ptrdiff_t at = 0; at < steps * PANEL * STEP_BYTES; at += PANEL * STEP_BYTES) {
        a = _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(panel + at)), bias);
        b = _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(panel + at + 32)), bias);
        EACH_OF_4(STEP_VNNI)
    }
    EACH_OF_4(STORE_VNNI)
}

#define DEFINE_TILES_VNNI(name, mode)                                                                            \
    AVX_VNNI static void name(const uint8_t *const *rows, const uint8_t *const *panels, int n_panels,            \
                              ptrdiff_t steps, ptrdiff_t safe, int32_t tile[STRIP][GROUP * PANEL])               \
    {                                                                                                            \
        (void)safe;                                                                                              \
        for (int g = 0; g < n_panels; ++g)                                                                       \
            for (int r = 0; r < STRIP; r += 4)                                                                   \
                half_strip_vnni(rows + r, panels[g], steps, mode, &tile[r][g * PANEL]);                          \
    }

DEFINE_TILES_VNNI(tile_small_vnni, MODE_SMALL)
DEFINE_TILES_VNNI(tile_bytes_vnni, MODE_BYTES)
DEFINE_TILES_VNNI(tile_words_vnni, MODE_WORDS)
#endif

#define DEFINE_TILES_AVX2(name, mode)                                                                            \
    AVX2 static void name(const uint8_t *const *rows, const uint8_t *const *panels, int n_panels,                \
                          ptrdiff_t steps, ptrdiff_t safe, int32_t tile[STRIP][GROUP * PANEL])                   \
    {                                                                                                            \
        memset(tile, 0, STRIP * GROUP * PANEL * sizeof(int32_t));                                                \
        for (int g = 0; g < n_panels; ++g)                                                                       \
            for (int r = 0; r < STRIP; r += 4)                                                                   \
                half_strip_avx2(rows + r, panels[g], steps, safe, mode, &tile[r][g * PANEL]);                    \
    }

DEFINE_TILES_AVX2(tile_small_avx2, MODE_SMALL)
DEFINE_TILES_AVX2(tile_bytes_avx2, MODE_BYTES)
DEFINE_TILES_AVX2(tile_words_avx2, MODE_WORDS)

#endif

/* Whether level 1 may use VNNI: processors without AVX-512 may have it for AVX2. */
static int avx_vnni(void)
{
#ifdef AVX_VNNI
    return __builtin_cpu_supports("avxvnni");
#else
    return 0;
#endif
}

/* vnni: whether to use it at level 1. */
static dense_tile *choose_tile(int level, int vnni, int mode)
{
    if (mode == MODE_SIGNED)
        mode = MODE_BYTES;
#ifdef SEQKERN_X86
    if (level == 2)
        return mode == MODE_SMALL ? tile_small_avx512 : mode == MODE_BYTES ? tile_bytes_avx512 : tile_words_avx512;
#ifdef AVX_VNNI
    if (level == 1 && vnni)
        return mode == MODE_SMALL ? tile_small_vnni : mode == MODE_BYTES ? tile_bytes_vnni : tile_words_vnni;
#endif
    if (level == 1)
        return mode == MODE_SMALL ? tile_small_avx2 : mode == MODE_BYTES ? tile_bytes_avx2 : tile_words_avx2;
#endif
    (void)level;
    (void)vnni;
    return mode == MODE_SMALL ? tile_small_plain : mode == MODE_BYTES ? tile_bytes_plain : tile_words_plain;
}

#endif
