/* Short rows: several rows at once, by one byte permutation whose indices are computed beforehand.
 *
 * Assumes: output and source do not overlap.  Offsets, steps and counts of the copy are in bytes.
 * Needs: integers, vectors. */
#pragma once

#include "integers.h"
#include "vectors.h"

/* Bytes of the permuted vector; 0 where no instruction permutes bytes by computed indices. */
#if SL_VECTOR_BYTES == 64 && defined __AVX512VBMI__
#define SL_PERMUTE_BYTES 64
#else
#define SL_PERMUTE_BYTES 0
#endif
/* The longest row, in bytes, that is permuted, and the least number of rows in a vector. */
#define SL_SHORT_ROW_BYTES 16
#define SL_SHORT_ROWS_PER_VECTOR 4

#if SL_PERMUTE_BYTES
typedef uint8_t sl_permuted_bytes __attribute__((vector_size(SL_PERMUTE_BYTES)));
typedef char sl_permuted_chars __attribute__((vector_size(SL_PERMUTE_BYTES)));
#define SL_LOAD_PERMUTED(from) ((sl_permuted_bytes)sl_load_max(from))
#define SL_STORE_PERMUTED(to, v) sl_store_max(to, (sl_bytes_max)(v))

/* Byte i of the result is byte index[i] of a and b, one after the other. */
SL_ALWAYS_INLINE sl_permuted_bytes sl_permute_bytes(sl_permuted_bytes a, sl_permuted_bytes b, sl_permuted_bytes mask)
{
#ifdef __clang__
    return (sl_permuted_bytes)__builtin_ia32_vpermi2varqi512((sl_permuted_chars)a, (sl_permuted_chars)mask,
                                                             (sl_permuted_chars)b);
#else
    return __builtin_shuffle(a, b, mask);
#endif
}

/* Stores all of v if *dense*, else only the bytes with a bit in *kept*. */
SL_ALWAYS_INLINE void sl_store_rows(unsigned char *to, sl_permuted_bytes v, uint64_t kept, const int dense)
{
    if (dense)
        SL_STORE_PERMUTED(to, v);
    else
        __builtin_ia32_storedquqi512_mask((void *)to, (sl_permuted_chars)v, kept);
}

/* The mask of *each* rows of *bytes* bytes, *step* apart. */
SL_INLINE uint64_t sl_rows_mask(int64_t step, int64_t bytes, int64_t each)
{
    uint64_t kept = 0;
    for (int64_t k = 0; k < each; ++k) {
        SL_KEEP_LOOP(); /* else the few steps become vectors, which take longer to compile */
        kept |= (~UINT64_C(0) >> (64 - bytes)) << (k * step);
    }
    return kept;
}

/* Permutes *turns* vectors: one step of sl_copy_short each. */
SL_ALWAYS_INLINE void sl_permute_rows(unsigned char *restrict to, int64_t to_leap, const unsigned char *restrict from,
                                      int64_t leap, int64_t turns, sl_permuted_bytes mask, uint64_t kept,
                                      const int dense, const int two)
{
    for (int64_t i = 0; i < turns; ++i) {
        const sl_permuted_bytes a = SL_LOAD_PERMUTED(from + i * leap);
        const sl_permuted_bytes b = SL_LOAD_PERMUTED(from + i * leap + (two ? SL_PERMUTE_BYTES : 0));
        sl_store_rows(to + i * to_leap, sl_permute_bytes(a, b, mask), kept, dense);
    }
}

/* to[i*to_step + j] = from[i*step + j], in bytes, for 0 <= j < bytes <= SL_SHORT_ROW_BYTES and 0 <= i < n, where
 * n <= rows is returned and may be 0.  Reads nothing outside the rows' span, writes nothing between the rows. */
SL_OUT_OF_LINE int64_t sl_copy_short(unsigned char *restrict to, int64_t to_step, const unsigned char *restrict from,
                                     int64_t step, int64_t rows, int64_t bytes)
{
    const int64_t reach = step < 0 ? -step : step;
    const int dense = to_step == bytes;
    if (to_step < bytes)
        return 0;
    /* Rows that fit into one vector of the output, and into one or two of the source. */
    int64_t each = (SL_PERMUTE_BYTES - bytes) / to_step + 1;
    if (reach)
        each = sl_min(each, (2 * SL_PERMUTE_BYTES - bytes) / reach + 1);
    if (each < SL_SHORT_ROWS_PER_VECTOR || rows < 2 * each)
        return 0;
    const int two = (each - 1) * reach + bytes > SL_PERMUTE_BYTES;
    const int64_t span = two ? 2 * SL_PERMUTE_BYTES : SL_PERMUTE_BYTES;
    /* How many rows after row i its vectors reach. */
    int64_t last = each - 1;
    if (reach)
        last = sl_max(last, (span - bytes + reach - 1) / reach);
    if (dense)
        last = sl_max(last, (SL_PERMUTE_BYTES - 1) / bytes);
    if (last >= rows)
        return 0;
    unsigned char held[2 * SL_PERMUTE_BYTES]; /* step 0: the only row, with readable bytes after it */
    if (!reach) {
        memcpy(held, from, (size_t)bytes);
        from = held;
    }
    const int64_t before = step < 0 ? span - bytes : 0;
    const uint32_t inverse = (uint32_t)((4096 + to_step - 1) / to_step); /* j*inverse / 4096 is j / to_step: j < 64 */
    uint8_t at[SL_PERMUTE_BYTES];
    for (uint32_t j = 0; j < SL_PERMUTE_BYTES; ++j)
        at[j] = (uint8_t)((j + (j * inverse >> 12) * (uint32_t)(step - to_step) + (uint32_t)before) &
                          (2 * SL_PERMUTE_BYTES - 1));
    const sl_permuted_bytes mask = SL_LOAD_PERMUTED(at);
    const uint64_t kept = dense ? 0 : sl_rows_mask(to_step, bytes, each);
    const int64_t turns = (rows - 1 - last) / each + 1;
    if (dense && two)
        sl_permute_rows(to, each * to_step, from - before, each * step, turns, mask, kept, 1, 1);
    else if (dense)
        sl_permute_rows(to, each * to_step, from - before, each * step, turns, mask, kept, 1, 0);
    else if (two)
        sl_permute_rows(to, each * to_step, from - before, each * step, turns, mask, kept, 0, 1);
    else
        sl_permute_rows(to, each * to_step, from - before, each * step, turns, mask, kept, 0, 0);
    return turns * each;
}

/* to[i*to_step + j] = value for 0 <= j < count and 0 <= i < n, where n <= rows is returned and may be 0.  Writes
 * nothing between the rows. */
SL_OUT_OF_LINE int64_t sl_fill_short(element *restrict to, int64_t to_step, element value, int64_t rows,
                                     int64_t count)
{
    const int64_t size = sizeof(element), bytes = count * size;
    const int64_t each = to_step > count ? (SL_PERMUTE_BYTES - bytes) / (to_step * size) + 1 : 0;
    if (each < SL_SHORT_ROWS_PER_VECTOR || rows < each)
        return 0;
    element values[SL_PERMUTE_BYTES / SL_ELEMENT_SIZE + 1];
    for (int64_t j = 0; j <= SL_PERMUTE_BYTES / SL_ELEMENT_SIZE; ++j)
        values[j] = value;
    const sl_permuted_bytes v = SL_LOAD_PERMUTED(values);
    const uint64_t kept = sl_rows_mask(to_step * size, bytes, each);
    int64_t i = 0;
    for (; i <= rows - each; i += each)
        sl_store_rows((unsigned char *)(to + i * to_step), v, kept, 0);
    return i;
}
#endif
