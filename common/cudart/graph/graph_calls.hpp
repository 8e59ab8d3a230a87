// SPDX-License-Identifier: MIT
// What the graph calls of api_graph.cpp, api_graph_nodes.cpp and api_graph_exec.cpp share.
#pragma once

#include <utility>

#include "cudart/api/api.hpp"
#include "cudart/graph/graph.hpp"

namespace course::cudart {

// The errors of handles that are none.
Status no_graph();
Status no_node();
Status no_executable();

// Hands the body the device's context and a live graph.
template <typename Body>
cudaError_t with_graph(const char* call, cudaGraph_t graph, Body&& body) {
  return device_api(call, [&](Context& context) -> Status {
    if (!is_graph(graph)) return no_graph();
    return body(context, *graph);
  });
}

// Replaces an operation when the new one is acceptable.
template <typename Op>
Status replace(CUgraphNode_st& node, Op& operation, Op changed) {
  if (Status status = check(*node.context, changed); !status.ok()) return status;
  operation = std::move(changed);
  return cudaSuccess;
}

// The same, with the operation that the parameters of a call describe.
Status replace_kernel(CUgraphNode_st& node, KernelOp& kernel, const cudaKernelNodeParams* p);
Status replace_copy(CUgraphNode_st& node, CopyOp& copy, const cudaMemcpy3DParms* p);
Status replace_fill(CUgraphNode_st& node, FillOp& fill, const cudaMemsetParams* p);
Status replace_host(CUgraphNode_st& node, HostOp& host, const cudaHostNodeParams* p);

// Copies whose one side is `offset` bytes into a variable of the context's device.
Status copy_to_symbol(Context& context, const void* symbol, const void* src, std::size_t n_bytes,
                      std::size_t offset, cudaMemcpyKind kind, CopyOp& out);
Status copy_from_symbol(Context& context, void* dst, const void* symbol, std::size_t n_bytes,
                        std::size_t offset, cudaMemcpyKind kind, CopyOp& out);

}  // namespace course::cudart
