// SPDX-License-Identifier: MIT
// Graphs as a whole, their memory, and user objects. Nodes: graph_nodes.cpp; executable graphs:
// graph_exec.cpp; launching them: stream.cpp; differences between CUDA 12 and 13: abi12.cpp and abi13.cpp.
#include <algorithm>
#include <cstdio>

#include "cudart/graph/graph_api.hpp"
#include "cudart/graph/graph_calls.hpp"

using namespace course::cudart;  // NOLINT: this file is only their exported face

namespace {

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

CUDART_API cudaGraphCreate(cudaGraph_t* out, unsigned flags) {
  return device_api([&]() -> Status {
    if (out == nullptr || flags != 0)
      return fail(cudaErrorInvalidValue, "a null pointer, or flags that are not 0");
    *out = graphs().add(std::make_unique<CUgraph_st>());
    return cudaSuccess;
  });
}

CUDART_API cudaGraphDestroy(cudaGraph_t graph) {
  return device_api([&]() -> Status {
    if (is_graph(graph) && graph->is_child)
      return fail(cudaErrorInvalidValue, "a child graph dies with its node");
    return graphs().take(graph) != nullptr ? Status() : no_graph();
  });
}

CUDART_API cudaGraphClone(cudaGraph_t* out, cudaGraph_t original) {
  return with_graph(original, [&](CUgraph_st& graph) {
    if (out == nullptr) return cudaErrorInvalidValue;
    *out = graphs().add(clone(graph));
    return cudaSuccess;
  });
}

CUDART_API cudaGraphNodeFindInClone(cudaGraphNode_t* out, cudaGraphNode_t original, cudaGraph_t copy) {
  return with_graph(copy, [&](CUgraph_st& graph) -> Status {
    if (out == nullptr) return cudaErrorInvalidValue;
    for (const auto& node : graph.nodes) {
      if (node->original != original) continue;
      *out = node.get();
      return cudaSuccess;
    }
    return fail(cudaErrorInvalidValue, "the clone has no copy of that node");
  });
}

CUDART_API cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* n) {
  return with_graph(graph, [&](CUgraph_st& g) {
    std::vector<CUgraphNode_st*> all;
    for (const auto& node : g.nodes) all.push_back(node.get());
    return give_nodes(all, nodes, nullptr, n);
  });
}

CUDART_API cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* n) {
  return with_graph(graph, [&](CUgraph_st& g) {
    std::vector<CUgraphNode_st*> roots;
    for (const auto& node : g.nodes)
      if (node->dependencies.empty()) roots.push_back(node.get());
    return give_nodes(roots, nodes, nullptr, n);
  });
}

CUDART_API cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  return device_api([&]() -> Status {
    if (!is_node(node)) return no_node();
    return give(type, node_type(node->operation));
  });
}

CUDART_API cudaGraphDestroyNode(cudaGraphNode_t node) {
  return device_api([&] { return destroy_node(node); });
}

CUDART_API cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned) {
  return with_graph(graph, [&](CUgraph_st& g) -> Status {
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
        if (std::ranges::find(before, g.nodes[j].get()) != before.end())
          fmt::print(file, "  n{} -> n{};\n", j, i);
      }
    }
    fmt::print(file, "}}\n");
    return std::fclose(file) == 0 ? Status() : Status(cudaErrorOperatingSystem);
  });
}

// --- memory of graphs

CUDART_API cudaDeviceGraphMemTrim(int device) {
  return api([&]() -> Status {
    if (!runtime().is_device(device)) return cudaErrorInvalidDevice;
    Context& context = runtime().context(device);
    const std::lock_guard guard(context.lock);
    context.graph_memory.reserved = reserved_for(context.graph_memory.used);
    return cudaSuccess;
  });
}

CUDART_API cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void* value) {
  return api([&]() -> Status {
    if (!runtime().is_device(device)) return cudaErrorInvalidDevice;
    if (value == nullptr || attribute > cudaGraphMemAttrReservedMemHigh) return cudaErrorInvalidValue;
    Context& context = runtime().context(device);
    const std::lock_guard guard(context.lock);
    const GraphBytes& bytes = context.graph_memory;
    const std::uint64_t values[] = {bytes.used, bytes.used_high, bytes.reserved, bytes.reserved_high};
    *static_cast<std::uint64_t*>(value) = values[attribute];
    return cudaSuccess;
  });
}

CUDART_API cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void* value) {
  return api([&]() -> Status {
    if (!runtime().is_device(device)) return cudaErrorInvalidDevice;
    const bool high =
        attribute == cudaGraphMemAttrUsedMemHigh || attribute == cudaGraphMemAttrReservedMemHigh;
    if (value == nullptr || !high || *static_cast<std::uint64_t*>(value) != 0) return cudaErrorInvalidValue;
    Context& context = runtime().context(device);
    const std::lock_guard guard(context.lock);
    GraphBytes& bytes = context.graph_memory;
    if (attribute == cudaGraphMemAttrUsedMemHigh)
      bytes.used_high = bytes.used;
    else
      bytes.reserved_high = bytes.reserved;
    return cudaSuccess;
  });
}

// --- user objects: destroyed with the last graph that holds them

CUDART_API cudaUserObjectCreate(cudaUserObject_t* out, void* pointer, cudaHostFn_t destroy,
                                unsigned references, unsigned) {
  return device_api([&]() -> Status {
    if (out == nullptr || destroy == nullptr || references == 0) return cudaErrorInvalidValue;
    auto object = std::make_unique<CUuserObject_st>();
    object->pointer = pointer;
    object->destroy = destroy;
    object->references = references;
    *out = user_objects().add(std::move(object));
    return cudaSuccess;
  });
}

CUDART_API cudaUserObjectRetain(cudaUserObject_t object, unsigned count) {
  return device_api([&]() -> Status {
    if (!user_objects().contains(object)) return cudaErrorInvalidValue;
    object->references += count;
    return cudaSuccess;
  });
}

CUDART_API cudaUserObjectRelease(cudaUserObject_t object, unsigned count) {
  return device_api([&]() -> Status {
    if (!user_objects().contains(object)) return cudaErrorInvalidValue;
    release_user_object(object, count);
    return cudaSuccess;
  });
}

CUDART_API cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count,
                                     unsigned flags) {
  return with_graph(graph, [&](CUgraph_st& g) -> Status {
    constexpr unsigned kMove = 1;  // cudaGraphUserObjectMove: the caller's references become the graph's
    if (!user_objects().contains(object) || count == 0) return cudaErrorInvalidValue;
    if (flags != kMove) object->references += count;
    g.user_objects.emplace_back(object, count);
    return cudaSuccess;
  });
}

CUDART_API cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count) {
  return with_graph(graph, [&](CUgraph_st& g) -> Status {
    for (auto& [held, references] : g.user_objects) {
      if (held != object || references < count) continue;
      references -= count;
      release_user_object(object, count);
      return cudaSuccess;
    }
    return fail(cudaErrorInvalidValue, "the graph does not hold that object so often");
  });
}
