/* Split and join, one step: k = 2, 3 or 4 vectors of one stream to k streams, and back.
 *
 * Assumes: a step without *whole* reads and writes its first *count* elements only, which takes masks.
 * Needs: far_stores, masks, stream_shuffles. */
#pragma once

#include "far_stores.h"
#include "masks.h"
#include "stream_shuffles.h"

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
