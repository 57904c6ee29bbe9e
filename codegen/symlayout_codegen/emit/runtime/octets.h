/* Octets: eight bytes of each of k streams that lie in turn, as vectors of floats.
 *
 * Assumes: k, the number of a stream and the number of a part are literals.
 * Needs: base, integers. */
#pragma once

#include "base.h"
#include "integers.h"

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
