/* Paths of labels along a run of residues: the best one, and sums and maxima over all.
 *
 * A state is a label and the number of residues since its segment began, counted up to `memory` − 1: state s = c·memory
 * + a is label c, a residues after the first of the segment, or more if a = memory − 1. A path of labels is one path of
 * states, from states with a = 0. Its score is Σ_i E[i, c_i] + Σ_i T[s_(i−1), c_i]: the label after a state is all that
 * can be chosen. */
#ifndef SEQKERN_PATHS_H
#define SEQKERN_PATHS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    ptrdiff_t labels;
    ptrdiff_t memory;
    const double *scores; /* T (labels·memory, labels) */
} steps;

/* The state after `state` if `label` follows. */
static inline ptrdiff_t state_after(const steps *m, ptrdiff_t state, ptrdiff_t label) {
    if (state / m->memory != label) return label * m->memory;
    return state % m->memory + 1 < m->memory ? state + 1 : state;
}

/* The largest of some values, or with `sum` the logarithm of the sum of their exponentials. */
static inline double joined(const double *values, ptrdiff_t count, int sum) {
    double most = -INFINITY, total = 0.0;
    for (ptrdiff_t i = 0; i < count; i++) most = values[i] > most ? values[i] : most;
    if (!sum || most == -INFINITY) return most;
    for (ptrdiff_t i = 0; i < count; i++) total += exp(values[i] - most);
    return most + log(total);
}

/* Write the scores of the paths from the first residue to each state at each residue, (n, states). `room` has space for
 * one value of each state. */
static void go_forward(const steps *m, const double *E, ptrdiff_t n, int sum, double *forward, double *room) {
    ptrdiff_t k = m->labels, length = m->memory, states = k * length;
    for (ptrdiff_t s = 0; s < states; s++) forward[s] = s % length ? -INFINITY : E[s / length];
    for (ptrdiff_t i = 1; i < n; i++) {
        const double *before = forward + (i - 1) * states;
        double *now = forward + i * states;
        for (ptrdiff_t c = 0; c < k; c++) {
            double here = E[i * k + c];
            ptrdiff_t own = c * length, last = own + length - 1, count = 0;
            for (ptrdiff_t s = 0; s < states; s++)
                if (s < own || s > last || length == 1) room[count++] = before[s] + m->scores[s * k + c];
            now[own] = joined(room, count, sum) + here;
            for (ptrdiff_t s = own + 1; s <= last; s++) {
                room[0] = before[s - 1] + m->scores[(s - 1) * k + c];
                count = 1;
                if (s == last) room[count++] = before[s] + m->scores[s * k + c];
                now[s] = joined(room, count, sum) + here;
            }
        }
    }
}

/* Write the scores of the paths from each state at each residue, which is not counted, to the last residue. */
static void go_backward(const steps *m, const double *E, ptrdiff_t n, int sum, double *backward, double *room) {
    ptrdiff_t k = m->labels, states = k * m->memory;
    for (ptrdiff_t s = 0; s < states; s++) backward[(n - 1) * states + s] = 0.0;
    for (ptrdiff_t i = n - 2; i >= 0; i--) {
        const double *next = E + (i + 1) * k, *after = backward + (i + 1) * states;
        for (ptrdiff_t s = 0; s < states; s++) {
            for (ptrdiff_t c = 0; c < k; c++)
                room[c] = m->scores[s * k + c] + next[c] + after[state_after(m, s, c)];
            backward[i * states + s] = joined(room, k, sum);
        }
    }
}

/* Write the labels of the best path; of equal ones the first state counts. `forward` as by go_forward, maxima. */
static void trace_back(const steps *m, ptrdiff_t n, const double *forward, int64_t *path) {
    ptrdiff_t k = m->labels, states = k * m->memory, state = 0;
    const double *end = forward + (n - 1) * states;
    for (ptrdiff_t s = 1; s < states; s++) state = end[s] > end[state] ? s : state;
    path[n - 1] = state / m->memory;
    for (ptrdiff_t i = n - 1; i > 0; i--) {
        const double *before = forward + (i - 1) * states;
        ptrdiff_t label = state / m->memory, best = -1;
        double most = 0.0;
        for (ptrdiff_t s = 0; s < states; s++) {
            double value = before[s] + m->scores[s * k + label];
            if (state_after(m, s, label) == state && (best < 0 || value > most)) best = s, most = value;
        }
        state = best;
        path[i - 1] = state / m->memory;
    }
}

/* Write for each residue and label the best score of a path with it. */
static void write_maxima(const steps *m, ptrdiff_t n, const double *forward, const double *backward, double *out) {
    ptrdiff_t length = m->memory;
    for (ptrdiff_t i = 0; i < n * m->labels; i++) {
        double most = -INFINITY;
        for (ptrdiff_t s = i * length; s < (i + 1) * length; s++)
            most = forward[s] + backward[s] > most ? forward[s] + backward[s] : most;
        out[i] = most;
    }
}

/* Write for each residue and label the logarithm of its share of the paths; add the expected number of each step to
 * `counts` (states, labels) unless it is NULL. Return the logarithm of the sum over all paths. */
static double write_shares(
    const steps *m, const double *E, ptrdiff_t n, const double *forward, const double *backward, double *out,
    double *counts, double *room) {
    ptrdiff_t k = m->labels, length = m->memory, states = k * length;
    double total = joined(forward + (n - 1) * states, states, 1);
    for (ptrdiff_t i = 0; i < n * k; i++) {
        for (ptrdiff_t a = 0; a < length; a++) room[a] = forward[i * length + a] + backward[i * length + a];
        out[i] = joined(room, length, 1) - total;
    }
    if (counts)
        for (ptrdiff_t i = 1; i < n; i++)
            for (ptrdiff_t s = 0; s < states; s++) {
                double before = forward[(i - 1) * states + s] - total;
                if (before == -INFINITY) continue;
                for (ptrdiff_t c = 0; c < k; c++)
                    counts[s * k + c] += exp(
                        before + m->scores[s * k + c] + E[i * k + c] + backward[i * states + state_after(m, s, c)]);
            }
    return total;
}

/* Add the steps of a path to `counts` (states, labels). */
static void count_steps(const steps *m, const int64_t *path, ptrdiff_t n, double *counts) {
    ptrdiff_t state = n ? path[0] * m->memory : 0;
    for (ptrdiff_t i = 1; i < n; i++) {
        counts[state * m->labels + path[i]] += 1.0;
        state = state_after(m, state, path[i]);
    }
}

#endif
