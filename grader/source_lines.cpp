// SPDX-License-Identifier: MIT
#include "source_lines.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace course::grader {

SourceLine source_lines_below(const std::string& root) {
  struct Files {
    std::mutex mutex;
    std::map<std::string, std::vector<std::string>> lines;
  };
  return
      [root, files = std::make_shared<Files>()](const std::string& file, std::uint32_t line) -> std::string {
        namespace fs = std::filesystem;
        const std::lock_guard lock(files->mutex);
        const auto [found, is_new] = files->lines.try_emplace(file);
        std::vector<std::string>& lines = found->second;
        std::error_code error;
        if (is_new) {
          const fs::path inside = fs::weakly_canonical(root, error);
          const fs::path path = fs::weakly_canonical(fs::path(root) / file, error);
          const bool below =
              std::mismatch(inside.begin(), inside.end(), path.begin(), path.end()).first == inside.end();
          std::ifstream in(!error && below && fs::is_regular_file(path, error) ? path : fs::path());
          for (std::string text; std::getline(in, text);) lines.push_back(text);
        }
        return line > 0 && line <= lines.size() ? lines[line - 1] : "";
      };
}

}  // namespace course::grader
