// SPDX-License-Identifier: MIT
#include "sandbox/view.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

namespace course::grader::sandbox {
namespace fs = std::filesystem;

namespace {

// The system's programs and libraries, which every user may read.
constexpr const char* kSystem[] = {"/usr",   "/bin",   "/sbin",   "/lib",
                                   "/lib32", "/lib64", "/libx32", "/nix/store"};
// The files in /etc that the loader and the compilers read; none holds names of users or machines.
constexpr const char* kSettings[] = {"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d",
                                     "/etc/alternatives", "/etc/localtime"};
bool is_of_the_system(const std::string& path) {
  return std::ranges::any_of(
      kSystem, [&](const std::string& folder) { return path == folder || path.starts_with(folder + "/"); });
}

constexpr const char* kTmpBytes = "268435456";
constexpr const char* kShmBytes = "67108864";

}  // namespace

std::vector<std::string> bwrap_arguments(const std::string& bwrap, Namespaces how, bool disable_userns,
                                         const View& view) {
  std::vector<std::string> a{bwrap,           "--unshare-ipc",        "--unshare-pid", "--unshare-net",
                             "--unshare-uts", "--unshare-cgroup-try", "--hostname",    "sandbox",
                             "--new-session", "--die-with-parent"};
  const auto add = [&](std::initializer_list<std::string> more) { a.insert(a.end(), more); };
  if (how == Namespaces::by_user) {
    add({"--unshare-user"});
    if (disable_userns) add({"--disable-userns"});
  } else {
    add({"--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"});  // until sandbox_enter changes the user
  }
  // Parent folders are created explicitly, because those that bubblewrap creates can only be read by root.
  std::set<std::string> made{"/"};
  const auto reach = [&](const fs::path& path) {
    fs::path parent;
    for (const fs::path& part : path.parent_path()) {
      parent /= part;
      if (made.insert(parent.string()).second) add({"--perms", "0755", "--dir", parent.string()});
    }
  };
  const auto bind = [&](const char* option, std::string path) {
    if (is_of_the_system(path)) {
      // Already visible, unless it is a symbolic link to another folder.
      std::error_code dangling;
      path = fs::canonical(path, dangling).string();
      if (dangling || is_of_the_system(path)) return;
    }
    reach(path);
    add({option, path, path});
  };
  std::error_code ignored;
  for (const char* folder : kSystem) {
    if (fs::is_symlink(folder, ignored)) {
      add({"--symlink", fs::read_symlink(folder, ignored).string(), folder});
    } else if (fs::exists(folder, ignored)) {
      reach(folder);
      add({"--ro-bind", folder, folder});
    }
  }
  for (const char* file : kSettings) bind("--ro-bind-try", file);
  if (view.proc) add({"--proc", "/proc"});
  add({"--dev", "/dev", "--perms", "1777", "--size", kShmBytes, "--tmpfs", "/dev/shm"});
  add({"--perms", "1777", "--size", kTmpBytes, "--tmpfs", "/tmp"});
  for (const std::string& device : view.devices) bind("--dev-bind-try", device);
  if (!view.devices.empty()) add({"--ro-bind-try", "/sys", "/sys"});
  for (const std::string& path : view.read_only) bind("--ro-bind-try", path);
  for (const auto& [path, place] : view.placed) {
    reach(place);
    add({"--bind", path, place});
  }
  for (const auto& [path, place] : view.shown_as) {
    reach(place);
    add({"--ro-bind", path, place});
  }
  add({"--setenv", "HOME", "/tmp", "--setenv", "TMPDIR", "/tmp", "--chdir", view.folder, "--"});
  return a;
}

std::vector<std::string> gpu_devices() {
  std::vector<std::string> devices;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/dev", ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("nvidia") || name == "dxg") devices.push_back(entry.path().string());
  }
  return devices;
}

}  // namespace course::grader::sandbox
