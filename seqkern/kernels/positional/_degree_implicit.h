/* Reading and adding features of the weighted degree kernel that are never stored.
 *
 * f(x) = Σ_i Σ_k w_k[i, x_i..x_{i+k−1}]. Lengths up to `depth` have dense tables [position][k-mer]. Longer k-mers that
 * two windows or more share at a position are nodes, of which each window has a list; one node stands for all lengths
 * at which the same windows share. What is left is shared with nobody: one weight of the window's own.
 *
 * A dot reads weights as they are, an axpy adds c·γ_i·β_k; only for a window's own weight it is the other way round. */
#ifndef SEQKERN_DEGREE_IMPLICIT_H
#define SEQKERN_DEGREE_IMPLICIT_H

#include <stdint.h>

#include "_implicit.h"
#include "_simd.h"

enum { MOST_GROUPS = 6 };

typedef struct {
    const uint8_t *codes;
    const int64_t *starts;       /* windows: where each starts in `codes` */
    int64_t length;              /* letters of a window */
    int64_t size;                /* letters of the alphabet; codes from here on are masked */
    int64_t depth;               /* longest k-mers with a dense table */
    int64_t groups;              /* of two lengths each, see `PAIRED`; 0: one table for each length */
    const int64_t *tables;       /* where in the weights each table starts, longest k-mers first */
    const double *beta;          /* (depth,) */
    const double *gamma;         /* (length,) */
    const double *patterns;      /* (depth, groups, 4, 4), see `PAIRED` */
    int64_t nodes;               /* where in the weights the nodes start */
    const int64_t *first;        /* (windows + 1,): the nodes of a window, in `node` and `kind` */
    const int32_t *node;
    const uint16_t *kind;        /* of each node in the list: an index of `factors`; NULL: the node itself is */
    const double *factors;       /* γ_i·Σβ_k of a node */
    int64_t own;                 /* where in the weights the windows' own start */
    const double *own_factors;   /* (windows,): Σγ_i·β_k of what a window shares with nobody */
} degree_state;

/* PAIRED: four letters, none masked. One table serves the lengths k − 1 and k: it holds the sum of both weights, so that
 * a dot reads once for two lengths. An axpy adds to the four k-mers with the same first k − 1 letters, which are
 * neighbours, a pattern of four numbers: β_{k−1}, and for the last letter's own place β_k besides. Near the end missing
 * letters count as A, and patterns[letters left − 1] have zeros for the lengths that are too long. */
ALWAYS_INLINE double dot_paired(const degree_state *s, const uint8_t *x, const double *weights, const int groups)
{
    double sums[MOST_GROUPS] = {0};
    const double *tables[MOST_GROUPS];
    const int bits = 2 * (int)s->depth;
    uint32_t code = 0; /* of `depth` letters from position i, the first one highest */
    for (int g = 0; g < groups; g++)
        tables[g] = weights + s->tables[g];
    for (int64_t i = s->length - 1; i >= 0; i--) {
        code = code >> 2 | (uint32_t)x[i] << (bits - 2);
        for (int g = 0; g < groups; g++)
            sums[g] += tables[g][((uint64_t)i << (bits - 4 * g)) + (code >> 4 * g)];
    }
    double sum = 0;
    for (int g = groups - 1; g >= 0; g--)
        sum += sums[g];
    return sum;
}

ALWAYS_INLINE void axpy_paired(
    const degree_state *s, const uint8_t *x, double factor, double *weights, const int groups)
{
    double *tables[MOST_GROUPS];
    const int bits = 2 * (int)s->depth;
    uint32_t code = 0;
    for (int g = 0; g < groups; g++)
        tables[g] = weights + s->tables[g];
    for (int64_t i = s->length - 1; i >= 0; i--) {
        const int64_t left = s->length - i < s->depth ? s->length - i : s->depth;
        const double *patterns = s->patterns + (left - 1) * groups * 16;
        const double c = factor * s->gamma[i];
        code = code >> 2 | (uint32_t)x[i] << (bits - 2);
        for (int g = 0; g < groups; g++) {
            const uint32_t place = code >> 4 * g;
            double *to = tables[g] + ((uint64_t)i << (bits - 4 * g)) + (place & ~3u);
            const double *pattern = patterns + 16 * g + 4 * (place & 3);
            for (int b = 0; b < 4; b++)
                to[b] += c * pattern[b];
        }
    }
}

#define FOR_GROUPS(call, ...)        \
    switch (s->groups) {             \
    case 1: call(__VA_ARGS__, 1); break; \
    case 2: call(__VA_ARGS__, 2); break; \
    case 3: call(__VA_ARGS__, 3); break; \
    case 4: call(__VA_ARGS__, 4); break; \
    case 5: call(__VA_ARGS__, 5); break; \
    default: call(__VA_ARGS__, 6);   \
    }

/* Any alphabet, masked letters: table after table at each position, up to the first masked letter. */
static double dot_plain(const degree_state *s, const uint8_t *x, const double *weights)
{
    double sum = 0;
    for (int64_t i = 0; i < s->length; i++) {
        const int64_t longest = s->length - i < s->depth ? s->length - i : s->depth;
        int64_t code = 0, width = 1;
        for (int64_t k = 1; k <= longest && x[i + k - 1] < s->size; k++) {
            code = code * s->size + x[i + k - 1];
            width *= s->size;
            sum += weights[s->tables[s->depth - k] + i * width + code];
        }
    }
    return sum;
}

static void axpy_plain(const degree_state *s, const uint8_t *x, double factor, double *weights)
{
    for (int64_t i = 0; i < s->length; i++) {
        const int64_t longest = s->length - i < s->depth ? s->length - i : s->depth;
        const double c = factor * s->gamma[i];
        int64_t code = 0, width = 1;
        for (int64_t k = 1; k <= longest && x[i + k - 1] < s->size; k++) {
            code = code * s->size + x[i + k - 1];
            width *= s->size;
            weights[s->tables[s->depth - k] + i * width + code] += c * s->beta[k - 1];
        }
    }
}

static double degree_dot(const void *state, int64_t row, const double *weights)
{
    const degree_state *s = state;
    const uint8_t *x = s->codes + s->starts[row];
    const double *nodes = weights + s->nodes;
    double dense = 0, deep = 0;
#define DENSE(...) dense = dot_paired(__VA_ARGS__)
    if (s->groups)
        FOR_GROUPS(DENSE, s, x, weights)
    else
        dense = dot_plain(s, x, weights);
#undef DENSE
    for (int64_t e = s->first[row]; e < s->first[row + 1]; e++)
        deep += nodes[s->node[e]];
    return dense + deep + s->own_factors[row] * weights[s->own + row];
}

static void degree_axpy(const void *state, int64_t row, double factor, double *weights)
{
    const degree_state *s = state;
    const uint8_t *x = s->codes + s->starts[row];
    double *nodes = weights + s->nodes;
    if (s->groups)
        FOR_GROUPS(axpy_paired, s, x, factor, weights)
    else
        axpy_plain(s, x, factor, weights);
    for (int64_t e = s->first[row]; e < s->first[row + 1]; e++)
        nodes[s->node[e]] += factor * s->factors[s->kind ? s->kind[e] : s->node[e]];
    weights[s->own + row] += factor;
}

#endif
