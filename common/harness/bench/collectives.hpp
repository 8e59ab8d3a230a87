// SPDX-License-Identifier: MIT
// NCCL alone: what its operations cost in the same run as a lab for several devices.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

#include "bench/bench_device.hpp"

namespace course::lab {

// Rows for an all-reduce and an all-to-all of n_bytes on each device, with the time and the bus bandwidth:
// the bytes that a device must send, divided by the time. Empty for one device, which sends nothing.
nlohmann::json measure_collectives(const BenchDevice& device, unsigned most_runs, std::uint64_t n_bytes);

}  // namespace course::lab
