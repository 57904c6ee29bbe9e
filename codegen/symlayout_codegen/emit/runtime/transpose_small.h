/* Transposes of small matrices, many times: one square of all turns of a block in one loop, so that the offsets of its
 * rows and columns stay in registers.
 *
 * Assumes: as pieces, but for SL_SMALL_SIDE rows and columns at most, and at least as many as a square has.
 * Needs: integers, pieces, zips. */
#pragma once

#include "integers.h"
#include "pieces.h"
#include "zips.h"

#if SL_HAS_SHUFFLES
/* Loads 8 bytes at *low* and 8 at *high*, and stores the halves of a vector there. */
SL_ALWAYS_INLINE sl_bytes_16 sl_load_eights(const void *low, const void *high)
{
    typedef uint64_t __attribute__((may_alias, aligned(1))) anywhere;
    typedef uint64_t words __attribute__((vector_size(16)));
    return (sl_bytes_16)(words){*(const anywhere *)low, *(const anywhere *)high};
}
SL_ALWAYS_INLINE void sl_store_eights(void *low, void *high, sl_bytes_16 v)
{
    typedef uint64_t __attribute__((may_alias, aligned(1))) anywhere;
    typedef uint64_t words __attribute__((vector_size(16)));
    *(anywhere *)low = ((words)v)[0];
    *(anywhere *)high = ((words)v)[1];
}

/* Transposes the square whose columns begin at *at* and whose rows begin at *into*, *count* times.  Out of line: beside
 * the loops over squares there are too few registers. */
SL_OUT_OF_LINE void sl_transpose_square_turns(element *const into[SL_SMALL_SQUARE],
                                              const element *const at[SL_SMALL_SQUARE], int64_t count,
                                              int64_t to_step, int64_t step)
{
    const int side = SL_SMALL_SQUARE, vectors = side * side / SL_LANES_16;
    element *write[SL_SMALL_SQUARE]; /* in registers: a store may be to what is at *into* */
    const element *read[SL_SMALL_SQUARE];
    SL_UNROLL
    for (int k = 0; k < side; ++k) {
        write[k] = into[k];
        read[k] = at[k];
    }
    for (int64_t turn = 0, o = 0, i = 0; turn < count; ++turn, o += to_step, i += step) {
        sl_lanes_16 row[SL_LANES_16];
        SL_UNROLL
        for (int k = 0; k < vectors; ++k)
            row[k] = (sl_lanes_16)(side == SL_LANES_16 ? sl_load_16(read[k] + i)
                                                       : sl_load_eights(read[2 * k] + i, read[2 * k + 1] + i));
        SL_ZIP_UNTIL(side, sl_zip_vectors(row, vectors));
        SL_UNROLL
        for (int k = 0; k < vectors; ++k)
            if (side == SL_LANES_16)
                sl_store_16(write[k] + o, (sl_bytes_16)row[k]);
            else
                sl_store_eights(write[2 * k] + o, write[2 * k + 1] + o, (sl_bytes_16)row[k]);
    }
}

SL_DECLARE_SMALL(sl_transpose_small)
{
    const int64_t side = SL_SMALL_SQUARE;
    for (int64_t top = 0; top < rows; top += side)
        for (int64_t left = 0; left < columns; left += side) { /* the last squares overlap the ones before */
            const int64_t i = sl_min(top, rows - side), j = sl_min(left, columns - side);
            element *into[SL_SMALL_SQUARE];
            const element *at[SL_SMALL_SQUARE];
            for (int64_t k = 0; k < side; ++k) {
                into[k] = to + row[i + k] + j;
                at[k] = from + i + column[j + k];
            }
            sl_transpose_square_turns(into, at, count, to_step, step);
        }
}
#endif
