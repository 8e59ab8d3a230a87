// SPDX-License-Identifier: MIT
#include "grading/scoring/rescore.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace course::grader {
namespace {

using nlohmann::json;

const json kTask = {{"id", "fast"},
                    {"verdict", "OK"},
                    {"points", 0},
                    {"max_points", 0},
                    {"message", ""},
                    {"unknown", "kept"},
                    {"speedup", 9.0},
                    {"metrics", {{"bytes_ratio", 1.5}, {"active_lanes", 0.9}}},
                    {"timing", {{"speedup_one_thread", 9.0}, {"speedup_all_cores", 3.0}}}};

// The lab with the task, changed by `patch`, as it is worth by the wish.
json rescored(const json& patch, const json& wish = json::object(), const char* baseline = "one_thread") {
  const json table = {
      {"catalogue",
       {{"labs",
         {{{"id", "scan"},
           {"tasks",
            {{{"id", "fast"},
              {"correctness_points", 10},
              {"baseline", baseline},
              {"bonus", false},
              {"efficiency",
               {{{"metric", "bytes_ratio"}, {"limit", 1.5}, {"points", 5}},
                {{"metric", "active_lanes"}, {"limit", 0.9}, {"points", 4}}}},
              {"speedup", {{{"speedup", 8}, {"points", 3}}, {{"speedup", 9.5}, {"points", 2}}}}}}}}}}}},
      {"points", {{"scan", {{"fast", wish}}}}}};
  const auto points = PointsTable::parse(table.dump());
  if (!points) return points.error().text;
  json task = kTask;
  if (patch.is_object()) task.update(patch);
  const auto lab = points->rescored(json{{"id", "scan"}, {"tasks", {task}}}.dump());
  return lab ? json::parse(*lab) : json(lab.error().text);
}
int points(const json& patch, const json& wish = json::object(), const char* baseline = "one_thread") {
  return rescored(patch, wish, baseline).at("points");
}

TEST(Rescore, GivesPointsByLimitsAndTiers) {
  EXPECT_EQ(points({}), 22);
  EXPECT_EQ(points({}, {{"speedup", {{9, 7}}}}), 26);
  EXPECT_EQ(points({}, {{"efficiency", {{"bytes_ratio", {{"limit", 1.4}, {"points", 5}}}}}}), 17);
  EXPECT_EQ(points({}, {{"efficiency", {{"active_lanes", {{"limit", 0.91}, {"points", 4}}}}}}), 18);
  EXPECT_EQ(points({}, {{"correctness", 1}}), 13);
}

TEST(Rescore, KnowsWhetherItIsAsFastAsTheReference) {
  const json strict = {{"efficiency", {{"bytes_ratio", {{"limit", 1}, {"points", 5}}}}}};
  EXPECT_EQ(points({{"time_ratio", 1.1}}, strict), 17);
  EXPECT_EQ(points({{"time_ratio", 0.9}}, strict), 22);
}

TEST(Rescore, KeepsWhatPointsDoNotDependOn) {
  const json task = rescored({}).at("tasks").at(0);
  EXPECT_EQ(task.at("unknown"), "kept");
  EXPECT_EQ(task.at("metrics"), kTask.at("metrics"));
  EXPECT_EQ(task.at("message"), "speedup is 9, 9.5 is required (2 points lost).");
}

TEST(Rescore, WithholdsPointsOfWrongAndDoubtfulTasks) {
  EXPECT_EQ(points({{"verdict", "CRASH"}}), 0);
  EXPECT_EQ(points({{"verdict", "SUSPECT"}}), 19);
}

TEST(Rescore, SaysWhatWasNotMeasured) {
  const json lab = rescored({}, {{"efficiency", {{"barriers", {{"limit", 1}, {"points", 5}}}}}});
  EXPECT_EQ(lab.at("points"), 22);
  EXPECT_EQ(lab.at("tasks").at(0).at("goals").at(2).at("note"), "not measured");
}

TEST(Rescore, SpeedupIsOverTheTasksBaseline) {
  EXPECT_EQ(points({}, {{"speedup", {{3, 1}, {4, 1}}}}, "all_cores"), 20);
}

TEST(Rescore, RefusesOtherDocuments) {
  EXPECT_FALSE(PointsTable::parse("{}"));
  EXPECT_FALSE(PointsTable::parse("["));
  EXPECT_TRUE(rescored({}, {{"efficiency", {{"speed", {{"limit", 1}, {"points", 5}}}}}}).is_string());
  EXPECT_TRUE(rescored({{"verdict", "GOOD"}}).is_string());
}

TEST(Rescore, RefusesMoreTiersThanTasksCanHave) {
  json tiers = json::array();
  for (int k = 1; k <= 17; ++k) tiers.push_back({k, 1});
  const json refused = rescored({}, {{"speedup", tiers}});
  ASSERT_TRUE(refused.is_string());
  EXPECT_NE(refused.get<std::string>().find("at most 16 goals and 16 tiers"), std::string::npos);
}

}  // namespace
}  // namespace course::grader
