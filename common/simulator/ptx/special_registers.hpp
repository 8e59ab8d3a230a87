// SPDX-License-Identifier: MIT
// The names of the special registers. Source: PTX ISA, chapter 10, "Special Registers".
#pragma once

#include <string_view>

namespace course::ptx::detail {

// `name` includes the percent sign. Registers with components are accepted with and without one: "%tid",
// "%tid.x".
bool is_special_register(std::string_view name);

}  // namespace course::ptx::detail
