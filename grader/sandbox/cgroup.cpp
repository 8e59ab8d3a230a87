// SPDX-License-Identifier: MIT
// Reading order: cgroup_places (where), Cgroup::make_in (how), Cgroup::remove.
#include "sandbox/cgroup.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <utility>

#include "base/words.hpp"
#include "process.hpp"

namespace course::grader::sandbox {
namespace fs = std::filesystem;

namespace {

// Followed by the PID namespace's number, the grader's process id in it, and a counter.
constexpr const char* kPrefix = "gpu-lab-";

bool put(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text << std::flush;
  return file.good();
}

bool has(const std::vector<std::string>& list, const std::string& one) {
  return std::ranges::find(list, one) != list.end();
}

void kill_members(const std::string& folder) {
  if (put(folder + "/cgroup.kill", "1")) return;  // version 2, since Linux 5.14
  std::istringstream members(contents_of(folder + "/cgroup.procs"));
  for (pid_t member = 0; members >> member;)
    if (member > 1 && member != getpid()) kill(member, SIGKILL);
}

}  // namespace

// The kernel removes a dead process from its group only some time after it has been reaped, and on a loaded
// machine thousands of threads take seconds to die, so this retries. It gives up when a process can't be
// killed (a driver's call that never returns).
void end_group(const std::string& folder) {
  using namespace std::chrono_literals;
  const auto given_up = std::chrono::steady_clock::now() + 30s;
  for (auto pause = 250us; std::chrono::steady_clock::now() < given_up;
       pause = std::min(2 * pause, 20'000us)) {
    if (rmdir(folder.c_str()) == 0 || errno == ENOENT) return;
    kill_members(folder);
    std::this_thread::sleep_for(pause);
  }
}

namespace {

// The prefix of the names of all groups made by graders in this PID namespace. Containers with different PID
// namespaces may share one tree of groups.
std::string prefix_here() {
  std::error_code ignored;
  std::string space = fs::read_symlink("/proc/self/ns/pid", ignored).string();  // "pid:[4026531836]"
  space.erase(std::remove_if(space.begin(), space.end(), [](char c) { return c < '0' || c > '9'; }),
              space.end());
  return fmt::format("{}{}-", kPrefix, space.empty() ? "0" : space);
}

// Removes the groups of graders that were killed before they could remove them.
void remove_stale(const std::string& parent) {
  static const std::string prefix = prefix_here();
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(parent, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix)) continue;
    const pid_t owner = std::atoi(name.c_str() + prefix.size());
    if (owner > 1 && kill(owner, 0) != 0 && errno == ESRCH) end_group(entry.path().string());
  }
}

}  // namespace

std::vector<CgroupPlace> cgroup_places(const std::string& self_cgroup, const std::string& self_mountinfo) {
  std::vector<CgroupPlace> places;
  const auto add = [&](const std::string& mount, std::string path, bool version2,
                       const std::string& controller) {
    // Inside a container the path may not exist below the mount point. Then the mount point is the group
    // itself.
    std::error_code ignored;
    if (path == "/" || path.empty()) path = "";
    if (!path.empty() && fs::is_directory(mount + path, ignored)) {
      places.push_back({mount + path, version2, controller});
      // In version 2 a group that contains processes can't have children with limits. Its parent can, if we
      // may write there.
      if (version2) places.push_back({fs::path(mount + path).parent_path().string(), true, ""});
    }
    places.push_back({mount, version2, controller});
  };
  for (const std::string& line : words(self_mountinfo, '\n')) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    const auto before = words(line.substr(0, dash), ' ');
    const auto after = words(line.substr(dash + 3), ' ');
    if (before.size() < 5 || after.size() < 3) continue;
    const bool version2 = after[0] == "cgroup2";
    if (!version2 && after[0] != "cgroup") continue;
    const auto options = words(after[2], ',');
    for (const std::string& membership : words(self_cgroup, '\n')) {
      const auto parts = words(membership, ':');
      if (parts.size() < 3) continue;
      if (version2 && parts[0] == "0") add(before[4], parts[2], true, "");
      for (const char* controller : {"memory", "pids"})
        if (!version2 && has(options, controller) && has(words(parts[1], ','), controller))
          add(before[4], parts[2], false, controller);
    }
  }
  return places;
}

std::vector<std::string> cgroups_of_this_process() {
  std::vector<std::string> found;
  const std::string mine = fmt::format("{}{}-", prefix_here(), getpid());
  for (const CgroupPlace& place :
       cgroup_places(contents_of("/proc/self/cgroup"), contents_of("/proc/self/mountinfo"))) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(place.folder, ignored))
      if (entry.path().filename().string().starts_with(mine)) found.push_back(entry.path().string());
  }
  return found;
}

std::optional<Cgroup> Cgroup::make(const CgroupLimits& limits) {
  return make_in(cgroup_places(contents_of("/proc/self/cgroup"), contents_of("/proc/self/mountinfo")),
                 limits);
}

std::optional<Cgroup> Cgroup::make_in(const std::vector<CgroupPlace>& places, const CgroupLimits& limits) {
  static std::atomic<unsigned> n_made{0};
  const std::string name = fmt::format("{}{}-{}", prefix_here(), getpid(), n_made++);
  const auto make_folder = [&](const std::string& parent) -> std::string {
    remove_stale(parent);
    const std::string folder = parent + "/" + name;
    std::error_code failed;
    return fs::create_directory(folder, failed) && !failed ? folder : "";
  };
  const auto bound_memory = [&](const std::string& folder, const char* file) {
    return put(folder + "/" + file, std::to_string(limits.memory_bytes));
  };
  for (const CgroupPlace& place : places) {
    if (!place.version2 || access((place.folder + "/cgroup.subtree_control").c_str(), W_OK) != 0) continue;
    const auto offered = words(contents_of(place.folder + "/cgroup.controllers"), ' ');
    if (offered.empty()) continue;
    put(place.folder + "/cgroup.subtree_control", "+memory +pids");
    const std::string folder = make_folder(place.folder);
    if (folder.empty()) continue;
    if (bound_memory(folder, "memory.max") && put(folder + "/pids.max", std::to_string(limits.processes))) {
      put(folder + "/memory.swap.max", "0");
      return Cgroup(2, {folder});
    }
    rmdir(folder.c_str());
  }
  std::vector<std::string> made;
  for (const char* controller : {"memory", "pids"}) {
    for (const CgroupPlace& place : places) {
      if (place.version2 || place.controller != controller) continue;
      const std::string folder = make_folder(place.folder);
      if (folder.empty()) continue;
      const bool bounded = place.controller == "memory"
                               ? bound_memory(folder, "memory.limit_in_bytes")
                               : put(folder + "/pids.max", std::to_string(limits.processes));
      if (bounded && access((folder + "/cgroup.procs").c_str(), W_OK) == 0) {
        made.push_back(folder);
        break;
      }
      rmdir(folder.c_str());
    }
  }
  if (made.empty()) return std::nullopt;
  return Cgroup(1, made);
}

Cgroup::Cgroup(Cgroup&& other) noexcept
    : version_(other.version_), folders_(std::exchange(other.folders_, {})) {}

Cgroup& Cgroup::operator=(Cgroup&& other) noexcept {
  std::swap(version_, other.version_);
  std::swap(folders_, other.folders_);
  return *this;
}

Cgroup::~Cgroup() {
  remove();
}

std::vector<std::string> Cgroup::procs_files() const {
  std::vector<std::string> files;
  for (const std::string& folder : folders_) files.push_back(folder + "/cgroup.procs");
  return files;
}

void Cgroup::remove() {
  for (const std::string& folder : folders_) end_group(folder);
  folders_.clear();
}

}  // namespace course::grader::sandbox
