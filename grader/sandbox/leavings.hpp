// SPDX-License-Identifier: MIT
// What a sandbox's own user leaves in the folders that everybody may write to. Where the sandbox has no file
// system of its own, these are the machine's.
// Invariant: after the destructor nothing of that user lies there. (By then none of his processes is alive.)
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace course::grader::sandbox {

class Leavings {
 public:
  // `uid`: that no other sandbox has; 0: nothing is removed.
  explicit Leavings(unsigned uid = 0, std::vector<std::string> folders = {"/tmp", "/var/tmp", "/dev/shm"})
      : uid_(uid), folders_(std::move(folders)) {}
  Leavings(Leavings&& other) noexcept
      : uid_(std::exchange(other.uid_, 0)), folders_(std::move(other.folders_)) {}
  Leavings& operator=(Leavings&& other) noexcept {
    std::swap(uid_, other.uid_);
    std::swap(folders_, other.folders_);
    return *this;
  }
  Leavings(const Leavings&) = delete;
  Leavings& operator=(const Leavings&) = delete;
  ~Leavings();

 private:
  unsigned uid_;
  std::vector<std::string> folders_;
};

}  // namespace course::grader::sandbox
