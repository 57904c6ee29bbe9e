/* Far stores: an output larger than the last-level cache is written around the caches (non-temporal stores).
 *
 * Assumes: a store is of a whole vector at an address that is a multiple of its size, and the kernel ends with
 * sl_store_fence.
 * Needs: caches, integers, vectors. */
#pragma once

#include "caches.h"
#include "integers.h"
#include "vectors.h"

/* Bytes from which an output is far: more than the last-level cache holds, or than is left of a large one beside what
 * else is read and written. */
#ifndef SL_FAR_BYTES
#define SL_FAR_BYTES sl_min(INT64_C(24) << 20, sl_cache_bytes(3))
#define SL_FAR_LEAST (INT64_C(1) << 20) /* below, the size of the cache is not asked for */
#else
#define SL_FAR_LEAST SL_FAR_BYTES
#endif

/* Whether the compiler has non-temporal stores, and those of vectors.  Elsewhere they are ordinary ones. */
#if defined __clang__ || defined __SSE2__
#define SL_HAS_FAR_STORES 1
#else
#define SL_HAS_FAR_STORES 0
#endif
#define SL_DEFINE_FAR_STORE(suffix, builtin, bytes)                                                                  \
    typedef long long sl_quadwords_##suffix __attribute__((vector_size(bytes)));                                     \
    SL_ALWAYS_INLINE void sl_store_far_##suffix(void *to, sl_bytes_##suffix v)                                       \
    {                                                                                                                \
        builtin;                                                                                                     \
    }
#if defined __clang__
#define SL_STORE_FAR(suffix, intrinsic) __builtin_nontemporal_store(v, (sl_bytes_##suffix *)to)
#elif defined __SSE2__
#define SL_STORE_FAR(suffix, intrinsic) intrinsic((sl_quadwords_##suffix *)to, (sl_quadwords_##suffix)v)
#else
#define SL_STORE_FAR(suffix, intrinsic) sl_store_##suffix(to, v)
#endif
SL_DEFINE_FAR_STORE(16, SL_STORE_FAR(16, __builtin_ia32_movntdq), 16)
#if SL_VECTOR_BYTES >= 32
SL_DEFINE_FAR_STORE(32, SL_STORE_FAR(32, __builtin_ia32_movntdq256), 32)
#endif
#if SL_VECTOR_BYTES == 64
SL_DEFINE_FAR_STORE(max, SL_STORE_FAR(max, __builtin_ia32_movntdq512), 64)
#elif SL_VECTOR_BYTES == 32
SL_DEFINE_FAR_STORE(max, SL_STORE_FAR(max, __builtin_ia32_movntdq256), 32)
#else
SL_DEFINE_FAR_STORE(max, SL_STORE_FAR(max, __builtin_ia32_movntdq), 16)
#endif

/* Whether an output of *elements* elements is far. */
SL_INLINE int sl_is_far(int64_t elements)
{
    if (!SL_HAS_FAR_STORES || elements < SL_FAR_LEAST / SL_ELEMENT_SIZE)
        return 0;
    return elements >= SL_FAR_BYTES / SL_ELEMENT_SIZE;
}

/* Orders non-temporal stores before the stores that follow. */
SL_INLINE void sl_store_fence(void)
{
#if defined __SSE2__
    __builtin_ia32_sfence();
#else
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/* Bytes from *to* to the next cache line; 0 at the begin of one. */
SL_INLINE int64_t sl_bytes_to_line(const void *to)
{
    return -(int64_t)((uintptr_t)to & 63) & 63;
}

/* The first group of *each* elements that begins a cache line, at *to* and at *to* + *stride* alike; -1 if none. */
SL_INLINE int64_t sl_first_group_in_line(const element *to, int64_t stride, int64_t each)
{
    const int64_t lead = sl_bytes_to_line(to), group = each * SL_ELEMENT_SIZE;
    return lead % group != 0 || stride * SL_ELEMENT_SIZE % 64 != 0 ? -1 : lead / group;
}

/* Where vectors of *n* groups begin after one at group 0, of *count* groups in a row, so that no store from there on
 * crosses a cache line; 0 where that cannot be or does not pay.  Large arrays of malloc begin 16 bytes after a line. */
SL_INLINE int64_t sl_second_vector(const element *to, int64_t stride, int64_t each, int64_t count, int64_t n)
{
    return count < 4 * n ? 0 : sl_max(0, sl_first_group_in_line(to, stride, each) % n);
}
