// SPDX-License-Identifier: MIT
// The names of the special registers. Source: PTX ISA, chapter 10, "Special Registers".
#pragma once

#include <string_view>

namespace course::ptx::detail {

// With the percent sign and, where there are components, with or without one: "%tid", "%tid.x".
bool is_special_register(std::string_view name);

}  // namespace course::ptx::detail
