/* Copy of many rows of equal length: the way to move a row is chosen once for all of them.
 *
 * Assumes: output and source do not overlap.  Offsets and counts are in elements; a count <= 0 copies nothing.
 * Needs: copy, far_stores, row_plans, short_rows. */
#pragma once

#include "copy.h"
#include "far_stores.h"
#include "row_plans.h"
#include "short_rows.h"

/* Copies *rows* rows of *bytes* bytes, half <= bytes <= 2*half, each as its first and last *half*, a literal. */
SL_ALWAYS_INLINE void sl_copy_rows_by(element *restrict to, int64_t to_step, const element *restrict from,
                                      int64_t step, int64_t rows, size_t bytes, const size_t half)
{
    for (int64_t i = 0; i < rows; ++i)
        sl_copy_overlapping_ends((unsigned char *)(to + i * to_step), (const unsigned char *)(from + i * step), bytes,
                                 half);
}

/* Copies *bytes* >= 64 bytes: whole cache lines by non-temporal stores. */
SL_OUT_OF_LINE void sl_copy_nontemporal(unsigned char *restrict to, const unsigned char *restrict from, int64_t bytes)
{
    int64_t k = sl_bytes_to_line(to); /* no line is written both ways */
    memcpy(to, from, (size_t)k);
    for (; k + 64 <= bytes; k += 64)
        for (int64_t j = k; j < k + 64; j += SL_VECTOR_BYTES)
            sl_store_far_max(to + j, sl_load_max(from + j));
    memcpy(to + k, from + k, (size_t)(bytes - k));
}

/* to[at + i*to_step + j] = from[start + i*step + j] for 0 <= i < rows, 0 <= j < count.  Long rows of a *far* output
 * are written by non-temporal stores.  *plan* is the statement's own. */
SL_OUT_OF_LINE void sl_copy_rows(element *restrict to, int64_t at, int64_t to_step, const element *restrict from,
                                 int64_t start, int64_t step, int64_t rows, int64_t count, int far, sl_plan *plan)
{
    if (rows <= 0 || count <= 0)
        return;
    to += at;
    from += start;
    const size_t bytes = (size_t)count * sizeof(element);
#if SL_PERMUTE_BYTES
    /* The compiler vectorises the loops below for steps -1 and 2; for a few rows, computing the indices takes longer
     * than the copy. */
    if (bytes <= SL_SHORT_ROW_BYTES && rows >= SL_PERMUTE_BYTES &&
        (count > 1 || to_step > 1 || (step != -1 && step != 2))) {
        const int64_t done =
            sl_copy_short((unsigned char *)to, to_step * (int64_t)sizeof(element), (const unsigned char *)from,
                          step * (int64_t)sizeof(element), rows, (int64_t)bytes);
        to += done * to_step;
        from += done * step;
        rows -= done;
    }
#endif
#if SL_HAS_ROW_PLANS
    const int64_t run = (int64_t)bytes, leap = step * (int64_t)sizeof(element);
    if (to_step == count && sl_is_planned(run, rows * run) && (count > 1 || (step != -1 && step != 2)) &&
        sl_plan_rows(plan, 1, 0, run, leap, rows)) {
        sl_write_rows(plan, (unsigned char *)to, (const unsigned char *)from, leap, rows, 1, 0, 0);
        return;
    }
#else
    (void)plan;
#endif
    if (count == 1 && to_step == 1 && step == -1)
        for (int64_t i = 0; i < rows; ++i)
            to[i] = from[-i];
    else if (count == 1 && to_step == 1 && step == 2)
        for (int64_t i = 0; i < rows; ++i)
            to[i] = from[2 * i];
    else if (count == 1)
        for (int64_t i = 0; i < rows; ++i)
            to[i * to_step] = from[i * step];
    else if (far && bytes >= 512)
        for (int64_t i = 0; i < rows; ++i)
            sl_copy_nontemporal((unsigned char *)(to + i * to_step), (const unsigned char *)(from + i * step),
                                (int64_t)bytes);
    else if (bytes > SL_LIBRARY_COPY_BYTES)
        for (int64_t i = 0; i < rows; ++i)
            memcpy(to + i * to_step, from + i * step, bytes);
    else if (bytes > 64)
        for (int64_t i = 0; i < rows; ++i)
            sl_copy_blocks((unsigned char *)(to + i * to_step), (const unsigned char *)(from + i * step),
                           (int64_t)bytes);
    else if (bytes == 64)
        sl_copy_rows_by(to, to_step, from, step, rows, 64, 64);
    else if (bytes == 32)
        sl_copy_rows_by(to, to_step, from, step, rows, 32, 32);
    else if (bytes == 16)
        sl_copy_rows_by(to, to_step, from, step, rows, 16, 16);
#if SL_HAS_BYTE_MASKS
    else if (bytes > 32)
        sl_masked_copy_rows_max(to, to_step, from, step, rows, sl_first_bytes((int64_t)bytes));
    else if (bytes > 16)
        sl_masked_copy_rows_32(to, to_step, from, step, rows, sl_first_bytes((int64_t)bytes));
    else
        sl_masked_copy_rows_16(to, to_step, from, step, rows, sl_first_bytes((int64_t)bytes));
#else
    else if (bytes > 32)
        sl_copy_rows_by(to, to_step, from, step, rows, bytes, 32);
    else if (bytes > 16)
        sl_copy_rows_by(to, to_step, from, step, rows, bytes, 16);
    else if (bytes >= 8)
        sl_copy_rows_by(to, to_step, from, step, rows, bytes, 8);
    else if (bytes >= 4)
        sl_copy_rows_by(to, to_step, from, step, rows, bytes, 4);
    else
        sl_copy_rows_by(to, to_step, from, step, rows, bytes, 2);
#endif
}

/* to[at + t*to_leap + i*to_step + j] = from[start + t*leap + i*step + j] for 0 <= t < turns, 0 <= i < rows, 0 <= j <
 * count.  The longer loop is the inner one where the other is as short as a margin. */
SL_OUT_OF_LINE void sl_copy_grid(element *restrict to, int64_t at, int64_t to_leap, int64_t to_step,
                                 const element *restrict from, int64_t start, int64_t leap, int64_t step,
                                 int64_t turns, int64_t rows, int64_t count, int far, sl_plan *plan)
{
    if (turns <= 0 || rows <= 0 || count <= 0)
        return;
#if SL_HAS_ROW_PLANS
    const int64_t size = sizeof(element), run = count * size;
    unsigned char *const into = (unsigned char *)(to + at);
    const unsigned char *const out_of = (const unsigned char *)(from + start);
    if (to_leap == count && to_step == turns * count) { /* turns are side by side in a row */
        if (sl_is_planned(run, rows * turns * run) && sl_plan_rows(plan, turns, leap * size, run, step * size, rows)) {
            sl_write_rows(plan, into, out_of, step * size, rows, 1, 0, 0);
            return;
        }
    } else if (to_step == count && sl_is_planned(run, rows * run) && sl_plan_rows(plan, 1, 0, run, step * size, rows)) {
        sl_write_rows(plan, into, out_of, step * size, rows, turns, to_leap * size, leap * size);
        return;
    }
#endif
    if (rows < 8 && rows < turns)
        for (int64_t i = 0; i < rows; ++i)
            sl_copy_rows(to, at + i * to_step, to_leap, from, start + i * step, leap, turns, count, far, plan);
    else
        for (int64_t t = 0; t < turns; ++t)
            sl_copy_rows(to, at + t * to_leap, to_step, from, start + t * leap, step, rows, count, far, plan);
}
