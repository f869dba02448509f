/* The walk through the tree of all features, depth first, with the words of rows and columns that are left at a node.
 *
 * At a leaf, a feature, the words left say which records count it, and the sums of all pairs of records grow. Nodes
 * without a pair are left out. The lists of one depth share one room, so that memory is bounded by depth times words;
 * where the children of a node do not fit into it they are made in groups of letters. */
#ifndef SEQKERN_TRIE_H
#define SEQKERN_TRIE_H

#include <stdlib.h>
#include <string.h>

#include "_rules.h"

/* A word that is left at a node. */
typedef struct {
    int64_t state;
    int32_t entry;
    int32_t record;
} live_word;

/* A record that counts the feature of a leaf. */
typedef struct {
    int32_t record;
    int32_t count;
} leaf_count;

enum { SMALLEST_ROOM = 1 << 18, CHILDREN = 8 };

/* One side of the product: distinct words of each record, record after record. The rules of both sides have the same
 * kind, k and size; those of places have the costs of their own side. */
typedef struct {
    const feature_rule *rule;
    const uint8_t *letters; /* (entries, length) */
    const int32_t *record;  /* (entries,) */
    const int32_t *count;   /* (entries,): how often it occurs there */
    live_word *room;        /* k parts */
    int64_t *numbers;       /* (k, size): how many words each child has */
} trie_side;

/* `sums32` or `sums64` is given for products, `squares` and `rounded` for those of each record with itself. */
typedef struct {
    int presence;
    int64_t room; /* live words of a part */
    trie_side rows, cols;
    int upper;
    int32_t row, first;
    ptrdiff_t width;
    int64_t factor;
    int32_t *sums32;
    int64_t *sums64;
    int64_t *squares;
    double *rounded;
} trie_walk;

/* Let the words of a node go on by the letters from .. to - 1 (of those with `wanted`, if given), into one part of the
 * room for each, `n` apart. */
ALWAYS_INLINE void go_on(int kind, const trie_side *side, ptrdiff_t depth,
                         const live_word *live, int64_t n, ptrdiff_t from, ptrdiff_t to, const int64_t *wanted,
                         live_word *room, int64_t *numbers)
{
    const feature_rule *rule = side->rule;
    const ptrdiff_t length = rule->length;
    uint8_t letters[MOST_LETTERS];
    int64_t states[MOST_LETTERS];
    memset(numbers + from, 0, (size_t)(to - from) * sizeof *numbers);
    for (int64_t i = 0; i < n; ++i) {
        const uint8_t *word = side->letters + live[i].entry * length;
        int found = find_letters(kind, rule, word, depth, live[i].state, letters, states);
        for (int c = 0; c < found; ++c) {
            ptrdiff_t letter = letters[c];
            if (letter < from || letter >= to || (wanted && !wanted[letter]))
                continue;
            live_word *next = room + (letter - from) * n + numbers[letter]++;
            next->state = states[c];
            next->entry = live[i].entry;
            next->record = live[i].record;
        }
    }
}

/* The same for the last letter: the counts of records. */
ALWAYS_INLINE void arrive(int kind, const trie_walk *w, const trie_side *side, const live_word *live,
                          int64_t n, ptrdiff_t from, ptrdiff_t to, const int64_t *wanted, leaf_count *room,
                          int64_t *numbers)
{
    const feature_rule *rule = side->rule;
    const ptrdiff_t length = rule->length;
    uint8_t letters[MOST_LETTERS];
    int64_t states[MOST_LETTERS];
    memset(numbers + from, 0, (size_t)(to - from) * sizeof *numbers);
    for (int64_t i = 0; i < n; ++i) {
        const uint8_t *word = side->letters + live[i].entry * length;
        int found = find_letters(kind, rule, word, rule->k - 1, live[i].state, letters, states);
        for (int c = 0; c < found; ++c) {
            ptrdiff_t letter = letters[c];
            if (letter < from || letter >= to || (wanted && !wanted[letter]))
                continue;
            leaf_count *list = room + (letter - from) * n;
            int64_t at = numbers[letter];
            if (at == 0 || list[at - 1].record != live[i].record) {
                list[at].record = live[i].record;
                list[at].count = w->presence ? 1 : side->count[live[i].entry];
                numbers[letter] = at + 1;
            } else if (!w->presence) {
                list[at - 1].count += side->count[live[i].entry];
            }
        }
    }
}

/* Make the children of a node, the counts of records at the last letter. */
static void descend(const trie_walk *w, const trie_side *side, ptrdiff_t depth, const live_word *live, int64_t n,
                    ptrdiff_t from, ptrdiff_t to, const int64_t *wanted, live_word *room, int64_t *numbers)
{
    const int last = depth + 1 == side->rule->k;
    if (last && side->rule->kind == COSTS)
        arrive(COSTS, w, side, live, n, from, to, wanted, (leaf_count *)room, numbers);
    else if (last && side->rule->kind == SUBSEQUENCES)
        arrive(SUBSEQUENCES, w, side, live, n, from, to, wanted, (leaf_count *)room, numbers);
    else if (last)
        arrive(PLACES, w, side, live, n, from, to, wanted, (leaf_count *)room, numbers);
    else if (side->rule->kind == COSTS)
        go_on(COSTS, side, depth, live, n, from, to, wanted, room, numbers);
    else if (side->rule->kind == SUBSEQUENCES)
        go_on(SUBSEQUENCES, side, depth, live, n, from, to, wanted, room, numbers);
    else
        go_on(PLACES, side, depth, live, n, from, to, wanted, room, numbers);
}

#define DEFINE_MEET(name, sum_t, sums)                                                                          \
    static void name(const trie_walk *w, const leaf_count *rows, int64_t n, const leaf_count *cols, int64_t m)  \
    {                                                                                                           \
        int64_t start = 0;                                                                                      \
        for (int64_t i = 0; i < n; ++i) {                                                                       \
            sum_t *into = w->sums + (rows[i].record - w->row) * w->width;                                       \
            const sum_t count = (sum_t)(w->factor * rows[i].count);                                             \
            while (w->upper && start < m && cols[start].record <= rows[i].record)                               \
                ++start;                                                                                        \
            for (int64_t j = start; j < m; ++j)                                                                 \
                into[cols[j].record - w->first] += count * (sum_t)cols[j].count;                                \
        }                                                                                                       \
    }

/* Add factor × the products of the counts at a leaf; with `upper` only those of columns behind their row. */
DEFINE_MEET(meet_int32, int32_t, sums32)
DEFINE_MEET(meet_int64, int64_t, sums64)

static void visit_leaf(const trie_walk *w, const leaf_count *rows, int64_t n, const leaf_count *cols, int64_t m)
{
    if (w->sums32)
        meet_int32(w, rows, n, cols, m);
    else if (w->sums64)
        meet_int64(w, rows, n, cols, m);
    else
        for (int64_t i = 0; i < n; ++i) {
            int64_t count = rows[i].count;
            w->squares[rows[i].record] = (int64_t)((uint64_t)w->squares[rows[i].record] + (uint64_t)(count * count));
            w->rounded[rows[i].record] += (double)count * (double)count;
        }
}

/* Visit the nodes below one at `depth` whose live words are those of n entries of rows and m of columns. */
static void visit(const trie_walk *w, ptrdiff_t depth, const live_word *rows, int64_t n, const live_word *cols,
                  int64_t m)
{
    const ptrdiff_t size = w->rows.rule->size;
    const int alone = w->squares != NULL, last = depth + 1 == w->rows.rule->k;
    const int64_t most = n > m ? n : m;
    ptrdiff_t group = most ? (ptrdiff_t)(w->room / most) : size;
    group = group < 1 ? 1 : group > size ? size : group;
    live_word *row_room = w->rows.room + depth * w->room, *col_room = alone ? NULL : w->cols.room + depth * w->room;
    leaf_count *row_leaf = (leaf_count *)row_room, *col_leaf = (leaf_count *)col_room;
    int64_t *row_numbers = w->rows.numbers + depth * size;
    int64_t *col_numbers = alone ? row_numbers : w->cols.numbers + depth * size;
    for (ptrdiff_t from = 0; from < size; from += group) {
        ptrdiff_t to = from + group < size ? from + group : size;
        descend(w, &w->rows, depth, rows, n, from, to, NULL, row_room, row_numbers);
        if (!alone)
            descend(w, &w->cols, depth, cols, m, from, to, row_numbers, col_room, col_numbers);
        for (ptrdiff_t letter = from; letter < to; ++letter) {
            int64_t mine = row_numbers[letter], theirs = col_numbers[letter];
            ptrdiff_t row_at = (letter - from) * n, col_at = (letter - from) * m;
            if (mine == 0 || theirs == 0)
                continue;
            if (last)
                visit_leaf(w, row_leaf + row_at, mine, col_leaf + col_at, theirs);
            else if (!w->upper || col_room[col_at + theirs - 1].record > row_room[row_at].record)
                visit(w, depth + 1, row_room + row_at, mine, col_room + col_at, theirs);
        }
    }
}

/* Write the entries from .. to - 1 of one side that count for any feature to `live`; return how many. */
static int64_t start_out(const trie_side *side, int64_t from, int64_t to, live_word *live)
{
    const feature_rule *rule = side->rule;
    int64_t n = 0;
    for (int64_t entry = from; entry < to; ++entry) {
        int64_t state = first_state(rule, side->letters + entry * rule->length);
        if (state <= 0)
            continue;
        live[n].state = state;
        live[n].entry = (int32_t)entry;
        live[n].record = side->record[entry];
        ++n;
    }
    return n;
}

/* Walk through the tree with the entries row_from .. row_to - 1 and col_from .. col_to - 1; return 0, or −1 if there is
 * no memory for the lists. */
static int walk_trie(trie_walk *w, int64_t row_from, int64_t row_to, int64_t col_from, int64_t col_to)
{
    const int alone = w->squares != NULL;
    const ptrdiff_t k = w->rows.rule->k, size = w->rows.rule->size;
    const int64_t n = row_to - row_from, m = alone ? 0 : col_to - col_from, most = n > m ? n : m;
    w->room = CHILDREN * most > SMALLEST_ROOM ? CHILDREN * most : SMALLEST_ROOM;
    live_word *rows = malloc((size_t)(n + k * w->room) * sizeof *rows);
    live_word *cols = alone ? NULL : malloc((size_t)(m + k * w->room) * sizeof *cols);
    int64_t *numbers = malloc((size_t)(2 * k * size) * sizeof *numbers);
    int done = rows && numbers && (alone || cols);
    if (done) {
        w->rows.room = rows + n;
        w->rows.numbers = numbers;
        int64_t left = start_out(&w->rows, row_from, row_to, rows), others = 0;
        if (!alone) {
            w->cols.room = cols + m;
            w->cols.numbers = numbers + k * size;
            others = start_out(&w->cols, col_from, col_to, cols);
        }
        if (left && (alone || others))
            visit(w, 0, rows, left, cols, others);
    }
    free(rows);
    free(cols);
    free(numbers);
    return done ? 0 : -1;
}

#endif
