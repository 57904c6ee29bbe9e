/* Streams of short rows: those that a vector of 16 bytes holds, with all k streams of it.
 *
 * Assumes: output and source do not overlap.
 * Needs: reach, split_join_vectors. */
#pragma once

#include "reach.h"
#include "split_join_vectors.h"

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
/* So many rows, of at most 8 bytes, follow a fetch of their lines. */
#define SL_ROWS_OF_A_FETCH 4
/* Runs *move*(load, store) for each row of each turn: 0 for a vector, 1 for exactly the row.  If it *fetches*, runs
 * *fetch* before some of them. */
#define SL_FOR_EACH_SHORT_ROW(move, fetches, fetch)                                                                  \
    for (int64_t h = 0; h < high; ++h, to += to_leap, from += leap) {                                                \
        unsigned char *into = (unsigned char *)to;                                                                   \
        const unsigned char *out_of = (const unsigned char *)from;                                                   \
        int64_t c = 0;                                                                                               \
        if (fetches)                                                                                                 \
            for (; c < sl_min(loaded, stored); ++c, into += next, out_of += after) {                                 \
                if (c % SL_ROWS_OF_A_FETCH == 0)                                                                     \
                    fetch;                                                                                           \
                move(0, 0);                                                                                          \
            }                                                                                                        \
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
                                           int64_t high, int64_t to_leap, int64_t leap, int reach)                   \
    {                                                                                                                \
        const int64_t loaded = sl_rows_to_load(k * columns, SL_LANES_16, step, count);                               \
        const int64_t stored = sl_rows_to_store(columns, SL_LANES_16 / k, to_step, count);                           \
        const int64_t bytes = columns * SL_ELEMENT_SIZE, stride = to_stride * SL_ELEMENT_SIZE;                       \
        const int64_t next = to_step * SL_ELEMENT_SIZE, after = step * SL_ELEMENT_SIZE;                              \
        SL_FOR_EACH_SHORT_ROW(SL_SPLIT_ROW_##k, reach == SL_FETCHED, sl_fetch_streams((element *)into, to_stride, k)) \
    }                                                                                                                \
    SL_OUT_OF_LINE void sl_join_short_##k(element *restrict to, const element *restrict from, int64_t from_stride,   \
                                          int64_t rows, int64_t count, int64_t to_step, int64_t step, int64_t high,  \
                                          int64_t to_leap, int64_t leap)                                             \
    {                                                                                                                \
        const int64_t loaded = sl_rows_to_load(rows, SL_LANES_16 / k, step, count);                                  \
        const int64_t stored = sl_rows_to_store(k * rows, SL_LANES_16, to_step, count);                              \
        const int64_t bytes = rows * SL_ELEMENT_SIZE, stride = from_stride * SL_ELEMENT_SIZE;                        \
        const int64_t next = to_step * SL_ELEMENT_SIZE, after = step * SL_ELEMENT_SIZE;                              \
        SL_FOR_EACH_SHORT_ROW(SL_JOIN_ROW_##k, 0, (void)0)                                                           \
    }
/* Whether rows are short, and neither vectors of 8 bytes nor masks move them as well: those take longer for four
 * streams, and masks for a row of two that a vector holds exactly. */
#if SL_HAS_BYTE_MASKS
#define SL_IS_SHORT(run, k, makes, splits)                                                                           \
    ((k) == 2 ? (splits) && (run) == SL_LANES_16 / 2                                                                 \
              : (run) == SL_LANES_16 / k || ((run) > 1 && (run) < SL_LANES_16 / k && to_step == (makes)))
#else
#define SL_IS_SHORT(run, k, makes, splits) ((run) > 1 && (run) < SL_LANES_16 / k + ((k) == 4))
#endif
#define SL_SPLIT_SHORT(k)                                                                                            \
    if (SL_IS_SHORT(columns, k, columns, 1))                                                                         \
        sl_split_short_##k(to + at, to_stride, from + start, columns, count, to_step, step, high, to_leap, leap,     \
                           reach);                                                                                   \
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
