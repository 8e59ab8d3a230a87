// SPDX-License-Identifier: MIT
// A control group for one sandbox. It limits the memory and the number of processes, and lists every process,
// so that none outlives the sandbox. It uses version 2 if the controllers `memory` and `pids` are available
// there, else version 1, where one of the two limits may be missing.
// Invariant: after the destructor neither the group nor any of its processes exists, unless one can't be
// killed within 30 s.
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

// A folder in which a group may be made. cgroup_places() reads them from the text of /proc/self/cgroup and
// /proc/self/mountinfo; it is a function of its own so that tests can pass other texts.
struct CgroupPlace {
  std::string folder;  // the parent of the new group
  bool version2 = false;
  std::string controller;  // version 1: "memory" or "pids"
};
std::vector<CgroupPlace> cgroup_places(const std::string& self_cgroup, const std::string& self_mountinfo);

// The folders of the groups that this process has made and not yet removed.
std::vector<std::string> cgroups_of_this_process();
// Kills every process in this group but the caller and removes the group. Gives up after 30 s.
void end_group(const std::string& folder);

class Cgroup {
 public:
  // std::nullopt if no control group can be made.
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
