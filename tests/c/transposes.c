/* Random transposes by sl_transpose, beside an element at a time; the arrays end where their last element does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "symlayout_runtime.h"

static uint64_t state = 88172645463325252u;

/* A number from 0 to n - 1. */
static int64_t below(int64_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (int64_t)(state % (uint64_t)n);
}

/* An axis whose indices fill *room* each on the face where it does not run fastest; its parts in either order. */
static sl_axis axis_of(int64_t count, int64_t high, int64_t room)
{
    return high == 1 || below(2) ? (sl_axis){count, room, high, room * count} : (sl_axis){count, room * high, high, room};
}

static int64_t offset_of(sl_axis axis, int64_t k)
{
    return k % axis.count * axis.step + k / axis.count * axis.leap;
}

static int differs(void)
{
    static const int64_t extents[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 80, 100, 129, 300};
    const int64_t kinds = sizeof extents / sizeof *extents;
    const int64_t tall = extents[below(kinds)], high = below(3) ? 1 : 1 + below(5);
    const int64_t wide = extents[below(kinds)], far = below(3) ? 1 : 1 + below(5);
    const int64_t height = tall * high, width = wide * far, count = 1 + below(4), kind = below(3);
    /* Turns beside each other in the output (1) or in the source (2), or one after the other. */
    const int64_t to_room = kind == 1 ? width * count : width + below(2) * below(20);
    const int64_t room = kind == 2 ? height * count : height + below(2) * below(20);
    const int64_t written = (height - 1) * to_room + width, read = (width - 1) * room + height;
    const int64_t to_step = kind == 1 ? width : written + 1, step = kind == 2 ? height : read + 3;
    const sl_axis rows = axis_of(tall, high, to_room);
    sl_axis columns = axis_of(wide, far, room);
    const size_t to_size = (size_t)(written + (count - 1) * to_step) * sizeof(element);
    const size_t from_size = (size_t)(read + (count - 1) * step) * sizeof(element);
    element *to = malloc(to_size), *expected = malloc(to_size), *from = malloc(from_size);
    memset(to, 0xAA, to_size);
    memset(expected, 0xAA, to_size);
    for (size_t k = 0; k < from_size; ++k)
        ((unsigned char *)from)[k] = (unsigned char)below(256);
    int64_t start = 0;
    if (below(4) == 0) { /* backwards */
        start = (wide - 1) * columns.step;
        columns.step = -columns.step;
    }
    for (int64_t c = 0; c < count; ++c)
        for (int64_t i = 0; i < height; ++i)
            for (int64_t j = 0; j < width; ++j)
                expected[c * to_step + offset_of(rows, i) + j] = from[start + c * step + i + offset_of(columns, j)];
    sl_transpose(to, 0, rows, from, start, columns, count, to_step, step);
    const int differ = memcmp(to, expected, to_size) != 0;
    if (differ)
        printf("%d bytes: %d times %d x %d rows, %d x %d columns\n", SL_ELEMENT_SIZE, (int)count, (int)high, (int)tall,
               (int)far, (int)wide);
    free(to);
    free(expected);
    free(from);
    return differ;
}

int main(void)
{
    for (int k = 0; k < 1000; ++k)
        if (differs())
            return 1;
    return 0;
}
