// SPDX-License-Identifier: MIT
// Fuzz target: the simulator's report, from which trace tables and profiles are made.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "profile/profile.hpp"
#include "registry.hpp"
#include "trace/print.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace course::grader;
  static const auto& problem = *course::lab::all_problems().front();
  static const auto& task = problem.manifest().tasks.front();
  static const auto kCase = problem.cases(task).front();
  const std::string_view report(reinterpret_cast<const char*>(data), size);
  const TraceView view = trace_view(problem, task, kCase, report, 16);
  for (const bool colour : {false, true}) static_cast<void>(trace_text(view, colour));
  static_cast<void>(trace_markdown(view));
  const Profile profile = profile_of(problem, task, kCase, report);
  static_cast<void>(profile_json(profile));
  static_cast<void>(
      profile_text(profile, [](const std::string&, std::uint32_t) { return std::string("x"); }));
  return 0;
}
