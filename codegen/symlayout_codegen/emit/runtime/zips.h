/* Transposes in registers: squares of 16 bytes, several side by side.
 *
 * Assumes: nothing.
 * Needs: axes, shuffles. */
#pragma once

#include "axes.h"
#include "shuffles.h"

/* Whether a square is transposed half of its rows at a time: 16 rows need 17 registers, and SSE has 16. */
#if SL_HAS_SHUFFLES && SL_ELEMENT_SIZE == 1 && SL_VECTOR_BYTES == 16 && defined __SSE2__
#define SL_HAS_HALVES 1
#else
#define SL_HAS_HALVES 0
#endif

#if SL_HAS_SHUFFLES
#define SL_SQUARES_PER_VECTOR (SL_VECTOR_BYTES / 16)
/* Whether rows of 16 bytes that follow each other are written by whole vectors, which hold several. */
#define SL_HAS_DENSE_SQUARES (SL_SQUARES_PER_VECTOR > 1 && SL_LANES_16 >= SL_SQUARES_PER_VECTOR)

/* Does *step*, which doubles the squares that are done, until squares of *size* are: no loop, so that vectors stay in
 * registers at each level of optimisation. */
#define SL_ZIP_UNTIL(size, step)                                                                                     \
    do {                                                                                                             \
        step;                                                                                                        \
        if ((size) > 2)                                                                                              \
            step;                                                                                                    \
        if ((size) > 4)                                                                                              \
            step;                                                                                                    \
        if ((size) > 8)                                                                                              \
            step;                                                                                                    \
    } while (0)

/* Transposes SL_SQUARES_PER_VECTOR squares of 16 bytes, side by side, by zipping the first half of the rows with the
 * second log2(SL_LANES_16) times. */
SL_ALWAYS_INLINE void sl_zip_squares(sl_lanes row[SL_LANES_16])
{
    sl_lanes zipped[SL_LANES_16];
    SL_UNROLL
    for (int i = 0; i < SL_LANES_16 / 2; ++i) {
        const sl_lanes a = row[i], b = row[i + SL_LANES_16 / 2];
        zipped[2 * i] = __builtin_shufflevector(a, b, SL_EACH_OF_MAX(SL_ZIP_GROUPS_LOW, 0, SL_LANES_MAX, SL_LANES_16));
        zipped[2 * i + 1] =
            __builtin_shufflevector(a, b, SL_EACH_OF_MAX(SL_ZIP_GROUPS_HIGH, 0, SL_LANES_MAX, SL_LANES_16));
    }
    SL_UNROLL
    for (int i = 0; i < SL_LANES_16; ++i)
        row[i] = zipped[i];
}
SL_ALWAYS_INLINE void sl_transpose_squares(sl_lanes row[SL_LANES_16])
{
    SL_ZIP_UNTIL(SL_LANES_16, sl_zip_squares(row));
}

#if SL_ELEMENT_SIZE <= 2
/* The same step for half of the rows: the first zip of squares makes the halves, which have nothing to do with each
 * other after it. */
#define SL_HALF_SQUARE (SL_LANES_16 / 2)
SL_ALWAYS_INLINE void sl_zip_half(sl_lanes row[SL_HALF_SQUARE])
{
    sl_lanes zipped[SL_HALF_SQUARE];
    SL_UNROLL
    for (int k = 0; k < SL_HALF_SQUARE / 2; ++k) {
        const sl_lanes a = row[k], b = row[k + SL_HALF_SQUARE / 2];
        zipped[2 * k] = __builtin_shufflevector(a, b, SL_EACH_OF_MAX(SL_ZIP_GROUPS_LOW, 0, SL_LANES_MAX, SL_LANES_16));
        zipped[2 * k + 1] =
            __builtin_shufflevector(a, b, SL_EACH_OF_MAX(SL_ZIP_GROUPS_HIGH, 0, SL_LANES_MAX, SL_LANES_16));
    }
    SL_UNROLL
    for (int k = 0; k < SL_HALF_SQUARE; ++k)
        row[k] = zipped[k];
}
#endif

/* Transposes a matrix of squares, SL_SQUARES_PER_VECTOR by SL_SQUARES_PER_VECTOR, by unzipping each two rows as often:
 * the first half of the rows gets their even squares, the second their odd ones.  Unlike a zip of vectors of four
 * squares, this is one instruction without a table. */
typedef uint64_t sl_words __attribute__((vector_size(SL_VECTOR_BYTES)));
SL_ALWAYS_INLINE void sl_unzip_groups(sl_words row[SL_SQUARES_PER_VECTOR])
{
#if SL_SQUARES_PER_VECTOR > 1
    sl_words unzipped[SL_SQUARES_PER_VECTOR];
    SL_UNROLL
    for (int i = 0; i < SL_SQUARES_PER_VECTOR / 2; ++i) {
        const sl_words a = row[2 * i], b = row[2 * i + 1];
#if SL_SQUARES_PER_VECTOR == 4
        unzipped[i] = __builtin_shufflevector(a, b, 0, 1, 4, 5, 8, 9, 12, 13);
        unzipped[i + 2] = __builtin_shufflevector(a, b, 2, 3, 6, 7, 10, 11, 14, 15);
#else
        unzipped[i] = __builtin_shufflevector(a, b, 0, 1, 4, 5);
        unzipped[i + 1] = __builtin_shufflevector(a, b, 2, 3, 6, 7);
#endif
    }
    SL_UNROLL
    for (int i = 0; i < SL_SQUARES_PER_VECTOR; ++i)
        row[i] = unzipped[i];
#else
    (void)row;
#endif
}
SL_ALWAYS_INLINE void sl_transpose_groups(sl_words row[SL_SQUARES_PER_VECTOR])
{
    SL_ZIP_UNTIL(SL_SQUARES_PER_VECTOR, sl_unzip_groups(row));
}

/* The same of one square of 16 bytes. */
SL_ALWAYS_INLINE void sl_zip_square(sl_lanes_16 row[SL_LANES_16])
{
    sl_lanes_16 zipped[SL_LANES_16];
    SL_UNROLL
    for (int k = 0; k < SL_LANES_16 / 2; ++k) {
        const sl_lanes_16 a = row[k], b = row[k + SL_LANES_16 / 2];
        zipped[2 * k] = __builtin_shufflevector(a, b, SL_EACH_OF_16(SL_ZIP_LOW, 0, SL_LANES_16));
        zipped[2 * k + 1] = __builtin_shufflevector(a, b, SL_EACH_OF_16(SL_ZIP_HIGH, 0, SL_LANES_16));
    }
    SL_UNROLL
    for (int k = 0; k < SL_LANES_16; ++k)
        row[k] = zipped[k];
}
#else
#define SL_LANES_16 SL_TILE
#define SL_LANES_MAX SL_TILE
#define SL_HAS_DENSE_SQUARES 0
#endif
