// SPDX-License-Identifier: MIT
// Advice and prefetches for managed memory: checked, then nothing to do, as all memory is equally near. And copies in
// batches, whose signature changed between CUDA 12 and 13 too.
#pragma once

#include "cudart/runtime/runtime.hpp"

namespace course::cudart {

Status advise(const void* pointer, std::size_t n_bytes, cudaMemoryAdvise advice,
              const cudaMemLocation& location);
Status prefetch(const void* pointer, std::size_t n_bytes, const cudaMemLocation& location);
// CUDA 12's way to name a place: an ordinal, or -1 for the host.
cudaMemLocation location_of_ordinal(int device);

// `failed` (may be null) gets the index of the copy that was refused.
Status copy_batch(void* const* dsts, const void* const* srcs, const std::size_t* sizes, std::size_t count,
                  cudaStream_t stream, std::size_t* failed);

}  // namespace course::cudart
