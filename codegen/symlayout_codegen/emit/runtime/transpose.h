/* A transpose as kernels call it, with the streams that occur in theirs.
 *
 * Assumes: output and source do not overlap.
 * Needs: far_stores, split_join, streams, tiles, transpose_large, transpose_matrices, transpose_narrow,
 * transpose_ways, wanted, ways. */
#pragma once

#include "far_stores.h"
#include "split_join.h"
#include "streams.h"
#include "tiles.h"
#include "transpose_large.h"
#include "transpose_matrices.h"
#include "transpose_narrow.h"
#include "transpose_ways.h"
#include "wanted.h"
#include "ways.h"

/* The numbers k of streams that occur, as the bits 1 << k: gcc takes half of its time for those that do not. */
#ifndef SL_STREAMS
#define SL_STREAMS SL_ALL_STREAMS
#endif
#define SL_IF_STREAMS(k, function) (SL_STREAMS >> (k) & 1 ? (function) : 0)
/* Whether large arrays occur: where stores do not wait as the bit 1, where they do as the bit 2. */
#ifndef SL_LARGE_ARRAYS
#define SL_LARGE_ARRAYS 3
#endif
#define SL_IF_LARGE(waits, function) (SL_LARGE_ARRAYS >> (waits) & 1 ? (function) : 0)
#define SL_IF_LARGE_WAY(waits) (SL_HAS_LARGE_WAYS ? SL_IF_LARGE(waits, sl_transpose_large_array) : 0)
/* Whether small matrices occur many times. */
#ifndef SL_SMALL_MATRICES
#define SL_SMALL_MATRICES 1
#endif
/* Whether narrow matrices occur. */
#ifndef SL_NARROW_MATRICES
#define SL_NARROW_MATRICES 1
#endif
#if SL_HAS_NARROW && SL_NARROW_MATRICES
#define SL_IF_NARROW(function) function
#else
#define SL_IF_NARROW(function) 0
#endif
static const sl_further_ways sl_own_ways = {
    {0, 0, SL_IF_STREAMS(2, sl_split_2), SL_IF_STREAMS(3, sl_split_3), SL_IF_STREAMS(4, sl_split_4)},
    {0, 0, SL_IF_STREAMS(2, sl_join_2), SL_IF_STREAMS(3, sl_join_3), SL_IF_STREAMS(4, sl_join_4)},
    {SL_IF_LARGE_WAY(0), SL_IF_LARGE_WAY(1)},
    {SL_IF_LARGE(0, sl_transpose_tiles), SL_IF_LARGE(1, sl_transpose_tiles)},
    SL_SMALL_MATRICES ? sl_transpose_small_matrices : 0,
    SL_IF_NARROW(sl_transpose_narrow),
    SL_WANTED_WAYS,
};

/* to[at + offset of i + j] = from[start + i + offset of j] for all i of *rows* and j of *columns*, *turns* times. */
SL_ALWAYS_INLINE void sl_transpose(element *restrict to, int64_t at, sl_axis rows, const element *restrict from,
                                   int64_t start, sl_axis columns, sl_turns turns, int reach)
{
    sl_transpose_simplified(to + at, &rows, from + start, &columns, &turns, &sl_own_ways, reach);
}
