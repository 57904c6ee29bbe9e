/* Copy of one run of elements.
 *
 * Assumes: output and source do not overlap.  Offsets and counts are in elements; a count <= 0 copies nothing.
 * Needs: masks. */
#pragma once

#include "masks.h"

/* Copies 32 bytes. */
SL_ALWAYS_INLINE void sl_copy_32(unsigned char *restrict to, const unsigned char *restrict from)
{
#if SL_VECTOR_BYTES >= 32
    sl_store_32(to, sl_load_32(from));
#else
    sl_store_16(to, sl_load_16(from));
    sl_store_16(to + 16, sl_load_16(from + 16));
#endif
}

/* Copies *bytes* bytes, a literal: a power of two, at most 64. */
SL_ALWAYS_INLINE void sl_copy_literal(unsigned char *restrict to, const unsigned char *restrict from,
                                      const size_t bytes)
{
    if (bytes == 64) {
        sl_copy_32(to, from);
        sl_copy_32(to + 32, from + 32);
    } else if (bytes == 32)
        sl_copy_32(to, from);
    else if (bytes == 16)
        sl_store_16(to, sl_load_16(from));
    else
        memcpy(to, from, bytes);
}

/* Copies *bytes* bytes, half <= bytes <= 2*half, as the first and the last *half*, a literal: two moves, no loop. */
SL_ALWAYS_INLINE void sl_copy_overlapping_ends(unsigned char *restrict to, const unsigned char *restrict from,
                                               size_t bytes, const size_t half)
{
    sl_copy_literal(to, from, half);
    if (bytes != half)
        sl_copy_literal(to + bytes - half, from + bytes - half, half);
}

/* More bytes than this are copied by memcpy: its setup pays off there, and not below. */
#define SL_LIBRARY_COPY_BYTES 2048

/* Copies *bytes* >= 64 bytes in blocks of 64; the last block overlaps the one before. */
SL_ALWAYS_INLINE void sl_copy_blocks(unsigned char *restrict to, const unsigned char *restrict from, int64_t bytes)
{
    for (int64_t k = 0; k < bytes - 64; k += 64)
        sl_copy_literal(to + k, from + k, 64);
    sl_copy_literal(to + bytes - 64, from + bytes - 64, 64);
}

/* From so many bytes on, stores of 32 bytes begin at a multiple of 32: past the caches, a line that a store crosses
 * into takes up to half as long again. */
#define SL_ALIGNED_COPY_BYTES 256

/* Copies *bytes* >= 64 bytes. */
SL_OUT_OF_LINE void sl_copy_long(unsigned char *restrict to, const unsigned char *restrict from, int64_t bytes)
{
    int64_t lead = 0;
    if (bytes > SL_LIBRARY_COPY_BYTES) {
        memcpy(to, from, (size_t)bytes);
        return;
    }
    if (SL_VECTOR_BYTES >= 32 && bytes >= SL_ALIGNED_COPY_BYTES) {
        sl_copy_literal(to, from, 32);
        lead = 32 - (int64_t)((uintptr_t)to % 32);
    }
    sl_copy_blocks(to + lead, from + lead, bytes - lead);
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
        sl_masked_copy_rows_max(to + at, 0, from + start, 0, 1, sl_first_bytes((int64_t)bytes));
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
