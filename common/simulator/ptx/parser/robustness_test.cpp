// SPDX-License-Identifier: MIT
// Any bytes give a module or an error, in bounded time and memory. The mutations are the same in every run;
// fuzz_parser.cpp tries more.
#include <gtest/gtest.h>

#include <cstdint>

#include "ptx/parser/parser.hpp"
#include "ptx/testing/test_support.hpp"

namespace course::ptx {
namespace {

constexpr int kMutantsPerSample = 1500;

// Steele, Lea, Flood: "Fast splittable pseudorandom number generators" (2014).
class SplitMix {
 public:
  explicit SplitMix(std::uint64_t seed) : state_(seed) {}
  std::size_t below(std::size_t bound) {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return bound == 0 ? 0 : static_cast<std::size_t>((z ^ (z >> 31)) % bound);
  }

 private:
  std::uint64_t state_;
};

constexpr std::string_view kFragments[] = {
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<4>",
    ";",
    ":",
    ",",
    "@%p1 ",
    "!",
    "|",
    "-",
    "+",
    "0x",
    "0f",
    "1e",
    ".",
    "::",
    "%",
    "\"",
    "/*",
    "*/",
    "//",
    "\n",
    "99999999999999999999",
    "$L",
    "_",
    ".reg .b32 ",
    ".param .b32 ",
    ".loc 1 2 3",
    "bra ",
    "call ",
    ".v4 ",
    "generic(",
    "0xff(",
    ".branchtargets ",
    ".callprototype ",
    ".entry k() {",
    ".section .debug_str {",
    "WARP_SZ",
};

std::string mutate(std::string text, SplitMix& random) {
  for (std::size_t changes = 1 + random.below(3); changes > 0; --changes) {
    const std::size_t at = random.below(text.size());
    switch (random.below(6)) {
      case 0: text[at] = static_cast<char>(random.below(256)); break;
      case 1: text[at] = static_cast<char>(text[at] ^ (1 << random.below(8))); break;
      case 2: text.erase(at, 1 + random.below(20)); break;
      case 3: text.resize(at); break;
      case 4: text.insert(at, kFragments[random.below(std::size(kFragments))]); break;
      default: text.insert(at, text.substr(random.below(text.size()), 1 + random.below(60))); break;
    }
    if (text.empty()) return text;
  }
  return text;
}

// Whether the text parses.
bool check(const std::string& text) {
  const Result<Module> module = parse(text);
  if (!module) {
    EXPECT_TRUE(module.error().text.starts_with("PTX line ")) << module.error().text;
  }
  return static_cast<bool>(module);
}

class PtxMutants : public ::testing::TestWithParam<const char*> {};

TEST_P(PtxMutants, GiveAModuleOrAnError) {
  const std::string sample = testing::read_test_data(GetParam());
  SplitMix random(12345);
  int parsed = 0;
  for (int i = 0; i < kMutantsPerSample && !HasFailure(); ++i)
    parsed += check(mutate(sample, random)) ? 1 : 0;
  // Both outcomes must occur, or the mutations are too weak or too strong.
  EXPECT_GT(parsed, kMutantsPerSample / 50);
  EXPECT_LT(parsed, kMutantsPerSample * 49 / 50);
}

INSTANTIATE_TEST_SUITE_P(Samples, PtxMutants, ::testing::Values("tree_sum.ptx", "calls.ptx", "syntax.ptx"),
                         [](const auto& sample) {
                           std::string name = sample.param;
                           return name.substr(0, name.find('.'));
                         });

TEST(PtxRobustness, EveryTruncationGivesAModuleOrAnError) {
  const std::string sample = testing::read_test_data("syntax.ptx");
  for (std::size_t length = 0; length < sample.size() && !HasFailure(); ++length)
    check(sample.substr(0, length));
}

TEST(PtxRobustness, HandlesEveryByteValueAtAnyPosition) {
  const std::string sample = testing::kernel_text("add.u32 %r1, %r2, 3;");
  for (std::size_t at = 0; at < sample.size() && !HasFailure(); at += 7) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string text = sample;
      text[at] = static_cast<char>(byte);
      check(text);
    }
  }
}

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
