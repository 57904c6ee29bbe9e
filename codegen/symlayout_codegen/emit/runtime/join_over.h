/* Joins to short rows that follow each other in the output: a row is whole vectors, and what they write behind it the
 * next row writes over.
 *
 * Assumes: output and source do not overlap.
 * Needs: short_streams, split_join_vectors, streams. */
#pragma once

#include "short_streams.h"
#include "split_join_vectors.h"
#include "streams.h"

#if SL_HAS_SHORT_STREAMS
#define SL_HAS_JOIN_OVER 1
/* The first *count* elements of 16 bytes, none where that is not positive. */
#if SL_HAS_BYTE_MASKS
SL_ALWAYS_INLINE sl_bytes_16 sl_load_lanes(const element *from, int64_t count)
{
    return sl_masked_load_16(from, sl_first_bytes(sl_max(0, count) * SL_ELEMENT_SIZE));
}
SL_ALWAYS_INLINE void sl_store_lanes(element *to, sl_bytes_16 v, int64_t count)
{
    sl_masked_store_16(to, v, sl_first_bytes(sl_max(0, count) * SL_ELEMENT_SIZE));
}
#else
SL_ALWAYS_INLINE sl_bytes_16 sl_load_lanes(const element *from, int64_t count)
{
    if (count >= SL_LANES_16)
        return sl_load_16(from);
    if (count * SL_ELEMENT_SIZE > 1)
        return (sl_bytes_16)sl_load_part((const unsigned char *)from, count * SL_ELEMENT_SIZE);
    return (sl_bytes_16){count > 0 ? *(const char *)from : 0};
}
SL_ALWAYS_INLINE void sl_store_lanes(element *to, sl_bytes_16 v, int64_t count)
{
    if (count >= SL_LANES_16)
        sl_store_16(to, v);
    else if (count * SL_ELEMENT_SIZE > 1)
        sl_store_part((unsigned char *)to, (sl_halves)v, count * SL_ELEMENT_SIZE);
    else if (count > 0)
        *(char *)to = v[0];
}
#endif

/* Defines k vectors of n lanes, and stores the first ones: to[e] = from[stream[e % k] + e / k] for 0 <= e < vectors*n;
 * and a row of so many groups of k vectors, of the last one the *last* vectors only; of one vector in all if *last* is
 * 0. */
#define SL_DEFINE_JOIN_OVER(name, join, vector, suffix, n)                                                           \
    SL_ALWAYS_INLINE void name##_group(element *restrict to, const element *restrict from, const int64_t stream[4],  \
                                       const int k, const int vectors)                                               \
    {                                                                                                                \
        vector s[4], v[4];                                                                                           \
        SL_UNROLL                                                                                                    \
        for (int i = 0; i < k; ++i)                                                                                  \
            s[i] = (vector)sl_load_##suffix(from + stream[i]);                                                       \
        join##_zip(s, v, k);                                                                                         \
        SL_UNROLL                                                                                                    \
        for (int i = 0; i < vectors; ++i)                                                                            \
            sl_store_##suffix(to + i * n, (sl_bytes_##suffix)v[i]);                                                  \
    }                                                                                                                \
    SL_ALWAYS_INLINE void name(element *restrict to, const element *restrict from, const int64_t stream[4],          \
                               int64_t groups, const int k, const int last)                                          \
    {                                                                                                                \
        if (last)                                                                                                    \
            for (; --groups; to += k * n, from += n)                                                                 \
                name##_group(to, from, stream, k, k);                                                                \
        name##_group(to, from, stream, k, last ? last : 1);                                                          \
    }
#if SL_VECTOR_BYTES > 16
SL_DEFINE_JOIN_OVER(sl_join_over_16, sl_join_16, sl_lanes_16, 16, SL_LANES_16)
SL_DEFINE_JOIN_OVER(sl_join_over_wide, sl_join_wide, sl_lanes_32, 32, SL_LANES_32)
#define SL_ZIP_STREAMS_16 sl_join_16_zip
#else
SL_DEFINE_JOIN_OVER(sl_join_over_16, sl_join_wide, sl_lanes_16, 16, SL_LANES_16)
#define SL_ZIP_STREAMS_16 sl_join_wide_zip
#endif

/* A grid of joined rows, and the loops over its rows and around it.  *elements* are those of a row, in so many *groups*
 * of k vectors; the last vector has *over* elements behind the row.  The rows of a block begin *leap* apart, the blocks
 * *step* apart.  Each of the *loops* does *count* times what is inside of it, which writes *extent* elements and reads
 * none from the one number *reach* on; where it *follows*, what it writes is in one piece. */
typedef struct sl_joined sl_joined;
typedef void sl_join_blocks(element *restrict to, const element *restrict from, const sl_joined *grid, int64_t rows,
                            int64_t planes, int64_t images);
typedef void sl_join_exactly(element *restrict to, const element *restrict from, const int64_t stream[4],
                             int64_t elements);
struct sl_joined {
    int64_t stream[4], elements, groups, over, first, turns, leap, step;
    struct {
        int64_t count, to_step, step, extent, reach;
        int follows;
    } loops[SL_JOIN_LOOPS + 1];
    sl_join_blocks *join;
    sl_join_exactly *exactly;
};
/* Defines so many rows, planes and images of a grid, which follow each other in the output, by *move*; and a row that
 * writes nothing behind it and reads nothing behind the elements that it has. */
#define SL_DEFINE_JOIN_BLOCKS(name, k, move, last)                                                                   \
    SL_OUT_OF_LINE void name(element *restrict to, const element *restrict from, const sl_joined *grid, int64_t rows, \
                             int64_t planes, int64_t images)                                                         \
    {                                                                                                                \
        const int64_t first = grid->stream[0];                                                                       \
        const int64_t stream[4] = {0, grid->stream[1] - first, k > 2 ? grid->stream[2] - first : 0,                  \
                                   k > 3 ? grid->stream[3] - first : 0};                                             \
        const int64_t elements = grid->elements, groups = grid->groups, leap = grid->leap;                           \
        const int64_t turns = grid->turns, wrap = grid->step - (turns - 1) * leap;                                   \
        from += first + grid->first * leap;                                                                          \
        for (int64_t h = 0; h < images; ++h)                                                                         \
            for (int64_t i = 0; i < planes; ++i) {                                                                   \
                const element *out_of = from + h * grid->loops[2].step + i * grid->loops[1].step;                    \
                int64_t left = turns - grid->first, rest = rows;                                                     \
                do {                                                                                                 \
                    move(to, out_of, stream, groups, k, last);                                                       \
                    to += elements;                                                                                  \
                    --left;                                                                                          \
                    out_of += left ? leap : wrap;                                                                    \
                    left = left ? left : turns;                                                                      \
                } while (--rest);                                                                                    \
            }                                                                                                        \
    }
/* The functions for k streams, by the vectors of the last group. */
#define SL_DEFINE_JOINS_2(size, join)                                                                                \
    SL_DEFINE_JOIN_BLOCKS(sl_join_##size##_2_1, 2, join, 1)                                                          \
    SL_DEFINE_JOIN_BLOCKS(sl_join_##size##_2_2, 2, join, 2)                                                          \
    static sl_join_blocks *const sl_joins_##size##_2[] = {sl_join_##size##_2_1, sl_join_##size##_2_2};
#define SL_DEFINE_JOINS_3(size, join)                                                                                \
    SL_DEFINE_JOIN_BLOCKS(sl_join_##size##_3_1, 3, join, 1)                                                          \
    SL_DEFINE_JOIN_BLOCKS(sl_join_##size##_3_2, 3, join, 2)                                                          \
    SL_DEFINE_JOIN_BLOCKS(sl_join_##size##_3_3, 3, join, 3)                                                          \
    static sl_join_blocks *const sl_joins_##size##_3[] = {sl_join_##size##_3_1, sl_join_##size##_3_2,                \
                                                          sl_join_##size##_3_3};
#define SL_DEFINE_JOINS_4(size, join)                                                                                \
    SL_DEFINE_JOIN_BLOCKS(sl_join_##size##_4_1, 4, join, 1)                                                          \
    SL_DEFINE_JOIN_BLOCKS(sl_join_##size##_4_2, 4, join, 2)                                                          \
    SL_DEFINE_JOIN_BLOCKS(sl_join_##size##_4_3, 4, join, 3)                                                          \
    SL_DEFINE_JOIN_BLOCKS(sl_join_##size##_4_4, 4, join, 4)                                                          \
    static sl_join_blocks *const sl_joins_##size##_4[] = {sl_join_##size##_4_1, sl_join_##size##_4_2,                \
                                                          sl_join_##size##_4_3, sl_join_##size##_4_4};
#if SL_VECTOR_BYTES > 16
#define SL_DEFINE_LONG_JOINS(k) SL_DEFINE_JOINS_##k(wide, sl_join_over_wide)
#else
#define SL_DEFINE_LONG_JOINS(k)
#define sl_joins_wide_2 sl_joins_16_2
#define sl_joins_wide_3 sl_joins_16_3
#define sl_joins_wide_4 sl_joins_16_4
#endif
#define SL_DEFINE_JOIN_ROWS(k)                                                                                       \
    SL_DEFINE_JOIN_BLOCKS(sl_join_one_##k, k, sl_join_over_16, 0)                                                    \
    SL_DEFINE_JOINS_##k(16, sl_join_over_16)                                                                         \
    SL_DEFINE_LONG_JOINS(k)                                                                                          \
    SL_OUT_OF_LINE void sl_join_exactly_##k(element *restrict to, const element *restrict from,                      \
                                            const int64_t stream[4], int64_t elements)                               \
    {                                                                                                                \
        for (; elements > 0; to += k * SL_LANES_16, from += SL_LANES_16, elements -= k * SL_LANES_16) {              \
            sl_lanes_16 s[4], v[4];                                                                                  \
            SL_UNROLL                                                                                                \
            for (int i = 0; i < k; ++i)                                                                              \
                s[i] = (sl_lanes_16)sl_load_lanes(from + stream[i], (elements + k - 1 - i) / k);                     \
            SL_ZIP_STREAMS_16(s, v, k);                                                                              \
            SL_UNROLL                                                                                                \
            for (int i = 0; i < k; ++i)                                                                              \
                sl_store_lanes(to + i * SL_LANES_16, (sl_bytes_16)v[i], elements - i * SL_LANES_16);                 \
        }                                                                                                            \
    }

/* Loop number *level* of a grid: whole vectors for as much as neither reads behind the *room* elements of *from* nor
 * writes behind the *behind* elements, of the same grid, that follow it in *to*; the rest exactly. */
SL_OUT_OF_LINE void sl_join_loop_of(element *restrict to, const element *restrict from, int64_t room,
                                    const sl_joined *grid, int level, int64_t behind)
{
    const int64_t count = grid->loops[level].count, extent = grid->loops[level].extent;
    const int64_t step = grid->loops[level].step, to_step = grid->loops[level].to_step;
    const int follows = grid->loops[level].follows;
    int64_t whole = follows && grid->loops[level].reach <= room ? count : 0;
    if (whole > 0 && step > 0) {
        whole = (room - grid->loops[level].reach) / step + 1;
        whole = sl_min(count, level > 0 ? whole : whole * grid->turns - grid->first);
    }
    for (int64_t after = behind + (count - whole) * extent; whole > 0 && after < grid->over; after += extent)
        --whole;
    if (whole > 0)
        grid->join(to, from, grid, level == 0 ? whole : grid->loops[0].count,
                   level == 1 ? whole : level > 1 ? grid->loops[1].count : 1, level == 2 ? whole : 1);
    for (int64_t i = whole; i < count; ++i)
        if (level > 0) {
            sl_join_loop_of(to + i * to_step, from + i * step, room - i * step, grid, level - 1,
                            follows ? behind + (count - 1 - i) * extent : 0);
        } else {
            const int64_t row = grid->first + i;
            grid->exactly(to + i * extent, from + row % grid->turns * grid->leap + row / grid->turns * step,
                          grid->stream, grid->elements);
        }
}

/* Whether longer vectors would cross lines where those of 16 bytes do not: rows begin at multiples of 16 and not of 32.
 * Vectors of three streams take more shuffles then.  AMD's processors were not measured. */
#define SL_JOINS_OVER_BY_16(k)                                                                                       \
    ((k) != 3 && (((uintptr_t)to | (uintptr_t)elements * SL_ELEMENT_SIZE) & 31) == 16 && SL_STORES_WAIT)
/* A grid of joined rows (streams.h) from its first block on, by the functions for k streams. */
SL_OUT_OF_LINE void sl_join_rows(element *restrict to, const element *restrict from, int64_t room,
                                 const int64_t stream[4], int64_t elements, int64_t rows, int64_t first, int64_t turns,
                                 int64_t leap, int64_t step, const sl_join_loop loops[SL_JOIN_LOOPS], int64_t k,
                                 sl_join_blocks *join_one, sl_join_blocks *const *joins_16,
                                 sl_join_blocks *const *joins_wide, sl_join_exactly *exactly)
{
    const int by_16 = elements <= k * SL_LANES_16 || SL_JOINS_OVER_BY_16(k);
    const int64_t lanes = by_16 ? SL_LANES_16 : SL_STREAM_LANES, vectors = (elements + lanes - 1) / lanes;
    int64_t furthest = stream[0];
    for (int64_t i = 1; i < k; ++i)
        furthest = sl_max(furthest, stream[i]);
    sl_joined grid = {{stream[0], stream[1], stream[2], stream[3]},
                      elements,
                      (vectors + k - 1) / k,
                      -elements & (lanes - 1),
                      first,
                      turns,
                      leap,
                      step,
                      {{rows, elements, step, elements, 0, elements >= k}},
                      vectors == 1 ? join_one : (by_16 ? joins_16 : joins_wide)[(vectors - 1) % k],
                      exactly};
    grid.loops[0].reach = furthest + sl_max(0, (turns - 1) * leap) + grid.groups * lanes;
    int64_t before = (first + rows - 1) / turns; /* steps of the loop inside */
    for (int level = 1; level <= SL_JOIN_LOOPS; ++level) {
        const sl_join_loop *const loop = &loops[level - 1];
        grid.loops[level].count = loop->count;
        grid.loops[level].to_step = loop->to_step;
        grid.loops[level].step = loop->step;
        grid.loops[level].extent = grid.loops[level - 1].count * grid.loops[level - 1].extent;
        grid.loops[level].reach = grid.loops[level - 1].reach + before * sl_max(0, grid.loops[level - 1].step);
        grid.loops[level].follows =
            grid.loops[level - 1].follows && (loop->count == 1 || loop->to_step == grid.loops[level].extent);
        before = loop->count - 1;
    }
    sl_join_loop_of(to, from, room, &grid, SL_JOIN_LOOPS, 0);
}
#else
#define SL_HAS_JOIN_OVER 0
#endif
