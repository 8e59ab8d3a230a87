// SPDX-License-Identifier: MIT
// labcli probe-gpu (hidden): tries the CUDA runtime in this process and prints the result as JSON.
// probe_gpu() runs it as a child process.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "device.hpp"

namespace course::grader::cli {

void add_probe_gpu(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("probe-gpu", "");
  command->group("");
  command->callback([&run] {
    run = [] {
      const Result<Layout> layout = find_layout();
      const GpuProbe probe = probe_gpu_here(layout ? layout->toolkit_lib_dir : "");
      const nlohmann::json answer{{"works", probe.works},
                                  {"name", probe.name},
                                  {"why", probe.why},
                                  {"devices", probe.n_devices},
                                  {"memory_gb_per_s", probe.memory_gb_per_s}};
      std::puts(answer.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
      return kRan;
    };
  });
}

}  // namespace course::grader::cli
