// SPDX-License-Identifier: MIT
#include "report/read_result.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>

#include "build_config.hpp"
#include "report/edition.hpp"
#include "report/report_file.hpp"
#include "testing/sample_result.hpp"
#include "text.hpp"

namespace course::grader {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

TEST(ReadResult, ReadsWhatWasWritten) {
  RunResult result = testing::sample_result();
  EXPECT_EQ(json_text(*parse_result(json_text(result))), json_text(result));
  result.labs[0].tasks[0].speedup = std::numeric_limits<double>::infinity();
  result.labs[0].tasks[0].timing->kernel_us = std::nan("");
  result.labs[0].tasks[1].message = "\xff\x01 \"quoted\" </script>";
  EXPECT_EQ(json_text(*parse_result(json_text(result))), json_text(result));
  const RunResult shown = for_students(result);
  EXPECT_EQ(json_text(*parse_result(json_text(shown))), json_text(shown));
  EXPECT_TRUE(parse_result(json_text(shown))->for_students);
}

TEST(ReadResult, KnowsEveryVerdict) {
  for (const lab::VerdictRow& row : lab::kVerdicts) {
    RunResult result = testing::sample_result();
    result.labs[0].tasks[0].verdict = row.verdict;
    const auto read = parse_result(json_text(result));
    ASSERT_TRUE(read) << read.error().text;
    EXPECT_EQ(read->labs[0].tasks[0].verdict, row.verdict);
  }
}

// Removes each value of the document, and replaces it by a value of each other type. The result must be an
// Error that names the place, or a valid result where null or any text is allowed.
TEST(ReadResult, NamesPlaceOfMissingOrMistypedValues) {
  const json whole = json::parse(json_text(testing::sample_result()));
  const json flat = whole.flatten();
  for (const auto& [pointer, value] : flat.items()) {
    const json::json_pointer at(pointer);
    const std::string& key = at.back();
    const bool in_list = key.find_first_not_of("0123456789") == std::string::npos;
    // Fields that are computed from others are not read.
    const bool derived = key == "at_least" || key == "as_fast_as_reference" || key.starts_with("speedup_");
    // Files of older versions lack these.
    const bool later = key.starts_with("near_") || key == "source";
    if (!in_list && !derived && !(later && has(pointer, "/failure/")) &&
        pointer.find("/metrics") == std::string::npos) {
      json less = whole;
      less.at(at.parent_pointer()).erase(key);
      const auto read = parse_result(less.dump());
      ASSERT_FALSE(read) << pointer;
      EXPECT_THAT(read.error().text, HasSubstr(key));
    }
    for (const json& other :
         {json("text"), json(true), json(-1), json(1e300), json::array({1}), json({{"a", 1}})}) {
      json changed = whole;
      changed.at(at) = other;
      const auto read = parse_result(changed.dump());
      if (!read) {
        EXPECT_FALSE(read.error().text.empty());
      }
      if (other.is_structured() && !derived && !value.is_null()) {
        EXPECT_FALSE(read) << pointer << other;
      }
    }
  }
}

TEST(ReadResult, RefusesPointsOutOfBounds) {
  for (const auto& [pointer, value] : {std::pair{"/labs/0/tasks/0/points", 51},
                                       {"/labs/0/tasks/0/points", -1},
                                       {"/labs/0/points", 46},
                                       {"/labs/0/tasks/0/max_points", 2'000'000'000}}) {
    json document = json::parse(json_text(testing::sample_result()));
    document.at(json::json_pointer(pointer)) = value;
    EXPECT_FALSE(parse_result(document.dump())) << pointer;
  }
}

TEST(ReadResult, ExplainsErrors) {
  EXPECT_THAT(parse_result("").error().text, HasSubstr("no JSON"));
  EXPECT_THAT(parse_result("[]").error().text, HasSubstr("should be an object"));
  EXPECT_THAT(parse_result("{\"schema\": 2}").error().text, HasSubstr("schema is 2"));
  EXPECT_THAT(parse_result(std::string(100000, '[')).error().text, HasSubstr("nested too deeply"));
  EXPECT_THAT(read_result("/nowhere/result.json").error().text, HasSubstr("No such file"));
}

// Otherwise the fuzzer starts from files that the reader refuses at once. CORPUS_UPDATE=1 writes them again.
TEST(ReadResult, FuzzCorpusIsWhatIsWrittenToday) {
  const RunResult whole = testing::sample_result();
  for (const auto& [name, text] :
       {std::pair{"sample", json_text(whole)}, {"student", json_text(for_students(whole))}}) {
    const std::string path =
        std::string(kSourceRoot) + "/common/harness/fuzz/corpus/result/" + name + ".json";
    if (std::getenv("CORPUS_UPDATE") != nullptr) std::ofstream(path) << text;
    std::ifstream file(path);
    const std::string found{std::istreambuf_iterator<char>(file), {}};
    EXPECT_TRUE(parse_result(found)) << path;
    EXPECT_EQ(found, text) << "CORPUS_UPDATE=1 ./lab test reports writes " << path << " again";
  }
}

}  // namespace
}  // namespace course::grader
