// SPDX-License-Identifier: MIT
// Fuzz target: any bytes must parse or give an error with its line.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "ptx/parser/parser.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto module = course::ptx::parse(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!module && !module.error().text.starts_with("PTX line ")) std::abort();
  return 0;
}
