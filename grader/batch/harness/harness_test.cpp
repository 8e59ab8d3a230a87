// SPDX-License-Identifier: MIT
#include "batch/harness/harness.hpp"

#include <gtest/gtest.h>

#include "batch/harness/baselines.hpp"

namespace course::grader::batch {
namespace {

using nlohmann::json;

TEST(HarnessFile, SurvivesARoundTrip) {
  Harness harness;
  harness.labs["scan"] = {"compile {source}", "link {runner}", {"a.o"}, {"/h.hpp"}};
  harness.labs["multi_gpu"].several_devices = true;
  harness.programs = {"/labcli"};
  harness.judging["scan"] = {"/problem.cpp"};
  harness.toolchain = "nvcc 13";
  const auto back = json(harness).get<Harness>();
  EXPECT_EQ(json(back), json(harness));
  EXPECT_FALSE(back.labs.at("scan").several_devices);
  EXPECT_TRUE(back.labs.at("multi_gpu").several_devices) << "its file may call NCCL";
  for (const char* broken :
       {"[]", "{}", R"({"labs": 3})", R"({"labs": {"scan": {}}, "programs": [], "toolchain": ""})",
        R"({"labs": {}, "programs": [3], "toolchain": ""})"})
    EXPECT_THROW(static_cast<void>(json::parse(broken).get<Harness>()), json::exception) << broken;
}

TEST(Baselines, SurviveARoundTrip) {
  const KnownBaselines known{{"scan/blelloch/big", {1.5, 2.5}}};
  EXPECT_EQ(json(known).get<KnownBaselines>(), known);
  for (const char* broken : {"[3]", R"({"a": 3})", R"({"a": ["x"]})"})
    EXPECT_THROW(static_cast<void>(json::parse(broken).get<KnownBaselines>()), json::exception) << broken;
}

}  // namespace
}  // namespace course::grader::batch
