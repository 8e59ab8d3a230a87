// SPDX-License-Identifier: MIT
// Launches grids whose blocks wait for each other, and kernels that start before the kernel before them has
// ended.
#pragma once

#include <cuda_runtime.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "lab/request.hpp"

namespace course::device {

// An attribute of the current device, for example the shared memory that a block can have. The driver is
// asked once for each device and attribute, because for some of them (the clock rates) it is slow.
[[maybe_unused]] static int attribute(cudaDeviceAttr which) {
  constexpr int kMaxDevices = 64;
  constexpr std::int64_t kKnown = std::int64_t{1} << 32;  // beside the value's 32 bits
  static std::atomic<std::int64_t> known[kMaxDevices][cudaDevAttrMax];
  int device = 0, value = 0;
  static_cast<void>(cudaGetDevice(&device));
  std::atomic<std::int64_t>* const cell = device < kMaxDevices ? &known[device][which] : nullptr;
  if (cell != nullptr)
    if (const std::int64_t kept = cell->load(std::memory_order_relaxed); kept != 0)
      return static_cast<int>(kept & (kKnown - 1));
  if (cudaDeviceGetAttribute(&value, which, device) == cudaSuccess && cell != nullptr)
    cell->store(kKnown | static_cast<std::uint32_t>(value), std::memory_order_relaxed);
  return value;
}

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

// --- Programmatic dependent launch (CUDA programming guide), from compute capability 9.0 on. On older GPUs
// these functions do nothing more than an ordinary launch.

// Called by the threads of a kernel: from here on, the next kernel in the stream may start.
__device__ inline void let_next_kernel_start() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}
// Called by the threads of a kernel that is launched early: waits until the kernel before it has ended, and
// its writes are visible.
__device__ inline void wait_for_previous_kernel() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
// Launches a kernel that may start before the kernel before it has ended. All of its threads must call
// wait_for_previous_kernel, before they read or write what that kernel writes.
template <typename... Parameters>
void launch_early(void (*kernel)(Parameters...), dim3 n_blocks, unsigned n_threads, std::size_t shared_bytes,
                  CUstream_st* stream, std::type_identity_t<Parameters>... arguments) {
  cudaLaunchAttribute early;
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = n_blocks;
  config.blockDim = n_threads;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = attribute(cudaDevAttrComputeCapabilityMajor) >= 9 ? 1 : 0;
  static_cast<void>(cudaLaunchKernelEx(&config, kernel, arguments...));
}

}  // namespace course::device
