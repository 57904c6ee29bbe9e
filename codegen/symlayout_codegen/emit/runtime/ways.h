/* Ways: the prototypes of a transpose of any extents and strides, and of ways of large arrays, of small matrices and of
 * narrow ones, which may be compiled apart.
 *
 * Assumes: output and source do not overlap.
 * Needs: axes, plans, streams, tiles, zips. */
#pragma once

#include "axes.h"
#include "plans.h"
#include "streams.h"
#include "tiles.h"
#include "zips.h"

/* Whether large arrays have ways of their own: see transpose_large. */
#define SL_HAS_LARGE_WAYS SL_HAS_SHUFFLES

/* Transposes large arrays in a way other than tiles, if there is one that takes less time; returns whether there is. */
typedef int sl_large_way(element *restrict to, const sl_axis *rows, const element *restrict from,
                         const sl_axis *columns, const sl_turns *turns, int far);

/* Whether turns are planned: elements of 1 and 2 bytes, of which a vector holds many. */
#define SL_HAS_PLANNED_TURNS (SL_HAS_ROW_PLANS && SL_ELEMENT_SIZE <= 2)

/* The most elements of a turn that are planned. */
#define SL_PLANNED_ELEMENTS 256

/* How many rows of *width* elements follow each other in the output. */
SL_INLINE int64_t sl_rows_beside(const sl_axis *rows, int64_t width)
{
    return rows->step == width || rows->count == 1 ? rows->count : 1;
}

/* From so many turns on, these are done at once. */
#define SL_MANY_TURNS 16

/* Transposes small matrices many times: by a *plan*, by *squares*, or by *elements*, each for all turns, where that is
 * allowed; returns whether it did. */
typedef int sl_small_way(element *restrict to, const sl_axis *rows, const element *restrict from,
                         const sl_axis *columns, const sl_turns *turns, int plan, int squares, int elements);

/* Whether there is a way of narrow matrices: of fewer rows or columns than a square of 16 bytes has. */
#define SL_HAS_NARROW (SL_HAS_SHUFFLES && SL_ELEMENT_SIZE <= 4)
typedef void sl_narrow_way(element *restrict to, const sl_axis *rows, const element *restrict from,
                           const sl_axis *columns, const sl_turns *turns);

/* The functions for k streams, at k, for large arrays where stores do not wait and where they do, in tiles and in other
 * ways, for small matrices, and for narrow ones; 0 where a kernel does without.  It can be linked to others once calls
 * *wanted* them, as the bits of ways; where not, *wanted* is 0. */
#define SL_MOST_STREAMS 4
typedef struct {
    sl_split_streams *split[SL_MOST_STREAMS + 1];
    sl_join_streams *join[SL_MOST_STREAMS + 1];
    sl_large_way *large[2];
    sl_tiles_way *tiles[2];
    sl_small_way *small;
    sl_narrow_way *narrow;
    int32_t *wanted;
} sl_further_ways;

/* How the definitions begin.  By addresses: a struct of numbers that is passed as a value is copied by vectors, each of
 * which waits for the stores of the numbers. */
#define SL_DECLARE_TRANSPOSE(name)                                                                                   \
    SL_LINKABLE void name(element *restrict to, sl_axis *rows, const element *restrict from, sl_axis *columns,       \
                          sl_turns *turns, const sl_further_ways *ways, int reach)
#define SL_DECLARE_LARGE(name)                                                                                       \
    SL_LINKABLE int name(element *restrict to, const sl_axis *rows, const element *restrict from,                    \
                         const sl_axis *columns, const sl_turns *turns, int far)
#define SL_DECLARE_SMALL_MATRICES(name)                                                                              \
    SL_LINKABLE int name(element *restrict to, const sl_axis *rows, const element *restrict from,                    \
                         const sl_axis *columns, const sl_turns *turns, int plan, int squares, int elements)
#define SL_DECLARE_NARROW(name)                                                                                      \
    SL_LINKABLE void name(element *restrict to, const sl_axis *rows, const element *restrict from,                   \
                          const sl_axis *columns, const sl_turns *turns)
#ifdef SL_LINKED
SL_DECLARE_TRANSPOSE(sl_transpose_simplified);
SL_DECLARE_LARGE(sl_transpose_large_array);
SL_DECLARE_SMALL_MATRICES(sl_transpose_small_matrices);
SL_DECLARE_NARROW(sl_transpose_narrow);
#endif
