/* What kernels of elements of half a byte call: SL_ELEMENT_SIZE is 1, and an element here is a byte of two.
 * Offsets, steps and counts are in half bytes, of which number e is in byte floor(e/2): in its low half if e is even.
 * Offsets are negative where strides are, so that those which may be odd are shifted, not divided.
 * A store of one half keeps the other, so that a byte is one thread's to write. */
#ifndef SYMLAYOUT_HALVES_H
#define SYMLAYOUT_HALVES_H

#include "symlayout_runtime.h"

SL_ALWAYS unsigned sl_nibble(const element *from, int64_t start)
{
    return (unsigned)from[start >> 1] >> 4 * (start & 1) & 15;
}

/* The two halves of a byte. */
SL_ALWAYS element sl_both(unsigned low, unsigned high)
{
    return (element)(low | high << 4);
}

/* One half, of a byte that holds it on its own side or, as a fill does, on both. */
SL_ALWAYS void sl_nibble_put(element *to, int64_t at, unsigned value)
{
    const unsigned kept = at & 1 ? 15 : 240;
    to[at >> 1] = (element)((to[at >> 1] & kept) | (value & ~kept));
}

/* to[at] = from[start] */
SL_ALWAYS void sl_nibble_move(element *restrict to, int64_t at, const element *restrict from, int64_t start)
{
    sl_nibble_put(to, at, sl_nibble(from, start) * 17);
}

/* to[at + i] = from[start + i] for 0 <= i < count. */
SL_APART void sl_nibble_copy(element *restrict to, int64_t at, const element *restrict from, int64_t start,
                           int64_t count)
{
    if (count <= 0)
        return;
    if (at & 1) {
        sl_nibble_move(to, at++, from, start++);
        --count;
    }
    const int64_t bytes = count / 2;
    element *const into = to + (at >> 1);
    const element *const out_of = from + (start >> 1);
    if (start & 1)
        for (int64_t i = 0; i < bytes; ++i)
            into[i] = (element)(out_of[i] >> 4 | out_of[i + 1] << 4);
    else
        sl_copy(into, 0, out_of, 0, bytes);
    if (count & 1)
        sl_nibble_move(to, at + count - 1, from, start + count - 1);
}

/* The two halves of to[i] are from[start + 2*i*step] and from[start + (2*i + 1)*step], 0 <= i < bytes. */
SL_APART void sl_nibble_pairs(element *restrict to, const element *restrict from, int64_t start, int64_t step,
                              int64_t bytes)
{
    const element *const first = from + (start >> 1);
    if (step == -1 && (start & 1))
        for (int64_t i = 0; i < bytes; ++i)
            to[i] = (element)(first[-i] >> 4 | first[-i] << 4);
    else if (step == -1)
        for (int64_t i = 0; i < bytes; ++i)
            to[i] = (element)((first[-i] & 15) | (first[-i - 1] & 240));
    else if (step == 2 && (start & 1))
        for (int64_t i = 0; i < bytes; ++i)
            to[i] = (element)(first[2 * i] >> 4 | (first[2 * i + 1] & 240));
    else if (step == 2)
        for (int64_t i = 0; i < bytes; ++i)
            to[i] = (element)((first[2 * i] & 15) | first[2 * i + 1] << 4);
    else
        for (int64_t i = 0; i < bytes; ++i)
            to[i] = sl_both(sl_nibble(from, start + 2 * i * step), sl_nibble(from, start + (2 * i + 1) * step));
}

/* One half of each of *rows* bytes: to[at + 2*i] = from[start + 2*i]. */
SL_APART void sl_nibble_sides(element *restrict to, int64_t at, const element *restrict from, int64_t start,
                              int64_t rows)
{
    const unsigned kept = at & 1 ? 15 : 240, from_high = start & 1 ? 4 : 0, to_high = at & 1 ? 4 : 0;
    element *const into = to + (at >> 1);
    const element *const out_of = from + (start >> 1);
    for (int64_t i = 0; i < rows; ++i)
        into[i] = (element)((into[i] & kept) | ((unsigned)out_of[i] >> from_high & 15) << to_high);
}

/* to[at + i*to_step + j] = from[start + i*step + j] for 0 <= i < rows, 0 <= j < count. */
SL_APART void sl_nibble_copy_rows(element *restrict to, int64_t at, int64_t to_step, const element *restrict from,
                                  int64_t start, int64_t step, int64_t rows, int64_t count)
{
    if (rows <= 0 || count <= 0)
        return;
    if (count == 1 && to_step == 1) { /* one row of what lies apart, a byte at a time */
        const int64_t odd = at & 1, bytes = (rows - odd) / 2;
        if (odd)
            sl_nibble_move(to, at, from, start);
        sl_nibble_pairs(to + (at + odd) / 2, from, start + odd * step, step, bytes);
        if (odd + 2 * bytes < rows)
            sl_nibble_move(to, at + rows - 1, from, start + (rows - 1) * step);
    } else if (count == 1 && to_step == 2 && step == 2)
        sl_nibble_sides(to, at, from, start, rows);
    else if (count == 1)
        for (int64_t i = 0; i < rows; ++i)
            sl_nibble_move(to, at + i * to_step, from, start + i * step);
    else if (!((at | to_step | start | step | count) & 1))
        sl_copy_rows(to, at / 2, to_step / 2, from, start / 2, step / 2, rows, count / 2, 0);
    else
        for (int64_t i = 0; i < rows; ++i)
            sl_nibble_copy(to, at + i * to_step, from, start + i * step, count);
}

/* to[at + t*to_leap + i*to_step] = from[start + t*leap + i*step] for 0 <= t < turns, 0 <= i < rows. */
SL_APART void sl_nibble_copy_grid(element *restrict to, int64_t at, int64_t to_leap, int64_t to_step,
                                  const element *restrict from, int64_t start, int64_t leap, int64_t step,
                                  int64_t turns, int64_t rows)
{
    for (int64_t t = 0; t < turns; ++t)
        sl_nibble_copy_rows(to, at + t * to_leap, to_step, from, start + t * leap, step, rows, 1);
}

/* to[at + i] = value for 0 <= i < count. */
SL_APART void sl_nibble_fill(element *restrict to, int64_t at, element value, int64_t count)
{
    if (count > 0 && (at & 1)) {
        sl_nibble_put(to, at++, value);
        --count;
    }
    sl_fill(to, at / 2, value, count / 2);
    if (count > 0 && (count & 1))
        sl_nibble_put(to, at + count - 1, value);
}

/* to[at + i*to_step + j] = value for 0 <= i < rows, 0 <= j < count. */
SL_INLINE void sl_nibble_fill_rows(element *restrict to, int64_t at, int64_t to_step, element value, int64_t rows,
                                 int64_t count)
{
    for (int64_t i = 0; i < rows; ++i)
        sl_nibble_fill(to, at + i * to_step, value, count);
}

/* ---- transposes ---- */

/* Whether the first byte of a word has its lowest bits. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define SL_NIBBLE_WORDS 1
#else
#define SL_NIBBLE_WORDS 0
#endif

/* Defines the transposes of *rows* by *columns* half bytes, all in one word, of which *count* follow each other. */
#define SL_NIBBLE_TURN(name, word, rows, columns)                                                             \
    SL_APART void name(element *restrict to, const element *restrict from, int64_t count)                     \
    {                                                                                                         \
        for (int64_t c = 0; c < count; ++c) {                                                                 \
            word given, made = 0;                                                                             \
            memcpy(&given, from + c * (int64_t)sizeof(word), sizeof(word));                                   \
            for (unsigned i = 0; i < rows; ++i)                                                               \
                for (unsigned j = 0; j < columns; ++j)                                                        \
                    made |= (word)((given >> 4 * (i + j * rows) & 15) << 4 * (i * columns + j));              \
            memcpy(to + c * (int64_t)sizeof(word), &made, sizeof(word));                                      \
        }                                                                                                     \
    }
SL_NIBBLE_TURN(sl_nibble_turn_2_4, uint32_t, 2, 4)
SL_NIBBLE_TURN(sl_nibble_turn_4_2, uint32_t, 4, 2)
SL_NIBBLE_TURN(sl_nibble_turn_2_8, uint64_t, 2, 8)
SL_NIBBLE_TURN(sl_nibble_turn_8_2, uint64_t, 8, 2)
SL_NIBBLE_TURN(sl_nibble_turn_4_4, uint64_t, 4, 4)

/* Every second half byte of eight bytes in four, from the first on; and four bytes spread over every second. */
SL_ALWAYS uint32_t sl_nibble_squeeze(uint64_t word)
{
    word &= UINT64_C(0x0f0f0f0f0f0f0f0f);
    word = (word | word >> 4) & UINT64_C(0x00ff00ff00ff00ff);
    word = (word | word >> 8) & UINT64_C(0x0000ffff0000ffff);
    return (uint32_t)(word | word >> 16);
}

SL_ALWAYS uint64_t sl_nibble_spread(uint32_t half)
{
    uint64_t word = half;
    word = (word | word << 16) & UINT64_C(0x0000ffff0000ffff);
    word = (word | word << 8) & UINT64_C(0x00ff00ff00ff00ff);
    return (word | word << 4) & UINT64_C(0x0f0f0f0f0f0f0f0f);
}

/* The low halves of 2*bytes bytes to low[i], the high ones to high[i], 0 <= i < bytes. */
SL_APART void sl_nibble_split(element *restrict low, element *restrict high, const element *restrict from,
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

/* The inverse: two rows of *bytes* bytes to the low and the high halves of 2*bytes. */
SL_APART void sl_nibble_join(element *restrict to, const element *restrict low, const element *restrict high,
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

/* to[at + i*to_step + j] = from[start + i + j*step] for 0 <= i < 2*high, 0 <= j < 2*wide, at most SL_NIBBLE_TILE each,
 * where at, to_step, start and step are even: squares of two by two, each two bytes. */
SL_APART void sl_nibble_tile(element *restrict to, int64_t at, int64_t to_step, const element *restrict from,
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

/* to[at + i*to_step + j] = from[start + i + j*step] for 0 <= i < rows, 0 <= j < columns: in tiles, in pairs of a row,
 * or one by one, as the strides allow. */
SL_APART void sl_nibble_transpose_flat(element *restrict to, int64_t at, int64_t to_step, const element *restrict from,
                                     int64_t start, int64_t step, int64_t rows, int64_t columns)
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
                to[(at + i * to_step + j) / 2] =
                    sl_both(sl_nibble(from, start + i + j * step), sl_nibble(from, start + i + (j + 1) * step));
        for (; j < columns; ++j)
            sl_nibble_move(to, at + i * to_step + j, from, start + i + j * step);
    }
}

/* The same *count* times, *to_next* and *next* further each time: words and two streams have ways of their own. */
SL_APART void sl_nibble_transposes(element *restrict to, int64_t at, int64_t to_step, const element *restrict from,
                                   int64_t start, int64_t step, int64_t rows, int64_t columns, int64_t count,
                                   int64_t to_next, int64_t next)
{
    const int64_t block = rows * columns;
    const int even = !((at | start | to_next | next) & 1);
    const int whole = to_step == columns && step == rows && (count == 1 || (to_next == block && next == block));
    if (SL_NIBBLE_WORDS && whole && even && (block == 8 || block == 16) && rows > 1 && columns > 1) {
        (block == 8 ? (rows == 2 ? sl_nibble_turn_2_4 : sl_nibble_turn_4_2)
                    : rows == 2 ? sl_nibble_turn_2_8
                    : rows == 4 ? sl_nibble_turn_4_4
                                : sl_nibble_turn_8_2)(to + at / 2, from + start / 2, count);
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
SL_APART void sl_nibble_transpose(element *restrict to, int64_t at, sl_axis rows, const element *restrict from,
                                  int64_t start, sl_axis columns, sl_turns turns)
{
    rows = sl_flat_axis(rows);
    columns = sl_flat_axis(columns);
    for (int64_t turn = 0; turn < turns.high; ++turn)
        for (int64_t i = 0; i < rows.high * rows.top; ++i)
            for (int64_t j = 0; j < columns.high * columns.top; ++j)
                sl_nibble_transposes(
                    to, at + turn * turns.to_leap + i % rows.high * rows.leap + i / rows.high * rows.jump + j * columns.count,
                    rows.step, from,
                    start + turn * turns.leap + i * rows.count + j % columns.high * columns.leap + j / columns.high * columns.jump,
                    columns.step, rows.count, columns.count, turns.count, turns.to_step, turns.step);
}

#endif
