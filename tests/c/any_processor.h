/* As if each call ran on another processor: what the runtime asks of the caches and of stores is drawn anew each time,
 * so that small arrays are moved in all ways.  Included before the runtime. */
#pragma once

#include <stdint.h>

/* 0 or 1. */
static inline int any_bit(void)
{
    static uint32_t state = 1;
    state = state * 1664525u + 1013904223u;
    return (int)(state >> 31);
}

/* The one number, or the other. */
#define ANY_OF(one, other) ((one) + any_bit() * ((other) - (one)))

#define SL_NEAR_BYTES ANY_OF(INT64_C(1), INT64_C(4096))
#define SL_FAR_BYTES ANY_OF(INT64_C(1024), INT64_C(1) << 30)
#define SL_ROWS_OF_PAGES ANY_OF(INT64_C(128), INT64_C(2048))
#define SL_STORES_WAIT any_bit()
#define SL_WAYS (any_bit() ? INT64_C(8) : ANY_OF(INT64_C(0), INT64_C(1000)))
