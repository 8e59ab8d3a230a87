// SPDX-License-Identifier: MIT
// Text made safe inside XML and HTML.
#pragma once

#include <string>
#include <string_view>

namespace course::grader {

// For element text and for attributes in either quote. Valid UTF-8; characters that XML 1.0 forbids become
// "\x1b" in letters, so that any input gives a well-formed document.
std::string escape_markup(std::string_view text);

}  // namespace course::grader
