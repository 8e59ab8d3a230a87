// SPDX-License-Identifier: MIT
// Removes the files that a sandbox's own user leaves in world-writable folders. A sandbox without a file
// system of its own uses the machine's folders.
// Invariant: after the destructor these folders hold no file of that user at their top level. (By then no
// process of that user is running.)
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace course::grader::sandbox {

class LeftoverFiles {
 public:
  // `uid`: a user id that no other sandbox has now; 0: nothing is removed.
  explicit LeftoverFiles(unsigned uid = 0,
                         std::vector<std::string> folders = {"/tmp", "/var/tmp", "/dev/shm"})
      : uid_(uid), folders_(std::move(folders)) {}
  LeftoverFiles(LeftoverFiles&& other) noexcept
      : uid_(std::exchange(other.uid_, 0)), folders_(std::move(other.folders_)) {}
  LeftoverFiles& operator=(LeftoverFiles&& other) noexcept {
    std::swap(uid_, other.uid_);
    std::swap(folders_, other.folders_);
    return *this;
  }
  LeftoverFiles(const LeftoverFiles&) = delete;
  LeftoverFiles& operator=(const LeftoverFiles&) = delete;
  ~LeftoverFiles();

 private:
  unsigned uid_;
  std::vector<std::string> folders_;
};

}  // namespace course::grader::sandbox
