/* What the compiler and the processor have, and the type of an element.
 *
 * Assumes: SL_ELEMENT_SIZE, the bytes of an element, is defined; and SL_NUMBER, a type of that size, where
 * elements are added.
 * Needs no other part. */
#pragma once

#include <stdint.h>
#include <string.h>

#define SL_INLINE static inline __attribute__((unused))
/* Not inlined, and not cloned for constant arguments: gcc's clones take a fifth of the compile time. */
#ifdef __clang__
#define SL_OUT_OF_LINE static __attribute__((noinline, unused))
#else
#define SL_OUT_OF_LINE static __attribute__((noinline, noclone, unused))
#endif
/* A function of transposes that may be compiled apart, once for many kernels, and linked to each: then SL_LINKED is
 * defined in both texts. */
#ifndef SL_LINKED
#define SL_LINKABLE SL_OUT_OF_LINE
#elif defined __clang__
#define SL_LINKABLE __attribute__((visibility("hidden"), noinline))
#else
#define SL_LINKABLE __attribute__((visibility("hidden"), noinline, noclone))
#endif
/* Runs once in a process: the compiler takes little time for it. */
#define SL_ONCE SL_OUT_OF_LINE __attribute__((cold))
#define SL_ALWAYS_INLINE static inline __attribute__((always_inline, unused))
/* Before a loop over vectors that must stay in registers; before a loop of a move or two, which would take half as long
 * again where it lies across two lines of code. */
#ifdef __clang__
#define SL_UNROLL _Pragma("unroll")
#define SL_UNROLL_4 _Pragma("unroll 4")
#else
#define SL_UNROLL _Pragma("GCC unroll 16")
#define SL_UNROLL_4 _Pragma("GCC unroll 4")
#endif

/* Does a statement for each *k* from 0 to *n* - 1, both numbers: it stands *n* times in the text.  A loop that is
 * unrolled takes gcc longer: until then, arrays of vectors are memory. */
#define SL_REPEAT(n, k, ...) SL_REPEAT_TIMES(n, k, __VA_ARGS__)
#define SL_REPEAT_TIMES(n, k, ...) SL_REPEAT_##n(k, 0, __VA_ARGS__)
#define SL_REPEAT_1(k, first, ...)                                                                                   \
    {                                                                                                                \
        enum { k = (first) };                                                                                        \
        __VA_ARGS__;                                                                                                 \
    }
#define SL_REPEAT_2(k, first, ...) SL_REPEAT_1(k, first, __VA_ARGS__) SL_REPEAT_1(k, first + 1, __VA_ARGS__)
#define SL_REPEAT_4(k, first, ...) SL_REPEAT_2(k, first, __VA_ARGS__) SL_REPEAT_2(k, first + 2, __VA_ARGS__)
#define SL_REPEAT_8(k, first, ...) SL_REPEAT_4(k, first, __VA_ARGS__) SL_REPEAT_4(k, first + 4, __VA_ARGS__)
#define SL_REPEAT_16(k, first, ...) SL_REPEAT_8(k, first, __VA_ARGS__) SL_REPEAT_8(k, first + 8, __VA_ARGS__)
#define SL_REPEAT_32(k, first, ...) SL_REPEAT_16(k, first, __VA_ARGS__) SL_REPEAT_16(k, first + 16, __VA_ARGS__)

/* In a short loop: the compiler makes neither vectors of it nor, if it copies, a call of memcpy, which cost more. */
#define SL_KEEP_LOOP() __asm__ volatile("" ::: "memory")

/* Whether vectors of elements can be shuffled: gcc 12 and later, clang. */
#define SL_HAS_SHUFFLES 0
#ifdef __has_builtin
#if __has_builtin(__builtin_shufflevector)
#undef SL_HAS_SHUFFLES
#define SL_HAS_SHUFFLES (SL_ELEMENT_SIZE == 1 || SL_ELEMENT_SIZE == 2 || SL_ELEMENT_SIZE == 4 || SL_ELEMENT_SIZE == 8)
#endif
#endif

/* Bytes of the widest vector that one instruction shuffles. */
#ifdef __AVX512BW__
#define SL_VECTOR_BYTES 64
#elif defined __AVX2__
#define SL_VECTOR_BYTES 32
#else
#define SL_VECTOR_BYTES 16
#endif

/* Whether there are loads and stores of the first bytes of a vector. */
#if defined __AVX512BW__ && defined __AVX512VL__ && defined __BMI2__
#define SL_HAS_BYTE_MASKS 1
#else
#define SL_HAS_BYTE_MASKS 0
#endif

/* An element moves as bytes: it needs no alignment, and may alias any type. */
#ifdef SL_NUMBER
__extension__ typedef SL_NUMBER __attribute__((may_alias, aligned(1))) element;
_Static_assert(sizeof(element) == SL_ELEMENT_SIZE, "SL_NUMBER has not SL_ELEMENT_SIZE bytes");
#elif SL_ELEMENT_SIZE == 1
typedef uint8_t element;
#elif SL_ELEMENT_SIZE == 2
typedef uint16_t __attribute__((may_alias, aligned(1))) element;
#elif SL_ELEMENT_SIZE == 4
typedef uint32_t __attribute__((may_alias, aligned(1))) element;
#elif SL_ELEMENT_SIZE == 8
typedef uint64_t __attribute__((may_alias, aligned(1))) element;
#else
typedef struct __attribute__((may_alias)) {
    unsigned char bytes[SL_ELEMENT_SIZE];
} element;
#endif
