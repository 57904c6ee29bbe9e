/* Dealt rows: the rows of planes that are dealt out to streams by vectors, and the fill between the planes.
 *
 * Assumes: output and source do not overlap.
 * Needs: copy, half_streams, reach, split_join. */
#pragma once

#include "copy.h"
#include "half_streams.h"
#include "reach.h"
#include "split_join.h"

/* Planes of rows whose output is contiguous in each stream: *turns* of them, *count* rows each; the first one is number
 * *plane* of the *planes* of its image.  The source moves by *leap* from plane to plane and by *jump* from the last
 * plane to the next image; *gap* and *margin* elements of fill lie between.  *first* planes before them, 0
 * or 1, and *last* planes after them are not written by whole vectors, which have *lanes* elements. */
typedef struct {
    int64_t turns, count, to_step, step, plane, planes, leap, jump, gap, margin, first, last, lanes;
} sl_planes;

/* The rows that follow, of k streams, a literal: to[c*to_step + i*to_stride + j] for 0 <= c < count, 0 <= i < k,
 * 0 <= j < columns, with i + k*j = n, is from[c*step + n] where low <= n < high, elsewhere *value*. */
#if SL_HAS_SHUFFLES
/* Runs the code that it is given for each row of each plane, but for the first *exact* rows, and fills in between by
 * vectors of n, which may write over the begin of the next rows where there are no masks.  Fill of a line and more is
 * fetched. */
#define SL_FOR_EACH_DEALT(k, split, n, fill, exact, ...)                                                             \
    {                                                                                                                \
        const int64_t count = dealt->count, to_step = dealt->to_step, step = dealt->step;                            \
        for (int64_t turn = 0, plane = dealt->plane;;) {                                                             \
            const element *restrict out_of = from;                                                                   \
            for (int64_t c = exact; c < count; ++c, to += to_step, out_of += step) {                                 \
                sl_fetch_row(reach, to, to_stride, columns, k);                                                      \
                __VA_ARGS__                                                                                          \
            }                                                                                                        \
            if (++turn >= dealt->turns)                                                                              \
                break;                                                                                               \
            const int turned = ++plane == dealt->planes;                                                             \
            const int64_t gap = turned ? dealt->margin : dealt->gap;                                                 \
            if (gap >= SL_LINE_LANES)                                                                                \
                sl_fetch_row(reach, to, to_stride, gap, k);                                                          \
            for (int64_t j = 0; j < gap; j += n)                                                                     \
                for (int i = 0; i < k; ++i)                                                                          \
                    split##_store(to + i * to_stride + j, fill, !SL_HAS_BYTE_MASKS, sl_min(n, gap - j));             \
            to += gap;                                                                                               \
            from += turned ? dealt->jump : dealt->leap;                                                              \
            plane = turned ? 0 : plane;                                                                              \
        }                                                                                                            \
    }
#endif
#if SL_HAS_SHUFFLES && SL_HAS_BYTE_MASKS
/* Defines the step of a row: vector i of the source is read where mask[i] has a bit, and is *fill* elsewhere. */
#define SL_DEFINE_DEAL_STEP(name, split, vector, suffix, n)                                                          \
    SL_ALWAYS_INLINE void name##_masks(uint64_t mask[4], int64_t low, int64_t high, const int k)                     \
    {                                                                                                                \
        for (int i = 0; i < k; ++i)                                                                                  \
            mask[i] = sl_byte_range(low - i * n, high - i * n);                                                      \
    }                                                                                                                \
    SL_ALWAYS_INLINE void name(element *restrict to, int64_t to_stride, const element *from, const uint64_t mask[4], \
                               const int k, const int whole, int64_t count, vector fill)                             \
    {                                                                                                                \
        vector v[4];                                                                                                 \
        for (int i = 0; i < k; ++i)                                                                                  \
            v[i] = (vector)sl_masked_merge_##suffix((sl_bytes_##suffix)fill, from + i * n, mask[i]);                 \
        split##_out(to, to_stride, v, k, whole, count);                                                              \
    }
SL_DEFINE_DEAL_STEP(sl_deal_wide, sl_split_wide, sl_lanes_stream, 32, SL_STREAM_LANES)
SL_DEFINE_DEAL_STEP(sl_deal_16, sl_split_16, sl_lanes_16, 16, SL_LANES_16)

/* Rows by masks.  A vector may begin before the array: the mask has no bit there. */
SL_ALWAYS_INLINE void sl_deal_rows(element *restrict to, int64_t to_stride, const element *restrict from,
                                   int64_t columns, int64_t low, int64_t high, element value, const sl_planes *dealt,
                                   int reach, const int k)
{
    sl_lane lane;
    memcpy(&lane, &value, sizeof lane);
    const sl_lanes_stream fill = (sl_lanes_stream){0} + lane;
    const int64_t end = (columns - 1) / SL_STREAM_LANES * SL_STREAM_LANES;
    uint64_t mask[4], last[4];
    if (columns <= SL_LANES_16) {
        sl_deal_16_masks(mask, low, high, k);
        SL_FOR_EACH_DEALT(k, sl_split_wide, SL_STREAM_LANES, fill, 0,
                          sl_deal_16(to, to_stride, out_of, mask, k, 0, columns, (sl_lanes_16){0} + lane);)
    } else if (columns < SL_STREAM_LANES) {
        sl_deal_wide_masks(mask, low, high, k);
        SL_FOR_EACH_DEALT(k, sl_split_wide, SL_STREAM_LANES, fill, 0,
                          sl_deal_wide(to, to_stride, out_of, mask, k, 0, columns, fill);)
    } else if (columns == SL_STREAM_LANES + 1 && low <= k * SL_STREAM_LANES) { /* the last column by itself */
        sl_deal_wide_masks(mask, low, high, k);
        SL_FOR_EACH_DEALT(k, sl_split_wide, SL_STREAM_LANES, fill, 0, {
            sl_deal_wide(to, to_stride, out_of, mask, k, 1, SL_STREAM_LANES, fill);
            for (int i = 0; i < k; ++i)
                to[i * to_stride + end] = k * end + i < high ? out_of[k * end + i] : value;
        })
    } else if (low <= k * SL_STREAM_LANES && high >= k * end) { /* only the first and the last vectors are cut */
        sl_deal_wide_masks(mask, low, high, k);
        sl_deal_wide_masks(last, low - k * end, high - k * end, k);
        SL_FOR_EACH_DEALT(k, sl_split_wide, SL_STREAM_LANES, fill, 0, {
            sl_deal_wide(to, to_stride, out_of, mask, k, 1, SL_STREAM_LANES, fill);
            for (int64_t j = SL_STREAM_LANES; j < end; j += SL_STREAM_LANES)
                sl_split_wide(to + j, to_stride, out_of + k * j, k, 1, SL_STREAM_LANES);
            if (end > 0)
                sl_deal_wide(to + end, to_stride, out_of + k * end, last, k, 0, columns - end, fill);
        })
    } else
        SL_FOR_EACH_DEALT(k, sl_split_wide, SL_STREAM_LANES, fill, 0, {
            for (int64_t j = 0; j < columns; j += SL_STREAM_LANES) {
                const int64_t column = sl_min(j, columns - SL_STREAM_LANES);
                sl_deal_wide_masks(mask, low - k * column, high - k * column, k);
                sl_deal_wide(to + column, to_stride, out_of + k * column, mask, k, 1, SL_STREAM_LANES, fill);
            }
        })
}
#define SL_DEFINE_DEAL_ROWS(k)                                                                                       \
    SL_OUT_OF_LINE void sl_deal_rows_##k(element *restrict to, int64_t to_stride, const element *restrict from,      \
                                         int64_t columns, int64_t low, int64_t high, element value,                  \
                                         const sl_planes *dealt, int reach)                                          \
    {                                                                                                                \
        sl_deal_rows(to, to_stride, from, columns, low, high, value, dealt, reach, k);                               \
    }
SL_DEFINE_DEAL_ROWS(2)
SL_DEFINE_DEAL_ROWS(3)
SL_DEFINE_DEAL_ROWS(4)
#elif SL_HAS_SHUFFLES
/* The bytes of lanes: outside, inside, outside. */
#define SL_IS_INSIDE(i, n) ((i) >= (n) && (i) < 2 * (n) ? 255 : 0)
static const unsigned char sl_inside[96] = {SL_LIST_64(SL_IS_INSIDE, 0, 32), SL_LIST_32(SL_IS_INSIDE, 64, 32)};

/* The vectors of m lanes that read k streams of n elements, and where they begin: the last one ends with them. */
#define SL_DEALT_VECTORS(k, n, m) (((k) * (n) + (m) - 1) / (m))
#define SL_DEALT_AT(i, k, n, m) ((i) < SL_DEALT_VECTORS(k, n, m) - 1 ? (i) * (m) : (k) * (n) - (m))

/* Defines rows of vectors of m lanes, with n elements of each stream, which may read beside a row: lanes outside are
 * replaced by the fill value.
 * Requires low <= k*n and high >= k*(columns - n): the vectors between are inside.  Fewer columns than n are one
 * vector of each stream, written over the begin of the next row, but for the last *exact* rows, 0 or 1, which write
 * nothing beside them.  Of more columns, the last vectors overlap the ones before. */
#define SL_DEFINE_DEAL_LANES(name, split, vector, suffix, n, m)                                                      \
    SL_ALWAYS_INLINE void name##_lanes(vector inside[4], vector outside[4], int64_t low, int64_t high,               \
                                       sl_lane value, const int k)                                                   \
    {                                                                                                                \
        for (int i = 0; i < SL_DEALT_VECTORS(k, n, m); ++i) {                                                        \
            const int64_t at = SL_DEALT_AT(i, k, n, m);                                                              \
            const int64_t begin = sl_max(0, sl_min(low - at, m)), end = sl_max(0, sl_min(high - at, m));             \
            inside[i] = (vector)sl_load_##suffix(sl_inside + 32 - begin * SL_ELEMENT_SIZE) &                         \
                        (vector)sl_load_##suffix(sl_inside + 64 - end * SL_ELEMENT_SIZE);                            \
            outside[i] = ~inside[i] & value;                                                                         \
        }                                                                                                            \
    }                                                                                                                \
    SL_ALWAYS_INLINE void name##_step(element *restrict to, int64_t to_stride, const element *from,                  \
                                      const vector inside[4], const vector outside[4], const int k)                  \
    {                                                                                                                \
        vector v[4];                                                                                                 \
        SL_UNROLL                                                                                                    \
        for (int i = 0; i < SL_DEALT_VECTORS(k, n, m); ++i)                                                          \
            v[i] = ((vector)sl_load_##suffix(from + SL_DEALT_AT(i, k, n, m)) & inside[i]) | outside[i];              \
        split##_out(to, to_stride, v, k, 1, n);                                                                      \
    }
/* The last columns of two streams, where half a vector of each holds them. */
#if SL_HAS_HALF_STREAMS && SL_VECTOR_BYTES == 16
#define SL_DEAL_BY_HALF(k, n, name, split)                                                                           \
    else if (k == 2 && n == SL_LANES_16 && (columns - 1) % n < n / 2 && high >= columns * 2 - n) {                   \
        const int64_t end = columns - n / 2;                                                                         \
        sl_lanes_16 last_inside[4], last_outside[4];                                                                 \
        sl_deal_rows_8_lanes(last_inside, last_outside, low - k * end, high - k * end, value, k);                    \
        SL_FOR_EACH_DEALT(k, split, n, fill, 0, {                                                                    \
            name##_step(to, to_stride, out_of, inside, outside, k);                                                  \
            for (int64_t j = n; j < end; j += n)                                                                     \
                split(to + j, to_stride, out_of + k * j, k, 1, n);                                                   \
            sl_deal_rows_8_step(to + end, to_stride, out_of + k * end, last_inside, last_outside, k);                \
        })                                                                                                           \
    }
#else
#define SL_DEAL_BY_HALF(k, n, name, split)
#endif

#define SL_DEFINE_DEAL_ROWS(name, k, split, vector, n)                                                               \
    SL_OUT_OF_LINE void name##_##k(element *restrict to, int64_t to_stride, const element *restrict from,            \
                                   int64_t columns, int64_t low, int64_t high, sl_lane value,                        \
                                   const sl_planes *dealt, int64_t exact, int reach)                                 \
    {                                                                                                                \
        const vector fill = (vector){0} + value;                                                                     \
        vector inside[4], outside[4];                                                                                \
        name##_lanes(inside, outside, low, high, value, k);                                                          \
        if (columns <= n) {                                                                                          \
            SL_FOR_EACH_DEALT(k, split, n, fill, exact, name##_step(to, to_stride, out_of, inside, outside, k);)     \
            if (exact && columns >= n / 2) {                                                                         \
                element row[4 * n];                                                                                  \
                name##_step(row, n, from + (dealt->count - 1) * dealt->step, inside, outside, k);                    \
                for (int i = 0; i < k; ++i)                                                                          \
                    sl_copy_overlapping_ends((unsigned char *)(to + i * to_stride), (unsigned char *)(row + i * n),  \
                                             (size_t)columns * SL_ELEMENT_SIZE, n * SL_ELEMENT_SIZE / 2);            \
            }                                                                                                        \
        } else if (columns == n + 1) { /* the last column by itself */                                               \
            element other;                                                                                           \
            memcpy(&other, &value, sizeof other);                                                                    \
            SL_FOR_EACH_DEALT(k, split, n, fill, 0, {                                                                \
                name##_step(to, to_stride, out_of, inside, outside, k);                                              \
                for (int i = 0; i < k; ++i)                                                                          \
                    to[i * to_stride + n] = k * n + i < high ? out_of[k * n + i] : other;                            \
            })                                                                                                       \
        }                                                                                                            \
        SL_DEAL_BY_HALF(k, n, name, split)                                                                           \
        else {                                                                                                       \
            const int64_t end = columns - n;                                                                         \
            vector last_inside[4], last_outside[4];                                                                  \
            name##_lanes(last_inside, last_outside, low - k * end, high - k * end, value, k);                        \
            SL_FOR_EACH_DEALT(k, split, n, fill, 0, {                                                                \
                name##_step(to, to_stride, out_of, inside, outside, k);                                              \
                for (int64_t j = n; j < end; j += n)                                                                 \
                    split(to + j, to_stride, out_of + k * j, k, 1, n);                                               \
                name##_step(to + end, to_stride, out_of + k * end, last_inside, last_outside, k);                    \
            })                                                                                                       \
        }                                                                                                            \
    }
#ifdef SL_LANES_8
#if SL_HAS_HALF_STREAMS
SL_DEFINE_DEAL_LANES(sl_deal_rows_8, sl_split_half, sl_lanes_16, 16, SL_LANES_8, SL_LANES_16)
#define SL_DEFINE_DEAL_8(k) SL_DEFINE_DEAL_ROWS(sl_deal_rows_8, k, sl_split_half, sl_lanes_16, SL_LANES_8)
#else
SL_DEFINE_DEAL_LANES(sl_deal_rows_8, sl_split_8, sl_lanes_8, 8, SL_LANES_8, SL_LANES_8)
#define SL_DEFINE_DEAL_8(k) SL_DEFINE_DEAL_ROWS(sl_deal_rows_8, k, sl_split_8, sl_lanes_8, SL_LANES_8)
#endif
#else
#define SL_DEFINE_DEAL_8(k)
#endif
#if SL_VECTOR_BYTES > 16
SL_DEFINE_DEAL_LANES(sl_deal_rows_wide, sl_split_wide, sl_lanes_stream, 32, SL_STREAM_LANES, SL_STREAM_LANES)
SL_DEFINE_DEAL_LANES(sl_deal_rows_16, sl_split_16, sl_lanes_16, 16, SL_LANES_16, SL_LANES_16)
#define SL_DEFINE_DEAL_16(k) SL_DEFINE_DEAL_ROWS(sl_deal_rows_16, k, sl_split_16, sl_lanes_16, SL_LANES_16)
#else
SL_DEFINE_DEAL_LANES(sl_deal_rows_wide, sl_split_wide, sl_lanes_stream, 16, SL_STREAM_LANES, SL_STREAM_LANES)
#define SL_DEFINE_DEAL_16(k)
#endif
#define SL_DEFINE_DEAL_VECTORS(k)                                                                                    \
    SL_DEFINE_DEAL_8(k)                                                                                              \
    SL_DEFINE_DEAL_16(k)                                                                                             \
    SL_DEFINE_DEAL_ROWS(sl_deal_rows_wide, k, sl_split_wide, sl_lanes_stream, SL_STREAM_LANES)
SL_DEFINE_DEAL_VECTORS(2)
SL_DEFINE_DEAL_VECTORS(3)
SL_DEFINE_DEAL_VECTORS(4)
#endif
