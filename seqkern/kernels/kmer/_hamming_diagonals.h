/* Walking the diagonals of one row sequence against one block of columns, for one level of instructions.
 *
 * `_hamming.h` includes this file once for each level, with the type `vec`, LANES bits, and its operations defined.
 *
 * Each bit of a vector is a lane: one column. A window of the row and the windows at one place of all columns share
 * as many letters as the counter says, `planes` vectors that hold the number's bits lane by lane. One step along the
 * diagonal one letter comes in and one goes out: the counter changes by one up, one down, or not at all. It starts
 * with an offset, so that the counts of matches that are wanted have the codes from 2^planes − 8 on: the upper bits
 * are all set, and the lower three tell which. Class m counts the codes whose lower bits contain those of m; ones,
 * twos and fours are the lowest bits of these counts, in registers, the higher ones lie in memory. */

#define INLINE TARGET ALWAYS_INLINE
#define MEMBER(number, m, classes, statement) \
    if ((classes) > (number)) {               \
        enum { m = (number) };                \
        statement                             \
    }
/* The statement once for each class, with a constant m: the arrays become registers. */
#define EACH(m, classes, statement)         \
    do {                                    \
        MEMBER(0, m, classes, statement)    \
        MEMBER(1, m, classes, statement)    \
        MEMBER(2, m, classes, statement)    \
        MEMBER(3, m, classes, statement)    \
        MEMBER(4, m, classes, statement)    \
        MEMBER(5, m, classes, statement)    \
        MEMBER(6, m, classes, statement)    \
        MEMBER(7, m, classes, statement)    \
    } while (0)

/* *sum = the lowest bit of *sum + a + b, *carry = the next. */
INLINE void NAME(add)(vec *sum, vec *carry, vec a, vec b)
{
    vec former = *sum;
    *sum = XOR3(former, a, b);
    *carry = CARRY(a, *sum, b, former);
}

/* Where one diagonal is, and what it has counted. */
typedef struct {
    const char *match;
    const ptrdiff_t *row;
    const vec *valid;
    ptrdiff_t length;
    vec code[MOST_PLANES];
    vec ones[CLASSES], twos[CLASSES], fours[CLASSES];
} NAME(walk);

INLINE vec NAME(match_at)(const NAME(walk) *w, ptrdiff_t place)
{
    return LOAD(w->match + w->row[place]);
}

/* Set found[m] for the windows here, and go one step along the diagonal. */
INLINE void NAME(step)(NAME(walk) *w, vec *found, const int planes, const int classes)
{
    vec *code = w->code;
    vec valid = LOAD(w->valid++);
    found[0] = planes == 4 ? AND(valid, code[3]) : AND3(valid, code[3], code[4]);
    if (classes > 1)
        found[1] = AND(found[0], code[0]);
    if (classes > 2)
        found[2] = AND(found[0], code[1]);
    if (classes > 3)
        found[3] = AND(found[2], code[0]);
    if (classes > 4)
        found[4] = AND(found[0], code[2]);
    if (classes > 5)
        found[5] = AND(found[4], code[0]);
    if (classes > 6)
        found[6] = AND(found[4], code[1]);
    if (classes > 7)
        found[7] = AND(found[6], code[0]);
    vec out = NAME(match_at)(w, 0), in = NAME(match_at)(w, w->length);
    ++w->row;
    /* A bit that has changed takes the next one along, if it overflowed: to what goes out. */
    code[0] = XOR3(code[0], in, out);
    vec change = OVERFLOW(in, code[0], out);
    for (int p = 1; p < planes; ++p) {
        code[p] = XOR(code[p], change);
        if (p + 1 < planes)
            change = CHANGE(change, code[p], out);
    }
}

/* Two steps: their classes are added to the ones, and carry to the twos. */
INLINE void NAME(two_steps)(NAME(walk) *w, vec *carry, const int planes, const int classes)
{
    vec first[CLASSES], second[CLASSES];
    NAME(step)(w, first, planes, classes);
    NAME(step)(w, second, planes, classes);
    EACH(m, classes, NAME(add)(&w->ones[m], &carry[m], first[m], second[m]););
}

/* Four steps, which carry to the fours. */
INLINE void NAME(four_steps)(NAME(walk) *w, vec *carry, const int planes, const int classes)
{
    vec first[CLASSES], second[CLASSES];
    NAME(two_steps)(w, first, planes, classes);
    NAME(two_steps)(w, second, planes, classes);
    EACH(m, classes, NAME(add)(&w->twos[m], &carry[m], first[m], second[m]););
}

/* Add eights: two carries of one level and what is there already make one of the next. */
INLINE void NAME(keep)(lane_counts *counts, vec *carry, const int classes)
{
    vec *kept = (vec *)counts->kept + FIRST_KEPT * CLASSES, *waiting = (vec *)counts->waiting + FIRST_KEPT * CLASSES;
    for (uint64_t arrived = counts->arrived++; arrived & 1; arrived >>= 1, kept += CLASSES, waiting += CLASSES)
        EACH(m, classes, NAME(add)(&kept[m], &carry[m], waiting[m], carry[m]););
    EACH(m, classes, waiting[m] = carry[m];);
}

/* The code of the first windows: the offset and their matches, four letters at a time. */
INLINE void NAME(begin)(NAME(walk) *w, int offset)
{
    vec *code = w->code;
    for (int p = 0; p < MOST_PLANES; ++p)
        code[p] = offset >> p & 1 ? ONES : ZERO;
    for (ptrdiff_t place = 0; place < w->length; place += 4) {
        ptrdiff_t left = w->length - place;
        vec low, high, carry, next;
        NAME(add)(&code[0], &low, NAME(match_at)(w, place), left > 1 ? NAME(match_at)(w, place + 1) : ZERO);
        vec third = left > 2 ? NAME(match_at)(w, place + 2) : ZERO;
        NAME(add)(&code[0], &high, third, left > 3 ? NAME(match_at)(w, place + 3) : ZERO);
        NAME(add)(&code[1], &carry, low, high);
        next = AND(code[2], carry);
        code[2] = XOR(code[2], carry);
        carry = AND(code[3], next);
        code[3] = XOR(code[3], next);
        code[4] = XOR(code[4], carry);
    }
}

/* One diagonal of `steps` windows. */
INLINE void NAME(diagonal)(NAME(walk) *w, ptrdiff_t steps, lane_counts *counts, const int planes, const int classes)
{
    vec first[CLASSES], second[CLASSES], third[CLASSES];
    for (; steps >= 8; steps -= 8) {
        NAME(four_steps)(w, first, planes, classes);
        NAME(four_steps)(w, second, planes, classes);
        EACH(m, classes, NAME(add)(&w->fours[m], &first[m], first[m], second[m]););
        NAME(keep)(counts, first, classes);
    }
    if (!steps)
        return;
    EACH(m, classes, first[m] = second[m] = third[m] = ZERO;);
    if (steps & 4)
        NAME(four_steps)(w, first, planes, classes);
    if (steps & 2)
        NAME(two_steps)(w, second, planes, classes);
    if (steps & 1) {
        NAME(step)(w, third, planes, classes);
        EACH(m, classes, {
            vec former = w->ones[m];
            w->ones[m] = XOR(former, third[m]);
            third[m] = AND(former, third[m]);
        });
    }
    EACH(m, classes, {
        NAME(add)(&w->twos[m], &second[m], second[m], third[m]);
        NAME(add)(&w->fours[m], &first[m], first[m], second[m]);
    });
    NAME(keep)(counts, first, classes);
}

/* All diagonals of a stretch of `windows` row windows; row[i] is where the masks of its letter i are, less the lane
 * position that it meets on the main diagonal. */
INLINE void NAME(stretch)(const lane_block *block, const ptrdiff_t *row, ptrdiff_t windows, ptrdiff_t length,
                          int offset, lane_counts *counts, const int planes, const int classes)
{
    vec *kept = (vec *)counts->kept;
    NAME(walk) w;
    w.length = length;
    EACH(m, classes, {
        w.ones[m] = kept[m];
        w.twos[m] = kept[CLASSES + m];
        w.fours[m] = kept[2 * CLASSES + m];
    });
    const ptrdiff_t end = block->alone ? 1 : windows;
    for (ptrdiff_t shift = block->alone ? 0 : 1 - block->windows; shift < end; ++shift) {
        ptrdiff_t i = shift > 0 ? shift : 0, j = i - shift;
        ptrdiff_t steps = windows - i < block->windows - j ? windows - i : block->windows - j;
        w.match = (const char *)block->match - shift * (ptrdiff_t)sizeof(vec);
        w.row = row + i;
        w.valid = (const vec *)block->valid + j;
        NAME(begin)(&w, offset);
        NAME(diagonal)(&w, steps, counts, planes, classes);
    }
    EACH(m, classes, {
        kept[m] = w.ones[m];
        kept[CLASSES + m] = w.twos[m];
        kept[2 * CLASSES + m] = w.fours[m];
    });
}

#define DEFINE_STRETCH(planes, classes)                                                                         \
    TARGET static void NAME(stretch_##planes##_##classes)(const lane_block *block, const ptrdiff_t *row,           \
                                                          ptrdiff_t windows, ptrdiff_t length, int offset,      \
                                                          lane_counts *counts)                                  \
    {                                                                                                           \
        NAME(stretch)(block, row, windows, length, offset, counts, planes, classes);                            \
    }
#define DEFINE_STRETCHES(planes)  \
    DEFINE_STRETCH(planes, 1)     \
    DEFINE_STRETCH(planes, 2)     \
    DEFINE_STRETCH(planes, 3)     \
    DEFINE_STRETCH(planes, 4)     \
    DEFINE_STRETCH(planes, 5)     \
    DEFINE_STRETCH(planes, 6)     \
    DEFINE_STRETCH(planes, 8)
DEFINE_STRETCHES(4)
DEFINE_STRETCHES(5)

/* Seven classes run as eight: the last takes less than a tenth of the time. */
#define STRETCHES(planes)                                                                                        \
    {NAME(stretch_##planes##_1), NAME(stretch_##planes##_2), NAME(stretch_##planes##_3), NAME(stretch_##planes##_4), \
     NAME(stretch_##planes##_5), NAME(stretch_##planes##_6), NAME(stretch_##planes##_8), NAME(stretch_##planes##_8)}
static const stretch_function NAME(stretches)[2][CLASSES] = {STRETCHES(4), STRETCHES(5)};

/* Put together what is kept and what waits, and the counts are plain binary numbers of `bits` bits. */
TARGET static void NAME(settle)(lane_counts *counts, int classes, int bits)
{
    vec *kept = (vec *)counts->kept, *waiting = (vec *)counts->waiting;
    for (int level = FIRST_KEPT; level < bits; ++level) {
        if (!(counts->arrived >> (level - FIRST_KEPT) & 1))
            continue;
        for (int m = 0; m < classes; ++m) {
            vec carry = LOAD(&waiting[level * CLASSES + m]);
            for (int up = level; up < bits; ++up) {
                vec former = kept[up * CLASSES + m];
                kept[up * CLASSES + m] = XOR(former, carry);
                carry = AND(former, carry);
            }
        }
    }
    counts->arrived = 0;
}

/* Write the counts of class m, numbers of `bits` bits, one for each lane: lane 8·i + r at r·LANES/8 + i. Eight planes
 * are 8 × 8 bits for each eight lanes, transposed: then a byte is a number. */
TARGET static void NAME(read_lanes)(const lane_counts *counts, int m, int bits, int64_t *number)
{
    uint64_t x[8][LANES / 64];
    const uint8_t *kept = (const uint8_t *)counts->kept + m * (LANES / 8);
    memset(number, 0, LANES * sizeof(int64_t));
    for (int low = 0; low < bits; low += 8) {
        for (int b = 0; b < 8; ++b)
            if (low + b < bits)
                memcpy(x[b], kept + (size_t)(low + b) * (CLASSES * LANES / 8), LANES / 8);
            else
                memset(x[b], 0, LANES / 8);
        for (int d = 4; d; d >>= 1) {
            const uint64_t mask = d == 4 ? 0x0f0f0f0f0f0f0f0full : d == 2 ? 0x3333333333333333ull : 0x5555555555555555ull;
            for (int b = 0; b < 8; ++b)
                for (int w = 0; !(b & d) && w < LANES / 64; ++w) {
                    uint64_t t = (x[b][w] >> d ^ x[b + d][w]) & mask;
                    x[b + d][w] ^= t;
                    x[b][w] ^= t << d;
                }
        }
        const uint8_t *byte = (const uint8_t *)x;
        for (int lane = 0; lane < LANES; ++lane)
            number[lane] += (int64_t)byte[lane] << low;
    }
}

#undef INLINE
#undef MEMBER
#undef EACH
#undef DEFINE_STRETCH
#undef DEFINE_STRETCHES
#undef STRETCHES
