// SPDX-License-Identifier: MIT
#include "base/demangle.hpp"

#include <gtest/gtest.h>

#include <string>

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
    EXPECT_LT(demangled(doubling(n_levels)).size(), 1U << 20) << n_levels;
  }
  // Packs: g<int × 20>(tuple<tuple<… T …> for each T> for each T)
  std::string packs = "_Z1gIJ" + std::string(20, 'i') + "EEvP";
  for (int level = 0; level < 20; ++level) packs += "1BIJDp";
  packs += "T_";
  for (int level = 0; level < 20; ++level) packs += "EE";
  EXPECT_LT(demangled(packs).size(), 1U << 20);
  EXPECT_EQ(demangled("_Z" + std::string(1U << 20, '9')).size(), (1U << 20) + 2);
}

}  // namespace
}  // namespace course
