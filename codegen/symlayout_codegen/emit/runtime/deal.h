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
SL_DEFINE_DEAL_STEP(sl_deal_max, sl_split_max, sl_lanes, max, SL_LANES_MAX)
SL_DEFINE_DEAL_STEP(sl_deal_32, sl_split_32, sl_lanes_32, 32, SL_LANES_32)
SL_DEFINE_DEAL_STEP(sl_deal_16, sl_split_16, sl_lanes_16, 16, SL_LANES_16)
#endif
#endif

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
    const int64_t end = (columns - 1) / SL_LANES_MAX * SL_LANES_MAX;
    uint64_t mask[4], last[4];
    from += start; /* a vector may begin before the array; the mask has no bit there */
    if (columns <= SL_LANES_16) {
        sl_deal_16_masks(mask, low, high, k);
        for (int64_t c = 0; c < count; ++c, to += to_step, from += step)
            sl_deal_16(to, to_stride, from, mask, k, 0, columns, (sl_lanes_16){0} + lane);
    } else if (columns <= SL_LANES_32) {
        sl_deal_32_masks(mask, low, high, k);
        for (int64_t c = 0; c < count; ++c, to += to_step, from += step)
            sl_deal_32(to, to_stride, from, mask, k, 0, columns, (sl_lanes_32){0} + lane);
    } else if (columns < SL_LANES_MAX) {
        sl_deal_max_masks(mask, low, high, k);
        for (int64_t c = 0; c < count; ++c, to += to_step, from += step)
            sl_deal_max(to, to_stride, from, mask, k, 0, columns, (sl_lanes){0} + lane);
    } else if (low <= k * SL_LANES_MAX && high >= k * end) { /* only the first and the last vectors are cut */
        sl_deal_max_masks(mask, low, high, k);
        sl_deal_max_masks(last, low - k * end, high - k * end, k);
        for (int64_t c = 0; c < count; ++c, to += to_step, from += step) {
            sl_deal_max(to, to_stride, from, mask, k, 1, SL_LANES_MAX, (sl_lanes){0} + lane);
            for (int64_t j = SL_LANES_MAX; j < end; j += SL_LANES_MAX)
                sl_split_max(to + j, to_stride, from + k * j, k, 1, SL_LANES_MAX);
            if (end > 0)
                sl_deal_max(to + end, to_stride, from + k * end, last, k, 0, columns - end, (sl_lanes){0} + lane);
        }
    } else
        for (int64_t c = 0; c < count; ++c, to += to_step, from += step)
            for (int64_t j = 0; j < columns; j += SL_LANES_MAX) {
                const int64_t column = sl_min(j, columns - SL_LANES_MAX);
                sl_deal_max_masks(mask, low - k * column, high - k * column, k);
                sl_deal_max(to + column, to_stride, from + k * column, mask, k, 1, SL_LANES_MAX,
                            (sl_lanes){0} + lane);
            }
#else
    /* Columns that are inside for all i, by vectors; the others one by one. */
    const int64_t first = sl_max(0, sl_min(columns, (sl_max(low, 0) + k - 1) / k));
    const int64_t last = sl_max(first, sl_min(columns, sl_max(high, 0) / k));
    if (first < last)
        sl_split(to + first, to_stride, from + start + k * first, last - first, count, to_step, step, 1, 0, 0, 0, k);
    for (int64_t c = 0; c < count; ++c, to += to_step, start += step)
        for (int64_t i = 0; i < k; ++i)
            for (int64_t j = 0; j < columns; ++j) {
                if (j == first)
                    j = last;
                if (j < columns)
                    to[i * to_stride + j] = k * j + i >= low && k * j + i < high ? from[start + k * j + i] : value;
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
