/* Counts of features, from tables with the counts of 16 records side by side into the packed vectors of `_dense.h`.
 *
 * A table is table[feature][record]: each loop over the records of a feature is one vector operation. Tables have
 * counts of 8, 16 or 32 bits, the smallest that hold every count. */
#ifndef SEQKERN_PANELS_H
#define SEQKERN_PANELS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "_panel.h"
#include "_simd.h"

enum { PART = 1 << 15 }; /* so many squares of bytes add up to less than 2^32 */

#define MAGNITUDE(count) (count)
#define SHIFTED(kind) 0

#define COUNT uint8_t
#define SQUARES uint32_t
#define TYPED(name) name##_bytes
#include "_panels_typed.h"
#undef COUNT
#undef SQUARES
#undef TYPED

#define COUNT uint16_t
#define SQUARES uint64_t
#define TYPED(name) name##_words
#include "_panels_typed.h"
#undef COUNT
#undef SQUARES
#undef TYPED

#define COUNT int32_t
#define SQUARES uint64_t
#define TYPED(name) name##_integers
#include "_panels_typed.h"
#undef COUNT
#undef SQUARES
#undef TYPED

#undef MAGNITUDE
#undef SHIFTED
#define MAGNITUDE(count) ((count) < 0 ? -(count) : (count))
#define SHIFTED(kind) ((kind) == 1 ? BIAS : 0)

#define COUNT int16_t
#define SQUARES uint64_t
#define TYPED(name) name##_signed
#include "_panels_typed.h"
#undef COUNT
#undef SQUARES
#undef TYPED

#endif
