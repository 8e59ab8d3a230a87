// SPDX-License-Identifier: MIT
// Escapes text for XML and HTML.
#pragma once

#include <string>
#include <string_view>

namespace course::grader {

// For the text of elements, and for attributes in single or double quotes. The result is valid UTF-8;
// characters that XML 1.0 forbids become escapes such as "\x1b", so that every input gives a well-formed
// document.
std::string escape_markup(std::string_view text);

}  // namespace course::grader
