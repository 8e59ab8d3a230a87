// SPDX-License-Identifier: MIT
// Graphs as a whole. Nodes: graph_nodes.cpp; executable graphs: graph_exec.cpp; launching them: stream.cpp;
// differences between CUDA 12 and 13: abi/abi12.cpp, abi13.cpp and later_forms.inc.
#include "cudart/graph/graph_api.hpp"
#include "cudart/graph/graph_calls.hpp"

using namespace course::cudart;  // NOLINT: this file is only their exported face

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
    return graphs().take(graph) != nullptr ? Status() : no_graph(graph);
  });
}

CUDART_API cudaGraphClone(cudaGraph_t* out, cudaGraph_t original) {
  return with_graph(original, [&](CUgraph_st& graph) {
    if (out == nullptr) return cudaErrorInvalidValue;
    *out = graphs().add(clone(graph));
    return cudaSuccess;
  });
}

CUDART_API cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* n) {
  return with_graph(graph, [&](CUgraph_st& g) {
    std::vector<CUgraphNode_st*> all;
    for (const auto& node : g.nodes) all.push_back(node.get());
    return give_nodes(all, nodes, n);
  });
}

CUDART_API cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* n) {
  return with_graph(graph, [&](CUgraph_st& g) {
    std::vector<CUgraphNode_st*> roots;
    for (const auto& node : g.nodes)
      if (node->dependencies.empty()) roots.push_back(node.get());
    return give_nodes(roots, nodes, n);
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

// Nothing is kept for graphs beyond their allocations.
CUDART_API cudaDeviceGraphMemTrim(int device) {
  return api([&] { return runtime().is_device(device) ? cudaSuccess : cudaErrorInvalidDevice; });
}
