// SPDX-License-Identifier: MIT
// Fuzz target: any bytes must parse or give an error, and a parsed module must be equal after printing and
// parsing.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "ptx/parser/parser.hpp"
#include "ptx/testing/equality.hpp"
#include "ptx/testing/printer.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace course::ptx;
  const auto module = parse(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!module) return 0;
  const std::string text = print(*module);
  const auto again = parse(text);
  const std::string difference = again ? first_difference(*module, *again) : again.error().text;
  if (!difference.empty()) {
    std::fprintf(stderr, "%s\n--- printed as\n%s\n", difference.c_str(), text.c_str());
    std::abort();
  }
  return 0;
}
