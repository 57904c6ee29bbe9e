/* A transpose of one tile, a cache line a side, or of a column of squares.
 *
 * Assumes: row[i] and column[j] are offsets in elements: to[row[i] + j] = from[i + column[j]].
 * Needs: integers, transpose_lines, transpose_squares, transpose_strips, zips. */
#pragma once

#include "integers.h"
#include "transpose_lines.h"
#include "transpose_squares.h"
#include "transpose_strips.h"
#include "zips.h"

/* Whether tiles of even rows and columns have a function of their own: the steps need no tables. */
#define SL_HAS_EVEN_TILES (SL_HAS_STRIPS && SL_ELEMENT_SIZE >= 4)
/* Whether these can also be transposed in the order that suits the sets of the cache: a tile of whole vectors is read
 * and written a line at a time as it is. */
#if SL_HAS_EVEN_TILES && SL_SQUARES_PER_VECTOR < 4
#define SL_HAS_ORDERED_TILES 1
#else
#define SL_HAS_ORDERED_TILES 0
#endif

#if SL_HAS_EVEN_TILES
/* Where the columns of a strip of an even tile begin. */
SL_ALWAYS_INLINE void sl_begin_even_strip(const element **at, const element *from, int64_t column_step)
{
    SL_REPEAT(SL_STRIP, k, {
        at[k] = from;
        from += k + 1 < SL_STRIP ? column_step : 0;
    });
}
/* Transposes *rows* >= SL_LANES_16 even rows of a multiple of SL_STRIP columns, a few rows whole before the next: each
 * line of the output is written at once.  The inner loop keeps nothing on the stack: such stores would wait among those
 * to the rows. */
SL_OUT_OF_LINE void sl_transpose_even_rows(element *restrict to, int64_t row_step, const element *restrict from,
                                           int64_t column_step, int64_t rows, int64_t columns)
{
    for (int64_t top = 0; top < rows; top += SL_LANES_16) {
        const int64_t i = sl_min(top, rows - SL_LANES_16);
        element *into = to + i * row_step;
        const element *at[SL_STRIP] = {from + i};
        for (const element *const end = into + columns; into < end; into += SL_STRIP) {
            sl_begin_even_strip(at, at[0], column_step);
            sl_transpose_rows(into, 0, row_step, at, 0);
            at[0] = at[SL_STRIP - 1] + column_step;
        }
    }
}
#endif

#if !SL_HAS_SHUFFLES
SL_OUT_OF_LINE void sl_transpose_tile(element *restrict to, const int64_t row[SL_TILE], const element *restrict from,
                                      const int64_t column[SL_TILE])
{
    for (int64_t i = 0; i < SL_TILE; ++i)
        for (int64_t j = 0; j < SL_TILE; ++j)
            to[row[i] + j] = from[i + column[j]];
}
#elif SL_HAS_LINES
/* Transposes a tile of small elements. */
SL_OUT_OF_LINE void sl_transpose_tile(element *restrict to, const int64_t row[SL_TILE], const element *restrict from,
                                      const int64_t column[SL_TILE])
{
    sl_transpose_lines(to, row, from, column, SL_TILE);
}
#elif SL_ELEMENT_SIZE >= 4
#if SL_SQUARES_PER_VECTOR < 4
/* Transposes a tile in strips. */
SL_OUT_OF_LINE void sl_transpose_tile(element *restrict to, const int64_t row[SL_TILE], const element *restrict from,
                                      const int64_t column[SL_TILE])
{
    for (int64_t j = 0; j < SL_TILE; j += SL_STRIP) {
        const element *at[SL_STRIP];
        sl_begin_strip(at, from, column + j, SL_STRIP);
        sl_transpose_strip(to + j, row, 0, at, SL_TILE, SL_STRIP);
    }
}
/* The same where rows and columns have one step each. */
SL_OUT_OF_LINE void sl_transpose_even_tile(element *restrict to, int64_t row_step, const element *restrict from,
                                           int64_t column_step)
{
    SL_UNROLL
    for (int64_t j = 0; j < SL_TILE; j += SL_STRIP) {
        const element *at[SL_STRIP];
        sl_begin_even_strip(at, from + j * column_step, column_step);
        SL_UNROLL
        for (int64_t i = 0; i < SL_TILE; i += SL_LANES_16)
            sl_transpose_rows(to + j + i * row_step, 0, row_step, at, i);
    }
}
/* Transposes an even tile, a few columns whole before the next: for lines of one set that are read.  Nothing is
 * unrolled, so that the loads keep this order. */
SL_OUT_OF_LINE void sl_transpose_columns_first(element *restrict to, int64_t row_step, const element *restrict from,
                                               int64_t column_step)
{
    for (int64_t j = 0; j < SL_TILE; j += SL_STRIP)
        for (int64_t i = 0; i < SL_TILE; i += SL_LANES_16) {
            const element *at[SL_STRIP];
            sl_begin_even_strip(at, from + i + j * column_step, column_step);
            sl_transpose_rows(to + i * row_step + j, 0, row_step, at, 0);
            SL_KEEP_LOOP();
        }
}
#else
/* Transposes a tile, SL_SQUARES_PER_VECTOR by SL_SQUARES_PER_VECTOR squares at a time: these stay in registers, and
 * rows are written by whole vectors.  Without a table, the offset of k is k*step. */
SL_ALWAYS_INLINE void sl_transpose_large(element *restrict to, const int64_t *row, int64_t row_step,
                                         const element *restrict from, const int64_t *column, int64_t column_step)
{
    for (int64_t part = 0; part < 4; part += SL_SQUARES_PER_VECTOR)
        for (int64_t first = 0; first < 4; first += SL_SQUARES_PER_VECTOR) {
            sl_lanes line[SL_SQUARES_PER_VECTOR][SL_LANES_16];
            SL_REPEAT(SL_SQUARES_PER_VECTOR, square, {
                SL_REPEAT(SL_LANES_16, k, {
                    const int64_t j = (first + square) * SL_LANES_16 + k;
                    line[square][k] =
                        (sl_lanes)sl_load_max(from + part * SL_LANES_16 + (column ? column[j] : j * column_step));
                });
                sl_transpose_squares(line[square]);
            });
            SL_REPEAT(SL_LANES_16, k, {
                sl_words words[SL_SQUARES_PER_VECTOR];
                SL_REPEAT(SL_SQUARES_PER_VECTOR, square, words[square] = (sl_words)line[square][k]);
                sl_transpose_groups(words);
                SL_REPEAT(SL_SQUARES_PER_VECTOR, group, {
                    const int64_t i = (part + group) * SL_LANES_16 + k;
                    sl_store_max(to + (row ? row[i] : i * row_step) + first * SL_LANES_16, (sl_bytes_max)words[group]);
                });
            });
        }
}
SL_OUT_OF_LINE void sl_transpose_tile(element *restrict to, const int64_t row[SL_TILE], const element *restrict from,
                                      const int64_t column[SL_TILE])
{
    sl_transpose_large(to, row, 0, from, column, 0);
}
/* The same where rows and columns have one step each. */
SL_OUT_OF_LINE void sl_transpose_even_tile(element *restrict to, int64_t row_step, const element *restrict from,
                                           int64_t column_step)
{
    sl_transpose_large(to, 0, row_step, from, 0, column_step);
}
#endif
#else
/* Transposes a tile of small elements through a block on the stack: there are more vectors than registers.  Each cache
 * line of the source is read whole, once, and each line of the output is written whole: with strides of a power of
 * two, no line is evicted half used. */
SL_OUT_OF_LINE void sl_transpose_tile(element *restrict to, const int64_t row[SL_TILE], const element *restrict from,
                                      const int64_t column[SL_TILE])
{
    sl_words block[4 / SL_SQUARES_PER_VECTOR][SL_LANES_16][4];
    for (int64_t part = 0; part < 4 / SL_SQUARES_PER_VECTOR; ++part)
        for (int64_t square = 0; square < 4; ++square) {
            sl_lanes line[SL_LANES_16];
            SL_REPEAT(SL_LANES_16, k, {
                line[k] = (sl_lanes)sl_load_max(from + part * SL_LANES_MAX + column[square * SL_LANES_16 + k]);
            });
            sl_transpose_squares(line);
            SL_REPEAT(SL_LANES_16, k, block[part][k][square] = (sl_words)line[k]);
        }
    for (int64_t part = 0; part < 4 / SL_SQUARES_PER_VECTOR; ++part)
        for (int64_t k = 0; k < SL_LANES_16; ++k) {
            sl_words line[4];
            SL_REPEAT(4, square, line[square] = block[part][k][square]);
            SL_REPEAT(SL_VECTORS_PER_LINE, v, sl_transpose_groups(line + v * SL_SQUARES_PER_VECTOR));
            SL_REPEAT(SL_SQUARES_PER_VECTOR, group, {
                element *const into = to + row[(part * SL_SQUARES_PER_VECTOR + group) * SL_LANES_16 + k];
                SL_REPEAT(SL_VECTORS_PER_LINE, v,
                          sl_store_max(into + v * SL_LANES_MAX, (sl_bytes_max)line[v * SL_SQUARES_PER_VECTOR + group]));
            });
        }
}
#endif

/* Transposes *rows* >= SL_LANES_MAX rows, each as long as a square, which follow each other in memory: writes whole
 * vectors.  The last ones overlap the ones before. */
SL_OUT_OF_LINE void sl_transpose_dense(element *restrict to, const int64_t row[SL_TILE], const element *restrict from,
                                       const int64_t column[SL_LANES_16], int64_t rows)
{
#if SL_HAS_DENSE_SQUARES
    for (int64_t top = 0; top < rows; top += SL_LANES_MAX) {
        const int64_t i = sl_min(top, rows - SL_LANES_MAX);
        sl_lanes line[SL_LANES_16];
        SL_REPEAT(SL_LANES_16, k, line[k] = (sl_lanes)sl_load_max(from + i + column[k]));
        sl_transpose_squares(line);
        SL_REPEAT(SL_LANES_16, k, if (k % SL_SQUARES_PER_VECTOR == 0) {
            sl_words rows_of[SL_SQUARES_PER_VECTOR];
            SL_REPEAT(SL_SQUARES_PER_VECTOR, g, rows_of[g] = (sl_words)line[k + g]);
            sl_transpose_groups(rows_of);
            SL_REPEAT(SL_SQUARES_PER_VECTOR, g,
                      sl_store_max(to + row[i] + (g * SL_LANES_16 + k) * SL_LANES_16, (sl_bytes_max)rows_of[g]));
        });
    }
#else
    (void)to, (void)row, (void)from, (void)column, (void)rows;
#endif
}
