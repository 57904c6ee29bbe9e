/* Axes of a transpose, their offsets in memory, and how often the transpose repeats.
 *
 * Assumes: extents >= 1.
 * Needs: base. */
#pragma once

#include "base.h"

/* How often a transpose repeats: count*high times.  Turn c of turn h begins c*to_step + h*to_leap further in the
 * output, and c*step + h*leap further in the source. */
typedef struct {
    int64_t count, to_step, step, high, to_leap, leap;
} sl_turns;

SL_ALWAYS_INLINE sl_turns sl_turns_0(void)
{
    return (sl_turns){1, 0, 0, 1, 0, 0};
}
SL_ALWAYS_INLINE sl_turns sl_turns_1(int64_t count, int64_t to_step, int64_t step)
{
    return (sl_turns){count, to_step, step, 1, 0, 0};
}
SL_ALWAYS_INLINE sl_turns sl_turns_2(int64_t count, int64_t to_step, int64_t step, int64_t high, int64_t to_leap,
                                     int64_t leap)
{
    return (sl_turns){count, to_step, step, high, to_leap, leap};
}

/* An axis of a transpose, of up to three levels: index k = (t*high + h)*count + l has the offset l*step + h*leap +
 * t*jump in the array where the axis is not the contiguous one. */
typedef struct {
    int64_t count, step, high, leap, top, jump;
} sl_axis;

/* Axes of one, two and three levels. */
SL_ALWAYS_INLINE sl_axis sl_axis_1(int64_t count, int64_t step)
{
    return (sl_axis){count, step, 1, 0, 1, 0};
}
SL_ALWAYS_INLINE sl_axis sl_axis_2(int64_t count, int64_t step, int64_t high, int64_t leap)
{
    return (sl_axis){count, step, high, leap, 1, 0};
}
SL_ALWAYS_INLINE sl_axis sl_axis_3(int64_t count, int64_t step, int64_t high, int64_t leap, int64_t top, int64_t jump)
{
    return (sl_axis){count, step, high, leap, top, jump};
}

SL_INLINE int64_t sl_extent(const sl_axis *axis)
{
    return axis->count * axis->high * axis->top;
}

/* The offset of index *k*. */
SL_INLINE int64_t sl_offset(const sl_axis *axis, int64_t k)
{
    const int64_t outer = k / axis->count;
    return k % axis->count * axis->step + outer % axis->high * axis->leap + outer / axis->high * axis->jump;
}

/* Gives *axis* as few levels as its extents and strides allow; the offsets stay.  A level that it lacks has the stride
 * 0: which lines offsets begin is told from all strides. */
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
    axis->leap = axis->high == 1 ? 0 : axis->leap;
    axis->jump = axis->top == 1 ? 0 : axis->jump;
}

/* Takes the outermost level off *axis*, which has two or three. */
SL_INLINE void sl_drop_level(sl_axis *axis)
{
    if (axis->top > 1) {
        axis->top = 1;
        axis->jump = 0;
    } else {
        axis->high = 1;
        axis->leap = 0;
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

/* The same for both axes, as long as there are such turns. */
SL_INLINE void sl_turns_to_axes(sl_axis *rows, sl_axis *columns, sl_turns *turns)
{
    for (int twice = 0; twice < 2; ++twice) {
        sl_turns_to_axis(columns, turns->to_step, turns->step, turns);
        sl_turns_to_axis(rows, turns->step, turns->to_step, turns);
    }
}

/* With fewer rows or columns, tiles cost more than they save. */
#define SL_TILED_FROM 8

/* A tile has SL_TILE rows and columns, one cache line each: to[row[i] + j] = from[i + column[j]]. */
#if SL_HAS_SHUFFLES
#define SL_TILE (64 / SL_ELEMENT_SIZE)
#else
#define SL_TILE 16
#endif

/* Offsets of *known* indices of an axis, relative to the first, which is number *phase* of its level. */
typedef struct {
    int64_t phase, known, offset[SL_TILE];
} sl_offset_table;

/* Returns the offsets of *count* <= SL_TILE indices from *first* on, relative to the first; sets *at* to its offset.
 * They stay in one of the two tables *lines*, and are computed again only for another phase. */
SL_OUT_OF_LINE const int64_t *sl_offsets_from(sl_offset_table *lines, const sl_axis *axis, int64_t first,
                                              int64_t count, int64_t *at)
{
    int64_t low = first, high = 0;
    if (axis->high > 1) {
        low = first % axis->count;
        high = first / axis->count % axis->high;
        *at = low * axis->step + high * axis->leap + first / axis->count / axis->high * axis->jump;
        /* Indices that end before their level does have the same offsets anywhere in it. */
        if (high * axis->count + low + count <= axis->count * axis->high)
            high = 0;
    } else
        *at = first * axis->step;
    if (high == 0 && low + count <= axis->count)
        low = 0;
    const int64_t phase = high * axis->count + low;
    lines += phase > 0;
    if (phase != lines->phase || count > lines->known) {
        lines->phase = phase;
        lines->known = count;
        int64_t to = 0;
        for (int64_t k = 0; k < count; ++k) {
            lines->offset[k] = to;
            to += axis->step;
            if (++low < axis->count)
                continue;
            low = 0;
            to += axis->leap - axis->count * axis->step;
            if (++high == axis->high) {
                high = 0;
                to += axis->jump - axis->high * axis->leap;
            }
        }
    }
    return lines->offset;
}
