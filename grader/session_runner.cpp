// SPDX-License-Identifier: MIT
#include "session_runner.hpp"

#include <cstdlib>
#include <sstream>

namespace course::grader {
namespace {

class SessionRunner : public CaseRunner {
 public:
  SessionRunner(lab::SessionOptions options, sandbox::Sandbox sandbox)
      : sandbox_(std::move(sandbox)), session_(with_launcher(std::move(options))) {}
  lab::Outcome run(const lab::Problem& problem, const lab::Task& task, const lab::Case& c, std::uint64_t seed,
                   const lab::Measure& measure) override {
    return session_.run(problem, task, c, seed, measure);
  }

 private:
  lab::SessionOptions with_launcher(lab::SessionOptions options) const {
    options.launcher = sandbox_.launcher();
    return options;
  }
  sandbox::Sandbox sandbox_;  // outlives the session's processes
  lab::Session session_;
};

// The program, the libraries that it is to find, and nothing else of ours.
sandbox::View view_for(const Layout& layout, const std::string& executable, lab::DeviceKind device) {
  sandbox::View view;
  view.read_only = {executable, layout.root + "/.deps"};
  if (device == lab::DeviceKind::sim) {
    view.read_only.push_back(layout.simulator_dir());
  } else {
    if (!layout.toolkit_lib_dir.empty()) view.read_only.push_back(layout.toolkit_lib_dir);
    view.devices = sandbox::gpu_devices();
  }
  const char* inherited = std::getenv("LD_LIBRARY_PATH");
  std::istringstream folders(inherited == nullptr ? "" : inherited);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (folder.starts_with('/')) view.read_only.push_back(folder);
  }
  return view;
}

}  // namespace

const sandbox::Machine& isolation_here(const Layout& layout) {
  return sandbox::this_machine(layout.build + "/grader/sandbox_enter");
}

std::unique_ptr<CaseRunner> session_runner(const Layout& layout, std::string executable,
                                           lab::DeviceKind device, const RunContext& context,
                                           double seconds_per_case, const sandbox::Bounds& bounds) {
  lab::SessionOptions options;
  options.runner = std::move(executable);
  options.device = device;
  options.simulator_dir = layout.simulator_dir();
  options.toolkit_lib_dir = layout.toolkit_lib_dir;
  options.seconds_per_case = seconds_per_case;
  options.rerun_flags = context.rerun_flags();
  const bool gpu = device == lab::DeviceKind::gpu;
  sandbox::Sandbox sandbox(isolation_here(layout), gpu ? sandbox::Purpose::run_on_gpu : sandbox::Purpose::run,
                           view_for(layout, options.runner, device), bounds);
  return std::make_unique<SessionRunner>(std::move(options), std::move(sandbox));
}

RunnerFactory session_runners(const Layout& layout, const RunContext& context) {
  return [layout, context](const lab::Problem& problem, lab::DeviceKind device) {
    const std::string lab(problem.manifest().id);
    return session_runner(layout, layout.runner(lab, context.solutions), device, context);
  };
}

}  // namespace course::grader
