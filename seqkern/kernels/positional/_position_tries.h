/* Making the weights of k-mers at positions from support sequences: a table of short ones and a trie of long ones.
 *
 * A support sequence z with coefficient c adds to a k-mer at a position c times the weight of its length. The table
 * of a position has the sums of all lengths up to `prefix` for each word of that many letters, and for each shorter
 * word (a masked letter ends it). The trie of a position has the longer k-mers of the support: for each word of
 * `prefix` letters that occurs there, a bit and a tree whose edges hold many letters. A path that belongs to one
 * support sequence is one node, or several where it is longer than a word. */
#ifndef SEQKERN_POSITION_TRIES_H
#define SEQKERN_POSITION_TRIES_H

#include <stdlib.h>

#include "_packed_letters.h"

typedef struct {
    uint64_t letters; /* of the edge that leads here */
    double weight;    /* the sum of the coefficients of all sequences that pass here */
    uint32_t child;   /* the first of its children, which follow each other */
    uint8_t length;   /* letters of the edge */
    uint8_t children;
} trie_node;

/* For 64 prefixes: which have a tree, and how many have one before them: the root of a tree has that number. */
typedef struct {
    uint64_t present;
    uint64_t before;
} trie_roots;

/* k-mers of the support at `there` count, times `weight`, for k-mers of a window at `here`, up to `longest` letters. */
typedef struct {
    int32_t here;
    int32_t there;
    int32_t longest;
    double weight;
} placement;

/* Support sequences of one length, packed one after the other. */
typedef struct {
    const uint8_t *letters;
    const uint8_t *masked; /* NULL: no letter is */
    const double *coefficients;
    ptrdiff_t n;
    ptrdiff_t length;
    int bits;
    int size;
    int prefix;
} support_set;

typedef struct {
    uint32_t node;
    uint32_t first;
    uint32_t count;
    int32_t depth;
} trie_task;

/* Buffers: (n,) each, but others (2n,), starts (2^(bits · prefix) + 1,), counts (size + 1,). `nodes` grows. */
typedef struct {
    const support_set *support;
    ptrdiff_t place;
    int32_t *reach;
    uint32_t *items;
    uint32_t *others;
    trie_task *tasks;
    uint32_t *starts;
    uint32_t *counts;
    trie_node *nodes;
    size_t used;
    size_t room;
} trie_builder;

ALWAYS_INLINE uint64_t support_word(const support_set *s, ptrdiff_t j, ptrdiff_t place)
{
    return word_at(s->letters, (uint64_t)(j * s->length + place) * (uint64_t)s->bits);
}

ALWAYS_INLINE ptrdiff_t support_reach(const support_set *s, ptrdiff_t j, ptrdiff_t place, ptrdiff_t most)
{
    return s->masked ? unmasked_letters(s->masked, j * s->length + place, most) : most;
}

/* Return where the words of `r` letters begin in a table: shorter ones come first. */
ALWAYS_INLINE ptrdiff_t level_start(int bits, int r)
{
    ptrdiff_t start = 0;
    for (int shorter = 0; shorter < r; shorter++)
        start += (ptrdiff_t)1 << (bits * shorter);
    return start;
}

/* Write the table of one position, from its placements. `weights` are those of the lengths 1, …, prefix. */
static void build_table(const support_set *s, const placement *placements, ptrdiff_t count, const double *weights,
                        double *table)
{
    ptrdiff_t starts[WORD_BITS];
    for (int r = 0; r <= s->prefix; r++)
        starts[r] = level_start(s->bits, r);
    memset(table, 0, (size_t)level_start(s->bits, s->prefix + 1) * sizeof(double));
    for (ptrdiff_t k = 0; k < count; k++) {
        const placement *at = placements + k;
        ptrdiff_t most = at->longest < s->prefix ? at->longest : s->prefix;
        for (ptrdiff_t j = 0; j < s->n; j++) {
            int r = (int)support_reach(s, j, at->there, most);
            uint64_t word = support_word(s, j, at->there) & low_bits(s->bits * r);
            table[starts[r] + word] += s->coefficients[j] * at->weight;
        }
    }
    for (int r = s->prefix; r > 1; r--) { /* a word's sum is in the sums of its prefixes */
        const double *longer = table + starts[r];
        double *shorter = table + starts[r - 1];
        size_t span = (size_t)1 << (s->bits * (r - 1));
        for (size_t first = 0; first < (size_t)1 << (s->bits * r); first += span)
            for (size_t u = 0; u < span; u++)
                shorter[u] += longer[first + u];
    }
    table[0] = 0;
    for (int r = 1; r <= s->prefix; r++) { /* what a word adds is in what its continuations add */
        double *longer = table + starts[r];
        const double *shorter = table + starts[r - 1];
        size_t span = (size_t)1 << (s->bits * (r - 1));
        for (size_t first = 0; first < (size_t)1 << (s->bits * r); first += span)
            for (size_t u = 0; u < span; u++)
                longer[first + u] = shorter[u] + weights[r - 1] * longer[first + u];
    }
}

/* Sum the tables of the last `prefix` positions: what the last letters of a window have in all of them. */
static void build_tail(const support_set *s, const double *tables, double *tail)
{
    const ptrdiff_t entries = level_start(s->bits, s->prefix + 1);
    memset(tail, 0, ((size_t)1 << (s->bits * s->prefix)) * sizeof(double));
    for (int r = s->prefix; r > 0; r--) {
        const double *words = tables + (s->length - r) * entries + level_start(s->bits, r);
        const int before = s->bits * (s->prefix - r);
        for (size_t word = 0; word < (size_t)1 << (s->bits * s->prefix); word++)
            tail[word] += words[word >> before];
    }
}

/* Make `more` nodes; 0 if there is no memory for them, or no number. */
static int add_nodes(trie_builder *b, size_t more)
{
    if (b->used + more > b->room) {
        size_t room = b->room + b->room / 2 + more + 64;
        trie_node *nodes = room < UINT32_MAX ? (trie_node *)realloc(b->nodes, room * sizeof(trie_node)) : NULL;
        if (nodes == NULL)
            return 0;
        b->nodes = nodes;
        b->room = room;
    }
    b->used += more;
    return 1;
}

/* Fill the node of a task, for sequences that agree so far, and set up tasks for its children in `tasks`. Return how
 * many, or -1 without memory. */
static int fill_node(trie_builder *b, trie_task task, trie_task *tasks)
{
    const support_set *s = b->support;
    uint32_t *items = b->items + task.first, *counts = b->counts;
    ptrdiff_t place = b->place + task.depth;
    uint64_t letters = support_word(s, items[0], place);
    int length = b->reach[items[0]] - task.depth;
    if (length > WORD_BITS / s->bits)
        length = WORD_BITS / s->bits;
    double weight = s->coefficients[items[0]];
    for (uint32_t i = 1; i < task.count; i++) {
        int left = b->reach[items[i]] - task.depth;
        length = common_letters(letters, support_word(s, items[i], place), s->bits, left < length ? left : length);
        weight += s->coefficients[items[i]];
    }
    int depth = task.depth + length, children = 0;
    memset(counts, 0, (size_t)(s->size + 1) * sizeof *counts);
    for (uint32_t i = 0; i < task.count; i++) /* by their next letter; those that end here are behind */
        b->others[i] = b->reach[items[i]] == depth ? (uint32_t)s->size
                                                  : (uint32_t)(support_word(s, items[i], place + length) & low_bits(s->bits));
    for (uint32_t i = 0; i < task.count; i++)
        counts[b->others[i]]++;
    uint32_t first = 0;
    for (int letter = 0; letter <= s->size; letter++) {
        uint32_t count = counts[letter];
        if (count && letter < s->size)
            tasks[children++] = (trie_task){0, task.first + first, count, depth};
        counts[letter] = first;
        first += count;
    }
    if (children > 1 || (children == 1 && tasks[0].count < task.count)) {
        uint32_t *sorted = b->others + task.count;
        for (uint32_t i = 0; i < task.count; i++)
            sorted[counts[b->others[i]]++] = items[i];
        memcpy(items, sorted, task.count * sizeof *items);
    }
    size_t child = b->used;
    if (!add_nodes(b, (size_t)children))
        return -1;
    for (int c = 0; c < children; c++)
        tasks[c].node = (uint32_t)child + (uint32_t)c;
    b->nodes[task.node] = (trie_node){letters, weight, (uint32_t)child, (uint8_t)length, (uint8_t)children};
    return children;
}

/* Make the trie of k-mers at `place` that have more than `prefix` letters, up to `longest`. `roots` has one entry for
 * 64 prefixes. Return the number of nodes, or -1 without memory. */
static ptrdiff_t build_trie(trie_builder *b, ptrdiff_t place, ptrdiff_t longest, trie_roots *roots)
{
    const support_set *s = b->support;
    size_t prefixes = (size_t)1 << (s->bits * s->prefix);
    uint64_t mask = prefixes - 1, before = 0;
    b->place = place;
    b->used = 0;
    memset(b->starts, 0, (prefixes + 1) * sizeof *b->starts);
    for (ptrdiff_t j = 0; j < s->n; j++) {
        b->reach[j] = (int32_t)support_reach(s, j, place, longest);
        if (b->reach[j] > s->prefix)
            b->starts[(support_word(s, j, place) & mask) + 1]++;
    }
    for (size_t first = 0; first < prefixes; first += 64, roots++) {
        roots->present = 0;
        roots->before = before;
        for (size_t code = first; code < first + 64 && code < prefixes; code++) {
            roots->present |= (uint64_t)(b->starts[code + 1] > 0) << (code - first);
            before += b->starts[code + 1] > 0;
            b->starts[code + 1] += b->starts[code];
        }
    }
    for (ptrdiff_t j = 0; j < s->n; j++)
        if (b->reach[j] > s->prefix)
            b->items[b->starts[support_word(s, j, place) & mask]++] = (uint32_t)j;
    if (!add_nodes(b, before))
        return -1;
    uint32_t root = 0, start = 0;
    for (size_t code = 0; code < prefixes; code++) { /* `starts` are ends by now */
        ptrdiff_t pending = 0;
        if (b->starts[code] > start)
            b->tasks[pending++] = (trie_task){root++, start, b->starts[code] - start, s->prefix};
        start = b->starts[code];
        while (pending) {
            pending--;
            int children = fill_node(b, b->tasks[pending], b->tasks + pending);
            if (children < 0)
                return -1;
            pending += children;
        }
    }
    return (ptrdiff_t)b->used;
}

#endif
