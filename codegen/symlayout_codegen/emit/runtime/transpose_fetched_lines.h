/* Transposes that write whole lines of the output, which are fetched before: where a store waits for its line.
 *
 * Assumes: axes with as few levels as sl_simplify_axis leaves, all extents >= 1.
 * Needs: caches, transpose_panels, transpose_staging, transpose_strips. */
#pragma once

#include "caches.h"
#include "transpose_panels.h"
#include "transpose_staging.h"
#include "transpose_strips.h"

#define SL_HAS_FETCHED_LINES SL_HAS_PANELS

#if SL_HAS_FETCHED_LINES
/* Lines that are written side by side: two, since the processor fetches lines in pairs.  Where rows begin anywhere in a
 * line, four have fewer parts of lines at their ends, unless the rows are short, half of a page: then the second-level
 * cache keeps all lines of an eighth of the rows whose pages the TLB keeps. */
#define SL_LINES_FETCHED 2
#define SL_MOST_FETCHED 4
/* So many rows before a row is written, its lines are fetched. */
#define SL_ROWS_FETCHED 8
/* So many rows of the source are read ahead where few columns are read at once. */
#define SL_ROWS_AHEAD 32

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
                                                  const element *restrict from, const sl_axis *columns, int far)
{
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
