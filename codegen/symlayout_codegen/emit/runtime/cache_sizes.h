/* The sizes of the processor's caches, as the processor states them when a kernel runs: may be compiled apart.
 *
 * Assumes: nothing.
 * Needs: cpuid. */
#pragma once

#include "cpuid.h"

/* Bytes of the data cache of *level*, 1 to 3, where the processor does not state them. */
#define SL_USUAL_CACHE_BYTES(level) (INT64_C(1) << ((level) == 1 ? 15 : (level) == 2 ? 20 : 25))

#if defined __x86_64__
/* Bytes of the data cache of *level*; 0 if the processor does not state them.  Intel's and AMD's leaves are alike. */
SL_ONCE int64_t sl_stated_cache_bytes(uint32_t level)
{
    static const uint32_t leaves[2] = {4, 0x8000001D};
    for (int vendor = 0; vendor < 2; ++vendor) {
        uint32_t word[4];
        sl_cpuid(leaves[vendor] & 0x80000000, 0, word);
        for (uint32_t part = 0, last = word[0]; part < 8 && leaves[vendor] <= last; ++part) {
            sl_cpuid(leaves[vendor], part, word);
            const uint32_t kind = word[0] & 31;
            if (kind == 0)
                break;
            if (kind != 2 && (word[0] >> 5 & 7) == level)
                return ((int64_t)(word[1] >> 22) + 1) * ((word[1] >> 12 & 1023) + 1) * ((word[1] & 4095) + 1) *
                       ((int64_t)word[2] + 1);
        }
    }
    return 0;
}
#endif

/* Bytes of the data cache of *level*, 1 to 3.  The processor is asked once: a virtual one takes microseconds. */
SL_LINKABLE int64_t sl_cache_bytes(int level)
{
    static int64_t known[3];
    int64_t bytes = __atomic_load_n(&known[level - 1], __ATOMIC_RELAXED);
    if (bytes <= 0) {
#if defined __x86_64__
        bytes = sl_stated_cache_bytes((uint32_t)level);
#endif
        bytes = bytes > 0 ? bytes : SL_USUAL_CACHE_BYTES(level);
        __atomic_store_n(&known[level - 1], bytes, __ATOMIC_RELAXED);
    }
    return bytes;
}
