// SPDX-License-Identifier: MIT
#include "grading/planning/seed.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include <cerrno>
#include <charconv>
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

Result<std::uint64_t> parse_seed(const std::string& text) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  const char* begin = text.data() + (hex ? 2 : 0);
  const char* end = text.data() + text.size();
  std::uint64_t seed = 0;
  const auto [stop, error] = std::from_chars(begin, end, seed, hex ? 16 : 10);
  if (error != std::errc() || stop != end || begin == end) {
    return Error{fmt::format("\"{}\" is not a seed: give a number of up to 64 bits, 12345 or 0x1b2c.", text)};
  }
  return seed;
}

}  // namespace course::grader
