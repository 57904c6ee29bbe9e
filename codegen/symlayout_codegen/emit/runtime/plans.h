/* Plans: what rows are planned with, and the prototypes of row_plans, which may be compiled apart.
 *
 * Assumes: nothing.
 * Needs: vectors, wanted. */
#pragma once

#include "vectors.h"
#include "wanted.h"

/* Plans are lists of indices. */
#define SL_HAS_ROW_PLANS SL_HAS_INDEXED_SHUFFLES

/* What one statement of a kernel has planned, empty at first.  A block of *turns* turns has *bytes* bytes, at least 16,
 * in *lanes* of 16; the last one may overlap the one before.  A lane is put together from *windows* windows, 16 bytes
 * of the source each; those of lane l have the numbers l*windows to l*windows + windows - 1. */
#define SL_BLOCK_TURNS 16  /* at most */
#define SL_BLOCK_LANES 4   /* more are slower, and are only taken for longer turns */
#define SL_LANE_WINDOWS 8  /* at most */
#define SL_ROW_WINDOWS 4   /* more pay only for elements that lie apart on both sides */
#define SL_PLAN_WINDOWS 64 /* at most, of all lanes */
typedef struct {
    int64_t run, runs, between, leap, rows; /* what it is for: see sl_plan_rows */
    int64_t turn, turns, bytes;             /* turn: the bytes of one */
    int lanes, windows;                     /* lanes: 0 where nothing is planned */
    int64_t from[SL_PLAN_WINDOWS];
    unsigned char index[SL_PLAN_WINDOWS][16];
} sl_plan;

/* An empty plan. */
SL_ALWAYS_INLINE void sl_no_plan(sl_plan *plan)
{
    plan->run = 0;
}

/* Whether plans pay for *rows* rows of *bytes* bytes of runs of *run* bytes: longer runs are moved by whole vectors. */
SL_ALWAYS_INLINE int sl_is_planned(int64_t run, int64_t bytes, int64_t rows)
{
    return run < 16 && bytes >= 32 && bytes * rows >= 128;
}

/* Whether a kernel has row plans, or none that it needs yet. */
#ifndef SL_ROW_PLANS
#define SL_ROW_PLANS 1
#endif
#if SL_HAS_ROW_PLANS && !SL_ROW_PLANS
/* Plans nothing, so that rows are copied in another way. */
SL_INLINE int sl_plan_rows(sl_plan *plan, int64_t runs, int64_t between, int64_t run, int64_t leap, int64_t rows)
{
    (void)plan, (void)runs, (void)between, (void)run, (void)leap, (void)rows;
    sl_want(SL_WANTED_WAYS, SL_ROW_PLANS_WAY);
    return 0;
}
SL_INLINE void sl_write_rows(const sl_plan *plan, unsigned char *restrict to, const unsigned char *restrict from,
                             int64_t leap, int64_t length, int64_t count, int64_t to_step, int64_t step)
{
    (void)plan, (void)to, (void)from, (void)leap, (void)length, (void)count, (void)to_step, (void)step;
}
#elif defined SL_LINKED && SL_HAS_ROW_PLANS
/* Plans rows of turns with any offsets, rows of turns whose runs lie *between* apart, and writes rows by a plan: see
 * row_plans. */
SL_LINKABLE int sl_plan_turns(sl_plan *plan, const int64_t *offset, int64_t runs, int64_t run, int64_t leap,
                              int64_t rows);
SL_LINKABLE int sl_plan_rows(sl_plan *plan, int64_t runs, int64_t between, int64_t run, int64_t leap, int64_t rows);
SL_LINKABLE void sl_write_rows(const sl_plan *plan, unsigned char *restrict to, const unsigned char *restrict from,
                               int64_t leap, int64_t length, int64_t count, int64_t to_step, int64_t step);
#endif
