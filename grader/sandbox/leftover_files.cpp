// SPDX-License-Identifier: MIT
#include "sandbox/leftover_files.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <system_error>

namespace course::grader::sandbox {

LeftoverFiles::~LeftoverFiles() {
  namespace fs = std::filesystem;
  if (uid_ == 0) return;
  for (const std::string& folder : folders_) {
    std::vector<fs::path> owned;
    std::error_code ignored;
    for (fs::directory_iterator entry(folder, ignored), end; entry != end; entry.increment(ignored)) {
      struct stat status {};
      if (lstat(entry->path().c_str(), &status) == 0 && status.st_uid == uid_) owned.push_back(entry->path());
      if (ignored) break;
    }
    for (const fs::path& path : owned) fs::remove_all(path, ignored);  // follows no links
  }
}

}  // namespace course::grader::sandbox
