// SPDX-License-Identifier: MIT
// The kernels for go.hpp, for runners on a GPU. All functions are asynchronous in `stream`; errors appear at
// a later CUDA call.
#pragma once

#include <cstdint>

#include "protocol/go.hpp"

struct CUstream_st;

namespace course::lab {

struct GoKernels {
  // Works in place; `data` is 8-byte aligned.
  void (*unmask)(void* data, std::uint64_t n_bytes, std::uint64_t key, CUstream_st* stream);
  // Adds the digest of `data` to *d_digest.
  void (*digest)(const void* data, std::uint64_t n_bytes, std::uint64_t key, Digest* d_digest,
                 CUstream_st* stream);
};
extern const GoKernels kGoKernels;

}  // namespace course::lab
