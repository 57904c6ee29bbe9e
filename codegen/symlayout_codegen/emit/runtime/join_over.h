/* Joins to short rows that follow each other in the output: a row is whole vectors, and what they write behind it the
 * next row writes over.
 *
 * Assumes: output and source do not overlap.
 * Needs: short_streams, split_join_vectors. */
#pragma once

#include "short_streams.h"
#include "split_join_vectors.h"

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

/* Defines a row by k whole vectors of n lanes at a time: to[e] = from[stream[e % k] + e / k] for 0 <= e < elements.
 * Vectors behind the row are not stored.  It *is_one* such group, or at least one. */
#define SL_DEFINE_JOIN_OVER(name, join, vector, suffix, n)                                                           \
    SL_ALWAYS_INLINE void name(element *restrict to, const element *restrict from, const int64_t stream[4],          \
                               int64_t elements, const int k, const int is_one)                                      \
    {                                                                                                                \
        for (;; to += k * n, from += n, elements -= k * n) {                                                         \
            const int is_last = is_one || elements <= k * n;                                                         \
            vector s[4], v[4];                                                                                       \
            SL_UNROLL                                                                                                \
            for (int i = 0; i < k; ++i)                                                                              \
                s[i] = (vector)sl_load_##suffix(from + stream[i]);                                                   \
            join##_zip(s, v, k);                                                                                     \
            SL_UNROLL                                                                                                \
            for (int i = 0; i < k; ++i)                                                                              \
                if (i == 0 || !is_last || elements > i * n)                                                          \
                    sl_store_##suffix(to + i * n, (sl_bytes_##suffix)v[i]);                                          \
            if (is_last)                                                                                             \
                return;                                                                                              \
        }                                                                                                            \
    }
#if SL_VECTOR_BYTES > 16
SL_DEFINE_JOIN_OVER(sl_join_over_16, sl_join_16, sl_lanes_16, 16, SL_LANES_16)
SL_DEFINE_JOIN_OVER(sl_join_over_wide, sl_join_wide, sl_lanes_32, 32, SL_LANES_32)
#define SL_ZIP_STREAMS_16 sl_join_16_zip
#else
SL_DEFINE_JOIN_OVER(sl_join_over_16, sl_join_wide, sl_lanes_16, 16, SL_LANES_16)
#define sl_join_over_wide sl_join_over_16
#define SL_ZIP_STREAMS_16 sl_join_wide_zip
#endif

typedef void sl_join_blocks(element *restrict to, const element *restrict from, const int64_t streams[4],
                            int64_t elements, int64_t turn, int64_t turns, int64_t leap, int64_t back, int64_t blocks);
/* Defines *blocks* times *turns* rows by *move*, from row *turn* of the first block on; *back* is what a block begins
 * after the end of the one before.  A function of its own: with more values alive, addresses are kept in memory. */
#define SL_DEFINE_JOIN_BLOCKS(name, k, move)                                                                         \
    SL_OUT_OF_LINE void name(element *restrict to, const element *restrict from, const int64_t streams[4],           \
                             int64_t elements, int64_t turn, int64_t turns, int64_t leap, int64_t back,              \
                             int64_t blocks)                                                                         \
    {                                                                                                                \
        const int64_t stream[4] = {streams[0], streams[1], k > 2 ? streams[2] : 0, k > 3 ? streams[3] : 0};          \
        int64_t left = turns - turn;                                                                                 \
        do {                                                                                                         \
            do {                                                                                                     \
                move;                                                                                                \
                to += elements;                                                                                      \
                from += leap;                                                                                        \
            } while (--left);                                                                                        \
            from += back;                                                                                            \
            left = turns;                                                                                            \
        } while (--blocks);                                                                                          \
    }
/* The same for one row, exactly. */
typedef void sl_join_exactly(element *restrict to, const element *restrict from, const int64_t stream[4],
                             int64_t elements);
#define SL_DEFINE_JOIN_ROWS(k)                                                                                       \
    SL_DEFINE_JOIN_BLOCKS(sl_join_blocks_16_##k, k, sl_join_over_16(to, from, stream, elements, k, 1))               \
    SL_DEFINE_JOIN_BLOCKS(sl_join_blocks_long_##k, k, sl_join_over_wide(to, from, stream, elements, k, 0))           \
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

/* to[r*elements + e] = from[q % turns*leap + q / turns*step + stream[e % k] + e / k] with q = first + r, for 0 <= r <
 * rows, 0 <= e < elements, where 0 <= first < turns, by the functions for k streams.  *from* has *room* elements.
 * Moved exactly are the last rows, which no others write over, and those that are read so near to the end of the room
 * that vectors would read behind it. */
SL_OUT_OF_LINE void sl_join_rows(element *restrict to, const element *restrict from, int64_t room,
                                 const int64_t stream[4], int64_t elements, int64_t rows, int64_t first, int64_t turns,
                                 int64_t leap, int64_t step, int64_t k, sl_join_blocks *join_16,
                                 sl_join_blocks *join_long, sl_join_exactly *exactly)
{
    sl_join_blocks *const join = elements > k * SL_LANES_16 ? join_long : join_16;
    const int64_t lanes = join == join_long ? SL_STREAM_LANES : SL_LANES_16;
    int64_t ahead = (elements + k * lanes - 1) / (k * lanes) * lanes + sl_max(0, (turns - 1) * leap);
    int64_t end = first + rows, furthest = stream[0];
    for (int i = 1; i < k; ++i)
        furthest = sl_max(furthest, stream[i]);
    ahead += furthest;
    for (int64_t over = (lanes - elements % lanes) % lanes; over > 0 && end > 0; over -= elements)
        --end;
    int64_t blocks = elements < k || step <= 0 ? 0 : end / turns, rest = end - blocks * turns;
    for (; blocks > 0 && (blocks - 1) * step + ahead > room; --blocks)
        rest = 0;
    if (blocks > 0) {
        join(to, from + first * leap, stream, elements, first, turns, leap, step - turns * leap, blocks);
        rows -= blocks * turns - first;
        to += (blocks * turns - first) * elements;
        first = 0;
        if (rest > 0 && blocks * step + ahead <= room) {
            join(to, from + blocks * step, stream, elements, 0, rest, leap, 0, 1);
            rows -= rest;
            to += rest * elements;
            first = rest;
        }
    }
    from += blocks * step;
    for (; rows > 0; --rows, to += elements) {
        exactly(to, from + first * leap, stream, elements);
        if (++first == turns) {
            first = 0;
            from += step;
        }
    }
}
#else
#define SL_HAS_JOIN_OVER 0
#endif
