// SPDX-License-Identifier: MIT
// The simulated GPU as its users see it: memory, modules, launches. common/cudart is one user, tests another.
// Read this first, then README.md beside it for how a launch flows through the files.
// Invariant: a device pointer is an address inside this process's arena, so host code may copy to and from it; every
// access from a kernel is checked against the exact bounds of the allocation it falls into.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "sim/finding.hpp"
#include "sim/types.hpp"

namespace course::sim {

struct DeviceOptions {
  DevicePreset preset;
  int host_threads = 0;             // 0 = all cores
  std::uint64_t schedule_seed = 0;  // 0 = natural order; else permutes blocks, warps and the lanes of atomics
  double watchdog_seconds = 0;      // ends a launch after so long, whatever it does; 0: never
  // Warp instructions without the end of any block after which it is asked whether the launch still gets on (progress.hpp).
  std::uint64_t patience = std::uint64_t{1} << 28;
  bool check_without_shortcuts = false;  // for tests of the checkers: lane by lane, slowly
};

class Timeline;

// Used by one host thread at a time. Ids are those that this device has given; with others nothing is defined.
class Device {
 public:
  // Throws std::runtime_error where this build has no engine for the processor.
  explicit Device(DeviceOptions options);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const DeviceOptions& options() const;

  // --- memory. Addresses are 256-byte aligned and valid in this process; what is still allocated goes with the device.
  // An error when there is no room.
  Result<std::uint64_t> allocate(std::uint64_t n_bytes, MemoryKind kind);
  Result<void> release(std::uint64_t address);  // must be a base; double free is an error
  // The allocation that contains `address`, or nullptr. The device's own; holds until its next call.
  const Allocation* find(std::uint64_t address) const;
  std::uint64_t free_bytes() const;
  // The heap that malloc in kernels takes from, 8 MiB unless set. An error once a kernel has used it, as in CUDA.
  Result<void> set_heap_bytes(std::uint64_t n_bytes);
  // Frees all that kernels have allocated, and lets the size be set again.
  void empty_heap();
  // The freed allocation that held `address` last, or nullptr. As find().
  const Allocation* find_freed(std::uint64_t address) const;
  // Names a buffer (or a part of one) for messages; `is_data` marks it as watched by the dataflow counters.
  void name_buffer(std::uint64_t address, std::uint64_t n_bytes, std::uint32_t element_bytes,
                   std::string name, bool is_data);
  // Host code's access. An end of a copy that is no device memory is the host's; neither tells the checkers. An error says
  // what can't be done from here. fill: `count` elements, each the lowest `element_bytes` (1, 2 or 4) of `value`.
  Result<void> copy(std::byte* dst, const std::byte* src, std::uint64_t n_bytes);
  Result<void> fill(std::byte* dst, std::uint32_t value, std::uint32_t element_bytes, std::uint64_t count);
  // Tell the checkers that host code wrote these bytes (memcpy, memset): they count as initialised.
  void host_wrote(std::uint64_t address, std::uint64_t n_bytes);
  // Has any of these bytes been written, as far as the initialisation checker knows?
  bool any_written(std::uint64_t address, std::uint64_t n_bytes) const;
  // They no longer do, though the contents stay: as if just allocated. For the checkers that the mode has on.
  void forget_writes(std::uint64_t address, std::uint64_t n_bytes);

  // --- code
  // Gives its variables memory and their initial values. An error says what of the text cannot be read or has no room; whether its
  // instructions are known turns out at a kernel's first launch.
  Result<ModuleId> load_module(std::string_view ptx_text);
  // Releases its variables and code. Its kernels keep their facts; launches of them are refused.
  void unload_module(ModuleId module);
  Result<KernelId> find_kernel(ModuleId module, std::string_view mangled_name);
  const KernelFacts& facts(KernelId kernel) const;  // stands as long as the device
  // Address and size, in bytes, of a __device__ / __constant__ variable.
  struct Symbol {
    std::uint64_t address, size;
  };
  Result<Symbol> find_symbol(ModuleId module, std::string_view mangled_name);

  // --- execution. Synchronous: the kernel has ended when launch returns, or been ended by a fault, which the result tells.
  LaunchResult launch(const LaunchRequest& request);
  // Blocks of this kernel that fit one multiprocessor at once; 0: not even one does.
  int occupancy(KernelId kernel, int threads_per_block, std::uint64_t dynamic_shared) const;

  // The modelled clocks that launches move on; copies and waits are for the runtime library to tell it.
  Timeline& timeline();

  // --- observation
  void set_mode(std::uint32_t mode);  // bits of Mode; holds from the next launch
  // DeviceOptions::schedule_seed from the next launch on. What is counted does not depend on it, whether a race shows does.
  void set_schedule(std::uint64_t seed);
  std::uint32_t mode() const;
  const std::vector<Finding>& findings() const;
  void add_finding(Finding finding);
  // Adds what kernels have allocated and not freed so far, once.
  void find_heap_leaks();
  // The findings in words, most telling first: several lines each.
  std::string findings_text() const;
  // Everything seen since the last reset: per-launch counters, totals, findings, as JSON (schema in report.hpp).
  std::string report_json() const;
  void reset_report();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace course::sim
