/* A transpose in panels: long runs of the source are read, and long runs of the output written, one after the other.
 *
 * Assumes: axes with as few levels as sl_simplify_axis leaves, all extents >= 1.
 * Needs: transpose_choice, transpose_strips. */
#pragma once

#include "transpose_choice.h"
#include "transpose_strips.h"

/* A panel has SL_PANEL_HEIGHT rows of SL_PANEL_WIDTH elements, four and eight cache lines: it stays in the cache.
 * It is read in strips. */
#define SL_PANEL_WIDTH (512 / SL_ELEMENT_SIZE)
#define SL_PANEL_HEIGHT (256 / SL_ELEMENT_SIZE)
#define SL_PANEL_PITCH (SL_PANEL_WIDTH + SL_TILE)

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
