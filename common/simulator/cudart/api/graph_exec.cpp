// SPDX-License-Identifier: MIT
// Executable graphs: instantiation, changes of single nodes, update of the whole graph.
#include "cudart/graph/graph_api.hpp"
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
        if (!executable_graphs().contains(executable)) return no_executable();
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
      [&] { return executable_graphs().take(executable) != nullptr ? Status() : no_executable(); });
}

CUDART_API cudaGraphExecGetFlags(cudaGraphExec_t executable, unsigned long long* flags) {
  return device_api([&]() -> Status {
    if (!executable_graphs().contains(executable)) return no_executable();
    return give(flags, executable->flags);
  });
}

CUDART_API cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                               cudaGraphExecUpdateResultInfo* info) {
  return with_graph(graph, [&](CUgraph_st& g) -> Status {
    if (!executable_graphs().contains(executable)) return no_executable();
    cudaGraphExecUpdateResultInfo local{};
    return update(*executable, g, info != nullptr ? *info : local);
  });
}

CUDART_API cudaGraphExecNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                      cudaGraphNodeParams* p) {
  return device_api([&]() -> Status {
    if (!executable_graphs().contains(executable)) return no_executable();
    const auto found = executable->node_of.find(node);
    if (found == executable->node_of.end() || p == nullptr) return cudaErrorInvalidValue;
    CUgraphNode_st& mine = *found->second;
    if (p->type != node_type(mine.operation))
      return fail(cudaErrorInvalidValue, "the parameters are of another type");
    Operation changed;
    if (Status status = make_operation(*mine.context, *p, changed); !status.ok()) return status;
    return replace(mine, mine.operation, std::move(changed));
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

CUDART_API cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                    const void* symbol, const void* src, size_t n_bytes,
                                                    size_t offset, cudaMemcpyKind kind) {
  return with_exec_node<CopyOp>(executable, node, [&](CUgraphNode_st& n, CopyOp& copy) -> Status {
    CopyOp changed;
    Status status = copy_to_symbol(*n.context, symbol, src, n_bytes, offset, kind, changed);
    return status.ok() ? replace(n, copy, changed) : status;
  });
}

CUDART_API cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                      void* dst, const void* symbol, size_t n_bytes,
                                                      size_t offset, cudaMemcpyKind kind) {
  return with_exec_node<CopyOp>(executable, node, [&](CUgraphNode_st& n, CopyOp& copy) -> Status {
    CopyOp changed;
    Status status = copy_from_symbol(*n.context, dst, symbol, n_bytes, offset, kind, changed);
    return status.ok() ? replace(n, copy, changed) : status;
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

CUDART_API cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                cudaGraph_t child) {
  return with_exec_node<ChildOp>(executable, node, [&](ChildOp& mine) -> Status {
    if (!is_graph(child)) return no_graph();
    std::shared_ptr<CUgraph_st> copy = clone(*child);
    copy->is_child = true;
    mine.graph = std::move(copy);
    return cudaSuccess;
  });
}

CUDART_API cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                cudaEvent_t event) {
  return with_exec_node<RecordOp>(executable, node, [&](CUgraphNode_st& n, RecordOp& record) {
    return replace(n, record, RecordOp{event});
  });
}

CUDART_API cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t executable, cudaGraphNode_t node,
                                              cudaEvent_t event) {
  return with_exec_node<WaitOp>(
      executable, node, [&](CUgraphNode_st& n, WaitOp& wait) { return replace(n, wait, WaitOp{event}); });
}

CUDART_API cudaGraphNodeSetEnabled(cudaGraphExec_t executable, cudaGraphNode_t node, unsigned enabled) {
  return device_api([&]() -> Status {
    if (!executable_graphs().contains(executable)) return no_executable();
    const auto found = executable->node_of.find(node);
    if (found == executable->node_of.end()) return cudaErrorInvalidValue;
    found->second->enabled = enabled != 0;
    return cudaSuccess;
  });
}

CUDART_API cudaGraphNodeGetEnabled(cudaGraphExec_t executable, cudaGraphNode_t node, unsigned* enabled) {
  return device_api([&]() -> Status {
    if (!executable_graphs().contains(executable)) return no_executable();
    const auto found = executable->node_of.find(node);
    if (found == executable->node_of.end() || enabled == nullptr) return cudaErrorInvalidValue;
    *enabled = found->second->enabled ? 1 : 0;
    return cudaSuccess;
  });
}
