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
  // The handouts show every rung's times on an H200. Runs on other devices may have only the top rungs.
  for (const auto& entry : fs::directory_iterator(layout.root + "/handouts/results", none))
    if (entry.path().string().ends_with("-h200.json")) files.push_back(entry.path());
  if (files.empty()) return Error{"there are no results in handouts/results/"};
  return *std::ranges::max_element(files);
}

}  // namespace course::grader
