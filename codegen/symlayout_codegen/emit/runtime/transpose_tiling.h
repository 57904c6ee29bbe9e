/* A transpose in tiles, once: blocks of tiles, read ahead, staged or written tile by tile.
 *
 * Assumes: axes with as few levels as sl_simplify_axis leaves, all extents >= 1.
 * Needs: pieces, tiles, transpose_choice, transpose_lines, transpose_pieces, transpose_staging, transpose_tile. */
#pragma once

#include "pieces.h"
#include "tiles.h"
#include "transpose_choice.h"
#include "transpose_lines.h"
#include "transpose_pieces.h"
#include "transpose_staging.h"
#include "transpose_tile.h"

/* Returns the length of the tile that begins at *at*, cut to 0 <= k < extent, and moves *at* to its begin.  A cut
 * tile is lengthened to whole squares, which overlap another tile. */
SL_OUT_OF_LINE int64_t sl_tile_length(int64_t *at, int64_t extent)
{
    const int64_t end = sl_min(extent, *at + SL_TILE), begin = sl_max(0, *at);
    const int64_t length = sl_min(extent, (end - begin + SL_LANES_16 - 1) / SL_LANES_16 * SL_LANES_16);
    *at = sl_min(begin, extent - length);
    return length;
}

/* Prefetches what the next four tiles, one below the other, read.  Of each four tiles, tile *turn* prefetches a
 * quarter of the columns, all four lines at once; *from* is where that tile begins. */
SL_ALWAYS_INLINE void sl_read_ahead(const element *from, const int64_t column[SL_TILE], int64_t turn)
{
    for (int64_t k = turn * (SL_TILE / 4); k < (turn + 1) * (SL_TILE / 4); ++k)
        for (int64_t line = 4; line < 8; ++line)
            __builtin_prefetch(from + column[k] + (line - turn) * SL_TILE, 0, 2);
}

/* Prefetches a tile that begins at *from*, a line of each column. */
SL_ALWAYS_INLINE void sl_read_tile(const element *from, const int64_t column[SL_TILE])
{
    for (int64_t k = 0; k < SL_TILE; ++k)
        __builtin_prefetch(from + column[k], 0, 2);
}

/* Fetches the *rows* cache lines of the output that a tile will write: a store that waits for its line holds up the
 * stores after it. */
SL_ALWAYS_INLINE void sl_fetch_output(const element *to, const int64_t *row, int64_t rows)
{
    for (int64_t i = 0; i < rows; ++i)
        __builtin_prefetch(to + row[i], 1, 3);
}

/* Tiles side by side: tile k begins at column right[k] and is wide[k] columns wide; it reads from read[k] on, its
 * columns are column[k] further. */
typedef struct {
    const int64_t *column[SL_TILES_PER_BLOCK];
    int64_t right[SL_TILES_PER_BLOCK], read[SL_TILES_PER_BLOCK], wide[SL_TILES_PER_BLOCK], tiles;
    sl_offset_table across[SL_TILES_PER_BLOCK][2];
} sl_block;

/* Places the tiles of the block of columns *left* to *left* + *side*. */
SL_OUT_OF_LINE void sl_begin_block(sl_block *block, const sl_axis *columns, int64_t left, int64_t side, int64_t width)
{
    int64_t tiles = 0;
    const int64_t end = sl_min(width, left + side);
    for (int64_t beside = left; beside < end; beside += SL_TILE, ++tiles) {
        block->right[tiles] = beside;
        block->wide[tiles] = sl_tile_length(&block->right[tiles], width);
        block->column[tiles] = sl_offsets_from(block->across[tiles], columns, block->right[tiles], block->wide[tiles],
                                               &block->read[tiles]);
    }
    block->tiles = tiles;
}

/* Blocks that are long and narrow: the processor reads so many columns ahead by itself, and fetches lines in pairs. */
#define SL_NARROW_SIDE sl_min(SL_TILES_PER_BLOCK * SL_TILE, sl_max(2 * SL_TILE, 32))

/* How whole tiles are transposed: by tables of offsets; with one step each way, as it comes; or in the order that
 * finishes the lines that are written, or those that are read, before they leave the cache. */
typedef enum { SL_BY_TABLES, SL_EVENLY, SL_ROWS_FIRST, SL_COLUMNS_FIRST } sl_order;

/* A transpose in tiles: what is the same for all its turns, and what they share. */
typedef struct {
    element held[SL_TILE * SL_STAGED_STEP] __attribute__((aligned(64)));
    int64_t held_row[SL_TILE];
    sl_block now, then; /* the block that is transposed, and the one that is read ahead */
    sl_offset_table below[2];
    int64_t height, width, side, down; /* blocks have *down* rows of *side* columns */
    int far, staged, joined, fetched, deep, dense, lines;
    sl_order order;
} sl_tiling;

/* The order for *even* axes whose tiles *crowd* sets. */
SL_INLINE sl_order sl_order_of(int even, sl_crowd crowd)
{
    if (!even || !SL_HAS_EVEN_TILES)
        return SL_BY_TABLES;
    if (SL_NEAR_TILES || !SL_HAS_ORDERED_TILES || (crowd.written <= SL_WAYS && crowd.read <= SL_WAYS))
        return SL_EVENLY;
    return crowd.written < crowd.read ? SL_COLUMNS_FIRST : SL_ROWS_FIRST;
}

/* Begins the tiling of an output at that *distance*; the source is read ahead, along its rows, if it is *deep* or
 * staged. */
SL_OUT_OF_LINE void sl_begin_tiling(sl_tiling *tiling, const sl_axis *rows, const sl_axis *columns, sl_crowd crowd,
                                    sl_distance distance, int deep)
{
    const int far = distance.far, wait = distance.wait;
    const int64_t height = sl_extent(rows), width = sl_extent(columns);
    tiling->height = height;
    tiling->width = width;
    tiling->far = far;
    /* Rows that follow each other are staged so, and written as one. */
    tiling->joined = sl_is_joined(rows, width);
    tiling->staged = !SL_NEAR_TILES && sl_has_staged_tiles(rows, width, distance);
    /* Rows that share lines follow each other: the processor fetches their lines by itself. */
    tiling->fetched = wait && !(tiling->staged && far) && (rows->step >= SL_TILE || rows->step < 0);
    tiling->deep = tiling->staged || deep;
    /* Of far rows of whole lines, where stores wait. */
    const int narrow = wait && far && tiling->staged && !tiling->joined && sl_begins_lines(rows);
    tiling->side = narrow ? SL_NARROW_SIDE : SL_TILES_PER_BLOCK * SL_TILE;
    tiling->down = narrow ? SL_ROWS_OF_PAGES : tiling->deep ? height + SL_TILE : tiling->side;
    tiling->order = sl_order_of(rows->high == 1 && columns->high == 1 && !tiling->staged, crowd);
    tiling->lines = SL_HAS_LINES && crowd.read >= 2 * SL_WAYS;
    /* Rows follow each other where no level ends inside a tile: in the first of the two offset tables. */
    tiling->dense = SL_HAS_DENSE_SQUARES && width == SL_LANES_16 && rows->step == SL_LANES_16 && rows->count >= SL_TILE;
    tiling->below[0].phase = tiling->below[1].phase = -1;
    for (int64_t k = 0; k < SL_TILES_PER_BLOCK; ++k)
        for (int64_t table = 0; table < 2; ++table)
            tiling->now.across[k][table].phase = tiling->then.across[k][table].phase = -1;
}

/* Transposes a tile of *high* rows and *wide* columns, a whole one or a part: row[i] and column[j] are offsets, the
 * steps those of even axes. */
SL_ALWAYS_INLINE void sl_transpose_any_tile(const sl_tiling *tiling, element *restrict to, const int64_t *row,
                                            int64_t row_step, const element *restrict from, const int64_t *column,
                                            int64_t column_step, int64_t high, int64_t wide)
{
    if (high == SL_TILE && wide == SL_TILE) {
#if SL_HAS_ORDERED_TILES && !SL_NEAR_TILES
        if (tiling->order == SL_COLUMNS_FIRST) {
            sl_transpose_columns_first(to, row_step, from, column_step);
            return;
        }
        if (tiling->order == SL_ROWS_FIRST) {
            sl_transpose_even_rows(to, row_step, from, column_step, SL_TILE, SL_TILE);
            return;
        }
#endif
#if SL_HAS_EVEN_TILES
        if (tiling->order == SL_EVENLY) {
            sl_transpose_even_tile(to, row_step, from, column_step);
            return;
        }
#endif
        (void)row_step, (void)column_step;
        sl_transpose_tile(to, row, from, column);
    }
#if SL_HAS_LINES
    else if (!SL_NEAR_TILES && tiling->lines && high == SL_TILE && wide >= SL_LANES_MAX)
        sl_transpose_lines(to, row, from, column, wide);
#endif
    else if (tiling->dense && row == tiling->below->offset && high >= SL_LANES_MAX)
        sl_transpose_dense(to, row, from, column, high);
    else if (high >= SL_LANES_16 && wide >= SL_LANES_16)
        sl_transpose_part(to, row, from, column, high, wide);
    else
        sl_transpose_thin(to, row, from, column, high, wide);
}

/* Transposes the tiles of a block that begin at row *below*, which are *number* from its top; it ends at row *end*.
 * *beside* is where those of the block that is read ahead are read, or null. */
SL_OUT_OF_LINE void sl_transpose_beside(sl_tiling *tiling, element *restrict to, const sl_axis *rows,
                                        const element *restrict from, const sl_axis *columns, int64_t below,
                                        int64_t end, int64_t number, const element *beside)
{
    const sl_block *const now = &tiling->now, *const then = &tiling->then;
    const int staged = !SL_NEAR_TILES && tiling->staged, fetched = !SL_NEAR_TILES && tiling->fetched;
    int64_t i = below, write;
    const int64_t high = sl_tile_length(&i, tiling->height), tiles = now->tiles, left = now->right[0];
    const int64_t *const row = sl_offsets_from(tiling->below, rows, i, high, &write);
    element *const block = to + write + left; /* what is written now: *high* by *count* */
    const int64_t count = now->right[tiles - 1] + now->wide[tiles - 1] - left;
    if (staged)
        sl_place_staged(tiling->held_row, block, row, high, count);
    const int ahead = !SL_NEAR_TILES && tiling->deep && high == SL_TILE && below + 8 * SL_TILE <= end;
    for (int64_t k = 0; k < tiles; ++k) {
        const element *const source = from + now->read[k] + i;
        const int64_t right = now->right[k] - left, wide = now->wide[k];
        if (ahead && wide == SL_TILE)
            sl_read_ahead(source, now->column[k], number % 4);
        if (!SL_NEAR_TILES && beside && k < then->tiles && then->wide[k] == SL_TILE)
            sl_read_tile(beside + then->read[k], then->column[k]);
        if (fetched)
            sl_fetch_output(block + right, row, high);
        sl_transpose_any_tile(tiling, staged ? tiling->held + right : block + right, staged ? tiling->held_row : row,
                              rows->step, source, now->column[k], columns->step, high, wide);
    }
    if (staged)
        sl_write_staged_rows(block, row, tiling->held, tiling->held_row, high, count, tiling->far);
}

/* Transposes once, in blocks of SL_TILES_PER_BLOCK by SL_TILES_PER_BLOCK tiles: the TLB has few entries.  Tiles begin
 * at cache lines if they can.  *after* is where the next turn reads, or null. */
SL_INLINE void sl_transpose_in_tiles(sl_tiling *tiling, element *restrict to, const sl_axis *rows,
                                     const element *restrict from, const sl_axis *columns, const element *after)
{
    const int64_t height = tiling->height, width = tiling->width, side = tiling->side, ahead = 8 * SL_TILE;
    const int deep = !SL_NEAR_TILES && tiling->deep, joined = !SL_NEAR_TILES && tiling->staged && tiling->joined;
    const int64_t lead_i = sl_elements_to_line(from, columns, height), lead_j = sl_elements_to_line(to, rows, width);
    const int64_t first_i = lead_i > 0 ? lead_i - SL_TILE : 0;
    const int64_t first_j = lead_j > 0 && !joined ? lead_j - SL_TILE : 0;
    for (int64_t top = first_i, end; top < height; top = end) {
        end = sl_min(height, top + tiling->down);
        for (int64_t left = first_j; left < width; left += side) {
            sl_begin_block(&tiling->now, columns, left, side, width);
            /* Where the columns end, those of the next block are read, beside or below, or of the next turn. */
            const int more = left + side < width;
            const element *const below_this = end < height ? from + end : after;
            const element *const next = !deep ? 0 : more ? from + sl_max(0, top) : below_this;
            if (next)
                sl_begin_block(&tiling->then, columns, more ? left + side : 0, side, width);
            for (int64_t below = top; below < end; below += SL_TILE) {
                const int64_t over = below + ahead - end, begin = end - top < ahead ? below - top : over;
                sl_transpose_beside(tiling, to, rows, from, columns, below, end, (below - top) / SL_TILE,
                                    next && over > 0 ? next + begin : 0);
            }
        }
    }
}
