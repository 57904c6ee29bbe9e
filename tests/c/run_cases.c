/* Runs a kernel on cases from standard input, and writes the results to standard output.
 *
 * A case is the dims as int64_t, then each source and the fills as a number of bytes and these bytes, then the
 * number of bytes of the output.  Its result is the status of the kernel and the output.  The kernel runs as a
 * whole, and once more in three parts: both write the same, and nothing beside the output.
 *
 * The file is compiled with KERNEL_DIMS and KERNEL_SOURCES, beside one that defines the two functions below. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int32_t whole(const int64_t *dims, const void *const *sources, void *dst, const void *fill);
int32_t part(int64_t number, int64_t parts, const int64_t *dims, const void *const *sources, void *dst,
             const void *fill);

enum { MARGIN = 128, BESIDE = 0xA5, PARTS = 3 };

static void need(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "%s\n", what);
        exit(1);
    }
}

static void *allocated(size_t size)
{
    void *memory = malloc(size + 1);
    need(memory != NULL, "there is no memory");
    return memory;
}

/* The number of bytes, and the bytes, that come next. */
static void *next(int64_t *size)
{
    need(fread(size, sizeof *size, 1, stdin) == 1, "the input ends early");
    char *memory = allocated((size_t)*size);
    need(fread(memory, 1, (size_t)*size, stdin) == (size_t)*size, "the input ends early");
    return memory;
}

static void check_margins(const unsigned char *memory, int64_t size)
{
    for (int k = 0; k < MARGIN; ++k)
        need(memory[k] == BESIDE && memory[MARGIN + size + k] == BESIDE, "the kernel writes beside the output");
}

int main(void)
{
    int64_t dims[KERNEL_DIMS + 1];
    void *sources[KERNEL_SOURCES + 1];
    const void *given[KERNEL_SOURCES + 1];
    while (fread(dims, sizeof *dims, KERNEL_DIMS + 1, stdin) == KERNEL_DIMS + 1) { /* the last is not used */
        int64_t size = 0;
        for (int k = 0; k < KERNEL_SOURCES; ++k)
            given[k] = sources[k] = next(&size);
        void *fill = next(&size);
        need(fread(&size, sizeof size, 1, stdin) == 1, "the input ends early");
        unsigned char *out = allocated((size_t)size + 2 * MARGIN), *again = allocated((size_t)size + 2 * MARGIN);
        memset(out, BESIDE, (size_t)size + 2 * MARGIN);
        memset(again, BESIDE, (size_t)size + 2 * MARGIN);
        const int32_t status = whole(dims, given, out + MARGIN, fill);
        for (int64_t number = 0; number < PARTS; ++number)
            need(part(number, PARTS, dims, given, again + MARGIN, fill) == status, "a part has another status");
        need(memcmp(out, again, (size_t)size + 2 * MARGIN) == 0, "the parts write something else");
        check_margins(out, size);
        fwrite(&status, sizeof status, 1, stdout);
        fwrite(out + MARGIN, 1, (size_t)size, stdout);
        for (int k = 0; k < KERNEL_SOURCES; ++k)
            free(sources[k]);
        free(fill);
        free(out);
        free(again);
    }
    return 0;
}
