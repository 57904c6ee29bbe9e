/* Tiles: the prototypes of transposes in tiles, of any arrays and of near ones, which may be compiled apart.
 *
 * Assumes: axes with as few levels as sl_simplify_axis leaves, all extents >= 1.
 * Needs: axes. */
#pragma once

#include "axes.h"

/* Transposes in tiles. */
typedef void sl_tiles_way(element *restrict to, const sl_axis *rows, const element *restrict from,
                          const sl_axis *columns, const sl_turns *turns, int far);

/* How the definition of transpose_tiles begins. */
#define SL_DECLARE_TILES(name)                                                                                       \
    SL_LINKABLE void name(element *restrict to, const sl_axis *rows, const element *restrict from,                   \
                          const sl_axis *columns, const sl_turns *turns, int far)
#ifdef SL_LINKED
SL_DECLARE_TILES(sl_transpose_tiles);
SL_DECLARE_TILES(sl_transpose_near_tiles);
#else
#define sl_transpose_near_tiles sl_transpose_tiles
#endif

/* Whether the text has tiles of near arrays only: the compiler takes less time for them.  Those of other arrays are
 * staged, read ahead, fetched, and done in the order that suits the sets of the cache. */
#ifndef SL_NEAR_TILES
#define SL_NEAR_TILES 0
#endif
