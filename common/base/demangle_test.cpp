// SPDX-License-Identifier: MIT
#include "base/demangle.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace course {
namespace {

// f(A<int, int>, A<A<int, int>, A<int, int>>, …): each parameter is twice as long as the one before.
std::string doubling(int n_levels) {
  constexpr std::string_view kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string name = "_Z1f1AIiiE";
  for (int i = 0; i < n_levels; ++i) {
    const std::string last = std::string("S") + kDigits[static_cast<std::size_t>(i)] + "_";
    name.append("S_I").append(last).append(last).append("E");
  }
  return name;
}

TEST(Demangle, KeepsUnmangledNames) {
  EXPECT_EQ(demangled("s"), "s");  // the mangled name of a type
  EXPECT_EQ(demangled("i"), "i");
  EXPECT_EQ(demangled("main"), "main");
  EXPECT_EQ(demangled("_Z1sv"), "s()");
}

TEST(Demangled, ReturnsTheNameInTheSource) {
  EXPECT_EQ(demangled("_ZN6course9reduction3runERKNS_3lab7RequestE"),
            "course::reduction::run(course::lab::Request const&)");
  EXPECT_EQ(demangled(doubling(1)), "f(A<int, int>, A<A<int, int>, A<int, int> >)");
  EXPECT_EQ(demangled("cudaMalloc"), "cudaMalloc");
  EXPECT_EQ(demangled("_Znonsense"), "_Znonsense");
  EXPECT_EQ(demangled(""), "");
}

TEST(Demangled, LimitsTheLengthOfTheResult) {
  for (int n_levels = 1; n_levels < 36; ++n_levels) {
    EXPECT_LE(demangled(doubling(n_levels)).size(), kLongestDemangled) << n_levels;
  }
  EXPECT_EQ(demangled("_Z" + std::string(1U << 20, '9')).size(), (1U << 20) + 2);
}

// f(P1<P1<… x …>>, each part again …): 248 characters for 6 · 10^9.
TEST(Demangled, LeavesOutNestedRepetitions) {
  constexpr std::string_view kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string name = "_Z1f";
  for (int level = 0; level < 31; ++level) name += "1PI";
  name += "x";
  for (int k = 30; k < 61; ++k)
    name += fmt::format("S{}{}_E", k < 36 ? "" : "1", kDigits[static_cast<std::size_t>(k % 36)]);
  EXPECT_EQ(demangled(name), "f");
  for (const char* pieces : {"S_", "S0_", "T_", "1AIS_S_E", "FvS_S_E", "M1AFvS_E", "PFS_S_E", "A9_S_"}) {
    std::string repeated = "_Z1fI1AIiiEEv";
    while (repeated.size() < kLongestMangled - 20) repeated += pieces;
    EXPECT_LE(demangled(repeated).size(), kLongestMangled + kLongestDemangled) << pieces;
  }
}

// g<int × 20>(tuple<tuple<… T …> for each T> for each T)
TEST(Demangled, LimitsNestedPackExpansions) {
  for (const int n_levels : {1, 3, 20}) {
    std::string packs = "_Z1gIJ" + std::string(20, 'i') + "EEvP";
    for (int level = 0; level < n_levels; ++level) packs += "1BIJDp";
    packs += "T_";
    for (int level = 0; level < n_levels; ++level) packs += "EE";
    EXPECT_LE(demangled(packs).size(), kLongestDemangled) << n_levels;
  }
  // No pack in a pattern of 2^30 parts: the search for it takes as long.
  std::string pattern = doubling(30);
  pattern += "DpSV_";
  EXPECT_EQ(demangled(pattern), "f");
}

// As Thrust's kernels: _kernel_agent<Agent, Arguments…>(Arguments…).
TEST(Demangled, ShortensNamesWithManyReferencesInAPack) {
  std::string arguments = "1AIiE";
  for (int k = 0; k < 20; ++k) arguments += "S3_";
  EXPECT_EQ(demangled("_ZN6thrust4core5agentIJ" + arguments + "EEEvDpT_"), "thrust::core::agent");
  EXPECT_EQ(demangled("_ZN99999999999999999999fE"), "_ZN99999999999999999999fE");
  EXPECT_EQ(demangled("_ZN9fE"), "_ZN9fE");
}

TEST(Demangled, KeepsLongNamesOfTemplates) {
  std::string name = "_Z1f", text = "f(";
  for (int k = 0; k < 30; ++k) {
    name += k == 0 ? "1AIiE" : "S0_";
    text += k == 0 ? "A<int>" : ", A<int>";
  }
#ifdef LAB_HAVE_DEMANGLE_CALLBACK
  EXPECT_EQ(demangled(name), text + ")");
#endif
}

}  // namespace
}  // namespace course
