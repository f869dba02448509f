/* The shortest fast code for two kernels, to measure seqkern's against: no checks, no options, one thread. Each writes the
 * normalised matrix of n records, whose codes are codes[start[i]] .. codes[start[i + 1]]; both sides of the diagonal. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 64 };

/* Copy a block of rows, from row `top` on, to the other side of the diagonal while it is in the cache. */
#define DEFINE_MIRROR(name, number)                                                             \
    static void name(number *out, int64_t n, int64_t top)                                       \
    {                                                                                           \
        const int64_t bottom = top + BLOCK < n ? top + BLOCK : n;                               \
        for (int64_t j0 = top; j0 < n; j0 += 8)                                                 \
            for (int64_t i0 = top; i0 < bottom; i0 += 8)                                        \
                for (int64_t j = j0; j < j0 + 8 && j < n; ++j)                                  \
                    for (int64_t i = i0; i < i0 + 8 && i < bottom && i < j; ++i)                \
                        out[j * n + i] = out[i * n + j];                                        \
    }
DEFINE_MIRROR(mirror_double, double)
DEFINE_MIRROR(mirror_float, float)

/* Posting lists: row i meets the columns from its own on in the list of each of its k-mers. */
void spectrum(const uint8_t *codes, const int64_t *start, int64_t n, int letters, int k, double *out)
{
    int64_t space = 1, windows = start[n];
    for (int i = 0; i < k; ++i)
        space *= letters;
    int64_t *first = malloc((n + 1) * sizeof *first), *next = calloc(space + 1, sizeof *next);
    int32_t *kmer = malloc(windows * sizeof *kmer), *count = malloc(windows * sizeof *count);
    int32_t *slot = malloc(space * sizeof *slot), *sums = malloc(n * sizeof *sums);
    int64_t *place = malloc(windows * sizeof *place), at = 0;
    uint32_t *postings = malloc(windows * sizeof *postings);
    double *square = calloc(n, sizeof *square);
    memset(slot, 0xff, space * sizeof *slot);
    for (int64_t i = 0; i < n; ++i) {
        int64_t code = 0, run = 0;
        first[i] = at;
        for (int64_t p = start[i]; p < start[i + 1]; ++p) {
            run = codes[p] < letters ? run + 1 : 0;
            code = run ? (code * letters + codes[p]) % space : 0;
            if (run < k)
                continue;
            if (slot[code] < first[i]) {
                slot[code] = (int32_t)at;
                kmer[at] = (int32_t)code;
                count[at++] = 0;
                next[code + 1]++;
            }
            count[slot[code]]++;
        }
        for (int64_t q = first[i]; q < at; ++q)
            square[i] += (double)count[q] * count[q];
    }
    first[n] = at;
    for (int64_t f = 0; f < space; ++f)
        next[f + 1] += next[f];
    for (int64_t i = 0; i < n; ++i)
        for (int64_t q = first[i]; q < first[i + 1]; ++q) {
            place[q] = next[kmer[q]]++;
            postings[place[q]] = (uint32_t)count[q] << 16 | (uint32_t)i;
        }
    for (int64_t i = 0; i < n; ++i) {
        memset(sums, 0, n * sizeof *sums);
        for (int64_t q = first[i]; q < first[i + 1]; ++q)
            for (int64_t p = place[q]; p < next[kmer[q]]; ++p)
                sums[postings[p] & 0xffff] += count[q] * (int32_t)(postings[p] >> 16);
        for (int64_t j = i; j < n; ++j)
            out[i * n + j] = sums[j] / sqrt(square[i] * square[j]);
        if ((i + 1) % BLOCK == 0 || i + 1 == n)
            mirror_double(out, n, i / BLOCK * BLOCK);
    }
    void *used[] = {first, next, kmer, count, slot, sums, place, postings, square};
    for (int u = 0; u < 9; ++u)
        free(used[u]);
}

/* One bit for each position of DNA of equal lengths up to 192: runs of k matches are where mask & mask >> 1 … is set, and
 * Σ_k (degree − k + 1) · runs of k is a sum of sums. */
enum { WORDS = 3 };
#define DEFINE_WEIGHTED_DEGREE(name, number, mirror)                                                             \
    void name(const uint8_t *codes, const int64_t *start, int64_t n, int degree, number *out)                  \
    {                                                                                                           \
        uint64_t *bits = calloc((size_t)n * 2 * WORDS, sizeof *bits);                                           \
        const int64_t length = start[1], words = (length + 63) / 64;                                            \
        for (int64_t i = 0; i < n; ++i)                                                                         \
            for (int64_t p = 0; p < length; ++p)                                                                \
                for (int b = 0; b < 2; ++b)                                                                     \
                    bits[(b * WORDS + p / 64) * n + i] |= (uint64_t)(codes[start[i] + p] >> b & 1) << p % 64;   \
        int64_t most = 0;                                                                                       \
        for (int k = 1; k <= degree; ++k)                                                                       \
            most += (degree - k + 1) * (length - k + 1);                                                        \
        const number scale = (number)(1.0 / (double)most);                                                      \
        for (int64_t i = 0; i < n; ++i) {                                                                       \
            for (int64_t j0 = i; j0 < n; j0 += 8) {                                                             \
                uint64_t mask[WORDS][8] = {{0}}, sum[8] = {0}, any = 1;                                         \
                const int64_t wide = n - j0 < 8 ? n - j0 : 8;                                                   \
                for (int64_t w = 0; w < words; ++w)                                                             \
                    for (int64_t c = 0; c < wide; ++c)                                                          \
                        mask[w][c] = ~((bits[w * n + i] ^ bits[w * n + j0 + c]) |                               \
                                       (bits[(WORDS + w) * n + i] ^ bits[(WORDS + w) * n + j0 + c])) &          \
                                     (length - 64 * w >= 64 ? ~0ull : (1ull << (length - 64 * w)) - 1);         \
                for (int k = degree; k && any; --k) {                                                           \
                    any = 0;                                                                                    \
                    for (int64_t w = 0; w < WORDS; ++w)                                                         \
                        for (int c = 0; c < 8; ++c)                                                             \
                            sum[c] += (uint64_t)__builtin_popcountll(mask[w][c]) * (uint64_t)k;                 \
                    for (int64_t w = 0; w < WORDS; ++w)                                                         \
                        for (int c = 0; c < 8; ++c) {                                                           \
                            const uint64_t above = w + 1 < WORDS ? mask[w + 1][c] << 63 : 0;                    \
                            mask[w][c] &= mask[w][c] >> 1 | above;                                              \
                            any |= mask[w][c];                                                                  \
                        }                                                                                       \
                }                                                                                               \
                for (int64_t c = 0; c < wide; ++c)                                                              \
                    out[i * n + j0 + c] = (number)(int64_t)sum[c] * scale;                                      \
            }                                                                                                   \
            if ((i + 1) % BLOCK == 0 || i + 1 == n)                                                             \
                mirror(out, n, i / BLOCK * BLOCK);                                                              \
        }                                                                                                       \
        free(bits);                                                                                             \
    }
DEFINE_WEIGHTED_DEGREE(weighted_degree_double, double, mirror_double)
DEFINE_WEIGHTED_DEGREE(weighted_degree_float, float, mirror_float)
