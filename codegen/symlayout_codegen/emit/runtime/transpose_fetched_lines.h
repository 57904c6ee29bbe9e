/* Transposes that write whole lines of the output, which are fetched before: where a store waits for its line.
 *
 * Assumes: axes with as few levels as sl_simplify_axis leaves, all extents >= 1.
 * Needs: pieces, transpose_choice, transpose_even_strips, transpose_panels, transpose_pieces, transpose_staging,
 * transpose_strips, transpose_tile. */
#pragma once

#include "pieces.h"
#include "transpose_choice.h"
#include "transpose_even_strips.h"
#include "transpose_panels.h"
#include "transpose_pieces.h"
#include "transpose_staging.h"
#include "transpose_strips.h"
#include "transpose_tile.h"

#if SL_HAS_LARGE_WAYS
/* Lines that are written side by side: two, since the processor fetches lines in pairs.  Where rows are short, less
 * than half of a page, and begin anywhere in a line, four have fewer parts of lines at their ends; of rows that follow
 * each other, all are written, up to six.  That is unless the lines that are read crowd a set then. */
#define SL_LINES_FETCHED 2
#define SL_MOST_FETCHED 4
#define SL_MOST_JOINED 6
/* So many rows before a row is written, its lines are fetched. */
#define SL_ROWS_FETCHED 8

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
SL_OUT_OF_LINE void sl_transpose_once_in_fetched_lines(element *restrict to, const sl_axis *rows,
                                                       const element *restrict from, const sl_axis *columns, int near)
{
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

/* Transposes *turns* times. */
SL_OUT_OF_LINE void sl_transpose_in_fetched_lines(element *restrict to, const sl_axis *rows,
                                                  const element *restrict from, const sl_axis *columns,
                                                  const sl_turns *turns, int near)
{
    for (int64_t h = 0; h < turns->high; ++h)
        for (int64_t c = 0; c < turns->count; ++c)
            sl_transpose_once_in_fetched_lines(to + c * turns->to_step + h * turns->to_leap, rows,
                                               from + c * turns->step + h * turns->leap, columns, near);
}
#else
/* Whether *bytes* take less time in fetched lines than in tiles: they are twice what is near, or the lines that are
 * read do not crowd a set.  Where the lines that are written crowd a set, tiles may keep them, or write each at once,
 * since a vector is one; then they are better unless they crowd sets with what they read, and fetched lines, which read
 * fewer columns, do not.  Where rows begin anywhere in a line, lines that crowd sets on both sides are better staged.
 */
SL_INLINE int sl_pays_in_fetched_lines(const sl_axis *rows, const sl_axis *columns, int64_t bytes)
{
    const int64_t ways = SL_WAYS;
    if (rows->count < SL_ROWS_FETCHED || sl_extent(columns) < SL_TILE)
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

/* So many rows before a row is read, its lines of the source are. */
#define SL_ROWS_AHEAD 32
/* The offsets of so many levels of the rows are kept. */
#define SL_LEVELS_FETCHED 64

/* A part of a transpose: *rows* rows of one step by *columns* columns, which begin at *column*. */
typedef struct {
    element *to;
    const element *from;
    const int64_t *column;
    int64_t rows, columns;
} sl_fetched_part;

/* Parts, one after the other: one is *held* until the next is known, since its end fetches lines of that.  The tables
 * of columns are of the *wide* columns from *left* on; a *column_step* of 0 says that columns have levels. */
typedef struct {
    sl_fetched_part part[2];
    int held;
    int64_t row_step, column_step, ahead;
    int64_t left[2], wide[2], column[2][(SL_MOST_JOINED + 1) * SL_TILE];
} sl_fetched_parts;

/* Fetches the lines of *rows* rows of *columns* columns; those that follow each other as one. */
SL_ALWAYS_INLINE void sl_fetch_rows(const element *row, int64_t row_step, int64_t rows, int64_t columns)
{
    const int64_t joined = columns == row_step, length = joined ? rows * columns : columns;
    for (int64_t k = joined ? 1 : rows; k > 0; --k, row += row_step)
        for (const char *line = (const char *)row - (uintptr_t)row % 64, *const end = (const char *)(row + length);
             line < end; line += 64)
            __builtin_prefetch(line, 1, 3);
}

/* Transposes SL_LANES_16 rows of a part: all columns. */
SL_ALWAYS_INLINE void sl_transpose_rows_of_part(element *restrict to, int64_t row_step, const element *restrict from,
                                                const int64_t *column, int64_t column_step, int64_t columns)
{
    const element *at[SL_STRIP];
    const int64_t last = columns - SL_STRIP;
    int64_t j = 0;
    if (column_step != 0)
        for (const element *next = from + column[0]; j <= last; j += SL_STRIP) {
            sl_begin_even_strip(at, next, column_step);
            sl_transpose_rows(to + j, 0, row_step, at, 0);
            next = at[SL_STRIP - 1] + column_step;
        }
    else
        for (; j <= last; j += SL_STRIP) {
            sl_begin_strip(at, from, column + j, SL_STRIP);
            sl_transpose_rows(to + j, 0, row_step, at, 0);
        }
    if (j < columns) { /* the last strip overlaps the one before */
        sl_begin_strip(at, from, column + last, SL_STRIP);
        sl_transpose_rows(to + last, 0, row_step, at, 0);
    }
}

/* Transposes a part, a few rows of all columns before the next.  Before, lines of rows to come are fetched; and of the
 * source, lines that are *ahead*, those of a quarter of the columns each time.  Where the part ends, they are those of
 * the *next*. */
SL_OUT_OF_LINE void sl_transpose_part_fetched(const sl_fetched_part *now, const sl_fetched_part *next, int64_t row_step,
                                              int64_t column_step, int64_t ahead)
{
    const int64_t rows = now->rows, whole = (rows + SL_TILE - 1) / SL_TILE * SL_TILE, before = sl_min(ahead, whole);
    const element *fetch = now->to + SL_ROWS_FETCHED * row_step;
    int64_t left = rows - SL_ROWS_FETCHED, wide = now->columns;
    for (int64_t top = 0; top < rows; top += SL_TILE) {
        const int over = top + before >= rows;
        const sl_fetched_part *const read = over ? next : now;
        const int64_t row = top + before - (over ? whole : 0), quarter = (read->columns + 3) / 4;
        const element *const source = read->from + row;
        const int64_t *column = read->column;
        const int64_t *const end = column + (ahead > 0 && row < read->rows ? read->columns : 0);
        for (int64_t i = top; i < sl_min(rows, top + SL_TILE); i += SL_LANES_16) {
            if (left <= 0) {
                fetch = next->to;
                left = next->rows;
                wide = next->columns;
            }
            sl_fetch_rows(fetch, row_step, sl_min(left, SL_LANES_16), wide);
            fetch += SL_LANES_16 * row_step;
            left -= SL_LANES_16;
            for (const int64_t *const stop = column + quarter; column < stop && column < end; ++column)
                __builtin_prefetch(source + *column, 0, 3);
            const int64_t k = sl_min(i, rows - SL_LANES_16); /* the last rows may be written twice */
            sl_transpose_rows_of_part(now->to + k * row_step, row_step, now->from + k, now->column, column_step,
                                      now->columns);
        }
    }
}

/* Transposes the part that is held, and holds the next: *rows* rows of *wide* of the *columns*, from number *left* on.
 * A struct that is passed as a value is copied by vectors, which wait for the stores of its numbers. */
SL_OUT_OF_LINE void sl_hold_part(sl_fetched_parts *parts, element *to, const element *from, int64_t rows, int64_t wide,
                                 const sl_axis *columns, int64_t left)
{
    sl_fetched_part *const now = &parts->part[parts->held], *const next = &parts->part[1 - parts->held];
    int table = now->column == parts->column[1];
    if (parts->left[table] != left || parts->wide[table] != wide)
        table = 1 - table;
    if (parts->left[table] != left || parts->wide[table] != wide) {
        sl_offsets(parts->column[table], columns, left, wide);
        parts->left[table] = left;
        parts->wide[table] = wide;
    }
    next->to = to;
    next->from = from;
    next->column = parts->column[table];
    next->rows = rows;
    next->columns = wide;
    if (now->rows > 0)
        sl_transpose_part_fetched(now, next, parts->row_step, parts->column_step, parts->ahead);
    parts->held = 1 - parts->held;
}

/* Transposes *turns* times: so many lines side by side down the rows, as many as the TLB keeps beside the columns, or
 * as have lines that the second-level cache keeps.  A level of these rows is a part; so the source is read in long
 * runs.  What the processor would evict before it is read is not read ahead. */
SL_OUT_OF_LINE void sl_transpose_in_fetched_lines(element *restrict to, const sl_axis *rows,
                                                  const element *restrict from, const sl_axis *columns,
                                                  const sl_turns *turns, int near)
{
    (void)near;
    const int64_t width = sl_extent(columns), height = sl_extent(rows), lead = sl_elements_to_line(to, rows, width);
    const int is_short = rows->step * SL_ELEMENT_SIZE < 2048;
    const int64_t some = is_short && !sl_begins_lines(rows) ? SL_MOST_FETCHED : SL_LINES_FETCHED;
    const int64_t more = rows->step == width && width <= SL_MOST_JOINED * SL_TILE ? SL_MOST_JOINED : some;
    const int64_t most = sl_lines_in_a_set(columns, more * SL_TILE) < SL_WAYS ? more : SL_LINES_FETCHED;
    const int64_t wide = sl_alike(width - lead, most * SL_TILE, SL_TILE);
    const int64_t high = is_short ? SL_ROWS_OF_PAGES / 8 : SL_ROWS_OF_PAGES / 2;
    /* Rows of one level are cut into such. */
    const int even = rows->high == 1;
    const int64_t level = even ? sl_alike(height, high, SL_TILE) : rows->count, levels = (height + level - 1) / level;
    const int64_t many = even ? 1 : sl_max(1, sl_min(SL_LEVELS_FETCHED, high / level));
    const sl_axis above = even ? sl_axis_1(levels, level * rows->step)
                               : sl_axis_2(rows->high, rows->leap, rows->top, rows->jump);
    const int crowded = sl_lines_in_a_set(columns, SL_LINES_FETCHED * SL_TILE) >= SL_WAYS;
    sl_fetched_parts parts = {.row_step = rows->step, .ahead = crowded ? 0 : SL_ROWS_AHEAD, .left = {-1, -1}};
    parts.column_step = columns->high == 1 ? columns->step : 0;
    for (int64_t turn = 0; turn < turns->count * turns->high; ++turn) {
        const int64_t c = turn % turns->count, h = turn / turns->count;
        element *const into = to + c * turns->to_step + h * turns->to_leap;
        const element *const out_of = from + c * turns->step + h * turns->leap;
        for (int64_t first = 0; first < levels; first += many) {
            int64_t at[SL_LEVELS_FETCHED];
            const int64_t count = sl_min(many, levels - first);
            sl_offsets(at, &above, first, count);
            for (int64_t left = 0, end; left < width; left = end) {
                end = sl_min(width, left + wide + (left == 0 ? lead : 0));
                const int64_t j = sl_min(left, width - SL_STRIP);
                for (int64_t k = 0; k < count; ++k) {
                    const int64_t i = (first + k) * level, down = sl_min(level, height - i);
                    const int64_t again = sl_max(0, SL_LANES_16 - down); /* rows of the part before */
                    sl_hold_part(&parts, into + at[k] - again * rows->step + j, out_of + i - again, down + again,
                                 end - j, columns, j);
                }
            }
        }
    }
    const element *const last = parts.part[parts.held].from;
    sl_hold_part(&parts, to, last, 0, SL_STRIP, columns, 0);
}
#endif
#endif
