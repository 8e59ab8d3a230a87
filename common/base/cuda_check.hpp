// SPDX-License-Identifier: MIT
// CUDA runtime calls that return a Result: `if (auto r = checked(cudaFree(p), "cudaFree"); !r) …`. For host
// code only. Do not include it in students' .cu files, where every include costs compile time.
#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace course {

inline Result<void> checked(cudaError_t code, std::string_view call) {
  if (code == cudaSuccess) return {};
  return Error{std::string(call) + ": " + cudaGetErrorName(code) + " (" + cudaGetErrorString(code) + ")"};
}

}  // namespace course
