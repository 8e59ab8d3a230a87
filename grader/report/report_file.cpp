// SPDX-License-Identifier: MIT
#include "report/report_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace course::grader {

namespace fs = std::filesystem;

std::string json_text(const RunResult& result) {
  return to_json(result).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

Result<void> check_writable(const std::string& path) {
  if (path.empty() || path == "-") return {};
  std::error_code ignored;
  if (fs::is_directory(path, ignored))
    return Error{fmt::format("{} is a folder; a file name is needed.", path)};
  const fs::path folder = fs::path(path).has_parent_path() ? fs::path(path).parent_path() : fs::path(".");
  if (!fs::is_directory(folder, ignored)) {
    return Error{fmt::format("{} can't be written: there is no folder {}.", path, folder.string())};
  }
  if (access(folder.c_str(), W_OK) != 0) {
    return Error{fmt::format("{} can't be written: {}.", path, std::strerror(errno))};
  }
  return {};
}

Result<void> write_report(const std::string& path, const std::string& text) {
  if (path == "-") {
    if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0)
      return {};
    return Error{fmt::format("The output could not be written: {}.", std::strerror(errno))};
  }
  // A device or pipe (/dev/stdout) is written directly, because it cannot be replaced.
  std::error_code ignored;
  const bool replace = !fs::exists(path, ignored) || fs::is_regular_file(path, ignored);
  const std::string target = replace ? fmt::format("{}.{}.tmp", path, getpid()) : path;
  const auto failed = [&](const char* doing) {
    const std::string reason = std::strerror(errno);
    if (replace) std::remove(target.c_str());
    return Error{fmt::format("{} could not be {}: {}.", path, doing, reason)};
  };
  std::FILE* file = std::fopen(target.c_str(), "wb");
  if (file == nullptr) return failed("opened");
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fclose(file) != 0 || !written) return failed("written");
  if (replace && std::rename(target.c_str(), path.c_str()) != 0) return failed("put in place");
  return {};
}

}  // namespace course::grader
