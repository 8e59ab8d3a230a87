// SPDX-License-Identifier: MIT
// Threads and objects in words, for faults and findings.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "sim/finding.hpp"
#include "sim/machine/program.hpp"
#include "sim/memory/memory.hpp"

namespace course::sim {

// "s_data[17]", "d_in, element 1000 of 1000 (one past the end)", "freed memory": the object at a generic address.
// Elements are of the type its owner named; else of `element_bytes`, where that is not 0.
// `origins`: pointers that it was computed from, where that is known: an address outside of all allocations is told of as
// one of theirs.
std::string describe_address(const Program& program, const Arena& arena, std::uint64_t address,
                             std::uint32_t element_bytes = 0, std::span<const std::uint64_t> origins = {});

// PTX names variables by their mangled scope: the last identifier, "s_data".
std::string plain_name(const std::string& mangled);

std::string describe_thread(const ThreadId& id);

// Thread `thread` of block `block`, both counted along x, then y, then z.
ThreadId thread_of(const LaunchRequest& launch, std::uint64_t block, std::uint64_t thread);

}  // namespace course::sim
