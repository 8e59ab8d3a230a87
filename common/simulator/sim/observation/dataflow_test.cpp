// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "sim/testing/test_device.hpp"

namespace course::sim {
namespace {

Counters counted(const char* kernel, std::uint32_t mode = kCounters | kDataflow) {
  static const std::string ptx = TestDevice::read(SIM_PTX_DIR "/dataflow_test.ptx");
  TestDevice t(ptx);
  t.device.set_mode(mode);
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

TEST(Dataflow, ValuesKeepTheirOriginOnEveryWay) {
  for (const char* way : {"guards", "selections", "branches", "branches_to_memory", "skipped_stores", "loops",
                          "ballots", "presence", "matches", "halves", "bytes", "local_memory", "tables",
                          "carries", "calls", "guarded_carries", "packed", "shuffled_by_value"}) {
    const Counters c = counted(way);
    EXPECT_GE(c.work, 31u) << way;
    EXPECT_GE(c.steps, 31u) << way;
  }
}

TEST(Dataflow, WhatDidNotHappenTellsOfData) {
  constexpr std::uint32_t kMode = kCounters | kDataflow | kAbsences;
  for (const char* way : {"untouched_shared",
                          "untouched_global",
                          "untouched_local",
                          "untouched_bytes",
                          "untouched_by_atomics",
                          "skipped_addresses",
                          "skipped_calls",
                          "skipped_copies",
                          "timers",
                          "sleeps",
                          "member_masks",
                          "tickets",
                          "indirect_calls",
                          "leaders",
                          "ended_lanes",
                          "ended_after_more",
                          "heap_addresses",
                          "printed",
                          "skipped_loops",
                          "skipped_counting_loops",
                          "skipped_longer_ways",
                          "skipped_either_way",
                          "skipped_calls_to_local",
                          "guarded_presence",
                          "presence_after_loops",
                          "shuffled_before_the_end"}) {
    const Counters c = counted(way, kMode);
    EXPECT_GE(c.work, 31u) << way;
    EXPECT_GE(c.steps, 31u) << way;
  }
  for (const char* way : {"openly", "maxima", "common_flag", "votes_of_a_barrier"}) {
    const Counters c = counted(way), same = counted(way, kMode);
    EXPECT_EQ(same.work, c.work) << way;
    EXPECT_EQ(same.steps, c.steps) << way;
  }
}

TEST(Dataflow, StatesThatSelectTheirSuccessorAreSteps) {
  for (const char* way : {"states_selected", "states_guarded", "states_branched", "states_loaded",
                          "states_shuffled", "states_swapped"}) {
    const Counters c = counted(way, kCounters | kDataflow | kAbsences);
    EXPECT_GE(c.work, 31u) << way;
    EXPECT_GE(c.steps, 31u) << way;
  }
}

TEST(Dataflow, ChainsOfValuesThatAllItemsMadeAreSteps) {
  for (const char* way : {"parity_by_selections", "votes_packed", "votes_permuted", "votes_by_bytes",
                          "votes_voted", "votes_swapped", "votes_present", "copies_combined",
                          "copies_selected", "copies_guarded", "copies_branched"})
    EXPECT_GE(counted(way, kCounters | kDataflow | kAbsences).steps, 31u) << way;
}

TEST(Dataflow, ChoosingByDataIsAnOperation) {
  for (const char* way : {"guarded_sums", "selected_sums", "counted_sums"}) {
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

TEST(Dataflow, LanesThatAddNothingAreAtOperations) {
  EXPECT_EQ(counted("maxima").operation_lanes, 31u) << "inactive lanes are not at operations";
  const Counters c = counted("additions_of_nothing");
  EXPECT_EQ(c.work, 16u);
  EXPECT_EQ(c.operation_lanes, 32u);
}

TEST(Dataflow, LanesThatSkipOneStoreAreOneStep) {
  EXPECT_EQ(counted("common_flag").steps, 1u);
}

}  // namespace
}  // namespace course::sim
