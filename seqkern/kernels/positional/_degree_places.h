/* What each place of one record adds to Σ_j c_j·K(x, z_j): matches are taken one by one, in plain C.
 *
 * Of a run of matching letters, the k-mers that start at one letter are as many as are left of the run. So what is
 * noted at a letter is the longest k, and shorter ones are added at the end. */
#ifndef SEQKERN_DEGREE_PLACES_H
#define SEQKERN_DEGREE_PLACES_H

#include "_weighted_degree.h"

static inline int highest_bit(uint64_t v)
{
#if defined(__GNUC__)
    return 63 - __builtin_clzll(v);
#else
    int i = 63;
    for (; !(v >> i & 1); --i)
        ;
    return i;
#endif
}

/* Add the matches of one variant of x, x moved `shift` letters towards the start, with a record z: `factor` times the
 * position weight to longest[k − 1][place in x] of each run of k letters, or k of `lengths` if it has more. */
static void note_runs(const degree_sum *f, const uint64_t *x, const uint64_t *z, const double *starts,
                      ptrdiff_t shift, double factor, ptrdiff_t lengths, ptrdiff_t length, double *longest)
{
    const ptrdiff_t W = f->words, valid = f->planes * W;
    ptrdiff_t last = -2, run = 0;
    for (ptrdiff_t w = W - 1; w >= 0; --w) {
        uint64_t same = x[valid + w] & z[(valid + w) * GROUP];
        for (int p = 0; p < f->planes; ++p)
            same &= ~(x[p * W + w] ^ z[(p * W + w) * GROUP]);
        while (same) {
            const int bit = highest_bit(same);
            const ptrdiff_t i = 64 * w + bit;
            run = i + 1 == last ? run + 1 : 1;
            last = i;
            longest[(smaller(run, lengths) - 1) * length + i + shift] += factor * starts[i];
            same ^= (uint64_t)1 << bit;
        }
    }
}

/* Write to out[k − 1][i], for k = 1, …, lengths, Σ_j c_j·(what the matches of the k-mer of x at i with z_j weigh),
 * without the weight of the length; 0 if there is no memory. */
static int note_places(const degree_sum *f, const uint64_t *packed, ptrdiff_t record, const degree_records *others,
                       const double *coefficients, ptrdiff_t lengths, ptrdiff_t length, double *out)
{
    const size_t words = (size_t)f->words, size = record_words(f);
    uint64_t *own = malloc((variants(f) * size + words) * sizeof *own), *x = own + words;
    if (own == NULL)
        return 0;
    make_variants(f, packed, record, own, x);
    memset(out, 0, sizeof *out * lengths * length);
    for (ptrdiff_t j = 0; j < others->n; ++j) {
        const ptrdiff_t at = others->first + j;
        const uint64_t *z = others->words + (size_t)(at / GROUP) * size * GROUP + at % GROUP;
        if (coefficients[j] == 0)
            continue;
        for (ptrdiff_t v = 0; v < (ptrdiff_t)variants(f); ++v) {
            const ptrdiff_t s = (v + 1) / 2;
            note_runs(f, x + v * size, z, f->starts + v * words * 64, v % 2 ? s : -s,
                      coefficients[j] * (s ? f->shift_weights[s] : 1.0), lengths, length, out);
        }
    }
    for (ptrdiff_t k = lengths - 1; k > 0; --k)
        for (ptrdiff_t i = 0; i < length; ++i)
            out[(k - 1) * length + i] += out[k * length + i];
    free(own);
    return 1;
}

/* Share places[k − 1][i] times the weight of length k equally among the letters of the k-mer. */
static void share_places(const double *places, const double *length_weights, ptrdiff_t lengths, ptrdiff_t length,
                         double *shares)
{
    for (ptrdiff_t k = 1; k <= lengths; ++k)
        for (ptrdiff_t i = 0; i + k <= length; ++i) {
            const double share = places[(k - 1) * length + i] * length_weights[k - 1] / (double)k;
            if (share != 0)
                for (ptrdiff_t letter = i; letter < i + k; ++letter)
                    shares[letter] += share;
        }
}

#endif
