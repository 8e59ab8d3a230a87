// SPDX-License-Identifier: MIT
// Executable graphs: instantiation, changes of single nodes, update of the whole graph.
#include "cudart/graph/graph_calls.hpp"

using namespace course::cudart;  // NOLINT: this file is only their exported face

namespace {

// Calls `body` with the operation of the node that corresponds to `node` in an executable graph, if it has
// the expected kind.
template <typename Op, typename Body>
cudaError_t with_exec_node(cudaGraphExec_t executable, cudaGraphNode_t node, Body&& body,
                           const char* call = CALLER) {
  return device_api(
      [&]() -> Status {
        if (!executable_graphs().contains(executable)) return no_executable(executable);
        const auto found = executable->node_of.find(node);
        if (found == executable->node_of.end())
          return fail(cudaErrorInvalidValue, "the executable graph was not made from that node");
        auto* operation = std::get_if<Op>(&found->second->operation);
        if (operation == nullptr) return fail(cudaErrorInvalidValue, "the node is of another type");
        return call_with(body, *found->second, *operation);
      },
      call);
}

}  // namespace

CUDART_API cudaGraphInstantiateWithFlags(cudaGraphExec_t* out, cudaGraph_t graph, unsigned long long flags) {
  return with_graph(graph, [&](CUgraph_st& g) -> Status {
    if (out == nullptr) return cudaErrorInvalidValue;
    return instantiate(g, flags, out);
  });
}

CUDART_API cudaGraphInstantiate(cudaGraphExec_t* out, cudaGraph_t graph, unsigned long long flags) {
  return cudaGraphInstantiateWithFlags(out, graph, flags);
}

CUDART_API cudaGraphExecDestroy(cudaGraphExec_t executable) {
  return device_api(
      [&] { return executable_graphs().take(executable) != nullptr ? Status() : no_executable(executable); });
}

CUDART_API cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                               cudaGraphExecUpdateResultInfo* info) {
  return with_graph(graph, [&](CUgraph_st& g) -> Status {
    if (!executable_graphs().contains(executable)) return no_executable(executable);
    cudaGraphExecUpdateResultInfo local{};
    return update(*executable, g, info != nullptr ? *info : local);
  });
}

CUDART_API cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                            const cudaKernelNodeParams* p) {
  return with_exec_node<KernelOp>(
      executable, node, [&](CUgraphNode_st& n, KernelOp& kernel) { return replace_kernel(n, kernel, p); });
}

CUDART_API cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                            const cudaMemcpy3DParms* p) {
  return with_exec_node<CopyOp>(executable, node,
                                [&](CUgraphNode_st& n, CopyOp& copy) { return replace_copy(n, copy, p); });
}

CUDART_API cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t executable, cudaGraphNode_t node, void* dst,
                                              const void* src, size_t n_bytes, cudaMemcpyKind kind) {
  return with_exec_node<CopyOp>(executable, node, [&](CUgraphNode_st& n, CopyOp& copy) {
    return replace(n, copy, linear_copy(dst, src, n_bytes, kind));
  });
}

CUDART_API cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                            const cudaMemsetParams* p) {
  return with_exec_node<FillOp>(executable, node,
                                [&](CUgraphNode_st& n, FillOp& fill) { return replace_fill(n, fill, p); });
}

CUDART_API cudaGraphExecHostNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                          const cudaHostNodeParams* p) {
  return with_exec_node<HostOp>(executable, node,
                                [&](CUgraphNode_st& n, HostOp& host) { return replace_host(n, host, p); });
}
