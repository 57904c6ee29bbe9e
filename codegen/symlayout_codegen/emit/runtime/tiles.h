/* Tiles: the prototypes of transposes in tiles and in strips over levels, which may be compiled apart.
 *
 * Assumes: axes with as few levels as sl_simplify_axis leaves, all extents >= 1.
 * Needs: axes. */
#pragma once

#include "axes.h"

#ifdef SL_LINKED
/* Transposes between the axes *rows* and *columns*, *turns* times: see transpose_tiles. */
SL_LINKABLE void sl_transpose_tiles(element *restrict to, const sl_axis *rows, const element *restrict from,
                                    const sl_axis *columns, const sl_turns *turns, int far);
/* Does the same in strips over levels if that pays, and returns whether it does: see transpose_levels. */
SL_LINKABLE int sl_transpose_levels(element *restrict to, const sl_axis *rows, const element *restrict from,
                                    const sl_axis *columns, const sl_turns *turns);
#endif
