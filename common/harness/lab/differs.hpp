// SPDX-License-Identifier: MIT
// Which elements to mark or to follow in an output that the lab has judged wrong.
#pragma once

#include <string>

namespace course::lab {

// Whether two printed elements differ by more than rounding. It marks elements; it does not judge them.
bool differs(const std::string& expected, const std::string& got);

}  // namespace course::lab
