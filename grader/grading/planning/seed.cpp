// SPDX-License-Identifier: MIT
#include "grading/planning/seed.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include <cerrno>
#include <cstring>

namespace course::grader {

Result<std::uint64_t> fresh_seed() {
  std::uint64_t seed = 0;
  ssize_t n = 0;
  do {
    n = getrandom(&seed, sizeof seed, 0);
  } while (n < 0 && errno == EINTR);
  if (n != sizeof seed)
    return Error{fmt::format("No random seed from the kernel: {}.", std::strerror(errno))};
  return seed;
}

}  // namespace course::grader
