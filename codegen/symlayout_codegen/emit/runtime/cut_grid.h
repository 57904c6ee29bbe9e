/* Cut grids: grids of runs, of which those inside are copied; the others are filled, or left.
 *
 * Assumes: output and source do not overlap.  Offsets and counts are in elements.
 * Needs: copy_rows, fill, integers. */
#pragma once

#include "copy_rows.h"
#include "fill.h"
#include "integers.h"

/* Fills *rows* runs of *count* elements, *to_step* apart, *high* times, *to_jump* apart. */
SL_OUT_OF_LINE void sl_fill_runs(element *restrict to, int64_t to_step, int64_t to_jump, int64_t rows, int64_t count,
                                 int64_t high, element value)
{
    const int64_t each = to_step == count ? rows : 1; /* runs that follow each other are one */
    if (rows > 0)
        for (int64_t h = 0; h < high; ++h)
            for (int64_t j = 0; j < rows; j += each)
                sl_fill(to, h * to_jump + j * to_step, value, each * count);
}

/* Run j of turn i, of *rows* runs of each of *turns* turns, is to[at + i*to_leap + j*to_step + r] for 0 <= r < count.
 * It gets from[start + i*leap + j*step + r] if low <= i + turns*j < low + inside; else *fill, or stays where *fill* is
 * 0.  This is done *high* times, *to_jump* and *jump* apart; of *before* grids before them, the first one at *at*, and
 * *after* grids after them, all is *fill.  *plan* is the statement's own. */
SL_OUT_OF_LINE void sl_cut_grid(element *restrict to, int64_t at, int64_t to_leap, int64_t to_step,
                                const element *restrict from, int64_t start, int64_t leap, int64_t step,
                                int64_t turns, int64_t rows, int64_t count, int64_t low, int64_t inside,
                                const element *fill, int64_t before, int64_t high, int64_t after, int64_t to_jump,
                                int64_t jump, int reach, sl_plan *plan)
{
    if (turns <= 0 || rows <= 0 || count <= 0)
        return;
    to += at;
    from += start;
    if (fill)
        for (int64_t i = 0; i < turns; ++i) {
            sl_fill_runs(to + i * to_leap, to_step, to_jump, rows, count, before, *fill);
            sl_fill_runs(to + (before + high) * to_jump + i * to_leap, to_step, to_jump, rows, count, after, *fill);
        }
    to += before * to_jump;
    const int64_t begin = sl_max(0, sl_min(low, turns * rows));
    const int64_t end = sl_max(begin, sl_min(low + sl_max(inside, 0), turns * rows));
    /* The columns of the grid that are inside whole; where turns are side by side in a row, they are moved at once. */
    const int64_t first = (begin + turns - 1) / turns, last = end / turns;
    const int joins = to_step != count && first < last;
    /* So many rows of grids at once as the nearest cache keeps of one. */
    const int64_t read = rows * (step < 0 ? -step : step) * (int64_t)sizeof(element);
    const int64_t most = sl_max(1, SL_TURNED_BYTES / sl_max(1, read));
    for (int64_t h = 0; h < high; h += most, to += most * to_jump, from += most * jump) {
        const int64_t times = sl_min(most, high - h);
        if (joins)
            sl_copy_grid(to, first * to_step, to_leap, to_step, from, first * step, leap, step, turns, last - first,
                         count, times, to_jump, jump, reach, plan);
        for (int64_t i = 0; i < turns; ++i) {
            const int64_t from_i = (begin - i + turns - 1) / turns, to_i = (end - i + turns - 1) / turns;
            element *const into = to + i * to_leap;
            const element *const out_of = from + i * leap;
            if (fill) {
                sl_fill_runs(into, to_step, to_jump, from_i, count, times, *fill);
                sl_fill_runs(into + to_i * to_step, to_step, to_jump, rows - to_i, count, times, *fill);
            }
            if (!joins)
                sl_copy_grid(into, from_i * to_step, to_jump, to_step, out_of, from_i * step, jump, step, times,
                             to_i - from_i, count, 1, 0, 0, reach, plan);
            else
                for (int64_t j = from_i; j < to_i; j += sl_max(1, last - from_i)) /* those of columns that are cut */
                    if (j < first || j >= last)
                        sl_copy_turns(into + j * to_step, 0, to_jump, out_of + j * step, 0, jump, 1, times, count, 0);
        }
    }
}
