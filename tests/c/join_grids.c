/* Random grids of joined rows, cut and repeated, beside an element at a time; the arrays begin at any address, and end
 * where their last element does. */
#include <stdio.h>
#include "symlayout_runtime.h"
#include "drawn.h"

static int differs(void)
{
    static const int64_t extents[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 15, 16, 17, 20, 23, 31, 32, 33, 40, 63, 65, 300};
    const int reach = (int)below(3), k = 2 + (int)below(3);
    const int64_t length = extents[below(sizeof extents / sizeof *extents)], turns = 1 + below(4);
    const int64_t blocks = 1 + below(length > 40 ? 4 : 20), gap = below(2) * below(5);
    /* The rows of a stream follow each other; the turns and the streams lie inside or outside of them. */
    const int64_t step = length + gap, plane = blocks * step + below(2) * below(40);
    const int turns_outside = (int)below(2);
    const int64_t stride = turns_outside ? plane : turns * plane, leap = turns_outside ? k * plane : plane;
    const int64_t low = below(below(2) ? 3 : k * length), first = below(below(2) ? 3 : turns * blocks);
    if (low >= k * length || first >= turns * blocks)
        return 0;
    const int64_t columns = k * length - low - (below(2) ? 0 : below(k * length - low));
    const int64_t rows = turns * blocks - first - (below(2) ? 0 : below(turns * blocks - first));
    const int64_t start = below(2) * below(30), grid = rows * columns;
    /* Grids follow each other in the output, or have gaps between them. */
    sl_join_loop loops[2] = {{1 + below(2) * below(4), grid + below(2) * below(3), 0},
                             {1 + below(2) * below(3), 0, below(2) * below(7)}};
    loops[0].step = below(2) ? blocks * step : below(9);
    loops[1].to_step = loops[0].count * loops[0].to_step + below(2) * below(5);
    const int64_t last = start + (turns - 1) * leap + (blocks - 1) * step + (k - 1) * stride + length +
                         (loops[0].count - 1) * loops[0].step + (loops[1].count - 1) * loops[1].step;
    const int64_t written = (loops[0].count - 1) * loops[0].to_step + (loops[1].count - 1) * loops[1].to_step + grid;
    const size_t to_size = (size_t)written * sizeof(element), lead = (size_t)below(64);
    const size_t from_size = (size_t)last * sizeof(element), from_lead = (size_t)below(64);
    unsigned char *const to_room = malloc(lead + to_size), *const from_room = malloc(from_lead + from_size);
    element *const to = (element *)(void *)(to_room + lead), *const expected = malloc(to_size);
    element *const from = (element *)(void *)(from_room + from_lead);
    memset(to, 0xAA, to_size);
    memset(expected, 0xAA, to_size);
    draw_bytes(from, from_size);
    for (int64_t i = 0; i < loops[0].count * loops[1].count * grid; ++i) {
        const int64_t c = i / grid % loops[0].count, h = i / grid / loops[0].count;
        const int64_t p = first + i % grid / columns, q = low + i % columns;
        const int64_t at = start + p % turns * leap + p / turns * step + q % k * stride + q / k;
        expected[c * loops[0].to_step + h * loops[1].to_step + i % grid] =
            from[at + c * loops[0].step + h * loops[1].step];
    }
    (k == 2 ? sl_join_grid_2 : k == 3 ? sl_join_grid_3 : sl_join_grid_4)(
        to, 0, from, start, below(8) ? last : 0, stride, low, columns, first, rows, turns, leap, step, loops,
        reach);
    sl_store_fence();
    const int differ = memcmp(to, expected, to_size) != 0;
    if (differ)
        printf("%d bytes: %d streams of %d, %d x %d rows, columns %d + %d, rows %d + %d, %d x %d, reach %d, at %d\n",
               (int)sizeof(element), k, (int)length, (int)turns, (int)blocks, (int)low, (int)columns, (int)first,
               (int)rows, (int)loops[0].count, (int)loops[1].count, reach, (int)((uintptr_t)to % 64));
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
