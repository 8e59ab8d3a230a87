// SPDX-License-Identifier: MIT
// What the kernels of the checkers' tests share. Each stands for one fault, or for correct code that looks like one, and says in
// comments what the test must see:
//   // EXPECT kind        of every finding; "nothing" for correct code
//   // LAUNCH grid block  further words: n (items of `in` and `out`, 4096), shared (dynamic bytes), cooperative
//   // FAULT, // OTHER    at the end of lines: where the finding and its other side must point
//   // HELPER           at the end of lines of functions that several kernels call: there the line of the call is the one marked
// `in` holds n ints that the host wrote, `out` n zeros, `scratch` n ints that nobody has written, `counter` 64 zeros.
#pragma once

#define KERNEL(name) \
  extern "C" __global__ void name(const int* in, int* out, int* scratch, unsigned* counter, int n)
#define UNUSED                                                                                           \
  static_cast<void>(in), static_cast<void>(out), static_cast<void>(scratch), static_cast<void>(counter), \
      static_cast<void>(n)

inline constexpr unsigned kFull = ~0u;
