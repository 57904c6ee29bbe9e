/* Transposes in registers: squares of 16 bytes, several side by side, and tiles of one cache line a side.
 *
 * Assumes: row[i] and column[j] are offsets in elements: to[row[i] + j] = from[i + column[j]].
 * Needs: axes, integers, shuffles. */
#pragma once

#include "axes.h"
#include "integers.h"
#include "shuffles.h"

#if SL_HAS_SHUFFLES
#define SL_SQUARES_PER_VECTOR (SL_VECTOR_BYTES / 16)
/* Whether rows of 16 bytes that follow each other can be written by whole vectors. */
#define SL_HAS_DENSE_SQUARES (SL_LANES_16 >= SL_SQUARES_PER_VECTOR)

/* Transposes SL_SQUARES_PER_VECTOR squares of 16 bytes, side by side, by zipping the first half of the rows with the
 * second log2(SL_LANES_16) times.  The compiler unrolls the loops: all vectors stay in registers. */
SL_ALWAYS_INLINE void sl_transpose_squares(sl_lanes row[SL_LANES_16])
{
    sl_lanes zipped[SL_LANES_16];
    for (int zips = 1; zips < SL_LANES_16; zips *= 2) {
        for (int i = 0; i < SL_LANES_16 / 2; ++i) {
            const sl_lanes a = row[i], b = row[i + SL_LANES_16 / 2];
            zipped[2 * i] =
                __builtin_shufflevector(a, b, SL_EACH_OF_MAX(SL_ZIP_GROUPS_LOW, 0, SL_LANES_MAX, SL_LANES_16));
            zipped[2 * i + 1] =
                __builtin_shufflevector(a, b, SL_EACH_OF_MAX(SL_ZIP_GROUPS_HIGH, 0, SL_LANES_MAX, SL_LANES_16));
        }
        for (int i = 0; i < SL_LANES_16; ++i)
            row[i] = zipped[i];
    }
}

/* Transposes a matrix of squares, SL_SQUARES_PER_VECTOR by SL_SQUARES_PER_VECTOR, in the same way. */
typedef uint64_t sl_words __attribute__((vector_size(SL_VECTOR_BYTES)));
SL_ALWAYS_INLINE void sl_transpose_groups(sl_words row[SL_SQUARES_PER_VECTOR])
{
#if SL_SQUARES_PER_VECTOR > 1
    sl_words zipped[SL_SQUARES_PER_VECTOR];
    for (int zips = 1; zips < SL_SQUARES_PER_VECTOR; zips *= 2) {
        for (int i = 0; i < SL_SQUARES_PER_VECTOR / 2; ++i) {
            const sl_words a = row[i], b = row[i + SL_SQUARES_PER_VECTOR / 2];
#if SL_SQUARES_PER_VECTOR == 4
            zipped[2 * i] = __builtin_shufflevector(a, b, 0, 1, 8, 9, 2, 3, 10, 11);
            zipped[2 * i + 1] = __builtin_shufflevector(a, b, 4, 5, 12, 13, 6, 7, 14, 15);
#else
            zipped[2 * i] = __builtin_shufflevector(a, b, 0, 1, 4, 5);
            zipped[2 * i + 1] = __builtin_shufflevector(a, b, 2, 3, 6, 7);
#endif
        }
        for (int i = 0; i < SL_SQUARES_PER_VECTOR; ++i)
            row[i] = zipped[i];
    }
#else
    (void)row;
#endif
}

#if SL_ELEMENT_SIZE >= 4
/* Transposes a tile, SL_SQUARES_PER_VECTOR by SL_SQUARES_PER_VECTOR squares at a time: these stay in registers, and
 * rows are written by whole vectors. */
SL_OUT_OF_LINE void sl_transpose_tile(element *restrict to, const int64_t row[SL_TILE], const element *restrict from,
                                      const int64_t column[SL_TILE])
{
    for (int64_t part = 0; part < 4; part += SL_SQUARES_PER_VECTOR)
        for (int64_t first = 0; first < 4; first += SL_SQUARES_PER_VECTOR) {
            sl_lanes line[SL_SQUARES_PER_VECTOR][SL_LANES_16];
            SL_UNROLL
            for (int64_t square = 0; square < SL_SQUARES_PER_VECTOR; ++square) {
                SL_UNROLL
                for (int64_t k = 0; k < SL_LANES_16; ++k)
                    line[square][k] = (sl_lanes)sl_load_max(from + part * SL_LANES_16 +
                                                            column[(first + square) * SL_LANES_16 + k]);
                sl_transpose_squares(line[square]);
            }
            SL_UNROLL
            for (int64_t k = 0; k < SL_LANES_16; ++k) {
                sl_words words[SL_SQUARES_PER_VECTOR];
                SL_UNROLL
                for (int64_t square = 0; square < SL_SQUARES_PER_VECTOR; ++square)
                    words[square] = (sl_words)line[square][k];
                sl_transpose_groups(words);
                SL_UNROLL
                for (int64_t group = 0; group < SL_SQUARES_PER_VECTOR; ++group)
                    sl_store_max(to + row[(part + group) * SL_LANES_16 + k] + first * SL_LANES_16,
                                 (sl_bytes_max)words[group]);
            }
        }
}
#else
/* Transposes a tile of small elements through a block on the stack: there are more vectors than registers.  Each cache
 * line of the source is read whole, once, and each line of the output is written whole: with strides of a power of
 * two, no line is evicted half used. */
SL_OUT_OF_LINE void sl_transpose_tile(element *restrict to, const int64_t row[SL_TILE], const element *restrict from,
                                      const int64_t column[SL_TILE])
{
    sl_words block[4 / SL_SQUARES_PER_VECTOR][SL_LANES_16][4];
    for (int64_t part = 0; part < 4 / SL_SQUARES_PER_VECTOR; ++part)
        for (int64_t square = 0; square < 4; ++square) {
            sl_lanes line[SL_LANES_16];
            for (int64_t k = 0; k < SL_LANES_16; ++k)
                line[k] = (sl_lanes)sl_load_max(from + part * SL_LANES_MAX + column[square * SL_LANES_16 + k]);
            sl_transpose_squares(line);
            for (int64_t k = 0; k < SL_LANES_16; ++k)
                block[part][k][square] = (sl_words)line[k];
        }
    for (int64_t part = 0; part < 4 / SL_SQUARES_PER_VECTOR; ++part)
        for (int64_t k = 0; k < SL_LANES_16; ++k) {
            sl_words line[4];
            for (int64_t square = 0; square < 4; ++square)
                line[square] = block[part][k][square];
            for (int64_t square = 0; square < 4; square += SL_SQUARES_PER_VECTOR)
                sl_transpose_groups(line + square);
            for (int64_t group = 0; group < SL_SQUARES_PER_VECTOR; ++group)
                for (int64_t square = 0; square < 4; square += SL_SQUARES_PER_VECTOR)
                    sl_store_max(to + row[(part * SL_SQUARES_PER_VECTOR + group) * SL_LANES_16 + k] +
                                     square * SL_LANES_16,
                                 (sl_bytes_max)line[square + group]);
        }
}
#endif

/* Loads one row of each square into one vector: that of square g is at from + at[g*SL_LANES_16]. */
typedef uint64_t sl_words_16 __attribute__((vector_size(16)));
typedef uint64_t sl_words_32 __attribute__((vector_size(32)));
SL_ALWAYS_INLINE sl_lanes sl_load_squares(const element *from, const int64_t *at)
{
    sl_words_16 square[SL_SQUARES_PER_VECTOR];
    for (int64_t g = 0; g < SL_SQUARES_PER_VECTOR; ++g)
        square[g] = (sl_words_16)sl_load_16(from + at[g * SL_LANES_16]);
#if SL_SQUARES_PER_VECTOR == 1
    return (sl_lanes)square[0];
#elif SL_SQUARES_PER_VECTOR == 2
    return (sl_lanes)__builtin_shufflevector(square[0], square[1], 0, 1, 2, 3);
#else
    return (sl_lanes)__builtin_shufflevector(__builtin_shufflevector(square[0], square[1], 0, 1, 2, 3),
                                             __builtin_shufflevector(square[2], square[3], 0, 1, 2, 3), 0, 1, 2, 3, 4,
                                             5, 6, 7);
#endif
}

/* Transposes to SL_LANES_16 rows by SL_LANES_MAX columns; writes the first *rows* rows. */
SL_ALWAYS_INLINE void sl_transpose_flat(element *restrict to, const int64_t row[SL_LANES_16],
                                        const element *restrict from, const int64_t column[SL_LANES_MAX],
                                        int64_t rows)
{
    sl_lanes line[SL_LANES_16];
    for (int64_t k = 0; k < SL_LANES_16; ++k)
        line[k] = sl_load_squares(from, column + k);
    sl_transpose_squares(line);
    for (int64_t k = 0; k < SL_LANES_16; ++k)
        if (k < rows)
            sl_store_max(to + row[k], (sl_bytes_max)line[k]);
}

/* Stores square g of each line to the rows of that square. */
#define SL_STORE_SQUARE(g)                                                                                           \
    for (int64_t k = 0; k < SL_LANES_16; ++k) {                                                                      \
        const sl_words_16 square =                                                                                   \
            __builtin_shufflevector((sl_words)line[k], (sl_words)line[k], 2 * (g), 2 * (g) + 1);                     \
        sl_store_16(to + row[(g) * SL_LANES_16 + k], (sl_bytes_16)square);                                           \
    }

/* Transposes to SL_LANES_MAX rows by SL_LANES_16 columns; reads the first *columns* columns only, and writes copies
 * of the last one after them. */
SL_ALWAYS_INLINE void sl_transpose_tall(element *restrict to, const int64_t row[SL_LANES_MAX],
                                        const element *restrict from, const int64_t column[SL_LANES_16],
                                        int64_t columns)
{
    sl_lanes line[SL_LANES_16];
    for (int64_t k = 0; k < SL_LANES_16; ++k)
        line[k] = (sl_lanes)sl_load_max(from + column[sl_min(k, columns - 1)]);
    sl_transpose_squares(line);
    SL_STORE_SQUARE(0)
#if SL_SQUARES_PER_VECTOR > 1
    SL_STORE_SQUARE(1)
#endif
#if SL_SQUARES_PER_VECTOR > 2
    SL_STORE_SQUARE(2)
    SL_STORE_SQUARE(3)
#endif
}

/* The same for rows that follow each other in memory: writes whole vectors. */
SL_OUT_OF_LINE void sl_transpose_dense(element *restrict to, const element *restrict from,
                                       const int64_t column[SL_LANES_16])
{
    sl_lanes line[SL_LANES_16];
    for (int64_t k = 0; k < SL_LANES_16; ++k)
        line[k] = (sl_lanes)sl_load_max(from + column[k]);
    sl_transpose_squares(line);
    for (int64_t k = 0; SL_HAS_DENSE_SQUARES && k < SL_LANES_16; k += SL_SQUARES_PER_VECTOR) {
        sl_words rows[SL_SQUARES_PER_VECTOR];
        for (int64_t g = 0; g < SL_SQUARES_PER_VECTOR; ++g)
            rows[g] = (sl_words)line[k + g];
        sl_transpose_groups(rows);
        for (int64_t g = 0; g < SL_SQUARES_PER_VECTOR; ++g)
            sl_store_max(to + (g * SL_LANES_16 + k) * SL_LANES_16, (sl_bytes_max)rows[g]);
    }
}

/* Transposes one square of 16 bytes; reads the first *columns* columns and writes the first *rows* rows. */
SL_ALWAYS_INLINE void sl_transpose_square(element *restrict to, const int64_t row[SL_LANES_16],
                                          const element *restrict from, const int64_t column[SL_LANES_16],
                                          int64_t rows, int64_t columns)
{
    sl_lanes_16 line[SL_LANES_16], zipped[SL_LANES_16];
    for (int64_t k = 0; k < SL_LANES_16; ++k)
        line[k] = (sl_lanes_16)sl_load_16(from + column[sl_min(k, columns - 1)]);
    for (int zips = 1; zips < SL_LANES_16; zips *= 2) {
        for (int k = 0; k < SL_LANES_16 / 2; ++k) {
            const sl_lanes_16 a = line[k], b = line[k + SL_LANES_16 / 2];
            zipped[2 * k] = __builtin_shufflevector(a, b, SL_EACH_OF_16(SL_ZIP_LOW, 0, SL_LANES_16));
            zipped[2 * k + 1] = __builtin_shufflevector(a, b, SL_EACH_OF_16(SL_ZIP_HIGH, 0, SL_LANES_16));
        }
        for (int k = 0; k < SL_LANES_16; ++k)
            line[k] = zipped[k];
    }
    for (int64_t k = 0; k < SL_LANES_16; ++k)
        if (k < rows)
            sl_store_16(to + row[k], (sl_bytes_16)line[k]);
}

/* Whole blocks only.  Out of line: inlined together they need more registers than there are. */
SL_OUT_OF_LINE void sl_transpose_flat_whole(element *restrict to, const int64_t row[SL_LANES_16],
                                            const element *restrict from, const int64_t column[SL_LANES_MAX])
{
    sl_transpose_flat(to, row, from, column, SL_LANES_16);
}
SL_OUT_OF_LINE void sl_transpose_tall_whole(element *restrict to, const int64_t row[SL_LANES_MAX],
                                            const element *restrict from, const int64_t column[SL_LANES_16])
{
    sl_transpose_tall(to, row, from, column, SL_LANES_16);
}

/* Two tall blocks side by side: a row is 32 bytes, written by half as many stores. */
#if SL_SQUARES_PER_VECTOR > 1
SL_OUT_OF_LINE void sl_transpose_tall_pair(element *restrict to, const int64_t row[SL_LANES_MAX],
                                           const element *restrict from, const int64_t column[2 * SL_LANES_16])
{
    sl_lanes left[SL_LANES_16], right[SL_LANES_16];
    for (int64_t k = 0; k < SL_LANES_16; ++k)
        left[k] = (sl_lanes)sl_load_max(from + column[k]);
    sl_transpose_squares(left);
    for (int64_t k = 0; k < SL_LANES_16; ++k)
        right[k] = (sl_lanes)sl_load_max(from + column[SL_LANES_16 + k]);
    sl_transpose_squares(right);
    SL_UNROLL
    for (int64_t k = 0; k < SL_LANES_16; ++k) {
        const sl_words a = (sl_words)left[k], b = (sl_words)right[k];
#if SL_SQUARES_PER_VECTOR == 4
        const sl_words low = __builtin_shufflevector(a, b, 0, 1, 8, 9, 2, 3, 10, 11);
        const sl_words high = __builtin_shufflevector(a, b, 4, 5, 12, 13, 6, 7, 14, 15);
        const sl_words_32 first = __builtin_shufflevector(low, low, 0, 1, 2, 3);
        const sl_words_32 second = __builtin_shufflevector(low, low, 4, 5, 6, 7);
        const sl_words_32 third = __builtin_shufflevector(high, high, 0, 1, 2, 3);
        const sl_words_32 fourth = __builtin_shufflevector(high, high, 4, 5, 6, 7);
        sl_store_32(to + row[2 * SL_LANES_16 + k], (sl_bytes_32)third);
        sl_store_32(to + row[3 * SL_LANES_16 + k], (sl_bytes_32)fourth);
#else
        const sl_words_32 first = __builtin_shufflevector(a, b, 0, 1, 4, 5);
        const sl_words_32 second = __builtin_shufflevector(a, b, 2, 3, 6, 7);
#endif
        sl_store_32(to + row[k], (sl_bytes_32)first);
        sl_store_32(to + row[SL_LANES_16 + k], (sl_bytes_32)second);
    }
}
#endif

SL_OUT_OF_LINE void sl_transpose_square_whole(element *restrict to, const int64_t row[SL_LANES_16],
                                              const element *restrict from, const int64_t column[SL_LANES_16])
{
    sl_transpose_square(to, row, from, column, SL_LANES_16, SL_LANES_16);
}
#endif
