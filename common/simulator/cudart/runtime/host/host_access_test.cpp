// SPDX-License-Identifier: MIT
#include "cudart/runtime/host/host_access.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <vector>

namespace course::cudart {
namespace {

struct Record {
  std::uint32_t magic, n_bytes;
  std::uint64_t value;
};
constexpr std::uint32_t kEsr = 0x45535201, kFloats = 0x46508001;
constexpr std::uint64_t kLoad = 0x92000007, kStore = 0x92000047;  // ESR_EL1 of translation faults

// As in a signal frame: records one after the other, and zeros.
std::vector<std::byte> frame(std::initializer_list<Record> records) {
  std::vector<std::byte> bytes(4096);
  std::size_t at = 0;
  for (const Record& r : records) {
    std::memcpy(bytes.data() + at, &r, sizeof r);
    at += std::max<std::size_t>(r.n_bytes, sizeof r);
  }
  return bytes;
}

TEST(Aarch64Fault, RecordOfSyndromeTellsStoresFromLoads) {
  EXPECT_TRUE(aarch64_fault_was_write(frame({{kFloats, 528, 0}, {kEsr, 16, kStore}})));
  EXPECT_FALSE(aarch64_fault_was_write(frame({{kFloats, 528, 0}, {kEsr, 16, kLoad}})));
}

TEST(Aarch64Fault, OtherSyndromesAreNoStores) {
  constexpr std::uint64_t kInstructionAbort = 0x82000047, kCacheMaintenance = kStore | 1u << 8;
  EXPECT_FALSE(aarch64_fault_was_write(frame({{kEsr, 16, kInstructionAbort}})));
  EXPECT_FALSE(aarch64_fault_was_write(frame({{kEsr, 16, kCacheMaintenance}})));
}

TEST(Aarch64Fault, FrameWithoutSyndromeOrWithWrongSizesIsNoStore) {
  EXPECT_FALSE(aarch64_fault_was_write({}));
  EXPECT_FALSE(aarch64_fault_was_write(frame({{kFloats, 528, kStore}})));
  EXPECT_FALSE(aarch64_fault_was_write(frame({{kEsr, 8, kStore}})));
  EXPECT_FALSE(aarch64_fault_was_write(frame({{kEsr, 5000, kStore}})));
  EXPECT_FALSE(aarch64_fault_was_write(frame({{kFloats, 0, 0}, {kEsr, 16, kStore}})));
  std::vector<std::byte> cut = frame({{kEsr, 16, kStore}});
  cut.resize(12);
  EXPECT_FALSE(aarch64_fault_was_write(cut));
}

}  // namespace
}  // namespace course::cudart
