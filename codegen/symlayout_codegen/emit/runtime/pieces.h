/* Pieces of a transpose: the prototypes of what is smaller than a tile, which may be compiled apart.
 *
 * Assumes: at most SL_TILE rows and columns; row[i] and column[j] are offsets in elements: to[row[i] + j] =
 * from[i + column[j]].
 * Needs: axes. */
#pragma once

#include "axes.h"

/* How the definitions of transpose_pieces begin. */
#define SL_DECLARE_PART(name)                                                                                        \
    SL_LINKABLE void name(element *restrict to, const int64_t row[SL_TILE], const element *restrict from,            \
                          const int64_t column[SL_TILE], int64_t rows, int64_t columns)
#define SL_DECLARE_THIN(name)                                                                                        \
    SL_LINKABLE void name(element *restrict to, const int64_t row[SL_TILE], const element *restrict from,            \
                          const int64_t column[SL_TILE], int64_t rows, int64_t columns)
#define SL_DECLARE_BAND(name)                                                                                        \
    SL_LINKABLE void name(element *restrict to, int64_t to_stride, const element *restrict from, int64_t stride,     \
                          int64_t rows, int64_t columns)
/* *count* times, *to_step* and *step* apart, of up to SL_SMALL_SIDE rows and columns and no fewer than SL_SMALL_SQUARE:
 * the least side of a square that vectors hold. */
#define SL_SMALL_SIDE 128
#define SL_SMALL_SQUARE ((SL_ELEMENT_SIZE <= 2 ? 8 : 16) / SL_ELEMENT_SIZE)
#define SL_DECLARE_SMALL(name)                                                                                       \
    SL_LINKABLE void name(element *restrict to, const int64_t *row, const element *restrict from,                    \
                          const int64_t *column, int64_t rows, int64_t columns, int64_t count, int64_t to_step,      \
                          int64_t step)
#ifdef SL_LINKED
SL_DECLARE_PART(sl_transpose_part);
SL_DECLARE_THIN(sl_transpose_thin);
SL_DECLARE_BAND(sl_transpose_band);
SL_DECLARE_SMALL(sl_transpose_small);
#endif
