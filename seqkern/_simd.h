/* Which vector instructions the processor has, and the attributes that compile one function for each.
 *
 * Level 0 is plain C, 1 needs AVX2, 2 needs AVX-512 with VNNI. Every level gives the same numbers, but for local and
 * profile alignment, whose fused multiplications round once instead of twice. Other processors and compilers than
 * x86-64 with GCC or Clang have level 0 only. */
#ifndef SEQKERN_SIMD_H
#define SEQKERN_SIMD_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__GNUC__) && defined(__x86_64__)
#include <immintrin.h>
#define SEQKERN_X86 1
#define AVX2 __attribute__((target("avx2")))
#define AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")))
#endif

#if defined(__GNUC__)
#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define PREFETCH(address) __builtin_prefetch(address)
#define PREFETCH_TO_WRITE(address) __builtin_prefetch(address, 1)
#else
#define ALWAYS_INLINE static inline
#define PREFETCH(address) ((void)(address))
#define PREFETCH_TO_WRITE(address) ((void)(address))
#endif

/* Vectors without special instructions: 16 bytes, or single numbers. */
#if defined(__GNUC__)
typedef float plain_floats __attribute__((vector_size(16)));
typedef double plain_doubles __attribute__((vector_size(16)));
typedef uint32_t plain_bits __attribute__((vector_size(16)));
#define PLAIN_BYTES 16
#else
typedef float plain_floats;
typedef double plain_doubles;
typedef uint32_t plain_bits;
#define PLAIN_BYTES 0
#endif

/* The highest level of the processor; SEQKERN_SIMD=plain or avx2 in the environment lowers it. */
static inline int highest_simd_level(void)
{
#ifdef SEQKERN_X86
    const char *wanted = getenv("SEQKERN_SIMD");
    if (wanted != NULL && strcmp(wanted, "plain") == 0)
        return 0;
    __builtin_cpu_init();
    if (wanted != NULL && strcmp(wanted, "avx2") == 0)
        return __builtin_cpu_supports("avx2") ? 1 : 0;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512vnni"))
        return 2;
    if (__builtin_cpu_supports("avx2"))
        return 1;
#endif
    return 0;
}

/* Define name(level, …), which runs the inline function `body` compiled for that level. Narrow: AVX2 at level 2 too, for
 * loops over no more than 32 bytes at a time. */
#ifdef SEQKERN_X86
#define DEFINE_LEVELS(name, body, parameters, arguments)    \
    AVX512 static void name##_avx512 parameters             \
    {                                                       \
        body arguments;                                     \
    }                                                       \
    DEFINE_NARROW_LEVELS(name, body, parameters, arguments)
#define DEFINE_NARROW_LEVELS(name, body, parameters, arguments) \
    AVX2 static void name##_avx2 parameters                 \
    {                                                       \
        body arguments;                                     \
    }                                                       \
    static void name##_plain parameters                     \
    {                                                       \
        body arguments;                                     \
    }
#define CALL_LEVEL(level, name, ...)         \
    do {                                     \
        if ((level) == 2)                    \
            name##_avx512(__VA_ARGS__);      \
        else if ((level) == 1)               \
            name##_avx2(__VA_ARGS__);        \
        else                                 \
            name##_plain(__VA_ARGS__);       \
    } while (0)
#define CALL_NARROW_LEVEL(level, name, ...) \
    ((level) > 0 ? name##_avx2(__VA_ARGS__) : name##_plain(__VA_ARGS__))
#else
#define DEFINE_LEVELS(name, body, parameters, arguments) \
    static void name##_plain parameters                  \
    {                                                    \
        body arguments;                                  \
    }
#define DEFINE_NARROW_LEVELS DEFINE_LEVELS
#define CALL_LEVEL(level, name, ...) ((void)(level), name##_plain(__VA_ARGS__))
#define CALL_NARROW_LEVEL CALL_LEVEL
#endif

/* The same for names that a macro makes: it is expanded before the names are joined. */
#define DEFINE_TYPED_LEVELS(name, body, parameters, arguments) DEFINE_LEVELS(name, body, parameters, arguments)
#define DEFINE_NARROW_TYPED_LEVELS(name, body, parameters, arguments) \
    DEFINE_NARROW_LEVELS(name, body, parameters, arguments)
#define CALL_TYPED_LEVEL(level, name, ...) CALL_LEVEL(level, name, __VA_ARGS__)
#define CALL_NARROW_TYPED_LEVEL(level, name, ...) CALL_NARROW_LEVEL(level, name, __VA_ARGS__)

#endif
