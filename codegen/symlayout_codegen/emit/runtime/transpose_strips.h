/* Transposes of strips: few columns, of which a vector holds a row, by any number of rows.
 *
 * Assumes: nothing.
 * Needs: axes, integers, transpose_squares, zips. */
#pragma once

#include "axes.h"
#include "integers.h"
#include "transpose_squares.h"
#include "zips.h"

/* Strips are as wide as a vector, and at most 32 bytes: of 4 bytes and more, a set of the first-level cache holds the
 * lines of their columns, wherever they begin. */
#define SL_HAS_STRIPS SL_HAS_SHUFFLES
#if SL_HAS_STRIPS
#if SL_VECTOR_BYTES == 16
#define SL_STRIP SL_LANES_16
#else
#define SL_STRIP SL_LANES_32
#endif

/* Transposes rows i to i + SL_LANES_16 of a strip, whose columns begin at *at*.  Without a table *row*, the offset of a
 * row from the one before is *step*, and *to* is where row i begins. */
SL_ALWAYS_INLINE void sl_transpose_rows_16(element *restrict to, const int64_t *row, int64_t step,
                                           const element *const *at, int64_t i)
{
#if SL_HAS_HALVES
    SL_REPEAT(2, half, {
        sl_lanes line[8];
        SL_REPEAT(8, k, line[k] = sl_zip_eights(at[k] + i + 8 * half, at[k + 8] + i + 8 * half));
        SL_ZIP_UNTIL(8, sl_zip_half(line));
        SL_REPEAT(8, k, {
            sl_store_16(row ? to + row[i + 8 * half + k] : to, (sl_bytes_16)line[k]);
            to += step;
        });
    });
#else
    sl_lanes_16 line[SL_LANES_16];
    SL_REPEAT(SL_LANES_16, k, line[k] = (sl_lanes_16)sl_load_16(at[k] + i));
    SL_ZIP_UNTIL(SL_LANES_16, sl_zip_square(line));
    SL_REPEAT(SL_LANES_16, k, {
        sl_store_16(row ? to + row[i + k] : to, (sl_bytes_16)line[k]);
        to += step;
    });
#endif
}
#if SL_VECTOR_BYTES == 16
#define sl_transpose_rows sl_transpose_rows_16
#else
/* The step of sl_zip_squares for two squares side by side. */
SL_ALWAYS_INLINE void sl_zip_pair(sl_lanes_32 row[SL_LANES_16])
{
    sl_lanes_32 zipped[SL_LANES_16];
    SL_REPEAT(SL_HALF_SQUARE, k, {
        const sl_lanes_32 a = row[k], b = row[k + SL_HALF_SQUARE];
        zipped[2 * k] = sl_zip_low_32(a, b);
        zipped[2 * k + 1] = sl_zip_high_32(a, b);
    });
    SL_REPEAT(SL_LANES_16, k, row[k] = zipped[k]);
}

/* The same of a strip of two squares side by side, of which a vector gets a row: a load to half of a vector costs less
 * than a shuffle between halves. */
SL_ALWAYS_INLINE void sl_transpose_rows(element *restrict to, const int64_t *row, int64_t step,
                                        const element *const *at, int64_t i)
{
    sl_lanes_32 line[SL_LANES_16];
    SL_REPEAT(SL_LANES_16, k, line[k] = (sl_lanes_32)sl_load_halves(at[k] + i, at[k + SL_LANES_16] + i));
    SL_ZIP_UNTIL(SL_LANES_16, sl_zip_pair(line));
    SL_REPEAT(SL_LANES_16, k, {
        sl_store_32(row ? to + row[i + k] : to, (sl_bytes_32)line[k]);
        to += step;
    });
}
#endif

/* The rows of a strip that are transposed before the next strip: their lines stay in the first-level cache.  They are a
 * few lines of the source. */
#define SL_ROWS_OF_BAND (SL_ELEMENT_SIZE >= 4 ? 48 : 128)

/* The extent of pieces, at most *most* and alike, that *extent* is cut into; a multiple of *unit*. */
SL_INLINE int64_t sl_alike(int64_t extent, int64_t most, int64_t unit)
{
    const int64_t pieces = (extent + most - 1) / most, least = (extent + pieces - 1) / pieces;
    return (least + unit - 1) / unit * unit;
}

/* Where the columns of a strip of SL_STRIP columns, or of SL_LANES_16, begin. */
SL_ALWAYS_INLINE void sl_begin_strip(const element **at, const element *from, const int64_t *column, int64_t strip)
{
    SL_REPEAT(SL_STRIP, k, at[k] = k < strip ? from + column[k] : from);
}

/* Transposes *rows* >= SL_LANES_16 rows of a strip of SL_STRIP columns, or of SL_LANES_16; the last rows may be written
 * twice. */
SL_ALWAYS_INLINE void sl_transpose_strip(element *restrict to, const int64_t *row, int64_t step,
                                         const element *const *at, int64_t rows, int64_t strip)
{
    for (int64_t k = 0; k < rows; k += SL_LANES_16) {
        const int64_t i = sl_min(k, rows - SL_LANES_16);
        element *const into = row ? to : to + i * step;
        if (strip == SL_STRIP)
            sl_transpose_rows(into, row, step, at, i);
        else
            sl_transpose_rows_16(into, row, step, at, i);
    }
}
#endif

/* Fewer rows or columns of one step are a band.  Where a vector is a line, tiles of whole lines do as well from 64 on;
 * far arrays are staged.  Of 2 bytes, and of 1 byte where vectors have 16, any number is one: squares between registers
 * take less time than tiles through a block on the stack; of 1 byte, vectors of 64 bytes hold so many that none is. */
#define SL_HAS_BANDS (SL_HAS_STRIPS && !(SL_ELEMENT_SIZE == 1 && SL_VECTOR_BYTES == 64))
#if !SL_HAS_STRIPS
#define SL_FEWEST_TILED(far) SL_TILED_FROM
#elif SL_ELEMENT_SIZE >= 4
#define SL_FEWEST_TILED(far) ((far) ? 2 * SL_TILE : SL_VECTOR_BYTES == 64 ? 4 * SL_TILE : 5 * SL_TILE)
#elif SL_ELEMENT_SIZE == 2 || SL_VECTOR_BYTES == 16
#define SL_FEWEST_TILED(far) ((far) ? 0 : INT64_MAX)
#elif SL_HAS_BANDS
#define SL_FEWEST_TILED(far) ((far) ? 0 : 2 * SL_TILE)
#else
#define SL_FEWEST_TILED(far) ((void)(far), 0)
#endif
