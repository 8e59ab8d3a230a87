// SPDX-License-Identifier: MIT
#include "bench/published.hpp"

#include <algorithm>
#include <filesystem>
#include <vector>

namespace course::grader {

Result<std::string> published_results(const Layout& layout) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(layout.root + "/handouts/results", none))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  if (files.empty()) return Error{"there are no results in handouts/results/"};
  return *std::max_element(files.begin(), files.end());
}

}  // namespace course::grader
