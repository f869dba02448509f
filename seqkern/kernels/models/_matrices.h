/* Many weight matrices at once: the scores of MATRIX_LANES motifs at one position are the lanes of a vector.
 *
 * Codes are those of letters, then one of a masked letter, then one for what is beyond the end. A column takes letters
 * only: the other two score so low that no sum with them reaches a threshold. Columns beyond a motif's own score 0. */
#ifndef SEQKERN_MATRICES_H
#define SEQKERN_MATRICES_H

#include "_hits.h"
#include "_simd.h"

enum { MATRIX_LANES = 16 };

typedef struct {
    const int32_t *scores;     /* (width, codes, MATRIX_LANES) */
    const int32_t *thresholds; /* (MATRIX_LANES,) */
    const int32_t *owner;      /* (MATRIX_LANES,): the motif; lanes without one reach no threshold */
    ptrdiff_t width, codes;
} matrix_bank;

#if defined(__GNUC__)
typedef int32_t score_lanes __attribute__((vector_size(32), aligned(4), may_alias));
#else
typedef int32_t score_lanes;
#endif
enum { SCORE_VECTORS = MATRIX_LANES * sizeof(int32_t) / sizeof(score_lanes) };

/* `text` has `width` codes beyond its n letters. */
ALWAYS_INLINE void scan_matrices_body(const matrix_bank *banks, ptrdiff_t count, const uint8_t *text, ptrdiff_t n,
                                      hit_list *hits)
{
    for (ptrdiff_t g = 0; g < count; ++g) {
        const matrix_bank *b = banks + g;
        const score_lanes *scores = (const score_lanes *)b->scores;
        for (ptrdiff_t i = 0; i < n; ++i) {
            union {
                score_lanes vectors[SCORE_VECTORS];
                int32_t lanes[MATRIX_LANES];
            } sum;
            score_lanes total[SCORE_VECTORS];
            for (int v = 0; v < SCORE_VECTORS; ++v)
                total[v] = scores[text[i] * SCORE_VECTORS + v];
            for (ptrdiff_t j = 1; j < b->width; ++j)
                for (int v = 0; v < SCORE_VECTORS; ++v)
                    total[v] += scores[(j * b->codes + text[i + j]) * SCORE_VECTORS + v];
            int found = 0;
            for (int v = 0; v < SCORE_VECTORS; ++v)
                sum.vectors[v] = total[v];
            for (int l = 0; l < MATRIX_LANES; ++l)
                found |= sum.lanes[l] >= b->thresholds[l];
            if (found)
                for (int l = 0; l < MATRIX_LANES; ++l)
                    if (sum.lanes[l] >= b->thresholds[l])
                        add_hit(hits, b->owner[l], i);
        }
    }
}

DEFINE_LEVELS(scan_matrices, scan_matrices_body,
              (const matrix_bank *banks, ptrdiff_t count, const uint8_t *text, ptrdiff_t n, hit_list *hits),
              (banks, count, text, n, hits))

static void scan_matrix_banks(int level, const matrix_bank *banks, ptrdiff_t count, const uint8_t *text, ptrdiff_t n,
                              hit_list *hits)
{
    CALL_LEVEL(level, scan_matrices, banks, count, text, n, hits);
}

#endif
