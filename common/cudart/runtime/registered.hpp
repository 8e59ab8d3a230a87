// SPDX-License-Identifier: MIT
// Host memory that cudaHostRegister pinned. A kernel reaches it through a mirror in its device's memory, whose address
// cudaHostGetDevicePointer gives (cudaDevAttrCanUseHostPointerForRegisteredMem is 0): before whatever a device does the host's bytes
// are brought there, and what it changed is brought back, so bounds are known and checkers see it as any other allocation.
#pragma once

#include <cstdint>

#include "cudart/runtime/runtime.hpp"

namespace course::cudart {

Status register_host(Context& context, void* pointer, std::uint64_t n_bytes, unsigned flags);
Status unregister_host(const void* pointer);
// Ends what this device registered, and its mirrors. Takes the lock.
void forget_registered(Context& context);

// Does `pointer` lie in registered memory, as the host sees it or as a device does?
bool is_registered(const void* pointer);
// As this device sees it, and as the host does; nullptr where the other is no such pointer.
Status device_pointer(Context& context, void* host, void** out);
void* host_pointer(const void* device);

// Around all that a device does with memory.
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
