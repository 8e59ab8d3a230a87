// SPDX-License-Identifier: MIT
// The modelled time of an operation, and what each rank sends. Each algorithm takes
//   launch + steps * latency of a step + bytes that the busiest device sends or receives / bandwidth;
// of the algorithms for an operation, the fastest one counts, as NCCL's own tuner chooses. model.cpp has the
// constants and their source.
//   direct: every rank sends to every other one at once, with NCCL's low-latency protocol, which has a part
//           of the bandwidth
//   ring:   n - 1 steps for an all-gather, reduce-scatter, reduce or broadcast, 2 (n - 1) for an all-reduce
//   pairs:  the grouped sends and receives of an all-to-all, gather or scatter, or of the program
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "nccl/operation/call.hpp"

namespace course::nccl {

struct Link {
  std::string_view name;
  double launch_us;        // until the first bytes move
  double step_us;          // of each step of a ring
  double pairs_us;         // sends and receives between pairs, beyond the launch
  double gb_per_s;         // that a device sends, and at the same time receives
  double direct_gb_per_s;  // with the low-latency protocol
};

// The link of a chip, by the name that the simulator gives it, or the link that `chosen` names (the value of
// SIM_LINK, or nullptr). An unknown name counts as none.
const Link& link_of(std::string_view chip, const char* chosen);

enum class Algorithm : std::uint8_t { direct, ring, pairs };
struct Estimate {
  double us = 0;
  Algorithm algorithm = Algorithm::direct;
};
// `calls`: of all ranks of a collective, or sends and receives.
Estimate estimate_of(const std::vector<const Call*>& calls);
Estimate estimate_of(const std::vector<const Call*>& calls, const Link& link);

struct Sent {
  std::uint64_t n_messages = 0, n_bytes = 0;
};
// What a rank sends to other ranks in one call.
Sent sent_by(const Call& call, Algorithm algorithm);

}  // namespace course::nccl
