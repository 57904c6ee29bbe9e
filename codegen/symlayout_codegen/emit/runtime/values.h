/* Values: the types of elements that are computed, and the conversions and roundings that C leaves open.
 *
 * Assumes: floats are IEEE 754, and no sum and product are contracted to one operation: see the pragmas.
 * Needs no other part. */
#pragma once

#include <stdint.h>
#include <string.h>

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#elif defined __GNUC__ && !defined __STRICT_ANSI__ /* with -std=c11, gcc contracts nothing */
#pragma GCC optimize("fp-contract=off")
#endif

#define SL_VALUE static inline __attribute__((always_inline, unused))

/* An element in memory needs no alignment, and may alias any type. */
typedef uint8_t sl_bool;
typedef int8_t sl_int8;
typedef uint8_t sl_uint8;
typedef int16_t __attribute__((may_alias, aligned(1))) sl_int16;
typedef uint16_t __attribute__((may_alias, aligned(1))) sl_uint16;
typedef int32_t __attribute__((may_alias, aligned(1))) sl_int32;
typedef uint32_t __attribute__((may_alias, aligned(1))) sl_uint32;
typedef int64_t __attribute__((may_alias, aligned(1))) sl_int64;
typedef uint64_t __attribute__((may_alias, aligned(1))) sl_uint64;
typedef float __attribute__((may_alias, aligned(1))) sl_float32;
typedef double __attribute__((may_alias, aligned(1))) sl_float64;

/* The float with these bits. */
SL_VALUE float sl_float32_of_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
SL_VALUE double sl_float64_of_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
SL_VALUE uint32_t sl_bits_of_float32(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
SL_VALUE uint64_t sl_bits_of_float64(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* a where *first* holds, else b; without a jump, so that loops become vectors. */
SL_VALUE float sl_choose_float32(int first, float a, float b)
{
    const uint32_t mask = 0U - (uint32_t)(first != 0);
    return sl_float32_of_bits((sl_bits_of_float32(a) & mask) | (sl_bits_of_float32(b) & ~mask));
}
SL_VALUE double sl_choose_float64(int first, double a, double b)
{
    const uint64_t mask = 0U - (uint64_t)(first != 0);
    return sl_float64_of_bits((sl_bits_of_float64(a) & mask) | (sl_bits_of_float64(b) & ~mask));
}

/* The magnitude of x: its sign bit is cleared. */
SL_VALUE float sl_absolute_float32(float x)
{
    return sl_float32_of_bits(sl_bits_of_float32(x) & UINT32_C(0x7fffffff));
}
SL_VALUE double sl_absolute_float64(double x)
{
    return sl_float64_of_bits(sl_bits_of_float64(x) & UINT64_C(0x7fffffffffffffff));
}

/* x rounded to an integer, half to even, with the sign of x: the sum with 2^23 or 2^52 has no fraction. */
SL_VALUE float sl_rint_float32(float x)
{
    const uint32_t sign = sl_bits_of_float32(x) & UINT32_C(0x80000000);
    const float large = sl_float32_of_bits(sign | UINT32_C(0x4b000000));
    const float rounded = (x + large) - large;
    const float whole = sl_absolute_float32(x) < 0x1p23F ? rounded : x;
    return sl_float32_of_bits((sl_bits_of_float32(whole) & UINT32_C(0x7fffffff)) | sign);
}
SL_VALUE double sl_rint_float64(double x)
{
    const uint64_t sign = sl_bits_of_float64(x) & UINT64_C(0x8000000000000000);
    const double large = sl_float64_of_bits(sign | UINT64_C(0x4330000000000000));
    const double rounded = (x + large) - large;
    const double whole = sl_absolute_float64(x) < 0x1p52 ? rounded : x;
    return sl_float64_of_bits((sl_bits_of_float64(whole) & UINT64_C(0x7fffffffffffffff)) | sign);
}

/* The largest integer up to x, the smallest from x on, and x without its fraction; each with the sign of x. */
#define SL_ROUNDINGS(type, name)                                                                                     \
    SL_VALUE type sl_floor_##name(type x)                                                                            \
    {                                                                                                                \
        const type r = sl_rint_##name(x);                                                                            \
        const type less = r - 1;                                                                                     \
        return r > x ? less : r;                                                                                     \
    }                                                                                                                \
    SL_VALUE type sl_ceil_##name(type x)                                                                             \
    {                                                                                                                \
        return -sl_floor_##name(-x);                                                                                 \
    }                                                                                                                \
    SL_VALUE type sl_trunc_##name(type x)                                                                            \
    {                                                                                                                \
        return x < 0 ? sl_ceil_##name(x) : sl_floor_##name(x);                                                       \
    }
SL_ROUNDINGS(float, float32)
SL_ROUNDINGS(double, float64)

/* x as an integer, cut towards 0; the least integer where x has no such integer, as x86-64 does it.  An unsigned
 * integer of 64 bits is the sum of two halves of its range. */
#define SL_TO_INTEGERS(type, name)                                                                                   \
    SL_VALUE int32_t sl_int32_of_##name(type x)                                                                      \
    {                                                                                                                \
        const type least = (type)-0x1p31;                                                                            \
        const type y = sl_choose_##name((x >= least) & (x < -least), x, least);                                      \
        return (int32_t)y;                                                                                           \
    }                                                                                                                \
    SL_VALUE int64_t sl_int64_of_##name(type x)                                                                      \
    {                                                                                                                \
        const type least = (type)-0x1p63;                                                                            \
        const type y = sl_choose_##name((x >= least) & (x < -least), x, least);                                      \
        return (int64_t)y;                                                                                           \
    }                                                                                                                \
    SL_VALUE uint64_t sl_uint64_of_##name(type x)                                                                    \
    {                                                                                                                \
        const type half = (type)0x1p63;                                                                              \
        const uint64_t upper = (uint64_t)sl_int64_of_##name(x - half) ^ (UINT64_C(1) << 63);                         \
        const uint64_t lower = (uint64_t)sl_int64_of_##name(x);                                                      \
        return x >= half ? upper : lower;                                                                            \
    }
SL_TO_INTEGERS(float, float32)
SL_TO_INTEGERS(double, float64)

/* The quotient rounded down; 0 where the divisor is 0, and the least integer for its quotient by -1. */
#define SL_QUOTIENTS(bits)                                                                                           \
    SL_VALUE int##bits##_t sl_quotient_int##bits(int##bits##_t a, int##bits##_t b)                                   \
    {                                                                                                                \
        if (b == 0)                                                                                                  \
            return 0;                                                                                                \
        if (b == -1)                                                                                                 \
            return (int##bits##_t)(0 - (uint##bits##_t)a);                                                           \
        return (int##bits##_t)(a / b - (a % b != 0 && (a < 0) != (b < 0)));                                          \
    }                                                                                                                \
    SL_VALUE uint##bits##_t sl_quotient_uint##bits(uint##bits##_t a, uint##bits##_t b)                               \
    {                                                                                                                \
        return (uint##bits##_t)(b == 0 ? 0 : a / b);                                                                 \
    }
SL_QUOTIENTS(8)
SL_QUOTIENTS(16)
SL_QUOTIENTS(32)
SL_QUOTIENTS(64)
