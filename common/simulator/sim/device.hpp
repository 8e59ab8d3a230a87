// SPDX-License-Identifier: MIT
// The simulated GPU as its users see it: memory, modules, launches. Its users are common/simulator/cudart and
// the tests. Read this file first, then README.md beside it, which follows a launch through the source files.
// Invariant: a device pointer is an address in this process's arena, so host code may copy to and from it.
// Every access of a kernel is checked against the exact bounds of the allocation that contains it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "sim/finding.hpp"
#include "sim/types.hpp"

namespace course::sim {

struct DeviceOptions {
  DevicePreset preset;
  int ordinal = 0;       // among the process's devices
  int host_threads = 0;  // 0: all cores
  // 0: natural order; otherwise permutes blocks, warps and the lanes of atomics and stores.
  std::uint64_t schedule_seed = 0;
  // With a seed, blocks that may wait for each other start in any order, a few at once: CUDA guarantees no
  // more. Without this they start in order, as GPUs do and as libraries expect. Device::set_schedule sets it.
  bool any_start_order = false;
  // Where blocks take turns (with a checker or a seed; if the launch is counted, only with a trace), they and
  // their warps do after a few instructions. Counters then depend on the seed. For readers who follow a run
  // step by step.
  bool short_turns = false;
  // Processor time after which a launch without checkers is ended (with them, kSlowdownByCheckers times as
  // much); 0: no limit.
  double watchdog_seconds = 0;
  // After this many warp instructions in which no block has ended, the launch is checked for progress
  // (progress_watch.hpp).
  std::uint64_t patience = std::uint64_t{1} << 28;
  bool check_without_shortcuts = false;  // for tests of the checkers: slow, lane by lane
};

class Timeline;
struct FindingsText;
struct TraceLog;

// Not thread-safe: only one host thread may use a device at a time. Ids must come from this device; any other
// id is undefined behaviour.
class Device {
 public:
  // Throws std::runtime_error if this build has no engine for the processor.
  explicit Device(DeviceOptions options);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const DeviceOptions& options() const;

  // --- memory
  // Addresses are aligned to 256 bytes and valid in this process. The device frees all memory when it is
  // destroyed. Returns an error if too little memory is left.
  Result<std::uint64_t> allocate(std::uint64_t n_bytes, MemoryKind kind);
  // `address` must be the start of an allocation; a second release is an error.
  Result<void> release(std::uint64_t address);
  // The allocation that contains `address`, or nullptr. It belongs to the device and is valid until the next
  // call.
  const Allocation* find(std::uint64_t address) const;
  // The part with a name that contains `address` (name_buffer()), else find(): for messages.
  const Allocation* find_named(std::uint64_t address) const;
  std::uint64_t free_bytes() const;
  // Whole pages of this process, without any memory that host code may access (page-locked, managed). They
  // contain all other memory of the device. Empty if that is not in this process.
  std::span<std::byte> device_only_memory() const;
  // Size of the heap of malloc() in kernels, in bytes; 8 MiB by default. An error once a kernel has used the
  // heap, as in CUDA.
  Result<void> set_heap_bytes(std::uint64_t n_bytes);
  // Frees all that kernels have allocated. Afterwards the size can be set again.
  void empty_heap();
  // The freed allocation that contained `address` most recently, or nullptr. Valid as long as the result of
  // find().
  const Allocation* find_freed(std::uint64_t address) const;
  // Sets the memory of other devices, which kernels may access or which messages explain. An error if the
  // device can't do this.
  Result<void> set_other_memory(std::vector<OtherMemory> others);
  // Names a buffer, or a part of one, for messages. `is_data`: an input of a task, whose work and steps are
  // counted; a store to it is a finding.
  void name_buffer(std::uint64_t address, std::uint64_t n_bytes, std::uint32_t element_bytes,
                   std::string name, bool is_data);
  // From now on, only the named parts of the allocation that contains `address` may be accessed, or all of it
  // again.
  void confine(std::uint64_t address, bool to_parts);
  // Accesses of host code. A copy takes any address outside of device memory for host memory. Neither call
  // informs the checkers. fill() writes `count` elements, each the lowest `element_bytes` (1, 2 or 4) bytes
  // of `value`.
  Result<void> copy(std::byte* dst, const std::byte* src, std::uint64_t n_bytes);
  Result<void> fill(std::byte* dst, std::uint32_t value, std::uint32_t element_bytes, std::uint64_t count);
  // Informs the checkers that host code wrote these bytes (memcpy, memset), so that they count as
  // initialised. With a checker on, writing to an input of a task is a finding.
  void host_wrote(std::uint64_t address, std::uint64_t n_bytes);
  // Those of these bytes that have never been written, as far as the initialisation checker knows: in
  // ascending order, as few ranges as possible. None for memory of others.
  std::vector<ByteRange> never_written(std::uint64_t address, std::uint64_t n_bytes) const;
  // Makes these bytes count as uninitialised again; their contents do not change. No effect before the first
  // mode with kInitcheck.
  void forget_writes(std::uint64_t address, std::uint64_t n_bytes);

  // --- code
  // Allocates the module's variables and sets their initial values. Returns an error if the text cannot be
  // parsed, memory is short, or an initial value names what the module does not define. Unknown instructions
  // are reported when their kernel is first checked or launched.
  // `compiled`: what kernels use of which machine code for this chip exists; for others it is estimated.
  Result<ModuleId> load_module(std::string_view ptx_text, const ResourceTable& compiled = {});
  // The same for the parts of a program that was compiled separately (ptx/link.hpp).
  Result<ModuleId> load_linked(std::span<const std::string> ptx_texts, const ResourceTable& compiled = {});
  // Releases the module's variables and code. facts() of its kernels stays valid; launches of them fail.
  void unload_module(ModuleId module);
  Result<KernelId> find_kernel(ModuleId module, std::string_view mangled_name);
  const KernelFacts& facts(KernelId kernel) const;  // valid as long as the device
  // Address, and size in bytes, of a __device__ or __constant__ variable.
  struct Symbol {
    std::uint64_t address, size;
  };
  Result<Symbol> find_symbol(ModuleId module, std::string_view mangled_name);

  // --- execution
  // What launch() would refuse without running the kernel, because its configuration or its code does not
  // suit the device. Does not depend on anything that kernels have done. The shared variables of called
  // functions are not included: only launch() checks whether they fit.
  LaunchResult check(const LaunchRequest& request);
  // Synchronous: when this returns, the kernel has ended, and so have the kernels that its threads launched,
  // which run after it. The result says if it was refused, or if a fault ended it.
  LaunchResult launch(const LaunchRequest& request);
  // The first thing outside of the subset that every observer follows (observation/subset.hpp): of the
  // launch's configuration, else of its code; "" if there is none. Labs refuse such a launch.
  std::string outside_of_subset(const LaunchRequest& request);
  // How many blocks of this kernel fit on one multiprocessor at once; 0 if not even one does.
  int occupancy(KernelId kernel, int threads_per_block, std::uint64_t dynamic_shared) const;

  // Counts what the device has sent to others in an operation of several devices.
  void count_sent(std::uint64_t n_messages, std::uint64_t n_bytes);
  // The modelled time, which launches advance. The runtime library has to add copies and waits.
  Timeline& timeline();

  // --- observation
  void set_mode(std::uint32_t mode);  // bits of Mode, for launches and calls from now on
  // Sets DeviceOptions::schedule_seed and any_start_order from the next launch on. Counters do not depend on
  // them, except with short_turns; whether a race is observed may.
  void set_schedule(std::uint64_t seed, bool any_start_order = true);
  std::uint32_t mode() const;
  const std::vector<Finding>& findings() const;
  void add_finding(Finding finding);
  // Takes back what add_finding() was called with, once.
  void withdraw_finding(const Finding& finding);
  // Adds a finding for each allocation that kernels have made in observed launches and not freed. Each is
  // reported once.
  void find_heap_leaks();
  // The findings as text, the most important first, several lines each.
  static FindingsText text_of(const std::vector<Finding>& findings);
  // The checks that did not apply to launches, one line for each reason: "2 launches with clusters: …".
  std::string unchecked_text() const;
  // Everything seen since the last reset, as JSON: counters per launch, totals, findings (schema:
  // sim_control.h).
  std::string report_json() const;
  const TraceLog& trace() const;
  void reset_report();

 private:
  void run_children(LaunchResult& parent, KernelId kernel, int depth);
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace course::sim
