// SPDX-License-Identifier: MIT
#include "grading/session_runner.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>

#include "compile/build.hpp"
#include "compile/compile_file.hpp"
#include "compile/recipe.hpp"
#include "device.hpp"
#include "text.hpp"
#include "verifier/session.hpp"

namespace course::grader {
namespace {

constexpr std::uint64_t kHostMemoryWithGpu = std::uint64_t{24} << 30;  // bytes: the driver maps and pins

class SessionRunner : public CaseRunner {
 public:
  SessionRunner(lab::SessionOptions options, std::string root, sandbox::Sandbox sandbox,
                std::optional<sandbox::Sandbox> around_device)
      : root_(std::move(root)),
        sandbox_(std::move(sandbox)),
        around_device_(std::move(around_device)),
        session_(std::move(options)) {}
  lab::Outcome run(const lab::Problem& problem, const lab::Task& task, const lab::Case& c, std::uint64_t seed,
                   const lab::Measure& measure) override {
    lab::Outcome outcome = session_.run(problem, task, c, seed, measure);
    // Paths of the checkout come from the compiler (in the device code) and from what runners print. They are
    // made relative only here.
    const auto shorten = [&](std::string& text) { text = paths_from(root_, text); };
    shorten(outcome.sim_report), shorten(outcome.printed);
    lab::for_each_text(outcome.failure, shorten);
    return outcome;
  }

 private:
  std::string root_;  // the checkout
  // The sandboxes must outlive the session's processes.
  sandbox::Sandbox sandbox_;
  std::optional<sandbox::Sandbox> around_device_;
  lab::Session session_;
};

sandbox::View view_for(const Layout& layout, const std::string& executable, lab::DeviceKind device) {
  sandbox::View view;
  view.read_only = {executable, layout.build + "/deps"};
  if (device == lab::DeviceKind::sim) {
    view.read_only.push_back(layout.remote_dir());
  } else {
    if (!layout.toolkit_lib_dir.empty()) view.read_only.push_back(layout.toolkit_lib_dir);
    view.devices = sandbox::gpu_devices();
  }
  const char* inherited = std::getenv("LD_LIBRARY_PATH");
  std::istringstream folders(inherited == nullptr ? "" : inherited);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (folder.starts_with('/')) view.read_only.push_back(folder);
  return view;
}

sandbox::Purpose purpose_of(lab::DeviceKind device, bool several_devices) {
  if (device == lab::DeviceKind::sim) return sandbox::Purpose::run;
  return several_devices ? sandbox::Purpose::run_with_nccl : sandbox::Purpose::run_on_gpu;
}

}  // namespace

const sandbox::Machine& isolation_here(const Layout& layout) {
  return sandbox::this_machine(layout.build + "/grader/sandbox_enter");
}

std::unique_ptr<CaseRunner> session_runner(const Layout& layout, std::string executable,
                                           lab::DeviceKind device, const RunContext& context,
                                           double seconds_per_case, const sandbox::Bounds& bounds) {
  lab::SessionOptions options;
  // the sandbox has another working directory
  options.runner = std::filesystem::absolute(executable).string();
  options.device = device;
  options.simulator_dir = layout.remote_dir();
  options.toolkit_lib_dir = layout.toolkit_lib_dir;
  options.seconds_per_case = seconds_per_case;
  options.rerun_flags = context.rerun_flags();
  options.of_the_course = context.solutions;
  const bool gpu = device == lab::DeviceKind::gpu;
  // The simulated device is a process of the grader's own, so its reports can be trusted. A GPU's runner
  // contains the student's code, so the GPU is probed separately.
  if (gpu) {
    options.memory_gb_per_s = known_gpu(layout).memory_gb_per_s;
    options.device_trouble = [layout] {
      const GpuProbe probe = probe_gpu(layout);
      return probe.works ? "" : probe.why.empty() ? "the GPU does not work" : probe.why;
    };
  }
  if (!gpu) {
    options.device_program = layout.device_program();
    // The device runs the code of the object that was screened, and not that of the program linked from it.
    const std::string screened =
        std::filesystem::path(options.runner).replace_filename(kScreenedObject).string();
    std::error_code ignored;
    if (std::filesystem::is_regular_file(screened, ignored)) options.device_code = screened;
  }
  sandbox::Bounds bounded = bounds;
  if (gpu) bounded.memory_bytes = std::max(bounds.memory_bytes, kHostMemoryWithGpu);
  // Without a control group only the address space can be limited. This works only for the student's process
  // with the simulator: the simulated device and GPU drivers reserve far more than they use.
  sandbox::Bounds of_host = bounded;
  if (!gpu && isolation_here(layout).cgroup_version == 0) of_host.address_bytes = bounded.memory_bytes;
  const bool several_devices = is_for_several_devices(context.lab);
  sandbox::View view = view_for(layout, options.runner, device);
  if (gpu && several_devices) {
    if (const auto nccl = nccl_folder(layout)) {
      options.toolkit_lib_dir += ":" + *nccl;
      view.read_only.push_back(*nccl);
    }
  }
  sandbox::Sandbox sandbox(isolation_here(layout), purpose_of(device, several_devices), std::move(view),
                           of_host);
  options.launcher = sandbox.launcher();
  options.launchers_report = !options.launcher.empty();
  // The device process has a sandbox of its own, separate from the host code's.
  std::optional<sandbox::Sandbox> around_device;
  if (!gpu) {
    sandbox::View of_device = view_for(layout, options.runner, device);
    if (!options.device_code.empty()) of_device.read_only.push_back(options.device_code);
    around_device.emplace(isolation_here(layout), sandbox::Purpose::device, std::move(of_device), bounded);
    options.device_launcher = around_device->launcher();
  }
  return std::make_unique<SessionRunner>(std::move(options), layout.root, std::move(sandbox),
                                         std::move(around_device));
}

RunnerFactory session_runners(const Layout& layout, const RunContext& context) {
  return [layout, context](const lab::Problem& problem, lab::DeviceKind device) {
    const std::string lab(problem.manifest().id);
    const auto runner = runner_of(layout, lab, context.solutions);
    RunContext of_lab = context;
    of_lab.lab = lab;
    return session_runner(layout, runner ? *runner : "", device, of_lab);
  };
}

}  // namespace course::grader
