/* Sums of the weights of all k-mers of windows of long sequences, position by position for many windows at a time.
 *
 * A block of windows passes all positions: the table of one position stays in the cache while every window looks up
 * its letters there. Then the tries: windows whose prefix has a tree are listed, the roots are fetched, and the
 * listed ones walked. Windows with masked letters go beside the others, with shorter words. What a window adds, and
 * in which order, depends on its letters alone. */
#ifndef SEQKERN_POSITION_WEIGHTS_H
#define SEQKERN_POSITION_WEIGHTS_H

#include "_position_tries.h"

#define TILE 512
#define STRIDE 3 /* positions in one pass: bits · (prefix + STRIDE) is less than WORD_BITS */

typedef struct {
    const trie_roots *roots; /* NULL: no k-mer is longer than `prefix` */
    const trie_node *nodes;
} position_trie;

typedef struct {
    ptrdiff_t length;
    int bits;
    int prefix;
    const double *tables;       /* (length, level_start(bits, prefix + 1)) */
    const double *tail;         /* (2^(bits · prefix),): the last `prefix` positions at once */
    const double *cumulative;   /* (degree + 1,): the weights of all lengths up to k */
    const position_trie *tries; /* (length,) */
    const placement *placements;
    ptrdiff_t n_placements;
} position_model;

/* Windows of packed letters: window i starts at base + first[i]. */
typedef struct {
    const uint8_t *letters;
    const uint8_t *masked;
    int64_t base;
    const uint32_t *first;
    double *sums;
    ptrdiff_t n;
} window_list;

ALWAYS_INLINE uint64_t letters_at(const window_list *w, ptrdiff_t i, ptrdiff_t place, int bits)
{
    return word_at(w->letters, (uint64_t)(w->base + w->first[i] + place) * (uint64_t)bits);
}

/* Add what the words at `count` positions, from `place` on, have in tables that are `entries` apart. */
ALWAYS_INLINE void look_up(const position_model *m, const window_list *w, ptrdiff_t place, int count,
                           const double *words, ptrdiff_t entries, int bits)
{
    const uint64_t mask = low_bits(bits * m->prefix);
    uint64_t next[TILE];
    for (int p = 0; p < count; p++)
        for (uint64_t line = 0; line <= mask; line += 8) /* in order this is faster than as the windows come */
            PREFETCH(words + p * entries + line);
    for (ptrdiff_t first = 0; first < w->n; first += TILE) {
        ptrdiff_t many = w->n - first < TILE ? w->n - first : TILE;
        double *sums = w->sums + first;
        for (ptrdiff_t i = 0; i < many; i++)
            next[i] = letters_at(w, first + i, place, bits);
        for (int p = 0; p < count; p++) {
            const double *table = words + p * entries;
            for (ptrdiff_t i = 0; i < many; i++)
                sums[i] += table[next[i] >> (p * bits) & mask];
        }
    }
}

/* Add what the letters of whole windows have in the tables. */
ALWAYS_INLINE void look_up_whole(const position_model *m, const window_list *w, int bits)
{
    const ptrdiff_t entries = level_start(bits, m->prefix + 1);
    const double *words = m->tables + level_start(bits, m->prefix);
    const ptrdiff_t last = m->length - m->prefix;
    for (ptrdiff_t place = 0; place < last; place += STRIDE) {
        int count = last - place < STRIDE ? (int)(last - place) : STRIDE;
        look_up(m, w, place, count, words + place * entries, entries, bits);
    }
    look_up(m, w, last, 1, m->tail, 0, bits);
}

/* Add what the letters at one position have in its table, up to the first masked one. */
ALWAYS_INLINE void look_up_broken(const position_model *m, const window_list *w, ptrdiff_t place, int bits)
{
    ptrdiff_t starts[WORD_BITS];
    for (int r = 0; r <= m->prefix; r++)
        starts[r] = level_start(bits, r);
    const double *table = m->tables + place * level_start(bits, m->prefix + 1);
    for (ptrdiff_t i = 0; i < w->n; i++) {
        uint64_t word = letters_at(w, i, place, bits);
        ptrdiff_t r = unmasked_letters(w->masked, w->base + w->first[i] + place, m->prefix);
        w->sums[i] += table[starts[r] + (word & low_bits(bits * (int)r))];
    }
}

/* Return what the letters from `bit` on add along the tree of a root, up to `limit` letters. */
ALWAYS_INLINE double walk(const position_model *m, const trie_node *nodes, uint32_t root, const uint8_t *letters,
                          uint64_t bit, int limit, int bits)
{
    const trie_node *node = nodes + root;
    const uint64_t one = low_bits(bits);
    double value = 0;
    int depth = m->prefix;
    for (;;) {
        uint64_t word = word_at(letters, bit + (uint64_t)(depth * bits));
        int left = limit - depth, most = node->length < left ? node->length : left;
        int same = common_letters(word, node->letters, bits, most);
        value += node->weight * (m->cumulative[depth + same] - m->cumulative[depth]);
        depth += same;
        if (same < node->length || depth == limit || node->children == 0)
            return value;
        uint64_t next = word_at(letters, bit + (uint64_t)(depth * bits)) & one;
        const trie_node *child = nodes + node->child, *end = child + node->children;
        while (child < end && (child->letters & one) != next)
            child++;
        if (child == end)
            return value;
        node = child;
    }
}

/* Add what the longer k-mers of one placement have in its trie. */
ALWAYS_INLINE void follow(const position_model *m, const window_list *w, const placement *at, int bits, int whole)
{
    const position_trie *trie = m->tries + at->there;
    const uint64_t mask = low_bits(bits * m->prefix);
    uint32_t listed[TILE], root[TILE];
    for (ptrdiff_t first = 0; first < w->n; first += TILE) {
        ptrdiff_t stop = first + TILE < w->n ? first + TILE : w->n, found = 0;
        for (ptrdiff_t i = first; i < stop; i++) {
            uint64_t word = letters_at(w, i, at->here, bits) & mask;
            listed[found] = (uint32_t)i;
            root[found] = (uint32_t)word;
            found += trie->roots[word >> 6].present >> (word & 63) & 1;
        }
        for (ptrdiff_t k = 0; k < found; k++) {
            const trie_roots *roots = trie->roots + (root[k] >> 6);
            root[k] = (uint32_t)roots->before + (uint32_t)count_bits(roots->present & low_bits(root[k] & 63));
            PREFETCH(trie->nodes + root[k]);
        }
        for (ptrdiff_t k = 0; k < found; k++) {
            int64_t place = w->base + w->first[listed[k]] + at->here;
            int limit = whole ? at->longest : (int)unmasked_letters(w->masked, place, at->longest);
            if (limit > m->prefix)
                w->sums[listed[k]] += at->weight * walk(m, trie->nodes, root[k], w->letters,
                                                        (uint64_t)place * (uint64_t)bits, limit, bits);
        }
    }
}

ALWAYS_INLINE void sum_list(const position_model *m, const window_list *w, int bits, int whole)
{
    if (whole)
        look_up_whole(m, w, bits);
    for (ptrdiff_t place = 0; place < m->length && !whole; place++)
        look_up_broken(m, w, place, bits);
    for (ptrdiff_t k = 0; k < m->n_placements; k++)
        if (m->placements[k].longest > m->prefix)
            follow(m, w, m->placements + k, bits, whole);
}

ALWAYS_INLINE void sum_windows(const position_model *m, const window_list *w, int whole)
{
    if (m->bits == 2) /* constant: no multiplication, no division */
        sum_list(m, w, 2, whole);
    else
        sum_list(m, w, m->bits, whole);
}

DEFINE_LEVELS(sum_whole_at, sum_windows, (const position_model *m, const window_list *w), (m, w, 1))
DEFINE_LEVELS(sum_broken_at, sum_windows, (const position_model *m, const window_list *w), (m, w, 0))

/* Write the sums of n windows that begin at `starts`, ascending, less than 2^32 letters apart. `first`, `rows` and
 * `sums` are (n,) buffers, the last two not needed where no letter is masked: then `masked` is NULL. */
static void scan_windows(int level, const position_model *m, const uint8_t *letters, const uint8_t *masked,
                         const int64_t *starts, ptrdiff_t n, uint32_t *first, uint32_t *rows, double *sums,
                         double *out)
{
    window_list w = {letters, masked, n ? starts[0] : 0, first, masked ? sums : out, n};
    ptrdiff_t whole = 0, broken = n;
    memset(w.sums, 0, (size_t)n * sizeof *w.sums);
    if (masked == NULL) {
        for (ptrdiff_t i = 0; i < n; i++)
            first[i] = (uint32_t)(starts[i] - w.base);
        CALL_LEVEL(level, sum_whole_at, m, &w);
        return;
    }
    for (ptrdiff_t i = 0; i < n; i++) {
        int is_whole = unmasked_letters(masked, starts[i], m->length) == m->length;
        ptrdiff_t at = is_whole ? whole++ : --broken;
        first[at] = (uint32_t)(starts[i] - w.base);
        rows[at] = (uint32_t)i;
    }
    w.n = whole;
    CALL_LEVEL(level, sum_whole_at, m, &w);
    w.first += whole;
    w.sums += whole;
    w.n = n - whole;
    CALL_LEVEL(level, sum_broken_at, m, &w);
    for (ptrdiff_t i = 0; i < n; i++)
        out[rows[i]] = sums[i];
}

#endif
