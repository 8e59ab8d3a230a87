// SPDX-License-Identifier: MIT
#include "verifier/child_process.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <utility>

#include "protocol/protocol.hpp"

namespace course::lab {
namespace {

void close_if_open(int& fd) {
  if (fd >= 0) close(fd);
  fd = -1;
}

// Our descriptors, which the destructor closes on every return path.
struct Descriptors {
  std::array<int, 10> fd{-1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
  ~Descriptors() {
    for (int& f : fd) close_if_open(f);
  }
};
enum : std::size_t {
  kOurs,
  kTheirs,
  kOutputRead,
  kOutputWrite,
  kErrorRead,
  kErrorWrite,
  kNull,
  kSecond,
  kReportRead,
  kReportWrite
};

// Runs in the child, between fork and exec: async-signal-safe calls only. Does not return.
[[noreturn]] void become(const Descriptors& d, const char* directory, char* const* argv,
                         char* const* environment, pid_t parent) {
  const auto give_up = [&](int error) {
    const ssize_t written = write(d.fd[kErrorWrite], &error, sizeof error);
    _exit(written == sizeof error ? 127 : 126);
  };
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) give_up(errno);
  if (*directory != '\0' && chdir(directory) != 0) give_up(errno);
  setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int number : {SIGPIPE, SIGINT, SIGTERM, SIGCHLD}) signal(number, SIG_DFL);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);

  // Every source was opened at 10 or above, so no dup2 overwrites one that is still needed.
  constexpr int kSecondFd = protocol::kChannelFd + 1, kReportFd = ChildProcess::kReportFd,
                kErrorFd = kReportFd + 1;
  const auto put = [&](std::size_t source, int target) {
    return d.fd[source] >= 0 ? dup2(d.fd[source], target) >= 0 : close(target) == 0 || errno == EBADF;
  };
  if (dup2(d.fd[kNull], 0) < 0 || dup2(d.fd[kOutputWrite], 1) < 0 || dup2(d.fd[kOutputWrite], 2) < 0 ||
      !put(kTheirs, protocol::kChannelFd) || !put(kSecond, kSecondFd) || !put(kReportWrite, kReportFd) ||
      dup3(d.fd[kErrorWrite], kErrorFd, O_CLOEXEC) < 0) {
    give_up(errno);
  }
  if (syscall(SYS_close_range, kErrorFd + 1, ~0u, 0) != 0) {
    const long most = sysconf(_SC_OPEN_MAX);
    for (long fd = kErrorFd + 1; fd < most; ++fd) close(static_cast<int>(fd));
  }
  execve(argv[0], argv, environment);  // not execvp, which would run a text file as a shell script
  const int error = errno;
  const ssize_t written = write(kErrorFd, &error, sizeof error);
  _exit(written == sizeof error ? 127 : 126);
}

// The parent of a process, from /proc; 0 if the process has ended.
pid_t parent_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t name_ends = text.rfind(')');  // the name may contain any character
  std::istringstream rest(name_ends == std::string::npos ? "" : text.substr(name_ends + 1));
  std::string state;
  pid_t parent = 0;
  rest >> state >> parent;
  return parent;
}

// The last process of a chain in which a launcher starts one process, which may start the next.
pid_t last_descendant(pid_t pid) {
  std::map<pid_t, pid_t> child_of;
  if (DIR* listing = opendir("/proc")) {
    while (const dirent* entry = readdir(listing)) {
      const pid_t one = std::atoi(entry->d_name);
      if (one > 0) child_of[parent_of(one)] = one;
    }
    closedir(listing);
  }
  for (auto found = child_of.find(pid); found != child_of.end(); found = child_of.find(pid))
    pid = found->second;
  return pid;
}

// Moves a descriptor to 10 or above, out of the range of the child's fixed descriptors.
bool lift(int& fd) {
  const int lifted = fcntl(fd, F_DUPFD_CLOEXEC, 10);
  if (lifted < 0) return false;
  close(fd);
  fd = lifted;
  return true;
}

}  // namespace

Result<ChildProcess> ChildProcess::start(const Options& options) {
  Descriptors d;
  const auto failed = [&](const char* what) {
    return Error{options.argv.front() + " could not be started: " + std::strerror(errno) + " (" + what +
                 ")."};
  };
  const auto copy_of = [](int fd) { return fcntl(fd, F_DUPFD_CLOEXEC, 10); };
  if (options.channel >= 0) {
    d.fd[kTheirs] = copy_of(options.channel);
    if (d.fd[kTheirs] < 0) return failed("the channel");
  } else if (options.talks && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, &d.fd[kOurs]) != 0) {
    return failed("socketpair");
  }
  if (options.second >= 0 && (d.fd[kSecond] = copy_of(options.second)) < 0)
    return failed("the second channel");
  if (pipe2(&d.fd[kOutputRead], O_CLOEXEC) != 0) return failed("pipe");
  if (pipe2(&d.fd[kErrorRead], O_CLOEXEC) != 0) return failed("pipe");
  if (options.reports && pipe2(&d.fd[kReportRead], O_CLOEXEC) != 0) return failed("pipe");
  d.fd[kNull] = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (d.fd[kNull] < 0) return failed("/dev/null");
  for (int& fd : d.fd)
    if (fd >= 0 && !lift(fd)) return failed("descriptors");
  for (const std::size_t ours : {kOutputRead, kReportRead})
    if (d.fd[ours] >= 0) fcntl(d.fd[ours], F_SETFL, O_NONBLOCK);

  std::vector<char*> argv, environment;
  for (const auto& text : options.argv) argv.push_back(const_cast<char*>(text.c_str()));
  for (const auto& text : options.environment) environment.push_back(const_cast<char*>(text.c_str()));
  argv.push_back(nullptr);
  environment.push_back(nullptr);

  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) return failed("fork");
  if (pid == 0) become(d, options.directory.c_str(), argv.data(), environment.data(), parent);
  setpgid(pid, pid);  // in both processes, because either may run first

  ChildProcess child;
  child.state_.pid = pid;
  child.state_.launched = options.launched;
  child.state_.pid_fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  child.state_.channel = std::exchange(d.fd[kOurs], -1);
  child.state_.output = std::exchange(d.fd[kOutputRead], -1);
  child.state_.report = std::exchange(d.fd[kReportRead], -1);
  if (child.state_.pid_fd < 0) return failed("pidfd_open");

  // When exec succeeds, the error pipe closes without data.
  close_if_open(d.fd[kErrorWrite]);
  int error = 0;
  ssize_t n_bytes = 0;
  do {
    n_bytes = read(d.fd[kErrorRead], &error, sizeof error);
  } while (n_bytes < 0 && errno == EINTR);
  if (n_bytes == sizeof error) {
    errno = error;
    return failed("exec");
  }
  return child;
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept : state_(std::exchange(other.state_, {})) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

ChildProcess::~ChildProcess() {
  if (state_.pid > 0) kill_group();
  close_if_open(state_.pid_fd);
  close_if_open(state_.channel);
  close_if_open(state_.output);
  close_if_open(state_.report);
}

std::optional<ChildProcess::End> ChildProcess::ended() {
  if (state_.end || state_.pid <= 0) return state_.end;
  siginfo_t info{};
  // WNOWAIT keeps the process id reserved, so that killing the group can't hit another process.
  if (waitid(P_PID, static_cast<id_t>(state_.pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      info.si_pid != state_.pid) {
    return std::nullopt;
  }
  End end;
  (info.si_code == CLD_EXITED ? end.exit_code : end.signal) = info.si_status;
  // A launcher reports the program's signal as an exit code of 128 + signal, as shells do.
  if (state_.launched && end.exit_code > 128 && end.exit_code < 128 + NSIG) end = {-1, end.exit_code - 128};
  state_.end = end;
  return state_.end;
}

void ChildProcess::kill_group() {
  if (state_.pid <= 0) return;
  kill(-state_.pid, SIGKILL);
  kill(state_.pid, SIGKILL);  // in case it has not yet called setpgid
  pollfd gone{state_.pid_fd, POLLIN, 0};
  if (state_.pid_fd >= 0) poll(&gone, 1, 1000);
  // With a launcher, the program itself may end a little later; then its end of the channel closes.
  pollfd closed{state_.channel, 0, 0};
  if (state_.channel >= 0) poll(&closed, 1, 1000);
  static_cast<void>(ended());
  waitpid(state_.pid, nullptr, WNOHANG);
  state_.pid = -1;
}

const std::string& ChildProcess::launch_report() {
  constexpr std::size_t kMax = 1024;
  std::array<char, 256> chunk;
  while (state_.report >= 0 && state_.report_text.size() < kMax) {
    const ssize_t n_bytes = read(state_.report, chunk.data(), chunk.size());
    if (n_bytes <= 0) break;
    state_.report_text.append(chunk.data(), static_cast<std::size_t>(n_bytes));
  }
  return state_.report_text;
}

std::optional<double> ChildProcess::processor_seconds() {
  if (state_.pid <= 0 || !was_entered()) return std::nullopt;
  if (state_.program < 0) state_.program = state_.launched ? last_descendant(state_.pid) : state_.pid;
  clockid_t clock = 0;
  timespec used{};
  if (clock_getcpuclockid(state_.program, &clock) != 0 || clock_gettime(clock, &used) != 0)
    return std::nullopt;
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

std::string ChildProcess::End::text() const {
  if (signal == 0) return "exit code " + std::to_string(exit_code);
  // Not sigabbrev_np, which glibc has since 2.32: the prebuilt tools run with older ones.
  constexpr std::pair<int, const char*> kNames[] = {
      {SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"}, {SIGILL, "SIGILL"},
      {SIGTRAP, "SIGTRAP"}, {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},
      {SIGKILL, "SIGKILL"}, {SIGUSR1, "SIGUSR1"}, {SIGSEGV, "SIGSEGV"}, {SIGUSR2, "SIGUSR2"},
      {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"}, {SIGTERM, "SIGTERM"}, {SIGXCPU, "SIGXCPU"},
      {SIGXFSZ, "SIGXFSZ"}, {SIGSYS, "SIGSYS"}};
  std::string name = "signal " + std::to_string(signal);
  for (const auto& [number, known] : kNames)
    if (number == signal) name = known;
  return name + " (" + strsignal(signal) + ")";
}

}  // namespace course::lab
