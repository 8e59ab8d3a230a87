// SPDX-License-Identifier: MIT
// Kernels that try to break the simulator: addresses, sizes, alignments and state spaces that do not fit,
// barriers that are none, masks, indices and launch shapes at their limits. All decisions come from a string
// of bytes, so that a fuzzer can change single ones. Most kernels fault; none may harm the process.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/types.hpp"

namespace course::sim::hostile {

// Decisions: from the bytes, and from a generator seeded by them when they have been used up.
class Choices {
 public:
  explicit Choices(std::span<const std::uint8_t> bytes);

  std::uint64_t below(std::uint64_t bound);  // 0 … bound − 1
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  std::uint64_t word();
  template <typename T>
  T of(std::initializer_list<T> list) {
    return list.begin()[below(list.size())];
  }
  std::string_view text(std::initializer_list<std::string_view> list) { return of(list); }

 private:
  std::span<const std::uint8_t> left_;
  std::uint64_t state_;
};

// Addresses of the device that kernels use, right or slightly wrong.
struct Place {
  std::uint64_t address, n_bytes;
};

struct HostileKernel {
  std::string ptx;  // a module with the kernel `k`
  LaunchRequest launch;
  std::vector<std::byte> parameters;
};

HostileKernel hostile_kernel(Choices& choices, std::span<const Place> places);

}  // namespace course::sim::hostile
