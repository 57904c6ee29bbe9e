/* A transpose of any extents and strides: simplified, then done by streams or by tiles.
 *
 * Assumes: output and source do not overlap.
 * Needs: far_stores, split_join, streams, tiles, transpose_tiles. */
#pragma once

#include "far_stores.h"
#include "split_join.h"
#include "streams.h"
#include "tiles.h"
#include "transpose_tiles.h"

/* Gives *axis* as few levels as its extents and strides allow; the offsets stay. */
SL_OUT_OF_LINE void sl_simplify_axis(sl_axis *axis)
{
    for (int twice = 0; twice < 2; ++twice) {
        if (axis->high == 1 || axis->jump == axis->high * axis->leap) {
            axis->leap = axis->high == 1 ? axis->jump : axis->leap;
            axis->high *= axis->top;
            axis->top = 1;
            axis->jump = 0;
        }
        if (axis->count == 1 || axis->leap == axis->count * axis->step) {
            axis->step = axis->count == 1 ? axis->leap : axis->step;
            axis->count *= axis->high;
            axis->high = axis->top;
            axis->leap = axis->jump;
            axis->top = 1;
            axis->jump = 0;
        }
    }
    if (axis->high == 1)
        axis->leap = axis->jump = 0;
}

/* Moves the outer level of *far* to *near*, the shorter axis, if it continues where *near* ends. */
SL_OUT_OF_LINE void sl_move_level(sl_axis *near, sl_axis *far)
{
    if (near->high == 1 && far->high > 1 && far->top == 1 && far->leap == near->count && near->count < far->count) {
        near->high = far->high;
        near->leap = far->count;
        sl_simplify_axis(near);
        far->high = 1;
    }
}

/* Makes turns that continue where the axis ends a level of the axis: one long transpose for many short ones. */
SL_OUT_OF_LINE void sl_turns_to_axis(sl_axis *axis, int64_t along, int64_t across, sl_turns *turns)
{
    if (turns->count > 1 && axis->top == 1 && along == axis->count * axis->high) {
        axis->top = turns->count;
        axis->jump = across;
        sl_simplify_axis(axis);
        turns->count = turns->high;
        turns->to_step = turns->to_leap;
        turns->step = turns->leap;
        turns->high = 1;
        turns->to_leap = turns->leap = 0;
    }
}

/* The numbers k of streams that occur, as the bits 1 << k: gcc takes half of its time for those that do not. */
#ifndef SL_STREAMS
#define SL_STREAMS (1 << 2 | 1 << 3 | 1 << 4)
#endif
#define SL_IS_STREAMS(k) ((k) >= 2 && (k) <= 4 && (SL_STREAMS >> (k) & 1))
#define SL_SPLIT_IF(k)                                                                                               \
    if (SL_IS_STREAMS(k) && few == (k))                                                                              \
        sl_split_##k(to, into, rows->step, from, out_of, wide, columns->high, wide, columns->leap, 1, 0, 0, far);
#define SL_JOIN_IF(k)                                                                                                \
    if (SL_IS_STREAMS(k) && wide == (k))                                                                             \
        sl_join_##k(to, into, from, out_of, columns->step, few, rows->high, rows->leap, few, 1, 0, 0, far);

/* sl_transpose, by addresses: a struct of numbers that is passed as a value is copied by vectors, each of which waits
 * for the stores of the numbers. */
SL_OUT_OF_LINE void sl_transpose_simplified(element *restrict to, sl_axis *rows, const element *restrict from,
                                            sl_axis *columns, sl_turns *turns, int far)
{
    if (rows->count <= 0 || rows->high <= 0 || rows->top <= 0 || columns->count <= 0 || columns->high <= 0 ||
        columns->top <= 0 || turns->count <= 0 || turns->high <= 0)
        return;
    sl_simplify_axis(rows);
    sl_simplify_axis(columns);
    for (int twice = 0; twice < 2; ++twice) {
        sl_turns_to_axis(columns, turns->to_step, turns->step, turns);
        sl_turns_to_axis(rows, turns->step, turns->to_step, turns);
    }
    sl_move_level(columns, rows);
    sl_move_level(rows, columns);
    const int64_t few = rows->count, wide = columns->count;
    const int splits = rows->high == 1 && few == columns->step && SL_IS_STREAMS(few) && columns->top == 1;
    const int joins = columns->high == 1 && wide == rows->step && SL_IS_STREAMS(wide) && rows->top == 1;
    if (!splits && !joins) {
        sl_transpose_tiles(to, rows, from, columns, turns, far);
        return;
    }
    for (int64_t turn = 0; turn < turns->count * turns->high; ++turn) {
        const int64_t c = turn % turns->count, h = turn / turns->count;
        const int64_t into = c * turns->to_step + h * turns->to_leap, out_of = c * turns->step + h * turns->leap;
        if (splits) {
            SL_SPLIT_IF(2)
            SL_SPLIT_IF(3)
            SL_SPLIT_IF(4)
        } else {
            SL_JOIN_IF(2)
            SL_JOIN_IF(3)
            SL_JOIN_IF(4)
        }
    }
}

/* to[at + offset of i + j] = from[start + i + offset of j] for all i of *rows* and j of *columns*, *turns* times. */
SL_ALWAYS_INLINE void sl_transpose(element *restrict to, int64_t at, sl_axis rows, const element *restrict from,
                                   int64_t start, sl_axis columns, sl_turns turns, int far)
{
    sl_transpose_simplified(to + at, &rows, from + start, &columns, &turns, far);
}
