/* Transposes between a short axis and a long one: fewer rows or columns than a square of 16 bytes has.  What is long
 * may have levels.
 *
 * Assumes: axes with as few levels as sl_simplify_axis leaves, all extents >= 1; the shorter one < SL_LANES_16.
 * Needs: axes, copy, copy_turns, integers, reach, transpose_strips, ways, zips. */
#pragma once

#include "axes.h"
#include "copy.h"
#include "copy_turns.h"
#include "integers.h"
#include "reach.h"
#include "transpose_strips.h"
#include "ways.h"
#include "zips.h"

#if SL_HAS_NARROW
/* A group has the elements at one index of the long axis, one of each index of the short one.  Groups follow each other
 * in so many bytes on the stack, which the first-level cache keeps. */
#define SL_GROUPED_BYTES 4096

/* A square has *side* indices of the short axis, a literal: the least power of 2 that is enough, where bytes can be
 * shuffled; a vector has so many groups of a square. */
#define SL_GROUPS_OF_VECTOR(side) (SL_LANES_16 / (side))
#define SL_HAS_NARROW_OF_4 (SL_LANES_16 == 4 || SL_HAS_INDEXED_SHUFFLES)
#define SL_HAS_NARROW_OF_8 (SL_LANES_16 == 8 || (SL_LANES_16 == 16 && SL_HAS_INDEXED_SHUFFLES))
#if SL_HAS_INDEXED_SHUFFLES
#define SL_SHUFFLE_GROUPS(v, index) sl_shuffle_bytes(v, index)
#else
#define SL_SHUFFLE_GROUPS(v, index) ((void)(index), (v))
#endif

/* The indices of bytes that bring the groups of a vector of a square, of *few* elements each, side by side, and those
 * that bring them back: then what is beyond a group is any element. */
SL_OUT_OF_LINE void sl_index_groups(unsigned char dense[16], unsigned char apart[16], int64_t few, int64_t side)
{
    const int64_t group = few * SL_ELEMENT_SIZE, wide = side * SL_ELEMENT_SIZE;
    for (int64_t b = 0; b < 16; ++b) {
        dense[b] = (unsigned char)(b / group * wide + b % group) % 16;
        apart[b] = (unsigned char)(b / wide * group + b % wide) % 16;
    }
}

/* Joins SL_LANES_16 indices from *i* on of the lines *at*, one of each index of the short axis, to groups at *to*.
 * What is written behind them is written over. */
SL_ALWAYS_INLINE void sl_join_square(element *restrict to, const element *const at[SL_LANES_16], int64_t i,
                                     int64_t few, sl_bytes_16 dense, const int side)
{
    if (side == SL_LANES_16) {
        sl_transpose_rows_16(to, 0, few, at, i);
        return;
    }
    sl_lanes_16 v[SL_LANES_16];
    SL_REPEAT(SL_LANES_16, k, if (k < side) v[k] = (sl_lanes_16)sl_load_16(at[k] + i));
    SL_ZIP_UNTIL(side, sl_zip_vectors(v, side));
    SL_REPEAT(SL_LANES_16, k, if (k < side) {
        sl_store_16(to, SL_SHUFFLE_GROUPS((sl_bytes_16)v[k], dense));
        to += SL_GROUPS_OF_VECTOR(side) * few;
    });
}

/* Splits SL_LANES_16 groups at *from* to *few* lines, at *row* and so on. */
SL_ALWAYS_INLINE void sl_split_square(element *restrict to, const int64_t row[SL_LANES_16],
                                      const element *restrict from, int64_t few, sl_bytes_16 apart, const int side)
{
    sl_lanes_16 v[SL_LANES_16];
    SL_REPEAT(SL_LANES_16, k, if (k < side) {
        const sl_bytes_16 groups = sl_load_16(from);
        v[k] = (sl_lanes_16)(side == SL_LANES_16 ? groups : SL_SHUFFLE_GROUPS(groups, apart));
        from += SL_GROUPS_OF_VECTOR(side) * few;
    });
    SL_ZIP_UNTIL(SL_LANES_16, sl_zip_vectors(v, side));
    SL_REPEAT(SL_LANES_16, k, if (k < side && (k < 2 || k < few)) sl_store_16(to + row[k], (sl_bytes_16)v[k]));
}

typedef void sl_narrow_squares(element *restrict to, const element *restrict from, const int64_t line[SL_LANES_16],
                               int64_t few, int64_t count, const unsigned char index[16]);
/* Defines joins and splits of *count* groups; the lines are at the offsets *line*.  The last squares overlap those
 * before them.  Up to 15 elements are read, or written, behind groups. */
#define SL_DEFINE_NARROW(side)                                                                                       \
    SL_OUT_OF_LINE void sl_join_squares_##side(element *restrict to, const element *restrict from,                   \
                                               const int64_t line[SL_LANES_16], int64_t few, int64_t count,          \
                                               const unsigned char index[16])                                        \
    {                                                                                                                \
        const sl_bytes_16 dense = sl_load_16(index);                                                                 \
        const element *at[SL_LANES_16];                                                                              \
        element held[SL_LANES_16 * SL_LANES_16];                                                                     \
        const int64_t most = sl_max(count, SL_LANES_16);                                                             \
        for (int64_t k = 0; k < side; ++k) { /* what is beyond the lines is the last one */                         \
            at[k] = from + line[sl_min(k, few - 1)];                                                                 \
            if (count < SL_LANES_16) {                                                                               \
                memcpy(held + k * SL_LANES_16, at[k], (size_t)count * sizeof(element));                              \
                at[k] = held + k * SL_LANES_16;                                                                      \
            }                                                                                                        \
        }                                                                                                            \
        for (int64_t i = 0; i < most; i += SL_LANES_16) {                                                            \
            const int64_t first = sl_min(i, most - SL_LANES_16);                                                     \
            sl_join_square(to + first * few, at, first, few, dense, side);                                           \
        }                                                                                                            \
    }                                                                                                                \
    SL_OUT_OF_LINE void sl_split_squares_##side(element *restrict to, const element *restrict from,                  \
                                                const int64_t line[SL_LANES_16], int64_t few, int64_t count,         \
                                                const unsigned char index[16])                                       \
    {                                                                                                                \
        const sl_bytes_16 apart = sl_load_16(index);                                                                 \
        element held[SL_LANES_16 * SL_LANES_16];                                                                     \
        int64_t row[SL_LANES_16];                                                                                    \
        if (count >= SL_LANES_16) {                                                                                  \
            for (int64_t i = 0; i < count; i += SL_LANES_16) {                                                       \
                const int64_t first = sl_min(i, count - SL_LANES_16);                                                \
                sl_split_square(to + first, line, from + first * few, few, apart, side);                             \
            }                                                                                                        \
            return;                                                                                                  \
        }                                                                                                            \
        for (int64_t k = 0; k < SL_LANES_16; ++k)                                                                    \
            row[k] = k * SL_LANES_16;                                                                                \
        sl_split_square(held, row, from, few, apart, side);                                                          \
        for (int64_t k = 0; k < few; ++k)                                                                            \
            memcpy(to + line[k], held + row[k], (size_t)count * sizeof(element));                                    \
    }
#if SL_HAS_NARROW_OF_4
SL_DEFINE_NARROW(4)
#endif
#if SL_HAS_NARROW_OF_8
SL_DEFINE_NARROW(8)
#endif
#if SL_LANES_16 == 16
SL_DEFINE_NARROW(16)
#endif

/* Writes *count* groups of *few* elements side by side, by moves of *bytes* bytes, a literal, at most twice a group:
 * the next group writes over what is behind it.  Not so the last one; nor the first, which may be at the source's
 * end. */
SL_ALWAYS_INLINE void sl_write_groups_by(element *restrict to, const element *restrict from, int64_t step,
                                         int64_t count, int64_t few, const size_t bytes)
{
    sl_copy(to, 0, from, 0, few);
    SL_UNROLL_4
    for (int64_t i = 1; i < count - 1; ++i)
        sl_copy_literal((unsigned char *)(to + i * few), (const unsigned char *)(from + i * step), bytes);
    sl_copy(to, (count - 1) * few, from, (count - 1) * step, few);
}
/* The groups of the source are *step* apart, and do not overlap. */
SL_OUT_OF_LINE void sl_write_groups(element *restrict to, const element *restrict from, int64_t step, int64_t count,
                                    int64_t few)
{
    if (few * SL_ELEMENT_SIZE <= 4)
        sl_write_groups_by(to, from, step, count, few, 4);
    else if (few * SL_ELEMENT_SIZE <= 8)
        sl_write_groups_by(to, from, step, count, few, 8);
    else
        sl_write_groups_by(to, from, step, count, few, 16);
}

/* Copies *count* groups of *few* elements from *first* on, of one level of *along* or of whole ones: those that follow
 * each other at *held* to where the axis has them in *array*, or back if *gather*. */
SL_OUT_OF_LINE void sl_copy_groups(element *array, element *held, const sl_axis *along, int64_t first, int64_t count,
                                   int64_t few, int gather)
{
    const int64_t inner = sl_min(count, along->count);
    for (int64_t done = 0, turns; done < count; done += turns * inner) {
        const int64_t room = along->high - (first + done) / along->count % along->high;
        turns = sl_min((count - done) / inner, room);
        /* Rows of a copy, the longer loop: groups, or levels of groups that follow each other. */
        const int joined = along->step == few, outer = joined || inner < turns;
        const int64_t length = joined ? inner * few : few, rows = outer ? turns : inner;
        const int64_t times = joined ? 1 : outer ? inner : turns;
        const int64_t step = outer ? along->leap : along->step, leap = outer ? along->step : along->leap;
        const int64_t held_step = outer ? inner * few : few, held_leap = outer ? few : inner * few;
        element *const groups = held + done * few, *const at = array + sl_offset(along, first + done);
        const int beside = !joined && (gather ? held_step == few && (step > few || step <= -few)
                                              : step == few || step == -few);
        if (beside) /* from the lowest address of the output on */
            for (int64_t t = 0; t < times; ++t) {
                const int64_t lowest = !gather && step < 0 ? rows - 1 : 0;
                element *const in_array = at + t * leap + lowest * step;
                element *const in_held = groups + t * held_leap + lowest * held_step;
                if (gather)
                    sl_write_groups(in_held, in_array, step, rows, few);
                else
                    sl_write_groups(in_array, in_held, lowest > 0 ? -held_step : held_step, rows, few);
            }
        else if (gather)
            sl_copy_turns(groups, held_leap, held_step, at, leap, step, times, rows, length, SL_NEAREST);
        else
            sl_copy_turns(at, leap, step, groups, held_leap, held_step, times, rows, length, SL_NEAREST);
    }
}

SL_DECLARE_NARROW(sl_transpose_narrow)
{
    const int64_t height = sl_extent(rows), width = sl_extent(columns), few = sl_min(height, width);
    const int joins = width < height;
    const sl_axis *const along = joins ? rows : columns, *const across = joins ? columns : rows;
    const int64_t extent = sl_extent(along), most = SL_GROUPED_BYTES / SL_ELEMENT_SIZE / few;
    /* Strips are whole levels, or parts of one; of whole squares, if these are that short. */
    const int parts = along->count > most;
    const int64_t unit = (parts ? 1 : along->count) * (along->count <= most / SL_LANES_16 || parts ? SL_LANES_16 : 1);
    const int64_t strip = most / unit * unit;
    const int dense = along->high == 1 && along->step == few;
    element held[SL_GROUPED_BYTES / SL_ELEMENT_SIZE + SL_LANES_16];
    unsigned char index[2][16];
    int64_t line[SL_LANES_16];
    sl_narrow_squares *squares = 0;
    int64_t side = SL_LANES_16;
#if SL_LANES_16 == 16
    squares = joins ? sl_join_squares_16 : sl_split_squares_16;
#endif
#if SL_HAS_NARROW_OF_8
    if (few <= 8) {
        squares = joins ? sl_join_squares_8 : sl_split_squares_8;
        side = 8;
    }
#endif
#if SL_HAS_NARROW_OF_4
    if (few <= 4) {
        squares = joins ? sl_join_squares_4 : sl_split_squares_4;
        side = 4;
    }
#endif
    sl_index_groups(index[0], index[1], few, side);
    for (int64_t k = 0; k < few; ++k)
        line[k] = sl_offset(across, k);
    for (int64_t turn = 0; turn < turns->count * turns->high; ++turn) {
        const int64_t c = turn % turns->count, h = turn / turns->count;
        element *const into = to + c * turns->to_step + h * turns->to_leap;
        const element *const out_of = from + c * turns->step + h * turns->leap;
        for (int64_t first = 0, count; first < extent; first += count) {
            count = sl_min(strip, extent - first);
            if (parts)
                count = sl_min(count, along->count - first % along->count);
            /* Groups that follow each other are moved where they are, but for the last ones. */
            const int64_t direct = dense ? (extent - first - SL_LANES_16) / SL_LANES_16 * SL_LANES_16 : 0;
            if (direct > 0)
                count = direct;
            if (joins) {
                squares(direct > 0 ? into + first * few : held, out_of + first, line, few, count, index[0]);
                if (direct <= 0)
                    sl_copy_groups(into, held, along, first, count, few, 0);
            } else {
                if (direct <= 0)
                    sl_copy_groups((element *)out_of, held, along, first, count, few, 1);
                squares(into + first, direct > 0 ? out_of + first * few : held, line, few, count, index[1]);
            }
        }
    }
}
#endif
