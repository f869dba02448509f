/* Clusters of k-mers that windows share at positions near each other.
 *
 * All places (window, position) with the same first letters, sorted by position, are cut where the next position is more
 * than `reach` away. As long as the next letter is the same for all of such a cluster, nothing changes but the length;
 * then they are divided by that letter, still sorted, and each part is cut again. */
#ifndef SEQKERN_SHIFTED_CELLS_H
#define SEQKERN_SHIFTED_CELLS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "_shifted_implicit.h"

typedef struct {
    int32_t window, position;
} kmer_place;

typedef struct {
    int64_t start, stop, letters; /* places[start..stop) share this many letters */
} open_cluster;

typedef struct {
    const uint8_t *codes;
    const int64_t *starts;
    int64_t length, size, degree;
    int64_t depth;       /* only longer k-mers count; places are given by their first `depth` letters */
    int64_t reach;       /* the largest shift */
    const double *gamma; /* (length,) */
    const double *sums;  /* β_1 + … + β_k, (degree + 1,) */
    kmer_place *places, *scratch;
    open_cluster *open; /* a stack */
    int64_t most_open;
    int64_t *census_cells, *census_entries; /* (degree + 1,): by the longest k-mers of a cluster; or NULL */
    int64_t cells;                          /* made so far */
    int64_t *cursor; /* (windows,): how many cells a window has, or where in `cell` the next is written; or NULL */
    int32_t *cell;   /* the lists, or NULL: only count */
    cell_place *cell_places;
    const int32_t *kinds; /* (degree + 1, degree + 1): the kind of the lengths shorter + 1..longest; or NULL */
    double *factors;      /* of each cell, where there are no kinds */
    double *own;          /* (windows,), or NULL */
} cluster_search;

/* How the place goes on after `letters` letters: the letter, or `size` if there is none. */
static inline int letter_after(const cluster_search *s, kmer_place place, int64_t letters)
{
    const int64_t at = place.position + letters;
    if (at >= s->length)
        return (int)s->size;
    const uint8_t a = s->codes[s->starts[place.window] + at];
    return a < s->size ? a : (int)s->size;
}

/* Make the cells of the cluster places[start..stop), for the lengths shorter + 1..longest. */
static void make_cells(cluster_search *s, int64_t start, int64_t stop, int64_t shorter, int64_t longest)
{
    const int64_t kind = s->kinds ? s->kinds[shorter * (s->degree + 1) + longest] : 0;
    int64_t cells = 0;
    for (int64_t t = start; t < stop; t++) {
        const int fresh = t == start || s->places[t].position != s->places[t - 1].position;
        cells += fresh;
        if (!s->cursor)
            continue;
        const int64_t at = s->cursor[s->places[t].window]++, cell = s->cells + cells - 1;
        if (!s->cell)
            continue;
        s->cell[at] = (int32_t)cell;
        if (fresh) {
            s->cell_places[cell].position = (uint16_t)s->places[t].position;
            s->cell_places[cell].kind = (uint16_t)(t == start ? FIRST | kind : kind);
            if (!s->kinds)
                s->factors[cell] = s->sums[longest] - s->sums[shorter];
        }
    }
    s->cells += cells;
    if (s->census_cells) {
        s->census_cells[longest] += cells;
        s->census_entries[longest] += stop - start;
    }
}

/* The place shares more than `shorter` letters with none near it: what it adds to K(x, x) is the window's own. */
static void keep_own(cluster_search *s, kmer_place place, int64_t shorter)
{
    if (!s->own)
        return;
    int64_t longest = shorter;
    while (longest < s->degree && letter_after(s, place, longest) < s->size)
        longest++;
    s->own[place.window] += s->gamma[place.position] * (s->sums[longest] - s->sums[shorter]);
}

/* Cut places[start..stop), sorted by position, which share `letters` letters; clusters are put on the stack. Returns the
 * number on the stack, or −1 if there is no memory. */
static int64_t cut_clusters(cluster_search *s, int64_t start, int64_t stop, int64_t letters, int64_t open)
{
    for (int64_t t = start + 1; t <= stop; t++) {
        if (t < stop && s->places[t].position - s->places[t - 1].position <= s->reach)
            continue;
        if (t - start == 1) {
            keep_own(s, s->places[start], letters - 1);
        } else {
            if (open == s->most_open) {
                const int64_t more = 2 * open + 64;
                open_cluster *larger = realloc(s->open, (size_t)more * sizeof(open_cluster));
                if (!larger)
                    return -1;
                s->open = larger;
                s->most_open = more;
            }
            s->open[open].start = start;
            s->open[open].stop = t;
            s->open[open++].letters = letters;
        }
        start = t;
    }
    return open;
}

/* Sort places[start..stop) by the next letter, keeping their order; ends[a] is where those of letter a end. */
static void divide(cluster_search *s, int64_t start, int64_t stop, int64_t letters, int64_t *ends)
{
    int64_t at = start;
    memset(ends, 0, (size_t)(s->size + 1) * sizeof *ends);
    for (int64_t t = start; t < stop; t++)
        ends[letter_after(s, s->places[t], letters)]++;
    for (int64_t a = 0; a <= s->size; a++) {
        at += ends[a];
        ends[a] = at - ends[a];
    }
    for (int64_t t = start; t < stop; t++)
        s->scratch[ends[letter_after(s, s->places[t], letters)]++ - start] = s->places[t];
    memcpy(s->places + start, s->scratch, (size_t)(stop - start) * sizeof *s->places);
}

/* The code of the first `depth` letters of a place that has one more; −1 if it has not. */
static inline int64_t place_code(const cluster_search *s, const uint8_t *x)
{
    int64_t code = 0;
    for (int64_t k = 0; k < s->depth; k++) {
        if (x[k] >= s->size)
            return -1;
        code = code * s->size + x[k];
    }
    return x[s->depth] < s->size ? code : -1;
}

/* Count the places of each code, in counts[code]. */
static void count_places(const cluster_search *s, int64_t n, int64_t *counts)
{
    for (int64_t w = 0; w < n; w++)
        for (int64_t p = 0; p + s->depth < s->length; p++) {
            const int64_t code = place_code(s, s->codes + s->starts[w] + p);
            if (code >= 0)
                counts[code]++;
        }
}

/* Sort the places of the codes from..to − 1 by code and position; at[code − from] is where those of a code start. */
static void sort_places(cluster_search *s, int64_t n, int64_t from, int64_t to, int64_t *at)
{
    for (int64_t p = 0; p + s->depth < s->length; p++)
        for (int64_t w = 0; w < n; w++) {
            const int64_t code = place_code(s, s->codes + s->starts[w] + p);
            if (code < from || code >= to)
                continue;
            kmer_place *place = s->places + at[code - from]++;
            place->window = (int32_t)w;
            place->position = (int32_t)p;
        }
}

/* Find all clusters among places[start..stop), which share `depth` letters and are sorted by position. Returns 0, or −1
 * if there is no memory. */
static int search_clusters(cluster_search *s, int64_t start, int64_t stop)
{
    int64_t ends[257];
    int64_t open = 0;
    if (stop - start < 1 || s->depth >= s->degree)
        return 0;
    /* the first division comes before the first cut: nothing is made of `depth` letters */
    divide(s, start, stop, s->depth, ends);
    for (int64_t a = 0, from = start; a < s->size && open >= 0; from = ends[a++])
        if (ends[a] > from)
            open = cut_clusters(s, from, ends[a], s->depth + 1, open);
    while (open > 0) {
        const open_cluster cluster = s->open[--open];
        int64_t longest = cluster.letters;
        for (; longest < s->degree; longest++) {
            const int a = letter_after(s, s->places[cluster.start], longest);
            int64_t t = cluster.start;
            while (t < cluster.stop && a < s->size && letter_after(s, s->places[t], longest) == a)
                t++;
            if (t < cluster.stop)
                break;
        }
        make_cells(s, cluster.start, cluster.stop, cluster.letters - 1, longest);
        if (longest == s->degree)
            continue;
        divide(s, cluster.start, cluster.stop, longest, ends);
        for (int64_t a = 0, from = cluster.start; a < s->size && open >= 0; from = ends[a++])
            if (ends[a] > from)
                open = cut_clusters(s, from, ends[a], longest + 1, open);
    }
    return open < 0 ? -1 : 0;
}

#endif
