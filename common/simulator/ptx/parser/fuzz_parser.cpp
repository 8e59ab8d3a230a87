// SPDX-License-Identifier: MIT
// Fuzz target: any bytes must parse or give an error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "ptx/parser/parser.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static_cast<void>(course::ptx::parse(std::string_view(reinterpret_cast<const char*>(data), size)));
  return 0;
}
