/* Split and join, one step: k = 2, 3 or 4 vectors of one stream to k streams, and back.
 *
 * Assumes: a step without *whole* reads and writes its first *count* elements only, which takes masks.
 * Needs: far_stores, masks, shuffles. */
#pragma once

#include "far_stores.h"
#include "masks.h"
#include "shuffles.h"

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
#define SL_STORE(suffix, to, v, whole, count) ((void)(whole), (void)(count), sl_store_##suffix(to, v))
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
    SL_ALWAYS_INLINE void split##_2(element *restrict to, int64_t to_stride, vector a, vector b, const int whole,    \
                                    int64_t count)                                                                   \
    {                                                                                                                \
        split##_store(to, __builtin_shufflevector(a, b, each(SL_UNZIP_EVEN, 0, n)), whole, count);                   \
        split##_store(to + to_stride, __builtin_shufflevector(a, b, each(SL_UNZIP_ODD, 0, n)), whole, count);        \
    }                                                                                                                \
    SL_ALWAYS_INLINE void join##_2(element *restrict to, vector a, vector b, const int whole, int64_t count)         \
    {                                                                                                                \
        split##_store(to, __builtin_shufflevector(a, b, each(SL_ZIP_LOW, 0, n)), whole, count);                      \
        split##_store(to + n, __builtin_shufflevector(a, b, each(SL_ZIP_HIGH, 0, n)), whole, count - n);             \
    }                                                                                                                \
    SL_ALWAYS_INLINE void split##_out(element *restrict to, int64_t to_stride, const vector v[4], const int k,       \
                                      const int whole, int64_t count)                                                \
    {                                                                                                                \
        if (k == 2) {                                                                                                \
            split##_2(to, to_stride, v[0], v[1], whole, count);                                                      \
        } else if (k == 3) {                                                                                         \
            vector r, s, t;                                                                                          \
            SL_UNZIP_THREE(vector, each, n, v, r, s, t);                                                             \
            split##_store(to, r, whole, count);                                                                      \
            split##_store(to + to_stride, s, whole, count);                                                          \
            split##_store(to + 2 * to_stride, t, whole, count);                                                      \
        } else {                                                                                                     \
            const vector even = __builtin_shufflevector(v[0], v[1], each(SL_UNZIP_EVEN, 0, n));                      \
            const vector odd = __builtin_shufflevector(v[0], v[1], each(SL_UNZIP_ODD, 0, n));                        \
            const vector even_last = __builtin_shufflevector(v[2], v[3], each(SL_UNZIP_EVEN, 0, n));                 \
            const vector odd_last = __builtin_shufflevector(v[2], v[3], each(SL_UNZIP_ODD, 0, n));                   \
            split##_2(to, 2 * to_stride, even, even_last, whole, count);                                             \
            split##_2(to + to_stride, 2 * to_stride, odd, odd_last, whole, count);                                   \
        }                                                                                                            \
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
    SL_ALWAYS_INLINE void join(element *restrict to, const element *restrict from, int64_t stride, const int k,      \
                               const int whole, int64_t count)                                                       \
    {                                                                                                                \
        const int64_t all = k * count;                                                                               \
        const vector a = split##_load(from, whole, count), b = split##_load(from + stride, whole, count);            \
        if (k == 2) {                                                                                                \
            join##_2(to, a, b, whole, all);                                                                          \
        } else if (k == 3) {                                                                                         \
            const vector c = split##_load(from + 2 * stride, whole, count);                                          \
            vector r = __builtin_shufflevector(a, b, each(SL_ZIP_3, 0, n, 0));                                       \
            vector s = __builtin_shufflevector(a, b, each(SL_ZIP_3, 0, n, 1));                                       \
            vector t = __builtin_shufflevector(a, b, each(SL_ZIP_3, 0, n, 2));                                       \
            r = __builtin_shufflevector(r, c, each(SL_ZIP_3_LAST, 0, n, 0));                                         \
            s = __builtin_shufflevector(s, c, each(SL_ZIP_3_LAST, 0, n, 1));                                         \
            t = __builtin_shufflevector(t, c, each(SL_ZIP_3_LAST, 0, n, 2));                                         \
            split##_store(to, r, whole, all);                                                                        \
            split##_store(to + n, s, whole, all - n);                                                                \
            split##_store(to + 2 * n, t, whole, all - 2 * n);                                                        \
        } else {                                                                                                     \
            const vector c = split##_load(from + 2 * stride, whole, count);                                          \
            const vector d = split##_load(from + 3 * stride, whole, count);                                          \
            join##_2(to, __builtin_shufflevector(a, c, each(SL_ZIP_LOW, 0, n)),                                      \
                     __builtin_shufflevector(b, d, each(SL_ZIP_LOW, 0, n)), whole, all);                             \
            join##_2(to + 2 * n, __builtin_shufflevector(a, c, each(SL_ZIP_HIGH, 0, n)),                             \
                     __builtin_shufflevector(b, d, each(SL_ZIP_HIGH, 0, n)), whole, all - 2 * n);                    \
        }                                                                                                            \
    }
SL_DEFINE_SPLIT_JOIN(sl_split_max, sl_join_max, sl_lanes, SL_EACH_OF_MAX, max, SL_LANES_MAX)
#if SL_HAS_BYTE_MASKS
SL_DEFINE_SPLIT_JOIN(sl_split_32, sl_join_32, sl_lanes_32, SL_EACH_OF_32, 32, SL_LANES_32)
#endif
#if SL_VECTOR_BYTES > 16
SL_DEFINE_SPLIT_JOIN(sl_split_16, sl_join_16, sl_lanes_16, SL_EACH_OF_16, 16, SL_LANES_16)
#endif
#ifdef SL_LANES_8
SL_DEFINE_SPLIT_JOIN(sl_split_8, sl_join_8, sl_lanes_8, SL_EACH_OF_8, 8, SL_LANES_8)
#endif
#endif
