// SPDX-License-Identifier: MIT
// The simulated GPU as its users see it: memory, modules, launches. common/cudart is one user, tests another.
// Read this first, then README.md beside it for how a launch flows through the files.
// Invariant: a device pointer is an address inside this process's arena, so host code may copy to and from it; every
// access from a kernel is checked against the exact bounds of the allocation it falls into.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "sim/counters.hpp"
#include "sim/finding.hpp"
#include "sim/footprint.hpp"
#include "sim/timing.hpp"

namespace course::sim {

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

// texture: what a texture or surface object is made of (texture.hpp), for the runtime library alone.
enum class MemoryKind : std::uint8_t { device, pinned_host, managed, module_variable, texture };

// A live (or freed, kept for diagnosis) piece of device-accessible memory.
struct Allocation {
  std::uint64_t base = 0;
  std::uint64_t size = 0;  // bytes
  MemoryKind kind = MemoryKind::device;
  std::string name;                 // "d_in" once somebody named it, else ""
  std::uint32_t element_bytes = 1;  // for messages
  bool is_data = false;             // watched by the dataflow counters
  bool by_kernel = false;           // from the device's heap: a kernel's malloc
  // Of memory that a kernel's malloc gave, while checkers are on.
  std::string made_by;               // the kernel, demangled; else ""
  std::vector<SourcePlace> made_at;  // innermost first
  ThreadId maker;
};

// What is looked at while a kernel runs. Bits; `fast` is none of them. Bounds are always checked.
enum Mode : std::uint32_t {
  kFast = 0,
  kCounters = 1,  // sectors, wavefronts, divergence per kernel
  kDataflow = 2,  // work and steps (slow: keep inputs below 2^20 elements)
  kRacecheck = 4,
  kInitcheck = 8,
  kSynccheck = 16,
  kTrace = 32,    // rows of arrays, see trace.hpp (for inputs of some hundred elements)
  kProfile = 64,  // counters by source line, see profile.hpp; needs kCounters
  // The program's own calls: leaks, wrong frees, calls that fail, copies of what nobody wrote.
  kHostcheck = 128,
  kAllChecks = kRacecheck | kInitcheck | kSynccheck,
};

// Static facts of the simulated chip: preset data, no behaviour.
struct DevicePreset {
  std::string name = "Simulated H200";
  int compute_major = 9, compute_minor = 0;
  int multiprocessors = 132;
  int max_threads_per_multiprocessor = 2048;
  int max_blocks_per_multiprocessor = 32;
  int registers_per_multiprocessor = 65536;
  int max_threads_per_block = 1024;
  std::uint64_t shared_per_multiprocessor = 233472;  // bytes
  std::uint64_t shared_per_block = 49152;
  std::uint64_t shared_per_block_optin = 232448;
  std::uint64_t reserved_shared_per_block = 1024;
  std::uint64_t global_memory = std::uint64_t{16} << 30;  // bytes offered to cudaMalloc
  std::uint64_t constant_memory = 65536;
  int l2_bytes = 50 * 1024 * 1024;
  double clock_ghz = 1.98;
  double memory_gb_per_s = 4250;  // achievable, measured by a device-to-device copy
  int near_bytes = 256 * 1024;    // of a multiprocessor: shared memory and first-level cache together
  Timing timing;
};

struct DeviceOptions {
  DevicePreset preset;
  int host_threads = 0;             // 0 = all cores
  std::uint64_t schedule_seed = 0;  // 0 = natural order; else permutes blocks, warps and the lanes of atomics
  double watchdog_seconds = 0;      // ends a launch after so long, whatever it does; 0: never
  // Warp instructions without the end of any block after which it is asked whether the launch still gets on (progress.hpp).
  std::uint64_t patience = std::uint64_t{1} << 28;
  bool check_without_shortcuts = false;  // for tests of the checkers: lane by lane, slowly
};

enum class Fault : std::uint8_t {
  none,
  illegal_address,
  misaligned_address,
  illegal_instruction,  // unknown or not implemented: the text names it
  launch_timeout,       // no progress, or a deadlock
  device_assert,
  trap,
  invalid_configuration,  // grid, block or shared memory outside the limits
  out_of_resources,
  invalid_parameter,
};

using ModuleId = std::uint32_t;
using KernelId = std::uint32_t;

struct KernelFacts {
  std::string name;  // mangled
  std::string demangled;
  std::uint64_t parameter_bytes = 0;
  struct Parameter {
    std::uint64_t offset, size;
  };
  std::vector<Parameter> parameters;
  std::uint64_t static_shared = 0;  // bytes
  std::uint64_t local_bytes = 0;    // per thread
  std::uint64_t constant_bytes = 0;
  int registers = 0;       // per thread, estimated
  int max_threads = 1024;  // from .maxntid / .reqntid
  int ptx_version = 90;    // target of the module × 10: 90 for sm_90
};

struct LaunchRequest {
  KernelId kernel = 0;
  Dim3 grid, block, cluster;
  std::uint64_t dynamic_shared = 0;       // bytes
  std::span<const std::byte> parameters;  // laid out by KernelFacts::parameters; read during the launch
  bool cooperative = false;
  int registers = 0;  // per thread, of the machine code; 0: KernelFacts::registers, an estimate
};

struct LaunchResult {
  Fault fault = Fault::none;
  std::string text;  // empty when fault is none; else names kernel, file:line, threads
  Counters counters;
  double modelled_us = 0;           // by the timing model: the kernel alone
  const char* bound_by = "launch";  // what holds it there: a name of bounds.hpp
  Footprint footprint;              // in global memory, in a mode with kHostcheck and one of kAllChecks
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
