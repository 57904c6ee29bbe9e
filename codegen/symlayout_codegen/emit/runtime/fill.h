/* Fill: one value into a run, or into many rows.
 *
 * Assumes: offsets and counts are in elements; a count <= 0 writes nothing.
 * Needs: masks, short_rows. */
#pragma once

#include "masks.h"
#include "short_rows.h"

/* to[i] = value for 0 <= i < count. */
SL_OUT_OF_LINE void sl_fill_long(element *restrict to, element value, int64_t count)
{
#if SL_HAS_BYTE_MASKS && SL_HAS_SHUFFLES
    sl_lane lane;
    memcpy(&lane, &value, sizeof lane);
    const sl_lanes line = (sl_lanes){0} + lane;
    for (; count > 64 / SL_ELEMENT_SIZE; to += 64 / SL_ELEMENT_SIZE, count -= 64 / SL_ELEMENT_SIZE)
        sl_store_max(to, (sl_bytes_max)line);
    sl_masked_store_max(to, (sl_bytes_max)line, sl_first_bytes(sl_max(count, 0) * SL_ELEMENT_SIZE));
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
