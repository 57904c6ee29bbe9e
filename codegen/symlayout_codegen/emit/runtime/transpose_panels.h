/* A transpose in panels: long runs of the source are read, and long runs of the output written, one after the other.
 *
 * Assumes: axes with as few levels as sl_simplify_axis leaves, all extents >= 1.
 * Needs: caches, transpose_strips. */
#pragma once

#include "caches.h"
#include "transpose_strips.h"

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

/* A panel has SL_PANEL_HEIGHT rows of SL_PANEL_WIDTH elements, four and eight cache lines: it stays in the cache.
 * It is read in strips. */
#define SL_PANEL_WIDTH (512 / SL_ELEMENT_SIZE)
#define SL_PANEL_HEIGHT (256 / SL_ELEMENT_SIZE)
#define SL_PANEL_PITCH (SL_PANEL_WIDTH + SL_TILE)
#define SL_HAS_PANELS (SL_HAS_STRIPS && SL_ELEMENT_SIZE >= 4)
/* Whether a tile comes to each line four times, which then has to stay in the cache: vectors have 16 bytes. */
#define SL_HAS_FOUR_VISITS (SL_HAS_PANELS && SL_VECTOR_BYTES == 16)
#define SL_HAS_LEVELS SL_HAS_PANELS

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
    return !many || ((bytes < SL_NEAR_LEAST || !SL_STORES_WAIT) && sl_lines_in_a_set(columns, SL_TILE) <= SL_WAYS);
}
#endif
#if SL_HAS_PANELS
/* Whether a transpose takes less time in panels: where lines that are written and lines that are read share sets, more
 * of them than its SL_WAYS, or fill one set each unless the source is read ahead; and the tile comes back to them,
 * since a vector is no line or crosses the begin of one. */
SL_INLINE int sl_pays_in_panels(const sl_axis *rows, const sl_axis *columns, sl_crowd crowd, int deep)
{
    const int64_t ways = SL_WAYS, least = deep ? ways : ways / 2;
    const int whole = SL_VECTOR_BYTES == 64 && (rows->step | columns->step) * SL_ELEMENT_SIZE % 64 == 0;
    if ((whole && crowd.read <= ways) || sl_extent(columns) < 2 * SL_TILE || sl_extent(rows) < SL_LANES_16)
        return 0;
    const int all = !deep && crowd.written >= SL_TILE && crowd.read >= SL_TILE && ways <= SL_TILE;
    return all || (crowd.written + crowd.read > 2 * ways && crowd.written >= least && crowd.read >= least);
}

/* Sets the offsets of *count* indices from *first* on. */
SL_OUT_OF_LINE void sl_offsets(int64_t *offset, const sl_axis *axis, int64_t first, int64_t count)
{
    int64_t low = first % axis->count, high = first / axis->count % axis->high, at = sl_offset(axis, first);
    for (int64_t k = 0; k < count; ++k) {
        offset[k] = at;
        at += axis->step;
        if (++low < axis->count)
            continue;
        low = 0;
        at += axis->leap - axis->count * axis->step;
        if (++high == axis->high) {
            high = 0;
            at += axis->jump - axis->high * axis->leap;
        }
    }
}

/* Writes a row of a panel, at least a vector: the first and the last vector may overlap others. */
SL_INLINE void sl_write_row(element *restrict to, const element *restrict held, int64_t count)
{
    const uintptr_t bytes = (uintptr_t)to % SL_VECTOR_BYTES;
    sl_store_max(to, sl_load_max(held));
    int64_t k = bytes % SL_ELEMENT_SIZE == 0 ? SL_LANES_MAX - (int64_t)(bytes / SL_ELEMENT_SIZE) : SL_LANES_MAX;
    for (; k < count - SL_LANES_MAX; k += SL_LANES_MAX) {
        sl_store_max(to + k, sl_load_max(held + k));
        SL_KEEP_LOOP();
    }
    sl_store_max(to + count - SL_LANES_MAX, sl_load_max(held + count - SL_LANES_MAX));
}

/* Transposes once, in panels, which begin at cache lines if they can: at least SL_LANES_16 rows, and SL_TILE
 * columns. */
SL_OUT_OF_LINE void sl_transpose_panels(element *restrict to, const sl_axis *rows, const element *restrict from,
                                        const sl_axis *columns)
{
    const int64_t height = sl_extent(rows), width = sl_extent(columns);
    const int64_t wide = sl_alike(width, SL_PANEL_WIDTH, SL_TILE), high = sl_alike(height, SL_PANEL_HEIGHT, SL_TILE);
    const int64_t lead_i = sl_elements_to_line(from, columns, height), lead_j = sl_elements_to_line(to, rows, width);
    element held[(SL_PANEL_HEIGHT + SL_TILE) * SL_PANEL_PITCH] __attribute__((aligned(64)));
    int64_t column[SL_PANEL_PITCH];
    for (int64_t left = 0, end_j; left < width; left = end_j) {
        end_j = sl_min(width, left + wide + (left == 0 ? lead_j : 0));
        const int64_t j = sl_min(left, width - SL_TILE), across = end_j - j;
        sl_offsets(column, columns, j, across);
        for (int64_t top = 0, end_i; top < height; top = end_i) {
            end_i = sl_min(height, top + high + (top == 0 ? lead_i : 0));
            const int64_t i = sl_min(top, height - SL_LANES_16), down = end_i - i;
            for (int64_t beside = 0; beside < across; beside += SL_STRIP) {
                const int64_t k = sl_min(beside, across - SL_STRIP);
                const element *at[SL_STRIP];
                sl_begin_strip(at, from + i, column + k, SL_STRIP);
                sl_transpose_strip(held + k, 0, SL_PANEL_PITCH, at, down, SL_STRIP);
            }
            for (int64_t k = 0; k < down; ++k) {
                const int64_t row = rows->high == 1 ? (i + k) * rows->step : sl_offset(rows, i + k);
                sl_write_row(to + row + j, held + k * SL_PANEL_PITCH, across);
            }
        }
    }
}
#endif
