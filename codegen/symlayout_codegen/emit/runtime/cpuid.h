/* What a processor says of itself.
 *
 * Assumes: nothing.
 * Needs: base. */
#pragma once

#include "base.h"

#if defined __x86_64__
/* What the instruction cpuid returns for *leaf* and *part*. */
SL_INLINE void sl_cpuid(uint32_t leaf, uint32_t part, uint32_t word[4])
{
    __asm__ volatile("cpuid" : "=a"(word[0]), "=b"(word[1]), "=c"(word[2]), "=d"(word[3]) : "0"(leaf), "2"(part));
}
#endif
