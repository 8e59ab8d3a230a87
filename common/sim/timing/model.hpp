// SPDX-License-Identifier: MIT
// Modelled times, from what the counters saw and the chip's constants (timing.hpp). Always labelled
// "modelled" where people see it. A kernel takes an empty kernel's time, and what the parts of the machine
// need: each part's work ÷ its rate, and the longest chain of waits (Counters::chain_clocks). They overlap,
// so the greatest counts in full and the others as far as Timing::blend says.
#pragma once

#include <cstdint>

#include "sim/counters.hpp"
#include "sim/device.hpp"

namespace course::sim {

struct Modelled {
  double us = 0;                    // of the kernel alone, from its start to its end
  const char* bound_by = "launch";  // a name of bounds.hpp: "memory", "issue", "latency" …
};

Modelled model_time(const DevicePreset& preset, const LaunchRequest& launch, const Counters& counters);

// Blocks of a launch that fit one multiprocessor at once; 0 when a block does not fit at all.
int blocks_per_multiprocessor(const DevicePreset& preset, int threads_per_block, int registers_per_thread,
                              std::uint64_t shared_bytes);

}  // namespace course::sim
