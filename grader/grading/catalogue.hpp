// SPDX-License-Identifier: MIT
// The labs, tasks, goals and points of the manifests as text, JSON and Markdown.
#pragma once

#include <string>

#include "grading/planning/select.hpp"
#include "lab/manifest.hpp"

namespace course::grader {

// "barriers per row ≤ 12"
std::string goal_text(const lab::EfficiencyGoal& goal);

std::string catalogue_text(Problems labs);
std::string catalogue_json(Problems labs);
// One row per task: points for correctness, for each efficiency goal and each speedup tier, and the total.
std::string points_markdown(const lab::Manifest& manifest);

}  // namespace course::grader
