/* Staging: what tiles side by side write is collected, and written in long pieces of rows.
 *
 * Assumes: offsets in elements, as in a tile: to[row[i] + j].
 * Needs: axes, copy, far_stores, transpose_choice, zips. */
#pragma once

#include "axes.h"
#include "copy.h"
#include "far_stores.h"
#include "transpose_choice.h"
#include "zips.h"

/* Tiles of a block, each way.  The lines of a block, each perhaps in a page of its own, are a few hundred. */
#ifndef SL_TILES_PER_BLOCK
#define SL_TILES_PER_BLOCK 8
#endif
/* Whether SL_TILES_PER_BLOCK tiles side by side are staged, so that rows are written in long pieces, in whole cache
 * lines: for far arrays; of 4 bytes and more, where rows begin anywhere in a line, so that vectors would cross lines,
 * unless a vector is a line; and where all lines of a tile, 32 or more, fall into one set of the first-level cache, a
 * way of which has 4 KB or more.  In two sets or more, and for fewer lines, staging costs more: a tile writes each line
 * whole.  Where stores do not *wait*, rows that begin anywhere in a line are not staged: both ends of a piece are parts
 * of lines. */
#define SL_STAGED_STEP ((SL_TILES_PER_BLOCK + 1) * SL_TILE)
SL_INLINE int sl_is_staged(const sl_axis *rows, int near, int far, int wait)
{
    const int64_t step = rows->step * SL_ELEMENT_SIZE;
    if (!SL_HAS_SHUFFLES || (step % 64 != 0 && !wait))
        return 0;
    const int anywhere = SL_VECTOR_BYTES < 64 && SL_ELEMENT_SIZE >= 4;
    const int crosses = step % 64 != 0 ? anywhere : rows->high == 1 && SL_TILE >= 32 && step % 4096 == 0;
    return far || (!near && crosses);
}

/* Whether rows of *width* elements follow each other and are staged so: they are written as one. */
SL_INLINE int sl_is_joined(const sl_axis *rows, int64_t width)
{
    return rows->step == width && width <= SL_TILES_PER_BLOCK * SL_TILE;
}

/* Whether tiles of *width* columns are staged. */
SL_INLINE int sl_has_staged_tiles(const sl_axis *rows, int64_t width, sl_distance distance)
{
    const int wait = distance.wait || (distance.far && sl_is_joined(rows, width));
    return width >= 2 * SL_TILE && sl_is_staged(rows, distance.near, distance.far, wait);
}

/* The elements from the begin of a cache line to *to*; 0 where an element lies across the begin of a line. */
SL_INLINE int64_t sl_elements_in_line(const element *to)
{
    const uintptr_t bytes = (uintptr_t)to % 64;
    return bytes % SL_ELEMENT_SIZE == 0 ? (int64_t)(bytes / SL_ELEMENT_SIZE) : 0;
}

/* Places the first *rows* staged rows of *count* elements: row i is staged at *at*[i], behind the row before if it
 * follows that in the output, or else as far from the begin of a cache line as it will be there. */
SL_INLINE void sl_place_staged(int64_t *at, const element *to, const int64_t *row, int64_t rows, int64_t count)
{
    for (int64_t i = 0; i < rows; ++i)
        at[i] = i > 0 && row[i] == row[i - 1] + count ? at[i - 1] + count
                                                      : i * SL_STAGED_STEP + sl_elements_in_line(to + row[i]);
}

/* Writes a staged row of *count* elements to the output: whole cache lines, and what is left at both ends. */
SL_OUT_OF_LINE void sl_write_staged(element *restrict to, const element *restrict held, int64_t count, int far)
{
    const int64_t lead = -sl_elements_in_line(to) & (SL_TILE - 1), first = sl_min(lead, count);
    const int64_t end = first + (count - first) / SL_TILE * SL_TILE;
    sl_copy(to, 0, held, 0, first);
#if SL_HAS_SHUFFLES
    const int past = far && (uintptr_t)(to + first) % 64 == 0;
    for (int64_t k = first; k < end; k += SL_LANES_MAX) {
        const sl_bytes_max v = sl_load_max(held + k);
        if (past)
            sl_store_far_max(to + k, v);
        else
            sl_store_max(to + k, v);
        SL_KEEP_LOOP();
    }
#else
    (void)far;
    sl_copy(to, first, held, first, end - first);
#endif
    sl_copy(to, end, held, end, count - end);
}

/* Writes *rows* staged rows of *count* elements: those that follow each other as one. */
SL_INLINE void sl_write_staged_rows(element *restrict to, const int64_t *row, const element *restrict held,
                                    const int64_t *at, int64_t rows, int64_t count, int far)
{
    for (int64_t i = 0, next; i < rows; i = next) {
        for (next = i + 1; next < rows && row[next] == row[next - 1] + count; ++next)
            continue;
        sl_write_staged(to + row[i], held + at[i], (next - i) * count, far);
    }
}
