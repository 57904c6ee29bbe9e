/* Halves: floats of 16 bits, which are computed as floats of 32 bits and rounded after each operation.  Empty without
 * SL_FLOAT16.
 *
 * Assumes: the compiler has _Float16, where SL_FLOAT16 is defined.
 * Needs: values. */
#pragma once

#include "values.h"

#ifdef SL_FLOAT16
__extension__ typedef _Float16 sl_half;
typedef uint16_t __attribute__((may_alias, aligned(1))) sl_float16;

/* The float that the half with these bits is, and the bits of the half next to a float. */
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
SL_VALUE float sl_round_to_half(float y)
{
    return sl_float32_of_half(sl_half_of_float32(y));
}
SL_VALUE float sl_round_double_to_half(double y)
{
    return sl_float32_of_half(sl_half_of_float64(y));
}
#endif
