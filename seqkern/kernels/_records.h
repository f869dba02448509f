/* Some of the records of a buffer of codes, in an order; and memory for vectors. */
#ifndef SEQKERN_RECORDS_H
#define SEQKERN_RECORDS_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Records `order[0]`, `order[1]`, … of a buffer of codes. */
typedef struct {
    const uint8_t *codes;
    const int64_t *start, *stop, *order;
    ptrdiff_t n;
} records;

static inline const uint8_t *record_codes(const records *r, ptrdiff_t k)
{
    return r->codes + r->start[r->order[k]];
}

static inline ptrdiff_t record_length(const records *r, ptrdiff_t k)
{
    return r->stop[r->order[k]] - r->start[r->order[k]];
}

static inline ptrdiff_t longest_record(const records *r)
{
    ptrdiff_t longest = 0;
    for (ptrdiff_t k = 0; k < r->n; ++k)
        if (record_length(r, k) > longest)
            longest = record_length(r, k);
    return longest;
}

/* Return `size` bytes aligned to 64 inside *block, which is to be freed; NULL without memory. */
static inline void *aligned_memory(size_t size, void **block)
{
    *block = malloc(size + 64);
    return *block ? (void *)(((uintptr_t)*block + 63) & ~(uintptr_t)63) : NULL;
}

#endif
