// SPDX-License-Identifier: MIT
// Tries one thing that student code may try in a sandbox: sandbox_guest ACTION [ARGUMENT]. Prints the result,
// unless it is killed. sandbox_test.cpp states the expected results.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

namespace {

int report(bool worked) {
  printf("%s\n", worked ? "worked" : strerror(errno));
  return 0;
}

std::string entries(const char* folder, bool (*wanted)(const char*)) {
  std::string out;
  if (DIR* listing = opendir(folder)) {
    while (const dirent* entry = readdir(listing)) {
      const int fd = atoi(entry->d_name);
      if (wanted(entry->d_name) && !(strcmp(folder, "/proc/self/fd") == 0 && fd == dirfd(listing)))
        out += std::string(out.empty() ? "" : " ") + entry->d_name;
    }
    closedir(listing);
  }
  return out;
}
bool is_number(const char* name) {
  return name[0] >= '0' && name[0] <= '9';
}
bool is_visible(const char* name) {
  return name[0] != '.';
}

int write_file(const char* path, std::size_t n_bytes) {
  const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (fd < 0) return report(false);
  const std::vector<char> chunk(1 << 20, 'x');
  for (std::size_t done = 0; done < n_bytes;) {
    const ssize_t n = write(fd, chunk.data(), std::min(chunk.size(), n_bytes - done));
    if (n <= 0) return report(false);
    done += static_cast<std::size_t>(n);
  }
  return report(true);
}

int touch_memory(std::size_t n_bytes) {
  void* memory =
      mmap(nullptr, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return report(false);
  for (std::size_t i = 0; i < n_bytes; i += 4096) static_cast<volatile char*>(memory)[i] = 1;
  return report(true);
}

// Leaves a background process behind that has left its process group and session and closed its descriptors.
int leave_daemon() {
  for (int i = 0; i < 2; ++i) {
    const pid_t child = fork();
    if (child < 0) return report(false);
    if (child > 0 && i == 0) return report(true);
    if (child > 0) _exit(0);
    setsid();
  }
  for (int fd = 0; fd < 64; ++fd) close(fd);
  for (;;) pause();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string action = argc > 1 ? argv[1] : "";
  const char* argument = argc > 2 ? argv[2] : "";
  if (action == "read") return report(open(argument, O_RDONLY) >= 0);
  if (action == "write") return write_file(argument, argc > 3 ? strtoull(argv[3], nullptr, 10) : 1);
  if (action == "list") return printf("%s\n", entries(argument, is_visible).c_str()) < 0;
  if (action == "processes") return printf("%s\n", entries("/proc", is_number).c_str()) < 0;
  if (action == "descriptors") return printf("%s\n", entries("/proc/self/fd", is_number).c_str()) < 0;
  if (action == "user") return printf("%u\n", getuid()) < 0;
  if (action == "socket") return report(socket(AF_INET, SOCK_DGRAM, 0) >= 0);
  if (action == "execute") return report(execl("/bin/echo", "echo", "executed", nullptr) == 0);
  if (action == "fork") {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    return report(child > 0);
  }
  if (action == "raw_clone3") {
    clone_args arguments{};
    arguments.exit_signal = SIGCHLD;
    const long child = syscall(SYS_clone3, &arguments, sizeof arguments);
    if (child == 0) _exit(0);
    return report(child > 0);
  }
  if (action == "user_namespace") return report(unshare(CLONE_NEWUSER) == 0);
  if (action == "mount") return report(mount("none", "/tmp", "tmpfs", 0, "") == 0);
  if (action == "ptrace") return report(ptrace(PTRACE_ATTACH, getppid(), nullptr, nullptr) == 0);
  if (action == "kill_all") return report(kill(-1, SIGTERM) == 0);
  if (action == "raise_limits") {
    const rlimit more{RLIM_INFINITY, RLIM_INFINITY};
    return report(setrlimit(RLIMIT_FSIZE, &more) == 0);
  }
  if (action == "abort") abort();
  if (action == "memory") return touch_memory(strtoull(argument, nullptr, 10));
  if (action == "daemon") return leave_daemon();
  if (action == "threads") {
    std::vector<std::thread> threads;
    for (int i = 0; i < 16; ++i) threads.emplace_back([] {});
    for (std::thread& one : threads) one.join();
    return report(true);
  }
  if (action == "wait") {
    puts("waiting");
    fflush(stdout);
    for (;;) pause();
  }
  return 2;
}
