/* Transposes of elements of half a byte (nibbles).
 *
 * Assumes: as nibble_copies.
 * Needs: nibble_copies, transpose. */
#pragma once

#include "nibble_copies.h"
#include "transpose.h"

/* ---- transposes ---- */

/* Whether the first byte of a word holds its lowest bits. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define SL_NIBBLE_WORDS 1
#else
#define SL_NIBBLE_WORDS 0
#endif

/* Defines the transpose of *rows* by *columns* nibbles in one word, for *count* words that follow each other. */
#define SL_DEFINE_NIBBLE_TRANSPOSE(name, word, rows, columns)                                                        \
    SL_OUT_OF_LINE void name(element *restrict to, const element *restrict from, int64_t count)                      \
    {                                                                                                                \
        for (int64_t c = 0; c < count; ++c) {                                                                        \
            word given, made = 0;                                                                                    \
            memcpy(&given, from + c * (int64_t)sizeof(word), sizeof(word));                                          \
            for (unsigned i = 0; i < rows; ++i)                                                                      \
                for (unsigned j = 0; j < columns; ++j)                                                               \
                    made |= (word)((given >> 4 * (i + j * rows) & 15) << 4 * (i * columns + j));                     \
            memcpy(to + c * (int64_t)sizeof(word), &made, sizeof(word));                                             \
        }                                                                                                            \
    }
SL_DEFINE_NIBBLE_TRANSPOSE(sl_nibble_transpose_2_4, uint32_t, 2, 4)
SL_DEFINE_NIBBLE_TRANSPOSE(sl_nibble_transpose_4_2, uint32_t, 4, 2)
SL_DEFINE_NIBBLE_TRANSPOSE(sl_nibble_transpose_2_8, uint64_t, 2, 8)
SL_DEFINE_NIBBLE_TRANSPOSE(sl_nibble_transpose_8_2, uint64_t, 8, 2)
SL_DEFINE_NIBBLE_TRANSPOSE(sl_nibble_transpose_4_4, uint64_t, 4, 4)

/* Packs every second nibble of eight bytes into four bytes; and spreads four bytes, with zeros between. */
SL_ALWAYS_INLINE uint32_t sl_nibble_squeeze(uint64_t word)
{
    word &= UINT64_C(0x0f0f0f0f0f0f0f0f);
    word = (word | word >> 4) & UINT64_C(0x00ff00ff00ff00ff);
    word = (word | word >> 8) & UINT64_C(0x0000ffff0000ffff);
    return (uint32_t)(word | word >> 16);
}

SL_ALWAYS_INLINE uint64_t sl_nibble_spread(uint32_t half)
{
    uint64_t word = half;
    word = (word | word << 16) & UINT64_C(0x0000ffff0000ffff);
    word = (word | word << 8) & UINT64_C(0x00ff00ff00ff00ff);
    return (word | word << 4) & UINT64_C(0x0f0f0f0f0f0f0f0f);
}

/* Splits 2*bytes bytes: their low nibbles to *low*, their high ones to *high*, *bytes* bytes each. */
SL_OUT_OF_LINE void sl_nibble_split(element *restrict low, element *restrict high, const element *restrict from,
                                    int64_t bytes)
{
    int64_t i = 0;
    for (; SL_NIBBLE_WORDS && i + 4 <= bytes; i += 4) {
        uint64_t word;
        memcpy(&word, from + 2 * i, 8);
        const uint32_t even = sl_nibble_squeeze(word), odd = sl_nibble_squeeze(word >> 4);
        memcpy(low + i, &even, 4);
        memcpy(high + i, &odd, 4);
    }
    for (; i < bytes; ++i) {
        low[i] = (element)((from[2 * i] & 15) | from[2 * i + 1] << 4);
        high[i] = (element)(from[2 * i] >> 4 | (from[2 * i + 1] & 240));
    }
}

/* Joins: two rows of *bytes* bytes become the low and the high nibbles of 2*bytes bytes. */
SL_OUT_OF_LINE void sl_nibble_join(element *restrict to, const element *restrict low, const element *restrict high,
                                   int64_t bytes)
{
    int64_t i = 0;
    for (; SL_NIBBLE_WORDS && i + 4 <= bytes; i += 4) {
        uint32_t even, odd;
        memcpy(&even, low + i, 4);
        memcpy(&odd, high + i, 4);
        const uint64_t word = sl_nibble_spread(even) | sl_nibble_spread(odd) << 4;
        memcpy(to + 2 * i, &word, 8);
    }
    for (; i < bytes; ++i) {
        to[2 * i] = (element)((low[i] & 15) | high[i] << 4);
        to[2 * i + 1] = (element)(low[i] >> 4 | (high[i] & 240));
    }
}

/* Bytes on each side of a tile. */
#define SL_NIBBLE_TILE 64

/* to[at + i*to_step + j] = from[start + i + j*step] for 0 <= i < 2*high, 0 <= j < 2*wide, high and wide at most
 * SL_NIBBLE_TILE.  Requires even at, to_step, start and step: a square of two by two nibbles is two bytes. */
SL_OUT_OF_LINE void sl_nibble_tile(element *restrict to, int64_t at, int64_t to_step, const element *restrict from,
                                   int64_t start, int64_t step, int64_t high, int64_t wide)
{
    element even[SL_NIBBLE_TILE * SL_NIBBLE_TILE], odd[SL_NIBBLE_TILE * SL_NIBBLE_TILE];
    for (int64_t j = 0; j < wide; ++j) {
        const element *const left = from + (start + 2 * j * step) / 2, *const right = left + step / 2;
        for (int64_t i = 0; i < high; ++i) {
            even[j * high + i] = (element)((left[i] & 15) | right[i] << 4);
            odd[j * high + i] = (element)(left[i] >> 4 | (right[i] & 240));
        }
    }
    const sl_axis rows = sl_axis_1(high, to_step), columns = sl_axis_1(wide, high);
    sl_transpose(to, at / 2, rows, even, 0, columns, sl_turns_0(), 0);
    sl_transpose(to, (at + to_step) / 2, rows, odd, 0, columns, sl_turns_0(), 0);
}

/* to[at + i*to_step + j] = from[start + i + j*step] for 0 <= i < rows, 0 <= j < columns: in tiles, in pairs of
 * nibbles of a row, or one by one, as the strides allow. */
SL_OUT_OF_LINE void sl_nibble_transpose_flat(element *restrict to, int64_t at, int64_t to_step,
                                             const element *restrict from, int64_t start, int64_t step, int64_t rows,
                                             int64_t columns)
{
    const int paired = !((at | to_step) & 1), squares = paired && !(step & 1);
    const int64_t wide = paired ? columns / 2 : 0, first = squares ? start & 1 : rows;
    const int64_t high = squares && rows > first ? (rows - first) / 2 : 0;
    for (int64_t top = 0; top < high; top += SL_NIBBLE_TILE)
        for (int64_t left = 0; left < wide; left += SL_NIBBLE_TILE)
            sl_nibble_tile(to, at + (first + 2 * top) * to_step + 2 * left, to_step, from,
                           start + first + 2 * top + 2 * left * step, step, sl_min(SL_NIBBLE_TILE, high - top),
                           sl_min(SL_NIBBLE_TILE, wide - left));
    for (int64_t i = 0; i < rows; ++i) {
        int64_t j = i >= first && i < first + 2 * high ? 2 * wide : 0;
        if (paired)
            for (; j + 1 < columns; j += 2)
                to[(at + i * to_step + j) / 2] = sl_nibble_pair(sl_nibble_load(from, start + i + j * step),
                                                                sl_nibble_load(from, start + i + (j + 1) * step));
        for (; j < columns; ++j)
            sl_nibble_move(to, at + i * to_step + j, from, start + i + j * step);
    }
}

/* The same *count* times, *to_next* and *next* further each time.  Single words, and two streams, are done faster. */
SL_OUT_OF_LINE void sl_nibble_transposes(element *restrict to, int64_t at, int64_t to_step,
                                         const element *restrict from, int64_t start, int64_t step, int64_t rows,
                                         int64_t columns, int64_t count, int64_t to_next, int64_t next)
{
    const int64_t block = rows * columns;
    const int even = !((at | start | to_next | next) & 1);
    const int whole = to_step == columns && step == rows && (count == 1 || (to_next == block && next == block));
    if (SL_NIBBLE_WORDS && whole && even && (block == 8 || block == 16) && rows > 1 && columns > 1) {
        (block == 8  ? (rows == 2 ? sl_nibble_transpose_2_4 : sl_nibble_transpose_4_2)
         : rows == 2 ? sl_nibble_transpose_2_8
         : rows == 4 ? sl_nibble_transpose_4_4
                     : sl_nibble_transpose_8_2)(to + at / 2, from + start / 2, count);
        return;
    }
    const int splits = even && rows == 2 && step == 2 && !((to_step | columns) & 1);
    const int joins = even && columns == 2 && to_step == 2 && !((step | rows) & 1);
    for (int64_t c = 0; c < count; ++c, at += to_next, start += next)
        if (splits)
            sl_nibble_split(to + at / 2, to + (at + to_step) / 2, from + start / 2, columns / 2);
        else if (joins)
            sl_nibble_join(to + at / 2, from + start / 2, from + (start + step) / 2, rows / 2);
        else
            sl_nibble_transpose_flat(to, at, to_step, from, start, step, rows, columns);
}

/* to[at + offset of i + j] = from[start + i + offset of j] for all i of *rows* and j of *columns*, *turns* times. */
SL_OUT_OF_LINE void sl_nibble_transpose(element *restrict to, int64_t at, sl_axis rows, const element *restrict from,
                                        int64_t start, sl_axis columns, sl_turns turns)
{
    sl_simplify_axis(&rows);
    sl_simplify_axis(&columns);
    for (int64_t turn = 0; turn < turns.high; ++turn)
        for (int64_t i = 0; i < rows.high * rows.top; ++i)
            for (int64_t j = 0; j < columns.high * columns.top; ++j)
                sl_nibble_transposes(to,
                                     at + turn * turns.to_leap + i % rows.high * rows.leap +
                                         i / rows.high * rows.jump + j * columns.count,
                                     rows.step, from,
                                     start + turn * turns.leap + i * rows.count + j % columns.high * columns.leap +
                                         j / columns.high * columns.jump,
                                     columns.step, rows.count, columns.count, turns.count, turns.to_step, turns.step);
}
