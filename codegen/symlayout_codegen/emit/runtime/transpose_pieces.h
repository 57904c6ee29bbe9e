/* Pieces of a transpose: what is smaller than a tile, thinner than a square, or a band of few rows or columns.
 *
 * Assumes: at most SL_TILE rows and columns; row[i] and column[j] as in transpose_squares.
 * Needs: copy, split_join, transpose_squares. */
#pragma once

#include "copy.h"
#include "split_join.h"
#include "transpose_squares.h"

#if SL_HAS_SHUFFLES
/* Transposes at most SL_TILE by SL_TILE elements, and at least a square, in squares, as many side by side as fit; the
 * last squares overlap the ones before.  *dense*: rows are as long as a square, and follow each other in memory. */
SL_OUT_OF_LINE void sl_transpose_part(element *restrict to, const int64_t row[SL_TILE], const element *restrict from,
                                      const int64_t column[SL_TILE], int64_t rows, int64_t columns, int dense)
{
    const int flat = columns >= SL_LANES_MAX, tall = !flat && rows >= SL_LANES_MAX;
    const int64_t high = tall ? SL_LANES_MAX : SL_LANES_16, wide = flat ? SL_LANES_MAX : SL_LANES_16;
    for (int64_t top = 0; top < rows; top += high)
        for (int64_t left = 0; left < columns; left += wide) {
            const int64_t i = sl_min(top, rows - high), j = sl_min(left, columns - wide);
            if (flat)
                sl_transpose_flat_whole(to + j, row + i, from + i, column + j);
            else if (tall && dense)
                sl_transpose_dense(to + row[i], from + i, column);
#if SL_SQUARES_PER_VECTOR > 1
            else if (tall && columns - left >= 2 * wide) {
                sl_transpose_tall_pair(to + j, row + i, from + i, column + j);
                left += wide;
            }
#endif
            else if (tall)
                sl_transpose_tall_whole(to + j, row + i, from + i, column + j);
            else
                sl_transpose_square_whole(to + j, row + i, from + i, column + j);
        }
}

/* sl_copy, not inlined: for calls that are many in the text and rare at run time. */
SL_OUT_OF_LINE void sl_copy_out_of_line(element *restrict to, const element *restrict from, int64_t count)
{
    sl_copy(to, 0, from, 0, count);
}

/* Transposes a piece that is thinner than a square, by whole squares.  They read past the piece where the source has
 * *readable* elements from *from* on, and write past a row where the output has *writable* and the next row
 * overwrites that.  Elsewhere they go through blocks on the stack. */
SL_OUT_OF_LINE void sl_transpose_thin(element *restrict to, const int64_t row[SL_TILE], const element *restrict from,
                                      const int64_t column[SL_TILE], int64_t rows, int64_t columns, int64_t readable,
                                      int64_t writable)
{
    const int64_t high = sl_min(rows, SL_LANES_16), wide = sl_min(columns, SL_LANES_16);
    int64_t first_i = 0, first_j = 0;
    if (rows < SL_LANES_16)
        for (; first_j + SL_LANES_MAX <= columns; first_j += SL_LANES_MAX) {
            if (column[first_j + SL_LANES_MAX - 1] + SL_LANES_16 > readable)
                break;
            sl_transpose_flat(to + first_j, row, from, column + first_j, rows);
        }
    else
        for (; first_i + SL_LANES_MAX <= rows; first_i += SL_LANES_MAX) {
            if (row[first_i + SL_LANES_MAX - 1] + SL_LANES_16 > writable)
                break;
            sl_transpose_tall(to, row + first_i, from + first_i, column, columns);
        }
    int64_t line[SL_LANES_16];
    for (int64_t k = 0; k < SL_LANES_16; ++k)
        line[k] = k * SL_LANES_16;
    for (int64_t top = first_i; top < rows; top += SL_LANES_16)
        for (int64_t left = first_j; left < columns; left += SL_LANES_16) {
            const int64_t i = sl_min(top, rows - high), j = sl_min(left, columns - wide);
            element block[2][SL_LANES_16 * SL_LANES_16];
            const int reads = high == SL_LANES_16 || column[j + wide - 1] + SL_LANES_16 <= readable;
            const int writes = wide == SL_LANES_16 || row[i + high - 1] + SL_LANES_16 <= writable;
            if (reads && writes) {
                sl_transpose_square(to + j, row + i, from + i, column + j, high, wide);
                continue;
            }
            memset(block[0], 0, sizeof block[0]);
            for (int64_t k = 0; k < wide; ++k)
                sl_copy_out_of_line(block[0] + k * SL_LANES_16, from + i + column[j + k], high);
            sl_transpose_square_whole(block[1], line, block[0], line);
            for (int64_t k = 0; k < high; ++k)
                sl_copy_out_of_line(to + j + row[i + k], block[1] + k * SL_LANES_16, wide);
        }
}

/* Transposes few rows or columns, but not fewer than a square has, square by square along the long side. */
SL_OUT_OF_LINE void sl_transpose_band(element *restrict to, int64_t to_stride, const element *restrict from,
                                      int64_t stride, int64_t rows, int64_t columns)
{
    for (int64_t top = 0; top < rows; top += SL_LANES_16)
        for (int64_t left = 0; left < columns; left += SL_LANES_16) {
            const int64_t i = sl_min(top, rows - SL_LANES_16), j = sl_min(left, columns - SL_LANES_16);
            int64_t row[SL_LANES_16], column[SL_LANES_16];
            for (int64_t k = 0; k < SL_LANES_16; ++k) {
                row[k] = k * to_stride;
                column[k] = k * stride;
            }
            sl_transpose_square(to + i * to_stride + j, row, from + i + j * stride, column, SL_LANES_16, SL_LANES_16);
        }
}
#else
#define SL_LANES_16 SL_TILE
#define SL_HAS_DENSE_SQUARES 0

SL_OUT_OF_LINE void sl_transpose_part(element *restrict to, const int64_t row[SL_TILE], const element *restrict from,
                                      const int64_t column[SL_TILE], int64_t rows, int64_t columns, int dense)
{
    (void)dense;
    for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j)
            to[row[i] + j] = from[i + column[j]];
}

SL_OUT_OF_LINE void sl_transpose_tile(element *restrict to, const int64_t row[SL_TILE], const element *restrict from,
                                      const int64_t column[SL_TILE])
{
    sl_transpose_part(to, row, from, column, SL_TILE, SL_TILE, 0);
}

SL_OUT_OF_LINE void sl_transpose_thin(element *restrict to, const int64_t row[SL_TILE], const element *restrict from,
                                      const int64_t column[SL_TILE], int64_t rows, int64_t columns, int64_t readable,
                                      int64_t writable)
{
    (void)readable;
    (void)writable;
    sl_transpose_part(to, row, from, column, rows, columns, 0);
}

SL_OUT_OF_LINE void sl_transpose_band(element *restrict to, int64_t to_stride, const element *restrict from,
                                      int64_t stride, int64_t rows, int64_t columns)
{
    sl_transpose_plain(to, to_stride, from, stride, rows, columns);
}
#endif
