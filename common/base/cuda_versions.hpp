// SPDX-License-Identifier: MIT
#pragma once

#include <array>

namespace course {

// The runtimes of the major versions of CUDA that the simulator has, the newest first. The build's list is
// `cudart_names` in the root meson.build.
inline constexpr std::array kCudartSonames = {"libcudart.so.13", "libcudart.so.12"};

}  // namespace course
