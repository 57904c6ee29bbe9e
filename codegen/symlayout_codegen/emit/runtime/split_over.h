/* Splits of rows that are shorter than a vector and follow each other in the output: each stream of a row is written as
 * one vector, whose end the next row writes over.
 *
 * Assumes: output and source do not overlap.
 * Needs: half_streams, reach, split_join_vectors. */
#pragma once

#include "half_streams.h"
#include "reach.h"
#include "split_join_vectors.h"

/* Lanes of a cache line. */
#define SL_LINE_LANES (64 / SL_ELEMENT_SIZE)

#if SL_HAS_SHUFFLES
/* Vectors of n lanes for a row, 0 if none: where *loaded* rows follow, it reads nothing behind them, and where *stored*
 * rows follow, the next ones write over what it writes behind the row.  If *ends*, the last two rows are half vectors
 * that end with them. */
typedef struct {
    int64_t n, loaded, stored, ends;
} sl_vectors_over;

SL_INLINE sl_vectors_over sl_choose_over(int64_t columns, int64_t count, int64_t step, const int k)
{
    sl_vectors_over over = {SL_LANES_16, 0, 0, 0};
    if (SL_HAS_HALF_STREAMS && columns <= SL_LANES_16 / 2) {
        over.n = SL_LANES_16 / 2;
        over.ends = columns >= over.n / 2 && count >= 2 && step >= k * (over.n - columns);
        if (over.ends) {
            over.stored = 2;
            return over;
        }
    } else if (columns > SL_LANES_16)
        over.n = k == 4 && SL_ELEMENT_SIZE >= 4 ? 0 : SL_STREAM_LANES; /* more shuffles than of 16 bytes */
    for (int64_t has = columns; has < over.n; has += columns)
        ++over.stored;
    for (int64_t has = k * columns; has < k * over.n && over.loaded < count; has += step)
        ++over.loaded;
    if (sl_max(over.loaded, over.stored) >= count)
        over.n = 0;
    return over;
}

/* Runs *split*##_rows for the rows of each turn whose vectors write nothing behind the turn and read nothing behind it,
 * or behind the last one, *rows* at a time, and *ends* for the others; *readable* rows may be read by vectors. */
#define SL_SPLIT_OVER(lanes, k, split, rows, ends)                                                                   \
    for (int64_t h = 0; h < high; ++h, to += to_leap, from += leap) {                                                \
        const int follows = h < high - 1 && leap >= k * (lanes - columns);                                           \
        const int64_t readable = count - (follows ? 0 : over.loaded), stored = sl_min(readable, count - over.stored);\
        element *restrict into = to;                                                                                 \
        const element *restrict out_of = from;                                                                       \
        int64_t c = 0;                                                                                               \
        for (; c <= stored - (rows); c += rows, into += (rows) * columns, out_of += (rows) * step) {                 \
            if (reach == SL_FETCHED && c % (SL_LINE_LANES / (lanes)) < (rows))                                       \
                sl_fetch_streams(into, to_stride, k);                                                                \
            split##_rows(into, to_stride, columns, out_of, step, k, rows);                                           \
        }                                                                                                            \
        for (; (rows) > 1 && c < stored; ++c, into += columns, out_of += step)                                       \
            split##_rows(into, to_stride, columns, out_of, step, k, 1);                                              \
        SL_SPLIT_LAST(lanes, k)                                                                                      \
        for (; c < count; ++c, into += columns, out_of += step)                                                      \
            SL_SPLIT_EXACTLY(lanes, k, ends)                                                                         \
    }

/* The last two rows of half vectors. */
#if SL_HAS_HALF_STREAMS
#define SL_SPLIT_LAST(lanes, k)                                                                                      \
    if ((lanes) == SL_HALF_LANES && over.ends) {                                                                     \
        sl_split_half_each(into, to_stride, columns, out_of, step, k, 2, 1);                                         \
        continue;                                                                                                    \
    }
#else
#define SL_SPLIT_LAST(lanes, k)
#endif
/* The others, exactly: by masks; or by *ends*, whose vectors have both ends of a row, half of each; or half vectors, if
 * what lies behind the row may be read. */
#if SL_HAS_BYTE_MASKS
#define SL_SPLIT_EXACTLY(lanes, k, ends) sl_split_16(into, to_stride, out_of, k, 0, columns);
#else
#if SL_HAS_HALF_STREAMS
#define SL_SPLIT_IN_PART(lanes, k)                                                                                   \
    if ((lanes) == SL_HALF_LANES && columns > 1 && c < readable)                                                     \
        sl_split_half_part(into, to_stride, out_of, columns, k);                                                     \
    else
#else
#define SL_SPLIT_IN_PART(lanes, k)
#endif
#define SL_SPLIT_EXACTLY(lanes, k, ends)                                                                             \
    SL_SPLIT_IN_PART(lanes, k)                                                                                       \
    if ((lanes) >= SL_LANES_16 && columns >= (lanes) / 2)                                                            \
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

#if SL_HAS_HALF_STREAMS
#define SL_OVER_HALF(k)                                                                                              \
    if (over.n == SL_HALF_LANES)                                                                                     \
        SL_SPLIT_OVER(SL_HALF_LANES, k, sl_split_half, 4, sl_split_ends_wide)                                        \
    else
#else
#define SL_OVER_HALF(k)
#endif
#if SL_VECTOR_BYTES > 16
#define SL_OVER_16(k)                                                                                                \
    if (over.n == SL_LANES_16)                                                                                       \
        SL_SPLIT_OVER(SL_LANES_16, k, sl_split_16, SL_ROWS_OVER(k, SL_LANES_16), sl_split_ends_16)                   \
    else
#else
#define SL_OVER_16(k)
#endif
/* Rows of vectors whose streams are in registers, a line of each at most. */
#define SL_ROWS_OVER(k, lanes) ((k) == 2 ? SL_LINE_LANES / (lanes) : (k) == 3 && (lanes) == SL_LANES_16 ? 2 : 1)
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
        SL_SPLIT_OVER(SL_STREAM_LANES, k, sl_split_wide, SL_ROWS_OVER(k, SL_STREAM_LANES), sl_split_ends_wide)       \
        return 1;                                                                                                    \
    }
/* Columns of the longest such rows.  Masks write a row of more than half of 32 bytes as fast. */
#define SL_OVER_COLUMNS ((SL_HAS_BYTE_MASKS ? SL_LANES_16 : SL_STREAM_LANES) - 1)
#define SL_SPLIT_OVER_ROWS(k)                                                                                        \
    if (to_step == columns && columns <= SL_OVER_COLUMNS && columns != SL_LANES_16 && step > 0 &&                    \
        (SL_HAS_BYTE_SHUFFLES || k != 3) && !(SL_HAS_HALF_STREAMS && k == 4 && columns <= SL_LANES_16 / 4) &&        \
        sl_split_over_##k(to + at, to_stride, from + start, columns, count, step, high, to_leap, leap, reach))       \
        return;                                                                                                      \
    else
#else
#define SL_DEFINE_OVER(k)
#define SL_SPLIT_OVER_ROWS(k)
#endif
