// SPDX-License-Identifier: MIT
// Long texts take bounded time and memory. fuzz_parser.cpp tries mutations of all kinds.

#include <cstdint>

#include "ptx/testing/test_support.hpp"

namespace course::ptx {
namespace {

TEST(PtxRobustness, ResolvesManyReferencesInLinearTime) {
  std::string body;
  for (int i = 0; i < 200; ++i) body += "{ ";
  for (int i = 0; i < 20000; ++i) body += "bra end;\n";
  for (int i = 0; i < 200; ++i) body += "} ";
  for (int i = 0; i < 5000; ++i) body += "{ same: .reg .b32 r; .param .b32 p; mov.b32 r, 1; bra same; }\n";
  const Module module = testing::parse_kernel(body + "end: ret;");
  EXPECT_EQ(module.functions.back().labels.size(), 5001u);
  EXPECT_EQ(module.functions.back().labels.at(4999).name, "same$4999");
}

TEST(PtxRobustness, LimitsLocationChains) {
  std::string body;
  for (int i = 0; i < 20000; ++i) {
    body += ".loc 1 1 1, function_name F" + std::to_string(i) + ", inlined_at 1 1 1\nmov.b32 %r1, 1;\n";
  }
  const Module module = testing::parse_kernel(body);
  int length = 0;
  for (std::int32_t i = module.functions.back().instructions.back().location; i >= 0;
       i = module.locations.at(static_cast<std::size_t>(i)).inlined_at) {
    ++length;
  }
  EXPECT_GT(length, 100);
  EXPECT_LT(length, 300);
}

}  // namespace
}  // namespace course::ptx
