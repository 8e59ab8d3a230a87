// SPDX-License-Identifier: MIT
// Fuzz target: reading the simulator's report, which comes from the runner's process.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "verifier/sim_report.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto report = course::lab::read_sim_report({reinterpret_cast<const char*>(data), size});
  for (const auto& finding : report.findings) static_cast<void>(course::lab::one_line(finding));
  return 0;
}
