/* Ways: the prototype of a transpose of any extents and strides, which may be compiled apart.
 *
 * Assumes: output and source do not overlap.
 * Needs: axes, streams. */
#pragma once

#include "axes.h"
#include "streams.h"

/* The functions for k streams, at k; 0 where a kernel does without.  It can be linked to others once calls *wanted*
 * them, as the bits 1 << k; where not, *wanted* is 0. */
#define SL_MOST_STREAMS 4
typedef struct {
    sl_split_streams *split[SL_MOST_STREAMS + 1];
    sl_join_streams *join[SL_MOST_STREAMS + 1];
    int32_t *wanted;
} sl_streams;

/* How the definition begins.  By addresses: a struct of numbers that is passed as a value is copied by vectors, each of
 * which waits for the stores of the numbers. */
#define SL_DECLARE_TRANSPOSE(name)                                                                                   \
    SL_LINKABLE void name(element *restrict to, sl_axis *rows, const element *restrict from, sl_axis *columns,       \
                          sl_turns *turns, const sl_streams *streams, int far)
#ifdef SL_LINKED
SL_DECLARE_TRANSPOSE(sl_transpose_simplified);
#endif
