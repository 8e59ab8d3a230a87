// SPDX-License-Identifier: MIT
#include "cudart/graph/graph_api.hpp"

#include <algorithm>
#include <vector>

#include "cudart/graph/graph_calls.hpp"
#include "cudart/runtime/stream.hpp"

namespace course::cudart {
namespace {

Status need_graph(cudaGraph_t graph) {
  return is_graph(graph) ? Status() : no_graph();
}
Status need_node(cudaGraphNode_t node) {
  return is_node(node) ? Status() : no_node();
}

void clear(cudaGraphEdgeData* data, std::size_t n) {
  if (data != nullptr) std::fill_n(data, n, cudaGraphEdgeData{});
}

}  // namespace

Status give_nodes(const std::vector<CUgraphNode_st*>& nodes, cudaGraphNode_t* out, cudaGraphEdgeData* data,
                  std::size_t* n) {
  if (n == nullptr) return cudaErrorInvalidValue;
  if (out == nullptr) {
    *n = nodes.size();
    return cudaSuccess;
  }
  const std::size_t wanted = *n;
  std::copy_n(nodes.begin(), std::min(wanted, nodes.size()), out);
  if (wanted > nodes.size()) std::fill(out + nodes.size(), out + wanted, nullptr);
  clear(data, wanted);
  *n = std::min(wanted, nodes.size());
  return cudaSuccess;
}

Status make_operation(Context& context, cudaGraphNodeParams& p, Operation& out) {
  switch (p.type) {
    case cudaGraphNodeTypeKernel: {
      KernelOp kernel;
      const auto& k = p.kernel;
      if (Status status =
              make_kernel(context, k.func, k.gridDim, k.blockDim, k.kernelParams, k.sharedMemBytes, kernel);
          !status.ok()) {
        return status;
      }
      out = std::move(kernel);
      return cudaSuccess;
    }
    case cudaGraphNodeTypeMemcpy: {
      CopyOp copy;
      if (Status status = make_copy(p.memcpy.copyParams, copy); !status.ok()) return status;
      out = copy;
      return cudaSuccess;
    }
    case cudaGraphNodeTypeMemset: {
      FillOp fill;
      const auto& m = p.memset;
      if (Status status = make_fill({m.dst, m.pitch, m.value, m.elementSize, m.width, m.height}, fill);
          !status.ok())
        return status;
      out = fill;
      return cudaSuccess;
    }
    case cudaGraphNodeTypeHost: {
      HostOp host;
      host.function = p.host.fn;
      host.data = p.host.userData;
      out = host;
      return cudaSuccess;
    }
    case cudaGraphNodeTypeGraph: {
      if (Status status = need_graph(p.graph.graph); !status.ok()) return status;
      std::shared_ptr<CUgraph_st> child = clone(*p.graph.graph);
      child->is_child = true;
      out = ChildOp{std::move(child)};
      return cudaSuccess;
    }
    case cudaGraphNodeTypeEmpty: out = EmptyOp{}; return cudaSuccess;
    case cudaGraphNodeTypeEventRecord: out = RecordOp{p.eventRecord.event}; return cudaSuccess;
    case cudaGraphNodeTypeWaitEvent: out = WaitOp{p.eventWait.event}; return cudaSuccess;
    case cudaGraphNodeTypeMemAlloc: {
      AllocOp alloc;
      if (Status status = make_graph_memory(context, p.alloc.bytesize, alloc); !status.ok()) return status;
      p.alloc.dptr = alloc.memory->address;
      alloc.parameters = {p.alloc.poolProps, p.alloc.accessDescs, p.alloc.accessDescCount, p.alloc.bytesize,
                          p.alloc.dptr};
      out = std::move(alloc);
      return cudaSuccess;
    }
    case cudaGraphNodeTypeMemFree: out = FreeOp{p.free.dptr}; return cudaSuccess;
    case cudaGraphNodeTypeConditional: return {cudaErrorNotSupported, kNoConditionals};
    default:
      return fail(cudaErrorNotSupported, "graph nodes of type {} are not implemented",
                  static_cast<unsigned>(p.type));
  }
}

Status graph_edges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, cudaGraphEdgeData* data,
                   std::size_t* n) {
  if (Status status = need_graph(graph); !status.ok()) return status;
  if (n == nullptr || (from == nullptr) != (to == nullptr)) return cudaErrorInvalidValue;
  std::size_t count = 0;
  for (const auto& node : graph->nodes) {
    for (CUgraphNode_st* dependency : node->dependencies) {
      if (from != nullptr && count < *n) {
        from[count] = dependency;
        to[count] = node.get();
      }
      ++count;
    }
  }
  if (from != nullptr) {
    count = std::min(count, *n);
    clear(data, count);
  }
  *n = count;
  return cudaSuccess;
}

Status node_dependencies(cudaGraphNode_t node, cudaGraphNode_t* out, cudaGraphEdgeData* data,
                         std::size_t* n) {
  if (Status status = need_node(node); !status.ok()) return status;
  return give_nodes(node->dependencies, out, data, n);
}

Status node_dependents(cudaGraphNode_t node, cudaGraphNode_t* out, cudaGraphEdgeData* data, std::size_t* n) {
  if (Status status = need_node(node); !status.ok()) return status;
  std::vector<CUgraphNode_st*> dependents;
  for (const auto& other : node->graph->nodes) {
    const auto& dependencies = other->dependencies;
    if (std::ranges::find(dependencies, node) != dependencies.end()) dependents.push_back(other.get());
  }
  return give_nodes(dependents, out, data, n);
}

Status graph_add_dependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                              std::size_t n) {
  if (Status status = need_graph(graph); !status.ok()) return status;
  return add_edges(*graph, from, to, n);
}

Status graph_remove_dependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                 std::size_t n) {
  if (Status status = need_graph(graph); !status.ok()) return status;
  return remove_edges(*graph, from, to, n);
}

Status graph_add_any_node(Context& context, cudaGraphNode_t* out, cudaGraph_t graph,
                          const cudaGraphNode_t* dependencies, std::size_t n_dependencies,
                          cudaGraphNodeParams* parameters) {
  if (Status status = need_graph(graph); !status.ok()) return status;
  if (out == nullptr || parameters == nullptr) return cudaErrorInvalidValue;
  Operation operation;
  if (Status status = make_operation(context, *parameters, operation); !status.ok()) return status;
  if (Status status = check(context, operation); !status.ok()) return status;
  return add_node(*graph, context, dependencies, n_dependencies, std::move(operation), out);
}

Status copy_kernel_attributes(cudaGraphNode_t dst, cudaGraphNode_t src) {
  if (Status status = need_node(dst); !status.ok()) return status;
  if (Status status = need_node(src); !status.ok()) return status;
  auto* to = std::get_if<KernelOp>(&dst->operation);
  const auto* from = std::get_if<KernelOp>(&src->operation);
  if (to == nullptr || from == nullptr) return fail(cudaErrorInvalidValue, "both nodes must be kernels");
  to->attributes = from->attributes;
  to->cooperative = from->cooperative;
  to->cluster = from->cluster;
  return cudaSuccess;
}

Status capture_info(cudaStream_t handle, const CaptureInfo& out) {
  CUstream_st* stream = nullptr;
  if (Status status = resolve(handle, stream); !status.ok()) return status;
  if (out.status == nullptr) return cudaErrorInvalidValue;
  const std::shared_ptr<Capture> capture = stream->capture;
  *out.status = cudaStreamCaptureStatusNone;
  if (capture == nullptr) return cudaSuccess;
  *out.status = capture->invalidated() ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive;
  if (capture->invalidated()) return cudaSuccess;
  if (out.id != nullptr) *out.id = capture->id;
  if (out.graph != nullptr) *out.graph = capture->graph;
  if (out.dependencies != nullptr) *out.dependencies = stream->tips.data();
  if (out.edge_data != nullptr) *out.edge_data = nullptr;
  if (out.n_dependencies != nullptr) *out.n_dependencies = stream->tips.size();
  return cudaSuccess;
}

Status update_capture_dependencies(cudaStream_t handle, cudaGraphNode_t* dependencies, std::size_t n,
                                   unsigned flags) {
  CUstream_st* stream = nullptr;
  if (Status status = resolve(handle, stream); !status.ok()) return status;
  if (stream->capture == nullptr) return fail(cudaErrorIllegalState, "the stream is not being captured");
  for (std::size_t i = 0; i < n; ++i) {
    if (!is_node(dependencies[i]) || dependencies[i]->graph != stream->capture->graph) {
      return fail(cudaErrorInvalidValue, "dependency {} is not a node of the captured graph", i);
    }
  }
  if (flags == cudaStreamSetCaptureDependencies) stream->tips.clear();
  stream->tips.insert(stream->tips.end(), dependencies, dependencies + n);
  return cudaSuccess;
}

}  // namespace course::cudart
