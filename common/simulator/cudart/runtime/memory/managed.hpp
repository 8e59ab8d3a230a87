// SPDX-License-Identifier: MIT
// Advice and prefetches for managed memory. Arguments are checked; there is nothing else to do, because all
// memory is equally fast. Also batches of copies, whose signature changed between CUDA 12 and 13, too.
#pragma once

#include "cudart/runtime/runtime.hpp"

namespace course::cudart {

Status advise(const void* pointer, std::size_t n_bytes, cudaMemoryAdvise advice,
              const cudaMemLocation& location);
Status prefetch(const void* pointer, std::size_t n_bytes, const cudaMemLocation& location);
// Converts CUDA 12's location, a device ordinal or −1 for the host.
cudaMemLocation location_of_ordinal(int device);

// If a copy is refused, its index is stored in `failed`, which may be nullptr; the copies before it have been
// submitted.
Status copy_batch(void* const* dsts, const void* const* srcs, const std::size_t* sizes, std::size_t count,
                  cudaStream_t stream, std::size_t* failed);

}  // namespace course::cudart
