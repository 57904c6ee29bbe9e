/* A transpose in tiles: the choice of the way, blocks of tiles, staging, reading ahead.
 *
 * Assumes: axes with as few levels as sl_simplify_axis leaves, all extents >= 1.
 * Needs: caches, copy, far_stores, pieces, tiles, transpose_levels, transpose_lines, transpose_panels,
 * transpose_pieces, transpose_tile, transpose_whole_lines. */
#pragma once

#include "caches.h"
#include "copy.h"
#include "far_stores.h"
#include "pieces.h"
#include "tiles.h"
#include "transpose_levels.h"
#include "transpose_lines.h"
#include "transpose_panels.h"
#include "transpose_pieces.h"
#include "transpose_tile.h"
#include "transpose_whole_lines.h"

/* Returns the length of the tile that begins at *at*, cut to 0 <= k < extent, and moves *at* to its begin.  A cut
 * tile is lengthened to whole squares, which overlap another tile. */
SL_INLINE int64_t sl_tile_length(int64_t *at, int64_t extent)
{
    const int64_t end = sl_min(extent, *at + SL_TILE), begin = sl_max(0, *at);
    const int64_t length = sl_min(extent, (end - begin + SL_LANES_16 - 1) / SL_LANES_16 * SL_LANES_16);
    *at = sl_min(begin, extent - length);
    return length;
}

/* Tiles of a block, each way.  The lines of a block, each perhaps in a page of its own, are a few hundred. */
#ifndef SL_TILES_PER_BLOCK
#define SL_TILES_PER_BLOCK 8
#endif
/* An output of fewer bytes than this is near: the second-level cache holds it beside the source. */
#ifndef SL_NEAR_BYTES
#define SL_NEAR_BYTES (sl_cache_bytes(2) / 2)
#define SL_NEAR_LEAST (INT64_C(128) << 10) /* below, the size of the cache is not asked for */
#else
#define SL_NEAR_LEAST SL_NEAR_BYTES
#endif

/* Whether an output that is written *times* times, *bytes* bytes each, is near. */
SL_INLINE int sl_is_near(int64_t bytes, int64_t times)
{
    return bytes < SL_NEAR_LEAST / times || bytes < SL_NEAR_BYTES / times;
}

/* Whether SL_TILES_PER_BLOCK tiles side by side are staged, so that rows are written in long pieces, in whole cache
 * lines: for far arrays; where rows begin anywhere in a line, so that vectors would cross lines, unless a vector is a
 * line; and where all lines of a tile, 32 or more, fall into one set of the first-level cache, a way of which has 4 KB
 * or more.  In two sets or more, and for fewer lines, staging costs more: a tile writes each line whole.  Where stores
 * do not *wait*, rows that begin anywhere in a line are not staged: both ends of a piece are parts of lines. */
#define SL_STAGED_STEP ((SL_TILES_PER_BLOCK + 1) * SL_TILE)
SL_INLINE int sl_is_staged(const sl_axis *rows, int near, int far, int wait)
{
    const int64_t step = rows->step * SL_ELEMENT_SIZE;
    if (!SL_HAS_SHUFFLES || (step % 64 != 0 && !wait))
        return 0;
    const int crosses = step % 64 != 0 ? SL_VECTOR_BYTES < 64 : rows->high == 1 && SL_TILE >= 32 && step % 4096 == 0;
    return far || (!near && crosses);
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

/* The elements from the begin of a cache line to *to*; 0 where an element lies across the begin of a line. */
SL_INLINE int64_t sl_elements_in_line(const element *to)
{
    const uintptr_t bytes = (uintptr_t)to % 64;
    return bytes % SL_ELEMENT_SIZE == 0 ? (int64_t)(bytes / SL_ELEMENT_SIZE) : 0;
}

/* Places the first *rows* staged rows of *count* elements: row i is staged at *at*[i], behind the row before if it
 * follows that in the output, or else as far from the begin of a cache line as it will be there. */
SL_INLINE void sl_place_staged(int64_t *at, const element *to, const int64_t *row, int64_t rows, int64_t count)
{
    for (int64_t i = 0; i < rows; ++i)
        at[i] = i > 0 && row[i] == row[i - 1] + count ? at[i - 1] + count
                                                      : i * SL_STAGED_STEP + sl_elements_in_line(to + row[i]);
}

/* Writes a staged row of *count* elements to the output: whole cache lines, and what is left at both ends. */
SL_OUT_OF_LINE void sl_write_staged(element *restrict to, const element *restrict held, int64_t count, int far)
{
    const int64_t lead = -sl_elements_in_line(to) & (SL_TILE - 1), first = sl_min(lead, count);
    const int64_t end = first + (count - first) / SL_TILE * SL_TILE;
    sl_copy(to, 0, held, 0, first);
#if SL_HAS_SHUFFLES
    const int past = far && (uintptr_t)(to + first) % 64 == 0;
    for (int64_t k = first; k < end; k += SL_LANES_MAX) {
        const sl_bytes_max v = sl_load_max(held + k);
        if (past)
            sl_store_far_max(to + k, v);
        else
            sl_store_max(to + k, v);
        SL_KEEP_LOOP();
    }
#else
    (void)far;
    sl_copy(to, first, held, first, end - first);
#endif
    sl_copy(to, end, held, end, count - end);
}

/* Writes *rows* staged rows of *count* elements: those that follow each other as one. */
SL_INLINE void sl_write_staged_rows(element *restrict to, const int64_t *row, const element *restrict held,
                                    const int64_t *at, int64_t rows, int64_t count, int far)
{
    for (int64_t i = 0, next; i < rows; i = next) {
        for (next = i + 1; next < rows && row[next] == row[next - 1] + count; ++next)
            continue;
        sl_write_staged(to + row[i], held + at[i], (next - i) * count, far);
    }
}

/* Tiles side by side: tile k begins at column right[k] and is wide[k] columns wide; it reads from read[k] on, its
 * columns are column[k] further. */
typedef struct {
    const int64_t *column[SL_TILES_PER_BLOCK];
    int64_t right[SL_TILES_PER_BLOCK], read[SL_TILES_PER_BLOCK], wide[SL_TILES_PER_BLOCK], tiles;
    sl_offset_table across[SL_TILES_PER_BLOCK][2];
} sl_block;

/* Places the tiles of the block that begins at column *left*. */
SL_OUT_OF_LINE void sl_begin_block(sl_block *block, const sl_axis *columns, int64_t left, int64_t width)
{
    int64_t tiles = 0;
    const int64_t end = sl_min(width, left + SL_TILES_PER_BLOCK * SL_TILE);
    for (int64_t beside = left; beside < end; beside += SL_TILE, ++tiles) {
        block->right[tiles] = beside;
        block->wide[tiles] = sl_tile_length(&block->right[tiles], width);
        block->column[tiles] = sl_offsets_from(block->across[tiles], columns, block->right[tiles], block->wide[tiles],
                                               &block->read[tiles]);
    }
    block->tiles = tiles;
}

/* The ways to transpose once, but for levels; tiles do all that the others leave. */
typedef enum { SL_IN_TILES, SL_IN_BAND, SL_IN_LINES, SL_IN_PANELS, SL_IN_BLOCKS } sl_way;

/* Chooses the way to transpose *bytes* bytes once, and sets the *lines* abreast.  Whole lines take the least time where
 * their sets hold them.  Else bands are for fewer rows or columns than *fewest*, of lines that stay in the cache;
 * panels for lines that crowd sets on both sides; blocks for those that are read.  What is *deep* is read ahead, in
 * tiles or panels.  All but bands were measured where stores do not wait. */
SL_INLINE sl_way sl_choose_way(const sl_axis *rows, const sl_axis *columns, int64_t bytes, int64_t fewest, int far,
                               int deep, int many, sl_crowd crowd, int64_t *lines)
{
    const int64_t few = sl_min(sl_extent(rows), sl_extent(columns));
    const int is_band = few >= SL_LANES_16 && few < fewest && rows->high == 1 && columns->high == 1;
#if SL_HAS_PANELS
    (void)many;
    if (bytes < SL_NEAR_LEAST)
        return is_band ? SL_IN_BAND : SL_IN_TILES;
    const int measured = !SL_STORES_WAIT;
    *lines = measured && !deep ? sl_lines_abreast(rows, columns, crowd) : 0;
    if (*lines > 0)
        return SL_IN_LINES;
    if (is_band && (few < SL_TILED_FROM || sl_keeps_lines(rows, SL_WAYS)))
        return SL_IN_BAND;
    if (measured && !far && sl_pays_in_panels(rows, columns, crowd, deep))
        return SL_IN_PANELS;
    return measured && !deep && sl_pays_in_blocks(rows, columns, crowd) ? SL_IN_BLOCKS : SL_IN_TILES;
#elif SL_HAS_STRIPS
    (void)far, (void)deep, (void)crowd, (void)lines;
    if (bytes >= SL_NEAR_LEAST && few >= SL_TILED_FROM && !sl_keeps_lines(rows, SL_WAYS))
        return SL_IN_TILES;
    return is_band && sl_pays_in_strips(rows, columns, many) ? SL_IN_BAND : SL_IN_TILES;
#else
    (void)bytes, (void)far, (void)deep, (void)many, (void)crowd, (void)lines;
    return is_band ? SL_IN_BAND : SL_IN_TILES;
#endif
}

/* Transposes between the axes *rows* and *columns*, *turns* times, in blocks of SL_TILES_PER_BLOCK by
 * SL_TILES_PER_BLOCK tiles: the TLB has few entries.  Tiles begin at cache lines if they can. */
SL_LINKABLE void sl_transpose_tiles(element *restrict to, const sl_axis *rows, const element *restrict from,
                                    const sl_axis *columns, const sl_turns *turns, int far)
{
    const int64_t height = sl_extent(rows), width = sl_extent(columns);
    /* Rows follow each other where no level ends inside a tile: in the first of the two offset tables. */
    const int dense =
        SL_HAS_DENSE_SQUARES && width == SL_LANES_16 && rows->step == SL_LANES_16 && rows->count >= SL_TILE;
    /* Disabled for decreasing offsets: only the last offset of each square is bounds-checked. */
    const int64_t none = INT64_MIN / 2, steps = (columns->count - 1) * columns->step;
    const int64_t leaps = steps + (columns->high - 1) * columns->leap;
    const int upwards = columns->step >= 0 && (columns->high == 1 || columns->leap >= steps) &&
                        (columns->top == 1 || columns->jump >= leaps);
    const int64_t readable = upwards ? leaps + (columns->top - 1) * columns->jump + height : none;
    const int64_t writable = rows->step == width && rows->high == 1 && width < SL_LANES_16 ? height * width : none;
    sl_offset_table down_of[2];
    sl_block now, then; /* the block that is transposed, and the one that is read ahead */
    down_of[0].phase = down_of[1].phase = -1;
    for (int64_t k = 0; k < SL_TILES_PER_BLOCK; ++k)
        now.across[k][0].phase = now.across[k][1].phase = then.across[k][0].phase = then.across[k][1].phase = -1;
    const int64_t bytes = height * width * SL_ELEMENT_SIZE, times = turns->count * turns->high;
#if SL_HAS_LEVELS
    if (!far && bytes >= SL_NEAR_LEAST / times && bytes < SL_FAR_BYTES / 4 / times &&
        sl_transpose_levels(to, rows, from, columns, turns))
        return;
#endif
    const int near = sl_is_near(bytes, times);
    const int wait = !near && SL_STORES_WAIT;
    const int64_t fewest = SL_FEWEST_TILED(far);
    /* An ordinary store reads the line first; sparing that pays from two thirds or half of SL_FAR_BYTES on. */
    far |= !near && bytes >= (wait ? SL_FAR_BYTES / 3 * 2 : SL_FAR_BYTES / 2);
    /* Rows that follow each other are staged so, and written as one. */
    const int joins = rows->step == width && width <= SL_TILES_PER_BLOCK * SL_TILE;
    const int hold = width >= 2 * SL_TILE && sl_is_staged(rows, near, far, wait || (joins && far));
    const int fetch = wait && !(hold && far);
    /* Whether the source is read ahead, along its rows. */
    const int deep = hold || far || (!near && !wait && bytes >= SL_FAR_BYTES / 4 / times);
#if SL_HAS_EVEN_TILES
    const int even = rows->high == 1 && columns->high == 1 && !hold;
#endif
    const int many = bytes >= (SL_ELEMENT_SIZE >= 4 ? SL_NEAR_LEAST : SL_NEAR_LEAST / times);
    sl_crowd crowd = {0, 0};
    int64_t abreast = 0;
#if SL_HAS_PANELS || SL_HAS_LINES
    if (many && !SL_STORES_WAIT)
        crowd = sl_crowd_of(rows, columns);
#endif
#if SL_HAS_LINES
    const int lines = crowd.read >= 2 * SL_WAYS;
#endif
    const sl_way way = sl_choose_way(rows, columns, bytes, fewest, far, deep, many, crowd, &abreast);
#if SL_HAS_ORDERED_TILES
    const int ordered = even && (crowd.written > SL_WAYS || crowd.read > SL_WAYS);
#endif
    element held[SL_TILE * SL_STAGED_STEP] __attribute__((aligned(64)));
    int64_t held_row[SL_TILE];
    for (int64_t turn = 0; turn < times; ++turn) {
        const int64_t c = turn % turns->count, h = turn / turns->count;
        element *const into = to + c * turns->to_step + h * turns->to_leap;
        const element *const out_of = from + c * turns->step + h * turns->leap;
        if (way == SL_IN_BAND) {
            sl_transpose_band(into, rows->step, out_of, columns->step, height, width);
            continue;
        }
#if SL_HAS_PANELS
        if (way != SL_IN_TILES) {
            if (way == SL_IN_LINES)
                sl_transpose_in_lines(into, rows, out_of, columns, abreast);
            else if (way == SL_IN_PANELS)
                sl_transpose_panels(into, rows, out_of, columns);
            else
                sl_transpose_in_blocks(into, rows, out_of, columns);
            continue;
        }
#endif
        /* Where the turn that follows reads. */
        const element *after = from + (h + 1) * turns->leap;
        if (c + 1 < turns->count)
            after = out_of + turns->step;
        else if (turn + 1 == times)
            after = out_of;
        const int64_t lead_i = sl_elements_to_line(out_of, columns, height),
                      lead_j = sl_elements_to_line(into, rows, width);
        const int64_t first_i = lead_i > 0 ? lead_i - SL_TILE : 0;
        const int64_t first_j = lead_j > 0 && !(hold && joins) ? lead_j - SL_TILE : 0;
        const int64_t down = deep ? height - first_i : SL_TILES_PER_BLOCK * SL_TILE;
        for (int64_t top = first_i; top < height; top += down)
            for (int64_t left = first_j; left < width; left += SL_TILES_PER_BLOCK * SL_TILE) {
                sl_begin_block(&now, columns, left, width);
                /* Where the columns end, those of the next block are read, from their begin, or of the next turn. */
                const int more = left + SL_TILES_PER_BLOCK * SL_TILE < width;
                const int next = deep && (more || turn + 1 < times);
                if (next)
                    sl_begin_block(&then, columns, more ? left + SL_TILES_PER_BLOCK * SL_TILE : 0, width);
                for (int64_t below = top; below < sl_min(height, top + down); below += SL_TILE) {
                    int64_t i = below, write;
                    const int64_t high = sl_tile_length(&i, height), *const row = sl_offsets_from(down_of, rows, i,
                                                                                                  high, &write);
                    element *const block = into + write + now.right[0]; /* what is written now: *high* by *count* */
                    const int64_t tiles = now.tiles;
                    const int64_t count = now.right[tiles - 1] + now.wide[tiles - 1] - now.right[0];
                    if (hold)
                        sl_place_staged(held_row, block, row, high, count);
                    const int ahead = deep && high == SL_TILE && below + 8 * SL_TILE <= height;
                    const int64_t over = below + 8 * SL_TILE - height;
                    const element *const beside = (more ? out_of : after) + (height < 8 * SL_TILE ? below : over);
                    for (int64_t k = 0; k < tiles; ++k) {
                        const element *const source = out_of + now.read[k] + i;
                        const int64_t *const column = now.column[k], wide = now.wide[k];
                        const int64_t right = now.right[k];
                        element *const target = hold ? held + (right - now.right[0]) : into + write + right;
                        const int64_t *const at = hold ? held_row : row;
                        if (ahead && wide == SL_TILE)
                            sl_read_ahead(source, column, (below - top) / SL_TILE % 4);
                        if (next && over > 0 && k < then.tiles && then.wide[k] == SL_TILE)
                            sl_read_tile(beside + then.read[k], then.column[k]);
                        if (fetch)
                            sl_fetch_output(into + write + right, row, high);
#if SL_HAS_ORDERED_TILES
                        if (high == SL_TILE && wide == SL_TILE && ordered && crowd.written < crowd.read)
                            sl_transpose_columns_first(target, rows->step, source, columns->step);
                        else if (high == SL_TILE && wide == SL_TILE && ordered)
                            sl_transpose_even_rows(target, rows->step, source, columns->step, SL_TILE, SL_TILE);
                        else
#endif
#if SL_HAS_EVEN_TILES
                        if (high == SL_TILE && wide == SL_TILE && even)
                            sl_transpose_even_tile(target, rows->step, source, columns->step);
                        else
#endif
                        if (high == SL_TILE && wide == SL_TILE)
                            sl_transpose_tile(target, at, source, column);
#if SL_HAS_LINES
                        else if (lines && high == SL_TILE && wide >= SL_LANES_MAX)
                            sl_transpose_lines(target, at, source, column, wide);
#endif
                        else if (dense && row == down_of->offset && high >= SL_LANES_MAX)
                            sl_transpose_dense(target, at, source, column, high);
                        else if (high >= SL_LANES_16 && wide >= SL_LANES_16)
                            sl_transpose_part(target, at, source, column, high, wide);
                        else
                            sl_transpose_thin(target, at, source, column, high, wide, readable - i - now.read[k],
                                              hold ? none : writable - write);
                    }
                    if (hold)
                        sl_write_staged_rows(block, row, held, held_row, high, count, far);
                }
            }
    }
    if (hold && far)
        sl_store_fence();
}
