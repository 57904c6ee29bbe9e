/* Split and join: transposes with 2, 3 or 4 rows or columns, as k streams that run side by side.
 *
 * Assumes: output and source do not overlap.
 * Needs: join_over, reach, short_streams, split_join_vectors, split_over, streams. */
#pragma once

#include "join_over.h"
#include "reach.h"
#include "short_streams.h"
#include "split_join_vectors.h"
#include "split_over.h"
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
/* The same for a split of short rows to k streams: a line ahead of each is fetched if *reach* says so. */
#define SL_FOR_EACH_SHORT_SPLIT(k, ...)                                                                              \
    {                                                                                                                \
        if (reach == SL_FETCHED)                                                                                     \
            SL_FOR_EACH_TURN({                                                                                       \
                sl_fetch_streams(into, to_stride, k);                                                                \
                __VA_ARGS__                                                                                          \
            })                                                                                                       \
        else                                                                                                         \
            SL_FOR_EACH_TURN({__VA_ARGS__})                                                                          \
    }

/* Whether stores of 16 bytes to two streams in turn cost more than two to one and two to the other: they do where small
 * lanes begin anywhere, in rows of four vectors and more. */
#define SL_HAS_PAIRS (SL_VECTOR_BYTES == 16 && SL_ELEMENT_SIZE <= 2)

/* Runs the code that it is given for each vector of n of *count* lanes, which begins at lane j: one at lane 0; the
 * others from *second* on, where that is not 0; the last one overlaps the one before.  If *pairs*, runs *pair* for two
 * vectors as long as there are two.  If it *fetches*, runs *fetch* once for each line of lanes. */
#define SL_FOR_EACH_VECTOR(n, count, second, fetches, fetch, pairs, pair, ...)                                       \
    {                                                                                                                \
        const int64_t last = (count) - (n);                                                                          \
        int64_t j = 0;                                                                                               \
        if (second) {                                                                                                \
            __VA_ARGS__;                                                                                             \
            j = second;                                                                                              \
        }                                                                                                            \
        if (pairs)                                                                                                   \
            for (; j < last - (n); j += 2 * (n)) {                                                                   \
                if (fetches && (j & (SL_LINE_LANES - 1)) < 2 * (n))                                                  \
                    fetch;                                                                                           \
                pair;                                                                                                \
            }                                                                                                        \
        for (; j < last; j += (n)) {                                                                                 \
            if (fetches && (j & (SL_LINE_LANES - 1)) < (n))                                                          \
                fetch;                                                                                               \
            __VA_ARGS__;                                                                                             \
        }                                                                                                            \
        j = last;                                                                                                    \
        __VA_ARGS__;                                                                                                 \
    }
/* A split and a join by whole vectors of n elements, for each turn. */
#define SL_SPLIT_SHORT_TURNS(suffix, n)                                                                              \
    SL_FOR_EACH_SHORT_SPLIT(k, {                                                                                     \
        sl_split_##suffix(into, to_stride, out_of, k, 1, n);                                                         \
        if (columns > (n))                                                                                           \
            sl_split_##suffix(into + columns - (n), to_stride, out_of + k * (columns - (n)), k, 1, n);               \
    })
#define SL_SPLIT_TURNS(suffix, n)                                                                                    \
    SL_FOR_EACH_TURN({                                                                                               \
        const int64_t second = sl_second_vector(into, to_stride, 1, columns, n);                                     \
        SL_FOR_EACH_VECTOR(n, columns, second, reach == SL_FETCHED, sl_fetch_streams(into + j, to_stride, k),        \
                           SL_HAS_PAIRS && k == 2 && columns >= 4 * (n),                                             \
                           sl_split_##suffix##_rows(into + j, to_stride, n, out_of + k * j, k * (n), k, 2),          \
                           sl_split_##suffix(into + j, to_stride, out_of + k * j, k, 1, n))                          \
    })
#define SL_JOIN_TURNS(suffix, n)                                                                                     \
    SL_FOR_EACH_TURN({                                                                                               \
        const int64_t second = sl_second_vector(into, 0, k, rows, n);                                                \
        SL_FOR_EACH_VECTOR(n, rows, second, 0, (void)0, 0, (void)0,                                                  \
                           sl_join_##suffix(into + k * j, out_of + j, stride, k, 1, n))                              \
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
 * masked, or overlap the ones before.  Lines are fetched if *reach* says so.  Those of a far output are written by
 * non-temporal stores where that pays: in several streams at a time it does not on AMD's processors. */
SL_ALWAYS_INLINE void sl_split(element *restrict to, int64_t to_stride, const element *restrict from, int64_t columns,
                               int64_t count, int64_t to_step, int64_t step, int64_t high, int64_t to_leap,
                               int64_t leap, int reach, sl_split_streams *again, const int k)
{
#if SL_HAS_SHUFFLES && SL_HAS_BYTE_MASKS
    if (columns <= SL_STREAM_LANES)
        SL_FOR_EACH_SHORT_SPLIT(k, sl_split_wide(into, to_stride, out_of, k, 0, columns);)
#if SL_HAS_LONG_MASKS
    else if (columns < SL_LANES_MAX)
        SL_FOR_EACH_SHORT_SPLIT(k, sl_split_max(into, to_stride, out_of, k, 0, columns);)
#endif
    else if (reach == SL_FAR && SL_STORES_WAIT)
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
    (void)reach;
    (void)again;
#if SL_HAS_SHUFFLES
    if (columns > 2 * SL_STREAM_LANES && (SL_HAS_BYTE_SHUFFLES || k != 3))
        SL_SPLIT_TURNS(wide, SL_STREAM_LANES)
    else if (columns >= SL_STREAM_LANES && (SL_HAS_BYTE_SHUFFLES || k != 3))
        SL_SPLIT_SHORT_TURNS(wide, SL_STREAM_LANES)
#if SL_VECTOR_BYTES > 16
    else if (columns >= SL_LANES_16)
        SL_SPLIT_SHORT_TURNS(16, SL_LANES_16)
#endif
#ifdef SL_LANES_8
    else if (columns >= SL_LANES_8 && (SL_HAS_BYTE_SHUFFLES || k != 3))
        SL_SPLIT_SHORT_TURNS(8, SL_LANES_8)
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
                              int64_t leap, int reach, sl_join_streams *again, const int k)
{
#if SL_HAS_SHUFFLES && SL_HAS_BYTE_MASKS
    if (rows <= SL_STREAM_LANES)
        SL_FOR_EACH_TURN(sl_join_wide(into, out_of, stride, k, 0, rows);)
#if SL_HAS_LONG_MASKS
    else if (rows < SL_LANES_MAX)
        SL_FOR_EACH_TURN(sl_join_max(into, out_of, stride, k, 0, rows);)
#endif
    else if (reach == SL_FAR && k * rows >= SL_FAR_ROW_BYTES / SL_ELEMENT_SIZE)
        SL_FAR_JOIN_TURNS
    else
        SL_JOIN_TURNS(wide, SL_STREAM_LANES)
#else
    (void)reach;
    (void)again;
#if SL_HAS_SHUFFLES
    if (reach == SL_FAR && k * rows >= SL_FAR_ROW_BYTES / SL_ELEMENT_SIZE && (SL_HAS_BYTE_SHUFFLES || k != 3))
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

/* A split by vectors of 16 bytes, for rows of whole ones. */
SL_ALWAYS_INLINE void sl_split_by_16(element *restrict to, int64_t to_stride, const element *restrict from,
                                     int64_t columns, int64_t count, int64_t to_step, int64_t step, int64_t high,
                                     int64_t to_leap, int64_t leap, int reach, const int k)
{
    if (columns <= SL_LINE_LANES)
        SL_FOR_EACH_SHORT_SPLIT(k, {
            for (int64_t j = 0; j < columns; j += SL_LANES_16)
                sl_split_16(into + j, to_stride, out_of + k * j, k, 1, SL_LANES_16);
        })
    else
        SL_FOR_EACH_TURN({
            for (int64_t j = 0; j < columns; j += SL_LANES_16) {
                if (reach == SL_FETCHED && j % SL_LINE_LANES == 0)
                    sl_fetch_streams(into + j, to_stride, k);
                sl_split_16(into + j, to_stride, out_of + k * j, k, 1, SL_LANES_16);
            }
        })
}
/* Defines it, and such a join. */
#define SL_DEFINE_BY_16(k)                                                                                           \
    SL_OUT_OF_LINE void sl_split_by_16_##k(element *restrict to, int64_t to_stride, const element *restrict from,    \
                                           int64_t columns, int64_t count, int64_t to_step, int64_t step,            \
                                           int64_t high, int64_t to_leap, int64_t leap, int reach)                   \
    {                                                                                                                \
        sl_split_by_16(to, to_stride, from, columns, count, to_step, step, high, to_leap, leap, reach, k);           \
    }                                                                                                                \
    SL_OUT_OF_LINE void sl_join_by_16_##k(element *restrict to, const element *restrict from, int64_t stride,        \
                                          int64_t rows, int64_t count, int64_t to_step, int64_t step, int64_t high,  \
                                          int64_t to_leap, int64_t leap)                                             \
    {                                                                                                                \
        SL_FOR_EACH_TURN(for (int64_t j = 0; j < rows; j += SL_LANES_16)                                             \
                             sl_join_16(into + k * j, out_of + j, stride, k, 1, SL_LANES_16);)                       \
    }
#define SL_SPLIT_BY_16(k)                                                                                            \
    if (SL_SPLITS_BY_16(k) && !(reach == SL_FAR && SL_HAS_BYTE_MASKS) && SL_IS_BY_16(columns, to_stride))            \
        sl_split_by_16_##k(to + at, to_stride, from + start, columns, count, to_step, step, high, to_leap, leap,     \
                           reach);                                                                                   \
    else
#define SL_JOIN_BY_16(k)                                                                                             \
    if (SL_JOINS_BY_16(k) && reach != SL_FAR && rows > SL_STREAM_LANES && SL_IS_BY_16(rows, stride))                 \
        sl_join_by_16_##k(to + at, from + start, stride, rows, count, to_step, step, high, to_leap, leap);           \
    else
#else
#define SL_DEFINE_BY_16(k)
#define SL_SPLIT_BY_16(k)
#define SL_JOIN_BY_16(k)
#endif

/* Whether this text defines grids of joined rows: compiled apart, only with SL_JOIN_GRIDS, and then nothing else of
 * streams, which most kernels of such grids do without. */
#if !defined SL_LINKED || defined SL_JOIN_GRIDS
#if SL_HAS_JOIN_OVER
#define SL_JOIN_GRID_BY(k) k, sl_join_one_##k, sl_joins_16_##k, sl_joins_wide_##k, sl_join_exactly_##k
#define SL_JOIN_GRID_FUNCTIONS                                                                                       \
    sl_join_streams *join, int64_t k, sl_join_blocks *join_one, sl_join_blocks *const *joins_16,                     \
        sl_join_blocks *const *joins_wide, sl_join_exactly *exactly
#else
#define SL_DEFINE_JOIN_ROWS(k)
#define SL_JOIN_GRID_BY(k) k
#define SL_JOIN_GRID_FUNCTIONS sl_join_streams *join, int64_t k
#endif
/* A grid of rows of k streams (streams.h), by the functions for so many.  Long rows are joined turn by turn, and what
 * is left beside whole steps of all streams goes a column at a time. */
SL_OUT_OF_LINE void sl_join_grid(element *restrict to, const element *restrict from, int64_t start, int64_t size,
                                 int64_t stride, int64_t low, int64_t columns, int64_t first, int64_t rows,
                                 int64_t turns, int64_t leap, int64_t step, const sl_join_loop loops[SL_JOIN_LOOPS],
                                 int reach, SL_JOIN_GRID_FUNCTIONS)
{
    if (columns <= 0 || rows <= 0 || loops[0].count <= 0 || loops[1].count <= 0)
        return;
    int64_t from_stream[4] = {0};
    for (int64_t i = 0; i < k; ++i)
        from_stream[i] = (low + i) % k * stride + (low + i) / k;
    start += first / turns * step;
    first %= turns;
#if SL_HAS_JOIN_OVER
    if (columns <= SL_FAR_ROW_BYTES / SL_ELEMENT_SIZE) {
        sl_join_rows(to, from + start, size - start, from_stream, columns, rows, first, turns, leap, step, loops, k,
                     join_one, joins_16, joins_wide, exactly);
        return;
    }
#endif
    (void)size;
    const int64_t head = sl_min((k - low % k) % k, columns), whole = (columns - head) / k;
    for (int64_t n = 0; n < loops[1].count * loops[0].count; ++n) {
        const int64_t plane = n % loops[0].count, image = n / loops[0].count;
        element *restrict into = to + image * loops[1].to_step + plane * loops[0].to_step;
        const int64_t at = start + image * loops[1].step + plane * loops[0].step;
        for (int64_t t = first; t < first + sl_min(turns, rows); ++t, into += columns) {
            const int64_t begin = at + t % turns * leap + t / turns * step;
            const int64_t count = (rows - (t - first) + turns - 1) / turns;
            for (int64_t e = head ? 0 : k * whole; e < columns; e += e + 1 == head ? k * whole + 1 : 1) {
                const element *const out_of = from + begin + from_stream[e % k] + e / k;
                for (int64_t r = 0; r < count; ++r)
                    into[r * turns * columns + e] = out_of[r * step];
            }
            if (whole > 0)
                join(into, head, from, begin + (low + head) / k, stride, whole, count, turns * columns, step, 1, 0, 0,
                     reach);
        }
    }
}
#define SL_DEFINE_JOIN_GRID(k, join)                                                                                 \
    SL_DEFINE_JOIN_ROWS(k)                                                                                           \
    SL_DECLARE_JOIN_GRID(sl_join_grid_##k)                                                                           \
    {                                                                                                                \
        sl_join_grid(to + at, from, start, size, stride, low, columns, first, rows, turns, leap, step, loops, reach, \
                     join, SL_JOIN_GRID_BY(k));                                                                      \
    }
#else
#define SL_DEFINE_JOIN_GRID(k, join)
#endif

/* How many rows of each turn are split before those of the next turn: all; but where the turns' rows alternate in the
 * source, and so lie in the same lines and pages, those that stay in the nearest cache, if they are some. */
#define SL_STRIP_BYTES 16384
SL_INLINE int64_t sl_split_strip(int64_t count, int64_t step, int64_t high, int64_t leap)
{
    const int64_t strip = SL_STRIP_BYTES / SL_ELEMENT_SIZE / sl_max(step, 1);
    return high > 1 && leap > 0 && leap < step && strip > 4 ? sl_min(strip, count) : count;
}

/* Whether this text defines the functions for k streams: all of them, or compiled apart those of SL_STREAMS. */
#ifdef SL_LINKED
#define SL_DEFINES_STREAMS(k) (SL_STREAMS >> (k) & 1)
#else
#define SL_DEFINES_STREAMS(k) 1
#endif
#ifdef SL_JOIN_GRIDS
/* Of joins, long rows alone are left beside such grids, and their ends. */
#define SL_DEFINE_STREAMS(k)                                                                                         \
    SL_OUT_OF_LINE SL_JOIN_PROTOTYPE(sl_join_long_##k)                                                               \
    {                                                                                                                \
        sl_join(to + at, from + start, stride, rows, count, to_step, step, high, to_leap, leap, reach,               \
                sl_join_long_##k, k);                                                                                \
    }                                                                                                                \
    SL_DEFINE_JOIN_GRID(k, sl_join_long_##k)
#else
#define SL_DEFINE_STREAMS(k)                                                                                         \
    SL_DEFINE_BY_16(k)                                                                                               \
    SL_DEFINE_SHORT_##k                                                                                              \
    SL_DEFINE_OVER(k)                                                                                                \
    SL_DECLARE_SPLIT(sl_split_##k)                                                                                   \
    {                                                                                                                \
        const int64_t strip = sl_split_strip(count, step, high, leap);                                               \
        if (strip < count) {                                                                                         \
            for (int64_t c = 0; c < count; c += strip)                                                               \
                sl_split_##k(to, at + c * to_step, to_stride, from, start + c * step, columns,                       \
                             sl_min(strip, count - c), to_step, step, high, to_leap, leap, reach);                   \
            return;                                                                                                  \
        }                                                                                                            \
        SL_SPLIT_OVER_ROWS(k)                                                                                        \
        SL_SPLIT_SHORT_##k                                                                                           \
        SL_SPLIT_BY_16(k)                                                                                            \
        sl_split(to + at, to_stride, from + start, columns, count, to_step, step, high, to_leap, leap, reach,        \
                 sl_split_##k, k);                                                                                   \
    }                                                                                                                \
    SL_DECLARE_JOIN(sl_join_##k)                                                                                     \
    {                                                                                                                \
        SL_JOIN_SHORT_##k                                                                                            \
        SL_JOIN_BY_16(k)                                                                                             \
        sl_join(to + at, from + start, stride, rows, count, to_step, step, high, to_leap, leap, reach, sl_join_##k,  \
                k);                                                                                                  \
    }                                                                                                                \
    SL_DEFINE_JOIN_GRID(k, sl_join_##k)
#endif
#if SL_DEFINES_STREAMS(2)
SL_DEFINE_STREAMS(2)
#endif
#if SL_DEFINES_STREAMS(3)
SL_DEFINE_STREAMS(3)
#endif
#if SL_DEFINES_STREAMS(4)
SL_DEFINE_STREAMS(4)
#endif
