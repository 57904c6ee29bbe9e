/* Transposes of small matrices, many times: a block of turns after the other.
 *
 * Assumes: axes with as few levels as sl_simplify_axis leaves, all extents >= 1; see transpose_ways for the choice.
 * Needs: axes, integers, pieces, transpose_rows, transpose_small, ways. */
#pragma once

#include "axes.h"
#include "integers.h"
#include "pieces.h"
#include "transpose_rows.h"
#include "transpose_small.h"
#include "ways.h"

/* Bytes of the turns that are done together, of output and source: the first-level cache keeps them. */
#define SL_FEW_BYTES 16384

/* Transposes few rows and columns, many times: one element of all turns of a block in one loop. */
SL_OUT_OF_LINE void sl_transpose_few(element *restrict to, const sl_axis *rows, const element *restrict from,
                                     const sl_axis *columns, const sl_turns *turns)
{
    const int64_t height = sl_extent(rows), width = sl_extent(columns);
    const int64_t block = sl_max(SL_MANY_TURNS, SL_FEW_BYTES / 2 / SL_ELEMENT_SIZE / (height * width));
    for (int64_t turn = 0; turn < turns->high; ++turn)
        for (int64_t first = 0; first < turns->count; first += block) {
            const int64_t count = sl_min(block, turns->count - first);
            for (int64_t i = 0; i < height; ++i)
                for (int64_t j = 0; j < width; ++j) {
                    element *const into = to + turn * turns->to_leap + first * turns->to_step + sl_offset(rows, i) + j;
                    const element *const out_of =
                        from + turn * turns->leap + first * turns->step + sl_offset(columns, j) + i;
                    for (int64_t k = 0; k < count; ++k)
                        into[k * turns->to_step] = out_of[k * turns->step];
                }
        }
}

/* Transposes small matrices, many times: a block of turns after the other. */
SL_OUT_OF_LINE void sl_transpose_by_squares(element *restrict to, const sl_axis *rows, const element *restrict from,
                                            const sl_axis *columns, const sl_turns *turns)
{
#if SL_HAS_SHUFFLES
    const int64_t height = sl_extent(rows), width = sl_extent(columns);
    const int64_t block = sl_max(SL_MANY_TURNS / 4, SL_FEW_BYTES / 2 / SL_ELEMENT_SIZE / (height * width));
    int64_t row[SL_SMALL_SIDE], column[SL_SMALL_SIDE];
    for (int64_t i = 0; i < height; ++i)
        row[i] = sl_offset(rows, i);
    for (int64_t j = 0; j < width; ++j)
        column[j] = sl_offset(columns, j);
    for (int64_t turn = 0; turn < turns->high; ++turn)
        for (int64_t first = 0; first < turns->count; first += block)
            sl_transpose_small(to + turn * turns->to_leap + first * turns->to_step, row,
                               from + turn * turns->leap + first * turns->step, column, height, width,
                               sl_min(block, turns->count - first), turns->to_step, turns->step);
#else
    (void)to, (void)rows, (void)from, (void)columns, (void)turns;
#endif
}

SL_DECLARE_SMALL_MATRICES(sl_transpose_small_matrices)
{
    if (plan && sl_transpose_by_plan(to, rows, from, columns, turns, squares))
        return 1;
    if (squares)
        sl_transpose_by_squares(to, rows, from, columns, turns);
    else if (elements)
        sl_transpose_few(to, rows, from, columns, turns);
    return squares || elements;
}
