/* What calls of a kernel wanted: ways to move elements that it is not linked to, and can be.
 *
 * Assumes: nothing.
 * Needs: base. */
#pragma once

#include "base.h"

/* The bits of ways: row plans, 1 << k for k streams, those of small matrices, of large arrays where
 * stores do not wait and where they do, and of narrow ones. */
#define SL_ROW_PLANS_WAY 1
#define SL_ALL_STREAMS (1 << 2 | 1 << 3 | 1 << 4)
#define SL_SMALL_WAY (1 << 5)
#define SL_LARGE_WAY(waits) (1 << (6 + (waits)))
#define SL_NARROW_WAY (1 << 8)

#ifdef SL_WAYS_LATER
static int32_t sl_wanted_ways;
#define SL_WANTED_WAYS &sl_wanted_ways
#else
#define SL_WANTED_WAYS 0
#endif

/* Adds *ways* to those that are *wanted*, unless nothing can be linked later. */
SL_INLINE void sl_want(int32_t *wanted, int32_t ways)
{
    if (wanted)
        __atomic_fetch_or(wanted, ways, __ATOMIC_RELAXED);
}
