// SPDX-License-Identifier: MIT
// Host memory pinned by cudaHostRegister. A kernel accesses it through a mirror in its device's memory, whose
// address cudaHostGetDevicePointer returns (cudaDevAttrCanUseHostPointerForRegisteredMem is 0). Before each
// operation of a device, the host's bytes are copied to the mirror; afterwards, the changed bytes are copied
// back. So bounds are known, and checkers treat the mirror like any other allocation.
#pragma once

#include <cstdint>

#include "cudart/runtime/runtime.hpp"

namespace course::cudart {

Status register_host(Context& context, void* pointer, std::uint64_t n_bytes, unsigned flags);
Status unregister_host(const void* pointer);
// Unregisters everything that this device registered, and releases its mirrors. Takes the table's and the
// context's lock.
void forget_registered(Context& context);

// Whether `pointer` lies in registered memory or in a mirror of it.
bool is_registered(const void* pointer);
// The address on this device of a registered host address, and the reverse. host_pointer() returns nullptr
// for any other pointer.
Status device_pointer(Context& context, void* host, void** out);
void* host_pointer(const void* device);

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
