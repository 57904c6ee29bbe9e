/* Deal: a split of a source with margins, which read as the fill value.
 *
 * Assumes: output and source do not overlap.
 * Needs: dealt_rows, fill, reach, split_join. */
#pragma once

#include "dealt_rows.h"
#include "fill.h"
#include "reach.h"
#include "split_join.h"

/* Turns of a loop: *count* of them read the source, *step* apart; the ones before and after these are fill.  All of
 * them are written, *to_step* apart. */
typedef struct {
    int64_t before, count, after, to_step, step;
} sl_dealt_turns;
#define SL_ALL_TURNS(turns) ((turns).before + (turns).count + (turns).after)

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

#if SL_HAS_SHUFFLES
/* The lanes of vectors for rows, and whether rows are dealt out by them; each row may be written over the begin of the
 * next one if rows *follow* each other. */
SL_INLINE int64_t sl_dealt_lanes(int64_t columns, int follow)
{
    const int64_t n = columns > SL_LANES_16 && (follow || columns >= SL_STREAM_LANES) ? SL_STREAM_LANES : SL_LANES_16;
#ifdef SL_LANES_8
    if (columns <= SL_LANES_8 || (columns < n && !follow))
        return SL_LANES_8;
#else
    (void)follow;
#endif
    return n;
}
SL_ALWAYS_INLINE int sl_is_dealt(int64_t n, int64_t columns, int64_t low, int64_t high, const int k)
{
    return low < high && low <= k * n && high >= k * (columns - n) && (k != 3 || SL_HAS_BYTE_SHUFFLES);
}
#endif

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
    const int64_t n = sl_dealt_lanes(columns, follow);
    if (columns < (follow ? n / 2 : n) || (step <= 0 && count > 1) || !sl_is_dealt(n, columns, low, high, k))
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

#if SL_HAS_SHUFFLES
/* The planes of *turns*, of rows, of planes and of images, that are written at once, but for the outer *first* and
 * *last* of them: none where they are not contiguous. */
SL_INLINE sl_planes sl_contiguous_planes(int64_t columns, const sl_dealt_turns turns[3], int64_t first, int64_t last)
{
    const sl_dealt_turns rows = turns[0], planes = turns[1], images = turns[2];
    const int64_t plane = SL_ALL_TURNS(rows) * columns, image = SL_ALL_TURNS(planes) * plane;
    sl_planes dealt = {0};
    if ((SL_ALL_TURNS(rows) > 1 && rows.to_step != columns) ||
        (SL_ALL_TURNS(planes) > 1 && planes.to_step != plane) ||
        (SL_ALL_TURNS(images) > 1 && images.to_step != image))
        return dealt;
    dealt.turns = planes.count * images.count - first - last;
    dealt.count = rows.count;
    dealt.to_step = columns;
    dealt.step = rows.step;
    dealt.plane = first && planes.count > 1;
    dealt.planes = planes.count;
    dealt.leap = planes.step;
    dealt.jump = images.step - (planes.count - 1) * planes.step;
    dealt.gap = (rows.before + rows.after) * columns;
    dealt.margin = dealt.gap + (planes.before + planes.after) * plane;
    dealt.first = first;
    dealt.last = last;
    return dealt;
}
#endif
#if SL_HAS_SHUFFLES && SL_HAS_BYTE_MASKS
#define sl_choose_planes(start, size, columns, low, high, turns, k) sl_contiguous_planes(columns, turns, 0, 0)
#elif SL_HAS_SHUFFLES
/* The planes that vectors write whole: not the first one if they would read before the source, nor the last ones if
 * they would read behind it, or write behind the output. */
SL_ALWAYS_INLINE sl_planes sl_choose_planes(int64_t start, int64_t size, int64_t columns, int64_t low, int64_t high,
                                            const sl_dealt_turns turns[3], const int k)
{
    const sl_dealt_turns rows = turns[0], planes = turns[1], images = turns[2];
    const int64_t n = sl_dealt_lanes(columns, 1), total = planes.count * images.count;
    /* The least from a plane to another one, and where vectors read last in the last plane. */
    const int64_t least = planes.count <= 1 ? images.step
                          : images.count <= 1 ? planes.step
                                              : sl_min(planes.step, images.step);
    const int64_t last = start + (images.count - 1) * images.step + (planes.count - 1) * planes.step +
                         (rows.count - 1) * rows.step + k * sl_max(columns, n);
    const int64_t before = start < 0, behind = columns < n ? 1 + n / (SL_ALL_TURNS(rows) * columns) : last > size;
    sl_planes dealt = {0};
    if (total <= 1 + before + behind || least <= 0 || rows.step <= 0 ||
        !sl_is_dealt(n, columns, low, high, k) || start + least < 0 || last - least > size)
        return dealt;
    dealt = sl_contiguous_planes(columns, turns, before, behind);
    dealt.lanes = n;
    return dealt;
}
#endif

/* Writes *value* into each of k streams from *begin* to *end*. */
SL_ALWAYS_INLINE void sl_deal_fill(element *restrict to, int64_t to_stride, int64_t begin, int64_t end, element value,
                                   const int k)
{
    for (int i = 0; i < k; ++i)
        sl_fill(to, begin + i * to_stride, value, end - begin);
}

/* The same for *count* rows, *to_step* apart. */
SL_ALWAYS_INLINE void sl_deal_fill_rows(element *restrict to, int64_t to_stride, int64_t columns, element value,
                                        int64_t count, int64_t to_step, const int k)
{
    const int follow = to_step == columns;
    for (int64_t c = 0; c < (follow ? count > 0 : count); ++c)
        sl_deal_fill(to, to_stride, c * to_step, c * to_step + (follow ? count * columns : columns), value, k);
}

/* The function *name* of k streams, a literal. */
#define SL_OF_STREAMS(name, k) ((k) == 2 ? name##_2 : (k) == 3 ? name##_3 : name##_4)
#if SL_HAS_SHUFFLES
/* Planes by masks, or by vectors of the lanes that were chosen; the last *exact* rows of one plane by themselves. */
SL_ALWAYS_INLINE void sl_deal_planes(element *restrict to, int64_t to_stride, const element *restrict from,
                                     int64_t columns, int64_t low, int64_t high, element value,
                                     const sl_planes *dealt, int64_t exact, int reach, const int k)
{
#if SL_HAS_BYTE_MASKS
    (void)exact;
    SL_OF_STREAMS(sl_deal_rows, k)(to, to_stride, from, columns, low, high, value, dealt, reach);
#else
    sl_lane lane;
    memcpy(&lane, &value, sizeof lane);
#ifdef SL_LANES_8
    if (dealt->lanes == SL_LANES_8)
        SL_OF_STREAMS(sl_deal_rows_8, k)(to, to_stride, from, columns, low, high, lane, dealt, exact, reach);
    else
#endif
#if SL_VECTOR_BYTES > 16
    if (dealt->lanes == SL_LANES_16)
        SL_OF_STREAMS(sl_deal_rows_16, k)(to, to_stride, from, columns, low, high, lane, dealt, exact, reach);
    else
#endif
        SL_OF_STREAMS(sl_deal_rows_wide, k)(to, to_stride, from, columns, low, high, lane, dealt, exact, reach);
#endif
}
#endif
/* One plane, whose *count* rows are followed by *after* rows of fill that are written later. */
SL_ALWAYS_INLINE void sl_deal_plane(element *restrict to, int64_t to_stride, const element *restrict from,
                                    int64_t start, int64_t size, int64_t columns, int64_t low, int64_t high,
                                    element value, int64_t count, int64_t after, int64_t to_step, int64_t step,
                                    int reach, const int k)
{
#if SL_HAS_SHUFFLES && SL_HAS_BYTE_MASKS
    const sl_planes dealt = {.turns = 1, .count = count, .to_step = to_step, .step = step};
    (void)size, (void)after;
    sl_deal_planes(to, to_stride, from + start, columns, low, high, value, &dealt, 0, reach, k);
#else
    const sl_dealt_rows rows = sl_choose_dealt(start, size, columns, low, high, count, to_step, step, k);
    const int64_t done = rows.first + rows.count;
#if SL_HAS_SHUFFLES
    const sl_planes dealt = {
        .turns = 1, .count = rows.count, .to_step = to_step, .step = step, .lanes = rows.lanes};
    if (rows.count > 0)
        sl_deal_planes(to + rows.first * to_step, to_stride, from + start + rows.first * step, columns, low, high,
                       value, &dealt, columns < rows.lanes && after <= 0 && done == count, reach, k);
#else
    (void)after, (void)reach;
#endif
    for (int after_them = 0; after_them < 2; ++after_them) { /* the rows before those by vectors, and after them */
        const int64_t c = after_them ? done : 0, end = after_them ? count : rows.first;
        if (c < end)
            sl_deal_plain(to + c * to_step, to_stride, from, start + c * step, columns, low, high, value, end - c,
                          to_step, step, k);
    }
#endif
}
#define SL_DEFINE_DEAL_PLANE(k)                                                                                      \
    SL_OUT_OF_LINE void sl_deal_plane_##k(element *restrict to, int64_t to_stride, const element *restrict from,     \
                                          int64_t start, int64_t size, int64_t columns, int64_t low, int64_t high,   \
                                          element value, int64_t count, int64_t after, int64_t to_step,              \
                                          int64_t step, int reach)                                                   \
    {                                                                                                                \
        sl_deal_plane(to, to_stride, from, start, size, columns, low, high, value, count, after, to_step, step,      \
                      reach, k);                                                                                     \
    }
SL_DEFINE_DEAL_PLANE(2)
SL_DEFINE_DEAL_PLANE(3)
SL_DEFINE_DEAL_PLANE(4)

/* to[c*rows.to_step + p*planes.to_step + m*images.to_step + i*to_stride + j] for all turns of *turns*, which are rows,
 * planes and images, 0 <= i < k, 0 <= j < columns, with i + k*j = n: where c, p and m all number a turn that reads the
 * source, it is from[start + (c - rows.before)*rows.step + ... + n] where low <= n < high; elsewhere *value*.  The
 * source has *size* elements, 0 where that is unknown.  Vectors may read what lies beside a row in it.  *reach* is the
 * output's. */
SL_ALWAYS_INLINE void sl_deal(element *restrict to, int64_t to_stride, const element *restrict from, int64_t start,
                              int64_t size, int64_t columns, int64_t low, int64_t high, element value,
                              const sl_dealt_turns turns[3], int reach, const int k)
{
    const sl_dealt_turns rows = turns[0], planes = turns[1], images = turns[2];
#if SL_HAS_SHUFFLES
    const int is_read = columns > 0 && rows.count > 0 && planes.count > 0 && images.count > 0;
    const sl_planes none = {0}, dealt = is_read ? sl_choose_planes(start, size, columns, low, high, turns, k) : none;
    if (dealt.turns > 0) { /* each stream is written from its begin to its end */
        const int64_t plane = SL_ALL_TURNS(rows) * columns, image = SL_ALL_TURNS(planes) * plane;
        const int64_t begin = images.before * image + planes.before * plane + rows.before * columns;
        const int64_t written = rows.count * columns, total = planes.count * images.count;
        int64_t end = begin + written; /* of the plane that was written last */
        sl_deal_fill(to, to_stride, 0, begin, value, k);
        for (int64_t turn = 0; turn < total; ++turn) {
            const int64_t m = turn / planes.count, p = turn % planes.count, at = begin + m * image + p * plane;
            const int64_t row = start + m * images.step + p * planes.step;
            if (turn > 0)
                sl_deal_fill(to, to_stride, end, at, value, k);
            if (turn == dealt.first) {
                sl_deal_planes(to + at, to_stride, from + row, columns, low, high, value, &dealt, 0, reach, k);
                turn += dealt.turns - 1;
            } else
                SL_OF_STREAMS(sl_deal_plane, k)(to + at, to_stride, from, row, size, columns, low, high, value,
                                                rows.count, 0, columns, rows.step, reach);
            end = begin + turn / planes.count * image + turn % planes.count * plane + written;
        }
        sl_deal_fill(to, to_stride, end, SL_ALL_TURNS(images) * image, value, k);
        return;
    }
#endif
    for (int64_t m = -images.before; m < images.count + images.after; ++m)
        for (int64_t p = -planes.before; p < planes.count + planes.after; ++p) {
            const int is_dealt = m >= 0 && m < images.count && p >= 0 && p < planes.count;
            const int64_t before = is_dealt ? rows.before : SL_ALL_TURNS(rows);
            const int64_t count = is_dealt ? rows.count : 0, after = is_dealt ? rows.after : 0;
            element *into = to + (m + images.before) * images.to_step + (p + planes.before) * planes.to_step;
            sl_deal_fill_rows(into, to_stride, columns, value, before, rows.to_step, k);
            into += before * rows.to_step;
            if (count > 0) {
                const int64_t row = start + m * images.step + p * planes.step;
                SL_OF_STREAMS(sl_deal_plane, k)(into, to_stride, from, row, size, columns, low, high, value, count,
                                                after, rows.to_step, rows.step, reach);
            }
            sl_deal_fill_rows(into + count * rows.to_step, to_stride, columns, value, after, rows.to_step, k);
        }
}
#define SL_DEFINE_DEAL(k)                                                                                            \
    SL_INLINE void sl_deal_##k(element *restrict to, int64_t at, int64_t to_stride, const element *restrict from,    \
                               int64_t start, int64_t size, int64_t columns, int64_t low, int64_t inside,            \
                               element value, const sl_dealt_turns turns[3], int reach)                              \
    {                                                                                                                \
        sl_deal(to + at, to_stride, from, start, size, columns, low, sl_min(low + sl_max(inside, 0), k * columns),   \
                value, turns, reach, k);                                                                             \
    }
SL_DEFINE_DEAL(2)
SL_DEFINE_DEAL(3)
SL_DEFINE_DEAL(4)
