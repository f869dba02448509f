/* Sums over the windows of one row and some lanes of a panel, for one level of instructions.
 *
 * `_locality.h` includes this file once for each level, with NAME, TARGET, and
 *   BYTES               the size of a vector; 0 for compilers without vectors: then a vector is a number
 *   WORDS_AT(address)   WORDS integers of 16 bits as words
 *   REALS_AT(address)   REALS integers of 16 bits as reals */

#if BYTES
#define HALVES (BYTES / 2)
#define WORDS (BYTES / 4)
#define REALS (BYTES / 8)
#define EQUAL(a, b) ((a) == (b))
typedef uint16_t NAME(halves) __attribute__((vector_size(BYTES)));
typedef uint32_t NAME(words) __attribute__((vector_size(BYTES)));
typedef double NAME(reals) __attribute__((vector_size(BYTES)));
#else
#define HALVES 1
#define WORDS 1
#define REALS 1
#define EQUAL(a, b) (-((a) == (b)))
typedef uint16_t NAME(halves);
typedef uint32_t NAME(words);
typedef double NAME(reals);
#endif
#define INLINE TARGET ALWAYS_INLINE
#define LOAD(v, address) memcpy(&(v), address, sizeof(v))
#define STORE(address, v) memcpy(address, &(v), sizeof(v))
/* result = base^power, by squares; spoils base. */
#define POWER(result, base, power)                 \
    do {                                           \
        int rest = (power) - 1;                    \
        result = base;                             \
        for (; rest; rest >>= 1, base *= base)     \
            if (rest & 1)                          \
                result *= base;                    \
    } while (0)

/* Return `count` in each lane whose letter is `letter`, else 0. */
INLINE NAME(halves) NAME(matches)(const uint16_t *letters, uint16_t letter, uint16_t count)
{
    NAME(halves) v;
    LOAD(v, letters);
    return (NAME(halves))EQUAL(v, letter) & count;
}

/* Return the same for matches one codon away. */
INLINE NAME(halves) NAME(crossed)(const uint16_t *letters, const uint16_t *x, uint16_t count)
{
    return NAME(matches)(letters + SHIFT * LANES, x[0], count) + NAME(matches)(letters, x[SHIFT], count);
}

/* Where a sum of sums of matches stands. */
typedef struct {
    NAME(halves) once, twice;
} NAME(sums);

INLINE void NAME(step)(NAME(sums) *sums, const uint16_t *x, const uint16_t *letters, const int same, const int shifted,
                       uint16_t *run)
{
    sums->once += NAME(matches)(letters, *x, (uint16_t)same);
    if (shifted)
        sums->once += NAME(crossed)(letters, x, (uint16_t)shifted);
    sums->twice += sums->once;
    STORE(run, sums->twice);
}

/* Write the integer of each window to the first rows of `runs`, HALVES in each. A window's sum is the second difference
 * of three sums of sums; it takes the place of the first. */
INLINE void NAME(find_windows)(const uint16_t *x, const uint16_t *panel, const locality_rule *rule, const int shifted,
                               uint16_t *runs)
{
    const ptrdiff_t length = rule->length, reach = rule->reach;
    NAME(sums) sums;
    NAME(halves) middle, left, window;
    memset(&sums, 0, sizeof(sums));
    memset(runs, 0, FRONT * sizeof(window));
    uint16_t *run = runs + FRONT * HALVES;
    for (ptrdiff_t p = 0; p < 2 * reach; ++p, run += HALVES)
        NAME(step)(&sums, x + p, panel + p * LANES, rule->same, shifted, run);
    for (ptrdiff_t p = 2 * reach; p < length; ++p, run += HALVES, runs += HALVES) {
        NAME(step)(&sums, x + p, panel + p * LANES, rule->same, shifted, run);
        LOAD(left, runs);
        LOAD(middle, runs + (reach + 1) * HALVES);
        window = sums.twice - middle - middle + left;
        STORE(runs, window);
    }
}

/* Return Σ v^power over n windows, exact below 2^32; `power` is a constant where it is a usual one. */
INLINE NAME(words) NAME(sum_words)(const uint16_t *windows, ptrdiff_t n, const int power)
{
    NAME(words) total = {0};
    for (ptrdiff_t p = 0; p < n; ++p, windows += HALVES) {
        NAME(words) base = WORDS_AT(windows), result;
        POWER(result, base, power);
        total += result;
    }
    return total;
}

/* Return Σ v^power over n windows in double precision. */
INLINE NAME(reals) NAME(sum_reals)(const uint16_t *windows, ptrdiff_t n, const int power)
{
    NAME(reals) total = {0};
    for (ptrdiff_t p = 0; p < n; ++p, windows += HALVES) {
        NAME(reals) base = REALS_AT(windows), result;
        POWER(result, base, power);
        total += result;
    }
    return total;
}

#define USUAL(power, call)       \
    do {                         \
        if ((power) == 2)        \
            call(2);             \
        else if ((power) == 3)   \
            call(3);             \
        else if ((power) == 4)   \
            call(4);             \
        else                     \
            call(power);         \
    } while (0)

/* sums[0 .. HALVES) = the sums over all windows of powers of integers. */
TARGET static void NAME(triangular)(const uint16_t *x, const uint16_t *panel, const locality_rule *rule,
                                    uint16_t *runs, double *sums)
{
    const ptrdiff_t n = rule->length - 2 * rule->reach;
    if (rule->shifted)
        NAME(find_windows)(x, panel, rule, rule->shifted, runs);
    else
        NAME(find_windows)(x, panel, rule, 0, runs);
    if (rule->narrow)
        for (int part = 0; part < HALVES; part += WORDS) {
            NAME(words) total;
            uint32_t words[WORDS];
#define CALL(power) total = NAME(sum_words)(runs + part, n, power)
            USUAL(rule->first_power, CALL);
#undef CALL
            STORE(words, total);
            for (int c = 0; c < WORDS; ++c)
                sums[part + c] = words[c];
        }
    else
        for (int part = 0; part < HALVES; part += REALS) {
            NAME(reals) total;
#define CALL(power) total = NAME(sum_reals)(runs + part, n, power)
            USUAL(rule->first_power, CALL);
#undef CALL
            STORE(sums + part, total);
        }
}

/* Return Σ (Σ_j w_j v_j)^power over the windows of REALS lanes; `values` has `length` rows of REALS. */
INLINE NAME(reals) NAME(sum_weighted)(const double *values, const locality_rule *rule)
{
    const ptrdiff_t width = 2 * rule->reach + 1;
    NAME(reals) total = {0}, value;
    for (ptrdiff_t p = 0; p <= rule->length - width; ++p) {
        NAME(reals) window = {0};
        for (ptrdiff_t j = 0; j < width; ++j) {
            LOAD(value, values + (p + j) * REALS);
            window += rule->weights[j] * value;
        }
        NAME(reals) result;
        POWER(result, window, rule->first_power);
        total += result;
    }
    return total;
}

/* sums[0 .. HALVES) = the same for any weights and δ; `counts` has 2 · length rows of HALVES, `values` length of
 * REALS. */
TARGET static void NAME(weighted)(const uint16_t *x, const uint16_t *panel, const locality_rule *rule, double *values,
                                  uint16_t *counts, double *sums)
{
    const ptrdiff_t length = rule->length;
    uint16_t *shifted = counts + length * HALVES;
    for (ptrdiff_t p = 0; p < length; ++p) {
        NAME(halves) same = NAME(matches)(panel + p * LANES, x[p], 1);
        NAME(halves) crossed = NAME(crossed)(panel + p * LANES, x + p, 1);
        STORE(counts + p * HALVES, same);
        STORE(shifted + p * HALVES, crossed);
    }
    for (int part = 0; part < HALVES; part += REALS) {
        for (ptrdiff_t p = 0; p < length; ++p) {
            NAME(reals) value = REALS_AT(counts + p * HALVES + part);
            if (rule->delta != 0)
                value += rule->delta * REALS_AT(shifted + p * HALVES + part);
            STORE(values + p * REALS, value);
        }
        NAME(reals) total = NAME(sum_weighted)(values, rule);
        STORE(sums + part, total);
    }
}

/* sums[0 .. LANES) = the sum over all windows, for a whole panel. */
TARGET static void NAME(sum_windows)(const uint16_t *x, const uint16_t *panel, const locality_rule *rule,
                                     double *buffer, double *sums)
{
    for (int c = 0; c < LANES; c += HALVES)
        if (rule->weights)
            NAME(weighted)(x, panel + c, rule, buffer, (uint16_t *)(buffer + rule->length * REALS), sums + c);
        else
            NAME(triangular)(x, panel + c, rule, (uint16_t *)buffer, sums + c);
}

#undef BYTES
#undef WORDS_AT
#undef REALS_AT
#undef NAME
#undef TARGET
#undef HALVES
#undef WORDS
#undef REALS
#undef EQUAL
#undef INLINE
#undef LOAD
#undef STORE
#undef POWER
#undef USUAL
