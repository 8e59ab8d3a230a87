// SPDX-License-Identifier: MIT
#include "compile/run_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include "progress.hpp"
#include "sandbox/cgroup.hpp"
#include "text.hpp"

namespace course::grader {
namespace fs = std::filesystem;

namespace {

// Each run holds a lock on this file of its folder until it ends.
constexpr const char* kLock = "/lock";

int lock_file(const std::string& path, int how) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd >= 0 && flock(fd, how) == 0) return fd;
  const int error = errno;
  if (fd >= 0) close(fd);
  errno = error;
  return -1;
}

// Which process has written itself into a lock's file: "./lab debug" (process 123).
std::string holder_of(const std::string& file) {
  std::string process, command;
  std::ifstream in(file);
  std::getline(in, process, '\t');
  std::getline(in, command);
  return command.empty() ? "another ./lab" : fmt::format("\"{}\" (process {})", tame(command), tame(process));
}

class Folder {
 public:
  ~Folder() { remove(); }
  Result<std::string> get(const Layout& layout) {
    const std::lock_guard guard(mutex_);
    if (!path_.empty()) return path_;
    const std::string runs = layout.build + "/runs";
    std::error_code failed;
    fs::create_directories(runs, failed);
    // Another run may be removing stale folders at this time, and this run's folder has no lock yet.
    const int all = lock_file(layout.build + "/runs.lock", LOCK_EX);
    remove_stale(runs);
    std::string path = runs + "/XXXXXX";
    const bool made = mkdtemp(path.data()) != nullptr;
    const std::string problem = std::strerror(errno);
    if (made) {
      fs::permissions(path, fs::perms(0755), failed);  // programs in sandboxes run as other users
      lock_ = lock_file(path + kLock, LOCK_EX);
    }
    if (all >= 0) close(all);
    if (!made) return Error{fmt::format("No folder can be made in {}: {}", runs, problem)};
    path_ = path;
    return path_;
  }
  void remove() {
    const std::lock_guard guard(mutex_);
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
    path_.clear();
  }

 private:
  static void remove_stale(const std::string& runs) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(runs, ignored)) {
      const int fd = lock_file(entry.path().string() + kLock, LOCK_EX | LOCK_NB);
      if (fd < 0) continue;
      std::error_code gone;
      fs::remove_all(entry.path(), gone);
      close(fd);
    }
  }

  std::mutex mutex_;
  std::string path_;
  int lock_ = -1;
};

Folder& folder() {
  static Folder one;
  return one;
}

std::array<int, 2> caught{-1, -1};

}  // namespace

Result<std::string> run_folder(const Layout& layout) {
  return folder().get(layout);
}

void tidy_up_on_signals() {
  static_cast<void>(folder());  // constructed now, so that it is destroyed after the last use in the thread
  if (pipe2(caught.data(), O_CLOEXEC) != 0) return;
  std::thread([] {
    unsigned char number = 0;
    while (read(caught[0], &number, 1) < 0 && errno == EINTR) {
    }
    for (const std::string& group : sandbox::cgroups_of_this_process()) sandbox::end_group(group);
    folder().remove();
    signal(number, SIG_DFL);
    raise(number);
    _exit(128 + number);
  }).detach();
  struct sigaction action {};
  action.sa_flags = SA_RESTART;
  action.sa_handler = [](int number) {
    const int error = errno;
    const auto byte = static_cast<unsigned char>(number);
    const ssize_t ignored = write(caught[1], &byte, 1);
    static_cast<void>(ignored);
    errno = error;
  };
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    // nohup and shells ignore some of these signals for background jobs; they stay ignored.
    if (sigaction(number, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) continue;
    sigaction(number, &action, nullptr);
  }
}

BuildLock::BuildLock(const Layout& layout) {
  const std::string file = layout.build + "/ninja.lock";
  fd_ = lock_file(file, LOCK_EX | LOCK_NB);
  if (fd_ < 0 && errno == EWOULDBLOCK) {
    Progress progress;
    progress.begin("waiting until " + holder_of(file) + " has built", 0);
    fd_ = lock_file(file, LOCK_EX);
  }
  if (fd_ < 0) return;
  // For those that wait (take_lock in common/tools/setup/step.sh reads it, too).
  const std::string holder = fmt::format("{}\t./lab\n", getpid());
  if (ftruncate(fd_, 0) == 0 && pwrite(fd_, holder.data(), holder.size(), 0) < 0) return;
}
BuildLock::~BuildLock() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace course::grader
