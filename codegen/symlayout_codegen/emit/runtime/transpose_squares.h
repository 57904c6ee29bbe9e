/* Transposes of a square of 16 bytes, and of rows and columns of squares.
 *
 * Assumes: row[i] and column[j] are offsets in elements: to[row[i] + j] = from[i + column[j]].
 * Needs: integers, zips. */
#pragma once

#include "integers.h"
#include "zips.h"

#if SL_HAS_SHUFFLES
#if SL_SQUARES_PER_VECTOR > 1
typedef uint64_t sl_words_16 __attribute__((vector_size(16)));
typedef uint64_t sl_words_32 __attribute__((vector_size(32)));

/* Loads 16 bytes at *low* and 16 at *high*.  gcc 12 makes two loads and a shuffle between halves of the shuffle of two
 * vectors; a load to the high half is one instruction, which many processors do beside their shuffles. */
SL_ALWAYS_INLINE sl_words_32 sl_load_halves(const element *low, const element *high)
{
#if defined __AVX2__ && !defined __clang__
    typedef int ints __attribute__((vector_size(16)));
    typedef long long quadwords __attribute__((vector_size(16))), four_quadwords __attribute__((vector_size(32)));
    return (sl_words_32)__builtin_ia32_insert128i256((four_quadwords)__builtin_ia32_si256_si((ints)sl_load_16(low)),
                                                     (quadwords)sl_load_16(high), 1);
#else
    return __builtin_shufflevector((sl_words_16)sl_load_16(low), (sl_words_16)sl_load_16(high), 0, 1, 2, 3);
#endif
}

/* Loads one row of each square into one vector: that of square g is at from + at[g*SL_LANES_16]. */
SL_ALWAYS_INLINE sl_lanes sl_load_squares(const element *from, const int64_t *at)
{
#if SL_SQUARES_PER_VECTOR == 2
    return (sl_lanes)sl_load_halves(from + at[0], from + at[SL_LANES_16]);
#else
    const sl_words_32 low = sl_load_halves(from + at[0], from + at[SL_LANES_16]);
    const sl_words_32 high = sl_load_halves(from + at[2 * SL_LANES_16], from + at[3 * SL_LANES_16]);
    return (sl_lanes)__builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
#endif
}

/* Transposes to SL_LANES_16 rows by SL_LANES_MAX columns; writes the last row first.  Out of line, as the functions
 * below: inlined together they need more registers than there are. */
SL_OUT_OF_LINE void sl_transpose_flat(element *restrict to, const int64_t row[SL_LANES_16],
                                      const element *restrict from, const int64_t column[SL_LANES_MAX])
{
    sl_lanes line[SL_LANES_16];
    SL_REPEAT(SL_LANES_16, k, line[k] = sl_load_squares(from, column + k));
    sl_transpose_squares(line);
    SL_REPEAT(SL_LANES_16, k,
              sl_store_max(to + row[SL_LANES_16 - 1 - k], (sl_bytes_max)line[SL_LANES_16 - 1 - k]));
}

/* Stores square g of each line to the rows of that square. */
#define SL_STORE_SQUARE(g)                                                                                           \
    SL_REPEAT(SL_LANES_16, k, {                                                                                      \
        const sl_words words = (sl_words)line[k];                                                                    \
        const sl_words_16 square = __builtin_shufflevector(words, words, 2 * (g), 2 * (g) + 1);                      \
        sl_store_16(to + row[(g) * SL_LANES_16 + k], (sl_bytes_16)square);                                           \
    })

/* Transposes to SL_LANES_MAX rows by SL_LANES_16 columns; writes the first row first. */
SL_OUT_OF_LINE void sl_transpose_tall(element *restrict to, const int64_t row[SL_LANES_MAX],
                                      const element *restrict from, const int64_t column[SL_LANES_16])
{
    sl_lanes line[SL_LANES_16];
    SL_REPEAT(SL_LANES_16, k, line[k] = (sl_lanes)sl_load_max(from + column[k]));
    sl_transpose_squares(line);
    SL_REPEAT(SL_SQUARES_PER_VECTOR, g, SL_STORE_SQUARE(g));
}

/* Two tall blocks side by side: a row is 32 bytes, written by half as many stores. */
SL_OUT_OF_LINE void sl_transpose_tall_pair(element *restrict to, const int64_t row[SL_LANES_MAX],
                                           const element *restrict from, const int64_t column[2 * SL_LANES_16])
{
    sl_lanes left[SL_LANES_16], right[SL_LANES_16];
    SL_REPEAT(SL_LANES_16, k, left[k] = (sl_lanes)sl_load_max(from + column[k]));
    sl_transpose_squares(left);
    SL_REPEAT(SL_LANES_16, k, right[k] = (sl_lanes)sl_load_max(from + column[SL_LANES_16 + k]));
    sl_transpose_squares(right);
#if SL_SQUARES_PER_VECTOR == 4
    SL_REPEAT(SL_LANES_16, k, {
        const sl_words a = (sl_words)left[k], b = (sl_words)right[k];
        const sl_words low = __builtin_shufflevector(a, b, 0, 1, 8, 9, 2, 3, 10, 11);
        const sl_words high = __builtin_shufflevector(a, b, 4, 5, 12, 13, 6, 7, 14, 15);
        const sl_words_32 first = __builtin_shufflevector(low, low, 0, 1, 2, 3);
        const sl_words_32 second = __builtin_shufflevector(low, low, 4, 5, 6, 7);
        const sl_words_32 third = __builtin_shufflevector(high, high, 0, 1, 2, 3);
        const sl_words_32 fourth = __builtin_shufflevector(high, high, 4, 5, 6, 7);
        sl_store_32(to + row[2 * SL_LANES_16 + k], (sl_bytes_32)third);
        sl_store_32(to + row[3 * SL_LANES_16 + k], (sl_bytes_32)fourth);
        sl_store_32(to + row[k], (sl_bytes_32)first);
        sl_store_32(to + row[SL_LANES_16 + k], (sl_bytes_32)second);
    });
#else
    SL_REPEAT(SL_LANES_16, k, {
        const sl_words a = (sl_words)left[k], b = (sl_words)right[k];
        const sl_words_32 first = __builtin_shufflevector(a, b, 0, 1, 4, 5);
        const sl_words_32 second = __builtin_shufflevector(a, b, 2, 3, 6, 7);
        sl_store_32(to + row[k], (sl_bytes_32)first);
        sl_store_32(to + row[SL_LANES_16 + k], (sl_bytes_32)second);
    });
#endif
}
#endif

/* Stores the first *rows* of *count* rows, a literal. */
SL_ALWAYS_INLINE void sl_store_first(element *restrict to, const int64_t *row, const sl_lanes_16 *line, int64_t rows,
                                     const int64_t count)
{
    if (rows >= count) {
        SL_REPEAT(SL_LANES_16, k, if (k < count) sl_store_16(to + row[k], (sl_bytes_16)line[k]));
        return;
    }
    SL_REPEAT(SL_LANES_16, k, if (k < count - 1 && k < rows) sl_store_16(to + row[k], (sl_bytes_16)line[k]));
}

#if SL_HAS_HALVES
/* Loads 8 bytes into the low half of a vector. */
SL_ALWAYS_INLINE sl_words sl_load_low(const element *from)
{
    typedef uint64_t __attribute__((may_alias, aligned(1))) anywhere;
    return (sl_words){*(const anywhere *)from, 0};
}

/* Zips 8 bytes at *low* with 8 at *high*. */
SL_ALWAYS_INLINE sl_lanes sl_zip_eights(const element *low, const element *high)
{
    return sl_zip_low_16((sl_lanes)sl_load_low(low), (sl_lanes)sl_load_low(high));
}

/* Transposes to 8 rows from 8 bytes of each column: to[row[i] + j] = from[i + column[j]]; writes the first *rows*. */
SL_ALWAYS_INLINE void sl_transpose_half(element *restrict to, const int64_t *row, const element *restrict from,
                                        const int64_t column[16], int64_t rows)
{
    sl_lanes line[8];
    SL_REPEAT(8, k, line[k] = sl_zip_eights(from + column[k], from + column[k + 8]));
    SL_ZIP_UNTIL(8, sl_zip_half(line));
    sl_store_first(to, row, line, rows, 8);
}
#endif

/* Transposes one square of 16 bytes; writes the first *rows* rows, the first one first. */
SL_OUT_OF_LINE void sl_transpose_square(element *restrict to, const int64_t *row, const element *restrict from,
                                        const int64_t *column, int64_t rows)
{
#if SL_HAS_HALVES /* half of its rows at a time: the whole needs 17 registers, and there are 16 */
    sl_transpose_half(to, row, from, column, rows);
    if (rows > 8)
        sl_transpose_half(to, row + 8, from + 8, column, rows - 8);
#else
    sl_lanes_16 line[SL_LANES_16];
    SL_REPEAT(SL_LANES_16, k, line[k] = (sl_lanes_16)sl_load_16(from + column[k]));
    SL_ZIP_UNTIL(SL_LANES_16, sl_zip_square(line));
    sl_store_first(to, row, line, rows, SL_LANES_16);
#endif
}
#endif
