// SPDX-License-Identifier: MIT
// How a debugger in the same process attaches to the simulator (common/simulator/debug). It learns of modules
// and kernels, and its observer sees every launch after all others. A recorder only writes down what host
// code asks for. Without an attachment, nothing here costs a launch more than a comparison.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sim/checkers/kernel_checker.hpp"
#include "sim/decode/decode.hpp"
#include "sim/machine/warp.hpp"
#include "sim/memory/memory.hpp"

namespace course::sim {

class Attachment {
 public:
  virtual ~Attachment() = default;
  // `image` is valid until its module is unloaded, `ptx` during the call.
  virtual void module_loaded(const ModuleImage& image, std::string_view ptx) = 0;
  // At a kernel's first launch. `program` is valid until its module is unloaded.
  virtual void kernel_decoded(const Program& program, const ModuleImage& image, SlotNames names) = 0;
  // The observer of the next launch, which runs on one host thread and under these checkers.
  virtual Observer& observer(const Arena& arena, std::vector<KernelChecker*> checkers) = 0;
  // Host code asks for a launch; false: it counts as run, but is not.
  virtual bool runs(const LaunchRequest&, const KernelFacts&) { return true; }
  // Host code fills memory, or copies to `dst`.
  virtual void fills(std::uint64_t /*dst*/, std::uint32_t /*value*/, std::uint32_t /*element_bytes*/,
                     std::uint64_t /*count*/) {}
  virtual void copies(std::uint64_t /*dst*/, std::span<const std::byte>) {}
};

// At most one, set before the first device is made.
inline Attachment* attachment = nullptr;

}  // namespace course::sim
