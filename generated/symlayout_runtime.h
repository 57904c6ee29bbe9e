/* What generated kernels call.  Define SL_ELEMENT_SIZE, the bytes of an element, before including; and
 * SL_NUMBER, a type of that size, where elements add up. */
#ifndef SYMLAYOUT_RUNTIME_H
#define SYMLAYOUT_RUNTIME_H

#include <stdint.h>
#include <string.h>

#define SL_INLINE static inline __attribute__((unused))
#define SL_APART static __attribute__((noinline, unused))
#define SL_ALWAYS static inline __attribute__((always_inline, unused))

/* Whether vectors of elements can be shuffled: gcc 12 and later, clang. */
#define SL_SHUFFLES 0
#ifdef __has_builtin
#if __has_builtin(__builtin_shufflevector)
#undef SL_SHUFFLES
#define SL_SHUFFLES \
    (SL_ELEMENT_SIZE == 1 || SL_ELEMENT_SIZE == 2 || SL_ELEMENT_SIZE == 4 || SL_ELEMENT_SIZE == 8)
#endif
#endif

/* An element moves as bytes: no alignment is asked for, and it may alias any type. */
#ifdef SL_NUMBER
__extension__ typedef SL_NUMBER __attribute__((may_alias, aligned(1))) element;
_Static_assert(sizeof(element) == SL_ELEMENT_SIZE, "SL_NUMBER has not SL_ELEMENT_SIZE bytes");
#elif SL_ELEMENT_SIZE == 1
typedef uint8_t element;
#elif SL_ELEMENT_SIZE == 2
typedef uint16_t __attribute__((may_alias, aligned(1))) element;
#elif SL_ELEMENT_SIZE == 4
typedef uint32_t __attribute__((may_alias, aligned(1))) element;
#elif SL_ELEMENT_SIZE == 8
typedef uint64_t __attribute__((may_alias, aligned(1))) element;
#else
typedef struct __attribute__((may_alias)) {
    unsigned char bytes[SL_ELEMENT_SIZE];
} element;
#endif

/* ---- integers: arguments are whatever the caller passed, so these are checked ---- */

/* a + b; sets *overflow where it is not an int64. */
SL_INLINE int64_t sl_add(int64_t a, int64_t b, int *overflow)
{
    int64_t sum;
    *overflow |= __builtin_add_overflow(a, b, &sum);
    return sum;
}

/* a * b; sets *overflow where it is not an int64. */
SL_INLINE int64_t sl_mul(int64_t a, int64_t b, int *overflow)
{
    int64_t product;
    *overflow |= __builtin_mul_overflow(a, b, &product);
    return product;
}

/* ---- integers: inside the loops, where every value is in range ---- */

/* floor(a / b) as in Python.  Requires b > 0. */
SL_INLINE int64_t sl_floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* a - b * floor(a / b) as in Python.  Requires b > 0. */
SL_INLINE int64_t sl_floor_mod(int64_t a, int64_t b)
{
    const int64_t r = a % b;
    return r < 0 ? r + b : r;
}

/* floor(a / b); sets *overflow where b is not positive. */
SL_INLINE int64_t sl_checked_floor_div(int64_t a, int64_t b, int *overflow)
{
    *overflow |= b <= 0;
    return sl_floor_div(a, b > 0 ? b : 1);
}

/* a - b * floor(a / b); sets *overflow where b is not positive. */
SL_INLINE int64_t sl_checked_floor_mod(int64_t a, int64_t b, int *overflow)
{
    *overflow |= b <= 0;
    return sl_floor_mod(a, b > 0 ? b : 1);
}

SL_INLINE int64_t sl_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

SL_INLINE int64_t sl_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The d of 0 <= d < count with 0 <= base + step*d < extent are *first <= d < *last; step may have
 * any sign.  0 <= *first <= *last <= max(count, 0). */
SL_INLINE void sl_interval(int64_t base, int64_t step, int64_t extent, int64_t count, int64_t *first,
                           int64_t *last)
{
    int64_t from, end;
    if (step > 0) {
        from = -sl_floor_div(base, step);
        end = -sl_floor_div(base - extent, step);
    } else if (step < 0) {
        from = sl_floor_div(base - extent, -step) + 1;
        end = sl_floor_div(base, -step) + 1;
    } else {
        from = 0;
        end = base >= 0 && base < extent ? count : 0;
    }
    *first = sl_max(0, sl_min(from, count));
    *last = sl_max(*first, sl_min(end, count));
}

/* ---- shares: several calls do a kernel's work, each a part of it ---- */

/* Number *part* of *parts* parts of what is still to be shared out, 0 <= part < parts. */
typedef struct {
    int64_t part, parts;
} sl_part;

/* The steps of a loop that are the part's: *begin <= d < *end, of 0 <= d < extent. */
SL_APART void sl_share_last(const sl_part *left, int64_t extent, int64_t *begin, int64_t *end)
{
    *begin = 0;
    *end = extent;
    if (left->parts > 1) {
        const int64_t each = extent / left->parts, more = extent % left->parts;
        *begin = each * left->part + sl_min(left->part, more);
        *end = *begin + each + (left->part < more);
    }
}

/* The same where loops inside this one are shared too: with more parts than steps, several parts have a step
 * together, and *left becomes what they share of its inside. */
SL_APART void sl_share(sl_part *left, int64_t extent, int64_t *begin, int64_t *end)
{
    if (left->parts == 1) {
        sl_share_last(left, extent, begin, end);
        return;
    }
    const int64_t together = sl_max(left->parts / sl_max(extent, 1), 1);
    const sl_part outer = {left->part / together, (left->parts + together - 1) / together};
    sl_share_last(&outer, extent, begin, end);
    left->part -= outer.part * together;
    left->parts = sl_min(together, left->parts - outer.part * together);
}

/* ---- leaves: offsets and counts in elements; a count of 0 or less touches nothing ---- */

/* *bytes* bytes, half <= bytes <= 2*half, as the first and the last *half*, a literal: two moves, no loop
 * and no call. */
SL_ALWAYS void sl_copy_ends(unsigned char *restrict to, const unsigned char *restrict from, size_t bytes,
                            const size_t half)
{
    memcpy(to, from, half);
    memcpy(to + bytes - half, from + bytes - half, half);
}

/* to[at + i] = from[start + i] for 0 <= i < count. */
SL_INLINE void sl_copy(element *restrict to, int64_t at, const element *restrict from, int64_t start,
                       int64_t count)
{
    if (count <= 0)
        return;
    unsigned char *const into = (unsigned char *)(to + at);
    const unsigned char *const out_of = (const unsigned char *)(from + start);
    const size_t bytes = (size_t)count * sizeof(element);
    if (bytes > 64)
        memcpy(into, out_of, bytes);
    else if (bytes >= 32)
        sl_copy_ends(into, out_of, bytes, 32);
    else if (bytes >= 16)
        sl_copy_ends(into, out_of, bytes, 16);
    else if (bytes >= 8)
        sl_copy_ends(into, out_of, bytes, 8);
    else if (bytes >= 4)
        sl_copy_ends(into, out_of, bytes, 4);
    else if (bytes >= 2)
        sl_copy_ends(into, out_of, bytes, 2);
    else
        *into = *out_of;
}

/* to[i] = value for 0 <= i < count. */
SL_APART void sl_fill_long(element *restrict to, element value, int64_t count)
{
    for (int64_t i = 0; i < count; ++i)
        to[i] = value;
}

/* to[at + i] = value for 0 <= i < count: a margin of one or two needs neither loop nor call. */
SL_INLINE void sl_fill(element *restrict to, int64_t at, element value, int64_t count)
{
    if (count > 2)
        sl_fill_long(to + at, value, count);
    else if (count > 0)
        to[at] = to[at + count - 1] = value;
}

#ifdef SL_NUMBER
/* to[at + i] += from[start + i] for 0 <= i < count. */
SL_INLINE void sl_accumulate(element *restrict to, int64_t at, const element *restrict from, int64_t start,
                             int64_t count)
{
    for (int64_t i = 0; i < count; ++i)
        to[at + i] = (element)(to[at + i] + from[start + i]);
}
#endif

/* ---- transposes ---- */

/* A register holds SL_LANES elements; a shuffle takes from two, numbered one after the other. */
#if SL_SHUFFLES
#define SL_LANES (16 / SL_ELEMENT_SIZE)
#if SL_ELEMENT_SIZE == 1
typedef uint8_t sl_vector __attribute__((vector_size(16)));
#define SL_LOW 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define SL_HIGH 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#define SL_EVEN 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
#define SL_ODD 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31
#elif SL_ELEMENT_SIZE == 2
typedef uint16_t sl_vector __attribute__((vector_size(16)));
#define SL_LOW 0, 8, 1, 9, 2, 10, 3, 11
#define SL_HIGH 4, 12, 5, 13, 6, 14, 7, 15
#define SL_EVEN 0, 2, 4, 6, 8, 10, 12, 14
#define SL_ODD 1, 3, 5, 7, 9, 11, 13, 15
#elif SL_ELEMENT_SIZE == 4
typedef uint32_t sl_vector __attribute__((vector_size(16)));
#define SL_LOW 0, 4, 1, 5
#define SL_HIGH 2, 6, 3, 7
#else
typedef uint64_t sl_vector __attribute__((vector_size(16)));
#define SL_LOW 0, 2
#define SL_HIGH 1, 3
#endif
#else
#define SL_LANES 4
#endif

/* to[at + i*to_stride + j] = from[start + i + j*stride] for 0 <= i < rows, 0 <= j < columns. */
SL_INLINE void sl_transpose_plain(element *restrict to, int64_t at, int64_t to_stride,
                                  const element *restrict from, int64_t start, int64_t stride,
                                  int64_t rows, int64_t columns)
{
    for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j)
            to[at + i * to_stride + j] = from[start + i + j * stride];
}

/* The same for k = rows = stride, a literal: k streams are written in one pass over the source.  The
 * compilers vectorise the loop for many columns; small elements in pairs that are left over, or few, go
 * by registers, the last of which reaches back. */
SL_ALWAYS void sl_split(element *restrict to, int64_t at, int64_t to_stride, const element *restrict from,
                        int64_t start, int64_t columns, const int64_t k)
{
#if SL_SHUFFLES && SL_ELEMENT_SIZE <= 2
    if (k == 2 && columns >= SL_LANES) {
        const int64_t many = columns - columns % 64;
        for (int64_t j = many; j < columns; j += SL_LANES) {
            const int64_t column = sl_min(j, columns - SL_LANES);
            sl_vector a, b;
            memcpy(&a, from + start + 2 * column, sizeof a);
            memcpy(&b, from + start + 2 * column + SL_LANES, sizeof b);
            const sl_vector even = __builtin_shufflevector(a, b, SL_EVEN);
            const sl_vector odd = __builtin_shufflevector(a, b, SL_ODD);
            memcpy(to + at + column, &even, sizeof even);
            memcpy(to + at + to_stride + column, &odd, sizeof odd);
        }
        columns = many;
    }
#endif
    for (int64_t j = 0; j < columns; ++j)
        for (int64_t i = 0; i < k; ++i)
            to[at + i * to_stride + j] = from[start + i + j * k];
}

/* The same for k = columns = to_stride, a literal: k streams are read in one pass over the output. */
SL_ALWAYS void sl_join(element *restrict to, int64_t at, const element *restrict from, int64_t start,
                       int64_t stride, int64_t rows, const int64_t k)
{
#if SL_SHUFFLES && SL_ELEMENT_SIZE <= 2
    if (k == 2 && rows >= SL_LANES) {
        for (int64_t i = 0; i < rows; i += SL_LANES) {
            const int64_t row = sl_min(i, rows - SL_LANES);
            sl_vector a, b;
            memcpy(&a, from + start + row, sizeof a);
            memcpy(&b, from + start + row + stride, sizeof b);
            const sl_vector low = __builtin_shufflevector(a, b, SL_LOW);
            const sl_vector high = __builtin_shufflevector(a, b, SL_HIGH);
            memcpy(to + at + 2 * row, &low, sizeof low);
            memcpy(to + at + 2 * row + SL_LANES, &high, sizeof high);
        }
        return;
    }
#endif
    for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < k; ++j)
            to[at + i * k + j] = from[start + i + j * stride];
}

/* The same for rows = columns = SL_LANES.  Where vectors can be shuffled a column of the source fills one:
 * to zip the first half of them with the second, log2(SL_LANES) times, is to transpose.  The loops are
 * unrolled, and all stays in registers. */
SL_INLINE void sl_transpose_lanes(element *restrict to, int64_t to_stride, const element *restrict from,
                                  int64_t stride)
{
#if SL_SHUFFLES
    sl_vector row[SL_LANES], zipped[SL_LANES];
    for (int i = 0; i < SL_LANES; ++i)
        memcpy(&row[i], from + i * stride, sizeof row[i]);
    for (int zips = 1; zips < SL_LANES; zips *= 2) {
        for (int i = 0; i < SL_LANES / 2; ++i) {
            zipped[2 * i] = __builtin_shufflevector(row[i], row[i + SL_LANES / 2], SL_LOW);
            zipped[2 * i + 1] = __builtin_shufflevector(row[i], row[i + SL_LANES / 2], SL_HIGH);
        }
        for (int i = 0; i < SL_LANES; ++i)
            row[i] = zipped[i];
    }
    for (int i = 0; i < SL_LANES; ++i)
        memcpy(to + i * to_stride, &row[i], sizeof row[i]);
#else
    sl_transpose_plain(to, 0, to_stride, from, 0, stride, SL_LANES, SL_LANES);
#endif
}

/* The same for 0 <= i, j < SL_TILE, a cache line's elements, by way of a block on the stack: each line
 * of the output is written at once, whole, so that strides of a power of two evict nothing half done. */
#define SL_TILE (SL_ELEMENT_SIZE == 1 ? 64 : SL_ELEMENT_SIZE == 2 ? 32 : 16)
SL_INLINE void sl_transpose_tile(element *restrict to, int64_t to_stride, const element *restrict from,
                                 int64_t stride)
{
    element block[SL_TILE * SL_TILE];
    for (int64_t j = 0; j < SL_TILE; j += SL_LANES)
        for (int64_t i = 0; i < SL_TILE; i += SL_LANES)
            sl_transpose_lanes(block + i * SL_TILE + j, SL_TILE, from + i + j * stride, stride);
    for (int64_t i = 0; i < SL_TILE; ++i)
        memcpy(to + i * to_stride, block + i * SL_TILE, SL_TILE * sizeof(element));
}

/* As sl_transpose_plain, by the way that the strides ask for; tiles at the ends reach back over their
 * neighbours. */
SL_INLINE void sl_transpose(element *restrict to, int64_t at, int64_t to_stride,
                            const element *restrict from, int64_t start, int64_t stride, int64_t rows,
                            int64_t columns)
{
    if (rows == stride && rows <= 4) {
        switch (rows) {
        case 2:
            sl_split(to, at, to_stride, from, start, columns, 2);
            return;
        case 3:
            sl_split(to, at, to_stride, from, start, columns, 3);
            return;
        case 4:
            sl_split(to, at, to_stride, from, start, columns, 4);
            return;
        }
    }
    if (columns == to_stride && columns <= 4) {
        switch (columns) {
        case 2:
            sl_join(to, at, from, start, stride, rows, 2);
            return;
        case 3:
            sl_join(to, at, from, start, stride, rows, 3);
            return;
        case 4:
            sl_join(to, at, from, start, stride, rows, 4);
            return;
        }
    }
    to += at;
    from += start;
    if (SL_ELEMENT_SIZE <= 16 && rows >= SL_TILE && columns >= SL_TILE) {
        for (int64_t i = 0; i < rows; i += SL_TILE)
            for (int64_t j = 0; j < columns; j += SL_TILE) {
                const int64_t row = sl_min(i, rows - SL_TILE), column = sl_min(j, columns - SL_TILE);
                sl_transpose_tile(to + row * to_stride + column, to_stride, from + row + column * stride,
                                  stride);
            }
    } else if (rows >= SL_LANES && columns >= SL_LANES) {
        for (int64_t i = 0; i < rows; i += SL_LANES)
            for (int64_t j = 0; j < columns; j += SL_LANES) {
                const int64_t row = sl_min(i, rows - SL_LANES), column = sl_min(j, columns - SL_LANES);
                sl_transpose_lanes(to + row * to_stride + column, to_stride, from + row + column * stride,
                                   stride);
            }
    } else
        sl_transpose_plain(to, 0, to_stride, from, 0, stride, rows, columns);
}

#endif
