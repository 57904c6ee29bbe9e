/* Streams: the prototypes of splits and joins of 2, 3 or 4 streams, which may be compiled apart.
 *
 * Assumes: output and source do not overlap.
 * Needs: base. */
#pragma once

#include "base.h"

/* to[c*to_step + h*to_leap + i*to_stride + j] = from[c*step + h*leap + i + j*k], and to[c*to_step + h*to_leap + i*k +
 * j] = from[c*step + h*leap + i + j*stride]: see split_join.  *to* begins at *at*, *from* at *start*. */
typedef void sl_split_streams(element *restrict to, int64_t at, int64_t to_stride, const element *restrict from,
                              int64_t start, int64_t columns, int64_t count, int64_t to_step, int64_t step,
                              int64_t high, int64_t to_leap, int64_t leap, int reach);
typedef void sl_join_streams(element *restrict to, int64_t at, const element *restrict from, int64_t start,
                             int64_t stride, int64_t rows, int64_t count, int64_t to_step, int64_t step,
                             int64_t high, int64_t to_leap, int64_t leap, int reach);

/* A loop around a grid of joined rows: so many times, so far apart in *to* and in *from*. */
typedef struct {
    int64_t count, to_step, step;
} sl_join_loop;
#define SL_JOIN_LOOPS 2

/* to[at + r*columns + e] = from[start + p % turns*leap + p / turns*step + q % k*stride + q / k] with p = first + r and
 * q = low + e, for 0 <= r < rows, 0 <= e < columns: rows of k streams, of which the first and the last may be cut off,
 * as may the ends of each.  *from* has *size* elements.  The same for each of the *loops*, the inner one first. */
#define SL_DECLARE_JOIN_GRID(name)                                                                                   \
    SL_LINKABLE void name(element *restrict to, int64_t at, const element *restrict from, int64_t start,             \
                          int64_t size, int64_t stride, int64_t low, int64_t columns, int64_t first, int64_t rows,   \
                          int64_t turns, int64_t leap, int64_t step, const sl_join_loop loops[SL_JOIN_LOOPS],        \
                          int reach)
/* How the definition of such a function begins. */
#define SL_DECLARE_SPLIT(name)                                                                                       \
    SL_LINKABLE void name(element *restrict to, int64_t at, int64_t to_stride, const element *restrict from,         \
                          int64_t start, int64_t columns, int64_t count, int64_t to_step, int64_t step,              \
                          int64_t high, int64_t to_leap, int64_t leap, int reach)
#define SL_JOIN_PROTOTYPE(name)                                                                                      \
    void name(element *restrict to, int64_t at, const element *restrict from, int64_t start, int64_t stride,         \
              int64_t rows, int64_t count, int64_t to_step, int64_t step, int64_t high, int64_t to_leap, int64_t leap, \
              int reach)
#define SL_DECLARE_JOIN(name) SL_LINKABLE SL_JOIN_PROTOTYPE(name)
#ifdef SL_LINKED
SL_DECLARE_SPLIT(sl_split_2);
SL_DECLARE_SPLIT(sl_split_3);
SL_DECLARE_SPLIT(sl_split_4);
SL_DECLARE_JOIN(sl_join_2);
SL_DECLARE_JOIN(sl_join_3);
SL_DECLARE_JOIN(sl_join_4);
SL_DECLARE_JOIN_GRID(sl_join_grid_2);
SL_DECLARE_JOIN_GRID(sl_join_grid_3);
SL_DECLARE_JOIN_GRID(sl_join_grid_4);
#endif
