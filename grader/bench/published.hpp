// SPDX-License-Identifier: MIT
// The measured results that the handouts show.
#pragma once

#include <string>

#include "base/result.hpp"
#include "layout.hpp"

namespace course::grader {

// The path of the newest file in handouts/results/; the names begin with the date. An Error if there is none.
Result<std::string> published_results(const Layout& layout);

}  // namespace course::grader
