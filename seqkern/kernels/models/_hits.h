/* Where motifs match, or how often in each record: a list that grows. */
#ifndef SEQKERN_HITS_H
#define SEQKERN_HITS_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct {
    int32_t motif;
    int32_t value; /* where it matches, in the other strand −1 minus that; or how often */
} motif_hit;

typedef struct {
    motif_hit *items;
    ptrdiff_t count, room;
    int failed;                /* memory ran out; what came after is lost */
    int other_strand;          /* what is read now */
    const uint8_t *one_strand; /* (motifs,): whether matches in the other strand do not count */
    int64_t *place;            /* (motifs,), to count: 1 more than where the motif is among the items */
    ptrdiff_t begin;           /* and where the items of this record begin */
} hit_list;

static inline void add_hit(hit_list *hits, int32_t motif, ptrdiff_t start)
{
    if (hits->other_strand && hits->one_strand[motif])
        return;
    if (hits->place != NULL && hits->place[motif] > hits->begin) {
        hits->items[hits->place[motif] - 1].value++;
        return;
    }
    if (hits->count == hits->room) {
        const ptrdiff_t room = 2 * hits->room + 1024;
        motif_hit *items = (motif_hit *)realloc(hits->items, room * sizeof(motif_hit));
        if (items == NULL) {
            hits->failed = 1;
            return;
        }
        hits->items = items;
        hits->room = room;
    }
    motif_hit *hit = hits->items + hits->count++;
    hit->motif = motif;
    hit->value = hits->place != NULL ? 1 : (int32_t)(hits->other_strand ? -1 - start : start);
    if (hits->place != NULL)
        hits->place[motif] = hits->count;
}

#endif
