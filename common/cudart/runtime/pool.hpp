// SPDX-License-Identifier: MIT
// A memory pool of cudaMallocAsync: only its bookkeeping, as the device's allocator serves every request at once.
#pragma once

#include <cstdint>

#include "cudart/cuda_abi.h"

namespace course::cudart {
struct Context;

bool is_pool(cudaMemPool_t pool);
// What cudaMallocAsync uses; the device's default pool unless cudaDeviceSetMemPool chose another.
cudaMemPool_t current_pool(Context& context);
cudaMemPool_t default_pool(Context& context);

}  // namespace course::cudart

struct CUmemPoolHandle_st {
  course::cudart::Context* context = nullptr;
  cudaMemPoolProps properties{};
  std::uint64_t used = 0, used_high = 0;  // bytes
  std::uint64_t release_threshold = 0;
  int reuse[3] = {1, 1, 1};  // follow event dependencies, opportunistic, internal dependencies
};
