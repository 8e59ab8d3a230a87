// SPDX-License-Identifier: MIT
// For tests: what a file holds, and a folder of a test's own.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>

namespace course::grader::testing {

inline std::string contents(const std::string& path) {
  return (std::ostringstream() << std::ifstream(path).rdbuf()).str();
}

// Every user may enter it. It goes with its object.
class Folder {
 public:
  explicit Folder(const std::string& name = "test")
      : path((std::filesystem::temp_directory_path() / (name + "-XXXXXX")).string()) {
    EXPECT_NE(mkdtemp(path.data()), nullptr);
    std::filesystem::permissions(path, std::filesystem::perms(0755));
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }

  std::string path;
};

}  // namespace course::grader::testing
