/* Pairs of similar records: shared k-mers, extended without gaps, then aligned in a band.

The records lie one behind the other in `codes`, each followed by END where `gap` is 1. With two strands, record
2i is a sequence and record 2i + 1 its reverse complement, and only the former are queries. Codes from `size` on match
nothing. */

#ifndef SEQKERN_SIMILARITY_SEARCH_H
#define SEQKERN_SIMILARITY_SEARCH_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define END 254
#define LEAST(a, b) ((a) < (b) ? (a) : (b))

typedef struct {
    const uint8_t *codes;
    const int64_t *starts; /* of each record, and where the next one would start */
    const int64_t *ends;   /* of each record; where the next one starts, unless codes between them are left out */
    const int32_t *first;  /* the record of each `block`-th position */
    int64_t total;
    int32_t records;
    int32_t strands;
    int32_t size;
    int32_t block;
    int32_t gap; /* codes between records: 1 for END, or 0 */
} search_set;

typedef struct {
    const int64_t *bounds; /* of the postings of each k-mer */
    const int32_t *postings;
    int32_t k;
    int32_t cap; /* later places of a k-mer that each place is compared with */
} seed_index;

typedef struct {
    int32_t match;
    int32_t mismatch; /* negative */
    int32_t drop;     /* an extension stops so far below its best */
    int32_t least;    /* score of an ungapped segment whose pair is aligned */
    int32_t band;
    int32_t most;  /* later sequences that each is aligned with */
    int32_t first; /* queries are compared with sequences from here on only; 0: with all later ones */
} search_rules;

typedef struct {
    int32_t query, other, same;
} similar_pair;

typedef struct {
    similar_pair *items;
    int64_t count, room;
} pair_list;

static int keep_pair(pair_list *found, int32_t query, int32_t other, int32_t same) {
    if (found->count == found->room) {
        int64_t room = found->room ? 2 * found->room : 1024;
        similar_pair *items = (similar_pair *)realloc(found->items, (size_t)room * sizeof(similar_pair));
        if (!items) return -1;
        found->items = items, found->room = room;
    }
    similar_pair pair = {query, other, same};
    found->items[found->count++] = pair;
    return 0;
}

/* Count the k-mers (bounds[code + 1]), or write their places (bounds[code] moves to the end of its postings). */
static void scan_kmers(const search_set *s, int k, int64_t n_codes, int64_t *bounds, int32_t *postings) {
    int64_t code = 0, highest = n_codes / s->size, run = 0;
    for (int64_t p = 0; p < s->total; p++) {
        int letter = s->codes[p];
        if (letter >= s->size) {
            run = 0, code = 0;
            continue;
        }
        if (run >= k) code -= s->codes[p - k] * highest;
        code = code * s->size + letter;
        if (++run < k) continue;
        if (postings) postings[bounds[code]++] = (int32_t)(p - k + 1);
        else bounds[code + 1]++;
    }
}

static inline int32_t record_at(const search_set *s, int64_t place) {
    int32_t record = s->first[place / s->block];
    while (s->starts[record + 1] <= place) record++;
    return record;
}

typedef struct {
    int32_t query, score;
    int64_t diagonal, stop;
} best_segment;

/* Extend a shared k-mer on both sides; `stop` is where the best segment ends in the other record. */
static inline int32_t extend_seed(
    const search_set *s, const search_rules *rules, int64_t p, int64_t q, int k, int64_t *stop) {
    const uint8_t *x = s->codes + p, *y = s->codes + q;
    int32_t score = k * rules->match, best = score;
    int64_t at = k, last = k;
    for (; x[at] != END && y[at] != END && score > best - rules->drop; at++) {
        score += x[at] == y[at] && x[at] < s->size ? rules->match : rules->mismatch;
        if (score > best) best = score, last = at + 1;
    }
    score = best;
    for (at = -1; p + at >= 0 && x[at] != END && y[at] != END && score > best - rules->drop; at--) {
        score += x[at] == y[at] && x[at] < s->size ? rules->match : rules->mismatch;
        if (score > best) best = score;
    }
    *stop = q + last;
    return best;
}

/* Identical residues of the best alignment within `band` of a diagonal: match 1, mismatch and gapped residue -1, ends
free; of alignments with the same score, the one with the most identical residues; -1 without memory. A cell holds both
numbers. Cells are computed by antidiagonals, every other one of which has the even diagonals of the band. */
#define ALIGN(NAME, CELL, ONE) \
    static int32_t NAME(const uint8_t *turned, int64_t n, const uint8_t *y, int64_t m, int64_t low, int64_t band, CELL *cells) { \
        CELL *half[2] = {cells, cells + band + 2}, best = 0; \
        int64_t end = LEAST(n + m, LEAST(2 * n + low + 2 * band, 2 * m - low)); \
        half[1][-1] = half[1][band] = -((ONE) << 14); \
        for (int64_t s = low > 0 ? low + 2 : low + 2 * band < 0 ? 2 - low - 2 * band : 2; s <= end; s++) { \
            int64_t odd = (s ^ low) & 1, from = low + odd, last = LEAST(band - odd, (s - 2 - from) >> 1); \
            CELL *own = half[odd]; \
            const CELL *before = half[!odd] - !odd; \
            const uint8_t *p = turned + n - (s - from) / 2, *q = y + (s + from) / 2 - 1; \
            for (int64_t u = 2 - s > from ? (2 - s - from) / 2 : 0; u <= last; u++) { \
                CELL value = own[u] + (p[u] == q[u] ? (ONE) + 1 : -(ONE)); \
                CELL gap = (before[u] > before[u + 1] ? before[u] : before[u + 1]) - (ONE); \
                own[u] = value > gap ? value : gap; \
            } \
            for (int border = 0; border < 2; border++) { \
                int64_t at = (border ? 2 * m - s : s - 2 * n) - from; \
                if (at >= 0 && at <= 2 * last && own[at >> 1] > best) best = own[at >> 1]; \
            } \
        } \
        return (int32_t)(best & ((ONE) - 1)); \
    }
ALIGN(align_short, int32_t, (int32_t)1 << 16)
ALIGN(align_long, int64_t, (int64_t)1 << 32)

static int32_t identical_residues(
    const uint8_t *x, int64_t n, const uint8_t *y, int64_t m, int64_t diagonal, int64_t band, int32_t size) {
    int64_t margin = band + 2;
    int64_t *cells = (int64_t *)calloc((size_t)(2 * band + 4 + (n + m + 4 * margin) / 8 + 1), sizeof(int64_t));
    if (!cells) return -1;
    /* both sequences, the first one turned, between codes that match nothing */
    uint8_t *turned = (uint8_t *)(cells + 2 * band + 4) + margin, *other = turned + n + 2 * margin;
    memset(turned - margin, END, (size_t)(n + 2 * margin));
    memset(other - margin, END - 1, (size_t)(m + 2 * margin));
    for (int64_t a = 0; a < n; a++)
        if (x[a] < size) turned[n - 1 - a] = x[a];
    memcpy(other, y, (size_t)m);
    int32_t same = n < 1 << 14 && m < 1 << 14
                       ? align_short(turned, n, other, m, diagonal - band, band, (int32_t *)cells)
                       : align_long(turned, n, other, m, diagonal - band, band, cells);
    free(cells);
    return same;
}

typedef struct {
    int32_t score, record;
} candidate;

static int by_score(const void *a, const void *b) {
    const candidate *x = (const candidate *)a, *y = (const candidate *)b;
    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    return x->record < y->record ? -1 : x->record > y->record;
}

/* Append the pairs of queries from `begin` to `end` with later sequences; `needed` is by the length of the shorter. */
static int search_pairs(
    const search_set *s, const seed_index *seeds, const search_rules *rules, const int32_t *needed, int32_t begin,
    int32_t end, int32_t n, int64_t n_codes, pair_list *found) {
    int k = seeds->k, failed = 0;
    best_segment *best = (best_segment *)calloc((size_t)n, sizeof(best_segment));
    candidate *touched = (candidate *)malloc((size_t)n * sizeof(candidate));
    if (!best || !touched) failed = -1;
    for (int32_t i = begin; i < end && !failed; i++) {
        int64_t start = s->starts[(int64_t)s->strands * i];
        int64_t stop = s->starts[(int64_t)s->strands * i + 1] - 1;
        int32_t next = i + 1 > rules->first ? i + 1 : rules->first;
        int64_t later = s->starts[(int64_t)s->strands * next], code = 0;
        int64_t highest = n_codes / s->size, run = 0;
        int32_t n_touched = 0;
        for (int64_t at = start; at < stop; at++) {
            int letter = s->codes[at];
            if (letter >= s->size) {
                run = 0, code = 0;
                continue;
            }
            if (run >= k) code -= s->codes[at - k] * highest;
            code = code * s->size + letter;
            if (++run < k) continue;
            int64_t p = at - k + 1, low = seeds->bounds[code], high = seeds->bounds[code + 1];
            for (int64_t limit = high; low < limit;) {
                int64_t middle = (low + limit) / 2;
                if (seeds->postings[middle] < later) low = middle + 1;
                else limit = middle;
            }
            if (high > low + seeds->cap) high = low + seeds->cap;
            int before = p > start && s->codes[p - 1] < s->size ? s->codes[p - 1] : -1;
            for (; low < high; low++) {
                int64_t q = seeds->postings[low];
                /* the k-mers one residue before were extended already */
                if (s->codes[q - 1] == before) continue;
                int32_t j = record_at(s, q) / s->strands;
                best_segment *b = best + j;
                if (b->query == i + 1 && b->diagonal == q - p && q < b->stop) continue;
                int64_t ended;
                int32_t score = extend_seed(s, rules, p, q, k, &ended);
                if (score < rules->least) continue;
                if (b->query != i + 1) touched[n_touched++].record = j;
                else if (score <= b->score) continue;
                b->query = i + 1, b->score = score, b->diagonal = q - p, b->stop = ended;
            }
        }
        if (n_touched > rules->most) {
            for (int32_t t = 0; t < n_touched; t++) touched[t].score = best[touched[t].record].score;
            qsort(touched, (size_t)n_touched, sizeof(candidate), by_score);
            n_touched = rules->most;
        }
        for (int32_t t = 0; t < n_touched && !failed; t++) {
            int32_t j = touched[t].record;
            /* the segment's end is in the record of the right strand */
            int32_t record = record_at(s, best[j].stop - 1);
            int64_t n_x = stop - start, n_y = s->starts[record + 1] - 1 - s->starts[record];
            int64_t diagonal = best[j].diagonal + start - s->starts[record];
            int32_t least = needed[n_x < n_y ? n_x : n_y];
            if (least > n_x || least > n_y) continue;
            int32_t same = identical_residues(
                s->codes + start, n_x, s->codes + s->starts[record], n_y, diagonal, rules->band, s->size);
            if (same < 0) failed = -1;
            if (same >= least) failed = keep_pair(found, i, j, same);
        }
    }
    free(best), free(touched);
    return failed;
}

#endif
