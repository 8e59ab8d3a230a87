// SPDX-License-Identifier: MIT
// What commands in messages repeat of a run, and its seeds: the secret one, and those of its cases.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "report/result.hpp"

namespace course::grader {

struct RunContext {
  std::string lab;
  std::uint64_t seed = 0;
  bool solutions = false;
  lab::DeviceKind device = lab::DeviceKind::sim;
  // With --case, `seed` is the one that a failure message prints: the case's seed.
  bool seed_is_of_case = false;
  unsigned gpus = 0;  // GradeOptions

  std::string rerun_flags() const;  // "--device sim --solutions"
  // The seed of a case in a stage. Nothing that is found out in one case, not even all of its items, is of
  // use in another, which may run in the same process.
  std::uint64_t seed_of(Stage stage, std::string_view task, std::string_view case_name) const;
};

// The secret seed of a run: random bits from the kernel. (To repeat a run, the user gives its seed.)
Result<std::uint64_t> fresh_seed();

}  // namespace course::grader
