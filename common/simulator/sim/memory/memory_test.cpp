// SPDX-License-Identifier: MIT
#include "sim/memory/memory.hpp"

#include <gtest/gtest.h>

#include "sim/footprint.hpp"

namespace course::sim {
namespace {

std::uint64_t allocated(Arena& arena, std::uint64_t n_bytes, MemoryKind kind) {
  const auto address = arena.allocate(n_bytes, kind);
  return address ? *address : 0;
}

bool is_device_only(const Arena& arena, std::uint64_t address) {
  return address - arena.base() < arena.device_only_bytes();
}

TEST(ArenaTest, NoPageHasMemoryOfHostAndDevice) {
  Arena arena{1 << 20};
  std::vector<std::uint64_t> pinned, device;
  for (int i = 0; i < 20; ++i) {
    pinned.push_back(allocated(arena, 100, MemoryKind::pinned_host));
    device.push_back(allocated(arena, 100, MemoryKind::device));
    ASSERT_NE(pinned.back() * device.back(), 0u);
  }
  EXPECT_EQ(arena.device_only_bytes() % kHostPage, 0u);
  for (const std::uint64_t address : pinned) EXPECT_FALSE(is_device_only(arena, address));
  for (const std::uint64_t address : device) EXPECT_TRUE(is_device_only(arena, address));
}

TEST(ArenaTest, FreedMemoryOfBothKindsIsReusedWhenFull) {
  Arena arena{1 << 16};
  for (const MemoryKind kind : {MemoryKind::device, MemoryKind::managed})
    for (int i = 0; i < 100; ++i) {
      const std::uint64_t address = allocated(arena, 8000, kind);
      ASSERT_NE(address, 0u) << i;
      EXPECT_EQ(is_device_only(arena, address), kind == MemoryKind::device);
      EXPECT_TRUE(arena.release(address));
    }
}

// Holes before and after the place where the last one was found.
TEST(ArenaTest, EveryHoleOfAFullArenaIsFound) {
  Arena arena{1 << 16};
  std::vector<std::uint64_t> all;
  while (const std::uint64_t address = allocated(arena, 3000, MemoryKind::device)) all.push_back(address);
  ASSERT_GT(all.size(), 10u);
  for (const std::size_t k :
       {std::size_t{5}, std::size_t{2}, all.size() - 1, std::size_t{0}, std::size_t{7}}) {
    EXPECT_EQ(allocated(arena, 3000, MemoryKind::device), 0u);
    EXPECT_TRUE(arena.release(all[k]));
    EXPECT_EQ(allocated(arena, 3000, MemoryKind::device), all[k]);
  }
  for (const std::size_t k : {std::size_t{3}, std::size_t{4}}) EXPECT_TRUE(arena.release(all[k]));
  EXPECT_EQ(allocated(arena, 6000, MemoryKind::device), all[3]);
}

TEST(ArenaTest, NameOfAWholeAllocationIsItsOwn) {
  Arena arena{1 << 20};
  const std::uint64_t address = allocated(arena, 400, MemoryKind::device);
  arena.name(address, 400, 4, "d_in", true);
  EXPECT_EQ(arena.find(address + 8)->name, "d_in");
}

TEST(ArenaTest, PartsOfAConfinedAllocationHaveOwnBounds) {
  Arena arena{1 << 20};
  const std::uint64_t address = allocated(arena, 10000, MemoryKind::device);
  arena.name(address, 400, 8, "d_positions", false);
  arena.name(address + 4496, 800, 8, "d_spare", false);
  EXPECT_TRUE(arena.has(address, 10000));
  arena.confine(address, true);
  EXPECT_TRUE(arena.has_for_kernel(address, 400));
  EXPECT_FALSE(arena.has_for_kernel(address, 401));
  EXPECT_EQ(arena.find(address + 400), nullptr);
  EXPECT_EQ(arena.nearest(address + 400)->name, "d_positions");
  EXPECT_EQ(arena.nearest(address + 4495)->name, "d_spare");
  EXPECT_EQ(arena.nearest(address + 9999)->name, "d_spare");
  EXPECT_EQ(arena.find(address + 4496)->name, "d_spare");
  arena.confine(address, false);
  EXPECT_TRUE(arena.has(address, 10000));
  arena.confine(address, true);
  EXPECT_TRUE(arena.release(address));
  EXPECT_EQ(arena.find(address), nullptr);
}

TEST(FootprintTest, FindsFirstAndLastWrittenByte) {
  Footprint footprint;
  footprint.add(5000, 16, Footprint::kWrite);
  footprint.add(9000, 4, Footprint::kStrongWrite);
  footprint.add(100, 4, Footprint::kRead);
  const auto range = footprint.written(0, 20000);
  ASSERT_TRUE(range.has_value());
  EXPECT_EQ(range->first, 5000u);
  EXPECT_EQ(range->n_bytes, 4004u);
  EXPECT_FALSE(footprint.written(0, 5000).has_value());
}

}  // namespace
}  // namespace course::sim
