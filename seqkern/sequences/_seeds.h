/* Segments that two records of a very large set share: spaced seeds, sorted part by part, extended without gaps.

The records are DNA, codes 0 to 3 with the complement 3 - code, and lie one behind the other. The patterns of the seeds
read the same from both ends, so that on two strands the smaller code of a seed and its reverse complement stands for
both. */

#ifndef SEQKERN_SIMILARITY_SEEDS_H
#define SEQKERN_SIMILARITY_SEEDS_H

#include "_exact.h"

#define SPAN 29
#define MANY 32 /* places at most that each place of a seed is compared with */
#define FEW 4   /* the same of a frequent seed */
#define SAMPLED 3
#define OFTEN 4 /* a seed is frequent if so many of its places are in a sample of one in 2^SAMPLED */

/* 11110011101000100010111001111 and 11101101001001110010010110111 */
static const uint32_t patterns[2] = {0x1E7445CFu, 0x1DA4E4B7u};

typedef struct {
    /* other: twice the record, odd if its reverse complement is meant; stretch: of identical residues, not all of them
    of low complexity */
    int32_t record, other, diagonal, score, stretch;
} segment;

typedef struct {
    const search_set *s;
    const uint8_t *bad; /* the bits of places where no seed starts */
    uint8_t *often;     /* the bits of hashes of frequent seeds */
    int often_bits, pattern, strands, shift; /* shift: bits of a seed's place and strand */
    uint64_t spread[2];
} seed_search;

static uint64_t seed_hash(const seed_search *w, int pattern, uint64_t forward, uint64_t mirrored, int *turned) {
    uint64_t code = forward & w->spread[pattern], reverse = mirrored & w->spread[pattern];
    *turned = w->strands == 2 && reverse < code;
    code = ((*turned ? reverse : code) + (uint64_t)pattern) * 0x9E3779B97F4A7C15u;
    return (code ^ code >> 29) * 0xBF58476D1CE4E5B9u;
}

static void prepare_seeds(seed_search *w) {
    for (w->shift = 1; w->s->total >> (w->shift - 1);) w->shift++;
    for (int t = 0; t < 2 * SPAN; t++) w->spread[t / SPAN] |= (uint64_t)(patterns[t / SPAN] >> t % SPAN & 1) * 3 << 2 * (t % SPAN);
}

/* Write the seeds of one part, or count those of all parts, by their first digit: `counts` moves to the digits' ends. A
seed is the end of its hash, its place, its strand. */
static void collect_seeds(
    const seed_search *w, int sampled, uint64_t parts, uint64_t part, uint64_t *out, int64_t *counts) {
    uint64_t forward = 0, mirrored = 0;
    int turned;
    for (int64_t p = 0; p < w->s->total; p++) {
        uint64_t letter = w->s->codes[p] & 3, start = (uint64_t)(p - SPAN + 1);
        forward = forward << 2 | letter;
        mirrored = mirrored >> 2 | (3 - letter) << (2 * (SPAN - 1));
        if (p < SPAN - 1 || IS_BAD(w->bad, start)) continue;
        if (sampled && (start * 0x9E3779B97F4A7C15u) >> (64 - SAMPLED)) continue;
        uint64_t hash = seed_hash(w, w->pattern, forward, mirrored, &turned), own = (hash >> 32) * parts >> 32;
        uint64_t seed = hash << w->shift | start << 1 | (uint64_t)turned;
        if (!out) counts[own << DIGIT | seed >> (64 - DIGIT)]++;
        else if (own == part) out[counts[seed >> (64 - DIGIT)]++] = seed;
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
    uint64_t bit = seed_hash(w, pattern, forward, mirrored, &turned) >> (64 - w->often_bits);
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

/* Write the seeds of one part, sorted; `counts` are those of its digits. */
static void sorted_seeds(
    const seed_search *w, int sampled, uint64_t parts, uint64_t part, uint64_t *seeds, int64_t *counts) {
    int64_t sum = 0, begin = 0;
    for (int digit = 0; digit < 1 << DIGIT; digit++) sum += counts[digit], counts[digit] = sum - counts[digit];
    collect_seeds(w, sampled, parts, part, seeds, counts);
    for (int digit = 0; digit < 1 << DIGIT; begin = counts[digit++])
        sort_seeds(seeds + begin, counts[digit] - begin, 64 - DIGIT);
}

#define SAME(t) (x[t] < 4 && x[t] == (y[step * (t)] ^ flip))

/* Extend a pair of equal seeds; 1 if its segment scores enough, lies in two records, and has no seed further left. Of
`frequent` seeds only others count as further left if they are frequent, and of other seeds only these. */
static int extend_pair(
    const seed_search *w, const search_rules *rules, int64_t p, int64_t q, int turned, int frequent, segment *found) {
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
    for (int within = 0; within < 2; within++) {
        if (within) {
            i = record_at(s, p), j = record_at(s, q);
            if (i == j) return 0;
            low = -LEAST(p - s->starts[i], turned ? s->starts[j + 1] - 1 - last : q - s->starts[j]);
            high = LEAST(s->starts[i + 1] - p, turned ? last - s->starts[j] + 1 : s->starts[j + 1] - q);
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
                    !IS_BAD(w->bad, turned ? q - t : q + t) && (frequent || !is_frequent(w, pattern, p + t, 0)))
                    return 0;
        }
        score = best += inside;
        for (int64_t t = SPAN; t < high && score > best - rules->drop; t++) {
            score += SAME(t) ? rules->match : rules->mismatch;
            if (score > best) best = score, right = t + 1;
        }
        if (best < rules->least) return 0;
    }
    found->record = i, found->other = 2 * j + turned, found->score = best, found->stretch = 0;
    found->diagonal = (int32_t)((turned ? s->starts[j + 1] - 1 - last : q - s->starts[j]) - (p - s->starts[i]));
    for (int64_t t = left; t < right; t++) {
        run = SAME(t) ? run + 1 : 0;
        if (run >= SPAN && run > found->stretch && !IS_BAD(w->bad, p + t - SPAN + 1)) found->stretch = run;
    }
    return 1;
}

/* Append the segments of the sorted seeds of one part. Of frequent seeds, places before record `rules->first` are also
compared with some from there on. Without `rules`, mark frequent seeds. Returns -1 without memory. */
static int pair_seeds(
    const seed_search *w, const search_rules *rules, const uint64_t *seeds, int64_t n, segment **items,
    int64_t *count) {
    int64_t room = 0, border = rules && rules->first ? w->s->starts[rules->first] : 0;
    uint64_t mask = ((uint64_t)1 << (w->shift - 1)) - 1;
#define PLACE(a) ((int64_t)(seeds[a] >> 1 & mask))
    for (int64_t begin = 0, end; begin < n; begin = end) {
        int64_t middle = begin;
        for (end = begin; end < n && seeds[end] >> w->shift == seeds[begin] >> w->shift; end++)
            if (PLACE(end) < border) middle = end + 1;
        for (int64_t a = end; rules && a < n && a < end + 8; a++)
            if (a + 9 < n && seeds[a + 8] >> w->shift == seeds[a + 9] >> w->shift) __builtin_prefetch(w->s->codes + PLACE(a + 8));
        if (end - begin < 2) continue;
        if (!rules) {
            if (end - begin >= OFTEN) is_frequent(w, w->pattern, PLACE(begin), 1);
            continue;
        }
        int frequent = is_frequent(w, w->pattern, PLACE(begin), 0);
        for (int64_t a = begin; a < end; a++) {
            int64_t next = LEAST(frequent ? FEW : MANY, end - a - 1), far = frequent && a < middle ? end - middle : 0;
            for (int64_t t = 0; t < next + LEAST(far, FEW); t++) {
                int64_t b = t < next ? a + 1 + t : middle + ((a - begin) * FEW + t - next) % far;
                if (*count == room) {
                    room = room ? 2 * room : 1024;
                    segment *more = (segment *)realloc(*items, (size_t)room * sizeof(segment));
                    if (!more) return -1;
                    *items = more;
                }
                *count += extend_pair(
                    w, rules, PLACE(a), PLACE(b), (int)((seeds[a] ^ seeds[b]) & 1), frequent, *items + *count);
            }
        }
    }
    return 0;
}

/* Identical residues of each segment's records in the alignment along its diagonal; 0 if they are too few. */
static int align_segments(
    const search_set *s, int32_t band, const int32_t *needed, const segment *items, int64_t n, int32_t longest,
    int32_t *same) {
    uint8_t *turned = (uint8_t *)malloc((size_t)longest);
    int failed = turned ? 0 : -1;
    for (int64_t t = 0; t < n && !failed; t++) {
        int64_t i = items[t].record, j = items[t].other >> 1, n_x = s->starts[i + 1] - s->starts[i];
        int64_t n_y = s->starts[j + 1] - s->starts[j], d = items[t].diagonal;
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
