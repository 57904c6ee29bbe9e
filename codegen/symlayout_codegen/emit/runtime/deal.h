/* Deal: a split of a source with margins, which read as the fill value.
 *
 * Assumes: output and source do not overlap.
 * Needs: split_join. */
#pragma once

#include "split_join.h"

#if SL_HAS_SHUFFLES
#if SL_HAS_BYTE_MASKS
/* Defines the step of sl_deal: vector i of the source is read where mask[i] has a bit, and is *fill* elsewhere. */
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
#else
/* Defines sl_deal for *columns* >= n without masks, where all that vectors read can be read: lanes outside of the
 * source are replaced by the fill value.  The last vectors overlap the ones before.  Requires low <= k*n and high >=
 * k*(columns - n): the vectors between are inside. */
#define SL_LANE_NUMBER(i, n) (i)
#define SL_DEFINE_BLEND(name, split, vector, each, suffix, n)                                                        \
    SL_ALWAYS_INLINE void name##_lanes(vector inside[4], vector outside[4], int64_t low, int64_t high, sl_lane fill, \
                                       const int k)                                                                  \
    {                                                                                                                \
        const vector number = {each(SL_LANE_NUMBER, 0, n)};                                                          \
        for (int i = 0; i < k; ++i) {                                                                                \
            const sl_lane begin = (sl_lane)sl_max(0, sl_min(low - i * n, n));                                        \
            const sl_lane end = (sl_lane)sl_max(0, sl_min(high - i * n, n));                                         \
            inside[i] = (vector)(number >= begin) & (vector)(number < end);                                          \
            outside[i] = ~inside[i] & fill;                                                                          \
        }                                                                                                            \
    }                                                                                                                \
    SL_ALWAYS_INLINE void name##_step(element *restrict to, int64_t to_stride, const element *from,                  \
                                      const vector inside[4], const vector outside[4], const int k)                  \
    {                                                                                                                \
        vector v[4];                                                                                                 \
        for (int i = 0; i < k; ++i)                                                                                  \
            v[i] = ((vector)sl_load_##suffix(from + i * n) & inside[i]) | outside[i];                                \
        split##_out(to, to_stride, v, k, 1, n);                                                                      \
    }                                                                                                                \
    SL_ALWAYS_INLINE void name(element *restrict to, int64_t to_stride, const element *restrict from,                \
                               int64_t columns, int64_t low, int64_t high, sl_lane fill, int64_t count,              \
                               int64_t to_step, int64_t step, const int k)                                           \
    {                                                                                                                \
        const int64_t end = columns - n;                                                                             \
        vector inside[4], outside[4], last_inside[4], last_outside[4];                                               \
        name##_lanes(inside, outside, low, high, fill, k);                                                           \
        name##_lanes(last_inside, last_outside, low - k * end, high - k * end, fill, k);                             \
        for (int64_t c = 0; c < count; ++c, to += to_step, from += step) {                                           \
            name##_step(to, to_stride, from, inside, outside, k);                                                    \
            for (int64_t j = n; j < end; j += n)                                                                     \
                split(to + j, to_stride, from + k * j, k, 1, n);                                                     \
            if (end > 0)                                                                                             \
                name##_step(to + end, to_stride, from + k * end, last_inside, last_outside, k);                      \
        }                                                                                                            \
    }
#if SL_VECTOR_BYTES > 16
SL_DEFINE_BLEND(sl_blend_wide, sl_split_wide, sl_lanes_stream, SL_EACH_OF_STREAM, 32, SL_STREAM_LANES)
#else
SL_DEFINE_BLEND(sl_blend_wide, sl_split_wide, sl_lanes_stream, SL_EACH_OF_STREAM, 16, SL_STREAM_LANES)
#endif
#if SL_VECTOR_BYTES > 16
SL_DEFINE_BLEND(sl_blend_16, sl_split_16, sl_lanes_16, SL_EACH_OF_16, 16, SL_LANES_16)
#endif
#ifdef SL_LANES_8
SL_DEFINE_BLEND(sl_blend_8, sl_split_8, sl_lanes_8, SL_EACH_OF_8, 8, SL_LANES_8)
#endif
#endif
#endif

/* sl_deal, below, an element at a time where a column is cut. */
SL_ALWAYS_INLINE void sl_deal_plain(element *restrict to, int64_t to_stride, const element *restrict from,
                                    int64_t start, int64_t columns, int64_t low, int64_t high, element value,
                                    int64_t count, int64_t to_step, int64_t step, const int k)
{
    const int64_t first = sl_max(0, sl_min(columns, (sl_max(low, 0) + k - 1) / k));
    const int64_t last = sl_max(first, sl_min(columns, sl_max(high, 0) / k));
    if (first < last)
        sl_split(to + first, to_stride, from + start + k * first, last - first, count, to_step, step, 1, 0, 0, 0,
                 k == 2   ? sl_split_2
                 : k == 3 ? sl_split_3
                          : sl_split_4,
                 k);
    for (int64_t c = 0; c < count; ++c, to += to_step, start += step)
        for (int64_t i = 0; i < k; ++i)
            for (int64_t j = 0; j < columns; ++j) {
                if (j == first)
                    j = last;
                if (j < columns)
                    to[i * to_stride + j] = k * j + i >= low && k * j + i < high ? from[start + k * j + i] : value;
            }
}

/* to[c*to_step + i*to_stride + j] for 0 <= c < count, 0 <= i < k, 0 <= j < columns, with i + k*j = n and k a literal,
 * is from[start + c*step + n] where low <= n < low + inside, elsewhere *value*. */
SL_ALWAYS_INLINE void sl_deal(element *restrict to, int64_t to_stride, const element *restrict from, int64_t start,
                              int64_t columns, int64_t low, int64_t inside, element value, int64_t count,
                              int64_t to_step, int64_t step, const int k)
{
    const int64_t high = sl_min(low + sl_max(inside, 0), k * columns);
#if SL_HAS_SHUFFLES && SL_HAS_BYTE_MASKS
    sl_lane lane;
    memcpy(&lane, &value, sizeof lane);
    const int64_t end = (columns - 1) / SL_STREAM_LANES * SL_STREAM_LANES;
    uint64_t mask[4], last[4];
    from += start; /* a vector may begin before the array; the mask has no bit there */
    if (columns <= SL_LANES_16) {
        sl_deal_16_masks(mask, low, high, k);
        for (int64_t c = 0; c < count; ++c, to += to_step, from += step)
            sl_deal_16(to, to_stride, from, mask, k, 0, columns, (sl_lanes_16){0} + lane);
    } else if (columns < SL_STREAM_LANES) {
        sl_deal_wide_masks(mask, low, high, k);
        for (int64_t c = 0; c < count; ++c, to += to_step, from += step)
            sl_deal_wide(to, to_stride, from, mask, k, 0, columns, (sl_lanes_stream){0} + lane);
    } else if (low <= k * SL_STREAM_LANES && high >= k * end) { /* only the first and the last vectors are cut */
        sl_deal_wide_masks(mask, low, high, k);
        sl_deal_wide_masks(last, low - k * end, high - k * end, k);
        for (int64_t c = 0; c < count; ++c, to += to_step, from += step) {
            sl_deal_wide(to, to_stride, from, mask, k, 1, SL_STREAM_LANES, (sl_lanes_stream){0} + lane);
            for (int64_t j = SL_STREAM_LANES; j < end; j += SL_STREAM_LANES)
                sl_split_wide(to + j, to_stride, from + k * j, k, 1, SL_STREAM_LANES);
            if (end > 0)
                sl_deal_wide(to + end, to_stride, from + k * end, last, k, 0, columns - end,
                             (sl_lanes_stream){0} + lane);
        }
    } else
        for (int64_t c = 0; c < count; ++c, to += to_step, from += step)
            for (int64_t j = 0; j < columns; j += SL_STREAM_LANES) {
                const int64_t column = sl_min(j, columns - SL_STREAM_LANES);
                sl_deal_wide_masks(mask, low - k * column, high - k * column, k);
                sl_deal_wide(to + column, to_stride, from + k * column, mask, k, 1, SL_STREAM_LANES,
                            (sl_lanes_stream){0} + lane);
            }
#else
    /* Turns whose vectors read nothing before the first element of the first turn, nor after the last of the last. */
    int64_t done = 0, blended = 0;
#if SL_HAS_SHUFFLES
#if SL_VECTOR_BYTES > 16
    const int64_t least = SL_LANES_16;
#else
    const int64_t least = SL_STREAM_LANES;
#endif
#ifdef SL_LANES_8
    const int64_t n = columns >= SL_STREAM_LANES ? SL_STREAM_LANES : columns >= least ? least : SL_LANES_8;
#else
    const int64_t n = columns >= SL_STREAM_LANES ? SL_STREAM_LANES : least;
#endif
    if (columns >= n && low < high && low <= k * n && high >= k * (columns - n) && step > 0 &&
        (SL_HAS_BYTE_SHUFFLES || k != 3)) {
        sl_lane fill;
        memcpy(&fill, &value, sizeof fill);
        done = sl_min(count, (sl_max(low, 0) + step - 1) / step);
        blended = sl_max(0, count - done - (k * columns - high + step - 1) / step);
        element *restrict const into = to + done * to_step;
        const element *restrict const out_of = from + start + done * step;
        if (n == SL_STREAM_LANES)
            sl_blend_wide(into, to_stride, out_of, columns, low, high, fill, blended, to_step, step, k);
#if SL_VECTOR_BYTES > 16
        else if (n == SL_LANES_16)
            sl_blend_16(into, to_stride, out_of, columns, low, high, fill, blended, to_step, step, k);
#endif
#ifdef SL_LANES_8
        else
            sl_blend_8(into, to_stride, out_of, columns, low, high, fill, blended, to_step, step, k);
#endif
    }
#endif
    for (int64_t part = 0; part < 2; ++part) { /* what comes before, and after */
        const int64_t first = part * (done + blended);
        sl_deal_plain(to + first * to_step, to_stride, from, start + first * step, columns, low, high, value,
                      part ? count - first : done, to_step, step, k);
    }
#endif
}

#define SL_DEFINE_DEAL(k)                                                                                            \
    SL_OUT_OF_LINE void sl_deal_##k(element *restrict to, int64_t at, int64_t to_stride,                             \
                                    const element *restrict from, int64_t start, int64_t columns, int64_t low,       \
                                    int64_t inside, element value, int64_t count, int64_t to_step, int64_t step)     \
    {                                                                                                                \
        sl_deal(to + at, to_stride, from, start, columns, low, inside, value, count, to_step, step, k);              \
    }
SL_DEFINE_DEAL(2)
SL_DEFINE_DEAL(3)
SL_DEFINE_DEAL(4)
