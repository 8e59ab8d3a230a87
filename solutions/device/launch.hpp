// SPDX-License-Identifier: MIT
// Launches of grids whose blocks wait for each other.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <type_traits>

#include "lab/request.hpp"

namespace course::device {

// Launches a kernel whose blocks must all run at the same time, with kSharedBytes of dynamic shared memory: the device starts all of
// them or, where they don't fit, none, and cudaGetLastError() says so. arguments: the kernel's, of the very types that it takes.
template <std::size_t kSharedBytes, typename... Parameters>
void launch_together(void (*kernel)(Parameters...), unsigned n_blocks, unsigned n_threads,
                     CUstream_st* stream, std::type_identity_t<Parameters>... arguments) {
  // 48 KB in all are every kernel's, what it declares by itself included; more must be asked for.
  constexpr std::size_t kGranted = 40 << 10;
  if (kSharedBytes > kGranted) {
    static_cast<void>(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                           static_cast<int>(kSharedBytes)));
  }
  cudaLaunchAttribute together;
  together.id = cudaLaunchAttributeCooperative;
  together.val.cooperative = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = n_blocks;
  config.blockDim = n_threads;
  config.dynamicSmemBytes = kSharedBytes;
  config.stream = stream;
  config.attrs = &together;
  config.numAttrs = 1;
  static_cast<void>(cudaLaunchKernelEx(&config, kernel, arguments...));
}

}  // namespace course::device
