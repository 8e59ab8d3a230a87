// SPDX-License-Identifier: MIT
// The process-wide state behind the API: one Context per simulated device, the registry, what each thread has chosen.
// Read this, then registry.hpp (code), memory.hpp (pointers and copies), operation.hpp (what a stream does),
// stream.hpp and graph.hpp; the api_*.cpp files are the exported functions over these.
// Invariants: nothing is created before its first use (registration runs before main); nothing is destroyed at exit
// (programs call in from atexit handlers); a context's Device is touched under its lock only.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "cudart/code/registry.hpp"
#include "cudart/environment.hpp"
#include "cudart/runtime/status.hpp"
#include "sim/device.hpp"

struct CUmemPoolHandle_st;
struct CUstream_st;

namespace course::cudart {

// How a piece of memory came to be: cudaFree and cudaFreeHost must match it.
enum class Origin : std::uint8_t { device, pitched, host, managed, pool, graph };

struct Owned {
  Origin origin = Origin::device;
  std::uint64_t bytes = 0;
  unsigned flags = 0;                  // of cudaHostAlloc or cudaMallocManaged
  CUmemPoolHandle_st* pool = nullptr;  // Origin::pool
};

struct Context {
  explicit Context(int which);
  ~Context();

  const int ordinal;
  // Recursive: a copy to a symbol loads the symbol's module on the way.
  std::recursive_mutex lock;
  std::atomic<bool> created{false};

  // The simulated chip; made at the first call. Call with the lock held.
  sim::Device& device();
  // On the modelled clocks, the host waits for all that the device was given. Takes the lock.
  void synchronise();

  // --- under the lock
  std::map<std::uint64_t, Owned> owned;      // by base address
  cudaError_t sticky = cudaSuccess;          // of a kernel that faulted: only cudaDeviceReset mends it
  std::map<unsigned, std::uint64_t> limits;  // cudaDeviceSetLimit
  unsigned flags = 0;
  cudaFuncCache cache_config = cudaFuncCachePreferNone;
  cudaSharedMemConfig shared_config = cudaSharedMemBankSizeFourByte;
  std::unique_ptr<CUstream_st> legacy_stream;
  std::unique_ptr<CUmemPoolHandle_st> default_pool;
  CUmemPoolHandle_st* current_pool = nullptr;
  std::uint64_t graph_bytes = 0, graph_bytes_high = 0;  // memory that graph nodes hold

 private:
  std::unique_ptr<sim::Device> device_;
};

struct LaunchConfiguration {
  dim3 grid, block;
  std::uint64_t shared = 0;
  cudaStream_t stream = nullptr;
};

struct ThreadState {
  int device = 0;
  cudaError_t last_error = cudaSuccess;
  std::vector<LaunchConfiguration> launches;  // pushed by <<<>>>, popped by the kernel's stub
  cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeGlobal;
  std::map<int, std::unique_ptr<CUstream_st>> default_streams;  // cudaStreamPerThread, by ordinal

  ThreadState();
  ~ThreadState();
};

class Runtime {
 public:
  Runtime();
  const Environment& environment() const { return environment_; }
  Registry& registry() { return registry_; }
  int n_devices() const { return static_cast<int>(contexts_.size()); }
  Context& context(int ordinal) { return *contexts_[static_cast<std::size_t>(ordinal)]; }
  bool is_device(int ordinal) const { return ordinal >= 0 && ordinal < n_devices(); }
  // The JSON report of all devices that were used, to SIM_REPORT.
  void write_report();

 private:
  Environment environment_;
  Registry registry_;
  std::vector<std::unique_ptr<Context>> contexts_;
};

Runtime& runtime();
ThreadState& thread_state();
Context& current_context();

// Says something once per process and key.
void say_once(const std::string& key, const std::string& text);

}  // namespace course::cudart
