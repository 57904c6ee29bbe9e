/* Deal: a split of a source with margins, which read as the fill value.
 *
 * Assumes: output and source do not overlap.
 * Needs: copy, fill, reach, split_join. */
#pragma once

#include "copy.h"
#include "fill.h"
#include "reach.h"
#include "split_join.h"

/* The rows that follow, of k streams, a literal: to[c*to_step + i*to_stride + j] for 0 <= c < count, 0 <= i < k,
 * 0 <= j < columns, with i + k*j = n, is from[c*step + n] where low <= n < high, elsewhere *value*. */
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
                                   int64_t columns, int64_t low, int64_t high, element value, int64_t count,
                                   int64_t to_step, int64_t step, int reach, const int k)
{
    sl_lane lane;
    memcpy(&lane, &value, sizeof lane);
    const sl_lanes_stream fill = (sl_lanes_stream){0} + lane;
    const int64_t end = (columns - 1) / SL_STREAM_LANES * SL_STREAM_LANES;
    uint64_t mask[4], last[4];
    if (columns <= SL_LANES_16) {
        sl_deal_16_masks(mask, low, high, k);
        for (int64_t c = 0; c < count; ++c, to += to_step, from += step) {
            sl_fetch_row(reach, to, to_stride, columns, k);
            sl_deal_16(to, to_stride, from, mask, k, 0, columns, (sl_lanes_16){0} + lane);
        }
    } else if (columns < SL_STREAM_LANES) {
        sl_deal_wide_masks(mask, low, high, k);
        for (int64_t c = 0; c < count; ++c, to += to_step, from += step) {
            sl_fetch_row(reach, to, to_stride, columns, k);
            sl_deal_wide(to, to_stride, from, mask, k, 0, columns, fill);
        }
    } else if (columns == SL_STREAM_LANES + 1 && low <= k * SL_STREAM_LANES) { /* the last column by itself */
        sl_deal_wide_masks(mask, low, high, k);
        for (int64_t c = 0; c < count; ++c, to += to_step, from += step) {
            sl_fetch_row(reach, to, to_stride, columns, k);
            sl_deal_wide(to, to_stride, from, mask, k, 1, SL_STREAM_LANES, fill);
            for (int i = 0; i < k; ++i)
                to[i * to_stride + end] = k * end + i < high ? from[k * end + i] : value;
        }
    } else if (low <= k * SL_STREAM_LANES && high >= k * end) { /* only the first and the last vectors are cut */
        sl_deal_wide_masks(mask, low, high, k);
        sl_deal_wide_masks(last, low - k * end, high - k * end, k);
        for (int64_t c = 0; c < count; ++c, to += to_step, from += step) {
            sl_fetch_row(reach, to, to_stride, columns, k);
            sl_deal_wide(to, to_stride, from, mask, k, 1, SL_STREAM_LANES, fill);
            for (int64_t j = SL_STREAM_LANES; j < end; j += SL_STREAM_LANES)
                sl_split_wide(to + j, to_stride, from + k * j, k, 1, SL_STREAM_LANES);
            if (end > 0)
                sl_deal_wide(to + end, to_stride, from + k * end, last, k, 0, columns - end, fill);
        }
    } else
        for (int64_t c = 0; c < count; ++c, to += to_step, from += step) {
            sl_fetch_row(reach, to, to_stride, columns, k);
            for (int64_t j = 0; j < columns; j += SL_STREAM_LANES) {
                const int64_t column = sl_min(j, columns - SL_STREAM_LANES);
                sl_deal_wide_masks(mask, low - k * column, high - k * column, k);
                sl_deal_wide(to + column, to_stride, from + k * column, mask, k, 1, SL_STREAM_LANES, fill);
            }
        }
}
#define SL_DEFINE_DEAL_ROWS(k)                                                                                       \
    SL_OUT_OF_LINE void sl_deal_rows_##k(element *restrict to, int64_t to_stride, const element *restrict from,      \
                                         int64_t columns, int64_t low, int64_t inside, element value, int64_t count, \
                                         int64_t to_step, int64_t step, int reach)                                   \
    {                                                                                                                \
        sl_deal_rows(to, to_stride, from, columns, low, sl_min(low + sl_max(inside, 0), k * columns), value, count,  \
                     to_step, step, reach, k);                                                                       \
    }
SL_DEFINE_DEAL_ROWS(2)
SL_DEFINE_DEAL_ROWS(3)
SL_DEFINE_DEAL_ROWS(4)
#elif SL_HAS_SHUFFLES
/* The bytes of lanes: outside, inside, outside. */
#define SL_IS_INSIDE(i, n) ((i) >= (n) && (i) < 2 * (n) ? 255 : 0)
static const unsigned char sl_inside[96] = {SL_LIST_64(SL_IS_INSIDE, 0, 32), SL_LIST_32(SL_IS_INSIDE, 64, 32)};

/* Defines rows by vectors of n lanes, which may read beside a row: lanes outside are replaced by the fill value.
 * Requires low <= k*n and high >= k*(columns - n): the vectors between are inside.  Fewer columns than n are one
 * vector of each stream, written over the begin of the next row, but for the last *exact* rows, 0 or 1, which write
 * nothing beside them.  Of more columns, the last vectors overlap the ones before. */
#define SL_DEFINE_DEAL_LANES(name, split, vector, suffix, n)                                                         \
    SL_ALWAYS_INLINE void name##_lanes(vector inside[4], vector outside[4], int64_t low, int64_t high,               \
                                       sl_lane value, const int k)                                                   \
    {                                                                                                                \
        for (int i = 0; i < k; ++i) {                                                                                \
            const int64_t begin = sl_max(0, sl_min(low - i * n, n)), end = sl_max(0, sl_min(high - i * n, n));       \
            inside[i] = (vector)sl_load_##suffix(sl_inside + 32 - begin * SL_ELEMENT_SIZE) &                         \
                        (vector)sl_load_##suffix(sl_inside + 64 - end * SL_ELEMENT_SIZE);                            \
            outside[i] = ~inside[i] & value;                                                                         \
        }                                                                                                            \
    }                                                                                                                \
    SL_ALWAYS_INLINE void name##_step(element *restrict to, int64_t to_stride, const element *from,                  \
                                      const vector inside[4], const vector outside[4], const int k)                  \
    {                                                                                                                \
        vector v[4];                                                                                                 \
        for (int i = 0; i < k; ++i)                                                                                  \
            v[i] = ((vector)sl_load_##suffix(from + i * n) & inside[i]) | outside[i];                                \
        split##_out(to, to_stride, v, k, 1, n);                                                                      \
    }
#if SL_VECTOR_BYTES == 16 && SL_HAS_GROUP_SHUFFLES
/* The last columns of two streams, where half a vector of each holds them: one vector of both. */
SL_ALWAYS_INLINE void sl_deal_half(element *restrict to, int64_t to_stride, const element *from, sl_lanes_16 inside,
                                   sl_lanes_16 outside)
{
    const sl_lanes_16 v = ((sl_lanes_16)sl_load_16(from) & inside) | outside;
    const sl_words_16 both = (sl_words_16)__builtin_ia32_pshufb128((sl_bytes_16)v, sl_even_odd);
    memcpy(to, &both, 8);
    const uint64_t odd = both[1];
    memcpy(to + to_stride, &odd, 8);
}
#define SL_DEAL_BY_HALF(k, n, name, split)                                                                           \
    else if (k == 2 && n == SL_LANES_16 && (columns - 1) % n < n / 2 && high >= columns * 2 - n) {                   \
        const int64_t end = columns - n / 2;                                                                         \
        sl_lanes_16 last_inside[4], last_outside[4];                                                                 \
        sl_deal_rows_wide_lanes(last_inside, last_outside, low - k * end, high - k * end, value, 1);                 \
        for (int64_t c = 0; c < count; ++c, to += to_step, from += step) {                                           \
            sl_fetch_row(reach, to, to_stride, columns, k);                                                          \
            name##_step(to, to_stride, from, inside, outside, k);                                                    \
            for (int64_t j = n; j < end; j += n)                                                                     \
                split(to + j, to_stride, from + k * j, k, 1, n);                                                     \
            sl_deal_half(to + end, to_stride, from + k * end, last_inside[0], last_outside[0]);                      \
        }                                                                                                            \
    }
#else
#define SL_DEAL_BY_HALF(k, n, name, split)
#endif

#define SL_DEFINE_DEAL_ROWS(name, k, split, vector, n)                                                               \
    SL_OUT_OF_LINE void name##_##k(element *restrict to, int64_t to_stride, const element *restrict from,            \
                                   int64_t columns, int64_t low, int64_t high, sl_lane value, int64_t count,         \
                                   int64_t exact, int64_t to_step, int64_t step, int reach)                          \
    {                                                                                                                \
        vector inside[4], outside[4];                                                                                \
        name##_lanes(inside, outside, low, high, value, k);                                                          \
        if (columns <= n) {                                                                                          \
            for (int64_t c = exact; c < count; ++c, to += to_step, from += step) {                                   \
                sl_fetch_row(reach, to, to_stride, columns, k);                                                      \
                name##_step(to, to_stride, from, inside, outside, k);                                                \
            }                                                                                                        \
            if (exact && columns >= n / 2) {                                                                         \
                element row[4 * n];                                                                                  \
                name##_step(row, n, from, inside, outside, k);                                                       \
                for (int i = 0; i < k; ++i)                                                                          \
                    sl_copy_overlapping_ends((unsigned char *)(to + i * to_stride), (unsigned char *)(row + i * n),  \
                                             (size_t)columns * SL_ELEMENT_SIZE, sizeof(vector) / 2);                 \
            }                                                                                                        \
        } else if (columns == n + 1) { /* the last column by itself */                                               \
            element other;                                                                                           \
            memcpy(&other, &value, sizeof other);                                                                    \
            for (int64_t c = 0; c < count; ++c, to += to_step, from += step) {                                       \
                sl_fetch_row(reach, to, to_stride, columns, k);                                                      \
                name##_step(to, to_stride, from, inside, outside, k);                                                \
                for (int i = 0; i < k; ++i)                                                                          \
                    to[i * to_stride + n] = k * n + i < high ? from[k * n + i] : other;                              \
            }                                                                                                        \
        }                                                                                                            \
        SL_DEAL_BY_HALF(k, n, name, split)                                                                           \
        else {                                                                                                       \
            const int64_t end = columns - n;                                                                         \
            vector last_inside[4], last_outside[4];                                                                  \
            name##_lanes(last_inside, last_outside, low - k * end, high - k * end, value, k);                        \
            for (int64_t c = 0; c < count; ++c, to += to_step, from += step) {                                       \
                sl_fetch_row(reach, to, to_stride, columns, k);                                                      \
                name##_step(to, to_stride, from, inside, outside, k);                                                \
                for (int64_t j = n; j < end; j += n)                                                                 \
                    split(to + j, to_stride, from + k * j, k, 1, n);                                                 \
                name##_step(to + end, to_stride, from + k * end, last_inside, last_outside, k);                      \
            }                                                                                                        \
        }                                                                                                            \
    }
#if SL_VECTOR_BYTES > 16
SL_DEFINE_DEAL_LANES(sl_deal_rows_wide, sl_split_wide, sl_lanes_stream, 32, SL_STREAM_LANES)
SL_DEFINE_DEAL_LANES(sl_deal_rows_16, sl_split_16, sl_lanes_16, 16, SL_LANES_16)
#else
SL_DEFINE_DEAL_LANES(sl_deal_rows_wide, sl_split_wide, sl_lanes_stream, 16, SL_STREAM_LANES)
#endif
#ifdef SL_LANES_8
SL_DEFINE_DEAL_LANES(sl_deal_rows_8, sl_split_8, sl_lanes_8, 8, SL_LANES_8)
#endif
#define SL_DEFINE_DEAL_WIDE(k)                                                                                       \
    SL_DEFINE_DEAL_ROWS(sl_deal_rows_wide, k, sl_split_wide, sl_lanes_stream, SL_STREAM_LANES)
#if SL_VECTOR_BYTES > 16
#define SL_DEFINE_DEAL_16(k) SL_DEFINE_DEAL_ROWS(sl_deal_rows_16, k, sl_split_16, sl_lanes_16, SL_LANES_16)
#else
#define SL_DEFINE_DEAL_16(k)
#endif
#ifdef SL_LANES_8
#define SL_DEFINE_DEAL_8(k) SL_DEFINE_DEAL_ROWS(sl_deal_rows_8, k, sl_split_8, sl_lanes_8, SL_LANES_8)
#else
#define SL_DEFINE_DEAL_8(k)
#endif
SL_DEFINE_DEAL_WIDE(2)
SL_DEFINE_DEAL_WIDE(3)
SL_DEFINE_DEAL_WIDE(4)
SL_DEFINE_DEAL_16(2)
SL_DEFINE_DEAL_16(3)
SL_DEFINE_DEAL_16(4)
SL_DEFINE_DEAL_8(2)
SL_DEFINE_DEAL_8(3)
SL_DEFINE_DEAL_8(4)
#endif

#if !SL_HAS_SHUFFLES || !SL_HAS_BYTE_MASKS
/* Rows an element at a time where a column is cut. */
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

/* How many rows are dealt out by vectors: *count* of them, after the *first*. */
typedef struct {
    int64_t lanes, first, count;
} sl_dealt_rows;

/* The vectors for rows that are dealt out, and for which rows: not those where they would read beside the source.  If
 * its *size* is unknown, its elements are those from the first row's first to the last row's last. */
SL_ALWAYS_INLINE sl_dealt_rows sl_choose_dealt(int64_t start, int64_t size, int64_t columns, int64_t low,
                                               int64_t high, int64_t count, int64_t to_step, int64_t step,
                                               const int k)
{
    sl_dealt_rows rows = {0, 0, 0};
#if !SL_HAS_SHUFFLES
    (void)start, (void)size, (void)columns, (void)low, (void)high, (void)count, (void)to_step, (void)step, (void)k;
#else
    const int follow = to_step == columns; /* a row may be written over the begin of the next one */
    int64_t n = columns > SL_LANES_16 && (follow || columns >= SL_STREAM_LANES) ? SL_STREAM_LANES : SL_LANES_16;
#ifdef SL_LANES_8
    if (columns <= SL_LANES_8 || (columns < n && !follow))
        n = SL_LANES_8;
#endif
    if (columns < (follow ? n / 2 : n) || low >= high || low > k * n || high < k * (columns - n) ||
        (step <= 0 && count > 1) || (k == 3 && !SL_HAS_BYTE_SHUFFLES))
        return rows;
    const int64_t each = sl_max(step, 1), last = start + (count - 1) * step;
    const int64_t begin = size ? 0 : start + sl_max(low, 0), end = size ? size : last + high;
    const int64_t beside = last + k * sl_max(columns, n) - end;
    rows.lanes = n;
    rows.first = start >= begin ? 0 : sl_min(count, (begin - start + each - 1) / each);
    rows.count = sl_max(0, count - rows.first - (beside <= 0 ? 0 : (beside + each - 1) / each));
#endif
    return rows;
}
#endif

/* Writes *value* into *rows* rows of each of k streams, *to_step* apart. */
SL_ALWAYS_INLINE void sl_deal_fill(element *restrict to, int64_t to_stride, int64_t columns, element value,
                                   int64_t rows, int64_t to_step, const int k)
{
    const int follow = to_step == columns;
    for (int64_t c = 0; c < (follow ? rows > 0 : rows); ++c)
        for (int i = 0; i < k; ++i)
            sl_fill(to, c * to_step + i * to_stride, value, follow ? rows * columns : columns);
}

/* to[at + c*to_step + i*to_stride + j] for 0 <= c < before + count + after, 0 <= i < k, 0 <= j < columns, with
 * i + k*j = n: for *count* rows from row *before* on, from[start + (c - before)*step + n] where low <= n < low +
 * inside; elsewhere *value*.  The source has *size* elements, 0 where that is unknown.  Vectors may read what lies
 * beside a row in it.  *reach* is the output's.  Inline: most calls are of few rows. */
#define SL_DECLARE_DEAL(name)                                                                                        \
    SL_INLINE void name(element *restrict to, int64_t at, int64_t to_stride, const element *restrict from,           \
                        int64_t start, int64_t size, int64_t columns, int64_t low, int64_t inside, element value,    \
                        int64_t before, int64_t count, int64_t after, int64_t to_step, int64_t step, int reach)
#if SL_HAS_SHUFFLES && SL_HAS_BYTE_MASKS
#define SL_DEFINE_DEAL(k)                                                                                            \
    SL_DECLARE_DEAL(sl_deal_##k)                                                                                     \
    {                                                                                                                \
        (void)size;                                                                                                  \
        to += at;                                                                                                    \
        sl_deal_fill(to, to_stride, columns, value, before, to_step, k);                                             \
        to += before * to_step;                                                                                      \
        sl_deal_rows_##k(to, to_stride, from + start, columns, low, inside, value, count, to_step, step, reach);     \
        sl_deal_fill(to + count * to_step, to_stride, columns, value, after, to_step, k);                            \
    }
#else
#define SL_DEFINE_DEAL_PLAIN(k)                                                                                      \
    SL_OUT_OF_LINE void sl_deal_plain_##k(element *restrict to, int64_t to_stride, const element *restrict from,     \
                                          int64_t start, int64_t columns, int64_t low, int64_t high, element value,  \
                                          int64_t count, int64_t to_step, int64_t step)                              \
    {                                                                                                                \
        sl_deal_plain(to, to_stride, from, start, columns, low, high, value, count, to_step, step, k);               \
    }
SL_DEFINE_DEAL_PLAIN(2)
SL_DEFINE_DEAL_PLAIN(3)
SL_DEFINE_DEAL_PLAIN(4)
#if SL_HAS_SHUFFLES
#define SL_DEAL_ROWS(suffix, k)                                                                                      \
    sl_deal_rows_##suffix##_##k(to + rows.first * to_step, to_stride, from + start + rows.first * step, columns,     \
                                low, high, lane, rows.count, exact, to_step, step, reach)
#ifdef SL_LANES_8
#define SL_DEAL_ROWS_8(k) else if (rows.lanes == SL_LANES_8) SL_DEAL_ROWS(8, k);
#else
#define SL_DEAL_ROWS_8(k)
#endif
#if SL_VECTOR_BYTES > 16
#define SL_DEAL_ROWS_16(k) else if (rows.lanes == SL_LANES_16) SL_DEAL_ROWS(16, k);
#else
#define SL_DEAL_ROWS_16(k)
#endif
#define SL_DEAL_BY_VECTORS(k)                                                                                        \
    sl_lane lane;                                                                                                    \
    memcpy(&lane, &value, sizeof lane);                                                                              \
    const int64_t exact = columns < rows.lanes && after <= 0 && rows.first + rows.count == count;                    \
    if (rows.count == 0) {                                                                                           \
    }                                                                                                                \
    SL_DEAL_ROWS_8(k) SL_DEAL_ROWS_16(k) else SL_DEAL_ROWS(wide, k)
#else
#define SL_DEAL_BY_VECTORS(k) (void)rows, (void)reach
#endif
#define SL_DEFINE_DEAL(k)                                                                                            \
    SL_DECLARE_DEAL(sl_deal_##k)                                                                                     \
    {                                                                                                                \
        const int64_t high = sl_min(low + sl_max(inside, 0), k * columns);                                           \
        to += at;                                                                                                    \
        sl_deal_fill(to, to_stride, columns, value, before, to_step, k);                                             \
        to += before * to_step;                                                                                      \
        const sl_dealt_rows rows = sl_choose_dealt(start, size, columns, low, high, count, to_step, step, k);        \
        if (rows.first > 0)                                                                                          \
            sl_deal_plain_##k(to, to_stride, from, start, columns, low, high, value, rows.first, to_step, step);     \
        SL_DEAL_BY_VECTORS(k);                                                                                       \
        const int64_t done = rows.first + rows.count;                                                                \
        if (done < count)                                                                                            \
            sl_deal_plain_##k(to + done * to_step, to_stride, from, start + done * step, columns, low, high, value,  \
                              count - done, to_step, step);                                                          \
        sl_deal_fill(to + count * to_step, to_stride, columns, value, after, to_step, k);                            \
    }
#endif
SL_DEFINE_DEAL(2)
SL_DEFINE_DEAL(3)
SL_DEFINE_DEAL(4)
