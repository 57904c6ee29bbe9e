/* Vectors of elements.
 *
 * Assumes: nothing.
 * Needs: base. */
#pragma once

#include "base.h"

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
