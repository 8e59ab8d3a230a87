// SPDX-License-Identifier: MIT
#include "grading/run_context.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/rng.hpp"

namespace course::grader {

std::string RunContext::rerun_flags() const {
  return (gpus > 0 ? fmt::format("--gpus {}", gpus) : fmt::format("--device {}", name_of(device))) +
         (solutions ? " --solutions" : "");
}

std::uint64_t RunContext::seed_of(Stage stage, std::string_view task, std::string_view case_name) const {
  if (seed_is_of_case) return seed;
  return one_way(seed, fmt::format("{} {} {} {}", lab, name_of(stage), task, case_name));
}

Result<std::uint64_t> fresh_seed() {
  std::uint64_t seed = 0;
  if (getentropy(&seed, sizeof seed) != 0)
    return Error{fmt::format("No random seed from the kernel: {}.", std::strerror(errno))};
  return seed;
}

}  // namespace course::grader
