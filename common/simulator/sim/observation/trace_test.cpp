// SPDX-License-Identifier: MIT
// A trace reports what the arrays contain after each step, which thread wrote each element, and from which
// elements.

#include <nlohmann/json.hpp>

#include "sim/testing/test_device.hpp"

namespace course::sim {
namespace {

using Json = nlohmann::json;

// Four threads: s[t] = in[t]; barrier; t < 2: s[t] += s[t + 2]; barrier; thread 0: out = s[0] + s[1].
constexpr const char* kFold = R"(
.visible .entry fold(.param .u64 in, .param .u64 out)
{
  .reg .pred %p<3>; .reg .b32 %r<12>; .reg .b64 %rd<8>; .shared .align 4 .b8 s_data[16];
  mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [in]; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2;
  ld.global.u32 %r2, [%rd3]; mov.u32 %r3, s_data; shl.b32 %r4, %r1, 2; add.u32 %r5, %r3, %r4;
  st.shared.u32 [%r5], %r2; bar.sync 0; setp.ge.u32 %p1, %r1, 2; @%p1 bra $after;
  ld.shared.u32 %r6, [%r5]; ld.shared.u32 %r7, [%r5+8]; add.u32 %r8, %r6, %r7; st.shared.u32 [%r5], %r8;
  $after: bar.sync 0; setp.ne.u32 %p2, %r1, 0; @%p2 bra $end;
  ld.shared.u32 %r9, [s_data]; ld.shared.u32 %r10, [s_data+4]; add.u32 %r11, %r9, %r10;
  ld.param.u64 %rd4, [out]; st.global.u32 [%rd4], %r11;
  $end: ret;
}
)";

Json traced(TestDevice& t, std::uint32_t more_modes = 0) {
  auto in = t.array(std::vector<int>{3, 1, 7, 10});
  auto out = t.array<int>(1, 0);
  t.device.name_buffer(in.address, 16, 4, "d_in", true);
  t.device.name_buffer(out.address, 4, 4, "d_out", false);
  t.device.set_mode(kTrace | more_modes);
  t.launch("fold", 1, 4, in, out);
  EXPECT_EQ(out[0], 21);
  return Json::parse(t.device.report_json()).at("trace");
}

TEST(Trace, HasARowForEachArrayChange) {
  TestDevice t(kFold);
  const Json trace = traced(t);
  ASSERT_EQ(trace.at("rows").size(), 4u) << trace.dump(1);
  EXPECT_EQ(trace.at("truncated"), false);
  const struct {
    const char *after, *object, *contents;
  } expected[] = {
      {"start", "d_in", "0300000001000000070000000a000000"},
      {"barrier", "s_data", "0300000001000000070000000a000000"},
      {"barrier", "s_data", "0a0000000b000000070000000a000000"},
      {"launch", "d_out", "15000000"},
  };
  for (std::size_t i = 0; i < std::size(expected); ++i) {
    const Json& row = trace.at("rows")[i];
    EXPECT_EQ(row.at("after"), expected[i].after) << i;
    EXPECT_EQ(row.at("object"), expected[i].object) << i;
    EXPECT_EQ(row.at("contents"), expected[i].contents) << i;
    EXPECT_EQ(row.at("width"), 4) << i;
  }
}

TEST(Trace, RecordsWritersAndTheirInputs) {
  TestDevice t(kFold);
  const Json rows = traced(t).at("rows");
  // [element, block, thread, line, elements from which the value was computed, the value, and theirs]
  EXPECT_EQ(rows[1].at("writes")[2], Json::parse(R"([2, 0, 2, 0, [["d_in", 2]], "07000000", ["07000000"]])"));
  EXPECT_EQ(rows[2].at("writes").size(), 2u);
  EXPECT_EQ(rows[2].at("writes")[1], Json::parse(R"([1, 0, 1, 0, [["s_data", 1], ["s_data", 3]], "0b000000",
                                                              ["01000000", "0a000000"]])"));
  EXPECT_EQ(rows[3].at("writes")[0], Json::parse(R"([0, 0, 0, 0, [["s_data", 0], ["s_data", 1]], "15000000",
                                                              ["0a000000", "0b000000"]])"));
}

TEST(Trace, WorksTogetherWithCheckers) {
  TestDevice t(kFold);
  EXPECT_EQ(traced(t, kAllChecks | kDataflow).at("rows").size(), 4u);
  EXPECT_TRUE(t.device.findings().empty());
}

TEST(Trace, StartsAnewAfterReset) {
  TestDevice t(kFold);
  traced(t);
  t.device.reset_report();
  EXPECT_EQ(traced(t).at("rows").back().at("launch"), 0);
}

TEST(Trace, EndsAtAFault) {
  TestDevice t(kFold);
  auto out = t.array<int>(1, 0);
  auto in = t.array(std::vector<int>{3, 1, 7});  // the fourth thread reads past the end
  t.device.name_buffer(in.address, 12, 4, "d_in", true);
  t.device.set_mode(kTrace);
  EXPECT_EQ(t.try_launch("fold", 1, 4, in, out).fault, Fault::illegal_address);
  const Json report = Json::parse(t.device.report_json());
  const Json rows = report.at("trace").at("rows");
  ASSERT_EQ(rows.size(), 2u) << "the inputs, and where it ended";
  EXPECT_EQ(rows[1].at("after"), "fault");
  EXPECT_EQ(rows[1].at("block"), 0);
  EXPECT_EQ(report.at("findings").size(), 1u);
  // A later launch adds nothing.
  auto good = t.array(std::vector<int>{3, 1, 7, 10});
  t.try_launch("fold", 1, 4, good, out);
  EXPECT_EQ(Json::parse(t.device.report_json()).at("trace").at("rows").size(), 2u);
}

// kFold without its first barrier: thread 0 reads what thread 2 writes.
TEST(Trace, EndsAtTheFirstRaceWithItsMessage) {
  std::string ptx = kFold;
  ptx.erase(ptx.find("bar.sync 0; "), 12);
  TestDevice t(ptx);
  auto in = t.array(std::vector<int>{3, 1, 7, 10});
  auto out = t.array<int>(1, 0);
  t.device.name_buffer(in.address, 16, 4, "d_in", true);
  t.device.set_mode(kTrace | kAllChecks);
  t.launch("fold", 1, 4, in, out);
  const Json report = Json::parse(t.device.report_json());
  const Json rows = report.at("trace").at("rows");
  ASSERT_GE(rows.size(), 2u);
  EXPECT_EQ(rows.back().at("after"), "fault");
  EXPECT_EQ(rows.back().at("object"), "s_data");
  EXPECT_EQ(rows.back().at("fault"), report.at("findings")[0].at("message"));
}

TEST(Trace, RecordsWhichLanesTookPart) {
  TestDevice t(kFold);
  const Json rows = traced(t).at("rows");
  // [block, warp, line, lanes, live lanes, wavefronts, fewest wavefronts]
  EXPECT_EQ(rows[1].at("accesses"), Json::parse("[[0, 0, 0, 15, 15, 0, 0]]"));
  EXPECT_EQ(rows[2].at("accesses"), Json::parse("[[0, 0, 0, 3, 15, 0, 0]]"));
  EXPECT_EQ(rows[3].at("accesses"), Json::parse("[[0, 0, 0, 1, 15, 0, 0]]"));
}

// Every thread writes s_data[32 t], and all of these words are in one bank.
constexpr const char* kConflict = R"(
.visible .entry conflict()
{
  .reg .b32 %r<5>; .shared .align 4 .b8 s_data[1024]; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 7;
  mov.u32 %r3, s_data; add.u32 %r4, %r3, %r2; st.shared.u32 [%r4], %r1; ret;
}
)";

TEST(Trace, ShowsBankConflicts) {
  TestDevice t(kConflict);
  t.device.set_mode(kTrace | kCounters);
  t.launch("conflict", 1, 8);
  const Json rows = Json::parse(t.device.report_json()).at("trace").at("rows");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].at("accesses"), Json::parse("[[0, 0, 0, 255, 255, 8, 1]]"));
}

// A flag that other blocks read ends a step as soon as it is set.
TEST(Trace, HasARowForEachPublishingStore) {
  std::string ptx = kFold;
  ptx.replace(ptx.find("st.global.u32"), 13, "st.volatile.global.u32");
  TestDevice t(ptx);
  const Json rows = traced(t).at("rows");
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[3].at("after"), "publish");
  EXPECT_TRUE(rows[3].at("block").is_null()) << "for all to see";
  EXPECT_EQ(rows[3].at("object"), "d_out");
}

// Two halves of a 64-bit value go to the next lane, and then a half of it alone.
constexpr const char* kWide = R"(
.visible .entry wide(.param .u64 out)
{
  .reg .b32 %r<12>; .reg .b64 %rd<9>; mov.u32 %r1, %tid.x; mul.wide.u32 %rd1, %r1, 1000003;
  mul.lo.u64 %rd2, %rd1, 1000003; mov.b64 {%r2, %r3}, %rd2; shfl.sync.down.b32 %r4, %r3, 1, 31, -1;
  shfl.sync.down.b32 %r5, %r2, 1, 31, -1; mov.b64 %rd3, {%r5, %r4}; ld.param.u64 %rd4, [out];
  mul.wide.u32 %rd5, %r1, 8; add.u64 %rd6, %rd4, %rd5; st.global.u64 [%rd6], %rd3;
  shfl.sync.down.b32 %r6, %r2, 1, 31, -1; shfl.sync.down.b32 %r7, %r2, 2, 31, -1; ret;
}
)";

TEST(Trace, ShowsAWideShuffleAsOneStep) {
  TestDevice t(kWide);
  auto out = t.array<std::uint64_t>(32, 0);
  t.device.name_buffer(out.address, 256, 8, "d_out", false);
  t.device.set_mode(kTrace);
  t.launch("wide", 1, 32, out);
  EXPECT_EQ(out[4], 5u * 1000003u * std::uint64_t{1000003});
  const Json rows = Json::parse(t.device.report_json()).at("trace").at("rows");
  ASSERT_EQ(rows.size(), 4u) << rows.dump(1);
  EXPECT_EQ(rows[0].at("after"), "shuffle");
  EXPECT_EQ(rows[0].at("width"), 8);
  EXPECT_EQ(rows[0].at("contents").get<std::string>().substr(16, 16), "899d00d5e8000000");
  EXPECT_EQ(rows[1].at("width"), 4) << "a half alone";
  EXPECT_EQ(rows[2].at("width"), 4);
  EXPECT_EQ(rows[3].at("writes")[0][4], Json::parse(R"([["lanes", 1]])"));
  EXPECT_EQ(rows[3].at("writes")[0][6], Json::parse(R"(["899d00d5e8000000"])"));
}

// The origin of a stored value is the element where it was stored, not everything from which it was computed.
// A value that stays in a register across a barrier keeps its origin. The lanes of a shuffle are origins,
// too.
constexpr const char* kOrigins = R"(
.visible .entry origins(.param .u64 in, .param .u64 out)
{
  .reg .pred %p<2>; .reg .b32 %r<12>; .reg .b64 %rd<6>; .shared .align 4 .b8 s_data[128];
  mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [in]; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2;
  ld.global.u32 %r2, [%rd3]; mov.u32 %r3, s_data; shl.b32 %r4, %r1, 2; add.u32 %r5, %r3, %r4;
  bar.sync 0; st.shared.u32 [%r5], %r2; bar.sync 0; add.u32 %r6, %r2, %r2; st.shared.u32 [%r5], %r6;
  bar.sync 0; shfl.sync.bfly.b32 %r7, %r6, 1, 31, -1; add.u32 %r8, %r7, %r6; setp.gt.u32 %p1, %r8, 5;
  selp.u32 %r9, 1, 0, %p1; ld.param.u64 %rd4, [out]; add.u64 %rd5, %rd4, %rd2;
  st.global.u32 [%rd5], %r9; ret;
}
)";

TEST(Trace, FollowsValuesThroughRegisters) {
  TestDevice t(kOrigins);
  auto in = t.array(std::vector<int>(32, 1));
  auto out = t.array<int>(32, 0);
  t.device.name_buffer(in.address, 128, 4, "d_in", false);
  t.device.name_buffer(out.address, 128, 4, "d_out", false);
  t.device.set_mode(kTrace);
  t.launch("origins", 1, 32, in, out);
  const Json rows = Json::parse(t.device.report_json()).at("trace").at("rows");
  ASSERT_EQ(rows.size(), 4u) << rows.dump(1);
  EXPECT_EQ(rows[0].at("writes")[3][4], Json::parse(R"([["d_in", 3]])")) << "read before the barrier";
  EXPECT_EQ(rows[1].at("writes")[3][4], Json::parse(R"([["s_data", 3]])")) << "not of d_in any more";
  EXPECT_EQ(rows[2].at("writes")[3][4], Json::parse(R"([["s_data", 3]])")) << "brought to the shuffle";
  EXPECT_EQ(rows[3].at("writes")[3][4], Json::parse(R"([["lanes", 2], ["lanes", 3]])"))
      << "through a predicate";
}

TEST(Trace, IsTruncatedAfterManyRows) {
  TestDevice t(kFold);
  auto in = t.array(std::vector<int>{3, 1, 7, 10});
  auto out = t.array<int>(1, 0);
  t.device.name_buffer(out.address, 4, 4, "d_out", false);
  t.device.set_mode(kTrace);
  t.launch("fold", 3000, 4, in, out);
  const Json trace = Json::parse(t.device.report_json()).at("trace");
  EXPECT_EQ(trace.at("truncated"), true);
  EXPECT_EQ(trace.at("rows").size(), 4096u);
}

}  // namespace
}  // namespace course::sim
