// SPDX-License-Identifier: MIT
// System calls without the C library, for the hostile submissions of every lab: an attack uses them to avoid
// the names for which screening looks.
#pragma once

#include <sys/syscall.h>

namespace attack {

inline long raw_call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  long result = number;
  asm volatile("syscall"
               : "+a"(result)
               : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}
inline long address_of(const void* pointer) {
  return reinterpret_cast<long>(pointer);
}

}  // namespace attack
