// SPDX-License-Identifier: MIT
// What stored results are worth by the labs' points, which may have changed since. Reads and writes JSON for
// the scripts of grader/batch, which have no rules of their own; score.hpp has them. Results are kept as they
// are but for points, goals, tiers and the message of a right task.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "lab/manifest.hpp"

namespace course::grader {

class PointsTable {
 public:
  // {"catalogue": what list --json prints}
  static Result<PointsTable> parse(std::string_view text);
  // `lab`, the JSON of one lab of a result, with the points of this table. What the table lacks keeps its
  // points.
  Result<std::string> rescored(std::string_view lab) const;

 private:
  struct Points {
    std::string id;
    lab::ShortList<lab::EfficiencyGoal> goals;
    lab::ShortList<lab::SpeedupTier> tiers;
    int correctness = 0;
    bool bonus = false;
    lab::Task task() const { return {id, "", "", correctness, goals, tiers, bonus}; }
  };
  std::map<std::string, std::map<std::string, Points>> labs_;
};

}  // namespace course::grader
