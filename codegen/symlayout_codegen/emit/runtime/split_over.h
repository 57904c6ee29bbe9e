/* Splits of rows that are shorter than a vector and follow each other in the output: each stream of a row is written as
 * one vector, whose end the next row writes over.
 *
 * Assumes: output and source do not overlap.
 * Needs: reach, short_streams, split_join_vectors. */
#pragma once

#include "reach.h"
#include "short_streams.h"
#include "split_join_vectors.h"

/* Lanes of a cache line. */
#define SL_LINE_LANES (64 / SL_ELEMENT_SIZE)

#if SL_HAS_SHUFFLES
/* Half a vector of 16 bytes for each of 4 streams: two vectors are shuffled each by itself, then merged. */
#define SL_HAS_HALF_SPLIT (SL_HAS_SHORT_STREAMS && SL_ELEMENT_SIZE <= 2)
#if SL_HAS_HALF_SPLIT
typedef uint32_t sl_quarters __attribute__((vector_size(16)));
SL_ALWAYS_INLINE void sl_split_quarters(const element *from, const element *last, uint64_t stream[4])
{
    const sl_quarters a = (sl_quarters)SL_SHUFFLE_SHORT(sl_load_16(from), SL_SHORT_SPLIT, 4);
    const sl_quarters b = (sl_quarters)SL_SHUFFLE_SHORT(sl_load_16(last), SL_SHORT_SPLIT, 4);
    const sl_halves low = (sl_halves)__builtin_shufflevector(a, b, 0, 4, 1, 5);
    const sl_halves high = (sl_halves)__builtin_shufflevector(a, b, 2, 6, 3, 7);
    stream[0] = low[0];
    stream[1] = low[1];
    stream[2] = high[0];
    stream[3] = high[1];
}
SL_ALWAYS_INLINE void sl_split_half(element *restrict to, int64_t to_stride, const element *restrict from)
{
    uint64_t stream[4];
    sl_split_quarters(from, from + SL_LANES_16, stream);
    SL_UNROLL
    for (int i = 0; i < 4; ++i)
        memcpy(to + i * to_stride, &stream[i], sizeof stream[i]);
}
/* The same for exactly so many columns: the first and the last quarter of a vector, which overlap. */
SL_ALWAYS_INLINE void sl_split_half_ends(element *restrict to, int64_t to_stride, const element *restrict from,
                                         int64_t columns, const int k)
{
    uint64_t stream[4];
    (void)k;
    sl_split_quarters(from, from + 4 * columns - SL_LANES_16, stream);
    SL_UNROLL
    for (int i = 0; i < 4; ++i) {
        const uint32_t first = (uint32_t)stream[i], rest = (uint32_t)(stream[i] >> 32);
        memcpy(to + i * to_stride, &first, sizeof first);
        memcpy(to + i * to_stride + columns - SL_LANES_16 / 4, &rest, sizeof rest);
    }
}
#endif

/* Vectors of n lanes for a row, 0 if none: where *loaded* rows follow, it reads nothing behind them, and where *stored*
 * rows follow, the next ones write over what it writes behind the row. */
typedef struct {
    int64_t n, loaded, stored;
} sl_vectors_over;

SL_INLINE sl_vectors_over sl_choose_over(int64_t columns, int64_t count, int64_t step, const int k)
{
    sl_vectors_over over = {SL_LANES_16, 0, 0};
    if (SL_HAS_HALF_SPLIT && k == 4 && columns < SL_LANES_16 / 2)
        over.n = SL_LANES_16 / 2;
    else if (columns > SL_LANES_16)
        over.n = k == 4 && SL_ELEMENT_SIZE >= 4 ? 0 : SL_STREAM_LANES; /* more shuffles than of 16 bytes */
    for (int64_t has = columns; has < over.n; has += columns)
        ++over.stored;
    for (int64_t has = k * columns; has < k * over.n && over.loaded < count; has += step)
        ++over.loaded;
    if (sl_max(over.loaded, over.stored) >= count)
        over.n = 0;
    return over;
}

/* Runs *move*(to, to_stride, from) for the rows of each turn whose vectors write nothing behind the turn and read
 * nothing behind it, or behind the last one, and what follows for the others. */
#define SL_SPLIT_OVER(lanes, k, move, ends)                                                                          \
    for (int64_t h = 0; h < high; ++h, to += to_leap, from += leap) {                                                \
        const int follows = h < high - 1 && leap >= k * (lanes - columns);                                           \
        const int64_t stored = count - (follows ? over.stored : sl_max(over.loaded, over.stored));                   \
        element *restrict into = to;                                                                                 \
        const element *restrict out_of = from;                                                                       \
        int64_t c = 0;                                                                                               \
        if (reach == SL_FETCHED)                                                                                     \
            for (; c < stored; ++c, into += columns, out_of += step) {                                               \
                if (c % (SL_LINE_LANES / (lanes)) == 0)                                                              \
                    sl_fetch_streams(into, to_stride, k);                                                            \
                move(into, to_stride, out_of);                                                                       \
            }                                                                                                        \
        for (; c < stored; ++c, into += columns, out_of += step)                                                     \
            move(into, to_stride, out_of);                                                                           \
        for (; c < count; ++c, into += columns, out_of += step)                                                      \
            SL_SPLIT_EXACTLY(lanes, k, ends)                                                                         \
    }

/* The others, exactly: by masks; or by *ends*, whose vectors have both ends of a row, half of each. */
#if SL_HAS_BYTE_MASKS
#define SL_SPLIT_EXACTLY(lanes, k, ends) sl_split_16(into, to_stride, out_of, k, 0, columns);
#else
#define SL_SPLIT_EXACTLY(lanes, k, ends)                                                                             \
    if (columns >= (lanes) / 2)                                                                                      \
        ends(into, to_stride, out_of, columns, k);                                                                   \
    else                                                                                                             \
        for (int i = 0; i < k; ++i)                                                                                  \
            for (int64_t j = 0; j < columns; ++j)                                                                    \
                into[i * to_stride + j] = out_of[i + j * k];

/* Defines such a split of a row of at least half of n columns, and less than n. */
#define SL_DEFINE_SPLIT_ENDS(name, split, vector, words, half, suffix, half_suffix, low, high, both, n)              \
    typedef uint64_t words __attribute__((vector_size(n * SL_ELEMENT_SIZE)));                                        \
    SL_ALWAYS_INLINE void name(element *restrict to, int64_t to_stride, const element *restrict from,                \
                               int64_t columns, const int k)                                                         \
    {                                                                                                                \
        const element *const last = from + k * columns - k * n;                                                      \
        vector v[4], stream[4];                                                                                      \
        SL_UNROLL                                                                                                    \
        for (int i = 0; i < k; ++i)                                                                                  \
            if (2 * i + 1 == k)                                                                                      \
                v[i] = (vector)both((half)sl_load_##half_suffix(from + i * n),                                       \
                                    (half)sl_load_##half_suffix(last + i * n + n / 2));                              \
            else                                                                                                     \
                v[i] = split##_load((2 * i < k ? from : last) + i * n, 1, n);                                        \
        split##_streams(v, stream, k);                                                                               \
        SL_UNROLL                                                                                                    \
        for (int i = 0; i < k; ++i) {                                                                                \
            sl_store_##half_suffix(to + i * to_stride, (sl_bytes_##half_suffix)low((words)stream[i]));               \
            sl_store_##half_suffix(to + i * to_stride + columns - n / 2,                                             \
                                   (sl_bytes_##half_suffix)high((words)stream[i]));                                  \
        }                                                                                                            \
    }
#define SL_LOW_WORD(v) (v)[0]
#define SL_HIGH_WORD(v) (v)[1]
#define SL_BOTH_WORDS(low, high) ((sl_words_of_16){low, high})
#if SL_VECTOR_BYTES > 16
typedef uint64_t sl_words_of_half __attribute__((vector_size(16)));
#define SL_LOW_WORDS(v) __builtin_shufflevector(v, v, 0, 1)
#define SL_HIGH_WORDS(v) __builtin_shufflevector(v, v, 2, 3)
#define SL_BOTH_HALVES(low, high) __builtin_shufflevector(low, high, 0, 1, 2, 3)
SL_DEFINE_SPLIT_ENDS(sl_split_ends_16, sl_split_16, sl_lanes_16, sl_words_of_16, uint64_t, 16, 8, SL_LOW_WORD,
                     SL_HIGH_WORD, SL_BOTH_WORDS, SL_LANES_16)
SL_DEFINE_SPLIT_ENDS(sl_split_ends_wide, sl_split_wide, sl_lanes_stream, sl_words_of_32, sl_words_of_half, 32, 16,
                     SL_LOW_WORDS, SL_HIGH_WORDS, SL_BOTH_HALVES, SL_LANES_32)
#else
SL_DEFINE_SPLIT_ENDS(sl_split_ends_wide, sl_split_wide, sl_lanes_stream, sl_words_of_16, uint64_t, 16, 8, SL_LOW_WORD,
                     SL_HIGH_WORD, SL_BOTH_WORDS, SL_LANES_16)
#endif
#endif

#if SL_HAS_HALF_SPLIT
#define SL_MOVE_HALF(to, to_stride, from) sl_split_half(to, to_stride, from)
#define SL_OVER_HALF(k)                                                                                              \
    if ((k) == 4 && over.n == SL_LANES_16 / 2)                                                                       \
        SL_SPLIT_OVER(SL_LANES_16 / 2, k, SL_MOVE_HALF, sl_split_half_ends)                                          \
    else
#else
#define SL_OVER_HALF(k)
#endif
#if SL_VECTOR_BYTES > 16
#define SL_OVER_16(k)                                                                                                \
    if (over.n == SL_LANES_16)                                                                                       \
        SL_SPLIT_OVER(SL_LANES_16, k, SL_MOVE_16_##k, sl_split_ends_16)                                              \
    else
#define SL_MOVE_16_2(to, to_stride, from) sl_split_16(to, to_stride, from, 2, 1, SL_LANES_16)
#define SL_MOVE_16_3(to, to_stride, from) sl_split_16(to, to_stride, from, 3, 1, SL_LANES_16)
#define SL_MOVE_16_4(to, to_stride, from) sl_split_16(to, to_stride, from, 4, 1, SL_LANES_16)
#else
#define SL_OVER_16(k)
#endif
#define SL_MOVE_WIDE_2(to, to_stride, from) sl_split_wide(to, to_stride, from, 2, 1, SL_STREAM_LANES)
#define SL_MOVE_WIDE_3(to, to_stride, from) sl_split_wide(to, to_stride, from, 3, 1, SL_STREAM_LANES)
#define SL_MOVE_WIDE_4(to, to_stride, from) sl_split_wide(to, to_stride, from, 4, 1, SL_STREAM_LANES)
/* Defines such a split, which is 0 if it has done nothing. */
#define SL_DEFINE_OVER(k)                                                                                            \
    SL_OUT_OF_LINE int sl_split_over_##k(element *restrict to, int64_t to_stride, const element *restrict from,      \
                                         int64_t columns, int64_t count, int64_t step, int64_t high,                 \
                                         int64_t to_leap, int64_t leap, int reach)                                   \
    {                                                                                                                \
        const sl_vectors_over over = sl_choose_over(columns, count, step, k);                                        \
        if (!over.n)                                                                                                 \
            return 0;                                                                                                \
        SL_OVER_HALF(k)                                                                                              \
        SL_OVER_16(k)                                                                                                \
        SL_SPLIT_OVER(SL_STREAM_LANES, k, SL_MOVE_WIDE_##k, sl_split_ends_wide)                                      \
        return 1;                                                                                                    \
    }
/* Columns of the longest such rows.  Masks write a row of more than half of 32 bytes as fast. */
#define SL_OVER_COLUMNS ((SL_HAS_BYTE_MASKS ? SL_LANES_16 : SL_STREAM_LANES) - 1)
#define SL_SPLIT_OVER_ROWS(k)                                                                                        \
    if (to_step == columns && columns <= SL_OVER_COLUMNS && columns != SL_LANES_16 && step > 0 &&                    \
        (SL_HAS_BYTE_SHUFFLES || k != 3) &&                                                                          \
        sl_split_over_##k(to + at, to_stride, from + start, columns, count, step, high, to_leap, leap, reach))       \
        return;                                                                                                      \
    else
#else
#define SL_DEFINE_OVER(k)
#define SL_SPLIT_OVER_ROWS(k)
#endif
