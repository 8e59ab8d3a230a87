// SPDX-License-Identifier: MIT
#include "base/rng.hpp"

#include <gtest/gtest.h>

#include <set>

namespace course {
namespace {

TEST(Rng, FollowsThePublishedSequence) {
  Rng rng(1234567);  // first outputs of SplitMix64 with this seed, from the reference implementation
  EXPECT_EQ(rng(), 6457827717110365317u);
  EXPECT_EQ(rng(), 3203168211198807973u);
  EXPECT_EQ(rng(), 9817491932198370423u);
}

TEST(Rng, BelowStaysBelowAndReachesEveryValue) {
  Rng rng(1);
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i) {
    const auto x = rng.below(7);
    ASSERT_LT(x, 7u);
    seen.insert(x);
  }
  EXPECT_EQ(seen.size(), 7u);
}

TEST(Rng, UnitIsHalfOpenAndCentred) {
  Rng rng(2);
  double sum = 0;
  for (int i = 0; i < 10000; ++i) {
    const double x = rng.unit();
    ASSERT_GE(x, 0.0);
    ASSERT_LT(x, 1.0);
    sum += x;
  }
  EXPECT_NEAR(sum / 10000, 0.5, 0.02);
}

TEST(OneWay, HasThePublishedValuesOfSipHash) {
  const std::string_view text("\0\1\2\3\4\5\6\7\10\11\12\13\14\15\16", 15);
  // With the key 00 01 … 0f, from the reference implementation's test vectors.
  const auto hash = [&](std::size_t n) {
    return one_way(0x0706050403020100, text.substr(0, n), 0x0f0e0d0c0b0a0908);
  };
  EXPECT_EQ(hash(0), 0x726fdb47dd0e0e31u);
  EXPECT_EQ(hash(8), 0x93f5f5799a932462u);
  EXPECT_EQ(hash(15), 0xa129ca6149be45e5u);
}

TEST(SeedFor, DependsOnlyOnSeedAndPart) {
  EXPECT_EQ(seed_for(7, "a"), seed_for(7, "a"));
  EXPECT_NE(seed_for(7, "a"), seed_for(7, "b"));
  EXPECT_NE(seed_for(7, "a"), seed_for(8, "a"));
}

}  // namespace
}  // namespace course
