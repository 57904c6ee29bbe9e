/* Transposes that write whole lines of the output, which are fetched before: where a store waits for its line.
 *
 * Assumes: axes with as few levels as sl_simplify_axis leaves, all extents >= 1.
 * Needs: pieces, transpose_choice, transpose_even_strips, transpose_panels, transpose_pieces, transpose_staging,
 * transpose_strips. */
#pragma once

#include "pieces.h"
#include "transpose_choice.h"
#include "transpose_even_strips.h"
#include "transpose_panels.h"
#include "transpose_pieces.h"
#include "transpose_staging.h"
#include "transpose_strips.h"

#if SL_HAS_LARGE_WAYS
/* Lines that are written side by side: two, since the processor fetches lines in pairs.  Where rows begin anywhere in a
 * line, four have fewer parts of lines at their ends, unless the rows are short, half of a page: then the second-level
 * cache keeps all lines of an eighth of the rows whose pages the TLB keeps. */
#define SL_LINES_FETCHED 2
#define SL_MOST_FETCHED 4
/* So many rows before a row is written, its lines are fetched. */
#define SL_ROWS_FETCHED 8
/* So many rows of the source are read ahead where few columns are read at once. */
#define SL_ROWS_AHEAD 32

#if SL_HAS_EVEN_STRIPS
/* Whether small elements take less time in fetched lines than in tiles: rows and columns have one step each; what is
 * far is staged.  Where rows begin at lines, a tile whose vectors are lines does as well if the output is *near*, or if
 * the lines that are read crowd a set, since it reads each whole; so does a tile of bytes if both is so. */
SL_INLINE int sl_pays_in_fetched_lines(const sl_axis *rows, const sl_axis *columns, int near, int far)
{
    if (far || rows->high > 1 || columns->high > 1 || rows->count < 2 * SL_LANES_16 || columns->count < SL_TILE)
        return 0;
    if (!sl_begins_lines(rows) || (SL_VECTOR_BYTES < 64 && (SL_ELEMENT_SIZE > 1 || !near)))
        return 1;
    return !(SL_VECTOR_BYTES == 64 && near) && sl_lines_in_a_set(columns, SL_TILE) <= SL_WAYS;
}

/* Transposes *rows* >= SL_LANES_16 rows of a multiple of SL_STRIP columns, a few rows of all before the next.  Of the
 * next rows, the lines of the first *fetched* columns are fetched. */
SL_OUT_OF_LINE void sl_transpose_fetched_rows(element *restrict to, int64_t row_step, const element *restrict from,
                                              int64_t column_step, int64_t rows, int64_t columns, int64_t fetched)
{
    sl_steps down = sl_steps_of(row_step), across = sl_steps_of(column_step);
    for (int64_t top = 0; top < rows; top += SL_LANES_16) {
        const int64_t i = sl_min(top, rows - SL_LANES_16);
        for (int64_t k = top + SL_LANES_16; k < sl_min(rows, top + 2 * SL_LANES_16); ++k)
            for (int64_t line = 0; line < fetched; line += SL_TILE)
                __builtin_prefetch(to + k * row_step + line, 1, 3);
        const element *out_of = from + i;
        element *into = to + i * row_step;
        for (const element *const end = into + columns; into < end; into += SL_STRIP) {
            SL_HIDE_STEPS(down);
            SL_HIDE_STEPS(across);
            sl_transpose_even_strip(into, &down, out_of, &across);
            out_of += SL_STRIP * column_step;
        }
    }
}

/* Transposes once.  What is *near*, and begins at lines, is written a line at a time and not fetched; rows that begin
 * anywhere have parts of a line more than they fill. */
SL_OUT_OF_LINE void sl_transpose_in_fetched_lines(element *restrict to, const sl_axis *rows,
                                                  const element *restrict from, const sl_axis *columns, int near,
                                                  int far)
{
    (void)far;
    const int64_t width = columns->count, height = rows->count, lead = sl_elements_to_line(to, rows, width);
    const int whole = sl_begins_lines(rows);
    const int64_t wide = (near && whole ? 1 : SL_LINES_FETCHED) * SL_TILE;
    const int64_t high = sl_alike(height, SL_ROWS_OF_PAGES, SL_TILE);
    for (int64_t top = 0; top < height; top += high) {
        const int64_t i = sl_min(top, height - SL_LANES_16), down = sl_min(high, height - i);
        for (int64_t left = 0, end; left < width; left = end) {
            const int64_t stop = left < lead ? lead : sl_min(width, left + wide), rest = stop - left;
            const int is_band = SL_HAS_BANDS && SL_STRIP > SL_LANES_16 && rest < SL_TILE;
            const int64_t across = is_band ? sl_max(SL_LANES_16, rest) : sl_max(1, rest / SL_STRIP) * SL_STRIP;
            end = sl_min(stop, left + across);
            const int64_t j = sl_max(0, end - across); /* the last strip may overlap others */
            element *const into = to + i * rows->step + j;
            const element *const out_of = from + i + j * columns->step;
            if (is_band)
                sl_transpose_band(into, rows->step, out_of, columns->step, down, across);
            else
                sl_transpose_fetched_rows(into, rows->step, out_of, columns->step, down, across,
                                          !whole ? across + SL_TILE : near ? 0 : across);
        }
    }
}
#else
/* Whether *bytes* take less time in fetched lines than in tiles: both arrays together are larger than the second-level
 * cache, or the lines that are read do not crowd a set.  Where the lines that are written crowd a set, tiles may keep
 * them, or write each at once, since a vector is one; then they are better unless they crowd sets with what they read,
 * and fetched lines, which read fewer columns, do not.  Where rows begin anywhere in a line, lines that crowd sets on
 * both sides are better staged. */
SL_INLINE int sl_pays_in_fetched_lines(const sl_axis *rows, const sl_axis *columns, int64_t bytes)
{
    const int64_t ways = SL_WAYS;
    if (rows->high > 1 || rows->count < 2 * SL_ROWS_FETCHED || sl_extent(columns) < SL_TILE)
        return 0;
    const int own = sl_lines_in_a_set(columns, SL_LINES_FETCHED * SL_TILE) >= ways;
    if (own && bytes <= 2 * SL_NEAR_BYTES)
        return 0;
    if (sl_lines_in_a_set(rows, 2 * SL_ROWS_FETCHED) <= ways)
        return 1;
    const int kept = SL_VECTOR_BYTES == 64 || sl_lines_in_a_set(rows, SL_TILE) <= ways;
    const int crowd = sl_lines_in_a_set(columns, SL_TILES_PER_BLOCK * SL_TILE) > ways;
    return sl_begins_lines(rows) ? !kept || (crowd && !own) : !kept && !crowd;
}

/* Transposes *rows* >= SL_LANES_16 even rows of a multiple of SL_STRIP columns, which begin at *column*, a few rows of
 * all before the next; the source is read *ahead* by so many rows, unless by none. */
SL_OUT_OF_LINE void sl_transpose_fetched_rows(element *restrict to, int64_t row_step, const element *restrict from,
                                              const int64_t *column, int64_t rows, int64_t columns, int64_t ahead)
{
    for (int64_t top = 0; top < rows; top += SL_LANES_16) {
        const int64_t i = sl_min(top, rows - SL_LANES_16);
        for (int64_t k = top + SL_ROWS_FETCHED; k < sl_min(rows, top + SL_ROWS_FETCHED + SL_LANES_16); ++k)
            for (int64_t line = 0; line < columns; line += SL_TILE)
                __builtin_prefetch(to + k * row_step + line, 1, 3);
        if (ahead > 0 && top % SL_TILE == 0 && top + ahead < rows)
            for (int64_t k = 0; k < columns; ++k)
                __builtin_prefetch(from + top + ahead + column[k], 0, 2);
        for (int64_t j = 0; j < columns; j += SL_STRIP) {
            const element *at[SL_STRIP];
            sl_begin_strip(at, from + i, column + j, SL_STRIP);
            sl_transpose_rows(to + i * row_step + j, 0, row_step, at, 0);
        }
    }
}

/* Transposes once, of rows of one level. */
SL_OUT_OF_LINE void sl_transpose_in_fetched_lines(element *restrict to, const sl_axis *rows,
                                                  const element *restrict from, const sl_axis *columns, int near,
                                                  int far)
{
    (void)near;
    const int64_t width = sl_extent(columns), height = rows->count, lead = sl_elements_to_line(to, rows, width);
    const int whole = sl_begins_lines(rows), is_short = rows->step * SL_ELEMENT_SIZE < 2048;
    const int64_t wide = (whole || is_short ? SL_LINES_FETCHED : SL_MOST_FETCHED) * SL_TILE;
    const int64_t high = sl_alike(height, SL_ROWS_OF_PAGES / (is_short ? 8 : 1), SL_TILE);
    const int64_t ahead = far ? 4 * SL_TILE : whole ? SL_ROWS_AHEAD : 0;
    int64_t column[SL_MOST_FETCHED * SL_TILE];
    for (int64_t top = 0; top < height; top += high) {
        const int64_t i = sl_min(top, height - SL_LANES_16), down = sl_min(high, height - i);
        for (int64_t left = 0, end; left < width; left = end) {
            end = sl_min(width, left == 0 && lead > 0 ? lead : left + wide);
            if (left == 0 && end == width)
                end -= width % SL_STRIP;
            const int64_t across = (end - left + SL_STRIP - 1) / SL_STRIP * SL_STRIP, j = sl_min(left, width - across);
            sl_offsets(column, columns, j, across);
            sl_transpose_fetched_rows(to + i * rows->step + j, rows->step, from + i, column, down, across, ahead);
        }
    }
}
#endif
#endif
