/* Random numbers, the same in each run, and arrays of them.  Each array ends where its last element does, so that the
 * sanitizers see what is read or written outside.  Included after the runtime. */
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static uint64_t drawn = 88172645463325252u;

/* A number of 64 bits other than 0. */
static uint64_t drawn_word(void)
{
    drawn ^= drawn << 13;
    drawn ^= drawn >> 7;
    drawn ^= drawn << 17;
    return drawn;
}

/* A number from 0 to n - 1. */
static int64_t below(int64_t n)
{
    return (int64_t)(drawn_word() % (uint64_t)n);
}

/* Any bytes, in *bytes* of them from *to* on. */
static void draw_bytes(void *to, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += sizeof(uint64_t)) {
        const uint64_t word = drawn_word();
        memcpy((unsigned char *)to + at, &word, bytes - at < sizeof word ? bytes - at : sizeof word);
    }
}
