// SPDX-License-Identifier: MIT
#include "cudart/graph/graph_api.hpp"

#include <algorithm>
#include <vector>

#include "cudart/graph/graph_calls.hpp"
#include "cudart/runtime/stream.hpp"

namespace course::cudart {
Status give_nodes(const std::vector<CUgraphNode_st*>& nodes, cudaGraphNode_t* out, std::size_t* n) {
  if (n == nullptr) return cudaErrorInvalidValue;
  if (out == nullptr) {
    *n = nodes.size();
    return cudaSuccess;
  }
  const std::size_t wanted = *n;
  std::copy_n(nodes.begin(), std::min(wanted, nodes.size()), out);
  if (wanted > nodes.size()) std::fill(out + nodes.size(), out + wanted, nullptr);
  *n = std::min(wanted, nodes.size());
  return cudaSuccess;
}

Status graph_add_dependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                              std::size_t n) {
  return is_graph(graph) ? add_edges(*graph, from, to, n) : no_graph(graph);
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
  if (out.graph != nullptr) *out.graph = capture->graph.get();
  if (out.dependencies != nullptr) *out.dependencies = stream->tips.data();
  if (out.edge_data != nullptr) *out.edge_data = nullptr;
  if (out.n_dependencies != nullptr) *out.n_dependencies = stream->tips.size();
  return cudaSuccess;
}

}  // namespace course::cudart
