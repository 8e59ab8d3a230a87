// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace course {

// The words of a text, with one separator between two of them.
inline std::vector<std::string> words(std::string_view text, char separator = ' ') {
  std::vector<std::string> found;
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
    end = std::min(text.find(separator, begin), text.size());
    found.emplace_back(text.substr(begin, end - begin));
  }
  return found;
}

}  // namespace course
