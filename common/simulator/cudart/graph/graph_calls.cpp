// SPDX-License-Identifier: MIT
#include "cudart/graph/graph_calls.hpp"

namespace course::cudart {

Status no_graph(const void* handle) {
  return fail(cudaErrorInvalidValue, "that is not a graph: destroyed, or never created")
      .as(handle == nullptr ? sim::kConsequence : "api-error");
}
Status no_node() {
  return fail(cudaErrorInvalidValue, "that is not a graph node: destroyed, or never created");
}
Status no_executable(const void* handle) {
  return fail(cudaErrorInvalidValue, "that is not an executable graph")
      .as(handle == nullptr ? sim::kConsequence : "api-error");
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

}  // namespace course::cudart
