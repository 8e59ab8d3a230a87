// SPDX-License-Identifier: MIT
// Names on the command line (labs, tasks, cases, seeds), and the lists of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "grading/catalogue.hpp"
#include "grading/planning/select.hpp"
#include "grading/run_context.hpp"
#include "testing/scripted.hpp"

namespace course::grader {
namespace {

using ::testing::HasSubstr;

const testing::FakeProblem kProblem;
const lab::Problem* const kAll[] = {&kProblem};

TEST(SelectLabs, AcceptsNamesFoldersOrAll) {
  EXPECT_EQ(select_labs(kAll, {})->size(), 1U);
  EXPECT_EQ(select_labs(kAll, {"fake"})->size(), 1U);
  EXPECT_EQ(select_labs(kAll, {"labs/fake/", "fake"})->size(), 1U);
}

TEST(SelectLabs, SuggestsTheNearestName) {
  const auto wrong = select_labs(kAll, {"fkae"});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().text, "There is no lab \"fkae\"; did you mean fake?");
  EXPECT_THAT(select_labs(kAll, {"matmul"}).error().text, HasSubstr("there is: fake"));
  EXPECT_THAT(select_labs(kAll, {"\x1b[2J"}).error().text, HasSubstr("\\x1b[2J"));
  EXPECT_FALSE(select_labs({}, {}));
}

// ./lab grade fake second
TEST(SelectLabs, RecognisesATaskInPlaceOfALab) {
  for (const char* name : {"second", "secnod"}) {
    EXPECT_THAT(select_labs(kAll, {"fake", name}).error().text,
                HasSubstr("did you mean fake --task second?"));
  }
}

TEST(CheckNames, SuggestTheNearestTaskAndCase) {
  EXPECT_TRUE(check_task(kAll, "second"));
  EXPECT_EQ(check_task(kAll, "secnod").error().text,
            "There is no task \"secnod\" in fake; did you mean second?");
  EXPECT_TRUE(check_case(kAll, nullptr, "n33"));
  EXPECT_THAT(check_case(kAll, nullptr, "n333").error().text, HasSubstr("did you mean n33"));
  const std::string task = "first";
  EXPECT_TRUE(check_case(kAll, &task, "n33"));
}

TEST(Seed, IsDifferentEachTime) {
  EXPECT_NE(*fresh_seed(), *fresh_seed());
}

TEST(Catalogue, ListsEveryTaskWithItsPoints) {
  const std::string text = catalogue_text(kAll);
  EXPECT_THAT(text, HasSubstr("fake: A fake lab (100 points, bonus 10)"));
  for (const lab::Task& task : testing::kTasks) EXPECT_THAT(text, HasSubstr(std::string(task.title)));
  const auto json = nlohmann::json::parse(catalogue_json(kAll));
  EXPECT_EQ(json.at("labs").at(0).at("tasks").size(), 3U);
  EXPECT_EQ(json.at("labs").at(0).at("tasks").at(0).at("max_points"), 50);
  EXPECT_EQ(json.at("chips").at("h200").at("multiprocessors"), 132);
  for (const char* what : {"counted_on", "timed_on"})
    EXPECT_EQ(json.at("labs").at(0).at("tasks").at(0).at(what).size(), 1U) << what;
}

TEST(Catalogue, MakesAMarkdownTableOfPoints) {
  const std::string table = points_markdown(testing::kManifest);
  EXPECT_THAT(
      table,
      HasSubstr("| `first` First task | 30 | barriers per row ≤ 4: 5<br>active_lanes ≥ 0.9: 5 | 2× one CPU "
                "thread: 6<br>10× one CPU thread: 4 | 50 |"));
  EXPECT_THAT(table, HasSubstr("| **all** | | | | **100 + 10** |"));
}

TEST(Catalogue, LeavesOutColumnsOfGoalsThatNoTaskHas) {
  lab::Task task;
  task.id = "a", task.title = "A", task.correctness_points = 50;
  lab::Manifest manifest;
  manifest.tasks = {&task, 1};
  EXPECT_EQ(points_markdown(manifest),
            "| task | points |\n|---|---:|\n| `a` A | 50 |\n| **all** | **50** |\n");
}

}  // namespace
}  // namespace course::grader
