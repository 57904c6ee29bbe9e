/* Random transposes by sl_transpose, beside an element at a time; the arrays end where their last element does. */
#include <stdio.h>
#include "symlayout_runtime.h"
#include "drawn.h"

/* An axis of three levels whose indices fill *room* each on the face where it does not run fastest, in either order of
 * the first two. */
static sl_axis axis_of(int64_t count, int64_t high, int64_t top, int64_t room)
{
    const int64_t all = room * count * high;
    return below(2) ? (sl_axis){count, room, high, room * count, top, all}
                    : (sl_axis){count, room * high, high, room, top, all};
}

/* The most indices of an axis. */
enum { MOST = 300 * 5 * 4 };

/* Where each index of an axis begins. */
static void offsets_of(sl_axis axis, int64_t *offsets)
{
    for (int64_t k = 0; k < axis.count * axis.high * axis.top; ++k)
        offsets[k] = k % axis.count * axis.step + k / axis.count % axis.high * axis.leap +
                     k / axis.count / axis.high * axis.jump;
}

/* The most bytes of both arrays: the few that are larger take most of the time, and go the same ways. */
static const size_t LARGEST = 8 << 20;

static int differs(void)
{
    static const int64_t extents[] = {1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 80, 100, 129, 193, 300};
    const int64_t kinds = sizeof extents / sizeof *extents;
    const int64_t tall = extents[below(kinds)], high = below(3) ? 1 : 1 + below(5), top = below(3) ? 1 : 1 + below(4);
    const int64_t wide = extents[below(kinds)], far = below(3) ? 1 : 1 + below(5), last = below(3) ? 1 : 1 + below(4);
    const int64_t height = tall * high * top, width = wide * far * last, kind = below(3);
    const int64_t count = 1 + below(height * width > 150 ? 4 : 400), more = below(3) ? 1 : 1 + below(3);
    /* Turns beside each other in the output (1) or in the source (2), or one after the other. */
    const int64_t page = 4096 / SL_ELEMENT_SIZE, few = width + below(2) * below(20); /* rows that begin in few lines */
    const int64_t to_room = kind == 1 ? width * count : below(5) ? few : (width + page - 1) / page * page;
    const int64_t apart = width <= 300 && below(4) == 0 ? (height + page - 1) / page * page : height + below(2) * below(20);
    const int64_t room = kind == 2 ? height * count : apart;
    const int64_t to_step = kind == 1 ? width : height * to_room, step = kind == 2 ? height : width * room + 3;
    const sl_turns turns = {count, to_step, step, more, height * to_room * count, (width * room + 3) * count};
    sl_axis rows = axis_of(tall, high, top, to_room);
    sl_axis columns = axis_of(wide, far, last, room);
    const int64_t written = (height - 1) * to_room + width, read = (width - 1) * room + height;
    const int64_t to_all = written + (count - 1) * to_step + (more - 1) * turns.to_leap;
    const int64_t all = read + (count - 1) * step + (more - 1) * turns.leap;
    const size_t to_size = (size_t)to_all * sizeof(element), from_size = (size_t)all * sizeof(element);
    if (to_size + from_size > LARGEST)
        return 0;
    element *to = malloc(to_size), *expected = malloc(to_size), *from = malloc(from_size);
    memset(to, 0xAA, to_size);
    memset(expected, 0xAA, to_size);
    draw_bytes(from, from_size);
    int64_t start = 0, at = 0;
    if (below(4) == 0) { /* backwards */
        start = (wide - 1) * columns.step;
        columns.step = -columns.step;
    }
    if (below(4) == 0) {
        at = (tall - 1) * rows.step;
        rows.step = -rows.step;
    }
    static int64_t down[MOST], across[MOST];
    offsets_of(rows, down);
    offsets_of(columns, across);
    for (int64_t m = 0; m < more; ++m)
        for (int64_t c = 0; c < count; ++c)
            for (int64_t i = 0; i < height; ++i)
                for (int64_t j = 0; j < width; ++j)
                    expected[at + m * turns.to_leap + c * to_step + down[i] + j] =
                        from[start + m * turns.leap + c * step + i + across[j]];
    const sl_turns given = below(2) ? turns : (sl_turns){more, turns.to_leap, turns.leap, count, to_step, step};
    sl_transpose(to, at, rows, from, start, columns, given, (int)below(3));
    const int differ = memcmp(to, expected, to_size) != 0;
    if (differ)
        printf("%d bytes: %d times %d x %d x %d rows, %d x %d x %d columns\n", SL_ELEMENT_SIZE, (int)(count * more),
               (int)top, (int)high, (int)tall, (int)last, (int)far, (int)wide);
    free(to);
    free(expected);
    free(from);
    return differ;
}

int main(int count, char **words)
{
#ifdef SL_OR_ASKED
    if (count != 2 || !take_processor(words[1]))
        return 2;
    for (const char *name = words[1]; *name; ++name) /* other cases for each */
        drawn = (drawn ^ (uint64_t)*name) * 1099511628211u;
#else
    (void)count, (void)words;
#endif
    for (int k = 0; k < 1100; ++k)
        if (differs())
            return 1;
    return 0;
}
