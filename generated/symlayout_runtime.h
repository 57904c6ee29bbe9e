/* What generated kernels call.  Define SL_ELEMENT_SIZE, the bytes of an element, before including; and
 * SL_NUMBER, a type of that size, where elements are added.  Joined of the parts in emit/runtime/ of
 * symlayout_codegen; each begins with a comment that says what it holds, assumes and needs. */
#ifndef SYMLAYOUT_RUNTIME_H
#define SYMLAYOUT_RUNTIME_H

#if defined __GNUC__ && !defined __clang__
#pragma GCC optimize("no-ipa-ra")
#endif

/* What the compiler and the processor have, and the type of an element.
 *
 * Assumes: SL_ELEMENT_SIZE, the bytes of an element, is defined; and SL_NUMBER, a type of that size, where
 * elements are added.
 * Needs no other part. */

#include <stdint.h>
#include <string.h>

#define SL_INLINE static inline __attribute__((unused))
/* Not inlined, and not cloned for constant arguments: gcc's clones take a fifth of the compile time. */
#ifdef __clang__
#define SL_OUT_OF_LINE static __attribute__((noinline, unused))
#else
#define SL_OUT_OF_LINE static __attribute__((noinline, noclone, unused))
#endif
/* A function of transposes that may be compiled apart, once for many kernels, and linked to each: then SL_LINKED is
 * defined in both texts. */
#ifndef SL_LINKED
#define SL_LINKABLE SL_OUT_OF_LINE
#elif defined __clang__
#define SL_LINKABLE __attribute__((visibility("hidden"), noinline))
#else
#define SL_LINKABLE __attribute__((visibility("hidden"), noinline, noclone))
#endif
/* Runs once in a process: the compiler takes little time for it. */
#define SL_ONCE SL_OUT_OF_LINE __attribute__((cold))
#define SL_ALWAYS_INLINE static inline __attribute__((always_inline, unused))
/* Before a loop over vectors that must stay in registers; before a loop of a move or two, which would take half as long
 * again where it lies across two lines of code. */
#ifdef __clang__
#define SL_UNROLL _Pragma("unroll")
#define SL_UNROLL_4 _Pragma("unroll 4")
#else
#define SL_UNROLL _Pragma("GCC unroll 16")
#define SL_UNROLL_4 _Pragma("GCC unroll 4")
#endif

/* Does a statement for each *k* from 0 to *n* - 1, both numbers: it stands *n* times in the text.  A loop that is
 * unrolled takes gcc longer: until then, arrays of vectors are memory. */
#define SL_REPEAT(n, k, ...) SL_REPEAT_TIMES(n, k, __VA_ARGS__)
#define SL_REPEAT_TIMES(n, k, ...) SL_REPEAT_##n(k, 0, __VA_ARGS__)
#define SL_REPEAT_1(k, first, ...)                                                                                   \
    {                                                                                                                \
        enum { k = (first) };                                                                                        \
        __VA_ARGS__;                                                                                                 \
    }
#define SL_REPEAT_2(k, first, ...) SL_REPEAT_1(k, first, __VA_ARGS__) SL_REPEAT_1(k, first + 1, __VA_ARGS__)
#define SL_REPEAT_4(k, first, ...) SL_REPEAT_2(k, first, __VA_ARGS__) SL_REPEAT_2(k, first + 2, __VA_ARGS__)
#define SL_REPEAT_8(k, first, ...) SL_REPEAT_4(k, first, __VA_ARGS__) SL_REPEAT_4(k, first + 4, __VA_ARGS__)
#define SL_REPEAT_16(k, first, ...) SL_REPEAT_8(k, first, __VA_ARGS__) SL_REPEAT_8(k, first + 8, __VA_ARGS__)
#define SL_REPEAT_32(k, first, ...) SL_REPEAT_16(k, first, __VA_ARGS__) SL_REPEAT_16(k, first + 16, __VA_ARGS__)

/* In a short loop: the compiler makes neither vectors of it nor, if it copies, a call of memcpy, which cost more. */
#define SL_KEEP_LOOP() __asm__ volatile("" ::: "memory")

/* Whether vectors of elements can be shuffled: gcc 12 and later, clang. */
#define SL_HAS_SHUFFLES 0
#ifdef __has_builtin
#if __has_builtin(__builtin_shufflevector)
#undef SL_HAS_SHUFFLES
#define SL_HAS_SHUFFLES (SL_ELEMENT_SIZE == 1 || SL_ELEMENT_SIZE == 2 || SL_ELEMENT_SIZE == 4 || SL_ELEMENT_SIZE == 8)
#endif
#endif

/* Bytes of the widest vector that one instruction shuffles. */
#ifdef __AVX512BW__
#define SL_VECTOR_BYTES 64
#elif defined __AVX2__
#define SL_VECTOR_BYTES 32
#else
#define SL_VECTOR_BYTES 16
#endif

/* Whether there are loads and stores of the first bytes of a vector. */
#if defined __AVX512BW__ && defined __AVX512VL__ && defined __BMI2__
#define SL_HAS_BYTE_MASKS 1
#else
#define SL_HAS_BYTE_MASKS 0
#endif

/* An element moves as bytes: it needs no alignment, and may alias any type. */
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

/* Integers: checked arithmetic for arguments, floor division, the interval of a window.
 *
 * Assumes: nothing of the values of the checked functions; the others say what they require.
 * Needs: base. */

/* ---- checked: arguments are whatever the caller passed ---- */

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

/* ---- unchecked: inside the loops, where every value is in range ---- */

/* floor(a / b) as in Python.  Requires b > 0.  A carry from digit to digit is mostly 0: the comparison finds that in
 * a tenth of the time of a division. */
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

/* floor((a + c) / b) where a + c may be beyond int64; sets *overflow where b is not positive. */
SL_INLINE int64_t sl_checked_ceil_div(int64_t a, int64_t c, int64_t b, int *overflow)
{
    const int64_t whole = sl_checked_floor_div(a, b, overflow);
    const int64_t rest = sl_floor_mod(a, b > 0 ? b : 1);
    return sl_add(whole, sl_floor_div(sl_add(rest, c, overflow), b > 0 ? b : 1), overflow);
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

/* Sets *first and *last so that 0 <= base + step*d < extent holds for *first <= d < *last and for no other d of
 * 0 <= d < count.  step may have any sign.  0 <= *first <= *last <= max(count, 0). */
SL_INLINE void sl_interval(int64_t base, int64_t step, int64_t extent, int64_t count, int64_t *first, int64_t *last)
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

/* Accumulate: elements of the source are added to those of the output.  Empty without SL_NUMBER.
 *
 * Assumes: output and source do not overlap.
 * Needs: integers. */

#ifdef SL_NUMBER
/* to[at + i] += from[start + i] for 0 <= i < count. */
SL_INLINE void sl_accumulate(element *restrict to, int64_t at, const element *restrict from, int64_t start,
                             int64_t count)
{
    for (int64_t i = 0; i < count; ++i)
        to[at + i] = (element)(to[at + i] + from[start + i]);
}

/* How many sums are computed side by side, and how many rows of one column at a time. */
#define SL_SUMS_ABREAST 8
#define SL_SUM_BLOCK_ROWS 1024

/* to[i + j] += from[i*step + j*each] for 0 <= i < rows, 0 <= j < columns, where begin <= i + j < end. */
SL_INLINE void sl_accumulate_sums(element *restrict to, const element *restrict from, int64_t step, int64_t each,
                                  int64_t rows, int64_t columns, int64_t begin, int64_t end)
{
    for (int64_t k = begin; k < end; ++k) {
        element sum = to[k];
        for (int64_t j = sl_min(k, columns - 1); j > k - rows && j >= 0; --j)
            sum = (element)(sum + from[(k - j) * step + j * each]);
        to[k] = sum;
    }
}

/* The same for all i + j.  Runs overlap, each one element on from the run before: each sum is made at once. */
SL_OUT_OF_LINE void sl_accumulate_overlapping(element *restrict to, const element *restrict from, int64_t step,
                                              int64_t each, int64_t rows, int64_t columns)
{
    int64_t done = sl_min(columns - 1, rows);
    sl_accumulate_sums(to, from, step, each, rows, columns, 0, done);
    if (columns == 3) {
        const int64_t back = each - step;
        for (; done < rows; ++done) {
            const element *const last = from + done * step;
            const element first = (element)(to[done] + last[2 * back]);
            to[done] = (element)((element)(first + last[back]) + last[0]);
        }
    }
    sl_accumulate_sums(to, from, step, each, rows, columns, done, rows + columns - 1);
}

/* to[at + i*to_step + j*to_each] += from[start + i*step + j*each] for 0 <= i < rows, 0 <= j < columns.  Each element
 * of the output is added to in the order of i, then j: the result of a float sum depends on nothing else. */
SL_OUT_OF_LINE void sl_accumulate_rows(element *restrict to, int64_t at, int64_t to_step, int64_t to_each,
                                       const element *restrict from, int64_t start, int64_t step, int64_t each,
                                       int64_t rows, int64_t columns)
{
    int64_t i = 0;
    to += at;
    from += start;
    if (to_each == 1 && to_step == 1 && 1 < columns && columns < rows) {
        sl_accumulate_overlapping(to, from, step, each, rows, columns);
        i = rows;
    } else if (to_each == 0 && to_step != 0) /* a row is one sum: several sums abreast, each in order */
        for (; i + SL_SUMS_ABREAST <= rows; i += SL_SUMS_ABREAST) {
            element sum[SL_SUMS_ABREAST];
            for (int64_t k = 0; k < SL_SUMS_ABREAST; ++k)
                sum[k] = to[(i + k) * to_step];
            for (int64_t j = 0; j < columns; ++j)
                for (int64_t k = 0; k < SL_SUMS_ABREAST; ++k)
                    sum[k] = (element)(sum[k] + from[(i + k) * step + j * each]);
            for (int64_t k = 0; k < SL_SUMS_ABREAST; ++k)
                to[(i + k) * to_step] = sum[k];
        }
    else if (to_each > 0 && to_step > 0 && columns < rows) /* greater i, smaller j: last column first */
        for (; i < rows; i += SL_SUM_BLOCK_ROWS)
            for (int64_t j = columns - 1; j >= 0; --j)
                for (int64_t k = i; k < sl_min(rows, i + SL_SUM_BLOCK_ROWS); ++k)
                    to[k * to_step + j * to_each] =
                        (element)(to[k * to_step + j * to_each] + from[k * step + j * each]);
    for (; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j)
            to[i * to_step + j * to_each] = (element)(to[i * to_step + j * to_each] + from[i * step + j * each]);
}
#endif

/* Vectors of bytes and of elements, and how they are loaded and stored.
 *
 * Assumes: nothing of alignment, nor of the type of what lies in memory.
 * Needs: base. */

/* Defines a vector of *bytes* bytes, its load and its store.  Not by memcpy: gcc 12 copies a vector of more than 16
 * bytes by halves through the stack, and the load of the whole waits for both stores to reach the cache. */
#define SL_DEFINE_BYTES(suffix, bytes)                                                                               \
    typedef char sl_bytes_##suffix __attribute__((vector_size(bytes)));                                              \
    typedef char sl_bytes_##suffix##_anywhere __attribute__((vector_size(bytes), aligned(1), may_alias));            \
    SL_ALWAYS_INLINE sl_bytes_##suffix sl_load_##suffix(const void *from)                                            \
    {                                                                                                                \
        return *(const sl_bytes_##suffix##_anywhere *)from;                                                          \
    }                                                                                                                \
    SL_ALWAYS_INLINE void sl_store_##suffix(void *to, sl_bytes_##suffix v)                                           \
    {                                                                                                                \
        *(sl_bytes_##suffix##_anywhere *)to = v;                                                                     \
    }
SL_DEFINE_BYTES(8, 8)
SL_DEFINE_BYTES(16, 16)
#if SL_VECTOR_BYTES >= 32
SL_DEFINE_BYTES(32, 32)
#endif
SL_DEFINE_BYTES(max, SL_VECTOR_BYTES)

/* Whether an instruction shuffles bytes by computed indices, and can give zeros. */
#if defined __SSSE3__ || (defined __aarch64__ && !defined __clang__ && SL_HAS_SHUFFLES)
#define SL_HAS_INDEXED_SHUFFLES 1
/* Byte i of the result is byte index[i] of v, or 0 where the index is SL_ZERO_BYTE; of others, the lowest four bits
 * count. */
#define SL_ZERO_BYTE 0x90
SL_ALWAYS_INLINE sl_bytes_16 sl_shuffle_bytes(sl_bytes_16 v, sl_bytes_16 index)
{
#ifdef __SSSE3__
    return __builtin_ia32_pshufb128(v, index);
#else
    typedef uint8_t bytes __attribute__((vector_size(16)));
    return (sl_bytes_16)__builtin_shuffle((bytes)v, (bytes){0}, (bytes)index); /* indices modulo 32 */
#endif
}
#else
#define SL_HAS_INDEXED_SHUFFLES 0
#endif

#if SL_HAS_SHUFFLES
/* A lane: an element as an unsigned integer. */
#if SL_ELEMENT_SIZE == 1
typedef uint8_t sl_lane;
#elif SL_ELEMENT_SIZE == 2
typedef uint16_t sl_lane;
#elif SL_ELEMENT_SIZE == 4
typedef uint32_t sl_lane;
#else
typedef uint64_t sl_lane;
#endif
typedef sl_lane sl_lanes_16 __attribute__((vector_size(16)));
typedef sl_lane sl_lanes_32 __attribute__((vector_size(32)));
typedef sl_lane sl_lanes __attribute__((vector_size(SL_VECTOR_BYTES)));
#endif

/* Masks: vectors read and written in part (AVX-512BW and VL).  Empty without SL_HAS_BYTE_MASKS.
 *
 * Assumes: nothing of alignment.  Bytes without a bit in the mask are not touched, and need not be readable.
 * Needs: integers, vectors. */

#if SL_HAS_BYTE_MASKS
/* The mask of the first *bytes* bytes, 0 <= bytes. */
SL_ALWAYS_INLINE uint64_t sl_first_bytes(int64_t bytes)
{
    return bytes >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << bytes) - 1;
}

/* Defines, for a vector of bytes: a load of the bytes in the mask, the others 0; a load that keeps the others
 * of a vector; a store of the bytes in the mask; a copy of rows.  The smallest vector that holds a row is the
 * fastest: an access that touches two cache lines takes twice the time, masked or not. */
#define SL_DEFINE_MASKED(suffix, bits, mask_type)                                                                    \
    SL_ALWAYS_INLINE sl_bytes_##suffix sl_masked_load_##suffix(const void *from, uint64_t mask)                      \
    {                                                                                                                \
        return __builtin_ia32_loaddquqi##bits##_mask(from, (sl_bytes_##suffix){0}, (mask_type)mask);                 \
    }                                                                                                                \
    SL_ALWAYS_INLINE sl_bytes_##suffix sl_masked_merge_##suffix(sl_bytes_##suffix others, const void *from,          \
                                                                uint64_t mask)                                       \
    {                                                                                                                \
        return __builtin_ia32_loaddquqi##bits##_mask(from, others, (mask_type)mask);                                 \
    }                                                                                                                \
    SL_ALWAYS_INLINE void sl_masked_store_##suffix(void *to, sl_bytes_##suffix v, uint64_t mask)                     \
    {                                                                                                                \
        __builtin_ia32_storedquqi##bits##_mask(to, v, (mask_type)mask);                                              \
    }                                                                                                                \
    SL_ALWAYS_INLINE void sl_masked_copy_rows_##suffix(element *restrict to, int64_t to_step,                        \
                                                       const element *restrict from, int64_t step, int64_t rows,     \
                                                       uint64_t mask)                                                \
    {                                                                                                                \
        SL_UNROLL_4                                                                                                  \
        for (int64_t i = 0; i < rows; ++i)                                                                           \
            sl_masked_store_##suffix(to + i * to_step, sl_masked_load_##suffix(from + i * step, mask), mask);        \
    }
SL_DEFINE_MASKED(16, 128, uint16_t)
SL_DEFINE_MASKED(32, 256, uint32_t)
SL_DEFINE_MASKED(max, 512, uint64_t)

/* The mask of elements *low* <= i < *high*. */
SL_ALWAYS_INLINE uint64_t sl_byte_range(int64_t low, int64_t high)
{
    return sl_first_bytes(sl_max(high, 0) * SL_ELEMENT_SIZE) & ~sl_first_bytes(sl_max(low, 0) * SL_ELEMENT_SIZE);
}
#endif

/* Copy of one run of elements.
 *
 * Assumes: output and source do not overlap.  Offsets and counts are in elements; a count <= 0 copies nothing.
 * Needs: masks. */

/* Copies 32 bytes. */
SL_ALWAYS_INLINE void sl_copy_32(unsigned char *restrict to, const unsigned char *restrict from)
{
#if SL_VECTOR_BYTES >= 32
    sl_store_32(to, sl_load_32(from));
#else
    sl_store_16(to, sl_load_16(from));
    sl_store_16(to + 16, sl_load_16(from + 16));
#endif
}

/* Copies *bytes* bytes, a literal: a power of two, at most 64. */
SL_ALWAYS_INLINE void sl_copy_literal(unsigned char *restrict to, const unsigned char *restrict from,
                                      const size_t bytes)
{
    if (bytes == 64) {
        sl_copy_32(to, from);
        sl_copy_32(to + 32, from + 32);
    } else if (bytes == 32)
        sl_copy_32(to, from);
    else if (bytes == 16)
        sl_store_16(to, sl_load_16(from));
    else
        memcpy(to, from, bytes);
}

/* Copies *bytes* bytes, half <= bytes <= 2*half, as the first and the last *half*, a literal: two moves, no loop. */
SL_ALWAYS_INLINE void sl_copy_overlapping_ends(unsigned char *restrict to, const unsigned char *restrict from,
                                               size_t bytes, const size_t half)
{
    sl_copy_literal(to, from, half);
    if (bytes != half)
        sl_copy_literal(to + bytes - half, from + bytes - half, half);
}

/* More bytes than this are copied by memcpy: its setup pays off there, and not below. */
#define SL_LIBRARY_COPY_BYTES 2048

/* Copies *bytes* >= 64 bytes in blocks of 64; the last block overlaps the one before. */
SL_ALWAYS_INLINE void sl_copy_blocks(unsigned char *restrict to, const unsigned char *restrict from, int64_t bytes)
{
    for (int64_t k = 0; k < bytes - 64; k += 64)
        sl_copy_literal(to + k, from + k, 64);
    sl_copy_literal(to + bytes - 64, from + bytes - 64, 64);
}

/* From so many bytes on, stores of 32 bytes begin at a multiple of 32: past the caches, a line that a store crosses
 * into takes up to half as long again. */
#define SL_ALIGNED_COPY_BYTES 256

/* Copies *bytes* >= 64 bytes. */
SL_OUT_OF_LINE void sl_copy_long(unsigned char *restrict to, const unsigned char *restrict from, int64_t bytes)
{
    int64_t lead = 0;
    if (bytes > SL_LIBRARY_COPY_BYTES) {
        memcpy(to, from, (size_t)bytes);
        return;
    }
    if (SL_VECTOR_BYTES >= 32 && bytes >= SL_ALIGNED_COPY_BYTES) {
        sl_copy_literal(to, from, 32);
        lead = 32 - (int64_t)((uintptr_t)to % 32);
    }
    sl_copy_blocks(to + lead, from + lead, bytes - lead);
}

/* to[at + i] = from[start + i] for 0 <= i < count. */
SL_INLINE void sl_copy(element *restrict to, int64_t at, const element *restrict from, int64_t start, int64_t count)
{
    if (count <= 0)
        return;
    unsigned char *const into = (unsigned char *)(to + at);
    const unsigned char *const out_of = (const unsigned char *)(from + start);
    const size_t bytes = (size_t)count * sizeof(element);
    if (bytes > 64)
        sl_copy_long(into, out_of, (int64_t)bytes);
#if SL_HAS_BYTE_MASKS
    else if (bytes > 32)
        sl_masked_copy_rows_max(to + at, 0, from + start, 0, 1, sl_first_bytes((int64_t)bytes));
    else if (bytes > 16)
        sl_masked_copy_rows_32(to + at, 0, from + start, 0, 1, sl_first_bytes((int64_t)bytes));
    else
        sl_masked_copy_rows_16(to + at, 0, from + start, 0, 1, sl_first_bytes((int64_t)bytes));
#else
    else if (bytes >= 32)
        sl_copy_overlapping_ends(into, out_of, bytes, 32);
    else if (bytes >= 16)
        sl_copy_overlapping_ends(into, out_of, bytes, 16);
    else if (bytes >= 8)
        sl_copy_overlapping_ends(into, out_of, bytes, 8);
    else if (bytes >= 4)
        sl_copy_overlapping_ends(into, out_of, bytes, 4);
    else if (bytes >= 2)
        sl_copy_overlapping_ends(into, out_of, bytes, 2);
    else
        *into = *out_of;
#endif
}

/* What a processor says of itself.
 *
 * Assumes: nothing.
 * Needs: base. */

#if defined __x86_64__
/* What the instruction cpuid returns for *leaf* and *part*. */
SL_INLINE void sl_cpuid(uint32_t leaf, uint32_t part, uint32_t word[4])
{
    __asm__ volatile("cpuid" : "=a"(word[0]), "=b"(word[1]), "=c"(word[2]), "=d"(word[3]) : "0"(leaf), "2"(part));
}
#endif

/* The sizes of the processor's caches, as the processor states them when a kernel runs: may be compiled apart.
 *
 * Assumes: nothing.
 * Needs: cpuid. */

/* Bytes of the data cache of *level*, 1 to 3, where the processor does not state them. */
#define SL_USUAL_CACHE_BYTES(level) (INT64_C(1) << ((level) == 1 ? 15 : (level) == 2 ? 20 : 25))

#if defined __x86_64__
/* Bytes of the data cache of *level*; 0 if the processor does not state them.  Intel's and AMD's leaves are alike. */
SL_ONCE int64_t sl_stated_cache_bytes(uint32_t level)
{
    static const uint32_t leaves[2] = {4, 0x8000001D};
    for (int vendor = 0; vendor < 2; ++vendor) {
        uint32_t word[4];
        sl_cpuid(leaves[vendor] & 0x80000000, 0, word);
        for (uint32_t part = 0, last = word[0]; part < 8 && leaves[vendor] <= last; ++part) {
            sl_cpuid(leaves[vendor], part, word);
            const uint32_t kind = word[0] & 31;
            if (kind == 0)
                break;
            if (kind != 2 && (word[0] >> 5 & 7) == level)
                return ((int64_t)(word[1] >> 22) + 1) * ((word[1] >> 12 & 1023) + 1) * ((word[1] & 4095) + 1) *
                       ((int64_t)word[2] + 1);
        }
    }
    return 0;
}
#endif

/* Bytes of the data cache of *level*, 1 to 3.  The processor is asked once: a virtual one takes microseconds. */
SL_LINKABLE int64_t sl_cache_bytes(int level)
{
    static int64_t known[3];
    int64_t bytes = __atomic_load_n(&known[level - 1], __ATOMIC_RELAXED);
    if (bytes <= 0) {
#if defined __x86_64__
        bytes = sl_stated_cache_bytes((uint32_t)level);
#endif
        bytes = bytes > 0 ? bytes : SL_USUAL_CACHE_BYTES(level);
        __atomic_store_n(&known[level - 1], bytes, __ATOMIC_RELAXED);
    }
    return bytes;
}

/* Which arrays are near, and how the processor stores to its caches.
 *
 * Assumes: nothing.
 * Needs: base, cache_sizes, cpuid. */

#ifdef SL_LINKED
/* Bytes of the data cache of *level*, 1 to 3: see cache_sizes. */
SL_LINKABLE int64_t sl_cache_bytes(int level);
#endif

/* Whether a store that waits for its line holds up a loop of tiles: then it pays to fetch the lines of the output, and
 * to collect rows that begin anywhere in a line.  On AMD's Zen, and Hygon's, both cost more than they save. */
#ifndef SL_STORES_WAIT
SL_OUT_OF_LINE int sl_stores_wait(void)
{
    static int known; /* 0, or 1 more than the answer */
    int answer = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (answer == 0) {
        answer = 2;
#if defined __x86_64__
        uint32_t word[4];
        sl_cpuid(0, 0, word); /* the vendor: AuthenticAMD, HygonGenuine */
        answer -= word[1] == 0x68747541 || word[1] == 0x6f677948;
#endif
        __atomic_store_n(&known, answer, __ATOMIC_RELAXED);
    }
    return answer - 1;
}
#define SL_STORES_WAIT sl_stores_wait()
#endif

/* An output of fewer bytes than this is near: the second-level cache holds it beside the source.  One of fewer than
 * SL_NEAR_LEAST is near without that the size of the cache is asked for. */
#ifdef SL_NEAR_BYTES
#ifndef SL_NEAR_LEAST
#define SL_NEAR_LEAST SL_NEAR_BYTES
#endif
#else
#define SL_NEAR_BYTES (sl_cache_bytes(2) / 2)
#ifndef SL_NEAR_LEAST
#define SL_NEAR_LEAST (INT64_C(128) << 10)
#endif
#endif

/* The fewest bytes of each of many transposes whose lines are fetched. */
#ifndef SL_TURN_LEAST
#define SL_TURN_LEAST (SL_ELEMENT_SIZE >= 4 ? 2048 : 8192)
#endif

/* Far stores: an output larger than the last-level cache is written around the caches (non-temporal stores).
 *
 * Assumes: a store is of a whole vector at an address that is a multiple of its size, and the kernel ends with
 * sl_store_fence.
 * Needs: caches, integers, vectors. */

/* Bytes from which an output is far: more than the last-level cache holds, or than is left of a large one beside what
 * else is read and written. */
#ifndef SL_FAR_BYTES
#define SL_FAR_BYTES sl_min(INT64_C(24) << 20, sl_cache_bytes(3))
#define SL_FAR_LEAST (INT64_C(1) << 20) /* below, the size of the cache is not asked for */
#else
#define SL_FAR_LEAST SL_FAR_BYTES
#endif

/* Whether the compiler has non-temporal stores, and those of vectors.  Elsewhere they are ordinary ones. */
#if defined __clang__ || defined __SSE2__
#define SL_HAS_FAR_STORES 1
#else
#define SL_HAS_FAR_STORES 0
#endif
#define SL_DEFINE_FAR_STORE(suffix, builtin, bytes)                                                                  \
    typedef long long sl_quadwords_##suffix __attribute__((vector_size(bytes)));                                     \
    SL_ALWAYS_INLINE void sl_store_far_##suffix(void *to, sl_bytes_##suffix v)                                       \
    {                                                                                                                \
        builtin;                                                                                                     \
    }
#if defined __clang__
#define SL_STORE_FAR(suffix, intrinsic) __builtin_nontemporal_store(v, (sl_bytes_##suffix *)to)
#elif defined __SSE2__
#define SL_STORE_FAR(suffix, intrinsic) intrinsic((sl_quadwords_##suffix *)to, (sl_quadwords_##suffix)v)
#else
#define SL_STORE_FAR(suffix, intrinsic) sl_store_##suffix(to, v)
#endif
SL_DEFINE_FAR_STORE(16, SL_STORE_FAR(16, __builtin_ia32_movntdq), 16)
#if SL_VECTOR_BYTES >= 32
SL_DEFINE_FAR_STORE(32, SL_STORE_FAR(32, __builtin_ia32_movntdq256), 32)
#endif
#if SL_VECTOR_BYTES == 64
SL_DEFINE_FAR_STORE(max, SL_STORE_FAR(max, __builtin_ia32_movntdq512), 64)
#elif SL_VECTOR_BYTES == 32
SL_DEFINE_FAR_STORE(max, SL_STORE_FAR(max, __builtin_ia32_movntdq256), 32)
#else
SL_DEFINE_FAR_STORE(max, SL_STORE_FAR(max, __builtin_ia32_movntdq), 16)
#endif

/* Whether an output of *elements* elements is far. */
SL_INLINE int sl_is_far(int64_t elements)
{
    if (!SL_HAS_FAR_STORES || elements < SL_FAR_LEAST / SL_ELEMENT_SIZE)
        return 0;
    return elements >= SL_FAR_BYTES / SL_ELEMENT_SIZE;
}

/* Orders non-temporal stores before the stores that follow. */
SL_INLINE void sl_store_fence(void)
{
#if defined __SSE2__
    __builtin_ia32_sfence();
#else
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/* Bytes from *to* to the next cache line; 0 at the begin of one. */
SL_INLINE int64_t sl_bytes_to_line(const void *to)
{
    return -(int64_t)((uintptr_t)to & 63) & 63;
}

/* The first group of *each* elements that begins a cache line, at *to* and at *to* + *stride* alike; -1 if none. */
SL_INLINE int64_t sl_first_group_in_line(const element *to, int64_t stride, int64_t each)
{
    const int64_t lead = sl_bytes_to_line(to), group = each * SL_ELEMENT_SIZE;
    return lead % group != 0 || stride * SL_ELEMENT_SIZE % 64 != 0 ? -1 : lead / group;
}

/* Where vectors of *n* groups begin after one at group 0, of *count* groups in a row, so that no store from there on
 * crosses a cache line; 0 where that cannot be or does not pay.  Large arrays of malloc begin 16 bytes after a line. */
SL_INLINE int64_t sl_second_vector(const element *to, int64_t stride, int64_t each, int64_t count, int64_t n)
{
    return count < 4 * n ? 0 : sl_max(0, sl_first_group_in_line(to, stride, each) % n);
}

/* Reach: how far an output is, and which of its lines are fetched before they are written.
 *
 * Assumes: nothing.
 * Needs: far_stores, integers. */

/* An output is in the nearest cache; or it is written around the caches; or stores wait for its lines, so that splits
 * fetch them ahead. */
#define SL_NEAREST 0
#define SL_FAR 1
#define SL_FETCHED 2

/* An output of fewer bytes than this is in the nearest cache beside the source, whatever the size of that cache. */
#define SL_NEAREST_LEAST (INT64_C(16) << 10)

/* The reach of an output of *elements* elements. */
SL_INLINE int sl_reach(int64_t elements)
{
    const int64_t least = SL_NEAREST_LEAST / SL_ELEMENT_SIZE;
    if (sl_is_far(elements))
        return SL_FAR;
    return elements >= least && SL_STORES_WAIT && elements >= sl_cache_bytes(1) / 2 / SL_ELEMENT_SIZE ? SL_FETCHED
                                                                                                    : SL_NEAREST;
}

/* So many bytes before a line is written, it is fetched. */
#define SL_FETCHED_AHEAD 128

/* Fetches the line that each of k streams, *to_stride* apart, comes to. */
SL_ALWAYS_INLINE void sl_fetch_streams(const element *to, int64_t to_stride, const int k)
{
    SL_UNROLL
    for (int i = 0; i < k; ++i)
        __builtin_prefetch((const char *)(to + i * to_stride) + SL_FETCHED_AHEAD, 1, 3);
}

/* The same for the lines of a row of *columns* elements of each stream, if *reach* says so. */
SL_ALWAYS_INLINE void sl_fetch_row(int reach, const element *to, int64_t to_stride, int64_t columns, const int k)
{
    if (reach == SL_FETCHED)
        for (int64_t line = 0; line < columns; line += sl_max(1, 64 / SL_ELEMENT_SIZE))
            sl_fetch_streams(to + line, to_stride, k);
}

/* Copy of rows of equal length, in turns: the way to move a row is chosen once for all of them.
 *
 * Assumes: output and source do not overlap.  Offsets and counts are in elements; a count <= 0 copies nothing.
 * Needs: copy, reach. */

/* Copies *rows* rows of *bytes* bytes, half <= bytes <= 2*half, each as its first and last *half*, a literal. */
SL_ALWAYS_INLINE void sl_copy_rows_by(element *restrict to, int64_t to_step, const element *restrict from,
                                      int64_t step, int64_t rows, size_t bytes, const size_t half)
{
#define SL_COPY_ROW(i)                                                                                               \
    sl_copy_overlapping_ends((unsigned char *)(to + i * to_step), (const unsigned char *)(from + i * step), bytes, half)
    if (half <= SL_VECTOR_BYTES) {
        SL_UNROLL_4
        for (int64_t i = 0; i < rows; ++i)
            SL_COPY_ROW(i);
    } else
        for (int64_t i = 0; i < rows; ++i)
            SL_COPY_ROW(i);
#undef SL_COPY_ROW
}

/* Copies *bytes* >= 64 bytes: whole cache lines by non-temporal stores. */
SL_OUT_OF_LINE void sl_copy_nontemporal(unsigned char *restrict to, const unsigned char *restrict from, int64_t bytes)
{
    int64_t k = sl_bytes_to_line(to); /* no line is written both ways */
    memcpy(to, from, (size_t)k);
    for (; k + 64 <= bytes; k += 64)
        for (int64_t j = k; j < k + 64; j += SL_VECTOR_BYTES)
            sl_store_far_max(to + j, sl_load_max(from + j));
    memcpy(to + k, from + k, (size_t)(bytes - k));
}

/* Runs the code that it is given for each row i of each turn. */
#define SL_FOR_EACH_ROW(...)                                                                                         \
    for (int64_t t = 0; t < turns; ++t, to += to_leap, from += leap)                                                 \
        for (int64_t i = 0; i < rows; ++i)                                                                           \
            __VA_ARGS__
#define SL_FOR_EACH_TURN_OF_ROWS(...)                                                                                \
    for (int64_t t = 0; t < turns; ++t, to += to_leap, from += leap)                                                 \
        __VA_ARGS__

/* to[t*to_leap + i*to_step + j] = from[t*leap + i*step + j] for 0 <= t < turns, 0 <= i < rows, 0 <= j < count. */
SL_OUT_OF_LINE void sl_copy_turns(element *restrict to, int64_t to_leap, int64_t to_step,
                                  const element *restrict from, int64_t leap, int64_t step, int64_t turns,
                                  int64_t rows, int64_t count, int reach)
{
    const size_t bytes = (size_t)count * sizeof(element);
    if (count == 1 && to_step == 1 && step == -1)
        SL_FOR_EACH_ROW(to[i] = from[-i]);
    else if (count == 1 && to_step == 1 && step == 2)
        SL_FOR_EACH_ROW(to[i] = from[2 * i]);
    else if (count == 1)
        SL_FOR_EACH_ROW(to[i * to_step] = from[i * step]);
    else if (reach == SL_FAR && bytes >= 512)
        SL_FOR_EACH_ROW(sl_copy_nontemporal((unsigned char *)(to + i * to_step),
                                            (const unsigned char *)(from + i * step), (int64_t)bytes));
    else if (bytes > SL_LIBRARY_COPY_BYTES)
        SL_FOR_EACH_ROW(memcpy(to + i * to_step, from + i * step, bytes));
    else if (bytes > 64)
        SL_FOR_EACH_ROW(sl_copy_blocks((unsigned char *)(to + i * to_step), (const unsigned char *)(from + i * step),
                                       (int64_t)bytes));
    else if (bytes == 64)
        SL_FOR_EACH_TURN_OF_ROWS(sl_copy_rows_by(to, to_step, from, step, rows, 64, 64));
    else if (bytes == 32)
        SL_FOR_EACH_TURN_OF_ROWS(sl_copy_rows_by(to, to_step, from, step, rows, 32, 32));
    else if (bytes == 16)
        SL_FOR_EACH_TURN_OF_ROWS(sl_copy_rows_by(to, to_step, from, step, rows, 16, 16));
#if SL_HAS_BYTE_MASKS
    else if (bytes > 32)
        SL_FOR_EACH_TURN_OF_ROWS(
            sl_masked_copy_rows_max(to, to_step, from, step, rows, sl_first_bytes((int64_t)bytes)));
    else if (bytes > 16)
        SL_FOR_EACH_TURN_OF_ROWS(
            sl_masked_copy_rows_32(to, to_step, from, step, rows, sl_first_bytes((int64_t)bytes)));
    else
        SL_FOR_EACH_TURN_OF_ROWS(
            sl_masked_copy_rows_16(to, to_step, from, step, rows, sl_first_bytes((int64_t)bytes)));
#else
    else if (bytes > 32)
        SL_FOR_EACH_TURN_OF_ROWS(sl_copy_rows_by(to, to_step, from, step, rows, bytes, 32));
    else if (bytes > 16)
        SL_FOR_EACH_TURN_OF_ROWS(sl_copy_rows_by(to, to_step, from, step, rows, bytes, 16));
    else if (bytes >= 8)
        SL_FOR_EACH_TURN_OF_ROWS(sl_copy_rows_by(to, to_step, from, step, rows, bytes, 8));
    else if (bytes >= 4)
        SL_FOR_EACH_TURN_OF_ROWS(sl_copy_rows_by(to, to_step, from, step, rows, bytes, 4));
    else
        SL_FOR_EACH_TURN_OF_ROWS(sl_copy_rows_by(to, to_step, from, step, rows, bytes, 2));
#endif
}

/* What calls of a kernel wanted: ways to move elements that it is not linked to, and can be.
 *
 * Assumes: nothing.
 * Needs: base. */

/* The bits of ways: row plans, 1 << k for k streams, those of small matrices, of large arrays where
 * stores do not wait and where they do, and of narrow ones. */
#define SL_ROW_PLANS_WAY 1
#define SL_ALL_STREAMS (1 << 2 | 1 << 3 | 1 << 4)
#define SL_SMALL_WAY (1 << 5)
#define SL_LARGE_WAY(waits) (1 << (6 + (waits)))
#define SL_NARROW_WAY (1 << 8)

#ifdef SL_WAYS_LATER
static int32_t sl_wanted_ways;
#define SL_WANTED_WAYS &sl_wanted_ways
#else
#define SL_WANTED_WAYS 0
#endif

/* Adds *ways* to those that are *wanted*, unless nothing can be linked later. */
SL_INLINE void sl_want(int32_t *wanted, int32_t ways)
{
    if (wanted)
        __atomic_fetch_or(wanted, ways, __ATOMIC_RELAXED);
}

/* Plans: what rows are planned with, and the prototypes of row_plans, which may be compiled apart.
 *
 * Assumes: nothing.
 * Needs: vectors, wanted. */

/* Plans are lists of indices. */
#define SL_HAS_ROW_PLANS SL_HAS_INDEXED_SHUFFLES

/* What one statement of a kernel has planned, empty at first.  A block of *turns* turns has *bytes* bytes, at least 16,
 * in *lanes* of 16; the last one may overlap the one before.  A lane is put together from *windows* windows, 16 bytes
 * of the source each; those of lane l have the numbers l*windows to l*windows + windows - 1. */
#define SL_BLOCK_TURNS 16  /* at most */
#define SL_BLOCK_LANES 4   /* more are slower, and are only taken for longer turns */
#define SL_LANE_WINDOWS 8  /* at most */
#define SL_ROW_WINDOWS 4   /* more pay only for elements that lie apart on both sides */
#define SL_PLAN_WINDOWS 64 /* at most, of all lanes */
typedef struct {
    int64_t run, runs, between, leap, rows; /* what it is for: see sl_plan_rows */
    int64_t turn, turns, bytes;             /* turn: the bytes of one */
    int lanes, windows;                     /* lanes: 0 where nothing is planned */
    int64_t from[SL_PLAN_WINDOWS];
    unsigned char index[SL_PLAN_WINDOWS][16];
} sl_plan;

/* An empty plan. */
SL_ALWAYS_INLINE void sl_no_plan(sl_plan *plan)
{
    plan->run = 0;
}

/* Whether plans pay for *rows* rows of *bytes* bytes of runs of *run* bytes: longer runs are moved by whole vectors. */
SL_ALWAYS_INLINE int sl_is_planned(int64_t run, int64_t bytes, int64_t rows)
{
    return run < 16 && bytes >= 32 && bytes * rows >= 128;
}

/* Whether a kernel has row plans, or none that it needs yet. */
#ifndef SL_ROW_PLANS
#define SL_ROW_PLANS 1
#endif
#if SL_HAS_ROW_PLANS && !SL_ROW_PLANS
/* Plans nothing, so that rows are copied in another way. */
SL_INLINE int sl_plan_rows(sl_plan *plan, int64_t runs, int64_t between, int64_t run, int64_t leap, int64_t rows)
{
    (void)plan, (void)runs, (void)between, (void)run, (void)leap, (void)rows;
    sl_want(SL_WANTED_WAYS, SL_ROW_PLANS_WAY);
    return 0;
}
SL_INLINE void sl_write_rows(const sl_plan *plan, unsigned char *restrict to, const unsigned char *restrict from,
                             int64_t leap, int64_t length, int64_t count, int64_t to_step, int64_t step)
{
    (void)plan, (void)to, (void)from, (void)leap, (void)length, (void)count, (void)to_step, (void)step;
}
#elif defined SL_LINKED && SL_HAS_ROW_PLANS
/* Plans rows of turns with any offsets, rows of turns whose runs lie *between* apart, and writes rows by a plan: see
 * row_plans. */
SL_LINKABLE int sl_plan_turns(sl_plan *plan, const int64_t *offset, int64_t runs, int64_t run, int64_t leap,
                              int64_t rows);
SL_LINKABLE int sl_plan_rows(sl_plan *plan, int64_t runs, int64_t between, int64_t run, int64_t leap, int64_t rows);
SL_LINKABLE void sl_write_rows(const sl_plan *plan, unsigned char *restrict to, const unsigned char *restrict from,
                               int64_t leap, int64_t length, int64_t count, int64_t to_step, int64_t step);
#endif

/* Row plans: rows of the output that are put together from short runs of the source, the same ones in each turn.  16
 * bytes are written at once, by byte shuffles whose indices are computed beforehand: for the turns of a block.
 *
 * Assumes: output and source do not overlap.  Offsets, leaps and lengths are in bytes.
 * Needs: integers, plans, vectors. */

#if SL_HAS_ROW_PLANS && SL_ROW_PLANS
/* How many turns of *turn* bytes, at most *rows*, fill lanes best; 0 if they have less than 16 bytes. */
SL_ONCE int64_t sl_turns_of_block(int64_t turn, int64_t rows)
{
    int64_t best = 0, most = 0; /* 256 where lanes are filled */
    for (int64_t turns = 1; turns <= rows && turns <= SL_BLOCK_TURNS && most < 240; ++turns) {
        const int64_t bytes = turns * turn, lanes = (bytes + 15) / 16, filled = bytes * 16 / lanes;
        if (lanes > SL_BLOCK_LANES && best > 0)
            break;
        if (bytes >= 16 && filled > most) {
            best = turns;
            most = filled;
        }
    }
    return best;
}

/* Plans a lane: the windows that have its bytes, which come from *source*, and end before *end*; the windows after them
 * add zeros.  Returns how many there are; more than SL_LANE_WINDOWS if they are too many. */
SL_ONCE int sl_plan_lane(const int64_t source[16], int64_t end, int64_t from[SL_LANE_WINDOWS],
                         unsigned char index[SL_LANE_WINDOWS][16])
{
    unsigned missing = 0xffff;
    int windows = 0;
    for (; missing; ++windows) {
        if (windows == SL_LANE_WINDOWS)
            return windows + 1;
        int64_t first = end - 16;
        for (int b = 0; b < 16; ++b)
            if (missing >> b & 1)
                first = sl_min(first, source[b]);
        for (int b = 0; b < 16; ++b) {
            const int64_t at = source[b] - first;
            const int found = (missing >> b & 1) && at >= 0 && at < 16;
            index[windows][b] = (unsigned char)(found ? at : SL_ZERO_BYTE);
            missing &= ~((unsigned)found << b);
        }
        from[windows] = first;
    }
    for (int w = windows; w < SL_LANE_WINDOWS; ++w) {
        from[w] = from[0];
        memset(index[w], SL_ZERO_BYTE, 16);
    }
    return windows;
}

/* Plans rows of *rows* turns: turn t of a row is *runs* runs of *run* bytes, one after the other, and run u of turn t
 * begins at offset[u] + t*leap.  Returns whether there is a plan. */
SL_LINKABLE __attribute__((cold)) int sl_plan_turns(sl_plan *plan, const int64_t *offset, int64_t runs, int64_t run,
                                                    int64_t leap, int64_t rows)
{
    const int64_t turn = runs * run, turns = sl_turns_of_block(turn, rows), bytes = turns * turn;
    const int lanes = (int)((bytes + 15) / 16);
    plan->turn = turn;
    plan->turns = turns;
    plan->bytes = bytes;
    plan->windows = plan->lanes = 0;
    int64_t begin = INT64_MAX, end = INT64_MIN; /* of what a block reads */
    for (int64_t u = 0; u < runs; ++u) {
        begin = sl_min(begin, offset[u] + sl_min(0, (turns - 1) * leap));
        end = sl_max(end, offset[u] + run + sl_max(0, (turns - 1) * leap));
    }
    if (turns == 0 || end - begin < 16 || lanes > SL_PLAN_WINDOWS)
        return 0;
    int64_t from[SL_PLAN_WINDOWS][SL_LANE_WINDOWS];
    unsigned char index[SL_PLAN_WINDOWS][SL_LANE_WINDOWS][16];
    for (int lane = 0; lane < lanes; ++lane) {
        const int64_t at = sl_min(lane * 16, bytes - 16);
        int64_t source[16], t = at / turn, u = at / run % runs, byte = at % run;
        for (int b = 0; b < 16; ++b) {
            source[b] = offset[u] + t * leap + byte;
            if (++byte == run) {
                byte = 0;
                if (++u == runs) {
                    u = 0;
                    ++t;
                }
            }
        }
        const int windows = sl_plan_lane(source, end, from[lane], index[lane]);
        plan->windows = (int)sl_max(plan->windows, windows > 4 ? windows + (windows & 1) : windows);
        if (plan->windows > SL_LANE_WINDOWS || plan->windows * lanes > SL_PLAN_WINDOWS)
            return 0;
    }
    plan->lanes = lanes;
    for (int lane = 0; lane < lanes; ++lane) {
        memcpy(plan->from + lane * plan->windows, from[lane], (size_t)plan->windows * sizeof *from[lane]);
        memcpy(plan->index + lane * plan->windows, index[lane], (size_t)plan->windows * 16);
    }
    return 1;
}

/* Plans the same where run u begins at u*between, unless *plan* is for that already, or for rows about as long. */
SL_LINKABLE int sl_plan_rows(sl_plan *plan, int64_t runs, int64_t between, int64_t run, int64_t leap,
                                int64_t rows)
{
    rows = sl_min(rows, SL_BLOCK_TURNS);
    if (plan->run == run && plan->runs == runs && plan->between == between && plan->leap == leap &&
        (plan->rows == rows || (plan->lanes > 0 && plan->turns <= rows && rows <= 2 * plan->rows)))
        return plan->lanes > 0;
    plan->run = run;
    plan->runs = runs;
    plan->between = between;
    plan->leap = leap;
    plan->rows = rows;
    plan->lanes = 0;
    int64_t offset[SL_PLAN_WINDOWS];
    for (int64_t u = 0; u < runs && u < SL_PLAN_WINDOWS; ++u)
        offset[u] = u * between;
    if (runs > SL_PLAN_WINDOWS || !sl_plan_turns(plan, offset, runs, run, leap, rows))
        return 0;
    plan->lanes = plan->windows > SL_ROW_WINDOWS ? 0 : plan->lanes;
    return plan->lanes > 0;
}

/* Rows of blocks: *count* rows that begin *to_step* and *step* apart.  Of a row, blocks begin at the multiples of the
 * block's bytes, *jump* apart in the source, and the last one begins at *to_last*, from *last* on. */
typedef struct {
    int64_t count, to_step, step, jump, to_last, last;
} sl_planned_rows;

/* Writes *bytes* bytes of a block: *lanes* lanes of *windows* windows, which begin at *at*, *i* bytes on. */
SL_ALWAYS_INLINE void sl_write_block(unsigned char *restrict to, int64_t bytes, const unsigned char *const *at,
                                     int64_t i, const sl_bytes_16 *index, const int lanes, const int windows)
{
    SL_UNROLL
    for (int lane = 0; lane < lanes; ++lane) {
        sl_bytes_16 v = sl_shuffle_bytes(sl_load_16(at[lane * windows] + i), index[lane * windows]);
        SL_UNROLL
        for (int w = lane * windows + 1; w < (lane + 1) * windows; ++w)
            v |= sl_shuffle_bytes(sl_load_16(at[w] + i), index[w]);
        sl_store_16(lane == lanes - 1 ? to + bytes - 16 : to + 16 * lane, v);
    }
}

/* Writes *lanes* lanes of rows of blocks, from *first* on, of *windows* windows, both literals, whose indices stay in
 * registers. */
SL_ALWAYS_INLINE void sl_write_blocks(const sl_plan *plan, unsigned char *restrict to,
                                      const unsigned char *restrict from, const sl_planned_rows *rows, int first,
                                      const int lanes, const int windows)
{
    sl_bytes_16 index[SL_BLOCK_LANES * SL_ROW_WINDOWS];
    const unsigned char *at[SL_BLOCK_LANES * SL_ROW_WINDOWS];
    const int64_t bytes = plan->bytes, jump = rows->jump, written = sl_min(16 * lanes, bytes - 16 * first);
    SL_UNROLL
    for (int w = 0; w < lanes * windows; ++w) {
        index[w] = sl_load_16(plan->index[first * windows + w]);
        at[w] = from + plan->from[first * windows + w];
    }
    to += 16 * first;
    for (int64_t row = 0; row < rows->count; ++row) {
        const int64_t to_last = row * rows->to_step + rows->to_last, last = row * rows->step + rows->last;
        int64_t o = row * rows->to_step, i = row * rows->step;
        for (; o < to_last; o += bytes, i += jump)
            sl_write_block(to + o, written, at, i, index, lanes, windows);
        sl_write_block(to + to_last, written, at, last, index, lanes, windows);
    }
}

/* Writes one lane of rows of blocks, of two to four windows. */
SL_OUT_OF_LINE void sl_write_one_lane(const sl_plan *plan, unsigned char *restrict to,
                                      const unsigned char *restrict from, const sl_planned_rows *rows, int lane)
{
    if (plan->windows == 2)
        sl_write_blocks(plan, to, from, rows, lane, 1, 2);
    else if (plan->windows == 3)
        sl_write_blocks(plan, to, from, rows, lane, 1, 3);
    else
        sl_write_blocks(plan, to, from, rows, lane, 1, 4);
}

/* Writes lane *lane* of *count* blocks, of *windows* windows, a literal. */
SL_ALWAYS_INLINE void sl_write_lane_of(const sl_plan *plan, unsigned char *restrict to,
                                       const unsigned char *restrict from, int64_t jump, int64_t count, int lane,
                                       const int windows)
{
    sl_bytes_16 index[SL_LANE_WINDOWS];
    const unsigned char *at[SL_LANE_WINDOWS];
    SL_UNROLL
    for (int w = 0; w < windows; ++w) {
        index[w] = sl_load_16(plan->index[lane * windows + w]);
        at[w] = from + plan->from[lane * windows + w];
    }
    const int64_t bytes = plan->bytes; /* kept, whatever a store may write to */
    to += sl_min(16 * lane, bytes - 16);
    for (int64_t block = 0; block < count; ++block, to += bytes)
        sl_write_block(to, 16, at, block * jump, index, 1, windows);
}
SL_OUT_OF_LINE void sl_write_lane(const sl_plan *plan, unsigned char *restrict to, const unsigned char *restrict from,
                                  int64_t jump, int64_t count, int lane)
{
    const sl_planned_rows row = {1, 0, 0, jump, (count - 1) * plan->bytes, (count - 1) * jump};
    if (plan->windows == 1)
        sl_write_lane_of(plan, to, from, jump, count, lane, 1);
    else if (plan->windows <= 4)
        sl_write_one_lane(plan, to, from, &row, lane);
    else if (plan->windows == 6)
        sl_write_lane_of(plan, to, from, jump, count, lane, 6);
    else
        sl_write_lane_of(plan, to, from, jump, count, lane, SL_LANE_WINDOWS);
}

/* Blocks of many lanes are written lane by lane: so many at once that the lines of so many bytes stay in the nearest
 * cache, and no fewer than pay for the indices of a lane. */
#define SL_BYTES_AT_ONCE 4096
#define SL_BLOCKS_AT_ONCE 8

/* Writes rows of blocks of any number of lanes and windows. */
SL_INLINE void sl_write_long_blocks(const sl_plan *plan, unsigned char *restrict to,
                                    const unsigned char *restrict from, const sl_planned_rows *rows)
{
    const int64_t blocks = (rows->to_last + plan->bytes - 1) / plan->bytes; /* without the last */
    const int64_t most = sl_max(SL_BLOCKS_AT_ONCE, SL_BYTES_AT_ONCE / plan->bytes);
    for (int64_t row = 0; row < rows->count; ++row, to += rows->to_step, from += rows->step) {
        for (int64_t first = 0; first < blocks; first += most)
            for (int lane = 0; lane < plan->lanes; ++lane)
                sl_write_lane(plan, to + first * plan->bytes, from + first * rows->jump, rows->jump,
                              sl_min(most, blocks - first), lane);
        for (int lane = 0; lane < plan->lanes; ++lane)
            sl_write_lane(plan, to + rows->to_last, from + rows->last, 0, 1, lane);
    }
}

/* The longest row, in bytes, that is written in two passes: the first-level cache keeps it. */
#define SL_TWICE_BYTES 8192

/* Writes two lanes of three windows, for several callers: each copy takes the compiler 10 ms. */
SL_OUT_OF_LINE void sl_write_two_lanes(const sl_plan *plan, unsigned char *restrict to,
                                       const unsigned char *restrict from, const sl_planned_rows *rows, int first)
{
    sl_write_blocks(plan, to, from, rows, first, 2, 3);
}

/* Writes rows of blocks lane by lane: so many rows at once as the first-level cache keeps. */
SL_INLINE void sl_write_lanes(const sl_plan *plan, unsigned char *restrict to, const unsigned char *restrict from,
                              const sl_planned_rows *rows)
{
    const int64_t most = SL_BYTES_AT_ONCE / (rows->to_last + 16) + 1;
    sl_planned_rows part = *rows;
    for (int64_t first = 0; first < rows->count; first += most) {
        part.count = sl_min(most, rows->count - first);
        for (int lane = 0; lane < plan->lanes; ++lane)
            sl_write_one_lane(plan, to + first * rows->to_step, from + first * rows->step, &part, lane);
    }
}

/* Writes *count* rows of *length* turns, at least those of a block, *leap* apart in the source; the rows begin
 * *to_step* and *step* apart.  The last block of a row overlaps the one before. */
SL_LINKABLE void sl_write_rows(const sl_plan *plan, unsigned char *restrict to, const unsigned char *restrict from,
                                  int64_t leap, int64_t length, int64_t count, int64_t to_step, int64_t step)
{
    const int64_t before = length - plan->turns;
    const sl_planned_rows rows = {count, to_step, step, plan->turns * leap, before * plan->turn, before * leap};
#define SL_WRITE_CASE(l, w)                                                                                          \
    case (l) * 8 + (w):                                                                                              \
        sl_write_blocks(plan, to, from, &rows, 0, l, w);                                                               \
        return;
    switch (plan->lanes * 8 + plan->windows) { /* the usual ones: each takes the compiler 10 ms */
        SL_WRITE_CASE(2, 2)
        SL_WRITE_CASE(3, 2)
        SL_WRITE_CASE(4, 2)
        SL_WRITE_CASE(3, 3)
    case 2 * 8 + 3:
        sl_write_two_lanes(plan, to, from, &rows, 0);
        return;
    case 4 * 8 + 3: /* twelve addresses at once are more than there are registers */
        if (rows.to_last <= SL_TWICE_BYTES) {
            sl_write_two_lanes(plan, to, from, &rows, 0);
            sl_write_two_lanes(plan, to, from, &rows, 2);
        } else
            sl_write_blocks(plan, to, from, &rows, 0, 4, 3);
        return;
    default:
        if (plan->windows >= 2 && plan->windows <= 4 && (plan->lanes == 1 || rows.to_last <= SL_BYTES_AT_ONCE))
            sl_write_lanes(plan, to, from, &rows);
        else
            sl_write_long_blocks(plan, to, from, &rows);
    }
#undef SL_WRITE_CASE
}
#endif

/* Short rows: several rows at once, by one byte permutation whose indices are computed beforehand.
 *
 * Assumes: output and source do not overlap.  Offsets, steps and counts of the copy are in bytes.
 * Needs: integers, vectors. */

/* Bytes of the permuted vector; 0 where no instruction permutes bytes by computed indices. */
#if SL_VECTOR_BYTES == 64 && defined __AVX512VBMI__
#define SL_PERMUTE_BYTES 64
#else
#define SL_PERMUTE_BYTES 0
#endif
/* The longest row, in bytes, that is permuted, and the least number of rows in a vector. */
#define SL_SHORT_ROW_BYTES 16
#define SL_SHORT_ROWS_PER_VECTOR 4

#if SL_PERMUTE_BYTES
typedef uint8_t sl_permuted_bytes __attribute__((vector_size(SL_PERMUTE_BYTES)));
typedef char sl_permuted_chars __attribute__((vector_size(SL_PERMUTE_BYTES)));
#define SL_LOAD_PERMUTED(from) ((sl_permuted_bytes)sl_load_max(from))
#define SL_STORE_PERMUTED(to, v) sl_store_max(to, (sl_bytes_max)(v))

/* Byte i of the result is byte index[i] of a and b, one after the other. */
SL_ALWAYS_INLINE sl_permuted_bytes sl_permute_bytes(sl_permuted_bytes a, sl_permuted_bytes b, sl_permuted_bytes mask)
{
#ifdef __clang__
    return (sl_permuted_bytes)__builtin_ia32_vpermi2varqi512((sl_permuted_chars)a, (sl_permuted_chars)mask,
                                                             (sl_permuted_chars)b);
#else
    return __builtin_shuffle(a, b, mask);
#endif
}

/* Stores all of v if *dense*, else only the bytes with a bit in *kept*. */
SL_ALWAYS_INLINE void sl_store_rows(unsigned char *to, sl_permuted_bytes v, uint64_t kept, const int dense)
{
    if (dense)
        SL_STORE_PERMUTED(to, v);
    else
        __builtin_ia32_storedquqi512_mask((void *)to, (sl_permuted_chars)v, kept);
}

/* The mask of *each* rows of *bytes* bytes, *step* apart. */
SL_INLINE uint64_t sl_rows_mask(int64_t step, int64_t bytes, int64_t each)
{
    uint64_t kept = 0;
    for (int64_t k = 0; k < each; ++k) {
        SL_KEEP_LOOP(); /* else the few steps become vectors, which take longer to compile */
        kept |= (~UINT64_C(0) >> (64 - bytes)) << (k * step);
    }
    return kept;
}

/* Permutes *turns* vectors: one step of sl_copy_short each. */
SL_ALWAYS_INLINE void sl_permute_rows(unsigned char *restrict to, int64_t to_leap, const unsigned char *restrict from,
                                      int64_t leap, int64_t turns, sl_permuted_bytes mask, uint64_t kept,
                                      const int dense, const int two)
{
    for (int64_t i = 0; i < turns; ++i) {
        const sl_permuted_bytes a = SL_LOAD_PERMUTED(from + i * leap);
        const sl_permuted_bytes b = SL_LOAD_PERMUTED(from + i * leap + (two ? SL_PERMUTE_BYTES : 0));
        sl_store_rows(to + i * to_leap, sl_permute_bytes(a, b, mask), kept, dense);
    }
}

/* to[i*to_step + j] = from[i*step + j], in bytes, for 0 <= j < bytes <= SL_SHORT_ROW_BYTES and 0 <= i < n, where
 * n <= rows is returned and may be 0.  Reads nothing outside the rows' span, writes nothing between the rows. */
SL_OUT_OF_LINE int64_t sl_copy_short(unsigned char *restrict to, int64_t to_step, const unsigned char *restrict from,
                                     int64_t step, int64_t rows, int64_t bytes)
{
    const int64_t reach = step < 0 ? -step : step;
    const int dense = to_step == bytes;
    if (to_step < bytes)
        return 0;
    /* Rows that fit into one vector of the output, and into one or two of the source. */
    int64_t each = (SL_PERMUTE_BYTES - bytes) / to_step + 1;
    if (reach)
        each = sl_min(each, (2 * SL_PERMUTE_BYTES - bytes) / reach + 1);
    if (each < SL_SHORT_ROWS_PER_VECTOR || rows < 2 * each)
        return 0;
    const int two = (each - 1) * reach + bytes > SL_PERMUTE_BYTES;
    const int64_t span = two ? 2 * SL_PERMUTE_BYTES : SL_PERMUTE_BYTES;
    /* How many rows after row i its vectors reach. */
    int64_t last = each - 1;
    if (reach)
        last = sl_max(last, (span - bytes + reach - 1) / reach);
    if (dense)
        last = sl_max(last, (SL_PERMUTE_BYTES - 1) / bytes);
    if (last >= rows)
        return 0;
    unsigned char held[2 * SL_PERMUTE_BYTES]; /* step 0: the only row, with readable bytes after it */
    if (!reach) {
        memcpy(held, from, (size_t)bytes);
        from = held;
    }
    const int64_t before = step < 0 ? span - bytes : 0;
    const uint32_t inverse = (uint32_t)((4096 + to_step - 1) / to_step); /* j*inverse / 4096 is j / to_step: j < 64 */
    uint8_t at[SL_PERMUTE_BYTES];
    for (uint32_t j = 0; j < SL_PERMUTE_BYTES; ++j)
        at[j] = (uint8_t)((j + (j * inverse >> 12) * (uint32_t)(step - to_step) + (uint32_t)before) &
                          (2 * SL_PERMUTE_BYTES - 1));
    const sl_permuted_bytes mask = SL_LOAD_PERMUTED(at);
    const uint64_t kept = dense ? 0 : sl_rows_mask(to_step, bytes, each);
    const int64_t turns = (rows - 1 - last) / each + 1;
    if (dense && two)
        sl_permute_rows(to, each * to_step, from - before, each * step, turns, mask, kept, 1, 1);
    else if (dense)
        sl_permute_rows(to, each * to_step, from - before, each * step, turns, mask, kept, 1, 0);
    else if (two)
        sl_permute_rows(to, each * to_step, from - before, each * step, turns, mask, kept, 0, 1);
    else
        sl_permute_rows(to, each * to_step, from - before, each * step, turns, mask, kept, 0, 0);
    return turns * each;
}

/* to[i*to_step + j] = value for 0 <= j < count and 0 <= i < n, where n <= rows is returned and may be 0.  Writes
 * nothing between the rows. */
SL_OUT_OF_LINE int64_t sl_fill_short(element *restrict to, int64_t to_step, element value, int64_t rows,
                                     int64_t count)
{
    const int64_t size = sizeof(element), bytes = count * size;
    const int64_t each = to_step > count ? (SL_PERMUTE_BYTES - bytes) / (to_step * size) + 1 : 0;
    if (each < SL_SHORT_ROWS_PER_VECTOR || rows < each)
        return 0;
    element values[SL_PERMUTE_BYTES / SL_ELEMENT_SIZE + 1];
    for (int64_t j = 0; j <= SL_PERMUTE_BYTES / SL_ELEMENT_SIZE; ++j)
        values[j] = value;
    const sl_permuted_bytes v = SL_LOAD_PERMUTED(values);
    const uint64_t kept = sl_rows_mask(to_step * size, bytes, each);
    int64_t i = 0;
    for (; i <= rows - each; i += each)
        sl_store_rows((unsigned char *)(to + i * to_step), v, kept, 0);
    return i;
}
#endif

/* Copy of many rows of equal length: short ones are permuted, or planned for all turns.
 *
 * Assumes: output and source do not overlap.  Offsets and counts are in elements; a count <= 0 copies nothing.
 * Needs: copy_turns, integers, plans, row_plans, short_rows. */

/* The source of rows in turns may be read once for each turn: so much of it at a time, in bytes, as the nearest cache
 * keeps. */
#define SL_TURNED_BYTES 16384

#if SL_HAS_ROW_PLANS
/* The same *high* times, *to_jump* and *jump* apart, for runs of at most SL_SHORT_ROW_BYTES, by permutations and plans.
 * Returns how many rows of each turn are done, the first ones. */
SL_OUT_OF_LINE int64_t sl_copy_short_turns(element *restrict to, int64_t to_leap, int64_t to_step,
                                           const element *restrict from, int64_t leap, int64_t step, int64_t turns,
                                           int64_t rows, int64_t count, int64_t high, int64_t to_jump, int64_t jump,
                                           sl_plan *plan)
{
    const int64_t size = sizeof(element), run = count * size;
    unsigned char *const into = (unsigned char *)to;
    const unsigned char *const out_of = (const unsigned char *)from;
    /* The compiler vectorises the loops of single elements for steps -1 and 2, those of bytes poorly for 2. */
    const int vectorised = count == 1 && to_step == 1 && (step == -1 || (step == 2 && size > 1));
    if (turns > 1 && to_leap == count && to_step == turns * count) { /* turns are side by side in a row */
        if (sl_is_planned(run, rows * turns * run, high) &&
            sl_plan_rows(plan, turns, leap * size, run, step * size, rows)) {
            sl_write_rows(plan, into, out_of, step * size, rows, high, to_jump * size, jump * size);
            return rows;
        }
    }
#if SL_PERMUTE_BYTES
    /* For a few rows, computing the indices takes longer than the copy. */
    if (rows >= SL_PERMUTE_BYTES && !vectorised) {
        int64_t done = 0;
        for (int64_t h = 0; h < high; ++h)
            for (int64_t t = 0; t < turns; ++t)
                done = sl_copy_short(into + (h * to_jump + t * to_leap) * size, to_step * size,
                                     out_of + (h * jump + t * leap) * size, step * size, rows, run);
        if (done)
            return done;
    }
#endif
    if (to_step == count && sl_is_planned(run, rows * run, turns * high) && !vectorised &&
        sl_plan_rows(plan, 1, 0, run, step * size, rows)) {
        const int64_t read = rows * (step < 0 ? -step : step) * size, most = SL_TURNED_BYTES / sl_max(1, read);
        const int64_t each = most > turns ? most : 1; /* the longer loop is the inner one */
        for (int64_t first = 0; first < high; first += each) {
            unsigned char *const next = into + first * to_jump * size;
            const unsigned char *const out_of_next = out_of + first * jump * size;
            const int64_t times = sl_min(each, high - first);
            if (times == 1)
                sl_write_rows(plan, next, out_of_next, step * size, rows, turns, to_leap * size, leap * size);
            else
                for (int64_t t = 0; t < turns; ++t)
                    sl_write_rows(plan, next + t * to_leap * size, out_of_next + t * leap * size, step * size, rows,
                                  times, to_jump * size, jump * size);
        }
        return rows;
    }
    return 0;
}
#endif

/* to[at + h*to_jump + t*to_leap + i*to_step + j] = from[start + h*jump + t*leap + i*step + j] for 0 <= h < high, 0 <= t
 * < turns, 0 <= i < rows, 0 <= j < count.  Of the inner two, the longer loop is the inner one where the other is as
 * short as a margin.  Long rows of a far output are written by non-temporal stores.  *plan* is the statement's. */
SL_OUT_OF_LINE void sl_copy_grid(element *restrict to, int64_t at, int64_t to_leap, int64_t to_step,
                                 const element *restrict from, int64_t start, int64_t leap, int64_t step,
                                 int64_t turns, int64_t rows, int64_t count, int64_t high, int64_t to_jump,
                                 int64_t jump, int reach, sl_plan *plan)
{
    if (turns <= 0 || rows <= 0 || count <= 0 || high <= 0)
        return;
    to += at;
    from += start;
#if SL_HAS_ROW_PLANS
    if (count * (int64_t)sizeof(element) <= SL_SHORT_ROW_BYTES) {
        const int64_t done = sl_copy_short_turns(to, to_leap, to_step, from, leap, step, turns, rows, count, high,
                                                 to_jump, jump, plan);
        if (done == rows)
            return;
        to += done * to_step;
        from += done * step;
        rows -= done;
    }
#else
    (void)plan;
#endif
    for (int64_t h = 0; h < high; ++h, to += to_jump, from += jump)
        if (rows < 8 && rows < turns)
            sl_copy_turns(to, to_step, to_leap, from, step, leap, rows, turns, count, reach);
        else
            sl_copy_turns(to, to_leap, to_step, from, leap, step, turns, rows, count, reach);
}

/* to[at + i*to_step + j] = from[start + i*step + j] for 0 <= i < rows, 0 <= j < count: a grid of one turn. */
SL_OUT_OF_LINE void sl_copy_rows(element *restrict to, int64_t at, int64_t to_step, const element *restrict from,
                                 int64_t start, int64_t step, int64_t rows, int64_t count, int reach, sl_plan *plan)
{
    if (rows <= 0 || count <= 0)
        return;
    to += at;
    from += start;
#if SL_HAS_ROW_PLANS
    if (rows > 1 && count * (int64_t)sizeof(element) <= SL_SHORT_ROW_BYTES) { /* one row alone is none of a plan */
        const int64_t done = sl_copy_short_turns(to, 0, to_step, from, 0, step, 1, rows, count, 1, 0, 0, plan);
        to += done * to_step;
        from += done * step;
        rows -= done;
    }
#else
    (void)plan;
#endif
    sl_copy_turns(to, 0, to_step, from, 0, step, 1, rows, count, reach);
}

/* Fill: one value into a run, or into many rows.
 *
 * Assumes: offsets and counts are in elements; a count <= 0 writes nothing.
 * Needs: masks, short_rows. */

#if SL_HAS_SHUFFLES
/* Writes *bytes* bytes, half <= bytes <= 2*half, as the first and the last *half* of v, a literal. */
SL_ALWAYS_INLINE void sl_fill_ends(unsigned char *to, const void *v, int64_t bytes, const size_t half)
{
    memcpy(to, v, half);
    memcpy(to + bytes - (int64_t)half, v, half);
}
#endif

/* to[i] = value for 0 <= i < count. */
SL_OUT_OF_LINE void sl_fill_long(element *restrict to, element value, int64_t count)
{
#if SL_HAS_SHUFFLES
    sl_lane lane;
    memcpy(&lane, &value, sizeof lane);
    const sl_lanes line = (sl_lanes){0} + lane;
    unsigned char *const into = (unsigned char *)to;
    const int64_t bytes = count * SL_ELEMENT_SIZE;
    if (bytes >= SL_VECTOR_BYTES) {
        for (int64_t i = 0; i < bytes - SL_VECTOR_BYTES; i += SL_VECTOR_BYTES)
            sl_store_max(into + i, (sl_bytes_max)line);
        sl_store_max(into + bytes - SL_VECTOR_BYTES, (sl_bytes_max)line);
    }
#if SL_HAS_BYTE_MASKS
    else
        sl_masked_store_max(into, (sl_bytes_max)line, sl_first_bytes(sl_max(bytes, 0)));
#else
    else if (bytes >= 16)
        sl_fill_ends(into, &line, bytes, 16);
    else if (bytes >= 8)
        sl_fill_ends(into, &line, bytes, 8);
    else if (bytes >= 4)
        sl_fill_ends(into, &line, bytes, 4);
    else
        for (int64_t i = 0; i < count; ++i)
            to[i] = value;
#endif
#else
    for (int64_t i = 0; i < count; ++i)
        to[i] = value;
#endif
}

/* to[at + i] = value for 0 <= i < count.  A margin of one or two takes neither loop nor call. */
SL_INLINE void sl_fill(element *restrict to, int64_t at, element value, int64_t count)
{
    if (count > 2)
        sl_fill_long(to + at, value, count);
    else if (count > 0)
        to[at] = to[at + count - 1] = value;
}

/* to[at + i*to_step + j] = value for 0 <= i < rows, 0 <= j < count. */
SL_OUT_OF_LINE void sl_fill_rows(element *restrict to, int64_t at, int64_t to_step, element value, int64_t rows,
                                 int64_t count)
{
#if SL_PERMUTE_BYTES == 64
    if (count > 0 && count * (int64_t)sizeof(element) <= SL_SHORT_ROW_BYTES) {
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

/* Cut grids: grids of runs, of which those inside are copied; the others are filled, or left.
 *
 * Assumes: output and source do not overlap.  Offsets and counts are in elements.
 * Needs: copy_rows, fill, integers. */

/* Fills *rows* runs of *count* elements, *to_step* apart, *high* times, *to_jump* apart. */
SL_OUT_OF_LINE void sl_fill_runs(element *restrict to, int64_t to_step, int64_t to_jump, int64_t rows, int64_t count,
                                 int64_t high, element value)
{
    const int64_t each = to_step == count ? rows : 1; /* runs that follow each other are one */
    if (rows > 0)
        for (int64_t h = 0; h < high; ++h)
            for (int64_t j = 0; j < rows; j += each)
                sl_fill(to, h * to_jump + j * to_step, value, each * count);
}

/* Run j of turn i, of *rows* runs of each of *turns* turns, is to[at + i*to_leap + j*to_step + r] for 0 <= r < count.
 * It gets from[start + i*leap + j*step + r] if low <= i + turns*j < low + inside; else *fill, or stays where *fill* is
 * 0.  This is done *high* times, *to_jump* and *jump* apart; of *before* grids before them, the first one at *at*, and
 * *after* grids after them, all is *fill.  *plan* is the statement's own. */
SL_OUT_OF_LINE void sl_cut_grid(element *restrict to, int64_t at, int64_t to_leap, int64_t to_step,
                                const element *restrict from, int64_t start, int64_t leap, int64_t step,
                                int64_t turns, int64_t rows, int64_t count, int64_t low, int64_t inside,
                                const element *fill, int64_t before, int64_t high, int64_t after, int64_t to_jump,
                                int64_t jump, int reach, sl_plan *plan)
{
    if (turns <= 0 || rows <= 0 || count <= 0)
        return;
    to += at;
    from += start;
    if (fill)
        for (int64_t i = 0; i < turns; ++i) {
            sl_fill_runs(to + i * to_leap, to_step, to_jump, rows, count, before, *fill);
            sl_fill_runs(to + (before + high) * to_jump + i * to_leap, to_step, to_jump, rows, count, after, *fill);
        }
    to += before * to_jump;
    const int64_t begin = sl_max(0, sl_min(low, turns * rows));
    const int64_t end = sl_max(begin, sl_min(low + sl_max(inside, 0), turns * rows));
    /* The columns of the grid that are inside whole; where turns are side by side in a row, they are moved at once. */
    const int64_t first = (begin + turns - 1) / turns, last = end / turns;
    const int joins = to_step != count && first < last;
    /* So many rows of grids at once as the nearest cache keeps of one. */
    const int64_t read = rows * (step < 0 ? -step : step) * (int64_t)sizeof(element);
    const int64_t most = sl_max(1, SL_TURNED_BYTES / sl_max(1, read));
    for (int64_t h = 0; h < high; h += most, to += most * to_jump, from += most * jump) {
        const int64_t times = sl_min(most, high - h);
        if (joins)
            sl_copy_grid(to, first * to_step, to_leap, to_step, from, first * step, leap, step, turns, last - first,
                         count, times, to_jump, jump, reach, plan);
        for (int64_t i = 0; i < turns; ++i) {
            const int64_t from_i = (begin - i + turns - 1) / turns, to_i = (end - i + turns - 1) / turns;
            element *const into = to + i * to_leap;
            const element *const out_of = from + i * leap;
            if (fill) {
                sl_fill_runs(into, to_step, to_jump, from_i, count, times, *fill);
                sl_fill_runs(into + to_i * to_step, to_step, to_jump, rows - to_i, count, times, *fill);
            }
            if (!joins)
                sl_copy_grid(into, from_i * to_step, to_jump, to_step, out_of, from_i * step, jump, step, times,
                             to_i - from_i, count, 1, 0, 0, reach, plan);
            else
                for (int64_t j = from_i; j < to_i; j += sl_max(1, last - from_i)) /* those of columns that are cut */
                    if (j < first || j >= last)
                        sl_copy_turns(into + j * to_step, 0, to_jump, out_of + j * step, 0, jump, 1, times, count, 0);
        }
    }
}

/* Shuffles: the lanes that split, join and transpose take from two vectors.
 *
 * Assumes: nothing.
 * Needs: vectors. */

/* A shuffle takes lanes from two vectors a and b; those of b are numbered after those of a.  SL_LIST_n lists
 * index(i, ...) for n values of i.  SL_LANES_8, _16, _32: the elements of vectors of so many bytes; SL_LANES_MAX:
 * those of the widest.  SL_EACH_OF_8, ...: SL_LIST_n for all lanes of such a vector. */
#if SL_HAS_SHUFFLES
#define SL_LIST_1(mask, i, ...) mask(i, __VA_ARGS__)
#define SL_LIST_2(mask, i, ...) SL_LIST_1(mask, i, __VA_ARGS__), SL_LIST_1(mask, (i) + 1, __VA_ARGS__)
#define SL_LIST_4(mask, i, ...) SL_LIST_2(mask, i, __VA_ARGS__), SL_LIST_2(mask, (i) + 2, __VA_ARGS__)
#define SL_LIST_8(mask, i, ...) SL_LIST_4(mask, i, __VA_ARGS__), SL_LIST_4(mask, (i) + 4, __VA_ARGS__)
#define SL_LIST_16(mask, i, ...) SL_LIST_8(mask, i, __VA_ARGS__), SL_LIST_8(mask, (i) + 8, __VA_ARGS__)
#define SL_LIST_32(mask, i, ...) SL_LIST_16(mask, i, __VA_ARGS__), SL_LIST_16(mask, (i) + 16, __VA_ARGS__)
#define SL_LIST_64(mask, i, ...) SL_LIST_32(mask, i, __VA_ARGS__), SL_LIST_32(mask, (i) + 32, __VA_ARGS__)
#define SL_LANES_MAX (SL_VECTOR_BYTES / SL_ELEMENT_SIZE)
#if SL_ELEMENT_SIZE == 1
#define SL_LANES_16 16
#define SL_EACH_OF_16 SL_LIST_16
#elif SL_ELEMENT_SIZE == 2
#define SL_LANES_16 8
#define SL_EACH_OF_16 SL_LIST_8
#elif SL_ELEMENT_SIZE == 4
#define SL_LANES_16 4
#define SL_EACH_OF_16 SL_LIST_4
#else
#define SL_LANES_16 2
#define SL_EACH_OF_16 SL_LIST_2
#endif
#if SL_VECTOR_BYTES / SL_ELEMENT_SIZE == 64
#define SL_EACH_OF_MAX SL_LIST_64
#elif SL_VECTOR_BYTES / SL_ELEMENT_SIZE == 32
#define SL_EACH_OF_MAX SL_LIST_32
#elif SL_VECTOR_BYTES / SL_ELEMENT_SIZE == 16
#define SL_EACH_OF_MAX SL_LIST_16
#elif SL_VECTOR_BYTES / SL_ELEMENT_SIZE == 8
#define SL_EACH_OF_MAX SL_LIST_8
#elif SL_VECTOR_BYTES / SL_ELEMENT_SIZE == 4
#define SL_EACH_OF_MAX SL_LIST_4
#else
#define SL_EACH_OF_MAX SL_LIST_2
#endif
#if SL_VECTOR_BYTES >= 32
#if SL_ELEMENT_SIZE == 1
#define SL_LANES_32 32
#define SL_EACH_OF_32 SL_LIST_32
#elif SL_ELEMENT_SIZE == 2
#define SL_LANES_32 16
#define SL_EACH_OF_32 SL_LIST_16
#elif SL_ELEMENT_SIZE == 4
#define SL_LANES_32 8
#define SL_EACH_OF_32 SL_LIST_8
#else
#define SL_LANES_32 4
#define SL_EACH_OF_32 SL_LIST_4
#endif
#endif
#if !SL_HAS_BYTE_MASKS && SL_ELEMENT_SIZE <= 2
#define SL_LANES_8 (8 / SL_ELEMENT_SIZE)
#if SL_ELEMENT_SIZE == 1
typedef uint8_t sl_lanes_8 __attribute__((vector_size(8)));
#define SL_EACH_OF_8 SL_LIST_8
#else
typedef uint16_t sl_lanes_8 __attribute__((vector_size(8)));
#define SL_EACH_OF_8 SL_LIST_4
#endif
#endif

/* Indices for vectors of n elements.  Every second element of a followed by b. */
#define SL_UNZIP_EVEN(i, n) 2 * (i)
#define SL_UNZIP_ODD(i, n) 2 * (i) + 1
/* Elements of a and b in turn: the first half, the second half. */
#define SL_ZIP_LOW(i, n) (i) / 2 + (i) % 2 * (n)
#define SL_ZIP_HIGH(i, n) (n) / 2 + (i) / 2 + (i) % 2 * (n)
/* Every third element, from r on, of a, b and c: first from a and b, then from that result and c. */
#define SL_UNZIP_3(i, n, r) (3 * (i) + (r) < 2 * (n) ? 3 * (i) + (r) : 0)
#define SL_UNZIP_3_LAST(i, n, r) (3 * (i) + (r) < 2 * (n) ? (i) : 3 * (i) + (r) - (n))
/* Elements of a, b and c in turn, the v-th n of them: first from a and b, then from that result and c. */
#define SL_ZIP_3(i, n, v) (((v) * (n) + (i)) / 3 + (((v) * (n) + (i)) % 3 == 1) * (n))
#define SL_ZIP_3_LAST(i, n, v) (((v) * (n) + (i)) % 3 == 2 ? (n) + ((v) * (n) + (i)) / 3 : (i))

/* Whether shuffles of three streams stay in registers: small elements need an instruction that permutes bytes. */
#if defined __SSSE3__ || defined __aarch64__ || defined __ARM_NEON || SL_ELEMENT_SIZE >= 4
#define SL_HAS_BYTE_SHUFFLES 1
#else
#define SL_HAS_BYTE_SHUFFLES 0
#endif
#endif

/* Shuffles of streams: vectors of two or three streams to one vector of each, and three back.
 *
 * Assumes: nothing.
 * Needs: shuffles. */

#if SL_HAS_SHUFFLES
/* Defines, for vectors of n lanes: *even* and *odd* lanes of a followed by b; the streams of v[0] to v[2]; the vectors
 * of a, b and c in turn. */
#define SL_DEFINE_UNZIP_TWO(suffix, vector, each, n)                                                                 \
    SL_ALWAYS_INLINE void sl_unzip_two_##suffix(vector a, vector b, vector *even, vector *odd)                       \
    {                                                                                                                \
        *even = __builtin_shufflevector(a, b, each(SL_UNZIP_EVEN, 0, n));                                            \
        *odd = __builtin_shufflevector(a, b, each(SL_UNZIP_ODD, 0, n));                                              \
    }
#define SL_UNZIP_3_BY(each, n, v, r)                                                                                 \
    __builtin_shufflevector(__builtin_shufflevector(v[0], v[1], each(SL_UNZIP_3, 0, n, r)), v[2],                    \
                            each(SL_UNZIP_3_LAST, 0, n, r))
#define SL_ZIP_3_BY(each, n, a, b, c, v)                                                                             \
    __builtin_shufflevector(__builtin_shufflevector(a, b, each(SL_ZIP_3, 0, n, v)), c,                               \
                            each(SL_ZIP_3_LAST, 0, n, v))
#define SL_DEFINE_STREAM_SHUFFLES(suffix, vector, each, n)                                                           \
    SL_DEFINE_UNZIP_TWO(suffix, vector, each, n)                                                                     \
    SL_ALWAYS_INLINE void sl_unzip_three_##suffix(const vector v[3], vector stream[3])                               \
    {                                                                                                                \
        stream[0] = SL_UNZIP_3_BY(each, n, v, 0);                                                                    \
        stream[1] = SL_UNZIP_3_BY(each, n, v, 1);                                                                    \
        stream[2] = SL_UNZIP_3_BY(each, n, v, 2);                                                                    \
    }                                                                                                                \
    SL_ALWAYS_INLINE void sl_zip_three_##suffix(vector a, vector b, vector c, vector v[3])                           \
    {                                                                                                                \
        v[0] = SL_ZIP_3_BY(each, n, a, b, c, 0);                                                                     \
        v[1] = SL_ZIP_3_BY(each, n, a, b, c, 1);                                                                     \
        v[2] = SL_ZIP_3_BY(each, n, a, b, c, 2);                                                                     \
    }

/* Whether lanes are so small that an instruction shuffles them within 16 bytes only (pshufb), a group, or that there is
 * none that takes them from two vectors. */
#if defined __SSE4_1__ &&                                                                                            \
    ((SL_ELEMENT_SIZE == 1 && !defined __AVX512VBMI__) || (SL_ELEMENT_SIZE == 2 && !defined __AVX512BW__))
#define SL_HAS_GROUP_SHUFFLES 1
/* The bytes of lane k of a group of SL_LANES_16 lanes, and those of each of its lanes. */
#if SL_ELEMENT_SIZE == 1
#define SL_LANE_BYTES(k) (k)
#else
#define SL_LANE_BYTES(k) 2 * (k), 2 * (k) + 1
#endif
#define SL_LANE_EVEN_ODD(i, m) SL_LANE_BYTES(2 * (i) % (m) + (2 * (i) >= (m)))
#define SL_LANE_THIRD(i, m, r) SL_LANE_BYTES((3 * (i) + (r)) % (m))
/* 11 is the inverse of 3 modulo m: lane (3*j + s) % m is lane j of stream s. */
#define SL_LANE_TURN(i, m, s) SL_LANE_BYTES(((i) + (m) - (s)) * 11 % (m))
#define SL_LANE_IS(i, m, r) SL_LANE_BITS((i) % 3 == (r) ? -1 : 0)
#if SL_ELEMENT_SIZE == 1
#define SL_LANE_BITS(bits) bits
#else
#define SL_LANE_BITS(bits) bits, bits
#endif
static const sl_bytes_16 sl_even_odd = {SL_EACH_OF_16(SL_LANE_EVEN_ODD, 0, SL_LANES_16)};
static const sl_bytes_16 sl_thirds[3] = {{SL_EACH_OF_16(SL_LANE_THIRD, 0, SL_LANES_16, 0)},
                                         {SL_EACH_OF_16(SL_LANE_THIRD, 0, SL_LANES_16, 1)},
                                         {SL_EACH_OF_16(SL_LANE_THIRD, 0, SL_LANES_16, 2)}};
static const sl_bytes_16 sl_turns_of_three[3] = {{SL_EACH_OF_16(SL_LANE_TURN, 0, SL_LANES_16, 0)},
                                                 {SL_EACH_OF_16(SL_LANE_TURN, 0, SL_LANES_16, 1)},
                                                 {SL_EACH_OF_16(SL_LANE_TURN, 0, SL_LANES_16, 2)}};
static const sl_bytes_16 sl_lane_0_of_3 = {SL_EACH_OF_16(SL_LANE_IS, 0, SL_LANES_16, 0)};
static const sl_bytes_16 sl_lane_1_of_3 = {SL_EACH_OF_16(SL_LANE_IS, 0, SL_LANES_16, 1)};
static const sl_bytes_16 sl_lane_2_of_3 = {SL_EACH_OF_16(SL_LANE_IS, 0, SL_LANES_16, 2)};

/* Defines the same for small lanes.  The lanes 3*j + r of three groups of m lanes, m a power of two, are all lanes
 * modulo m: each lane of a result comes from the same lane of one of three vectors, but for an order in each.  Which
 * one it is has the period 3.  m is 1 modulo 3 for bytes, 2 for two bytes: so rows 1 and 2 change places. */
/* Whether a blend by a mask is one step: that of AVX takes three on Intel's processors. */
#if defined __AVX__ && !defined __AVX512VL__
#define SL_BLENDS_FAST 0
#else
#define SL_BLENDS_FAST 1
#endif
#define SL_ROW_1 (SL_ELEMENT_SIZE == 1 ? 1 : 2)
#define SL_ROW_2 (SL_ELEMENT_SIZE == 1 ? 2 : 1)
#define SL_DEFINE_GROUP_SHUFFLES(suffix, vector, bytes, pshufb, pblendvb, groups, pairs, unzip_groups, zip_groups)   \
    SL_ALWAYS_INLINE bytes sl_in_groups_##suffix(sl_bytes_16 v)                                                      \
    {                                                                                                                \
        return (bytes)groups((sl_words_16)v);                                                                        \
    }                                                                                                                \
    /* Lane i is that of a, b or c, as i % 3 is 0, 1 or 2. */                                                        \
    SL_ALWAYS_INLINE bytes sl_lanes_of_three_##suffix(vector a, vector b, vector c)                                  \
    {                                                                                                                \
        const bytes m = sl_in_groups_##suffix(sl_lane_1_of_3), n = sl_in_groups_##suffix(sl_lane_2_of_3);            \
        return SL_BLENDS_FAST ? pblendvb(pblendvb((bytes)a, (bytes)b, m), (bytes)c, n)                               \
                              : ((bytes)a & sl_in_groups_##suffix(sl_lane_0_of_3)) | ((bytes)b & m) | ((bytes)c & n);\
    }                                                                                                                \
    SL_ALWAYS_INLINE void sl_unzip_two_##suffix(vector a, vector b, vector *even, vector *odd)                       \
    {                                                                                                                \
        const bytes order = sl_in_groups_##suffix(sl_even_odd);                                                      \
        pairs(vector, pshufb((bytes)a, order), pshufb((bytes)b, order), *even, *odd);                                \
    }                                                                                                                \
    SL_ALWAYS_INLINE void sl_unzip_three_##suffix(const vector v[3], vector stream[3])                               \
    {                                                                                                                \
        vector u[3];                                                                                                 \
        unzip_groups(vector, v, u);                                                                                  \
        stream[0] = (vector)pshufb(sl_lanes_of_three_##suffix(u[0], u[SL_ROW_2], u[SL_ROW_1]),                       \
                                   sl_in_groups_##suffix(sl_thirds[0]));                                             \
        stream[1] = (vector)pshufb(sl_lanes_of_three_##suffix(u[SL_ROW_1], u[0], u[SL_ROW_2]),                       \
                                   sl_in_groups_##suffix(sl_thirds[1]));                                             \
        stream[2] = (vector)pshufb(sl_lanes_of_three_##suffix(u[SL_ROW_2], u[SL_ROW_1], u[0]),                       \
                                   sl_in_groups_##suffix(sl_thirds[2]));                                             \
    }                                                                                                                \
    SL_ALWAYS_INLINE void sl_zip_three_##suffix(vector a, vector b, vector c, vector v[3])                           \
    {                                                                                                                \
        const vector p = (vector)pshufb((bytes)a, sl_in_groups_##suffix(sl_turns_of_three[0]));                      \
        const vector q = (vector)pshufb((bytes)b, sl_in_groups_##suffix(sl_turns_of_three[1]));                      \
        const vector r = (vector)pshufb((bytes)c, sl_in_groups_##suffix(sl_turns_of_three[2]));                      \
        vector u[3];                                                                                                 \
        u[0] = (vector)sl_lanes_of_three_##suffix(p, q, r);                                                          \
        u[SL_ROW_1] = (vector)sl_lanes_of_three_##suffix(q, r, p);                                                   \
        u[SL_ROW_2] = (vector)sl_lanes_of_three_##suffix(r, p, q);                                                   \
        zip_groups(vector, u, v);                                                                                    \
    }
typedef uint64_t sl_words_16 __attribute__((vector_size(16)));
#define SL_ONE_GROUP(v) (v)
#define SL_PAIRS_16(vector, p, q, even, odd)                                                                         \
    even = (vector)__builtin_shufflevector((sl_words_16)p, (sl_words_16)q, 0, 2);                                    \
    odd = (vector)__builtin_shufflevector((sl_words_16)p, (sl_words_16)q, 1, 3)
#define SL_SAME_GROUPS(vector, v, u)                                                                                 \
    do {                                                                                                             \
        u[0] = v[0];                                                                                                 \
        u[1] = v[1];                                                                                                 \
        u[2] = v[2];                                                                                                 \
    } while (0)
SL_DEFINE_GROUP_SHUFFLES(16, sl_lanes_16, sl_bytes_16, __builtin_ia32_pshufb128, __builtin_ia32_pblendvb128,
                         SL_ONE_GROUP, SL_PAIRS_16, SL_SAME_GROUPS, SL_SAME_GROUPS)
#ifdef SL_LANES_32
typedef uint64_t sl_words_32 __attribute__((vector_size(32)));
#define SL_TWO_GROUPS(v) __builtin_shufflevector(v, v, 0, 1, 0, 1)
#define SL_WORDS_32(vector, a, b, ...)                                                                               \
    (vector) __builtin_shufflevector((sl_words_32)(a), (sl_words_32)(b), __VA_ARGS__)
#define SL_PAIRS_32(vector, p, q, even, odd)                                                                         \
    do {                                                                                                             \
        const vector low = SL_WORDS_32(vector, p, q, 0, 4, 2, 6), high = SL_WORDS_32(vector, p, q, 1, 5, 3, 7);      \
        even = SL_WORDS_32(vector, low, low, 0, 2, 1, 3);                                                            \
        odd = SL_WORDS_32(vector, high, high, 0, 2, 1, 3);                                                           \
    } while (0)
#define SL_UNZIP_GROUPS(vector, v, u)                                                                                \
    do {                                                                                                             \
        u[0] = SL_WORDS_32(vector, v[0], v[1], 0, 1, 6, 7);                                                          \
        u[1] = SL_WORDS_32(vector, v[0], v[2], 2, 3, 4, 5);                                                          \
        u[2] = SL_WORDS_32(vector, v[1], v[2], 0, 1, 6, 7);                                                          \
    } while (0)
#define SL_ZIP_GROUPS(vector, u, v)                                                                                  \
    do {                                                                                                             \
        v[0] = SL_WORDS_32(vector, u[0], u[1], 0, 1, 4, 5);                                                          \
        v[1] = SL_WORDS_32(vector, u[2], u[0], 0, 1, 6, 7);                                                          \
        v[2] = SL_WORDS_32(vector, u[1], u[2], 2, 3, 6, 7);                                                          \
    } while (0)
SL_DEFINE_GROUP_SHUFFLES(32, sl_lanes_32, sl_bytes_32, __builtin_ia32_pshufb256, __builtin_ia32_pblendvb256,
                         SL_TWO_GROUPS, SL_PAIRS_32, SL_UNZIP_GROUPS, SL_ZIP_GROUPS)
#endif
#else
#define SL_HAS_GROUP_SHUFFLES 0
SL_DEFINE_STREAM_SHUFFLES(16, sl_lanes_16, SL_EACH_OF_16, SL_LANES_16)
#ifdef SL_LANES_32
SL_DEFINE_STREAM_SHUFFLES(32, sl_lanes_32, SL_EACH_OF_32, SL_LANES_32)
#endif
#if SL_HAS_BYTE_MASKS
SL_DEFINE_STREAM_SHUFFLES(max, sl_lanes, SL_EACH_OF_MAX, SL_LANES_MAX)
#endif
#endif
#ifdef SL_LANES_8
SL_DEFINE_STREAM_SHUFFLES(8, sl_lanes_8, SL_EACH_OF_8, SL_LANES_8)
#endif
#endif

/* Split and join, one step: k = 2, 3 or 4 vectors of one stream to k streams, and back.
 *
 * Assumes: a step without *whole* reads and writes its first *count* elements only, which takes masks.
 * Needs: far_stores, masks, stream_shuffles. */

#if SL_HAS_SHUFFLES
/* Loads and stores the first *count* elements of a vector.  *whole*, a literal, is 1 for the whole vector, and 2 for
 * a non-temporal store of it, to an address that is a multiple of its size. */
#if SL_HAS_BYTE_MASKS
#define SL_LOAD(suffix, from, whole, count)                                                                          \
    ((whole) ? sl_load_##suffix(from)                                                                                \
             : sl_masked_load_##suffix(from, sl_first_bytes(sl_max(count, 0) * SL_ELEMENT_SIZE)))
#define SL_STORE(suffix, to, v, whole, count)                                                                        \
    ((whole) == 2 ? sl_store_far_##suffix(to, v)                                                                     \
     : (whole)    ? sl_store_##suffix(to, v)                                                                         \
                  : sl_masked_store_##suffix(to, v, sl_first_bytes(sl_max(count, 0) * SL_ELEMENT_SIZE)))
#else
#define SL_LOAD(suffix, from, whole, count) ((void)(whole), (void)(count), sl_load_##suffix(from))
#define sl_store_far_8 sl_store_8 /* never far */
#define SL_STORE(suffix, to, v, whole, count)                                                                        \
    ((void)(count), (whole) == 2 ? sl_store_far_##suffix(to, v) : sl_store_##suffix(to, v))
#endif

/* Defines, for vectors of n elements, the steps of sl_split and sl_join:
 * to[i*to_stride + j] = from[i + k*j] for 0 <= i < k, 0 <= j < n, and to[i*k + j] = from[i + j*stride] for 0 <= i <
 * n, 0 <= j < k; with *count* instead of n where *whole*, a literal, is 0. */
#define SL_DEFINE_SPLIT_JOIN(split, join, vector, each, suffix, n)                                                   \
    SL_ALWAYS_INLINE vector split##_load(const element *from, const int whole, int64_t count)                        \
    {                                                                                                                \
        return (vector)SL_LOAD(suffix, from, whole, count);                                                          \
    }                                                                                                                \
    SL_ALWAYS_INLINE void split##_store(element *to, vector v, const int whole, int64_t count)                       \
    {                                                                                                                \
        SL_STORE(suffix, to, (sl_bytes_##suffix)v, whole, count);                                                    \
    }                                                                                                                \
    /* The k streams of v[0] to v[k - 1]. */                                                                         \
    SL_ALWAYS_INLINE void split##_streams(const vector v[4], vector stream[4], const int k)                          \
    {                                                                                                                \
        if (k == 2) {                                                                                                \
            sl_unzip_two_##suffix(v[0], v[1], &stream[0], &stream[1]);                                               \
        } else if (k == 3) {                                                                                         \
            sl_unzip_three_##suffix(v, stream);                                                                      \
        } else {                                                                                                     \
            vector even, odd, even_last, odd_last;                                                                   \
            sl_unzip_two_##suffix(v[0], v[1], &even, &odd);                                                          \
            sl_unzip_two_##suffix(v[2], v[3], &even_last, &odd_last);                                                \
            sl_unzip_two_##suffix(even, even_last, &stream[0], &stream[2]);                                          \
            sl_unzip_two_##suffix(odd, odd_last, &stream[1], &stream[3]);                                            \
        }                                                                                                            \
    }                                                                                                                \
    SL_ALWAYS_INLINE void split##_out(element *restrict to, int64_t to_stride, const vector v[4], const int k,       \
                                      const int whole, int64_t count)                                                \
    {                                                                                                                \
        vector stream[4];                                                                                            \
        split##_streams(v, stream, k);                                                                               \
        SL_UNROLL                                                                                                    \
        for (int i = 0; i < k; ++i)                                                                                  \
            split##_store(to + i * to_stride, stream[i], whole, count);                                              \
    }                                                                                                                \
    SL_ALWAYS_INLINE void split(element *restrict to, int64_t to_stride, const element *restrict from, const int k,  \
                                const int whole, int64_t count)                                                      \
    {                                                                                                                \
        vector v[4];                                                                                                 \
        SL_UNROLL                                                                                                    \
        for (int i = 0; i < k; ++i)                                                                                  \
            v[i] = split##_load(from + i * n, whole, k * count - i * n);                                             \
        split##_out(to, to_stride, v, k, whole, count);                                                              \
    }                                                                                                                \
    /* The same for *rows* of them, *step* apart, so many that their streams are in registers: each stream of all of \
     * them is written at once. */                                                                                   \
    SL_ALWAYS_INLINE void split##_rows(element *restrict to, int64_t to_stride, int64_t to_step,                     \
                                       const element *restrict from, int64_t step, const int k, const int rows)      \
    {                                                                                                                \
        vector stream[4][4];                                                                                         \
        SL_UNROLL                                                                                                    \
        for (int r = 0; r < rows; ++r) {                                                                             \
            vector v[4];                                                                                             \
            SL_UNROLL                                                                                                \
            for (int i = 0; i < k; ++i)                                                                              \
                v[i] = split##_load(from + r * step + i * n, 1, n);                                                  \
            split##_streams(v, stream[r], k);                                                                        \
        }                                                                                                            \
        SL_UNROLL                                                                                                    \
        for (int i = 0; i < k; ++i)                                                                                  \
            SL_UNROLL                                                                                                \
            for (int r = 0; r < rows; ++r)                                                                           \
                split##_store(to + i * to_stride + r * to_step, stream[r][i], 1, n);                                 \
    }                                                                                                                \
    /* k vectors, of the lanes of s[0] to s[k - 1] in turn. */                                                       \
    SL_ALWAYS_INLINE void join##_zip(const vector s[4], vector v[4], const int k)                                    \
    {                                                                                                                \
        if (k == 3) {                                                                                                \
            sl_zip_three_##suffix(s[0], s[1], s[2], v);                                                              \
        } else {                                                                                                     \
            vector low[2] = {s[0], s[1]};                                                                            \
            if (k == 4) {                                                                                            \
                const vector high[2] = {__builtin_shufflevector(s[0], s[2], each(SL_ZIP_HIGH, 0, n)),                \
                                        __builtin_shufflevector(s[1], s[3], each(SL_ZIP_HIGH, 0, n))};               \
                low[0] = __builtin_shufflevector(s[0], s[2], each(SL_ZIP_LOW, 0, n));                                \
                low[1] = __builtin_shufflevector(s[1], s[3], each(SL_ZIP_LOW, 0, n));                                \
                v[2] = __builtin_shufflevector(high[0], high[1], each(SL_ZIP_LOW, 0, n));                            \
                v[3] = __builtin_shufflevector(high[0], high[1], each(SL_ZIP_HIGH, 0, n));                           \
            }                                                                                                        \
            v[0] = __builtin_shufflevector(low[0], low[1], each(SL_ZIP_LOW, 0, n));                                  \
            v[1] = __builtin_shufflevector(low[0], low[1], each(SL_ZIP_HIGH, 0, n));                                 \
        }                                                                                                            \
    }                                                                                                                \
    SL_ALWAYS_INLINE void join(element *restrict to, const element *restrict from, int64_t stride, const int k,      \
                               const int whole, int64_t count)                                                       \
    {                                                                                                                \
        vector s[4], v[4];                                                                                           \
        SL_UNROLL                                                                                                    \
        for (int i = 0; i < k; ++i)                                                                                  \
            s[i] = split##_load(from + i * stride, whole, count);                                                    \
        join##_zip(s, v, k);                                                                                         \
        SL_UNROLL                                                                                                    \
        for (int i = 0; i < k; ++i)                                                                                  \
            split##_store(to + i * n, v[i], whole, k * count - i * n);                                               \
    }
/* The widest vector of streams has 32 bytes: their rows begin anywhere, and each store of 64 would cross a line.  A row
 * of more than one such vector and less than two is one of 64 in part, where that has shuffles. */
#define SL_HAS_LONG_MASKS (SL_HAS_BYTE_MASKS && !SL_HAS_GROUP_SHUFFLES)
#if SL_HAS_LONG_MASKS
SL_DEFINE_SPLIT_JOIN(sl_split_max, sl_join_max, sl_lanes, SL_EACH_OF_MAX, max, SL_LANES_MAX)
#endif
#if SL_VECTOR_BYTES >= 32
#define SL_STREAM_LANES SL_LANES_32
#define SL_EACH_OF_STREAM SL_EACH_OF_32
typedef sl_lanes_32 sl_lanes_stream;
SL_DEFINE_SPLIT_JOIN(sl_split_wide, sl_join_wide, sl_lanes_32, SL_EACH_OF_32, 32, SL_LANES_32)
SL_DEFINE_SPLIT_JOIN(sl_split_16, sl_join_16, sl_lanes_16, SL_EACH_OF_16, 16, SL_LANES_16)
#else
#define SL_STREAM_LANES SL_LANES_16
#define SL_EACH_OF_STREAM SL_EACH_OF_16
typedef sl_lanes_16 sl_lanes_stream;
SL_DEFINE_SPLIT_JOIN(sl_split_wide, sl_join_wide, sl_lanes_16, SL_EACH_OF_16, 16, SL_LANES_16)
#endif
#ifdef SL_LANES_8
SL_DEFINE_SPLIT_JOIN(sl_split_8, sl_join_8, sl_lanes_8, SL_EACH_OF_8, 8, SL_LANES_8)
#endif
#endif

/* Streams of short rows: those that a vector of 16 bytes holds, with all k streams of it.
 *
 * Assumes: output and source do not overlap.
 * Needs: reach, split_join_vectors. */

/* Rows that a vector of 16 bytes holds, with all k streams of it: one shuffle for each row. */
#define SL_HAS_SHORT_STREAMS (SL_HAS_SHUFFLES && SL_HAS_BYTE_SHUFFLES)
#if SL_HAS_SHORT_STREAMS
typedef uint64_t sl_halves __attribute__((vector_size(16)));

/* Loads and stores 2 to 8 bytes, the first ones of v, by two moves that overlap. */
SL_INLINE uint64_t sl_load_few(const unsigned char *from, int64_t bytes)
{
    if (bytes >= 4) {
        uint32_t first, last;
        memcpy(&first, from, 4);
        memcpy(&last, from + bytes - 4, 4);
        return first | (uint64_t)last << 8 * (bytes - 4);
    }
    uint16_t first, last;
    memcpy(&first, from, 2);
    memcpy(&last, from + bytes - 2, 2);
    return first | (uint64_t)last << 8 * (bytes - 2);
}
SL_INLINE void sl_store_few(unsigned char *to, uint64_t v, int64_t bytes)
{
    if (bytes >= 4) {
        const uint32_t first = (uint32_t)v, last = (uint32_t)(v >> 8 * (bytes - 4));
        memcpy(to, &first, 4);
        memcpy(to + bytes - 4, &last, 4);
    } else {
        const uint16_t first = (uint16_t)v, last = (uint16_t)(v >> 8 * (bytes - 2));
        memcpy(to, &first, 2);
        memcpy(to + bytes - 2, &last, 2);
    }
}

/* The same for 2 to 15 bytes, or 16. */
SL_INLINE sl_halves sl_load_part(const unsigned char *from, int64_t bytes)
{
    if (bytes <= 8)
        return (sl_halves){sl_load_few(from, bytes), 0};
    uint64_t first, last;
    memcpy(&first, from, 8);
    memcpy(&last, from + bytes - 8, 8);
    return (sl_halves){first, last >> 8 * (16 - bytes)};
}
SL_INLINE void sl_store_part(unsigned char *to, sl_halves v, int64_t bytes)
{
    if (bytes == 16)
        sl_store_16(to, (sl_bytes_16)v);
    else if (bytes <= 8)
        sl_store_few(to, v[0], bytes);
    else {
        const uint64_t first = v[0], last = first >> 8 * (bytes - 8) | v[1] << 8 * (16 - bytes);
        memcpy(to, &first, 8);
        memcpy(to + bytes - 8, &last, 8);
    }
}

/* How many of *count* rows are loaded by vectors of *loads* elements, and how many are stored by those of *stores*: the
 * first ones, where that reads inside of the rows and writes what the rows that follow overwrite.  A row *has* elements
 * and *makes* some. */
SL_INLINE int64_t sl_rows_to_load(int64_t has, int64_t loads, int64_t step, int64_t count)
{
    return has >= loads ? count : step > 0 ? sl_max(0, count - (loads - has + step - 1) / step) : 0;
}
SL_INLINE int64_t sl_rows_to_store(int64_t makes, int64_t stores, int64_t to_step, int64_t count)
{
    return makes >= stores ? count : to_step == makes ? sl_max(0, count - (stores - 1) / makes) : 0;
}
#define SL_SHORT_SPLIT(i, n, k) ((i) / ((n) / (k)) + (i) % ((n) / (k)) * (k))
#define SL_SHORT_JOIN(i, n, k) ((i) % (k) * ((n) / (k)) + (i) / (k))
#define SL_SHUFFLE_SHORT(v, index, k)                                                                                \
    __builtin_shufflevector((sl_lanes_16)(v), (sl_lanes_16)(v), SL_EACH_OF_16(index, 0, SL_LANES_16, k))
/* So many rows, of at most 8 bytes, follow a fetch of their lines. */
#define SL_ROWS_OF_A_FETCH 4
/* Runs *move*(load, store) for each row of each turn: 0 for a vector, 1 for exactly the row.  If it *fetches*, runs
 * *fetch* before some of them. */
#define SL_FOR_EACH_SHORT_ROW(move, fetches, fetch)                                                                  \
    for (int64_t h = 0; h < high; ++h, to += to_leap, from += leap) {                                                \
        unsigned char *into = (unsigned char *)to;                                                                   \
        const unsigned char *out_of = (const unsigned char *)from;                                                   \
        int64_t c = 0;                                                                                               \
        if (fetches)                                                                                                 \
            for (; c < sl_min(loaded, stored); ++c, into += next, out_of += after) {                                 \
                if (c % SL_ROWS_OF_A_FETCH == 0)                                                                     \
                    fetch;                                                                                           \
                move(0, 0);                                                                                          \
            }                                                                                                        \
        for (; c < sl_min(loaded, stored); ++c, into += next, out_of += after)                                       \
            move(0, 0);                                                                                              \
        for (; c < loaded; ++c, into += next, out_of += after)                                                       \
            move(0, 1);                                                                                              \
        for (; c < count; ++c, into += next, out_of += after)                                                        \
            move(1, 1);                                                                                              \
    }
#define SL_SPLIT_ROW_2(load, store) SL_SPLIT_ROW(2, load, store)
#define SL_SPLIT_ROW_4(load, store) SL_SPLIT_ROW(4, load, store)
#define SL_SPLIT_ROW(k, load, store)                                                                                 \
    sl_split_row_##k(into, stride, load ? sl_load_part(out_of, k * bytes) : (sl_halves)sl_load_16(out_of), bytes, store)
#define SL_JOIN_ROW_2(load, store) SL_JOIN_ROW(2, load, store)
#define SL_JOIN_ROW_4(load, store) SL_JOIN_ROW(4, load, store)
#define SL_JOIN_ROW(k, load, store)                                                                                  \
    {                                                                                                                \
        const sl_halves row = sl_join_row_##k(out_of, stride, bytes, load);                                          \
        if (store)                                                                                                   \
            sl_store_part(into, row, k * bytes);                                                                     \
        else                                                                                                         \
            sl_store_16(into, (sl_bytes_16)row);                                                                     \
    }
/* Defines a split and a join of short rows; *part* has 16 / k bytes. */
#define SL_DEFINE_SHORT(k, part)                                                                                     \
    typedef part sl_parts_##k __attribute__((vector_size(16)));                                                      \
    SL_ALWAYS_INLINE void sl_split_row_##k(unsigned char *to, int64_t stride, sl_halves row, int64_t bytes,          \
                                           const int exact)                                                          \
    {                                                                                                                \
        const sl_parts_##k streams = (sl_parts_##k)SL_SHUFFLE_SHORT(row, SL_SHORT_SPLIT, k);                         \
        SL_UNROLL                                                                                                    \
        for (int i = 0; i < k; ++i) {                                                                                \
            const part stream = streams[i];                                                                          \
            if (exact)                                                                                               \
                sl_store_few(to + i * stride, stream, bytes);                                                        \
            else                                                                                                     \
                memcpy(to + i * stride, &stream, sizeof stream);                                                     \
        }                                                                                                            \
    }                                                                                                                \
    SL_ALWAYS_INLINE sl_halves sl_join_row_##k(const unsigned char *from, int64_t stride, int64_t bytes,             \
                                               const int exact)                                                      \
    {                                                                                                                \
        sl_parts_##k streams = {0};                                                                                  \
        SL_UNROLL                                                                                                    \
        for (int i = 0; i < k; ++i) {                                                                                \
            part stream;                                                                                             \
            if (exact)                                                                                               \
                stream = (part)sl_load_few(from + i * stride, bytes);                                                \
            else                                                                                                     \
                memcpy(&stream, from + i * stride, sizeof stream);                                                   \
            streams[i] = stream;                                                                                     \
        }                                                                                                            \
        return (sl_halves)SL_SHUFFLE_SHORT(streams, SL_SHORT_JOIN, k);                                               \
    }                                                                                                                \
    SL_OUT_OF_LINE void sl_split_short_##k(element *restrict to, int64_t to_stride, const element *restrict from,    \
                                           int64_t columns, int64_t count, int64_t to_step, int64_t step,            \
                                           int64_t high, int64_t to_leap, int64_t leap, int reach)                   \
    {                                                                                                                \
        const int64_t loaded = sl_rows_to_load(k * columns, SL_LANES_16, step, count);                               \
        const int64_t stored = sl_rows_to_store(columns, SL_LANES_16 / k, to_step, count);                           \
        const int64_t bytes = columns * SL_ELEMENT_SIZE, stride = to_stride * SL_ELEMENT_SIZE;                       \
        const int64_t next = to_step * SL_ELEMENT_SIZE, after = step * SL_ELEMENT_SIZE;                              \
        SL_FOR_EACH_SHORT_ROW(SL_SPLIT_ROW_##k, reach == SL_FETCHED, sl_fetch_streams((element *)into, to_stride, k)) \
    }                                                                                                                \
    SL_OUT_OF_LINE void sl_join_short_##k(element *restrict to, const element *restrict from, int64_t from_stride,   \
                                          int64_t rows, int64_t count, int64_t to_step, int64_t step, int64_t high,  \
                                          int64_t to_leap, int64_t leap)                                             \
    {                                                                                                                \
        const int64_t loaded = sl_rows_to_load(rows, SL_LANES_16 / k, step, count);                                  \
        const int64_t stored = sl_rows_to_store(k * rows, SL_LANES_16, to_step, count);                              \
        const int64_t bytes = rows * SL_ELEMENT_SIZE, stride = from_stride * SL_ELEMENT_SIZE;                        \
        const int64_t next = to_step * SL_ELEMENT_SIZE, after = step * SL_ELEMENT_SIZE;                              \
        SL_FOR_EACH_SHORT_ROW(SL_JOIN_ROW_##k, 0, (void)0)                                                           \
    }
/* Whether rows are short, and neither vectors of 8 bytes nor masks move them as well: those take longer for four
 * streams, and masks for a row of two that a vector holds exactly. */
#if SL_HAS_BYTE_MASKS
#define SL_IS_SHORT(run, k, makes, splits)                                                                           \
    ((k) == 2 ? (splits) && (run) == SL_LANES_16 / 2                                                                 \
              : (run) == SL_LANES_16 / k || ((run) > 1 && (run) < SL_LANES_16 / k && to_step == (makes)))
#else
#define SL_IS_SHORT(run, k, makes, splits) ((run) > 1 && (run) < SL_LANES_16 / k + ((k) == 4))
#endif
#define SL_SPLIT_SHORT(k)                                                                                            \
    if (SL_IS_SHORT(columns, k, columns, 1))                                                                         \
        sl_split_short_##k(to + at, to_stride, from + start, columns, count, to_step, step, high, to_leap, leap,     \
                           reach);                                                                                   \
    else
#define SL_JOIN_SHORT(k)                                                                                             \
    if (SL_IS_SHORT(rows, k, k * rows, 0))                                                                           \
        sl_join_short_##k(to + at, from + start, stride, rows, count, to_step, step, high, to_leap, leap);           \
    else
#endif
/* Nothing, where a vector of 16 bytes has no two elements of each stream. */
#if SL_HAS_SHORT_STREAMS && SL_ELEMENT_SIZE <= 4
#define SL_DEFINE_SHORT_2 SL_DEFINE_SHORT(2, uint64_t)
#define SL_SPLIT_SHORT_2 SL_SPLIT_SHORT(2)
#define SL_JOIN_SHORT_2 SL_JOIN_SHORT(2)
#else
#define SL_DEFINE_SHORT_2
#define SL_SPLIT_SHORT_2
#define SL_JOIN_SHORT_2
#endif
#define SL_DEFINE_SHORT_3
#define SL_SPLIT_SHORT_3
#define SL_JOIN_SHORT_3
#if SL_HAS_SHORT_STREAMS && SL_ELEMENT_SIZE <= 2
#define SL_DEFINE_SHORT_4 SL_DEFINE_SHORT(4, uint32_t)
#define SL_SPLIT_SHORT_4 SL_SPLIT_SHORT(4)
#define SL_JOIN_SHORT_4 SL_JOIN_SHORT(4)
#else
#define SL_DEFINE_SHORT_4
#define SL_SPLIT_SHORT_4
#define SL_JOIN_SHORT_4
#endif

/* Streams of half a vector: rows of k streams of 8 bytes each, by shuffles of one or two vectors of 16 bytes.
 *
 * Assumes: output and source do not overlap.
 * Needs: short_streams. */

/* Such streams have two elements or more. */
#define SL_HAS_HALF_STREAMS (SL_HAS_SHORT_STREAMS && SL_ELEMENT_SIZE <= 2)
#if SL_HAS_HALF_STREAMS
#define SL_HALF_LANES (SL_LANES_16 / 2)
typedef double sl_halves_of_streams __attribute__((vector_size(16))); /* so that gcc stores the second half as it is */
typedef double sl_half_anywhere __attribute__((aligned(1), may_alias));
typedef uint32_t sl_quarters __attribute__((vector_size(16)));

/* Lane i of three streams' halves, from stream s on, or of stream s alone, in the first and the last n of their
 * elements. */
#define SL_OF_FIRST_OR_LAST(x, n) ((x) < (n) ? (x) : (x) + (n) / 2)
#define SL_HALVES_OF_THREE(i, n, s) SL_OF_FIRST_OR_LAST((i) % ((n) / 2) * 3 + ((s) + (i) / ((n) / 2)) % 3, n)

SL_ALWAYS_INLINE void sl_store_half(void *to, sl_halves_of_streams v, const int half)
{
    *(sl_half_anywhere *)to = half ? v[1] : v[0];
}

/* A row, in one vector for two streams, else two, and its streams, two in a vector. */
SL_ALWAYS_INLINE void sl_split_half_load(const element *from, sl_lanes_16 v[2], const int k)
{
    v[0] = (sl_lanes_16)sl_load_16(from);
    if (k > 2)
        v[1] = (sl_lanes_16)sl_load_16(from + (k - 2) * SL_HALF_LANES);
}
SL_ALWAYS_INLINE void sl_split_half_streams(const sl_lanes_16 v[2], sl_halves_of_streams streams[2], const int k)
{
    if (k == 2) {
        streams[0] = (sl_halves_of_streams)SL_SHUFFLE_SHORT(v[0], SL_SHORT_SPLIT, 2);
    } else if (k == 3) {
        streams[0] = (sl_halves_of_streams)__builtin_shufflevector(
            v[0], v[1], SL_EACH_OF_16(SL_HALVES_OF_THREE, 0, SL_LANES_16, 0));
        streams[1] = (sl_halves_of_streams)__builtin_shufflevector(
            v[0], v[1], SL_EACH_OF_16(SL_HALVES_OF_THREE, 0, SL_LANES_16, 2));
    } else {
        const sl_quarters a = (sl_quarters)SL_SHUFFLE_SHORT(v[0], SL_SHORT_SPLIT, 4);
        const sl_quarters b = (sl_quarters)SL_SHUFFLE_SHORT(v[1], SL_SHORT_SPLIT, 4);
        streams[0] = (sl_halves_of_streams)__builtin_shufflevector(a, b, 0, 4, 1, 5);
        streams[1] = (sl_halves_of_streams)__builtin_shufflevector(a, b, 2, 6, 3, 7);
    }
}
/* Rows *step* apart, so many that their streams are in registers: each stream of all of them is written at once.  What
 * a row reads and writes behind its own is the next ones'; but if the row is the *last* one, a literal, its vectors end
 * with it, and have the end of the row before in front: rows of half of so many lanes at least. */
SL_ALWAYS_INLINE void sl_split_half_each(element *restrict to, int64_t to_stride, int64_t to_step,
                                         const element *restrict from, int64_t step, const int k, const int rows,
                                         const int last)
{
    const int64_t back = SL_HALF_LANES - to_step;
    const uint64_t bits = 8 * SL_ELEMENT_SIZE * (uint64_t)back;
    sl_halves_of_streams streams[4][2];
    SL_UNROLL
    for (int r = 0; r < rows; ++r) {
        sl_lanes_16 v[2];
        sl_split_half_load(from + r * step - (last && r == rows - 1 ? k * back : 0), v, k);
        sl_split_half_streams(v, streams[r], k);
    }
    if (last)
        SL_UNROLL
        for (int i = 0; i < (k + 1) / 2; ++i) {
            const sl_halves before = (sl_halves)streams[rows - 2][i] << bits >> 1 >> (63 - bits);
            const sl_halves row = (sl_halves)streams[rows - 1][i] >> bits << bits;
            streams[rows - 1][i] = (sl_halves_of_streams)(before | row);
        }
    SL_UNROLL
    for (int i = 0; i < k; ++i)
        SL_UNROLL
        for (int r = 0; r < rows; ++r)
            sl_store_half(to + i * to_stride + r * to_step - (last && r == rows - 1 ? back : 0), streams[r][i / 2],
                          i % 2);
}
#define sl_split_half_rows(to, to_stride, to_step, from, step, k, rows)                                              \
    sl_split_half_each(to, to_stride, to_step, from, step, k, rows, 0)
/* One row, of vectors that were loaded, or not; and the half of a vector. */
SL_ALWAYS_INLINE void sl_split_half_out(element *restrict to, int64_t to_stride, const sl_lanes_16 v[2], const int k,
                                        const int whole, int64_t count)
{
    sl_halves_of_streams streams[2];
    (void)whole, (void)count;
    sl_split_half_streams(v, streams, k);
    SL_UNROLL
    for (int i = 0; i < k; ++i)
        sl_store_half(to + i * to_stride, streams[i / 2], i % 2);
}
#define sl_split_half(to, to_stride, from, k, whole, count) sl_split_half_rows(to, to_stride, 0, from, 0, k, 1)
#define sl_split_half_store(to, v, whole, count) sl_store_half(to, (sl_halves_of_streams)(v), 0)

/* The first *columns* of a row, 2 bytes and more; it may read behind them. */
SL_ALWAYS_INLINE void sl_split_half_part(element *restrict to, int64_t to_stride, const element *restrict from,
                                         int64_t columns, const int k)
{
    sl_lanes_16 v[2];
    sl_halves_of_streams streams[2];
    sl_split_half_load(from, v, k);
    sl_split_half_streams(v, streams, k);
    SL_UNROLL
    for (int i = 0; i < k; ++i)
        sl_store_few((unsigned char *)(to + i * to_stride), ((sl_halves)streams[i / 2])[i % 2],
                     columns * SL_ELEMENT_SIZE);
}
#endif

/* Streams: the prototypes of splits and joins of 2, 3 or 4 streams, which may be compiled apart.
 *
 * Assumes: output and source do not overlap.
 * Needs: base. */

/* to[c*to_step + h*to_leap + i*to_stride + j] = from[c*step + h*leap + i + j*k], and to[c*to_step + h*to_leap + i*k +
 * j] = from[c*step + h*leap + i + j*stride]: see split_join.  *to* begins at *at*, *from* at *start*. */
typedef void sl_split_streams(element *restrict to, int64_t at, int64_t to_stride, const element *restrict from,
                              int64_t start, int64_t columns, int64_t count, int64_t to_step, int64_t step,
                              int64_t high, int64_t to_leap, int64_t leap, int reach);
typedef void sl_join_streams(element *restrict to, int64_t at, const element *restrict from, int64_t start,
                             int64_t stride, int64_t rows, int64_t count, int64_t to_step, int64_t step,
                             int64_t high, int64_t to_leap, int64_t leap, int reach);

/* A loop around a grid of joined rows: so many times, so far apart in *to* and in *from*. */
typedef struct {
    int64_t count, to_step, step;
} sl_join_loop;
#define SL_JOIN_LOOPS 2

/* to[at + r*columns + e] = from[start + p % turns*leap + p / turns*step + q % k*stride + q / k] with p = first + r and
 * q = low + e, for 0 <= r < rows, 0 <= e < columns: rows of k streams, of which the first and the last may be cut off,
 * as may the ends of each.  *from* has *size* elements.  The same for each of the *loops*, the inner one first. */
#define SL_DECLARE_JOIN_GRID(name)                                                                                   \
    SL_LINKABLE void name(element *restrict to, int64_t at, const element *restrict from, int64_t start,             \
                          int64_t size, int64_t stride, int64_t low, int64_t columns, int64_t first, int64_t rows,   \
                          int64_t turns, int64_t leap, int64_t step, const sl_join_loop loops[SL_JOIN_LOOPS],        \
                          int reach)
/* How the definition of such a function begins. */
#define SL_DECLARE_SPLIT(name)                                                                                       \
    SL_LINKABLE void name(element *restrict to, int64_t at, int64_t to_stride, const element *restrict from,         \
                          int64_t start, int64_t columns, int64_t count, int64_t to_step, int64_t step,              \
                          int64_t high, int64_t to_leap, int64_t leap, int reach)
#define SL_JOIN_PROTOTYPE(name)                                                                                      \
    void name(element *restrict to, int64_t at, const element *restrict from, int64_t start, int64_t stride,         \
              int64_t rows, int64_t count, int64_t to_step, int64_t step, int64_t high, int64_t to_leap, int64_t leap, \
              int reach)
#define SL_DECLARE_JOIN(name) SL_LINKABLE SL_JOIN_PROTOTYPE(name)
#ifdef SL_LINKED
SL_DECLARE_SPLIT(sl_split_2);
SL_DECLARE_SPLIT(sl_split_3);
SL_DECLARE_SPLIT(sl_split_4);
SL_DECLARE_JOIN(sl_join_2);
SL_DECLARE_JOIN(sl_join_3);
SL_DECLARE_JOIN(sl_join_4);
SL_DECLARE_JOIN_GRID(sl_join_grid_2);
SL_DECLARE_JOIN_GRID(sl_join_grid_3);
SL_DECLARE_JOIN_GRID(sl_join_grid_4);
#endif

/* Joins to short rows that follow each other in the output: a row is whole vectors, and what they write behind it the
 * next row writes over.
 *
 * Assumes: output and source do not overlap.
 * Needs: short_streams, split_join_vectors, streams. */

#if SL_HAS_SHORT_STREAMS
#define SL_HAS_JOIN_OVER 1
/* The first *count* elements of 16 bytes, none where that is not positive. */
#if SL_HAS_BYTE_MASKS
SL_ALWAYS_INLINE sl_bytes_16 sl_load_lanes(const element *from, int64_t count)
{
    return sl_masked_load_16(from, sl_first_bytes(sl_max(0, count) * SL_ELEMENT_SIZE));
}
SL_ALWAYS_INLINE void sl_store_lanes(element *to, sl_bytes_16 v, int64_t count)
{
    sl_masked_store_16(to, v, sl_first_bytes(sl_max(0, count) * SL_ELEMENT_SIZE));
}
#else
SL_ALWAYS_INLINE sl_bytes_16 sl_load_lanes(const element *from, int64_t count)
{
    if (count >= SL_LANES_16)
        return sl_load_16(from);
    if (count * SL_ELEMENT_SIZE > 1)
        return (sl_bytes_16)sl_load_part((const unsigned char *)from, count * SL_ELEMENT_SIZE);
    return (sl_bytes_16){count > 0 ? *(const char *)from : 0};
}
SL_ALWAYS_INLINE void sl_store_lanes(element *to, sl_bytes_16 v, int64_t count)
{
    if (count >= SL_LANES_16)
        sl_store_16(to, v);
    else if (count * SL_ELEMENT_SIZE > 1)
        sl_store_part((unsigned char *)to, (sl_halves)v, count * SL_ELEMENT_SIZE);
    else if (count > 0)
        *(char *)to = v[0];
}
#endif

/* Defines k vectors of n lanes, and stores the first ones: to[e] = from[stream[e % k] + e / k] for 0 <= e < vectors*n;
 * and a row of so many groups of k vectors, of the last one the *last* vectors only; of one vector in all if *last* is
 * 0. */
#define SL_DEFINE_JOIN_OVER(name, join, vector, suffix, n)                                                           \
    SL_ALWAYS_INLINE void name##_group(element *restrict to, const element *restrict from, const int64_t stream[4],  \
                                       const int k, const int vectors)                                               \
    {                                                                                                                \
        vector s[4], v[4];                                                                                           \
        SL_UNROLL                                                                                                    \
        for (int i = 0; i < k; ++i)                                                                                  \
            s[i] = (vector)sl_load_##suffix(from + stream[i]);                                                       \
        join##_zip(s, v, k);                                                                                         \
        SL_UNROLL                                                                                                    \
        for (int i = 0; i < vectors; ++i)                                                                            \
            sl_store_##suffix(to + i * n, (sl_bytes_##suffix)v[i]);                                                  \
    }                                                                                                                \
    SL_ALWAYS_INLINE void name(element *restrict to, const element *restrict from, const int64_t stream[4],          \
                               int64_t groups, const int k, const int last)                                          \
    {                                                                                                                \
        if (last)                                                                                                    \
            for (; --groups; to += k * n, from += n)                                                                 \
                name##_group(to, from, stream, k, k);                                                                \
        name##_group(to, from, stream, k, last ? last : 1);                                                          \
    }
#if SL_VECTOR_BYTES > 16
SL_DEFINE_JOIN_OVER(sl_join_over_16, sl_join_16, sl_lanes_16, 16, SL_LANES_16)
SL_DEFINE_JOIN_OVER(sl_join_over_wide, sl_join_wide, sl_lanes_32, 32, SL_LANES_32)
#define SL_ZIP_STREAMS_16 sl_join_16_zip
#else
SL_DEFINE_JOIN_OVER(sl_join_over_16, sl_join_wide, sl_lanes_16, 16, SL_LANES_16)
#define SL_ZIP_STREAMS_16 sl_join_wide_zip
#endif

/* A grid of joined rows, and the loops over its rows and around it.  *elements* are those of a row, in so many *groups*
 * of k vectors; the last vector has *over* elements behind the row.  The rows of a block begin *leap* apart, the blocks
 * *step* apart.  Each of the *loops* does *count* times what is inside of it, which writes *extent* elements and reads
 * none from the one number *reach* on; where it *follows*, what it writes is in one piece. */
typedef struct sl_joined sl_joined;
typedef void sl_join_blocks(element *restrict to, const element *restrict from, const sl_joined *grid, int64_t rows,
                            int64_t planes, int64_t images);
typedef void sl_join_exactly(element *restrict to, const element *restrict from, const int64_t stream[4],
                             int64_t elements);
struct sl_joined {
    int64_t stream[4], elements, groups, over, first, turns, leap, step;
    struct {
        int64_t count, to_step, step, extent, reach;
        int follows;
    } loops[SL_JOIN_LOOPS + 1];
    sl_join_blocks *join;
    sl_join_exactly *exactly;
};
/* Defines so many rows, planes and images of a grid, which follow each other in the output, by *move*; and a row that
 * writes nothing behind it and reads nothing behind the elements that it has. */
#define SL_DEFINE_JOIN_BLOCKS(name, k, move, last)                                                                   \
    SL_OUT_OF_LINE void name(element *restrict to, const element *restrict from, const sl_joined *grid, int64_t rows, \
                             int64_t planes, int64_t images)                                                         \
    {                                                                                                                \
        const int64_t first = grid->stream[0];                                                                       \
        const int64_t stream[4] = {0, grid->stream[1] - first, k > 2 ? grid->stream[2] - first : 0,                  \
                                   k > 3 ? grid->stream[3] - first : 0};                                             \
        const int64_t elements = grid->elements, groups = grid->groups, leap = grid->leap;                           \
        const int64_t turns = grid->turns, wrap = grid->step - (turns - 1) * leap;                                   \
        from += first + grid->first * leap;                                                                          \
        for (int64_t h = 0; h < images; ++h)                                                                         \
            for (int64_t i = 0; i < planes; ++i) {                                                                   \
                const element *out_of = from + h * grid->loops[2].step + i * grid->loops[1].step;                    \
                int64_t left = turns - grid->first, rest = rows;                                                     \
                do {                                                                                                 \
                    move(to, out_of, stream, groups, k, last);                                                       \
                    to += elements;                                                                                  \
                    --left;                                                                                          \
                    out_of += left ? leap : wrap;                                                                    \
                    left = left ? left : turns;                                                                      \
                } while (--rest);                                                                                    \
            }                                                                                                        \
    }
/* The functions for k streams, by the vectors of the last group. */
#define SL_DEFINE_JOINS_2(size, join)                                                                                \
    SL_DEFINE_JOIN_BLOCKS(sl_join_##size##_2_1, 2, join, 1)                                                          \
    SL_DEFINE_JOIN_BLOCKS(sl_join_##size##_2_2, 2, join, 2)                                                          \
    static sl_join_blocks *const sl_joins_##size##_2[] = {sl_join_##size##_2_1, sl_join_##size##_2_2};
#define SL_DEFINE_JOINS_3(size, join)                                                                                \
    SL_DEFINE_JOIN_BLOCKS(sl_join_##size##_3_1, 3, join, 1)                                                          \
    SL_DEFINE_JOIN_BLOCKS(sl_join_##size##_3_2, 3, join, 2)                                                          \
    SL_DEFINE_JOIN_BLOCKS(sl_join_##size##_3_3, 3, join, 3)                                                          \
    static sl_join_blocks *const sl_joins_##size##_3[] = {sl_join_##size##_3_1, sl_join_##size##_3_2,                \
                                                          sl_join_##size##_3_3};
#define SL_DEFINE_JOINS_4(size, join)                                                                                \
    SL_DEFINE_JOIN_BLOCKS(sl_join_##size##_4_1, 4, join, 1)                                                          \
    SL_DEFINE_JOIN_BLOCKS(sl_join_##size##_4_2, 4, join, 2)                                                          \
    SL_DEFINE_JOIN_BLOCKS(sl_join_##size##_4_3, 4, join, 3)                                                          \
    SL_DEFINE_JOIN_BLOCKS(sl_join_##size##_4_4, 4, join, 4)                                                          \
    static sl_join_blocks *const sl_joins_##size##_4[] = {sl_join_##size##_4_1, sl_join_##size##_4_2,                \
                                                          sl_join_##size##_4_3, sl_join_##size##_4_4};
#if SL_VECTOR_BYTES > 16
#define SL_DEFINE_LONG_JOINS(k) SL_DEFINE_JOINS_##k(wide, sl_join_over_wide)
#else
#define SL_DEFINE_LONG_JOINS(k)
#define sl_joins_wide_2 sl_joins_16_2
#define sl_joins_wide_3 sl_joins_16_3
#define sl_joins_wide_4 sl_joins_16_4
#endif
#define SL_DEFINE_JOIN_ROWS(k)                                                                                       \
    SL_DEFINE_JOIN_BLOCKS(sl_join_one_##k, k, sl_join_over_16, 0)                                                    \
    SL_DEFINE_JOINS_##k(16, sl_join_over_16)                                                                         \
    SL_DEFINE_LONG_JOINS(k)                                                                                          \
    SL_OUT_OF_LINE void sl_join_exactly_##k(element *restrict to, const element *restrict from,                      \
                                            const int64_t stream[4], int64_t elements)                               \
    {                                                                                                                \
        for (; elements > 0; to += k * SL_LANES_16, from += SL_LANES_16, elements -= k * SL_LANES_16) {              \
            sl_lanes_16 s[4], v[4];                                                                                  \
            SL_UNROLL                                                                                                \
            for (int i = 0; i < k; ++i)                                                                              \
                s[i] = (sl_lanes_16)sl_load_lanes(from + stream[i], (elements + k - 1 - i) / k);                     \
            SL_ZIP_STREAMS_16(s, v, k);                                                                              \
            SL_UNROLL                                                                                                \
            for (int i = 0; i < k; ++i)                                                                              \
                sl_store_lanes(to + i * SL_LANES_16, (sl_bytes_16)v[i], elements - i * SL_LANES_16);                 \
        }                                                                                                            \
    }

/* Loop number *level* of a grid: whole vectors for as much as neither reads behind the *room* elements of *from* nor
 * writes behind the *behind* elements, of the same grid, that follow it in *to*; the rest exactly. */
SL_OUT_OF_LINE void sl_join_loop_of(element *restrict to, const element *restrict from, int64_t room,
                                    const sl_joined *grid, int level, int64_t behind)
{
    const int64_t count = grid->loops[level].count, extent = grid->loops[level].extent;
    const int64_t step = grid->loops[level].step, to_step = grid->loops[level].to_step;
    const int follows = grid->loops[level].follows;
    int64_t whole = follows && grid->loops[level].reach <= room ? count : 0;
    if (whole > 0 && step > 0) {
        whole = (room - grid->loops[level].reach) / step + 1;
        whole = sl_min(count, level > 0 ? whole : whole * grid->turns - grid->first);
    }
    for (int64_t after = behind + (count - whole) * extent; whole > 0 && after < grid->over; after += extent)
        --whole;
    if (whole > 0)
        grid->join(to, from, grid, level == 0 ? whole : grid->loops[0].count,
                   level == 1 ? whole : level > 1 ? grid->loops[1].count : 1, level == 2 ? whole : 1);
    for (int64_t i = whole; i < count; ++i)
        if (level > 0) {
            sl_join_loop_of(to + i * to_step, from + i * step, room - i * step, grid, level - 1,
                            follows ? behind + (count - 1 - i) * extent : 0);
        } else {
            const int64_t row = grid->first + i;
            grid->exactly(to + i * extent, from + row % grid->turns * grid->leap + row / grid->turns * step,
                          grid->stream, grid->elements);
        }
}

/* Whether longer vectors would cross lines where those of 16 bytes do not: rows begin at multiples of 16 and not of 32.
 * Vectors of three streams take more shuffles then.  AMD's processors were not measured. */
#define SL_JOINS_OVER_BY_16(k)                                                                                       \
    ((k) != 3 && (((uintptr_t)to | (uintptr_t)elements * SL_ELEMENT_SIZE) & 31) == 16 && SL_STORES_WAIT)
/* A grid of joined rows (streams.h) from its first block on, by the functions for k streams. */
SL_OUT_OF_LINE void sl_join_rows(element *restrict to, const element *restrict from, int64_t room,
                                 const int64_t stream[4], int64_t elements, int64_t rows, int64_t first, int64_t turns,
                                 int64_t leap, int64_t step, const sl_join_loop loops[SL_JOIN_LOOPS], int64_t k,
                                 sl_join_blocks *join_one, sl_join_blocks *const *joins_16,
                                 sl_join_blocks *const *joins_wide, sl_join_exactly *exactly)
{
    const int by_16 = elements <= k * SL_LANES_16 || SL_JOINS_OVER_BY_16(k);
    const int64_t lanes = by_16 ? SL_LANES_16 : SL_STREAM_LANES, vectors = (elements + lanes - 1) / lanes;
    int64_t furthest = stream[0];
    for (int64_t i = 1; i < k; ++i)
        furthest = sl_max(furthest, stream[i]);
    sl_joined grid = {{stream[0], stream[1], stream[2], stream[3]},
                      elements,
                      (vectors + k - 1) / k,
                      -elements & (lanes - 1),
                      first,
                      turns,
                      leap,
                      step,
                      {{rows, elements, step, elements, 0, elements >= k}},
                      vectors == 1 ? join_one : (by_16 ? joins_16 : joins_wide)[(vectors - 1) % k],
                      exactly};
    grid.loops[0].reach = furthest + sl_max(0, (turns - 1) * leap) + grid.groups * lanes;
    int64_t before = (first + rows - 1) / turns; /* steps of the loop inside */
    for (int level = 1; level <= SL_JOIN_LOOPS; ++level) {
        const sl_join_loop *const loop = &loops[level - 1];
        grid.loops[level].count = loop->count;
        grid.loops[level].to_step = loop->to_step;
        grid.loops[level].step = loop->step;
        grid.loops[level].extent = grid.loops[level - 1].count * grid.loops[level - 1].extent;
        grid.loops[level].reach = grid.loops[level - 1].reach + before * sl_max(0, grid.loops[level - 1].step);
        grid.loops[level].follows =
            grid.loops[level - 1].follows && (loop->count == 1 || loop->to_step == grid.loops[level].extent);
        before = loop->count - 1;
    }
    sl_join_loop_of(to, from, room, &grid, SL_JOIN_LOOPS, 0);
}
#else
#define SL_HAS_JOIN_OVER 0
#endif

/* Splits of rows that are shorter than a vector and follow each other in the output: each stream of a row is written as
 * one vector, whose end the next row writes over.
 *
 * Assumes: output and source do not overlap.
 * Needs: half_streams, reach, split_join_vectors. */

/* Lanes of a cache line. */
#define SL_LINE_LANES (64 / SL_ELEMENT_SIZE)

#if SL_HAS_SHUFFLES
/* Vectors of n lanes for a row, 0 if none: where *loaded* rows follow, it reads nothing behind them, and where *stored*
 * rows follow, the next ones write over what it writes behind the row.  If *ends*, the last two rows are half vectors
 * that end with them. */
typedef struct {
    int64_t n, loaded, stored, ends;
} sl_vectors_over;

SL_INLINE sl_vectors_over sl_choose_over(int64_t columns, int64_t count, int64_t step, const int k)
{
    sl_vectors_over over = {SL_LANES_16, 0, 0, 0};
    if (SL_HAS_HALF_STREAMS && columns <= SL_LANES_16 / 2) {
        over.n = SL_LANES_16 / 2;
        over.ends = columns >= over.n / 2 && count >= 2 && step >= k * (over.n - columns);
        if (over.ends) {
            over.stored = 2;
            return over;
        }
    } else if (columns > SL_LANES_16)
        over.n = k == 4 && SL_ELEMENT_SIZE >= 4 ? 0 : SL_STREAM_LANES; /* more shuffles than of 16 bytes */
    for (int64_t has = columns; has < over.n; has += columns)
        ++over.stored;
    for (int64_t has = k * columns; has < k * over.n && over.loaded < count; has += step)
        ++over.loaded;
    if (sl_max(over.loaded, over.stored) >= count)
        over.n = 0;
    return over;
}

/* Runs *split*##_rows for the rows of each turn whose vectors write nothing behind the turn and read nothing behind it,
 * or behind the last one, *rows* at a time, and *ends* for the others; *readable* rows may be read by vectors. */
#define SL_SPLIT_OVER(lanes, k, split, rows, ends)                                                                   \
    for (int64_t h = 0; h < high; ++h, to += to_leap, from += leap) {                                                \
        const int follows = h < high - 1 && leap >= k * (lanes - columns);                                           \
        const int64_t readable = count - (follows ? 0 : over.loaded), stored = sl_min(readable, count - over.stored);\
        element *restrict into = to;                                                                                 \
        const element *restrict out_of = from;                                                                       \
        int64_t c = 0;                                                                                               \
        for (; c <= stored - (rows); c += rows, into += (rows) * columns, out_of += (rows) * step) {                 \
            if (reach == SL_FETCHED && c % (SL_LINE_LANES / (lanes)) < (rows))                                       \
                sl_fetch_streams(into, to_stride, k);                                                                \
            split##_rows(into, to_stride, columns, out_of, step, k, rows);                                           \
        }                                                                                                            \
        for (; (rows) > 1 && c < stored; ++c, into += columns, out_of += step)                                       \
            split##_rows(into, to_stride, columns, out_of, step, k, 1);                                              \
        SL_SPLIT_LAST(lanes, k)                                                                                      \
        for (; c < count; ++c, into += columns, out_of += step)                                                      \
            SL_SPLIT_EXACTLY(lanes, k, ends)                                                                         \
    }

/* The last two rows of half vectors. */
#if SL_HAS_HALF_STREAMS
#define SL_SPLIT_LAST(lanes, k)                                                                                      \
    if ((lanes) == SL_HALF_LANES && over.ends) {                                                                     \
        sl_split_half_each(into, to_stride, columns, out_of, step, k, 2, 1);                                         \
        continue;                                                                                                    \
    }
#else
#define SL_SPLIT_LAST(lanes, k)
#endif
/* The others, exactly: by masks; or by *ends*, whose vectors have both ends of a row, half of each; or half vectors, if
 * what lies behind the row may be read. */
#if SL_HAS_BYTE_MASKS
#define SL_SPLIT_EXACTLY(lanes, k, ends) sl_split_16(into, to_stride, out_of, k, 0, columns);
#else
#if SL_HAS_HALF_STREAMS
#define SL_SPLIT_IN_PART(lanes, k)                                                                                   \
    if ((lanes) == SL_HALF_LANES && columns > 1 && c < readable)                                                     \
        sl_split_half_part(into, to_stride, out_of, columns, k);                                                     \
    else
#else
#define SL_SPLIT_IN_PART(lanes, k)
#endif
#define SL_SPLIT_EXACTLY(lanes, k, ends)                                                                             \
    SL_SPLIT_IN_PART(lanes, k)                                                                                       \
    if ((lanes) >= SL_LANES_16 && columns >= (lanes) / 2)                                                            \
        ends(into, to_stride, out_of, columns, k);                                                                   \
    else                                                                                                             \
        for (int i = 0; i < k; ++i)                                                                                  \
            for (int64_t j = 0; j < columns; ++j)                                                                    \
                into[i * to_stride + j] = out_of[i + j * k];

/* Defines such a split of a row of at least half of n columns, and less than n. */
#define SL_DEFINE_SPLIT_ENDS(name, split, vector, words, half, suffix, half_suffix, low, high, both, n)              \
    typedef uint64_t words __attribute__((vector_size(n * SL_ELEMENT_SIZE)));                                        \
    SL_ALWAYS_INLINE void name(element *restrict to, int64_t to_stride, const element *restrict from,                \
                               int64_t columns, const int k)                                                         \
    {                                                                                                                \
        const element *const last = from + k * columns - k * n;                                                      \
        vector v[4], stream[4];                                                                                      \
        SL_UNROLL                                                                                                    \
        for (int i = 0; i < k; ++i)                                                                                  \
            if (2 * i + 1 == k)                                                                                      \
                v[i] = (vector)both((half)sl_load_##half_suffix(from + i * n),                                       \
                                    (half)sl_load_##half_suffix(last + i * n + n / 2));                              \
            else                                                                                                     \
                v[i] = split##_load((2 * i < k ? from : last) + i * n, 1, n);                                        \
        split##_streams(v, stream, k);                                                                               \
        SL_UNROLL                                                                                                    \
        for (int i = 0; i < k; ++i) {                                                                                \
            sl_store_##half_suffix(to + i * to_stride, (sl_bytes_##half_suffix)low((words)stream[i]));               \
            sl_store_##half_suffix(to + i * to_stride + columns - n / 2,                                             \
                                   (sl_bytes_##half_suffix)high((words)stream[i]));                                  \
        }                                                                                                            \
    }
#define SL_LOW_WORD(v) (v)[0]
#define SL_HIGH_WORD(v) (v)[1]
#define SL_BOTH_WORDS(low, high) ((sl_words_of_16){low, high})
#if SL_VECTOR_BYTES > 16
typedef uint64_t sl_words_of_half __attribute__((vector_size(16)));
#define SL_LOW_WORDS(v) __builtin_shufflevector(v, v, 0, 1)
#define SL_HIGH_WORDS(v) __builtin_shufflevector(v, v, 2, 3)
#define SL_BOTH_HALVES(low, high) __builtin_shufflevector(low, high, 0, 1, 2, 3)
SL_DEFINE_SPLIT_ENDS(sl_split_ends_16, sl_split_16, sl_lanes_16, sl_words_of_16, uint64_t, 16, 8, SL_LOW_WORD,
                     SL_HIGH_WORD, SL_BOTH_WORDS, SL_LANES_16)
SL_DEFINE_SPLIT_ENDS(sl_split_ends_wide, sl_split_wide, sl_lanes_stream, sl_words_of_32, sl_words_of_half, 32, 16,
                     SL_LOW_WORDS, SL_HIGH_WORDS, SL_BOTH_HALVES, SL_LANES_32)
#else
SL_DEFINE_SPLIT_ENDS(sl_split_ends_wide, sl_split_wide, sl_lanes_stream, sl_words_of_16, uint64_t, 16, 8, SL_LOW_WORD,
                     SL_HIGH_WORD, SL_BOTH_WORDS, SL_LANES_16)
#endif
#endif

#if SL_HAS_HALF_STREAMS
#define SL_OVER_HALF(k)                                                                                              \
    if (over.n == SL_HALF_LANES)                                                                                     \
        SL_SPLIT_OVER(SL_HALF_LANES, k, sl_split_half, 4, sl_split_ends_wide)                                        \
    else
#else
#define SL_OVER_HALF(k)
#endif
#if SL_VECTOR_BYTES > 16
#define SL_OVER_16(k)                                                                                                \
    if (over.n == SL_LANES_16)                                                                                       \
        SL_SPLIT_OVER(SL_LANES_16, k, sl_split_16, SL_ROWS_OVER(k, SL_LANES_16), sl_split_ends_16)                   \
    else
#else
#define SL_OVER_16(k)
#endif
/* Rows of vectors whose streams are in registers, a line of each at most. */
#define SL_ROWS_OVER(k, lanes) ((k) == 2 ? SL_LINE_LANES / (lanes) : (k) == 3 && (lanes) == SL_LANES_16 ? 2 : 1)
/* Defines such a split, which is 0 if it has done nothing. */
#define SL_DEFINE_OVER(k)                                                                                            \
    SL_OUT_OF_LINE int sl_split_over_##k(element *restrict to, int64_t to_stride, const element *restrict from,      \
                                         int64_t columns, int64_t count, int64_t step, int64_t high,                 \
                                         int64_t to_leap, int64_t leap, int reach)                                   \
    {                                                                                                                \
        const sl_vectors_over over = sl_choose_over(columns, count, step, k);                                        \
        if (!over.n)                                                                                                 \
            return 0;                                                                                                \
        SL_OVER_HALF(k)                                                                                              \
        SL_OVER_16(k)                                                                                                \
        SL_SPLIT_OVER(SL_STREAM_LANES, k, sl_split_wide, SL_ROWS_OVER(k, SL_STREAM_LANES), sl_split_ends_wide)       \
        return 1;                                                                                                    \
    }
/* Columns of the longest such rows.  Masks write a row of more than half of 32 bytes as fast. */
#define SL_OVER_COLUMNS ((SL_HAS_BYTE_MASKS ? SL_LANES_16 : SL_STREAM_LANES) - 1)
#define SL_SPLIT_OVER_ROWS(k)                                                                                        \
    if (to_step == columns && columns <= SL_OVER_COLUMNS && columns != SL_LANES_16 && step > 0 &&                    \
        (SL_HAS_BYTE_SHUFFLES || k != 3) && !(SL_HAS_HALF_STREAMS && k == 4 && columns <= SL_LANES_16 / 4) &&        \
        sl_split_over_##k(to + at, to_stride, from + start, columns, count, step, high, to_leap, leap, reach))       \
        return;                                                                                                      \
    else
#else
#define SL_DEFINE_OVER(k)
#define SL_SPLIT_OVER_ROWS(k)
#endif

/* Split and join: transposes with 2, 3 or 4 rows or columns, as k streams that run side by side.
 *
 * Assumes: output and source do not overlap.
 * Needs: join_over, reach, short_streams, split_join_vectors, split_over, streams. */

/* to[i*to_stride + j] = from[i + j*stride] for 0 <= i < rows, 0 <= j < columns, an element at a time: for what is
 * shorter than a vector. */
SL_OUT_OF_LINE void sl_transpose_plain(element *restrict to, int64_t to_stride, const element *restrict from,
                                       int64_t stride, int64_t rows, int64_t columns)
{
    for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j)
            to[i * to_stride + j] = from[i + j * stride];
}

/* Runs the code that it is given for each turn c of each turn h; it begins at *into* and *out_of*. */
#define SL_FOR_EACH_TURN(...)                                                                                        \
    for (int64_t h = 0; h < high; ++h, to += to_leap, from += leap) {                                                \
        element *restrict into = to;                                                                                 \
        const element *restrict out_of = from;                                                                       \
        for (int64_t c = 0; c < count; ++c, into += to_step, out_of += step)                                         \
            __VA_ARGS__                                                                                              \
    }
/* The same for a split of short rows to k streams: a line ahead of each is fetched if *reach* says so. */
#define SL_FOR_EACH_SHORT_SPLIT(k, ...)                                                                              \
    {                                                                                                                \
        if (reach == SL_FETCHED)                                                                                     \
            SL_FOR_EACH_TURN({                                                                                       \
                sl_fetch_streams(into, to_stride, k);                                                                \
                __VA_ARGS__                                                                                          \
            })                                                                                                       \
        else                                                                                                         \
            SL_FOR_EACH_TURN({__VA_ARGS__})                                                                          \
    }

/* Whether stores of 16 bytes to two streams in turn cost more than two to one and two to the other: they do where small
 * lanes begin anywhere, in rows of four vectors and more. */
#define SL_HAS_PAIRS (SL_VECTOR_BYTES == 16 && SL_ELEMENT_SIZE <= 2)

/* Runs the code that it is given for each vector of n of *count* lanes, which begins at lane j: one at lane 0; the
 * others from *second* on, where that is not 0; the last one overlaps the one before.  If *pairs*, runs *pair* for two
 * vectors as long as there are two.  If it *fetches*, runs *fetch* once for each line of lanes. */
#define SL_FOR_EACH_VECTOR(n, count, second, fetches, fetch, pairs, pair, ...)                                       \
    {                                                                                                                \
        const int64_t last = (count) - (n);                                                                          \
        int64_t j = 0;                                                                                               \
        if (second) {                                                                                                \
            __VA_ARGS__;                                                                                             \
            j = second;                                                                                              \
        }                                                                                                            \
        if (pairs)                                                                                                   \
            for (; j < last - (n); j += 2 * (n)) {                                                                   \
                if (fetches && (j & (SL_LINE_LANES - 1)) < 2 * (n))                                                  \
                    fetch;                                                                                           \
                pair;                                                                                                \
            }                                                                                                        \
        for (; j < last; j += (n)) {                                                                                 \
            if (fetches && (j & (SL_LINE_LANES - 1)) < (n))                                                          \
                fetch;                                                                                               \
            __VA_ARGS__;                                                                                             \
        }                                                                                                            \
        j = last;                                                                                                    \
        __VA_ARGS__;                                                                                                 \
    }
/* A split and a join by whole vectors of n elements, for each turn. */
#define SL_SPLIT_SHORT_TURNS(suffix, n)                                                                              \
    SL_FOR_EACH_SHORT_SPLIT(k, {                                                                                     \
        sl_split_##suffix(into, to_stride, out_of, k, 1, n);                                                         \
        if (columns > (n))                                                                                           \
            sl_split_##suffix(into + columns - (n), to_stride, out_of + k * (columns - (n)), k, 1, n);               \
    })
#define SL_SPLIT_TURNS(suffix, n)                                                                                    \
    SL_FOR_EACH_TURN({                                                                                               \
        const int64_t second = sl_second_vector(into, to_stride, 1, columns, n);                                     \
        SL_FOR_EACH_VECTOR(n, columns, second, reach == SL_FETCHED, sl_fetch_streams(into + j, to_stride, k),        \
                           SL_HAS_PAIRS && k == 2 && columns >= 4 * (n),                                             \
                           sl_split_##suffix##_rows(into + j, to_stride, n, out_of + k * j, k * (n), k, 2),          \
                           sl_split_##suffix(into + j, to_stride, out_of + k * j, k, 1, n))                          \
    })
#define SL_JOIN_TURNS(suffix, n)                                                                                     \
    SL_FOR_EACH_TURN({                                                                                               \
        const int64_t second = sl_second_vector(into, 0, k, rows, n);                                                \
        SL_FOR_EACH_VECTOR(n, rows, second, 0, (void)0, 0, (void)0,                                                  \
                           sl_join_##suffix(into + k * j, out_of + j, stride, k, 1, n))                              \
    })

/* The ends of a row, which are shorter than a vector, by a call of the same function, *again*: once more inlined, they
 * take the compiler a quarter of its time. */
#define SL_SPLIT_AGAIN(to, from, columns) again(to, 0, to_stride, from, 0, columns, 1, 0, 0, 1, 0, 0, 0)
#define SL_JOIN_AGAIN(to, from, rows) again(to, 0, from, 0, stride, rows, 1, 0, 0, 1, 0, 0, 0)

/* Bytes of a row from which a join writes it far: the lines at its ends are ordinary ones, which the stores behind wait
 * for, so that it pays for rows of many lines only. */
#define SL_FAR_ROW_BYTES 1024
/* A join by whole vectors to a far output.  The line at which the next turn begins is fetched ahead. */
#define SL_FAR_JOIN_TURNS                                                                                            \
    SL_FOR_EACH_TURN({                                                                                               \
        const int64_t first = sl_first_group_in_line(into, 0, k);                                                    \
        int64_t i = first < 0 ? rows : first;                                                                        \
        __builtin_prefetch(into + to_step, 1, 3);                                                                    \
        SL_JOIN_AGAIN(into, out_of, i);                                                                              \
        for (; i + SL_STREAM_LANES <= rows; i += SL_STREAM_LANES)                                                    \
            sl_join_wide(into + k * i, out_of + i, stride, k, 2, SL_STREAM_LANES);                                   \
        SL_JOIN_AGAIN(into + k * i, out_of + i, rows - i);                                                           \
    })

/* to[c*to_step + h*to_leap + i*to_stride + j] = from[c*step + h*leap + i + j*k] for 0 <= c < count, 0 <= h < high,
 * 0 <= i < k, 0 <= j < columns, with k a literal: one pass over the source writes k streams.  The last vectors are
 * masked, or overlap the ones before.  Lines are fetched if *reach* says so.  Those of a far output are written by
 * non-temporal stores where that pays: in several streams at a time it does not on AMD's processors. */
SL_ALWAYS_INLINE void sl_split(element *restrict to, int64_t to_stride, const element *restrict from, int64_t columns,
                               int64_t count, int64_t to_step, int64_t step, int64_t high, int64_t to_leap,
                               int64_t leap, int reach, sl_split_streams *again, const int k)
{
#if SL_HAS_SHUFFLES && SL_HAS_BYTE_MASKS
    if (columns <= SL_STREAM_LANES)
        SL_FOR_EACH_SHORT_SPLIT(k, sl_split_wide(into, to_stride, out_of, k, 0, columns);)
#if SL_HAS_LONG_MASKS
    else if (columns < SL_LANES_MAX)
        SL_FOR_EACH_SHORT_SPLIT(k, sl_split_max(into, to_stride, out_of, k, 0, columns);)
#endif
    else if (reach == SL_FAR && SL_STORES_WAIT)
        SL_FOR_EACH_TURN({
            const int64_t first = sl_first_group_in_line(into, to_stride, 1);
            int64_t i = first < 0 ? columns : sl_min(first, columns); /* short rows may end in their first line */
            SL_SPLIT_AGAIN(into, out_of, i);
            for (; i + SL_STREAM_LANES <= columns; i += SL_STREAM_LANES)
                sl_split_wide(into + i, to_stride, out_of + k * i, k, 2, SL_STREAM_LANES);
            SL_SPLIT_AGAIN(into + i, out_of + k * i, columns - i);
        })
    else
        SL_SPLIT_TURNS(wide, SL_STREAM_LANES)
#else
    (void)reach;
    (void)again;
#if SL_HAS_SHUFFLES
    if (columns > 2 * SL_STREAM_LANES && (SL_HAS_BYTE_SHUFFLES || k != 3))
        SL_SPLIT_TURNS(wide, SL_STREAM_LANES)
    else if (columns >= SL_STREAM_LANES && (SL_HAS_BYTE_SHUFFLES || k != 3))
        SL_SPLIT_SHORT_TURNS(wide, SL_STREAM_LANES)
#if SL_VECTOR_BYTES > 16
    else if (columns >= SL_LANES_16)
        SL_SPLIT_SHORT_TURNS(16, SL_LANES_16)
#endif
#ifdef SL_LANES_8
    else if (columns >= SL_LANES_8 && (SL_HAS_BYTE_SHUFFLES || k != 3))
        SL_SPLIT_SHORT_TURNS(8, SL_LANES_8)
#endif
    else
#endif
        SL_FOR_EACH_TURN(sl_transpose_plain(into, to_stride, out_of, k, k, columns);)
#endif
}

/* to[c*to_step + h*to_leap + i*k + j] = from[c*step + h*leap + i + j*stride] for 0 <= i < rows, 0 <= j < k, c and h
 * as in sl_split: one pass over the output reads k streams. */
SL_ALWAYS_INLINE void sl_join(element *restrict to, const element *restrict from, int64_t stride, int64_t rows,
                              int64_t count, int64_t to_step, int64_t step, int64_t high, int64_t to_leap,
                              int64_t leap, int reach, sl_join_streams *again, const int k)
{
#if SL_HAS_SHUFFLES && SL_HAS_BYTE_MASKS
    if (rows <= SL_STREAM_LANES)
        SL_FOR_EACH_TURN(sl_join_wide(into, out_of, stride, k, 0, rows);)
#if SL_HAS_LONG_MASKS
    else if (rows < SL_LANES_MAX)
        SL_FOR_EACH_TURN(sl_join_max(into, out_of, stride, k, 0, rows);)
#endif
    else if (reach == SL_FAR && k * rows >= SL_FAR_ROW_BYTES / SL_ELEMENT_SIZE)
        SL_FAR_JOIN_TURNS
    else
        SL_JOIN_TURNS(wide, SL_STREAM_LANES)
#else
    (void)reach;
    (void)again;
#if SL_HAS_SHUFFLES
    if (reach == SL_FAR && k * rows >= SL_FAR_ROW_BYTES / SL_ELEMENT_SIZE && (SL_HAS_BYTE_SHUFFLES || k != 3))
        SL_FAR_JOIN_TURNS
    else if (rows >= SL_STREAM_LANES && (SL_HAS_BYTE_SHUFFLES || k != 3))
        SL_JOIN_TURNS(wide, SL_STREAM_LANES)
#if SL_VECTOR_BYTES > 16
    else if (rows >= SL_LANES_16)
        SL_JOIN_TURNS(16, SL_LANES_16)
#endif
#ifdef SL_LANES_8
    else if (rows >= SL_LANES_8 && (SL_HAS_BYTE_SHUFFLES || k != 3))
        SL_JOIN_TURNS(8, SL_LANES_8)
#endif
    else
#endif
        SL_FOR_EACH_TURN(sl_transpose_plain(into, k, out_of, stride, rows, k);)
#endif
}

#if SL_HAS_SHUFFLES && SL_VECTOR_BYTES > 16
/* Whether vectors of 16 bytes begin at multiples of 16 on both sides and in each of many turns, as in arrays of malloc,
 * and longer ones not at multiples of their size: then every second of the longer ones crosses a line.  AMD's
 * processors were not measured. */
#define SL_BEGIN_AT(bytes, run, stride)                                                                              \
    ((((uintptr_t)(to + at) | (uintptr_t)(from + start)) |                                                           \
      (uintptr_t)((run) | (stride) | to_step | step | to_leap | leap) * SL_ELEMENT_SIZE) % (bytes) == 0)
#define SL_IS_BY_16(run, stride)                                                                                     \
    (count > 1 && SL_BEGIN_AT(16, run, stride) && !SL_BEGIN_AT(32, run, stride) && SL_STORES_WAIT)
/* Whether 16 bytes of a stream take no more shuffles than their share of a longer vector. */
#define SL_SPLITS_BY_16(k) ((k) == 2 || ((k) == 4 && SL_ELEMENT_SIZE >= 4))
#define SL_JOINS_BY_16(k) ((k) != 3)

/* A split by vectors of 16 bytes, for rows of whole ones. */
SL_ALWAYS_INLINE void sl_split_by_16(element *restrict to, int64_t to_stride, const element *restrict from,
                                     int64_t columns, int64_t count, int64_t to_step, int64_t step, int64_t high,
                                     int64_t to_leap, int64_t leap, int reach, const int k)
{
    if (columns <= SL_LINE_LANES)
        SL_FOR_EACH_SHORT_SPLIT(k, {
            for (int64_t j = 0; j < columns; j += SL_LANES_16)
                sl_split_16(into + j, to_stride, out_of + k * j, k, 1, SL_LANES_16);
        })
    else
        SL_FOR_EACH_TURN({
            for (int64_t j = 0; j < columns; j += SL_LANES_16) {
                if (reach == SL_FETCHED && j % SL_LINE_LANES == 0)
                    sl_fetch_streams(into + j, to_stride, k);
                sl_split_16(into + j, to_stride, out_of + k * j, k, 1, SL_LANES_16);
            }
        })
}
/* Defines it, and such a join. */
#define SL_DEFINE_BY_16(k)                                                                                           \
    SL_OUT_OF_LINE void sl_split_by_16_##k(element *restrict to, int64_t to_stride, const element *restrict from,    \
                                           int64_t columns, int64_t count, int64_t to_step, int64_t step,            \
                                           int64_t high, int64_t to_leap, int64_t leap, int reach)                   \
    {                                                                                                                \
        sl_split_by_16(to, to_stride, from, columns, count, to_step, step, high, to_leap, leap, reach, k);           \
    }                                                                                                                \
    SL_OUT_OF_LINE void sl_join_by_16_##k(element *restrict to, const element *restrict from, int64_t stride,        \
                                          int64_t rows, int64_t count, int64_t to_step, int64_t step, int64_t high,  \
                                          int64_t to_leap, int64_t leap)                                             \
    {                                                                                                                \
        SL_FOR_EACH_TURN(for (int64_t j = 0; j < rows; j += SL_LANES_16)                                             \
                             sl_join_16(into + k * j, out_of + j, stride, k, 1, SL_LANES_16);)                       \
    }
#define SL_SPLIT_BY_16(k)                                                                                            \
    if (SL_SPLITS_BY_16(k) && !(reach == SL_FAR && SL_HAS_BYTE_MASKS) && SL_IS_BY_16(columns, to_stride))            \
        sl_split_by_16_##k(to + at, to_stride, from + start, columns, count, to_step, step, high, to_leap, leap,     \
                           reach);                                                                                   \
    else
#define SL_JOIN_BY_16(k)                                                                                             \
    if (SL_JOINS_BY_16(k) && reach != SL_FAR && rows > SL_STREAM_LANES && SL_IS_BY_16(rows, stride))                 \
        sl_join_by_16_##k(to + at, from + start, stride, rows, count, to_step, step, high, to_leap, leap);           \
    else
#else
#define SL_DEFINE_BY_16(k)
#define SL_SPLIT_BY_16(k)
#define SL_JOIN_BY_16(k)
#endif

/* Whether this text defines grids of joined rows: compiled apart, only with SL_JOIN_GRIDS, and then nothing else of
 * streams, which most kernels of such grids do without. */
#if !defined SL_LINKED || defined SL_JOIN_GRIDS
#if SL_HAS_JOIN_OVER
#define SL_JOIN_GRID_BY(k) k, sl_join_one_##k, sl_joins_16_##k, sl_joins_wide_##k, sl_join_exactly_##k
#define SL_JOIN_GRID_FUNCTIONS                                                                                       \
    sl_join_streams *join, int64_t k, sl_join_blocks *join_one, sl_join_blocks *const *joins_16,                     \
        sl_join_blocks *const *joins_wide, sl_join_exactly *exactly
#else
#define SL_DEFINE_JOIN_ROWS(k)
#define SL_JOIN_GRID_BY(k) k
#define SL_JOIN_GRID_FUNCTIONS sl_join_streams *join, int64_t k
#endif
/* A grid of rows of k streams (streams.h), by the functions for so many.  Long rows are joined turn by turn, and what
 * is left beside whole steps of all streams goes a column at a time. */
SL_OUT_OF_LINE void sl_join_grid(element *restrict to, const element *restrict from, int64_t start, int64_t size,
                                 int64_t stride, int64_t low, int64_t columns, int64_t first, int64_t rows,
                                 int64_t turns, int64_t leap, int64_t step, const sl_join_loop loops[SL_JOIN_LOOPS],
                                 int reach, SL_JOIN_GRID_FUNCTIONS)
{
    if (columns <= 0 || rows <= 0 || loops[0].count <= 0 || loops[1].count <= 0)
        return;
    int64_t from_stream[4] = {0};
    for (int64_t i = 0; i < k; ++i)
        from_stream[i] = (low + i) % k * stride + (low + i) / k;
    start += first / turns * step;
    first %= turns;
#if SL_HAS_JOIN_OVER
    if (columns <= SL_FAR_ROW_BYTES / SL_ELEMENT_SIZE) {
        sl_join_rows(to, from + start, size - start, from_stream, columns, rows, first, turns, leap, step, loops, k,
                     join_one, joins_16, joins_wide, exactly);
        return;
    }
#endif
    (void)size;
    const int64_t head = sl_min((k - low % k) % k, columns), whole = (columns - head) / k;
    for (int64_t n = 0; n < loops[1].count * loops[0].count; ++n) {
        const int64_t plane = n % loops[0].count, image = n / loops[0].count;
        element *restrict into = to + image * loops[1].to_step + plane * loops[0].to_step;
        const int64_t at = start + image * loops[1].step + plane * loops[0].step;
        for (int64_t t = first; t < first + sl_min(turns, rows); ++t, into += columns) {
            const int64_t begin = at + t % turns * leap + t / turns * step;
            const int64_t count = (rows - (t - first) + turns - 1) / turns;
            for (int64_t e = head ? 0 : k * whole; e < columns; e += e + 1 == head ? k * whole + 1 : 1) {
                const element *const out_of = from + begin + from_stream[e % k] + e / k;
                for (int64_t r = 0; r < count; ++r)
                    into[r * turns * columns + e] = out_of[r * step];
            }
            if (whole > 0)
                join(into, head, from, begin + (low + head) / k, stride, whole, count, turns * columns, step, 1, 0, 0,
                     reach);
        }
    }
}
#define SL_DEFINE_JOIN_GRID(k, join)                                                                                 \
    SL_DEFINE_JOIN_ROWS(k)                                                                                           \
    SL_DECLARE_JOIN_GRID(sl_join_grid_##k)                                                                           \
    {                                                                                                                \
        sl_join_grid(to + at, from, start, size, stride, low, columns, first, rows, turns, leap, step, loops, reach, \
                     join, SL_JOIN_GRID_BY(k));                                                                      \
    }
#else
#define SL_DEFINE_JOIN_GRID(k, join)
#endif

/* How many rows of each turn are split before those of the next turn: all; but where the turns' rows alternate in the
 * source, and so lie in the same lines and pages, those that stay in the nearest cache, if they are some. */
#define SL_STRIP_BYTES 16384
SL_INLINE int64_t sl_split_strip(int64_t count, int64_t step, int64_t high, int64_t leap)
{
    const int64_t strip = SL_STRIP_BYTES / SL_ELEMENT_SIZE / sl_max(step, 1);
    return high > 1 && leap > 0 && leap < step && strip > 4 ? sl_min(strip, count) : count;
}

/* Whether this text defines the functions for k streams: all of them, or compiled apart those of SL_STREAMS. */
#ifdef SL_LINKED
#define SL_DEFINES_STREAMS(k) (SL_STREAMS >> (k) & 1)
#else
#define SL_DEFINES_STREAMS(k) 1
#endif
#ifdef SL_JOIN_GRIDS
/* Of joins, long rows alone are left beside such grids, and their ends. */
#define SL_DEFINE_STREAMS(k)                                                                                         \
    SL_OUT_OF_LINE SL_JOIN_PROTOTYPE(sl_join_long_##k)                                                               \
    {                                                                                                                \
        sl_join(to + at, from + start, stride, rows, count, to_step, step, high, to_leap, leap, reach,               \
                sl_join_long_##k, k);                                                                                \
    }                                                                                                                \
    SL_DEFINE_JOIN_GRID(k, sl_join_long_##k)
#else
#define SL_DEFINE_STREAMS(k)                                                                                         \
    SL_DEFINE_BY_16(k)                                                                                               \
    SL_DEFINE_SHORT_##k                                                                                              \
    SL_DEFINE_OVER(k)                                                                                                \
    SL_DECLARE_SPLIT(sl_split_##k)                                                                                   \
    {                                                                                                                \
        const int64_t strip = sl_split_strip(count, step, high, leap);                                               \
        if (strip < count) {                                                                                         \
            for (int64_t c = 0; c < count; c += strip)                                                               \
                sl_split_##k(to, at + c * to_step, to_stride, from, start + c * step, columns,                       \
                             sl_min(strip, count - c), to_step, step, high, to_leap, leap, reach);                   \
            return;                                                                                                  \
        }                                                                                                            \
        SL_SPLIT_OVER_ROWS(k)                                                                                        \
        SL_SPLIT_SHORT_##k                                                                                           \
        SL_SPLIT_BY_16(k)                                                                                            \
        sl_split(to + at, to_stride, from + start, columns, count, to_step, step, high, to_leap, leap, reach,        \
                 sl_split_##k, k);                                                                                   \
    }                                                                                                                \
    SL_DECLARE_JOIN(sl_join_##k)                                                                                     \
    {                                                                                                                \
        SL_JOIN_SHORT_##k                                                                                            \
        SL_JOIN_BY_16(k)                                                                                             \
        sl_join(to + at, from + start, stride, rows, count, to_step, step, high, to_leap, leap, reach, sl_join_##k,  \
                k);                                                                                                  \
    }                                                                                                                \
    SL_DEFINE_JOIN_GRID(k, sl_join_##k)
#endif
#if SL_DEFINES_STREAMS(2)
SL_DEFINE_STREAMS(2)
#endif
#if SL_DEFINES_STREAMS(3)
SL_DEFINE_STREAMS(3)
#endif
#if SL_DEFINES_STREAMS(4)
SL_DEFINE_STREAMS(4)
#endif

/* Dealt rows: the rows of planes that are dealt out to streams by vectors, and the fill between the planes.
 *
 * Assumes: output and source do not overlap.
 * Needs: copy, half_streams, reach, split_join. */

/* Planes of rows whose output is contiguous in each stream: *turns* of them, *count* rows each; the first one is number
 * *plane* of the *planes* of its image.  The source moves by *leap* from plane to plane and by *jump* from the last
 * plane to the next image; *gap* and *margin* elements of fill lie between.  *first* planes before them, 0
 * or 1, and *last* planes after them are not written by whole vectors, which have *lanes* elements. */
typedef struct {
    int64_t turns, count, to_step, step, plane, planes, leap, jump, gap, margin, first, last, lanes;
} sl_planes;

/* The rows that follow, of k streams, a literal: to[c*to_step + i*to_stride + j] for 0 <= c < count, 0 <= i < k,
 * 0 <= j < columns, with i + k*j = n, is from[c*step + n] where low <= n < high, elsewhere *value*. */
#if SL_HAS_SHUFFLES
/* Runs the code that it is given for each row of each plane, but for the first *exact* rows, and fills in between by
 * vectors of n, which may write over the begin of the next rows where there are no masks.  Fill of a line and more is
 * fetched. */
#define SL_FOR_EACH_DEALT(k, split, n, fill, exact, ...)                                                             \
    {                                                                                                                \
        const int64_t count = dealt->count, to_step = dealt->to_step, step = dealt->step;                            \
        for (int64_t turn = 0, plane = dealt->plane;;) {                                                             \
            const element *restrict out_of = from;                                                                   \
            for (int64_t c = exact; c < count; ++c, to += to_step, out_of += step) {                                 \
                sl_fetch_row(reach, to, to_stride, columns, k);                                                      \
                __VA_ARGS__                                                                                          \
            }                                                                                                        \
            if (++turn >= dealt->turns)                                                                              \
                break;                                                                                               \
            const int turned = ++plane == dealt->planes;                                                             \
            const int64_t gap = turned ? dealt->margin : dealt->gap;                                                 \
            if (gap >= SL_LINE_LANES)                                                                                \
                sl_fetch_row(reach, to, to_stride, gap, k);                                                          \
            for (int64_t j = 0; j < gap; j += n)                                                                     \
                for (int i = 0; i < k; ++i)                                                                          \
                    split##_store(to + i * to_stride + j, fill, !SL_HAS_BYTE_MASKS, sl_min(n, gap - j));             \
            to += gap;                                                                                               \
            from += turned ? dealt->jump : dealt->leap;                                                              \
            plane = turned ? 0 : plane;                                                                              \
        }                                                                                                            \
    }
#endif
#if SL_HAS_SHUFFLES && SL_HAS_BYTE_MASKS
/* Defines the step of a row: vector i of the source is read where mask[i] has a bit, and is *fill* elsewhere. */
#define SL_DEFINE_DEAL_STEP(name, split, vector, suffix, n)                                                          \
    SL_ALWAYS_INLINE void name##_masks(uint64_t mask[4], int64_t low, int64_t high, const int k)                     \
    {                                                                                                                \
        for (int i = 0; i < k; ++i)                                                                                  \
            mask[i] = sl_byte_range(low - i * n, high - i * n);                                                      \
    }                                                                                                                \
    SL_ALWAYS_INLINE void name(element *restrict to, int64_t to_stride, const element *from, const uint64_t mask[4], \
                               const int k, const int whole, int64_t count, vector fill)                             \
    {                                                                                                                \
        vector v[4];                                                                                                 \
        for (int i = 0; i < k; ++i)                                                                                  \
            v[i] = (vector)sl_masked_merge_##suffix((sl_bytes_##suffix)fill, from + i * n, mask[i]);                 \
        split##_out(to, to_stride, v, k, whole, count);                                                              \
    }
SL_DEFINE_DEAL_STEP(sl_deal_wide, sl_split_wide, sl_lanes_stream, 32, SL_STREAM_LANES)
SL_DEFINE_DEAL_STEP(sl_deal_16, sl_split_16, sl_lanes_16, 16, SL_LANES_16)

/* Rows by masks.  A vector may begin before the array: the mask has no bit there. */
SL_ALWAYS_INLINE void sl_deal_rows(element *restrict to, int64_t to_stride, const element *restrict from,
                                   int64_t columns, int64_t low, int64_t high, element value, const sl_planes *dealt,
                                   int reach, const int k)
{
    sl_lane lane;
    memcpy(&lane, &value, sizeof lane);
    const sl_lanes_stream fill = (sl_lanes_stream){0} + lane;
    const int64_t end = (columns - 1) / SL_STREAM_LANES * SL_STREAM_LANES;
    uint64_t mask[4], last[4];
    if (columns <= SL_LANES_16) {
        sl_deal_16_masks(mask, low, high, k);
        SL_FOR_EACH_DEALT(k, sl_split_wide, SL_STREAM_LANES, fill, 0,
                          sl_deal_16(to, to_stride, out_of, mask, k, 0, columns, (sl_lanes_16){0} + lane);)
    } else if (columns < SL_STREAM_LANES) {
        sl_deal_wide_masks(mask, low, high, k);
        SL_FOR_EACH_DEALT(k, sl_split_wide, SL_STREAM_LANES, fill, 0,
                          sl_deal_wide(to, to_stride, out_of, mask, k, 0, columns, fill);)
    } else if (columns == SL_STREAM_LANES + 1 && low <= k * SL_STREAM_LANES) { /* the last column by itself */
        sl_deal_wide_masks(mask, low, high, k);
        SL_FOR_EACH_DEALT(k, sl_split_wide, SL_STREAM_LANES, fill, 0, {
            sl_deal_wide(to, to_stride, out_of, mask, k, 1, SL_STREAM_LANES, fill);
            for (int i = 0; i < k; ++i)
                to[i * to_stride + end] = k * end + i < high ? out_of[k * end + i] : value;
        })
    } else if (low <= k * SL_STREAM_LANES && high >= k * end) { /* only the first and the last vectors are cut */
        sl_deal_wide_masks(mask, low, high, k);
        sl_deal_wide_masks(last, low - k * end, high - k * end, k);
        SL_FOR_EACH_DEALT(k, sl_split_wide, SL_STREAM_LANES, fill, 0, {
            sl_deal_wide(to, to_stride, out_of, mask, k, 1, SL_STREAM_LANES, fill);
            for (int64_t j = SL_STREAM_LANES; j < end; j += SL_STREAM_LANES)
                sl_split_wide(to + j, to_stride, out_of + k * j, k, 1, SL_STREAM_LANES);
            if (end > 0)
                sl_deal_wide(to + end, to_stride, out_of + k * end, last, k, 0, columns - end, fill);
        })
    } else
        SL_FOR_EACH_DEALT(k, sl_split_wide, SL_STREAM_LANES, fill, 0, {
            for (int64_t j = 0; j < columns; j += SL_STREAM_LANES) {
                const int64_t column = sl_min(j, columns - SL_STREAM_LANES);
                sl_deal_wide_masks(mask, low - k * column, high - k * column, k);
                sl_deal_wide(to + column, to_stride, out_of + k * column, mask, k, 1, SL_STREAM_LANES, fill);
            }
        })
}
#define SL_DEFINE_DEAL_ROWS(k)                                                                                       \
    SL_OUT_OF_LINE void sl_deal_rows_##k(element *restrict to, int64_t to_stride, const element *restrict from,      \
                                         int64_t columns, int64_t low, int64_t high, element value,                  \
                                         const sl_planes *dealt, int reach)                                          \
    {                                                                                                                \
        sl_deal_rows(to, to_stride, from, columns, low, high, value, dealt, reach, k);                               \
    }
SL_DEFINE_DEAL_ROWS(2)
SL_DEFINE_DEAL_ROWS(3)
SL_DEFINE_DEAL_ROWS(4)
#elif SL_HAS_SHUFFLES
/* The bytes of lanes: outside, inside, outside. */
#define SL_IS_INSIDE(i, n) ((i) >= (n) && (i) < 2 * (n) ? 255 : 0)
static const unsigned char sl_inside[96] = {SL_LIST_64(SL_IS_INSIDE, 0, 32), SL_LIST_32(SL_IS_INSIDE, 64, 32)};

/* The vectors of m lanes that read k streams of n elements, and where they begin: the last one ends with them. */
#define SL_DEALT_VECTORS(k, n, m) (((k) * (n) + (m) - 1) / (m))
#define SL_DEALT_AT(i, k, n, m) ((i) < SL_DEALT_VECTORS(k, n, m) - 1 ? (i) * (m) : (k) * (n) - (m))

/* Defines rows of vectors of m lanes, with n elements of each stream, which may read beside a row: lanes outside are
 * replaced by the fill value.
 * Requires low <= k*n and high >= k*(columns - n): the vectors between are inside.  Fewer columns than n are one
 * vector of each stream, written over the begin of the next row, but for the last *exact* rows, 0 or 1, which write
 * nothing beside them.  Of more columns, the last vectors overlap the ones before. */
#define SL_DEFINE_DEAL_LANES(name, split, vector, suffix, n, m)                                                      \
    SL_ALWAYS_INLINE void name##_lanes(vector inside[4], vector outside[4], int64_t low, int64_t high,               \
                                       sl_lane value, const int k)                                                   \
    {                                                                                                                \
        for (int i = 0; i < SL_DEALT_VECTORS(k, n, m); ++i) {                                                        \
            const int64_t at = SL_DEALT_AT(i, k, n, m);                                                              \
            const int64_t begin = sl_max(0, sl_min(low - at, m)), end = sl_max(0, sl_min(high - at, m));             \
            inside[i] = (vector)sl_load_##suffix(sl_inside + 32 - begin * SL_ELEMENT_SIZE) &                         \
                        (vector)sl_load_##suffix(sl_inside + 64 - end * SL_ELEMENT_SIZE);                            \
            outside[i] = ~inside[i] & value;                                                                         \
        }                                                                                                            \
    }                                                                                                                \
    SL_ALWAYS_INLINE void name##_step(element *restrict to, int64_t to_stride, const element *from,                  \
                                      const vector inside[4], const vector outside[4], const int k)                  \
    {                                                                                                                \
        vector v[4];                                                                                                 \
        SL_UNROLL                                                                                                    \
        for (int i = 0; i < SL_DEALT_VECTORS(k, n, m); ++i)                                                          \
            v[i] = ((vector)sl_load_##suffix(from + SL_DEALT_AT(i, k, n, m)) & inside[i]) | outside[i];              \
        split##_out(to, to_stride, v, k, 1, n);                                                                      \
    }
/* The last columns of two streams, where half a vector of each holds them. */
#if SL_HAS_HALF_STREAMS && SL_VECTOR_BYTES == 16
#define SL_DEAL_BY_HALF(k, n, name, split)                                                                           \
    else if (k == 2 && n == SL_LANES_16 && (columns - 1) % n < n / 2 && high >= columns * 2 - n) {                   \
        const int64_t end = columns - n / 2;                                                                         \
        sl_lanes_16 last_inside[4], last_outside[4];                                                                 \
        sl_deal_rows_8_lanes(last_inside, last_outside, low - k * end, high - k * end, value, k);                    \
        SL_FOR_EACH_DEALT(k, split, n, fill, 0, {                                                                    \
            name##_step(to, to_stride, out_of, inside, outside, k);                                                  \
            for (int64_t j = n; j < end; j += n)                                                                     \
                split(to + j, to_stride, out_of + k * j, k, 1, n);                                                   \
            sl_deal_rows_8_step(to + end, to_stride, out_of + k * end, last_inside, last_outside, k);                \
        })                                                                                                           \
    }
#else
#define SL_DEAL_BY_HALF(k, n, name, split)
#endif

#define SL_DEFINE_DEAL_ROWS(name, k, split, vector, n)                                                               \
    SL_OUT_OF_LINE void name##_##k(element *restrict to, int64_t to_stride, const element *restrict from,            \
                                   int64_t columns, int64_t low, int64_t high, sl_lane value,                        \
                                   const sl_planes *dealt, int64_t exact, int reach)                                 \
    {                                                                                                                \
        const vector fill = (vector){0} + value;                                                                     \
        vector inside[4], outside[4];                                                                                \
        name##_lanes(inside, outside, low, high, value, k);                                                          \
        if (columns <= n) {                                                                                          \
            SL_FOR_EACH_DEALT(k, split, n, fill, exact, name##_step(to, to_stride, out_of, inside, outside, k);)     \
            if (exact && columns >= n / 2) {                                                                         \
                element row[4 * n];                                                                                  \
                name##_step(row, n, from + (dealt->count - 1) * dealt->step, inside, outside, k);                    \
                for (int i = 0; i < k; ++i)                                                                          \
                    sl_copy_overlapping_ends((unsigned char *)(to + i * to_stride), (unsigned char *)(row + i * n),  \
                                             (size_t)columns * SL_ELEMENT_SIZE, n * SL_ELEMENT_SIZE / 2);            \
            }                                                                                                        \
        } else if (columns == n + 1) { /* the last column by itself */                                               \
            element other;                                                                                           \
            memcpy(&other, &value, sizeof other);                                                                    \
            SL_FOR_EACH_DEALT(k, split, n, fill, 0, {                                                                \
                name##_step(to, to_stride, out_of, inside, outside, k);                                              \
                for (int i = 0; i < k; ++i)                                                                          \
                    to[i * to_stride + n] = k * n + i < high ? out_of[k * n + i] : other;                            \
            })                                                                                                       \
        }                                                                                                            \
        SL_DEAL_BY_HALF(k, n, name, split)                                                                           \
        else {                                                                                                       \
            const int64_t end = columns - n;                                                                         \
            vector last_inside[4], last_outside[4];                                                                  \
            name##_lanes(last_inside, last_outside, low - k * end, high - k * end, value, k);                        \
            SL_FOR_EACH_DEALT(k, split, n, fill, 0, {                                                                \
                name##_step(to, to_stride, out_of, inside, outside, k);                                              \
                for (int64_t j = n; j < end; j += n)                                                                 \
                    split(to + j, to_stride, out_of + k * j, k, 1, n);                                               \
                name##_step(to + end, to_stride, out_of + k * end, last_inside, last_outside, k);                    \
            })                                                                                                       \
        }                                                                                                            \
    }
#ifdef SL_LANES_8
#if SL_HAS_HALF_STREAMS
SL_DEFINE_DEAL_LANES(sl_deal_rows_8, sl_split_half, sl_lanes_16, 16, SL_LANES_8, SL_LANES_16)
#define SL_DEFINE_DEAL_8(k) SL_DEFINE_DEAL_ROWS(sl_deal_rows_8, k, sl_split_half, sl_lanes_16, SL_LANES_8)
#else
SL_DEFINE_DEAL_LANES(sl_deal_rows_8, sl_split_8, sl_lanes_8, 8, SL_LANES_8, SL_LANES_8)
#define SL_DEFINE_DEAL_8(k) SL_DEFINE_DEAL_ROWS(sl_deal_rows_8, k, sl_split_8, sl_lanes_8, SL_LANES_8)
#endif
#else
#define SL_DEFINE_DEAL_8(k)
#endif
#if SL_VECTOR_BYTES > 16
SL_DEFINE_DEAL_LANES(sl_deal_rows_wide, sl_split_wide, sl_lanes_stream, 32, SL_STREAM_LANES, SL_STREAM_LANES)
SL_DEFINE_DEAL_LANES(sl_deal_rows_16, sl_split_16, sl_lanes_16, 16, SL_LANES_16, SL_LANES_16)
#define SL_DEFINE_DEAL_16(k) SL_DEFINE_DEAL_ROWS(sl_deal_rows_16, k, sl_split_16, sl_lanes_16, SL_LANES_16)
#else
SL_DEFINE_DEAL_LANES(sl_deal_rows_wide, sl_split_wide, sl_lanes_stream, 16, SL_STREAM_LANES, SL_STREAM_LANES)
#define SL_DEFINE_DEAL_16(k)
#endif
#define SL_DEFINE_DEAL_VECTORS(k)                                                                                    \
    SL_DEFINE_DEAL_8(k)                                                                                              \
    SL_DEFINE_DEAL_16(k)                                                                                             \
    SL_DEFINE_DEAL_ROWS(sl_deal_rows_wide, k, sl_split_wide, sl_lanes_stream, SL_STREAM_LANES)
SL_DEFINE_DEAL_VECTORS(2)
SL_DEFINE_DEAL_VECTORS(3)
SL_DEFINE_DEAL_VECTORS(4)
#endif

/* Deal: a split of a source with margins, which read as the fill value.
 *
 * Assumes: output and source do not overlap.
 * Needs: dealt_rows, fill, reach, split_join. */

/* Turns of a loop: *count* of them read the source, *step* apart; the ones before and after these are fill.  All of
 * them are written, *to_step* apart. */
typedef struct {
    int64_t before, count, after, to_step, step;
} sl_dealt_turns;
#define SL_ALL_TURNS(turns) ((turns).before + (turns).count + (turns).after)

#if !SL_HAS_SHUFFLES || !SL_HAS_BYTE_MASKS
/* Rows an element at a time where a column is cut. */
SL_ALWAYS_INLINE void sl_deal_plain(element *restrict to, int64_t to_stride, const element *restrict from,
                                    int64_t start, int64_t columns, int64_t low, int64_t high, element value,
                                    int64_t count, int64_t to_step, int64_t step, const int k)
{
    const int64_t first = sl_max(0, sl_min(columns, (sl_max(low, 0) + k - 1) / k));
    const int64_t last = sl_max(first, sl_min(columns, sl_max(high, 0) / k));
    if (first < last)
        sl_split(to + first, to_stride, from + start + k * first, last - first, count, to_step, step, 1, 0, 0, 0,
                 k == 2   ? sl_split_2
                 : k == 3 ? sl_split_3
                          : sl_split_4,
                 k);
    for (int64_t c = 0; c < count; ++c, to += to_step, start += step)
        for (int64_t i = 0; i < k; ++i)
            for (int64_t j = 0; j < columns; ++j) {
                if (j == first)
                    j = last;
                if (j < columns)
                    to[i * to_stride + j] = k * j + i >= low && k * j + i < high ? from[start + k * j + i] : value;
            }
}

#if SL_HAS_SHUFFLES
/* The lanes of vectors for rows, and whether rows are dealt out by them; each row may be written over the begin of the
 * next one if rows *follow* each other. */
SL_INLINE int64_t sl_dealt_lanes(int64_t columns, int follow)
{
    const int64_t n = columns > SL_LANES_16 && (follow || columns >= SL_STREAM_LANES) ? SL_STREAM_LANES : SL_LANES_16;
#ifdef SL_LANES_8
    if (columns <= SL_LANES_8 || (columns < n && !follow))
        return SL_LANES_8;
#else
    (void)follow;
#endif
    return n;
}
SL_ALWAYS_INLINE int sl_is_dealt(int64_t n, int64_t columns, int64_t low, int64_t high, const int k)
{
    return low < high && low <= k * n && high >= k * (columns - n) && (k != 3 || SL_HAS_BYTE_SHUFFLES);
}
#endif

/* How many rows are dealt out by vectors: *count* of them, after the *first*. */
typedef struct {
    int64_t lanes, first, count;
} sl_dealt_rows;

/* The vectors for rows that are dealt out, and for which rows: not those where they would read beside the source.  If
 * its *size* is unknown, its elements are those from the first row's first to the last row's last. */
SL_ALWAYS_INLINE sl_dealt_rows sl_choose_dealt(int64_t start, int64_t size, int64_t columns, int64_t low,
                                               int64_t high, int64_t count, int64_t to_step, int64_t step,
                                               const int k)
{
    sl_dealt_rows rows = {0, 0, 0};
#if !SL_HAS_SHUFFLES
    (void)start, (void)size, (void)columns, (void)low, (void)high, (void)count, (void)to_step, (void)step, (void)k;
#else
    const int follow = to_step == columns; /* a row may be written over the begin of the next one */
    const int64_t n = sl_dealt_lanes(columns, follow);
    if (columns < (follow ? n / 2 : n) || (step <= 0 && count > 1) || !sl_is_dealt(n, columns, low, high, k))
        return rows;
    const int64_t each = sl_max(step, 1), last = start + (count - 1) * step;
    const int64_t begin = size ? 0 : start + sl_max(low, 0), end = size ? size : last + high;
    const int64_t beside = last + k * sl_max(columns, n) - end;
    rows.lanes = n;
    rows.first = start >= begin ? 0 : sl_min(count, (begin - start + each - 1) / each);
    rows.count = sl_max(0, count - rows.first - (beside <= 0 ? 0 : (beside + each - 1) / each));
#endif
    return rows;
}
#endif

#if SL_HAS_SHUFFLES
/* The planes of *turns*, of rows, of planes and of images, that are written at once, but for the outer *first* and
 * *last* of them: none where they are not contiguous. */
SL_INLINE sl_planes sl_contiguous_planes(int64_t columns, const sl_dealt_turns turns[3], int64_t first, int64_t last)
{
    const sl_dealt_turns rows = turns[0], planes = turns[1], images = turns[2];
    const int64_t plane = SL_ALL_TURNS(rows) * columns, image = SL_ALL_TURNS(planes) * plane;
    sl_planes dealt = {0};
    if ((SL_ALL_TURNS(rows) > 1 && rows.to_step != columns) ||
        (SL_ALL_TURNS(planes) > 1 && planes.to_step != plane) ||
        (SL_ALL_TURNS(images) > 1 && images.to_step != image))
        return dealt;
    dealt.turns = planes.count * images.count - first - last;
    dealt.count = rows.count;
    dealt.to_step = columns;
    dealt.step = rows.step;
    dealt.plane = first && planes.count > 1;
    dealt.planes = planes.count;
    dealt.leap = planes.step;
    dealt.jump = images.step - (planes.count - 1) * planes.step;
    dealt.gap = (rows.before + rows.after) * columns;
    dealt.margin = dealt.gap + (planes.before + planes.after) * plane;
    dealt.first = first;
    dealt.last = last;
    return dealt;
}
#endif
#if SL_HAS_SHUFFLES && SL_HAS_BYTE_MASKS
#define sl_choose_planes(start, size, columns, low, high, turns, k) sl_contiguous_planes(columns, turns, 0, 0)
#elif SL_HAS_SHUFFLES
/* The planes that vectors write whole: not the first one if they would read before the source, nor the last ones if
 * they would read behind it, or write behind the output. */
SL_ALWAYS_INLINE sl_planes sl_choose_planes(int64_t start, int64_t size, int64_t columns, int64_t low, int64_t high,
                                            const sl_dealt_turns turns[3], const int k)
{
    const sl_dealt_turns rows = turns[0], planes = turns[1], images = turns[2];
    const int64_t n = sl_dealt_lanes(columns, 1), total = planes.count * images.count;
    /* The least from a plane to another one, and where vectors read last in the last plane. */
    const int64_t least = planes.count <= 1 ? images.step
                          : images.count <= 1 ? planes.step
                                              : sl_min(planes.step, images.step);
    const int64_t last = start + (images.count - 1) * images.step + (planes.count - 1) * planes.step +
                         (rows.count - 1) * rows.step + k * sl_max(columns, n);
    const int64_t before = start < 0, behind = columns < n ? 1 + n / (SL_ALL_TURNS(rows) * columns) : last > size;
    sl_planes dealt = {0};
    if (total <= 1 + before + behind || least <= 0 || rows.step <= 0 ||
        !sl_is_dealt(n, columns, low, high, k) || start + least < 0 || last - least > size)
        return dealt;
    dealt = sl_contiguous_planes(columns, turns, before, behind);
    dealt.lanes = n;
    return dealt;
}
#endif

/* Writes *value* into each of k streams from *begin* to *end*. */
SL_ALWAYS_INLINE void sl_deal_fill(element *restrict to, int64_t to_stride, int64_t begin, int64_t end, element value,
                                   const int k)
{
    for (int i = 0; i < k; ++i)
        sl_fill(to, begin + i * to_stride, value, end - begin);
}

/* The same for *count* rows, *to_step* apart. */
SL_ALWAYS_INLINE void sl_deal_fill_rows(element *restrict to, int64_t to_stride, int64_t columns, element value,
                                        int64_t count, int64_t to_step, const int k)
{
    const int follow = to_step == columns;
    for (int64_t c = 0; c < (follow ? count > 0 : count); ++c)
        sl_deal_fill(to, to_stride, c * to_step, c * to_step + (follow ? count * columns : columns), value, k);
}

/* The function *name* of k streams, a literal. */
#define SL_OF_STREAMS(name, k) ((k) == 2 ? name##_2 : (k) == 3 ? name##_3 : name##_4)
#if SL_HAS_SHUFFLES
/* Planes by masks, or by vectors of the lanes that were chosen; the last *exact* rows of one plane by themselves. */
SL_ALWAYS_INLINE void sl_deal_planes(element *restrict to, int64_t to_stride, const element *restrict from,
                                     int64_t columns, int64_t low, int64_t high, element value,
                                     const sl_planes *dealt, int64_t exact, int reach, const int k)
{
#if SL_HAS_BYTE_MASKS
    (void)exact;
    SL_OF_STREAMS(sl_deal_rows, k)(to, to_stride, from, columns, low, high, value, dealt, reach);
#else
    sl_lane lane;
    memcpy(&lane, &value, sizeof lane);
#ifdef SL_LANES_8
    if (dealt->lanes == SL_LANES_8)
        SL_OF_STREAMS(sl_deal_rows_8, k)(to, to_stride, from, columns, low, high, lane, dealt, exact, reach);
    else
#endif
#if SL_VECTOR_BYTES > 16
    if (dealt->lanes == SL_LANES_16)
        SL_OF_STREAMS(sl_deal_rows_16, k)(to, to_stride, from, columns, low, high, lane, dealt, exact, reach);
    else
#endif
        SL_OF_STREAMS(sl_deal_rows_wide, k)(to, to_stride, from, columns, low, high, lane, dealt, exact, reach);
#endif
}
#endif
/* One plane, whose *count* rows are followed by *after* rows of fill that are written later. */
SL_ALWAYS_INLINE void sl_deal_plane(element *restrict to, int64_t to_stride, const element *restrict from,
                                    int64_t start, int64_t size, int64_t columns, int64_t low, int64_t high,
                                    element value, int64_t count, int64_t after, int64_t to_step, int64_t step,
                                    int reach, const int k)
{
#if SL_HAS_SHUFFLES && SL_HAS_BYTE_MASKS
    const sl_planes dealt = {.turns = 1, .count = count, .to_step = to_step, .step = step};
    (void)size, (void)after;
    sl_deal_planes(to, to_stride, from + start, columns, low, high, value, &dealt, 0, reach, k);
#else
    const sl_dealt_rows rows = sl_choose_dealt(start, size, columns, low, high, count, to_step, step, k);
    const int64_t done = rows.first + rows.count;
#if SL_HAS_SHUFFLES
    const sl_planes dealt = {
        .turns = 1, .count = rows.count, .to_step = to_step, .step = step, .lanes = rows.lanes};
    if (rows.count > 0)
        sl_deal_planes(to + rows.first * to_step, to_stride, from + start + rows.first * step, columns, low, high,
                       value, &dealt, columns < rows.lanes && after <= 0 && done == count, reach, k);
#else
    (void)after, (void)reach;
#endif
    for (int after_them = 0; after_them < 2; ++after_them) { /* the rows before those by vectors, and after them */
        const int64_t c = after_them ? done : 0, end = after_them ? count : rows.first;
        if (c < end)
            sl_deal_plain(to + c * to_step, to_stride, from, start + c * step, columns, low, high, value, end - c,
                          to_step, step, k);
    }
#endif
}
#define SL_DEFINE_DEAL_PLANE(k)                                                                                      \
    SL_OUT_OF_LINE void sl_deal_plane_##k(element *restrict to, int64_t to_stride, const element *restrict from,     \
                                          int64_t start, int64_t size, int64_t columns, int64_t low, int64_t high,   \
                                          element value, int64_t count, int64_t after, int64_t to_step,              \
                                          int64_t step, int reach)                                                   \
    {                                                                                                                \
        sl_deal_plane(to, to_stride, from, start, size, columns, low, high, value, count, after, to_step, step,      \
                      reach, k);                                                                                     \
    }
SL_DEFINE_DEAL_PLANE(2)
SL_DEFINE_DEAL_PLANE(3)
SL_DEFINE_DEAL_PLANE(4)

/* to[c*rows.to_step + p*planes.to_step + m*images.to_step + i*to_stride + j] for all turns of *turns*, which are rows,
 * planes and images, 0 <= i < k, 0 <= j < columns, with i + k*j = n: where c, p and m all number a turn that reads the
 * source, it is from[start + (c - rows.before)*rows.step + ... + n] where low <= n < high; elsewhere *value*.  The
 * source has *size* elements, 0 where that is unknown.  Vectors may read what lies beside a row in it.  *reach* is the
 * output's. */
SL_ALWAYS_INLINE void sl_deal(element *restrict to, int64_t to_stride, const element *restrict from, int64_t start,
                              int64_t size, int64_t columns, int64_t low, int64_t high, element value,
                              const sl_dealt_turns turns[3], int reach, const int k)
{
    const sl_dealt_turns rows = turns[0], planes = turns[1], images = turns[2];
#if SL_HAS_SHUFFLES
    const int is_read = columns > 0 && rows.count > 0 && planes.count > 0 && images.count > 0;
    const sl_planes none = {0}, dealt = is_read ? sl_choose_planes(start, size, columns, low, high, turns, k) : none;
    if (dealt.turns > 0) { /* each stream is written from its begin to its end */
        const int64_t plane = SL_ALL_TURNS(rows) * columns, image = SL_ALL_TURNS(planes) * plane;
        const int64_t begin = images.before * image + planes.before * plane + rows.before * columns;
        const int64_t written = rows.count * columns, total = planes.count * images.count;
        int64_t end = begin + written; /* of the plane that was written last */
        sl_deal_fill(to, to_stride, 0, begin, value, k);
        for (int64_t turn = 0; turn < total; ++turn) {
            const int64_t m = turn / planes.count, p = turn % planes.count, at = begin + m * image + p * plane;
            const int64_t row = start + m * images.step + p * planes.step;
            if (turn > 0)
                sl_deal_fill(to, to_stride, end, at, value, k);
            if (turn == dealt.first) {
                sl_deal_planes(to + at, to_stride, from + row, columns, low, high, value, &dealt, 0, reach, k);
                turn += dealt.turns - 1;
            } else
                SL_OF_STREAMS(sl_deal_plane, k)(to + at, to_stride, from, row, size, columns, low, high, value,
                                                rows.count, 0, columns, rows.step, reach);
            end = begin + turn / planes.count * image + turn % planes.count * plane + written;
        }
        sl_deal_fill(to, to_stride, end, SL_ALL_TURNS(images) * image, value, k);
        return;
    }
#endif
    for (int64_t m = -images.before; m < images.count + images.after; ++m)
        for (int64_t p = -planes.before; p < planes.count + planes.after; ++p) {
            const int is_dealt = m >= 0 && m < images.count && p >= 0 && p < planes.count;
            const int64_t before = is_dealt ? rows.before : SL_ALL_TURNS(rows);
            const int64_t count = is_dealt ? rows.count : 0, after = is_dealt ? rows.after : 0;
            element *into = to + (m + images.before) * images.to_step + (p + planes.before) * planes.to_step;
            sl_deal_fill_rows(into, to_stride, columns, value, before, rows.to_step, k);
            into += before * rows.to_step;
            if (count > 0) {
                const int64_t row = start + m * images.step + p * planes.step;
                SL_OF_STREAMS(sl_deal_plane, k)(into, to_stride, from, row, size, columns, low, high, value, count,
                                                after, rows.to_step, rows.step, reach);
            }
            sl_deal_fill_rows(into + count * rows.to_step, to_stride, columns, value, after, rows.to_step, k);
        }
}
#define SL_DEFINE_DEAL(k)                                                                                            \
    SL_INLINE void sl_deal_##k(element *restrict to, int64_t at, int64_t to_stride, const element *restrict from,    \
                               int64_t start, int64_t size, int64_t columns, int64_t low, int64_t inside,            \
                               element value, const sl_dealt_turns turns[3], int reach)                              \
    {                                                                                                                \
        sl_deal(to + at, to_stride, from, start, size, columns, low, sl_min(low + sl_max(inside, 0), k * columns),   \
                value, turns, reach, k);                                                                             \
    }
SL_DEFINE_DEAL(2)
SL_DEFINE_DEAL(3)
SL_DEFINE_DEAL(4)

/* Octets: eight bytes of each of k streams that lie in turn, as vectors of floats.
 *
 * Assumes: k, the number of a stream and the number of a part are literals.
 * Needs: base, integers. */

/* An index up to *start*, from which steps of eight lead to vectors of floats at *to* whose addresses are multiples of
 * their size; *to* is where index *start* is written. */
SL_ALWAYS_INLINE int64_t sl_first_octet(int64_t start, const void *to)
{
    return start - (int64_t)((uintptr_t)to / 4 % 8);
}

/* The first of eight of the indices from *start* to *end*, of which there are at least eight, nearest to *at*: octets
 * at the ends overlap the ones beside them. */
SL_ALWAYS_INLINE int64_t sl_octet_within(int64_t at, int64_t start, int64_t end)
{
    return sl_max(start, sl_min(at, end - 8));
}

/* An octet has SL_OCTET_PARTS parts: each has SL_FLOATS elements of each stream.  sl_octet: the bytes of all streams in
 * one part; element l of stream i is in lane or byte k*l + i, from SL_HIGH_BYTES(k) on in the last 16 bytes. */
#if SL_HAS_SHUFFLES && (defined __SSSE3__ || defined __aarch64__ || defined __ARM_NEON)
#define SL_HIGH_BYTES(k) (16 - 4 * (k))
typedef uint8_t sl_sixteen __attribute__((vector_size(16)));
typedef uint8_t sl_sixteen_anywhere __attribute__((vector_size(16), aligned(1), may_alias));
#if SL_VECTOR_BYTES >= 32
#define SL_OCTET_PARTS 1
#define SL_FLOATS 8
#else
#define SL_OCTET_PARTS 2
#define SL_FLOATS 4
#endif
typedef uint8_t sl_octet __attribute__((vector_size(4 * SL_FLOATS)));
typedef uint32_t sl_octet_words __attribute__((vector_size(4 * SL_FLOATS)));
typedef int32_t sl_integers __attribute__((vector_size(4 * SL_FLOATS)));
typedef float sl_floats __attribute__((vector_size(4 * SL_FLOATS)));
typedef float sl_floats_anywhere __attribute__((vector_size(4 * SL_FLOATS), aligned(1), may_alias));
/* Byte i of four elements from *at* on, each four times. */
#define SL_FOUR(at) (at), (at), (at), (at)
#define SL_STREAM(at, k, i) SL_FOUR((at) + (i)), SL_FOUR((at) + (k) + (i)), SL_FOUR((at) + 2 * (k) + (i)), \
                            SL_FOUR((at) + 3 * (k) + (i))
/* The bytes of part *part* of the octet at *from*, of which all are inside of the 8*k bytes there. */
SL_ALWAYS_INLINE sl_octet sl_load_octet(const void *from, const int k, const int part)
{
    const unsigned char *at = from;
    const sl_sixteen low = *(const sl_sixteen_anywhere *)at, high = *(const sl_sixteen_anywhere *)(at + 8 * k - 16);
#if SL_OCTET_PARTS == 1
    (void)part;
    return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
                                   21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
#else
    return part ? high : low;
#endif
}
#if SL_OCTET_PARTS == 1
#define SL_SPREAD(v, k, i, part)                                                                                      \
    __builtin_shufflevector(v, v, SL_STREAM(0, k, i), SL_STREAM(16 + SL_HIGH_BYTES(k), k, i))
#else
#define SL_SPREAD(v, k, i, part)                                                                                      \
    ((part) ? __builtin_shufflevector(v, v, SL_STREAM(SL_HIGH_BYTES(k), k, i))                                        \
            : __builtin_shufflevector(v, v, SL_STREAM(0, k, i)))
#endif
/* The elements of stream i, each in all bytes of a word. */
#define SL_SPREAD_IF(kk, ii)                                                                                          \
    if (k == kk && i == ii)                                                                                           \
        return (sl_octet_words)SL_SPREAD(v, kk, ii, part);
SL_ALWAYS_INLINE sl_octet_words sl_spread(sl_octet v, const int k, const int i, const int part)
{
    (void)part;
    SL_SPREAD_IF(2, 0)
    SL_SPREAD_IF(2, 1)
    SL_SPREAD_IF(3, 0)
    SL_SPREAD_IF(3, 1)
    SL_SPREAD_IF(3, 2)
    SL_SPREAD_IF(4, 0)
    SL_SPREAD_IF(4, 1)
    SL_SPREAD_IF(4, 2)
    return (sl_octet_words)SL_SPREAD(v, 4, 3, part);
}
SL_ALWAYS_INLINE sl_floats sl_floats_of_uint8(sl_octet v, const int k, const int i, const int part)
{
    return __builtin_convertvector((sl_integers)(sl_spread(v, k, i, part) & 255), sl_floats);
}
SL_ALWAYS_INLINE sl_floats sl_floats_of_int8(sl_octet v, const int k, const int i, const int part)
{
    return __builtin_convertvector((sl_integers)sl_spread(v, k, i, part) >> 24, sl_floats);
}
SL_ALWAYS_INLINE void sl_store_floats(void *to, sl_floats v)
{
    *(sl_floats_anywhere *)to = v;
}
#else
/* Without shuffles a part is one element of each stream. */
#define SL_OCTET_PARTS 8
#define SL_FLOATS 1
typedef const unsigned char *sl_octet;
typedef float sl_floats;
SL_ALWAYS_INLINE sl_octet sl_load_octet(const void *from, const int k, const int part)
{
    return (const unsigned char *)from + k * part;
}
SL_ALWAYS_INLINE sl_floats sl_floats_of_uint8(sl_octet v, const int k, const int i, const int part)
{
    (void)k, (void)part;
    return (float)v[i];
}
SL_ALWAYS_INLINE sl_floats sl_floats_of_int8(sl_octet v, const int k, const int i, const int part)
{
    (void)k, (void)part;
    return (float)(int8_t)v[i];
}
SL_ALWAYS_INLINE void sl_store_floats(void *to, sl_floats v)
{
    memcpy(to, &v, sizeof v);
}
#endif

/* Shares: which steps of a loop belong to one part of a kernel's work.
 *
 * Assumes: 0 <= part < parts.
 * Needs: integers. */

/* Part number *part* of *parts* of the work that is left to share. */
typedef struct {
    int64_t part, parts;
} sl_part;

/* Sets the steps of a loop that belong to the part: *begin <= d < *end, of 0 <= d < extent. */
SL_OUT_OF_LINE void sl_share_last(const sl_part *left, int64_t extent, int64_t *begin, int64_t *end)
{
    *begin = 0;
    *end = extent;
    if (left->parts > 1) {
        const int64_t each = extent / left->parts, more = extent % left->parts;
        *begin = each * left->part + sl_min(left->part, more);
        *end = *begin + each + (left->part < more);
    }
}

/* The same for a loop with shared loops inside.  With more parts than steps, several parts do one step together:
 * *left becomes the share of the part inside that step. */
SL_OUT_OF_LINE void sl_share(sl_part *left, int64_t extent, int64_t *begin, int64_t *end)
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

/* Axes of a transpose, their offsets in memory, and how often the transpose repeats.
 *
 * Assumes: extents >= 1.
 * Needs: base. */

/* How often a transpose repeats: count*high times.  Turn c of turn h begins c*to_step + h*to_leap further in the
 * output, and c*step + h*leap further in the source. */
typedef struct {
    int64_t count, to_step, step, high, to_leap, leap;
} sl_turns;

SL_ALWAYS_INLINE sl_turns sl_turns_0(void)
{
    return (sl_turns){1, 0, 0, 1, 0, 0};
}
SL_ALWAYS_INLINE sl_turns sl_turns_1(int64_t count, int64_t to_step, int64_t step)
{
    return (sl_turns){count, to_step, step, 1, 0, 0};
}
SL_ALWAYS_INLINE sl_turns sl_turns_2(int64_t count, int64_t to_step, int64_t step, int64_t high, int64_t to_leap,
                                     int64_t leap)
{
    return (sl_turns){count, to_step, step, high, to_leap, leap};
}

/* An axis of a transpose, of up to three levels: index k = (t*high + h)*count + l has the offset l*step + h*leap +
 * t*jump in the array where the axis is not the contiguous one. */
typedef struct {
    int64_t count, step, high, leap, top, jump;
} sl_axis;

/* Axes of one, two and three levels. */
SL_ALWAYS_INLINE sl_axis sl_axis_1(int64_t count, int64_t step)
{
    return (sl_axis){count, step, 1, 0, 1, 0};
}
SL_ALWAYS_INLINE sl_axis sl_axis_2(int64_t count, int64_t step, int64_t high, int64_t leap)
{
    return (sl_axis){count, step, high, leap, 1, 0};
}
SL_ALWAYS_INLINE sl_axis sl_axis_3(int64_t count, int64_t step, int64_t high, int64_t leap, int64_t top, int64_t jump)
{
    return (sl_axis){count, step, high, leap, top, jump};
}

SL_INLINE int64_t sl_extent(const sl_axis *axis)
{
    return axis->count * axis->high * axis->top;
}

/* The offset of index *k*. */
SL_INLINE int64_t sl_offset(const sl_axis *axis, int64_t k)
{
    const int64_t outer = k / axis->count;
    return k % axis->count * axis->step + outer % axis->high * axis->leap + outer / axis->high * axis->jump;
}

/* Gives *axis* as few levels as its extents and strides allow; the offsets stay.  A level that it lacks has the stride
 * 0: which lines offsets begin is told from all strides. */
SL_OUT_OF_LINE void sl_simplify_axis(sl_axis *axis)
{
    for (int twice = 0; twice < 2; ++twice) {
        if (axis->high == 1 || axis->jump == axis->high * axis->leap) {
            axis->leap = axis->high == 1 ? axis->jump : axis->leap;
            axis->high *= axis->top;
            axis->top = 1;
            axis->jump = 0;
        }
        if (axis->count == 1 || axis->leap == axis->count * axis->step) {
            axis->step = axis->count == 1 ? axis->leap : axis->step;
            axis->count *= axis->high;
            axis->high = axis->top;
            axis->leap = axis->jump;
            axis->top = 1;
            axis->jump = 0;
        }
    }
    axis->leap = axis->high == 1 ? 0 : axis->leap;
    axis->jump = axis->top == 1 ? 0 : axis->jump;
}

/* Takes the outermost level off *axis*, which has two or three. */
SL_INLINE void sl_drop_level(sl_axis *axis)
{
    if (axis->top > 1) {
        axis->top = 1;
        axis->jump = 0;
    } else {
        axis->high = 1;
        axis->leap = 0;
    }
}

/* Makes turns that continue where the axis ends a level of the axis: one long transpose for many short ones. */
SL_OUT_OF_LINE void sl_turns_to_axis(sl_axis *axis, int64_t along, int64_t across, sl_turns *turns)
{
    if (turns->count > 1 && axis->top == 1 && along == axis->count * axis->high) {
        axis->top = turns->count;
        axis->jump = across;
        sl_simplify_axis(axis);
        turns->count = turns->high;
        turns->to_step = turns->to_leap;
        turns->step = turns->leap;
        turns->high = 1;
        turns->to_leap = turns->leap = 0;
    }
}

/* The same for both axes, as long as there are such turns. */
SL_INLINE void sl_turns_to_axes(sl_axis *rows, sl_axis *columns, sl_turns *turns)
{
    for (int twice = 0; twice < 2; ++twice) {
        sl_turns_to_axis(columns, turns->to_step, turns->step, turns);
        sl_turns_to_axis(rows, turns->step, turns->to_step, turns);
    }
}

/* With fewer rows or columns, tiles cost more than they save. */
#define SL_TILED_FROM 8

/* A tile has SL_TILE rows and columns, one cache line each: to[row[i] + j] = from[i + column[j]]. */
#if SL_HAS_SHUFFLES
#define SL_TILE (64 / SL_ELEMENT_SIZE)
#else
#define SL_TILE 16
#endif

/* Offsets of *known* indices of an axis, relative to the first, which is number *phase* of its level. */
typedef struct {
    int64_t phase, known, offset[SL_TILE];
} sl_offset_table;

/* Returns the offsets of *count* <= SL_TILE indices from *first* on, relative to the first; sets *at* to its offset.
 * They stay in one of the two tables *lines*, and are computed again only for another phase. */
SL_OUT_OF_LINE const int64_t *sl_offsets_from(sl_offset_table *lines, const sl_axis *axis, int64_t first,
                                              int64_t count, int64_t *at)
{
    int64_t low = first, high = 0;
    if (axis->high > 1) {
        low = first % axis->count;
        high = first / axis->count % axis->high;
        *at = low * axis->step + high * axis->leap + first / axis->count / axis->high * axis->jump;
        /* Indices that end before their level does have the same offsets anywhere in it. */
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

/* Tiles: the prototypes of transposes in tiles, of any arrays and of near ones, which may be compiled apart.
 *
 * Assumes: axes with as few levels as sl_simplify_axis leaves, all extents >= 1.
 * Needs: axes. */

/* Transposes in tiles. */
typedef void sl_tiles_way(element *restrict to, const sl_axis *rows, const element *restrict from,
                          const sl_axis *columns, const sl_turns *turns, int far);

/* How the definition of transpose_tiles begins. */
#define SL_DECLARE_TILES(name)                                                                                       \
    SL_LINKABLE void name(element *restrict to, const sl_axis *rows, const element *restrict from,                   \
                          const sl_axis *columns, const sl_turns *turns, int far)
#ifdef SL_LINKED
SL_DECLARE_TILES(sl_transpose_tiles);
SL_DECLARE_TILES(sl_transpose_near_tiles);
#else
#define sl_transpose_near_tiles sl_transpose_tiles
#endif

/* Whether the text has tiles of near arrays only: the compiler takes less time for them.  Those of other arrays are
 * staged, read ahead, fetched, and done in the order that suits the sets of the cache. */
#ifndef SL_NEAR_TILES
#define SL_NEAR_TILES 0
#endif

/* Transposes in registers: squares of 16 bytes, several side by side.
 *
 * Assumes: nothing.
 * Needs: axes, shuffles. */

/* Whether a square is transposed half of its rows at a time: 16 rows need 17 registers, and SSE has 16. */
#if SL_HAS_SHUFFLES && SL_ELEMENT_SIZE == 1 && SL_VECTOR_BYTES == 16 && defined __SSE2__
#define SL_HAS_HALVES 1
#else
#define SL_HAS_HALVES 0
#endif

#if SL_HAS_SHUFFLES
#if SL_VECTOR_BYTES == 64
#define SL_SQUARES_PER_VECTOR 4
#define SL_VECTORS_PER_LINE 1
#elif SL_VECTOR_BYTES == 32
#define SL_SQUARES_PER_VECTOR 2
#define SL_VECTORS_PER_LINE 2
#else
#define SL_SQUARES_PER_VECTOR 1
#define SL_VECTORS_PER_LINE 4
#endif
/* Half, and a quarter, of SL_LANES_16. */
#if SL_ELEMENT_SIZE == 1
#define SL_HALF_SQUARE 8
#define SL_QUARTER_SQUARE 4
#elif SL_ELEMENT_SIZE == 2
#define SL_HALF_SQUARE 4
#define SL_QUARTER_SQUARE 2
#elif SL_ELEMENT_SIZE == 4
#define SL_HALF_SQUARE 2
#else
#define SL_HALF_SQUARE 1
#endif
/* Whether rows of 16 bytes that follow each other are written by whole vectors, which hold several. */
#define SL_HAS_DENSE_SQUARES (SL_SQUARES_PER_VECTOR > 1 && SL_LANES_16 >= SL_SQUARES_PER_VECTOR)

/* The lanes from *a* on and those from *b* on in turn, 16 bytes of them; the same for two and for four groups of 16
 * bytes side by side.  A list of numbers: the compiler reads it many times faster than lists of quotients. */
#if SL_ELEMENT_SIZE == 1
#define SL_IN_TURN(a, b)                                                                                             \
    (a), (b), (a) + 1, (b) + 1, (a) + 2, (b) + 2, (a) + 3, (b) + 3, (a) + 4, (b) + 4, (a) + 5, (b) + 5, (a) + 6,     \
        (b) + 6, (a) + 7, (b) + 7
#elif SL_ELEMENT_SIZE == 2
#define SL_IN_TURN(a, b) (a), (b), (a) + 1, (b) + 1, (a) + 2, (b) + 2, (a) + 3, (b) + 3
#elif SL_ELEMENT_SIZE == 4
#define SL_IN_TURN(a, b) (a), (b), (a) + 1, (b) + 1
#else
#define SL_IN_TURN(a, b) (a), (b)
#endif
#define SL_IN_TURN_2(a, b) SL_IN_TURN(a, b), SL_IN_TURN((a) + SL_LANES_16, (b) + SL_LANES_16)
#define SL_IN_TURN_4(a, b) SL_IN_TURN_2(a, b), SL_IN_TURN_2((a) + 2 * SL_LANES_16, (b) + 2 * SL_LANES_16)

/* Defines what zips each 16 bytes of a vector of *n* lanes with those of another: the first halves, the second ones.
 * Small elements take so many zips that gcc needs a fifth more time where it looks for what they could be combined to:
 * of an instruction that is named it knows nothing. */
#if defined __GNUC__ && !defined __clang__ && defined __SSE2__ && SL_ELEMENT_SIZE <= 2
#if SL_ELEMENT_SIZE == 1
#define SL_ZIP_NAME(half) "punpck" half "bw"
#else
#define SL_ZIP_NAME(half) "punpck" half "wd"
#endif
#if defined __AVX512BW__ && defined __AVX512VL__
#define SL_ZIP(half, zipped, a, b)                                                                                   \
    __asm__("v" SL_ZIP_NAME(half) " {%2, %1, %0|%0, %1, %2}" : "=v"(zipped) : "v"(a), "vm"(b))
#elif defined __AVX__
#define SL_ZIP(half, zipped, a, b)                                                                                   \
    __asm__("v" SL_ZIP_NAME(half) " {%2, %1, %0|%0, %1, %2}" : "=x"(zipped) : "x"(a), "xm"(b))
#else
#define SL_ZIP(half, zipped, a, b)                                                                                   \
    __asm__(SL_ZIP_NAME(half) " {%2, %0|%0, %2}" : "=x"(zipped) : "0"(a), "x"(b))
#endif
#define SL_DEFINE_ZIPS(suffix, vector, each, n)                                                                      \
    SL_ALWAYS_INLINE vector sl_zip_low_##suffix(vector a, vector b)                                                  \
    {                                                                                                                \
        vector zipped;                                                                                               \
        SL_ZIP("l", zipped, a, b);                                                                                   \
        return zipped;                                                                                               \
    }                                                                                                                \
    SL_ALWAYS_INLINE vector sl_zip_high_##suffix(vector a, vector b)                                                 \
    {                                                                                                                \
        vector zipped;                                                                                               \
        SL_ZIP("h", zipped, a, b);                                                                                   \
        return zipped;                                                                                               \
    }
#else
#define SL_DEFINE_ZIPS(suffix, vector, each, n)                                                                      \
    SL_ALWAYS_INLINE vector sl_zip_low_##suffix(vector a, vector b)                                                  \
    {                                                                                                                \
        return __builtin_shufflevector(a, b, each(0, n));                                                            \
    }                                                                                                                \
    SL_ALWAYS_INLINE vector sl_zip_high_##suffix(vector a, vector b)                                                 \
    {                                                                                                                \
        return __builtin_shufflevector(a, b, each(SL_HALF_SQUARE, SL_HALF_SQUARE + n));                              \
    }
#endif
SL_DEFINE_ZIPS(16, sl_lanes_16, SL_IN_TURN, SL_LANES_16)
#if SL_VECTOR_BYTES == 16
SL_DEFINE_ZIPS(max, sl_lanes, SL_IN_TURN, SL_LANES_MAX)
#else
SL_DEFINE_ZIPS(32, sl_lanes_32, SL_IN_TURN_2, SL_LANES_32)
#if SL_VECTOR_BYTES == 32
SL_DEFINE_ZIPS(max, sl_lanes, SL_IN_TURN_2, SL_LANES_MAX)
#else
SL_DEFINE_ZIPS(max, sl_lanes, SL_IN_TURN_4, SL_LANES_MAX)
#endif
#endif

/* Does *step*, which doubles the squares that are done, until squares of *size* are: no loop, so that vectors stay in
 * registers at each level of optimisation. */
#define SL_ZIP_UNTIL(size, step)                                                                                     \
    do {                                                                                                             \
        step;                                                                                                        \
        if ((size) > 2)                                                                                              \
            step;                                                                                                    \
        if ((size) > 4)                                                                                              \
            step;                                                                                                    \
        if ((size) > 8)                                                                                              \
            step;                                                                                                    \
    } while (0)

/* Transposes SL_SQUARES_PER_VECTOR squares of 16 bytes, side by side, by zipping the first half of the rows with the
 * second log2(SL_LANES_16) times. */
SL_ALWAYS_INLINE void sl_zip_squares(sl_lanes row[SL_LANES_16])
{
    sl_lanes zipped[SL_LANES_16];
    SL_REPEAT(SL_HALF_SQUARE, i, {
        const sl_lanes a = row[i], b = row[i + SL_HALF_SQUARE];
        zipped[2 * i] = sl_zip_low_max(a, b);
        zipped[2 * i + 1] = sl_zip_high_max(a, b);
    });
    SL_REPEAT(SL_LANES_16, i, row[i] = zipped[i]);
}
SL_ALWAYS_INLINE void sl_transpose_squares(sl_lanes row[SL_LANES_16])
{
    SL_ZIP_UNTIL(SL_LANES_16, sl_zip_squares(row));
}

#if SL_ELEMENT_SIZE <= 2
/* The same step for half of the rows: the first zip of squares makes the halves, which have nothing to do with each
 * other after it. */
SL_ALWAYS_INLINE void sl_zip_half(sl_lanes row[SL_HALF_SQUARE])
{
    sl_lanes zipped[SL_HALF_SQUARE];
    SL_REPEAT(SL_QUARTER_SQUARE, k, {
        const sl_lanes a = row[k], b = row[k + SL_QUARTER_SQUARE];
        zipped[2 * k] = sl_zip_low_max(a, b);
        zipped[2 * k + 1] = sl_zip_high_max(a, b);
    });
    SL_REPEAT(SL_HALF_SQUARE, k, row[k] = zipped[k]);
}
#endif

/* Transposes a matrix of squares, SL_SQUARES_PER_VECTOR by SL_SQUARES_PER_VECTOR, by unzipping each two rows as often:
 * the first half of the rows gets their even squares, the second their odd ones.  Unlike a zip of vectors of four
 * squares, this is one instruction without a table. */
typedef uint64_t sl_words __attribute__((vector_size(SL_VECTOR_BYTES)));
SL_ALWAYS_INLINE void sl_unzip_groups(sl_words row[SL_SQUARES_PER_VECTOR])
{
#if SL_SQUARES_PER_VECTOR > 1
    sl_words unzipped[SL_SQUARES_PER_VECTOR];
#if SL_SQUARES_PER_VECTOR == 4
    SL_REPEAT(2, i, {
        const sl_words a = row[2 * i], b = row[2 * i + 1];
        unzipped[i] = __builtin_shufflevector(a, b, 0, 1, 4, 5, 8, 9, 12, 13);
        unzipped[i + 2] = __builtin_shufflevector(a, b, 2, 3, 6, 7, 10, 11, 14, 15);
    });
#else
    unzipped[0] = __builtin_shufflevector(row[0], row[1], 0, 1, 4, 5);
    unzipped[1] = __builtin_shufflevector(row[0], row[1], 2, 3, 6, 7);
#endif
    SL_REPEAT(SL_SQUARES_PER_VECTOR, i, row[i] = unzipped[i]);
#else
    (void)row;
#endif
}
SL_ALWAYS_INLINE void sl_transpose_groups(sl_words row[SL_SQUARES_PER_VECTOR])
{
    SL_ZIP_UNTIL(SL_SQUARES_PER_VECTOR, sl_unzip_groups(row));
}

/* The same of one square of 16 bytes. */
SL_ALWAYS_INLINE void sl_zip_square(sl_lanes_16 row[SL_LANES_16])
{
    sl_lanes_16 zipped[SL_LANES_16];
    SL_REPEAT(SL_HALF_SQUARE, k, {
        const sl_lanes_16 a = row[k], b = row[k + SL_HALF_SQUARE];
        zipped[2 * k] = sl_zip_low_16(a, b);
        zipped[2 * k + 1] = sl_zip_high_16(a, b);
    });
    SL_REPEAT(SL_LANES_16, k, row[k] = zipped[k]);
}

/* The step of sl_zip_square for *vectors* vectors, a literal: those of a square of half as many rows and columns, of
 * which each vector has two, too. */
SL_ALWAYS_INLINE void sl_zip_vectors(sl_lanes_16 row[SL_LANES_16], const int vectors)
{
    sl_lanes_16 zipped[SL_LANES_16];
    SL_REPEAT(SL_HALF_SQUARE, k, if (k < vectors / 2) {
        const sl_lanes_16 a = row[k], b = row[k + vectors / 2];
        zipped[2 * k] = sl_zip_low_16(a, b);
        zipped[2 * k + 1] = sl_zip_high_16(a, b);
    });
    SL_REPEAT(SL_LANES_16, k, if (k < vectors) row[k] = zipped[k]);
}
#else
#define SL_LANES_16 SL_TILE
#define SL_LANES_MAX SL_TILE
#define SL_HAS_DENSE_SQUARES 0
#endif

/* Transposes of a square of 16 bytes, and of rows and columns of squares.
 *
 * Assumes: row[i] and column[j] are offsets in elements: to[row[i] + j] = from[i + column[j]].
 * Needs: integers, zips. */

#if SL_HAS_SHUFFLES
#if SL_SQUARES_PER_VECTOR > 1
typedef uint64_t sl_words_16 __attribute__((vector_size(16)));
typedef uint64_t sl_words_32 __attribute__((vector_size(32)));

/* Loads 16 bytes at *low* and 16 at *high*.  gcc 12 makes two loads and a shuffle between halves of the shuffle of two
 * vectors; a load to the high half is one instruction, which many processors do beside their shuffles. */
SL_ALWAYS_INLINE sl_words_32 sl_load_halves(const element *low, const element *high)
{
#if defined __AVX2__ && !defined __clang__
    typedef int ints __attribute__((vector_size(16)));
    typedef long long quadwords __attribute__((vector_size(16))), four_quadwords __attribute__((vector_size(32)));
    return (sl_words_32)__builtin_ia32_insert128i256((four_quadwords)__builtin_ia32_si256_si((ints)sl_load_16(low)),
                                                     (quadwords)sl_load_16(high), 1);
#else
    return __builtin_shufflevector((sl_words_16)sl_load_16(low), (sl_words_16)sl_load_16(high), 0, 1, 2, 3);
#endif
}

/* Loads one row of each square into one vector: that of square g is at from + at[g*SL_LANES_16]. */
SL_ALWAYS_INLINE sl_lanes sl_load_squares(const element *from, const int64_t *at)
{
#if SL_SQUARES_PER_VECTOR == 2
    return (sl_lanes)sl_load_halves(from + at[0], from + at[SL_LANES_16]);
#else
    const sl_words_32 low = sl_load_halves(from + at[0], from + at[SL_LANES_16]);
    const sl_words_32 high = sl_load_halves(from + at[2 * SL_LANES_16], from + at[3 * SL_LANES_16]);
    return (sl_lanes)__builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
#endif
}

/* Transposes to SL_LANES_16 rows by SL_LANES_MAX columns; writes the last row first.  Out of line, as the functions
 * below: inlined together they need more registers than there are. */
SL_OUT_OF_LINE void sl_transpose_flat(element *restrict to, const int64_t row[SL_LANES_16],
                                      const element *restrict from, const int64_t column[SL_LANES_MAX])
{
    sl_lanes line[SL_LANES_16];
    SL_REPEAT(SL_LANES_16, k, line[k] = sl_load_squares(from, column + k));
    sl_transpose_squares(line);
    SL_REPEAT(SL_LANES_16, k,
              sl_store_max(to + row[SL_LANES_16 - 1 - k], (sl_bytes_max)line[SL_LANES_16 - 1 - k]));
}

/* Stores square g of each line to the rows of that square. */
#define SL_STORE_SQUARE(g)                                                                                           \
    SL_REPEAT(SL_LANES_16, k, {                                                                                      \
        const sl_words words = (sl_words)line[k];                                                                    \
        const sl_words_16 square = __builtin_shufflevector(words, words, 2 * (g), 2 * (g) + 1);                      \
        sl_store_16(to + row[(g) * SL_LANES_16 + k], (sl_bytes_16)square);                                           \
    })

/* Transposes to SL_LANES_MAX rows by SL_LANES_16 columns; writes the first row first. */
SL_OUT_OF_LINE void sl_transpose_tall(element *restrict to, const int64_t row[SL_LANES_MAX],
                                      const element *restrict from, const int64_t column[SL_LANES_16])
{
    sl_lanes line[SL_LANES_16];
    SL_REPEAT(SL_LANES_16, k, line[k] = (sl_lanes)sl_load_max(from + column[k]));
    sl_transpose_squares(line);
    SL_REPEAT(SL_SQUARES_PER_VECTOR, g, SL_STORE_SQUARE(g));
}

/* Two tall blocks side by side: a row is 32 bytes, written by half as many stores. */
SL_OUT_OF_LINE void sl_transpose_tall_pair(element *restrict to, const int64_t row[SL_LANES_MAX],
                                           const element *restrict from, const int64_t column[2 * SL_LANES_16])
{
    sl_lanes left[SL_LANES_16], right[SL_LANES_16];
    SL_REPEAT(SL_LANES_16, k, left[k] = (sl_lanes)sl_load_max(from + column[k]));
    sl_transpose_squares(left);
    SL_REPEAT(SL_LANES_16, k, right[k] = (sl_lanes)sl_load_max(from + column[SL_LANES_16 + k]));
    sl_transpose_squares(right);
#if SL_SQUARES_PER_VECTOR == 4
    SL_REPEAT(SL_LANES_16, k, {
        const sl_words a = (sl_words)left[k], b = (sl_words)right[k];
        const sl_words low = __builtin_shufflevector(a, b, 0, 1, 8, 9, 2, 3, 10, 11);
        const sl_words high = __builtin_shufflevector(a, b, 4, 5, 12, 13, 6, 7, 14, 15);
        const sl_words_32 first = __builtin_shufflevector(low, low, 0, 1, 2, 3);
        const sl_words_32 second = __builtin_shufflevector(low, low, 4, 5, 6, 7);
        const sl_words_32 third = __builtin_shufflevector(high, high, 0, 1, 2, 3);
        const sl_words_32 fourth = __builtin_shufflevector(high, high, 4, 5, 6, 7);
        sl_store_32(to + row[2 * SL_LANES_16 + k], (sl_bytes_32)third);
        sl_store_32(to + row[3 * SL_LANES_16 + k], (sl_bytes_32)fourth);
        sl_store_32(to + row[k], (sl_bytes_32)first);
        sl_store_32(to + row[SL_LANES_16 + k], (sl_bytes_32)second);
    });
#else
    SL_REPEAT(SL_LANES_16, k, {
        const sl_words a = (sl_words)left[k], b = (sl_words)right[k];
        const sl_words_32 first = __builtin_shufflevector(a, b, 0, 1, 4, 5);
        const sl_words_32 second = __builtin_shufflevector(a, b, 2, 3, 6, 7);
        sl_store_32(to + row[k], (sl_bytes_32)first);
        sl_store_32(to + row[SL_LANES_16 + k], (sl_bytes_32)second);
    });
#endif
}
#endif

/* Stores the first *rows* of *count* rows, a literal. */
SL_ALWAYS_INLINE void sl_store_first(element *restrict to, const int64_t *row, const sl_lanes_16 *line, int64_t rows,
                                     const int64_t count)
{
    if (rows >= count) {
        SL_REPEAT(SL_LANES_16, k, if (k < count) sl_store_16(to + row[k], (sl_bytes_16)line[k]));
        return;
    }
    SL_REPEAT(SL_LANES_16, k, if (k < count - 1 && k < rows) sl_store_16(to + row[k], (sl_bytes_16)line[k]));
}

#if SL_HAS_HALVES
/* Loads 8 bytes into the low half of a vector. */
SL_ALWAYS_INLINE sl_words sl_load_low(const element *from)
{
    typedef uint64_t __attribute__((may_alias, aligned(1))) anywhere;
    return (sl_words){*(const anywhere *)from, 0};
}

/* Zips 8 bytes at *low* with 8 at *high*. */
SL_ALWAYS_INLINE sl_lanes sl_zip_eights(const element *low, const element *high)
{
    return sl_zip_low_16((sl_lanes)sl_load_low(low), (sl_lanes)sl_load_low(high));
}

/* Transposes to 8 rows from 8 bytes of each column: to[row[i] + j] = from[i + column[j]]; writes the first *rows*. */
SL_ALWAYS_INLINE void sl_transpose_half(element *restrict to, const int64_t *row, const element *restrict from,
                                        const int64_t column[16], int64_t rows)
{
    sl_lanes line[8];
    SL_REPEAT(8, k, line[k] = sl_zip_eights(from + column[k], from + column[k + 8]));
    SL_ZIP_UNTIL(8, sl_zip_half(line));
    sl_store_first(to, row, line, rows, 8);
}
#endif

/* Transposes one square of 16 bytes; writes the first *rows* rows, the first one first. */
SL_OUT_OF_LINE void sl_transpose_square(element *restrict to, const int64_t *row, const element *restrict from,
                                        const int64_t *column, int64_t rows)
{
#if SL_HAS_HALVES /* half of its rows at a time: the whole needs 17 registers, and there are 16 */
    sl_transpose_half(to, row, from, column, rows);
    if (rows > 8)
        sl_transpose_half(to, row + 8, from + 8, column, rows - 8);
#else
    sl_lanes_16 line[SL_LANES_16];
    SL_REPEAT(SL_LANES_16, k, line[k] = (sl_lanes_16)sl_load_16(from + column[k]));
    SL_ZIP_UNTIL(SL_LANES_16, sl_zip_square(line));
    sl_store_first(to, row, line, rows, SL_LANES_16);
#endif
}
#endif

/* Transposes of strips: few columns, of which a vector holds a row, by any number of rows.
 *
 * Assumes: nothing.
 * Needs: axes, integers, transpose_squares, zips. */

/* Strips are as wide as a vector, and at most 32 bytes: of 4 bytes and more, a set of the first-level cache holds the
 * lines of their columns, wherever they begin. */
#define SL_HAS_STRIPS SL_HAS_SHUFFLES
#if SL_HAS_STRIPS
#if SL_VECTOR_BYTES == 16
#define SL_STRIP SL_LANES_16
#else
#define SL_STRIP SL_LANES_32
#endif

/* Transposes rows i to i + SL_LANES_16 of a strip, whose columns begin at *at*.  Without a table *row*, the offset of a
 * row from the one before is *step*, and *to* is where row i begins. */
SL_ALWAYS_INLINE void sl_transpose_rows_16(element *restrict to, const int64_t *row, int64_t step,
                                           const element *const *at, int64_t i)
{
#if SL_HAS_HALVES
    SL_REPEAT(2, half, {
        sl_lanes line[8];
        SL_REPEAT(8, k, line[k] = sl_zip_eights(at[k] + i + 8 * half, at[k + 8] + i + 8 * half));
        SL_ZIP_UNTIL(8, sl_zip_half(line));
        SL_REPEAT(8, k, {
            sl_store_16(row ? to + row[i + 8 * half + k] : to, (sl_bytes_16)line[k]);
            to += step;
        });
    });
#else
    sl_lanes_16 line[SL_LANES_16];
    SL_REPEAT(SL_LANES_16, k, line[k] = (sl_lanes_16)sl_load_16(at[k] + i));
    SL_ZIP_UNTIL(SL_LANES_16, sl_zip_square(line));
    SL_REPEAT(SL_LANES_16, k, {
        sl_store_16(row ? to + row[i + k] : to, (sl_bytes_16)line[k]);
        to += step;
    });
#endif
}
#if SL_VECTOR_BYTES == 16
#define sl_transpose_rows sl_transpose_rows_16
#else
/* The step of sl_zip_squares for two squares side by side. */
SL_ALWAYS_INLINE void sl_zip_pair(sl_lanes_32 row[SL_LANES_16])
{
    sl_lanes_32 zipped[SL_LANES_16];
    SL_REPEAT(SL_HALF_SQUARE, k, {
        const sl_lanes_32 a = row[k], b = row[k + SL_HALF_SQUARE];
        zipped[2 * k] = sl_zip_low_32(a, b);
        zipped[2 * k + 1] = sl_zip_high_32(a, b);
    });
    SL_REPEAT(SL_LANES_16, k, row[k] = zipped[k]);
}

/* The same of a strip of two squares side by side, of which a vector gets a row: a load to half of a vector costs less
 * than a shuffle between halves. */
SL_ALWAYS_INLINE void sl_transpose_rows(element *restrict to, const int64_t *row, int64_t step,
                                        const element *const *at, int64_t i)
{
    sl_lanes_32 line[SL_LANES_16];
    SL_REPEAT(SL_LANES_16, k, line[k] = (sl_lanes_32)sl_load_halves(at[k] + i, at[k + SL_LANES_16] + i));
    SL_ZIP_UNTIL(SL_LANES_16, sl_zip_pair(line));
    SL_REPEAT(SL_LANES_16, k, {
        sl_store_32(row ? to + row[i + k] : to, (sl_bytes_32)line[k]);
        to += step;
    });
}
#endif

/* The rows of a strip that are transposed before the next strip: their lines stay in the first-level cache.  They are a
 * few lines of the source. */
#define SL_ROWS_OF_BAND (SL_ELEMENT_SIZE >= 4 ? 48 : 128)

/* The extent of pieces, at most *most* and alike, that *extent* is cut into; a multiple of *unit*. */
SL_INLINE int64_t sl_alike(int64_t extent, int64_t most, int64_t unit)
{
    const int64_t pieces = (extent + most - 1) / most, least = (extent + pieces - 1) / pieces;
    return (least + unit - 1) / unit * unit;
}

/* Where the columns of a strip of SL_STRIP columns, or of SL_LANES_16, begin. */
SL_ALWAYS_INLINE void sl_begin_strip(const element **at, const element *from, const int64_t *column, int64_t strip)
{
    SL_REPEAT(SL_STRIP, k, at[k] = k < strip ? from + column[k] : from);
}

/* Transposes *rows* >= SL_LANES_16 rows of a strip of SL_STRIP columns, or of SL_LANES_16; the last rows may be written
 * twice. */
SL_ALWAYS_INLINE void sl_transpose_strip(element *restrict to, const int64_t *row, int64_t step,
                                         const element *const *at, int64_t rows, int64_t strip)
{
    for (int64_t k = 0; k < rows; k += SL_LANES_16) {
        const int64_t i = sl_min(k, rows - SL_LANES_16);
        element *const into = row ? to : to + i * step;
        if (strip == SL_STRIP)
            sl_transpose_rows(into, row, step, at, i);
        else
            sl_transpose_rows_16(into, row, step, at, i);
    }
}
#endif

/* Fewer rows or columns of one step are a band.  Where a vector is a line, tiles of whole lines do as well from 64 on;
 * far arrays are staged.  Of 2 bytes, and of 1 byte where vectors have 16, any number is one: squares between registers
 * take less time than tiles through a block on the stack; of 1 byte, vectors of 64 bytes hold so many that none is. */
#define SL_HAS_BANDS (SL_HAS_STRIPS && !(SL_ELEMENT_SIZE == 1 && SL_VECTOR_BYTES == 64))
#if !SL_HAS_STRIPS
#define SL_FEWEST_TILED(far) SL_TILED_FROM
#elif SL_ELEMENT_SIZE >= 4
#define SL_FEWEST_TILED(far) ((far) ? 2 * SL_TILE : SL_VECTOR_BYTES == 64 ? 4 * SL_TILE : 5 * SL_TILE)
#elif SL_ELEMENT_SIZE == 2 || SL_VECTOR_BYTES == 16
#define SL_FEWEST_TILED(far) ((far) ? 0 : INT64_MAX)
#elif SL_HAS_BANDS
#define SL_FEWEST_TILED(far) ((far) ? 0 : 2 * SL_TILE)
#else
#define SL_FEWEST_TILED(far) ((void)(far), 0)
#endif

/* Ways: the prototypes of a transpose of any extents and strides, and of ways of large arrays, of small matrices and of
 * narrow ones, which may be compiled apart.
 *
 * Assumes: output and source do not overlap.
 * Needs: axes, plans, streams, tiles, zips. */

/* Whether large arrays have ways of their own: see transpose_large. */
#define SL_HAS_LARGE_WAYS SL_HAS_SHUFFLES

/* Transposes large arrays in a way other than tiles, if there is one that takes less time; returns whether there is. */
typedef int sl_large_way(element *restrict to, const sl_axis *rows, const element *restrict from,
                         const sl_axis *columns, const sl_turns *turns, int far);

/* Whether turns are planned: elements of 1 and 2 bytes, of which a vector holds many. */
#define SL_HAS_PLANNED_TURNS (SL_HAS_ROW_PLANS && SL_ELEMENT_SIZE <= 2)

/* The most elements of a turn that are planned. */
#define SL_PLANNED_ELEMENTS 256

/* How many rows of *width* elements follow each other in the output. */
SL_INLINE int64_t sl_rows_beside(const sl_axis *rows, int64_t width)
{
    return rows->step == width || rows->count == 1 ? rows->count : 1;
}

/* From so many turns on, these are done at once. */
#define SL_MANY_TURNS 16

/* Transposes small matrices many times: by a *plan*, by *squares*, or by *elements*, each for all turns, where that is
 * allowed; returns whether it did. */
typedef int sl_small_way(element *restrict to, const sl_axis *rows, const element *restrict from,
                         const sl_axis *columns, const sl_turns *turns, int plan, int squares, int elements);

/* Whether there is a way of narrow matrices: of fewer rows or columns than a square of 16 bytes has. */
#define SL_HAS_NARROW (SL_HAS_SHUFFLES && SL_ELEMENT_SIZE <= 4)
typedef void sl_narrow_way(element *restrict to, const sl_axis *rows, const element *restrict from,
                           const sl_axis *columns, const sl_turns *turns);

/* The functions for k streams, at k, for large arrays where stores do not wait and where they do, in tiles and in other
 * ways, for small matrices, and for narrow ones; 0 where a kernel does without.  It can be linked to others once calls
 * *wanted* them, as the bits of ways; where not, *wanted* is 0. */
#define SL_MOST_STREAMS 4
typedef struct {
    sl_split_streams *split[SL_MOST_STREAMS + 1];
    sl_join_streams *join[SL_MOST_STREAMS + 1];
    sl_large_way *large[2];
    sl_tiles_way *tiles[2];
    sl_small_way *small;
    sl_narrow_way *narrow;
    int32_t *wanted;
} sl_further_ways;

/* How the definitions begin.  By addresses: a struct of numbers that is passed as a value is copied by vectors, each of
 * which waits for the stores of the numbers. */
#define SL_DECLARE_TRANSPOSE(name)                                                                                   \
    SL_LINKABLE void name(element *restrict to, sl_axis *rows, const element *restrict from, sl_axis *columns,       \
                          sl_turns *turns, const sl_further_ways *ways, int reach)
#define SL_DECLARE_LARGE(name)                                                                                       \
    SL_LINKABLE int name(element *restrict to, const sl_axis *rows, const element *restrict from,                    \
                         const sl_axis *columns, const sl_turns *turns, int far)
#define SL_DECLARE_SMALL_MATRICES(name)                                                                              \
    SL_LINKABLE int name(element *restrict to, const sl_axis *rows, const element *restrict from,                    \
                         const sl_axis *columns, const sl_turns *turns, int plan, int squares, int elements)
#define SL_DECLARE_NARROW(name)                                                                                      \
    SL_LINKABLE void name(element *restrict to, const sl_axis *rows, const element *restrict from,                   \
                          const sl_axis *columns, const sl_turns *turns)
#ifdef SL_LINKED
SL_DECLARE_TRANSPOSE(sl_transpose_simplified);
SL_DECLARE_LARGE(sl_transpose_large_array);
SL_DECLARE_SMALL_MATRICES(sl_transpose_small_matrices);
SL_DECLARE_NARROW(sl_transpose_narrow);
#endif

/* What the choice of a way to transpose depends on: how far the arrays are, and how lines fall into sets of the cache.
 *
 * Assumes: axes with as few levels as sl_simplify_axis leaves, all extents >= 1.
 * Needs: axes, caches, far_stores, tiles, transpose_strips, ways. */

/* How many elements precede the first cache line, if then each offset of *axis* is at the begin or in the middle of a
 * line; else, or with a short extent, 0. */
SL_INLINE int64_t sl_elements_to_line(const element *first, const sl_axis *axis, int64_t extent)
{
    const int64_t left = 64 - (int64_t)((uintptr_t)first % 64);
    const int same =
        (axis->step | axis->leap | axis->jump) * SL_ELEMENT_SIZE % 32 == 0 && left % SL_ELEMENT_SIZE == 0;
    return same && extent >= 4 * SL_TILE ? left / SL_ELEMENT_SIZE % SL_TILE : 0;
}

/* Rows that are written before others beside them: the TLB keeps their pages. */
#ifndef SL_ROWS_OF_PAGES
#define SL_ROWS_OF_PAGES 2048
#endif

/* Whether all offsets of *axis* are at the begins of lines, if the first one is. */
SL_INLINE int sl_begins_lines(const sl_axis *axis)
{
    return (axis->step | axis->leap | axis->jump) * SL_ELEMENT_SIZE % 64 == 0;
}

/* Whether arrays are transposed in panels, in whole lines, in blocks, and in strips over levels. */
#define SL_HAS_PANELS (SL_HAS_STRIPS && SL_ELEMENT_SIZE >= 4)
/* Whether a tile comes to each line four times, which then has to stay in the cache: vectors have 16 bytes. */
#define SL_HAS_FOUR_VISITS (SL_HAS_PANELS && SL_VECTOR_BYTES == 16)

/* How far an output is that is written *times* times, *bytes* bytes each: whether it is near, whether stores wait for
 * its lines, and whether it is far: since the caller says so, or since an ordinary store, which reads the line first,
 * costs more. */
typedef struct {
    int near, wait, far;
} sl_distance;
SL_INLINE sl_distance sl_distance_of(int64_t bytes, int64_t times, int far)
{
    const int near = bytes < SL_NEAR_LEAST / times || bytes < SL_NEAR_BYTES / times, wait = !near && SL_STORES_WAIT;
    /* Sparing the read pays from two thirds or half of SL_FAR_BYTES on. */
    return (sl_distance){near, wait, far || (!near && bytes >= (wait ? SL_FAR_BYTES / 3 * 2 : SL_FAR_BYTES / 2))};
}

/* Whether the source is read ahead that is transposed *times* times, *bytes* bytes each, in tiles that are not
 * staged. */
SL_INLINE int sl_is_deep(sl_distance distance, int64_t bytes, int64_t times)
{
    return distance.far || (!distance.near && !distance.wait && bytes >= SL_FAR_BYTES / 4 / times);
}

/* The lines of one set of the first-level cache. */
#ifndef SL_WAYS
#define SL_WAYS (sl_cache_bytes(1) / 4096)
#endif

/* The most lines of a tile that fall into one set, of those that are written and of those that are read. */
typedef struct {
    int written, read;
} sl_crowd;

#if SL_HAS_STRIPS
/* The most cache lines that fall into one set of the first-level cache, one or two at each of the first *count*
 * offsets of *axis*.  A set is 6 bits of an address, in all processors with pages of 4 KB. */
SL_OUT_OF_LINE int sl_lines_in_a_set(const sl_axis *axis, int64_t count)
{
    unsigned char lines[64] = {0}, most = 0;
    uint64_t first = 1, last = 0; /* the lines of the offset before */
    for (int64_t k = 0; k < sl_min(count, sl_extent(axis)); ++k) {
        const int64_t offset = axis->high == 1 ? k * axis->step : sl_offset(axis, k); /* which divides */
        const uint64_t at = (uint64_t)offset * SL_ELEMENT_SIZE;
        for (uint64_t line = at / 64; line <= (at + 63) / 64; ++line)
            if (line < first || line > last)
                most = most > ++lines[line % 64] ? most : lines[line % 64];
        first = at / 64;
        last = (at + 63) / 64;
    }
    return most;
}

SL_INLINE sl_crowd sl_crowd_of(const sl_axis *rows, const sl_axis *columns)
{
    return (sl_crowd){sl_lines_in_a_set(rows, SL_TILE), sl_lines_in_a_set(columns, SL_TILE)};
}

/* Whether the lines that are written by the rows of a block stay in the cache until the next strip writes their other
 * parts: at most *most* of them fall into one set. */
SL_INLINE int sl_keeps_lines(const sl_axis *rows, int64_t most)
{
    return sl_lines_in_a_set(rows, SL_ROWS_OF_BAND) <= most;
}

/* Whether a transpose of small elements, *bytes* at once and *many* in all turns, takes less time in strips than in
 * tiles: the lines that a strip reads stay in the cache.  Where vectors have 32 bytes, it writes whole vectors.  Where
 * stores wait, what is near at once takes less time so. */
SL_INLINE int sl_pays_in_strips(const sl_axis *rows, const sl_axis *columns, int64_t bytes, int many)
{
    if (SL_ELEMENT_SIZE == 1 && SL_VECTOR_BYTES > 16 && (columns->count < SL_STRIP || rows->count < SL_TILE))
        return 0;
    return SL_NEAR_TILES || !many ||
           ((bytes < SL_NEAR_LEAST || !SL_STORES_WAIT) && sl_lines_in_a_set(columns, SL_TILE) <= SL_WAYS);
}
#endif

/* Whether a transpose of *bytes* bytes at once, fewer than *fewest* rows or columns of one level, is a band: of a large
 * array, only where the lines of its rows stay in the cache, unless tiles cost more anyway. */
SL_INLINE int sl_is_band(const sl_axis *rows, const sl_axis *columns, int64_t bytes, int64_t fewest, int many)
{
#if SL_HAS_STRIPS
    const int64_t few = sl_min(sl_extent(rows), sl_extent(columns));
    if (few < SL_LANES_16 || few >= fewest || rows->high > 1 || columns->high > 1)
        return 0;
    if (!SL_NEAR_TILES && bytes >= SL_NEAR_LEAST && few >= SL_TILED_FROM && !sl_keeps_lines(rows, SL_WAYS))
        return 0;
    return SL_HAS_PANELS || sl_pays_in_strips(rows, columns, bytes, many);
#else
    (void)rows, (void)columns, (void)bytes, (void)fewest, (void)many;
    return 0;
#endif
}

/* Pieces of a transpose: the prototypes of what is smaller than a tile, which may be compiled apart.
 *
 * Assumes: at most SL_TILE rows and columns; row[i] and column[j] are offsets in elements: to[row[i] + j] =
 * from[i + column[j]].
 * Needs: axes. */

/* How the definitions of transpose_pieces begin. */
#define SL_DECLARE_PART(name)                                                                                        \
    SL_LINKABLE void name(element *restrict to, const int64_t row[SL_TILE], const element *restrict from,            \
                          const int64_t column[SL_TILE], int64_t rows, int64_t columns)
#define SL_DECLARE_THIN(name)                                                                                        \
    SL_LINKABLE void name(element *restrict to, const int64_t row[SL_TILE], const element *restrict from,            \
                          const int64_t column[SL_TILE], int64_t rows, int64_t columns)
#define SL_DECLARE_BAND(name)                                                                                        \
    SL_LINKABLE void name(element *restrict to, int64_t to_stride, const element *restrict from, int64_t stride,     \
                          int64_t rows, int64_t columns)
/* *count* times, *to_step* and *step* apart, of up to SL_SMALL_SIDE rows and columns and no fewer than SL_SMALL_SQUARE:
 * the least side of a square that vectors hold. */
#define SL_SMALL_SIDE 128
#define SL_SMALL_SQUARE ((SL_ELEMENT_SIZE <= 2 ? 8 : 16) / SL_ELEMENT_SIZE)
#define SL_DECLARE_SMALL(name)                                                                                       \
    SL_LINKABLE void name(element *restrict to, const int64_t *row, const element *restrict from,                    \
                          const int64_t *column, int64_t rows, int64_t columns, int64_t count, int64_t to_step,      \
                          int64_t step)
#ifdef SL_LINKED
SL_DECLARE_PART(sl_transpose_part);
SL_DECLARE_THIN(sl_transpose_thin);
SL_DECLARE_BAND(sl_transpose_band);
SL_DECLARE_SMALL(sl_transpose_small);
#endif

/* A transpose in panels: long runs of the source are read, and long runs of the output written, one after the other.
 *
 * Assumes: axes with as few levels as sl_simplify_axis leaves, all extents >= 1.
 * Needs: transpose_choice, transpose_strips. */

/* A panel has SL_PANEL_HEIGHT rows of SL_PANEL_WIDTH elements, four and eight cache lines: it stays in the cache.
 * It is read in strips. */
#define SL_PANEL_WIDTH (512 / SL_ELEMENT_SIZE)
#define SL_PANEL_HEIGHT (256 / SL_ELEMENT_SIZE)
#define SL_PANEL_PITCH (SL_PANEL_WIDTH + SL_TILE)

#if SL_HAS_PANELS
/* Whether a transpose takes less time in panels: where lines that are written and lines that are read share sets, more
 * of them than its SL_WAYS, or fill one set each unless the source is read ahead; and the tile comes back to them,
 * since a vector is no line or crosses the begin of one. */
SL_INLINE int sl_pays_in_panels(const sl_axis *rows, const sl_axis *columns, sl_crowd crowd, int deep)
{
    const int64_t ways = SL_WAYS, least = deep ? ways : ways / 2;
    const int whole = SL_VECTOR_BYTES == 64 && (rows->step | columns->step) * SL_ELEMENT_SIZE % 64 == 0;
    if ((whole && crowd.read <= ways) || sl_extent(columns) < 2 * SL_TILE || sl_extent(rows) < SL_LANES_16)
        return 0;
    const int all = !deep && crowd.written >= SL_TILE && crowd.read >= SL_TILE && ways <= SL_TILE;
    return all || (crowd.written + crowd.read > 2 * ways && crowd.written >= least && crowd.read >= least);
}

/* Sets the offsets of *count* indices from *first* on. */
SL_OUT_OF_LINE void sl_offsets(int64_t *offset, const sl_axis *axis, int64_t first, int64_t count)
{
    int64_t low = first % axis->count, high = first / axis->count % axis->high, at = sl_offset(axis, first);
    for (int64_t k = 0; k < count; ++k) {
        offset[k] = at;
        at += axis->step;
        if (++low < axis->count)
            continue;
        low = 0;
        at += axis->leap - axis->count * axis->step;
        if (++high == axis->high) {
            high = 0;
            at += axis->jump - axis->high * axis->leap;
        }
    }
}

/* Writes a row of a panel, at least a vector: the first and the last vector may overlap others. */
SL_INLINE void sl_write_row(element *restrict to, const element *restrict held, int64_t count)
{
    const uintptr_t bytes = (uintptr_t)to % SL_VECTOR_BYTES;
    sl_store_max(to, sl_load_max(held));
    int64_t k = bytes % SL_ELEMENT_SIZE == 0 ? SL_LANES_MAX - (int64_t)(bytes / SL_ELEMENT_SIZE) : SL_LANES_MAX;
    for (; k < count - SL_LANES_MAX; k += SL_LANES_MAX) {
        sl_store_max(to + k, sl_load_max(held + k));
        SL_KEEP_LOOP();
    }
    sl_store_max(to + count - SL_LANES_MAX, sl_load_max(held + count - SL_LANES_MAX));
}

/* Transposes once, in panels, which begin at cache lines if they can: at least SL_LANES_16 rows, and SL_TILE
 * columns. */
SL_OUT_OF_LINE void sl_transpose_panels(element *restrict to, const sl_axis *rows, const element *restrict from,
                                        const sl_axis *columns)
{
    const int64_t height = sl_extent(rows), width = sl_extent(columns);
    const int64_t wide = sl_alike(width, SL_PANEL_WIDTH, SL_TILE), high = sl_alike(height, SL_PANEL_HEIGHT, SL_TILE);
    const int64_t lead_i = sl_elements_to_line(from, columns, height), lead_j = sl_elements_to_line(to, rows, width);
    element held[(SL_PANEL_HEIGHT + SL_TILE) * SL_PANEL_PITCH] __attribute__((aligned(64)));
    int64_t column[SL_PANEL_PITCH];
    for (int64_t left = 0, end_j; left < width; left = end_j) {
        end_j = sl_min(width, left + wide + (left == 0 ? lead_j : 0));
        const int64_t j = sl_min(left, width - SL_TILE), across = end_j - j;
        sl_offsets(column, columns, j, across);
        for (int64_t top = 0, end_i; top < height; top = end_i) {
            end_i = sl_min(height, top + high + (top == 0 ? lead_i : 0));
            const int64_t i = sl_min(top, height - SL_LANES_16), down = end_i - i;
            for (int64_t beside = 0; beside < across; beside += SL_STRIP) {
                const int64_t k = sl_min(beside, across - SL_STRIP);
                const element *at[SL_STRIP];
                sl_begin_strip(at, from + i, column + k, SL_STRIP);
                sl_transpose_strip(held + k, 0, SL_PANEL_PITCH, at, down, SL_STRIP);
            }
            for (int64_t k = 0; k < down; ++k) {
                const int64_t row = rows->high == 1 ? (i + k) * rows->step : sl_offset(rows, i + k);
                sl_write_row(to + row + j, held + k * SL_PANEL_PITCH, across);
            }
        }
    }
}
#endif

/* Pieces of a transpose: what is smaller than a tile, thinner than a square, or a band of few rows or columns.
 *
 * Assumes: as pieces.
 * Needs: copy, pieces, transpose_squares, transpose_strips. */

#if SL_HAS_SHUFFLES
/* Transposes at most SL_TILE by SL_TILE elements, and at least a square: in strips if it fills one, else in squares,
 * as many side by side as fit; the last ones overlap the ones before. */
SL_DECLARE_PART(sl_transpose_part)
{
#if SL_ELEMENT_SIZE >= 4 || SL_VECTOR_BYTES == 16
    const int64_t strip = columns < SL_STRIP ? SL_LANES_16 : SL_STRIP;
    for (int64_t left = 0; left < columns; left += strip) {
        const int64_t j = sl_min(left, columns - strip);
        const element *at[SL_STRIP];
#if SL_SQUARES_PER_VECTOR == 4
        if (strip == SL_STRIP && rows == SL_LANES_MAX) {
            sl_transpose_tall_pair(to + j, row, from, column + j);
            continue;
        }
#endif
        sl_begin_strip(at, from, column + j, strip);
        sl_transpose_strip(to + j, row, 0, at, rows, strip);
    }
#else
    const int flat = columns >= SL_LANES_MAX, tall = !flat && rows >= SL_LANES_MAX;
    const int64_t high = tall ? SL_LANES_MAX : SL_LANES_16, wide = flat ? SL_LANES_MAX : SL_LANES_16;
    for (int64_t top = 0; top < rows; top += high)
        for (int64_t left = 0; left < columns; left += wide) {
            const int64_t i = sl_min(top, rows - high), j = sl_min(left, columns - wide);
            if (flat)
                sl_transpose_flat(to + j, row + i, from + i, column + j);
            else if (tall && columns - left >= 2 * wide) {
                sl_transpose_tall_pair(to + j, row + i, from + i, column + j);
                left += wide;
            } else if (tall)
                sl_transpose_tall(to + j, row + i, from + i, column + j);
            else
                sl_transpose_square(to + j, row + i, from + i, column + j, SL_LANES_16);
        }
#endif
}

/* sl_copy, not inlined: for calls that are many in the text and rare at run time. */
SL_OUT_OF_LINE void sl_copy_out_of_line(element *restrict to, const element *restrict from, int64_t count)
{
    sl_copy(to, 0, from, 0, count);
}

/* Transposes a piece that is thinner than a square, by squares on the stack: long ones have a way of their own. */
SL_DECLARE_THIN(sl_transpose_thin)
{
    const int64_t high = sl_min(rows, SL_LANES_16), wide = sl_min(columns, SL_LANES_16);
    int64_t line[SL_LANES_16];
    for (int64_t k = 0; k < SL_LANES_16; ++k)
        line[k] = k * SL_LANES_16;
    for (int64_t top = 0; top < rows; top += SL_LANES_16)
        for (int64_t left = 0; left < columns; left += SL_LANES_16) {
            const int64_t i = sl_min(top, rows - high), j = sl_min(left, columns - wide);
            element block[2][SL_LANES_16 * SL_LANES_16] = {{0}};
            for (int64_t k = 0; k < wide; ++k)
                sl_copy_out_of_line(block[0] + k * SL_LANES_16, from + i + column[j + k], high);
            sl_transpose_square(block[1], line, block[0], line, high);
            for (int64_t k = 0; k < high; ++k)
                sl_copy_out_of_line(to + j + row[i + k], block[1] + k * SL_LANES_16, wide);
        }
}

#if SL_HAS_BANDS
/* Transposes a band in strips of *strip* columns, a literal. */
SL_ALWAYS_INLINE void sl_transpose_strips(element *restrict to, int64_t to_stride, const element *restrict from,
                                          int64_t stride, int64_t rows, int64_t columns, const int64_t strip)
{
    const int64_t high = sl_alike(rows, SL_ROWS_OF_BAND, SL_LANES_16);
    for (int64_t top = 0; top < rows; top += high)
        for (int64_t left = 0; left < columns; left += strip) {
            const int64_t i = sl_min(top, rows - SL_LANES_16), down = sl_min(high, rows - i);
            const int64_t j = sl_min(left, columns - strip);
            const element *at[SL_STRIP], *begin = from + i + j * stride;
            SL_UNROLL
            for (int64_t k = 0; k < SL_STRIP; ++k) {
                at[k] = begin;
                begin += k + 1 < strip ? stride : 0;
            }
            sl_transpose_strip(to + i * to_stride + j, 0, to_stride, at, down, strip);
        }
}
#endif

/* Transposes few rows or columns, but not fewer than a square has, in strips along the long side. */
SL_DECLARE_BAND(sl_transpose_band)
{
#if SL_HAS_BANDS
    if (columns < SL_STRIP)
        sl_transpose_strips(to, to_stride, from, stride, rows, columns, SL_LANES_16);
    else
        sl_transpose_strips(to, to_stride, from, stride, rows, columns, SL_STRIP);
#else
    (void)to, (void)to_stride, (void)from, (void)stride, (void)rows, (void)columns;
#endif
}
#else
SL_DECLARE_PART(sl_transpose_part)
{
    for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j)
            to[row[i] + j] = from[i + column[j]];
}

SL_DECLARE_THIN(sl_transpose_thin)
{
    sl_transpose_part(to, row, from, column, rows, columns);
}

SL_DECLARE_BAND(sl_transpose_band)
{
    for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j)
            to[i * to_stride + j] = from[i + j * stride];
}
#endif

/* Transposes of small elements that read cache lines whole: as many rows as a line has elements, some columns.
 *
 * Assumes: row[i] and column[j] are offsets in elements: to[row[i] + j] = from[i + column[j]].
 * Needs: integers, transpose_squares, zips. */

/* Where a vector is a line, each is read whole as it is. */
#if SL_HAS_SHUFFLES && SL_ELEMENT_SIZE <= 2 && SL_SQUARES_PER_VECTOR < 4
#define SL_HAS_LINES 1
#else
#define SL_HAS_LINES 0
#endif
#if SL_HAS_LINES

/* Loads and transposes what the first zip left of half of the rows of squares. */
SL_ALWAYS_INLINE void sl_finish_half(sl_lanes line[SL_HALF_SQUARE], const sl_lanes zipped[SL_HALF_SQUARE])
{
    SL_REPEAT(SL_HALF_SQUARE, k, line[k] = zipped[k]);
    SL_ZIP_UNTIL(SL_HALF_SQUARE, sl_zip_half(line));
}

/* Transposes SL_TILE rows of *columns* >= SL_LANES_16 columns, at most SL_TILE, through a block on the stack: all of a
 * line is zipped with all of another, and each row is finished by itself.  So a line that is read does not have to stay
 * in the cache, where others of its set follow it; nor do those that are written. */
SL_OUT_OF_LINE void sl_transpose_lines(element *restrict to, const int64_t row[SL_TILE], const element *restrict from,
                                       const int64_t *column, int64_t columns)
{
    const int64_t groups = (columns + SL_LANES_16 - 1) / SL_LANES_16, last = columns - SL_LANES_16;
    sl_lanes block[4][SL_VECTORS_PER_LINE][2][SL_HALF_SQUARE];
    for (int64_t g = 0; g < groups; ++g)
        for (int64_t k = 0; k < SL_HALF_SQUARE; ++k) {
            const int64_t j = sl_min(g * SL_LANES_16, last) + k; /* the last group may overlap the one before */
            const element *const first = from + column[j], *const second = from + column[j + SL_HALF_SQUARE];
            SL_REPEAT(SL_VECTORS_PER_LINE, v, {
                const sl_lanes a = (sl_lanes)sl_load_max(first + v * SL_LANES_MAX);
                const sl_lanes b = (sl_lanes)sl_load_max(second + v * SL_LANES_MAX);
                block[g][v][0][k] = sl_zip_low_max(a, b);
                block[g][v][1][k] = sl_zip_high_max(a, b);
            });
        }
    for (int64_t v = 0; v < SL_VECTORS_PER_LINE; ++v)
        for (int64_t half = 0; half < 2; ++half) {
            const int64_t *const at = row + v * SL_LANES_MAX + half * SL_HALF_SQUARE;
            int64_t g = 0;
#if SL_SQUARES_PER_VECTOR == 2
            for (; (g + 2) * SL_LANES_16 <= columns; g += 2) {
                sl_lanes left[SL_HALF_SQUARE], right[SL_HALF_SQUARE];
                sl_finish_half(left, block[g][v][half]);
                sl_finish_half(right, block[g + 1][v][half]);
                SL_REPEAT(SL_HALF_SQUARE, k, {
                    const sl_words a = (sl_words)left[k], b = (sl_words)right[k];
                    sl_store_max(to + at[k] + g * SL_LANES_16, (sl_bytes_max)__builtin_shufflevector(a, b, 0, 1, 4, 5));
                    sl_store_max(to + at[k + SL_LANES_16] + g * SL_LANES_16,
                                 (sl_bytes_max)__builtin_shufflevector(a, b, 2, 3, 6, 7));
                });
            }
#endif
            for (; g < groups; ++g) {
                element *const into = to + sl_min(g * SL_LANES_16, last);
                sl_lanes line[SL_HALF_SQUARE];
                sl_finish_half(line, block[g][v][half]);
#if SL_SQUARES_PER_VECTOR == 2
                SL_REPEAT(SL_HALF_SQUARE, k, {
                    const sl_words a = (sl_words)line[k];
                    sl_store_16(into + at[k], (sl_bytes_16)__builtin_shufflevector(a, a, 0, 1));
                    sl_store_16(into + at[k + SL_LANES_16], (sl_bytes_16)__builtin_shufflevector(a, a, 2, 3));
                });
#else
                SL_REPEAT(SL_HALF_SQUARE, k, sl_store_16(into + at[k], (sl_bytes_16)line[k]));
#endif
            }
        }
}
#endif

/* A transpose of one tile, a cache line a side, or of a column of squares.
 *
 * Assumes: row[i] and column[j] are offsets in elements: to[row[i] + j] = from[i + column[j]].
 * Needs: integers, transpose_lines, transpose_squares, transpose_strips, zips. */

/* Whether tiles of even rows and columns have a function of their own: the steps need no tables. */
#define SL_HAS_EVEN_TILES (SL_HAS_STRIPS && SL_ELEMENT_SIZE >= 4)
/* Whether these can also be transposed in the order that suits the sets of the cache: a tile of whole vectors is read
 * and written a line at a time as it is. */
#if SL_HAS_EVEN_TILES && SL_SQUARES_PER_VECTOR < 4
#define SL_HAS_ORDERED_TILES 1
#else
#define SL_HAS_ORDERED_TILES 0
#endif

#if SL_HAS_EVEN_TILES
/* Where the columns of a strip of an even tile begin. */
SL_ALWAYS_INLINE void sl_begin_even_strip(const element **at, const element *from, int64_t column_step)
{
    SL_REPEAT(SL_STRIP, k, {
        at[k] = from;
        from += k + 1 < SL_STRIP ? column_step : 0;
    });
}
/* Transposes *rows* >= SL_LANES_16 even rows of a multiple of SL_STRIP columns, a few rows whole before the next: each
 * line of the output is written at once.  The inner loop keeps nothing on the stack: such stores would wait among those
 * to the rows. */
SL_OUT_OF_LINE void sl_transpose_even_rows(element *restrict to, int64_t row_step, const element *restrict from,
                                           int64_t column_step, int64_t rows, int64_t columns)
{
    for (int64_t top = 0; top < rows; top += SL_LANES_16) {
        const int64_t i = sl_min(top, rows - SL_LANES_16);
        element *into = to + i * row_step;
        const element *at[SL_STRIP] = {from + i};
        for (const element *const end = into + columns; into < end; into += SL_STRIP) {
            sl_begin_even_strip(at, at[0], column_step);
            sl_transpose_rows(into, 0, row_step, at, 0);
            at[0] = at[SL_STRIP - 1] + column_step;
        }
    }
}
#endif

#if !SL_HAS_SHUFFLES
SL_OUT_OF_LINE void sl_transpose_tile(element *restrict to, const int64_t row[SL_TILE], const element *restrict from,
                                      const int64_t column[SL_TILE])
{
    for (int64_t i = 0; i < SL_TILE; ++i)
        for (int64_t j = 0; j < SL_TILE; ++j)
            to[row[i] + j] = from[i + column[j]];
}
#elif SL_HAS_LINES
/* Transposes a tile of small elements. */
SL_OUT_OF_LINE void sl_transpose_tile(element *restrict to, const int64_t row[SL_TILE], const element *restrict from,
                                      const int64_t column[SL_TILE])
{
    sl_transpose_lines(to, row, from, column, SL_TILE);
}
#elif SL_ELEMENT_SIZE >= 4
#if SL_SQUARES_PER_VECTOR < 4
/* Transposes a tile in strips. */
SL_OUT_OF_LINE void sl_transpose_tile(element *restrict to, const int64_t row[SL_TILE], const element *restrict from,
                                      const int64_t column[SL_TILE])
{
    for (int64_t j = 0; j < SL_TILE; j += SL_STRIP) {
        const element *at[SL_STRIP];
        sl_begin_strip(at, from, column + j, SL_STRIP);
        sl_transpose_strip(to + j, row, 0, at, SL_TILE, SL_STRIP);
    }
}
/* The same where rows and columns have one step each. */
SL_OUT_OF_LINE void sl_transpose_even_tile(element *restrict to, int64_t row_step, const element *restrict from,
                                           int64_t column_step)
{
    SL_UNROLL
    for (int64_t j = 0; j < SL_TILE; j += SL_STRIP) {
        const element *at[SL_STRIP];
        sl_begin_even_strip(at, from + j * column_step, column_step);
        SL_UNROLL
        for (int64_t i = 0; i < SL_TILE; i += SL_LANES_16)
            sl_transpose_rows(to + j + i * row_step, 0, row_step, at, i);
    }
}
/* Transposes an even tile, a few columns whole before the next: for lines of one set that are read.  Nothing is
 * unrolled, so that the loads keep this order. */
SL_OUT_OF_LINE void sl_transpose_columns_first(element *restrict to, int64_t row_step, const element *restrict from,
                                               int64_t column_step)
{
    for (int64_t j = 0; j < SL_TILE; j += SL_STRIP)
        for (int64_t i = 0; i < SL_TILE; i += SL_LANES_16) {
            const element *at[SL_STRIP];
            sl_begin_even_strip(at, from + i + j * column_step, column_step);
            sl_transpose_rows(to + i * row_step + j, 0, row_step, at, 0);
            SL_KEEP_LOOP();
        }
}
#else
/* Transposes a tile, SL_SQUARES_PER_VECTOR by SL_SQUARES_PER_VECTOR squares at a time: these stay in registers, and
 * rows are written by whole vectors.  Without a table, the offset of k is k*step. */
SL_ALWAYS_INLINE void sl_transpose_large(element *restrict to, const int64_t *row, int64_t row_step,
                                         const element *restrict from, const int64_t *column, int64_t column_step)
{
    for (int64_t part = 0; part < 4; part += SL_SQUARES_PER_VECTOR)
        for (int64_t first = 0; first < 4; first += SL_SQUARES_PER_VECTOR) {
            sl_lanes line[SL_SQUARES_PER_VECTOR][SL_LANES_16];
            SL_REPEAT(SL_SQUARES_PER_VECTOR, square, {
                SL_REPEAT(SL_LANES_16, k, {
                    const int64_t j = (first + square) * SL_LANES_16 + k;
                    line[square][k] =
                        (sl_lanes)sl_load_max(from + part * SL_LANES_16 + (column ? column[j] : j * column_step));
                });
                sl_transpose_squares(line[square]);
            });
            SL_REPEAT(SL_LANES_16, k, {
                sl_words words[SL_SQUARES_PER_VECTOR];
                SL_REPEAT(SL_SQUARES_PER_VECTOR, square, words[square] = (sl_words)line[square][k]);
                sl_transpose_groups(words);
                SL_REPEAT(SL_SQUARES_PER_VECTOR, group, {
                    const int64_t i = (part + group) * SL_LANES_16 + k;
                    sl_store_max(to + (row ? row[i] : i * row_step) + first * SL_LANES_16, (sl_bytes_max)words[group]);
                });
            });
        }
}
SL_OUT_OF_LINE void sl_transpose_tile(element *restrict to, const int64_t row[SL_TILE], const element *restrict from,
                                      const int64_t column[SL_TILE])
{
    sl_transpose_large(to, row, 0, from, column, 0);
}
/* The same where rows and columns have one step each. */
SL_OUT_OF_LINE void sl_transpose_even_tile(element *restrict to, int64_t row_step, const element *restrict from,
                                           int64_t column_step)
{
    sl_transpose_large(to, 0, row_step, from, 0, column_step);
}
#endif
#else
/* Transposes a tile of small elements through a block on the stack: there are more vectors than registers.  Each cache
 * line of the source is read whole, once, and each line of the output is written whole: with strides of a power of
 * two, no line is evicted half used. */
SL_OUT_OF_LINE void sl_transpose_tile(element *restrict to, const int64_t row[SL_TILE], const element *restrict from,
                                      const int64_t column[SL_TILE])
{
    sl_words block[4 / SL_SQUARES_PER_VECTOR][SL_LANES_16][4];
    for (int64_t part = 0; part < 4 / SL_SQUARES_PER_VECTOR; ++part)
        for (int64_t square = 0; square < 4; ++square) {
            sl_lanes line[SL_LANES_16];
            SL_REPEAT(SL_LANES_16, k, {
                line[k] = (sl_lanes)sl_load_max(from + part * SL_LANES_MAX + column[square * SL_LANES_16 + k]);
            });
            sl_transpose_squares(line);
            SL_REPEAT(SL_LANES_16, k, block[part][k][square] = (sl_words)line[k]);
        }
    for (int64_t part = 0; part < 4 / SL_SQUARES_PER_VECTOR; ++part)
        for (int64_t k = 0; k < SL_LANES_16; ++k) {
            sl_words line[4];
            SL_REPEAT(4, square, line[square] = block[part][k][square]);
            SL_REPEAT(SL_VECTORS_PER_LINE, v, sl_transpose_groups(line + v * SL_SQUARES_PER_VECTOR));
            SL_REPEAT(SL_SQUARES_PER_VECTOR, group, {
                element *const into = to + row[(part * SL_SQUARES_PER_VECTOR + group) * SL_LANES_16 + k];
                SL_REPEAT(SL_VECTORS_PER_LINE, v,
                          sl_store_max(into + v * SL_LANES_MAX, (sl_bytes_max)line[v * SL_SQUARES_PER_VECTOR + group]));
            });
        }
}
#endif

/* Transposes *rows* >= SL_LANES_MAX rows, each as long as a square, which follow each other in memory: writes whole
 * vectors.  The last ones overlap the ones before. */
SL_OUT_OF_LINE void sl_transpose_dense(element *restrict to, const int64_t row[SL_TILE], const element *restrict from,
                                       const int64_t column[SL_LANES_16], int64_t rows)
{
#if SL_HAS_DENSE_SQUARES
    for (int64_t top = 0; top < rows; top += SL_LANES_MAX) {
        const int64_t i = sl_min(top, rows - SL_LANES_MAX);
        sl_lanes line[SL_LANES_16];
        SL_REPEAT(SL_LANES_16, k, line[k] = (sl_lanes)sl_load_max(from + i + column[k]));
        sl_transpose_squares(line);
        SL_REPEAT(SL_LANES_16, k, if (k % SL_SQUARES_PER_VECTOR == 0) {
            sl_words rows_of[SL_SQUARES_PER_VECTOR];
            SL_REPEAT(SL_SQUARES_PER_VECTOR, g, rows_of[g] = (sl_words)line[k + g]);
            sl_transpose_groups(rows_of);
            SL_REPEAT(SL_SQUARES_PER_VECTOR, g,
                      sl_store_max(to + row[i] + (g * SL_LANES_16 + k) * SL_LANES_16, (sl_bytes_max)rows_of[g]));
        });
    }
#else
    (void)to, (void)row, (void)from, (void)column, (void)rows;
#endif
}

/* Transposes of rows that have levels, whose offsets are the same in each tile: pixels of blocks with few channels,
 * for example.  The lines of the output are fetched a tile before: where a store waits for its line.
 *
 * Assumes: axes with as few levels as sl_simplify_axis leaves, all extents >= 1.
 * Needs: axes, integers, pieces, transpose_choice, transpose_panels, transpose_pieces, transpose_tile. */

#if SL_HAS_PANELS
/* The most columns: of two cache lines. */
#define SL_COLUMNS_OF_LEVELS (2 * SL_TILE)

/* Whether *rows* and *columns* are such axes: so few rows of a level that each tile begins with one. */
SL_INLINE int sl_pays_in_fetched_levels(const sl_axis *rows, const sl_axis *columns)
{
    const int64_t width = sl_extent(columns);
    return rows->high > 1 && rows->count <= SL_TILE && SL_TILE % rows->count == 0 &&
           rows->count * rows->high >= 2 * SL_TILE && width >= SL_LANES_16 && width <= SL_COLUMNS_OF_LEVELS;
}

/* Sets where lines are fetched for the rows of a tile, *width* columns each, which may begin anywhere in a line: rows
 * that follow each other as one.  Returns how many. */
SL_INLINE int64_t sl_lines_of_rows(int64_t *line, const int64_t row[SL_TILE], int64_t width)
{
    int64_t lines = 0;
    for (int64_t i = 0, next; i < SL_TILE; i = next) {
        for (next = i + 1; next < SL_TILE && row[next] == row[next - 1] + width; ++next)
            continue;
        for (int64_t j = 0; j <= (next - i) * width; j += SL_TILE)
            line[lines++] = row[i] + j;
    }
    return lines;
}

/* Transposes, *turns* times, one of the outermost levels of the rows after the other. */
SL_OUT_OF_LINE void sl_transpose_fetched_levels(element *restrict to, const sl_axis *rows, const element *restrict from,
                                                const sl_axis *columns, const sl_turns *turns)
{
    const int64_t height = rows->count * rows->high, width = sl_extent(columns);
    const int64_t times = turns->count * turns->high * rows->top;
    int64_t row[SL_TILE], column[SL_COLUMNS_OF_LEVELS], line[SL_TILE * (SL_COLUMNS_OF_LEVELS / SL_TILE + 1)];
    sl_offsets(row, rows, 0, SL_TILE);
    sl_offsets(column, columns, 0, width);
    const int64_t lines = sl_lines_of_rows(line, row, width), below = SL_TILE / rows->count * rows->leap;
    int64_t t = 0, c = 0;
    for (int64_t time = 0; time < times; ++time) {
        element *into = to;
        for (int64_t top = 0; top < height; top += SL_TILE) {
            const int64_t i = sl_min(top, height - SL_TILE); /* the last tile may overlap the one before */
            element *const at = i == top ? into : to + i / rows->count * rows->leap;
            into += below;
            for (int64_t k = 0; k < lines; ++k)
                __builtin_prefetch(into + line[k], 1, 3);
            for (int64_t left = 0; left < width; left += SL_TILE) {
                const int64_t wide = sl_min(SL_TILE, sl_max(SL_LANES_16, width - left)), j = sl_min(left, width - wide);
                if (wide == SL_TILE)
                    sl_transpose_tile(at + j, row, from + i, column + j);
                else
                    sl_transpose_part(at + j, row, from + i, column + j, SL_TILE, wide);
            }
        }
        to += rows->jump;
        from += height;
        if (++t == rows->top) {
            t = 0;
            to += turns->to_step - rows->top * rows->jump;
            from += turns->step - rows->top * height;
            if (++c == turns->count) {
                c = 0;
                to += turns->to_leap - turns->count * turns->to_step;
                from += turns->leap - turns->count * turns->step;
            }
        }
    }
}
#endif

/* Strips of small elements whose rows and columns have one step each: addresses are multiples of the steps, which take
 * neither tables nor registers of their own.
 *
 * Assumes: to[i*row_step + j] = from[i + j*column_step].
 * Needs: transpose_squares, transpose_strips, zips. */

#define SL_HAS_EVEN_STRIPS (SL_HAS_STRIPS && SL_ELEMENT_SIZE <= 2)
#if SL_HAS_EVEN_STRIPS
/* A step and its multiples, in bytes: those that an address has no factor for. */
typedef struct {
    int64_t one, three, five, seven;
} sl_steps;

SL_INLINE sl_steps sl_steps_of(int64_t step)
{
    const int64_t bytes = step * SL_ELEMENT_SIZE;
    return (sl_steps){bytes, 3 * bytes, 5 * bytes, 7 * bytes};
}

/* Hides a value from the compiler: it would keep what is derived from it in more registers than there are. */
#define SL_HIDE(value) __asm__("" : "+r"(value))
#define SL_HIDE_STEPS(steps)                                                                                         \
    SL_HIDE((steps).one);                                                                                            \
    SL_HIDE((steps).three);                                                                                          \
    SL_HIDE((steps).five);                                                                                           \
    SL_HIDE((steps).seven)

/* The bytes of *k* steps, a literal from 0 to 7. */
SL_ALWAYS_INLINE int64_t sl_times(const sl_steps *steps, int64_t k)
{
    switch (k) {
    case 0:
    case 1:
    case 2:
    case 4:
        return k * steps->one;
    case 3:
    case 6:
        return k / 3 * steps->three;
    default:
        return k == 5 ? steps->five : steps->seven;
    }
}
/* What is *k* steps behind *first*. */
SL_ALWAYS_INLINE const element *sl_column_at(const element *first, const sl_steps *steps, int64_t k)
{
    return (const element *)((const char *)first + sl_times(steps, k));
}
SL_ALWAYS_INLINE element *sl_row_at(element *first, const sl_steps *steps, int64_t k)
{
    return (element *)((char *)first + sl_times(steps, k));
}

/* Transposes SL_LANES_16 rows of SL_STRIP columns. */
SL_ALWAYS_INLINE void sl_transpose_even_strip(element *restrict to, const sl_steps *rows, const element *restrict from,
                                              const sl_steps *columns)
{
#if SL_HAS_HALVES
    const element *upper = (const element *)((const char *)from + 8 * columns->one);
    SL_HIDE(upper);
    SL_UNROLL
    for (int64_t half = 0; half < 16; half += 8) {
        sl_lanes line[8];
        SL_UNROLL
        for (int64_t k = 0; k < 8; ++k)
            line[k] = sl_zip_eights(sl_column_at(from, columns, k) + half, sl_column_at(upper, columns, k) + half);
        SL_ZIP_UNTIL(8, sl_zip_half(line));
        SL_UNROLL
        for (int64_t k = 0; k < 8; ++k)
            sl_store_16(sl_row_at(to, rows, k), (sl_bytes_16)line[k]);
        to = (element *)((char *)to + 8 * rows->one);
        SL_HIDE(to);
    }
#else
    const element *upper = (const element *)((const char *)from + SL_LANES_16 * columns->one);
    SL_HIDE(upper);
#if SL_VECTOR_BYTES == 16
    sl_lanes_16 line[SL_LANES_16];
#else
    sl_lanes_32 line[SL_LANES_16];
#endif
    SL_UNROLL
    for (int64_t k = 0; k < SL_LANES_16; ++k) {
        if (k == 8) {
            from = (const element *)((const char *)from + 8 * columns->one);
            upper = (const element *)((const char *)upper + 8 * columns->one);
            SL_HIDE(from);
            SL_HIDE(upper);
        }
#if SL_VECTOR_BYTES == 16
        line[k] = (sl_lanes_16)sl_load_16(sl_column_at(from, columns, k % 8));
#else
        line[k] = (sl_lanes_32)sl_load_halves(sl_column_at(from, columns, k % 8), sl_column_at(upper, columns, k % 8));
#endif
    }
#if SL_VECTOR_BYTES == 16
    SL_ZIP_UNTIL(SL_LANES_16, sl_zip_square(line));
#else
    SL_ZIP_UNTIL(SL_LANES_16, sl_zip_pair(line));
#endif
    SL_UNROLL
    for (int64_t k = 0; k < SL_LANES_16; ++k) {
        if (k == 8) {
            to = (element *)((char *)to + 8 * rows->one);
            SL_HIDE(to);
        }
#if SL_VECTOR_BYTES == 16
        sl_store_16(sl_row_at(to, rows, k % 8), (sl_bytes_16)line[k]);
#else
        sl_store_32(sl_row_at(to, rows, k % 8), (sl_bytes_32)line[k]);
#endif
    }
#endif
}
#endif

/* Staging: what tiles side by side write is collected, and written in long pieces of rows.
 *
 * Assumes: offsets in elements, as in a tile: to[row[i] + j].
 * Needs: axes, copy, far_stores, transpose_choice, zips. */

/* Tiles of a block, each way.  The lines of a block, each perhaps in a page of its own, are a few hundred. */
#ifndef SL_TILES_PER_BLOCK
#define SL_TILES_PER_BLOCK 8
#endif
/* Whether SL_TILES_PER_BLOCK tiles side by side are staged, so that rows are written in long pieces, in whole cache
 * lines: for far arrays; of 4 bytes and more, where rows begin anywhere in a line, so that vectors would cross lines,
 * unless a vector is a line; and where all lines of a tile, 32 or more, fall into one set of the first-level cache, a
 * way of which has 4 KB or more.  In two sets or more, and for fewer lines, staging costs more: a tile writes each line
 * whole.  Where stores do not *wait*, rows that begin anywhere in a line are not staged: both ends of a piece are parts
 * of lines. */
#define SL_STAGED_STEP ((SL_TILES_PER_BLOCK + 1) * SL_TILE)
SL_INLINE int sl_is_staged(const sl_axis *rows, int near, int far, int wait)
{
    const int64_t step = rows->step * SL_ELEMENT_SIZE;
    if (!SL_HAS_SHUFFLES || (step % 64 != 0 && !wait))
        return 0;
    const int anywhere = SL_VECTOR_BYTES < 64 && SL_ELEMENT_SIZE >= 4;
    const int crosses = step % 64 != 0 ? anywhere : rows->high == 1 && SL_TILE >= 32 && step % 4096 == 0;
    return far || (!near && crosses);
}

/* Whether rows of *width* elements follow each other and are staged so: they are written as one. */
SL_INLINE int sl_is_joined(const sl_axis *rows, int64_t width)
{
    return rows->step == width && width <= SL_TILES_PER_BLOCK * SL_TILE;
}

/* Whether tiles of *width* columns are staged. */
SL_INLINE int sl_has_staged_tiles(const sl_axis *rows, int64_t width, sl_distance distance)
{
    const int wait = distance.wait || (distance.far && sl_is_joined(rows, width));
    return width >= 2 * SL_TILE && sl_is_staged(rows, distance.near, distance.far, wait);
}

/* The elements from the begin of a cache line to *to*; 0 where an element lies across the begin of a line. */
SL_INLINE int64_t sl_elements_in_line(const element *to)
{
    const uintptr_t bytes = (uintptr_t)to % 64;
    return bytes % SL_ELEMENT_SIZE == 0 ? (int64_t)(bytes / SL_ELEMENT_SIZE) : 0;
}

/* Places the first *rows* staged rows of *count* elements: row i is staged at *at*[i], behind the row before if it
 * follows that in the output, or else as far from the begin of a cache line as it will be there. */
SL_INLINE void sl_place_staged(int64_t *at, const element *to, const int64_t *row, int64_t rows, int64_t count)
{
    for (int64_t i = 0; i < rows; ++i)
        at[i] = i > 0 && row[i] == row[i - 1] + count ? at[i - 1] + count
                                                      : i * SL_STAGED_STEP + sl_elements_in_line(to + row[i]);
}

/* Writes a staged row of *count* elements to the output: whole cache lines, and what is left at both ends. */
SL_OUT_OF_LINE void sl_write_staged(element *restrict to, const element *restrict held, int64_t count, int far)
{
    const int64_t lead = -sl_elements_in_line(to) & (SL_TILE - 1), first = sl_min(lead, count);
    const int64_t end = first + (count - first) / SL_TILE * SL_TILE;
    sl_copy(to, 0, held, 0, first);
#if SL_HAS_SHUFFLES
    const int past = far && (uintptr_t)(to + first) % 64 == 0;
    for (int64_t k = first; k < end; k += SL_LANES_MAX) {
        const sl_bytes_max v = sl_load_max(held + k);
        if (past)
            sl_store_far_max(to + k, v);
        else
            sl_store_max(to + k, v);
        SL_KEEP_LOOP();
    }
#else
    (void)far;
    sl_copy(to, first, held, first, end - first);
#endif
    sl_copy(to, end, held, end, count - end);
}

/* Writes *rows* staged rows of *count* elements: those that follow each other as one. */
SL_INLINE void sl_write_staged_rows(element *restrict to, const int64_t *row, const element *restrict held,
                                    const int64_t *at, int64_t rows, int64_t count, int far)
{
    for (int64_t i = 0, next; i < rows; i = next) {
        for (next = i + 1; next < rows && row[next] == row[next - 1] + count; ++next)
            continue;
        sl_write_staged(to + row[i], held + at[i], (next - i) * count, far);
    }
}

/* Transposes that write whole lines of the output, which are fetched before: where a store waits for its line.
 *
 * Assumes: axes with as few levels as sl_simplify_axis leaves, all extents >= 1.
 * Needs: pieces, transpose_choice, transpose_even_strips, transpose_panels, transpose_pieces, transpose_staging,
 * transpose_strips, transpose_tile. */

#if SL_HAS_LARGE_WAYS
/* Lines that are written side by side: two, since the processor fetches lines in pairs.  Where rows are short, less
 * than half of a page, and begin anywhere in a line, four have fewer parts of lines at their ends; of rows that follow
 * each other, all are written, up to six.  That is unless the lines that are read crowd a set then. */
#define SL_LINES_FETCHED 2
#define SL_MOST_FETCHED 4
#define SL_MOST_JOINED 6
/* So many rows before a row is written, its lines are fetched. */
#define SL_ROWS_FETCHED 8

#if SL_HAS_EVEN_STRIPS
/* Whether small elements take less time in fetched lines than in tiles: rows and columns have one step each; what is
 * far is staged.  Where rows begin at lines, a tile whose vectors are lines does as well if the output is *near*, or if
 * the lines that are read crowd a set, since it reads each whole; so does a tile of bytes if both is so. */
SL_INLINE int sl_pays_in_fetched_lines(const sl_axis *rows, const sl_axis *columns, int near, int far)
{
    if (far || rows->high > 1 || columns->high > 1 || rows->count < 2 * SL_LANES_16 || columns->count < SL_TILE)
        return 0;
    if (!sl_begins_lines(rows) || (SL_VECTOR_BYTES < 64 && (SL_ELEMENT_SIZE > 1 || !near)))
        return 1;
    return !(SL_VECTOR_BYTES == 64 && near) && sl_lines_in_a_set(columns, SL_TILE) <= SL_WAYS;
}

/* Transposes *rows* >= SL_LANES_16 rows of a multiple of SL_STRIP columns, a few rows of all before the next.  Of the
 * next rows, the lines of the first *fetched* columns are fetched. */
SL_OUT_OF_LINE void sl_transpose_fetched_rows(element *restrict to, int64_t row_step, const element *restrict from,
                                              int64_t column_step, int64_t rows, int64_t columns, int64_t fetched)
{
    sl_steps down = sl_steps_of(row_step), across = sl_steps_of(column_step);
    for (int64_t top = 0; top < rows; top += SL_LANES_16) {
        const int64_t i = sl_min(top, rows - SL_LANES_16);
        for (int64_t k = top + SL_LANES_16; k < sl_min(rows, top + 2 * SL_LANES_16); ++k)
            for (int64_t line = 0; line < fetched; line += SL_TILE)
                __builtin_prefetch(to + k * row_step + line, 1, 3);
        const element *out_of = from + i;
        element *into = to + i * row_step;
        for (const element *const end = into + columns; into < end; into += SL_STRIP) {
            SL_HIDE_STEPS(down);
            SL_HIDE_STEPS(across);
            sl_transpose_even_strip(into, &down, out_of, &across);
            out_of += SL_STRIP * column_step;
        }
    }
}

/* Transposes once.  What is *near*, and begins at lines, is written a line at a time and not fetched; rows that begin
 * anywhere have parts of a line more than they fill. */
SL_OUT_OF_LINE void sl_transpose_once_in_fetched_lines(element *restrict to, const sl_axis *rows,
                                                       const element *restrict from, const sl_axis *columns, int near)
{
    const int64_t width = columns->count, height = rows->count, lead = sl_elements_to_line(to, rows, width);
    const int whole = sl_begins_lines(rows);
    const int64_t wide = (near && whole ? 1 : SL_LINES_FETCHED) * SL_TILE;
    const int64_t high = sl_alike(height, SL_ROWS_OF_PAGES, SL_TILE);
    for (int64_t top = 0; top < height; top += high) {
        const int64_t i = sl_min(top, height - SL_LANES_16), down = sl_min(high, height - i);
        for (int64_t left = 0, end; left < width; left = end) {
            const int64_t stop = left < lead ? lead : sl_min(width, left + wide), rest = stop - left;
            const int is_band = SL_HAS_BANDS && SL_STRIP > SL_LANES_16 && rest < SL_TILE;
            const int64_t across = is_band ? sl_max(SL_LANES_16, rest) : sl_max(1, rest / SL_STRIP) * SL_STRIP;
            end = sl_min(stop, left + across);
            const int64_t j = sl_max(0, end - across); /* the last strip may overlap others */
            element *const into = to + i * rows->step + j;
            const element *const out_of = from + i + j * columns->step;
            if (is_band)
                sl_transpose_band(into, rows->step, out_of, columns->step, down, across);
            else
                sl_transpose_fetched_rows(into, rows->step, out_of, columns->step, down, across,
                                          !whole ? across + SL_TILE : near ? 0 : across);
        }
    }
}

/* Transposes *turns* times. */
SL_OUT_OF_LINE void sl_transpose_in_fetched_lines(element *restrict to, const sl_axis *rows,
                                                  const element *restrict from, const sl_axis *columns,
                                                  const sl_turns *turns, int near)
{
    for (int64_t h = 0; h < turns->high; ++h)
        for (int64_t c = 0; c < turns->count; ++c)
            sl_transpose_once_in_fetched_lines(to + c * turns->to_step + h * turns->to_leap, rows,
                                               from + c * turns->step + h * turns->leap, columns, near);
}
#else
/* Whether *bytes* take less time in fetched lines than in tiles: they are twice what is near, or the lines that are
 * read do not crowd a set.  Where the lines that are written crowd a set, tiles may keep them, or write each at once,
 * since a vector is one; then they are better unless they crowd sets with what they read, and fetched lines, which read
 * fewer columns, do not.  Where rows begin anywhere in a line, lines that crowd sets on both sides are better staged.
 */
SL_INLINE int sl_pays_in_fetched_lines(const sl_axis *rows, const sl_axis *columns, int64_t bytes)
{
    const int64_t ways = SL_WAYS;
    if (rows->count < SL_ROWS_FETCHED || sl_extent(columns) < SL_TILE)
        return 0;
    const int own = sl_lines_in_a_set(columns, SL_LINES_FETCHED * SL_TILE) >= ways;
    if (own && bytes <= 2 * SL_NEAR_BYTES)
        return 0;
    if (sl_lines_in_a_set(rows, 2 * SL_ROWS_FETCHED) <= ways)
        return 1;
    const int kept = SL_VECTOR_BYTES == 64 || sl_lines_in_a_set(rows, SL_TILE) <= ways;
    const int crowd = sl_lines_in_a_set(columns, SL_TILES_PER_BLOCK * SL_TILE) > ways;
    return sl_begins_lines(rows) ? !kept || (crowd && !own) : !kept && !crowd;
}

/* So many rows before a row is read, its lines of the source are. */
#define SL_ROWS_AHEAD 32
/* The offsets of so many levels of the rows are kept. */
#define SL_LEVELS_FETCHED 64

/* A part of a transpose: *rows* rows of one step by *columns* columns, which begin at *column*. */
typedef struct {
    element *to;
    const element *from;
    const int64_t *column;
    int64_t rows, columns;
} sl_fetched_part;

/* Parts, one after the other: one is *held* until the next is known, since its end fetches lines of that.  The tables
 * of columns are of the *wide* columns from *left* on; a *column_step* of 0 says that columns have levels. */
typedef struct {
    sl_fetched_part part[2];
    int held;
    int64_t row_step, column_step, ahead;
    int64_t left[2], wide[2], column[2][(SL_MOST_JOINED + 1) * SL_TILE];
} sl_fetched_parts;

/* Fetches the lines of *rows* rows of *columns* columns; those that follow each other as one. */
SL_ALWAYS_INLINE void sl_fetch_rows(const element *row, int64_t row_step, int64_t rows, int64_t columns)
{
    const int64_t joined = columns == row_step, length = joined ? rows * columns : columns;
    for (int64_t k = joined ? 1 : rows; k > 0; --k, row += row_step)
        for (const char *line = (const char *)row - (uintptr_t)row % 64, *const end = (const char *)(row + length);
             line < end; line += 64)
            __builtin_prefetch(line, 1, 3);
}

/* Transposes SL_LANES_16 rows of a part: all columns. */
SL_ALWAYS_INLINE void sl_transpose_rows_of_part(element *restrict to, int64_t row_step, const element *restrict from,
                                                const int64_t *column, int64_t column_step, int64_t columns)
{
    const element *at[SL_STRIP];
    const int64_t last = columns - SL_STRIP;
    int64_t j = 0;
    if (column_step != 0)
        for (const element *next = from + column[0]; j <= last; j += SL_STRIP) {
            sl_begin_even_strip(at, next, column_step);
            sl_transpose_rows(to + j, 0, row_step, at, 0);
            next = at[SL_STRIP - 1] + column_step;
        }
    else
        for (; j <= last; j += SL_STRIP) {
            sl_begin_strip(at, from, column + j, SL_STRIP);
            sl_transpose_rows(to + j, 0, row_step, at, 0);
        }
    if (j < columns) { /* the last strip overlaps the one before */
        sl_begin_strip(at, from, column + last, SL_STRIP);
        sl_transpose_rows(to + last, 0, row_step, at, 0);
    }
}

/* Transposes a part, a few rows of all columns before the next.  Before, lines of rows to come are fetched; and of the
 * source, lines that are *ahead*, those of a quarter of the columns each time.  Where the part ends, they are those of
 * the *next*. */
SL_OUT_OF_LINE void sl_transpose_part_fetched(const sl_fetched_part *now, const sl_fetched_part *next, int64_t row_step,
                                              int64_t column_step, int64_t ahead)
{
    const int64_t rows = now->rows, whole = (rows + SL_TILE - 1) / SL_TILE * SL_TILE, before = sl_min(ahead, whole);
    const element *fetch = now->to + SL_ROWS_FETCHED * row_step;
    int64_t left = rows - SL_ROWS_FETCHED, wide = now->columns;
    for (int64_t top = 0; top < rows; top += SL_TILE) {
        const int over = top + before >= rows;
        const sl_fetched_part *const read = over ? next : now;
        const int64_t row = top + before - (over ? whole : 0), quarter = (read->columns + 3) / 4;
        const element *const source = read->from + row;
        const int64_t *column = read->column;
        const int64_t *const end = column + (ahead > 0 && row < read->rows ? read->columns : 0);
        for (int64_t i = top; i < sl_min(rows, top + SL_TILE); i += SL_LANES_16) {
            if (left <= 0) {
                fetch = next->to;
                left = next->rows;
                wide = next->columns;
            }
            sl_fetch_rows(fetch, row_step, sl_min(left, SL_LANES_16), wide);
            fetch += SL_LANES_16 * row_step;
            left -= SL_LANES_16;
            for (const int64_t *const stop = column + quarter; column < stop && column < end; ++column)
                __builtin_prefetch(source + *column, 0, 3);
            const int64_t k = sl_min(i, rows - SL_LANES_16); /* the last rows may be written twice */
            sl_transpose_rows_of_part(now->to + k * row_step, row_step, now->from + k, now->column, column_step,
                                      now->columns);
        }
    }
}

/* Transposes the part that is held, and holds the next: *rows* rows of *wide* of the *columns*, from number *left* on.
 * A struct that is passed as a value is copied by vectors, which wait for the stores of its numbers. */
SL_OUT_OF_LINE void sl_hold_part(sl_fetched_parts *parts, element *to, const element *from, int64_t rows, int64_t wide,
                                 const sl_axis *columns, int64_t left)
{
    sl_fetched_part *const now = &parts->part[parts->held], *const next = &parts->part[1 - parts->held];
    int table = now->column == parts->column[1];
    if (parts->left[table] != left || parts->wide[table] != wide)
        table = 1 - table;
    if (parts->left[table] != left || parts->wide[table] != wide) {
        sl_offsets(parts->column[table], columns, left, wide);
        parts->left[table] = left;
        parts->wide[table] = wide;
    }
    next->to = to;
    next->from = from;
    next->column = parts->column[table];
    next->rows = rows;
    next->columns = wide;
    if (now->rows > 0)
        sl_transpose_part_fetched(now, next, parts->row_step, parts->column_step, parts->ahead);
    parts->held = 1 - parts->held;
}

/* Transposes *turns* times: so many lines side by side down the rows, as many as the TLB keeps beside the columns, or
 * as have lines that the second-level cache keeps.  A level of these rows is a part; so the source is read in long
 * runs.  What the processor would evict before it is read is not read ahead. */
SL_OUT_OF_LINE void sl_transpose_in_fetched_lines(element *restrict to, const sl_axis *rows,
                                                  const element *restrict from, const sl_axis *columns,
                                                  const sl_turns *turns, int near)
{
    (void)near;
    const int64_t width = sl_extent(columns), height = sl_extent(rows), lead = sl_elements_to_line(to, rows, width);
    const int is_short = rows->step * SL_ELEMENT_SIZE < 2048;
    const int64_t some = is_short && !sl_begins_lines(rows) ? SL_MOST_FETCHED : SL_LINES_FETCHED;
    const int64_t more = rows->step == width && width <= SL_MOST_JOINED * SL_TILE ? SL_MOST_JOINED : some;
    const int64_t most = sl_lines_in_a_set(columns, more * SL_TILE) < SL_WAYS ? more : SL_LINES_FETCHED;
    const int64_t wide = sl_alike(width - lead, most * SL_TILE, SL_TILE);
    const int64_t high = is_short ? SL_ROWS_OF_PAGES / 8 : SL_ROWS_OF_PAGES / 2;
    /* Rows of one level are cut into such. */
    const int even = rows->high == 1;
    const int64_t level = even ? sl_alike(height, high, SL_TILE) : rows->count, levels = (height + level - 1) / level;
    const int64_t many = even ? 1 : sl_max(1, sl_min(SL_LEVELS_FETCHED, high / level));
    const sl_axis above = even ? sl_axis_1(levels, level * rows->step)
                               : sl_axis_2(rows->high, rows->leap, rows->top, rows->jump);
    const int crowded = sl_lines_in_a_set(columns, SL_LINES_FETCHED * SL_TILE) >= SL_WAYS;
    sl_fetched_parts parts = {.row_step = rows->step, .ahead = crowded ? 0 : SL_ROWS_AHEAD, .left = {-1, -1}};
    parts.column_step = columns->high == 1 ? columns->step : 0;
    for (int64_t turn = 0; turn < turns->count * turns->high; ++turn) {
        const int64_t c = turn % turns->count, h = turn / turns->count;
        element *const into = to + c * turns->to_step + h * turns->to_leap;
        const element *const out_of = from + c * turns->step + h * turns->leap;
        for (int64_t first = 0; first < levels; first += many) {
            int64_t at[SL_LEVELS_FETCHED];
            const int64_t count = sl_min(many, levels - first);
            sl_offsets(at, &above, first, count);
            for (int64_t left = 0, end; left < width; left = end) {
                end = sl_min(width, left + wide + (left == 0 ? lead : 0));
                const int64_t j = sl_min(left, width - SL_STRIP);
                for (int64_t k = 0; k < count; ++k) {
                    const int64_t i = (first + k) * level, down = sl_min(level, height - i);
                    const int64_t again = sl_max(0, SL_LANES_16 - down); /* rows of the part before */
                    sl_hold_part(&parts, into + at[k] - again * rows->step + j, out_of + i - again, down + again,
                                 end - j, columns, j);
                }
            }
        }
    }
    const element *const last = parts.part[parts.held].from;
    sl_hold_part(&parts, to, last, 0, SL_STRIP, columns, 0);
}
#endif
#endif

/* A transpose of axes that have levels, in strips that run over level after level of the rows.
 *
 * Assumes: axes with as few levels as sl_simplify_axis leaves, all extents >= 1.
 * Needs: axes, transpose_choice, transpose_panels, transpose_strips. */

#if SL_HAS_PANELS
/* A strip is two squares wide, and about so many rows high; the offsets of so many columns are kept. */
#define SL_WIDTH_OF_STRIP (2 * SL_LANES_16)
#define SL_ROWS_OF_STRIP 72
#define SL_COLUMNS_OF_STRIPS 512

/* The rows of a strip, which follow each other in the source: *rows* of each of *levels* levels, the first of which is
 * number *first* of its turn of *turn* levels.  From one row to the next it is *step* in the output, from one level to
 * the next *leap*, and *back* more after each turn. */
typedef struct {
    int64_t rows, levels, first, turn, step, leap, back;
} sl_strip;

/* Transposes a strip, whose columns are *column*.  Of a level, the second square may overlap the first, so that
 * the last one ends where the rows do. */
SL_ALWAYS_INLINE void sl_transpose_strip_of_levels(element *restrict to, const element *restrict from,
                                                   const int64_t *column, const sl_strip *strip)
{
    const element *at[SL_WIDTH_OF_STRIP];
    SL_UNROLL
    for (int64_t k = 0; k < SL_WIDTH_OF_STRIP; ++k)
        at[k] = from + column[k];
    const int64_t lead = (strip->rows - 1) % SL_LANES_16 + 1;
    int64_t number = strip->first, i = 0;
    for (int64_t left = strip->levels; left > 0; --left) {
        element *into = to;
        const int64_t end = i + strip->rows;
        int64_t next = i + lead, further = lead * strip->step;
        do {
#if SL_VECTOR_BYTES == 16
            sl_transpose_rows_16(into, 0, strip->step, at, i);
            sl_transpose_rows_16(into + SL_LANES_16, 0, strip->step, at + SL_LANES_16, i);
#else
            sl_transpose_rows(into, 0, strip->step, at, i);
#endif
            i = next;
            next += SL_LANES_16;
            into += further;
            further = SL_LANES_16 * strip->step;
        } while (i < end);
        to += strip->leap;
        if (++number == strip->turn) {
            number = 0;
            to += strip->back;
        }
    }
}

/* Transposes once: at least SL_LANES_16 rows in a level, and SL_WIDTH_OF_STRIP columns.  A strip has whole levels, or a
 * part of one.  The strips of the same rows follow each other: they finish the lines of the output. */
SL_OUT_OF_LINE void sl_transpose_once_in_levels(element *restrict to, const sl_axis *rows, const element *restrict from,
                                                const sl_axis *columns)
{
    const int64_t level = rows->count, levels = rows->high * rows->top, width = sl_extent(columns);
    const int whole = level < SL_ROWS_OF_STRIP;
    const int64_t high = whole ? level : sl_alike(level, SL_ROWS_OF_STRIP, SL_LANES_16);
    const int64_t many = whole ? sl_alike(levels, (SL_ROWS_OF_STRIP + level / 2) / level, 1) : 1;
    const int64_t wide = sl_alike(width, SL_COLUMNS_OF_STRIPS, SL_TILE);
    int64_t column[SL_COLUMNS_OF_STRIPS + SL_TILE];
    sl_strip strip = {.turn = rows->high, .step = rows->step, .leap = rows->leap};
    strip.back = rows->jump - rows->high * rows->leap;
    for (int64_t left = 0; left < width; left += wide) {
        const int64_t j = sl_min(left, width - SL_WIDTH_OF_STRIP), across = sl_min(width, left + wide) - j;
        sl_offsets(column, columns, j, across);
        for (int64_t first = 0; first < levels; first += many) {
            strip.first = first % rows->high;
            strip.levels = sl_min(many, levels - first);
            for (int64_t top = 0; top < level; top += high) {
                const int64_t i = sl_min(top, level - SL_LANES_16);
                element *const into =
                    to + j + i * rows->step + strip.first * rows->leap + first / rows->high * rows->jump;
                strip.rows = sl_min(level, top + high) - i;
                for (int64_t beside = 0; beside < across; beside += SL_WIDTH_OF_STRIP) {
                    const int64_t k = sl_min(beside, across - SL_WIDTH_OF_STRIP);
                    sl_transpose_strip_of_levels(into + k, from + first * level + i, column + k, &strip);
                }
            }
        }
    }
}

/* Whether a transpose takes less time in strips of levels than in tiles.  Axes without levels have blocks.  Squares may
 * be half as many again as would hold the rows of a level; the lines that a strip writes stay in the cache, beside one
 * that is read.  Measured where stores do not wait. */
SL_INLINE int sl_pays_in_levels(const sl_axis *rows, const sl_axis *columns)
{
    const int64_t squares = (rows->count + SL_LANES_16 - 1) / SL_LANES_16;
    if ((rows->high == 1 && columns->high == 1) || rows->count < SL_LANES_16 ||
        2 * squares * SL_LANES_16 > 3 * rows->count || sl_extent(columns) < SL_WIDTH_OF_STRIP || SL_STORES_WAIT)
        return 0;
    return sl_lines_in_a_set(rows, SL_ROWS_OF_STRIP) < SL_WAYS && sl_lines_in_a_set(columns, SL_TILE) <= SL_WAYS;
}

/* Transposes in strips of levels if that pays, and returns whether it does.  The turns that move least in an array
 * are the inner ones: they share its lines, and where they continue an axis they become a level of it. */
SL_OUT_OF_LINE int sl_transpose_levels(element *restrict to, const sl_axis *rows, const element *restrict from,
                                       const sl_axis *columns, const sl_turns *turns)
{
    sl_axis down = *rows, across = *columns;
    sl_turns inner = *turns;
    if (turns->high > 1 && sl_min(turns->to_leap, turns->leap) < sl_min(turns->to_step, turns->step))
        inner = sl_turns_2(turns->high, turns->to_leap, turns->leap, turns->count, turns->to_step, turns->step);
    sl_turns_to_axes(&down, &across, &inner);
    if (!sl_pays_in_levels(&down, &across))
        return 0;
    for (int64_t turn = 0; turn < inner.count * inner.high; ++turn) {
        const int64_t c = turn % inner.count, h = turn / inner.count;
        sl_transpose_once_in_levels(to + c * inner.to_step + h * inner.to_leap, &down,
                                    from + c * inner.step + h * inner.leap, &across);
    }
    return 1;
}
#endif

/* Transposes that write whole lines of the output, and in blocks of long runs of the source.
 *
 * Assumes: axes with as few levels as sl_simplify_axis leaves; of one level for blocks.
 * Needs: pieces, transpose_choice, transpose_panels, transpose_pieces, transpose_strips, transpose_tile. */

#if SL_HAS_PANELS
#if SL_VECTOR_BYTES > 16
/* Does the same as sl_transpose_even_rows for SL_TILE columns. */
SL_OUT_OF_LINE void sl_transpose_rows_first(element *restrict to, int64_t row_step, const element *restrict from,
                                            int64_t column_step, int64_t rows)
{
    for (int64_t top = 0; top < rows; top += SL_LANES_16) {
        const int64_t i = sl_min(top, rows - SL_LANES_16);
        SL_UNROLL
        for (int64_t j = 0; j < SL_TILE; j += SL_STRIP) {
            const element *at[SL_STRIP];
            sl_begin_even_strip(at, from + i + j * column_step, column_step);
            sl_transpose_rows(to + i * row_step + j, 0, row_step, at, 0);
        }
    }
}
#endif

/* How many lines of the output, side by side, are written of a few rows before the next rows; 0 if a transpose takes
 * less time otherwise.  As many lines wait in the processor to be written as a strip has bytes (64 stores): of these,
 * half a set or less may fall into one set, or they leave the cache before they are whole.  The lines that are read
 * stay in the cache.  Squares may be half as many again as would hold the rows of a level. */
#define SL_MOST_ABREAST 16
SL_INLINE int64_t sl_lines_abreast(const sl_axis *rows, const sl_axis *columns, sl_crowd crowd)
{
    const int64_t ways = SL_WAYS, waiting = SL_STRIP * SL_ELEMENT_SIZE;
    const int64_t width = sl_extent(columns);
    const int64_t squares = (rows->count + SL_LANES_16 - 1) / SL_LANES_16;
    if (rows->count < SL_LANES_16 || 2 * squares * SL_LANES_16 > 3 * rows->count || width < SL_TILE)
        return 0;
    int64_t lines = 1;
    while (crowd.written * waiting > lines * SL_TILE * ways / 2 && lines < SL_MOST_ABREAST)
        lines *= 2;
    return sl_lines_in_a_set(columns, lines * SL_TILE) < ways ? lines : 0;
}

/* Transposes *columns* even columns: whole lines, or less than one. */
SL_INLINE void sl_transpose_some_lines(element *restrict to, int64_t row_step, const element *restrict from,
                                       int64_t column_step, int64_t rows, int64_t columns)
{
    if (columns < SL_TILE)
        sl_transpose_band(to, row_step, from, column_step, rows, columns);
#if SL_VECTOR_BYTES > 16
    else if (columns == SL_TILE)
        sl_transpose_rows_first(to, row_step, from, column_step, rows);
#endif
    else
        sl_transpose_even_rows(to, row_step, from, column_step, rows, columns);
}

/* Transposes *rows* >= SL_LANES_16 even rows of a multiple of SL_STRIP columns, which begin at *column*, a few rows of
 * all before the next. */
SL_OUT_OF_LINE void sl_transpose_rows_of(element *restrict to, int64_t row_step, const element *restrict from,
                                          const int64_t *column, int64_t rows, int64_t columns)
{
    for (int64_t top = 0; top < rows; top += SL_LANES_16) {
        const int64_t i = sl_min(top, rows - SL_LANES_16);
        element *into = to + i * row_step;
        const int64_t *of = column;
        for (const element *const end = into + columns; into < end; into += SL_STRIP, of += SL_STRIP) {
            const element *at[SL_STRIP];
            sl_begin_strip(at, from + i, of, SL_STRIP);
            sl_transpose_rows(into, 0, row_step, at, 0);
        }
    }
}

/* sl_transpose_in_lines, where only columns have levels. */
SL_OUT_OF_LINE void sl_transpose_in_lines_of(element *restrict to, const sl_axis *rows, const element *restrict from,
                                             const sl_axis *columns, int64_t lines)
{
    const int64_t width = sl_extent(columns), lead = sl_elements_to_line(to, rows, width);
    int64_t column[SL_MOST_ABREAST * SL_TILE];
    for (int64_t left = 0, end; left < width; left = end) {
        const int64_t rest = left == 0 && lead > 0 ? lead : width - left;
        end = left + (rest < SL_TILE ? rest : sl_min(lines, rest / SL_TILE) * SL_TILE);
        const int64_t across = (end - left + SL_STRIP - 1) / SL_STRIP * SL_STRIP, j = sl_min(left, width - across);
        sl_offsets(column, columns, j, across);
        sl_transpose_rows_of(to + j, rows->step, from, column, rows->count, across);
    }
}

/* Rows of shorter steps, half of a page, are transposed so many at a time: those of all lines are in few pages. */
#define SL_NEAR_ROWS (2048 / SL_ELEMENT_SIZE)
#define SL_ROWS_OF_LINES 128

/* Transposes once, *lines* lines abreast, which begin at cache lines if they can, a level of the rows after the other:
 * at least SL_LANES_16 rows in a level, and SL_TILE columns. */
SL_OUT_OF_LINE void sl_transpose_in_lines(element *restrict to, const sl_axis *rows, const element *restrict from,
                                          const sl_axis *columns, int64_t lines)
{
    if (rows->high > 1) {
        const sl_axis level = sl_axis_1(rows->count, rows->step);
        for (int64_t k = 0; k < rows->high * rows->top; ++k)
            sl_transpose_in_lines(to + k % rows->high * rows->leap + k / rows->high * rows->jump, &level,
                                  from + k * rows->count, columns, lines);
        return;
    }
    if (columns->high > 1) {
        sl_transpose_in_lines_of(to, rows, from, columns, lines);
        return;
    }
    const int64_t height = rows->count, width = columns->count, lead = sl_elements_to_line(to, rows, width);
    const int64_t high = rows->step < SL_NEAR_ROWS ? sl_alike(height, SL_ROWS_OF_LINES, SL_LANES_16) : height;
    for (int64_t top = 0; top < height; top += high) {
        const int64_t i = sl_min(top, height - SL_LANES_16), down = sl_min(high, height - i);
        for (int64_t left = 0, end; left < width; left = end) {
            const int64_t rest = left == 0 && lead > 0 ? lead : width - left;
            end = left + (rest < SL_TILE ? rest : sl_min(lines, rest / SL_TILE) * SL_TILE);
            const int64_t j = sl_min(left, width - SL_LANES_16), across = sl_max(end - j, SL_LANES_16);
            sl_transpose_some_lines(to + i * rows->step + j, rows->step, from + i + j * columns->step, columns->step,
                                    down, across);
        }
    }
}

/* Whether a transpose takes less time in blocks than in tiles side by side: the lines that are read crowd a set, so
 * that long runs of few columns are read. */
SL_INLINE int sl_pays_in_blocks(const sl_axis *rows, const sl_axis *columns, sl_crowd crowd)
{
    return rows->high == 1 && columns->high == 1 && rows->count >= 2 * SL_ROWS_OF_BAND && columns->count >= SL_TILE &&
           crowd.read >= SL_WAYS && sl_keeps_lines(rows, SL_WAYS);
}

/* Transposes a block of even rows and columns, in strips unless a vector is a line. */
SL_INLINE void sl_transpose_block(element *restrict to, int64_t row_step, const element *restrict from,
                                  int64_t column_step, int64_t rows, int64_t columns)
{
    if (SL_HAS_ORDERED_TILES || rows < SL_TILE) {
        sl_transpose_band(to, row_step, from, column_step, rows, columns);
        return;
    }
    for (int64_t left = 0; left < columns; left += SL_TILE)
        for (int64_t top = 0; top < rows; top += SL_TILE) {
            const int64_t i = sl_min(top, rows - SL_TILE), j = sl_min(left, columns - SL_TILE);
            sl_transpose_even_tile(to + i * row_step + j, row_step, from + i + j * column_step, column_step);
        }
}

/* Transposes once, in blocks, which begin at cache lines if they can; at least SL_TILE rows and columns. */
SL_OUT_OF_LINE void sl_transpose_in_blocks(element *restrict to, const sl_axis *rows, const element *restrict from,
                                           const sl_axis *columns)
{
    const int64_t height = rows->count, width = columns->count, wide = 4 * SL_TILE;
    const int lines = SL_VECTOR_BYTES == 64 || columns->step * SL_ELEMENT_SIZE % 32 == 0;
    const int64_t high = sl_alike(height, SL_ROWS_OF_BAND, lines ? SL_TILE : SL_LANES_16);
    const int64_t lead_i = sl_elements_to_line(from, columns, height), lead_j = sl_elements_to_line(to, rows, width);
    for (int64_t left = 0, end_j; left < width; left = end_j) {
        end_j = sl_min(width, left + wide + (left == 0 ? lead_j : 0));
        for (int64_t top = 0, end_i; top < height; top = end_i) {
            end_i = sl_min(height, top + high + (top == 0 ? lead_i : 0));
            const int64_t i = sl_min(top, height - SL_LANES_16), j = sl_min(left, width - SL_TILE);
            sl_transpose_block(to + i * rows->step + j, rows->step, from + i + j * columns->step, columns->step,
                               end_i - i, end_j - j);
        }
    }
}
#endif

/* A transpose of large arrays in a way that takes less time than tiles: the choice of the way, for all turns.
 *
 * Assumes: axes with as few levels as sl_simplify_axis leaves, all extents >= 1.
 * Needs: transpose_choice, transpose_fetched_levels, transpose_fetched_lines, transpose_levels, transpose_panels,
 * transpose_staging, transpose_whole_lines, ways. */

#if SL_HAS_LARGE_WAYS
/* The ways to transpose once, but for levels; tiles and bands do all that the others leave. */
typedef enum { SL_IN_TILES, SL_IN_LINES, SL_IN_FETCHED_LINES, SL_IN_PANELS, SL_IN_BLOCKS } sl_way;

/* Whether *times* transposes of *bytes* bytes each are done in fetched lines, where stores wait.  None that is small
 * is, of an output that is far; nor of one that is near, unless a tile comes to each line four times.  Near outputs of
 * larger ones are, unless their lines fill half a set; with wider vectors, if rows have one level and a tile does not
 * write whole lines. */
SL_INLINE int sl_is_in_fetched_lines(const sl_axis *rows, const sl_axis *columns, int64_t bytes, int64_t times,
                                     sl_distance distance)
{
    const int near = distance.near, far = distance.far;
    if (bytes < SL_NEAR_LEAST && (bytes < SL_TURN_LEAST || far || (near && !SL_HAS_FOUR_VISITS)))
        return 0;
#if SL_HAS_PANELS
    const int whole = sl_begins_lines(rows);
    if (near && !SL_HAS_FOUR_VISITS && (rows->high > 1 || (SL_VECTOR_BYTES == 64 && whole)))
        return 0;
    if ((near && sl_lines_in_a_set(rows, 2 * SL_ROWS_FETCHED) > SL_WAYS / 2) || (far && whole))
        return 0;
    return sl_pays_in_fetched_lines(rows, columns, bytes * times);
#else
    (void)times;
    return sl_pays_in_fetched_lines(rows, columns, near, far);
#endif
}

/* Chooses the way to transpose *bytes* bytes once, of *times*, and sets the *lines* abreast.  Where stores wait, lines
 * are fetched and written whole, unless they are far: those are staged.  Elsewhere, whole lines take the least time
 * where their sets hold them.  Else bands are for fewer rows or columns than *fewest*; panels for lines that crowd sets
 * on both sides; blocks for those that are read.  What is *deep* is read ahead, in tiles or panels.  Where stores wait,
 * of these only bands pay, and panels where a tile comes to a line four times.  Small elements have fetched lines
 * only. */
SL_INLINE sl_way sl_choose_way(const sl_axis *rows, const sl_axis *columns, int64_t bytes, int64_t times,
                               int64_t fewest, sl_distance distance, int waits, int deep, int64_t *lines)
{
    if (waits && sl_is_in_fetched_lines(rows, columns, bytes, times, distance))
        return SL_IN_FETCHED_LINES;
#if SL_HAS_PANELS
    if (bytes < SL_NEAR_LEAST || (waits && !SL_HAS_FOUR_VISITS))
        return SL_IN_TILES;
    const sl_crowd crowd = sl_crowd_of(rows, columns);
    *lines = !waits && !deep ? sl_lines_abreast(rows, columns, crowd) : 0;
    if (*lines > 0)
        return SL_IN_LINES;
    if (sl_is_band(rows, columns, bytes, fewest, 1))
        return SL_IN_TILES;
    if (!distance.far && sl_pays_in_panels(rows, columns, crowd, deep))
        return SL_IN_PANELS;
    return !waits && !deep && sl_pays_in_blocks(rows, columns, crowd) ? SL_IN_BLOCKS : SL_IN_TILES;
#else
    (void)fewest, (void)deep, (void)lines;
    return SL_IN_TILES;
#endif
}

/* Transposes once, in *way*; of lines, *abreast* are side by side.  Where the text says whether stores *wait*, the
 * compiler leaves out the ways that are for other processors. */
SL_INLINE void sl_transpose_in(sl_way way, element *restrict to, const sl_axis *rows, const element *restrict from,
                               const sl_axis *columns, int64_t abreast, int waits)
{
#if SL_HAS_PANELS
    if (!waits && way == SL_IN_LINES)
        sl_transpose_in_lines(to, rows, from, columns, abreast);
    else if ((!waits || SL_HAS_FOUR_VISITS) && way == SL_IN_PANELS)
        sl_transpose_panels(to, rows, from, columns);
    else if (!waits)
        sl_transpose_in_blocks(to, rows, from, columns);
#else
    (void)way, (void)to, (void)rows, (void)from, (void)columns, (void)abreast, (void)waits;
#endif
}
#endif

SL_DECLARE_LARGE(sl_transpose_large_array)
{
#if SL_HAS_LARGE_WAYS
    const int waits = SL_STORES_WAIT; /* asked once: the ways that are left out depend on it */
    const int64_t times = turns->count * turns->high, width = sl_extent(columns);
    const int64_t bytes = sl_extent(rows) * width * SL_ELEMENT_SIZE;
#if SL_HAS_PANELS
    if (!waits && !far && bytes < SL_FAR_BYTES / 4 / times &&
        sl_transpose_levels(to, rows, from, columns, turns))
        return 1;
#endif
    const sl_distance distance = sl_distance_of(bytes, times, far);
#if SL_HAS_PANELS
    if (waits && !distance.far && sl_pays_in_fetched_levels(rows, columns)) {
        sl_transpose_fetched_levels(to, rows, from, columns, turns);
        return 1;
    }
#endif
    const int deep = sl_is_deep(distance, bytes, times) || sl_has_staged_tiles(rows, width, distance);
    int64_t abreast = 0;
    const int64_t fewest = SL_FEWEST_TILED(far);
    const sl_way way = sl_choose_way(rows, columns, bytes, times, fewest, distance, waits, deep, &abreast);
    if (way == SL_IN_TILES)
        return 0;
    if (waits && way == SL_IN_FETCHED_LINES) {
        sl_transpose_in_fetched_lines(to, rows, from, columns, turns, distance.near);
        return 1;
    }
    for (int64_t turn = 0; turn < times; ++turn) {
        const int64_t c = turn % turns->count, h = turn / turns->count;
        sl_transpose_in(way, to + c * turns->to_step + h * turns->to_leap, rows,
                        from + c * turns->step + h * turns->leap, columns, abreast, waits);
    }
    return 1;
#else
    (void)to, (void)rows, (void)from, (void)columns, (void)turns, (void)far;
    return 0;
#endif
}

/* Transposes of few rows and columns, many times, by row plans: pixel shuffles, whose pixels follow each other.
 *
 * Assumes: axes with as few levels as sl_simplify_axis leaves, all extents >= 1.
 * Needs: axes, integers, plans, row_plans, ways. */

/* From how many windows of a lane on a plan takes longer than squares. */
#define SL_MANY_WINDOWS 3

/* How many windows of 16 bytes hold *count* elements at these offsets. */
SL_INLINE int64_t sl_windows_of(const int64_t *offset, int64_t count)
{
    int64_t windows = 0, done = INT64_MIN; /* elements up to there are in a window */
    for (;; ++windows) {
        int64_t first = INT64_MAX;
        for (int64_t k = 0; k < count; ++k)
            first = offset[k] > done ? sl_min(first, offset[k]) : first;
        if (first == INT64_MAX)
            return windows;
        done = first + 16 - SL_ELEMENT_SIZE;
    }
}

/* Transposes, if there is a plan for the turns, which write the rows of the output that follow each other side by side.
 * Returns whether there is.  Where there are *squares*, a plan of many windows is none. */
SL_OUT_OF_LINE int sl_transpose_by_plan(element *restrict to, const sl_axis *rows, const element *restrict from,
                                        const sl_axis *columns, const sl_turns *turns, int squares)
{
#if SL_HAS_PLANNED_TURNS
    const int64_t height = sl_extent(rows), width = sl_extent(columns), size = sizeof(element);
    const int64_t beside = sl_rows_beside(rows, width), runs = beside * width;
    int64_t offset[SL_PLANNED_ELEMENTS];
    for (int64_t i = 0; i < beside; ++i)
        for (int64_t j = 0; j < width; ++j)
            offset[i * width + j] = (sl_offset(columns, j) + i) * size;
    if (squares && sl_windows_of(offset, sl_min(runs, 16 / size)) >= SL_MANY_WINDOWS)
        return 0;
    sl_plan plan;
    if (!sl_plan_turns(&plan, offset, runs, size, turns->step * size, turns->count))
        return 0;
    for (int64_t turn = 0; turn < turns->high; ++turn)
        for (int64_t i = 0; i < height; i += beside)
            sl_write_rows(&plan, (unsigned char *)(to + turn * turns->to_leap + sl_offset(rows, i)),
                          (const unsigned char *)(from + turn * turns->leap + i), turns->step * size, turns->count, 1,
                          0, 0);
    return 1;
#else
    (void)to, (void)rows, (void)from, (void)columns, (void)turns, (void)squares;
    return 0;
#endif
}

/* Transposes of small matrices, many times: one square of all turns of a block in one loop, so that the offsets of its
 * rows and columns stay in registers.
 *
 * Assumes: as pieces, but for SL_SMALL_SIDE rows and columns at most, and at least as many as a square has.
 * Needs: integers, pieces, zips. */

#if SL_HAS_SHUFFLES
/* Loads 8 bytes at *low* and 8 at *high*, and stores the halves of a vector there. */
SL_ALWAYS_INLINE sl_bytes_16 sl_load_eights(const void *low, const void *high)
{
    typedef uint64_t __attribute__((may_alias, aligned(1))) anywhere;
    typedef uint64_t words __attribute__((vector_size(16)));
    return (sl_bytes_16)(words){*(const anywhere *)low, *(const anywhere *)high};
}
SL_ALWAYS_INLINE void sl_store_eights(void *low, void *high, sl_bytes_16 v)
{
    typedef uint64_t __attribute__((may_alias, aligned(1))) anywhere;
    typedef uint64_t words __attribute__((vector_size(16)));
    *(anywhere *)low = ((words)v)[0];
    *(anywhere *)high = ((words)v)[1];
}

/* Transposes the square whose columns begin at *at* and whose rows begin at *into*, *count* times.  Out of line: beside
 * the loops over squares there are too few registers. */
SL_OUT_OF_LINE void sl_transpose_square_turns(element *const into[SL_SMALL_SQUARE],
                                              const element *const at[SL_SMALL_SQUARE], int64_t count,
                                              int64_t to_step, int64_t step)
{
    const int side = SL_SMALL_SQUARE, vectors = side * side / SL_LANES_16;
    element *write[SL_SMALL_SQUARE]; /* in registers: a store may be to what is at *into* */
    const element *read[SL_SMALL_SQUARE];
    SL_UNROLL
    for (int k = 0; k < side; ++k) {
        write[k] = into[k];
        read[k] = at[k];
    }
    for (int64_t turn = 0, o = 0, i = 0; turn < count; ++turn, o += to_step, i += step) {
        sl_lanes_16 row[SL_LANES_16];
        SL_UNROLL
        for (int k = 0; k < vectors; ++k)
            row[k] = (sl_lanes_16)(side == SL_LANES_16 ? sl_load_16(read[k] + i)
                                                       : sl_load_eights(read[2 * k] + i, read[2 * k + 1] + i));
        SL_ZIP_UNTIL(side, sl_zip_vectors(row, vectors));
        SL_UNROLL
        for (int k = 0; k < vectors; ++k)
            if (side == SL_LANES_16)
                sl_store_16(write[k] + o, (sl_bytes_16)row[k]);
            else
                sl_store_eights(write[2 * k] + o, write[2 * k + 1] + o, (sl_bytes_16)row[k]);
    }
}

SL_DECLARE_SMALL(sl_transpose_small)
{
    const int64_t side = SL_SMALL_SQUARE;
    for (int64_t top = 0; top < rows; top += side)
        for (int64_t left = 0; left < columns; left += side) { /* the last squares overlap the ones before */
            const int64_t i = sl_min(top, rows - side), j = sl_min(left, columns - side);
            element *into[SL_SMALL_SQUARE];
            const element *at[SL_SMALL_SQUARE];
            for (int64_t k = 0; k < side; ++k) {
                into[k] = to + row[i + k] + j;
                at[k] = from + i + column[j + k];
            }
            sl_transpose_square_turns(into, at, count, to_step, step);
        }
}
#endif

/* Transposes of small matrices, many times: a block of turns after the other.
 *
 * Assumes: axes with as few levels as sl_simplify_axis leaves, all extents >= 1; see transpose_ways for the choice.
 * Needs: axes, integers, pieces, transpose_rows, transpose_small, ways. */

/* Bytes of the turns that are done together, of output and source: the first-level cache keeps them. */
#define SL_FEW_BYTES 16384

/* Transposes few rows and columns, many times: one element of all turns of a block in one loop. */
SL_OUT_OF_LINE void sl_transpose_few(element *restrict to, const sl_axis *rows, const element *restrict from,
                                     const sl_axis *columns, const sl_turns *turns)
{
    const int64_t height = sl_extent(rows), width = sl_extent(columns);
    const int64_t block = sl_max(SL_MANY_TURNS, SL_FEW_BYTES / 2 / SL_ELEMENT_SIZE / (height * width));
    for (int64_t turn = 0; turn < turns->high; ++turn)
        for (int64_t first = 0; first < turns->count; first += block) {
            const int64_t count = sl_min(block, turns->count - first);
            for (int64_t i = 0; i < height; ++i)
                for (int64_t j = 0; j < width; ++j) {
                    element *const into = to + turn * turns->to_leap + first * turns->to_step + sl_offset(rows, i) + j;
                    const element *const out_of =
                        from + turn * turns->leap + first * turns->step + sl_offset(columns, j) + i;
                    for (int64_t k = 0; k < count; ++k)
                        into[k * turns->to_step] = out_of[k * turns->step];
                }
        }
}

/* Transposes small matrices, many times: a block of turns after the other. */
SL_OUT_OF_LINE void sl_transpose_by_squares(element *restrict to, const sl_axis *rows, const element *restrict from,
                                            const sl_axis *columns, const sl_turns *turns)
{
#if SL_HAS_SHUFFLES
    const int64_t height = sl_extent(rows), width = sl_extent(columns);
    const int64_t block = sl_max(SL_MANY_TURNS / 4, SL_FEW_BYTES / 2 / SL_ELEMENT_SIZE / (height * width));
    int64_t row[SL_SMALL_SIDE], column[SL_SMALL_SIDE];
    for (int64_t i = 0; i < height; ++i)
        row[i] = sl_offset(rows, i);
    for (int64_t j = 0; j < width; ++j)
        column[j] = sl_offset(columns, j);
    for (int64_t turn = 0; turn < turns->high; ++turn)
        for (int64_t first = 0; first < turns->count; first += block)
            sl_transpose_small(to + turn * turns->to_leap + first * turns->to_step, row,
                               from + turn * turns->leap + first * turns->step, column, height, width,
                               sl_min(block, turns->count - first), turns->to_step, turns->step);
#else
    (void)to, (void)rows, (void)from, (void)columns, (void)turns;
#endif
}

SL_DECLARE_SMALL_MATRICES(sl_transpose_small_matrices)
{
    if (plan && sl_transpose_by_plan(to, rows, from, columns, turns, squares))
        return 1;
    if (squares)
        sl_transpose_by_squares(to, rows, from, columns, turns);
    else if (elements)
        sl_transpose_few(to, rows, from, columns, turns);
    return squares || elements;
}

/* Transposes between a short axis and a long one: fewer rows or columns than a square of 16 bytes has.  What is long
 * may have levels.
 *
 * Assumes: axes with as few levels as sl_simplify_axis leaves, all extents >= 1; the shorter one < SL_LANES_16.
 * Needs: axes, copy, copy_turns, integers, reach, transpose_strips, ways, zips. */

#if SL_HAS_NARROW
/* A group has the elements at one index of the long axis, one of each index of the short one.  Groups follow each other
 * in so many bytes on the stack, which the first-level cache keeps. */
#define SL_GROUPED_BYTES 4096

/* A square has *side* indices of the short axis, a literal: the least power of 2 that is enough, where bytes can be
 * shuffled; a vector has so many groups of a square. */
#define SL_GROUPS_OF_VECTOR(side) (SL_LANES_16 / (side))
#define SL_HAS_NARROW_OF_4 (SL_LANES_16 == 4 || SL_HAS_INDEXED_SHUFFLES)
#define SL_HAS_NARROW_OF_8 (SL_LANES_16 == 8 || (SL_LANES_16 == 16 && SL_HAS_INDEXED_SHUFFLES))
#if SL_HAS_INDEXED_SHUFFLES
#define SL_SHUFFLE_GROUPS(v, index) sl_shuffle_bytes(v, index)
#else
#define SL_SHUFFLE_GROUPS(v, index) ((void)(index), (v))
#endif

/* The indices of bytes that bring the groups of a vector of a square, of *few* elements each, side by side, and those
 * that bring them back: then what is beyond a group is any element. */
SL_OUT_OF_LINE void sl_index_groups(unsigned char dense[16], unsigned char apart[16], int64_t few, int64_t side)
{
    const int64_t group = few * SL_ELEMENT_SIZE, wide = side * SL_ELEMENT_SIZE;
    for (int64_t b = 0; b < 16; ++b) {
        dense[b] = (unsigned char)(b / group * wide + b % group) % 16;
        apart[b] = (unsigned char)(b / wide * group + b % wide) % 16;
    }
}

/* Joins SL_LANES_16 indices from *i* on of the lines *at*, one of each index of the short axis, to groups at *to*.
 * What is written behind them is written over. */
SL_ALWAYS_INLINE void sl_join_square(element *restrict to, const element *const at[SL_LANES_16], int64_t i,
                                     int64_t few, sl_bytes_16 dense, const int side)
{
    if (side == SL_LANES_16) {
        sl_transpose_rows_16(to, 0, few, at, i);
        return;
    }
    sl_lanes_16 v[SL_LANES_16];
    SL_REPEAT(SL_LANES_16, k, if (k < side) v[k] = (sl_lanes_16)sl_load_16(at[k] + i));
    SL_ZIP_UNTIL(side, sl_zip_vectors(v, side));
    SL_REPEAT(SL_LANES_16, k, if (k < side) {
        sl_store_16(to, SL_SHUFFLE_GROUPS((sl_bytes_16)v[k], dense));
        to += SL_GROUPS_OF_VECTOR(side) * few;
    });
}

/* Splits SL_LANES_16 groups at *from* to *few* lines, at *row* and so on. */
SL_ALWAYS_INLINE void sl_split_square(element *restrict to, const int64_t row[SL_LANES_16],
                                      const element *restrict from, int64_t few, sl_bytes_16 apart, const int side)
{
    sl_lanes_16 v[SL_LANES_16];
    SL_REPEAT(SL_LANES_16, k, if (k < side) {
        const sl_bytes_16 groups = sl_load_16(from);
        v[k] = (sl_lanes_16)(side == SL_LANES_16 ? groups : SL_SHUFFLE_GROUPS(groups, apart));
        from += SL_GROUPS_OF_VECTOR(side) * few;
    });
    SL_ZIP_UNTIL(SL_LANES_16, sl_zip_vectors(v, side));
    SL_REPEAT(SL_LANES_16, k, if (k < side && (k < 2 || k < few)) sl_store_16(to + row[k], (sl_bytes_16)v[k]));
}

typedef void sl_narrow_squares(element *restrict to, const element *restrict from, const int64_t line[SL_LANES_16],
                               int64_t few, int64_t count, const unsigned char index[16]);
/* Defines joins and splits of *count* groups; the lines are at the offsets *line*.  The last squares overlap those
 * before them.  Up to 15 elements are read, or written, behind groups. */
#define SL_DEFINE_NARROW(side)                                                                                       \
    SL_OUT_OF_LINE void sl_join_squares_##side(element *restrict to, const element *restrict from,                   \
                                               const int64_t line[SL_LANES_16], int64_t few, int64_t count,          \
                                               const unsigned char index[16])                                        \
    {                                                                                                                \
        const sl_bytes_16 dense = sl_load_16(index);                                                                 \
        const element *at[SL_LANES_16];                                                                              \
        element held[SL_LANES_16 * SL_LANES_16];                                                                     \
        const int64_t most = sl_max(count, SL_LANES_16);                                                             \
        for (int64_t k = 0; k < side; ++k) { /* what is beyond the lines is the last one */                         \
            at[k] = from + line[sl_min(k, few - 1)];                                                                 \
            if (count < SL_LANES_16) {                                                                               \
                memcpy(held + k * SL_LANES_16, at[k], (size_t)count * sizeof(element));                              \
                at[k] = held + k * SL_LANES_16;                                                                      \
            }                                                                                                        \
        }                                                                                                            \
        for (int64_t i = 0; i < most; i += SL_LANES_16) {                                                            \
            const int64_t first = sl_min(i, most - SL_LANES_16);                                                     \
            sl_join_square(to + first * few, at, first, few, dense, side);                                           \
        }                                                                                                            \
    }                                                                                                                \
    SL_OUT_OF_LINE void sl_split_squares_##side(element *restrict to, const element *restrict from,                  \
                                                const int64_t line[SL_LANES_16], int64_t few, int64_t count,         \
                                                const unsigned char index[16])                                       \
    {                                                                                                                \
        const sl_bytes_16 apart = sl_load_16(index);                                                                 \
        element held[SL_LANES_16 * SL_LANES_16];                                                                     \
        int64_t row[SL_LANES_16];                                                                                    \
        if (count >= SL_LANES_16) {                                                                                  \
            for (int64_t i = 0; i < count; i += SL_LANES_16) {                                                       \
                const int64_t first = sl_min(i, count - SL_LANES_16);                                                \
                sl_split_square(to + first, line, from + first * few, few, apart, side);                             \
            }                                                                                                        \
            return;                                                                                                  \
        }                                                                                                            \
        for (int64_t k = 0; k < SL_LANES_16; ++k)                                                                    \
            row[k] = k * SL_LANES_16;                                                                                \
        sl_split_square(held, row, from, few, apart, side);                                                          \
        for (int64_t k = 0; k < few; ++k)                                                                            \
            memcpy(to + line[k], held + row[k], (size_t)count * sizeof(element));                                    \
    }
#if SL_HAS_NARROW_OF_4
SL_DEFINE_NARROW(4)
#endif
#if SL_HAS_NARROW_OF_8
SL_DEFINE_NARROW(8)
#endif
#if SL_LANES_16 == 16
SL_DEFINE_NARROW(16)
#endif

/* Writes *count* groups of *few* elements side by side, by moves of *bytes* bytes, a literal, at most twice a group:
 * the next group writes over what is behind it.  Not so the last one; nor the first, which may be at the source's
 * end. */
SL_ALWAYS_INLINE void sl_write_groups_by(element *restrict to, const element *restrict from, int64_t step,
                                         int64_t count, int64_t few, const size_t bytes)
{
    sl_copy(to, 0, from, 0, few);
    SL_UNROLL_4
    for (int64_t i = 1; i < count - 1; ++i)
        sl_copy_literal((unsigned char *)(to + i * few), (const unsigned char *)(from + i * step), bytes);
    sl_copy(to, (count - 1) * few, from, (count - 1) * step, few);
}
/* The groups of the source are *step* apart, and do not overlap. */
SL_OUT_OF_LINE void sl_write_groups(element *restrict to, const element *restrict from, int64_t step, int64_t count,
                                    int64_t few)
{
    if (few * SL_ELEMENT_SIZE <= 4)
        sl_write_groups_by(to, from, step, count, few, 4);
    else if (few * SL_ELEMENT_SIZE <= 8)
        sl_write_groups_by(to, from, step, count, few, 8);
    else
        sl_write_groups_by(to, from, step, count, few, 16);
}

/* Copies *count* groups of *few* elements from *first* on, of one level of *along* or of whole ones: those that follow
 * each other at *held* to where the axis has them in *array*, or back if *gather*. */
SL_OUT_OF_LINE void sl_copy_groups(element *array, element *held, const sl_axis *along, int64_t first, int64_t count,
                                   int64_t few, int gather)
{
    const int64_t inner = sl_min(count, along->count);
    for (int64_t done = 0, turns; done < count; done += turns * inner) {
        const int64_t room = along->high - (first + done) / along->count % along->high;
        turns = sl_min((count - done) / inner, room);
        /* Rows of a copy, the longer loop: groups, or levels of groups that follow each other. */
        const int joined = along->step == few, outer = joined || inner < turns;
        const int64_t length = joined ? inner * few : few, rows = outer ? turns : inner;
        const int64_t times = joined ? 1 : outer ? inner : turns;
        const int64_t step = outer ? along->leap : along->step, leap = outer ? along->step : along->leap;
        const int64_t held_step = outer ? inner * few : few, held_leap = outer ? few : inner * few;
        element *const groups = held + done * few, *const at = array + sl_offset(along, first + done);
        const int beside = !joined && (gather ? held_step == few && (step > few || step <= -few)
                                              : step == few || step == -few);
        if (beside) /* from the lowest address of the output on */
            for (int64_t t = 0; t < times; ++t) {
                const int64_t lowest = !gather && step < 0 ? rows - 1 : 0;
                element *const in_array = at + t * leap + lowest * step;
                element *const in_held = groups + t * held_leap + lowest * held_step;
                if (gather)
                    sl_write_groups(in_held, in_array, step, rows, few);
                else
                    sl_write_groups(in_array, in_held, lowest > 0 ? -held_step : held_step, rows, few);
            }
        else if (gather)
            sl_copy_turns(groups, held_leap, held_step, at, leap, step, times, rows, length, SL_NEAREST);
        else
            sl_copy_turns(at, leap, step, groups, held_leap, held_step, times, rows, length, SL_NEAREST);
    }
}

SL_DECLARE_NARROW(sl_transpose_narrow)
{
    const int64_t height = sl_extent(rows), width = sl_extent(columns), few = sl_min(height, width);
    const int joins = width < height;
    const sl_axis *const along = joins ? rows : columns, *const across = joins ? columns : rows;
    const int64_t extent = sl_extent(along), most = SL_GROUPED_BYTES / SL_ELEMENT_SIZE / few;
    /* Strips are whole levels, or parts of one; of whole squares, if these are that short. */
    const int parts = along->count > most;
    const int64_t unit = (parts ? 1 : along->count) * (along->count <= most / SL_LANES_16 || parts ? SL_LANES_16 : 1);
    const int64_t strip = most / unit * unit;
    const int dense = along->high == 1 && along->step == few;
    element held[SL_GROUPED_BYTES / SL_ELEMENT_SIZE + SL_LANES_16];
    unsigned char index[2][16];
    int64_t line[SL_LANES_16];
    sl_narrow_squares *squares = 0;
    int64_t side = SL_LANES_16;
#if SL_LANES_16 == 16
    squares = joins ? sl_join_squares_16 : sl_split_squares_16;
#endif
#if SL_HAS_NARROW_OF_8
    if (few <= 8) {
        squares = joins ? sl_join_squares_8 : sl_split_squares_8;
        side = 8;
    }
#endif
#if SL_HAS_NARROW_OF_4
    if (few <= 4) {
        squares = joins ? sl_join_squares_4 : sl_split_squares_4;
        side = 4;
    }
#endif
    sl_index_groups(index[0], index[1], few, side);
    for (int64_t k = 0; k < few; ++k)
        line[k] = sl_offset(across, k);
    for (int64_t turn = 0; turn < turns->count * turns->high; ++turn) {
        const int64_t c = turn % turns->count, h = turn / turns->count;
        element *const into = to + c * turns->to_step + h * turns->to_leap;
        const element *const out_of = from + c * turns->step + h * turns->leap;
        for (int64_t first = 0, count; first < extent; first += count) {
            count = sl_min(strip, extent - first);
            if (parts)
                count = sl_min(count, along->count - first % along->count);
            /* Groups that follow each other are moved where they are, but for the last ones. */
            const int64_t direct = dense ? (extent - first - SL_LANES_16) / SL_LANES_16 * SL_LANES_16 : 0;
            if (direct > 0)
                count = direct;
            if (joins) {
                squares(direct > 0 ? into + first * few : held, out_of + first, line, few, count, index[0]);
                if (direct <= 0)
                    sl_copy_groups(into, held, along, first, count, few, 0);
            } else {
                if (direct <= 0)
                    sl_copy_groups((element *)out_of, held, along, first, count, few, 1);
                squares(into + first, direct > 0 ? out_of + first * few : held, line, few, count, index[1]);
            }
        }
    }
}
#endif

/* A transpose in tiles, once: blocks of tiles, read ahead, staged or written tile by tile.
 *
 * Assumes: axes with as few levels as sl_simplify_axis leaves, all extents >= 1.
 * Needs: pieces, tiles, transpose_choice, transpose_lines, transpose_pieces, transpose_staging, transpose_tile. */

/* Returns the length of the tile that begins at *at*, cut to 0 <= k < extent, and moves *at* to its begin.  A cut
 * tile is lengthened to whole squares, which overlap another tile. */
SL_OUT_OF_LINE int64_t sl_tile_length(int64_t *at, int64_t extent)
{
    const int64_t end = sl_min(extent, *at + SL_TILE), begin = sl_max(0, *at);
    const int64_t length = sl_min(extent, (end - begin + SL_LANES_16 - 1) / SL_LANES_16 * SL_LANES_16);
    *at = sl_min(begin, extent - length);
    return length;
}

/* Prefetches what the next four tiles, one below the other, read.  Of each four tiles, tile *turn* prefetches a
 * quarter of the columns, all four lines at once; *from* is where that tile begins. */
SL_ALWAYS_INLINE void sl_read_ahead(const element *from, const int64_t column[SL_TILE], int64_t turn)
{
    for (int64_t k = turn * (SL_TILE / 4); k < (turn + 1) * (SL_TILE / 4); ++k)
        for (int64_t line = 4; line < 8; ++line)
            __builtin_prefetch(from + column[k] + (line - turn) * SL_TILE, 0, 2);
}

/* Prefetches a tile that begins at *from*, a line of each column. */
SL_ALWAYS_INLINE void sl_read_tile(const element *from, const int64_t column[SL_TILE])
{
    for (int64_t k = 0; k < SL_TILE; ++k)
        __builtin_prefetch(from + column[k], 0, 2);
}

/* Fetches the *rows* cache lines of the output that a tile will write: a store that waits for its line holds up the
 * stores after it. */
SL_ALWAYS_INLINE void sl_fetch_output(const element *to, const int64_t *row, int64_t rows)
{
    for (int64_t i = 0; i < rows; ++i)
        __builtin_prefetch(to + row[i], 1, 3);
}

/* Tiles side by side: tile k begins at column right[k] and is wide[k] columns wide; it reads from read[k] on, its
 * columns are column[k] further. */
typedef struct {
    const int64_t *column[SL_TILES_PER_BLOCK];
    int64_t right[SL_TILES_PER_BLOCK], read[SL_TILES_PER_BLOCK], wide[SL_TILES_PER_BLOCK], tiles;
    sl_offset_table across[SL_TILES_PER_BLOCK][2];
} sl_block;

/* Places the tiles of the block of columns *left* to *left* + *side*. */
SL_OUT_OF_LINE void sl_begin_block(sl_block *block, const sl_axis *columns, int64_t left, int64_t side, int64_t width)
{
    int64_t tiles = 0;
    const int64_t end = sl_min(width, left + side);
    for (int64_t beside = left; beside < end; beside += SL_TILE, ++tiles) {
        block->right[tiles] = beside;
        block->wide[tiles] = sl_tile_length(&block->right[tiles], width);
        block->column[tiles] = sl_offsets_from(block->across[tiles], columns, block->right[tiles], block->wide[tiles],
                                               &block->read[tiles]);
    }
    block->tiles = tiles;
}

/* Blocks that are long and narrow: the processor reads so many columns ahead by itself, and fetches lines in pairs. */
#define SL_NARROW_SIDE sl_min(SL_TILES_PER_BLOCK * SL_TILE, sl_max(2 * SL_TILE, 32))

/* How whole tiles are transposed: by tables of offsets; with one step each way, as it comes; or in the order that
 * finishes the lines that are written, or those that are read, before they leave the cache. */
typedef enum { SL_BY_TABLES, SL_EVENLY, SL_ROWS_FIRST, SL_COLUMNS_FIRST } sl_order;

/* A transpose in tiles: what is the same for all its turns, and what they share. */
typedef struct {
    element held[SL_TILE * SL_STAGED_STEP] __attribute__((aligned(64)));
    int64_t held_row[SL_TILE];
    sl_block now, then; /* the block that is transposed, and the one that is read ahead */
    sl_offset_table below[2];
    int64_t height, width, side, down; /* blocks have *down* rows of *side* columns */
    int far, staged, joined, fetched, deep, dense, lines;
    sl_order order;
} sl_tiling;

/* The order for *even* axes whose tiles *crowd* sets. */
SL_INLINE sl_order sl_order_of(int even, sl_crowd crowd)
{
    if (!even || !SL_HAS_EVEN_TILES)
        return SL_BY_TABLES;
    if (SL_NEAR_TILES || !SL_HAS_ORDERED_TILES || (crowd.written <= SL_WAYS && crowd.read <= SL_WAYS))
        return SL_EVENLY;
    return crowd.written < crowd.read ? SL_COLUMNS_FIRST : SL_ROWS_FIRST;
}

/* Begins the tiling of an output at that *distance*; the source is read ahead, along its rows, if it is *deep* or
 * staged. */
SL_OUT_OF_LINE void sl_begin_tiling(sl_tiling *tiling, const sl_axis *rows, const sl_axis *columns, sl_crowd crowd,
                                    sl_distance distance, int deep)
{
    const int far = distance.far, wait = distance.wait;
    const int64_t height = sl_extent(rows), width = sl_extent(columns);
    tiling->height = height;
    tiling->width = width;
    tiling->far = far;
    /* Rows that follow each other are staged so, and written as one. */
    tiling->joined = sl_is_joined(rows, width);
    tiling->staged = !SL_NEAR_TILES && sl_has_staged_tiles(rows, width, distance);
    /* Rows that share lines follow each other: the processor fetches their lines by itself. */
    tiling->fetched = wait && !(tiling->staged && far) && (rows->step >= SL_TILE || rows->step < 0);
    tiling->deep = tiling->staged || deep;
    /* Of far rows of whole lines, where stores wait. */
    const int narrow = wait && far && tiling->staged && !tiling->joined && sl_begins_lines(rows);
    tiling->side = narrow ? SL_NARROW_SIDE : SL_TILES_PER_BLOCK * SL_TILE;
    tiling->down = narrow ? SL_ROWS_OF_PAGES : tiling->deep ? height + SL_TILE : tiling->side;
    tiling->order = sl_order_of(rows->high == 1 && columns->high == 1 && !tiling->staged, crowd);
    tiling->lines = SL_HAS_LINES && crowd.read >= 2 * SL_WAYS;
    /* Rows follow each other where no level ends inside a tile: in the first of the two offset tables. */
    tiling->dense = SL_HAS_DENSE_SQUARES && width == SL_LANES_16 && rows->step == SL_LANES_16 && rows->count >= SL_TILE;
    tiling->below[0].phase = tiling->below[1].phase = -1;
    for (int64_t k = 0; k < SL_TILES_PER_BLOCK; ++k)
        for (int64_t table = 0; table < 2; ++table)
            tiling->now.across[k][table].phase = tiling->then.across[k][table].phase = -1;
}

/* Transposes a tile of *high* rows and *wide* columns, a whole one or a part: row[i] and column[j] are offsets, the
 * steps those of even axes. */
SL_ALWAYS_INLINE void sl_transpose_any_tile(const sl_tiling *tiling, element *restrict to, const int64_t *row,
                                            int64_t row_step, const element *restrict from, const int64_t *column,
                                            int64_t column_step, int64_t high, int64_t wide)
{
    if (high == SL_TILE && wide == SL_TILE) {
#if SL_HAS_ORDERED_TILES && !SL_NEAR_TILES
        if (tiling->order == SL_COLUMNS_FIRST) {
            sl_transpose_columns_first(to, row_step, from, column_step);
            return;
        }
        if (tiling->order == SL_ROWS_FIRST) {
            sl_transpose_even_rows(to, row_step, from, column_step, SL_TILE, SL_TILE);
            return;
        }
#endif
#if SL_HAS_EVEN_TILES
        if (tiling->order == SL_EVENLY) {
            sl_transpose_even_tile(to, row_step, from, column_step);
            return;
        }
#endif
        (void)row_step, (void)column_step;
        sl_transpose_tile(to, row, from, column);
    }
#if SL_HAS_LINES
    else if (!SL_NEAR_TILES && tiling->lines && high == SL_TILE && wide >= SL_LANES_MAX)
        sl_transpose_lines(to, row, from, column, wide);
#endif
    else if (tiling->dense && row == tiling->below->offset && high >= SL_LANES_MAX)
        sl_transpose_dense(to, row, from, column, high);
    else if (high >= SL_LANES_16 && wide >= SL_LANES_16)
        sl_transpose_part(to, row, from, column, high, wide);
    else
        sl_transpose_thin(to, row, from, column, high, wide);
}

/* Transposes the tiles of a block that begin at row *below*, which are *number* from its top; it ends at row *end*.
 * *beside* is where those of the block that is read ahead are read, or null. */
SL_OUT_OF_LINE void sl_transpose_beside(sl_tiling *tiling, element *restrict to, const sl_axis *rows,
                                        const element *restrict from, const sl_axis *columns, int64_t below,
                                        int64_t end, int64_t number, const element *beside)
{
    const sl_block *const now = &tiling->now, *const then = &tiling->then;
    const int staged = !SL_NEAR_TILES && tiling->staged, fetched = !SL_NEAR_TILES && tiling->fetched;
    int64_t i = below, write;
    const int64_t high = sl_tile_length(&i, tiling->height), tiles = now->tiles, left = now->right[0];
    const int64_t *const row = sl_offsets_from(tiling->below, rows, i, high, &write);
    element *const block = to + write + left; /* what is written now: *high* by *count* */
    const int64_t count = now->right[tiles - 1] + now->wide[tiles - 1] - left;
    if (staged)
        sl_place_staged(tiling->held_row, block, row, high, count);
    const int ahead = !SL_NEAR_TILES && tiling->deep && high == SL_TILE && below + 8 * SL_TILE <= end;
    for (int64_t k = 0; k < tiles; ++k) {
        const element *const source = from + now->read[k] + i;
        const int64_t right = now->right[k] - left, wide = now->wide[k];
        if (ahead && wide == SL_TILE)
            sl_read_ahead(source, now->column[k], number % 4);
        if (!SL_NEAR_TILES && beside && k < then->tiles && then->wide[k] == SL_TILE)
            sl_read_tile(beside + then->read[k], then->column[k]);
        if (fetched)
            sl_fetch_output(block + right, row, high);
        sl_transpose_any_tile(tiling, staged ? tiling->held + right : block + right, staged ? tiling->held_row : row,
                              rows->step, source, now->column[k], columns->step, high, wide);
    }
    if (staged)
        sl_write_staged_rows(block, row, tiling->held, tiling->held_row, high, count, tiling->far);
}

/* Transposes once, in blocks of SL_TILES_PER_BLOCK by SL_TILES_PER_BLOCK tiles: the TLB has few entries.  Tiles begin
 * at cache lines if they can.  *after* is where the next turn reads, or null. */
SL_INLINE void sl_transpose_in_tiles(sl_tiling *tiling, element *restrict to, const sl_axis *rows,
                                     const element *restrict from, const sl_axis *columns, const element *after)
{
    const int64_t height = tiling->height, width = tiling->width, side = tiling->side, ahead = 8 * SL_TILE;
    const int deep = !SL_NEAR_TILES && tiling->deep, joined = !SL_NEAR_TILES && tiling->staged && tiling->joined;
    const int64_t lead_i = sl_elements_to_line(from, columns, height), lead_j = sl_elements_to_line(to, rows, width);
    const int64_t first_i = lead_i > 0 ? lead_i - SL_TILE : 0;
    const int64_t first_j = lead_j > 0 && !joined ? lead_j - SL_TILE : 0;
    for (int64_t top = first_i, end; top < height; top = end) {
        end = sl_min(height, top + tiling->down);
        for (int64_t left = first_j; left < width; left += side) {
            sl_begin_block(&tiling->now, columns, left, side, width);
            /* Where the columns end, those of the next block are read, beside or below, or of the next turn. */
            const int more = left + side < width;
            const element *const below_this = end < height ? from + end : after;
            const element *const next = !deep ? 0 : more ? from + sl_max(0, top) : below_this;
            if (next)
                sl_begin_block(&tiling->then, columns, more ? left + side : 0, side, width);
            for (int64_t below = top; below < end; below += SL_TILE) {
                const int64_t over = below + ahead - end, begin = end - top < ahead ? below - top : over;
                sl_transpose_beside(tiling, to, rows, from, columns, below, end, (below - top) / SL_TILE,
                                    next && over > 0 ? next + begin : 0);
            }
        }
    }
}

/* A transpose in tiles, or as a band, for all turns: of any array, or of a near one in a text of its own.
 *
 * Assumes: axes with as few levels as sl_simplify_axis leaves, all extents >= 1.
 * Needs: far_stores, pieces, tiles, transpose_choice, transpose_pieces, transpose_tiling. */

#if SL_NEAR_TILES
#define SL_TILES_NAME sl_transpose_near_tiles
#else
#define SL_TILES_NAME sl_transpose_tiles
#endif
/* Transposes between the axes *rows* and *columns*, *turns* times. */
SL_DECLARE_TILES(SL_TILES_NAME)
{
    const int64_t times = turns->count * turns->high;
    /* What is near counts as nothing: the compiler leaves out what only other arrays need. */
    const int64_t bytes = SL_NEAR_TILES ? 0 : sl_extent(rows) * sl_extent(columns) * SL_ELEMENT_SIZE;
    const int past = !SL_NEAR_TILES && far;
    const int many = !SL_NEAR_TILES && bytes >= (SL_ELEMENT_SIZE >= 4 ? SL_NEAR_LEAST : SL_NEAR_LEAST / times);
    const int band = sl_is_band(rows, columns, bytes, SL_FEWEST_TILED(past), many);
    const sl_distance distance = SL_NEAR_TILES ? (sl_distance){1, 0, 0} : sl_distance_of(bytes, times, past);
    sl_crowd crowd = {0, 0};
#if (SL_HAS_PANELS || SL_HAS_LINES) && !SL_NEAR_TILES
    if (many && !band && !SL_STORES_WAIT)
        crowd = sl_crowd_of(rows, columns);
#endif
    sl_tiling tiling;
    if (!band)
        sl_begin_tiling(&tiling, rows, columns, crowd, distance, !SL_NEAR_TILES && sl_is_deep(distance, bytes, times));
    for (int64_t turn = 0; turn < times; ++turn) {
        const int64_t c = turn % turns->count, h = turn / turns->count;
        element *const into = to + c * turns->to_step + h * turns->to_leap;
        const element *const out_of = from + c * turns->step + h * turns->leap;
        if (band) {
            sl_transpose_band(into, rows->step, out_of, columns->step, rows->count, columns->count);
            continue;
        }
        const element *after = 0;
        if (turn + 1 < times)
            after = c + 1 < turns->count ? out_of + turns->step : from + (h + 1) * turns->leap;
        sl_transpose_in_tiles(&tiling, into, rows, out_of, columns, after);
    }
    if (!band && tiling.staged && distance.far)
        sl_store_fence();
}

/* A transpose of any extents and strides: simplified, then done by streams, by tiles, or at once for all turns.
 *
 * Assumes: output and source do not overlap.
 * Needs: caches, pieces, plans, reach, streams, tiles, transpose_choice, transpose_pieces, transpose_tiles,
 * wanted, ways. */

/* Moves the outer level of *far* to *near*, the shorter axis, if it continues where *near* ends. */
SL_OUT_OF_LINE void sl_move_level(sl_axis *near, sl_axis *far)
{
    if (near->high == 1 && far->high > 1 && far->top == 1 && far->leap == near->count && near->count < far->count) {
        near->high = far->high;
        near->leap = far->count;
        sl_simplify_axis(near);
        sl_drop_level(far);
    }
}

/* Whether so few rows and columns are transposed so many times that a loop over the turns, for each element, takes less
 * than a call for each turn.  A call moves squares at once where a side of one level has a whole one; but what is
 * thinner than a small square is planned for all turns, where plans are. */
#define SL_FEW_ELEMENTS (SL_ELEMENT_SIZE == 1 ? 128 : SL_ELEMENT_SIZE == 2 ? 64 : 56)
#define SL_FEW_IN_SQUARES 16
SL_INLINE int sl_has_squares(const sl_axis *rows, const sl_axis *columns)
{
    const int64_t square = SL_TILE / 4;
    if (SL_HAS_PLANNED_TURNS && sl_min(sl_extent(rows), sl_extent(columns)) < SL_SMALL_SQUARE)
        return 0;
    return rows->high == 1 && columns->high == 1 && (rows->count >= square || columns->count >= square);
}
SL_INLINE int sl_is_few(const sl_axis *rows, const sl_axis *columns, const sl_turns *turns)
{
    const int64_t most = sl_has_squares(rows, columns) ? SL_FEW_IN_SQUARES : SL_FEW_ELEMENTS;
    return turns->count >= SL_MANY_TURNS && sl_extent(rows) <= most / sl_extent(columns);
}

/* Whether a matrix is so small that it is done square by square, each for all turns.  Where both axes have one level,
 * streams and tiles take less time from fewer bytes on. */
#define SL_SMALL_BYTES 1024
#define SL_SMALL_BYTES_OF_ONE_LEVEL 768
SL_INLINE int sl_is_small(const sl_axis *rows, const sl_axis *columns, const sl_turns *turns)
{
    const int64_t height = sl_extent(rows), width = sl_extent(columns);
    const int64_t least = sl_min(height, width), longest = sl_max(height, width);
    const int levels = rows->high > 1 || columns->high > 1;
    if (!levels && least <= 4 && longest >= 64 / SL_ELEMENT_SIZE)
        return 0;
    return SL_HAS_SHUFFLES && turns->count >= SL_MANY_TURNS / 4 && turns->count * turns->high >= SL_MANY_TURNS &&
           least >= SL_SMALL_SQUARE && (SL_ELEMENT_SIZE > 2 || least < 16 / SL_ELEMENT_SIZE) &&
           longest <= SL_SMALL_SIDE &&
           height * width <= (levels ? SL_SMALL_BYTES : SL_SMALL_BYTES_OF_ONE_LEVEL) / SL_ELEMENT_SIZE;
}

/* Whether there may be a plan for all turns: they write rows of the output that follow each other side by side. */
SL_INLINE int sl_may_be_planned(const sl_axis *rows, const sl_axis *columns, const sl_turns *turns)
{
    const int64_t runs = sl_rows_beside(rows, sl_extent(columns)) * sl_extent(columns);
    return SL_HAS_PLANNED_TURNS && turns->count >= SL_MANY_TURNS && turns->to_step == runs &&
           runs <= SL_PLANNED_ELEMENTS && turns->count * runs * SL_ELEMENT_SIZE >= 128;
}

/* Transposes by streams, of which there are few or wide: by one of these two. */
SL_OUT_OF_LINE void sl_transpose_streams(element *restrict to, const sl_axis *rows, const element *restrict from,
                                         const sl_axis *columns, const sl_turns *turns, sl_split_streams *splits,
                                         sl_join_streams *joins, int reach)
{
    const int64_t few = rows->count, wide = columns->count;
    /* Streams have two levels; the third one is more turns. */
    const sl_axis *const along = splits ? columns : rows;
    const int64_t level = along->count * along->high, to_jump = splits ? level : along->jump;
    const int64_t jump = splits ? along->jump : level;
    for (int64_t turn = 0; turn < turns->count * turns->high * along->top; ++turn) {
        const int64_t c = turn % turns->count, outer = turn / turns->count;
        const int64_t h = outer % turns->high, t = outer / turns->high;
        const int64_t into = c * turns->to_step + h * turns->to_leap + t * to_jump;
        const int64_t out_of = c * turns->step + h * turns->leap + t * jump;
        if (splits)
            splits(to, into, rows->step, from, out_of, wide, columns->high, wide, columns->leap, 1, 0, 0, reach);
        else
            joins(to, into, from, out_of, columns->step, few, rows->high, rows->leap, few, 1, 0, 0, reach);
    }
}

/* Whether *axis* has levels that are better turns, since the other axis has only *others* indices: what is small, or
 * few, is moved for all turns, and bands have one level. */
SL_INLINE int sl_has_levels_of_turns(const sl_axis *axis, int64_t others)
{
    return others > 1 && others < SL_TILED_FROM && axis->high > 1 && axis->count >= SL_TILED_FROM;
}

/* How many streams are the *few* indices of an axis, which are side by side along the *other*; 0 if they are none. */
SL_INLINE int64_t sl_streams_of(const sl_axis *few, const sl_axis *other)
{
    return few->high == 1 && few->count == other->step && few->count <= SL_MOST_STREAMS ? few->count : 0;
}

/* Whether a transpose, *bytes* bytes at once, is so large that a way other than tiles may take less time: of all turns,
 * if rows have levels, or where stores do not wait; else of all that are not small. */
SL_INLINE int sl_may_be_large(const sl_axis *rows, const sl_turns *turns, int64_t bytes)
{
    if (!SL_HAS_LARGE_WAYS || bytes < SL_NEAR_LEAST / (turns->count * turns->high))
        return 0;
    if (bytes < SL_NEAR_LEAST)
        return (SL_HAS_PANELS && (rows->high > 1 || !SL_STORES_WAIT)) ||
               (bytes >= SL_TURN_LEAST && SL_STORES_WAIT);
    return SL_HAS_PANELS || SL_STORES_WAIT;
}

/* Whether a transpose has fewer rows or columns than a square of 16 bytes, and long lines.  Streams are narrow where
 * each of them has levels of less than a square. */
SL_INLINE int sl_is_narrow(const sl_axis *rows, const sl_axis *columns)
{
    const int64_t height = sl_extent(rows), width = sl_extent(columns), few = sl_min(height, width);
    const sl_axis *const along = width < height ? rows : columns;
    if (!SL_HAS_NARROW || few < 2 || few >= SL_LANES_16 || sl_max(height, width) < SL_LANES_16)
        return 0;
    return (along->high > 1 && along->count < SL_LANES_16) ||
           !(sl_streams_of(rows, columns) || sl_streams_of(columns, rows));
}

/* sl_transpose of merged axes. */
SL_OUT_OF_LINE void sl_transpose_merged(element *restrict to, const sl_axis *rows, const element *restrict from,
                                        const sl_axis *columns, const sl_turns *turns, const sl_further_ways *ways,
                                        int reach)
{
    const int64_t split = sl_streams_of(rows, columns), join = sl_streams_of(columns, rows);
    sl_split_streams *const splits = ways->split[split];
    sl_join_streams *const joins = ways->join[join];
    const int by_rows = sl_has_levels_of_turns(rows, sl_extent(columns));
    const int is_few = sl_is_few(rows, columns, turns);
    const int is_small = sl_is_small(rows, columns, turns);
    const int is_planned = (is_few || !sl_has_squares(rows, columns)) && sl_may_be_planned(rows, columns, turns);
    int small = is_planned || is_small || is_few;
    /* One way is wanted at a time: the one that this call would have taken, not what it takes instead. */
    sl_further_ways linked;
    if (sl_is_narrow(rows, columns) && (!small || ways->small)) {
        if (small && ways->small(to, rows, from, columns, turns, is_planned, is_small, is_few))
            return;
        if (ways->narrow) {
            ways->narrow(to, rows, from, columns, turns);
            return;
        }
        sl_want(ways->wanted, SL_NARROW_WAY);
        linked = *ways;
        linked.wanted = 0;
        ways = &linked;
        small = 0;
    } else if (!small && !splits && !joins && ((1 << split | 1 << join) & SL_ALL_STREAMS)) {
        sl_want(ways->wanted, (1 << split | 1 << join) & SL_ALL_STREAMS);
        linked = *ways;
        linked.wanted = 0;
        ways = &linked;
    }
    if (!splits && !joins && (by_rows || sl_has_levels_of_turns(columns, sl_extent(rows)))) {
        /* The outermost level are turns; they are the first ones if there are many, less far apart than the others. */
        sl_axis level = by_rows ? *rows : *columns;
        const int three = level.top > 1, room = turns->high == 1;
        const int64_t across = three ? level.jump : level.leap, along = level.count * (three ? level.high : 1);
        const int64_t to_step = by_rows ? across : along, step = by_rows ? along : across;
        const int64_t many = three ? level.top : level.high, calls = room ? 1 : many;
        sl_drop_level(&level);
        sl_turns more = *turns;
        if (room && (turns->count == 1 || (to_step < turns->to_step && many >= SL_MANY_TURNS)))
            more = sl_turns_2(many, to_step, step, turns->count, turns->to_step, turns->step);
        else if (room)
            more = sl_turns_2(turns->count, turns->to_step, turns->step, many, to_step, step);
        for (int64_t k = 0; k < calls; ++k)
            sl_transpose_merged(to + k * to_step, by_rows ? &level : rows, from + k * step, by_rows ? columns : &level,
                                &more, ways, reach);
        return;
    }
    const int64_t bytes = sl_extent(rows) * sl_extent(columns) * SL_ELEMENT_SIZE;
    const int near = reach != SL_FAR && bytes < SL_NEAR_LEAST / (turns->count * turns->high);
    sl_large_way *const by = sl_may_be_large(rows, turns, bytes) ? ways->large[SL_STORES_WAIT] : 0;
    sl_tiles_way *const tiles = near ? 0 : ways->tiles[SL_STORES_WAIT];
    if (small && ways->small && ways->small(to, rows, from, columns, turns, is_planned, is_small, is_few))
        return;
    if (splits || joins)
        sl_transpose_streams(to, rows, from, columns, turns, splits, joins, reach);
    else if (!by || !by(to, rows, from, columns, turns, reach == SL_FAR))
        (tiles ? tiles : sl_transpose_near_tiles)(to, rows, from, columns, turns, reach == SL_FAR);
    if (small && !ways->small)
        sl_want(ways->wanted, SL_SMALL_WAY);
    else if (!splits && !joins && !near && !tiles)
        sl_want(ways->wanted, SL_LARGE_WAY(SL_STORES_WAIT));
}

SL_DECLARE_TRANSPOSE(sl_transpose_simplified)
{
    if (rows->count <= 0 || rows->high <= 0 || rows->top <= 0 || columns->count <= 0 || columns->high <= 0 ||
        columns->top <= 0 || turns->count <= 0 || turns->high <= 0)
        return;
    sl_simplify_axis(rows);
    sl_simplify_axis(columns);
    const sl_axis short_rows = *rows, short_columns = *columns;
    const sl_turns many = *turns;
    sl_turns_to_axes(rows, columns, turns);
    sl_move_level(columns, rows);
    sl_move_level(rows, columns);
    /* One row or one column, however long, has no squares; what can be planned was few before it was merged. */
    const int line = sl_extent(rows) == 1 || sl_extent(columns) == 1;
    const int plain = SL_HAS_PLANNED_TURNS && !sl_has_squares(&short_rows, &short_columns);
    if ((line || plain) && !sl_is_few(rows, columns, turns) && sl_is_few(&short_rows, &short_columns, &many))
        sl_transpose_merged(to, &short_rows, from, &short_columns, &many, ways, reach);
    else
        sl_transpose_merged(to, rows, from, columns, turns, ways, reach);
}

/* A transpose as kernels call it, with the streams that occur in theirs.
 *
 * Assumes: output and source do not overlap.
 * Needs: far_stores, split_join, streams, tiles, transpose_large, transpose_matrices, transpose_narrow,
 * transpose_ways, wanted, ways. */

/* The numbers k of streams that occur, as the bits 1 << k: gcc takes half of its time for those that do not. */
#ifndef SL_STREAMS
#define SL_STREAMS SL_ALL_STREAMS
#endif
#define SL_IF_STREAMS(k, function) (SL_STREAMS >> (k) & 1 ? (function) : 0)
/* Whether large arrays occur: where stores do not wait as the bit 1, where they do as the bit 2. */
#ifndef SL_LARGE_ARRAYS
#define SL_LARGE_ARRAYS 3
#endif
#define SL_IF_LARGE(waits, function) (SL_LARGE_ARRAYS >> (waits) & 1 ? (function) : 0)
#define SL_IF_LARGE_WAY(waits) (SL_HAS_LARGE_WAYS ? SL_IF_LARGE(waits, sl_transpose_large_array) : 0)
/* Whether small matrices occur many times. */
#ifndef SL_SMALL_MATRICES
#define SL_SMALL_MATRICES 1
#endif
/* Whether narrow matrices occur. */
#ifndef SL_NARROW_MATRICES
#define SL_NARROW_MATRICES 1
#endif
#if SL_HAS_NARROW && SL_NARROW_MATRICES
#define SL_IF_NARROW(function) function
#else
#define SL_IF_NARROW(function) 0
#endif
static const sl_further_ways sl_own_ways = {
    {0, 0, SL_IF_STREAMS(2, sl_split_2), SL_IF_STREAMS(3, sl_split_3), SL_IF_STREAMS(4, sl_split_4)},
    {0, 0, SL_IF_STREAMS(2, sl_join_2), SL_IF_STREAMS(3, sl_join_3), SL_IF_STREAMS(4, sl_join_4)},
    {SL_IF_LARGE_WAY(0), SL_IF_LARGE_WAY(1)},
    {SL_IF_LARGE(0, sl_transpose_tiles), SL_IF_LARGE(1, sl_transpose_tiles)},
    SL_SMALL_MATRICES ? sl_transpose_small_matrices : 0,
    SL_IF_NARROW(sl_transpose_narrow),
    SL_WANTED_WAYS,
};

/* to[at + offset of i + j] = from[start + i + offset of j] for all i of *rows* and j of *columns*, *turns* times. */
SL_ALWAYS_INLINE void sl_transpose(element *restrict to, int64_t at, sl_axis rows, const element *restrict from,
                                   int64_t start, sl_axis columns, sl_turns turns, int reach)
{
    sl_transpose_simplified(to + at, &rows, from + start, &columns, &turns, &sl_own_ways, reach);
}

#endif
