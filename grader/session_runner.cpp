// SPDX-License-Identifier: MIT
#include "session_runner.hpp"

namespace course::grader {
namespace {

class SessionRunner : public CaseRunner {
 public:
  explicit SessionRunner(lab::SessionOptions options) : session_(std::move(options)) {}
  lab::Outcome run(const lab::Problem& problem, const lab::Task& task, const lab::Case& c, std::uint64_t seed,
                   const lab::Measure& measure) override {
    return session_.run(problem, task, c, seed, measure);
  }

 private:
  lab::Session session_;
};

}  // namespace

std::unique_ptr<CaseRunner> session_runner(const Layout& layout, std::string executable,
                                           lab::DeviceKind device, const RunContext& context,
                                           double seconds_per_case) {
  lab::SessionOptions options;
  options.runner = std::move(executable);
  options.device = device;
  options.simulator_dir = layout.simulator_dir();
  options.toolkit_lib_dir = layout.toolkit_lib_dir;
  options.seconds_per_case = seconds_per_case;
  options.rerun_flags = context.rerun_flags();
  return std::make_unique<SessionRunner>(std::move(options));
}

RunnerFactory session_runners(const Layout& layout, const RunContext& context) {
  return [layout, context](const lab::Problem& problem, lab::DeviceKind device) {
    const std::string lab(problem.manifest().id);
    return session_runner(layout, layout.runner(lab, context.solutions), device, context);
  };
}

}  // namespace course::grader
