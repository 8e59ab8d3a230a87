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
                    {"timing", {{"speedup_one_thread", 9.0}}}};

const json kBytes = {{"metric", "bytes_ratio"}, {"limit", 1.5}, {"points", 5}};
const json kLanes = {{"metric", "active_lanes"}, {"limit", 0.9}, {"points", 4}};

json with_limit(json goal, double limit) {
  goal["limit"] = limit;
  return goal;
}

// The lab with the task, changed by `patch`, as it is worth by the lab's points, changed by `points`.
json rescored(const json& patch, const json& points = json::object()) {
  json catalogue = {{"id", "fast"},
                    {"correctness_points", 10},
                    {"bonus", false},
                    {"efficiency", {kBytes, kLanes}},
                    {"speedup", {{{"speedup", 8}, {"points", 3}}, {{"speedup", 9.5}, {"points", 2}}}}};
  catalogue.update(points);
  const json table = {{"catalogue", {{"labs", {{{"id", "scan"}, {"tasks", {catalogue}}}}}}}};
  const auto parsed = PointsTable::parse(table.dump());
  if (!parsed) return parsed.error().text;
  json task = kTask;
  task.update(patch);
  const auto lab = parsed->rescored(json{{"id", "scan"}, {"tasks", {task}}}.dump());
  return lab ? json::parse(*lab) : json(lab.error().text);
}
int points(const json& patch, const json& points = json::object()) {
  return rescored(patch, points).at("points");
}

TEST(Rescore, GivesPointsByLimitsAndTiers) {
  EXPECT_EQ(points(json::object()), 22);
  EXPECT_EQ(points(json::object(), {{"speedup", {{{"speedup", 9}, {"points", 7}}}}}), 26);
  EXPECT_EQ(points(json::object(), {{"efficiency", {with_limit(kBytes, 1.4), kLanes}}}), 17);
  EXPECT_EQ(points(json::object(), {{"efficiency", {kBytes, with_limit(kLanes, 0.91)}}}), 18);
  EXPECT_EQ(points(json::object(), {{"correctness_points", 1}}), 13);
}

TEST(Rescore, KnowsWhetherItIsAsFastAsTheReference) {
  const json strict = {{"efficiency", {with_limit(kBytes, 1), kLanes}}};
  EXPECT_EQ(points({{"time_ratio", 1.1}}, strict), 17);
  EXPECT_EQ(points({{"time_ratio", 0.9}}, strict), 22);
}

TEST(Rescore, KeepsWhatPointsDoNotDependOn) {
  const json task = rescored(json::object()).at("tasks").at(0);
  EXPECT_EQ(task.at("unknown"), "kept");
  EXPECT_EQ(task.at("metrics"), kTask.at("metrics"));
  EXPECT_EQ(task.at("message"), "speedup is 9, 9.5 is required (2 points lost).");
}

TEST(Rescore, WithholdsPointsOfWrongAndDoubtfulTasks) {
  EXPECT_EQ(points({{"verdict", "CRASH"}}), 0);
  EXPECT_EQ(points({{"verdict", "SUSPECT"}}), 19);
}

TEST(Rescore, SaysWhatWasNotMeasured) {
  const json barriers = {{"metric", "barriers"}, {"limit", 1}, {"points", 5}};
  const json lab = rescored(json::object(), {{"efficiency", {kBytes, kLanes, barriers}}});
  EXPECT_EQ(lab.at("points"), 22);
  EXPECT_EQ(lab.at("tasks").at(0).at("goals").at(2).at("note"), "not measured");
}

TEST(Rescore, RefusesOtherDocuments) {
  EXPECT_FALSE(PointsTable::parse("{}"));
  EXPECT_FALSE(PointsTable::parse("["));
  const json unknown = {{"metric", "speed"}, {"limit", 1}, {"points", 5}};
  EXPECT_TRUE(rescored(json::object(), {{"efficiency", {unknown}}}).is_string());
  EXPECT_TRUE(rescored({{"verdict", "GOOD"}}).is_string());
}

TEST(Rescore, RefusesMoreTiersThanTasksCanHave) {
  json tiers = json::array();
  for (int k = 1; k <= 17; ++k) tiers.push_back({{"speedup", k}, {"points", 1}});
  const json refused = rescored(json::object(), {{"speedup", tiers}});
  ASSERT_TRUE(refused.is_string());
  EXPECT_NE(refused.get<std::string>().find("at most 16 goals and 16 tiers"), std::string::npos);
}

}  // namespace
}  // namespace course::grader
