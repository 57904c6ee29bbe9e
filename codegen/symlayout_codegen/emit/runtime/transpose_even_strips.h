/* Strips of small elements whose rows and columns have one step each: addresses are multiples of the steps, which take
 * neither tables nor registers of their own.
 *
 * Assumes: to[i*row_step + j] = from[i + j*column_step].
 * Needs: transpose_squares, transpose_strips, zips. */
#pragma once

#include "transpose_squares.h"
#include "transpose_strips.h"
#include "zips.h"

#define SL_HAS_EVEN_STRIPS (SL_HAS_STRIPS && SL_ELEMENT_SIZE <= 2)
#if SL_HAS_EVEN_STRIPS
/* A step and its multiples, in bytes: those that an address has no factor for. */
typedef struct {
    int64_t one, three, five, seven;
} sl_steps;

SL_INLINE sl_steps sl_steps_of(int64_t step)
{
    const int64_t bytes = step * SL_ELEMENT_SIZE;
    return (sl_steps){bytes, 3 * bytes, 5 * bytes, 7 * bytes};
}

/* Hides a value from the compiler: it would keep what is derived from it in more registers than there are. */
#define SL_HIDE(value) __asm__("" : "+r"(value))
#define SL_HIDE_STEPS(steps)                                                                                         \
    SL_HIDE((steps).one);                                                                                            \
    SL_HIDE((steps).three);                                                                                          \
    SL_HIDE((steps).five);                                                                                           \
    SL_HIDE((steps).seven)

/* The bytes of *k* steps, a literal from 0 to 7. */
SL_ALWAYS_INLINE int64_t sl_times(const sl_steps *steps, int64_t k)
{
    switch (k) {
    case 0:
    case 1:
    case 2:
    case 4:
        return k * steps->one;
    case 3:
    case 6:
        return k / 3 * steps->three;
    default:
        return k == 5 ? steps->five : steps->seven;
    }
}
/* What is *k* steps behind *first*. */
SL_ALWAYS_INLINE const element *sl_column_at(const element *first, const sl_steps *steps, int64_t k)
{
    return (const element *)((const char *)first + sl_times(steps, k));
}
SL_ALWAYS_INLINE element *sl_row_at(element *first, const sl_steps *steps, int64_t k)
{
    return (element *)((char *)first + sl_times(steps, k));
}

/* Transposes SL_LANES_16 rows of SL_STRIP columns. */
SL_ALWAYS_INLINE void sl_transpose_even_strip(element *restrict to, const sl_steps *rows, const element *restrict from,
                                              const sl_steps *columns)
{
#if SL_HAS_HALVES
    const element *upper = (const element *)((const char *)from + 8 * columns->one);
    SL_HIDE(upper);
    SL_UNROLL
    for (int64_t half = 0; half < 16; half += 8) {
        sl_lanes line[8];
        SL_UNROLL
        for (int64_t k = 0; k < 8; ++k)
            line[k] = sl_zip_eights(sl_column_at(from, columns, k) + half, sl_column_at(upper, columns, k) + half);
        SL_ZIP_UNTIL(8, sl_zip_half(line));
        SL_UNROLL
        for (int64_t k = 0; k < 8; ++k)
            sl_store_16(sl_row_at(to, rows, k), (sl_bytes_16)line[k]);
        to = (element *)((char *)to + 8 * rows->one);
        SL_HIDE(to);
    }
#else
    const element *upper = (const element *)((const char *)from + SL_LANES_16 * columns->one);
    SL_HIDE(upper);
#if SL_VECTOR_BYTES == 16
    sl_lanes_16 line[SL_LANES_16];
#else
    sl_lanes_32 line[SL_LANES_16];
#endif
    SL_UNROLL
    for (int64_t k = 0; k < SL_LANES_16; ++k) {
        if (k == 8) {
            from = (const element *)((const char *)from + 8 * columns->one);
            upper = (const element *)((const char *)upper + 8 * columns->one);
            SL_HIDE(from);
            SL_HIDE(upper);
        }
#if SL_VECTOR_BYTES == 16
        line[k] = (sl_lanes_16)sl_load_16(sl_column_at(from, columns, k % 8));
#else
        line[k] = (sl_lanes_32)sl_load_halves(sl_column_at(from, columns, k % 8), sl_column_at(upper, columns, k % 8));
#endif
    }
#if SL_VECTOR_BYTES == 16
    SL_ZIP_UNTIL(SL_LANES_16, sl_zip_square(line));
#else
    SL_ZIP_UNTIL(SL_LANES_16, sl_zip_pair(line));
#endif
    SL_UNROLL
    for (int64_t k = 0; k < SL_LANES_16; ++k) {
        if (k == 8) {
            to = (element *)((char *)to + 8 * rows->one);
            SL_HIDE(to);
        }
#if SL_VECTOR_BYTES == 16
        sl_store_16(sl_row_at(to, rows, k % 8), (sl_bytes_16)line[k]);
#else
        sl_store_32(sl_row_at(to, rows, k % 8), (sl_bytes_32)line[k]);
#endif
    }
#endif
}
#endif
