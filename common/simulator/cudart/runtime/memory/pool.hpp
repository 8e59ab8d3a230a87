// SPDX-License-Identifier: MIT
// A memory pool of cudaMallocAsync. Only bookkeeping, because the device's allocator serves each request at
// once.
#pragma once

#include <cstdint>

#include "cudart/cuda_abi.h"

namespace course::cudart {
struct Context;

bool is_pool(cudaMemPool_t pool);
// The pool that cudaMallocAsync uses: the device's default pool, unless cudaDeviceSetMemPool chose another
// one.
cudaMemPool_t current_pool(Context& context);
cudaMemPool_t default_pool(Context& context);

}  // namespace course::cudart

struct CUmemPoolHandle_st {
  course::cudart::Context* context = nullptr;
  std::uint64_t used = 0, used_high = 0;  // bytes
  std::uint64_t release_threshold = 0;
};
