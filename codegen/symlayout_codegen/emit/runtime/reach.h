/* Reach: how far an output is, and which of its lines are fetched before they are written.
 *
 * Assumes: nothing.
 * Needs: far_stores, integers. */
#pragma once

#include "far_stores.h"
#include "integers.h"

/* An output is in the nearest cache; or it is written around the caches; or stores wait for its lines, so that splits
 * fetch them ahead. */
#define SL_NEAREST 0
#define SL_FAR 1
#define SL_FETCHED 2

/* An output of fewer bytes than this is in the nearest cache beside the source, whatever the size of that cache. */
#define SL_NEAREST_LEAST (INT64_C(16) << 10)

/* The reach of an output of *elements* elements. */
SL_INLINE int sl_reach(int64_t elements)
{
    const int64_t least = SL_NEAREST_LEAST / SL_ELEMENT_SIZE;
    if (sl_is_far(elements))
        return SL_FAR;
    return elements >= least && SL_STORES_WAIT && elements >= sl_cache_bytes(1) / 2 / SL_ELEMENT_SIZE ? SL_FETCHED
                                                                                                    : SL_NEAREST;
}

/* So many bytes before a line is written, it is fetched. */
#define SL_FETCHED_AHEAD 128

/* Fetches the line that each of k streams, *to_stride* apart, comes to. */
SL_ALWAYS_INLINE void sl_fetch_streams(const element *to, int64_t to_stride, const int k)
{
    SL_UNROLL
    for (int i = 0; i < k; ++i)
        __builtin_prefetch((const char *)(to + i * to_stride) + SL_FETCHED_AHEAD, 1, 3);
}

/* The same for the lines of a row of *columns* elements of each stream, if *reach* says so. */
SL_ALWAYS_INLINE void sl_fetch_row(int reach, const element *to, int64_t to_stride, int64_t columns, const int k)
{
    if (reach == SL_FETCHED)
        for (int64_t line = 0; line < columns; line += sl_max(1, 64 / SL_ELEMENT_SIZE))
            sl_fetch_streams(to + line, to_stride, k);
}
