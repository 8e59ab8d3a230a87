// SPDX-License-Identifier: MIT
// The subcommands of labcli. Each adds itself to the parser; the chosen one stores its action in `run`.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "base/result.hpp"

namespace CLI {
class App;
}

namespace course::grader::cli {

// Returns the exit code: 0 if the command ran (a low score is not an error), 1 for wrong usage or an error of
// the grader itself.
using Run = std::function<int()>;
constexpr int kRan = 0;
constexpr int kFailed = 1;

// Each is defined in the file of its name.
using AddCommand = void(CLI::App& app, Run& run);
AddCommand add_grade, add_check, add_profile, add_bench, add_trace, add_smallest, add_photo, add_report,
    add_list, add_points, add_isolation;
AddCommand add_batch, add_probe_gpu;  // hidden; batch is what ./lab grade-all is made of

// In the order in which --help lists them.
inline constexpr AddCommand* kCommands[] = {add_grade,     add_check, add_profile,  add_bench, add_trace,
                                            add_smallest,  add_photo, add_report,   add_list,  add_points,
                                            add_isolation, add_batch, add_probe_gpu};

// Prints "lab: …" on stderr and returns kFailed.
int fail(const std::string& text);

// The value of a step without which the command cannot go on. main() prints what is thrown, as fail() does.
template <typename T>
T need(Result<T> step) {
  if (!step) throw std::runtime_error(step.error().text);
  if constexpr (!std::is_void_v<T>) return std::move(*step);
}

}  // namespace course::grader::cli
