/* A transpose of axes that have levels, in strips that run over level after level of the rows.
 *
 * Assumes: axes with as few levels as sl_simplify_axis leaves, all extents >= 1.
 * Needs: axes, transpose_choice, transpose_panels, transpose_strips. */
#pragma once

#include "axes.h"
#include "transpose_choice.h"
#include "transpose_panels.h"
#include "transpose_strips.h"

#if SL_HAS_PANELS
/* A strip is two squares wide, and about so many rows high; the offsets of so many columns are kept. */
#define SL_WIDTH_OF_STRIP (2 * SL_LANES_16)
#define SL_ROWS_OF_STRIP 72
#define SL_COLUMNS_OF_STRIPS 512

/* The rows of a strip, which follow each other in the source: *rows* of each of *levels* levels, the first of which is
 * number *first* of its turn of *turn* levels.  From one row to the next it is *step* in the output, from one level to
 * the next *leap*, and *back* more after each turn. */
typedef struct {
    int64_t rows, levels, first, turn, step, leap, back;
} sl_strip;

/* Transposes a strip, whose columns are *column*.  Of a level, the second square may overlap the first, so that
 * the last one ends where the rows do. */
SL_ALWAYS_INLINE void sl_transpose_strip_of_levels(element *restrict to, const element *restrict from,
                                                   const int64_t *column, const sl_strip *strip)
{
    const element *at[SL_WIDTH_OF_STRIP];
    SL_UNROLL
    for (int64_t k = 0; k < SL_WIDTH_OF_STRIP; ++k)
        at[k] = from + column[k];
    const int64_t lead = (strip->rows - 1) % SL_LANES_16 + 1;
    int64_t number = strip->first, i = 0;
    for (int64_t left = strip->levels; left > 0; --left) {
        element *into = to;
        const int64_t end = i + strip->rows;
        int64_t next = i + lead, further = lead * strip->step;
        do {
#if SL_VECTOR_BYTES == 16
            sl_transpose_rows_16(into, 0, strip->step, at, i);
            sl_transpose_rows_16(into + SL_LANES_16, 0, strip->step, at + SL_LANES_16, i);
#else
            sl_transpose_rows(into, 0, strip->step, at, i);
#endif
            i = next;
            next += SL_LANES_16;
            into += further;
            further = SL_LANES_16 * strip->step;
        } while (i < end);
        to += strip->leap;
        if (++number == strip->turn) {
            number = 0;
            to += strip->back;
        }
    }
}

/* Transposes once: at least SL_LANES_16 rows in a level, and SL_WIDTH_OF_STRIP columns.  A strip has whole levels, or a
 * part of one.  The strips of the same rows follow each other: they finish the lines of the output. */
SL_OUT_OF_LINE void sl_transpose_once_in_levels(element *restrict to, const sl_axis *rows, const element *restrict from,
                                                const sl_axis *columns)
{
    const int64_t level = rows->count, levels = rows->high * rows->top, width = sl_extent(columns);
    const int whole = level < SL_ROWS_OF_STRIP;
    const int64_t high = whole ? level : sl_alike(level, SL_ROWS_OF_STRIP, SL_LANES_16);
    const int64_t many = whole ? sl_alike(levels, (SL_ROWS_OF_STRIP + level / 2) / level, 1) : 1;
    const int64_t wide = sl_alike(width, SL_COLUMNS_OF_STRIPS, SL_TILE);
    int64_t column[SL_COLUMNS_OF_STRIPS + SL_TILE];
    sl_strip strip = {.turn = rows->high, .step = rows->step, .leap = rows->leap};
    strip.back = rows->jump - rows->high * rows->leap;
    for (int64_t left = 0; left < width; left += wide) {
        const int64_t j = sl_min(left, width - SL_WIDTH_OF_STRIP), across = sl_min(width, left + wide) - j;
        sl_offsets(column, columns, j, across);
        for (int64_t first = 0; first < levels; first += many) {
            strip.first = first % rows->high;
            strip.levels = sl_min(many, levels - first);
            for (int64_t top = 0; top < level; top += high) {
                const int64_t i = sl_min(top, level - SL_LANES_16);
                element *const into =
                    to + j + i * rows->step + strip.first * rows->leap + first / rows->high * rows->jump;
                strip.rows = sl_min(level, top + high) - i;
                for (int64_t beside = 0; beside < across; beside += SL_WIDTH_OF_STRIP) {
                    const int64_t k = sl_min(beside, across - SL_WIDTH_OF_STRIP);
                    sl_transpose_strip_of_levels(into + k, from + first * level + i, column + k, &strip);
                }
            }
        }
    }
}

/* Whether a transpose takes less time in strips of levels than in tiles.  Axes without levels have blocks.  Squares may
 * be half as many again as would hold the rows of a level; the lines that a strip writes stay in the cache, beside one
 * that is read.  Measured where stores do not wait. */
SL_INLINE int sl_pays_in_levels(const sl_axis *rows, const sl_axis *columns)
{
    const int64_t squares = (rows->count + SL_LANES_16 - 1) / SL_LANES_16;
    if ((rows->high == 1 && columns->high == 1) || rows->count < SL_LANES_16 ||
        2 * squares * SL_LANES_16 > 3 * rows->count || sl_extent(columns) < SL_WIDTH_OF_STRIP || SL_STORES_WAIT)
        return 0;
    return sl_lines_in_a_set(rows, SL_ROWS_OF_STRIP) < SL_WAYS && sl_lines_in_a_set(columns, SL_TILE) <= SL_WAYS;
}

/* Transposes in strips of levels if that pays, and returns whether it does.  The turns that move least in an array
 * are the inner ones: they share its lines, and where they continue an axis they become a level of it. */
SL_OUT_OF_LINE int sl_transpose_levels(element *restrict to, const sl_axis *rows, const element *restrict from,
                                       const sl_axis *columns, const sl_turns *turns)
{
    sl_axis down = *rows, across = *columns;
    sl_turns inner = *turns;
    if (turns->high > 1 && sl_min(turns->to_leap, turns->leap) < sl_min(turns->to_step, turns->step))
        inner = sl_turns_2(turns->high, turns->to_leap, turns->leap, turns->count, turns->to_step, turns->step);
    sl_turns_to_axes(&down, &across, &inner);
    if (!sl_pays_in_levels(&down, &across))
        return 0;
    for (int64_t turn = 0; turn < inner.count * inner.high; ++turn) {
        const int64_t c = turn % inner.count, h = turn / inner.count;
        sl_transpose_once_in_levels(to + c * inner.to_step + h * inner.to_leap, &down,
                                    from + c * inner.step + h * inner.leap, &across);
    }
    return 1;
}
#endif
