/* Halves: floats of 16 bits, which are computed as floats of 32 bits and rounded after each operation.  Empty without
 * SL_FLOAT16.
 *
 * Assumes: a compiler that has _Float16 says so by __FLT16_MANT_DIG__; others convert by integers.
 * Needs: values. */
#pragma once

#include "values.h"

#ifdef SL_FLOAT16
typedef uint16_t __attribute__((may_alias, aligned(1))) sl_float16;

/* The float that the half with these bits is, and the bits of the half next to a float.  A NaN is quiet. */
#if defined __FLT16_MANT_DIG__ && (defined __F16C__ || !defined __x86_64__) /* else by calls of a library */
__extension__ typedef _Float16 sl_half;
SL_VALUE float sl_float32_of_half(uint16_t bits)
{
    sl_half x;
    memcpy(&x, &bits, sizeof x);
    return (float)x;
}
SL_VALUE uint16_t sl_half_of_float32(float y)
{
    const sl_half x = (sl_half)y;
    uint16_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
SL_VALUE uint16_t sl_half_of_float64(double y)
{
    const sl_half x = (sl_half)y;
    uint16_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
#else
SL_VALUE float sl_float32_of_half(uint16_t bits)
{
    const uint32_t sign = (bits & UINT32_C(0x8000)) << 16, rest = (bits & UINT32_C(0x7fff)) << 13;
    const float below_normal = sl_float32_of_bits(rest + UINT32_C(0x38800000)) - 0x1p-14F;
    const uint32_t quiet = rest > UINT32_C(0x0f800000) ? UINT32_C(0x400000) : 0;
    const uint32_t normal = rest + (rest >= UINT32_C(0x0f800000) ? UINT32_C(0x70000000) : UINT32_C(0x38000000));
    const float y = sl_choose_float32(rest < UINT32_C(0x00800000), below_normal, sl_float32_of_bits(normal | quiet));
    return sl_float32_of_bits(sl_bits_of_float32(y) | sign);
}
SL_VALUE uint16_t sl_half_of_float32(float y)
{
    const uint32_t bits = sl_bits_of_float32(y), rest = bits & UINT32_C(0x7fffffff);
    /* 0.5 has its last bit where that of the halves below the normal ones is. */
    const uint32_t below_normal = sl_bits_of_float32(sl_float32_of_bits(rest) + 0.5F) - UINT32_C(0x3f000000);
    const uint32_t normal = (rest - UINT32_C(0x38000000) + UINT32_C(0xfff) + (rest >> 13 & 1)) >> 13;
    const uint32_t nan = UINT32_C(0x7e00) | (rest >> 13 & UINT32_C(0x3ff));
    const uint32_t large = rest > UINT32_C(0x7f800000) ? nan : UINT32_C(0x7c00);
    const uint32_t mask = 0U - (uint32_t)(rest < UINT32_C(0x38800000));
    const uint32_t half = (below_normal & mask) | ((rest >= UINT32_C(0x47800000) ? large : normal) & ~mask);
    return (uint16_t)(half | (bits >> 16 & UINT32_C(0x8000)));
}
SL_VALUE uint16_t sl_half_of_float64(double x)
{
    /* The next float towards 0, with its last bit set where it is not x: it is rounded as x is. */
    const float y = (float)x;
    const double difference = sl_absolute_float64((double)y) - sl_absolute_float64(x);
    const uint32_t bits = sl_bits_of_float32(y) - (uint32_t)(difference > 0);
    return sl_half_of_float32(sl_float32_of_bits(bits | (uint32_t)(difference > 0 || difference < 0)));
}
#endif
SL_VALUE float sl_round_to_half(float y)
{
    return sl_float32_of_half(sl_half_of_float32(y));
}
SL_VALUE float sl_round_double_to_half(double y)
{
    return sl_float32_of_half(sl_half_of_float64(y));
}
#endif
