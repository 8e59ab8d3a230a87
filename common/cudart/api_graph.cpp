// SPDX-License-Identifier: MIT
// Graphs made node by node, executable graphs and their changes. Launching is in api_stream.cpp, what differs between
// CUDA 12 and 13 in abi12.cpp and abi13.cpp.
#include <algorithm>
#include <cstdio>

#include "cudart/api.hpp"
#include "cudart/graph.hpp"
#include "cudart/graph_api.hpp"
#include "cudart/stream.hpp"

using namespace course::cudart;  // NOLINT: this file is only their exported face

namespace {

Status no_graph() {
  return fail(cudaErrorInvalidValue, "that is no graph: destroyed, or never created");
}
Status no_node() {
  return fail(cudaErrorInvalidValue, "that is no graph node: destroyed, or never created");
}
Status no_executable() {
  return fail(cudaErrorInvalidValue, "that is no executable graph");
}

template <typename Body>
cudaError_t with_graph(const char* call, cudaGraph_t graph, Body&& body) {
  return device_api(call, [&](Context& context) -> Status {
    if (!is_graph(graph)) return no_graph();
    return body(context, *graph);
  });
}

// Hands the body a node's operation of the expected kind.
template <typename Op, typename Body>
cudaError_t with_node(const char* call, cudaGraphNode_t node, Body&& body) {
  return device_api(call, [&](Context&) -> Status {
    if (!is_node(node)) return no_node();
    auto* operation = std::get_if<Op>(&node->operation);
    if (operation == nullptr) return fail(cudaErrorInvalidValue, "the node is of another type");
    return body(*node, *operation);
  });
}

// The same for the counterpart of `node` in an executable graph.
template <typename Op, typename Body>
cudaError_t with_exec_node(const char* call, cudaGraphExec_t executable, cudaGraphNode_t node, Body&& body) {
  return device_api(call, [&](Context&) -> Status {
    if (!executable_graphs().contains(executable)) return no_executable();
    const auto found = executable->node_of.find(node);
    if (found == executable->node_of.end())
      return fail(cudaErrorInvalidValue, "the executable graph was not made from that node");
    auto* operation = std::get_if<Op>(&found->second->operation);
    if (operation == nullptr) return fail(cudaErrorInvalidValue, "the node is of another type");
    return body(*found->second, *operation);
  });
}

// Replaces an operation when the new one is acceptable.
template <typename Op>
Status replace(CUgraphNode_st& node, Op& operation, Op changed) {
  if (Status status = check(*node.context, changed); !status.ok()) return status;
  operation = std::move(changed);
  return cudaSuccess;
}

Status replace_kernel(CUgraphNode_st& node, KernelOp& kernel, const cudaKernelNodeParams* p) {
  if (p == nullptr) return cudaErrorInvalidValue;
  if (p->extra != nullptr)
    return fail(cudaErrorNotSupported, "kernel arguments through \"extra\" are not implemented");
  KernelOp changed;
  Status status = make_kernel(*node.context, p->func, p->gridDim, p->blockDim, p->kernelParams,
                              p->sharedMemBytes, changed);
  if (!status.ok()) return status;
  changed.attributes = kernel.attributes;
  changed.cooperative = kernel.cooperative;
  changed.cluster = kernel.cluster;
  return replace(node, kernel, std::move(changed));
}

Status replace_copy(CUgraphNode_st& node, CopyOp& copy, const cudaMemcpy3DParms* p) {
  if (p == nullptr) return cudaErrorInvalidValue;
  CopyOp changed;
  if (Status status = make_copy(*p, changed); !status.ok()) return status;
  return replace(node, copy, changed);
}

Status replace_fill(CUgraphNode_st& node, FillOp& fill, const cudaMemsetParams* p) {
  if (p == nullptr) return cudaErrorInvalidValue;
  FillOp changed;
  if (Status status = make_fill(*p, changed); !status.ok()) return status;
  return replace(node, fill, changed);
}

Status replace_host(CUgraphNode_st& node, HostOp& host, const cudaHostNodeParams* p) {
  if (p == nullptr) return cudaErrorInvalidValue;
  HostOp changed;
  changed.function = p->fn;
  changed.data = p->userData;
  return replace(node, host, changed);
}

// A symbol's address on the node's device, as a pointer into it.
Status symbol_pointer(Context& context, const void* symbol, size_t n_bytes, size_t offset, std::byte*& out) {
  const Variable* variable = runtime().registry().find_variable(symbol);
  if (variable == nullptr)
    return fail(cudaErrorInvalidSymbol, "{} is no __device__ or __constant__ variable", symbol);
  course::sim::Device::Symbol found{};
  if (Status status = find_variable_address(context, *variable, found); !status.ok()) return status;
  if (offset > found.size || n_bytes > found.size - offset) {
    return fail(cudaErrorInvalidValue, "{} bytes at offset {} of {}, which has {} bytes", n_bytes, offset,
                variable->name, found.size);
  }
  out = reinterpret_cast<std::byte*>(found.address + offset);  // NOLINT: an address of our arena
  return cudaSuccess;
}

Status copy_to_symbol(Context& context, const void* symbol, const void* src, size_t n, size_t offset,
                      cudaMemcpyKind kind, CopyOp& out) {
  std::byte* dst = nullptr;
  if (Status status = symbol_pointer(context, symbol, n, offset, dst); !status.ok()) return status;
  out = linear_copy(dst, src, n, kind);
  return cudaSuccess;
}

Status copy_from_symbol(Context& context, void* dst, const void* symbol, size_t n, size_t offset,
                        cudaMemcpyKind kind, CopyOp& out) {
  std::byte* src = nullptr;
  if (Status status = symbol_pointer(context, symbol, n, offset, src); !status.ok()) return status;
  out = linear_copy(dst, src, n, kind);
  return cudaSuccess;
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

Status give_nodes(const std::vector<CUgraphNode_st*>& found, cudaGraphNode_t* nodes, size_t* n) {
  if (n == nullptr) return cudaErrorInvalidValue;
  if (nodes != nullptr) {
    const size_t wanted = *n;
    std::copy_n(found.begin(), std::min(wanted, found.size()), nodes);
    if (wanted > found.size()) std::fill(nodes + found.size(), nodes + wanted, nullptr);
    *n = std::min(wanted, found.size());
  } else {
    *n = found.size();
  }
  return cudaSuccess;
}

const char* type_name(cudaGraphNodeType type) {
  switch (type) {
    case cudaGraphNodeTypeKernel: return "kernel";
    case cudaGraphNodeTypeMemcpy: return "memcpy";
    case cudaGraphNodeTypeMemset: return "memset";
    case cudaGraphNodeTypeHost: return "host";
    case cudaGraphNodeTypeGraph: return "graph";
    case cudaGraphNodeTypeEmpty: return "empty";
    case cudaGraphNodeTypeWaitEvent: return "wait event";
    case cudaGraphNodeTypeEventRecord: return "record event";
    case cudaGraphNodeTypeMemAlloc: return "allocate";
    case cudaGraphNodeTypeMemFree: return "free";
    default: return "other";
  }
}

}  // namespace

// --- graphs

CUDART_EXPORT cudaError_t cudaGraphCreate(cudaGraph_t* out, unsigned flags) {
  return device_api("cudaGraphCreate", [&](Context&) -> Status {
    if (out == nullptr || flags != 0)
      return fail(cudaErrorInvalidValue, "a null pointer, or flags that are not 0");
    *out = graphs().add(std::make_unique<CUgraph_st>());
    return cudaSuccess;
  });
}

CUDART_EXPORT cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return device_api("cudaGraphDestroy", [&](Context&) -> Status {
    if (is_graph(graph) && graph->is_child)
      return fail(cudaErrorInvalidValue, "a child graph dies with its node");
    return graphs().take(graph) != nullptr ? Status() : no_graph();
  });
}

CUDART_EXPORT cudaError_t cudaGraphClone(cudaGraph_t* out, cudaGraph_t original) {
  return with_graph("cudaGraphClone", original, [&](Context&, CUgraph_st& graph) -> Status {
    if (out == nullptr) return cudaErrorInvalidValue;
    *out = graphs().add(clone(graph));
    return cudaSuccess;
  });
}

CUDART_EXPORT cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* out, cudaGraphNode_t original,
                                                   cudaGraph_t copy) {
  return with_graph("cudaGraphNodeFindInClone", copy, [&](Context&, CUgraph_st& graph) -> Status {
    if (out == nullptr) return cudaErrorInvalidValue;
    for (const auto& node : graph.nodes) {
      if (node->original != original) continue;
      *out = node.get();
      return cudaSuccess;
    }
    return fail(cudaErrorInvalidValue, "the clone has no copy of that node");
  });
}

CUDART_EXPORT cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* n) {
  return with_graph("cudaGraphGetNodes", graph, [&](Context&, CUgraph_st& g) {
    std::vector<CUgraphNode_st*> all;
    for (const auto& node : g.nodes) all.push_back(node.get());
    return give_nodes(all, nodes, n);
  });
}

CUDART_EXPORT cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* n) {
  return with_graph("cudaGraphGetRootNodes", graph, [&](Context&, CUgraph_st& g) {
    std::vector<CUgraphNode_st*> roots;
    for (const auto& node : g.nodes) {
      if (node->dependencies.empty()) roots.push_back(node.get());
    }
    return give_nodes(roots, nodes, n);
  });
}

CUDART_EXPORT cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  return device_api("cudaGraphNodeGetType", [&](Context&) -> Status {
    if (!is_node(node)) return no_node();
    if (type == nullptr) return cudaErrorInvalidValue;
    *type = node_type(node->operation);
    return cudaSuccess;
  });
}

CUDART_EXPORT cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
  return device_api("cudaGraphDestroyNode", [&](Context&) { return destroy_node(node); });
}

CUDART_EXPORT cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned) {
  return with_graph("cudaGraphDebugDotPrint", graph, [&](Context&, CUgraph_st& g) -> Status {
    std::FILE* file = path != nullptr ? std::fopen(path, "w") : nullptr;
    if (file == nullptr)
      return fail(cudaErrorOperatingSystem, "cannot write {}", path != nullptr ? path : "(null)");
    fmt::print(file, "digraph graph_1 {{\n");
    for (size_t i = 0; i < g.nodes.size(); ++i) {
      const CUgraphNode_st& node = *g.nodes[i];
      const auto* kernel = std::get_if<KernelOp>(&node.operation);
      fmt::print(file, "  n{} [label=\"{} {}\"];\n", i, type_name(node_type(node.operation)),
                 kernel != nullptr ? kernel->function->name : "");
      for (size_t j = 0; j < g.nodes.size(); ++j) {
        const auto& before = node.dependencies;
        if (std::find(before.begin(), before.end(), g.nodes[j].get()) != before.end())
          fmt::print(file, "  n{} -> n{};\n", j, i);
      }
    }
    fmt::print(file, "}}\n");
    return std::fclose(file) == 0 ? Status() : Status(cudaErrorOperatingSystem);
  });
}

// --- nodes

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

CUDART_EXPORT cudaError_t cudaDeviceGraphMemTrim(int device) {
  return api("cudaDeviceGraphMemTrim",
             [&]() { return runtime().is_device(device) ? Status() : Status(cudaErrorInvalidDevice); });
}

CUDART_EXPORT cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute,
                                                         void* value) {
  return api("cudaDeviceGetGraphMemAttribute", [&]() -> Status {
    if (!runtime().is_device(device)) return cudaErrorInvalidDevice;
    if (value == nullptr || attribute > cudaGraphMemAttrReservedMemHigh) return cudaErrorInvalidValue;
    Context& context = runtime().context(device);
    const std::lock_guard guard(context.lock);
    const bool high =
        attribute == cudaGraphMemAttrUsedMemHigh || attribute == cudaGraphMemAttrReservedMemHigh;
    *static_cast<std::uint64_t*>(value) = high ? context.graph_bytes_high : context.graph_bytes;
    return cudaSuccess;
  });
}

CUDART_EXPORT cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute,
                                                         void* value) {
  return api("cudaDeviceSetGraphMemAttribute", [&]() -> Status {
    if (!runtime().is_device(device)) return cudaErrorInvalidDevice;
    const bool high =
        attribute == cudaGraphMemAttrUsedMemHigh || attribute == cudaGraphMemAttrReservedMemHigh;
    if (value == nullptr || !high || *static_cast<std::uint64_t*>(value) != 0) return cudaErrorInvalidValue;
    Context& context = runtime().context(device);
    const std::lock_guard guard(context.lock);
    context.graph_bytes_high = context.graph_bytes;
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

// --- executable graphs

CUDART_EXPORT cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* out, cudaGraph_t graph,
                                                        unsigned long long flags) {
  return with_graph("cudaGraphInstantiateWithFlags", graph, [&](Context&, CUgraph_st& g) -> Status {
    if (out == nullptr) return cudaErrorInvalidValue;
    return instantiate(g, flags, out);
  });
}

CUDART_EXPORT cudaError_t cudaGraphInstantiate(cudaGraphExec_t* out, cudaGraph_t graph,
                                               unsigned long long flags) {
  return cudaGraphInstantiateWithFlags(out, graph, flags);
}

CUDART_EXPORT cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  return device_api("cudaGraphExecDestroy", [&](Context&) {
    return executable_graphs().take(executable) != nullptr ? Status() : no_executable();
  });
}

CUDART_EXPORT cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t executable, unsigned long long* flags) {
  return device_api("cudaGraphExecGetFlags", [&](Context&) -> Status {
    if (!executable_graphs().contains(executable)) return no_executable();
    if (flags == nullptr) return cudaErrorInvalidValue;
    *flags = executable->flags;
    return cudaSuccess;
  });
}

CUDART_EXPORT cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                                              cudaGraphExecUpdateResultInfo* info) {
  return with_graph("cudaGraphExecUpdate", graph, [&](Context&, CUgraph_st& g) -> Status {
    if (!executable_graphs().contains(executable)) return no_executable();
    cudaGraphExecUpdateResultInfo local{};
    return update(*executable, g, info != nullptr ? *info : local);
  });
}

CUDART_EXPORT cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                     cudaGraphNodeParams* p) {
  return device_api("cudaGraphExecNodeSetParams", [&](Context&) -> Status {
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

CUDART_EXPORT cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                           const cudaKernelNodeParams* p) {
  return with_exec_node<KernelOp>(
      "cudaGraphExecKernelNodeSetParams", executable, node,
      [&](CUgraphNode_st& n, KernelOp& kernel) { return replace_kernel(n, kernel, p); });
}

CUDART_EXPORT cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                           const cudaMemcpy3DParms* p) {
  return with_exec_node<CopyOp>("cudaGraphExecMemcpyNodeSetParams", executable, node,
                                [&](CUgraphNode_st& n, CopyOp& copy) { return replace_copy(n, copy, p); });
}

CUDART_EXPORT cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                             void* dst, const void* src, size_t n_bytes,
                                                             cudaMemcpyKind kind) {
  return with_exec_node<CopyOp>("cudaGraphExecMemcpyNodeSetParams1D", executable, node,
                                [&](CUgraphNode_st& n, CopyOp& copy) {
                                  return replace(n, copy, linear_copy(dst, src, n_bytes, kind));
                                });
}

CUDART_EXPORT cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t executable,
                                                                   cudaGraphNode_t node, const void* symbol,
                                                                   const void* src, size_t n_bytes,
                                                                   size_t offset, cudaMemcpyKind kind) {
  return with_exec_node<CopyOp>("cudaGraphExecMemcpyNodeSetParamsToSymbol", executable, node,
                                [&](CUgraphNode_st& n, CopyOp& copy) -> Status {
                                  CopyOp changed;
                                  Status status =
                                      copy_to_symbol(*n.context, symbol, src, n_bytes, offset, kind, changed);
                                  return status.ok() ? replace(n, copy, changed) : status;
                                });
}

CUDART_EXPORT cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t executable,
                                                                     cudaGraphNode_t node, void* dst,
                                                                     const void* symbol, size_t n_bytes,
                                                                     size_t offset, cudaMemcpyKind kind) {
  return with_exec_node<CopyOp>("cudaGraphExecMemcpyNodeSetParamsFromSymbol", executable, node,
                                [&](CUgraphNode_st& n, CopyOp& copy) -> Status {
                                  CopyOp changed;
                                  Status status = copy_from_symbol(*n.context, dst, symbol, n_bytes, offset,
                                                                   kind, changed);
                                  return status.ok() ? replace(n, copy, changed) : status;
                                });
}

CUDART_EXPORT cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                           const cudaMemsetParams* p) {
  return with_exec_node<FillOp>("cudaGraphExecMemsetNodeSetParams", executable, node,
                                [&](CUgraphNode_st& n, FillOp& fill) { return replace_fill(n, fill, p); });
}

CUDART_EXPORT cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                         const cudaHostNodeParams* p) {
  return with_exec_node<HostOp>("cudaGraphExecHostNodeSetParams", executable, node,
                                [&](CUgraphNode_st& n, HostOp& host) { return replace_host(n, host, p); });
}

CUDART_EXPORT cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t executable,
                                                               cudaGraphNode_t node, cudaGraph_t child) {
  return with_exec_node<ChildOp>("cudaGraphExecChildGraphNodeSetParams", executable, node,
                                 [&](CUgraphNode_st&, ChildOp& mine) -> Status {
                                   if (!is_graph(child)) return no_graph();
                                   std::shared_ptr<CUgraph_st> copy = clone(*child);
                                   copy->is_child = true;
                                   mine.graph = std::move(copy);
                                   return cudaSuccess;
                                 });
}

CUDART_EXPORT cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t executable,
                                                               cudaGraphNode_t node, cudaEvent_t event) {
  return with_exec_node<RecordOp>(
      "cudaGraphExecEventRecordNodeSetEvent", executable, node,
      [&](CUgraphNode_st& n, RecordOp& record) { return replace(n, record, RecordOp{event}); });
}

CUDART_EXPORT cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                             cudaEvent_t event) {
  return with_exec_node<WaitOp>(
      "cudaGraphExecEventWaitNodeSetEvent", executable, node,
      [&](CUgraphNode_st& n, WaitOp& wait) { return replace(n, wait, WaitOp{event}); });
}

CUDART_EXPORT cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                  unsigned enabled) {
  return device_api("cudaGraphNodeSetEnabled", [&](Context&) -> Status {
    if (!executable_graphs().contains(executable)) return no_executable();
    const auto found = executable->node_of.find(node);
    if (found == executable->node_of.end()) return cudaErrorInvalidValue;
    found->second->enabled = enabled != 0;
    return cudaSuccess;
  });
}

CUDART_EXPORT cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                  unsigned* enabled) {
  return device_api("cudaGraphNodeGetEnabled", [&](Context&) -> Status {
    if (!executable_graphs().contains(executable)) return no_executable();
    const auto found = executable->node_of.find(node);
    if (found == executable->node_of.end() || enabled == nullptr) return cudaErrorInvalidValue;
    *enabled = found->second->enabled ? 1 : 0;
    return cudaSuccess;
  });
}

// --- user objects: destroyed with the last graph that holds them

CUDART_EXPORT cudaError_t cudaUserObjectCreate(cudaUserObject_t* out, void* pointer, cudaHostFn_t destroy,
                                               unsigned references, unsigned) {
  return device_api("cudaUserObjectCreate", [&](Context&) -> Status {
    if (out == nullptr || destroy == nullptr || references == 0) return cudaErrorInvalidValue;
    auto object = std::make_unique<CUuserObject_st>();
    object->pointer = pointer;
    object->destroy = destroy;
    object->references = references;
    *out = user_objects().add(std::move(object));
    return cudaSuccess;
  });
}

CUDART_EXPORT cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned count) {
  return device_api("cudaUserObjectRetain", [&](Context&) -> Status {
    if (!user_objects().contains(object)) return cudaErrorInvalidValue;
    object->references += count;
    return cudaSuccess;
  });
}

CUDART_EXPORT cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned count) {
  return device_api("cudaUserObjectRelease", [&](Context&) -> Status {
    if (!user_objects().contains(object)) return cudaErrorInvalidValue;
    release_user_object(object, count);
    return cudaSuccess;
  });
}

CUDART_EXPORT cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object,
                                                    unsigned count, unsigned flags) {
  return with_graph("cudaGraphRetainUserObject", graph, [&](Context&, CUgraph_st& g) -> Status {
    constexpr unsigned kMove = 1;  // cudaGraphUserObjectMove: the caller's references become the graph's
    if (!user_objects().contains(object) || count == 0) return cudaErrorInvalidValue;
    if (flags != kMove) object->references += count;
    g.user_objects.emplace_back(object, count);
    return cudaSuccess;
  });
}

CUDART_EXPORT cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object,
                                                     unsigned count) {
  return with_graph("cudaGraphReleaseUserObject", graph, [&](Context&, CUgraph_st& g) -> Status {
    for (auto& [held, references] : g.user_objects) {
      if (held != object || references < count) continue;
      references -= count;
      release_user_object(object, count);
      return cudaSuccess;
    }
    return fail(cudaErrorInvalidValue, "the graph does not hold that object so often");
  });
}
