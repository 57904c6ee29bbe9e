/* Split and join: transposes with 2, 3 or 4 rows or columns, as k streams that run side by side.
 *
 * Assumes: output and source do not overlap.
 * Needs: split_join_vectors, streams. */
#pragma once

#include "split_join_vectors.h"
#include "streams.h"

/* to[i*to_stride + j] = from[i + j*stride] for 0 <= i < rows, 0 <= j < columns, an element at a time: for what is
 * shorter than a vector. */
SL_OUT_OF_LINE void sl_transpose_plain(element *restrict to, int64_t to_stride, const element *restrict from,
                                       int64_t stride, int64_t rows, int64_t columns)
{
    for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j)
            to[i * to_stride + j] = from[i + j * stride];
}

/* Runs the code that it is given for each turn c of each turn h; it begins at *into* and *out_of*. */
#define SL_FOR_EACH_TURN(...)                                                                                        \
    for (int64_t h = 0; h < high; ++h, to += to_leap, from += leap) {                                                \
        element *restrict into = to;                                                                                 \
        const element *restrict out_of = from;                                                                       \
        for (int64_t c = 0; c < count; ++c, into += to_step, out_of += step)                                         \
            __VA_ARGS__                                                                                              \
    }

/* Whether stores of 16 bytes to two streams in turn cost more than two to one and two to the other: they do where small
 * lanes begin anywhere, in rows of four vectors and more. */
#define SL_HAS_PAIRS (SL_VECTOR_BYTES == 16 && SL_ELEMENT_SIZE <= 2)

/* Runs the code that it is given for each vector of n of *count* lanes, which begins at lane j: one at lane 0; the
 * others from *second* on, where that is not 0; the last one overlaps the one before.  If *pairs*, runs *pair* for two
 * vectors as long as there are two. */
#define SL_FOR_EACH_VECTOR(n, count, second, pairs, pair, ...)                                                       \
    {                                                                                                                \
        const int64_t last = (count) - (n);                                                                          \
        int64_t j = 0;                                                                                               \
        if (second) {                                                                                                \
            __VA_ARGS__;                                                                                             \
            j = second;                                                                                              \
        }                                                                                                            \
        if (pairs)                                                                                                   \
            for (; j < last - (n); j += 2 * (n))                                                                     \
                pair;                                                                                                \
        for (; j < last; j += (n)) {                                                                                 \
            __VA_ARGS__;                                                                                             \
        }                                                                                                            \
        j = last;                                                                                                    \
        __VA_ARGS__;                                                                                                 \
    }
/* A split and a join by whole vectors of n elements, for each turn. */
#define SL_SPLIT_TURNS(suffix, n)                                                                                    \
    SL_FOR_EACH_TURN({                                                                                               \
        const int64_t second = sl_second_vector(into, to_stride, 1, columns, n);                                     \
        SL_FOR_EACH_VECTOR(n, columns, second, SL_HAS_PAIRS && k == 2 && columns >= 4 * (n),                         \
                           sl_split_##suffix##_pair(into + j, to_stride, out_of + k * j),                            \
                           sl_split_##suffix(into + j, to_stride, out_of + k * j, k, 1, n))                          \
    })
#define SL_JOIN_TURNS(suffix, n)                                                                                     \
    SL_FOR_EACH_TURN({                                                                                               \
        const int64_t second = sl_second_vector(into, 0, k, rows, n);                                                \
        SL_FOR_EACH_VECTOR(n, rows, second, 0, (void)0, sl_join_##suffix(into + k * j, out_of + j, stride, k, 1, n)) \
    })

/* The ends of a row, which are shorter than a vector, by a call of the same function, *again*: once more inlined, they
 * take the compiler a quarter of its time. */
#define SL_SPLIT_AGAIN(to, from, columns) again(to, 0, to_stride, from, 0, columns, 1, 0, 0, 1, 0, 0, 0)
#define SL_JOIN_AGAIN(to, from, rows) again(to, 0, from, 0, stride, rows, 1, 0, 0, 1, 0, 0, 0)

/* Bytes of a row from which a join writes it far: the lines at its ends are ordinary ones, which the stores behind wait
 * for, so that it pays for rows of many lines only. */
#define SL_FAR_ROW_BYTES 1024
/* A join by whole vectors to a far output.  The line at which the next turn begins is fetched ahead. */
#define SL_FAR_JOIN_TURNS                                                                                            \
    SL_FOR_EACH_TURN({                                                                                               \
        const int64_t first = sl_first_group_in_line(into, 0, k);                                                    \
        int64_t i = first < 0 ? rows : first;                                                                        \
        __builtin_prefetch(into + to_step, 1, 3);                                                                    \
        SL_JOIN_AGAIN(into, out_of, i);                                                                              \
        for (; i + SL_STREAM_LANES <= rows; i += SL_STREAM_LANES)                                                    \
            sl_join_wide(into + k * i, out_of + i, stride, k, 2, SL_STREAM_LANES);                                   \
        SL_JOIN_AGAIN(into + k * i, out_of + i, rows - i);                                                           \
    })

/* to[c*to_step + h*to_leap + i*to_stride + j] = from[c*step + h*leap + i + j*k] for 0 <= c < count, 0 <= h < high,
 * 0 <= i < k, 0 <= j < columns, with k a literal: one pass over the source writes k streams.  The last vectors are
 * masked, or overlap the ones before.  Lines of a *far* output are written by non-temporal stores where that pays: in
 * several streams at a time it does not on AMD's processors. */
SL_ALWAYS_INLINE void sl_split(element *restrict to, int64_t to_stride, const element *restrict from, int64_t columns,
                               int64_t count, int64_t to_step, int64_t step, int64_t high, int64_t to_leap,
                               int64_t leap, int far, sl_split_streams *again, const int k)
{
#if SL_HAS_SHUFFLES && SL_HAS_BYTE_MASKS
    if (columns <= SL_STREAM_LANES)
        SL_FOR_EACH_TURN(sl_split_wide(into, to_stride, out_of, k, 0, columns);)
#if SL_HAS_LONG_MASKS
    else if (columns < SL_LANES_MAX)
        SL_FOR_EACH_TURN(sl_split_max(into, to_stride, out_of, k, 0, columns);)
#endif
    else if (far && SL_STORES_WAIT)
        SL_FOR_EACH_TURN({
            const int64_t first = sl_first_group_in_line(into, to_stride, 1);
            int64_t i = first < 0 ? columns : sl_min(first, columns); /* short rows may end in their first line */
            SL_SPLIT_AGAIN(into, out_of, i);
            for (; i + SL_STREAM_LANES <= columns; i += SL_STREAM_LANES)
                sl_split_wide(into + i, to_stride, out_of + k * i, k, 2, SL_STREAM_LANES);
            SL_SPLIT_AGAIN(into + i, out_of + k * i, columns - i);
        })
    else
        SL_SPLIT_TURNS(wide, SL_STREAM_LANES)
#else
    (void)far;
    (void)again;
#if SL_HAS_SHUFFLES
    if (columns >= SL_STREAM_LANES && (SL_HAS_BYTE_SHUFFLES || k != 3))
        SL_SPLIT_TURNS(wide, SL_STREAM_LANES)
#if SL_VECTOR_BYTES > 16
    else if (columns >= SL_LANES_16)
        SL_SPLIT_TURNS(16, SL_LANES_16)
#endif
#ifdef SL_LANES_8
    else if (columns >= SL_LANES_8 && (SL_HAS_BYTE_SHUFFLES || k != 3))
        SL_SPLIT_TURNS(8, SL_LANES_8)
#endif
    else
#endif
        SL_FOR_EACH_TURN(sl_transpose_plain(into, to_stride, out_of, k, k, columns);)
#endif
}

/* to[c*to_step + h*to_leap + i*k + j] = from[c*step + h*leap + i + j*stride] for 0 <= i < rows, 0 <= j < k, c and h
 * as in sl_split: one pass over the output reads k streams. */
SL_ALWAYS_INLINE void sl_join(element *restrict to, const element *restrict from, int64_t stride, int64_t rows,
                              int64_t count, int64_t to_step, int64_t step, int64_t high, int64_t to_leap,
                              int64_t leap, int far, sl_join_streams *again, const int k)
{
#if SL_HAS_SHUFFLES && SL_HAS_BYTE_MASKS
    if (rows <= SL_STREAM_LANES)
        SL_FOR_EACH_TURN(sl_join_wide(into, out_of, stride, k, 0, rows);)
#if SL_HAS_LONG_MASKS
    else if (rows < SL_LANES_MAX)
        SL_FOR_EACH_TURN(sl_join_max(into, out_of, stride, k, 0, rows);)
#endif
    else if (far && k * rows >= SL_FAR_ROW_BYTES / SL_ELEMENT_SIZE)
        SL_FAR_JOIN_TURNS
    else
        SL_JOIN_TURNS(wide, SL_STREAM_LANES)
#else
    (void)far;
    (void)again;
#if SL_HAS_SHUFFLES
    if (far && k * rows >= SL_FAR_ROW_BYTES / SL_ELEMENT_SIZE && (SL_HAS_BYTE_SHUFFLES || k != 3))
        SL_FAR_JOIN_TURNS
    else if (rows >= SL_STREAM_LANES && (SL_HAS_BYTE_SHUFFLES || k != 3))
        SL_JOIN_TURNS(wide, SL_STREAM_LANES)
#if SL_VECTOR_BYTES > 16
    else if (rows >= SL_LANES_16)
        SL_JOIN_TURNS(16, SL_LANES_16)
#endif
#ifdef SL_LANES_8
    else if (rows >= SL_LANES_8 && (SL_HAS_BYTE_SHUFFLES || k != 3))
        SL_JOIN_TURNS(8, SL_LANES_8)
#endif
    else
#endif
        SL_FOR_EACH_TURN(sl_transpose_plain(into, k, out_of, stride, rows, k);)
#endif
}

#if SL_HAS_SHUFFLES && SL_VECTOR_BYTES > 16
/* Whether vectors of 16 bytes begin at multiples of 16 on both sides and in each of many turns, as in arrays of malloc,
 * and longer ones not at multiples of their size: then every second of the longer ones crosses a line.  AMD's
 * processors were not measured. */
#define SL_BEGIN_AT(bytes, run, stride)                                                                              \
    ((((uintptr_t)(to + at) | (uintptr_t)(from + start)) |                                                           \
      (uintptr_t)((run) | (stride) | to_step | step | to_leap | leap) * SL_ELEMENT_SIZE) % (bytes) == 0)
#define SL_IS_BY_16(run, stride)                                                                                     \
    (count > 1 && SL_BEGIN_AT(16, run, stride) && !SL_BEGIN_AT(32, run, stride) && SL_STORES_WAIT)
/* Whether 16 bytes of a stream take no more shuffles than their share of a longer vector. */
#define SL_SPLITS_BY_16(k) ((k) == 2 || ((k) == 4 && SL_ELEMENT_SIZE >= 4))
#define SL_JOINS_BY_16(k) ((k) != 3)

/* Defines a split and a join by vectors of 16 bytes, for rows of whole ones. */
#define SL_DEFINE_BY_16(k)                                                                                           \
    SL_OUT_OF_LINE void sl_split_by_16_##k(element *restrict to, int64_t to_stride, const element *restrict from,    \
                                           int64_t columns, int64_t count, int64_t to_step, int64_t step,            \
                                           int64_t high, int64_t to_leap, int64_t leap)                              \
    {                                                                                                                \
        SL_FOR_EACH_TURN(for (int64_t j = 0; j < columns; j += SL_LANES_16)                                          \
                             sl_split_16(into + j, to_stride, out_of + k * j, k, 1, SL_LANES_16);)                   \
    }                                                                                                                \
    SL_OUT_OF_LINE void sl_join_by_16_##k(element *restrict to, const element *restrict from, int64_t stride,        \
                                          int64_t rows, int64_t count, int64_t to_step, int64_t step, int64_t high,  \
                                          int64_t to_leap, int64_t leap)                                             \
    {                                                                                                                \
        SL_FOR_EACH_TURN(for (int64_t j = 0; j < rows; j += SL_LANES_16)                                             \
                             sl_join_16(into + k * j, out_of + j, stride, k, 1, SL_LANES_16);)                       \
    }
#define SL_SPLIT_BY_16(k)                                                                                            \
    if (SL_SPLITS_BY_16(k) && !(far && SL_HAS_BYTE_MASKS) && SL_IS_BY_16(columns, to_stride))                        \
        sl_split_by_16_##k(to + at, to_stride, from + start, columns, count, to_step, step, high, to_leap, leap);    \
    else
#define SL_JOIN_BY_16(k)                                                                                             \
    if (SL_JOINS_BY_16(k) && !far && rows > SL_STREAM_LANES && SL_IS_BY_16(rows, stride))                            \
        sl_join_by_16_##k(to + at, from + start, stride, rows, count, to_step, step, high, to_leap, leap);           \
    else
#else
#define SL_DEFINE_BY_16(k)
#define SL_SPLIT_BY_16(k)
#define SL_JOIN_BY_16(k)
#endif

/* Rows that a vector of 16 bytes holds, with all k streams of it: one shuffle for each row. */
#define SL_HAS_SHORT_STREAMS (SL_HAS_SHUFFLES && SL_HAS_BYTE_SHUFFLES)
#if SL_HAS_SHORT_STREAMS
typedef uint64_t sl_halves __attribute__((vector_size(16)));

/* Loads and stores 2 to 8 bytes, the first ones of v, by two moves that overlap. */
SL_INLINE uint64_t sl_load_few(const unsigned char *from, int64_t bytes)
{
    if (bytes >= 4) {
        uint32_t first, last;
        memcpy(&first, from, 4);
        memcpy(&last, from + bytes - 4, 4);
        return first | (uint64_t)last << 8 * (bytes - 4);
    }
    uint16_t first, last;
    memcpy(&first, from, 2);
    memcpy(&last, from + bytes - 2, 2);
    return first | (uint64_t)last << 8 * (bytes - 2);
}
SL_INLINE void sl_store_few(unsigned char *to, uint64_t v, int64_t bytes)
{
    if (bytes >= 4) {
        const uint32_t first = (uint32_t)v, last = (uint32_t)(v >> 8 * (bytes - 4));
        memcpy(to, &first, 4);
        memcpy(to + bytes - 4, &last, 4);
    } else {
        const uint16_t first = (uint16_t)v, last = (uint16_t)(v >> 8 * (bytes - 2));
        memcpy(to, &first, 2);
        memcpy(to + bytes - 2, &last, 2);
    }
}

/* The same for 2 to 15 bytes, or 16. */
SL_INLINE sl_halves sl_load_part(const unsigned char *from, int64_t bytes)
{
    if (bytes <= 8)
        return (sl_halves){sl_load_few(from, bytes), 0};
    uint64_t first, last;
    memcpy(&first, from, 8);
    memcpy(&last, from + bytes - 8, 8);
    return (sl_halves){first, last >> 8 * (16 - bytes)};
}
SL_INLINE void sl_store_part(unsigned char *to, sl_halves v, int64_t bytes)
{
    if (bytes == 16)
        sl_store_16(to, (sl_bytes_16)v);
    else if (bytes <= 8)
        sl_store_few(to, v[0], bytes);
    else {
        const uint64_t first = v[0], last = first >> 8 * (bytes - 8) | v[1] << 8 * (16 - bytes);
        memcpy(to, &first, 8);
        memcpy(to + bytes - 8, &last, 8);
    }
}

/* How many of *count* rows are loaded by vectors of *loads* elements, and how many are stored by those of *stores*: the
 * first ones, where that reads inside of the rows and writes what the rows that follow overwrite.  A row *has* elements
 * and *makes* some. */
SL_INLINE int64_t sl_rows_to_load(int64_t has, int64_t loads, int64_t step, int64_t count)
{
    return has >= loads ? count : step > 0 ? sl_max(0, count - (loads - has + step - 1) / step) : 0;
}
SL_INLINE int64_t sl_rows_to_store(int64_t makes, int64_t stores, int64_t to_step, int64_t count)
{
    return makes >= stores ? count : to_step == makes ? sl_max(0, count - (stores - 1) / makes) : 0;
}
#define SL_SHORT_SPLIT(i, n, k) ((i) / ((n) / (k)) + (i) % ((n) / (k)) * (k))
#define SL_SHORT_JOIN(i, n, k) ((i) % (k) * ((n) / (k)) + (i) / (k))
#define SL_SHUFFLE_SHORT(v, index, k)                                                                                \
    __builtin_shufflevector((sl_lanes_16)(v), (sl_lanes_16)(v), SL_EACH_OF_16(index, 0, SL_LANES_16, k))
/* Runs *move*(load, store) for each row of each turn: 0 for a vector, 1 for exactly the row. */
#define SL_FOR_EACH_SHORT_ROW(move)                                                                                  \
    for (int64_t h = 0; h < high; ++h, to += to_leap, from += leap) {                                                \
        unsigned char *into = (unsigned char *)to;                                                                   \
        const unsigned char *out_of = (const unsigned char *)from;                                                   \
        int64_t c = 0;                                                                                               \
        for (; c < sl_min(loaded, stored); ++c, into += next, out_of += after)                                       \
            move(0, 0);                                                                                              \
        for (; c < loaded; ++c, into += next, out_of += after)                                                       \
            move(0, 1);                                                                                              \
        for (; c < count; ++c, into += next, out_of += after)                                                        \
            move(1, 1);                                                                                              \
    }
#define SL_SPLIT_ROW_2(load, store) SL_SPLIT_ROW(2, load, store)
#define SL_SPLIT_ROW_4(load, store) SL_SPLIT_ROW(4, load, store)
#define SL_SPLIT_ROW(k, load, store)                                                                                 \
    sl_split_row_##k(into, stride, load ? sl_load_part(out_of, k * bytes) : (sl_halves)sl_load_16(out_of), bytes, store)
#define SL_JOIN_ROW_2(load, store) SL_JOIN_ROW(2, load, store)
#define SL_JOIN_ROW_4(load, store) SL_JOIN_ROW(4, load, store)
#define SL_JOIN_ROW(k, load, store)                                                                                  \
    {                                                                                                                \
        const sl_halves row = sl_join_row_##k(out_of, stride, bytes, load);                                          \
        if (store)                                                                                                   \
            sl_store_part(into, row, k * bytes);                                                                     \
        else                                                                                                         \
            sl_store_16(into, (sl_bytes_16)row);                                                                     \
    }
/* Defines a split and a join of short rows; *part* has 16 / k bytes. */
#define SL_DEFINE_SHORT(k, part)                                                                                     \
    typedef part sl_parts_##k __attribute__((vector_size(16)));                                                      \
    SL_ALWAYS_INLINE void sl_split_row_##k(unsigned char *to, int64_t stride, sl_halves row, int64_t bytes,          \
                                           const int exact)                                                          \
    {                                                                                                                \
        const sl_parts_##k streams = (sl_parts_##k)SL_SHUFFLE_SHORT(row, SL_SHORT_SPLIT, k);                         \
        SL_UNROLL                                                                                                    \
        for (int i = 0; i < k; ++i) {                                                                                \
            const part stream = streams[i];                                                                          \
            if (exact)                                                                                               \
                sl_store_few(to + i * stride, stream, bytes);                                                        \
            else                                                                                                     \
                memcpy(to + i * stride, &stream, sizeof stream);                                                     \
        }                                                                                                            \
    }                                                                                                                \
    SL_ALWAYS_INLINE sl_halves sl_join_row_##k(const unsigned char *from, int64_t stride, int64_t bytes,             \
                                               const int exact)                                                      \
    {                                                                                                                \
        sl_parts_##k streams = {0};                                                                                  \
        SL_UNROLL                                                                                                    \
        for (int i = 0; i < k; ++i) {                                                                                \
            part stream;                                                                                             \
            if (exact)                                                                                               \
                stream = (part)sl_load_few(from + i * stride, bytes);                                                \
            else                                                                                                     \
                memcpy(&stream, from + i * stride, sizeof stream);                                                   \
            streams[i] = stream;                                                                                     \
        }                                                                                                            \
        return (sl_halves)SL_SHUFFLE_SHORT(streams, SL_SHORT_JOIN, k);                                               \
    }                                                                                                                \
    SL_OUT_OF_LINE void sl_split_short_##k(element *restrict to, int64_t to_stride, const element *restrict from,    \
                                           int64_t columns, int64_t count, int64_t to_step, int64_t step,            \
                                           int64_t high, int64_t to_leap, int64_t leap)                              \
    {                                                                                                                \
        const int64_t loaded = sl_rows_to_load(k * columns, SL_LANES_16, step, count);                               \
        const int64_t stored = sl_rows_to_store(columns, SL_LANES_16 / k, to_step, count);                           \
        const int64_t bytes = columns * SL_ELEMENT_SIZE, stride = to_stride * SL_ELEMENT_SIZE;                       \
        const int64_t next = to_step * SL_ELEMENT_SIZE, after = step * SL_ELEMENT_SIZE;                              \
        SL_FOR_EACH_SHORT_ROW(SL_SPLIT_ROW_##k)                                                                      \
    }                                                                                                                \
    SL_OUT_OF_LINE void sl_join_short_##k(element *restrict to, const element *restrict from, int64_t from_stride,   \
                                          int64_t rows, int64_t count, int64_t to_step, int64_t step, int64_t high,  \
                                          int64_t to_leap, int64_t leap)                                             \
    {                                                                                                                \
        const int64_t loaded = sl_rows_to_load(rows, SL_LANES_16 / k, step, count);                                  \
        const int64_t stored = sl_rows_to_store(k * rows, SL_LANES_16, to_step, count);                              \
        const int64_t bytes = rows * SL_ELEMENT_SIZE, stride = from_stride * SL_ELEMENT_SIZE;                        \
        const int64_t next = to_step * SL_ELEMENT_SIZE, after = step * SL_ELEMENT_SIZE;                              \
        SL_FOR_EACH_SHORT_ROW(SL_JOIN_ROW_##k)                                                                       \
    }
/* Whether rows are short, and neither vectors of 8 bytes nor masks move them as well: those take longer for four streams,
 * and masks for a row of two that a vector holds exactly. */
#if SL_HAS_BYTE_MASKS
#define SL_IS_SHORT(run, k, makes, splits)                                                                           \
    ((k) == 2 ? (splits) && (run) == SL_LANES_16 / 2                                                                 \
              : (run) == SL_LANES_16 / k || ((run) > 1 && (run) < SL_LANES_16 / k && to_step == (makes)))
#else
#define SL_IS_SHORT(run, k, makes, splits) ((run) > 1 && (run) < SL_LANES_16 / k + ((k) == 4))
#endif
#define SL_SPLIT_SHORT(k)                                                                                            \
    if (SL_IS_SHORT(columns, k, columns, 1))                                                                         \
        sl_split_short_##k(to + at, to_stride, from + start, columns, count, to_step, step, high, to_leap, leap);    \
    else
#define SL_JOIN_SHORT(k)                                                                                             \
    if (SL_IS_SHORT(rows, k, k * rows, 0))                                                                           \
        sl_join_short_##k(to + at, from + start, stride, rows, count, to_step, step, high, to_leap, leap);           \
    else
#endif
/* Nothing, where a vector of 16 bytes has no two elements of each stream. */
#if SL_HAS_SHORT_STREAMS && SL_ELEMENT_SIZE <= 4
#define SL_DEFINE_SHORT_2 SL_DEFINE_SHORT(2, uint64_t)
#define SL_SPLIT_SHORT_2 SL_SPLIT_SHORT(2)
#define SL_JOIN_SHORT_2 SL_JOIN_SHORT(2)
#else
#define SL_DEFINE_SHORT_2
#define SL_SPLIT_SHORT_2
#define SL_JOIN_SHORT_2
#endif
#define SL_DEFINE_SHORT_3
#define SL_SPLIT_SHORT_3
#define SL_JOIN_SHORT_3
#if SL_HAS_SHORT_STREAMS && SL_ELEMENT_SIZE <= 2
#define SL_DEFINE_SHORT_4 SL_DEFINE_SHORT(4, uint32_t)
#define SL_SPLIT_SHORT_4 SL_SPLIT_SHORT(4)
#define SL_JOIN_SHORT_4 SL_JOIN_SHORT(4)
#else
#define SL_DEFINE_SHORT_4
#define SL_SPLIT_SHORT_4
#define SL_JOIN_SHORT_4
#endif

/* Whether this text defines the functions for k streams: all of them, or compiled apart those of SL_STREAMS. */
#ifdef SL_LINKED
#define SL_DEFINES_STREAMS(k) (SL_STREAMS >> (k) & 1)
#else
#define SL_DEFINES_STREAMS(k) 1
#endif
#define SL_DEFINE_STREAMS(k)                                                                                         \
    SL_DEFINE_BY_16(k)                                                                                               \
    SL_DEFINE_SHORT_##k                                                                                              \
    SL_DECLARE_SPLIT(sl_split_##k)                                                                                   \
    {                                                                                                                \
        SL_SPLIT_SHORT_##k                                                                                           \
        SL_SPLIT_BY_16(k)                                                                                            \
        sl_split(to + at, to_stride, from + start, columns, count, to_step, step, high, to_leap, leap, far,          \
                 sl_split_##k, k);                                                                                   \
    }                                                                                                                \
    SL_DECLARE_JOIN(sl_join_##k)                                                                                     \
    {                                                                                                                \
        SL_JOIN_SHORT_##k                                                                                            \
        SL_JOIN_BY_16(k)                                                                                             \
        sl_join(to + at, from + start, stride, rows, count, to_step, step, high, to_leap, leap, far, sl_join_##k,    \
                k);                                                                                                  \
    }
#if SL_DEFINES_STREAMS(2)
SL_DEFINE_STREAMS(2)
#endif
#if SL_DEFINES_STREAMS(3)
SL_DEFINE_STREAMS(3)
#endif
#if SL_DEFINES_STREAMS(4)
SL_DEFINE_STREAMS(4)
#endif
