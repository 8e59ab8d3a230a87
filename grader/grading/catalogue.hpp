// SPDX-License-Identifier: MIT
// What there is to earn: labs, tasks, goals and points, from the manifests, as text, JSON and Markdown.
#pragma once

#include <string>

#include "grading/select.hpp"
#include "lab/manifest.hpp"

namespace course::grader {

std::string catalogue_text(Problems labs);
std::string catalogue_json(Problems labs);
// One row a task: points for correctness, each efficiency goal, each speedup tier, total.
std::string points_markdown(const lab::Manifest& manifest);
std::string points_text(const lab::Manifest& manifest);

}  // namespace course::grader
