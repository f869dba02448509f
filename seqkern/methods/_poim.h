/* Expectations of a weighted degree SVM over random sequences, from one support window at a time.

   A run starts at letter p of x and q of the window z, has k letters and the weight beta_k * place[q - p][p]; in random
   letters it is found with the probability of its letters. What is kept, for every short interval [s, s + n) of x and
   the letters that z has there, is the sum over runs of weight * probability of the letters outside the interval:

     through  runs that cover the interval and may go on at both sides
     left     runs that start anywhere up to s and end with the interval
     right    runs that start with the interval and may go on at the right
     inside   the run that is the interval

   With W(k) for weight * probability of the run of k letters from q, and T(n) = W(n) + W(n + 1) + ..., the sum over all
   runs that cover [s, s + n) on one diagonal is D_n(s) = D_{n+1}(s - 1) + place(s) T_s(n): one pass over a window for
   all n. Division by the probability of the interval's letters takes them out again. */

#ifndef SEQKERN_POIM_H
#define SEQKERN_POIM_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    ptrdiff_t length;     /* letters of a window */
    ptrdiff_t degree;     /* longest run */
    ptrdiff_t orders;     /* longest interval of `through`; the others keep those shorter by one */
    ptrdiff_t size;       /* letters of the alphabet; greater codes are masked */
    ptrdiff_t shift;      /* diagonals -shift .. shift */
    ptrdiff_t width;      /* entries of a work row: more than degree + 1 and orders + 1 */
    const double *beta;   /* (degree,) */
    const double *place;  /* (2 shift + 1, length): weight of a run by its start in x */
    const double *chance; /* (size,): of each letter, positive */
    double *through, *left, *right, *inside;
    double *work;         /* (2 shift + 4, width) */
} poim_tables;

/* Write T(n), the sum of W(k) over n <= k <= limit, for all n of a row. */
static void poim_tails(const double *W, double *T, ptrdiff_t limit, ptrdiff_t width) {
    for (ptrdiff_t n = limit + 1; n < width; n++) T[n] = 0;
    for (ptrdiff_t n = limit; n > 0; n--) T[n] = T[n + 1] + W[n];
}

/* Add the intervals of one diagonal that start at letter q of the window, p of x. */
static void poim_intervals(
    const poim_tables *t, const uint8_t *z, ptrdiff_t q, ptrdiff_t p, double c, double g,
    const double *D, const double *T, const double *W
) {
    ptrdiff_t room = t->length - (p > q ? p : q), words = 1, start = 0, word = 0;
    double chance = 1;
    if (room > t->orders) room = t->orders;
    for (ptrdiff_t n = 1; n <= room; n++) {
        ptrdiff_t code = z[q + n - 1];
        if (code >= t->size) return;
        words *= t->size;
        word = word * t->size + code;
        chance *= t->chance[code];
        ptrdiff_t entry = start + p * words + word;
        double factor = c / chance;
        t->through[entry] += factor * D[n];
        if (n < t->orders) {
            t->left[entry] += factor * (D[n] - D[n + 1]);
            t->right[entry] += factor * g * T[n];
            t->inside[entry] += factor * g * W[n];
        }
        start += t->length * words;
    }
}

/* Add one support window z with the coefficient c. */
static void poim_add(const poim_tables *t, const uint8_t *z, double c) {
    ptrdiff_t width = t->width, diagonals = 2 * t->shift + 1;
    double *W = t->work, *whole = W + width, *cut = whole + width, *sums = cut + width;
    for (ptrdiff_t i = 0; i < diagonals * width; i++) sums[i] = 0;
    for (ptrdiff_t q = 0; q < t->length; q++) {
        ptrdiff_t limit = t->length - q < t->degree ? t->length - q : t->degree;
        double chance = 1;
        for (ptrdiff_t k = 1; k < width; k++) {
            int found = k <= limit && z[q + k - 1] < t->size;
            chance = found ? chance * t->chance[z[q + k - 1]] : 0;
            W[k] = found ? t->beta[k - 1] * chance : 0;
        }
        poim_tails(W, whole, limit, width);
        for (ptrdiff_t row = 0; row < diagonals; row++) {
            ptrdiff_t p = q + t->shift - row;
            if (p < 0 || p >= t->length) continue;
            const double *T = whole;
            if (t->length - p < limit) { /* x ends before the run does */
                poim_tails(W, cut, t->length - p, width);
                T = cut;
            }
            double g = t->place[row * t->length + p], *D = sums + row * width;
            for (ptrdiff_t n = 1; n < width - 1; n++) D[n] = D[n + 1] + g * T[n];
            poim_intervals(t, z, q, p, c, g, D, T, W);
        }
    }
}

#endif
