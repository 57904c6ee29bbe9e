/* The leaves of the runtime header as functions that a test can call; -DSL_ELEMENT_SIZE=... says for which elements. */
#include "symlayout_runtime.h"

void call_copy(void *to, int64_t at, const void *from, int64_t start, int64_t count)
{
    sl_copy(to, at, from, start, count);
}

void call_copy_rows(void *to, int64_t at, int64_t to_step, const void *from, int64_t start, int64_t step, int64_t rows,
                    int64_t count)
{
    sl_copy_rows(to, at, to_step, from, start, step, rows, count);
}

void call_fill(void *to, int64_t at, const void *value, int64_t count)
{
    sl_fill(to, at, *(const element *)value, count);
}

void call_fill_rows(void *to, int64_t at, int64_t to_step, const void *value, int64_t rows, int64_t count)
{
    sl_fill_rows(to, at, to_step, *(const element *)value, rows, count);
}

void call_split(int64_t k, void *to, int64_t at, int64_t to_stride, const void *from, int64_t start, int64_t columns,
                int64_t count, int64_t to_step, int64_t step)
{
    (k == 2 ? sl_split_2 : k == 3 ? sl_split_3 : sl_split_4)(to, at, to_stride, from, start, columns, count, to_step,
                                                             step);
}

void call_join(int64_t k, void *to, int64_t at, const void *from, int64_t start, int64_t stride, int64_t rows,
               int64_t count, int64_t to_step, int64_t step)
{
    (k == 2 ? sl_join_2 : k == 3 ? sl_join_3 : sl_join_4)(to, at, from, start, stride, rows, count, to_step, step);
}

/* An axis is its count, step, high and leap. */
void call_transpose(void *to, int64_t at, const int64_t rows[4], const void *from, int64_t start,
                    const int64_t columns[4], int64_t count, int64_t to_step, int64_t step)
{
    sl_transpose(to, at, (sl_axis){rows[0], rows[1], rows[2], rows[3]}, from, start,
                 (sl_axis){columns[0], columns[1], columns[2], columns[3]}, count, to_step, step);
}
