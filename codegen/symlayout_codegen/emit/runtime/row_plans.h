/* Row plans: rows of the output that are put together from short runs of the source, the same ones in each turn.  16
 * bytes are written at once, by byte shuffles whose indices are computed beforehand: for the turns of a block.
 *
 * Assumes: output and source do not overlap.  Offsets, leaps and lengths are in bytes.
 * Needs: integers, plans, vectors. */
#pragma once

#include "integers.h"
#include "plans.h"
#include "vectors.h"

#if SL_HAS_ROW_PLANS && SL_ROW_PLANS
/* How many turns of *turn* bytes, at most *rows*, fill lanes best; 0 if they have less than 16 bytes. */
SL_ONCE int64_t sl_turns_of_block(int64_t turn, int64_t rows)
{
    int64_t best = 0, most = 0; /* 256 where lanes are filled */
    for (int64_t turns = 1; turns <= rows && turns <= SL_BLOCK_TURNS && most < 240; ++turns) {
        const int64_t bytes = turns * turn, lanes = (bytes + 15) / 16, filled = bytes * 16 / lanes;
        if (lanes > SL_BLOCK_LANES && best > 0)
            break;
        if (bytes >= 16 && filled > most) {
            best = turns;
            most = filled;
        }
    }
    return best;
}

/* Plans a lane: the windows that have its bytes, which come from *source*, and end before *end*; the windows after them
 * add zeros.  Returns how many there are; more than SL_LANE_WINDOWS if they are too many. */
SL_ONCE int sl_plan_lane(const int64_t source[16], int64_t end, int64_t from[SL_LANE_WINDOWS],
                         unsigned char index[SL_LANE_WINDOWS][16])
{
    unsigned missing = 0xffff;
    int windows = 0;
    for (; missing; ++windows) {
        if (windows == SL_LANE_WINDOWS)
            return windows + 1;
        int64_t first = end - 16;
        for (int b = 0; b < 16; ++b)
            if (missing >> b & 1)
                first = sl_min(first, source[b]);
        for (int b = 0; b < 16; ++b) {
            const int64_t at = source[b] - first;
            const int found = (missing >> b & 1) && at >= 0 && at < 16;
            index[windows][b] = (unsigned char)(found ? at : SL_ZERO_BYTE);
            missing &= ~((unsigned)found << b);
        }
        from[windows] = first;
    }
    for (int w = windows; w < SL_LANE_WINDOWS; ++w) {
        from[w] = from[0];
        memset(index[w], SL_ZERO_BYTE, 16);
    }
    return windows;
}

/* Plans rows of *rows* turns: turn t of a row is *runs* runs of *run* bytes, one after the other, and run u of turn t
 * begins at offset[u] + t*leap.  Returns whether there is a plan. */
SL_LINKABLE __attribute__((cold)) int sl_plan_turns(sl_plan *plan, const int64_t *offset, int64_t runs, int64_t run,
                                                    int64_t leap, int64_t rows)
{
    const int64_t turn = runs * run, turns = sl_turns_of_block(turn, rows), bytes = turns * turn;
    const int lanes = (int)((bytes + 15) / 16);
    plan->turn = turn;
    plan->turns = turns;
    plan->bytes = bytes;
    plan->windows = plan->lanes = 0;
    int64_t begin = INT64_MAX, end = INT64_MIN; /* of what a block reads */
    for (int64_t u = 0; u < runs; ++u) {
        begin = sl_min(begin, offset[u] + sl_min(0, (turns - 1) * leap));
        end = sl_max(end, offset[u] + run + sl_max(0, (turns - 1) * leap));
    }
    if (turns == 0 || end - begin < 16 || lanes > SL_PLAN_WINDOWS)
        return 0;
    int64_t from[SL_PLAN_WINDOWS][SL_LANE_WINDOWS];
    unsigned char index[SL_PLAN_WINDOWS][SL_LANE_WINDOWS][16];
    for (int lane = 0; lane < lanes; ++lane) {
        const int64_t at = sl_min(lane * 16, bytes - 16);
        int64_t source[16], t = at / turn, u = at / run % runs, byte = at % run;
        for (int b = 0; b < 16; ++b) {
            source[b] = offset[u] + t * leap + byte;
            if (++byte == run) {
                byte = 0;
                if (++u == runs) {
                    u = 0;
                    ++t;
                }
            }
        }
        const int windows = sl_plan_lane(source, end, from[lane], index[lane]);
        plan->windows = (int)sl_max(plan->windows, windows > 4 ? windows + (windows & 1) : windows);
        if (plan->windows > SL_LANE_WINDOWS || plan->windows * lanes > SL_PLAN_WINDOWS)
            return 0;
    }
    plan->lanes = lanes;
    for (int lane = 0; lane < lanes; ++lane) {
        memcpy(plan->from + lane * plan->windows, from[lane], (size_t)plan->windows * sizeof *from[lane]);
        memcpy(plan->index + lane * plan->windows, index[lane], (size_t)plan->windows * 16);
    }
    return 1;
}

/* Plans the same where run u begins at u*between, unless *plan* is for that already, or for rows about as long. */
SL_LINKABLE int sl_plan_rows(sl_plan *plan, int64_t runs, int64_t between, int64_t run, int64_t leap,
                                int64_t rows)
{
    rows = sl_min(rows, SL_BLOCK_TURNS);
    if (plan->run == run && plan->runs == runs && plan->between == between && plan->leap == leap &&
        (plan->rows == rows || (plan->lanes > 0 && plan->turns <= rows && rows <= 2 * plan->rows)))
        return plan->lanes > 0;
    plan->run = run;
    plan->runs = runs;
    plan->between = between;
    plan->leap = leap;
    plan->rows = rows;
    plan->lanes = 0;
    int64_t offset[SL_PLAN_WINDOWS];
    for (int64_t u = 0; u < runs && u < SL_PLAN_WINDOWS; ++u)
        offset[u] = u * between;
    if (runs > SL_PLAN_WINDOWS || !sl_plan_turns(plan, offset, runs, run, leap, rows))
        return 0;
    plan->lanes = plan->windows > SL_ROW_WINDOWS ? 0 : plan->lanes;
    return plan->lanes > 0;
}

/* Rows of blocks: *count* rows that begin *to_step* and *step* apart.  Of a row, blocks begin at the multiples of the
 * block's bytes, *jump* apart in the source, and the last one begins at *to_last*, from *last* on. */
typedef struct {
    int64_t count, to_step, step, jump, to_last, last;
} sl_planned_rows;

/* Writes *bytes* bytes of a block: *lanes* lanes of *windows* windows, which begin at *at*, *i* bytes on. */
SL_ALWAYS_INLINE void sl_write_block(unsigned char *restrict to, int64_t bytes, const unsigned char *const *at,
                                     int64_t i, const sl_bytes_16 *index, const int lanes, const int windows)
{
    SL_UNROLL
    for (int lane = 0; lane < lanes; ++lane) {
        sl_bytes_16 v = sl_shuffle_bytes(sl_load_16(at[lane * windows] + i), index[lane * windows]);
        SL_UNROLL
        for (int w = lane * windows + 1; w < (lane + 1) * windows; ++w)
            v |= sl_shuffle_bytes(sl_load_16(at[w] + i), index[w]);
        sl_store_16(lane == lanes - 1 ? to + bytes - 16 : to + 16 * lane, v);
    }
}

/* Writes *lanes* lanes of rows of blocks, from *first* on, of *windows* windows, both literals, whose indices stay in
 * registers. */
SL_ALWAYS_INLINE void sl_write_blocks(const sl_plan *plan, unsigned char *restrict to,
                                      const unsigned char *restrict from, const sl_planned_rows *rows, int first,
                                      const int lanes, const int windows)
{
    sl_bytes_16 index[SL_BLOCK_LANES * SL_ROW_WINDOWS];
    const unsigned char *at[SL_BLOCK_LANES * SL_ROW_WINDOWS];
    const int64_t bytes = plan->bytes, jump = rows->jump, written = sl_min(16 * lanes, bytes - 16 * first);
    SL_UNROLL
    for (int w = 0; w < lanes * windows; ++w) {
        index[w] = sl_load_16(plan->index[first * windows + w]);
        at[w] = from + plan->from[first * windows + w];
    }
    to += 16 * first;
    for (int64_t row = 0; row < rows->count; ++row) {
        const int64_t to_last = row * rows->to_step + rows->to_last, last = row * rows->step + rows->last;
        int64_t o = row * rows->to_step, i = row * rows->step;
        for (; o < to_last; o += bytes, i += jump)
            sl_write_block(to + o, written, at, i, index, lanes, windows);
        sl_write_block(to + to_last, written, at, last, index, lanes, windows);
    }
}

/* Writes one lane of rows of blocks, of two to four windows. */
SL_OUT_OF_LINE void sl_write_one_lane(const sl_plan *plan, unsigned char *restrict to,
                                      const unsigned char *restrict from, const sl_planned_rows *rows, int lane)
{
    if (plan->windows == 2)
        sl_write_blocks(plan, to, from, rows, lane, 1, 2);
    else if (plan->windows == 3)
        sl_write_blocks(plan, to, from, rows, lane, 1, 3);
    else
        sl_write_blocks(plan, to, from, rows, lane, 1, 4);
}

/* Writes lane *lane* of *count* blocks, of *windows* windows, a literal. */
SL_ALWAYS_INLINE void sl_write_lane_of(const sl_plan *plan, unsigned char *restrict to,
                                       const unsigned char *restrict from, int64_t jump, int64_t count, int lane,
                                       const int windows)
{
    sl_bytes_16 index[SL_LANE_WINDOWS];
    const unsigned char *at[SL_LANE_WINDOWS];
    SL_UNROLL
    for (int w = 0; w < windows; ++w) {
        index[w] = sl_load_16(plan->index[lane * windows + w]);
        at[w] = from + plan->from[lane * windows + w];
    }
    const int64_t bytes = plan->bytes; /* kept, whatever a store may write to */
    to += sl_min(16 * lane, bytes - 16);
    for (int64_t block = 0; block < count; ++block, to += bytes)
        sl_write_block(to, 16, at, block * jump, index, 1, windows);
}
SL_OUT_OF_LINE void sl_write_lane(const sl_plan *plan, unsigned char *restrict to, const unsigned char *restrict from,
                                  int64_t jump, int64_t count, int lane)
{
    const sl_planned_rows row = {1, 0, 0, jump, (count - 1) * plan->bytes, (count - 1) * jump};
    if (plan->windows == 1)
        sl_write_lane_of(plan, to, from, jump, count, lane, 1);
    else if (plan->windows <= 4)
        sl_write_one_lane(plan, to, from, &row, lane);
    else if (plan->windows == 6)
        sl_write_lane_of(plan, to, from, jump, count, lane, 6);
    else
        sl_write_lane_of(plan, to, from, jump, count, lane, SL_LANE_WINDOWS);
}

/* Blocks of many lanes are written lane by lane: so many at once that the lines of so many bytes stay in the nearest
 * cache, and no fewer than pay for the indices of a lane. */
#define SL_BYTES_AT_ONCE 4096
#define SL_BLOCKS_AT_ONCE 8

/* Writes rows of blocks of any number of lanes and windows. */
SL_INLINE void sl_write_long_blocks(const sl_plan *plan, unsigned char *restrict to,
                                    const unsigned char *restrict from, const sl_planned_rows *rows)
{
    const int64_t blocks = (rows->to_last + plan->bytes - 1) / plan->bytes; /* without the last */
    const int64_t most = sl_max(SL_BLOCKS_AT_ONCE, SL_BYTES_AT_ONCE / plan->bytes);
    for (int64_t row = 0; row < rows->count; ++row, to += rows->to_step, from += rows->step) {
        for (int64_t first = 0; first < blocks; first += most)
            for (int lane = 0; lane < plan->lanes; ++lane)
                sl_write_lane(plan, to + first * plan->bytes, from + first * rows->jump, rows->jump,
                              sl_min(most, blocks - first), lane);
        for (int lane = 0; lane < plan->lanes; ++lane)
            sl_write_lane(plan, to + rows->to_last, from + rows->last, 0, 1, lane);
    }
}

/* The longest row, in bytes, that is written in two passes: the first-level cache keeps it. */
#define SL_TWICE_BYTES 8192

/* Writes two lanes of three windows, for several callers: each copy takes the compiler 10 ms. */
SL_OUT_OF_LINE void sl_write_two_lanes(const sl_plan *plan, unsigned char *restrict to,
                                       const unsigned char *restrict from, const sl_planned_rows *rows, int first)
{
    sl_write_blocks(plan, to, from, rows, first, 2, 3);
}

/* Writes rows of blocks lane by lane: so many rows at once as the first-level cache keeps. */
SL_INLINE void sl_write_lanes(const sl_plan *plan, unsigned char *restrict to, const unsigned char *restrict from,
                              const sl_planned_rows *rows)
{
    const int64_t most = SL_BYTES_AT_ONCE / (rows->to_last + 16) + 1;
    sl_planned_rows part = *rows;
    for (int64_t first = 0; first < rows->count; first += most) {
        part.count = sl_min(most, rows->count - first);
        for (int lane = 0; lane < plan->lanes; ++lane)
            sl_write_one_lane(plan, to + first * rows->to_step, from + first * rows->step, &part, lane);
    }
}

/* Writes *count* rows of *length* turns, at least those of a block, *leap* apart in the source; the rows begin
 * *to_step* and *step* apart.  The last block of a row overlaps the one before. */
SL_LINKABLE void sl_write_rows(const sl_plan *plan, unsigned char *restrict to, const unsigned char *restrict from,
                                  int64_t leap, int64_t length, int64_t count, int64_t to_step, int64_t step)
{
    const int64_t before = length - plan->turns;
    const sl_planned_rows rows = {count, to_step, step, plan->turns * leap, before * plan->turn, before * leap};
#define SL_WRITE_CASE(l, w)                                                                                          \
    case (l) * 8 + (w):                                                                                              \
        sl_write_blocks(plan, to, from, &rows, 0, l, w);                                                               \
        return;
    switch (plan->lanes * 8 + plan->windows) { /* the usual ones: each takes the compiler 10 ms */
        SL_WRITE_CASE(2, 2)
        SL_WRITE_CASE(3, 2)
        SL_WRITE_CASE(4, 2)
        SL_WRITE_CASE(3, 3)
    case 2 * 8 + 3:
        sl_write_two_lanes(plan, to, from, &rows, 0);
        return;
    case 4 * 8 + 3: /* twelve addresses at once are more than there are registers */
        if (rows.to_last <= SL_TWICE_BYTES) {
            sl_write_two_lanes(plan, to, from, &rows, 0);
            sl_write_two_lanes(plan, to, from, &rows, 2);
        } else
            sl_write_blocks(plan, to, from, &rows, 0, 4, 3);
        return;
    default:
        if (plan->windows >= 2 && plan->windows <= 4 && (plan->lanes == 1 || rows.to_last <= SL_BYTES_AT_ONCE))
            sl_write_lanes(plan, to, from, &rows);
        else
            sl_write_long_blocks(plan, to, from, &rows);
    }
#undef SL_WRITE_CASE
}
#endif
