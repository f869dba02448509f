/* The best global alignment of two alignments, by the sum of the scores of all pairs of their residues.

   A column is how often each letter is in it, and how many residues it has, masked ones included, which score nothing.
   A gap costs `open` for its first column and `extend` for each further one, times the residues of the column and the
   sequences of the other alignment.
   All values are integers, exact as doubles: they do not depend on the order of sums. */

#ifndef SEQKERN_ALIGNMENT_H
#define SEQKERN_ALIGNMENT_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

enum { PAIR, FIRST, SECOND }; /* a column of both alignments, of the first alone, of the second alone */

typedef struct {
    ptrdiff_t length;      /* columns */
    double sequences;
    const double *letters; /* (letters, length) */
    const double *filled;  /* (length,): residues */
} columns;

typedef struct {
    ptrdiff_t letters;
    const double *score; /* (letters, letters) */
    double open, extend;
} costs;

/* Return the best of three, and in `from` which it is; of equal ones the first. */
static inline double best_of(double pair, double first, double second, uint8_t *from) {
    double best = pair;
    *from = PAIR;
    if (first > best) { best = first; *from = FIRST; }
    if (second > best) { best = second; *from = SECOND; }
    return best;
}

/* Write the scores of column i of the first alignment with all columns of the second. */
static void score_row(const costs *c, const columns *a, const columns *b, ptrdiff_t i, double *out) {
    for (ptrdiff_t j = 0; j < b->length; j++) out[j] = 0;
    for (ptrdiff_t v = 0; v < c->letters; v++) {
        double weight = 0;
        const double *counts = b->letters + v * b->length;
        for (ptrdiff_t u = 0; u < c->letters; u++) weight += a->letters[u * a->length + i] * c->score[u * c->letters + v];
        if (weight == 0) continue;
        for (ptrdiff_t j = 0; j < b->length; j++) out[j] += weight * counts[j];
    }
}

/* Write the states along the best path, from the last column to the first, to `path` (a->length + b->length); return
   how many there are, or -1 without memory. */
static ptrdiff_t align_columns(const costs *c, const columns *a, const columns *b, uint8_t *path) {
    ptrdiff_t n = a->length, m = b->length, width = m + 1, steps = 0;
    uint8_t *from = malloc((size_t)(n + 1) * (size_t)width);
    double *work = malloc((size_t)(4 * width) * sizeof(double));
    if (!from || !work) {
        free(from);
        free(work);
        return -1;
    }
    double *pair = work, *first = pair + width, *second = first + width, *scores = second + width;
    const double never = -1e300;
    for (ptrdiff_t i = 0; i <= n; i++) {
        double before_pair = 0, before_first = 0, before_second = 0; /* of column j - 1 in the row above */
        double gap = i ? a->filled[i - 1] * b->sequences : 0;
        if (i) score_row(c, a, b, i - 1, scores);
        for (ptrdiff_t j = 0; j <= m; j++) {
            uint8_t by_pair = PAIR, by_first = PAIR, by_second = PAIR;
            double above_pair = pair[j], above_first = first[j], above_second = second[j];
            if (i == 0) above_pair = above_first = above_second = never;
            double start = gap * c->open, on = gap * c->extend;
            double here_pair = i == 0 && j == 0 ? 0 : never, here_first = never, here_second = never;
            if (i && j) here_pair = scores[j - 1] + best_of(before_pair, before_first, before_second, &by_pair);
            if (i) here_first = best_of(above_pair - start, above_first - on, above_second - start, &by_first);
            if (j) {
                double other = b->filled[j - 1] * a->sequences;
                start = other * c->open, on = other * c->extend;
                here_second = best_of(pair[j - 1] - start, first[j - 1] - start, second[j - 1] - on, &by_second);
            }
            before_pair = above_pair, before_first = above_first, before_second = above_second;
            pair[j] = here_pair, first[j] = here_first, second[j] = here_second;
            from[i * width + j] = (uint8_t)(by_pair | by_first << 2 | by_second << 4);
        }
    }
    uint8_t state;
    best_of(pair[m], first[m], second[m], &state);
    for (ptrdiff_t i = n, j = m; i || j; steps++) {
        path[steps] = state;
        uint8_t sources = from[i * width + j];
        i -= state != SECOND;
        j -= state != FIRST;
        state = sources >> 2 * path[steps] & 3;
    }
    free(from);
    free(work);
    return steps;
}

#endif
