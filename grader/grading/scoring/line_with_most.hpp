// SPDX-License-Identifier: MIT
// Where a goal is missed, from a run that counted line by line. The report may contain anything: fields that
// can't be read are left out.
#pragma once

#include <string>
#include <string_view>

#include "lab/metrics.hpp"

namespace course::grader {

// The line of the lab's file that contributes most to a metric, and how much: "sat.cu:121, 31.0 extra
// wavefronts a request"; "" if lines do not say.
std::string line_with_most(lab::Metric metric, std::string_view lab, std::string_view sim_report);

}  // namespace course::grader
