// SPDX-License-Identifier: MIT
// What a stream can be asked to do. A stream executes an Operation at once, in order; while it is being captured the
// operation becomes a graph node and is executed at each launch of the graph.
// check() finds what CUDA reports from the call itself; execute() does the work. A kernel's fault surfaces later, as it
// does on a GPU: execute() returns success and the context becomes sticky.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "cudart/runtime/memory.hpp"
#include "cudart/runtime/runtime.hpp"

namespace course::cudart {

struct KernelOp {
  Function* function = nullptr;
  sim::Dim3 grid, block;
  sim::Dim3 cluster{0, 0, 0};  // 0 = no clusters
  std::uint64_t shared = 0;
  bool cooperative = false;
  std::vector<std::byte> arguments;  // laid out as the kernel's parameters
  std::vector<cudaLaunchAttribute> attributes;
};

struct HostOp {
  cudaHostFn_t function = nullptr;
  cudaStreamCallback_t callback = nullptr;  // or this one, with the stream and its status
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

// Memory that graph nodes allocate: reserved while any node refers to it, at one address for all launches.
struct GraphMemory {
  GraphMemory(Context& where, void* pointer, std::uint64_t bytes)
      : context(where), address(pointer), n_bytes(bytes) {}
  ~GraphMemory();
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;

  Context& context;
  void* const address;
  const std::uint64_t n_bytes;
  bool live = false;  // allocated by a launch and not yet freed
};
struct AllocOp {
  std::shared_ptr<GraphMemory> memory;
  cudaMemAllocNodeParams parameters{};
};
struct FreeOp {
  void* address = nullptr;
};

using Operation =
    std::variant<KernelOp, CopyOp, FillOp, HostOp, EmptyOp, ChildOp, RecordOp, WaitOp, AllocOp, FreeOp>;

// What a launch that ended so means to the program.
struct FaultMeaning {
  cudaError_t code;
  bool sticky;  // the kernel ran and broke the context; else the launch itself is refused
};
FaultMeaning meaning_of(sim::Fault fault);

cudaGraphNodeType node_type(const Operation& operation);

// Packs the arguments and reads the attributes; the operation is complete afterwards.
Status make_kernel(Context& context, const void* function, dim3 grid, dim3 block, void** arguments,
                   std::uint64_t shared, KernelOp& out);
Status apply_attributes(const cudaLaunchAttribute* attributes, unsigned n, KernelOp& kernel);
// The names of cudaMemcpy3D in plain rows and slices.
Status make_copy(const cudaMemcpy3DParms& parameters, CopyOp& out);
Status make_fill(const cudaMemsetParams& parameters, FillOp& out);
// Reserves memory for an allocation node.
Status make_graph_memory(Context& context, std::uint64_t n_bytes, AllocOp& out);
// Marks graph memory as freed; false when `address` is none.
bool free_graph_memory(Context& context, void* address);

Status check(Context& context, const Operation& operation);
Status execute(Context& context, const Operation& operation);

}  // namespace course::cudart
