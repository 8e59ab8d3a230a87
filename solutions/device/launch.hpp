// SPDX-License-Identifier: MIT
// Launches grids whose blocks wait for each other.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <type_traits>

#include "lab/request.hpp"

namespace course::device {

// Launches a kernel whose blocks must all run at the same time, with kSharedBytes of dynamic shared memory.
// The device starts either all blocks or, if they do not fit, none; then cudaGetLastError() returns the
// error. `arguments` are the kernel's, with exactly its parameter types.
template <std::size_t kSharedBytes, typename... Parameters>
void launch_together(void (*kernel)(Parameters...), unsigned n_blocks, unsigned n_threads,
                     CUstream_st* stream, std::type_identity_t<Parameters>... arguments) {
  // Every kernel may use 48 KB in all, including the shared memory that it declares itself; more must be
  // requested.
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
