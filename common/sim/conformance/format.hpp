// SPDX-License-Identifier: MIT
// fmt::format, or std::format in its place: check_gpu.cpp is to build with the toolkit and a compiler alone.
#pragma once

#if __has_include(<fmt/format.h>)
#include <fmt/format.h>
#else
#include <format>
namespace fmt = std;
#endif
