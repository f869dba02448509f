/* Records that share a long exact k-mer: all k-mers sorted, in parts that fit into a cache.

The records lie one behind the other in `codes`. With two strands, a k-mer and its reverse complement are one; the
smaller code stands for both. */

#ifndef SEQKERN_SIMILARITY_EXACT_H
#define SEQKERN_SIMILARITY_EXACT_H

#include "_search.h"

#define TRIPLETS 3
#define DIGIT 11

typedef struct {
    uint64_t key;
    int64_t place; /* twice the position; odd if the reverse complement was the smaller code */
} placed_kmer;

#define IS_BAD(bad, p) ((bad)[(p) >> 3] >> ((p) & 7) & 1)
#define INSIDE(s, record, p) ((p) >= (s)->starts[record] && (p) < (s)->ends[record] - (s)->gap)
#define CODE(s, record, p) (INSIDE(s, record, p) ? (s)->codes[p] : END)

/* The bit of p is 1 unless a k-mer of some complexity, without masked residues, starts at p. As in DUST, a k-mer is of
low complexity if its triplets repeat: sum of c (c - 1) / 2 over their counts above 2 (k - 3). */
static int mark_bad(const search_set *s, int k, uint8_t *bad) {
    int size = s->size, n_triplets = size * size * size, inside = k - TRIPLETS + 1;
    int32_t *counts = (int32_t *)calloc((size_t)n_triplets, sizeof(int32_t));
    if (!counts) return -1;
    memset(bad, 255, (size_t)(s->total / 8 + 1));
    for (int32_t record = 0; record < s->records; record++) {
        int64_t run = 0, repeats = 0, code = 0, limit = 2 * (int64_t)(inside - 1);
        memset(counts, 0, (size_t)n_triplets * sizeof(int32_t));
        for (int64_t p = s->starts[record]; p < s->ends[record] - s->gap; p++) {
            if (s->codes[p] >= size) {
                run = 0, repeats = 0, code = 0;
                memset(counts, 0, (size_t)n_triplets * sizeof(int32_t));
                continue;
            }
            code = (code * size + s->codes[p]) % n_triplets;
            if (++run < TRIPLETS) continue;
            repeats += counts[code]++;
            if (run > k) {
                const uint8_t *old = s->codes + p - k;
                repeats -= --counts[((int64_t)old[0] * size + old[1]) * size + old[2]];
            }
            if (run >= k && repeats <= limit) bad[(p - k + 1) >> 3] &= (uint8_t)~(1 << ((p - k + 1) & 7));
        }
    }
    free(counts);
    return 0;
}

/* Write the k-mers of one part to `out`, or count those of all parts. The first `bits` bits of a hash tell a k-mer's
part. Without `bad` all count that lie in one record and are not masked. Alphabets with complements have four letters. */
static void collect_kmers(
    const search_set *s, const uint8_t *bad, int k, const uint8_t *complement, int bits, uint64_t part,
    placed_kmer *out, int64_t *counts) {
    uint64_t size = (uint64_t)s->size, highest = 1;
    for (int t = 1; t < k; t++) highest *= size;
    for (int32_t record = 0; record < s->records; record++) {
        uint64_t code = 0, mirrored = 0;
        int64_t run = 0;
        for (int64_t p = s->starts[record]; p < s->ends[record] - s->gap; p++) {
            uint64_t letter = s->codes[p];
            if (letter >= size) {
                run = 0, code = 0, mirrored = 0;
                continue;
            }
            if (run >= k) code -= s->codes[p - k] * highest;
            code = code * size + letter;
            if (complement) mirrored = (mirrored >> 2) + complement[letter] * highest;
            if (++run < k || (bad && IS_BAD(bad, p - k + 1))) continue;
            int turned = complement && mirrored < code;
            uint64_t key = turned ? mirrored : code, own = bits ? (key * 0x9E3779B97F4A7C15u) >> (64 - bits) : 0;
            if (!out) counts[own]++;
            else if (own == part) out->key = key, out->place = 2 * (p - k + 1) + turned, out++;
        }
    }
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

/* The length of a stretch that two records share from `p` on, to the right of `q` or, with `complement`, to its left. */
static int64_t shared_length(
    const search_set *s, int32_t i, int32_t j, int64_t p, int64_t q, int64_t length, const uint8_t *complement) {
    if (complement) {
        for (int64_t back = q - 1; INSIDE(s, j, back) && s->codes[back] < s->size; back--, length++)
            if (CODE(s, i, p + length) != complement[s->codes[back]]) break;
    } else
        while (CODE(s, i, p + length) < s->size && s->codes[p + length] == CODE(s, j, q + length)) length++;
    return length;
}

/* Append the pairs of records that share the sorted k-mers, with the length of the shared stretch. Each place is
compared with the next `cap` places of its k-mer, and each stretch is found at its first k-mer alone. */
static int pair_kmers(
    const search_set *s, const uint8_t *bad, int k, const uint8_t *complement, int cap, const placed_kmer *kmers,
    int64_t n, pair_list *found) {
    for (int64_t a = 0; a < n; a++) {
        int64_t p = kmers[a].place >> 1;
        int32_t i = record_at(s, p);
        int before = CODE(s, i, p - 1), extendable = before < s->size && !IS_BAD(bad, p - 1);
        for (int64_t b = a + 1; b < n && b <= a + cap && kmers[b].key == kmers[a].key; b++) {
            int64_t q = kmers[b].place >> 1;
            int32_t j = record_at(s, q);
            if (i == j) continue;
            int turned = (kmers[a].place ^ kmers[b].place) & 1, next = CODE(s, j, turned ? q + k : q - 1);
            if (extendable && next < s->size && (turned ? complement[next] : next) == before) continue;
            int64_t length = shared_length(s, i, j, p, q, k, turned ? complement : NULL);
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
            int32_t i = record_at(s, p);
            int before = CODE(s, i, p - 1) < s->size ? s->codes[p - 1] : -1;
            longest_stretch *own = best + i;
            for (int64_t b = middle; b < stop; b++) {
                int64_t q = kmers[b].place >> 1;
                int32_t other = record_at(s, q);
                int turned = (kmers[a].place ^ kmers[b].place) & 1, next = CODE(s, other, turned ? q + k : q - 1);
                if (next < s->size && (turned ? complement[next] : next) == before) continue;
                int64_t length = shared_length(s, i, other, p, q, k, turned ? complement : NULL);
                if (length > own->length || (length == own->length && other < own->other))
                    own->length = (int32_t)length, own->other = other;
            }
        }
    }
}

#endif
