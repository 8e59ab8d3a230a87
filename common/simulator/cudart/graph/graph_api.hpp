// SPDX-License-Identifier: MIT
// The graph calls whose signature changed between CUDA 12 and 13 (edge data was added), implemented once for
// abi12.cpp and abi13.cpp; and what api/graph.cpp and graph_nodes.cpp need. Lists follow CUDA's convention:
// with a null array the call stores the count, otherwise it stores at most as many elements as the count
// says.
#pragma once

#include "cudart/graph/graph.hpp"
#include "cudart/runtime/status.hpp"

namespace course::cudart {

inline constexpr const char* kNoConditionals =
    "conditional graph nodes are not simulated; copy the condition to the host, and launch there the graph "
    "that it chooses";

// Returns a list of nodes to a caller by this convention.
Status give_nodes(const std::vector<CUgraphNode_st*>& nodes, cudaGraphNode_t* out, std::size_t* n);
Status graph_add_dependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                              std::size_t n);

struct CaptureInfo {
  cudaStreamCaptureStatus* status;
  unsigned long long* id;
  cudaGraph_t* graph;
  const cudaGraphNode_t** dependencies;
  const cudaGraphEdgeData** edge_data;
  std::size_t* n_dependencies;
};
Status capture_info(cudaStream_t stream, const CaptureInfo& out);

}  // namespace course::cudart
