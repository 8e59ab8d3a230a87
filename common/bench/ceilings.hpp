// SPDX-License-Identifier: MIT
// What the memory can do at best: plain copies and plain reads, 16 bytes a lane and several in flight.
#pragma once

#include <cstdint>

struct CUstream_st;

namespace course::lab {

// Copies n_bytes (a multiple of 16; both pointers aligned to 16) with a grid that fills the device.
void ceiling_copy(const void* d_from, void* d_to, std::uint64_t n_bytes, int multiprocessors,
                  CUstream_st* stream);
// Reads n_bytes; writes one word of d_sink only if all of them add up to a number that they practically never
// do.
void ceiling_read(const void* d_from, void* d_sink, std::uint64_t n_bytes, int multiprocessors,
                  CUstream_st* stream);
// Lets one thread count for a millisecond: d_cycles_and_ns[0] becomes the multiprocessor's cycles, [1] the
// nanoseconds.
void measure_clock(std::uint64_t* d_cycles_and_ns, CUstream_st* stream);

}  // namespace course::lab
