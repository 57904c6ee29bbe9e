/* Shuffles: the lanes that split, join and transpose take from two vectors.
 *
 * Assumes: nothing.
 * Needs: vectors. */
#pragma once

#include "vectors.h"

/* A shuffle takes lanes from two vectors a and b; those of b are numbered after those of a.  SL_LIST_n lists
 * index(i, ...) for n values of i.  SL_LANES_8, _16, _32: the elements of vectors of so many bytes; SL_LANES_MAX:
 * those of the widest.  SL_EACH_OF_8, ...: SL_LIST_n for all lanes of such a vector. */
#if SL_HAS_SHUFFLES
#define SL_LIST_1(mask, i, ...) mask(i, __VA_ARGS__)
#define SL_LIST_2(mask, i, ...) SL_LIST_1(mask, i, __VA_ARGS__), SL_LIST_1(mask, (i) + 1, __VA_ARGS__)
#define SL_LIST_4(mask, i, ...) SL_LIST_2(mask, i, __VA_ARGS__), SL_LIST_2(mask, (i) + 2, __VA_ARGS__)
#define SL_LIST_8(mask, i, ...) SL_LIST_4(mask, i, __VA_ARGS__), SL_LIST_4(mask, (i) + 4, __VA_ARGS__)
#define SL_LIST_16(mask, i, ...) SL_LIST_8(mask, i, __VA_ARGS__), SL_LIST_8(mask, (i) + 8, __VA_ARGS__)
#define SL_LIST_32(mask, i, ...) SL_LIST_16(mask, i, __VA_ARGS__), SL_LIST_16(mask, (i) + 16, __VA_ARGS__)
#define SL_LIST_64(mask, i, ...) SL_LIST_32(mask, i, __VA_ARGS__), SL_LIST_32(mask, (i) + 32, __VA_ARGS__)
#define SL_LANES_MAX (SL_VECTOR_BYTES / SL_ELEMENT_SIZE)
#if SL_ELEMENT_SIZE == 1
#define SL_LANES_16 16
#define SL_EACH_OF_16 SL_LIST_16
#elif SL_ELEMENT_SIZE == 2
#define SL_LANES_16 8
#define SL_EACH_OF_16 SL_LIST_8
#elif SL_ELEMENT_SIZE == 4
#define SL_LANES_16 4
#define SL_EACH_OF_16 SL_LIST_4
#else
#define SL_LANES_16 2
#define SL_EACH_OF_16 SL_LIST_2
#endif
#if SL_VECTOR_BYTES / SL_ELEMENT_SIZE == 64
#define SL_EACH_OF_MAX SL_LIST_64
#elif SL_VECTOR_BYTES / SL_ELEMENT_SIZE == 32
#define SL_EACH_OF_MAX SL_LIST_32
#elif SL_VECTOR_BYTES / SL_ELEMENT_SIZE == 16
#define SL_EACH_OF_MAX SL_LIST_16
#elif SL_VECTOR_BYTES / SL_ELEMENT_SIZE == 8
#define SL_EACH_OF_MAX SL_LIST_8
#elif SL_VECTOR_BYTES / SL_ELEMENT_SIZE == 4
#define SL_EACH_OF_MAX SL_LIST_4
#else
#define SL_EACH_OF_MAX SL_LIST_2
#endif
#if SL_VECTOR_BYTES >= 32
#if SL_ELEMENT_SIZE == 1
#define SL_LANES_32 32
#define SL_EACH_OF_32 SL_LIST_32
#elif SL_ELEMENT_SIZE == 2
#define SL_LANES_32 16
#define SL_EACH_OF_32 SL_LIST_16
#elif SL_ELEMENT_SIZE == 4
#define SL_LANES_32 8
#define SL_EACH_OF_32 SL_LIST_8
#else
#define SL_LANES_32 4
#define SL_EACH_OF_32 SL_LIST_4
#endif
#endif
#if !SL_HAS_BYTE_MASKS && SL_ELEMENT_SIZE <= 2
#define SL_LANES_8 (8 / SL_ELEMENT_SIZE)
#if SL_ELEMENT_SIZE == 1
typedef uint8_t sl_lanes_8 __attribute__((vector_size(8)));
#define SL_EACH_OF_8 SL_LIST_8
#else
typedef uint16_t sl_lanes_8 __attribute__((vector_size(8)));
#define SL_EACH_OF_8 SL_LIST_4
#endif
#endif

/* Indices for vectors of n elements.  Every second element of a followed by b. */
#define SL_UNZIP_EVEN(i, n) 2 * (i)
#define SL_UNZIP_ODD(i, n) 2 * (i) + 1
/* Elements of a and b in turn: the first half, the second half. */
#define SL_ZIP_LOW(i, n) (i) / 2 + (i) % 2 * (n)
#define SL_ZIP_HIGH(i, n) (n) / 2 + (i) / 2 + (i) % 2 * (n)
/* Every third element, from r on, of a, b and c: first from a and b, then from that result and c. */
#define SL_UNZIP_3(i, n, r) (3 * (i) + (r) < 2 * (n) ? 3 * (i) + (r) : 0)
#define SL_UNZIP_3_LAST(i, n, r) (3 * (i) + (r) < 2 * (n) ? (i) : 3 * (i) + (r) - (n))
/* Elements of a, b and c in turn, the v-th n of them: first from a and b, then from that result and c. */
#define SL_ZIP_3(i, n, v) (((v) * (n) + (i)) / 3 + (((v) * (n) + (i)) % 3 == 1) * (n))
#define SL_ZIP_3_LAST(i, n, v) (((v) * (n) + (i)) % 3 == 2 ? (n) + ((v) * (n) + (i)) / 3 : (i))

/* Whether shuffles of three streams stay in registers: small elements need an instruction that permutes bytes. */
#if defined __SSSE3__ || defined __aarch64__ || defined __ARM_NEON || SL_ELEMENT_SIZE >= 4
#define SL_HAS_BYTE_SHUFFLES 1
#else
#define SL_HAS_BYTE_SHUFFLES 0
#endif
#endif
