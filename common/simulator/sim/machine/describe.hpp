// SPDX-License-Identifier: MIT
// Descriptions of threads and objects for faults and findings.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "sim/finding.hpp"
#include "sim/machine/program.hpp"
#include "sim/memory/memory.hpp"

namespace course::sim {

struct Block;

// The object at a generic address: "s_data[17]", "d_in, element 1000 of 1000 (past its end)", "freed memory:
// …". Elements have the size that the owner gave, otherwise `element_bytes`, unless that is 0.
// `origins`: the pointers from which the address was computed, if they are known. An address outside all
// allocations is then described relative to the allocation of one of them.
std::string describe_address(const Program& program, const Arena& arena, std::uint64_t address,
                             std::uint32_t element_bytes = 0, std::span<const std::uint64_t> origins = {});

// "a null pointer", and whether malloc in a kernel has returned one.
std::string describe_null(const Arena& arena);

// Where an access outside of the block's shared memory is: "past the end of the block's 4096 bytes of shared
// memory", or "before the start of" them for an index below 0, whose offset has wrapped around.
std::string outside_of_shared(std::uint64_t offset, std::uint64_t n_bytes);

// The last identifier of a mangled variable name of PTX, for example "s_data".
std::string plain_name(const std::string& mangled);

std::string describe_thread(const ThreadId& id);

// Indices of thread number `thread` of block number `block`, both counted along x, then y, then z.
ThreadId thread_of(const LaunchRequest& launch, std::uint64_t block, std::uint64_t thread);

// A description of where the threads of a block wait, and for which threads. `running_too`: also where the
// others run.
std::string describe_waits(const Block& block, bool running_too = true);

}  // namespace course::sim
