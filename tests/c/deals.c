/* Random rows dealt out by sl_deal, between rows of fill, beside an element at a time; the arrays end where their last
 * element does. */
#include <stdio.h>
#include "symlayout_runtime.h"
#include "drawn.h"

static int differs(void)
{
    static const int64_t extents[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 21, 31, 32, 33, 63, 64, 65, 100, 129, 300};
    const int64_t k = 2 + below(3), columns = extents[below(sizeof extents / sizeof *extents)], count = 1 + below(6);
    /* What is inside of 0 <= n < k*columns, and may be nothing, or reach beyond. */
    const int64_t low = below(4) ? below(2 * k) : below(k * columns + 2) - 1;
    const int64_t inside = below(4) ? sl_max(0, k * columns - low - below(2 * k)) : below(k * columns + 2) - 1;
    const int64_t before = below(3) / 2, after = below(3), rows = before + count + after;
    const int64_t gap = below(2) * below(3), to_step = columns + gap, to_stride = rows * to_step;
    const int64_t first = sl_max(low, 0), last = sl_max(first, sl_min(k * columns, low + inside));
    const int64_t step = last - first + below(3);
    const size_t to_size = (size_t)(k * to_stride) * sizeof(element);
    /* Elements beside the rows may be read where the size of the source is known. */
    const int64_t lead = below(2) * below(80), trail = lead ? below(80) : 0;
    const int64_t elements = lead + (count - 1) * step + last - first + trail;
    const size_t from_size = (size_t)elements * sizeof(element);
    element *to = malloc(to_size), *expected = malloc(to_size), *from = malloc(from_size + !from_size), value;
    memset(&value, 0x55, sizeof value);
    memset(to, 0xAA, to_size);
    memset(expected, 0xAA, to_size);
    draw_bytes(from, from_size);
    for (int64_t r = 0; r < rows; ++r)
        for (int64_t i = 0; i < k; ++i)
            for (int64_t j = 0; j < columns; ++j) {
                const int64_t n = i + k * j, c = r - before;
                const int is_dealt = c >= 0 && c < count && n >= first && n < last;
                expected[r * to_step + i * to_stride + j] = is_dealt ? from[lead + c * step + n - first] : value;
            }
    (k == 2 ? sl_deal_2 : k == 3 ? sl_deal_3 : sl_deal_4)(
        to, 0, to_stride, from, lead - first, lead ? elements : 0, columns, low, inside, value, before, count, after,
        to_step, step, (int)below(3));
    const int differ = memcmp(to, expected, to_size) != 0;
    if (differ)
        printf("%d bytes: k %d, columns %d, low %d, inside %d, rows %d + %d + %d, gap %d, lead %d, trail %d\n",
               (int)sizeof(element), (int)k, (int)columns, (int)low, (int)inside, (int)before, (int)count, (int)after,
               (int)gap, (int)lead, (int)trail);
    free(to);
    free(expected);
    free(from);
    return differ;
}

int main(void)
{
    for (int64_t i = 0; i < 40000; ++i)
        if (differs())
            return 1;
    return 0;
}
