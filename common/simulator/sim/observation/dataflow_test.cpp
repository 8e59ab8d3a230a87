// SPDX-License-Identifier: MIT

#include "sim/testing/test_device.hpp"

namespace course::sim {
namespace {

Counters counted(const char* kernel) {
  static const std::string ptx = TestDevice::read(SIM_PTX_DIR "/dataflow_test.ptx");
  TestDevice t(ptx);
  t.device.set_mode(kCounters | kDataflow);
  std::vector<std::uint32_t> items(32);
  for (std::uint32_t i = 0; i < 32; ++i) items[i] = 37 * i + 5;
  auto in = t.array<std::uint32_t>(items);
  auto out = t.array<std::uint32_t>(1);
  t.device.name_buffer(in.address, 32 * 4, 4, "in", true);
  return t.launch(kernel, 1, 32, in, out).counters;
}

TEST(Dataflow, SerialSumHasOneStepPerItem) {
  const Counters c = counted("openly");
  EXPECT_EQ(c.work, 31u);
  EXPECT_EQ(c.steps, 31u);
}

TEST(Dataflow, ValuesKeepTheirDepthOnEveryWay) {
  for (const char* way : {"guards", "selections", "halves", "bytes", "local_memory", "tables", "carries",
                          "calls", "shuffled_by_value"}) {
    const Counters c = counted(way);
    EXPECT_GE(c.work, 31u) << way;
    EXPECT_GE(c.steps, 31u) << way;
  }
}

TEST(Dataflow, ComparisonAndItsSelectionAreOneOperation) {
  const Counters c = counted("maxima");
  EXPECT_EQ(c.work, 31u);
  EXPECT_EQ(c.steps, 5u);
}

TEST(Dataflow, SelectionsThatDoNotDependOnDataPassOneValue) {
  const Counters c = counted("rows_in_turn");
  EXPECT_EQ(c.work, 24u);
  EXPECT_EQ(c.steps, 3u);
}

TEST(Dataflow, BlocksFindNothingInRegisters) {
  TestDevice t(TestDevice::read(SIM_PTX_DIR "/dataflow_test.ptx"));
  t.device.set_mode(kCounters | kDataflow);
  auto in = t.array<std::uint32_t>(32, 7), out = t.array<std::uint32_t>(1, 9);
  t.launch("left_by_another_block", 2, 32, in, out);
  EXPECT_EQ(out.values()[0], 0xA5A5A5A5u + 1);  // the pattern of registers, and its lowest bit as the carry
}

TEST(Dataflow, WhatTheHostWritesStartsAnew) {
  TestDevice t(TestDevice::read(SIM_PTX_DIR "/dataflow_test.ptx"));
  t.device.set_mode(kCounters | kDataflow);
  auto in = t.array<std::uint32_t>(32, 1), out = t.array<std::uint32_t>(1, 0);
  t.device.name_buffer(in.address, 32 * 4, 4, "in", true);
  EXPECT_EQ(t.launch("sum_by_atomics", 1, 32, in, out).counters.steps, 31u);
  t.device.host_wrote(out.address, 4);
  t.device.host_wrote(in.address, 32 * 4);
  EXPECT_EQ(t.launch("sum_by_atomics", 1, 32, in, out).counters.steps, 31u);
  EXPECT_EQ(t.launch("sum_by_atomics", 1, 32, in, out).counters.steps, 63u);
}

TEST(Dataflow, BarrierWithPredicateVotesInEachWarp) {
  const Counters c = counted("votes_of_a_barrier");
  EXPECT_EQ(c.work, 1u);
  EXPECT_EQ(c.steps, 1u);
}

}  // namespace
}  // namespace course::sim
