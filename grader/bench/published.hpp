// SPDX-License-Identifier: MIT
// Where the measured results lie that the handouts show.
#pragma once

#include <string>

#include "base/result.hpp"
#include "layout.hpp"

namespace course::grader {

// The newest file of handouts/results/: their names begin with the date.
Result<std::string> published_results(const Layout& layout);

}  // namespace course::grader
