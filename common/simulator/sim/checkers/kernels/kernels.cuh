// SPDX-License-Identifier: MIT
// Shared by the kernels of the checkers' tests. Each kernel has one fault, or is correct code that looks
// faulty. Comments tell the test what to expect:
//   // EXPECT kind        of every finding; "nothing" for correct code
//   // REASON words       in the message of every finding
//   // LAUNCH grid block  further words: n (items of `in` and `out`, 4096), shared (dynamic bytes),
//                         cooperative, free (the host has freed `scratch`), scratch_at K (it is a part of
//                         `out`, from element K on), task (`in` is an input of a task)
//   // FAULT, // OTHER    at the end of lines: where the finding and its other side must point
//   // HELPER             at the end of lines of functions that several kernels call: the marked line is
//                         that of the call
// `in` holds n ints that the host wrote, `out` n zeros, `scratch` n uninitialised ints, `counter` 64 zeros.
#pragma once

#define KERNEL(name)                                                                                 \
  extern "C" __global__ void name([[maybe_unused]] const int* in, [[maybe_unused]] int* out,         \
                                  [[maybe_unused]] int* scratch, [[maybe_unused]] unsigned* counter, \
                                  [[maybe_unused]] int n)

inline constexpr unsigned kFull = ~0u;
