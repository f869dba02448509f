/* Fisher scores of sequences: memory for _forward_backward.h, and the gradient from the expected counts. */
#ifndef SEQKERN_SCORES_H
#define SEQKERN_SCORES_H

#include "_forward_backward.h"

/* Forward rows that are kept take at most so many doubles, where checkpoints will do: a share of the second cache. */
enum { KEPT = 1 << 16 };

/* Memory for sequences of up to `longest` letters, to be closed; `rows`, if not 0, is the size of a segment. Returns 0
 * if there is none. */
static int open_workspace(const profile *p, ptrdiff_t longest, int with_steps, ptrdiff_t rows, workspace *w)
{
    const ptrdiff_t n = p->columns * WIDTH, whole = 3 * n + WIDTH, kept = with_steps ? whole : n;
    ptrdiff_t size, checkpoints;
    double *at;
    if (!rows) {
        rows = KEPT / kept;
        if (rows < (ptrdiff_t)sqrt((double)longest))
            rows = (ptrdiff_t)sqrt((double)longest);
    }
    if (rows > longest + 1)
        rows = longest + 1;
    w->segment = (rows + RESCALE - 1) / RESCALE * RESCALE;
    w->others = with_steps ? w->segment : 2;
    checkpoints = longest / w->segment + 1;
    size = w->segment * n + w->others * (2 * n + WIDTH) + checkpoints * whole + 4 * n + (p->letters + 1) * n +
           (with_steps ? STEPS * n : 0);
    w->match = at = malloc(sizeof(double) * size);
    w->exponents = malloc(sizeof(int32_t) * WIDTH * (longest / RESCALE + 1));
    if (!at || !w->exponents) {
        free(at);
        free(w->exponents);
        return 0;
    }
    w->other = at += w->segment * n;
    w->checkpoints = at += w->others * (2 * n + WIDTH);
    w->arriving = at += checkpoints * whole;
    w->deletes = at += n;
    w->back_match = at += n;
    w->back_insert = at += n;
    w->counts = at += n;
    w->step_counts = with_steps ? at + (p->letters + 1) * n : NULL;
    return 1;
}

static void close_workspace(workspace *w)
{
    free(w->match);
    free(w->exponents);
}

/* The steps out of one state, whose probabilities sum to 1. */
static const int STEP_GROUP[STEPS] = {0, 0, 0, 1, 1, 2, 2};

/* Write ∂ ln P / ∂θ with θ normalised anew, from the counts: for each of `length` columns and each letter, then for each
 * column and each of the 7 steps. `inverse` (length, letters) are 1/θ of the emissions, 0 where θ is 0; `chances`
 * (length, 7) the probabilities of steps, 0 for those that are no parameters. */
static void write_scores(const profile *p, const workspace *w, ptrdiff_t length, const double *inverse,
                         const double *chances, double *out)
{
    const ptrdiff_t n = p->columns * WIDTH;
    for (ptrdiff_t k = 0; k < length; ++k) {
        const double *count = w->counts + k % p->columns * WIDTH + k / p->columns;
        double sum = 0;
        for (int a = 0; a < p->letters; ++a)
            sum += count[a * n];
        for (int a = 0; a < p->letters; ++a)
            *out++ = inverse[k * p->letters + a] > 0 ? count[a * n] * inverse[k * p->letters + a] - sum : 0.0;
    }
    for (ptrdiff_t k = 0; w->step_counts && k < length; ++k) {
        const double *chance = chances + k * STEPS;
        double sums[3] = {0};
        for (int t = 0; t < STEPS; ++t) {
            /* Steps into inserts are kept where they begin: at the column before, and none from the begin. */
            const int inserts = t == MI || t == II;
            const ptrdiff_t c = inserts ? k - 1 : k;
            out[t] = c < 0 ? 0.0 : w->step_counts[t * n + c % p->columns * WIDTH + c / p->columns];
            out[t] *= inserts ? p->insert : 1.0;
            sums[STEP_GROUP[t]] += chance[t] * out[t];
        }
        for (int t = 0; t < STEPS; ++t)
            out[t] = chance[t] > 0 ? out[t] - sums[STEP_GROUP[t]] : 0.0;
        out += STEPS;
    }
}

/* Scores of records `first` to `last`, one row of `out` each, and the logarithms of their odds; returns 0 without
 * memory. A record that the model cannot emit has scores of 0. */
static int score_records(int level, const profile *p, const uint8_t *codes, const int64_t *start, const int64_t *stop,
                         ptrdiff_t first, ptrdiff_t last, ptrdiff_t length, const double *inverse,
                         const double *chances, ptrdiff_t rows, double *out, ptrdiff_t width, double *odds)
{
    ptrdiff_t longest = 0;
    workspace w;
    for (ptrdiff_t i = first; i < last; ++i)
        longest = stop[i] - start[i] > longest ? stop[i] - start[i] : longest;
    if (!open_workspace(p, longest, chances != NULL, rows, &w))
        return 0;
    for (ptrdiff_t i = first; i < last; ++i) {
        odds[i] = expected_counts(level, p, &w, codes + start[i], stop[i] - start[i], NULL);
        if (isinf(odds[i]))
            memset(out + i * width, 0, sizeof(double) * width);
        else
            write_scores(p, &w, length, inverse, chances, out + i * width);
    }
    close_workspace(&w);
    return 1;
}

/* Add to `posteriors`, zeros (n, Q·8), the probability of each match state at each of n letters; returns 0 without
 * memory. */
static int find_posteriors(int level, const profile *p, const uint8_t *x, ptrdiff_t n, double *posteriors)
{
    workspace w;
    if (!open_workspace(p, n, 0, 0, &w))
        return 0;
    expected_counts(level, p, &w, x, n, posteriors);
    close_workspace(&w);
    return 1;
}

#endif
