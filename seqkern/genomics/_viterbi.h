/* The best path through an exon-intron grammar, over candidate boundaries in ascending order.

   The kinds of boundary, from left to right on either strand: a gene BEGINs, an exon ends and an intron follows (LEAVE),
   an intron ends and an exon follows (ENTER), a gene ENDs. On strand - the gene begins on the left with its stop codon.
   The phase of a boundary is the number of coding bases on its left in its gene, modulo 3. */

#ifndef SEQKERN_GENES_VITERBI_H
#define SEQKERN_GENES_VITERBI_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

enum { BEGIN, LEAVE, ENTER, END };

typedef struct {
    int64_t n;
    const int64_t *position;  /* of the first base right of the boundary */
    const uint8_t *kind;
    const uint8_t *strand;
    const double *score;
    const double *coding;   /* (n, 3): content of the bases on the left as coding, by the place of codons modulo 3 */
    const double *intron;   /* (n,): as intron */
    const int64_t *closed;  /* (n, 3): where the last stop codon before it begins, by phase; -1 if there is none */
    const uint8_t *near;    /* (n, 2): the two bases left of LEAVE, right of ENTER */
} boundaries;

typedef struct {
    const double *exon;    /* (8, longest_exon + 1): by strand and `exon_type` */
    const double *intron;  /* (longest_intron + 1,) */
    int64_t shortest_exon, longest_exon, shortest_intron, longest_intron;
    const uint8_t *stops;  /* (2, 125): whether three codes are a stop codon, read from left to right on each strand */
} lengths;

/* Which of the rows of a strand an exon has: 0 inner, 1 at the left end of its gene, 2 at its right end, 3 single. */
static inline int exon_type(uint8_t from, uint8_t to) {
    return (from == BEGIN) + 2 * (to == END);
}

static inline int phase_of(int64_t value) {
    return (int)(((value % 3) + 3) % 3);
}

/* Whether the codon that an intron splits is not a stop codon. */
static inline int codon_open(const boundaries *b, const lengths *l, int64_t left, int64_t right, int phase) {
    const uint8_t *before = b->near + 2 * left, *after = b->near + 2 * right;
    const uint8_t *stops = l->stops + 125 * (b->strand[left] != 0);
    if (phase == 0) return 1;
    if (phase == 1) return !stops[25 * before[1] + 5 * after[0] + after[1]];
    return !stops[25 * before[0] + 5 * before[1] + after[0]];
}

/* The best exon that ends at boundary `at`, in each phase. Openers are the boundaries where exons may begin. */
static void best_exons(const boundaries *b, const lengths *l, int64_t at, const int64_t *openers, int64_t n_openers,
                       const double *value, double *best, int64_t *from) {
    int64_t end = b->position[at];
    const int64_t *closed = b->closed + 3 * at;
    int n_phases = b->kind[at] == END ? 1 : 3;
    int64_t lowest = closed[0];
    for (int phase = 1; phase < n_phases; phase++)
        if (closed[phase] < lowest) lowest = closed[phase];
    for (int phase = 0; phase < 3; phase++) {
        best[phase] = -INFINITY;
        from[phase] = -1;
    }
    for (int64_t i = n_openers - 1; i >= 0; i--) {
        int64_t opener = openers[i], start = b->position[opener], length = end - start;
        int begins = b->kind[opener] == BEGIN;
        /* on strand - a gene begins with its stop codon */
        int own_stop = begins && b->strand[opener];
        if (start < lowest || length > l->longest_exon) break;
        if (length < l->shortest_exon) continue;
        int row = 4 * (b->strand[at] != 0) + exon_type(b->kind[opener], b->kind[at]);
        const double *sizes = l->exon + (l->longest_exon + 1) * row;
        for (int phase = 0; phase < n_phases; phase++) {
            int before = phase_of(phase - length), place = phase_of(end - phase);
            if (start <= closed[phase] && !(own_stop && start == closed[phase])) continue;
            if (begins && before) continue;
            double found = value[3 * opener + before] + b->coding[3 * at + place] - b->coding[3 * opener + place] +
                           sizes[length];
            if (found > best[phase]) {
                best[phase] = found;
                from[phase] = opener;
            }
        }
    }
}

/* The best intron that ends at boundary `at`, in each phase. */
static void best_introns(const boundaries *b, const lengths *l, int64_t at, const int64_t *leaves, int64_t n_leaves,
                         const double *value, double *best, int64_t *from) {
    int64_t end = b->position[at];
    for (int phase = 0; phase < 3; phase++) {
        best[phase] = -INFINITY;
        from[phase] = -1;
    }
    for (int64_t i = n_leaves - 1; i >= 0; i--) {
        int64_t leave = leaves[i], length = end - b->position[leave];
        if (length > l->longest_intron) break;
        if (length < l->shortest_intron) continue;
        double content = b->intron[at] - b->intron[leave] + l->intron[length];
        for (int phase = 0; phase < 3; phase++) {
            double found = value[3 * leave + phase] + content;
            if (found > best[phase] && codon_open(b, l, leave, at, phase)) {
                best[phase] = found;
                from[phase] = leave;
            }
        }
    }
}

/* Fills value (n, 3) and from (n, 3); returns the score of the best path, and in `last` where its last gene ends: -1
   if it has none. NAN if there is no memory. */
static double best_path(const boundaries *b, const lengths *l, double *value, int64_t *from, int64_t *last) {
    double best = 0;
    int64_t *lists = malloc((size_t)(4 * b->n + 1) * sizeof(int64_t));
    if (lists == NULL) return NAN;
    int64_t *openers[2] = {lists, lists + b->n}, *leaves[2] = {lists + 2 * b->n, lists + 3 * b->n};
    int64_t n_openers[2] = {0, 0}, n_leaves[2] = {0, 0};
    *last = -1;
    for (int64_t at = 0; at < b->n; at++) {
        int strand = b->strand[at] != 0, kind = b->kind[at];
        double *here = value + 3 * at;
        if (kind == BEGIN) {
            here[0] = best;
            here[1] = here[2] = -INFINITY;
            from[3 * at] = *last;
            from[3 * at + 1] = from[3 * at + 2] = -1;
        } else if (kind == ENTER)
            best_introns(b, l, at, leaves[strand], n_leaves[strand], value, here, from + 3 * at);
        else
            best_exons(b, l, at, openers[strand], n_openers[strand], value, here, from + 3 * at);
        for (int phase = 0; phase < 3; phase++) here[phase] += b->score[at];
        if (kind == END && here[0] > best) {
            best = here[0];
            *last = at;
        }
        if (kind == LEAVE)
            leaves[strand][n_leaves[strand]++] = at;
        else if (kind != END)
            openers[strand][n_openers[strand]++] = at;
    }
    free(lists);
    return best;
}

#endif
