// SPDX-License-Identifier: MIT
#include "page/markup.hpp"

#include "text.hpp"

namespace course::grader {

std::string escape_markup(std::string_view text) {
  std::string out;
  for (const char c : tame(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

}  // namespace course::grader
