/* A transpose in tiles, or another way that takes less time: the choice of the way, for all turns.
 *
 * Assumes: axes with as few levels as sl_simplify_axis leaves, all extents >= 1.
 * Needs: caches, far_stores, pieces, tiles, transpose_fetched_levels, transpose_fetched_lines, transpose_levels,
 * transpose_panels, transpose_tiling, transpose_whole_lines. */
#pragma once

#include "caches.h"
#include "far_stores.h"
#include "pieces.h"
#include "tiles.h"
#include "transpose_fetched_levels.h"
#include "transpose_fetched_lines.h"
#include "transpose_levels.h"
#include "transpose_panels.h"
#include "transpose_tiling.h"
#include "transpose_whole_lines.h"

/* Whether an output that is written *times* times, *bytes* bytes each, is near. */
SL_INLINE int sl_is_near(int64_t bytes, int64_t times)
{
    return bytes < SL_NEAR_LEAST / times || bytes < SL_NEAR_BYTES / times;
}

/* The ways to transpose once, but for levels; tiles do all that the others leave. */
typedef enum { SL_IN_TILES, SL_IN_BAND, SL_IN_LINES, SL_IN_FETCHED_LINES, SL_IN_PANELS, SL_IN_BLOCKS } sl_way;

/* Chooses the way to transpose *bytes* bytes once, and sets the *lines* abreast.  Where stores *wait*, lines are
 * fetched and written whole, unless they are far: those are staged.  Elsewhere, whole lines take the least time where
 * their sets hold them.  Else bands are for fewer rows or columns than *fewest*, of lines that stay in the cache;
 * panels for lines that crowd sets on both sides; blocks for those that are read.  What is *deep* is read ahead, in
 * tiles or panels.  Where stores wait, of these only bands pay, and panels where a tile comes to a line four times. */
SL_INLINE sl_way sl_choose_way(const sl_axis *rows, const sl_axis *columns, int64_t bytes, int64_t fewest, int far,
                               int wait, int deep, int many, sl_crowd crowd, int64_t *lines)
{
    const int64_t few = sl_min(sl_extent(rows), sl_extent(columns));
    const int is_band = few >= SL_LANES_16 && few < fewest && rows->high == 1 && columns->high == 1;
#if SL_HAS_PANELS
    (void)many;
    if (bytes < SL_NEAR_LEAST)
        return is_band ? SL_IN_BAND : SL_IN_TILES;
    const int waits = SL_STORES_WAIT;
    if (wait && !(far && sl_begins_lines(rows)) && sl_pays_in_fetched_lines(rows, columns, bytes))
        return SL_IN_FETCHED_LINES;
    *lines = !waits && !deep ? sl_lines_abreast(rows, columns, crowd) : 0;
    if (*lines > 0)
        return SL_IN_LINES;
    if (is_band && (few < SL_TILED_FROM || sl_keeps_lines(rows, SL_WAYS)))
        return SL_IN_BAND;
    if ((!waits || SL_HAS_FOUR_VISITS) && !far && sl_pays_in_panels(rows, columns, crowd, deep))
        return SL_IN_PANELS;
    return !waits && !deep && sl_pays_in_blocks(rows, columns, crowd) ? SL_IN_BLOCKS : SL_IN_TILES;
#elif SL_HAS_STRIPS
    (void)deep, (void)crowd, (void)lines;
    if (bytes >= SL_NEAR_LEAST && SL_STORES_WAIT && sl_pays_in_fetched_lines(rows, columns, !wait, far))
        return SL_IN_FETCHED_LINES;
    if (bytes >= SL_NEAR_LEAST && few >= SL_TILED_FROM && !sl_keeps_lines(rows, SL_WAYS))
        return SL_IN_TILES;
    return is_band && sl_pays_in_strips(rows, columns, bytes, many) ? SL_IN_BAND : SL_IN_TILES;
#else
    (void)bytes, (void)far, (void)wait, (void)deep, (void)many, (void)crowd, (void)lines;
    return is_band ? SL_IN_BAND : SL_IN_TILES;
#endif
}

/* Transposes once, not in tiles but in *way*; of lines, *abreast* are side by side. */
SL_INLINE void sl_transpose_in(sl_way way, element *restrict to, const sl_axis *rows, const element *restrict from,
                               const sl_axis *columns, int64_t abreast, int near, int far)
{
    if (way == SL_IN_BAND)
        sl_transpose_band(to, rows->step, from, columns->step, rows->count, columns->count);
#if SL_HAS_FETCHED_LINES
    else if (way == SL_IN_FETCHED_LINES)
        sl_transpose_in_fetched_lines(to, rows, from, columns, near, far);
#endif
#if SL_HAS_PANELS
    else if (way == SL_IN_LINES)
        sl_transpose_in_lines(to, rows, from, columns, abreast);
    else if (way == SL_IN_PANELS)
        sl_transpose_panels(to, rows, from, columns);
    else
        sl_transpose_in_blocks(to, rows, from, columns);
#else
    (void)abreast, (void)near, (void)far;
#endif
}

/* Transposes between the axes *rows* and *columns*, *turns* times. */
SL_LINKABLE void sl_transpose_tiles(element *restrict to, const sl_axis *rows, const element *restrict from,
                                    const sl_axis *columns, const sl_turns *turns, int far)
{
    const int64_t times = turns->count * turns->high, fewest = SL_FEWEST_TILED(far);
    const int64_t bytes = sl_extent(rows) * sl_extent(columns) * SL_ELEMENT_SIZE;
#if SL_HAS_LEVELS
    if (!far && bytes >= SL_NEAR_LEAST / times && bytes < SL_FAR_BYTES / 4 / times &&
        sl_transpose_levels(to, rows, from, columns, turns))
        return;
#endif
    const int near = sl_is_near(bytes, times), wait = !near && SL_STORES_WAIT;
    /* An ordinary store reads the line first; sparing that pays from two thirds or half of SL_FAR_BYTES on. */
    far |= !near && bytes >= (wait ? SL_FAR_BYTES / 3 * 2 : SL_FAR_BYTES / 2);
#if SL_HAS_FETCHED_LEVELS
    if (!far && bytes >= SL_NEAR_LEAST / times && sl_pays_in_fetched_levels(rows, columns) && SL_STORES_WAIT) {
        sl_transpose_fetched_levels(to, rows, from, columns, turns);
        return;
    }
#endif
    const int many = bytes >= (SL_ELEMENT_SIZE >= 4 ? SL_NEAR_LEAST : SL_NEAR_LEAST / times);
    sl_crowd crowd = {0, 0};
#if SL_HAS_PANELS || SL_HAS_LINES
    if (many && (!SL_STORES_WAIT || SL_HAS_FOUR_VISITS))
        crowd = sl_crowd_of(rows, columns);
#endif
    sl_tiling tiling;
    sl_begin_tiling(&tiling, rows, columns, SL_STORES_WAIT ? (sl_crowd){0, 0} : crowd, near, far, wait,
                    !near && !wait && bytes >= SL_FAR_BYTES / 4 / times);
    int64_t abreast = 0;
    const sl_way way = sl_choose_way(rows, columns, bytes, fewest, far, wait, tiling.deep, many, crowd, &abreast);
    for (int64_t turn = 0; turn < times; ++turn) {
        const int64_t c = turn % turns->count, h = turn / turns->count;
        element *const into = to + c * turns->to_step + h * turns->to_leap;
        const element *const out_of = from + c * turns->step + h * turns->leap;
        if (way != SL_IN_TILES) {
            sl_transpose_in(way, into, rows, out_of, columns, abreast, near, far);
            continue;
        }
        const element *after = 0;
        if (turn + 1 < times)
            after = c + 1 < turns->count ? out_of + turns->step : from + (h + 1) * turns->leap;
        sl_transpose_in_tiles(&tiling, into, rows, out_of, columns, after);
    }
    if (tiling.staged && far)
        sl_store_fence();
}
