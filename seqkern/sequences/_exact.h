/* Records that share a long exact k-mer: all k-mers sorted, in parts that fit into a cache.

The records lie one behind the other in `codes`, each followed by END. With two strands, a k-mer and its reverse
complement are one; the smaller code stands for both. */

#ifndef SEQKERN_SIMILARITY_EXACT_H
#define SEQKERN_SIMILARITY_EXACT_H

#include "_search.h"

#define TRIPLETS 3
#define DIGIT 11

typedef struct {
    uint64_t key;
    int64_t place; /* twice the position; odd if the reverse complement was the smaller code */
} placed_kmer;

/* bad[p] is 1 unless a k-mer of some complexity, without masked residues, starts at p. As in DUST, a k-mer is of low
complexity if its triplets repeat: sum of c (c - 1) / 2 over their counts above 2 (k - 3). */
static int mark_bad(const uint8_t *codes, int64_t total, int size, int k, uint8_t *bad) {
    int n_triplets = size * size * size, inside = k - TRIPLETS + 1;
    int32_t *counts = (int32_t *)calloc((size_t)n_triplets, sizeof(int32_t));
    if (!counts) return -1;
    int64_t run = 0, repeats = 0, code = 0, limit = 2 * (int64_t)(inside - 1);
    memset(bad, 1, (size_t)total);
    for (int64_t p = 0; p < total; p++) {
        if (codes[p] >= size) {
            run = 0, repeats = 0, code = 0;
            memset(counts, 0, (size_t)n_triplets * sizeof(int32_t));
            continue;
        }
        code = (code * size + codes[p]) % n_triplets;
        if (++run < TRIPLETS) continue;
        repeats += counts[code]++;
        if (run > k) {
            const uint8_t *old = codes + p - k;
            repeats -= --counts[((int64_t)old[0] * size + old[1]) * size + old[2]];
        }
        if (run >= k) bad[p - k + 1] = repeats > limit;
    }
    free(counts);
    return 0;
}

/* Write the k-mers of one part to `out`, or only count them. The first `bits` bits of a hash tell a k-mer's part.
Alphabets with complements have four letters. */
static int64_t collect_kmers(
    const uint8_t *codes, int64_t total, const uint8_t *bad, int size, int k, const uint8_t *complement, int bits,
    uint64_t part, placed_kmer *out) {
    uint64_t highest = 1, code = 0, mirrored = 0;
    for (int t = 1; t < k; t++) highest *= (uint64_t)size;
    int64_t run = 0, count = 0;
    for (int64_t p = 0; p < total; p++) {
        uint64_t letter = codes[p];
        if (letter >= (uint64_t)size) {
            run = 0, code = 0, mirrored = 0;
            continue;
        }
        if (run >= k) code -= codes[p - k] * highest;
        code = code * (uint64_t)size + letter;
        if (complement) mirrored = (mirrored >> 2) + complement[letter] * highest;
        if (++run < k || bad[p - k + 1]) continue;
        int turned = complement && mirrored < code;
        uint64_t key = turned ? mirrored : code;
        if (bits && (key * 0x9E3779B97F4A7C15u) >> (64 - bits) != part) continue;
        if (out) out[count].key = key, out[count].place = 2 * (p - k + 1) + turned;
        count++;
    }
    return count;
}

/* Sort by key; equal keys stay in their order. Returns the sorted one of two buffers. */
static placed_kmer *sort_kmers(placed_kmer *from, placed_kmer *to, int64_t n, uint64_t largest) {
    static const uint64_t mask = (1u << DIGIT) - 1;
    for (int shift = 0; shift < 64 && largest >> shift; shift += DIGIT) {
        int64_t starts[(1 << DIGIT) + 1] = {0};
        for (int64_t t = 0; t < n; t++) starts[((from[t].key >> shift) & mask) + 1]++;
        for (int digit = 0; digit < 1 << DIGIT; digit++) starts[digit + 1] += starts[digit];
        for (int64_t t = 0; t < n; t++) to[starts[(from[t].key >> shift) & mask]++] = from[t];
        placed_kmer *other = from;
        from = to, to = other;
    }
    return from;
}

/* Append the pairs of records that share the sorted k-mers, with the length of the shared stretch. Each place is
compared with the next `cap` places of its k-mer, and each stretch is found at its first k-mer alone. */
static int pair_kmers(
    const search_set *s, const uint8_t *bad, int k, const uint8_t *complement, int cap, const placed_kmer *kmers,
    int64_t n, pair_list *found) {
    for (int64_t a = 0; a < n; a++) {
        int64_t p = kmers[a].place >> 1;
        int32_t i = record_at(s, p);
        int extendable = p > 0 && s->codes[p - 1] < s->size && !bad[p - 1];
        for (int64_t b = a + 1; b < n && b <= a + cap && kmers[b].key == kmers[a].key; b++) {
            int64_t q = kmers[b].place >> 1, length = k;
            int32_t j = record_at(s, q);
            if (i == j) continue;
            if (((kmers[a].place ^ kmers[b].place) & 1) == 0) {
                if (extendable && s->codes[q - 1] == s->codes[p - 1]) continue;
                while (s->codes[p + length] < s->size && s->codes[p + length] == s->codes[q + length]) length++;
            } else {
                int next = s->codes[q + k];
                if (extendable && next < s->size && complement[next] == s->codes[p - 1]) continue;
                for (int64_t back = q - 1; back >= 0 && s->codes[back] < s->size; back--, length++)
                    if (s->codes[p + length] != complement[s->codes[back]]) break;
            }
            if (keep_pair(found, i, j, (int32_t)length)) return -1;
        }
    }
    return 0;
}

typedef struct {
    int32_t length, other;
} longest_stretch;

/* Of each of the first `queries` records the longest stretch that it shares with a later record, by the sorted k-mers;
of equals, the first record. A stretch is found at its first k-mer in the query alone. Each place is compared with the
first `cap` places of its k-mer in the others: whether there is a shared stretch does not depend on `cap`, since a pair
of places is left out only if the k-mer one residue before is shared too. */
static void longest_stretches(
    const search_set *s, int k, const uint8_t *complement, int32_t queries, int cap, const placed_kmer *kmers,
    int64_t n, longest_stretch *best) {
    int64_t border = s->starts[queries];
    for (int64_t begin = 0, end; begin < n; begin = end) {
        int64_t middle = begin;
        for (end = begin; end < n && kmers[end].key == kmers[begin].key; end++)
            if (kmers[end].place >> 1 < border) middle = end + 1;
        int64_t stop = end - middle > cap ? middle + cap : end;
        for (int64_t a = begin; a < middle && middle < stop; a++) {
            int64_t p = kmers[a].place >> 1;
            int before = p > 0 && s->codes[p - 1] < s->size ? s->codes[p - 1] : -1;
            longest_stretch *own = best + record_at(s, p);
            for (int64_t b = middle; b < stop; b++) {
                int64_t q = kmers[b].place >> 1, length = k;
                if (((kmers[a].place ^ kmers[b].place) & 1) == 0) {
                    if (s->codes[q - 1] == before) continue;
                    while (s->codes[p + length] < s->size && s->codes[p + length] == s->codes[q + length]) length++;
                } else {
                    int next = s->codes[q + k];
                    if (next < s->size && complement[next] == before) continue;
                    for (int64_t back = q - 1; s->codes[back] < s->size; back--, length++)
                        if (s->codes[p + length] != complement[s->codes[back]]) break;
                }
                int32_t other = record_at(s, q);
                if (length > own->length || (length == own->length && other < own->other))
                    own->length = (int32_t)length, own->other = other;
            }
        }
    }
}

#endif
