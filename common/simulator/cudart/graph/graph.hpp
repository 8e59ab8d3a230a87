// SPDX-License-Identifier: MIT
// Graphs: nodes, each with an Operation, and edges between them. An executable graph is a copy in topological
// order.
// Invariant: a node belongs to one graph and exists no longer than it; edges connect nodes of the same graph.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "cudart/runtime/handles.hpp"
#include "cudart/runtime/host/freed_memory.hpp"
#include "cudart/runtime/host/work_order.hpp"
#include "cudart/runtime/operation.hpp"

struct CUgraphNode_st {
  CUgraph_st* graph = nullptr;
  course::cudart::Context* context = nullptr;  // the device that executes it
  course::cudart::Operation operation;
  std::vector<CUgraphNode_st*> dependencies;
  const CUgraphNode_st* original = nullptr;       // in a clone: the node from which it was copied
  std::optional<course::cudart::OwnAgent> agent;  // of an executable graph's node whose launches are checked
  std::vector<void*> argument_pointers;           // for cudaGraphKernelNodeGetParams
  std::vector<std::shared_ptr<const course::cudart::HostMemory>> host_memory;  // with the host's checks
};

struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;  // in order of creation, unless it is executable
  bool is_child = false;                               // owned by a node, so the user must not destroy it

  CUgraph_st();
  ~CUgraph_st();
  CUgraph_st(const CUgraph_st&) = delete;
  CUgraph_st& operator=(const CUgraph_st&) = delete;
};

struct CUgraphExec_st {
  std::unique_ptr<CUgraph_st> graph;  // nodes in the order of execution
  // The nodes, by the corresponding node of the original graph.
  std::unordered_map<const CUgraphNode_st*, CUgraphNode_st*> node_of;
  unsigned long long flags = 0;
};

namespace course::cudart {

Handles<CUgraph_st>& graphs();
Handles<CUgraphExec_st>& executable_graphs();

bool is_graph(cudaGraph_t graph);  // existing, including child graphs and graphs being captured
bool is_node(cudaGraphNode_t node);

// Adds a node with its dependencies, which must belong to this graph.
Status add_node(CUgraph_st& graph, Context& context, const cudaGraphNode_t* dependencies,
                std::size_t n_dependencies, Operation operation, cudaGraphNode_t* out);
// Must be called after a node's operation has changed.
void note_host_memory(CUgraphNode_st& node);
Status add_edges(CUgraph_st& graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to, std::size_t n);
Status destroy_node(cudaGraphNode_t node);

// A copy whose nodes refer to their originals. Child graphs are copied too.
std::unique_ptr<CUgraph_st> clone(const CUgraph_st& graph);
// The nodes sorted so that dependencies come first, otherwise in order of creation; empty if there is a
// cycle.
std::vector<CUgraphNode_st*> topological_order(const CUgraph_st& graph);

Status instantiate(const CUgraph_st& graph, unsigned long long flags, cudaGraphExec_t* out);
Status update(CUgraphExec_st& executable, const CUgraph_st& graph, cudaGraphExecUpdateResultInfo& result);
// Executes the nodes. To be called while the launch is the current work (work_order.hpp).
Status run_graph(const CUgraph_st& graph, bool frees_on_launch);

}  // namespace course::cudart
