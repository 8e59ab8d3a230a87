// SPDX-License-Identifier: MIT
#include "sim/authors_files.hpp"

#include <filesystem>
#include <map>
#include <mutex>

namespace course::sim {
namespace {

namespace fs = std::filesystem;

bool is_in_a_toolkit(const fs::path& folder) {
  static std::mutex mutex;
  static auto& known = *new std::map<fs::path, bool>;  // also used while the process ends
  const std::scoped_lock lock(mutex);
  const auto [at, is_new] = known.try_emplace(folder, false);
  if (is_new) {
    std::error_code error;
    for (fs::path above = folder; !at->second && above != above.parent_path(); above = above.parent_path())
      at->second = fs::exists(above / "cuda_runtime_api.h", error);
  }
  return at->second;
}

}  // namespace

bool is_authors_file(const std::string& file) {
  return !file.empty() && !file.starts_with("/usr/include/") && !file.starts_with("/usr/lib/") &&
         file.find("/include/c++/") == std::string::npos &&
         !is_in_a_toolkit(fs::path(file).lexically_normal().parent_path());
}

}  // namespace course::sim
