/* One optimal local alignment of two sequences, and what each letter of the first has of its score.
 *
 * Of the best alignments that one is taken which ends first, and which, read backwards, has pairs rather than gaps, gaps
 * in the first sequence rather than in the second, and short gaps rather than long ones. A pair's score is its
 * first letter's. What a gap costs is shared equally by the letters of the first sequence in it; if there are none, by
 * those on its two sides. */
#ifndef SEQKERN_BEST_ALIGNMENT_H
#define SEQKERN_BEST_ALIGNMENT_H

#include "_smith_waterman.h"

/* Where H of a cell comes from; whether E right of it and F below it are those of longer gaps. */
enum { STOP, PAIR, GAP_IN_FIRST, GAP_IN_SECOND, SOURCE = 3, LONGER_IN_FIRST = 4, LONGER_IN_SECOND = 8 };

/* Add `weight` times each letter's part to shares[0 … n − 1]; what is in `m` is overwritten. */
static int share_alignment(const scoring *f, const uint8_t *x, ptrdiff_t n, const uint8_t *y, ptrdiff_t length,
                           double weight, double *shares, memory *m)
{
    const ptrdiff_t numbers = 2 * (ptrdiff_t)sizeof(int32_t) * length;
    if (reserve(m, (size_t)(numbers + n * length)))
        return 1;
    int32_t *H = m->start, *F = H + length, best = 0;
    uint8_t *trace = (uint8_t *)(F + length);
    ptrdiff_t row = 0, column = 0;
    memset(H, 0, numbers);
    for (ptrdiff_t i = 0; i < n; ++i) {
        const int32_t *score = f->score + x[i] * (f->letters + 1);
        int32_t diagonal = 0, E = 0;
        for (ptrdiff_t j = 0; j < length; ++j) {
            /* Choices without branches: they are hard to foresee. */
            const int32_t pair = diagonal + score[y[j]], above = F[j];
            const int32_t paired = pair > 0 ? pair : 0, left = E > paired ? E : paired;
            const int32_t h = above > left ? above : left;
            int from = pair > 0 ? PAIR : STOP;
            from = E > paired ? GAP_IN_FIRST : from;
            from = above > left ? GAP_IN_SECOND : from;
            if (h > best)
                best = h, row = i, column = j;
            diagonal = H[j];
            H[j] = h;
            const int32_t opened = h - f->open, longer_E = E - f->extend, longer_F = above - f->extend;
            E = longer_E > opened ? longer_E : opened;
            F[j] = longer_F > opened ? longer_F : opened;
            from += (longer_E > opened) * LONGER_IN_FIRST + (longer_F > opened) * LONGER_IN_SECOND;
            trace[i * length + j] = (uint8_t)from;
        }
    }
    if (best == 0)
        return 0;
    for (;;) {
        const uint8_t *cell = trace + row * length + column;
        const int from = *cell & SOURCE;
        if (from == PAIR) {
            shares[row] += weight * f->score[x[row] * (f->letters + 1) + y[column]];
            if (row == 0 || column == 0)
                return 0;
            --row, --column;
        } else if (from == GAP_IN_FIRST) {
            ptrdiff_t letters = 1;
            while (*(cell -= 1) & LONGER_IN_FIRST)
                ++letters;
            const double cost = weight * ((double)f->open + (double)(letters - 1) * f->extend);
            shares[row] -= cost / 2;
            shares[row + 1] -= cost / 2;
            column -= letters;
        } else if (from == GAP_IN_SECOND) {
            ptrdiff_t letters = 1;
            while (*(cell -= length) & LONGER_IN_SECOND)
                ++letters;
            const double cost = weight * ((double)f->open + (double)(letters - 1) * f->extend);
            for (ptrdiff_t k = 0; k < letters; ++k)
                shares[row - k] -= cost / letters;
            row -= letters;
        } else
            return 0;
    }
}

#endif
