/* Vectors of bytes and of elements, and how they are loaded and stored.
 *
 * Assumes: nothing of alignment, nor of the type of what lies in memory.
 * Needs: base. */
#pragma once

#include "base.h"

/* Defines a vector of *bytes* bytes, its load and its store.  Not by memcpy: gcc 12 copies a vector of more than 16
 * bytes by halves through the stack, and the load of the whole waits for both stores to reach the cache. */
#define SL_DEFINE_BYTES(suffix, bytes)                                                                               \
    typedef char sl_bytes_##suffix __attribute__((vector_size(bytes)));                                              \
    typedef char sl_bytes_##suffix##_anywhere __attribute__((vector_size(bytes), aligned(1), may_alias));            \
    SL_ALWAYS_INLINE sl_bytes_##suffix sl_load_##suffix(const void *from)                                            \
    {                                                                                                                \
        return *(const sl_bytes_##suffix##_anywhere *)from;                                                          \
    }                                                                                                                \
    SL_ALWAYS_INLINE void sl_store_##suffix(void *to, sl_bytes_##suffix v)                                           \
    {                                                                                                                \
        *(sl_bytes_##suffix##_anywhere *)to = v;                                                                     \
    }
SL_DEFINE_BYTES(8, 8)
SL_DEFINE_BYTES(16, 16)
#if SL_VECTOR_BYTES >= 32
SL_DEFINE_BYTES(32, 32)
#endif
SL_DEFINE_BYTES(max, SL_VECTOR_BYTES)

/* Whether an instruction shuffles bytes by computed indices, and can give zeros. */
#if defined __SSSE3__ || (defined __aarch64__ && !defined __clang__ && SL_HAS_SHUFFLES)
#define SL_HAS_INDEXED_SHUFFLES 1
/* Byte i of the result is byte index[i] of v, or 0 where the index is SL_ZERO_BYTE; of others, the lowest four bits
 * count. */
#define SL_ZERO_BYTE 0x90
SL_ALWAYS_INLINE sl_bytes_16 sl_shuffle_bytes(sl_bytes_16 v, sl_bytes_16 index)
{
#ifdef __SSSE3__
    return __builtin_ia32_pshufb128(v, index);
#else
    typedef uint8_t bytes __attribute__((vector_size(16)));
    return (sl_bytes_16)__builtin_shuffle((bytes)v, (bytes){0}, (bytes)index); /* indices modulo 32 */
#endif
}
#else
#define SL_HAS_INDEXED_SHUFFLES 0
#endif

#if SL_HAS_SHUFFLES
/* A lane: an element as an unsigned integer. */
#if SL_ELEMENT_SIZE == 1
typedef uint8_t sl_lane;
#elif SL_ELEMENT_SIZE == 2
typedef uint16_t sl_lane;
#elif SL_ELEMENT_SIZE == 4
typedef uint32_t sl_lane;
#else
typedef uint64_t sl_lane;
#endif
typedef sl_lane sl_lanes_16 __attribute__((vector_size(16)));
typedef sl_lane sl_lanes_32 __attribute__((vector_size(32)));
typedef sl_lane sl_lanes __attribute__((vector_size(SL_VECTOR_BYTES)));
#endif
