// SPDX-License-Identifier: MIT
// The subcommands of labcli. Each adds itself to the parser; the chosen one stores its action in `run`.
#pragma once

#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace course::grader::cli {

// Returns the exit code: 0 if the command ran (a low score is not an error), 1 for wrong usage or an error of
// the grader itself.
using Run = std::function<int()>;
constexpr int kRan = 0;
constexpr int kFailed = 1;

void add_grade(CLI::App& app, Run& run);
void add_check(CLI::App& app, Run& run);
void add_bench(CLI::App& app, Run& run);
void add_model(CLI::App& app, Run& run);
void add_profile(CLI::App& app, Run& run);
void add_trace(CLI::App& app, Run& run);
void add_isolation(CLI::App& app, Run& run);
void add_describe(CLI::App& app, Run& run);  // hidden
void add_report(CLI::App& app, Run& run);
void add_list(CLI::App& app, Run& run);
void add_points(CLI::App& app, Run& run);
void add_batch(CLI::App& app, Run& run);      // hidden: the parts of ./lab grade-all
void add_probe_gpu(CLI::App& app, Run& run);  // hidden

// Prints "lab: …" on stderr and returns kFailed.
int fail(const std::string& text);

}  // namespace course::grader::cli
