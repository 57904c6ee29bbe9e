/* Masks: vectors read and written in part (AVX-512BW and VL).  Empty without SL_HAS_BYTE_MASKS.
 *
 * Assumes: nothing of alignment.  Bytes without a bit in the mask are not touched, and need not be readable.
 * Needs: integers, vectors. */
#pragma once

#include "integers.h"
#include "vectors.h"

#if SL_HAS_BYTE_MASKS
/* The mask of the first *bytes* bytes, 0 <= bytes. */
SL_ALWAYS_INLINE uint64_t sl_first_bytes(int64_t bytes)
{
    return bytes >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << bytes) - 1;
}

/* Defines, for a vector of bytes: a load of the bytes in the mask, the others 0; a load that keeps the others
 * of a vector; a store of the bytes in the mask; a copy of rows.  The smallest vector that holds a row is the
 * fastest: an access that touches two cache lines takes twice the time, masked or not. */
#define SL_DEFINE_MASKED(suffix, bits, mask_type)                                                                    \
    SL_ALWAYS_INLINE sl_bytes_##suffix sl_masked_load_##suffix(const void *from, uint64_t mask)                      \
    {                                                                                                                \
        return __builtin_ia32_loaddquqi##bits##_mask(from, (sl_bytes_##suffix){0}, (mask_type)mask);                 \
    }                                                                                                                \
    SL_ALWAYS_INLINE sl_bytes_##suffix sl_masked_merge_##suffix(sl_bytes_##suffix others, const void *from,          \
                                                                uint64_t mask)                                       \
    {                                                                                                                \
        return __builtin_ia32_loaddquqi##bits##_mask(from, others, (mask_type)mask);                                 \
    }                                                                                                                \
    SL_ALWAYS_INLINE void sl_masked_store_##suffix(void *to, sl_bytes_##suffix v, uint64_t mask)                     \
    {                                                                                                                \
        __builtin_ia32_storedquqi##bits##_mask(to, v, (mask_type)mask);                                              \
    }                                                                                                                \
    SL_ALWAYS_INLINE void sl_masked_copy_rows_##suffix(element *restrict to, int64_t to_step,                        \
                                                       const element *restrict from, int64_t step, int64_t rows,     \
                                                       uint64_t mask)                                                \
    {                                                                                                                \
        SL_UNROLL_4                                                                                                  \
        for (int64_t i = 0; i < rows; ++i)                                                                           \
            sl_masked_store_##suffix(to + i * to_step, sl_masked_load_##suffix(from + i * step, mask), mask);        \
    }
SL_DEFINE_MASKED(16, 128, uint16_t)
SL_DEFINE_MASKED(32, 256, uint32_t)
SL_DEFINE_MASKED(max, 512, uint64_t)

/* The mask of elements *low* <= i < *high*. */
SL_ALWAYS_INLINE uint64_t sl_byte_range(int64_t low, int64_t high)
{
    return sl_first_bytes(sl_max(high, 0) * SL_ELEMENT_SIZE) & ~sl_first_bytes(sl_max(low, 0) * SL_ELEMENT_SIZE);
}
#endif
