// SPDX-License-Identifier: MIT
// A control group for what is started in a sandbox: bounds its memory and its number of processes, and lists
// every process of it, so that none outlives the sandbox. Version 2 where memory and pids can be had there,
// else version 1, else none.
// Invariant: after the destructor neither the group nor a process in it is there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace course::grader::sandbox {

struct CgroupLimits {
  std::uint64_t memory_bytes = 0;
  std::uint64_t processes = 0;  // threads count
};

// Where groups may be made, from the kernel's own tables. Split from Cgroup for tests.
struct CgroupPlace {
  std::string folder;  // of the group that ours is made in
  bool version2 = false;
  std::string controller;  // version 1: "memory" or "pids"
};
std::vector<CgroupPlace> cgroup_places(const std::string& self_cgroup, const std::string& self_mountinfo);

// The folders of groups that this process has made and not removed.
std::vector<std::string> cgroups_of_this_process();
// Ends every process in this group and removes it.
void end_group(const std::string& folder);

class Cgroup {
 public:
  // Nothing where control groups can't be made.
  static std::optional<Cgroup> make(const CgroupLimits& limits);
  // The same, in one of these places.
  static std::optional<Cgroup> make_in(const std::vector<CgroupPlace>& places, const CgroupLimits& limits);

  Cgroup(Cgroup&& other) noexcept;
  Cgroup& operator=(Cgroup&& other) noexcept;
  Cgroup(const Cgroup&) = delete;
  Cgroup& operator=(const Cgroup&) = delete;
  ~Cgroup();

  int version() const { return version_; }
  const std::vector<std::string>& folders() const { return folders_; }
  // A process that writes "0" to each of these belongs to the group.
  std::vector<std::string> procs_files() const;

 private:
  Cgroup(int version, std::vector<std::string> folders) : version_(version), folders_(std::move(folders)) {}
  void remove();
  int version_ = 0;
  std::vector<std::string> folders_;
};

}  // namespace course::grader::sandbox
