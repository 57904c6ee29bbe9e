/* Transposes of few rows and columns, many times, by row plans: pixel shuffles, whose pixels follow each other.
 *
 * Assumes: axes with as few levels as sl_simplify_axis leaves, all extents >= 1.
 * Needs: axes, integers, plans, row_plans, ways. */
#pragma once

#include "axes.h"
#include "integers.h"
#include "plans.h"
#include "row_plans.h"
#include "ways.h"

/* From how many windows of a lane on a plan takes longer than squares. */
#define SL_MANY_WINDOWS 3

/* How many windows of 16 bytes hold *count* elements at these offsets. */
SL_INLINE int64_t sl_windows_of(const int64_t *offset, int64_t count)
{
    int64_t windows = 0, done = INT64_MIN; /* elements up to there are in a window */
    for (;; ++windows) {
        int64_t first = INT64_MAX;
        for (int64_t k = 0; k < count; ++k)
            first = offset[k] > done ? sl_min(first, offset[k]) : first;
        if (first == INT64_MAX)
            return windows;
        done = first + 16 - SL_ELEMENT_SIZE;
    }
}

/* Transposes, if there is a plan for the turns, which write the rows of the output that follow each other side by side.
 * Returns whether there is.  Where there are *squares*, a plan of many windows is none. */
SL_OUT_OF_LINE int sl_transpose_by_plan(element *restrict to, const sl_axis *rows, const element *restrict from,
                                        const sl_axis *columns, const sl_turns *turns, int squares)
{
#if SL_HAS_PLANNED_TURNS
    const int64_t height = sl_extent(rows), width = sl_extent(columns), size = sizeof(element);
    const int64_t beside = sl_rows_beside(rows, width), runs = beside * width;
    int64_t offset[SL_PLANNED_ELEMENTS];
    for (int64_t i = 0; i < beside; ++i)
        for (int64_t j = 0; j < width; ++j)
            offset[i * width + j] = (sl_offset(columns, j) + i) * size;
    if (squares && sl_windows_of(offset, sl_min(runs, 16 / size)) >= SL_MANY_WINDOWS)
        return 0;
    sl_plan plan;
    if (!sl_plan_turns(&plan, offset, runs, size, turns->step * size, turns->count))
        return 0;
    for (int64_t turn = 0; turn < turns->high; ++turn)
        for (int64_t i = 0; i < height; i += beside)
            sl_write_rows(&plan, (unsigned char *)(to + turn * turns->to_leap + sl_offset(rows, i)),
                          (const unsigned char *)(from + turn * turns->leap + i), turns->step * size, turns->count, 1,
                          0, 0);
    return 1;
#else
    (void)to, (void)rows, (void)from, (void)columns, (void)turns, (void)squares;
    return 0;
#endif
}
