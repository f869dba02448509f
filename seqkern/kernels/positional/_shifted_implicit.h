/* Reading and adding features of the shifted weighted degree kernel that are never stored.
 *
 * K(x, y) = Σ_k β_k Σ_{p,q} A_pq [x_p..x_{p+k−1} = y_q..y_{q+k−1}], A_pq = γ_min(p,q)·δ_|p−q| where p and q are close
 * enough, else 0. A dot reads w_k[x_p.., p] at every p; an axpy at q adds c·β_k·A_pq to all p around q. So the dense
 * tables are [k-mer][position], and an axpy is one short vector addition for each k-mer.
 *
 * Longer k-mers: a cell is a weight w_k[k-mer, p] that some window reads. Cells of one k-mer whose positions are close are
 * a cluster, side by side and by position; one cluster stands for all lengths at which the same windows have it. A k-mer
 * in a cluster of its own is left to one weight of the window. See `_shifted_cells.h`. */
#ifndef SEQKERN_SHIFTED_IMPLICIT_H
#define SEQKERN_SHIFTED_IMPLICIT_H

#include <stdint.h>

#include "_implicit.h"
#include "_simd.h"

enum { FIRST = 1 << 15, AHEAD = 2, FETCHED = 4, CELLS_AHEAD = 16 };

typedef struct {
    uint16_t position;
    uint16_t kind; /* an index of factors; and FIRST, where its cluster begins */
} cell_place;

typedef struct {
    const uint8_t *codes;
    const int64_t *starts;     /* windows: where each starts in `codes` */
    int64_t length;            /* letters of a window */
    int64_t size;              /* letters of the alphabet; codes from here on are masked */
    int64_t depth;             /* longest k-mers with a dense table */
    const int64_t *tables;     /* where in the weights the table of length k starts, at k − 1 */
    const double *beta;        /* (depth,) */
    int64_t stride;            /* weights of a k-mer in a table: its positions, in whole lines of the cache, that is 8 */
    int64_t shift;             /* the largest */
    const int32_t *nearest;    /* (length,): for each q the start of the line with the first p that has an A_pq */
    const int32_t *span;       /* (length,): weights from there to the last p, in whole lines */
    const double *reach;       /* (length, width): A_pq from `nearest` on, and zeros */
    int64_t width;
    int64_t cells;             /* where in the weights the cells start */
    const int64_t *first;      /* (windows + 1,): the cells of a window, in `cell` */
    const int32_t *cell;
    const cell_place *places;  /* (cells + 1,): the last one begins a cluster that is none */
    const double *factors;     /* Σβ_k of the lengths that a cell stands for: by its kind or, if not `kinds`, its own */
    int kinds;
    int64_t own;               /* where in the weights the windows' own start */
    const double *own_factors; /* (windows,): Σγ_p·β_k of the k-mers that are near no other */
} shifted_state;

static double shifted_dot(const void *state, int64_t row, const double *weights)
{
    const shifted_state *s = state;
    const uint8_t *x = s->codes + s->starts[row];
    const double *cells = weights + s->cells;
    double dense = 0, deep = 0;
    for (int64_t p = 0; p < s->length; p++) {
        const int64_t longest = s->length - p < s->depth ? s->length - p : s->depth;
        int64_t code = 0;
        for (int64_t k = 1; k <= longest && x[p + k - 1] < s->size; k++) {
            code = code * s->size + x[p + k - 1];
            dense += weights[s->tables[k - 1] + code * s->stride + p];
        }
    }
    for (int64_t e = s->first[row]; e < s->first[row + 1]; e++)
        deep += cells[s->cell[e]];
    return dense + deep + s->own_factors[row] * weights[s->own + row];
}

/* Add c·Σβ·A_pq to the cells p of the cluster around `cell`, which is at q. */
static inline void add_near(const shifted_state *s, int32_t cell, double c, double *cells)
{
    const cell_place *places = s->places;
    const int64_t q = places[cell].position;
    const double *reach = s->reach + q * s->width;
    const int64_t nearest = s->nearest[q];
    c *= s->factors[s->kinds ? places[cell].kind & ~FIRST : cell];
    cells[cell] += c * reach[q - nearest];
    for (int64_t to = cell; !(places[to].kind & FIRST) && places[to - 1].position >= q - s->shift; to--)
        cells[to - 1] += c * reach[places[to - 1].position - nearest];
    for (int64_t to = cell + 1; !(places[to].kind & FIRST) && places[to].position <= q + s->shift; to++)
        cells[to] += c * reach[places[to].position - nearest];
}

/* Ask for the weights that an axpy at q will change, of the longest k-mers: they are far apart in memory. */
static inline void fetch_around(const shifted_state *s, const uint8_t *x, int64_t q, const double *weights)
{
    int64_t code = 0;
    if (q + s->depth > s->length)
        return;
    for (int64_t k = 1; k <= s->depth && x[q + k - 1] < s->size; k++) {
        code = code * s->size + x[q + k - 1];
        if (k + FETCHED > s->depth)
            for (int64_t b = 0; b < s->span[q]; b += 8)
                PREFETCH(weights + s->tables[k - 1] + code * s->stride + s->nearest[q] + b);
    }
}

ALWAYS_INLINE void add_around(const shifted_state *s, const uint8_t *x, double factor, double *weights)
{
    for (int64_t q = 0; q < s->length; q++) {
        const int64_t longest = s->length - q < s->depth ? s->length - q : s->depth;
        const double *reach = s->reach + q * s->width;
        const int64_t span = s->span[q];
        int64_t code = 0;
        fetch_around(s, x, q + AHEAD, weights);
        for (int64_t k = 1; k <= longest && x[q + k - 1] < s->size; k++) {
            code = code * s->size + x[q + k - 1];
            double *to = weights + s->tables[k - 1] + code * s->stride + s->nearest[q];
            const double c = factor * s->beta[k - 1];
            for (int64_t b = 0; b < span; b += 8)
                for (int lane = 0; lane < 8; lane++)
                    to[b + lane] += c * reach[b + lane];
        }
    }
}

ALWAYS_INLINE void shifted_add(const void *state, int64_t row, double factor, double *weights)
{
    const shifted_state *s = state;
    add_around(s, s->codes + s->starts[row], factor, weights);
    for (int64_t e = s->first[row]; e < s->first[row + 1]; e++) {
        if (e + CELLS_AHEAD < s->first[row + 1]) {
            PREFETCH(s->places + s->cell[e + CELLS_AHEAD]);
            PREFETCH(weights + s->cells + s->cell[e + CELLS_AHEAD]);
        }
        add_near(s, s->cell[e], factor, weights + s->cells);
    }
    weights[s->own + row] += factor;
}

DEFINE_LEVELS(shifted_axpy, shifted_add, (const void *state, int64_t row, double factor, double *weights),
              (state, row, factor, weights))

typedef void (*axpy_function)(const void *, int64_t, double, double *);

/* The axpy for a level of vector instructions. */
static axpy_function shifted_axpy_of(int level)
{
#ifdef SEQKERN_X86
    if (level)
        return level == 2 ? shifted_axpy_avx512 : shifted_axpy_avx2;
#endif
    (void)level;
    return shifted_axpy_plain;
}

#endif
