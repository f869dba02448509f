/* Sequences of one length compared letter by letter, 64 letters in a word.
 *
 * The code of a letter is cut into bits: a *plane* holds one bit of the code of every letter of a record, 64 in each
 * word; one more plane says which letters are not masked. Records lie in groups of 8, as [plane][word][record].
 *
 * Bit i of a mask says that the letters i of two records are the same; after mask &= mask >> 1, that the k-mers of 2
 * letters from i on are, and so on: N_k is a count of bits. Masks of several columns fill a vector. Σ_k (d − k + 1)·N_k
 * is the sum of all running sums of N_1, …, N_d. No vector lane depends on another, integers are exact, and floating
 * point numbers are summed in one order: every level of instructions gives the same bits.
 *
 * A shift by s needs the row's words only: *variant* 0 is the row itself, variants 2s − 1 and 2s are the row s letters
 * towards the start and towards the end. A k-mer that starts at bit j of the mask starts at position j, or j − s. */
#ifndef SEQKERN_WEIGHTED_DEGREE_H
#define SEQKERN_WEIGHTED_DEGREE_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "_bits.h"
#include "_blocks.h"
#include "_simd.h"

enum { GROUP = 8, VECTOR_BYTES = 64, TILE_BYTES = 1 << 14, TILE_ROWS = 64, TILE_VARIANTS = 1 << 17 };
enum { BY_DEGREE, BY_LENGTH, BY_POSITION };

/* What is summed.
 *
 * mode: BY_DEGREE: length weights are degree − k + 1; BY_LENGTH: those given; BY_POSITION: position weights too.
 * starts: of each variant, words·64 weights of the positions of bits, for BY_POSITION.
 * filters: of each variant, words·64 bits that say which positions count, or NULL if all do; not for BY_POSITION.
 * unchecked: so many lengths are counted without looking whether any match is left. */
typedef struct {
    int words;
    int planes;
    int degree;
    int shift;
    int mode;
    int unchecked;
    double divisor;
    const double *length_weights;
    const double *shift_weights;
    const double *starts;
    const uint64_t *filters;
} degree_sum;

/* Records of a packed set. */
typedef struct {
    const uint64_t *words;
    ptrdiff_t first;
    ptrdiff_t n;
    const double *diagonal;
} degree_records;

static inline size_t record_words(const degree_sum *f)
{
    return (size_t)(f->planes + 1) * f->words;
}

static inline size_t variants(const degree_sum *f)
{
    return 2 * (size_t)f->shift + 1;
}

/* Write the words of a record of `length` codes to its place in a group; codes from `size` on are masked letters. */
static void pack_record(const uint8_t *codes, ptrdiff_t length, int size, int words, int planes, uint64_t *group)
{
    const uint64_t low = 0x0101010101010101u, gather = 0x0102040810204080u;
    for (int w = 0; w < words; ++w) {
        uint64_t plane[8] = {0};
        for (ptrdiff_t i = 64 * (ptrdiff_t)w, b = 0; b < 64 && i < length; b += 8, i += 8) {
            uint64_t eight = 0;
            for (ptrdiff_t c = 0; c < 8; ++c)
                eight |= (uint64_t)(i + c < length && codes[i + c] < size ? codes[i + c] : 255) << (8 * c);
            for (int p = 0; p < planes; ++p)
                plane[p] |= (((eight >> p) & low) * gather >> 56) << b;
            plane[planes] |= (((~eight >> 7) & low) * gather >> 56) << b;
        }
        for (int p = 0; p <= planes; ++p)
            group[((size_t)p * words + w) * GROUP] = plane[p];
    }
}

/* out = the bits of `in` moved by `shift`, towards the lowest if it is positive. */
static void shift_words(const uint64_t *in, int words, ptrdiff_t shift, uint64_t *out)
{
    const ptrdiff_t whole = (shift < 0 ? -shift : shift) / 64, step = shift < 0 ? -1 : 1;
    const int bits = (int)((shift < 0 ? -shift : shift) % 64);
    for (ptrdiff_t w = 0; w < words; ++w) {
        const ptrdiff_t near = w + step * whole, far = near + step;
        const uint64_t a = near >= 0 && near < words ? in[near] : 0;
        const uint64_t b = far >= 0 && far < words && bits ? in[far] : 0;
        if (!bits)
            out[w] = a;
        else
            out[w] = shift < 0 ? a << bits | b >> (64 - bits) : a >> bits | b << (64 - bits);
    }
}

/* Write all variants of a record, (variants, planes + 1, words); `own` has room for words. */
static void make_variants(const degree_sum *f, const uint64_t *packed, ptrdiff_t record, uint64_t *own, uint64_t *out)
{
    const size_t words = (size_t)f->words, size = record_words(f);
    const uint64_t *group = packed + (size_t)(record / GROUP) * size * GROUP + record % GROUP;
    for (int p = 0; p <= f->planes; ++p) {
        for (size_t w = 0; w < words; ++w)
            own[w] = group[(p * words + w) * GROUP];
        memcpy(out + p * words, own, words * sizeof *own);
        for (ptrdiff_t s = 1; s <= f->shift; ++s) {
            shift_words(own, f->words, s, out + (2 * s - 1) * size + p * words);
            shift_words(own, f->words, -s, out + 2 * s * size + p * words);
        }
    }
}

/* What becomes of sums: they are divided by the divisor and, if there are diagonals, by the roots of their products.
 *
 * table: what that gives for the sums 0, 1, 2, …, where all sums are integers and all diagonals one number; or NULL.
 * singles: the same in single precision, for results in it; or NULL.
 * even: whether the columns' diagonals are one number.
 * found: raised as `largest_of_row` does, unless it is NULL. */
typedef struct {
    const double *table;
    const float *singles;
    int even;
    int64_t *found;
} degree_finish;

ALWAYS_INLINE void divide_body(const double *sums, ptrdiff_t n, double divisor, double *out)
{
    for (ptrdiff_t j = 0; j < n; ++j)
        out[j] = sums[j] / divisor;
}

DEFINE_LEVELS(divide, divide_body, (const double *sums, ptrdiff_t n, double divisor, double *out),
              (sums, n, divisor, out))

static void finish(int level, const degree_finish *how, const double *sums, ptrdiff_t n, double divisor,
                   double diagonal, const double *diagonals, double *out)
{
    int64_t unused = 0, *found = how->found != NULL ? how->found : &unused;
    if (how->table != NULL) {
        for (ptrdiff_t j = 0; j < n; ++j)
            out[j] = how->table[(ptrdiff_t)sums[j]];
        return;
    }
    CALL_LEVEL(level, divide, sums, n, divisor, out);
    if (diagonals != NULL)
        normalise_row(level, out, n, diagonal, diagonals, how->even, found);
    else if (how->found != NULL)
        largest_of_row(level, out, n, found);
}

#define MEMBER(number, w, n, ...)  \
    if ((n) > (number)) {          \
        enum { w = (number) };     \
        __VA_ARGS__                \
    }
/* The statement for w = 0, …, n − 1; if n ≤ 16 is fixed, with constants, so that arrays become registers. */
#define EACH(w, n, fixed, ...)              \
    do {                                    \
        if (fixed) {                        \
            MEMBER(0, w, n, __VA_ARGS__)    \
            MEMBER(1, w, n, __VA_ARGS__)    \
            MEMBER(2, w, n, __VA_ARGS__)    \
            MEMBER(3, w, n, __VA_ARGS__)    \
            MEMBER(4, w, n, __VA_ARGS__)    \
            MEMBER(5, w, n, __VA_ARGS__)    \
            MEMBER(6, w, n, __VA_ARGS__)    \
            MEMBER(7, w, n, __VA_ARGS__)    \
            MEMBER(8, w, n, __VA_ARGS__)    \
            MEMBER(9, w, n, __VA_ARGS__)    \
            MEMBER(10, w, n, __VA_ARGS__)   \
            MEMBER(11, w, n, __VA_ARGS__)   \
            MEMBER(12, w, n, __VA_ARGS__)   \
            MEMBER(13, w, n, __VA_ARGS__)   \
            MEMBER(14, w, n, __VA_ARGS__)   \
            MEMBER(15, w, n, __VA_ARGS__)   \
        } else {                            \
            for (int w = 0; w < (n); ++w) { \
                __VA_ARGS__                 \
            }                               \
        }                                   \
    } while (0)

#define CONCATENATE_(a, b) a##_##b
#define CONCATENATE(a, b) CONCATENATE_(a, b)
#define NAME(name) CONCATENATE(name, SUFFIX)

#ifdef SEQKERN_X86
typedef uint64_t words8 __attribute__((vector_size(64)));
typedef double reals8 __attribute__((vector_size(64)));
typedef uint64_t words4 __attribute__((vector_size(32)));
typedef double reals4 __attribute__((vector_size(32)));
#define HALF_BYTES 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4
#define HALF_BYTE_COUNTS 0x0302020102010100, 0x0403030203020201

#define LANES 8
#define VECTOR words8
#define REALS reals8
#define AS_REALS(v) ((reals8)_mm512_cvtepi64_pd((__m512i)(v)))
#define ANY(v) _mm512_test_epi64_mask((__m512i)(v), (__m512i)(v))
#define ADD_WHERE(sum, v, bit, weight)                                                                       \
    ((reals8)_mm512_mask_add_pd((__m512d)(sum),                                                              \
                                _mm512_test_epi64_mask((__m512i)(v), _mm512_set1_epi64((long long)(bit))), \
                                (__m512d)(sum), _mm512_set1_pd(weight)))

#define SUFFIX counting
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx512vpopcntdq,avx512vbmi2")))
#define COUNTS(v) ((words8)_mm512_popcnt_epi64((__m512i)(v)))
#define TOTALS(v) (v)
#define AND_NEXT(v, next) ((v) & (words8)_mm512_shrdi_epi64((__m512i)(v), (__m512i)(next), 1))
#include "_weighted_degree_lanes.h"
#undef AND_NEXT
#undef TOTALS
#undef COUNTS
#undef TARGET
#undef SUFFIX

#define SUFFIX avx512
#define TARGET AVX512
#define COUNTS(v) ((words8)_mm512_add_epi8(LOOK_UP(v), LOOK_UP((v) >> 4)))
#define LOOK_UP(v)                                                                                        \
    _mm512_shuffle_epi8((__m512i)(words8){HALF_BYTE_COUNTS, HALF_BYTE_COUNTS, HALF_BYTE_COUNTS, HALF_BYTE_COUNTS}, \
                        (__m512i)((v) & 0x0f0f0f0f0f0f0f0fu))
#define TOTALS(v) ((words8)_mm512_sad_epu8((__m512i)(v), _mm512_setzero_si512()))
#include "_weighted_degree_lanes.h"
#undef LOOK_UP
#undef TOTALS
#undef COUNTS
#undef TARGET
#undef SUFFIX
#undef ADD_WHERE
#undef ANY
#undef AS_REALS
#undef REALS
#undef VECTOR
#undef LANES

#define LANES 4
#define VECTOR words4
#define REALS reals4
#define SUFFIX avx2
#define TARGET AVX2
#define COUNTS(v) ((words4)_mm256_add_epi8(LOOK_UP(v), LOOK_UP((v) >> 4)))
#define LOOK_UP(v)                                                                       \
    _mm256_shuffle_epi8((__m256i)(words4){HALF_BYTE_COUNTS, HALF_BYTE_COUNTS}, \
                        (__m256i)((v) & 0x0f0f0f0f0f0f0f0fu))
#define TOTALS(v) ((words4)_mm256_sad_epu8((__m256i)(v), _mm256_setzero_si256()))
#define ANY(v) (!_mm256_testz_si256((__m256i)(v), (__m256i)(v)))
/* Below 2^52 a number is the mantissa of a double. */
#define AS_REALS(v) ((reals4)((v) | 0x4330000000000000u) - 4503599627370496.0)
#include "_weighted_degree_lanes.h"
#undef AS_REALS
#undef ANY
#undef LOOK_UP
#undef TOTALS
#undef COUNTS
#undef TARGET
#undef SUFFIX
#undef REALS
#undef VECTOR
#undef LANES
#endif

#define LANES 1
#define VECTOR uint64_t
#define REALS double
#define SUFFIX plain
#define TARGET
#define COUNTS(v) byte_counts(v)
#define TOTALS(v) \
    ((((v) & 0x00ff00ff00ff00ffu) + ((v) >> 8 & 0x00ff00ff00ff00ffu)) * 0x0001000100010001u >> 48)
#define ANY(v) ((v) != 0)
#define AS_REALS(v) ((double)(v))
static inline uint64_t byte_counts(uint64_t v)
{
    v -= v >> 1 & 0x5555555555555555u;
    v = (v & 0x3333333333333333u) + (v >> 2 & 0x3333333333333333u);
    return (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0fu;
}
#include "_weighted_degree_lanes.h"

/* Whether there are instructions that count the bits of every 64-bit lane, at level 2. */
static int counts_bits(void)
{
#ifdef SEQKERN_X86
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("avx512vbmi2");
#else
    return 0;
#endif
}

/* Write the sums of one row with the columns of some groups to out, 8 for each group. */
static void sum_groups(int level, int counting, const degree_sum *f, const uint64_t *row, const uint64_t *groups,
                       ptrdiff_t n_groups, uint64_t *masks, double *out)
{
#ifdef SEQKERN_X86
    if (level == 2 && counting)
        sum_counting(f, row, groups, n_groups, masks, out);
    else
#else
    (void)counting;
#endif
        CALL_LEVEL(level, sum, f, row, groups, n_groups, masks, out);
}

static inline ptrdiff_t smaller(ptrdiff_t a, ptrdiff_t b)
{
    return a < b ? a : b;
}

/* Memory for the variants of a tile of rows, for masks, and for sums. */
typedef struct {
    ptrdiff_t tile_rows;
    ptrdiff_t tile_groups;
    void *block;
    uint64_t *masks;
    uint64_t *own;
    uint64_t *variants;
    double *sums;
} degree_memory;

static int allocate(const degree_sum *f, degree_memory *m)
{
    const size_t words = (size_t)f->words, row = variants(f) * record_words(f) * sizeof(uint64_t);
    const size_t group = record_words(f) * GROUP * sizeof(uint64_t);
    m->tile_rows = row * TILE_ROWS > TILE_VARIANTS ? (ptrdiff_t)(TILE_VARIANTS / row) : TILE_ROWS;
    m->tile_groups = (ptrdiff_t)(TILE_BYTES / group);
    m->tile_rows += m->tile_rows == 0;
    m->tile_groups += m->tile_groups == 0;
    m->block = malloc(VECTOR_BYTES + (2 * GROUP + 1) * words * sizeof(uint64_t) +
                      m->tile_groups * GROUP * sizeof(double) + m->tile_rows * row);
    if (m->block == NULL)
        return 0;
    m->masks = (uint64_t *)(((uintptr_t)m->block + VECTOR_BYTES - 1) / VECTOR_BYTES * VECTOR_BYTES);
    m->sums = (double *)(m->masks + 2 * GROUP * words);
    m->own = (uint64_t *)(m->sums + m->tile_groups * GROUP);
    m->variants = m->own + words;
    return 1;
}

/* Write K of all rows with all columns to out, or in single precision to single where `how` has a table of singles; 0
 * if there is no memory. With diagonals, K is normalised. */
static int fill_sums(int level, int counting, const degree_sum *f, const degree_records *rows,
                     const degree_records *cols, double *out, float *single, ptrdiff_t stride,
                     const degree_finish *how)
{
    const size_t size = record_words(f), row_words = variants(f) * size;
    degree_memory m;
    const int ready = allocate(f, &m);
    const ptrdiff_t last = cols->first + cols->n;
    for (ptrdiff_t top = 0; ready && top < rows->n; top += m.tile_rows) {
        const ptrdiff_t height = smaller(m.tile_rows, rows->n - top);
        for (ptrdiff_t i = 0; i < height; ++i)
            make_variants(f, rows->words, rows->first + top + i, m.own, m.variants + i * row_words);
        for (ptrdiff_t g = cols->first / GROUP; g * GROUP < last; g += m.tile_groups) {
            const ptrdiff_t groups = smaller(m.tile_groups, (last + GROUP - 1) / GROUP - g);
            const ptrdiff_t begin = g * GROUP < cols->first ? cols->first : g * GROUP;
            const ptrdiff_t end = smaller(last, (g + groups) * GROUP), left = begin - cols->first;
            for (ptrdiff_t i = 0; i < height; ++i) {
                sum_groups(level, counting, f, m.variants + i * row_words, cols->words + g * size * GROUP, groups,
                           m.masks, m.sums);
                const double *sums = m.sums + (begin - g * GROUP);
                if (how->singles != NULL) {
                    for (ptrdiff_t j = 0; j < end - begin; ++j)
                        single[(top + i) * stride + left + j] = how->singles[(ptrdiff_t)sums[j]];
                    continue;
                }
                finish(level, how, sums, end - begin, f->divisor,
                       rows->diagonal ? rows->diagonal[top + i] : 1.0, cols->diagonal ? cols->diagonal + left : NULL,
                       out + (top + i) * stride + left);
            }
        }
    }
    free(m.block);
    return ready;
}

/* Write K(x, x) of all records, not normalised, to out; 0 if there is no memory. */
static int fill_squares(int level, int counting, const degree_sum *f, const degree_records *records, double *out)
{
    degree_memory m;
    const int ready = allocate(f, &m);
    for (ptrdiff_t i = 0; ready && i < records->n; ++i) {
        const ptrdiff_t record = records->first + i;
        make_variants(f, records->words, record, m.own, m.variants);
        sum_groups(level, counting, f, m.variants, records->words + record / GROUP * GROUP * record_words(f), 1,
                   m.masks, m.sums);
        out[i] = m.sums[record % GROUP] / f->divisor;
    }
    free(m.block);
    return ready;
}

#endif
