/* Which features a word counts for, letter by letter: the children of a node in the tree of all features.
 *
 * A word of `length` letters counts for features of k letters. What it has used up on the way to a node is its state,
 * positive as long as at least one feature below the node is left:
 *
 * - costs: the word has k letters, and counts for the features u with Σ cost(word[i], u[i]) < limit. Of every cost the
 *   smallest for its letter of the word is taken off, and of the limit too; the state is what is left of the limit.
 * - subsequences: it counts for what its letters spell with some left out. Each is found once, at the leftmost place
 *   of each letter; the state is 1 + the first letter not used.
 * - places: as costs, but every place of a sequence has costs of its own (a profile). A word is the number of its first
 *   place, an int32 in `length` = 4 bytes, and its letters are those of the k places from there on. */
#ifndef SEQKERN_RULES_H
#define SEQKERN_RULES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "_simd.h"

enum { MOST_LETTERS = 256 };
enum { COSTS, SUBSEQUENCES, PLACES };

typedef struct {
    int kind;
    ptrdiff_t length;
    ptrdiff_t k;
    ptrdiff_t size;         /* letters of the alphabet */
    int64_t limit;
    const int64_t *costs;   /* (size, size): for each letter of a word, or place, ascending, less the smallest */
    const uint8_t *letters; /* (size, size): the letters of features that have these costs */
    const int64_t *least;   /* (size,): the smallest */
} feature_rule;

/* Return the first place of a word. */
ALWAYS_INLINE int32_t first_place(const uint8_t *word)
{
    int32_t place;
    memcpy(&place, word, sizeof place);
    return place;
}

/* Return the state of a word at the root; it counts for no feature unless that is positive. */
static int64_t first_state(const feature_rule *rule, const uint8_t *word)
{
    if (rule->kind == SUBSEQUENCES)
        return 1;
    int64_t left = rule->limit;
    for (ptrdiff_t i = 0; i < rule->k && left > 0; ++i)
        left -= rule->least[rule->kind == PLACES ? first_place(word) + i : word[i]];
    return left;
}

/* Write the letters by which a word goes on from a node at `depth`, and its states there; return how many.
 * `kind` is that of the rule, known when compiled in the inner loops. */
ALWAYS_INLINE int find_letters(int kind, const feature_rule *rule, const uint8_t *word, ptrdiff_t depth,
                               int64_t state, uint8_t *letters, int64_t *states)
{
    int n = 0;
    if (kind == SUBSEQUENCES) {
        ptrdiff_t first = (ptrdiff_t)state - 1, last = rule->length - rule->k + depth;
        for (ptrdiff_t i = first; i <= last; ++i) {
            ptrdiff_t j = first;
            while (word[j] != word[i])
                ++j;
            letters[n] = word[i];
            states[n] = i + 2;
            n += j == i;
        }
        return n;
    }
    const ptrdiff_t row = (kind == PLACES ? first_place(word) + depth : word[depth]) * rule->size;
    const int64_t *costs = rule->costs + row;
    const uint8_t *order = rule->letters + row;
    for (; n < rule->size && costs[n] < state; ++n) {
        letters[n] = order[n];
        states[n] = state - costs[n];
    }
    return n;
}

static int next_letters(const feature_rule *rule, const uint8_t *word, ptrdiff_t depth, int64_t state,
                        uint8_t *letters, int64_t *states)
{
    return rule->kind == COSTS    ? find_letters(COSTS, rule, word, depth, state, letters, states)
           : rule->kind == PLACES ? find_letters(PLACES, rule, word, depth, state, letters, states)
                                  : find_letters(SUBSEQUENCES, rule, word, depth, state, letters, states);
}

/* Return how many features a word counts for. */
static int64_t count_features(const feature_rule *rule, const uint8_t *word, ptrdiff_t depth, int64_t state)
{
    uint8_t letters[MOST_LETTERS];
    int64_t states[MOST_LETTERS], total = 0;
    int n = next_letters(rule, word, depth, state, letters, states);
    if (depth + 1 == rule->k)
        return n;
    for (int i = 0; i < n; ++i)
        total += count_features(rule, word, depth + 1, states[i]);
    return total;
}

/* Return an estimate of that, however many they are: the product of the numbers of children on a random way down, whose
 * mean is right (Knuth 1975). */
static double guess_features(const feature_rule *rule, const uint8_t *word, int64_t state, uint64_t *random)
{
    uint8_t letters[MOST_LETTERS];
    int64_t states[MOST_LETTERS];
    double total = 1;
    for (ptrdiff_t depth = 0; depth < rule->k; ++depth) {
        int n = next_letters(rule, word, depth, state, letters, states);
        *random = *random * 6364136223846793005u + 1442695040888963407u;
        state = states[(*random >> 33) % (uint64_t)n];
        total *= n;
    }
    return total;
}

/* Write the codes of the features that a word counts for; return where the next ones go. `code` is that of the letters
 * so far. */
static uint64_t *list_features(const feature_rule *rule, const uint8_t *word, ptrdiff_t depth, int64_t state,
                               uint64_t code, uint64_t *out)
{
    uint8_t letters[MOST_LETTERS];
    int64_t states[MOST_LETTERS];
    int n = next_letters(rule, word, depth, state, letters, states);
    code *= (uint64_t)rule->size;
    if (depth + 1 == rule->k) {
        for (int i = 0; i < n; ++i)
            *out++ = code + letters[i];
        return out;
    }
    for (int i = 0; i < n; ++i)
        out = list_features(rule, word, depth + 1, states[i], code + letters[i], out);
    return out;
}

/* Write to shares[0 .. length) what each letter of a word has in one of the features that it counts for; they sum to 1.
 * Costs: equal shares for the letters that the feature has too, or for all if there is none. Subsequences: every way to
 * spell the feature has an equal share, which its k letters share; `ways` has 2 (k + 1) (length + 1) elements. Places:
 * equal shares, for shares[0 .. k). */
static void share_feature(const feature_rule *rule, const uint8_t *word, const uint8_t *feature, double *ways,
                          double *shares)
{
    const ptrdiff_t length = rule->length, k = rule->k;
    if (rule->kind == PLACES) {
        for (ptrdiff_t i = 0; i < k; ++i)
            shares[i] = 1.0 / k;
        return;
    }
    if (rule->kind == COSTS) {
        int same = 0;
        for (ptrdiff_t i = 0; i < k; ++i)
            same += word[i] == feature[i];
        for (ptrdiff_t i = 0; i < k; ++i)
            shares[i] = same ? (word[i] == feature[i]) / (double)same : 1.0 / k;
        return;
    }
    /* before[t][i]: ways to spell the first t letters with the first i of the word; after[t][i]: to spell those from t
     * on with those from i on. */
    const ptrdiff_t width = length + 1;
    double *before = ways, *after = ways + (k + 1) * width;
    for (ptrdiff_t t = 0; t <= k; ++t) {
        before[t * width] = t == 0;
        after[t * width + length] = t == k;
    }
    for (ptrdiff_t t = 0; t <= k; ++t)
        for (ptrdiff_t i = 1; i <= length; ++i)
            before[t * width + i] = before[t * width + i - 1] +
                                    (t > 0 && word[i - 1] == feature[t - 1] ? before[(t - 1) * width + i - 1] : 0);
    for (ptrdiff_t t = k; t >= 0; --t)
        for (ptrdiff_t i = length - 1; i >= 0; --i)
            after[t * width + i] =
                after[t * width + i + 1] + (t < k && word[i] == feature[t] ? after[(t + 1) * width + i + 1] : 0);
    const double all = before[k * width + length] * (double)k;
    for (ptrdiff_t i = 0; i < length; ++i) {
        double through = 0;
        for (ptrdiff_t t = 0; t < k; ++t)
            if (word[i] == feature[t])
                through += before[t * width + i] * after[(t + 1) * width + i + 1];
        shares[i] = through / all;
    }
}

#endif
