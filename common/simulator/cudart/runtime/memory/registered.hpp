// SPDX-License-Identifier: MIT
// Host memory pinned by cudaHostRegister. Kernels access it at the host's address, which is also what
// cudaHostGetDevicePointer returns. Within a kernel, these accesses are only checked for bounds.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cudart/runtime/runtime.hpp"

namespace course::cudart {

Status register_host(Context& context, void* pointer, std::uint64_t n_bytes, unsigned flags);
Status unregister_host(const void* pointer);
// Unregisters everything that this device registered.
void forget_registered(Context& context);

// Whether the program has registered memory.
bool ever_registered();
// The registered memory that contains `pointer`.
std::optional<sim::ByteRange> registered_range(const void* pointer);
// Adds all registered memory.
void add_registered(std::vector<sim::OtherMemory>& others);

}  // namespace course::cudart
