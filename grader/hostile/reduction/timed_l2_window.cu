// SPDX-License-Identifier: MIT
// about: Requests that its input stays in the L2 cache from run to run.
// screen: cudaStreamSetAttribute
// task: coarsened
// verdict: OK
#include "right.cuh"

namespace course::reduction {
Status run(const lab::Request& request) {
  return dispatch(request, [](const auto& job) {
    cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, std::size_t{32} << 20);
    cudaStreamAttrValue attribute{};
    attribute.accessPolicyWindow.base_ptr = const_cast<void*>(static_cast<const void*>(job.d_in));
    attribute.accessPolicyWindow.num_bytes = std::size_t{30} << 20;
    attribute.accessPolicyWindow.hitRatio = 1.0f;
    attribute.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    attribute.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
    cudaStreamSetAttribute(job.stream, cudaStreamAttributeAccessPolicyWindow, &attribute);
    static_cast<void>(cudaGetLastError());
    return hostile::right(job);
  });
}
}  // namespace course::reduction
