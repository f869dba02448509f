/* Where motifs match: a list that grows. */
#ifndef SEQKERN_HITS_H
#define SEQKERN_HITS_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct {
    int32_t motif;
    int32_t start;
} motif_hit;

typedef struct {
    motif_hit *items;
    ptrdiff_t count, room;
    int failed; /* memory ran out; what came after is lost */
} hit_list;

static inline void add_hit(hit_list *hits, int32_t motif, ptrdiff_t start)
{
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
    hits->items[hits->count].motif = motif;
    hits->items[hits->count++].start = (int32_t)start;
}

#endif
