// SPDX-License-Identifier: MIT
// Nodes of graphs: adding, querying and changing them.
#include "cudart/graph/graph_api.hpp"
#include "cudart/graph/graph_calls.hpp"

using namespace course::cudart;  // NOLINT: this file is only their exported face

namespace {

// Calls `body` with the node's operation, if it has the expected kind.
template <typename Op, typename Body>
cudaError_t with_node(const char* call, cudaGraphNode_t node, Body&& body) {
  return device_api(call, [&](Context&) -> Status {
    if (!is_node(node)) return no_node();
    auto* operation = std::get_if<Op>(&node->operation);
    if (operation == nullptr) return fail(cudaErrorInvalidValue, "the node is of another type");
    return body(*node, *operation);
  });
}

cudaMemcpy3DParms shown(const CopyOp& copy) {
  const auto side = [&](const void* pointer, std::uint64_t pitch, std::uint64_t slice) {
    const std::uint64_t row = pitch != 0 ? pitch : copy.width;
    return cudaPitchedPtr{const_cast<void*>(pointer), row, copy.width,
                          slice != 0 ? slice / row : copy.height};  // NOLINT: ABI
  };
  cudaMemcpy3DParms p{};
  p.srcPtr = side(copy.src, copy.src_pitch, copy.src_slice);
  p.dstPtr = side(copy.dst, copy.dst_pitch, copy.dst_slice);
  p.extent = {copy.width, copy.height, copy.depth};
  p.kind = copy.kind;
  return p;
}

cudaError_t add(const char* call, cudaGraphNode_t* out, cudaGraph_t graph,
                const cudaGraphNode_t* dependencies, size_t n, Operation operation) {
  return with_graph(call, graph, [&](Context& context, CUgraph_st& g) -> Status {
    if (out == nullptr) return cudaErrorInvalidValue;
    if (Status status = check(context, operation); !status.ok()) return status;
    return add_node(g, context, dependencies, n, std::move(operation), out);
  });
}

}  // namespace

CUDART_EXPORT cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                                 const cudaGraphNode_t* dependencies, size_t n,
                                                 const cudaKernelNodeParams* p) {
  return with_graph("cudaGraphAddKernelNode", graph, [&](Context& context, CUgraph_st& g) -> Status {
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

CUDART_EXPORT cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* p) {
  return with_node<KernelOp>(
      "cudaGraphKernelNodeGetParams", node, [&](CUgraphNode_st& n, KernelOp& kernel) -> Status {
        if (p == nullptr) return cudaErrorInvalidValue;
        Context& context = *n.context;
        const std::lock_guard guard(context.lock);
        course::sim::KernelId id = 0;
        if (Status status = find_kernel(context, *kernel.function, id); !status.ok()) return status;
        n.argument_pointers.clear();
        for (const auto& parameter : context.device().facts(id).parameters) {
          n.argument_pointers.push_back(kernel.arguments.data() + parameter.offset);
        }
        *p = {};
        const void* host = kernel.function->host;
        p->func =
            host != nullptr ? const_cast<void*>(host) : kernel.function;  // NOLINT: the structure has it so
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

CUDART_EXPORT cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* p) {
  return with_node<KernelOp>("cudaGraphKernelNodeSetParams", node, [&](CUgraphNode_st& n, KernelOp& kernel) {
    return replace_kernel(n, kernel, p);
  });
}

CUDART_EXPORT cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id,
                                                          const cudaLaunchAttributeValue* value) {
  return with_node<KernelOp>(
      "cudaGraphKernelNodeSetAttribute", node, [&](CUgraphNode_st&, KernelOp& kernel) -> Status {
        if (value == nullptr) return cudaErrorInvalidValue;
        std::erase_if(kernel.attributes, [&](const cudaLaunchAttribute& known) { return known.id == id; });
        cudaLaunchAttribute attribute{};
        attribute.id = id;
        attribute.val = *value;
        return apply_attributes(&attribute, 1, kernel);
      });
}

CUDART_EXPORT cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id,
                                                          cudaLaunchAttributeValue* value) {
  return with_node<KernelOp>("cudaGraphKernelNodeGetAttribute", node,
                             [&](CUgraphNode_st&, KernelOp& kernel) -> Status {
                               if (value == nullptr) return cudaErrorInvalidValue;
                               *value = {};
                               for (const cudaLaunchAttribute& known : kernel.attributes) {
                                 if (known.id == id) *value = known.val;
                               }
                               return cudaSuccess;
                             });
}

CUDART_EXPORT cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                                 const cudaGraphNode_t* dependencies, size_t n,
                                                 const cudaMemcpy3DParms* p) {
  CopyOp copy;
  if (p == nullptr) return api("cudaGraphAddMemcpyNode", [] { return Status(cudaErrorInvalidValue); });
  Status status = make_copy(*p, copy);
  if (!status.ok()) return api("cudaGraphAddMemcpyNode", [&] { return status; });
  return add("cudaGraphAddMemcpyNode", out, graph, dependencies, n, copy);
}

CUDART_EXPORT cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* out, cudaGraph_t graph,
                                                   const cudaGraphNode_t* dependencies, size_t n, void* dst,
                                                   const void* src, size_t n_bytes, cudaMemcpyKind kind) {
  return add("cudaGraphAddMemcpyNode1D", out, graph, dependencies, n, linear_copy(dst, src, n_bytes, kind));
}

CUDART_EXPORT cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* out, cudaGraph_t graph,
                                                         const cudaGraphNode_t* dependencies, size_t n,
                                                         const void* symbol, const void* src, size_t n_bytes,
                                                         size_t offset, cudaMemcpyKind kind) {
  return with_graph("cudaGraphAddMemcpyNodeToSymbol", graph, [&](Context& context, CUgraph_st& g) -> Status {
    CopyOp copy;
    if (Status status = copy_to_symbol(context, symbol, src, n_bytes, offset, kind, copy); !status.ok())
      return status;
    if (Status status = check_copy(copy); !status.ok()) return status;
    return add_node(g, context, dependencies, n, copy, out);
  });
}

CUDART_EXPORT cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* out, cudaGraph_t graph,
                                                           const cudaGraphNode_t* dependencies, size_t n,
                                                           void* dst, const void* symbol, size_t n_bytes,
                                                           size_t offset, cudaMemcpyKind kind) {
  return with_graph(
      "cudaGraphAddMemcpyNodeFromSymbol", graph, [&](Context& context, CUgraph_st& g) -> Status {
        CopyOp copy;
        if (Status status = copy_from_symbol(context, dst, symbol, n_bytes, offset, kind, copy); !status.ok())
          return status;
        if (Status status = check_copy(copy); !status.ok()) return status;
        return add_node(g, context, dependencies, n, copy, out);
      });
}

CUDART_EXPORT cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* p) {
  return with_node<CopyOp>("cudaGraphMemcpyNodeGetParams", node,
                           [&](CUgraphNode_st&, CopyOp& copy) -> Status {
                             if (p == nullptr) return cudaErrorInvalidValue;
                             *p = shown(copy);
                             return cudaSuccess;
                           });
}

CUDART_EXPORT cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* p) {
  return with_node<CopyOp>("cudaGraphMemcpyNodeSetParams", node,
                           [&](CUgraphNode_st& n, CopyOp& copy) { return replace_copy(n, copy, p); });
}

CUDART_EXPORT cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* dst, const void* src,
                                                         size_t n_bytes, cudaMemcpyKind kind) {
  return with_node<CopyOp>("cudaGraphMemcpyNodeSetParams1D", node, [&](CUgraphNode_st& n, CopyOp& copy) {
    return replace(n, copy, linear_copy(dst, src, n_bytes, kind));
  });
}

CUDART_EXPORT cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void* symbol,
                                                               const void* src, size_t n_bytes, size_t offset,
                                                               cudaMemcpyKind kind) {
  return with_node<CopyOp>(
      "cudaGraphMemcpyNodeSetParamsToSymbol", node, [&](CUgraphNode_st& n, CopyOp& copy) -> Status {
        CopyOp changed;
        if (Status status = copy_to_symbol(*n.context, symbol, src, n_bytes, offset, kind, changed);
            !status.ok())
          return status;
        return replace(n, copy, changed);
      });
}

CUDART_EXPORT cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* dst,
                                                                 const void* symbol, size_t n_bytes,
                                                                 size_t offset, cudaMemcpyKind kind) {
  return with_node<CopyOp>(
      "cudaGraphMemcpyNodeSetParamsFromSymbol", node, [&](CUgraphNode_st& n, CopyOp& copy) -> Status {
        CopyOp changed;
        if (Status status = copy_from_symbol(*n.context, dst, symbol, n_bytes, offset, kind, changed);
            !status.ok())
          return status;
        return replace(n, copy, changed);
      });
}

CUDART_EXPORT cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                                 const cudaGraphNode_t* dependencies, size_t n,
                                                 const cudaMemsetParams* p) {
  FillOp fill;
  if (p == nullptr) return api("cudaGraphAddMemsetNode", [] { return Status(cudaErrorInvalidValue); });
  (void)make_fill(*p, fill);
  return add("cudaGraphAddMemsetNode", out, graph, dependencies, n, fill);
}

CUDART_EXPORT cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* p) {
  return with_node<FillOp>(
      "cudaGraphMemsetNodeGetParams", node, [&](CUgraphNode_st&, FillOp& fill) -> Status {
        if (p == nullptr) return cudaErrorInvalidValue;
        *p = {fill.dst, fill.pitch, fill.value, fill.element_bytes, fill.width, fill.height};
        return cudaSuccess;
      });
}

CUDART_EXPORT cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* p) {
  return with_node<FillOp>("cudaGraphMemsetNodeSetParams", node,
                           [&](CUgraphNode_st& n, FillOp& fill) { return replace_fill(n, fill, p); });
}

CUDART_EXPORT cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                               const cudaGraphNode_t* dependencies, size_t n,
                                               const cudaHostNodeParams* p) {
  if (p == nullptr) return api("cudaGraphAddHostNode", [] { return Status(cudaErrorInvalidValue); });
  HostOp host;
  host.function = p->fn;
  host.data = p->userData;
  return add("cudaGraphAddHostNode", out, graph, dependencies, n, host);
}

CUDART_EXPORT cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* p) {
  return with_node<HostOp>("cudaGraphHostNodeGetParams", node, [&](CUgraphNode_st&, HostOp& host) -> Status {
    if (p == nullptr) return cudaErrorInvalidValue;
    *p = {host.function, host.data};
    return cudaSuccess;
  });
}

CUDART_EXPORT cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* p) {
  return with_node<HostOp>("cudaGraphHostNodeSetParams", node,
                           [&](CUgraphNode_st& n, HostOp& host) { return replace_host(n, host, p); });
}

CUDART_EXPORT cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                                const cudaGraphNode_t* dependencies, size_t n) {
  return add("cudaGraphAddEmptyNode", out, graph, dependencies, n, EmptyOp{});
}

CUDART_EXPORT cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                                     const cudaGraphNode_t* dependencies, size_t n,
                                                     cudaGraph_t child) {
  if (!is_graph(child)) return api("cudaGraphAddChildGraphNode", [] { return no_graph(); });
  std::shared_ptr<CUgraph_st> copy = clone(*child);
  copy->is_child = true;
  return add("cudaGraphAddChildGraphNode", out, graph, dependencies, n, ChildOp{std::move(copy)});
}

CUDART_EXPORT cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* graph) {
  return with_node<ChildOp>("cudaGraphChildGraphNodeGetGraph", node,
                            [&](CUgraphNode_st&, ChildOp& child) -> Status {
                              if (graph == nullptr) return cudaErrorInvalidValue;
                              *graph = child.graph.get();
                              return cudaSuccess;
                            });
}

CUDART_EXPORT cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                                      const cudaGraphNode_t* dependencies, size_t n,
                                                      cudaEvent_t event) {
  return add("cudaGraphAddEventRecordNode", out, graph, dependencies, n, RecordOp{event});
}

CUDART_EXPORT cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                                    const cudaGraphNode_t* dependencies, size_t n,
                                                    cudaEvent_t event) {
  return add("cudaGraphAddEventWaitNode", out, graph, dependencies, n, WaitOp{event});
}

CUDART_EXPORT cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return with_node<RecordOp>("cudaGraphEventRecordNodeGetEvent", node,
                             [&](CUgraphNode_st&, RecordOp& record) -> Status {
                               if (event == nullptr) return cudaErrorInvalidValue;
                               *event = record.event;
                               return cudaSuccess;
                             });
}

CUDART_EXPORT cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return with_node<RecordOp>(
      "cudaGraphEventRecordNodeSetEvent", node,
      [&](CUgraphNode_st& n, RecordOp& record) { return replace(n, record, RecordOp{event}); });
}

CUDART_EXPORT cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return with_node<WaitOp>("cudaGraphEventWaitNodeGetEvent", node,
                           [&](CUgraphNode_st&, WaitOp& wait) -> Status {
                             if (event == nullptr) return cudaErrorInvalidValue;
                             *event = wait.event;
                             return cudaSuccess;
                           });
}

CUDART_EXPORT cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return with_node<WaitOp>("cudaGraphEventWaitNodeSetEvent", node,
                           [&](CUgraphNode_st& n, WaitOp& wait) { return replace(n, wait, WaitOp{event}); });
}

CUDART_EXPORT cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                                   const cudaGraphNode_t* dependencies, size_t n,
                                                   cudaMemAllocNodeParams* p) {
  return with_graph("cudaGraphAddMemAllocNode", graph, [&](Context& context, CUgraph_st& g) -> Status {
    if (out == nullptr || p == nullptr) return cudaErrorInvalidValue;
    AllocOp alloc;
    if (Status status = make_graph_memory(context, p->bytesize, alloc); !status.ok()) return status;
    p->dptr = alloc.memory->address;
    alloc.parameters = *p;
    return add_node(g, context, dependencies, n, std::move(alloc), out);
  });
}

CUDART_EXPORT cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, cudaMemAllocNodeParams* p) {
  return with_node<AllocOp>("cudaGraphMemAllocNodeGetParams", node,
                            [&](CUgraphNode_st&, AllocOp& alloc) -> Status {
                              if (p == nullptr) return cudaErrorInvalidValue;
                              *p = alloc.parameters;
                              return cudaSuccess;
                            });
}

CUDART_EXPORT cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                                  const cudaGraphNode_t* dependencies, size_t n,
                                                  void* pointer) {
  return add("cudaGraphAddMemFreeNode", out, graph, dependencies, n, FreeOp{pointer});
}

CUDART_EXPORT cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* out) {
  return with_node<FreeOp>("cudaGraphMemFreeNodeGetParams", node,
                           [&](CUgraphNode_st&, FreeOp& free) -> Status {
                             if (out == nullptr) return cudaErrorInvalidValue;
                             *static_cast<void**>(out) = free.address;
                             return cudaSuccess;
                           });
}

CUDART_EXPORT cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams* p) {
  return device_api("cudaGraphNodeSetParams", [&](Context&) -> Status {
    if (!is_node(node)) return no_node();
    if (p == nullptr || p->type != node_type(node->operation))
      return fail(cudaErrorInvalidValue, "the parameters are of another type");
    Operation changed;
    if (Status status = make_operation(*node->context, *p, changed); !status.ok()) return status;
    return replace(*node, node->operation, std::move(changed));
  });
}

CUDART_EXPORT cudaError_t cudaGraphConditionalHandleCreate(unsigned long long*, cudaGraph_t, unsigned,
                                                           unsigned) {
  return device_api("cudaGraphConditionalHandleCreate", [](Context&) -> Status {
    return {cudaErrorNotSupported, kNoConditionals};
  });
}
