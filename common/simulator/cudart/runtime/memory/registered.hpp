// SPDX-License-Identifier: MIT
// Host memory pinned by cudaHostRegister. A kernel accesses it at the host's address, or through a mirror in
// its device's memory, whose address cudaHostGetDevicePointer returns. Before each operation of a device, the
// host's bytes are copied to the mirror; afterwards, the changed bytes are copied back. Checkers treat the
// mirror like any other allocation; within a kernel, they do not see accesses at the host's address.
#pragma once

#include <cstdint>
#include <vector>

#include "cudart/runtime/runtime.hpp"

namespace course::cudart {

Status register_host(Context& context, void* pointer, std::uint64_t n_bytes, unsigned flags);
Status unregister_host(const void* pointer);
// Unregisters everything that this device registered, and releases its mirrors. Takes the table's and the
// context's lock.
void forget_registered(Context& context);

// Whether the program has registered memory.
bool ever_registered();
// Whether `pointer` lies in registered memory or in a mirror of it.
bool is_registered(const void* pointer);
// The address on this device of a registered host address, and the reverse. host_pointer() returns nullptr
// for any other pointer.
Status device_pointer(Context& context, void* host, void** out);
void* host_pointer(const void* device);
// Adds all registered memory, at the host's addresses.
void add_registered(std::vector<sim::OtherMemory>& others);

// Exists around each operation of a device: copies to the mirrors at the start and back at the end.
class MirroredHostMemory {
 public:
  explicit MirroredHostMemory(Context& context);
  ~MirroredHostMemory();
  MirroredHostMemory(const MirroredHostMemory&) = delete;
  MirroredHostMemory& operator=(const MirroredHostMemory&) = delete;

 private:
  Context& context_;
};

}  // namespace course::cudart
