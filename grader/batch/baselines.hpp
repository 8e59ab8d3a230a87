// SPDX-License-Identifier: MIT
// The CPU's times for a whole class, taken once on an idle machine: every submission is held against the same
// ones.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "base/result.hpp"
#include "grading/baseline.hpp"
#include "grading/grade.hpp"
#include "grading/select.hpp"

namespace course::grader::batch {

// Of every case that a speedup is measured on. Several runs more than for one submission: these have to last.
KnownBaselines time_baselines(Problems labs, const GradeOptions& options);

nlohmann::json to_json(const KnownBaselines& baselines);
Result<KnownBaselines> baselines_from(const nlohmann::json& json);

}  // namespace course::grader::batch
