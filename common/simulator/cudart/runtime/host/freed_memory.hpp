// SPDX-License-Identifier: MIT
// Host memory that a graph's node uses at each launch, and whether it has been freed since the node was made:
// by free() or delete, whose calls of the C library go through this file, by cudaFreeHost, or because it was
// on the stack of a function that has returned.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "cudart/runtime/call_stack.hpp"

namespace course::cudart {

struct HostMemory {
  const std::uint64_t address;
  bool freed = false;
  CallStack freed_by = {};
};

// Watches this address as long as the result exists.
std::shared_ptr<const HostMemory> watch_host_memory(const void* address);
// Must be called before memory of the host is freed.
void host_memory_freed(std::uint64_t address, std::uint64_t n_bytes);
// ", freed at FILE:LINE", or another clause that says why the memory is gone; empty as long as it is there.
std::string fate_of(const HostMemory& memory);

}  // namespace course::cudart
