/* Transposes that write whole lines of the output, and in blocks of long runs of the source.
 *
 * Assumes: axes with as few levels as sl_simplify_axis leaves; of one level for blocks.
 * Needs: pieces, transpose_choice, transpose_panels, transpose_pieces, transpose_strips, transpose_tile. */
#pragma once

#include "pieces.h"
#include "transpose_choice.h"
#include "transpose_panels.h"
#include "transpose_pieces.h"
#include "transpose_strips.h"
#include "transpose_tile.h"

#if SL_HAS_PANELS
#if SL_VECTOR_BYTES > 16
/* Does the same as sl_transpose_even_rows for SL_TILE columns. */
SL_OUT_OF_LINE void sl_transpose_rows_first(element *restrict to, int64_t row_step, const element *restrict from,
                                            int64_t column_step, int64_t rows)
{
    for (int64_t top = 0; top < rows; top += SL_LANES_16) {
        const int64_t i = sl_min(top, rows - SL_LANES_16);
        SL_UNROLL
        for (int64_t j = 0; j < SL_TILE; j += SL_STRIP) {
            const element *at[SL_STRIP];
            sl_begin_even_strip(at, from + i + j * column_step, column_step);
            sl_transpose_rows(to + i * row_step + j, 0, row_step, at, 0);
        }
    }
}
#endif

/* How many lines of the output, side by side, are written of a few rows before the next rows; 0 if a transpose takes
 * less time otherwise.  As many lines wait in the processor to be written as a strip has bytes (64 stores): of these,
 * half a set or less may fall into one set, or they leave the cache before they are whole.  The lines that are read
 * stay in the cache.  Squares may be half as many again as would hold the rows of a level. */
#define SL_MOST_ABREAST 16
SL_INLINE int64_t sl_lines_abreast(const sl_axis *rows, const sl_axis *columns, sl_crowd crowd)
{
    const int64_t ways = SL_WAYS, waiting = SL_STRIP * SL_ELEMENT_SIZE;
    const int64_t width = sl_extent(columns);
    const int64_t squares = (rows->count + SL_LANES_16 - 1) / SL_LANES_16;
    if (rows->count < SL_LANES_16 || 2 * squares * SL_LANES_16 > 3 * rows->count || width < SL_TILE)
        return 0;
    int64_t lines = 1;
    while (crowd.written * waiting > lines * SL_TILE * ways / 2 && lines < SL_MOST_ABREAST)
        lines *= 2;
    return sl_lines_in_a_set(columns, lines * SL_TILE) < ways ? lines : 0;
}

/* Transposes *columns* even columns: whole lines, or less than one. */
SL_INLINE void sl_transpose_some_lines(element *restrict to, int64_t row_step, const element *restrict from,
                                       int64_t column_step, int64_t rows, int64_t columns)
{
    if (columns < SL_TILE)
        sl_transpose_band(to, row_step, from, column_step, rows, columns);
#if SL_VECTOR_BYTES > 16
    else if (columns == SL_TILE)
        sl_transpose_rows_first(to, row_step, from, column_step, rows);
#endif
    else
        sl_transpose_even_rows(to, row_step, from, column_step, rows, columns);
}

/* Transposes *rows* >= SL_LANES_16 even rows of a multiple of SL_STRIP columns, which begin at *column*, a few rows of
 * all before the next. */
SL_OUT_OF_LINE void sl_transpose_rows_of(element *restrict to, int64_t row_step, const element *restrict from,
                                          const int64_t *column, int64_t rows, int64_t columns)
{
    for (int64_t top = 0; top < rows; top += SL_LANES_16) {
        const int64_t i = sl_min(top, rows - SL_LANES_16);
        element *into = to + i * row_step;
        const int64_t *of = column;
        for (const element *const end = into + columns; into < end; into += SL_STRIP, of += SL_STRIP) {
            const element *at[SL_STRIP];
            sl_begin_strip(at, from + i, of, SL_STRIP);
            sl_transpose_rows(into, 0, row_step, at, 0);
        }
    }
}

/* sl_transpose_in_lines, where only columns have levels. */
SL_OUT_OF_LINE void sl_transpose_in_lines_of(element *restrict to, const sl_axis *rows, const element *restrict from,
                                             const sl_axis *columns, int64_t lines)
{
    const int64_t width = sl_extent(columns), lead = sl_elements_to_line(to, rows, width);
    int64_t column[SL_MOST_ABREAST * SL_TILE];
    for (int64_t left = 0, end; left < width; left = end) {
        const int64_t rest = left == 0 && lead > 0 ? lead : width - left;
        end = left + (rest < SL_TILE ? rest : sl_min(lines, rest / SL_TILE) * SL_TILE);
        const int64_t across = (end - left + SL_STRIP - 1) / SL_STRIP * SL_STRIP, j = sl_min(left, width - across);
        sl_offsets(column, columns, j, across);
        sl_transpose_rows_of(to + j, rows->step, from, column, rows->count, across);
    }
}

/* Rows of shorter steps, half of a page, are transposed so many at a time: those of all lines are in few pages. */
#define SL_NEAR_ROWS (2048 / SL_ELEMENT_SIZE)
#define SL_ROWS_OF_LINES 128

/* Transposes once, *lines* lines abreast, which begin at cache lines if they can, a level of the rows after the other:
 * at least SL_LANES_16 rows in a level, and SL_TILE columns. */
SL_OUT_OF_LINE void sl_transpose_in_lines(element *restrict to, const sl_axis *rows, const element *restrict from,
                                          const sl_axis *columns, int64_t lines)
{
    if (rows->high > 1) {
        const sl_axis level = sl_axis_1(rows->count, rows->step);
        for (int64_t k = 0; k < rows->high * rows->top; ++k)
            sl_transpose_in_lines(to + k % rows->high * rows->leap + k / rows->high * rows->jump, &level,
                                  from + k * rows->count, columns, lines);
        return;
    }
    if (columns->high > 1) {
        sl_transpose_in_lines_of(to, rows, from, columns, lines);
        return;
    }
    const int64_t height = rows->count, width = columns->count, lead = sl_elements_to_line(to, rows, width);
    const int64_t high = rows->step < SL_NEAR_ROWS ? sl_alike(height, SL_ROWS_OF_LINES, SL_LANES_16) : height;
    for (int64_t top = 0; top < height; top += high) {
        const int64_t i = sl_min(top, height - SL_LANES_16), down = sl_min(high, height - i);
        for (int64_t left = 0, end; left < width; left = end) {
            const int64_t rest = left == 0 && lead > 0 ? lead : width - left;
            end = left + (rest < SL_TILE ? rest : sl_min(lines, rest / SL_TILE) * SL_TILE);
            const int64_t j = sl_min(left, width - SL_LANES_16), across = sl_max(end - j, SL_LANES_16);
            sl_transpose_some_lines(to + i * rows->step + j, rows->step, from + i + j * columns->step, columns->step,
                                    down, across);
        }
    }
}

/* Whether a transpose takes less time in blocks than in tiles side by side: the lines that are read crowd a set, so
 * that long runs of few columns are read. */
SL_INLINE int sl_pays_in_blocks(const sl_axis *rows, const sl_axis *columns, sl_crowd crowd)
{
    return rows->high == 1 && columns->high == 1 && rows->count >= 2 * SL_ROWS_OF_BAND && columns->count >= SL_TILE &&
           crowd.read >= SL_WAYS && sl_keeps_lines(rows, SL_WAYS);
}

/* Transposes a block of even rows and columns, in strips unless a vector is a line. */
SL_INLINE void sl_transpose_block(element *restrict to, int64_t row_step, const element *restrict from,
                                  int64_t column_step, int64_t rows, int64_t columns)
{
    if (SL_HAS_ORDERED_TILES || rows < SL_TILE) {
        sl_transpose_band(to, row_step, from, column_step, rows, columns);
        return;
    }
    for (int64_t left = 0; left < columns; left += SL_TILE)
        for (int64_t top = 0; top < rows; top += SL_TILE) {
            const int64_t i = sl_min(top, rows - SL_TILE), j = sl_min(left, columns - SL_TILE);
            sl_transpose_even_tile(to + i * row_step + j, row_step, from + i + j * column_step, column_step);
        }
}

/* Transposes once, in blocks, which begin at cache lines if they can; at least SL_TILE rows and columns. */
SL_OUT_OF_LINE void sl_transpose_in_blocks(element *restrict to, const sl_axis *rows, const element *restrict from,
                                           const sl_axis *columns)
{
    const int64_t height = rows->count, width = columns->count, wide = 4 * SL_TILE;
    const int lines = SL_VECTOR_BYTES == 64 || columns->step * SL_ELEMENT_SIZE % 32 == 0;
    const int64_t high = sl_alike(height, SL_ROWS_OF_BAND, lines ? SL_TILE : SL_LANES_16);
    const int64_t lead_i = sl_elements_to_line(from, columns, height), lead_j = sl_elements_to_line(to, rows, width);
    for (int64_t left = 0, end_j; left < width; left = end_j) {
        end_j = sl_min(width, left + wide + (left == 0 ? lead_j : 0));
        for (int64_t top = 0, end_i; top < height; top = end_i) {
            end_i = sl_min(height, top + high + (top == 0 ? lead_i : 0));
            const int64_t i = sl_min(top, height - SL_LANES_16), j = sl_min(left, width - SL_TILE);
            sl_transpose_block(to + i * rows->step + j, rows->step, from + i + j * columns->step, columns->step,
                               end_i - i, end_j - j);
        }
    }
}
#endif
