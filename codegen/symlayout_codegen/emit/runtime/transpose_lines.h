/* Transposes of small elements that read cache lines whole: as many rows as a line has elements, some columns.
 *
 * Assumes: row[i] and column[j] are offsets in elements: to[row[i] + j] = from[i + column[j]].
 * Needs: integers, transpose_squares, zips. */
#pragma once

#include "integers.h"
#include "transpose_squares.h"
#include "zips.h"

/* Where a vector is a line, each is read whole as it is. */
#if SL_HAS_SHUFFLES && SL_ELEMENT_SIZE <= 2 && SL_SQUARES_PER_VECTOR < 4
#define SL_HAS_LINES 1
#else
#define SL_HAS_LINES 0
#endif
#if SL_HAS_LINES

/* Loads and transposes what the first zip left of half of the rows of squares. */
SL_ALWAYS_INLINE void sl_finish_half(sl_lanes line[SL_HALF_SQUARE], const sl_lanes zipped[SL_HALF_SQUARE])
{
    SL_REPEAT(SL_HALF_SQUARE, k, line[k] = zipped[k]);
    SL_ZIP_UNTIL(SL_HALF_SQUARE, sl_zip_half(line));
}

/* Transposes SL_TILE rows of *columns* >= SL_LANES_16 columns, at most SL_TILE, through a block on the stack: all of a
 * line is zipped with all of another, and each row is finished by itself.  So a line that is read does not have to stay
 * in the cache, where others of its set follow it; nor do those that are written. */
SL_OUT_OF_LINE void sl_transpose_lines(element *restrict to, const int64_t row[SL_TILE], const element *restrict from,
                                       const int64_t *column, int64_t columns)
{
    const int64_t groups = (columns + SL_LANES_16 - 1) / SL_LANES_16, last = columns - SL_LANES_16;
    sl_lanes block[4][SL_VECTORS_PER_LINE][2][SL_HALF_SQUARE];
    for (int64_t g = 0; g < groups; ++g)
        for (int64_t k = 0; k < SL_HALF_SQUARE; ++k) {
            const int64_t j = sl_min(g * SL_LANES_16, last) + k; /* the last group may overlap the one before */
            const element *const first = from + column[j], *const second = from + column[j + SL_HALF_SQUARE];
            SL_REPEAT(SL_VECTORS_PER_LINE, v, {
                const sl_lanes a = (sl_lanes)sl_load_max(first + v * SL_LANES_MAX);
                const sl_lanes b = (sl_lanes)sl_load_max(second + v * SL_LANES_MAX);
                block[g][v][0][k] = sl_zip_low_max(a, b);
                block[g][v][1][k] = sl_zip_high_max(a, b);
            });
        }
    for (int64_t v = 0; v < SL_VECTORS_PER_LINE; ++v)
        for (int64_t half = 0; half < 2; ++half) {
            const int64_t *const at = row + v * SL_LANES_MAX + half * SL_HALF_SQUARE;
            int64_t g = 0;
#if SL_SQUARES_PER_VECTOR == 2
            for (; (g + 2) * SL_LANES_16 <= columns; g += 2) {
                sl_lanes left[SL_HALF_SQUARE], right[SL_HALF_SQUARE];
                sl_finish_half(left, block[g][v][half]);
                sl_finish_half(right, block[g + 1][v][half]);
                SL_REPEAT(SL_HALF_SQUARE, k, {
                    const sl_words a = (sl_words)left[k], b = (sl_words)right[k];
                    sl_store_max(to + at[k] + g * SL_LANES_16, (sl_bytes_max)__builtin_shufflevector(a, b, 0, 1, 4, 5));
                    sl_store_max(to + at[k + SL_LANES_16] + g * SL_LANES_16,
                                 (sl_bytes_max)__builtin_shufflevector(a, b, 2, 3, 6, 7));
                });
            }
#endif
            for (; g < groups; ++g) {
                element *const into = to + sl_min(g * SL_LANES_16, last);
                sl_lanes line[SL_HALF_SQUARE];
                sl_finish_half(line, block[g][v][half]);
#if SL_SQUARES_PER_VECTOR == 2
                SL_REPEAT(SL_HALF_SQUARE, k, {
                    const sl_words a = (sl_words)line[k];
                    sl_store_16(into + at[k], (sl_bytes_16)__builtin_shufflevector(a, a, 0, 1));
                    sl_store_16(into + at[k + SL_LANES_16], (sl_bytes_16)__builtin_shufflevector(a, a, 2, 3));
                });
#else
                SL_REPEAT(SL_HALF_SQUARE, k, sl_store_16(into + at[k], (sl_bytes_16)line[k]));
#endif
            }
        }
}
#endif
