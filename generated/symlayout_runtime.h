/* What generated kernels call.  Define SL_ELEMENT_SIZE, the bytes of an element, before including; and
 * SL_NUMBER, a type of that size, where elements add up. */
#ifndef SYMLAYOUT_RUNTIME_H
#define SYMLAYOUT_RUNTIME_H

#include <stdint.h>
#include <string.h>

#define SL_INLINE static inline __attribute__((unused))
/* One of each: gcc's copies for arguments that are constants gain nothing and take a fifth of the time to compile. */
#ifdef __clang__
#define SL_APART static __attribute__((noinline, unused))
#else
#define SL_APART static __attribute__((noinline, noclone, unused))
#endif
#define SL_ALWAYS static inline __attribute__((always_inline, unused))
/* Before a loop over vectors that should stay in registers. */
#ifdef __clang__
#define SL_UNROLLED _Pragma("unroll")
#else
#define SL_UNROLLED _Pragma("GCC unroll 16")
#endif

/* Whether vectors of elements can be shuffled: gcc 12 and later, clang. */
#define SL_SHUFFLES 0
#ifdef __has_builtin
#if __has_builtin(__builtin_shufflevector)
#undef SL_SHUFFLES
#define SL_SHUFFLES \
    (SL_ELEMENT_SIZE == 1 || SL_ELEMENT_SIZE == 2 || SL_ELEMENT_SIZE == 4 || SL_ELEMENT_SIZE == 8)
#endif
#endif

/* The bytes of the widest vector that the processor shuffles at once. */
#ifdef __AVX512BW__
#define SL_WIDE 64
#elif defined __AVX2__
#define SL_WIDE 32
#else
#define SL_WIDE 16
#endif

/* Whether a vector's first bytes can be read and written alone. */
#if defined __AVX512BW__ && defined __AVX512VL__ && defined __BMI2__
#define SL_MASKS 1
#else
#define SL_MASKS 0
#endif

/* An element moves as bytes: no alignment is asked for, and it may alias any type. */
#ifdef SL_NUMBER
__extension__ typedef SL_NUMBER __attribute__((may_alias, aligned(1))) element;
_Static_assert(sizeof(element) == SL_ELEMENT_SIZE, "SL_NUMBER has not SL_ELEMENT_SIZE bytes");
#elif SL_ELEMENT_SIZE == 1
typedef uint8_t element;
#elif SL_ELEMENT_SIZE == 2
typedef uint16_t __attribute__((may_alias, aligned(1))) element;
#elif SL_ELEMENT_SIZE == 4
typedef uint32_t __attribute__((may_alias, aligned(1))) element;
#elif SL_ELEMENT_SIZE == 8
typedef uint64_t __attribute__((may_alias, aligned(1))) element;
#else
typedef struct __attribute__((may_alias)) {
    unsigned char bytes[SL_ELEMENT_SIZE];
} element;
#endif

/* ---- integers: arguments are whatever the caller passed, so these are checked ---- */

/* a + b; sets *overflow where it is not an int64. */
SL_INLINE int64_t sl_add(int64_t a, int64_t b, int *overflow)
{
    int64_t sum;
    *overflow |= __builtin_add_overflow(a, b, &sum);
    return sum;
}

/* a * b; sets *overflow where it is not an int64. */
SL_INLINE int64_t sl_mul(int64_t a, int64_t b, int *overflow)
{
    int64_t product;
    *overflow |= __builtin_mul_overflow(a, b, &product);
    return product;
}

/* ---- integers: inside the loops, where every value is in range ---- */

/* floor(a / b) as in Python.  Requires b > 0.  What is carried from digit to digit is 0 most of the time: to compare
 * is to divide then, but for a tenth of the time. */
SL_INLINE int64_t sl_floor_div(int64_t a, int64_t b)
{
    if (!__builtin_constant_p(b) && (uint64_t)a < (uint64_t)b)
        return 0;
    return a / b - (a % b < 0);
}

/* a - b * floor(a / b) as in Python.  Requires b > 0. */
SL_INLINE int64_t sl_floor_mod(int64_t a, int64_t b)
{
    const int64_t r = a % b;
    return r < 0 ? r + b : r;
}

/* floor(a / b); sets *overflow where b is not positive. */
SL_INLINE int64_t sl_checked_floor_div(int64_t a, int64_t b, int *overflow)
{
    *overflow |= b <= 0;
    return sl_floor_div(a, b > 0 ? b : 1);
}

/* a - b * floor(a / b); sets *overflow where b is not positive. */
SL_INLINE int64_t sl_checked_floor_mod(int64_t a, int64_t b, int *overflow)
{
    *overflow |= b <= 0;
    return sl_floor_mod(a, b > 0 ? b : 1);
}

SL_INLINE int64_t sl_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

SL_INLINE int64_t sl_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The d of 0 <= d < count with 0 <= base + step*d < extent are *first <= d < *last; step may have
 * any sign.  0 <= *first <= *last <= max(count, 0). */
SL_INLINE void sl_interval(int64_t base, int64_t step, int64_t extent, int64_t count, int64_t *first,
                           int64_t *last)
{
    int64_t from, end;
    if (step > 0) {
        from = -sl_floor_div(base, step);
        end = -sl_floor_div(base - extent, step);
    } else if (step < 0) {
        from = sl_floor_div(base - extent, -step) + 1;
        end = sl_floor_div(base, -step) + 1;
    } else {
        from = 0;
        end = base >= 0 && base < extent ? count : 0;
    }
    *first = sl_max(0, sl_min(from, count));
    *last = sl_max(*first, sl_min(end, count));
}

/* ---- shares: several calls do a kernel's work, each a part of it ---- */

/* Number *part* of *parts* parts of what is still to be shared out, 0 <= part < parts. */
typedef struct {
    int64_t part, parts;
} sl_part;

/* The steps of a loop that are the part's: *begin <= d < *end, of 0 <= d < extent. */
SL_APART void sl_share_last(const sl_part *left, int64_t extent, int64_t *begin, int64_t *end)
{
    *begin = 0;
    *end = extent;
    if (left->parts > 1) {
        const int64_t each = extent / left->parts, more = extent % left->parts;
        *begin = each * left->part + sl_min(left->part, more);
        *end = *begin + each + (left->part < more);
    }
}

/* The same where loops inside this one are shared too: with more parts than steps, several parts have a step
 * together, and *left becomes what they share of its inside. */
SL_APART void sl_share(sl_part *left, int64_t extent, int64_t *begin, int64_t *end)
{
    if (left->parts == 1) {
        sl_share_last(left, extent, begin, end);
        return;
    }
    const int64_t together = sl_max(left->parts / sl_max(extent, 1), 1);
    const sl_part outer = {left->part / together, (left->parts + together - 1) / together};
    sl_share_last(&outer, extent, begin, end);
    left->part -= outer.part * together;
    left->parts = sl_min(together, left->parts - outer.part * together);
}

/* ---- parts of vectors ---- */

#if SL_SHUFFLES
/* An element as a number: what vectors are of. */
#if SL_ELEMENT_SIZE == 1
typedef uint8_t sl_unit;
#elif SL_ELEMENT_SIZE == 2
typedef uint16_t sl_unit;
#elif SL_ELEMENT_SIZE == 4
typedef uint32_t sl_unit;
#else
typedef uint64_t sl_unit;
#endif
typedef sl_unit sl_vector __attribute__((vector_size(16)));
typedef sl_unit sl_half __attribute__((vector_size(32)));
typedef sl_unit sl_wide __attribute__((vector_size(SL_WIDE)));
#endif

#if SL_MASKS
/* A mask of the first *bytes*, 0 <= bytes. */
SL_ALWAYS uint64_t sl_first(int64_t bytes)
{
    return bytes >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << bytes) - 1;
}

/* Vectors of so many bytes, those under the mask read from memory, the others 0; and those alone written.  The
 * smallest that holds what moves is best: one that touches two lines takes twice the time, masked or not. */
#define SL_MASKED(bytes, bits, mask_type)                                                                      \
    typedef char sl_bytes_##bytes __attribute__((vector_size(bytes)));                                         \
    SL_ALWAYS sl_bytes_##bytes sl_load_##bytes(const void *from, uint64_t mask)                                \
    {                                                                                                          \
        return __builtin_ia32_loaddquqi##bits##_mask(from, (sl_bytes_##bytes){0}, (mask_type)mask);            \
    }                                                                                                          \
    SL_ALWAYS sl_bytes_##bytes sl_merge_##bytes(sl_bytes_##bytes others, const void *from, uint64_t mask)      \
    {                                                                                                          \
        return __builtin_ia32_loaddquqi##bits##_mask(from, others, (mask_type)mask);                           \
    }                                                                                                          \
    SL_ALWAYS void sl_store_##bytes(void *to, sl_bytes_##bytes v, uint64_t mask)                               \
    {                                                                                                          \
        __builtin_ia32_storedquqi##bits##_mask(to, v, (mask_type)mask);                                        \
    }                                                                                                          \
    SL_ALWAYS void sl_copy_rows_##bytes(element *restrict to, int64_t to_step, const element *restrict from,   \
                                        int64_t step, int64_t rows, uint64_t mask)                             \
    {                                                                                                          \
        for (int64_t i = 0; i < rows; ++i)                                                                     \
            sl_store_##bytes(to + i * to_step, sl_load_##bytes(from + i * step, mask), mask);                  \
    }
SL_MASKED(16, 128, uint16_t)
SL_MASKED(32, 256, uint32_t)
SL_MASKED(64, 512, uint64_t)
#endif

/* ---- lines: those of an output that no cache holds are written past the caches ---- */

/* From so many bytes of output on: more than most last-level caches hold. */
#ifndef SL_FAR
#define SL_FAR (INT64_C(24) << 20)
#endif

/* Whether there is an instruction that does so. */
#if defined __clang__ || defined __SSE2__
#define SL_PAST 1
typedef long long sl_line __attribute__((vector_size(SL_WIDE)));
SL_ALWAYS void sl_store_past(void *to, sl_line v)
{
#ifdef __clang__
    __builtin_nontemporal_store(v, (sl_line *)to);
#elif SL_WIDE == 64
    __builtin_ia32_movntdq512((sl_line *)to, v);
#elif SL_WIDE == 32
    __builtin_ia32_movntdq256((sl_line *)to, v);
#else
    __builtin_ia32_movntdq((sl_line *)to, v);
#endif
}
/* The line that is a vector of so many bytes. */
SL_ALWAYS sl_line sl_line_of(const void *vector, size_t bytes)
{
    sl_line line = {0};
    memcpy(&line, vector, bytes);
    return line;
}
#else
#define SL_PAST 0
#endif

/* Whether an output of so many elements is far. */
SL_INLINE int sl_is_far(int64_t elements)
{
    return SL_PAST && elements >= SL_FAR / SL_ELEMENT_SIZE;
}

/* What was written past the caches is there before what is written next. */
SL_INLINE void sl_settle(void)
{
#if defined __SSE2__
    __builtin_ia32_sfence();
#else
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/* How many bytes there are before the next line. */
SL_INLINE int64_t sl_to_line(const void *to)
{
    return -(int64_t)((uintptr_t)to & 63) & 63;
}

/* The number of the group of *each* elements with which a line begins, *stride* elements further too; -1 if none. */
SL_INLINE int64_t sl_first_line(const element *to, int64_t stride, int64_t each)
{
    const int64_t lead = sl_to_line(to), group = each * SL_ELEMENT_SIZE;
    return lead % group != 0 || stride * SL_ELEMENT_SIZE % 64 != 0 ? -1 : lead / group;
}

/* ---- leaves: offsets and counts in elements; a count of 0 or less touches nothing ---- */

/* *bytes* bytes, half <= bytes <= 2*half, as the first and the last *half*, a literal: two moves, no loop
 * and no call. */
SL_ALWAYS void sl_copy_ends(unsigned char *restrict to, const unsigned char *restrict from, size_t bytes,
                            const size_t half)
{
    memcpy(to, from, half);
    if (bytes != half)
        memcpy(to + bytes - half, from + bytes - half, half);
}

/* More bytes than this are left to the library, which has what many of them need and few pay for. */
#define SL_LONG 2048

/* *bytes* bytes, 64 <= bytes <= SL_LONG: the last 64 reach back. */
SL_ALWAYS void sl_copy_blocks(unsigned char *restrict to, const unsigned char *restrict from, int64_t bytes)
{
    for (int64_t k = 0; k < bytes - 64; k += 64) {
        memcpy(to + k, from + k, 32);
        memcpy(to + k + 32, from + k + 32, 32);
    }
    memcpy(to + bytes - 64, from + bytes - 64, 32);
    memcpy(to + bytes - 32, from + bytes - 32, 32);
}

/* *bytes* bytes, at least 64. */
SL_APART void sl_copy_long(unsigned char *restrict to, const unsigned char *restrict from, int64_t bytes)
{
    if (bytes > SL_LONG)
        memcpy(to, from, (size_t)bytes);
    else
        sl_copy_blocks(to, from, bytes);
}

/* to[at + i] = from[start + i] for 0 <= i < count. */
SL_INLINE void sl_copy(element *restrict to, int64_t at, const element *restrict from, int64_t start,
                       int64_t count)
{
    if (count <= 0)
        return;
    unsigned char *const into = (unsigned char *)(to + at);
    const unsigned char *const out_of = (const unsigned char *)(from + start);
    const size_t bytes = (size_t)count * sizeof(element);
    if (bytes > 64)
        sl_copy_long(into, out_of, (int64_t)bytes);
#if SL_MASKS
    else if (bytes > 32)
        sl_copy_rows_64(to + at, 0, from + start, 0, 1, sl_first((int64_t)bytes));
    else if (bytes > 16)
        sl_copy_rows_32(to + at, 0, from + start, 0, 1, sl_first((int64_t)bytes));
    else
        sl_copy_rows_16(to + at, 0, from + start, 0, 1, sl_first((int64_t)bytes));
#else
    else if (bytes >= 32)
        sl_copy_ends(into, out_of, bytes, 32);
    else if (bytes >= 16)
        sl_copy_ends(into, out_of, bytes, 16);
    else if (bytes >= 8)
        sl_copy_ends(into, out_of, bytes, 8);
    else if (bytes >= 4)
        sl_copy_ends(into, out_of, bytes, 4);
    else if (bytes >= 2)
        sl_copy_ends(into, out_of, bytes, 2);
    else
        *into = *out_of;
#endif
}

/* ---- short rows: as many at once as a vector holds, by a shuffle whose mask is computed ---- */

/* The bytes of that vector; 0 where no instruction shuffles bytes by a mask that is no literal. */
#if SL_WIDE == 64 && defined __AVX512VBMI__
#define SL_SHORT 64
#elif !defined __clang__ && SL_SHUFFLES && (defined __AVX2__ || defined __aarch64__)
#define SL_SHORT (SL_WIDE < 32 ? 16 : 32)
#else
#define SL_SHORT 0
#endif
/* The longest row, in bytes, that is one of several, and how many at least these are. */
#define SL_SHORT_ROW 16
#define SL_SHORT_ROWS 4

#if SL_SHORT
typedef uint8_t sl_bytes __attribute__((vector_size(SL_SHORT)));
typedef char sl_signed __attribute__((vector_size(SL_SHORT)));

/* The bytes of a and b, one after the other, whose numbers are in the mask. */
SL_ALWAYS sl_bytes sl_pick(sl_bytes a, sl_bytes b, sl_bytes mask)
{
#ifdef __clang__
    return (sl_bytes)__builtin_ia32_vpermi2varqi512((sl_signed)a, (sl_signed)mask, (sl_signed)b);
#else
    return __builtin_shuffle(a, b, mask);
#endif
}

/* Stores v where *dense*, else the bytes of it that *kept* has a bit for, and touches no other. */
SL_ALWAYS void sl_put(unsigned char *to, sl_bytes v, uint64_t kept, const int dense)
{
#if SL_SHORT == 64
    if (!dense) {
        __builtin_ia32_storedquqi512_mask((void *)to, (sl_signed)v, kept);
        return;
    }
#endif
    (void)kept;
    (void)dense;
    memcpy(to, &v, sizeof v);
}

/* The bits of *bytes* bytes, *each* times, *step* apart. */
SL_INLINE uint64_t sl_kept(int64_t step, int64_t bytes, int64_t each)
{
    uint64_t kept = 0;
    for (int64_t k = 0; k < each; ++k)
        kept |= (~UINT64_C(0) >> (64 - bytes)) << (k * step);
    return kept;
}

/* The first *turns* times *each* rows of sl_copy_short: its vectors of the source begin at *from*. */
SL_ALWAYS void sl_pick_rows(unsigned char *restrict to, int64_t to_leap, const unsigned char *restrict from,
                            int64_t leap, int64_t turns, sl_bytes mask, uint64_t kept, const int dense,
                            const int two)
{
    for (int64_t i = 0; i < turns; ++i) {
        sl_bytes a, b;
        memcpy(&a, from + i * leap, sizeof a);
        memcpy(&b, from + i * leap + (two ? SL_SHORT : 0), sizeof b);
        sl_put(to + i * to_leap, sl_pick(a, b, mask), kept, dense);
    }
}

/* to[i*to_step + j] = from[i*step + j], in bytes, for 0 <= j < bytes <= SL_SHORT_ROW and for 0 <= i < n of the
 * 0 <= i < rows; returns that n, which may be 0.  Reads and writes nothing outside what all the rows span, and writes
 * between the rows nothing at all. */
SL_APART int64_t sl_copy_short(unsigned char *restrict to, int64_t to_step, const unsigned char *restrict from,
                               int64_t step, int64_t rows, int64_t bytes)
{
    const int64_t reach = step < 0 ? -step : step;
    const int dense = to_step == bytes;
    if (to_step < bytes || (SL_SHORT < 64 && !dense))
        return 0;
    /* Rows that end in a vector of the output, and in one or two of the source. */
    int64_t each = (SL_SHORT - bytes) / to_step + 1;
    if (reach)
        each = sl_min(each, (2 * SL_SHORT - bytes) / reach + 1);
    if (each < SL_SHORT_ROWS || rows < 2 * each)
        return 0;
    const int two = (each - 1) * reach + bytes > SL_SHORT;
    const int64_t span = two ? 2 * SL_SHORT : SL_SHORT;
    /* The last row that the vectors of row i reach, less i. */
    int64_t last = each - 1;
    if (reach)
        last = sl_max(last, (span - bytes + reach - 1) / reach);
    if (dense)
        last = sl_max(last, (SL_SHORT - 1) / bytes);
    if (last >= rows)
        return 0;
    unsigned char held[2 * SL_SHORT]; /* where all rows are one: what lies behind it is not the source's */
    if (!reach) {
        memcpy(held, from, (size_t)bytes);
        from = held;
    }
    const int64_t before = step < 0 ? span - bytes : 0;
    const uint32_t inverse = (uint32_t)((4096 + to_step - 1) / to_step); /* j*inverse / 4096 is j / to_step: j < 64 */
    uint8_t at[SL_SHORT];
    for (uint32_t j = 0; j < SL_SHORT; ++j)
        at[j] =
            (uint8_t)((j + (j * inverse >> 12) * (uint32_t)(step - to_step) + (uint32_t)before) & (2 * SL_SHORT - 1));
    sl_bytes mask;
    memcpy(&mask, at, sizeof mask);
    const uint64_t kept = dense ? 0 : sl_kept(to_step, bytes, each);
    const int64_t turns = (rows - 1 - last) / each + 1;
    if (dense && two)
        sl_pick_rows(to, each * to_step, from - before, each * step, turns, mask, kept, 1, 1);
    else if (dense)
        sl_pick_rows(to, each * to_step, from - before, each * step, turns, mask, kept, 1, 0);
    else if (two)
        sl_pick_rows(to, each * to_step, from - before, each * step, turns, mask, kept, 0, 1);
    else
        sl_pick_rows(to, each * to_step, from - before, each * step, turns, mask, kept, 0, 0);
    return turns * each;
}
#endif

/* to[at + i*to_step + j] = from[start + i*step + j] for 0 <= i < rows, 0 <= j < bytes/sizeof(element), where the
 * first and the last *half* bytes of a row, a literal, are all of it. */
SL_ALWAYS void sl_copy_rows_by(element *restrict to, int64_t to_step, const element *restrict from, int64_t step,
                               int64_t rows, size_t bytes, const size_t half)
{
    for (int64_t i = 0; i < rows; ++i)
        sl_copy_ends((unsigned char *)(to + i * to_step), (const unsigned char *)(from + i * step), bytes, half);
}

/* *bytes* bytes, more than a line; all lines but the first and the last are written past the caches. */
SL_APART void sl_copy_past(unsigned char *restrict to, const unsigned char *restrict from, int64_t bytes)
{
#if SL_PAST
    int64_t k = sl_to_line(to); /* what is written here must not be of a line that is written past the caches */
    memcpy(to, from, (size_t)k);
    for (; k + 64 <= bytes; k += 64)
        for (int64_t j = k; j < k + 64; j += SL_WIDE) {
            sl_line v;
            memcpy(&v, from + j, sizeof v);
            sl_store_past(to + j, v);
        }
    memcpy(to + k, from + k, (size_t)(bytes - k));
#else
    memcpy(to, from, (size_t)bytes);
#endif
}

/* to[at + i*to_step + j] = from[start + i*step + j] for 0 <= i < rows, 0 <= j < count: the way to move a row is
 * chosen once for all of them; of an output that is *far*, long rows are written past the caches. */
SL_APART void sl_copy_rows(element *restrict to, int64_t at, int64_t to_step, const element *restrict from,
                           int64_t start, int64_t step, int64_t rows, int64_t count, int far)
{
    if (rows <= 0 || count <= 0)
        return;
    to += at;
    from += start;
    const size_t bytes = (size_t)count * sizeof(element);
#if SL_SHORT
    /* Single elements backwards, or every second one, are vectors that the compiler makes below; a few rows are moved
     * sooner than a mask is made. */
    if (bytes <= SL_SHORT_ROW && rows >= SL_SHORT &&
        (count > 1 || to_step > 1 || (step != -1 && step != 2))) {
        const int64_t done =
            sl_copy_short((unsigned char *)to, to_step * (int64_t)sizeof(element), (const unsigned char *)from,
                          step * (int64_t)sizeof(element), rows, (int64_t)bytes);
        to += done * to_step;
        from += done * step;
        rows -= done;
    }
#endif
    if (count == 1 && to_step == 1 && step == -1)
        for (int64_t i = 0; i < rows; ++i)
            to[i] = from[-i];
    else if (count == 1 && to_step == 1 && step == 2)
        for (int64_t i = 0; i < rows; ++i)
            to[i] = from[2 * i];
    else if (count == 1)
        for (int64_t i = 0; i < rows; ++i)
            to[i * to_step] = from[i * step];
    else if (far && bytes >= 512)
        for (int64_t i = 0; i < rows; ++i)
            sl_copy_past((unsigned char *)(to + i * to_step), (const unsigned char *)(from + i * step), (int64_t)bytes);
    else if (bytes > SL_LONG)
        for (int64_t i = 0; i < rows; ++i)
            memcpy(to + i * to_step, from + i * step, bytes);
    else if (bytes > 64)
        for (int64_t i = 0; i < rows; ++i)
            sl_copy_blocks((unsigned char *)(to + i * to_step), (const unsigned char *)(from + i * step), (int64_t)bytes);
    else if (bytes == 64)
        sl_copy_rows_by(to, to_step, from, step, rows, 64, 64);
    else if (bytes == 32)
        sl_copy_rows_by(to, to_step, from, step, rows, 32, 32);
    else if (bytes == 16)
        sl_copy_rows_by(to, to_step, from, step, rows, 16, 16);
#if SL_MASKS
    else if (bytes > 32)
        sl_copy_rows_64(to, to_step, from, step, rows, sl_first((int64_t)bytes));
    else if (bytes > 16)
        sl_copy_rows_32(to, to_step, from, step, rows, sl_first((int64_t)bytes));
    else
        sl_copy_rows_16(to, to_step, from, step, rows, sl_first((int64_t)bytes));
#else
    else if (bytes > 32)
        sl_copy_rows_by(to, to_step, from, step, rows, bytes, 32);
    else if (bytes > 16)
        sl_copy_rows_by(to, to_step, from, step, rows, bytes, 16);
    else if (bytes >= 8)
        sl_copy_rows_by(to, to_step, from, step, rows, bytes, 8);
    else if (bytes >= 4)
        sl_copy_rows_by(to, to_step, from, step, rows, bytes, 4);
    else
        sl_copy_rows_by(to, to_step, from, step, rows, bytes, 2);
#endif
}

/* to[at + t*to_leap + i*to_step] = from[start + t*leap + i*step] for 0 <= t < turns, 0 <= i < rows: the longer of the two
 * is the inner loop where the other is as short as a margin. */
SL_APART void sl_copy_grid(element *restrict to, int64_t at, int64_t to_leap, int64_t to_step,
                           const element *restrict from, int64_t start, int64_t leap, int64_t step, int64_t turns,
                           int64_t rows)
{
    if (rows < 8 && rows < turns)
        for (int64_t i = 0; i < rows; ++i)
            sl_copy_rows(to, at + i * to_step, to_leap, from, start + i * step, leap, turns, 1, 0);
    else
        for (int64_t t = 0; t < turns; ++t)
            sl_copy_rows(to, at + t * to_leap, to_step, from, start + t * leap, step, rows, 1, 0);
}

/* to[i] = value for 0 <= i < count. */
SL_APART void sl_fill_long(element *restrict to, element value, int64_t count)
{
#if SL_MASKS && SL_SHUFFLES
    sl_unit lane;
    memcpy(&lane, &value, sizeof lane);
    const sl_wide line = (sl_wide){0} + lane;
    for (; count > 64 / SL_ELEMENT_SIZE; to += 64 / SL_ELEMENT_SIZE, count -= 64 / SL_ELEMENT_SIZE)
        memcpy(to, &line, sizeof line);
    sl_store_64(to, (sl_bytes_64)line, sl_first(sl_max(count, 0) * SL_ELEMENT_SIZE));
#else
    for (int64_t i = 0; i < count; ++i)
        to[i] = value;
#endif
}

/* to[at + i] = value for 0 <= i < count: a margin of one or two needs neither loop nor call. */
SL_INLINE void sl_fill(element *restrict to, int64_t at, element value, int64_t count)
{
    if (count > 2)
        sl_fill_long(to + at, value, count);
    else if (count > 0)
        to[at] = to[at + count - 1] = value;
}

#if SL_SHORT == 64
/* to[i*to_step + j] = value for 0 <= j < count and for 0 <= i < n of the 0 <= i < rows; returns that n, which may be
 * 0.  Between the rows it writes nothing. */
SL_APART int64_t sl_fill_short(element *restrict to, int64_t to_step, element value, int64_t rows, int64_t count)
{
    const int64_t size = sizeof(element), bytes = count * size;
    const int64_t each = to_step > count ? (SL_SHORT - bytes) / (to_step * size) + 1 : 0;
    if (each < SL_SHORT_ROWS || rows < each)
        return 0;
    element values[SL_SHORT / SL_ELEMENT_SIZE + 1];
    for (int64_t j = 0; j <= SL_SHORT / SL_ELEMENT_SIZE; ++j)
        values[j] = value;
    sl_bytes v;
    memcpy(&v, values, sizeof v);
    const uint64_t kept = sl_kept(to_step * size, bytes, each);
    int64_t i = 0;
    for (; i <= rows - each; i += each)
        sl_put((unsigned char *)(to + i * to_step), v, kept, 0);
    return i;
}
#endif

/* to[at + i*to_step + j] = value for 0 <= i < rows, 0 <= j < count. */
SL_APART void sl_fill_rows(element *restrict to, int64_t at, int64_t to_step, element value, int64_t rows,
                           int64_t count)
{
#if SL_SHORT == 64
    if (count > 0 && count * (int64_t)sizeof(element) <= SL_SHORT_ROW) {
        const int64_t done = sl_fill_short(to + at, to_step, value, rows, count);
        at += done * to_step;
        rows -= done;
    }
#endif
    if (count == 1)
        for (int64_t i = 0; i < rows; ++i)
            to[at + i * to_step] = value;
    else if (count > 1)
        for (int64_t i = 0; i < rows; ++i)
            sl_fill(to, at + i * to_step, value, count);
}

#ifdef SL_NUMBER
/* to[at + i] += from[start + i] for 0 <= i < count. */
SL_INLINE void sl_accumulate(element *restrict to, int64_t at, const element *restrict from, int64_t start,
                             int64_t count)
{
    for (int64_t i = 0; i < count; ++i)
        to[at + i] = (element)(to[at + i] + from[start + i]);
}

/* How many sums go on side by side, and how many rows at most until the next column of them. */
#define SL_SUMS 8
#define SL_SUMMED 1024

/* to[at + i*to_step + j*to_each] += from[start + i*step + j*each] for 0 <= i < rows, 0 <= j < columns: to each element
 * of the output in the order of i, then j, which is all that the result depends on. */
SL_APART void sl_accumulate_rows(element *restrict to, int64_t at, int64_t to_step, int64_t to_each,
                                 const element *restrict from, int64_t start, int64_t step, int64_t each,
                                 int64_t rows, int64_t columns)
{
    int64_t i = 0;
    to += at;
    from += start;
    if (to_each == 0 && to_step != 0) /* a row is one sum: several at a time, each in its order */
        for (; i + SL_SUMS <= rows; i += SL_SUMS) {
            element sum[SL_SUMS];
            for (int64_t k = 0; k < SL_SUMS; ++k)
                sum[k] = to[(i + k) * to_step];
            for (int64_t j = 0; j < columns; ++j)
                for (int64_t k = 0; k < SL_SUMS; ++k)
                    sum[k] = (element)(sum[k] + from[(i + k) * step + j * each]);
            for (int64_t k = 0; k < SL_SUMS; ++k)
                to[(i + k) * to_step] = sum[k];
        }
    else if (to_each > 0 && to_step > 0 && columns < rows) /* where i is greater, j is less: the last column first */
        for (; i < rows; i += SL_SUMMED)
            for (int64_t j = columns - 1; j >= 0; --j)
                for (int64_t k = i; k < sl_min(rows, i + SL_SUMMED); ++k)
                    to[k * to_step + j * to_each] =
                        (element)(to[k * to_step + j * to_each] + from[k * step + j * each]);
    for (; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j)
            to[i * to_step + j * to_each] = (element)(to[i * to_step + j * to_each] + from[i * step + j * each]);
}
#endif

/* ---- vectors ---- */

/* A shuffle takes from two vectors, whose elements are numbered one after the other.  SL_LIST_n lists
 * mask(i, ...) for n values of i; a vector of SL_LANES elements has 16 bytes, one of SL_MANY has SL_WIDE. */
#if SL_SHUFFLES
#define SL_LIST_1(mask, i, ...) mask(i, __VA_ARGS__)
#define SL_LIST_2(mask, i, ...) SL_LIST_1(mask, i, __VA_ARGS__), SL_LIST_1(mask, (i) + 1, __VA_ARGS__)
#define SL_LIST_4(mask, i, ...) SL_LIST_2(mask, i, __VA_ARGS__), SL_LIST_2(mask, (i) + 2, __VA_ARGS__)
#define SL_LIST_8(mask, i, ...) SL_LIST_4(mask, i, __VA_ARGS__), SL_LIST_4(mask, (i) + 4, __VA_ARGS__)
#define SL_LIST_16(mask, i, ...) SL_LIST_8(mask, i, __VA_ARGS__), SL_LIST_8(mask, (i) + 8, __VA_ARGS__)
#define SL_LIST_32(mask, i, ...) SL_LIST_16(mask, i, __VA_ARGS__), SL_LIST_16(mask, (i) + 16, __VA_ARGS__)
#define SL_LIST_64(mask, i, ...) SL_LIST_32(mask, i, __VA_ARGS__), SL_LIST_32(mask, (i) + 32, __VA_ARGS__)
#define SL_LANES (16 / SL_ELEMENT_SIZE)
#define SL_MANY (SL_WIDE / SL_ELEMENT_SIZE)
#if SL_ELEMENT_SIZE == 1
#define SL_EACH SL_LIST_16
#elif SL_ELEMENT_SIZE == 2
#define SL_EACH SL_LIST_8
#elif SL_ELEMENT_SIZE == 4
#define SL_EACH SL_LIST_4
#else
#define SL_EACH SL_LIST_2
#endif
#if SL_WIDE / SL_ELEMENT_SIZE == 64
#define SL_EACH_WIDE SL_LIST_64
#elif SL_WIDE / SL_ELEMENT_SIZE == 32
#define SL_EACH_WIDE SL_LIST_32
#elif SL_WIDE / SL_ELEMENT_SIZE == 16
#define SL_EACH_WIDE SL_LIST_16
#elif SL_WIDE / SL_ELEMENT_SIZE == 8
#define SL_EACH_WIDE SL_LIST_8
#elif SL_WIDE / SL_ELEMENT_SIZE == 4
#define SL_EACH_WIDE SL_LIST_4
#else
#define SL_EACH_WIDE SL_LIST_2
#endif
#if SL_MASKS
#define SL_HALF (32 / SL_ELEMENT_SIZE)
#if SL_ELEMENT_SIZE == 1
#define SL_EACH_HALF SL_LIST_32
#elif SL_ELEMENT_SIZE == 2
#define SL_EACH_HALF SL_LIST_16
#elif SL_ELEMENT_SIZE == 4
#define SL_EACH_HALF SL_LIST_8
#else
#define SL_EACH_HALF SL_LIST_4
#endif
#elif SL_ELEMENT_SIZE <= 2
#define SL_FEWEST (8 / SL_ELEMENT_SIZE)
#if SL_ELEMENT_SIZE == 1
typedef uint8_t sl_least __attribute__((vector_size(8)));
#define SL_EACH_LEAST SL_LIST_8
#else
typedef uint16_t sl_least __attribute__((vector_size(8)));
#define SL_EACH_LEAST SL_LIST_4
#endif
#endif

/* Masks for vectors of n elements.  Of a and b, one after the other, every second element. */
#define SL_EVEN(i, n) 2 * (i)
#define SL_ODD(i, n) 2 * (i) + 1
/* Of a and b in turn, the first half and the second. */
#define SL_LOW(i, n) (i) / 2 + (i) % 2 * (n)
#define SL_HIGH(i, n) (n) / 2 + (i) / 2 + (i) % 2 * (n)
/* The same in each group of g elements. */
#define SL_GROUP_LOW(i, n, g) (i) / (g) * (g) + (i) % (g) / 2 + (i) % 2 * (n)
#define SL_GROUP_HIGH(i, n, g) (i) / (g) * (g) + (g) / 2 + (i) % (g) / 2 + (i) % 2 * (n)
/* Of a, b and c, one after the other, every third from r on: from a and b, then from that and c. */
#define SL_THIRD(i, n, r) (3 * (i) + (r) < 2 * (n) ? 3 * (i) + (r) : 0)
#define SL_THIRD_LAST(i, n, r) (3 * (i) + (r) < 2 * (n) ? (i) : 3 * (i) + (r) - (n))
/* Of a, b and c in turn, the v-th n: from a and b, then from that and c. */
#define SL_TURN(i, n, v) (((v) * (n) + (i)) / 3 + (((v) * (n) + (i)) % 3 == 1) * (n))
#define SL_TURN_LAST(i, n, v) (((v) * (n) + (i)) % 3 == 2 ? (n) + ((v) * (n) + (i)) / 3 : (i))

/* Whether three vectors can be shuffled in registers: any order of bytes needs an instruction for it. */
#if defined __SSSE3__ || defined __aarch64__ || defined __ARM_NEON || SL_ELEMENT_SIZE >= 4
#define SL_THREES 1
#else
#define SL_THREES 0
#endif

/* Moves the first *count* elements of a vector of *bytes* bytes; all of it where *whole*, a literal, says so, and past
 * the caches where it is 2: to a place in a line where a vector begins. */
#if SL_MASKS
#define SL_LOAD(v, bytes, from, whole, count)                                                                 \
    if (whole)                                                                                                \
        memcpy(&(v), from, bytes);                                                                            \
    else                                                                                                      \
        (v) = (__typeof__(v))sl_load_##bytes(from, sl_first(sl_max(count, 0) * SL_ELEMENT_SIZE))
#define SL_STORE(v, bytes, to, whole, count)                                                                  \
    if ((whole) == 2)                                                                                         \
        sl_store_past(to, sl_line_of(&(v), bytes));                                                           \
    else if (whole)                                                                                           \
        memcpy(to, &(v), bytes);                                                                              \
    else                                                                                                      \
        sl_store_##bytes(to, (sl_bytes_##bytes)(v), sl_first(sl_max(count, 0) * SL_ELEMENT_SIZE))
#else
#define SL_LOAD(v, bytes, from, whole, count) (void)(whole), (void)(count), memcpy(&(v), from, sizeof(v))
#define SL_STORE(v, bytes, to, whole, count) (void)(whole), (void)(count), memcpy(to, &(v), sizeof(v))
#endif

/* Defines, for vectors of n elements, the step of sl_split and that of sl_join:
 * to[i*to_stride + j] = from[i + k*j] and to[i*k + j] = from[i + j*stride], for each of k streams n times; or
 * *count* <= n times where *whole*, a literal, is 0. */
#define SL_STEPS(split, join, vector, each, bytes, n)                                                         \
    SL_ALWAYS vector split##_load(const element *from, const int whole, int64_t count)                        \
    {                                                                                                         \
        vector v;                                                                                             \
        SL_LOAD(v, bytes, from, whole, count);                                                                \
        return v;                                                                                             \
    }                                                                                                         \
    SL_ALWAYS void split##_store(element *to, vector v, const int whole, int64_t count)                       \
    {                                                                                                         \
        SL_STORE(v, bytes, to, whole, count);                                                                 \
    }                                                                                                         \
    SL_ALWAYS void split##_2(element *restrict to, int64_t to_stride, vector a, vector b, const int whole,    \
                             int64_t count)                                                                   \
    {                                                                                                         \
        split##_store(to, __builtin_shufflevector(a, b, each(SL_EVEN, 0, n)), whole, count);                  \
        split##_store(to + to_stride, __builtin_shufflevector(a, b, each(SL_ODD, 0, n)), whole, count);       \
    }                                                                                                         \
    SL_ALWAYS void join##_2(element *restrict to, vector a, vector b, const int whole, int64_t count)         \
    {                                                                                                         \
        split##_store(to, __builtin_shufflevector(a, b, each(SL_LOW, 0, n)), whole, count);                   \
        split##_store(to + n, __builtin_shufflevector(a, b, each(SL_HIGH, 0, n)), whole, count - n);          \
    }                                                                                                         \
    SL_ALWAYS void split##_out(element *restrict to, int64_t to_stride, const vector v[4], const int k,       \
                               const int whole, int64_t count)                                                \
    {                                                                                                         \
        if (k == 2) {                                                                                         \
            split##_2(to, to_stride, v[0], v[1], whole, count);                                               \
        } else if (k == 3) {                                                                                  \
            vector r = __builtin_shufflevector(v[0], v[1], each(SL_THIRD, 0, n, 0));                          \
            vector s = __builtin_shufflevector(v[0], v[1], each(SL_THIRD, 0, n, 1));                          \
            vector t = __builtin_shufflevector(v[0], v[1], each(SL_THIRD, 0, n, 2));                          \
            r = __builtin_shufflevector(r, v[2], each(SL_THIRD_LAST, 0, n, 0));                               \
            s = __builtin_shufflevector(s, v[2], each(SL_THIRD_LAST, 0, n, 1));                               \
            t = __builtin_shufflevector(t, v[2], each(SL_THIRD_LAST, 0, n, 2));                               \
            split##_store(to, r, whole, count);                                                               \
            split##_store(to + to_stride, s, whole, count);                                                   \
            split##_store(to + 2 * to_stride, t, whole, count);                                               \
        } else {                                                                                              \
            const vector even = __builtin_shufflevector(v[0], v[1], each(SL_EVEN, 0, n));                     \
            const vector odd = __builtin_shufflevector(v[0], v[1], each(SL_ODD, 0, n));                       \
            const vector even_last = __builtin_shufflevector(v[2], v[3], each(SL_EVEN, 0, n));                \
            const vector odd_last = __builtin_shufflevector(v[2], v[3], each(SL_ODD, 0, n));                  \
            split##_2(to, 2 * to_stride, even, even_last, whole, count);                                      \
            split##_2(to + to_stride, 2 * to_stride, odd, odd_last, whole, count);                            \
        }                                                                                                     \
    }                                                                                                         \
    SL_ALWAYS void split(element *restrict to, int64_t to_stride, const element *restrict from, const int k,  \
                         const int whole, int64_t count)                                                      \
    {                                                                                                         \
        vector v[4];                                                                                          \
        for (int i = 0; i < k; ++i)                                                                           \
            v[i] = split##_load(from + i * n, whole, k * count - i * n);                                      \
        split##_out(to, to_stride, v, k, whole, count);                                                       \
    }                                                                                                         \
    SL_ALWAYS void join(element *restrict to, const element *restrict from, int64_t stride, const int k,      \
                        const int whole, int64_t count)                                                       \
    {                                                                                                         \
        const int64_t all = k * count;                                                                        \
        const vector a = split##_load(from, whole, count), b = split##_load(from + stride, whole, count);     \
        if (k == 2) {                                                                                         \
            join##_2(to, a, b, whole, all);                                                                   \
        } else if (k == 3) {                                                                                  \
            const vector c = split##_load(from + 2 * stride, whole, count);                                   \
            vector r = __builtin_shufflevector(a, b, each(SL_TURN, 0, n, 0));                                 \
            vector s = __builtin_shufflevector(a, b, each(SL_TURN, 0, n, 1));                                 \
            vector t = __builtin_shufflevector(a, b, each(SL_TURN, 0, n, 2));                                 \
            r = __builtin_shufflevector(r, c, each(SL_TURN_LAST, 0, n, 0));                                   \
            s = __builtin_shufflevector(s, c, each(SL_TURN_LAST, 0, n, 1));                                   \
            t = __builtin_shufflevector(t, c, each(SL_TURN_LAST, 0, n, 2));                                   \
            split##_store(to, r, whole, all);                                                                 \
            split##_store(to + n, s, whole, all - n);                                                         \
            split##_store(to + 2 * n, t, whole, all - 2 * n);                                                 \
        } else {                                                                                              \
            const vector c = split##_load(from + 2 * stride, whole, count);                                   \
            const vector d = split##_load(from + 3 * stride, whole, count);                                   \
            join##_2(to, __builtin_shufflevector(a, c, each(SL_LOW, 0, n)),                                   \
                     __builtin_shufflevector(b, d, each(SL_LOW, 0, n)), whole, all);                          \
            join##_2(to + 2 * n, __builtin_shufflevector(a, c, each(SL_HIGH, 0, n)),                          \
                     __builtin_shufflevector(b, d, each(SL_HIGH, 0, n)), whole, all - 2 * n);                 \
        }                                                                                                     \
    }
SL_STEPS(sl_split_many, sl_join_many, sl_wide, SL_EACH_WIDE, 64, SL_MANY)
#if SL_MASKS
SL_STEPS(sl_split_half, sl_join_half, sl_half, SL_EACH_HALF, 32, SL_HALF)
#endif
#if SL_WIDE > 16
SL_STEPS(sl_split_few, sl_join_few, sl_vector, SL_EACH, 16, SL_LANES)
#endif
#if SL_MASKS
/* A mask of the elements of a vector of n from number *low* up to *high*. */
SL_ALWAYS uint64_t sl_between(int64_t low, int64_t high)
{
    return sl_first(sl_max(high, 0) * SL_ELEMENT_SIZE) & ~sl_first(sl_max(low, 0) * SL_ELEMENT_SIZE);
}

/* The step of sl_deal, for vectors as above: of what it reads, vector i alone what its mask has, the rest is *fill*. */
#define SL_DEAL_STEP(name, split, vector, bytes, n)                                                            \
    SL_ALWAYS void name##_masks(uint64_t mask[4], int64_t low, int64_t high, const int k)                     \
    {                                                                                                         \
        for (int i = 0; i < k; ++i)                                                                           \
            mask[i] = sl_between(low - i * n, high - i * n);                                                  \
    }                                                                                                         \
    SL_ALWAYS void name(element *restrict to, int64_t to_stride, const element *from, const uint64_t mask[4], \
                        const int k, const int whole, int64_t count, vector fill)                             \
    {                                                                                                         \
        vector v[4];                                                                                          \
        for (int i = 0; i < k; ++i)                                                                           \
            v[i] = (vector)sl_merge_##bytes((sl_bytes_##bytes)fill, from + i * n, mask[i]);                   \
        split##_out(to, to_stride, v, k, whole, count);                                                       \
    }
SL_DEAL_STEP(sl_deal_many, sl_split_many, sl_wide, 64, SL_MANY)
SL_DEAL_STEP(sl_deal_half, sl_split_half, sl_half, 32, SL_HALF)
SL_DEAL_STEP(sl_deal_few, sl_split_few, sl_vector, 16, SL_LANES)
#endif
#ifdef SL_FEWEST
SL_STEPS(sl_split_fewest, sl_join_fewest, sl_least, SL_EACH_LEAST, 8, SL_FEWEST)
#endif
#endif

/* ---- transposes ---- */

/* How often a transpose is done: turn c of turn h is c*to_step + h*to_leap further in the output, and c*step + h*leap
 * in the source. */
typedef struct {
    int64_t count, to_step, step, high, to_leap, leap;
} sl_turns;

SL_ALWAYS sl_turns sl_turns_0(void)
{
    return (sl_turns){1, 0, 0, 1, 0, 0};
}
SL_ALWAYS sl_turns sl_turns_1(int64_t count, int64_t to_step, int64_t step)
{
    return (sl_turns){count, to_step, step, 1, 0, 0};
}
SL_ALWAYS sl_turns sl_turns_2(int64_t count, int64_t to_step, int64_t step, int64_t high, int64_t to_leap, int64_t leap)
{
    return (sl_turns){count, to_step, step, high, to_leap, leap};
}

/* to[i*to_stride + j] = from[i + j*stride] for 0 <= i < rows, 0 <= j < columns: for what is too short else. */
SL_APART void sl_transpose_plain(element *restrict to, int64_t to_stride, const element *restrict from,
                                 int64_t stride, int64_t rows, int64_t columns)
{
    for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j)
            to[i * to_stride + j] = from[i + j * stride];
}

/* count of them one after the other: */

/* Does *code* with *into* and *out_of* for turn c of turn h: where what is done begins in the output and the source. */
#define SL_TURNS(code)                                                                                         \
    for (int64_t h = 0; h < high; ++h, to += to_leap, from += leap) {                                          \
        element *restrict into = to;                                                                           \
        const element *restrict out_of = from;                                                                 \
        for (int64_t c = 0; c < count; ++c, into += to_step, out_of += step)                                   \
            code                                                                                               \
    }

/* Row i of c is to[c*to_step + i*to_stride + j] = from[c*step + i + j*stride], 0 <= i < k, 0 <= j < columns, with
 * k = stride, a literal: k streams are written in one pass over the source.  The last vectors are masked, or reach
 * back.  Lines of an output that is *far* are written past the caches. */
SL_ALWAYS void sl_split(element *restrict to, int64_t to_stride, const element *restrict from, int64_t columns,
                        int64_t count, int64_t to_step, int64_t step, int64_t high, int64_t to_leap,
                        int64_t leap, int far, const int k)
{
#if SL_SHUFFLES && SL_MASKS
    if (columns <= SL_LANES)
        SL_TURNS(sl_split_few(into, to_stride, out_of, k, 0, columns);)
    else if (columns <= SL_HALF)
        SL_TURNS(sl_split_half(into, to_stride, out_of, k, 0, columns);)
    else if (columns < SL_MANY)
        SL_TURNS(sl_split_many(into, to_stride, out_of, k, 0, columns);)
    else
        SL_TURNS({
            int64_t j = far ? sl_first_line(into, to_stride, 1) : -1;
            if (j >= 0) {
                sl_split_many(into, to_stride, out_of, k, 0, j);
                for (; j + SL_MANY <= columns; j += SL_MANY)
                    sl_split_many(into + j, to_stride, out_of + k * j, k, 2, SL_MANY);
                sl_split_many(into + j, to_stride, out_of + k * j, k, 0, columns - j);
                continue;
            }
            for (j = 0; j < columns; j += SL_MANY) {
                const int64_t column = sl_min(j, columns - SL_MANY);
                sl_split_many(into + column, to_stride, out_of + k * column, k, 1, SL_MANY);
            }
        })
#else
    (void)far;
    for (int64_t turn = 0; turn < count * high; ++turn) {
        const int64_t c = turn % count, h = turn / count;
        element *restrict const into = to + c * to_step + h * to_leap;
        const element *restrict const out_of = from + c * step + h * leap;
#if SL_SHUFFLES
        if (columns >= SL_MANY && (SL_THREES || k != 3)) {
            for (int64_t j = 0; j < columns; j += SL_MANY) {
                const int64_t column = sl_min(j, columns - SL_MANY);
                sl_split_many(into + column, to_stride, out_of + k * column, k, 1, SL_MANY);
            }
            continue;
        }
#if SL_WIDE > 16
        if (columns >= SL_LANES) {
            for (int64_t j = 0; j < columns; j += SL_LANES) {
                const int64_t column = sl_min(j, columns - SL_LANES);
                sl_split_few(into + column, to_stride, out_of + k * column, k, 1, SL_LANES);
            }
            continue;
        }
#endif
#ifdef SL_FEWEST
        if (columns >= SL_FEWEST && (SL_THREES || k != 3)) {
            for (int64_t j = 0; j < columns; j += SL_FEWEST) {
                const int64_t column = sl_min(j, columns - SL_FEWEST);
                sl_split_fewest(into + column, to_stride, out_of + k * column, k, 1, SL_FEWEST);
            }
            continue;
        }
#endif
#endif
        sl_transpose_plain(into, to_stride, out_of, k, k, columns);
    }
#endif
}

/* The same for 0 <= i < rows, 0 <= j < k, with k = to_stride: k streams are read in one pass over the output. */
SL_ALWAYS void sl_join(element *restrict to, const element *restrict from, int64_t stride, int64_t rows,
                       int64_t count, int64_t to_step, int64_t step, int64_t high, int64_t to_leap, int64_t leap,
                       int far, const int k)
{
#if SL_SHUFFLES && SL_MASKS
    if (rows <= SL_LANES)
        SL_TURNS(sl_join_few(into, out_of, stride, k, 0, rows);)
    else if (rows <= SL_HALF)
        SL_TURNS(sl_join_half(into, out_of, stride, k, 0, rows);)
    else if (rows < SL_MANY)
        SL_TURNS(sl_join_many(into, out_of, stride, k, 0, rows);)
    else
        SL_TURNS({
            int64_t i = far ? sl_first_line(into, 0, k) : -1;
            if (i >= 0) {
                sl_join_many(into, out_of, stride, k, 0, i);
                for (; i + SL_MANY <= rows; i += SL_MANY)
                    sl_join_many(into + k * i, out_of + i, stride, k, 2, SL_MANY);
                sl_join_many(into + k * i, out_of + i, stride, k, 0, rows - i);
                continue;
            }
            for (i = 0; i < rows; i += SL_MANY) {
                const int64_t row = sl_min(i, rows - SL_MANY);
                sl_join_many(into + k * row, out_of + row, stride, k, 1, SL_MANY);
            }
        })
#else
    (void)far;
    for (int64_t turn = 0; turn < count * high; ++turn) {
        const int64_t c = turn % count, h = turn / count;
        element *restrict const into = to + c * to_step + h * to_leap;
        const element *restrict const out_of = from + c * step + h * leap;
#if SL_SHUFFLES
        if (rows >= SL_MANY && (SL_THREES || k != 3)) {
            for (int64_t i = 0; i < rows; i += SL_MANY) {
                const int64_t row = sl_min(i, rows - SL_MANY);
                sl_join_many(into + k * row, out_of + row, stride, k, 1, SL_MANY);
            }
            continue;
        }
#if SL_WIDE > 16
        if (rows >= SL_LANES) {
            for (int64_t i = 0; i < rows; i += SL_LANES) {
                const int64_t row = sl_min(i, rows - SL_LANES);
                sl_join_few(into + k * row, out_of + row, stride, k, 1, SL_LANES);
            }
            continue;
        }
#endif
#ifdef SL_FEWEST
        if (rows >= SL_FEWEST && (SL_THREES || k != 3)) {
            for (int64_t i = 0; i < rows; i += SL_FEWEST) {
                const int64_t row = sl_min(i, rows - SL_FEWEST);
                sl_join_fewest(into + k * row, out_of + row, stride, k, 1, SL_FEWEST);
            }
            continue;
        }
#endif
#endif
        sl_transpose_plain(into, k, out_of, stride, rows, k);
    }
#endif
}

#define SL_SPLIT(k)                                                                                            \
    SL_APART void sl_split_##k(element *restrict to, int64_t at, int64_t to_stride,                           \
                               const element *restrict from, int64_t start, int64_t columns, int64_t count,   \
                               int64_t to_step, int64_t step, int64_t high, int64_t to_leap, int64_t leap,    \
                               int far)                                                                       \
    {                                                                                                         \
        sl_split(to + at, to_stride, from + start, columns, count, to_step, step, high, to_leap, leap, far,   \
                 k);                                                                                          \
    }
SL_SPLIT(2)
SL_SPLIT(3)
SL_SPLIT(4)

/* to[c*to_step + i*to_stride + j] for 0 <= c < count, 0 <= i < k, 0 <= j < columns, with i + k*j = n and k a literal,
 * is from[start + c*step + n] where low <= n < low + inside, elsewhere *value*. */
SL_ALWAYS void sl_deal(element *restrict to, int64_t to_stride, const element *restrict from, int64_t start,
                       int64_t columns, int64_t low, int64_t inside, element value, int64_t count, int64_t to_step,
                       int64_t step, const int k)
{
    const int64_t high = sl_min(low + sl_max(inside, 0), k * columns);
#if SL_SHUFFLES && SL_MASKS
    sl_unit lane;
    memcpy(&lane, &value, sizeof lane);
    const int64_t end = (columns - 1) / SL_MANY * SL_MANY;
    uint64_t mask[4], last[4];
    from += start; /* a vector may begin before the array, where its mask has no bit */
    if (columns <= SL_LANES) {
        sl_deal_few_masks(mask, low, high, k);
        for (int64_t c = 0; c < count; ++c, to += to_step, from += step)
            sl_deal_few(to, to_stride, from, mask, k, 0, columns, (sl_vector){0} + lane);
    } else if (columns <= SL_HALF) {
        sl_deal_half_masks(mask, low, high, k);
        for (int64_t c = 0; c < count; ++c, to += to_step, from += step)
            sl_deal_half(to, to_stride, from, mask, k, 0, columns, (sl_half){0} + lane);
    } else if (columns < SL_MANY) {
        sl_deal_many_masks(mask, low, high, k);
        for (int64_t c = 0; c < count; ++c, to += to_step, from += step)
            sl_deal_many(to, to_stride, from, mask, k, 0, columns, (sl_wide){0} + lane);
    } else if (low <= k * SL_MANY && high >= k * end) { /* the first vectors and the last alone are cut */
        sl_deal_many_masks(mask, low, high, k);
        sl_deal_many_masks(last, low - k * end, high - k * end, k);
        for (int64_t c = 0; c < count; ++c, to += to_step, from += step) {
            sl_deal_many(to, to_stride, from, mask, k, 1, SL_MANY, (sl_wide){0} + lane);
            for (int64_t j = SL_MANY; j < end; j += SL_MANY)
                sl_split_many(to + j, to_stride, from + k * j, k, 1, SL_MANY);
            if (end > 0)
                sl_deal_many(to + end, to_stride, from + k * end, last, k, 0, columns - end, (sl_wide){0} + lane);
        }
    } else
        for (int64_t c = 0; c < count; ++c, to += to_step, from += step)
            for (int64_t j = 0; j < columns; j += SL_MANY) {
                const int64_t column = sl_min(j, columns - SL_MANY);
                sl_deal_many_masks(mask, low - k * column, high - k * column, k);
                sl_deal_many(to + column, to_stride, from + k * column, mask, k, 1, SL_MANY, (sl_wide){0} + lane);
            }
#else
    /* The columns that are inside for all i, by vectors; the others one by one. */
    const int64_t first = sl_max(0, sl_min(columns, (sl_max(low, 0) + k - 1) / k));
    const int64_t last = sl_max(first, sl_min(columns, sl_max(high, 0) / k));
    if (first < last)
        sl_split(to + first, to_stride, from + start + k * first, last - first, count, to_step, step, 1, 0, 0, 0, k);
    for (int64_t c = 0; c < count; ++c, to += to_step, start += step)
        for (int64_t i = 0; i < k; ++i)
            for (int64_t j = 0; j < columns; ++j) {
                if (j == first)
                    j = last;
                if (j < columns)
                    to[i * to_stride + j] = k * j + i >= low && k * j + i < high ? from[start + k * j + i] : value;
            }
#endif
}

#define SL_DEAL(k)                                                                                             \
    SL_APART void sl_deal_##k(element *restrict to, int64_t at, int64_t to_stride,                            \
                              const element *restrict from, int64_t start, int64_t columns, int64_t low,      \
                              int64_t inside, element value, int64_t count, int64_t to_step, int64_t step)    \
    {                                                                                                         \
        sl_deal(to + at, to_stride, from, start, columns, low, inside, value, count, to_step, step, k);       \
    }
SL_DEAL(2)
SL_DEAL(3)
SL_DEAL(4)

#define SL_JOIN(k)                                                                                             \
    SL_APART void sl_join_##k(element *restrict to, int64_t at, const element *restrict from, int64_t start,  \
                              int64_t stride, int64_t rows, int64_t count, int64_t to_step, int64_t step,     \
                              int64_t high, int64_t to_leap, int64_t leap, int far)                           \
    {                                                                                                         \
        sl_join(to + at, from + start, stride, rows, count, to_step, step, high, to_leap, leap, far, k);      \
    }
SL_JOIN(2)
SL_JOIN(3)
SL_JOIN(4)

/* An axis of a transpose: index k = (t*high + h)*count + l has the offset l*step + h*leap + t*jump on the face where
 * it does not run fastest. */
typedef struct {
    int64_t count, step, high, leap, top, jump;
} sl_axis;

/* Those of one, two and three levels. */
SL_ALWAYS sl_axis sl_axis_1(int64_t count, int64_t step)
{
    return (sl_axis){count, step, 1, 0, 1, 0};
}
SL_ALWAYS sl_axis sl_axis_2(int64_t count, int64_t step, int64_t high, int64_t leap)
{
    return (sl_axis){count, step, high, leap, 1, 0};
}
SL_ALWAYS sl_axis sl_axis_3(int64_t count, int64_t step, int64_t high, int64_t leap, int64_t top, int64_t jump)
{
    return (sl_axis){count, step, high, leap, top, jump};
}

SL_INLINE int64_t sl_extent(const sl_axis *axis)
{
    return axis->count * axis->high * axis->top;
}

/* With fewer rows or columns tiles cost more than what they spare. */
#define SL_FEW 8

/* A tile is SL_TILE elements, a cache line, on both faces: to[row[i] + j] = from[i + column[j]]. */
#if SL_SHUFFLES
#define SL_TILE (64 / SL_ELEMENT_SIZE)
#else
#define SL_TILE 16
#endif

/* Offsets of *known* indices of an axis, less that of the first, which is *phase* after the begin of a level. */
typedef struct {
    int64_t phase, known, offset[SL_TILE];
} sl_lines;

/* Makes one of *lines*, of which there are two, those of *count* indices from *first* on, *count* <= SL_TILE, and
 * returns it; *at* becomes the offset of the first. */
SL_INLINE const int64_t *sl_seek(sl_lines *lines, const sl_axis *axis, int64_t first, int64_t count, int64_t *at)
{
    int64_t low = first, high = 0;
    if (axis->high > 1) {
        low = first % axis->count;
        high = first / axis->count % axis->high;
        *at = low * axis->step + high * axis->leap + first / axis->count / axis->high * axis->jump;
        /* What ends before its level does might begin anywhere in it. */
        if (high * axis->count + low + count <= axis->count * axis->high)
            high = 0;
    } else
        *at = first * axis->step;
    if (high == 0 && low + count <= axis->count)
        low = 0;
    const int64_t phase = high * axis->count + low;
    lines += phase > 0;
    if (phase != lines->phase || count > lines->known) {
        lines->phase = phase;
        lines->known = count;
        int64_t to = 0;
        for (int64_t k = 0; k < count; ++k) {
            lines->offset[k] = to;
            to += axis->step;
            if (++low < axis->count)
                continue;
            low = 0;
            to += axis->leap - axis->count * axis->step;
            if (++high == axis->high) {
                high = 0;
                to += axis->jump - axis->high * axis->leap;
            }
        }
    }
    return lines->offset;
}

#if SL_SHUFFLES
#define SL_GROUPS (SL_WIDE / 16)
/* Whether as many lines as there are groups make whole vectors of rows. */
#define SL_DENSE (SL_LANES >= SL_GROUPS)

/* Transposes SL_GROUPS squares of 16 bytes, side by side: to zip the first half of the rows with the second,
 * log2(SL_LANES) times, is to transpose.  The loops are unrolled, and all stays in registers. */
SL_ALWAYS void sl_transpose_squares(sl_wide row[SL_LANES])
{
    sl_wide zipped[SL_LANES];
    for (int zips = 1; zips < SL_LANES; zips *= 2) {
        for (int i = 0; i < SL_LANES / 2; ++i) {
            const sl_wide a = row[i], b = row[i + SL_LANES / 2];
            zipped[2 * i] = __builtin_shufflevector(a, b, SL_EACH_WIDE(SL_GROUP_LOW, 0, SL_MANY, SL_LANES));
            zipped[2 * i + 1] = __builtin_shufflevector(a, b, SL_EACH_WIDE(SL_GROUP_HIGH, 0, SL_MANY, SL_LANES));
        }
        for (int i = 0; i < SL_LANES; ++i)
            row[i] = zipped[i];
    }
}

/* Transposes the squares of 16 bytes themselves, SL_GROUPS by SL_GROUPS, in the same way. */
typedef uint64_t sl_pairs __attribute__((vector_size(SL_WIDE)));
SL_ALWAYS void sl_transpose_groups(sl_pairs row[SL_GROUPS])
{
#if SL_GROUPS > 1
    sl_pairs zipped[SL_GROUPS];
    for (int zips = 1; zips < SL_GROUPS; zips *= 2) {
        for (int i = 0; i < SL_GROUPS / 2; ++i) {
            const sl_pairs a = row[i], b = row[i + SL_GROUPS / 2];
#if SL_GROUPS == 4
            zipped[2 * i] = __builtin_shufflevector(a, b, 0, 1, 8, 9, 2, 3, 10, 11);
            zipped[2 * i + 1] = __builtin_shufflevector(a, b, 4, 5, 12, 13, 6, 7, 14, 15);
#else
            zipped[2 * i] = __builtin_shufflevector(a, b, 0, 1, 4, 5);
            zipped[2 * i + 1] = __builtin_shufflevector(a, b, 2, 3, 6, 7);
#endif
        }
        for (int i = 0; i < SL_GROUPS; ++i)
            row[i] = zipped[i];
    }
#else
    (void)row;
#endif
}

/* By way of a block on the stack: each line of the source is read whole, once, and each line of the output
 * written whole, so that strides of a power of two evict nothing half done. */
SL_APART void sl_transpose_tile(element *restrict to, const int64_t row[SL_TILE], const element *restrict from,
                                const int64_t column[SL_TILE])
{
    sl_pairs block[4 / SL_GROUPS][SL_LANES][4];
    for (int64_t part = 0; part < 4 / SL_GROUPS; ++part)
        for (int64_t square = 0; square < 4; ++square) {
            sl_wide line[SL_LANES];
            for (int64_t k = 0; k < SL_LANES; ++k)
                memcpy(&line[k], from + part * SL_MANY + column[square * SL_LANES + k], sizeof line[k]);
            sl_transpose_squares(line);
            for (int64_t k = 0; k < SL_LANES; ++k)
                block[part][k][square] = (sl_pairs)line[k];
        }
    for (int64_t part = 0; part < 4 / SL_GROUPS; ++part)
        for (int64_t k = 0; k < SL_LANES; ++k) {
            sl_pairs line[4];
            memcpy(line, block[part][k], sizeof line);
            for (int64_t square = 0; square < 4; square += SL_GROUPS)
                sl_transpose_groups(line + square);
            for (int64_t group = 0; group < SL_GROUPS; ++group)
                for (int64_t square = 0; square < 4; square += SL_GROUPS)
                    memcpy(to + row[(part * SL_GROUPS + group) * SL_LANES + k] + square * SL_LANES,
                           &line[square + group], SL_WIDE);
        }
}

/* Lines of 16 bytes side by side: line k of square g is at from + at[g*SL_LANES + k]. */
typedef uint64_t sl_pair __attribute__((vector_size(16)));
typedef uint64_t sl_quads __attribute__((vector_size(32)));
SL_ALWAYS sl_wide sl_load_squares(const element *from, const int64_t *at)
{
    sl_pair square[SL_GROUPS];
    for (int64_t g = 0; g < SL_GROUPS; ++g)
        memcpy(&square[g], from + at[g * SL_LANES], sizeof square[g]);
#if SL_GROUPS == 1
    return (sl_wide)square[0];
#elif SL_GROUPS == 2
    return (sl_wide)__builtin_shufflevector(square[0], square[1], 0, 1, 2, 3);
#else
    return (sl_wide)__builtin_shufflevector(__builtin_shufflevector(square[0], square[1], 0, 1, 2, 3),
                                            __builtin_shufflevector(square[2], square[3], 0, 1, 2, 3), 0, 1, 2, 3,
                                            4, 5, 6, 7);
#endif
}

/* SL_LANES rows, of which the first *rows* are written, by SL_MANY columns. */
SL_ALWAYS void sl_transpose_flat(element *restrict to, const int64_t row[SL_LANES], const element *restrict from,
                                 const int64_t column[SL_MANY], int64_t rows)
{
    sl_wide line[SL_LANES];
    for (int64_t k = 0; k < SL_LANES; ++k)
        line[k] = sl_load_squares(from, column + k);
    sl_transpose_squares(line);
    for (int64_t k = 0; k < SL_LANES; ++k)
        if (k < rows)
            memcpy(to + row[k], &line[k], sizeof line[k]);
}

/* Square g of each line, to the rows of that square: it is taken out of a register. */
#define SL_STORE_GROUP(g)                                                                                        \
    for (int64_t k = 0; k < SL_LANES; ++k) {                                                                     \
        const sl_pair square =                                                                                   \
            __builtin_shufflevector((sl_pairs)line[k], (sl_pairs)line[k], 2 * (g), 2 * (g) + 1);                 \
        memcpy(to + row[(g) * SL_LANES + k], &square, sizeof square);                                            \
    }

/* SL_MANY rows by SL_LANES columns, of which the first *columns* are read; something is written after them. */
SL_ALWAYS void sl_transpose_tall(element *restrict to, const int64_t row[SL_MANY], const element *restrict from,
                                 const int64_t column[SL_LANES], int64_t columns)
{
    sl_wide line[SL_LANES];
    for (int64_t k = 0; k < SL_LANES; ++k)
        memcpy(&line[k], from + column[sl_min(k, columns - 1)], sizeof line[k]);
    sl_transpose_squares(line);
    SL_STORE_GROUP(0)
#if SL_GROUPS > 1
    SL_STORE_GROUP(1)
#endif
#if SL_GROUPS > 2
    SL_STORE_GROUP(2)
    SL_STORE_GROUP(3)
#endif
}

/* The same for rows that follow each other: whole vectors are written. */
SL_APART void sl_transpose_dense(element *restrict to, const element *restrict from, const int64_t column[SL_LANES])
{
    sl_wide line[SL_LANES];
    for (int64_t k = 0; k < SL_LANES; ++k)
        memcpy(&line[k], from + column[k], sizeof line[k]);
    sl_transpose_squares(line);
    for (int64_t k = 0; SL_DENSE && k < SL_LANES; k += SL_GROUPS) {
        sl_pairs rows[SL_GROUPS];
        memcpy(rows, line + k, sizeof rows);
        sl_transpose_groups(rows);
        for (int64_t g = 0; g < SL_GROUPS; ++g)
            memcpy(to + (g * SL_LANES + k) * SL_LANES, &rows[g], sizeof rows[g]);
    }
}

/* One square of 16 bytes, of whose rows and columns the first are written and read, in the same way. */
SL_ALWAYS void sl_transpose_square(element *restrict to, const int64_t row[SL_LANES],
                                   const element *restrict from, const int64_t column[SL_LANES], int64_t rows,
                                   int64_t columns)
{
    sl_vector line[SL_LANES], zipped[SL_LANES];
    for (int64_t k = 0; k < SL_LANES; ++k)
        memcpy(&line[k], from + column[sl_min(k, columns - 1)], sizeof line[k]);
    for (int zips = 1; zips < SL_LANES; zips *= 2) {
        for (int k = 0; k < SL_LANES / 2; ++k) {
            const sl_vector a = line[k], b = line[k + SL_LANES / 2];
            zipped[2 * k] = __builtin_shufflevector(a, b, SL_EACH(SL_LOW, 0, SL_LANES));
            zipped[2 * k + 1] = __builtin_shufflevector(a, b, SL_EACH(SL_HIGH, 0, SL_LANES));
        }
        for (int k = 0; k < SL_LANES; ++k)
            line[k] = zipped[k];
    }
    for (int64_t k = 0; k < SL_LANES; ++k)
        if (k < rows)
            memcpy(to + row[k], &line[k], sizeof line[k]);
}

/* Whole ones.  Apart, since together they take more registers than there are. */
SL_APART void sl_flat_part(element *restrict to, const int64_t row[SL_LANES], const element *restrict from,
                           const int64_t column[SL_MANY])
{
    sl_transpose_flat(to, row, from, column, SL_LANES);
}
SL_APART void sl_tall_part(element *restrict to, const int64_t row[SL_MANY], const element *restrict from,
                           const int64_t column[SL_LANES])
{
    sl_transpose_tall(to, row, from, column, SL_LANES);
}

/* Two beside each other: a row is 32 bytes, and half as many stores do. */
#if SL_GROUPS > 1
SL_APART void sl_tall_pair(element *restrict to, const int64_t row[SL_MANY], const element *restrict from,
                           const int64_t column[2 * SL_LANES])
{
    sl_wide left[SL_LANES], right[SL_LANES];
    for (int64_t k = 0; k < SL_LANES; ++k)
        memcpy(&left[k], from + column[k], sizeof left[k]);
    sl_transpose_squares(left);
    for (int64_t k = 0; k < SL_LANES; ++k)
        memcpy(&right[k], from + column[SL_LANES + k], sizeof right[k]);
    sl_transpose_squares(right);
    SL_UNROLLED
    for (int64_t k = 0; k < SL_LANES; ++k) {
        const sl_pairs a = (sl_pairs)left[k], b = (sl_pairs)right[k];
#if SL_GROUPS == 4
        const sl_pairs low = __builtin_shufflevector(a, b, 0, 1, 8, 9, 2, 3, 10, 11);
        const sl_pairs high = __builtin_shufflevector(a, b, 4, 5, 12, 13, 6, 7, 14, 15);
        const sl_quads first = __builtin_shufflevector(low, low, 0, 1, 2, 3);
        const sl_quads second = __builtin_shufflevector(low, low, 4, 5, 6, 7);
        const sl_quads third = __builtin_shufflevector(high, high, 0, 1, 2, 3);
        const sl_quads fourth = __builtin_shufflevector(high, high, 4, 5, 6, 7);
        memcpy(to + row[2 * SL_LANES + k], &third, sizeof third);
        memcpy(to + row[3 * SL_LANES + k], &fourth, sizeof fourth);
#else
        const sl_quads first = __builtin_shufflevector(a, b, 0, 1, 4, 5);
        const sl_quads second = __builtin_shufflevector(a, b, 2, 3, 6, 7);
#endif
        memcpy(to + row[k], &first, sizeof first);
        memcpy(to + row[SL_LANES + k], &second, sizeof second);
    }
}
#endif

SL_APART void sl_square_part(element *restrict to, const int64_t row[SL_LANES], const element *restrict from,
                             const int64_t column[SL_LANES])
{
    sl_transpose_square(to, row, from, column, SL_LANES, SL_LANES);
}

/* A part of at most SL_TILE by SL_TILE, in squares, as many side by side as go; the last ones reach back.  *dense*:
 * the rows are as long as a square, and follow each other. */
SL_APART void sl_transpose_part(element *restrict to, const int64_t row[SL_TILE], const element *restrict from,
                                const int64_t column[SL_TILE], int64_t rows, int64_t columns, int dense)
{
    const int flat = columns >= SL_MANY, tall = !flat && rows >= SL_MANY;
    const int64_t high = tall ? SL_MANY : SL_LANES, wide = flat ? SL_MANY : SL_LANES;
    for (int64_t top = 0; top < rows; top += high)
        for (int64_t left = 0; left < columns; left += wide) {
            const int64_t i = sl_min(top, rows - high), j = sl_min(left, columns - wide);
            if (flat)
                sl_flat_part(to + j, row + i, from + i, column + j);
            else if (tall && dense)
                sl_transpose_dense(to + row[i], from + i, column);
#if SL_GROUPS > 1
            else if (tall && columns - left >= 2 * wide) {
                sl_tall_pair(to + j, row + i, from + i, column + j);
                left += wide;
            }
#endif
            else if (tall)
                sl_tall_part(to + j, row + i, from + i, column + j);
            else
                sl_square_part(to + j, row + i, from + i, column + j);
        }
}

/* sl_copy of its own, where it is called often and need not be fast. */
SL_APART void sl_copy_apart(element *restrict to, const element *restrict from, int64_t count)
{
    sl_copy(to, 0, from, 0, count);
}

/* A part that is thinner than a square.  It is filled up: with elements of the source that follow, of which there
 * are *readable* from *from* on, and in the output, where there are *writable* and the rows follow each other, with
 * what the next rows are written over; else by way of blocks on the stack. */
SL_APART void sl_transpose_thin(element *restrict to, const int64_t row[SL_TILE], const element *restrict from,
                                const int64_t column[SL_TILE], int64_t rows, int64_t columns, int64_t readable,
                                int64_t writable)
{
    const int64_t high = sl_min(rows, SL_LANES), wide = sl_min(columns, SL_LANES);
    int64_t first_i = 0, first_j = 0;
    if (rows < SL_LANES)
        for (; first_j + SL_MANY <= columns; first_j += SL_MANY) {
            if (column[first_j + SL_MANY - 1] + SL_LANES > readable)
                break;
            sl_transpose_flat(to + first_j, row, from, column + first_j, rows);
        }
    else
        for (; first_i + SL_MANY <= rows; first_i += SL_MANY) {
            if (row[first_i + SL_MANY - 1] + SL_LANES > writable)
                break;
            sl_transpose_tall(to, row + first_i, from + first_i, column, columns);
        }
    int64_t line[SL_LANES];
    for (int64_t k = 0; k < SL_LANES; ++k)
        line[k] = k * SL_LANES;
    for (int64_t top = first_i; top < rows; top += SL_LANES)
        for (int64_t left = first_j; left < columns; left += SL_LANES) {
            const int64_t i = sl_min(top, rows - high), j = sl_min(left, columns - wide);
            element block[2][SL_LANES * SL_LANES];
            const int reads = high == SL_LANES || column[j + wide - 1] + SL_LANES <= readable;
            const int writes = wide == SL_LANES || row[i + high - 1] + SL_LANES <= writable;
            if (reads && writes) {
                sl_transpose_square(to + j, row + i, from + i, column + j, high, wide);
                continue;
            }
            memset(block[0], 0, sizeof block[0]);
            for (int64_t k = 0; k < wide; ++k)
                sl_copy_apart(block[0] + k * SL_LANES, from + i + column[j + k], high);
            sl_square_part(block[1], line, block[0], line);
            for (int64_t k = 0; k < high; ++k)
                sl_copy_apart(to + j + row[i + k], block[1] + k * SL_LANES, wide);
        }
}

/* A few rows or columns of a plain transpose, but not fewer than a square: squares, along what is long. */
SL_APART void sl_transpose_band(element *restrict to, int64_t to_stride, const element *restrict from, int64_t stride,
                                int64_t rows, int64_t columns)
{
    for (int64_t top = 0; top < rows; top += SL_LANES)
        for (int64_t left = 0; left < columns; left += SL_LANES) {
            const int64_t i = sl_min(top, rows - SL_LANES), j = sl_min(left, columns - SL_LANES);
            int64_t row[SL_LANES], column[SL_LANES];
            for (int64_t k = 0; k < SL_LANES; ++k) {
                row[k] = k * to_stride;
                column[k] = k * stride;
            }
            sl_transpose_square(to + i * to_stride + j, row, from + i + j * stride, column, SL_LANES, SL_LANES);
        }
}
#else
#define SL_LANES SL_TILE
#define SL_DENSE 0

SL_APART void sl_transpose_part(element *restrict to, const int64_t row[SL_TILE], const element *restrict from,
                                const int64_t column[SL_TILE], int64_t rows, int64_t columns, int dense)
{
    (void)dense;
    for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j)
            to[row[i] + j] = from[i + column[j]];
}

SL_APART void sl_transpose_tile(element *restrict to, const int64_t row[SL_TILE], const element *restrict from,
                                const int64_t column[SL_TILE])
{
    sl_transpose_part(to, row, from, column, SL_TILE, SL_TILE, 0);
}

SL_APART void sl_transpose_thin(element *restrict to, const int64_t row[SL_TILE], const element *restrict from,
                                const int64_t column[SL_TILE], int64_t rows, int64_t columns, int64_t readable,
                                int64_t writable)
{
    (void)readable;
    (void)writable;
    sl_transpose_part(to, row, from, column, rows, columns, 0);
}

SL_APART void sl_transpose_band(element *restrict to, int64_t to_stride, const element *restrict from, int64_t stride,
                                int64_t rows, int64_t columns)
{
    sl_transpose_plain(to, to_stride, from, stride, rows, columns);
}
#endif

/* The elements before the first that begins a cache line, where that puts it at the begin or in the middle of one at
 * all offsets of *axis*; else 0, as where there are too few to tell. */
SL_INLINE int64_t sl_lead(const element *first, const sl_axis *axis, int64_t extent)
{
    const int64_t left = 64 - (int64_t)((uintptr_t)first % 64);
    const int same = (axis->step | axis->leap | axis->jump) * SL_ELEMENT_SIZE % 32 == 0 && left % SL_ELEMENT_SIZE == 0;
    return same && extent >= 4 * SL_TILE ? left / SL_ELEMENT_SIZE % SL_TILE : 0;
}

/* What of 0 <= k < extent a tile from *at* on takes, *at* after: its length.  One that is cut is made whole by
 * overlapping another, of squares. */
SL_INLINE int64_t sl_cut(int64_t *at, int64_t extent)
{
    const int64_t end = sl_min(extent, *at + SL_TILE), begin = sl_max(0, *at);
    const int64_t length = sl_min(extent, (end - begin + SL_LANES - 1) / SL_LANES * SL_LANES);
    *at = sl_min(begin, extent - length);
    return length;
}

/* So many tiles each way at a time that their lines, each perhaps in a page of its own, are a few hundred. */
#ifndef SL_TILES
#define SL_TILES 8
#endif
/* Arrays of fewer bytes than this are near. */
#ifndef SL_NEAR
#define SL_NEAR (INT64_C(4) << 20)
#endif

/* Whether SL_TILES tiles beside each other are held back, and whole pieces of rows written: where arrays are far; and
 * where rows lie so that more lines of a tile fall into a set of the nearest cache than it holds, so that to make room
 * for one would evict others before they are written.  A way of that cache has 4 KB or more. */
#define SL_HELD_STEP ((SL_TILES + 1) * SL_TILE)
SL_INLINE int sl_is_held(const sl_axis *rows, int near, int far)
{
    const int64_t step = rows->step * SL_ELEMENT_SIZE, sets = 64 / sl_max(1, sl_min(step & -step, 4096) / 64);
    return SL_SHUFFLES && rows->high == 1 && step % 64 == 0 && (far || (!near && SL_TILE > 12 * sets));
}

/* Reads ahead a quarter of what a tile reads the next four times, all four lines of a row at once.  Number *turn* of
 * four tiles, one under the other, reads the quarter *turn*; *from* is where it begins. */
SL_INLINE void sl_read_ahead(const element *from, const int64_t column[SL_TILE], int64_t turn)
{
    for (int64_t k = turn * (SL_TILE / 4); k < (turn + 1) * (SL_TILE / 4); ++k)
        for (int64_t line = 4; line < 8; ++line)
            __builtin_prefetch(from + column[k] + (line - turn) * SL_TILE, 0, 2);
}

#if SL_SHUFFLES
/* Stores a vector, where there is a way to, past the caches. */
SL_ALWAYS void sl_stream(element *to, sl_pairs v)
{
#if SL_PAST
    sl_store_past(to, (sl_line)v);
#else
    memcpy(to, &v, sizeof v);
#endif
}

/* The first *rows* rows of what is held, *count* elements each, go to their places. */
SL_APART void sl_release(element *restrict to, const int64_t *row, const element *restrict held, int64_t rows,
                         int64_t count, int far)
{
    const int whole = (uintptr_t)to % 64 == 0 && count % SL_TILE == 0;
    for (int64_t i = 0; i < rows; ++i) {
        if (!whole) {
            sl_copy(to, row[i], held, i * SL_HELD_STEP, count);
            continue;
        }
        for (int64_t k = 0; k < count; k += SL_MANY) {
            sl_pairs v;
            memcpy(&v, held + i * SL_HELD_STEP + k, sizeof v);
            if (far)
                sl_stream(to + row[i] + k, v);
            else
                memcpy(to + row[i] + k, &v, sizeof v);
        }
    }
}
#else
SL_APART void sl_release(element *restrict to, const int64_t *row, const element *restrict held, int64_t rows,
                         int64_t count, int far)
{
    (void)far;
    for (int64_t i = 0; i < rows; ++i)
        sl_copy(to, row[i], held, i * SL_HELD_STEP, count);
}
#endif

/* A transpose between the axes *rows* and *columns*, *turns* times: tiles, SL_TILES by SL_TILES of them at a time, since
 * pages are few too.  They begin where lines do, if there is such a place. */
SL_APART void sl_transpose_tiles(element *restrict to, const sl_axis *rows, const element *restrict from,
                                 const sl_axis *columns, const sl_turns *turns)
{
    const int64_t height = sl_extent(rows), width = sl_extent(columns), few = sl_min(height, width);
    const int band = few >= SL_LANES && few < SL_FEW && rows->high == 1 && columns->high == 1;
    /* Then rows follow each other where no level ends: in the lines that begin with one, the first of the two. */
    const int dense = SL_DENSE && width == SL_LANES && rows->step == SL_LANES && rows->count >= SL_TILE;
    /* None where offsets do not grow, since of each square only the last is compared with it. */
    const int64_t none = INT64_MIN / 2, steps = (columns->count - 1) * columns->step;
    const int64_t leaps = steps + (columns->high - 1) * columns->leap;
    const int upwards = columns->step >= 0 && (columns->high == 1 || columns->leap >= steps) &&
        (columns->top == 1 || columns->jump >= leaps);
    const int64_t readable = upwards ? leaps + (columns->top - 1) * columns->jump + height : none;
    const int64_t writable = rows->step == width && rows->high == 1 && width < SL_LANES ? height * width : none;
    sl_lines lines[2], across[SL_TILES][2];
    lines[0].phase = lines[1].phase = -1;
    for (int64_t k = 0; k < SL_TILES; ++k)
        across[k][0].phase = across[k][1].phase = -1;
    /* Tiles read what they write over line by line, so that to spare it pays from two thirds of SL_FAR on. */
    const int near = height < SL_NEAR / SL_ELEMENT_SIZE / width;
    const int far = height >= SL_FAR / 3 * 2 / SL_ELEMENT_SIZE / width;
    const int hold = width >= 2 * SL_TILE && sl_is_held(rows, near, far);
    element held[SL_TILE * SL_HELD_STEP] __attribute__((aligned(64)));
    int64_t held_row[SL_TILE];
    for (int64_t k = 0; k < SL_TILE; ++k)
        held_row[k] = k * SL_HELD_STEP;
    for (int64_t turn = 0; turn < turns->count * turns->high; ++turn) {
        const int64_t c = turn % turns->count, h = turn / turns->count;
        element *const into = to + c * turns->to_step + h * turns->to_leap;
        const element *const out_of = from + c * turns->step + h * turns->leap;
        if (band) {
            sl_transpose_band(into, rows->step, out_of, columns->step, height, width);
            continue;
        }
        const int64_t lead_i = sl_lead(out_of, columns, height), lead_j = sl_lead(into, rows, width);
        const int64_t first_i = lead_i > 0 ? lead_i - SL_TILE : 0, first_j = lead_j > 0 ? lead_j - SL_TILE : 0;
        const int64_t down = hold || far ? height - first_i : SL_TILES * SL_TILE;
        for (int64_t top = first_i; top < height; top += down)
            for (int64_t left = first_j; left < width; left += SL_TILES * SL_TILE) {
                const int64_t *column[SL_TILES];
                int64_t right[SL_TILES], read[SL_TILES], wide[SL_TILES], tiles = 0;
                for (int64_t beside = left; beside < sl_min(width, left + SL_TILES * SL_TILE);
                     beside += SL_TILE, ++tiles) {
                    right[tiles] = beside;
                    wide[tiles] = sl_cut(&right[tiles], width);
                    column[tiles] = sl_seek(across[tiles], columns, right[tiles], wide[tiles], &read[tiles]);
                }
                for (int64_t below = top; below < sl_min(height, top + down); below += SL_TILE) {
                    int64_t i = below, write;
                    const int64_t high = sl_cut(&i, height), *const row = sl_seek(lines, rows, i, high, &write);
                    const int ahead = (hold || far) && high == SL_TILE && below + 8 * SL_TILE <= height;
                    for (int64_t k = 0; k < tiles; ++k) {
                        const element *const source = out_of + read[k] + i;
                        element *const target = hold ? held + (right[k] - right[0]) : into + write + right[k];
                        const int64_t *const at = hold ? held_row : row;
                        if (ahead && wide[k] == SL_TILE)
                            sl_read_ahead(source, column[k], (below - top) / SL_TILE % 4);
                        if (high == SL_TILE && wide[k] == SL_TILE)
                            sl_transpose_tile(target, at, source, column[k]);
                        else if (high >= SL_LANES && wide[k] >= SL_LANES)
                            sl_transpose_part(target, at, source, column[k], high, wide[k], dense && row == lines->offset);
                        else
                            sl_transpose_thin(target, at, source, column[k], high, wide[k], readable - i - read[k],
                                              hold ? none : writable - write);
                    }
                    if (hold)
                        sl_release(into + write + right[0], row, held, high,
                                   right[tiles - 1] + wide[tiles - 1] - right[0], far);
                }
            }
        if (hold && far)
            sl_settle();
    }
}

/* The same indices and offsets with as few levels as the extents and strides of this call allow. */
SL_APART sl_axis sl_flat_axis(sl_axis axis)
{
    for (int twice = 0; twice < 2; ++twice) {
        if (axis.high == 1 || axis.jump == axis.high * axis.leap)
            axis = (sl_axis){axis.count, axis.step, axis.high * axis.top, axis.high == 1 ? axis.jump : axis.leap, 1, 0};
        if (axis.count == 1 || axis.leap == axis.count * axis.step)
            axis = (sl_axis){axis.count * axis.high, axis.count == 1 ? axis.leap : axis.step, axis.top, axis.jump, 1, 0};
    }
    return axis.high == 1 ? (sl_axis){axis.count, axis.step, 1, 0, 1, 0} : axis;
}

/* What may be done by either axis makes the shorter one longer: a level of *far* that goes on where *near* ends. */
SL_APART void sl_lend(sl_axis *near, sl_axis *far)
{
    if (near->high == 1 && far->high > 1 && far->top == 1 && far->leap == near->count && near->count < far->count) {
        *near = sl_flat_axis((sl_axis){near->count, near->step, far->high, far->count, 1, 0});
        far->high = 1;
    }
}

/* One long transpose instead of many, so that tiles span whole lines: turns that go on where the axis ends. */
SL_APART void sl_join_turns(sl_axis *axis, int64_t along, int64_t across, sl_turns *turns)
{
    if (turns->count > 1 && axis->top == 1 && along == axis->count * axis->high) {
        *axis = sl_flat_axis((sl_axis){axis->count, axis->step, axis->high, axis->leap, turns->count, across});
        *turns = (sl_turns){turns->high, turns->to_leap, turns->leap, 1, 0, 0};
    }
}

/* to[at + offset of i + j] = from[start + i + offset of j] for all i of *rows* and j of *columns*, *turns* times, by the
 * way that the strides ask for. */
SL_APART void sl_transpose(element *restrict to, int64_t at, sl_axis rows, const element *restrict from,
                           int64_t start, sl_axis columns, sl_turns turns, int far)
{
    if (rows.count <= 0 || rows.high <= 0 || rows.top <= 0 || columns.count <= 0 || columns.high <= 0 ||
        columns.top <= 0 || turns.count <= 0 || turns.high <= 0)
        return;
    to += at;
    from += start;
    rows = sl_flat_axis(rows);
    columns = sl_flat_axis(columns);
    for (int twice = 0; twice < 2; ++twice) {
        sl_join_turns(&columns, turns.to_step, turns.step, &turns);
        sl_join_turns(&rows, turns.step, turns.to_step, &turns);
    }
    sl_lend(&columns, &rows);
    sl_lend(&rows, &columns);
    const int64_t few = rows.count, wide = columns.count;
    const int splits = rows.high == 1 && few == columns.step && few >= 2 && few <= 4 && columns.top == 1;
    const int joins = columns.high == 1 && wide == rows.step && wide >= 2 && wide <= 4 && rows.top == 1;
    if (!splits && !joins) {
        sl_transpose_tiles(to, &rows, from, &columns, &turns);
        return;
    }
    for (int64_t turn = 0; turn < turns.count * turns.high; ++turn) {
        const int64_t c = turn % turns.count, h = turn / turns.count;
        const int64_t into = c * turns.to_step + h * turns.to_leap, out_of = c * turns.step + h * turns.leap;
        if (splits)
            (few == 2 ? sl_split_2 : few == 3 ? sl_split_3 : sl_split_4)(
                to, into, rows.step, from, out_of, wide, columns.high, wide, columns.leap, 1, 0, 0, far);
        else
            (wide == 2 ? sl_join_2 : wide == 3 ? sl_join_3 : sl_join_4)(
                to, into, from, out_of, columns.step, few, rows.high, rows.leap, few, 1, 0, 0, far);
    }
}

#endif
