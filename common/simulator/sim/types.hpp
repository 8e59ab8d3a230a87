// SPDX-License-Identifier: MIT
// Types that the parts of the simulator and its users share: memory, modes, facts about a chip and a kernel,
// a launch and its result. Plain data; device.hpp has the operations.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "sim/checker.hpp"
#include "sim/counters.hpp"
#include "sim/finding.hpp"
#include "sim/footprint.hpp"
#include "sim/timing.hpp"

namespace course::sim {

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

// texture: the descriptor of a texture or surface object (texture.hpp), which only the runtime library
// creates.
enum class MemoryKind : std::uint8_t { device, pinned_host, managed, module_variable, texture };

// A piece of memory that the device can access: live, or freed and kept for diagnosis.
struct Allocation {
  std::uint64_t base = 0;
  std::uint64_t size = 0;  // bytes
  MemoryKind kind = MemoryKind::device;
  std::string name;                 // "d_in" if its owner has named it, otherwise ""
  std::uint32_t element_bytes = 1;  // size of an element in messages
  bool is_data = false;             // an input of a task: see Device::name_buffer
  bool is_constant = false;         // a __constant__ variable, or a kernel's parameters
  bool by_kernel = false;           // from the device's heap: malloc() in a kernel
  bool only_parts = false;          // only its named parts may be accessed (Arena::confine)
  // Only for memory of malloc() in a kernel, in an observed launch.
  std::string made_by;               // demangled name of the kernel, otherwise ""
  std::vector<SourcePlace> made_at;  // innermost first
  ThreadId maker;
};

// Memory outside of a device that its kernels may use, or may not use: that of other devices.
struct OtherMemory {
  Allocation memory;
  std::string refusal;  // why kernels may not access it; empty: they may
};

// What is observed while a kernel runs, as bits; kFast sets none of them. Bounds are checked in every mode.
enum Mode : std::uint32_t {
  kFast = 0,
  kCounters = 1,  // sectors, wavefronts, divergence per kernel
  kDataflow = 2,  // work and steps (slow: keep inputs below 2^20 elements)
  kRacecheck = row_of(Checker::racecheck).mode,
  kInitcheck = row_of(Checker::initcheck).mode,
  kTrace = 32,    // contents of arrays, see trace.hpp (for inputs of a few hundred elements)
  kProfile = 64,  // counters by source line, see profile.hpp; needs kCounters
  // Errors in the host program's calls: leaks, wrong frees, failing calls, copies of uninitialised memory.
  kHostcheck = 128,
  kAllChecks = kCheckersOfKernels,
};

// Static facts about the simulated chip. Sizes are in bytes.
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
  double memory_gb_per_s = 4250;  // achievable bandwidth, measured with a device-to-device copy
  int near_bytes = 256 * 1024;    // per multiprocessor: shared memory and L1 together
  Timing timing;

  // Registers of a multiprocessor: each of its four partitions holds whole warps, whose registers come in
  // units of 256. (The CUDA toolkit's cuda_occupancy.h has the rules.)
  static constexpr int kPartitions = 4, kRegisterUnit = 256;
  // The most warps whose registers fit.
  int most_warps(int registers_per_thread) const {
    const int registers = std::clamp(registers_per_thread, 1, registers_per_multiprocessor);
    const int per_warp = (registers * 32 + kRegisterUnit - 1) / kRegisterUnit * kRegisterUnit;
    return registers_per_multiprocessor / kPartitions / per_warp * kPartitions;
  }
  // The reverse: the most registers of a thread with which this number of warps fits; at least one warp.
  int most_registers(int warps) const {
    const int per_partition = (std::max(warps, 1) + kPartitions - 1) / kPartitions;
    return registers_per_multiprocessor / kPartitions / per_partition / kRegisterUnit * kRegisterUnit / 32;
  }
};

enum class Fault : std::uint8_t {
  none,
  illegal_address,
  misaligned_address,
  illegal_instruction,  // unknown or not supported; the message names it
  launch_timeout,       // no progress, a deadlock, the watchdog's limit, or a grid too large to simulate
  device_assert,
  trap,
  invalid_configuration,  // grid, block, cluster or shared memory beyond the limits
  out_of_resources,
  invalid_parameter,
};

using ModuleId = std::uint32_t;
using KernelId = std::uint32_t;
// What the machine code of a kernel uses, per thread.
struct KernelResources {
  int registers = 0;
  std::uint32_t frame_bytes = 0;  // of local memory
};
using ResourceTable =
    std::map<std::string, KernelResources>;  // by the mangled names of kernels and functions

struct KernelFacts {
  std::string name;  // mangled
  std::string demangled;
  std::uint64_t parameter_bytes = 0;
  struct Parameter {
    std::uint64_t offset, size;
  };
  std::vector<Parameter> parameters;
  std::uint64_t static_shared = 0;  // bytes
  std::uint64_t local_bytes = 0;    // per thread: of the machine code, or of the variables in PTX
  int registers = 0;                // per thread: of the machine code, or estimated
  int max_threads = 1024;           // from .maxntid / .reqntid
  int ptx_version = 90;             // compute capability of the module's target × 10: 90 for sm_90
};

struct LaunchRequest {
  KernelId kernel = 0;
  Dim3 grid, block, cluster;
  std::uint64_t dynamic_shared = 0;  // bytes
  // Laid out as KernelFacts::parameters says; only read during the launch.
  std::span<const std::byte> parameters;
  bool cooperative = false;
  // It may begin before the launch before it has ended (programmatic stream serialization). Here it never
  // does.
  bool overlaps = false;
};

// A kernel that a thread of a launch has launched (dynamic parallelism).
struct ChildLaunch {
  std::uint64_t function = 0;  // the kernel's address
  Dim3 grid, block;
  std::uint32_t dynamic_shared = 0;
  bool last = false;                  // in the stream cudaStreamTailLaunch
  std::vector<std::byte> parameters;  // all that the buffer has room for
};

struct LaunchResult {
  Fault fault = Fault::none;
  std::string text;  // empty without a fault; otherwise names the kernel, also line and thread if known
  bool not_simulated = false;  // it could not be decoded, so nothing ran
  Counters counters;
  double modelled_us = 0;           // from the timing model: the kernel alone
  const char* bound_by = "launch";  // its limiter in the timing model: a name of bounds.hpp
  Footprint footprint;  // accesses to global memory; only in a mode with kHostcheck and one of kAllChecks
  std::vector<ChildLaunch> children;  // that have not run yet
  // What printf's buffer must hold, at least; what a thread's recursive calls needed of its stack.
  std::uint64_t printed_bytes = 0, recursion_bytes = 0;
};

}  // namespace course::sim
