/* Copy of rows of equal length, in turns: the way to move a row is chosen once for all of them.
 *
 * Assumes: output and source do not overlap.  Offsets and counts are in elements; a count <= 0 copies nothing.
 * Needs: copy, reach. */
#pragma once

#include "copy.h"
#include "reach.h"

/* Copies *rows* rows of *bytes* bytes, half <= bytes <= 2*half, each as its first and last *half*, a literal. */
SL_ALWAYS_INLINE void sl_copy_rows_by(element *restrict to, int64_t to_step, const element *restrict from,
                                      int64_t step, int64_t rows, size_t bytes, const size_t half)
{
#define SL_COPY_ROW(i)                                                                                               \
    sl_copy_overlapping_ends((unsigned char *)(to + i * to_step), (const unsigned char *)(from + i * step), bytes, half)
    if (half <= SL_VECTOR_BYTES) {
        SL_UNROLL_4
        for (int64_t i = 0; i < rows; ++i)
            SL_COPY_ROW(i);
    } else
        for (int64_t i = 0; i < rows; ++i)
            SL_COPY_ROW(i);
#undef SL_COPY_ROW
}

/* Copies *bytes* >= 64 bytes: whole cache lines by non-temporal stores. */
SL_OUT_OF_LINE void sl_copy_nontemporal(unsigned char *restrict to, const unsigned char *restrict from, int64_t bytes)
{
    int64_t k = sl_bytes_to_line(to); /* no line is written both ways */
    memcpy(to, from, (size_t)k);
    for (; k + 64 <= bytes; k += 64)
        for (int64_t j = k; j < k + 64; j += SL_VECTOR_BYTES)
            sl_store_far_max(to + j, sl_load_max(from + j));
    memcpy(to + k, from + k, (size_t)(bytes - k));
}

/* Runs the code that it is given for each row i of each turn. */
#define SL_FOR_EACH_ROW(...)                                                                                         \
    for (int64_t t = 0; t < turns; ++t, to += to_leap, from += leap)                                                 \
        for (int64_t i = 0; i < rows; ++i)                                                                           \
            __VA_ARGS__
#define SL_FOR_EACH_TURN_OF_ROWS(...)                                                                                \
    for (int64_t t = 0; t < turns; ++t, to += to_leap, from += leap)                                                 \
        __VA_ARGS__

/* to[t*to_leap + i*to_step + j] = from[t*leap + i*step + j] for 0 <= t < turns, 0 <= i < rows, 0 <= j < count. */
SL_OUT_OF_LINE void sl_copy_turns(element *restrict to, int64_t to_leap, int64_t to_step,
                                  const element *restrict from, int64_t leap, int64_t step, int64_t turns,
                                  int64_t rows, int64_t count, int reach)
{
    const size_t bytes = (size_t)count * sizeof(element);
    if (count == 1 && to_step == 1 && step == -1)
        SL_FOR_EACH_ROW(to[i] = from[-i]);
    else if (count == 1 && to_step == 1 && step == 2)
        SL_FOR_EACH_ROW(to[i] = from[2 * i]);
    else if (count == 1)
        SL_FOR_EACH_ROW(to[i * to_step] = from[i * step]);
    else if (reach == SL_FAR && bytes >= 512)
        SL_FOR_EACH_ROW(sl_copy_nontemporal((unsigned char *)(to + i * to_step),
                                            (const unsigned char *)(from + i * step), (int64_t)bytes));
    else if (bytes > SL_LIBRARY_COPY_BYTES)
        SL_FOR_EACH_ROW(memcpy(to + i * to_step, from + i * step, bytes));
    else if (bytes > 64)
        SL_FOR_EACH_ROW(sl_copy_blocks((unsigned char *)(to + i * to_step), (const unsigned char *)(from + i * step),
                                       (int64_t)bytes));
    else if (bytes == 64)
        SL_FOR_EACH_TURN_OF_ROWS(sl_copy_rows_by(to, to_step, from, step, rows, 64, 64));
    else if (bytes == 32)
        SL_FOR_EACH_TURN_OF_ROWS(sl_copy_rows_by(to, to_step, from, step, rows, 32, 32));
    else if (bytes == 16)
        SL_FOR_EACH_TURN_OF_ROWS(sl_copy_rows_by(to, to_step, from, step, rows, 16, 16));
#if SL_HAS_BYTE_MASKS
    else if (bytes > 32)
        SL_FOR_EACH_TURN_OF_ROWS(
            sl_masked_copy_rows_max(to, to_step, from, step, rows, sl_first_bytes((int64_t)bytes)));
    else if (bytes > 16)
        SL_FOR_EACH_TURN_OF_ROWS(
            sl_masked_copy_rows_32(to, to_step, from, step, rows, sl_first_bytes((int64_t)bytes)));
    else
        SL_FOR_EACH_TURN_OF_ROWS(
            sl_masked_copy_rows_16(to, to_step, from, step, rows, sl_first_bytes((int64_t)bytes)));
#else
    else if (bytes > 32)
        SL_FOR_EACH_TURN_OF_ROWS(sl_copy_rows_by(to, to_step, from, step, rows, bytes, 32));
    else if (bytes > 16)
        SL_FOR_EACH_TURN_OF_ROWS(sl_copy_rows_by(to, to_step, from, step, rows, bytes, 16));
    else if (bytes >= 8)
        SL_FOR_EACH_TURN_OF_ROWS(sl_copy_rows_by(to, to_step, from, step, rows, bytes, 8));
    else if (bytes >= 4)
        SL_FOR_EACH_TURN_OF_ROWS(sl_copy_rows_by(to, to_step, from, step, rows, bytes, 4));
    else
        SL_FOR_EACH_TURN_OF_ROWS(sl_copy_rows_by(to, to_step, from, step, rows, bytes, 2));
#endif
}
