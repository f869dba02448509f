/* Segments that two records of a very large set share: spaced seeds, sorted part by part, extended without gaps.

The records are DNA, codes 0 to 3 with the complement 3 - code, and lie one behind the other. The patterns of the seeds
read the same from both ends, so that on two strands the smaller code of a seed and its reverse complement stands for
both. */

#ifndef SEQKERN_SIMILARITY_SEEDS_H
#define SEQKERN_SIMILARITY_SEEDS_H

#include "_exact.h"

#define SPAN 28
#define MANY 33      /* places of a seed, all of which are compared; more are capped */
#define FEW 4        /* later places that each place of a capped seed is compared with */
#define AROUND 18    /* bases on each side of a seed that tell which places are alike */
#define SCANNED 4096 /* places of a capped seed that a query is compared with by the bases around it, */
#define ALIKE 8      /* and the most similar of them, which are extended */
#define SAMPLED 3
#define OFTEN_BITS 27 /* of the hash of a frequent seed */
#define OFTEN 3 /* a seed is frequent if so many of its places are in a sample of one in 2^SAMPLED */

/* 1111100101010000101010011111 and 0001110111101001011110111000 */
static const uint32_t patterns[2] = {0xF950A9Fu, 0x1DE97B8u};
static const uint64_t spread[2] = {0xFFC33300CCC3FFu, 0x3F3FCC33FCFC0u}; /* two bits for each base */

typedef struct {
    /* records by their ranks; other: twice the rank, odd if the reverse complement is meant; stretch: of identical
    residues, not all of them of low complexity */
    int32_t record, other, diagonal, score, stretch;
} segment;

typedef struct {
    const search_set *s;
    const uint8_t *bad;  /* the bits of places where no seed starts */
    const int32_t *rank; /* of each record, by its sequence: the order of a file changes nothing */
    uint8_t *often;      /* the bits of hashes of frequent seeds */
    int pattern, strands, shift; /* shift: bits of a seed's place and strand */
} seed_search;

static uint64_t seed_hash(const seed_search *w, int pattern, uint64_t forward, uint64_t mirrored, int *turned) {
    uint64_t code = forward & spread[pattern], reverse = mirrored & spread[pattern];
    *turned = w->strands == 2 && reverse < code;
    code = ((*turned ? reverse : code) + (uint64_t)pattern) * 0x9E3779B97F4A7C15u;
    return (code ^ code >> 29) * 0xBF58476D1CE4E5B9u;
}

/* Write the seeds of one part, or count those of all parts. A seed is the end of its hash, its place, its strand. */
static void collect_seeds(const seed_search *w, int sampled, uint64_t parts, uint64_t part, uint64_t *out, int64_t *counts) {
    uint64_t forward = 0, mirrored = 0, record = 0;
    int turned;
    for (int64_t p = 0; p < w->s->total; p++) {
        uint64_t letter = w->s->codes[p] & 3, start = (uint64_t)(p - SPAN + 1);
        forward = forward << 2 | letter;
        mirrored = mirrored >> 2 | (3 - letter) << (2 * (SPAN - 1));
        if (p < SPAN - 1 || IS_BAD(w->bad, start)) continue;
        while (w->s->ends[record] <= p) record++;
        uint64_t chance = ((uint64_t)w->rank[record] << 32 ^ (start - (uint64_t)w->s->starts[record])) * 0x9E3779B97F4A7C15u;
        if (sampled && (chance ^ chance >> 32) * 0x9E3779B97F4A7C15u >> (64 - SAMPLED)) continue;
        uint64_t hash = seed_hash(w, w->pattern, forward, mirrored, &turned), own = (hash >> 32) * parts >> 32;
        if (!out) counts[own]++;
        else if (own == part) *out++ = hash << w->shift | start << 1 | (uint64_t)turned;
    }
}

/* Whether the seed at `p` is frequent. */
static int is_frequent(const seed_search *w, int pattern, int64_t p, int mark) {
    uint64_t forward = 0, mirrored = 0;
    int turned;
    for (int64_t t = p; t < p + SPAN; t++) {
        forward = forward << 2 | w->s->codes[t];
        mirrored = mirrored >> 2 | (uint64_t)(3 - w->s->codes[t]) << (2 * (SPAN - 1));
    }
    uint64_t bit = seed_hash(w, pattern, forward, mirrored, &turned) >> (64 - OFTEN_BITS);
    if (mark) w->often[bit >> 3] |= (uint8_t)(1 << (bit & 7));
    return IS_BAD(w->often, bit);
}

/* Sort in place: by the leading digit, and then each run of one digit by the next ones. */
static void sort_seeds(uint64_t *seeds, int64_t n, int top) {
    if (n <= 32 || top <= 0) {
        for (int64_t a = 1; a < n; a++) {
            uint64_t one = seeds[a];
            int64_t b = a;
            for (; b > 0 && seeds[b - 1] > one; b--) seeds[b] = seeds[b - 1];
            seeds[b] = one;
        }
        return;
    }
    int bits = n > 1 << 16 ? DIGIT : n > 1 << 11 ? 8 : 5, shift = top > bits ? top - bits : 0;
    uint64_t mask = ((uint64_t)1 << (top - shift)) - 1;
    int64_t next[1 << DIGIT], ends[1 << DIGIT], sum = 0;
    memset(ends, 0, (size_t)(mask + 1) * sizeof(int64_t));
    for (int64_t a = 0; a < n; a++) ends[seeds[a] >> shift & mask]++;
    for (uint64_t digit = 0; digit <= mask; digit++) next[digit] = sum, sum += ends[digit], ends[digit] = sum;
    for (uint64_t digit = 0; digit <= mask; digit++) {
        int64_t begin = digit ? ends[digit - 1] : 0;
        while (next[digit] < ends[digit]) {
            uint64_t one = seeds[next[digit]], own;
            while ((own = one >> shift & mask) != digit) {
                uint64_t other = seeds[next[own]];
                seeds[next[own]++] = one, one = other;
            }
            seeds[next[digit]++] = one;
        }
        if (shift) sort_seeds(seeds + begin, ends[digit] - begin, shift);
    }
}

#define SAME(t) (x[t] < 4 && x[t] == (y[step * (t)] ^ flip))

/* Extend a pair of equal seeds; 1 if its segment scores enough, lies in two records, and has no seed further left in the
one of lower rank. A frequent seed further left counts for a `capped` one alone: only some of its pairs are compared. */
static int extend_pair(
    const seed_search *w, const search_rules *rules, int64_t p, int64_t q, int turned, int capped, segment *found) {
    const search_set *s = w->s;
    int64_t step = turned ? -1 : 1, last = turned ? q + SPAN - 1 : q, low = -LEAST(p, turned ? s->total - 1 - last : q);
    int64_t high = LEAST(s->total - p, turned ? last + 1 : s->total - q), left = 0, right = 0;
    const uint8_t *x = s->codes + p, *y = s->codes + last;
    uint8_t flip = turned ? 3 : 0;
    uint32_t same = 0, own = patterns[w->pattern];
    int32_t i = 0, j = 0, best = 0, run = 0;
    for (int t = 0; t < SPAN; t++) same |= (uint32_t)SAME(t) << t;
    if ((same & own) != own) return 0; /* different seeds of one hash */
    int32_t inside = SPAN * rules->mismatch + __builtin_popcount(same) * (rules->match - rules->mismatch);
    for (int within = turned; within < 2; within++) { /* of one strand, the left is the same whichever rank is lower */
        if (within) {
            i = record_at(s, p), j = record_at(s, q);
            if (i == j) return 0;
            if (w->rank[j] < w->rank[i]) return extend_pair(w, rules, q, p, turned, capped, found);
            low = -LEAST(p - s->starts[i], turned ? s->ends[j] - 1 - last : q - s->starts[j]);
            high = LEAST(s->ends[i] - p, turned ? last - s->starts[j] + 1 : s->ends[j] - q);
        }
        int32_t score = 0;
        uint32_t word = same;
        best = 0, left = 0, right = SPAN;
        for (int64_t t = 0; t >= low && score > best - rules->drop; t--) {
            if (t) {
                word = (word << 1 | (uint32_t)SAME(t)) & ((1u << SPAN) - 1);
                score += word & 1 ? rules->match : rules->mismatch;
                if (score > best) best = score, left = t;
            }
            /* a seed that starts in this one's span is in the same records */
            if (!within && t <= -SPAN) continue;
            for (int pattern = 0; pattern < (t ? 2 : w->pattern); pattern++)
                if ((word & patterns[pattern]) == patterns[pattern] && !IS_BAD(w->bad, p + t) &&
                    !IS_BAD(w->bad, turned ? q - t : q + t) && (capped || !is_frequent(w, pattern, p + t, 0)))
                    return 0;
        }
        score = best += inside;
        for (int64_t t = SPAN; t < high && score > best - rules->drop && (within || best < rules->least); t++) {
            score += SAME(t) ? rules->match : rules->mismatch;
            if (score > best) best = score, right = t + 1;
        }
        if (best < rules->least) return 0;
    }
    found->record = w->rank[i], found->other = 2 * w->rank[j] + turned, found->score = best, found->stretch = 0;
    found->diagonal = (int32_t)((turned ? s->ends[j] - 1 - last : q - s->starts[j]) - (p - s->starts[i]));
    for (int64_t t = left; t < right; t++) {
        run = SAME(t) ? run + 1 : 0;
        if (run >= SPAN && run > found->stretch && !IS_BAD(w->bad, p + t - SPAN + 1)) found->stretch = run;
    }
    return 1;
}

/* The bases around a seed, as two words of bits, read in the direction of its smaller code. */
static void bases_around(const seed_search *w, int64_t place, int turned, uint64_t *bits) {
    int32_t record = record_at(w->s, place);
    bits[0] = bits[1] = 0;
    for (int64_t t = -AROUND; t < SPAN + AROUND; t++) {
        int64_t at = place + (turned ? SPAN - 1 - t : t);
        int inside = at >= w->s->starts[record] && at < w->s->ends[record];
        uint64_t code = inside ? (uint64_t)(w->s->codes[at] ^ (turned ? 3 : 0)) & 3 : 0;
        bits[0] = bits[0] << 1 | (code & 1), bits[1] = bits[1] << 1 | code >> 1;
    }
}

#define PLACE(seed) ((int64_t)((seed) >> 1 & (((uint64_t)1 << (w->shift - 1)) - 1)))

/* Order the places of a capped seed by the ranks of their records; returns the number of those below rank `first`. */
static int64_t order_places(const seed_search *w, uint64_t *seeds, int64_t n, int32_t first, uint64_t *keys) {
    int64_t queries = 0;
    for (int64_t a = 0; a < n; a++) {
        uint64_t rank = (uint64_t)w->rank[record_at(w->s, PLACE(seeds[a]))];
        queries += rank < (uint64_t)first, keys[a] = rank << 32 | (uint64_t)a, keys[n + a] = seeds[a];
    }
    sort_seeds(keys, n, 64);
    for (int64_t a = 0; a < n; a++) seeds[a] = keys[n + (int64_t)(keys[a] & 0xFFFFFFFFu)];
    return queries;
}

/* The `ALIKE` of n places whose bases around are most like those of a query; returns their number. */
static int64_t most_alike(const uint64_t *own, const uint64_t *others, int64_t n, int64_t *chosen) {
    int apart[ALIKE], differ;
    int64_t kept = 0, t;
    for (int64_t b = 0; b < n; b++, others += 2) {
        differ = __builtin_popcountll((own[0] ^ others[0]) | (own[1] ^ others[1]));
        if (kept == ALIKE && differ >= apart[ALIKE - 1]) continue;
        for (t = kept < ALIKE ? kept++ : ALIKE - 1; t > 0 && apart[t - 1] > differ; t--)
            apart[t] = apart[t - 1], chosen[t] = chosen[t - 1];
        apart[t] = differ, chosen[t] = b;
    }
    return kept;
}

/* Append the segments of the sorted seeds of one part; `capped` counts seeds of which not all places are compared, and
these places. Each one is compared with the next ones by rank, and one of rank below `rules->first` with the most similar
ones from there on. Without `rules`, mark frequent seeds. Returns -1 without memory. */
static int pair_seeds(
    const seed_search *w, const search_rules *rules, uint64_t *seeds, int64_t n, segment **items, int64_t *count,
    int64_t *capped) {
    int64_t room = 0, chosen[ALIKE];
    uint64_t own[2];
    for (int64_t begin = 0, end; begin < n; begin = end) {
        for (end = begin + 1; end < n && seeds[end] >> w->shift == seeds[begin] >> w->shift;) end++;
        for (int64_t a = end; rules && a < n && a < end + 8; a++)
            if (a + 9 < n && seeds[a + 8] >> w->shift == seeds[a + 9] >> w->shift) __builtin_prefetch(w->s->codes + PLACE(seeds[a + 8]));
        int64_t size = end - begin, queries = 0, scanned = 0;
        if (size < 2) continue;
        if (!rules) {
            if (size >= OFTEN) is_frequent(w, w->pattern, PLACE(seeds[begin]), 1);
            continue;
        }
        int cap = size > MANY;
        uint64_t *around = cap ? (uint64_t *)malloc((size_t)size * 2 * sizeof(uint64_t)) : NULL;
        if (cap) {
            if (!around) return -1;
            capped[0]++, capped[1] += size;
            queries = order_places(w, seeds + begin, size, rules->first, around);
            scanned = queries ? LEAST(size - queries, SCANNED) : 0;
            for (int64_t b = 0; b < scanned; b++)
                bases_around(w, PLACE(seeds[begin + queries + b]), (int)(seeds[begin + queries + b] & 1), around + 2 * b);
        }
        for (int64_t a = begin; a < end; a++) {
            int64_t next = LEAST(cap ? FEW : size, end - a - 1), alike = 0;
            if (a < begin + queries && scanned) {
                bases_around(w, PLACE(seeds[a]), (int)(seeds[a] & 1), own);
                alike = most_alike(own, around, scanned, chosen);
            }
            if (*count + next + alike > room) {
                room = 2 * room + next + alike + 1024;
                segment *more = (segment *)realloc(*items, (size_t)room * sizeof(segment));
                if (!more) return free(around), -1;
                *items = more;
            }
            for (int64_t t = 0; t < next + alike; t++) {
                uint64_t other = seeds[t < next ? a + 1 + t : begin + queries + chosen[t - next]];
                *count += extend_pair(
                    w, rules, PLACE(seeds[a]), PLACE(other), (int)((seeds[a] ^ other) & 1), cap && t < next,
                    *items + *count);
            }
        }
        free(around);
    }
    return 0;
}

/* Identical residues of each segment's records in the alignment along its diagonal; 0 if they are too few. `order` has
the record of each rank. */
static int align_segments(
    const search_set *s, const int64_t *order, int32_t band, const int32_t *needed, const segment *items, int64_t n,
    int32_t longest, int32_t *same) {
    uint8_t *turned = (uint8_t *)malloc((size_t)longest);
    int failed = turned ? 0 : -1;
    for (int64_t t = 0; t < n && !failed; t++) {
        int64_t i = order[items[t].record], j = order[items[t].other >> 1], n_x = s->ends[i] - s->starts[i];
        int64_t n_y = s->ends[j] - s->starts[j], d = items[t].diagonal;
        const uint8_t *y = s->codes + s->starts[j];
        int32_t least = needed[LEAST(n_x, n_y)];
        for (int64_t a = 0; a < n_y && items[t].other & 1; a++) turned[a] = y[n_y - 1 - a] < 4 ? 3 - y[n_y - 1 - a] : 255;
        same[t] = identical_residues(
            s->codes + s->starts[i], n_x, items[t].other & 1 ? turned : y, n_y, d, band, s->size);
        if (same[t] < 0) failed = -1;
        if (same[t] < least) same[t] = 0;
    }
    free(turned);
    return failed;
}

#endif
