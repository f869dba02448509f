/* k-mers that two windows or more share at one position, found by a sweep from the last position to the first.
 *
 * At position i the windows stand in the order of their letters from i on, and `end` of each says up to where it agrees
 * with the window before it. The order at i is the order at i + 1, divided by the letter at i, and the new ends are
 * minima of the old ones between neighbours: the positional Burrows-Wheeler transform (Durbin 2014), from the right.
 * A masked letter, and the end of the window, agree with nothing. */
#ifndef SEQKERN_DEGREE_NODES_H
#define SEQKERN_DEGREE_NODES_H

#include <stdint.h>
#include <string.h>

typedef struct {
    const uint8_t *codes;
    const int64_t *starts;
    int64_t n, length, size;
    int64_t degree;       /* longest k-mers that count */
    int32_t *order, *end; /* (n,) each, at the present position */
    int32_t *next_order, *next_end;
    uint8_t *letter;      /* (n,): scratch, of order[t] */
    int32_t *open_length, *open_first; /* (degree + 1,): the stack of `walk_groups` */
} degree_sweep;

/* What is done with the `n` windows order[first..first + n) that share k-mers up to `longest` letters, of which those
 * up to `shorter` are shared with further windows, too. */
typedef void (*group_function)(void *to, const degree_sweep *s, int64_t first, int64_t n, int64_t shorter, int64_t longest);

static void sweep_start(degree_sweep *s)
{
    for (int64_t t = 0; t < s->n; t++) {
        s->order[t] = (int32_t)t;
        s->end[t] = (int32_t)s->length;
    }
}

/* Bring `order` and `end` from position i + 1 to i. */
static void sweep_step(degree_sweep *s, int64_t i)
{
    int64_t count[257] = {0}, place[257];
    int32_t nearest[257];
    const int masked = (int)s->size;
    for (int64_t t = 0; t < s->n; t++) {
        const uint8_t a = s->codes[s->starts[s->order[t]] + i];
        s->letter[t] = a < masked ? a : (uint8_t)masked;
        count[s->letter[t]]++;
    }
    for (int64_t a = 0, at = 0; a <= masked; a++) {
        place[a] = at;
        at += count[a];
        nearest[a] = (int32_t)i; /* the first of its letter agrees with the one before in nothing */
    }
    for (int64_t t = 0; t < s->n; t++) {
        const int32_t end = s->end[t];
        const uint8_t a = s->letter[t];
        for (int b = 0; b < masked; b++)
            nearest[b] = nearest[b] < end ? nearest[b] : end;
        s->next_order[place[a]] = s->order[t];
        s->next_end[place[a]++] = nearest[a];
        if (a != masked)
            nearest[a] = (int32_t)s->length;
    }
    int32_t *swap = s->order;
    s->order = s->next_order, s->next_order = swap;
    swap = s->end;
    s->end = s->next_end, s->next_end = swap;
}

/* How many letters order[t] shares with order[t − 1] at position i, at most `degree`; 0 past both ends. */
static inline int64_t shared_letters(const degree_sweep *s, int64_t i, int64_t t)
{
    if (t <= 0 || t >= s->n)
        return 0;
    const int64_t letters = s->end[t] - i;
    return letters < s->degree ? letters : s->degree;
}

/* Call `report` for every group of windows that shares k-mers of more than `depth` letters at position i, groups inside
 * another before it. */
static void walk_groups(const degree_sweep *s, int64_t i, int64_t depth, group_function report, void *to)
{
    int64_t open = 0;
    s->open_length[0] = (int32_t)depth;
    s->open_first[0] = 0;
    for (int64_t t = 1; t <= s->n; t++) {
        int64_t letters = shared_letters(s, i, t), first = t - 1;
        letters = letters > depth ? letters : depth;
        while (s->open_length[open] > letters) {
            const int64_t longest = s->open_length[open];
            first = s->open_first[open--];
            const int64_t outer = s->open_length[open];
            report(to, s, first, t - first, outer > letters ? outer : letters, longest);
        }
        if (s->open_length[open] < letters) {
            s->open_length[++open] = (int32_t)letters;
            s->open_first[open] = (int32_t)first;
        }
    }
}

/* How many groups, and windows in groups, the sweep would report for each depth. */
typedef struct {
    int64_t *groups, *entries; /* (degree + 1,): of groups that share exactly so many letters */
} group_census;

static void count_group(void *to, const degree_sweep *s, int64_t first, int64_t n, int64_t shorter, int64_t longest)
{
    group_census *census = to;
    (void)s, (void)first, (void)shorter;
    census->groups[longest]++;
    census->entries[longest] += n;
}

/* Groups become nodes: numbered, with a factor, in the list of each of their windows. */
typedef struct {
    int64_t nodes;         /* found so far */
    int64_t *cursor;       /* (n,): how many a window has, or where in the lists its next one is written */
    int32_t *node;         /* the lists; NULL: only count */
    uint16_t *kind;        /* of each node in a list, or NULL */
    const int32_t *kinds;  /* (degree + 1, degree + 1): the kind, less `first_kind`, for the lengths shorter + 1..longest */
    int64_t first_kind;    /* at this position */
    double *factors;       /* of each node, where there are no kinds */
    const double *sums;    /* β_1 + … + β_k, (degree + 1,) */
    double gamma;          /* of this position */
} group_lists;

static void list_group(void *to, const degree_sweep *s, int64_t first, int64_t n, int64_t shorter, int64_t longest)
{
    group_lists *lists = to;
    const int32_t node = (int32_t)lists->nodes++;
    if (!lists->node) {
        for (int64_t t = first; t < first + n; t++)
            lists->cursor[s->order[t]]++;
        return;
    }
    int64_t kind = 0;
    if (lists->kind)
        kind = lists->first_kind + lists->kinds[shorter * (s->degree + 1) + longest];
    else
        lists->factors[node] = lists->gamma * (lists->sums[longest] - lists->sums[shorter]);
    for (int64_t t = first; t < first + n; t++) {
        const int64_t at = lists->cursor[s->order[t]]++;
        lists->node[at] = node;
        if (lists->kind)
            lists->kind[at] = (uint16_t)kind;
    }
}

/* Add to own[window] γ·Σβ_k over the lengths k, above `depth`, at which its k-mer at position i is its alone.
 * `sums` are β_1 + … + β_k, (degree + 1,); whole[window]: how many letters are left until a masked one or the end. */
static void add_own(
    const degree_sweep *s, int64_t i, int64_t depth, double gamma, const double *sums, const int32_t *whole, double *own)
{
    for (int64_t t = 0; t < s->n; t++) {
        const int64_t before = shared_letters(s, i, t), after = shared_letters(s, i, t + 1);
        const int64_t window = s->order[t];
        int64_t shared = before > after ? before : after, longest = whole[window];
        shared = shared > depth ? shared : depth;
        longest = longest < s->degree ? longest : s->degree;
        if (longest > shared)
            own[window] += gamma * (sums[longest] - sums[shared]);
    }
}

#endif
