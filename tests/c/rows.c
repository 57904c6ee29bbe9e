/* The runtime's copies and fills of rows, of any length and at any steps, beside loops over single elements.  Each
 * buffer ends where the rows do, so that the sanitizers see what is read or written outside. */
#include <stdio.h>
#include <stdlib.h>
#include "symlayout_runtime.h"

static uint64_t state = 12345;

static int64_t below(int64_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((state >> 33) % (uint64_t)n);
}

static element *elements(int64_t count)
{
    element *const made = malloc((size_t)count * sizeof(element));
    for (int64_t i = 0; i < count * (int64_t)sizeof(element); ++i)
        ((unsigned char *)made)[i] = (unsigned char)below(256);
    return made;
}

static element *same(const element *from, int64_t count)
{
    element *const made = malloc((size_t)count * sizeof(element));
    memcpy(made, from, (size_t)count * sizeof(element));
    return made;
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
        sl_copy_rows(to, 0, to_step, from, start, step, rows, count, (int)below(2));
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
    for (int k = 0; k < 10000; ++k)
        if (!check(k % 4 == 0))
            return 1;
    return 0;
}
