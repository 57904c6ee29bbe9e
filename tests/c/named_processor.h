/* As if the program ran on the processor that its first argument names: what the runtime asks of the caches and of
 * stores is answered by a table, so that small arrays are moved in all ways.  Included before the runtime. */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* What a processor answers; ASKED where it is the one at hand. */
enum { ASKED = -1 };
typedef struct {
    const char *name;
    int64_t near_bytes, near_least, far_bytes, turn_least, rows_of_pages, ways;
    int stores_wait;
} processor;

static const processor processors[] = {
    {"at_hand", ASKED, 1 << 17, ASKED, 8192, 2048, ASKED, 1},
    /* The arrays are large: lines are fetched, or tiles held back that go past the caches. */
    {"large", 1, 1, 16384, 8192, 128, ASKED, 1},
    /* The same where stores do not wait: fewer tiles are held back. */
    {"prompt", 1, 1, 16384, 8192, 128, ASKED, 0},
    /* The arrays are as large as the second-level cache still holds. */
    {"near", ASKED, 1, 1 << 20, 8192, 2048, ASKED, 1},
    /* All turns together are large, and each alone is small. */
    {"many", 4096, 4096, 1 << 20, 64, 2048, ASKED, 1},
    /* Stores do not wait: strides of whole pages crowd a set of the first-level cache. */
    {"sets", 1, 1, 1 << 20, 8192, 2048, ASKED, 0},
    /* The lines of all tiles fall into one set: they go in panels, or are read whole. */
    {"panels", 1, 1, 1 << 20, 8192, 2048, 0, 0},
    /* A set holds few lines: several lines go abreast, and in blocks where those that are read crowd it. */
    {"crowded", 1, 1, 1 << 20, 8192, 2048, 3, 0},
    /* No lines fall into one set: they are transposed in strips and in blocks. */
    {"strips", 1, 1, 1 << 20, 8192, 2048, 1000, 0},
};

static const processor *named = processors;

#define SL_OR_ASKED(answer, asked) (named->answer == ASKED ? (asked) : named->answer)
#define SL_NEAR_BYTES SL_OR_ASKED(near_bytes, sl_cache_bytes(2) / 2)
#define SL_NEAR_LEAST (named->near_least)
#define SL_FAR_BYTES SL_OR_ASKED(far_bytes, sl_min(INT64_C(24) << 20, sl_cache_bytes(3)))
#define SL_TURN_LEAST (named->turn_least)
#define SL_ROWS_OF_PAGES (named->rows_of_pages)
#define SL_WAYS SL_OR_ASKED(ways, sl_cache_bytes(1) / 4096)
#define SL_STORES_WAIT (named->stores_wait)

/* Takes the processor of this name; returns 0 if there is none. */
static int take_processor(const char *name)
{
    for (size_t k = 0; k < sizeof processors / sizeof *processors; ++k)
        if (strcmp(processors[k].name, name) == 0) {
            named = processors + k;
            return 1;
        }
    fprintf(stderr, "no processor is called %s\n", name);
    return 0;
}
