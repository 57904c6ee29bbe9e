/* A transpose of any extents and strides: simplified, then done by streams, by tiles, or at once for all turns.
 *
 * Assumes: output and source do not overlap.
 * Needs: caches, pieces, plans, reach, streams, tiles, transpose_choice, transpose_pieces, transpose_tiles,
 * wanted, ways. */
#pragma once

#include "caches.h"
#include "pieces.h"
#include "plans.h"
#include "reach.h"
#include "streams.h"
#include "tiles.h"
#include "transpose_choice.h"
#include "transpose_pieces.h"
#include "transpose_tiles.h"
#include "wanted.h"
#include "ways.h"

/* Moves the outer level of *far* to *near*, the shorter axis, if it continues where *near* ends. */
SL_OUT_OF_LINE void sl_move_level(sl_axis *near, sl_axis *far)
{
    if (near->high == 1 && far->high > 1 && far->top == 1 && far->leap == near->count && near->count < far->count) {
        near->high = far->high;
        near->leap = far->count;
        sl_simplify_axis(near);
        sl_drop_level(far);
    }
}

/* Whether so few rows and columns are transposed so many times that a loop over the turns, for each element, takes less
 * than a call for each turn.  A call moves squares at once where a side of one level has a whole one; but what is
 * thinner than a small square is planned for all turns, where plans are. */
#define SL_FEW_ELEMENTS (SL_ELEMENT_SIZE == 1 ? 128 : SL_ELEMENT_SIZE == 2 ? 64 : 56)
#define SL_FEW_IN_SQUARES 16
SL_INLINE int sl_has_squares(const sl_axis *rows, const sl_axis *columns)
{
    const int64_t square = SL_TILE / 4;
    if (SL_HAS_PLANNED_TURNS && sl_min(sl_extent(rows), sl_extent(columns)) < SL_SMALL_SQUARE)
        return 0;
    return rows->high == 1 && columns->high == 1 && (rows->count >= square || columns->count >= square);
}
SL_INLINE int sl_is_few(const sl_axis *rows, const sl_axis *columns, const sl_turns *turns)
{
    const int64_t most = sl_has_squares(rows, columns) ? SL_FEW_IN_SQUARES : SL_FEW_ELEMENTS;
    return turns->count >= SL_MANY_TURNS && sl_extent(rows) <= most / sl_extent(columns);
}

/* Whether a matrix is so small that it is done square by square, each for all turns.  Where both axes have one level,
 * streams and tiles take less time from fewer bytes on. */
#define SL_SMALL_BYTES 1024
#define SL_SMALL_BYTES_OF_ONE_LEVEL 768
SL_INLINE int sl_is_small(const sl_axis *rows, const sl_axis *columns, const sl_turns *turns)
{
    const int64_t height = sl_extent(rows), width = sl_extent(columns);
    const int64_t least = sl_min(height, width), longest = sl_max(height, width);
    const int levels = rows->high > 1 || columns->high > 1;
    if (!levels && least <= 4 && longest >= 64 / SL_ELEMENT_SIZE)
        return 0;
    return SL_HAS_SHUFFLES && turns->count >= SL_MANY_TURNS / 4 && turns->count * turns->high >= SL_MANY_TURNS &&
           least >= SL_SMALL_SQUARE && (SL_ELEMENT_SIZE > 2 || least < 16 / SL_ELEMENT_SIZE) &&
           longest <= SL_SMALL_SIDE &&
           height * width <= (levels ? SL_SMALL_BYTES : SL_SMALL_BYTES_OF_ONE_LEVEL) / SL_ELEMENT_SIZE;
}

/* Whether there may be a plan for all turns: they write rows of the output that follow each other side by side. */
SL_INLINE int sl_may_be_planned(const sl_axis *rows, const sl_axis *columns, const sl_turns *turns)
{
    const int64_t runs = sl_rows_beside(rows, sl_extent(columns)) * sl_extent(columns);
    return SL_HAS_PLANNED_TURNS && turns->count >= SL_MANY_TURNS && turns->to_step == runs &&
           runs <= SL_PLANNED_ELEMENTS && turns->count * runs * SL_ELEMENT_SIZE >= 128;
}

/* Transposes by streams, of which there are few or wide: by one of these two. */
SL_OUT_OF_LINE void sl_transpose_streams(element *restrict to, const sl_axis *rows, const element *restrict from,
                                         const sl_axis *columns, const sl_turns *turns, sl_split_streams *splits,
                                         sl_join_streams *joins, int reach)
{
    const int64_t few = rows->count, wide = columns->count;
    /* Streams have two levels; the third one is more turns. */
    const sl_axis *const along = splits ? columns : rows;
    const int64_t level = along->count * along->high, to_jump = splits ? level : along->jump;
    const int64_t jump = splits ? along->jump : level;
    for (int64_t turn = 0; turn < turns->count * turns->high * along->top; ++turn) {
        const int64_t c = turn % turns->count, outer = turn / turns->count;
        const int64_t h = outer % turns->high, t = outer / turns->high;
        const int64_t into = c * turns->to_step + h * turns->to_leap + t * to_jump;
        const int64_t out_of = c * turns->step + h * turns->leap + t * jump;
        if (splits)
            splits(to, into, rows->step, from, out_of, wide, columns->high, wide, columns->leap, 1, 0, 0, reach);
        else
            joins(to, into, from, out_of, columns->step, few, rows->high, rows->leap, few, 1, 0, 0, reach);
    }
}

/* Whether *axis* has levels that are better turns, since the other axis has only *others* indices: what is small, or
 * few, is moved for all turns, and bands have one level. */
SL_INLINE int sl_has_levels_of_turns(const sl_axis *axis, int64_t others)
{
    return others > 1 && others < SL_TILED_FROM && axis->high > 1 && axis->count >= SL_TILED_FROM;
}

/* How many streams are the *few* indices of an axis, which are side by side along the *other*; 0 if they are none. */
SL_INLINE int64_t sl_streams_of(const sl_axis *few, const sl_axis *other)
{
    return few->high == 1 && few->count == other->step && few->count <= SL_MOST_STREAMS ? few->count : 0;
}

/* Whether a transpose, *bytes* bytes at once, is so large that a way other than tiles may take less time: of all turns,
 * if rows have levels, or where stores do not wait; else of all that are not small. */
SL_INLINE int sl_may_be_large(const sl_axis *rows, const sl_turns *turns, int64_t bytes)
{
    if (!SL_HAS_LARGE_WAYS || bytes < SL_NEAR_LEAST / (turns->count * turns->high))
        return 0;
    if (bytes < SL_NEAR_LEAST)
        return (SL_HAS_PANELS && (rows->high > 1 || !SL_STORES_WAIT)) ||
               (bytes >= SL_TURN_LEAST && SL_STORES_WAIT);
    return SL_HAS_PANELS || SL_STORES_WAIT;
}

/* Whether a transpose has fewer rows or columns than a square of 16 bytes, and long lines.  Streams are narrow where
 * each of them has levels of less than a square. */
SL_INLINE int sl_is_narrow(const sl_axis *rows, const sl_axis *columns)
{
    const int64_t height = sl_extent(rows), width = sl_extent(columns), few = sl_min(height, width);
    const sl_axis *const along = width < height ? rows : columns;
    if (!SL_HAS_NARROW || few < 2 || few >= SL_LANES_16 || sl_max(height, width) < SL_LANES_16)
        return 0;
    return (along->high > 1 && along->count < SL_LANES_16) ||
           !(sl_streams_of(rows, columns) || sl_streams_of(columns, rows));
}

/* sl_transpose of merged axes. */
SL_OUT_OF_LINE void sl_transpose_merged(element *restrict to, const sl_axis *rows, const element *restrict from,
                                        const sl_axis *columns, const sl_turns *turns, const sl_further_ways *ways,
                                        int reach)
{
    const int64_t split = sl_streams_of(rows, columns), join = sl_streams_of(columns, rows);
    sl_split_streams *const splits = ways->split[split];
    sl_join_streams *const joins = ways->join[join];
    const int by_rows = sl_has_levels_of_turns(rows, sl_extent(columns));
    const int is_few = sl_is_few(rows, columns, turns);
    const int is_small = sl_is_small(rows, columns, turns);
    const int is_planned = (is_few || !sl_has_squares(rows, columns)) && sl_may_be_planned(rows, columns, turns);
    int small = is_planned || is_small || is_few;
    /* One way is wanted at a time: the one that this call would have taken, not what it takes instead. */
    sl_further_ways linked;
    if (sl_is_narrow(rows, columns) && (!small || ways->small)) {
        if (small && ways->small(to, rows, from, columns, turns, is_planned, is_small, is_few))
            return;
        if (ways->narrow) {
            ways->narrow(to, rows, from, columns, turns);
            return;
        }
        sl_want(ways->wanted, SL_NARROW_WAY);
        linked = *ways;
        linked.wanted = 0;
        ways = &linked;
        small = 0;
    } else if (!small && !splits && !joins && ((1 << split | 1 << join) & SL_ALL_STREAMS)) {
        sl_want(ways->wanted, (1 << split | 1 << join) & SL_ALL_STREAMS);
        linked = *ways;
        linked.wanted = 0;
        ways = &linked;
    }
    if (!splits && !joins && (by_rows || sl_has_levels_of_turns(columns, sl_extent(rows)))) {
        /* The outermost level are turns; they are the first ones if there are many, less far apart than the others. */
        sl_axis level = by_rows ? *rows : *columns;
        const int three = level.top > 1, room = turns->high == 1;
        const int64_t across = three ? level.jump : level.leap, along = level.count * (three ? level.high : 1);
        const int64_t to_step = by_rows ? across : along, step = by_rows ? along : across;
        const int64_t many = three ? level.top : level.high, calls = room ? 1 : many;
        sl_drop_level(&level);
        sl_turns more = *turns;
        if (room && (turns->count == 1 || (to_step < turns->to_step && many >= SL_MANY_TURNS)))
            more = sl_turns_2(many, to_step, step, turns->count, turns->to_step, turns->step);
        else if (room)
            more = sl_turns_2(turns->count, turns->to_step, turns->step, many, to_step, step);
        for (int64_t k = 0; k < calls; ++k)
            sl_transpose_merged(to + k * to_step, by_rows ? &level : rows, from + k * step, by_rows ? columns : &level,
                                &more, ways, reach);
        return;
    }
    const int64_t bytes = sl_extent(rows) * sl_extent(columns) * SL_ELEMENT_SIZE;
    const int near = reach != SL_FAR && bytes < SL_NEAR_LEAST / (turns->count * turns->high);
    sl_large_way *const by = sl_may_be_large(rows, turns, bytes) ? ways->large[SL_STORES_WAIT] : 0;
    sl_tiles_way *const tiles = near ? 0 : ways->tiles[SL_STORES_WAIT];
    if (small && ways->small && ways->small(to, rows, from, columns, turns, is_planned, is_small, is_few))
        return;
    if (splits || joins)
        sl_transpose_streams(to, rows, from, columns, turns, splits, joins, reach);
    else if (!by || !by(to, rows, from, columns, turns, reach == SL_FAR))
        (tiles ? tiles : sl_transpose_near_tiles)(to, rows, from, columns, turns, reach == SL_FAR);
    if (small && !ways->small)
        sl_want(ways->wanted, SL_SMALL_WAY);
    else if (!splits && !joins && !near && !tiles)
        sl_want(ways->wanted, SL_LARGE_WAY(SL_STORES_WAIT));
}

SL_DECLARE_TRANSPOSE(sl_transpose_simplified)
{
    if (rows->count <= 0 || rows->high <= 0 || rows->top <= 0 || columns->count <= 0 || columns->high <= 0 ||
        columns->top <= 0 || turns->count <= 0 || turns->high <= 0)
        return;
    sl_simplify_axis(rows);
    sl_simplify_axis(columns);
    const sl_axis short_rows = *rows, short_columns = *columns;
    const sl_turns many = *turns;
    sl_turns_to_axes(rows, columns, turns);
    sl_move_level(columns, rows);
    sl_move_level(rows, columns);
    /* One row or one column, however long, has no squares; what can be planned was few before it was merged. */
    const int line = sl_extent(rows) == 1 || sl_extent(columns) == 1;
    const int plain = SL_HAS_PLANNED_TURNS && !sl_has_squares(&short_rows, &short_columns);
    if ((line || plain) && !sl_is_few(rows, columns, turns) && sl_is_few(&short_rows, &short_columns, &many))
        sl_transpose_merged(to, &short_rows, from, &short_columns, &many, ways, reach);
    else
        sl_transpose_merged(to, rows, from, columns, turns, ways, reach);
}
