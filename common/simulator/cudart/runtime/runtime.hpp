// SPDX-License-Identifier: MIT
// The process-wide state behind the API: one Context per simulated device, the registry, and the state of
// each thread.
// Reading order: this file, code/registry.hpp (code), memory/memory.hpp (pointers and copies), operation.hpp
// (what streams execute), stream.hpp, graph/graph.hpp. The files in api/ define the exported functions, which
// use these.
// Invariants: nothing is created before its first use, because registration runs before main; nothing is
// destroyed at exit, because programs call in from atexit handlers; a context's Device is only used under its
// lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "cudart/code/registry.hpp"
#include "cudart/environment.hpp"
#include "cudart/runtime/call_stack.hpp"
#include "cudart/runtime/status.hpp"
#include "sim/device.hpp"

struct CUmemPoolHandle_st;
struct CUstream_st;

namespace course::cudart {

// How a piece of memory was allocated. cudaFree and cudaFreeHost must match it.
enum class Origin : std::uint8_t { device, pitched, host, managed, pool, graph };

struct Owned {
  Origin origin = Origin::device;
  const char* call = "cudaMalloc";  // the function that allocated it; lives as long as the program
  std::uint64_t bytes = 0;
  unsigned flags = 0;                  // of cudaHostAlloc or cudaMallocManaged
  CUmemPoolHandle_st* pool = nullptr;  // Origin::pool
  CallStack made_by;                   // with kHostcheck: the call that allocated it
};

// With kHostcheck: what wrote last to an allocation.
struct LastWriter {
  std::string what;  // "init(float*, int)", "a memset"
  bool is_launch = false;
  sim::Dim3 grid, block;
  std::uint64_t first = 0, n_bytes = 0;  // from the allocation's start
  std::uint32_t element_bytes = 0;       // 0: not known
  bool may_be_padded = false;            // some launch may have written structures there
  CallStack calls;
};

// The default limits of a device. Key: a value of the enumeration cudaLimit.
std::map<unsigned, std::uint64_t> default_limits();

struct Context {
  explicit Context(int which);
  ~Context();

  const int ordinal;
  // Recursive, because a copy to a symbol loads the symbol's module.
  std::recursive_mutex lock;
  std::atomic<bool> created{false};

  // The simulated chip, created at the first call. Must be called under the lock.
  sim::Device& device();
  // In modelled time, the host waits for all work of the device. Returns the error of a fault that ended it.
  // Takes the lock.
  Status synchronise();
  // The error of a fault, which all later calls return. Takes the lock.
  Status error();

  // --- protected by the lock
  std::map<std::uint64_t, Owned> owned;              // by base address
  std::map<std::uint64_t, LastWriter> last_writers;  // by base address
  cudaError_t sticky = cudaSuccess;                  // after a kernel's fault; only cudaDeviceReset clears it
  std::map<unsigned, std::uint64_t> limits = default_limits();  // cudaDeviceSetLimit
  unsigned flags = 0;
  cudaFuncCache cache_config = cudaFuncCachePreferNone;
  cudaSharedMemConfig shared_config = cudaSharedMemBankSizeFourByte;
  std::set<int> peers;  // devices whose memory this one may access
  std::unique_ptr<CUstream_st> legacy_stream;
  std::unique_ptr<CUmemPoolHandle_st> default_pool;
  CUmemPoolHandle_st* current_pool = nullptr;

 private:
  std::unique_ptr<sim::Device> device_;
};

// During a call that submits work or waits: with several devices, their timelines have one host clock.
class OneHostClock {
 public:
  explicit OneHostClock(Context& context);
  ~OneHostClock();
  OneHostClock(const OneHostClock&) = delete;
  OneHostClock& operator=(const OneHostClock&) = delete;

 private:
  Context& context_;
};

struct LaunchConfiguration {
  dim3 grid, block;
  std::uint64_t shared = 0;
  cudaStream_t stream = nullptr;
};

// A call whose error is a finding, until the program has handled the error.
struct FailedCall {
  std::string call;
  cudaError_t error = cudaSuccess;
  Context* context = nullptr;
  sim::Finding finding;
  bool read = false;  // by cudaGetLastError or cudaPeekAtLastError
};

struct ThreadState {
  int device = 0;
  cudaError_t last_error = cudaSuccess;
  std::vector<FailedCall> failed_calls;
  std::vector<LaunchConfiguration> launches;  // pushed by <<<>>>, popped by the kernel's stub function
  cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeGlobal;
  std::map<int, std::unique_ptr<CUstream_st>> default_streams;  // cudaStreamPerThread, by device ordinal

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
  std::vector<Context*> created();  // the contexts that exist
  bool is_device(int ordinal) const { return ordinal >= 0 && ordinal < n_devices(); }
  // Writes the JSON report of all devices that were used to the file SIM_REPORT.
  void write_report();

 private:
  Environment environment_;
  Registry registry_;
  std::vector<std::unique_ptr<Context>> contexts_;
};

// The one Runtime; the calling thread's state; the context of the calling thread's device.
Runtime& runtime();
ThreadState& thread_state();
Context& current_context();

// Prints `text` with say(), once per process for each key.
void say_once(const std::string& key, const std::string& text);

}  // namespace course::cudart
