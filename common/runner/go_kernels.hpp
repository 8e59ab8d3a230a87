// SPDX-License-Identifier: MIT
// The device's part of go.hpp, for runners on a GPU. All are asynchronous in `stream`; a failure is the next
// call's.
#pragma once

#include <cstdint>

#include "protocol/go.hpp"

struct CUstream_st;

namespace course::lab {

struct GoKernels {
  // In place; `data` is 8-byte aligned, as everywhere here.
  void (*unmask)(void* data, std::uint64_t n_bytes, std::uint64_t key, CUstream_st* stream);
  // Adds to *d_digest.
  void (*digest)(const void* data, std::uint64_t n_bytes, std::uint64_t key, Digest* d_digest,
                 CUstream_st* stream);
};
extern const GoKernels kGoKernels;

}  // namespace course::lab
