/* Which arrays are near, and how the processor stores to its caches.
 *
 * Assumes: nothing.
 * Needs: base, cache_sizes, cpuid. */
#pragma once

#include "base.h"
#include "cache_sizes.h"
#include "cpuid.h"

#ifdef SL_LINKED
/* Bytes of the data cache of *level*, 1 to 3: see cache_sizes. */
SL_LINKABLE int64_t sl_cache_bytes(int level);
#endif

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

/* An output of fewer bytes than this is near: the second-level cache holds it beside the source.  One of fewer than
 * SL_NEAR_LEAST is near without that the size of the cache is asked for. */
#ifdef SL_NEAR_BYTES
#ifndef SL_NEAR_LEAST
#define SL_NEAR_LEAST SL_NEAR_BYTES
#endif
#else
#define SL_NEAR_BYTES (sl_cache_bytes(2) / 2)
#ifndef SL_NEAR_LEAST
#define SL_NEAR_LEAST (INT64_C(128) << 10)
#endif
#endif

/* The fewest bytes of each of many transposes whose lines are fetched. */
#ifndef SL_TURN_LEAST
#define SL_TURN_LEAST (SL_ELEMENT_SIZE >= 4 ? 2048 : 8192)
#endif
