/* The sizes of the processor's caches, as the processor states them when a kernel runs, and how it stores to them.
 *
 * Assumes: nothing.
 * Needs: base. */
#pragma once

#include "base.h"

/* Bytes of the data cache of *level*, 1 to 3, where the processor does not state them. */
#define SL_USUAL_CACHE_BYTES(level) (INT64_C(1) << ((level) == 1 ? 15 : (level) == 2 ? 20 : 25))

#if defined __x86_64__
/* What the instruction cpuid returns for *leaf* and *part*. */
SL_INLINE void sl_cpuid(uint32_t leaf, uint32_t part, uint32_t word[4])
{
    __asm__ volatile("cpuid" : "=a"(word[0]), "=b"(word[1]), "=c"(word[2]), "=d"(word[3]) : "0"(leaf), "2"(part));
}

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
SL_OUT_OF_LINE int64_t sl_cache_bytes(int level)
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

/* Whether a store that waits for its line holds up a loop of tiles: then it pays to fetch the lines of the output, and
 * to collect rows that begin anywhere in a line.  On AMD's Zen, and Hygon's, both cost more than they save. */
#ifndef SL_STORES_WAIT
SL_OUT_OF_LINE int sl_stores_wait(void)
{
    static int known; /* 0, or 1 more than the answer */
    int answer = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (answer == 0) {
        answer = 2;
#if defined __x86_64__
        uint32_t word[4];
        sl_cpuid(0, 0, word); /* the vendor: AuthenticAMD, HygonGenuine */
        answer -= word[1] == 0x68747541 || word[1] == 0x6f677948;
#endif
        __atomic_store_n(&known, answer, __ATOMIC_RELAXED);
    }
    return answer - 1;
}
#define SL_STORES_WAIT sl_stores_wait()
#endif

/* An output of fewer bytes than this is near: the second-level cache holds it beside the source. */
#ifdef SL_NEAR_BYTES
#define SL_NEAR_LEAST SL_NEAR_BYTES
#else
#define SL_NEAR_BYTES (sl_cache_bytes(2) / 2)
#ifndef SL_NEAR_LEAST
#define SL_NEAR_LEAST (INT64_C(128) << 10) /* below, the size of the cache is not asked for */
#endif
#endif

/* The fewest bytes of each of many transposes whose lines are fetched. */
#ifndef SL_TURN_LEAST
#define SL_TURN_LEAST 8192
#endif
