/* A transpose in tiles, or as a band, for all turns: of any array, or of a near one in a text of its own.
 *
 * Assumes: axes with as few levels as sl_simplify_axis leaves, all extents >= 1.
 * Needs: far_stores, pieces, tiles, transpose_choice, transpose_pieces, transpose_tiling. */
#pragma once

#include "far_stores.h"
#include "pieces.h"
#include "tiles.h"
#include "transpose_choice.h"
#include "transpose_pieces.h"
#include "transpose_tiling.h"

#if SL_NEAR_TILES
#define SL_TILES_NAME sl_transpose_near_tiles
#else
#define SL_TILES_NAME sl_transpose_tiles
#endif
/* Transposes between the axes *rows* and *columns*, *turns* times. */
SL_DECLARE_TILES(SL_TILES_NAME)
{
    const int64_t times = turns->count * turns->high;
    /* What is near counts as nothing: the compiler leaves out what only other arrays need. */
    const int64_t bytes = SL_NEAR_TILES ? 0 : sl_extent(rows) * sl_extent(columns) * SL_ELEMENT_SIZE;
    const int past = !SL_NEAR_TILES && far;
    const int many = !SL_NEAR_TILES && bytes >= (SL_ELEMENT_SIZE >= 4 ? SL_NEAR_LEAST : SL_NEAR_LEAST / times);
    const int band = sl_is_band(rows, columns, bytes, SL_FEWEST_TILED(past), many);
    const sl_distance distance = SL_NEAR_TILES ? (sl_distance){1, 0, 0} : sl_distance_of(bytes, times, past);
    sl_crowd crowd = {0, 0};
#if (SL_HAS_PANELS || SL_HAS_LINES) && !SL_NEAR_TILES
    if (many && !band && !SL_STORES_WAIT)
        crowd = sl_crowd_of(rows, columns);
#endif
    sl_tiling tiling;
    if (!band)
        sl_begin_tiling(&tiling, rows, columns, crowd, distance, !SL_NEAR_TILES && sl_is_deep(distance, bytes, times));
    for (int64_t turn = 0; turn < times; ++turn) {
        const int64_t c = turn % turns->count, h = turn / turns->count;
        element *const into = to + c * turns->to_step + h * turns->to_leap;
        const element *const out_of = from + c * turns->step + h * turns->leap;
        if (band) {
            sl_transpose_band(into, rows->step, out_of, columns->step, rows->count, columns->count);
            continue;
        }
        const element *after = 0;
        if (turn + 1 < times)
            after = c + 1 < turns->count ? out_of + turns->step : from + (h + 1) * turns->leap;
        sl_transpose_in_tiles(&tiling, into, rows, out_of, columns, after);
    }
    if (!band && tiling.staged && distance.far)
        sl_store_fence();
}
