// SPDX-License-Identifier: MIT
// Nodes of graphs: adding, querying and changing them.
#include "cudart/graph/graph_api.hpp"
#include "cudart/graph/graph_calls.hpp"

using namespace course::cudart;  // NOLINT: this file is only their exported face

namespace {

// Calls `body` with the node's operation, if it has the expected kind.
template <typename Op, typename Body>
cudaError_t with_node(cudaGraphNode_t node, Body&& body, const char* call = CALLER) {
  return device_api(
      [&]() -> Status {
        if (!is_node(node)) return no_node();
        auto* operation = std::get_if<Op>(&node->operation);
        if (operation == nullptr) return fail(cudaErrorInvalidValue, "the node is of another type");
        return call_with(body, *node, *operation);
      },
      call);
}

cudaError_t add(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* dependencies, size_t n,
                Operation operation, const char* call = CALLER) {
  return with_graph(
      graph,
      [&](Context& context, CUgraph_st& g) -> Status {
        if (out == nullptr) return cudaErrorInvalidValue;
        if (Status status = check(context, operation); !status.ok()) return status;
        return add_node(g, context, dependencies, n, std::move(operation), out);
      },
      call);
}

}  // namespace

CUDART_API cudaGraphAddKernelNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                  const cudaGraphNode_t* dependencies, size_t n,
                                  const cudaKernelNodeParams* p) {
  return with_graph(graph, [&](Context& context, CUgraph_st& g) -> Status {
    if (out == nullptr || p == nullptr) return cudaErrorInvalidValue;
    if (p->extra != nullptr)
      return fail(cudaErrorNotSupported, "kernel arguments through \"extra\" are not implemented");
    KernelOp kernel;
    Status status =
        make_kernel(context, p->func, p->gridDim, p->blockDim, p->kernelParams, p->sharedMemBytes, kernel);
    if (!status.ok()) return status;
    Operation operation = std::move(kernel);
    if (status = check(context, operation); !status.ok()) return status;
    return add_node(g, context, dependencies, n, std::move(operation), out);
  });
}

CUDART_API cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* p) {
  return with_node<KernelOp>(node, [&](CUgraphNode_st& n, KernelOp& kernel) -> Status {
    if (p == nullptr) return cudaErrorInvalidValue;
    Context& context = *n.context;
    const std::lock_guard guard(context.lock);
    course::sim::KernelId id = 0;
    if (Status status = find_kernel(context, *kernel.function, id); !status.ok()) return status;
    n.argument_pointers.clear();
    for (const auto& parameter : context.device().facts(id).parameters)
      n.argument_pointers.push_back(kernel.arguments.data() + parameter.offset);
    *p = {};
    const void* host = kernel.function->host;
    p->func = host != nullptr ? const_cast<void*>(host) : kernel.function;  // NOLINT: the structure has it so
    p->gridDim.x = kernel.grid.x;
    p->gridDim.y = kernel.grid.y;
    p->gridDim.z = kernel.grid.z;
    p->blockDim.x = kernel.block.x;
    p->blockDim.y = kernel.block.y;
    p->blockDim.z = kernel.block.z;
    p->sharedMemBytes = static_cast<unsigned>(kernel.shared);
    p->kernelParams = n.argument_pointers.data();
    return cudaSuccess;
  });
}

CUDART_API cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* p) {
  return with_node<KernelOp>(
      node, [&](CUgraphNode_st& n, KernelOp& kernel) { return replace_kernel(n, kernel, p); });
}

CUDART_API cudaGraphAddMemcpyNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                  const cudaGraphNode_t* dependencies, size_t n, const cudaMemcpy3DParms* p) {
  CopyOp copy;
  if (p == nullptr) return api([] { return Status(cudaErrorInvalidValue); });
  Status status = make_copy(*p, copy);
  if (!status.ok()) return api([&] { return status; });
  return add(out, graph, dependencies, n, copy);
}

CUDART_API cudaGraphAddMemcpyNode1D(cudaGraphNode_t* out, cudaGraph_t graph,
                                    const cudaGraphNode_t* dependencies, size_t n, void* dst, const void* src,
                                    size_t n_bytes, cudaMemcpyKind kind) {
  return add(out, graph, dependencies, n, linear_copy(dst, src, n_bytes, kind));
}

CUDART_API cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* p) {
  return with_node<CopyOp>(node, [&](CUgraphNode_st& n, CopyOp& copy) { return replace_copy(n, copy, p); });
}

CUDART_API cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* dst, const void* src, size_t n_bytes,
                                          cudaMemcpyKind kind) {
  return with_node<CopyOp>(node, [&](CUgraphNode_st& n, CopyOp& copy) {
    return replace(n, copy, linear_copy(dst, src, n_bytes, kind));
  });
}

CUDART_API cudaGraphAddMemsetNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                  const cudaGraphNode_t* dependencies, size_t n, const cudaMemsetParams* p) {
  FillOp fill;
  if (p == nullptr) return api([] { return Status(cudaErrorInvalidValue); });
  (void)make_fill(*p, fill);
  return add(out, graph, dependencies, n, fill);
}

CUDART_API cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* p) {
  return with_node<FillOp>(node, [&](CUgraphNode_st& n, FillOp& fill) { return replace_fill(n, fill, p); });
}

CUDART_API cudaGraphAddHostNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                size_t n, const cudaHostNodeParams* p) {
  if (p == nullptr) return api([] { return Status(cudaErrorInvalidValue); });
  HostOp host;
  host.function = p->fn;
  host.data = p->userData;
  return add(out, graph, dependencies, n, host);
}

CUDART_API cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* p) {
  return with_node<HostOp>(node, [&](CUgraphNode_st& n, HostOp& host) { return replace_host(n, host, p); });
}

CUDART_API cudaGraphAddEmptyNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                 size_t n) {
  return add(out, graph, dependencies, n, EmptyOp{});
}

CUDART_API cudaGraphAddChildGraphNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                      const cudaGraphNode_t* dependencies, size_t n, cudaGraph_t child) {
  if (!is_graph(child)) return api([&] { return no_graph(child); });
  std::shared_ptr<CUgraph_st> copy = clone(*child);
  copy->is_child = true;
  return add(out, graph, dependencies, n, ChildOp{std::move(copy)});
}

CUDART_API cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* graph) {
  return with_node<ChildOp>(node, [&](ChildOp& child) { return give(graph, child.graph.get()); });
}

CUDART_API cudaGraphAddEventRecordNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                       const cudaGraphNode_t* dependencies, size_t n, cudaEvent_t event) {
  return add(out, graph, dependencies, n, RecordOp{event});
}

CUDART_API cudaGraphAddEventWaitNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                     const cudaGraphNode_t* dependencies, size_t n, cudaEvent_t event) {
  return add(out, graph, dependencies, n, WaitOp{event});
}

CUDART_API cudaGraphAddMemAllocNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                    const cudaGraphNode_t* dependencies, size_t n,
                                    cudaMemAllocNodeParams* p) {
  return with_graph(graph, [&](Context& context, CUgraph_st& g) -> Status {
    if (out == nullptr || p == nullptr) return cudaErrorInvalidValue;
    AllocOp alloc;
    if (Status status = make_graph_memory(context, p->bytesize, alloc); !status.ok()) return status;
    p->dptr = alloc.memory->address;
    return add_node(g, context, dependencies, n, std::move(alloc), out);
  });
}

CUDART_API cudaGraphAddMemFreeNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, size_t n, void* pointer) {
  return add(out, graph, dependencies, n, FreeOp{pointer});
}

CUDART_API cudaGraphConditionalHandleCreate(unsigned long long*, cudaGraph_t, unsigned, unsigned) {
  return device_api([] { return Status(cudaErrorNotSupported, kNoConditionals); });
}
