/* Pairs of similar records: shared k-mers, extended without gaps, then aligned in a band.

The records lie one behind the other in `codes`, each followed by END. With two strands, record 2i is a sequence and
record 2i + 1 its reverse complement, and only the former are queries. Codes from `size` on match nothing. */

#ifndef SEQKERN_SIMILARITY_SEARCH_H
#define SEQKERN_SIMILARITY_SEARCH_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define END 254
#define BLOCK 32

typedef struct {
    const uint8_t *codes;
    const int64_t *starts; /* of each record, and where the next one would start */
    const int32_t *first;  /* the record of each BLOCK-th position */
    int64_t total;
    int32_t strands;
    int32_t size;
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
    int32_t record = s->first[place / BLOCK];
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

#define ONE ((int64_t)1 << 32)
#define NOWHERE (-((int64_t)1 << 60))

/* Identical residues of the best alignment within `band` of a diagonal: match 1, mismatch and gapped residue -1, ends
free; of alignments with the same score, the one with the most identical residues. A cell holds both numbers. */
static int32_t identical_residues(
    const uint8_t *x, int64_t n, const uint8_t *y, int64_t m, int64_t diagonal, int32_t band, int32_t size,
    int64_t *cells) {
    int64_t width = 2 * (int64_t)band + 1, best = 0;
    int64_t *before = cells, *now = cells + width + 2;
    int64_t from = -diagonal - band > 0 ? -diagonal - band : 0;
    int64_t to = m - diagonal + band < n ? m - diagonal + band : n;
    for (int64_t t = 0; t < 2 * (width + 2); t++) cells[t] = NOWHERE;
    for (int64_t a = from; a <= to; a++) {
        int64_t low = a + diagonal - band, high = a + diagonal + band;
        /* now[t + 1] is column low + t; before[t + 1] is column low - 1 + t */
        for (int64_t t = 0; t < width + 2; t++) now[t] = NOWHERE;
        int64_t b = low > 0 ? low : 0, stop = high < m ? high : m;
        if (b == 0 && stop >= 0) now[1 - low] = 0, b = 1;
        if (a == 0) {
            for (; b <= stop; b++) now[b - low + 1] = 0;
        } else {
            int letter = x[a - 1];
            int64_t left = b - low >= 0 ? now[b - low] : NOWHERE;
            for (; b <= stop; b++) {
                int64_t t = b - low + 1;
                int64_t value = before[t] + (letter == y[b - 1] && letter < size ? ONE + 1 : -ONE);
                int64_t gap = before[t + 1] - ONE;
                if (gap > value) value = gap;
                if (left - ONE > value) value = left - ONE;
                now[t] = left = value;
            }
        }
        if (stop == m && now[m - low + 1] > best) best = now[m - low + 1];
        if (a == n)
            for (int64_t t = 1; t <= width; t++)
                if (now[t] > best) best = now[t];
        int64_t *other = before;
        before = now, now = other;
    }
    return (int32_t)(best & 0xffffffff);
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
    int64_t *cells = (int64_t *)malloc((size_t)(2 * (2 * (int64_t)rules->band + 3)) * sizeof(int64_t));
    if (!best || !touched || !cells) failed = -1;
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
                s->codes + start, n_x, s->codes + s->starts[record], n_y, diagonal, rules->band, s->size, cells);
            if (same >= least) failed = keep_pair(found, i, j, same);
        }
    }
    free(best), free(touched), free(cells);
    return failed;
}

#endif
