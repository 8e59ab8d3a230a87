// SPDX-License-Identifier: MIT
// Advice and prefetches for managed memory. Arguments are checked; there is nothing else to do, because all
// memory is equally fast.
#pragma once

#include "cudart/runtime/runtime.hpp"

namespace course::cudart {

Status advise(const void* pointer, std::size_t n_bytes, cudaMemoryAdvise advice,
              const cudaMemLocation& location);
Status prefetch(const void* pointer, std::size_t n_bytes, const cudaMemLocation& location);
// Converts CUDA 12's location, a device ordinal or −1 for the host.
cudaMemLocation location_of_ordinal(int device);

}  // namespace course::cudart
