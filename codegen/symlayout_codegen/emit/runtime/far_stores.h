/* Far stores: an output larger than the last-level cache is written around the caches (non-temporal stores).
 *
 * Assumes: a store is of a whole vector at an address that is a multiple of its size, and the kernel ends with
 * sl_store_fence.
 * Needs: base. */
#pragma once

#include "base.h"

/* Bytes from which an output is far: more than most last-level caches hold. */
#ifndef SL_FAR_BYTES
#define SL_FAR_BYTES (INT64_C(24) << 20)
#endif

/* Whether the compiler has non-temporal stores. */
#if defined __clang__ || defined __SSE2__
#define SL_HAS_NONTEMPORAL_STORES 1
typedef long long sl_quadwords __attribute__((vector_size(SL_VECTOR_BYTES)));
SL_ALWAYS_INLINE void sl_store_nontemporal(void *to, sl_quadwords v)
{
#ifdef __clang__
    __builtin_nontemporal_store(v, (sl_quadwords *)to);
#elif SL_VECTOR_BYTES == 64
    __builtin_ia32_movntdq512((sl_quadwords *)to, v);
#elif SL_VECTOR_BYTES == 32
    __builtin_ia32_movntdq256((sl_quadwords *)to, v);
#else
    __builtin_ia32_movntdq((sl_quadwords *)to, v);
#endif
}
/* A vector of *bytes* bytes as quadwords. */
SL_ALWAYS_INLINE sl_quadwords sl_line_of(const void *vector, size_t bytes)
{
    sl_quadwords line = {0};
    memcpy(&line, vector, bytes);
    return line;
}
#else
#define SL_HAS_NONTEMPORAL_STORES 0
#endif

/* Whether an output of *elements* elements is far. */
SL_INLINE int sl_is_far(int64_t elements)
{
    return SL_HAS_NONTEMPORAL_STORES && elements >= SL_FAR_BYTES / SL_ELEMENT_SIZE;
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
