// SPDX-License-Identifier: MIT
// fmt::format, or std::format on machines without fmt: check_gpu.cpp must also build there.
#pragma once

#if __has_include(<fmt/format.h>)
#include <fmt/format.h>
#else
#include <format>
namespace fmt = std;
#endif
