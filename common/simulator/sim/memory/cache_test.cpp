// SPDX-License-Identifier: MIT
#include "sim/memory/cache.hpp"

#include <gtest/gtest.h>

#include <random>

namespace course::sim {
namespace {

constexpr std::uint32_t kAll = 15;

struct CacheTest : testing::Test {
  Arena arena{1 << 20};
  Cache cache{arena, 64 * Cache::kLineBytes};
  std::uint64_t line(std::uint64_t k) const { return arena.base() + k * Cache::kLineBytes; }
  Cache::Touch load(std::uint64_t k, std::uint32_t sectors) {
    return cache.touch(line(k), sectors, 0, 0, true);
  }
  Cache::Touch store(std::uint64_t k, std::uint32_t sectors, std::uint32_t whole) {
    return cache.touch(line(k), 0, sectors, whole, true);
  }
};

TEST_F(CacheTest, DramDeliversSectorPairsOncePerLaunch) {
  cache.launch_begins();
  EXPECT_EQ(load(0, 1).filled, 2);
  EXPECT_EQ(load(0, 2).filled, 0);
  EXPECT_EQ(load(0, kAll).filled, 2);
  EXPECT_EQ(load(0, kAll).filled, 0);
}

TEST_F(CacheTest, CompletelyWrittenSectorsAreNotRead) {
  cache.launch_begins();
  EXPECT_EQ(store(0, kAll, kAll).dirty, 4);
  EXPECT_EQ(load(0, kAll).filled, 0);
  EXPECT_EQ(store(1, 1, 0).dirty, 1);  // part of a sector
  EXPECT_EQ(load(1, 1).filled, 2);
}

TEST_F(CacheTest, RecentLinesArePresentAtTheNextLaunch) {
  cache.launch_begins();
  EXPECT_TRUE(load(0, kAll).far);
  cache.launch_ends(4);
  cache.launch_begins();
  const Cache::Touch again = load(0, kAll);
  EXPECT_EQ(again.filled, 0);
  EXPECT_FALSE(again.far);
  cache.launch_ends(65 * 4);  // more than the cache holds
  cache.launch_begins();
  EXPECT_EQ(load(0, kAll).filled, 4);
}

TEST_F(CacheTest, ForgetEmptiesTheCache) {
  cache.launch_begins();
  load(0, kAll);
  cache.launch_ends(4);
  cache.forget();
  cache.launch_begins();
  EXPECT_EQ(load(0, kAll).filled, 4);
}

// Blocks that share lines and sectors but no word. Each block has a fixed order of accesses; the host may
// interleave those of different blocks in any way.
TEST_F(CacheTest, CountsDoNotDependOnBlockOrder) {
  struct Access {
    std::uint32_t loads, stores, whole;
  };
  std::mt19937 random(1);
  const auto some = [&](std::uint32_t bits) { return static_cast<std::uint32_t>(random()) & bits; };
  std::uint64_t k = 0;
  for (int round = 0; round < 500; ++round) {
    // Sector 2 belongs to the first block, which may write all of it; the second block accesses parts of the
    // other sectors.
    std::vector<Access> first, second;
    for (int i = 0; i < 3; ++i) {
      const std::uint32_t whole = some(4), loads = some(7);
      first.push_back({loads, whole | some(3), whole});
      second.push_back({some(11), some(11), 0});
    }
    const std::uint32_t before = some(kAll);
    std::uint64_t expected[2] = {};
    for (int order = 0; order < 8; ++order) {
      cache.forget();
      cache.launch_begins();
      if (before != 0) load(k, before);
      cache.launch_ends(0);
      cache.launch_begins();
      std::uint64_t filled = 0, dirty = 0;
      for (std::size_t i = 0, j = 0; i < first.size() || j < second.size();) {
        const bool takes_first = j == second.size() || (i < first.size() && some(1) != 0);
        const Access& a = takes_first ? first[i++] : second[j++];
        const Cache::Touch touch = cache.touch(line(k), a.loads, a.stores, a.whole, order % 2 == 0);
        filled += touch.filled;
        dirty += touch.dirty;
      }
      cache.launch_ends(filled);
      if (order == 0) {
        expected[0] = filled;
        expected[1] = dirty;
      }
      EXPECT_EQ(filled, expected[0]);
      EXPECT_EQ(dirty, expected[1]);
    }
    k = (k + 1) % 64;
  }
}

}  // namespace
}  // namespace course::sim
