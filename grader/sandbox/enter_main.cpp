// SPDX-License-Identifier: MIT
// sandbox_enter drops rights and then executes another program. The launcher runs it once, or with bubblewrap
// twice: before it, to join a control group, and inside, to set resource limits and the system-call filter
// just before student code starts. It takes on the other user inside if root runs bubblewrap, else before.
//   sandbox_enter [--join FILE]… [--uid N] [--limit NAME=N]… [--filter FILTER]
//                 [--close-above N] [--report N] -- PROGRAM …
//   sandbox_enter … --tell      prints what was set up, for the probe, and executes no program
// --report N writes "entered" to descriptor N just before the program is executed, or the reason why it can't
// be. The program does not inherit that descriptor. The order of the steps is fixed, whatever the order of
// the options: join, close, limits, user, death signal, filter, exec.
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/filter.hpp"

namespace {

using namespace course::grader::sandbox;

constexpr int kFailed = 125;
int report_fd = -1;  // set by --report

void report(std::string_view text) {
  if (report_fd < 0) return;
  const ssize_t ignored = write(report_fd, text.data(), text.size());
  static_cast<void>(ignored);
}

[[noreturn]] void fail(const std::string& what) {
  report("sandbox: " + what + "\n");
  fprintf(stderr, "sandbox: %s\n", what.c_str());
  _exit(kFailed);
}
[[noreturn]] void fail_errno(const std::string& what) {
  fail(what + ": " + strerror(errno));
}

struct Limit {
  int which;
  rlim_t value;
};

struct Options {
  std::vector<std::string> join;
  std::vector<Limit> limits;
  Filter filter = Filter::none;
  long uid = -1;
  int close_above = -1;
  bool tell = false;
  char** program = nullptr;
};

Limit parse_limit(std::string_view text) {
  static constexpr struct {
    const char* name;
    int which;
  } kNames[] = {{"as", RLIMIT_AS},       {"core", RLIMIT_CORE},       {"cpu", RLIMIT_CPU},
                {"fsize", RLIMIT_FSIZE}, {"memlock", RLIMIT_MEMLOCK}, {"nofile", RLIMIT_NOFILE},
                {"nproc", RLIMIT_NPROC}, {"stack", RLIMIT_STACK}};
  const std::size_t sign = text.find('=');
  for (const auto& [name, which] : kNames) {
    if (sign != std::string_view::npos && text.substr(0, sign) == name)
      return {which, strtoull(std::string(text.substr(sign + 1)).c_str(), nullptr, 10)};
  }
  fail("no such limit: " + std::string(text));
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--") {
      options.program = argv + i + 1;
      break;
    }
    if (name == "--tell") {
      options.tell = true;
      continue;
    }
    if (++i == argc) fail("no value for " + std::string(name));
    const std::string value = argv[i];
    if (name == "--join") {
      options.join.push_back(value);
    } else if (name == "--uid") {
      options.uid = atol(value.c_str());
    } else if (name == "--close-above") {
      options.close_above = atoi(value.c_str());
    } else if (name == "--report") {
      struct stat status {};
      const int fd = atoi(value.c_str());
      if (fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode) && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0)
        report_fd = fd;
    } else if (name == "--limit") {
      options.limits.push_back(parse_limit(value));
    } else if (name == "--filter") {
      const auto found = std::ranges::find(kFilterNames, value);
      if (found == kFilterNames.end() || value == "none") fail("no such filter: " + value);
      options.filter = static_cast<Filter>(found - kFilterNames.begin());
    } else {
      fail("no such option: " + std::string(name));
    }
  }
  if (!options.tell && (options.program == nullptr || *options.program == nullptr)) fail("no program");
  return options;
}

void join(const std::string& procs_file) {
  const int fd = open(procs_file.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0 || write(fd, "0", 1) != 1) fail_errno("joining " + procs_file);
  close(fd);
}

// Closes all descriptors above `last` except the one for reports, which is closed by exec.
void close_above(int last) {
  if (report_fd > last + 1) {
    const int own = report_fd;
    report_fd = dup2(own, last + 1);
    fcntl(report_fd, F_SETFD, FD_CLOEXEC);
  }
  last = std::max(last, report_fd);
  if (syscall(SYS_close_range, static_cast<unsigned>(last) + 1, ~0u, 0) == 0) return;
  const long most = sysconf(_SC_OPEN_MAX);
  for (int fd = last + 1; fd < most; ++fd) close(fd);
}

void limit(const Limit& wanted) {
  rlimit now{};
  if (getrlimit(static_cast<__rlimit_resource>(wanted.which), &now) != 0) fail_errno("reading a limit");
  if (now.rlim_max != RLIM_INFINITY && now.rlim_max < wanted.value) return;  // already stricter
  const rlimit both{wanted.value, wanted.value};
  if (setrlimit(static_cast<__rlimit_resource>(wanted.which), &both) != 0) fail_errno("setting a limit");
}

void change_user(long number) {
  const auto id = static_cast<uid_t>(number);
  if (setgroups(0, nullptr) != 0 || setresgid(id, id, id) != 0 || setresuid(id, id, id) != 0)
    fail_errno("giving up root");
  if (setuid(0) == 0) fail("root came back");
  // Clear the capabilities, so that no program started later inherits one.
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[2]{};
  if (syscall(SYS_capset, &header, none) != 0) fail_errno("giving up capabilities");
}

// When the machine runs out of memory, the kernel kills this process first.
void offer_to_be_killed() {
  const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  const ssize_t ignored = write(fd, "1000", 4);
  static_cast<void>(ignored);
  close(fd);
}

int tell() {
  printf("pid=%d\nuid=%u\nfilter=%d\nno_new_privs=%d\n", getpid(), getuid(),
         prctl(PR_GET_SECCOMP, 0, 0, 0, 0), prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  const pid_t parent = getppid();
  for (const std::string& file : options.join) join(file);
  if (options.close_above >= 0) close_above(options.close_above);
  if (!options.limits.empty()) offer_to_be_killed();
  for (const Limit& one : options.limits) limit(one);
  if (options.uid >= 0) {
    change_user(options.uid);
    // Changing the user clears the parent-death signal and makes the process non-dumpable. Only the signal is
    // set again.
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) fail_errno("asking to die with the parent");
    if (getppid() != parent) _exit(kFailed);
  }
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail_errno("giving up new privileges");
  const char* program = options.tell ? nullptr : options.program[0];
  if (const auto loaded = load_filter(options.filter, program); !loaded) fail(loaded.error().text);
  if (options.tell) return tell();
  if (access(program, X_OK) != 0) fail_errno(std::string("starting ") + program);
  report("entered\n");
  execv(program, options.program);
  fail_errno(std::string("starting ") + program);
}
