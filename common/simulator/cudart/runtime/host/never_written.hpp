// SPDX-License-Identifier: MIT
// With SIM_CHECK=1: which bytes of device memory have never been written (the checker of kernels has one bit
// for each), and what wrote last to an allocation. A copy passes the bits on, so that a copy within the
// device does not make memory count as written. A copy to the host that reads such bytes is a finding, and so
// is any copy, or collective, that reads only such bytes.
// Not reported: padding. That is less than 16 bytes between what a kernel has written through a pointer to a
// structure or an unknown type, the end of rows of cudaMallocPitch, and gaps of equal size and distance that
// an alignment of rows explains.
#pragma once

#include <cstdint>
#include <string>

#include "cudart/runtime/memory/memory.hpp"
#include "cudart/runtime/runtime.hpp"
#include "sim/footprint.hpp"

namespace course::cudart {

// Must be called before a copy, or other work that `what` names.
void check_source(const CopyOp& copy, const std::string& what = "a copy");
// Must be called after a row has been copied: its bytes count as written if those of the source do.
void note_copied(const void* dst, const void* src, std::uint64_t n_bytes);
// Must be called after a copy, or after a fill (`src` is nullptr), of `n_bytes` from the first to the last
// byte.
void note_last_writer(const void* dst, const void* src, std::uint64_t n_bytes);
// Must be called after a launch, under the context's lock.
void note_launch_wrote(Context& context, const sim::LaunchRequest& launch, const sim::Footprint& footprint);
// Must be called after a launch, not under the context's lock: what it wrote into memory of other devices.
void note_wrote_to_peers(const Context& context, const sim::Footprint& footprint);

}  // namespace course::cudart
