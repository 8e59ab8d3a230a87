// SPDX-License-Identifier: MIT
// Sandboxes at every level that this machine offers, as the current user and, if that is root, as an ordinary
// user. Levels that are missing here are skipped. The messages about missing features are tested on made-up
// machines.
#include "sandbox/sandbox.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "process.hpp"
#include "testing/files.hpp"
#include "verifier/child_process.hpp"

namespace course::grader::sandbox {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

std::string program(const char* variable) {
  const char* path = std::getenv(variable);
  return path == nullptr ? "" : path;
}
std::string enter() {
  return program("SANDBOX_ENTER");
}
std::string guest() {
  return program("SANDBOX_GUEST");
}

View guest_view() {
  View view;
  view.read_only = {guest()};
  return view;
}

ProcessResult run_in(const Sandbox& sandbox, std::vector<std::string> arguments) {
  std::vector<std::string> command = sandbox.launcher();
  command.push_back(guest());
  command.insert(command.end(), arguments.begin(), arguments.end());
  ProcessOptions options;
  options.seconds = 20;
  auto done = run_process(command, options);
  EXPECT_TRUE(done) << done.error().text;
  return done ? *done : ProcessResult{};
}

constexpr int kKilledByFilter = 128 + SIGSYS;

// ---- Every level

class AtLevel : public ::testing::TestWithParam<Isolation> {
 protected:
  void SetUp() override {
    machine_ = probe(enter(), GetParam());
    if (machine_.level != GetParam())
      GTEST_SKIP() << "only " << name_of(machine_.level)
                   << " here: " << ::testing::PrintToString(machine_.missing);
  }
  std::string tried(std::vector<std::string> arguments) {
    const Sandbox sandbox(machine_, Purpose::run, guest_view());
    return run_in(sandbox, std::move(arguments)).output;
  }
  int exit_code_of(std::vector<std::string> arguments) {
    const Sandbox sandbox(machine_, Purpose::run, guest_view());
    return run_in(sandbox, std::move(arguments)).exit_code;
  }
  // A program that was started, by a launcher of its own. The sandbox must outlive it.
  static Result<lab::ChildProcess> start(const Sandbox& sandbox, const std::vector<std::string>& command,
                                         bool reports = true) {
    lab::ChildProcess::Options options;
    options.launched = true;
    options.reports = reports;
    options.argv = sandbox.launcher();
    options.argv.insert(options.argv.end(), command.begin(), command.end());
    auto child = lab::ChildProcess::start(options);
    EXPECT_TRUE(child) << child.error().text;
    return child;
  }
  // Waits for it, ten seconds at most.
  template <typename Done>
  static void wait_until(Done done) {
    for (int i = 0; i < 2000 && !done(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  Machine machine_;
};

TEST_P(AtLevel, RunsOrdinaryPrograms) {
  EXPECT_EQ(tried({"threads"}), "worked\n");
  EXPECT_EQ(tried({"read", "/usr/bin/env"}), "worked\n");
  EXPECT_EQ(tried({"write", "/tmp/some_file_of_a_test"}), "worked\n");
  if (machine_.namespaces == Namespaces::none) fs::remove("/tmp/some_file_of_a_test");
  EXPECT_EQ(exit_code_of({"abort"}), 128 + SIGABRT);
}

TEST_P(AtLevel, LeavesNoFilesBehind) {
  if (machine_.namespaces == Namespaces::none && !machine_.other_user)
    GTEST_SKIP() << "neither a file system nor a user of its own";
  const fs::path others = fs::temp_directory_path() / fmt::format("not_the_sandboxes_{}", getpid());
  std::ofstream(others) << "kept";
  const std::string name = fmt::format("/dev/shm/left_by_a_sandbox_{}", getpid());
  EXPECT_EQ(tried({"write", name}), "worked\n");
  EXPECT_FALSE(fs::exists(name));
  EXPECT_TRUE(fs::exists(others));
  fs::remove(others);
}

TEST_P(AtLevel, EnforcesLimits) {
  EXPECT_EQ(exit_code_of({"write", "/tmp/some_file_of_a_test", "100000000"}), 128 + SIGXFSZ);
  std::error_code ignored;
  fs::remove("/tmp/some_file_of_a_test", ignored);
  if (machine_.cgroup_version > 0) {
    Bounds bounds;
    bounds.memory_bytes = std::uint64_t{64} << 20;
    const Sandbox small(machine_, Purpose::run, guest_view(), bounds);
    EXPECT_EQ(run_in(small, {"memory", "200000000"}).exit_code, 128 + SIGKILL);
    EXPECT_EQ(run_in(small, {"memory", "10000000"}).output, "worked\n") << "and the next one lives";
  }
}

TEST_P(AtLevel, RunsAsAnotherUserWhenGraderIsRoot) {
  if (geteuid() != 0) GTEST_SKIP() << "not root";
  const std::string first = tried({"user"});
  EXPECT_NE(first, "0\n");
  EXPECT_NE(first, tried({"user"})) << "each sandbox has a user of its own";
  EXPECT_NE(tried({"read", "/etc/shadow"}), "worked\n");
}

TEST_P(AtLevel, LauncherReportsWhetherProgramStarted) {
  const Sandbox sandbox(machine_, Purpose::run, guest_view());
  auto waits = start(sandbox, {guest(), "wait"});
  wait_until([&] { return waits->was_entered(); });
  EXPECT_TRUE(waits->was_entered()) << waits->launch_report();
  const auto used = waits->processor_seconds();
  ASSERT_TRUE(used.has_value());
  EXPECT_LT(*used, 5);

  auto missing = start(sandbox, {"/nonexistent/program"});
  wait_until([&] { return missing->ended().has_value(); });
  EXPECT_FALSE(missing->was_entered());
  EXPECT_THAT(missing->launch_report(), HasSubstr("/nonexistent/program"));
}

TEST_P(AtLevel, PassesOnlyTheProtocolsDescriptors) {
  const Sandbox sandbox(machine_, Purpose::run, guest_view());
  auto child = start(sandbox, {guest(), "descriptors"});
  ASSERT_TRUE(child);
  wait_until([&] { return child->ended().has_value(); });
  char chunk[200];
  const ssize_t n = read(child->output_fd(), chunk, sizeof chunk);
  ASSERT_GT(n, 0);
  EXPECT_EQ(std::string(chunk, static_cast<std::size_t>(n)), "0 1 2 3\n");
}

TEST_P(AtLevel, FilterKillsProcessesThatMakeHostileCalls) {
  if (!machine_.filter) GTEST_SKIP() << "no filter";
  for (const char* action :
       {"fork", "socket", "execute", "mount", "user_namespace", "ptrace", "kill_all", "raise_limits"}) {
    EXPECT_EQ(exit_code_of({action}), kKilledByFilter) << action;
  }
  EXPECT_EQ(tried({"raw_clone3"}), "Function not implemented\n");
}

TEST_P(AtLevel, NoProcessOutlivesTheSandbox) {
  // A waiting program is gone once its ChildProcess object is destroyed, whatever programs were between them.
  pid_t started = 0;
  {
    const Sandbox sandbox(machine_, Purpose::run, guest_view());
    auto child = start(sandbox, {guest(), "wait"}, false);
    ASSERT_TRUE(child);
    char chunk[20];
    wait_until([&] { return read(child->output_fd(), chunk, sizeof chunk) > 0; });
    started = child->pid();
    EXPECT_EQ(kill(started, 0), 0);
  }
  EXPECT_NE(kill(-started, 0), 0);
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::error_code gone;
    const fs::path image = fs::read_symlink(entry.path() / "exe", gone);
    EXPECT_FALSE(!gone && image == guest()) << "still there: " << entry.path();
  }
}

INSTANTIATE_TEST_SUITE_P(Sandbox, AtLevel,
                         ::testing::Values(Isolation::limits, Isolation::namespaces, Isolation::full),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

// ---- Namespaces

class InNamespaces : public AtLevel {};

TEST_P(InNamespaces, ShowsOnlyNeededFiles) {
  EXPECT_EQ(tried({"read", "/etc/passwd"}), "No such file or directory\n");
  EXPECT_EQ(tried({"read", "/var/log"}), "No such file or directory\n");
  EXPECT_EQ(tried({"read", "/proc/self/exe/../grader_test"}).find("worked"), std::string::npos);
  EXPECT_EQ(tried({"list", fs::path(guest()).parent_path().string()}), "sandbox_enter sandbox_guest\n")
      << "its folder holds nothing else";
  // /tmp holds only the path to the program, if the program is below /tmp.
  const std::string top = fs::path(guest()).lexically_relative("/tmp").begin()->string();
  EXPECT_EQ(tried({"list", "/tmp"}), (top == ".." ? "" : top) + "\n");
  EXPECT_THAT(tried({"write", "/usr/bin/new"}), Not(HasSubstr("worked")));
  EXPECT_THAT(tried({"write", guest()}), Not(HasSubstr("worked")));
}

TEST_P(InNamespaces, HidesOtherProcesses) {
  const std::string processes = tried({"processes"});
  EXPECT_LE(std::count(processes.begin(), processes.end(), ' '), 2) << processes;
}

TEST_P(InNamespaces, IsolatesWithoutTheFilter) {
  if (machine_.filter) GTEST_SKIP() << "the filter is in front";
  EXPECT_EQ(tried({"daemon"}), "worked\n");  // and is gone with its namespace: the next line would see it
  EXPECT_NE(tried({"mount"}), "worked\n");
  // The parent there is bubblewrap, inside.
  if (machine_.namespaces == Namespaces::by_root) {
    EXPECT_NE(tried({"ptrace"}), "worked\n");
  }
  EXPECT_EQ(exit_code_of({"execute"}), 0);
}

// CPU time, because wall-clock time depends on the load of the machine.
TEST_P(InNamespaces, StartsWithLittleCpuTime) {
  const Sandbox sandbox(machine_, Purpose::run, guest_view());
  const auto used_ms = [] {
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    const auto ms = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_usec) / 1e3;
    };
    return ms(usage.ru_utime) + ms(usage.ru_stime);
  };
  constexpr int kStarts = 10;
  const double before = used_ms();
  for (int i = 0; i < kStarts; ++i) run_in(sandbox, {"user"});
  const double each = (used_ms() - before) / kStarts;
  RecordProperty("milliseconds", std::to_string(each));
  EXPECT_LT(each, 50);
}

INSTANTIATE_TEST_SUITE_P(Sandbox, InNamespaces, ::testing::Values(Isolation::namespaces, Isolation::full),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

// ---- Another user

// Runs `body` in a child process as an ordinary user; false when an expectation failed there.
template <typename Body>
bool as_an_ordinary_user(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    constexpr uid_t kNobodyInParticular = 612'345'678;
    if (setgid(kNobodyInParticular) != 0 || setuid(kNobodyInParticular) != 0) _exit(3);
    body();
    _exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// Whether an ordinary user can reach a program of this checkout: not if it lies below /root, for example.
bool ordinary_user_can_run(const std::string& program) {
  return as_an_ordinary_user([&] {
    if (access(program.c_str(), X_OK) != 0) _exit(1);
  });
}

TEST(OrdinaryUser, GetsUserNamespaceOrReason) {
  if (geteuid() != 0) GTEST_SKIP() << "the other tests run as one";
  if (!ordinary_user_can_run(enter())) GTEST_SKIP() << "only root can reach this checkout";
  if (probe(enter(), Isolation::full).level != Isolation::full) GTEST_SKIP() << "not even root does here";
  EXPECT_TRUE(as_an_ordinary_user([] {
    const Machine machine = probe(enter(), Isolation::full);
    EXPECT_FALSE(machine.other_user);
    if (machine.namespaces == Namespaces::none) {
      EXPECT_THAT(machine.missing, Contains(HasSubstr("no namespaces")));
      return;
    }
    EXPECT_EQ(machine.namespaces, Namespaces::by_user);
    const Sandbox sandbox(machine, Purpose::run, guest_view());
    EXPECT_EQ(run_in(sandbox, {"threads"}).output, "worked\n");
    EXPECT_EQ(run_in(sandbox, {"read", "/etc/passwd"}).output, "No such file or directory\n");
    EXPECT_EQ(run_in(sandbox, {"fork"}).exit_code, kKilledByFilter);
  }));
}

TEST(OrdinaryUser, HasLimitsAndTheFilterWithoutNamespaces) {
  if (geteuid() != 0) GTEST_SKIP() << "the other tests run as one";
  if (!ordinary_user_can_run(enter())) GTEST_SKIP() << "only root can reach this checkout";
  EXPECT_TRUE(as_an_ordinary_user([] {
    const Machine machine = probe(enter(), Isolation::limits);
    EXPECT_EQ(machine.level, Isolation::limits);
    const Sandbox sandbox(machine, Purpose::run, guest_view());
    EXPECT_EQ(run_in(sandbox, {"threads"}).output, "worked\n");
    if (machine.filter) {
      EXPECT_EQ(run_in(sandbox, {"kill_all"}).exit_code, kKilledByFilter);
    }
  }));
}

// Copies the launcher below a folder that only root can enter.
TEST(Probe, RootGetsNoLimitsWithoutAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "not root";
  std::string closed = (fs::temp_directory_path() / "closed-XXXXXX").string();
  ASSERT_NE(mkdtemp(closed.data()), nullptr);  // mode 0700
  const fs::path copy = fs::path(closed) / "sandbox_enter";
  fs::copy_file(enter(), copy);
  const Machine limited = probe(copy, Isolation::limits);
  EXPECT_EQ(limited.level, Isolation::none);
  EXPECT_THAT(limited.missing, Contains(HasSubstr("only root can use " + closed)));
  const Machine full = probe(copy, Isolation::full);
  EXPECT_EQ(full.other_user, full.namespaces == Namespaces::by_root);
  fs::remove_all(closed);
}

TEST(Probe, ReportsMissingFeatures) {
  const Machine nothing = probe("/no/such/sandbox_enter", Isolation::full);
  EXPECT_EQ(nothing.level, Isolation::none);
  EXPECT_THAT(nothing.missing, Contains(HasSubstr("is not built")));
  EXPECT_TRUE(Sandbox(nothing, Purpose::run, {}).launcher().empty());
  EXPECT_THAT(probe(enter(), Isolation::none).missing, Contains(HasSubstr("LAB_SANDBOX=none")));
  EXPECT_THAT(probe(enter(), Isolation::limits).missing, Contains(HasSubstr("LAB_SANDBOX=limits")));
}

// ---- Control groups, on folders that look like the kernel's

class CgroupPlaces : public ::testing::Test {
 protected:
  const grader::testing::Folder own_;
  const std::string& root_ = own_.path;
};

TEST_F(CgroupPlaces, Version2PrefersOwnGroupThenParent) {
  fs::create_directories(root_ + "/user.slice/app.scope");
  const auto places = cgroup_places("0::/user.slice/app.scope\n",
                                    "30 24 0:26 / " + root_ + " rw,nosuid shared:9 - cgroup2 cgroup2 rw\n");
  ASSERT_EQ(places.size(), 3u);
  EXPECT_EQ(places[0].folder, root_ + "/user.slice/app.scope");
  EXPECT_EQ(places[1].folder, root_ + "/user.slice");
  EXPECT_EQ(places[2].folder, root_);
  EXPECT_TRUE(places[0].version2);
}

TEST_F(CgroupPlaces, Version1HasOneFolderPerController) {
  const auto places = cgroup_places(
      "9:pids:/job\n4:memory:/job\n3:cpu,cpuacct:/job\n",
      "31 24 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
      "32 24 0:28 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n33 24 0:29 / /proc rw - proc proc rw\n");
  ASSERT_EQ(places.size(), 2u);
  EXPECT_EQ(places[0].controller, "memory");
  EXPECT_EQ(places[1].controller, "pids");
}

TEST_F(CgroupPlaces, MakesNoGroupInUnsuitableFolders) {
  EXPECT_FALSE(Cgroup::make_in({}, {1 << 20, 10}));
  EXPECT_FALSE(
      Cgroup::make_in({{"/no/such/folder", true, ""}, {"/no/such/folder", false, "memory"}}, {1 << 20, 10}));
  // An ordinary folder, without the kernel's files, is no control group.
  EXPECT_FALSE(Cgroup::make_in({{root_, true, ""}}, {1 << 20, 10}));
  EXPECT_TRUE(fs::is_empty(root_));
}

// On a loaded machine, thousands of killed threads take seconds to leave their group.
TEST_F(CgroupPlaces, WaitsForProcessesThatEndSlowly) {
  const std::string folder = root_ + "/group";
  fs::create_directories(folder + "/process");
  std::thread slow([&] {
    std::this_thread::sleep_for(std::chrono::seconds(5));
    for (std::error_code busy; fs::exists(folder);) fs::remove_all(folder, busy);
  });
  end_group(folder);
  EXPECT_FALSE(fs::exists(folder));
  slow.join();
}

TEST(CgroupForReal, IsRemovedWithItsProcesses) {
  std::vector<std::string> folders;
  pid_t member = 0;
  {
    const auto group = Cgroup::make({std::uint64_t{64} << 20, 16});
    if (!group) GTEST_SKIP() << "no control groups here";
    folders = group->folders();
    member = fork();
    if (member == 0) {
      for (const std::string& file : group->procs_files()) std::ofstream(file) << "0" << std::flush;
      setsid();
      for (;;) pause();
    }
    for (int i = 0; i < 200; ++i) {
      std::ifstream procs(group->procs_files().back());
      if (pid_t one = 0; procs >> one) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  for (const std::string& folder : folders) EXPECT_FALSE(fs::exists(folder)) << folder;
  int status = 0;
  EXPECT_EQ(waitpid(member, &status, 0), member);
  EXPECT_TRUE(WIFSIGNALED(status));
}

TEST(CgroupForReal, RemovesStaleGroupsOfItsPidNamespaceOnly) {
  const auto group = Cgroup::make({std::uint64_t{64} << 20, 16});
  if (!group) GTEST_SKIP() << "no control groups here";
  const fs::path mine = group->folders().front();
  const std::string own_id = "-" + std::to_string(getpid()) + "-";
  const std::string name = mine.filename().string();
  const std::string begin = name.substr(0, name.find(own_id));
  const pid_t child = fork();
  if (child == 0) _exit(0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  const std::string dead = "-" + std::to_string(child) + "-0";
  const fs::path stale = mine.parent_path() / (begin + dead);
  // In another PID namespace that id may belong to a running grader.
  const fs::path elsewhere = mine.parent_path() / ("gpu-lab-1" + dead);
  ASSERT_TRUE(fs::create_directory(stale) && fs::create_directory(elsewhere));
  const auto next = Cgroup::make({std::uint64_t{64} << 20, 16});
  EXPECT_FALSE(fs::exists(stale));
  EXPECT_TRUE(fs::exists(elsewhere));
  fs::remove(elsewhere);
}

}  // namespace
}  // namespace course::grader::sandbox
