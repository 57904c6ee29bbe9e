/* What the choice of a way to transpose depends on: how far the arrays are, and how lines fall into sets of the cache.
 *
 * Assumes: axes with as few levels as sl_simplify_axis leaves, all extents >= 1.
 * Needs: axes, caches, far_stores, tiles, transpose_strips, ways. */
#pragma once

#include "axes.h"
#include "caches.h"
#include "far_stores.h"
#include "tiles.h"
#include "transpose_strips.h"
#include "ways.h"

/* How many elements precede the first cache line, if then each offset of *axis* is at the begin or in the middle of a
 * line; else, or with a short extent, 0. */
SL_INLINE int64_t sl_elements_to_line(const element *first, const sl_axis *axis, int64_t extent)
{
    const int64_t left = 64 - (int64_t)((uintptr_t)first % 64);
    const int same =
        (axis->step | axis->leap | axis->jump) * SL_ELEMENT_SIZE % 32 == 0 && left % SL_ELEMENT_SIZE == 0;
    return same && extent >= 4 * SL_TILE ? left / SL_ELEMENT_SIZE % SL_TILE : 0;
}

/* Rows that are written before others beside them: the TLB keeps their pages. */
#ifndef SL_ROWS_OF_PAGES
#define SL_ROWS_OF_PAGES 2048
#endif

/* Whether all offsets of *axis* are at the begins of lines, if the first one is. */
SL_INLINE int sl_begins_lines(const sl_axis *axis)
{
    return (axis->step | axis->leap | axis->jump) * SL_ELEMENT_SIZE % 64 == 0;
}

/* Whether arrays are transposed in panels, in whole lines, in blocks, and in strips over levels. */
#define SL_HAS_PANELS (SL_HAS_STRIPS && SL_ELEMENT_SIZE >= 4)
/* Whether a tile comes to each line four times, which then has to stay in the cache: vectors have 16 bytes. */
#define SL_HAS_FOUR_VISITS (SL_HAS_PANELS && SL_VECTOR_BYTES == 16)

/* How far an output is that is written *times* times, *bytes* bytes each: whether it is near, whether stores wait for
 * its lines, and whether it is far: since the caller says so, or since an ordinary store, which reads the line first,
 * costs more. */
typedef struct {
    int near, wait, far;
} sl_distance;
SL_INLINE sl_distance sl_distance_of(int64_t bytes, int64_t times, int far)
{
    const int near = bytes < SL_NEAR_LEAST / times || bytes < SL_NEAR_BYTES / times, wait = !near && SL_STORES_WAIT;
    /* Sparing the read pays from two thirds or half of SL_FAR_BYTES on. */
    return (sl_distance){near, wait, far || (!near && bytes >= (wait ? SL_FAR_BYTES / 3 * 2 : SL_FAR_BYTES / 2))};
}

/* Whether the source is read ahead that is transposed *times* times, *bytes* bytes each, in tiles that are not
 * staged. */
SL_INLINE int sl_is_deep(sl_distance distance, int64_t bytes, int64_t times)
{
    return distance.far || (!distance.near && !distance.wait && bytes >= SL_FAR_BYTES / 4 / times);
}

/* The lines of one set of the first-level cache. */
#ifndef SL_WAYS
#define SL_WAYS (sl_cache_bytes(1) / 4096)
#endif

/* The most lines of a tile that fall into one set, of those that are written and of those that are read. */
typedef struct {
    int written, read;
} sl_crowd;

#if SL_HAS_STRIPS
/* The most cache lines that fall into one set of the first-level cache, one or two at each of the first *count*
 * offsets of *axis*.  A set is 6 bits of an address, in all processors with pages of 4 KB. */
SL_OUT_OF_LINE int sl_lines_in_a_set(const sl_axis *axis, int64_t count)
{
    unsigned char lines[64] = {0}, most = 0;
    uint64_t first = 1, last = 0; /* the lines of the offset before */
    for (int64_t k = 0; k < sl_min(count, sl_extent(axis)); ++k) {
        const int64_t offset = axis->high == 1 ? k * axis->step : sl_offset(axis, k); /* which divides */
        const uint64_t at = (uint64_t)offset * SL_ELEMENT_SIZE;
        for (uint64_t line = at / 64; line <= (at + 63) / 64; ++line)
            if (line < first || line > last)
                most = most > ++lines[line % 64] ? most : lines[line % 64];
        first = at / 64;
        last = (at + 63) / 64;
    }
    return most;
}

SL_INLINE sl_crowd sl_crowd_of(const sl_axis *rows, const sl_axis *columns)
{
    return (sl_crowd){sl_lines_in_a_set(rows, SL_TILE), sl_lines_in_a_set(columns, SL_TILE)};
}

/* Whether the lines that are written by the rows of a block stay in the cache until the next strip writes their other
 * parts: at most *most* of them fall into one set. */
SL_INLINE int sl_keeps_lines(const sl_axis *rows, int64_t most)
{
    return sl_lines_in_a_set(rows, SL_ROWS_OF_BAND) <= most;
}

/* Whether a transpose of small elements, *bytes* at once and *many* in all turns, takes less time in strips than in
 * tiles: the lines that a strip reads stay in the cache.  Where vectors have 32 bytes, it writes whole vectors.  Where
 * stores wait, what is near at once takes less time so. */
SL_INLINE int sl_pays_in_strips(const sl_axis *rows, const sl_axis *columns, int64_t bytes, int many)
{
    if (SL_ELEMENT_SIZE == 1 && SL_VECTOR_BYTES > 16 && (columns->count < SL_STRIP || rows->count < SL_TILE))
        return 0;
    return SL_NEAR_TILES || !many ||
           ((bytes < SL_NEAR_LEAST || !SL_STORES_WAIT) && sl_lines_in_a_set(columns, SL_TILE) <= SL_WAYS);
}
#endif

/* Whether a transpose of *bytes* bytes at once, fewer than *fewest* rows or columns of one level, is a band: of a large
 * array, only where the lines of its rows stay in the cache, unless tiles cost more anyway. */
SL_INLINE int sl_is_band(const sl_axis *rows, const sl_axis *columns, int64_t bytes, int64_t fewest, int many)
{
#if SL_HAS_STRIPS
    const int64_t few = sl_min(sl_extent(rows), sl_extent(columns));
    if (few < SL_LANES_16 || few >= fewest || rows->high > 1 || columns->high > 1)
        return 0;
    if (!SL_NEAR_TILES && bytes >= SL_NEAR_LEAST && few >= SL_TILED_FROM && !sl_keeps_lines(rows, SL_WAYS))
        return 0;
    return SL_HAS_PANELS || sl_pays_in_strips(rows, columns, bytes, many);
#else
    (void)rows, (void)columns, (void)bytes, (void)fewest, (void)many;
    return 0;
#endif
}
