/* Shares: which steps of a loop belong to one part of a kernel's work.
 *
 * Assumes: 0 <= part < parts.
 * Needs: integers. */
#pragma once

#include "integers.h"

/* Part number *part* of *parts* of the work that is left to share. */
typedef struct {
    int64_t part, parts;
} sl_part;

/* Sets the steps of a loop that belong to the part: *begin <= d < *end, of 0 <= d < extent. */
SL_OUT_OF_LINE void sl_share_last(const sl_part *left, int64_t extent, int64_t *begin, int64_t *end)
{
    *begin = 0;
    *end = extent;
    if (left->parts > 1) {
        const int64_t each = extent / left->parts, more = extent % left->parts;
        *begin = each * left->part + sl_min(left->part, more);
        *end = *begin + each + (left->part < more);
    }
}

/* The same for a loop with shared loops inside.  With more parts than steps, several parts do one step together:
 * *left becomes the share of the part inside that step. */
SL_OUT_OF_LINE void sl_share(sl_part *left, int64_t extent, int64_t *begin, int64_t *end)
{
    if (left->parts == 1) {
        sl_share_last(left, extent, begin, end);
        return;
    }
    const int64_t together = sl_max(left->parts / sl_max(extent, 1), 1);
    const sl_part outer = {left->part / together, (left->parts + together - 1) / together};
    sl_share_last(&outer, extent, begin, end);
    left->part -= outer.part * together;
    left->parts = sl_min(together, left->parts - outer.part * together);
}
