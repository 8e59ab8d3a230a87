// SPDX-License-Identifier: MIT
// Helpers shared by the graph calls in api/graph.cpp, graph_nodes.cpp, graph_exec.cpp and stream.cpp.
#pragma once

#include <utility>

#include "cudart/api/api.hpp"
#include "cudart/graph/graph.hpp"

namespace course::cudart {

// The errors for invalid handles.
// `handle` is null if the call that should have made it failed.
Status no_graph(const void* handle);
Status no_node();
Status no_executable(const void* handle);

// Calls `body` with an existing graph, before which it may take the device's context.
template <typename Body>
cudaError_t with_graph(cudaGraph_t graph, Body&& body, const char* call = CALLER) {
  return device_api(
      [&](Context& context) -> Status {
        return is_graph(graph) ? call_with(body, context, *graph) : no_graph(graph);
      },
      call);
}

// Replaces an operation if the new one is valid.
template <typename Op>
Status replace(CUgraphNode_st& node, Op& operation, Op changed) {
  if (Status status = check(*node.context, changed); !status.ok()) return status;
  operation = std::move(changed);
  note_host_memory(node);
  return cudaSuccess;
}

// The same for the operation that a call's parameters describe.
Status replace_kernel(CUgraphNode_st& node, KernelOp& kernel, const cudaKernelNodeParams* p);
Status replace_copy(CUgraphNode_st& node, CopyOp& copy, const cudaMemcpy3DParms* p);
Status replace_fill(CUgraphNode_st& node, FillOp& fill, const cudaMemsetParams* p);
Status replace_host(CUgraphNode_st& node, HostOp& host, const cudaHostNodeParams* p);

}  // namespace course::cudart
