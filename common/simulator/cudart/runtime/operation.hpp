// SPDX-License-Identifier: MIT
// The operations that can be submitted to a stream. A stream executes each operation at once, in order. While
// the stream is captured, the operation becomes a graph node instead and is executed at each launch of the
// graph.
// check() finds the errors that CUDA reports from the call itself; execute() does the work. A kernel's fault
// is reported later, as on a GPU: execute() returns success, and the context's error becomes sticky.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "cudart/runtime/memory/memory.hpp"
#include "cudart/runtime/runtime.hpp"

namespace course::cudart {

struct KernelOp {
  Function* function = nullptr;
  sim::Dim3 grid, block;
  sim::Dim3 cluster{0, 0, 0};  // 0: no clusters
  // Dynamic shared memory, in bytes.
  std::uint64_t shared = 0;
  bool cooperative = false;
  std::vector<std::byte> arguments;  // laid out as the kernel's parameters
  std::vector<cudaLaunchAttribute> attributes;
};

struct HostOp {
  cudaHostFn_t function = nullptr;
  cudaStreamCallback_t callback = nullptr;  // if `function` is nullptr; gets the stream and its status, too
  cudaStream_t stream = nullptr;
  void* data = nullptr;
};

struct EmptyOp {};
struct ChildOp {
  std::shared_ptr<CUgraph_st> graph;
};
struct RecordOp {
  cudaEvent_t event = nullptr;
};
struct WaitOp {
  cudaEvent_t event = nullptr;
};

// Memory that graph nodes allocate. It is reserved as long as a node refers to it, at the same address for
// all launches.
struct GraphMemory {
  GraphMemory(Context& where, void* pointer) : context(where), address(pointer) {}
  ~GraphMemory();
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;

  Context& context;
  void* const address;
  bool live = false;  // allocated by a launch and not yet freed
};
struct AllocOp {
  std::shared_ptr<GraphMemory> memory;
};
struct FreeOp {
  void* address = nullptr;
};

using Operation =
    std::variant<KernelOp, CopyOp, FillOp, HostOp, EmptyOp, ChildOp, RecordOp, WaitOp, AllocOp, FreeOp>;

// What the fault of a launch means for the program.
struct FaultMeaning {
  cudaError_t code;
  bool sticky;  // the kernel ran and corrupted the context; otherwise the launch itself was refused
};
FaultMeaning meaning_of(sim::Fault fault);

cudaGraphNodeType node_type(const Operation& operation);

// Copies the arguments and applies the kernel's settings. Launch attributes are applied by
// apply_attributes().
Status make_kernel(Context& context, const void* function, dim3 grid, dim3 block, void** arguments,
                   std::uint64_t shared, KernelOp& out);
Status apply_attributes(const cudaLaunchAttribute* attributes, unsigned n, KernelOp& kernel);
// Converts the parameters of cudaMemcpy3D and of memset nodes.
Status make_copy(const cudaMemcpy3DParms& parameters, CopyOp& out);
Status make_fill(const cudaMemsetParams& parameters, FillOp& out);
// Reserves memory for an allocation node. An error if there is not enough, or for 0 bytes.
Status make_graph_memory(Context& context, std::uint64_t n_bytes, AllocOp& out);
// Marks graph memory as freed; false if `address` is not live graph memory of this device.
bool free_graph_memory(Context& context, void* address);

Status check(Context& context, const Operation& operation);
Status execute(Context& context, const Operation& operation);

}  // namespace course::cudart
