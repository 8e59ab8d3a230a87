// SPDX-License-Identifier: MIT
#include "play/player.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

namespace course::grader::play {
namespace {

using Json = nlohmann::json;

// One thread adds the first two items and stores the sum in d_out[0].
constexpr const char* kAdds = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry adds(.param .u64 in, .param .u64 out) {
  .reg .b32 %r<4>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  .loc 1 7 0
  ld.global.u32 %r1, [%rd1];
  ld.global.u32 %r2, [%rd1+4];
  .loc 1 8 0
  add.s32 %r3, %r1, %r2;
  st.global.u32 [%rd2], %r3;
  ret;
}
.file 1 "adds.cu"
)";

// Copies the second item, of 64 bits, as two words.
constexpr const char* kCopiesHalves = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry copies(.param .u64 in, .param .u64 out) {
  .reg .b32 %r<4>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  ld.global.v2.u32 {%r1, %r2}, [%rd1+8];
  st.global.v2.u32 [%rd2], {%r1, %r2};
  ret;
}
)";

// Counts to 100, which takes more instructions than fit into a short turn.
constexpr const char* kCounts = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry counts(.param .u64 in, .param .u64 out) {
  .reg .pred %p<2>; .reg .b32 %r<2>;
  mov.u32 %r1, 0;
again:
  add.s32 %r1, %r1, 1;
  setp.lt.s32 %p1, %r1, 100;
  @%p1 bra again;
  ret;
}
)";

// Waits for a value that no thread writes.
constexpr const char* kSpins = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry spins(.param .u64 in, .param .u64 out) {
  .reg .pred %p<2>; .reg .b32 %r<2>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [in];
again:
  ld.volatile.global.u32 %r1, [%rd1];
  setp.ne.s32 %p1, %r1, 77;
  @%p1 bra again;
  ret;
}
)";

Json request(const char* ptx, const char* kernel, std::uint64_t n) {
  const Json work{{"kernel", kernel},
                  {"grid", {1, 1, 1}},
                  {"block", {1, 1, 1}},
                  {"parameters", {0, 0, 0, 0}},
                  {"pointers", {{0, {"in0", 0}}, {8, {"out0", 0}}}}};
  return {{"lab", "reduction"},
          {"task", "neighboured"},
          {"variant", "sum_i32"},
          {"n", n},
          {"items", "example"},
          {"work", Json::array({work})},
          {"ptx", ptx}};
}

Json answer_to(const Json& asked) {
  return Json::parse(play(asked.dump()));
}

TEST(Player, ShowsResultBesideTheExpectedOne) {
  const Json two = answer_to(request(kAdds, "adds", 2)), four = answer_to(request(kAdds, "adds", 4));
  EXPECT_EQ(two["outputs"][0]["got"], Json({"4"}));
  EXPECT_EQ(two["right"], true);
  EXPECT_EQ(four["outputs"][0]["got"], Json({"4"}));
  EXPECT_EQ(four["outputs"][0]["expected"], Json({"11"}));
  EXPECT_EQ(four["right"], false);
}

TEST(Player, UsesTypedItems) {
  Json asked = request(kAdds, "adds", 2);
  asked["typed"] = {30, -7};
  EXPECT_EQ(answer_to(asked)["outputs"][0]["got"], Json({"23"}));
  asked["typed"] = {1, 2, 3};
  EXPECT_TRUE(answer_to(asked).contains("error"));
}

TEST(Player, StepsHaveLinesAndOriginsOfStores) {
  const Json answer = answer_to(request(kAdds, "adds", 2));
  std::vector<Json> lines;
  for (const Json& step : answer["steps"])
    if (step["k"] == "line" && step["n"] != 0) lines.push_back(step);
  ASSERT_EQ(lines.size(), 2);
  EXPECT_EQ(lines[0]["n"], 7);
  EXPECT_EQ(lines[0]["a"].size(), 2);
  EXPECT_EQ(lines[1]["n"], 8);
  const Json& store = lines[1]["a"][0];
  EXPECT_EQ(store["t"], "store");
  EXPECT_EQ(answer["arrays"][store["x"].get<std::size_t>()]["name"], "d_out");
  const Json& lane = store["lanes"][0];
  EXPECT_EQ(lane[2], "4");
  ASSERT_EQ(lane[3].size(), 2);
  EXPECT_EQ(lane[3][0][0], "d_in");
  EXPECT_EQ(lane[3][1][1], 1);
}

TEST(Player, WritesOfTheHostAreSteps) {
  Json asked = request(kAdds, "adds", 2);
  const Json fill{{"to", {"out0", 0}}, {"value", 9}, {"width", 4}, {"count", 1}};
  asked["work"].insert(asked["work"].begin(), fill);
  const Json answer = answer_to(asked);
  const Json& step = answer["steps"][0];
  EXPECT_EQ(step["k"], "host");
  EXPECT_EQ(answer["arrays"][step["a"][0]["x"].get<std::size_t>()]["name"], "d_out");
  EXPECT_EQ(step["a"][0]["lanes"], Json::parse(R"([[0, 0, "9"]])"));
}

TEST(Player, PartsOfAnElementShowTheWholeElement) {
  Json asked = request(kCopiesHalves, "copies", 2);
  asked["variant"] = "sum_i64";
  const Json answer = answer_to(asked);
  EXPECT_EQ(answer["arrays"][0]["name"], "d_in");
  EXPECT_EQ(answer["arrays"][0]["width"], 8);
  const Json& store = answer["steps"][1]["a"].back();
  EXPECT_EQ(store["lanes"], Json::parse(R"([[0, 0, "1", [["d_in", 1]]], [0, 0, "1", [["d_in", 1]]]])"));
}

TEST(Player, LaunchesSayWhereTheirPointersPoint) {
  const Json answer = answer_to(request(kCopiesHalves, "copies", 2));
  ASSERT_EQ(answer["launches"].size(), 1);
  EXPECT_EQ(answer["launches"][0]["kernel"], "copies");
  EXPECT_EQ(answer["launches"][0]["arguments"], Json::parse(R"([[0, "d_in", 0], [1, "d_out", 0]])"));
}

TEST(Player, SeedOfTheScheduleInterleavesBlocks) {
  const auto most_at_once = [](std::uint64_t seed) {
    Json asked = request(kCounts, "counts", 2);
    asked["work"][0]["grid"] = {8, 1, 1};
    asked["schedule"] = seed;
    int running = 0, most = 0;
    const Json answer = answer_to(asked);
    for (const Json& step : answer["steps"]) {
      if (step["k"] == "begins") most = std::max(most, ++running);
      if (step["k"] == "ends") --running;
    }
    return most;
  };
  EXPECT_EQ(most_at_once(0), 1);
  EXPECT_GT(most_at_once(1), 1);
}

TEST(Player, StopsKernelsThatNeverEnd) {
  const std::string fault = answer_to(request(kSpins, "spins", 8))["fault"];
  EXPECT_TRUE(fault.find("never end") != std::string::npos || fault.find("stopped here") != std::string::npos)
      << fault;
}

TEST(Player, SaysWhyThereIsNoRun) {
  EXPECT_TRUE(Json::parse(play("no JSON")).contains("error"));
  EXPECT_TRUE(answer_to(request("no PTX", "adds", 2)).contains("error"));
  EXPECT_TRUE(answer_to(request(kAdds, "subtracts", 2)).contains("error"));
  Json unknown = request(kAdds, "adds", 2);
  unknown["task"] = "unheard_of";
  EXPECT_TRUE(answer_to(unknown).contains("error"));
}

}  // namespace
}  // namespace course::grader::play
