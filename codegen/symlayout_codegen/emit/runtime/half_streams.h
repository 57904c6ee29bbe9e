/* Streams of half a vector: rows of k streams of 8 bytes each, by shuffles of one or two vectors of 16 bytes.
 *
 * Assumes: output and source do not overlap.
 * Needs: short_streams. */
#pragma once

#include "short_streams.h"

/* Such streams have two elements or more. */
#define SL_HAS_HALF_STREAMS (SL_HAS_SHORT_STREAMS && SL_ELEMENT_SIZE <= 2)
#if SL_HAS_HALF_STREAMS
#define SL_HALF_LANES (SL_LANES_16 / 2)
typedef double sl_halves_of_streams __attribute__((vector_size(16))); /* so that gcc stores the second half as it is */
typedef double sl_half_anywhere __attribute__((aligned(1), may_alias));
typedef uint32_t sl_quarters __attribute__((vector_size(16)));

/* Lane i of three streams' halves, from stream s on, or of stream s alone, in the first and the last n of their
 * elements. */
#define SL_OF_FIRST_OR_LAST(x, n) ((x) < (n) ? (x) : (x) + (n) / 2)
#define SL_HALVES_OF_THREE(i, n, s) SL_OF_FIRST_OR_LAST((i) % ((n) / 2) * 3 + ((s) + (i) / ((n) / 2)) % 3, n)

SL_ALWAYS_INLINE void sl_store_half(void *to, sl_halves_of_streams v, const int half)
{
    *(sl_half_anywhere *)to = half ? v[1] : v[0];
}

/* A row, in one vector for two streams, else two, and its streams, two in a vector. */
SL_ALWAYS_INLINE void sl_split_half_load(const element *from, sl_lanes_16 v[2], const int k)
{
    v[0] = (sl_lanes_16)sl_load_16(from);
    if (k > 2)
        v[1] = (sl_lanes_16)sl_load_16(from + (k - 2) * SL_HALF_LANES);
}
SL_ALWAYS_INLINE void sl_split_half_streams(const sl_lanes_16 v[2], sl_halves_of_streams streams[2], const int k)
{
    if (k == 2) {
        streams[0] = (sl_halves_of_streams)SL_SHUFFLE_SHORT(v[0], SL_SHORT_SPLIT, 2);
    } else if (k == 3) {
        streams[0] = (sl_halves_of_streams)__builtin_shufflevector(
            v[0], v[1], SL_EACH_OF_16(SL_HALVES_OF_THREE, 0, SL_LANES_16, 0));
        streams[1] = (sl_halves_of_streams)__builtin_shufflevector(
            v[0], v[1], SL_EACH_OF_16(SL_HALVES_OF_THREE, 0, SL_LANES_16, 2));
    } else {
        const sl_quarters a = (sl_quarters)SL_SHUFFLE_SHORT(v[0], SL_SHORT_SPLIT, 4);
        const sl_quarters b = (sl_quarters)SL_SHUFFLE_SHORT(v[1], SL_SHORT_SPLIT, 4);
        streams[0] = (sl_halves_of_streams)__builtin_shufflevector(a, b, 0, 4, 1, 5);
        streams[1] = (sl_halves_of_streams)__builtin_shufflevector(a, b, 2, 6, 3, 7);
    }
}
/* Rows *step* apart, so many that their streams are in registers: each stream of all of them is written at once.  What
 * a row reads and writes behind its own is the next ones'; but if the row is the *last* one, a literal, its vectors end
 * with it, and have the end of the row before in front: rows of half of so many lanes at least. */
SL_ALWAYS_INLINE void sl_split_half_each(element *restrict to, int64_t to_stride, int64_t to_step,
                                         const element *restrict from, int64_t step, const int k, const int rows,
                                         const int last)
{
    const int64_t back = SL_HALF_LANES - to_step;
    const uint64_t bits = 8 * SL_ELEMENT_SIZE * (uint64_t)back;
    sl_halves_of_streams streams[4][2];
    SL_UNROLL
    for (int r = 0; r < rows; ++r) {
        sl_lanes_16 v[2];
        sl_split_half_load(from + r * step - (last && r == rows - 1 ? k * back : 0), v, k);
        sl_split_half_streams(v, streams[r], k);
    }
    if (last)
        SL_UNROLL
        for (int i = 0; i < (k + 1) / 2; ++i) {
            const sl_halves before = (sl_halves)streams[rows - 2][i] << bits >> 1 >> (63 - bits);
            const sl_halves row = (sl_halves)streams[rows - 1][i] >> bits << bits;
            streams[rows - 1][i] = (sl_halves_of_streams)(before | row);
        }
    SL_UNROLL
    for (int i = 0; i < k; ++i)
        SL_UNROLL
        for (int r = 0; r < rows; ++r)
            sl_store_half(to + i * to_stride + r * to_step - (last && r == rows - 1 ? back : 0), streams[r][i / 2],
                          i % 2);
}
#define sl_split_half_rows(to, to_stride, to_step, from, step, k, rows)                                              \
    sl_split_half_each(to, to_stride, to_step, from, step, k, rows, 0)
/* One row, of vectors that were loaded, or not; and the half of a vector. */
SL_ALWAYS_INLINE void sl_split_half_out(element *restrict to, int64_t to_stride, const sl_lanes_16 v[2], const int k,
                                        const int whole, int64_t count)
{
    sl_halves_of_streams streams[2];
    (void)whole, (void)count;
    sl_split_half_streams(v, streams, k);
    SL_UNROLL
    for (int i = 0; i < k; ++i)
        sl_store_half(to + i * to_stride, streams[i / 2], i % 2);
}
#define sl_split_half(to, to_stride, from, k, whole, count) sl_split_half_rows(to, to_stride, 0, from, 0, k, 1)
#define sl_split_half_store(to, v, whole, count) sl_store_half(to, (sl_halves_of_streams)(v), 0)

/* The first *columns* of a row, 2 bytes and more; it may read behind them. */
SL_ALWAYS_INLINE void sl_split_half_part(element *restrict to, int64_t to_stride, const element *restrict from,
                                         int64_t columns, const int k)
{
    sl_lanes_16 v[2];
    sl_halves_of_streams streams[2];
    sl_split_half_load(from, v, k);
    sl_split_half_streams(v, streams, k);
    SL_UNROLL
    for (int i = 0; i < k; ++i)
        sl_store_few((unsigned char *)(to + i * to_stride), ((sl_halves)streams[i / 2])[i % 2],
                     columns * SL_ELEMENT_SIZE);
}
#endif
