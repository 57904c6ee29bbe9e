/* Pieces of a transpose: what is smaller than a tile, thinner than a square, or a band of few rows or columns.
 *
 * Assumes: as pieces.
 * Needs: copy, pieces, transpose_squares, transpose_strips. */
#pragma once

#include "copy.h"
#include "pieces.h"
#include "transpose_squares.h"
#include "transpose_strips.h"

#if SL_HAS_SHUFFLES
/* Transposes at most SL_TILE by SL_TILE elements, and at least a square: in strips if it fills one, else in squares,
 * as many side by side as fit; the last ones overlap the ones before. */
SL_DECLARE_PART(sl_transpose_part)
{
#if SL_ELEMENT_SIZE >= 4 || SL_VECTOR_BYTES == 16
    const int64_t strip = columns < SL_STRIP ? SL_LANES_16 : SL_STRIP;
    for (int64_t left = 0; left < columns; left += strip) {
        const int64_t j = sl_min(left, columns - strip);
        const element *at[SL_STRIP];
#if SL_SQUARES_PER_VECTOR == 4
        if (strip == SL_STRIP && rows == SL_LANES_MAX) {
            sl_transpose_tall_pair(to + j, row, from, column + j);
            continue;
        }
#endif
        sl_begin_strip(at, from, column + j, strip);
        sl_transpose_strip(to + j, row, 0, at, rows, strip);
    }
#else
    const int flat = columns >= SL_LANES_MAX, tall = !flat && rows >= SL_LANES_MAX;
    const int64_t high = tall ? SL_LANES_MAX : SL_LANES_16, wide = flat ? SL_LANES_MAX : SL_LANES_16;
    for (int64_t top = 0; top < rows; top += high)
        for (int64_t left = 0; left < columns; left += wide) {
            const int64_t i = sl_min(top, rows - high), j = sl_min(left, columns - wide);
            if (flat)
                sl_transpose_flat(to + j, row + i, from + i, column + j);
            else if (tall && columns - left >= 2 * wide) {
                sl_transpose_tall_pair(to + j, row + i, from + i, column + j);
                left += wide;
            } else if (tall)
                sl_transpose_tall(to + j, row + i, from + i, column + j);
            else
                sl_transpose_square(to + j, row + i, from + i, column + j, SL_LANES_16);
        }
#endif
}

/* sl_copy, not inlined: for calls that are many in the text and rare at run time. */
SL_OUT_OF_LINE void sl_copy_out_of_line(element *restrict to, const element *restrict from, int64_t count)
{
    sl_copy(to, 0, from, 0, count);
}

/* Transposes a piece that is thinner than a square, by squares on the stack: long ones have a way of their own. */
SL_DECLARE_THIN(sl_transpose_thin)
{
    const int64_t high = sl_min(rows, SL_LANES_16), wide = sl_min(columns, SL_LANES_16);
    int64_t line[SL_LANES_16];
    for (int64_t k = 0; k < SL_LANES_16; ++k)
        line[k] = k * SL_LANES_16;
    for (int64_t top = 0; top < rows; top += SL_LANES_16)
        for (int64_t left = 0; left < columns; left += SL_LANES_16) {
            const int64_t i = sl_min(top, rows - high), j = sl_min(left, columns - wide);
            element block[2][SL_LANES_16 * SL_LANES_16] = {{0}};
            for (int64_t k = 0; k < wide; ++k)
                sl_copy_out_of_line(block[0] + k * SL_LANES_16, from + i + column[j + k], high);
            sl_transpose_square(block[1], line, block[0], line, high);
            for (int64_t k = 0; k < high; ++k)
                sl_copy_out_of_line(to + j + row[i + k], block[1] + k * SL_LANES_16, wide);
        }
}

#if SL_HAS_BANDS
/* Transposes a band in strips of *strip* columns, a literal. */
SL_ALWAYS_INLINE void sl_transpose_strips(element *restrict to, int64_t to_stride, const element *restrict from,
                                          int64_t stride, int64_t rows, int64_t columns, const int64_t strip)
{
    const int64_t high = sl_alike(rows, SL_ROWS_OF_BAND, SL_LANES_16);
    for (int64_t top = 0; top < rows; top += high)
        for (int64_t left = 0; left < columns; left += strip) {
            const int64_t i = sl_min(top, rows - SL_LANES_16), down = sl_min(high, rows - i);
            const int64_t j = sl_min(left, columns - strip);
            const element *at[SL_STRIP], *begin = from + i + j * stride;
            SL_UNROLL
            for (int64_t k = 0; k < SL_STRIP; ++k) {
                at[k] = begin;
                begin += k + 1 < strip ? stride : 0;
            }
            sl_transpose_strip(to + i * to_stride + j, 0, to_stride, at, down, strip);
        }
}
#endif

/* Transposes few rows or columns, but not fewer than a square has, in strips along the long side. */
SL_DECLARE_BAND(sl_transpose_band)
{
#if SL_HAS_BANDS
    if (columns < SL_STRIP)
        sl_transpose_strips(to, to_stride, from, stride, rows, columns, SL_LANES_16);
    else
        sl_transpose_strips(to, to_stride, from, stride, rows, columns, SL_STRIP);
#else
    (void)to, (void)to_stride, (void)from, (void)stride, (void)rows, (void)columns;
#endif
}
#else
SL_DECLARE_PART(sl_transpose_part)
{
    for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j)
            to[row[i] + j] = from[i + column[j]];
}

SL_DECLARE_THIN(sl_transpose_thin)
{
    sl_transpose_part(to, row, from, column, rows, columns);
}

SL_DECLARE_BAND(sl_transpose_band)
{
    for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j)
            to[i * to_stride + j] = from[i + j * stride];
}
#endif
