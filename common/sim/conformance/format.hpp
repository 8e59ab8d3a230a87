// SPDX-License-Identifier: MIT
// fmt::format, or std::format without fmt: check_gpu.cpp must build with only the toolkit and a compiler.
#pragma once

#if __has_include(<fmt/format.h>)
#include <fmt/format.h>
#else
#include <format>
namespace fmt = std;
#endif
