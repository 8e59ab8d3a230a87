// SPDX-License-Identifier: MIT
// Reading order: Sandbox::Sandbox (the command line), probe.
#include "sandbox/sandbox.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>

#include "process.hpp"
#include "verifier/child_process.hpp"

namespace course::grader::sandbox {
namespace fs = std::filesystem;

namespace {

constexpr double kProbeSeconds = 10;

// The highest descriptor that a program is given. A device has two channels: to the grader (3), and to the
// student's process (4).
int last_descriptor(Purpose purpose) {
  return purpose == Purpose::compile ? 2 : purpose == Purpose::device ? 4 : 3;
}

std::string find_bwrap() {
  const std::string found = program_in_path("bwrap");
  return found.starts_with('/') ? found : "";
}

// Unused user ids, 64 for each process, so that no sandbox can access the files of another that exists at the
// same time.
constexpr unsigned kFirst = 700'000'000, kPids = 1u << 22, kPerProcess = 64;
unsigned first_uid() {
  return kFirst + (static_cast<unsigned>(getpid()) % kPids) * kPerProcess;
}

unsigned owner_of(const std::string& folder) {
  struct stat status {};
  return stat(folder.c_str(), &status) == 0 ? status.st_uid : 0;
}

Filter filter_for(Purpose purpose, Namespaces namespaces) {
  switch (purpose) {
    case Purpose::run:
    case Purpose::device: return Filter::runner;
    case Purpose::run_on_gpu: return Filter::gpu_runner;
    case Purpose::run_with_nccl:
      return namespaces == Namespaces::none ? Filter::gpu_runner : Filter::nccl_runner;
    case Purpose::compile: return Filter::compiler;
  }
  return Filter::none;
}

}  // namespace

unsigned fresh_uid() {
  static std::atomic<unsigned> n_made{0};
  return first_uid() + n_made++ % kPerProcess;
}

bool is_uid_of_this_process(unsigned uid) {
  return uid >= first_uid() && uid < first_uid() + kPerProcess;
}

Sandbox::Sandbox(const Machine& machine, Purpose purpose, View view, const Bounds& bounds) {
  if (machine.level == Isolation::none) return;
  const bool compile = purpose == Purpose::compile;
  if (machine.cgroup_version > 0) cgroup_ = Cgroup::make({bounds.memory_bytes, bounds.threads});

  // The grader moves a compiler's output, so the compiler needs access to its own folder only.
  std::vector<std::string> user;
  if (machine.other_user) {
    const unsigned uid = compile && !view.placed.empty() ? owner_of(view.placed.front().first) : fresh_uid();
    if (uid != 0) user = {"--uid", std::to_string(uid)};
    if (machine.namespaces == Namespaces::none && is_uid_of_this_process(uid))
      leftover_files_ = LeftoverFiles(uid);
  }

  const auto append = [](std::vector<std::string>& to, const std::vector<std::string>& more) {
    to.insert(to.end(), more.begin(), more.end());
  };
  std::vector<std::string> inner;
  const auto limit = [&](const char* name, std::uint64_t value) {
    append(inner, {"--limit", fmt::format("{}={}", name, value)});
  };
  limit("core", 0);
  limit("cpu", bounds.cpu_seconds);
  limit("fsize", bounds.file_bytes);
  limit("nofile", purpose == Purpose::run_on_gpu || purpose == Purpose::run_with_nccl ? 4096 : 1024);
  if (purpose == Purpose::run || purpose == Purpose::device) limit("memlock", 0);
  // The kernel counts processes per user, so this limit is set only for a user of its own.
  if (!user.empty() && !compile) limit("nproc", bounds.threads);
  if (bounds.address_bytes > 0) limit("as", bounds.address_bytes);
  const auto filter = static_cast<std::size_t>(filter_for(purpose, machine.namespaces));
  if (machine.filter) append(inner, {"--filter", kFilterNames[filter]});
  if (!compile) append(inner, {"--report", std::to_string(lab::ChildProcess::kReportFd)});
  append(inner, {"--close-above", std::to_string(last_descriptor(purpose))});

  std::vector<std::string> outer;
  if (cgroup_) {
    for (const std::string& file : cgroup_->procs_files()) append(outer, {"--join", file});
  }
  launcher_ = {machine.enter};
  append(launcher_, outer);
  if (machine.namespaces == Namespaces::none) {
    append(launcher_, user);
    append(launcher_, inner);
    launcher_.emplace_back("--");
    return;
  }
  view.proc = machine.proc;
  view.read_only.push_back(machine.enter);
  if (machine.namespaces == Namespaces::by_user) append(launcher_, user);
  launcher_.emplace_back("--");
  append(launcher_, bwrap_arguments(machine.bwrap, machine.namespaces, machine.disable_userns, view));
  launcher_.push_back(machine.enter);
  if (machine.namespaces == Namespaces::by_root) append(launcher_, user);
  append(launcher_, inner);
  launcher_.emplace_back("--");
}

namespace {

// What sandbox_enter --tell printed in such a sandbox (`text`), or why it could not start (`problem`).
struct ProbeResult {
  bool works = false;
  std::string text, problem;
};
ProbeResult try_out(const Machine& machine) {
  const Sandbox sandbox(machine, Purpose::run, {});
  std::vector<std::string> command = sandbox.launcher();
  command.insert(command.end(), {machine.enter, "--tell"});
  ProcessOptions options;
  options.seconds = kProbeSeconds;
  const auto done = run_process(command, options);
  if (!done) return {false, "", done.error().text};
  ProbeResult result;
  result.works = done->exit_code == 0 && done->output.find("pid=") != std::string::npos;
  (result.works ? result.text : result.problem) = done->output.substr(0, 400);
  return result;
}

// The first part of the path to a program that other users can't enter or run; empty if there is none.
std::string closed_part(const fs::path& program) {
  fs::path path;
  for (const fs::path& part : program) {
    path /= part;
    std::error_code ignored;
    if ((fs::status(path, ignored).permissions() & fs::perms::others_exec) == fs::perms::none)
      return path.string();
  }
  return "";
}

Machine probe_features(const std::string& enter, Isolation most) {
  Machine machine;
  std::error_code ignored;
  machine.enter = fs::absolute(enter, ignored).string();
  if (most == Isolation::none) {
    machine.missing.emplace_back("LAB_SANDBOX=none switches isolation off");
    return machine;
  }
  if (access(enter.c_str(), X_OK) != 0) {
    machine.missing.push_back(enter + " is not built: ./lab setup builds it");
    return machine;
  }
  // One feature at a time is added, and those that work are kept.
  machine.level = Isolation::limits;
  const bool root = geteuid() == 0;
  machine.other_user = root;
  if (root && !try_out(machine).works) machine.other_user = false;
  if (!try_out(machine).works) {
    machine.level = Isolation::none;
    machine.missing.emplace_back("limits can't be set here");
    return machine;
  }
  if (const auto cgroup = Cgroup::make({std::uint64_t{1} << 30, 64})) {
    machine.cgroup_version = cgroup->version();
    if (!try_out(machine).works) machine.cgroup_version = 0;
  }
  if (machine.cgroup_version == 0)
    machine.missing.emplace_back(
        "memory is bounded by the machine only: no control group can be made here (as root, or in a "
        "delegated one, it can)");

  if (most != Isolation::namespaces) {
    machine.filter = true;
    const ProbeResult result = try_out(machine);
    machine.filter = result.works && result.text.find("filter=2") != std::string::npos;
    if (!machine.filter)
      machine.missing.push_back("no system-call filter: the kernel refuses it: " + result.problem);
  }

  machine.bwrap = find_bwrap();
  if (most < Isolation::namespaces) {
    machine.missing.emplace_back("LAB_SANDBOX=limits switches namespaces off");
    return machine;
  }
  if (machine.bwrap.empty()) {
    machine.missing.emplace_back("no namespaces: install bubblewrap");
    return machine;
  }
  struct Way {
    Namespaces how;
    bool disable_userns, proc;
  };
  std::string problem;
  for (const Way& way : {Way{Namespaces::by_root, false, true}, Way{Namespaces::by_user, true, true},
                         Way{Namespaces::by_user, false, true}, Way{Namespaces::by_user, false, false}}) {
    if (way.how == Namespaces::by_root && !root) continue;
    Machine candidate = machine;
    candidate.namespaces = way.how;
    candidate.other_user = way.how == Namespaces::by_root || machine.other_user;
    candidate.disable_userns = way.disable_userns;
    candidate.proc = way.proc;
    const ProbeResult result = try_out(candidate);
    if (result.works) {
      machine = candidate;
      machine.level = machine.filter ? Isolation::full : Isolation::namespaces;
      return machine;
    }
    if (problem.empty()) problem = result.problem.substr(0, result.problem.find('\n'));
  }
  machine.missing.push_back("no namespaces: bubblewrap does not work here (" + problem +
                            "); user namespaces may be switched off: sysctl "
                            "kernel.unprivileged_userns_clone, user.max_user_namespaces, "
                            "kernel.apparmor_restrict_unprivileged_userns, or the container's own filter");
  return machine;
}

}  // namespace

Machine probe(const std::string& enter, Isolation most) {
  Machine machine = probe_features(enter, most);
  if (geteuid() != 0 || machine.other_user || machine.level != Isolation::limits) return machine;
  // Limits do not bind root.
  machine.level = Isolation::none;
  const std::string closed = closed_part(machine.enter);
  machine.missing.push_back(
      closed.empty() ? "root can't take on another user here"
                     : fmt::format("root can't take on another user here, since only root can use {}: move "
                                   "the checkout to another folder",
                                   closed));
  return machine;
}

const Machine& this_machine(const std::string& enter) {
  static const Machine machine = [&] {
    const char* bound = std::getenv("LAB_SANDBOX");
    const auto most = isolation_named(bound == nullptr ? "full" : bound);
    return probe(enter, most.value_or(Isolation::full));
  }();
  return machine;
}

std::vector<std::string> Machine::parts() const {
  std::vector<std::string> out;
  if (namespaces != Namespaces::none) out.emplace_back("namespaces");
  if (filter) out.emplace_back("filter");
  if (other_user) out.emplace_back("own user");
  if (level != Isolation::none) out.emplace_back("limits");
  if (cgroup_version > 0) out.push_back(fmt::format("cgroup v{}", cgroup_version));
  if (out.empty()) out.emplace_back("a process of its own");
  return out;
}

}  // namespace course::grader::sandbox
