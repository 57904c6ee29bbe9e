/* Elements of half a byte (nibbles): load, store, copy, fill.
 *
 * Assumes: SL_ELEMENT_SIZE is 1, and an element of the other parts is a byte of two nibbles.  Offsets, steps and
 * counts are in nibbles: nibble e is in byte floor(e/2), in its low half if e is even.  Offsets may be negative where
 * strides are, hence shifts instead of divisions.  A store of one nibble keeps the other, so one thread writes a
 * byte. Needs: copy_rows, fill. */
#pragma once

#include "copy_rows.h"
#include "fill.h"

SL_ALWAYS_INLINE unsigned sl_nibble_load(const element *from, int64_t start)
{
    return (unsigned)from[start >> 1] >> 4 * (start & 1) & 15;
}

/* A byte of two nibbles. */
SL_ALWAYS_INLINE element sl_nibble_pair(unsigned low, unsigned high)
{
    return (element)(low | high << 4);
}

/* Stores a nibble; *value* holds it in the half where it goes, or, as a fill does, in both. */
SL_ALWAYS_INLINE void sl_nibble_store(element *to, int64_t at, unsigned value)
{
    const unsigned kept = at & 1 ? 15 : 240;
    to[at >> 1] = (element)((to[at >> 1] & kept) | (value & ~kept));
}

/* to[at] = from[start] */
SL_ALWAYS_INLINE void sl_nibble_move(element *restrict to, int64_t at, const element *restrict from, int64_t start)
{
    sl_nibble_store(to, at, sl_nibble_load(from, start) * 17);
}

/* to[at + i] = from[start + i] for 0 <= i < count. */
SL_OUT_OF_LINE void sl_nibble_copy(element *restrict to, int64_t at, const element *restrict from, int64_t start,
                                   int64_t count)
{
    if (count <= 0)
        return;
    if (at & 1) {
        sl_nibble_move(to, at++, from, start++);
        --count;
    }
    const int64_t bytes = count / 2;
    element *const into = to + (at >> 1);
    const element *const out_of = from + (start >> 1);
    if (start & 1)
        for (int64_t i = 0; i < bytes; ++i)
            into[i] = (element)(out_of[i] >> 4 | out_of[i + 1] << 4);
    else
        sl_copy(into, 0, out_of, 0, bytes);
    if (count & 1)
        sl_nibble_move(to, at + count - 1, from, start + count - 1);
}

/* The two nibbles of byte to[i] are from[start + 2*i*step] and from[start + (2*i + 1)*step], 0 <= i < bytes. */
SL_OUT_OF_LINE void sl_nibble_pairs(element *restrict to, const element *restrict from, int64_t start, int64_t step,
                                    int64_t bytes)
{
    const element *const first = from + (start >> 1);
    if (step == -1 && (start & 1))
        for (int64_t i = 0; i < bytes; ++i)
            to[i] = (element)(first[-i] >> 4 | first[-i] << 4);
    else if (step == -1)
        for (int64_t i = 0; i < bytes; ++i)
            to[i] = (element)((first[-i] & 15) | (first[-i - 1] & 240));
    else if (step == 2 && (start & 1))
        for (int64_t i = 0; i < bytes; ++i)
            to[i] = (element)(first[2 * i] >> 4 | (first[2 * i + 1] & 240));
    else if (step == 2)
        for (int64_t i = 0; i < bytes; ++i)
            to[i] = (element)((first[2 * i] & 15) | first[2 * i + 1] << 4);
    else
        for (int64_t i = 0; i < bytes; ++i)
            to[i] = sl_nibble_pair(sl_nibble_load(from, start + 2 * i * step),
                                   sl_nibble_load(from, start + (2 * i + 1) * step));
}

/* One nibble of each of *rows* bytes: to[at + 2*i] = from[start + 2*i]. */
SL_OUT_OF_LINE void sl_nibble_sides(element *restrict to, int64_t at, const element *restrict from, int64_t start,
                                    int64_t rows)
{
    const unsigned kept = at & 1 ? 15 : 240, from_high = start & 1 ? 4 : 0, to_high = at & 1 ? 4 : 0;
    element *const into = to + (at >> 1);
    const element *const out_of = from + (start >> 1);
    for (int64_t i = 0; i < rows; ++i)
        into[i] = (element)((into[i] & kept) | ((unsigned)out_of[i] >> from_high & 15) << to_high);
}

/* to[at + i*to_step + j] = from[start + i*step + j] for 0 <= i < rows, 0 <= j < count. */
SL_OUT_OF_LINE void sl_nibble_copy_rows(element *restrict to, int64_t at, int64_t to_step,
                                        const element *restrict from, int64_t start, int64_t step, int64_t rows,
                                        int64_t count, sl_plan *plan)
{
    if (rows <= 0 || count <= 0)
        return;
    if (count == 1 && to_step == 1) { /* a dense row of scattered nibbles: a byte at a time */
        const int64_t odd = at & 1, bytes = (rows - odd) / 2;
        if (odd)
            sl_nibble_move(to, at, from, start);
        sl_nibble_pairs(to + (at + odd) / 2, from, start + odd * step, step, bytes);
        if (odd + 2 * bytes < rows)
            sl_nibble_move(to, at + rows - 1, from, start + (rows - 1) * step);
    } else if (count == 1 && to_step == 2 && step == 2)
        sl_nibble_sides(to, at, from, start, rows);
    else if (count == 1)
        for (int64_t i = 0; i < rows; ++i)
            sl_nibble_move(to, at + i * to_step, from, start + i * step);
    else if (!((at | to_step | start | step | count) & 1))
        sl_copy_rows(to, at / 2, to_step / 2, from, start / 2, step / 2, rows, count / 2, 0, plan);
    else
        for (int64_t i = 0; i < rows; ++i)
            sl_nibble_copy(to, at + i * to_step, from, start + i * step, count);
}

/* to[at + t*to_leap + i*to_step + j] = from[start + t*leap + i*step + j] for 0 <= t < turns, 0 <= i < rows, 0 <= j <
 * count. */
SL_OUT_OF_LINE void sl_nibble_copy_grid(element *restrict to, int64_t at, int64_t to_leap, int64_t to_step,
                                        const element *restrict from, int64_t start, int64_t leap, int64_t step,
                                        int64_t turns, int64_t rows, int64_t count, int64_t high, int64_t to_jump,
                                        int64_t jump, sl_plan *plan)
{
    for (int64_t h = 0; h < high; ++h, at += to_jump, start += jump)
        for (int64_t t = 0; t < turns; ++t)
            sl_nibble_copy_rows(to, at + t * to_leap, to_step, from, start + t * leap, step, rows, count, plan);
}

/* to[at + i] = value for 0 <= i < count. */
SL_OUT_OF_LINE void sl_nibble_fill(element *restrict to, int64_t at, element value, int64_t count)
{
    if (count > 0 && (at & 1)) {
        sl_nibble_store(to, at++, value);
        --count;
    }
    sl_fill(to, at / 2, value, count / 2);
    if (count > 0 && (count & 1))
        sl_nibble_store(to, at + count - 1, value);
}

/* to[at + i*to_step + j] = value for 0 <= i < rows, 0 <= j < count. */
SL_INLINE void sl_nibble_fill_rows(element *restrict to, int64_t at, int64_t to_step, element value, int64_t rows,
                                   int64_t count)
{
    for (int64_t i = 0; i < rows; ++i)
        sl_nibble_fill(to, at + i * to_step, value, count);
}
