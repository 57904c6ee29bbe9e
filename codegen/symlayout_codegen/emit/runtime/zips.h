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
#if SL_VECTOR_BYTES == 64
#define SL_SQUARES_PER_VECTOR 4
#define SL_VECTORS_PER_LINE 1
#elif SL_VECTOR_BYTES == 32
#define SL_SQUARES_PER_VECTOR 2
#define SL_VECTORS_PER_LINE 2
#else
#define SL_SQUARES_PER_VECTOR 1
#define SL_VECTORS_PER_LINE 4
#endif
/* Half, and a quarter, of SL_LANES_16. */
#if SL_ELEMENT_SIZE == 1
#define SL_HALF_SQUARE 8
#define SL_QUARTER_SQUARE 4
#elif SL_ELEMENT_SIZE == 2
#define SL_HALF_SQUARE 4
#define SL_QUARTER_SQUARE 2
#elif SL_ELEMENT_SIZE == 4
#define SL_HALF_SQUARE 2
#else
#define SL_HALF_SQUARE 1
#endif
/* Whether rows of 16 bytes that follow each other are written by whole vectors, which hold several. */
#define SL_HAS_DENSE_SQUARES (SL_SQUARES_PER_VECTOR > 1 && SL_LANES_16 >= SL_SQUARES_PER_VECTOR)

/* The lanes from *a* on and those from *b* on in turn, 16 bytes of them; the same for two and for four groups of 16
 * bytes side by side.  A list of numbers: the compiler reads it many times faster than lists of quotients. */
#if SL_ELEMENT_SIZE == 1
#define SL_IN_TURN(a, b)                                                                                             \
    (a), (b), (a) + 1, (b) + 1, (a) + 2, (b) + 2, (a) + 3, (b) + 3, (a) + 4, (b) + 4, (a) + 5, (b) + 5, (a) + 6,     \
        (b) + 6, (a) + 7, (b) + 7
#elif SL_ELEMENT_SIZE == 2
#define SL_IN_TURN(a, b) (a), (b), (a) + 1, (b) + 1, (a) + 2, (b) + 2, (a) + 3, (b) + 3
#elif SL_ELEMENT_SIZE == 4
#define SL_IN_TURN(a, b) (a), (b), (a) + 1, (b) + 1
#else
#define SL_IN_TURN(a, b) (a), (b)
#endif
#define SL_IN_TURN_2(a, b) SL_IN_TURN(a, b), SL_IN_TURN((a) + SL_LANES_16, (b) + SL_LANES_16)
#define SL_IN_TURN_4(a, b) SL_IN_TURN_2(a, b), SL_IN_TURN_2((a) + 2 * SL_LANES_16, (b) + 2 * SL_LANES_16)

/* Defines what zips each 16 bytes of a vector of *n* lanes with those of another: the first halves, the second ones.
 * Small elements take so many zips that gcc needs a fifth more time where it looks for what they could be combined to:
 * of an instruction that is named it knows nothing. */
#if defined __GNUC__ && !defined __clang__ && defined __SSE2__ && SL_ELEMENT_SIZE <= 2
#if SL_ELEMENT_SIZE == 1
#define SL_ZIP_NAME(half) "punpck" half "bw"
#else
#define SL_ZIP_NAME(half) "punpck" half "wd"
#endif
#if defined __AVX512BW__ && defined __AVX512VL__
#define SL_ZIP(half, zipped, a, b)                                                                                   \
    __asm__("v" SL_ZIP_NAME(half) " {%2, %1, %0|%0, %1, %2}" : "=v"(zipped) : "v"(a), "vm"(b))
#elif defined __AVX__
#define SL_ZIP(half, zipped, a, b)                                                                                   \
    __asm__("v" SL_ZIP_NAME(half) " {%2, %1, %0|%0, %1, %2}" : "=x"(zipped) : "x"(a), "xm"(b))
#else
#define SL_ZIP(half, zipped, a, b)                                                                                   \
    __asm__(SL_ZIP_NAME(half) " {%2, %0|%0, %2}" : "=x"(zipped) : "0"(a), "x"(b))
#endif
#define SL_DEFINE_ZIPS(suffix, vector, each, n)                                                                      \
    SL_ALWAYS_INLINE vector sl_zip_low_##suffix(vector a, vector b)                                                  \
    {                                                                                                                \
        vector zipped;                                                                                               \
        SL_ZIP("l", zipped, a, b);                                                                                   \
        return zipped;                                                                                               \
    }                                                                                                                \
    SL_ALWAYS_INLINE vector sl_zip_high_##suffix(vector a, vector b)                                                 \
    {                                                                                                                \
        vector zipped;                                                                                               \
        SL_ZIP("h", zipped, a, b);                                                                                   \
        return zipped;                                                                                               \
    }
#else
#define SL_DEFINE_ZIPS(suffix, vector, each, n)                                                                      \
    SL_ALWAYS_INLINE vector sl_zip_low_##suffix(vector a, vector b)                                                  \
    {                                                                                                                \
        return __builtin_shufflevector(a, b, each(0, n));                                                            \
    }                                                                                                                \
    SL_ALWAYS_INLINE vector sl_zip_high_##suffix(vector a, vector b)                                                 \
    {                                                                                                                \
        return __builtin_shufflevector(a, b, each(SL_HALF_SQUARE, SL_HALF_SQUARE + n));                              \
    }
#endif
SL_DEFINE_ZIPS(16, sl_lanes_16, SL_IN_TURN, SL_LANES_16)
#if SL_VECTOR_BYTES == 16
SL_DEFINE_ZIPS(max, sl_lanes, SL_IN_TURN, SL_LANES_MAX)
#else
SL_DEFINE_ZIPS(32, sl_lanes_32, SL_IN_TURN_2, SL_LANES_32)
#if SL_VECTOR_BYTES == 32
SL_DEFINE_ZIPS(max, sl_lanes, SL_IN_TURN_2, SL_LANES_MAX)
#else
SL_DEFINE_ZIPS(max, sl_lanes, SL_IN_TURN_4, SL_LANES_MAX)
#endif
#endif

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
    SL_REPEAT(SL_HALF_SQUARE, i, {
        const sl_lanes a = row[i], b = row[i + SL_HALF_SQUARE];
        zipped[2 * i] = sl_zip_low_max(a, b);
        zipped[2 * i + 1] = sl_zip_high_max(a, b);
    });
    SL_REPEAT(SL_LANES_16, i, row[i] = zipped[i]);
}
SL_ALWAYS_INLINE void sl_transpose_squares(sl_lanes row[SL_LANES_16])
{
    SL_ZIP_UNTIL(SL_LANES_16, sl_zip_squares(row));
}

#if SL_ELEMENT_SIZE <= 2
/* The same step for half of the rows: the first zip of squares makes the halves, which have nothing to do with each
 * other after it. */
SL_ALWAYS_INLINE void sl_zip_half(sl_lanes row[SL_HALF_SQUARE])
{
    sl_lanes zipped[SL_HALF_SQUARE];
    SL_REPEAT(SL_QUARTER_SQUARE, k, {
        const sl_lanes a = row[k], b = row[k + SL_QUARTER_SQUARE];
        zipped[2 * k] = sl_zip_low_max(a, b);
        zipped[2 * k + 1] = sl_zip_high_max(a, b);
    });
    SL_REPEAT(SL_HALF_SQUARE, k, row[k] = zipped[k]);
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
#if SL_SQUARES_PER_VECTOR == 4
    SL_REPEAT(2, i, {
        const sl_words a = row[2 * i], b = row[2 * i + 1];
        unzipped[i] = __builtin_shufflevector(a, b, 0, 1, 4, 5, 8, 9, 12, 13);
        unzipped[i + 2] = __builtin_shufflevector(a, b, 2, 3, 6, 7, 10, 11, 14, 15);
    });
#else
    unzipped[0] = __builtin_shufflevector(row[0], row[1], 0, 1, 4, 5);
    unzipped[1] = __builtin_shufflevector(row[0], row[1], 2, 3, 6, 7);
#endif
    SL_REPEAT(SL_SQUARES_PER_VECTOR, i, row[i] = unzipped[i]);
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
    SL_REPEAT(SL_HALF_SQUARE, k, {
        const sl_lanes_16 a = row[k], b = row[k + SL_HALF_SQUARE];
        zipped[2 * k] = sl_zip_low_16(a, b);
        zipped[2 * k + 1] = sl_zip_high_16(a, b);
    });
    SL_REPEAT(SL_LANES_16, k, row[k] = zipped[k]);
}

/* The step of sl_zip_square for *vectors* vectors, a literal: those of a square of half as many rows and columns, of
 * which each vector has two, too. */
SL_ALWAYS_INLINE void sl_zip_vectors(sl_lanes_16 row[SL_LANES_16], const int vectors)
{
    sl_lanes_16 zipped[SL_LANES_16];
    SL_REPEAT(SL_HALF_SQUARE, k, if (k < vectors / 2) {
        const sl_lanes_16 a = row[k], b = row[k + vectors / 2];
        zipped[2 * k] = sl_zip_low_16(a, b);
        zipped[2 * k + 1] = sl_zip_high_16(a, b);
    });
    SL_REPEAT(SL_LANES_16, k, if (k < vectors) row[k] = zipped[k]);
}
#else
#define SL_LANES_16 SL_TILE
#define SL_LANES_MAX SL_TILE
#define SL_HAS_DENSE_SQUARES 0
#endif
