/* Accumulate: elements of the source are added to those of the output.  Empty without SL_NUMBER.
 *
 * Assumes: output and source do not overlap.
 * Needs: integers. */
#pragma once

#include "integers.h"

#ifdef SL_NUMBER
/* to[at + i] += from[start + i] for 0 <= i < count. */
SL_INLINE void sl_accumulate(element *restrict to, int64_t at, const element *restrict from, int64_t start,
                             int64_t count)
{
    for (int64_t i = 0; i < count; ++i)
        to[at + i] = (element)(to[at + i] + from[start + i]);
}

/* How many sums are computed side by side, and how many rows of one column at a time. */
#define SL_SUMS_ABREAST 8
#define SL_SUM_BLOCK_ROWS 1024

/* to[i + j] += from[i*step + j*each] for 0 <= i < rows, 0 <= j < columns, where begin <= i + j < end. */
SL_INLINE void sl_accumulate_sums(element *restrict to, const element *restrict from, int64_t step, int64_t each,
                                  int64_t rows, int64_t columns, int64_t begin, int64_t end)
{
    for (int64_t k = begin; k < end; ++k) {
        element sum = to[k];
        for (int64_t j = sl_min(k, columns - 1); j > k - rows && j >= 0; --j)
            sum = (element)(sum + from[(k - j) * step + j * each]);
        to[k] = sum;
    }
}

/* The same for all i + j.  Runs overlap, each one element on from the run before: each sum is made at once. */
SL_OUT_OF_LINE void sl_accumulate_overlapping(element *restrict to, const element *restrict from, int64_t step,
                                              int64_t each, int64_t rows, int64_t columns)
{
    int64_t done = sl_min(columns - 1, rows);
    sl_accumulate_sums(to, from, step, each, rows, columns, 0, done);
    if (columns == 3) {
        const int64_t back = each - step;
        for (; done < rows; ++done) {
            const element *const last = from + done * step;
            const element first = (element)(to[done] + last[2 * back]);
            to[done] = (element)((element)(first + last[back]) + last[0]);
        }
    }
    sl_accumulate_sums(to, from, step, each, rows, columns, done, rows + columns - 1);
}

/* to[at + i*to_step + j*to_each] += from[start + i*step + j*each] for 0 <= i < rows, 0 <= j < columns.  Each element
 * of the output is added to in the order of i, then j: the result of a float sum depends on nothing else. */
SL_OUT_OF_LINE void sl_accumulate_rows(element *restrict to, int64_t at, int64_t to_step, int64_t to_each,
                                       const element *restrict from, int64_t start, int64_t step, int64_t each,
                                       int64_t rows, int64_t columns)
{
    int64_t i = 0;
    to += at;
    from += start;
    if (to_each == 1 && to_step == 1 && 1 < columns && columns < rows) {
        sl_accumulate_overlapping(to, from, step, each, rows, columns);
        i = rows;
    } else if (to_each == 0 && to_step != 0) /* a row is one sum: several sums abreast, each in order */
        for (; i + SL_SUMS_ABREAST <= rows; i += SL_SUMS_ABREAST) {
            element sum[SL_SUMS_ABREAST];
            for (int64_t k = 0; k < SL_SUMS_ABREAST; ++k)
                sum[k] = to[(i + k) * to_step];
            for (int64_t j = 0; j < columns; ++j)
                for (int64_t k = 0; k < SL_SUMS_ABREAST; ++k)
                    sum[k] = (element)(sum[k] + from[(i + k) * step + j * each]);
            for (int64_t k = 0; k < SL_SUMS_ABREAST; ++k)
                to[(i + k) * to_step] = sum[k];
        }
    else if (to_each > 0 && to_step > 0 && columns < rows) /* greater i, smaller j: last column first */
        for (; i < rows; i += SL_SUM_BLOCK_ROWS)
            for (int64_t j = columns - 1; j >= 0; --j)
                for (int64_t k = i; k < sl_min(rows, i + SL_SUM_BLOCK_ROWS); ++k)
                    to[k * to_step + j * to_each] =
                        (element)(to[k * to_step + j * to_each] + from[k * step + j * each]);
    for (; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j)
            to[i * to_step + j * to_each] = (element)(to[i * to_step + j * to_each] + from[i * step + j * each]);
}
#endif
