/* Taking subnormal numbers as zero, for the length of a loop in which they are slow and do not matter.
 *
 * The mode is of the thread. It is set and restored within one function that cannot leave by an exception, so that no
 * other code sees it. Processors without it compute with subnormal numbers. */
#ifndef SEQKERN_SUBNORMALS_H
#define SEQKERN_SUBNORMALS_H

#include <stdint.h>

#if defined(__GNUC__) && defined(__x86_64__)
#include <immintrin.h>

typedef unsigned float_mode;

/* Results and operands that are subnormal become zero. Return the mode before. */
static inline float_mode flush_subnormals(void)
{
    const float_mode before = _mm_getcsr();
    _mm_setcsr(before | 0x8040);
    return before;
}

/* Only the two bits: exceptions that were flagged meanwhile stay flagged. */
static inline void restore_subnormals(float_mode before)
{
    _mm_setcsr((_mm_getcsr() & ~0x8040u) | (before & 0x8040u));
}

static inline int flushes_subnormals(void) { return (_mm_getcsr() & 0x8040) != 0; }

#elif defined(__GNUC__) && defined(__aarch64__)

typedef uint64_t float_mode;

static inline float_mode read_float_mode(void)
{
    float_mode mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    return mode;
}

static inline void write_float_mode(float_mode mode) { __asm__ volatile("msr fpcr, %0" : : "r"(mode) : "memory"); }

static inline float_mode flush_subnormals(void)
{
    const float_mode before = read_float_mode();
    write_float_mode(before | (float_mode)1 << 24);
    return before;
}

static inline void restore_subnormals(float_mode before) { write_float_mode(before); }

static inline int flushes_subnormals(void) { return (read_float_mode() >> 24 & 1) != 0; }

#else

typedef int float_mode;

static inline float_mode flush_subnormals(void) { return 0; }
static inline void restore_subnormals(float_mode before) { (void)before; }
static inline int flushes_subnormals(void) { return 0; }

#endif
#endif
