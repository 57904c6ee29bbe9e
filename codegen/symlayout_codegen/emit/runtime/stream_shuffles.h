/* Shuffles of streams: vectors of two or three streams to one vector of each, and three back.
 *
 * Assumes: nothing.
 * Needs: shuffles. */
#pragma once

#include "shuffles.h"

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
