/* What generated kernels call.  Define SL_ELEMENT_SIZE, the bytes of an element, before including. */
#ifndef SYMLAYOUT_RUNTIME_H
#define SYMLAYOUT_RUNTIME_H

#include <stdint.h>
#include <string.h>

#define SL_INLINE static inline __attribute__((unused))
#define SL_ALWAYS static inline __attribute__((always_inline, unused))

/* An element moves as bytes: no alignment is asked for, and it may alias any type. */
#if SL_ELEMENT_SIZE == 1
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

/* ---- leaves: offsets and counts in elements; a count of 0 or less touches nothing ---- */

/* to[at + i] = from[start + i] for 0 <= i < count. */
SL_INLINE void sl_copy(element *restrict to, int64_t at, const element *restrict from, int64_t start,
                       int64_t count)
{
    if (count > 0)
        memcpy(to + at, from + start, (size_t)count * sizeof(element));
}

/* to[at + i] = value for 0 <= i < count. */
SL_INLINE void sl_fill(element *restrict to, int64_t at, element value, int64_t count)
{
    for (int64_t i = 0; i < count; ++i)
        to[at + i] = value;
}

/* to[at + i*to_stride + j] = from[start + i + j*stride] for 0 <= i < rows, 0 <= j < columns. */
SL_INLINE void sl_transpose_plain(element *restrict to, int64_t at, int64_t to_stride,
                                  const element *restrict from, int64_t start, int64_t stride,
                                  int64_t rows, int64_t columns)
{
    for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j)
            to[at + i * to_stride + j] = from[start + i + j * stride];
}

/* The same for k = rows = stride, a literal: k streams are written in one pass over the source. */
SL_ALWAYS void sl_split(element *restrict to, int64_t at, int64_t to_stride, const element *restrict from,
                        int64_t start, int64_t columns, const int64_t k)
{
    for (int64_t j = 0; j < columns; ++j)
        for (int64_t i = 0; i < k; ++i)
            to[at + i * to_stride + j] = from[start + i + j * k];
}

/* The same for k = columns = to_stride, a literal: k streams are read in one pass over the output. */
SL_ALWAYS void sl_join(element *restrict to, int64_t at, const element *restrict from, int64_t start,
                       int64_t stride, int64_t rows, const int64_t k)
{
    for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < k; ++j)
            to[at + i * k + j] = from[start + i + j * stride];
}

/* A tile of SL_TILE rows and columns, by way of a block on the stack: each cache line of either face
 * is touched once, whole, so that strides of a power of two cost nothing. */
#define SL_TILE (SL_ELEMENT_SIZE <= 4 ? 64 / SL_ELEMENT_SIZE : 16)
SL_INLINE void sl_transpose_tile(element *restrict to, int64_t to_stride, const element *restrict from,
                                 int64_t stride)
{
    element block[SL_TILE][SL_TILE];
    for (int64_t j = 0; j < SL_TILE; ++j)
        for (int64_t i = 0; i < SL_TILE; ++i)
            block[i][j] = from[i + j * stride];
    for (int64_t i = 0; i < SL_TILE; ++i)
        for (int64_t j = 0; j < SL_TILE; ++j)
            to[i * to_stride + j] = block[i][j];
}

/* As sl_transpose_plain, by the way that the strides ask for. */
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
    const int64_t whole_rows = rows - rows % SL_TILE, whole_columns = columns - columns % SL_TILE;
    for (int64_t i = 0; i < whole_rows; i += SL_TILE)
        for (int64_t j = 0; j < whole_columns; j += SL_TILE)
            sl_transpose_tile(to + at + i * to_stride + j, to_stride, from + start + i + j * stride, stride);
    sl_transpose_plain(to, at + whole_columns, to_stride, from, start + whole_columns * stride, stride,
                       whole_rows, columns - whole_columns);
    sl_transpose_plain(to, at + whole_rows * to_stride, to_stride, from, start + whole_rows, stride,
                       rows - whole_rows, columns);
}

#endif
