/* Random splits and joins of 2 to 4 streams, beside an element at a time; the arrays begin at any address, and end
 * where their last element does. */
#include <stdio.h>
#include "symlayout_runtime.h"
#include "drawn.h"

/* *extent* and a gap, or the next multiple of a cache line. */
static int64_t at_least(int64_t extent)
{
    const int64_t line = 64;
    return below(2) ? (extent + line - 1) / line * line : extent + below(2) * below(20);
}

/* Where an array begins: anywhere, or at a multiple of 16 bytes. */
static size_t lead_of(void)
{
    return (size_t)(below(2) ? below(64) : 16 * below(4));
}

static int differs(void)
{
    static const int64_t extents[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 20, 31, 33, 40, 48, 56, 63, 65, 300, 1500};
    const int splits = (int)below(2), reach = (int)below(3), k = 2 + (int)below(3);
    const int64_t length = extents[below(sizeof extents / sizeof *extents)];
    /* Many short rows, at times more than the nearest cache holds. */
    const int64_t most = length > 16 || below(2) ? 4 : below(20) ? 30 : 800;
    const int64_t count = 1 + below(most), high = 1 + below(3);
    /* Of the k streams: one after the other, or side by side in each turn. */
    const int apart = (int)below(2);
    const int64_t gap = below(2) * below(9), run = apart ? length + gap : at_least(length);
    const int64_t step = apart ? run : k * run, leap = count * step, stride = apart ? at_least(high * leap) : run;
    /* Of the row that they make together. */
    const int64_t row = k * length + below(2) * below(9), turned = below(2); /* in the order of h, then of c */
    const int64_t row_step = turned ? high * row : row, row_leap = turned ? row : count * row;
    const int64_t last = (count - 1) * step + (high - 1) * leap + (k - 1) * stride + length;
    const int64_t row_last = (count - 1) * row_step + (high - 1) * row_leap + k * length;
    const size_t to_size = (size_t)(splits ? last : row_last) * sizeof(element), lead = lead_of();
    const size_t from_size = (size_t)(splits ? row_last : last) * sizeof(element), from_lead = lead_of();
    unsigned char *const to_room = malloc(lead + to_size), *const from_room = malloc(from_lead + from_size);
    element *const to = (element *)(void *)(to_room + lead), *const expected = malloc(to_size);
    element *const from = (element *)(void *)(from_room + from_lead);
    memset(to, 0xAA, to_size);
    memset(expected, 0xAA, to_size);
    draw_bytes(from, from_size);
    for (int64_t h = 0; h < high; ++h)
        for (int64_t c = 0; c < count; ++c)
            for (int64_t i = 0; i < k; ++i)
                for (int64_t j = 0; j < length; ++j) {
                    const int64_t in_stream = c * step + h * leap + i * stride + j;
                    const int64_t in_row = c * row_step + h * row_leap + i + j * k;
                    expected[splits ? in_stream : in_row] = from[splits ? in_row : in_stream];
                }
    if (splits)
        (k == 2 ? sl_split_2 : k == 3 ? sl_split_3 : sl_split_4)(to, 0, stride, from, 0, length, count, step, row_step,
                                                                 high, leap, row_leap, reach);
    else
        (k == 2 ? sl_join_2 : k == 3 ? sl_join_3 : sl_join_4)(to, 0, from, 0, stride, length, count, row_step, step,
                                                              high, row_leap, leap, reach);
    sl_store_fence();
    const int differ = memcmp(to, expected, to_size) != 0;
    if (differ)
        printf("%d bytes: %s %d, reach %d, length %d, %d x %d turns, %d apart, at %d\n", (int)sizeof(element),
               splits ? "split" : "join", k, reach, (int)length, (int)high, (int)count, (int)stride,
               (int)((uintptr_t)to % 64));
    free(to_room);
    free(expected);
    free(from_room);
    return differ;
}

int main(void)
{
    for (int64_t i = 0; i < 40000; ++i)
        if (differs())
            return 1;
    return 0;
}
