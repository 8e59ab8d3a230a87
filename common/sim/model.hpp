// SPDX-License-Identifier: MIT
// Modelled kernel time: a roofline over what the counters saw. Always labelled "modelled" where people see it.
#pragma once

#include "sim/counters.hpp"
#include "sim/device.hpp"
#include "sim/program.hpp"

namespace course::sim {

struct Modelled {
  double us = 0;                    // launch overhead included
  const char* bound_by = "launch";  // "memory", "issue", "shared memory", "atomics", "latency", "launch"
};

Modelled model_time(const DevicePreset& preset, const LaunchRequest& launch, const Counters& counters);

// Blocks of a launch that fit one multiprocessor at once; 0 when a block does not fit at all.
int blocks_per_multiprocessor(const DevicePreset& preset, int threads_per_block, int registers_per_thread,
                              std::uint64_t shared_bytes);

}  // namespace course::sim
