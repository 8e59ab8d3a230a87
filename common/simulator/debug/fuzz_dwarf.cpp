// SPDX-License-Identifier: MIT
// Fuzz target: any text must be read or give an error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "debug/dwarf.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static_cast<void>(
      course::debug::read_debug_info(std::string_view(reinterpret_cast<const char*>(data), size)));
  return 0;
}
