/* Copy of many rows of equal length: short ones are permuted, or planned for all turns.
 *
 * Assumes: output and source do not overlap.  Offsets and counts are in elements; a count <= 0 copies nothing.
 * Needs: copy_turns, integers, plans, row_plans, short_rows. */
#pragma once

#include "copy_turns.h"
#include "integers.h"
#include "plans.h"
#include "row_plans.h"
#include "short_rows.h"

/* The source of rows in turns may be read once for each turn: so much of it at a time, in bytes, as the nearest cache
 * keeps. */
#define SL_TURNED_BYTES 16384

#if SL_HAS_ROW_PLANS
/* The same *high* times, *to_jump* and *jump* apart, for runs of at most SL_SHORT_ROW_BYTES, by permutations and plans.
 * Returns how many rows of each turn are done, the first ones. */
SL_OUT_OF_LINE int64_t sl_copy_short_turns(element *restrict to, int64_t to_leap, int64_t to_step,
                                           const element *restrict from, int64_t leap, int64_t step, int64_t turns,
                                           int64_t rows, int64_t count, int64_t high, int64_t to_jump, int64_t jump,
                                           sl_plan *plan)
{
    const int64_t size = sizeof(element), run = count * size;
    unsigned char *const into = (unsigned char *)to;
    const unsigned char *const out_of = (const unsigned char *)from;
    /* The compiler vectorises the loops of single elements for steps -1 and 2, those of bytes poorly for 2. */
    const int vectorised = count == 1 && to_step == 1 && (step == -1 || (step == 2 && size > 1));
    if (turns > 1 && to_leap == count && to_step == turns * count) { /* turns are side by side in a row */
        if (sl_is_planned(run, rows * turns * run, high) &&
            sl_plan_rows(plan, turns, leap * size, run, step * size, rows)) {
            sl_write_rows(plan, into, out_of, step * size, rows, high, to_jump * size, jump * size);
            return rows;
        }
    }
#if SL_PERMUTE_BYTES
    /* For a few rows, computing the indices takes longer than the copy. */
    if (rows >= SL_PERMUTE_BYTES && !vectorised) {
        int64_t done = 0;
        for (int64_t h = 0; h < high; ++h)
            for (int64_t t = 0; t < turns; ++t)
                done = sl_copy_short(into + (h * to_jump + t * to_leap) * size, to_step * size,
                                     out_of + (h * jump + t * leap) * size, step * size, rows, run);
        if (done)
            return done;
    }
#endif
    if (to_step == count && sl_is_planned(run, rows * run, turns * high) && !vectorised &&
        sl_plan_rows(plan, 1, 0, run, step * size, rows)) {
        const int64_t read = rows * (step < 0 ? -step : step) * size, most = SL_TURNED_BYTES / sl_max(1, read);
        const int64_t each = most > turns ? most : 1; /* the longer loop is the inner one */
        for (int64_t first = 0; first < high; first += each) {
            unsigned char *const next = into + first * to_jump * size;
            const unsigned char *const out_of_next = out_of + first * jump * size;
            const int64_t times = sl_min(each, high - first);
            if (times == 1)
                sl_write_rows(plan, next, out_of_next, step * size, rows, turns, to_leap * size, leap * size);
            else
                for (int64_t t = 0; t < turns; ++t)
                    sl_write_rows(plan, next + t * to_leap * size, out_of_next + t * leap * size, step * size, rows,
                                  times, to_jump * size, jump * size);
        }
        return rows;
    }
    return 0;
}
#endif

/* to[at + h*to_jump + t*to_leap + i*to_step + j] = from[start + h*jump + t*leap + i*step + j] for 0 <= h < high, 0 <= t
 * < turns, 0 <= i < rows, 0 <= j < count.  Of the inner two, the longer loop is the inner one where the other is as
 * short as a margin.  Long rows of a far output are written by non-temporal stores.  *plan* is the statement's. */
SL_OUT_OF_LINE void sl_copy_grid(element *restrict to, int64_t at, int64_t to_leap, int64_t to_step,
                                 const element *restrict from, int64_t start, int64_t leap, int64_t step,
                                 int64_t turns, int64_t rows, int64_t count, int64_t high, int64_t to_jump,
                                 int64_t jump, int reach, sl_plan *plan)
{
    if (turns <= 0 || rows <= 0 || count <= 0 || high <= 0)
        return;
    to += at;
    from += start;
#if SL_HAS_ROW_PLANS
    if (count * (int64_t)sizeof(element) <= SL_SHORT_ROW_BYTES) {
        const int64_t done = sl_copy_short_turns(to, to_leap, to_step, from, leap, step, turns, rows, count, high,
                                                 to_jump, jump, plan);
        if (done == rows)
            return;
        to += done * to_step;
        from += done * step;
        rows -= done;
    }
#else
    (void)plan;
#endif
    for (int64_t h = 0; h < high; ++h, to += to_jump, from += jump)
        if (rows < 8 && rows < turns)
            sl_copy_turns(to, to_step, to_leap, from, step, leap, rows, turns, count, reach);
        else
            sl_copy_turns(to, to_leap, to_step, from, leap, step, turns, rows, count, reach);
}

/* to[at + i*to_step + j] = from[start + i*step + j] for 0 <= i < rows, 0 <= j < count: a grid of one turn. */
SL_OUT_OF_LINE void sl_copy_rows(element *restrict to, int64_t at, int64_t to_step, const element *restrict from,
                                 int64_t start, int64_t step, int64_t rows, int64_t count, int reach, sl_plan *plan)
{
    if (rows <= 0 || count <= 0)
        return;
    to += at;
    from += start;
#if SL_HAS_ROW_PLANS
    if (rows > 1 && count * (int64_t)sizeof(element) <= SL_SHORT_ROW_BYTES) { /* one row alone is none of a plan */
        const int64_t done = sl_copy_short_turns(to, 0, to_step, from, 0, step, 1, rows, count, 1, 0, 0, plan);
        to += done * to_step;
        from += done * step;
        rows -= done;
    }
#else
    (void)plan;
#endif
    sl_copy_turns(to, 0, to_step, from, 0, step, 1, rows, count, reach);
}
