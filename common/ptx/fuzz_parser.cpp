// SPDX-License-Identifier: MIT
// Fuzzing entry: any bytes must parse or give an error, and what parses must print to an equal module.
// libFuzzer:   clang++ -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -I common common/ptx/{every .cpp but tests} -lfmt
// Standalone:  the same with -DPTX_FUZZ_MAIN and without "fuzzer"; takes files, for replaying what was found.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "ptx/equality.hpp"
#include "ptx/parser.hpp"

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

#ifdef PTX_FUZZ_MAIN
#include <fstream>
#include <iterator>

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  }
}
#endif
