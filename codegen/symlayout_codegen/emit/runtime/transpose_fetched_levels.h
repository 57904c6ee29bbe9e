/* Transposes of rows that have levels, whose offsets are the same in each tile: pixels of blocks with few channels,
 * for example.  The lines of the output are fetched a tile before: where a store waits for its line.
 *
 * Assumes: axes with as few levels as sl_simplify_axis leaves, all extents >= 1.
 * Needs: axes, integers, pieces, transpose_choice, transpose_panels, transpose_pieces, transpose_tile. */
#pragma once

#include "axes.h"
#include "integers.h"
#include "pieces.h"
#include "transpose_choice.h"
#include "transpose_panels.h"
#include "transpose_pieces.h"
#include "transpose_tile.h"

#if SL_HAS_PANELS
/* The most columns: of two cache lines. */
#define SL_COLUMNS_OF_LEVELS (2 * SL_TILE)

/* Whether *rows* and *columns* are such axes: so few rows of a level that each tile begins with one. */
SL_INLINE int sl_pays_in_fetched_levels(const sl_axis *rows, const sl_axis *columns)
{
    const int64_t width = sl_extent(columns);
    return rows->high > 1 && rows->count <= SL_TILE && SL_TILE % rows->count == 0 &&
           rows->count * rows->high >= 2 * SL_TILE && width >= SL_LANES_16 && width <= SL_COLUMNS_OF_LEVELS;
}

/* Sets where lines are fetched for the rows of a tile, *width* columns each, which may begin anywhere in a line: rows
 * that follow each other as one.  Returns how many. */
SL_INLINE int64_t sl_lines_of_rows(int64_t *line, const int64_t row[SL_TILE], int64_t width)
{
    int64_t lines = 0;
    for (int64_t i = 0, next; i < SL_TILE; i = next) {
        for (next = i + 1; next < SL_TILE && row[next] == row[next - 1] + width; ++next)
            continue;
        for (int64_t j = 0; j <= (next - i) * width; j += SL_TILE)
            line[lines++] = row[i] + j;
    }
    return lines;
}

/* Transposes, *turns* times, one of the outermost levels of the rows after the other. */
SL_OUT_OF_LINE void sl_transpose_fetched_levels(element *restrict to, const sl_axis *rows, const element *restrict from,
                                                const sl_axis *columns, const sl_turns *turns)
{
    const int64_t height = rows->count * rows->high, width = sl_extent(columns);
    const int64_t times = turns->count * turns->high * rows->top;
    int64_t row[SL_TILE], column[SL_COLUMNS_OF_LEVELS], line[SL_TILE * (SL_COLUMNS_OF_LEVELS / SL_TILE + 1)];
    sl_offsets(row, rows, 0, SL_TILE);
    sl_offsets(column, columns, 0, width);
    const int64_t lines = sl_lines_of_rows(line, row, width), below = SL_TILE / rows->count * rows->leap;
    int64_t t = 0, c = 0;
    for (int64_t time = 0; time < times; ++time) {
        element *into = to;
        for (int64_t top = 0; top < height; top += SL_TILE) {
            const int64_t i = sl_min(top, height - SL_TILE); /* the last tile may overlap the one before */
            element *const at = i == top ? into : to + i / rows->count * rows->leap;
            into += below;
            for (int64_t k = 0; k < lines; ++k)
                __builtin_prefetch(into + line[k], 1, 3);
            for (int64_t left = 0; left < width; left += SL_TILE) {
                const int64_t wide = sl_min(SL_TILE, sl_max(SL_LANES_16, width - left)), j = sl_min(left, width - wide);
                if (wide == SL_TILE)
                    sl_transpose_tile(at + j, row, from + i, column + j);
                else
                    sl_transpose_part(at + j, row, from + i, column + j, SL_TILE, wide);
            }
        }
        to += rows->jump;
        from += height;
        if (++t == rows->top) {
            t = 0;
            to += turns->to_step - rows->top * rows->jump;
            from += turns->step - rows->top * height;
            if (++c == turns->count) {
                c = 0;
                to += turns->to_leap - turns->count * turns->to_step;
                from += turns->leap - turns->count * turns->step;
            }
        }
    }
}
#endif
