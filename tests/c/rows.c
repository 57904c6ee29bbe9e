/* The runtime's copies and fills of rows and grids, of any length and at any steps, beside loops over single elements.
 * Each buffer ends where the rows do, so that the sanitizers see what is read or written outside. */
#include <stdio.h>
#include "symlayout_runtime.h"
#include "drawn.h"

static element *elements(int64_t count)
{
    element *const made = malloc((size_t)count * sizeof(element));
    draw_bytes(made, (size_t)count * sizeof(element));
    return made;
}

static element *same(const element *from, int64_t count)
{
    element *const made = malloc((size_t)count * sizeof(element));
    memcpy(made, from, (size_t)count * sizeof(element));
    return made;
}

/* What one statement of a kernel plans stays for its next call, which may be another. */
static sl_plan plan;

/* Rows in turns: side by side in a longer row, one after the other, or apart. */
static int check_grid(void)
{
    const int64_t count = 1 + below(below(2) ? 4 : 30), turns = 1 + below(5), kind = below(3);
    const int64_t high = 1 + below(below(2) ? 2 : 6);
    const int64_t rows = below(below(8) ? 100 : 3), step = below(below(2) ? 4 : 100) - 2;
    const int64_t reach = (rows ? rows - 1 : 0) * (step < 0 ? -step : step) + count;
    const int64_t leap = below(2 * reach) - reach / 2;
    const int64_t gap = kind == 2 ? 1 + below(9) : 0, to_step = kind == 0 ? turns * count : count + gap;
    const int64_t to_leap = kind == 0 ? count : rows * to_step;
    const int64_t grid = reach + (turns - 1) * (leap < 0 ? -leap : leap), jump = below(grid + 9) - 4;
    const int64_t start = (step < 0 && rows ? (rows - 1) * -step : 0) + (leap < 0 ? (turns - 1) * -leap : 0) +
                          (jump < 0 ? (high - 1) * -jump : 0);
    const int64_t read = grid + (high - 1) * (jump < 0 ? -jump : jump);
    const int64_t span = rows ? (rows - 1) * to_step + (turns - 1) * to_leap + count : 0;
    const int64_t to_jump = span + below(2) * below(9);
    const int64_t written = rows ? span + (high - 1) * to_jump : 0;
    element *const from = elements(read), *const to = elements(written), *const wanted = same(to, written);
    for (int64_t h = 0; h < high; ++h)
        for (int64_t t = 0; t < turns; ++t)
            for (int64_t i = 0; i < rows; ++i)
                for (int64_t j = 0; j < count; ++j)
                    wanted[h * to_jump + t * to_leap + i * to_step + j] =
                        from[start + h * jump + t * leap + i * step + j];
    sl_copy_grid(to, 0, to_leap, to_step, from, start, leap, step, turns, rows, count, high, to_jump, jump,
                 (int)below(3), &plan);
    const int equal = memcmp(to, wanted, (size_t)written * sizeof(element)) == 0;
    if (!equal)
        printf("grid %d: count %lld, turns %lld, rows %lld, step %lld, leap %lld\n", (int)kind, (long long)count,
               (long long)turns, (long long)rows, (long long)step, (long long)leap);
    free(from);
    free(to);
    free(wanted);
    return equal;
}

/* Grids that are padded or cropped: dealt out to turns, or joined of them. */
static int check_cut(void)
{
    const int64_t count = 1 + below(below(2) ? 4 : 30), turns = 1 + below(5), rows = below(below(3) ? 9 : 60);
    const int64_t high = below(below(2) ? 3 : 9), joins = below(2), fills = below(2), gap = below(4) ? 0 : below(5);
    const int64_t low = below(turns * rows + 3), inside = below(turns * rows + 3 - low);
    const int64_t before = fills * below(3), after = fills * below(3);
    const int64_t to_leap = joins ? count : rows * count, to_step = joins ? turns * count : count;
    const int64_t leap = joins ? rows * count : count, step = joins ? count : turns * count;
    const int64_t to_jump = turns * rows * count + gap, jump = turns * rows * count;
    /* Of both arrays there is what is inside: elements before and after it are no part of them. */
    int64_t begin = INT64_MAX, end = 0, to_begin = INT64_MAX, to_end = 0;
    for (int64_t h = -before; h < high + after; ++h)
        for (int64_t n = 0; n < turns * rows; ++n) {
            const int64_t i = n % turns, j = n / turns, at = (h + before) * to_jump + i * to_leap + j * to_step;
            const int moved = h >= 0 && h < high && n >= low && n < low + inside;
            const int64_t start = h * jump + i * leap + j * step;
            if (moved || fills) {
                to_begin = at < to_begin ? at : to_begin;
                to_end = at + count > to_end ? at + count : to_end;
            }
            if (moved) {
                begin = start < begin ? start : begin;
                end = start + count > end ? start + count : end;
            }
        }
    if (to_end == 0)
        to_begin = 0;
    if (end == 0)
        begin = 0;
    element *const from = elements(end - begin), *const to = elements(to_end - to_begin);
    element *const wanted = same(to, to_end - to_begin);
    element *const fill = elements(1);
    for (int64_t h = -before; h < high + after; ++h)
        for (int64_t n = 0; n < turns * rows; ++n)
            for (int64_t r = 0; r < count; ++r) {
                const int64_t i = n % turns, j = n / turns;
                const int64_t at = (h + before) * to_jump + i * to_leap + j * to_step + r - to_begin;
                if (h >= 0 && h < high && n >= low && n < low + inside)
                    wanted[at] = from[h * jump + i * leap + j * step + r - begin];
                else if (fills)
                    wanted[at] = *fill;
            }
    sl_cut_grid(to, -to_begin, to_leap, to_step, from, -begin, leap, step, turns, rows, count, low, inside,
                fills ? fill : 0, before, high, after, to_jump, jump, (int)below(3), &plan);
    const int equal = memcmp(to, wanted, (size_t)(to_end - to_begin) * sizeof(element)) == 0;
    if (!equal)
        printf("cut %d: count %lld, turns %lld, rows %lld, high %lld, low %lld, inside %lld\n", (int)joins,
               (long long)count, (long long)turns, (long long)rows, (long long)high, (long long)low, (long long)inside);
    free(from);
    free(to);
    free(wanted);
    free(fill);
    return equal;
}

static int check(int filled)
{
    const int64_t count = 1 + below(below(2) ? 4 : 20), rows = below(below(8) ? 100 : 3);
    const int64_t to_step = count + (below(3) ? 0 : below(12)), step = below(30) - 15;
    const int64_t written = rows ? (rows - 1) * to_step + count : 0;
    const int64_t read = rows ? (rows - 1) * (step < 0 ? -step : step) + count : 0;
    element *const from = elements(read), *const to = elements(written), *const wanted = same(to, written);
    const int64_t start = rows && step < 0 ? (rows - 1) * -step : 0;
    for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < count; ++j)
            wanted[i * to_step + j] = from[filled ? 0 : start + i * step + j];
    if (filled && rows)
        sl_fill_rows(to, 0, to_step, from[0], rows, count);
    else if (rows)
        sl_copy_rows(to, 0, to_step, from, start, step, rows, count, (int)below(3), &plan);
    const int equal = memcmp(to, wanted, (size_t)written * sizeof(element)) == 0;
    if (!equal)
        printf("filled %d: count %lld, rows %lld, to_step %lld, step %lld\n", filled, (long long)count,
               (long long)rows, (long long)to_step, (long long)step);
    free(from);
    free(to);
    free(wanted);
    return equal;
}

int main(void)
{
    sl_no_plan(&plan);
    for (int k = 0; k < 10000; ++k)
        if (!check(k % 4 == 0) || !check_grid() || !check_cut())
            return 1;
    return 0;
}
