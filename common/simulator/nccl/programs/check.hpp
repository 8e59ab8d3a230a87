// SPDX-License-Identifier: MIT
// Checks for the programs of this folder, which are ordinary NCCL programs: they also run on GPUs, with
// NVIDIA's header and library.
#pragma once

#include <nccl.h>

#include "../../cudart/programs/check.hpp"

#define CUDA(call) CHECK(call)

#define NCCL(call)                                                                            \
  do {                                                                                        \
    const ncclResult_t result_ = (call);                                                      \
    if (result_ != ncclSuccess) {                                                             \
      std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, ncclGetErrorString(result_)); \
      std::exit(3);                                                                           \
    }                                                                                         \
  } while (0)
