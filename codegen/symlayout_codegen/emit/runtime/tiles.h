/* Tiles: the prototype of transposes in tiles, which may be compiled apart.
 *
 * Assumes: axes with as few levels as sl_simplify_axis leaves, all extents >= 1.
 * Needs: axes. */
#pragma once

#include "axes.h"

#ifdef SL_LINKED
/* Transposes between the axes *rows* and *columns*, *turns* times: see transpose_tiles. */
SL_LINKABLE void sl_transpose_tiles(element *restrict to, const sl_axis *rows, const element *restrict from,
                                    const sl_axis *columns, const sl_turns *turns, int far);
#endif
