/* Fill: one value into a run, or into many rows.
 *
 * Assumes: offsets and counts are in elements; a count <= 0 writes nothing.
 * Needs: masks, short_rows. */
#pragma once

#include "masks.h"
#include "short_rows.h"

#if SL_HAS_SHUFFLES
/* Writes *bytes* bytes, half <= bytes <= 2*half, as the first and the last *half* of v, a literal. */
SL_ALWAYS_INLINE void sl_fill_ends(unsigned char *to, const void *v, int64_t bytes, const size_t half)
{
    memcpy(to, v, half);
    memcpy(to + bytes - (int64_t)half, v, half);
}
#endif

/* to[i] = value for 0 <= i < count. */
SL_OUT_OF_LINE void sl_fill_long(element *restrict to, element value, int64_t count)
{
#if SL_HAS_SHUFFLES
    sl_lane lane;
    memcpy(&lane, &value, sizeof lane);
    const sl_lanes line = (sl_lanes){0} + lane;
    unsigned char *const into = (unsigned char *)to;
    const int64_t bytes = count * SL_ELEMENT_SIZE;
    if (bytes >= SL_VECTOR_BYTES) {
        for (int64_t i = 0; i < bytes - SL_VECTOR_BYTES; i += SL_VECTOR_BYTES)
            sl_store_max(into + i, (sl_bytes_max)line);
        sl_store_max(into + bytes - SL_VECTOR_BYTES, (sl_bytes_max)line);
    }
#if SL_HAS_BYTE_MASKS
    else
        sl_masked_store_max(into, (sl_bytes_max)line, sl_first_bytes(sl_max(bytes, 0)));
#else
    else if (bytes >= 16)
        sl_fill_ends(into, &line, bytes, 16);
    else if (bytes >= 8)
        sl_fill_ends(into, &line, bytes, 8);
    else if (bytes >= 4)
        sl_fill_ends(into, &line, bytes, 4);
    else
        for (int64_t i = 0; i < count; ++i)
            to[i] = value;
#endif
#else
    for (int64_t i = 0; i < count; ++i)
        to[i] = value;
#endif
}

/* to[at + i] = value for 0 <= i < count.  A margin of one or two takes neither loop nor call. */
SL_INLINE void sl_fill(element *restrict to, int64_t at, element value, int64_t count)
{
    if (count > 2)
        sl_fill_long(to + at, value, count);
    else if (count > 0)
        to[at] = to[at + count - 1] = value;
}

/* to[at + i*to_step + j] = value for 0 <= i < rows, 0 <= j < count. */
SL_OUT_OF_LINE void sl_fill_rows(element *restrict to, int64_t at, int64_t to_step, element value, int64_t rows,
                                 int64_t count)
{
#if SL_PERMUTE_BYTES == 64
    if (count > 0 && count * (int64_t)sizeof(element) <= SL_SHORT_ROW_BYTES) {
        const int64_t done = sl_fill_short(to + at, to_step, value, rows, count);
        at += done * to_step;
        rows -= done;
    }
#endif
    if (count == 1)
        for (int64_t i = 0; i < rows; ++i)
            to[at + i * to_step] = value;
    else if (count > 1)
        for (int64_t i = 0; i < rows; ++i)
            sl_fill(to, at + i * to_step, value, count);
}
