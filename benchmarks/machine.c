/* What the processor does at best: vector operations in registers, accesses to memory alone. Compiled by machine.py. */
#include <stdint.h>

typedef uint64_t words __attribute__((vector_size(64)));
typedef int8_t bytes __attribute__((vector_size(64)));
typedef float floats __attribute__((vector_size(64)));
typedef double doubles __attribute__((vector_size(64)));

#if defined(__AVX512F__)
#define REGISTER "+v"
#else
#define REGISTER "+m"
#endif

/* twelve chains that do not wait for each other; the compiler must not see that they could be one */
#define ALL(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11)
#define START(c) x##c = y + (c + 1);
#define HIDE(c) __asm__ volatile("" : REGISTER(x##c));
#define ADD(c) +x##c[0]

#define LOOP(NAME, TYPE, STEP)                                                                   \
    double NAME(long rounds) {                                                                   \
        TYPE x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, y = {0};                          \
        y += 3;                                                                                  \
        ALL(START)                                                                               \
        for (long i = 0; i < rounds; i++) { ALL(STEP) ALL(HIDE) }                                \
        return (double)(ALL(ADD));                                                               \
    }

#define XOR(c) x##c ^= y;
#define PLUS(c) x##c += y;
#define PRODUCT(c) x##c = x##c * y + y;

LOOP(logic, words, XOR)
LOOP(additions, bytes, PLUS)
LOOP(single_products, floats, PRODUCT)
LOOP(double_products, doubles, PRODUCT)

/* additions to places of a row in the first-level cache, as posting lists ask for */
double scattered(long rounds, float *row, const uint16_t *places, long n) {
    for (long i = 0; i < rounds; i++)
        for (long j = 0; j < n; j++) row[places[j]] += 1.0f;
    return row[0];
}

/* look-ups in a table, at places that nothing foretells */
double looked_up(const float *table, const uint32_t *places, long n) {
    double sum = 0;
    for (long j = 0; j < n; j++) sum += table[places[j]];
    return sum;
}
