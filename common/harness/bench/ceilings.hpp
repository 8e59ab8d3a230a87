// SPDX-License-Identifier: MIT
// The highest rates of the memory: plain copies and plain reads with 16 bytes per lane and several loads in
// flight.
#pragma once

#include <cstdint>

struct CUstream_st;

namespace course::lab {

// Copies n_bytes (a multiple of 16; both pointers aligned to 16) in as many short blocks as that takes.
void ceiling_copy(const void* d_from, void* d_to, std::uint64_t n_bytes, int multiprocessors,
                  CUstream_st* stream);
// Reads n_bytes (a multiple of 16) with a grid that fills the device. Writes a word of d_sink only if the
// combined value is one particular number, so that the compiler keeps the reads.
void ceiling_read(const void* d_from, void* d_sink, std::uint64_t n_bytes, int multiprocessors,
                  CUstream_st* stream);

}  // namespace course::lab
