// SPDX-License-Identifier: MIT
// Modelled times, computed from the counters and the chip's constants (timing.hpp). Output for people always
// calls them "modelled". The time of a kernel is that of an empty kernel plus the time that the units of the
// machine need: the work of each unit ÷ its rate, and the longest chain of waits (Counters::chain_clocks).
// Units of multiprocessors need at least as long as the block that needs them longest does on one of them.
// These overlap: they are combined with the exponent Timing::blend, so the largest counts most. A kernel
// whose data come from memory also waits for the first of them.
#pragma once

#include "sim/counters.hpp"
#include "sim/types.hpp"

namespace course::sim {

struct Modelled {
  double us = 0;                    // of the kernel, from its start to its end
  const char* bound_by = "launch";  // a name of bounds.hpp: "memory", "issue", "latency" …
};

// `block`: what the block that needs a unit longest needs of it.
Modelled model_time(const DevicePreset& preset, const LaunchRequest& launch, const Counters& counters,
                    const UnitClocks& block);

}  // namespace course::sim
