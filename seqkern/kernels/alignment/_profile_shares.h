/* What each letter of one sequence has of its alignments with another one, by their profiles; in double precision.
 *
 * Smith-Waterman: of one best alignment. A pair's score is its letter's; what a gap costs is shared equally by the
 * letters in it, or, if they are the other sequence's, by those on its two sides. Local alignment kernel: how likely the
 * letter is in a pair, if alignments are as likely as they weigh. */
#ifndef SEQKERN_PROFILE_SHARES_H
#define SEQKERN_PROFILE_SHARES_H

#include "_profile_alignment.h"

/* Where the score of a cell comes from; whether a gap that goes on from there is longer. */
enum { STOP, PAIR, GAP_IN_FIRST, GAP_IN_SECOND, SOURCE = 3, LONGER_IN_FIRST = 4, LONGER_IN_SECOND = 8 };

/* Set S, (n, m), to the scores of columns. */
static void column_scores(const scoring *f, const records *rows, ptrdiff_t r, const records *lanes, ptrdiff_t l,
                          double *S)
{
    const ptrdiff_t n = record_length(rows, r), m = record_length(lanes, l), size = rows->size;
    const float *p = rows->profile + record_start(rows, r) * size, *s = rows->pssm + record_start(rows, r) * size;
    for (ptrdiff_t i = 0; i < n; ++i, p += size, s += size) {
        const float *q = lanes->profile + record_start(lanes, l) * size;
        const float *t = lanes->pssm + record_start(lanes, l) * size;
        for (ptrdiff_t j = 0; j < m; ++j, q += size, t += size) {
            double sum = f->shift;
            for (ptrdiff_t a = 0; a < size; ++a)
                sum += (double)p[a] * t[a] + (double)s[a] * q[a];
            *S++ = sum;
        }
    }
}

/* Set part[0 … n − 1] to the letters' parts of a best alignment; trace is (n, m), H and F are (m). */
static void best_parts(const scoring *f, const double *S, ptrdiff_t n, ptrdiff_t m, uint8_t *trace, double *H,
                       double *F, double *part)
{
    double best = 0;
    ptrdiff_t row = 0, column = 0;
    for (ptrdiff_t j = 0; j < m; ++j)
        H[j] = F[j] = 0;
    for (ptrdiff_t i = 0; i < n; ++i) {
        double diagonal = 0, E = 0;
        for (ptrdiff_t j = 0; j < m; ++j) {
            const double pair = diagonal + S[i * m + j];
            double here = 0;
            int from = STOP;
            if (pair > here)
                here = pair, from = PAIR;
            if (E > here)
                here = E, from = GAP_IN_FIRST;
            if (F[j] > here)
                here = F[j], from = GAP_IN_SECOND;
            if (here > best)
                best = here, row = i, column = j;
            diagonal = H[j];
            H[j] = here;
            E -= f->gap_extend;
            F[j] -= f->gap_extend;
            from |= (E > here - f->gap_open ? LONGER_IN_FIRST : 0) | (F[j] > here - f->gap_open ? LONGER_IN_SECOND : 0);
            E = E > here - f->gap_open ? E : here - f->gap_open;
            F[j] = F[j] > here - f->gap_open ? F[j] : here - f->gap_open;
            trace[i * m + j] = (uint8_t)from;
        }
    }
    if (best == 0)
        return;
    for (;;) {
        const uint8_t *cell = trace + row * m + column;
        const int from = *cell & SOURCE;
        ptrdiff_t letters = 1;
        if (from == PAIR) {
            part[row] += S[row * m + column];
            if (row-- == 0 || column-- == 0)
                return;
        } else if (from == GAP_IN_FIRST) {
            while (*(cell -= 1) & LONGER_IN_FIRST)
                ++letters;
            const double cost = (double)f->gap_open + (double)(letters - 1) * f->gap_extend;
            part[row] -= cost / 2;
            part[row + 1] -= cost / 2;
            column -= letters;
        } else if (from == GAP_IN_SECOND) {
            while (*(cell -= m) & LONGER_IN_SECOND)
                ++letters;
            const double cost = (double)f->gap_open + (double)(letters - 1) * f->gap_extend;
            for (ptrdiff_t k = 0; k < letters; ++k)
                part[row - k] -= cost / (double)letters;
            row -= letters;
        } else
            return;
    }
}

/* Set M, (n, m), to the sums over alignments that end in each pair, row i times 2^−power[i], from the pairs' weights W.
 * `step` -1: of those that begin there, W and M being read from their ends. all and X are (m). */
static void sums_of_pairs(const scoring *f, const double *W, ptrdiff_t n, ptrdiff_t m, int step, double *M,
                          int64_t *power, double *all, double *X)
{
    memset(all, 0, sizeof(double) * m);
    memset(X, 0, sizeof(double) * m);
    int64_t now = 0;
    for (ptrdiff_t i = 0; i < n; ++i) {
        double most = 0, diagonal = 0, Y = 0;
        for (ptrdiff_t j = 0; j < m; ++j)
            most = all[j] > most ? all[j] : most;
        const int64_t next = most > 0 && now + power_of(most) > 0 ? now + power_of(most) : 0;
        const double factor = power_of_two(now - next), one = power_of_two(-next);
        now = power[i] = next;
        for (ptrdiff_t j = 0; j < m; ++j, W += step, M += step) {
            const double pair = *W * (diagonal + one), x = X[j] * factor, before = pair + x;
            diagonal = all[j] * factor;
            all[j] = before + Y;
            X[j] = x * f->extend_weight + pair * f->open_weight;
            Y = Y * f->extend_weight + before * f->open_weight;
            *M = pair;
        }
    }
}

/* Set part[0 … n − 1] to numbers proportional to the letters' probabilities of being in a pair. W and both sums are
 * (n, m), the powers (n), all and X (m); W are the scores at first. */
static void sum_parts(const scoring *f, double *W, ptrdiff_t n, ptrdiff_t m, double *ending, double *beginning,
                      int64_t *powers, double *all, double *X, double *part)
{
    for (ptrdiff_t k = 0; k < n * m; ++k)
        W[k] = exp(f->beta * W[k]);
    sums_of_pairs(f, W, n, m, 1, ending, powers, all, X);
    sums_of_pairs(f, W + n * m - 1, n, m, -1, beginning + n * m - 1, powers + n, all, X);
    int64_t most = INT64_MIN;
    for (ptrdiff_t i = 0; i < n; ++i) {
        for (ptrdiff_t j = i * m; j < (i + 1) * m; ++j)
            part[i] += W[j] > 0 ? ending[j] * (beginning[j] / W[j]) : 0;
        /* From here on powers[i] is that of the part. */
        powers[i] += powers[2 * n - 1 - i];
        if (part[i] > 0 && powers[i] + power_of(part[i]) > most)
            most = powers[i] + power_of(part[i]);
    }
    for (ptrdiff_t i = 0; i < n; ++i) {
        const int64_t digits = power_of(part[i]);
        part[i] = part[i] > 0 ? part[i] * power_of_two(-digits) * power_of_two(powers[i] + digits - most) : 0;
    }
}

/* Add to shares[0 … n − 1] `value`, shared among the letters of row r by its alignments with lane l. Return 0, or -1
 * without memory. */
static int share_pair(const scoring *f, const records *rows, ptrdiff_t r, const records *lanes, ptrdiff_t l,
                      double value, double *shares)
{
    const ptrdiff_t n = record_length(rows, r), m = record_length(lanes, l);
    if (n == 0 || m == 0)
        return 0;
    /* Scores, two more of their shape, numbers of columns and of rows. */
    double *S = malloc(sizeof(double) * (3 * n * m + 2 * m + n) + sizeof(int64_t) * 2 * n);
    if (!S)
        return -1;
    double *more = S + n * m, *column = S + 3 * n * m, *part = column + 2 * m, total = 0;
    memset(part, 0, sizeof(double) * n);
    column_scores(f, rows, r, lanes, l, S);
    if (f->method == SMITH_WATERMAN)
        best_parts(f, S, n, m, (uint8_t *)more, column, column + m, part);
    else
        sum_parts(f, S, n, m, more, more + n * m, (int64_t *)(part + n), column, column + m, part);
    for (ptrdiff_t i = 0; i < n; ++i)
        total += part[i];
    for (ptrdiff_t i = 0; i < n && total > 0; ++i)
        shares[i] += value * (part[i] / total);
    free(S);
    return 0;
}

#endif
