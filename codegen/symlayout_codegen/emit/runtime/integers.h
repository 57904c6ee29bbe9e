/* Integers: checked arithmetic for arguments, floor division, the interval of a window.
 *
 * Assumes: nothing of the values of the checked functions; the others say what they require.
 * Needs: base. */
#pragma once

#include "base.h"

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
