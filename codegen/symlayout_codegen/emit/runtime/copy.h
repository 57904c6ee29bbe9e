/* Copy of one run of elements.
 *
 * Assumes: output and source do not overlap.  Offsets and counts are in elements; a count <= 0 copies nothing.
 * Needs: masks. */
#pragma once

#include "masks.h"

/* Copies *bytes* bytes, half <= bytes <= 2*half, as the first and the last *half*, a literal: two moves, no loop. */
SL_ALWAYS_INLINE void sl_copy_overlapping_ends(unsigned char *restrict to, const unsigned char *restrict from,
                                               size_t bytes, const size_t half)
{
    memcpy(to, from, half);
    if (bytes != half)
        memcpy(to + bytes - half, from + bytes - half, half);
}

/* More bytes than this are copied by memcpy: its setup pays off there, and not below. */
#define SL_LIBRARY_COPY_BYTES 2048

/* Copies *bytes* >= 64 bytes in blocks of 64; the last block overlaps the one before. */
SL_ALWAYS_INLINE void sl_copy_blocks(unsigned char *restrict to, const unsigned char *restrict from, int64_t bytes)
{
    for (int64_t k = 0; k < bytes - 64; k += 64) {
        memcpy(to + k, from + k, 32);
        memcpy(to + k + 32, from + k + 32, 32);
    }
    memcpy(to + bytes - 64, from + bytes - 64, 32);
    memcpy(to + bytes - 32, from + bytes - 32, 32);
}

/* Copies *bytes* >= 64 bytes. */
SL_OUT_OF_LINE void sl_copy_long(unsigned char *restrict to, const unsigned char *restrict from, int64_t bytes)
{
    if (bytes > SL_LIBRARY_COPY_BYTES)
        memcpy(to, from, (size_t)bytes);
    else
        sl_copy_blocks(to, from, bytes);
}

/* to[at + i] = from[start + i] for 0 <= i < count. */
SL_INLINE void sl_copy(element *restrict to, int64_t at, const element *restrict from, int64_t start, int64_t count)
{
    if (count <= 0)
        return;
    unsigned char *const into = (unsigned char *)(to + at);
    const unsigned char *const out_of = (const unsigned char *)(from + start);
    const size_t bytes = (size_t)count * sizeof(element);
    if (bytes > 64)
        sl_copy_long(into, out_of, (int64_t)bytes);
#if SL_HAS_BYTE_MASKS
    else if (bytes > 32)
        sl_masked_copy_rows_64(to + at, 0, from + start, 0, 1, sl_first_bytes((int64_t)bytes));
    else if (bytes > 16)
        sl_masked_copy_rows_32(to + at, 0, from + start, 0, 1, sl_first_bytes((int64_t)bytes));
    else
        sl_masked_copy_rows_16(to + at, 0, from + start, 0, 1, sl_first_bytes((int64_t)bytes));
#else
    else if (bytes >= 32)
        sl_copy_overlapping_ends(into, out_of, bytes, 32);
    else if (bytes >= 16)
        sl_copy_overlapping_ends(into, out_of, bytes, 16);
    else if (bytes >= 8)
        sl_copy_overlapping_ends(into, out_of, bytes, 8);
    else if (bytes >= 4)
        sl_copy_overlapping_ends(into, out_of, bytes, 4);
    else if (bytes >= 2)
        sl_copy_overlapping_ends(into, out_of, bytes, 2);
    else
        *into = *out_of;
#endif
}
