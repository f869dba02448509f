/* The counters of `_bitmaps.h` for one level of instructions: VEC holds some of the words of a bitmap. */

#define INLINE TARGET ALWAYS_INLINE
#define LOAD(words) (*(const VEC *)(words))
#define STEP ((ptrdiff_t)(sizeof(VEC) / sizeof(uint64_t)))

/* Return the carry of *sum += a + b, bit by bit. */
INLINE VEC NAME(add_bits)(VEC *sum, VEC a, VEC b)
{
    const VEC former = *sum;
    *sum = XOR3(former, a, b);
    return MAJORITY(former, a, b);
}

/* Add 2, 4, 8, 16 bitmaps, `word` words from their beginnings, and return the carry: of that weight. */
INLINE VEC NAME(add_two)(VEC *sums, const uint64_t *word, const int32_t *bitmaps)
{
    const VEC first = LOAD(word + (ptrdiff_t)bitmaps[0] * WORDS), second = LOAD(word + (ptrdiff_t)bitmaps[1] * WORDS);
    return NAME(add_bits)(&sums[0], first, second);
}

INLINE VEC NAME(add_four)(VEC *sums, const uint64_t *word, const int32_t *bitmaps)
{
    const VEC low = NAME(add_two)(sums, word, bitmaps), high = NAME(add_two)(sums, word, bitmaps + 2);
    return NAME(add_bits)(&sums[1], low, high);
}

INLINE VEC NAME(add_eight)(VEC *sums, const uint64_t *word, const int32_t *bitmaps)
{
    const VEC low = NAME(add_four)(sums, word, bitmaps), high = NAME(add_four)(sums, word, bitmaps + 4);
    return NAME(add_bits)(&sums[2], low, high);
}

INLINE VEC NAME(add_sixteen)(VEC *sums, const uint64_t *word, const int32_t *bitmaps)
{
    const VEC low = NAME(add_eight)(sums, word, bitmaps), high = NAME(add_eight)(sums, word, bitmaps + 8);
    return NAME(add_bits)(&sums[3], low, high);
}

/* Add a carry to the counters at `word`, from `plane` on. */
INLINE void NAME(carry_on)(bitmap_counters *counters, ptrdiff_t word, int plane, int planes, VEC carry)
{
    for (; plane < planes; ++plane) {
        VEC *kept = (VEC *)(counters->planes[plane] + word);
        const VEC former = *kept;
        *kept = former ^ carry;
        carry = former & carry;
    }
}

/* Add n bitmaps to the counters, from `plane` on; the list is filled up by the empty bitmap. */
INLINE void NAME(add_list)(const bitmap_walk *walk, bitmap_counters *counters, int plane, int32_t *list, ptrdiff_t n)
{
    for (; n % ADDED; ++n)
        list[n] = 0;
    for (ptrdiff_t word = 0; word < WORDS; word += STEP) {
        VEC sums[GROUP_PLANES];
        for (int p = 0; p < GROUP_PLANES; ++p)
            sums[p] = LOAD(counters->planes[plane + p] + word);
        for (ptrdiff_t at = 0; at < n; at += ADDED) {
            const VEC carry = NAME(add_sixteen)(sums, walk->bitmaps + word, list + at);
            NAME(carry_on)(counters, word, plane + GROUP_PLANES, walk->planes, carry);
        }
        for (int p = 0; p < GROUP_PLANES; ++p)
            *(VEC *)(counters->planes[plane + p] + word) = sums[p];
    }
}

/* Add the products of entry q with a tile one by one: of each bit of its count with each bitmap, but for those with the
 * first two if the count is 1. */
INLINE void NAME(add_other)(const bitmap_walk *walk, bitmap_counters *counters, const int32_t *bounds, int64_t q)
{
    const int32_t begin = bounds[walk->feature[q]], end = bounds[walk->feature[q] + 1];
    int plane = 0;
    for (int32_t count = walk->count[q]; count; count >>= 1, ++plane)
        for (int32_t b = walk->count[q] == 1 ? begin + 2 : begin; count & 1 && b < end; ++b)
            for (ptrdiff_t word = 0; word < WORDS; word += STEP)
                NAME(carry_on)(counters, word, plane + b - begin, walk->planes,
                               LOAD(walk->bitmaps + (ptrdiff_t)b * WORDS + word));
}

/* Count the products of row i with the columns of tile t. Most counts are 1, and most features have one bitmap or two:
 * these are listed without a branch. */
INLINE void NAME(count_tile)(const bitmap_walk *walk, ptrdiff_t i, ptrdiff_t t, bitmap_counters *counters)
{
    const int32_t *bounds = walk->bounds + t * walk->n_features;
    memset(counters->planes, 0, (walk->planes + GROUP_PLANES) * sizeof counters->planes[0]);
    for (int64_t first = walk->start[i]; first < walk->start[i + 1]; first += LOOKED_UP) {
        const int64_t left = walk->start[i + 1] - first, n = left < LOOKED_UP ? left : LOOKED_UP;
        ptrdiff_t ones = 0, twos = 0, others = 0;
        for (int64_t q = first; q < first + n; ++q) {
            const int32_t begin = bounds[walk->feature[q]], found = bounds[walk->feature[q] + 1] - begin;
            const int single = walk->count[q] == 1;
            counters->ones[ones] = begin;
            counters->twos[twos] = begin + 1;
            counters->others[others] = (int32_t)(q - first);
            ones += single & (found > 0);
            twos += single & (found > 1);
            others += !single | (found > 2);
        }
        NAME(add_list)(walk, counters, 0, counters->ones, ones);
        NAME(add_list)(walk, counters, 1, counters->twos, twos);
        for (ptrdiff_t other = 0; other < others; ++other)
            NAME(add_other)(walk, counters, bounds, first + counters->others[other]);
    }
}

/* Return how many planes there are up to the highest that is not empty. */
INLINE int NAME(used_planes)(const bitmap_counters *counters, int planes)
{
    for (; planes > 0; --planes) {
        uint64_t any = 0;
        for (int w = 0; w < WORDS; ++w)
            any |= counters->planes[planes - 1][w];
        if (any)
            break;
    }
    return planes;
}

/* Add weight × the products of the n rows from `row` on with the columns first .. last to `sums`, in rows that are
 * `step` numbers apart; with `upper`, tiles left of a row's own are left out. One tile's bitmaps stay in the cache. */
#define DEFINE_PRODUCTS(name)                                                                                   \
    TARGET static void NAME(products_##name)(const bitmap_walk *walk, ptrdiff_t row, ptrdiff_t n, ptrdiff_t first, \
                                             ptrdiff_t last, int64_t weight, int upper, name##_t *sums,         \
                                             ptrdiff_t step)                                                    \
    {                                                                                                           \
        bitmap_counters counters;                                                                               \
        uint8_t bytes[TILE];                                                                                    \
        for (ptrdiff_t t = first / TILE; t * TILE < last; ++t) {                                                \
            const ptrdiff_t low = t * TILE < first ? first : t * TILE;                                          \
            const ptrdiff_t high = (t + 1) * TILE < last ? (t + 1) * TILE : last;                               \
            for (ptrdiff_t i = 0; i < n && !(upper && row + i >= high); ++i) {                                  \
                NAME(count_tile)(walk, row + i, t, &counters);                                                  \
                const int planes = NAME(used_planes)(&counters, walk->planes);                                  \
                for (int p = 0; p < planes; p += 8) {                                                           \
                    const name##_t factor = (name##_t)((uint64_t)weight << p);                                  \
                    NAME(read_bytes)(counters.planes + p, planes - p < 8 ? planes - p : 8, bytes);              \
                    for (ptrdiff_t j = low; j < high; ++j)                                                      \
                        sums[i * step + j - first] += factor * (name##_t)bytes[j - t * TILE];                   \
                }                                                                                               \
            }                                                                                                   \
        }                                                                                                       \
    }
DEFINE_PRODUCTS(int32)
DEFINE_PRODUCTS(int64)

#undef DEFINE_PRODUCTS
#undef INLINE
#undef LOAD
#undef STEP
