/* A transpose of large arrays in a way that takes less time than tiles: the choice of the way, for all turns.
 *
 * Assumes: axes with as few levels as sl_simplify_axis leaves, all extents >= 1.
 * Needs: transpose_choice, transpose_fetched_levels, transpose_fetched_lines, transpose_levels, transpose_panels,
 * transpose_staging, transpose_whole_lines, ways. */
#pragma once

#include "transpose_choice.h"
#include "transpose_fetched_levels.h"
#include "transpose_fetched_lines.h"
#include "transpose_levels.h"
#include "transpose_panels.h"
#include "transpose_staging.h"
#include "transpose_whole_lines.h"
#include "ways.h"

#if SL_HAS_LARGE_WAYS
/* The ways to transpose once, but for levels; tiles and bands do all that the others leave. */
typedef enum { SL_IN_TILES, SL_IN_LINES, SL_IN_FETCHED_LINES, SL_IN_PANELS, SL_IN_BLOCKS } sl_way;

/* Whether *times* transposes of *bytes* bytes each are done in fetched lines, where stores wait.  None that is small
 * is, of an output that is far; nor of one that is near, unless a tile comes to each line four times.  Near outputs of
 * larger ones are, unless their lines fill half a set; with wider vectors, if rows have one level and a tile does not
 * write whole lines. */
SL_INLINE int sl_is_in_fetched_lines(const sl_axis *rows, const sl_axis *columns, int64_t bytes, int64_t times,
                                     sl_distance distance)
{
    const int near = distance.near, far = distance.far;
    if (bytes < SL_NEAR_LEAST && (bytes < SL_TURN_LEAST || far || (near && !SL_HAS_FOUR_VISITS)))
        return 0;
#if SL_HAS_PANELS
    const int whole = sl_begins_lines(rows);
    if (near && !SL_HAS_FOUR_VISITS && (rows->high > 1 || (SL_VECTOR_BYTES == 64 && whole)))
        return 0;
    if ((near && sl_lines_in_a_set(rows, 2 * SL_ROWS_FETCHED) > SL_WAYS / 2) || (far && whole))
        return 0;
    return sl_pays_in_fetched_lines(rows, columns, bytes * times);
#else
    (void)times;
    return sl_pays_in_fetched_lines(rows, columns, near, far);
#endif
}

/* Chooses the way to transpose *bytes* bytes once, of *times*, and sets the *lines* abreast.  Where stores wait, lines
 * are fetched and written whole, unless they are far: those are staged.  Elsewhere, whole lines take the least time
 * where their sets hold them.  Else bands are for fewer rows or columns than *fewest*; panels for lines that crowd sets
 * on both sides; blocks for those that are read.  What is *deep* is read ahead, in tiles or panels.  Where stores wait,
 * of these only bands pay, and panels where a tile comes to a line four times.  Small elements have fetched lines
 * only. */
SL_INLINE sl_way sl_choose_way(const sl_axis *rows, const sl_axis *columns, int64_t bytes, int64_t times,
                               int64_t fewest, sl_distance distance, int waits, int deep, int64_t *lines)
{
    if (waits && sl_is_in_fetched_lines(rows, columns, bytes, times, distance))
        return SL_IN_FETCHED_LINES;
#if SL_HAS_PANELS
    if (bytes < SL_NEAR_LEAST || (waits && !SL_HAS_FOUR_VISITS))
        return SL_IN_TILES;
    const sl_crowd crowd = sl_crowd_of(rows, columns);
    *lines = !waits && !deep ? sl_lines_abreast(rows, columns, crowd) : 0;
    if (*lines > 0)
        return SL_IN_LINES;
    if (sl_is_band(rows, columns, bytes, fewest, 1))
        return SL_IN_TILES;
    if (!distance.far && sl_pays_in_panels(rows, columns, crowd, deep))
        return SL_IN_PANELS;
    return !waits && !deep && sl_pays_in_blocks(rows, columns, crowd) ? SL_IN_BLOCKS : SL_IN_TILES;
#else
    (void)fewest, (void)deep, (void)lines;
    return SL_IN_TILES;
#endif
}

/* Transposes once, in *way*; of lines, *abreast* are side by side.  Where the text says whether stores *wait*, the
 * compiler leaves out the ways that are for other processors. */
SL_INLINE void sl_transpose_in(sl_way way, element *restrict to, const sl_axis *rows, const element *restrict from,
                               const sl_axis *columns, int64_t abreast, int waits)
{
#if SL_HAS_PANELS
    if (!waits && way == SL_IN_LINES)
        sl_transpose_in_lines(to, rows, from, columns, abreast);
    else if ((!waits || SL_HAS_FOUR_VISITS) && way == SL_IN_PANELS)
        sl_transpose_panels(to, rows, from, columns);
    else if (!waits)
        sl_transpose_in_blocks(to, rows, from, columns);
#else
    (void)way, (void)to, (void)rows, (void)from, (void)columns, (void)abreast, (void)waits;
#endif
}
#endif

SL_DECLARE_LARGE(sl_transpose_large_array)
{
#if SL_HAS_LARGE_WAYS
    const int waits = SL_STORES_WAIT; /* asked once: the ways that are left out depend on it */
    const int64_t times = turns->count * turns->high, width = sl_extent(columns);
    const int64_t bytes = sl_extent(rows) * width * SL_ELEMENT_SIZE;
#if SL_HAS_PANELS
    if (!waits && !far && bytes < SL_FAR_BYTES / 4 / times &&
        sl_transpose_levels(to, rows, from, columns, turns))
        return 1;
#endif
    const sl_distance distance = sl_distance_of(bytes, times, far);
#if SL_HAS_PANELS
    if (waits && !distance.far && sl_pays_in_fetched_levels(rows, columns)) {
        sl_transpose_fetched_levels(to, rows, from, columns, turns);
        return 1;
    }
#endif
    const int deep = sl_is_deep(distance, bytes, times) || sl_has_staged_tiles(rows, width, distance);
    int64_t abreast = 0;
    const int64_t fewest = SL_FEWEST_TILED(far);
    const sl_way way = sl_choose_way(rows, columns, bytes, times, fewest, distance, waits, deep, &abreast);
    if (way == SL_IN_TILES)
        return 0;
    if (waits && way == SL_IN_FETCHED_LINES) {
        sl_transpose_in_fetched_lines(to, rows, from, columns, turns, distance.near);
        return 1;
    }
    for (int64_t turn = 0; turn < times; ++turn) {
        const int64_t c = turn % turns->count, h = turn / turns->count;
        sl_transpose_in(way, to + c * turns->to_step + h * turns->to_leap, rows,
                        from + c * turns->step + h * turns->leap, columns, abreast, waits);
    }
    return 1;
#else
    (void)to, (void)rows, (void)from, (void)columns, (void)turns, (void)far;
    return 0;
#endif
}
