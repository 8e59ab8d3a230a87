// SPDX-License-Identifier: MIT
// Helpers shared by the graph calls in api/graph.cpp, api/graph_nodes.cpp and api/graph_exec.cpp.
#pragma once

#include <utility>

#include "cudart/api/api.hpp"
#include "cudart/graph/graph.hpp"

namespace course::cudart {

// The errors for invalid handles.
Status no_graph();
Status no_node();
Status no_executable();

// Calls `body` with an existing graph, before which it may take the device's context.
template <typename Body>
cudaError_t with_graph(cudaGraph_t graph, Body&& body, const char* call = CALLER) {
  return device_api(
      [&](Context& context) -> Status {
        return is_graph(graph) ? call_with(body, context, *graph) : no_graph();
      },
      call);
}

// Replaces an operation if the new one is valid.
template <typename Op>
Status replace(CUgraphNode_st& node, Op& operation, Op changed) {
  if (Status status = check(*node.context, changed); !status.ok()) return status;
  operation = std::move(changed);
  return cudaSuccess;
}

// The same for the operation that a call's parameters describe.
Status replace_kernel(CUgraphNode_st& node, KernelOp& kernel, const cudaKernelNodeParams* p);
Status replace_copy(CUgraphNode_st& node, CopyOp& copy, const cudaMemcpy3DParms* p);
Status replace_fill(CUgraphNode_st& node, FillOp& fill, const cudaMemsetParams* p);
Status replace_host(CUgraphNode_st& node, HostOp& host, const cudaHostNodeParams* p);

// Copies to or from a variable of the context's device, at `offset` bytes.
Status copy_to_symbol(Context& context, const void* symbol, const void* src, std::size_t n_bytes,
                      std::size_t offset, cudaMemcpyKind kind, CopyOp& out);
Status copy_from_symbol(Context& context, void* dst, const void* symbol, std::size_t n_bytes,
                        std::size_t offset, cudaMemcpyKind kind, CopyOp& out);

}  // namespace course::cudart
