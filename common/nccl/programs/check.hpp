// SPDX-License-Identifier: MIT
// Checks for the programs of this folder, which are ordinary NCCL programs: they also run on GPUs, with
// NVIDIA's header and library.
#pragma once

#include <cuda_runtime.h>
#include <nccl.h>

#include <cstdio>
#include <cstdlib>

#define CUDA(call)                                                                           \
  do {                                                                                       \
    const cudaError_t error_ = (call);                                                       \
    if (error_ != cudaSuccess) {                                                             \
      std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_)); \
      std::exit(2);                                                                          \
    }                                                                                        \
  } while (0)

#define NCCL(call)                                                                            \
  do {                                                                                        \
    const ncclResult_t result_ = (call);                                                      \
    if (result_ != ncclSuccess) {                                                             \
      std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, ncclGetErrorString(result_)); \
      std::exit(3);                                                                           \
    }                                                                                         \
  } while (0)
