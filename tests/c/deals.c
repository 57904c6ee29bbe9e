/* Random rows, planes and images of them dealt out by sl_deal, between others that are fill, beside an element at a
 * time; the arrays end where their last element does. */
#include <stdio.h>
#include "symlayout_runtime.h"
#include "drawn.h"

/* Turns, *before* and *after* them at times some of fill, whose output of *size* elements follows, but for a gap. */
static sl_dealt_turns draw_turns(int64_t count, int64_t size, int64_t gap)
{
    return (sl_dealt_turns){below(3) / 2, count, below(3), size + gap, 0};
}

static int differs(void)
{
    static const int64_t extents[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 21, 31, 32, 33, 63, 64, 65, 100, 129, 300};
    /* Rarely there are no columns, or no rows, planes or images that read the source. */
    const int64_t drawn = extents[below(below(2) ? 8 : sizeof extents / sizeof *extents)];
    const int64_t k = 2 + below(3), columns = below(40) ? drawn : 0;
    /* What is inside of 0 <= n < k*columns, and may be nothing, or reach beyond. */
    const int64_t low = below(4) ? below(2 * k) : below(k * columns + 2) - 1;
    const int64_t inside = below(4) ? sl_max(0, k * columns - low - below(2 * k)) : below(k * columns + 2) - 1;
    const int64_t first = sl_max(low, 0), last = sl_max(first, sl_min(k * columns, low + inside));
    /* Rows, planes and images: of most of them, one; without gaps at times. */
    const int64_t gaps = below(2);
    sl_dealt_turns turns[3];
    int64_t size = columns, span = last - first;
    for (int t = 0; t < 3; ++t) {
        turns[t] = draw_turns(t == 0 || below(3) ? !!below(20) * (1 + below(6)) : 1, size, gaps * below(2) * below(3));
        turns[t].step = span + below(3);
        size = turns[t].to_step * SL_ALL_TURNS(turns[t]);
        span += turns[t].step * sl_max(0, turns[t].count - 1);
    }
    const int64_t to_stride = size;
    const size_t to_size = (size_t)(k * to_stride) * sizeof(element);
    /* Elements beside the rows may be read where the size of the source is known. */
    const int64_t lead = below(2) * below(80), trail = lead ? below(80) : 0, elements = lead + span + trail;
    const size_t from_size = (size_t)elements * sizeof(element);
    const int64_t known = lead || below(2) ? elements : 0;
    element *to = malloc(to_size + !to_size), *expected = malloc(to_size + !to_size);
    element *from = malloc(from_size + !from_size), value;
    memset(&value, 0x55, sizeof value);
    memset(to, 0xAA, to_size);
    memset(expected, 0xAA, to_size);
    draw_bytes(from, from_size);
    int64_t c[3];
    for (c[2] = -turns[2].before; c[2] < turns[2].count + turns[2].after; ++c[2])
        for (c[1] = -turns[1].before; c[1] < turns[1].count + turns[1].after; ++c[1])
            for (c[0] = -turns[0].before; c[0] < turns[0].count + turns[0].after; ++c[0]) {
                int64_t at = 0, start = lead - first;
                int deals = 1;
                for (int t = 0; t < 3; ++t) {
                    at += (c[t] + turns[t].before) * turns[t].to_step;
                    start += c[t] * turns[t].step;
                    deals = deals && c[t] >= 0 && c[t] < turns[t].count;
                }
                for (int64_t i = 0; i < k; ++i)
                    for (int64_t j = 0; j < columns; ++j) {
                        const int64_t n = i + k * j;
                        const int is_dealt = deals && n >= first && n < last;
                        expected[at + i * to_stride + j] = is_dealt ? from[start + n] : value;
                    }
            }
    (k == 2 ? sl_deal_2 : k == 3 ? sl_deal_3 : sl_deal_4)(to, 0, to_stride, from, lead - first, known, columns, low,
                                                          inside, value, turns, (int)below(3));
    const int differ = memcmp(to, expected, to_size) != 0;
    if (differ) {
        printf("%d bytes: k %d, columns %d, low %d, inside %d, lead %d, trail %d", (int)sizeof(element), (int)k,
               (int)columns, (int)low, (int)inside, (int)lead, (int)trail);
        for (int t = 0; t < 3; ++t)
            printf(", %d + %d + %d turns", (int)turns[t].before, (int)turns[t].count, (int)turns[t].after);
        printf("\n");
    }
    free(to);
    free(expected);
    free(from);
    return differ;
}

int main(void)
{
    for (int64_t i = 0; i < 12000; ++i)
        if (differs())
            return 1;
    return 0;
}
