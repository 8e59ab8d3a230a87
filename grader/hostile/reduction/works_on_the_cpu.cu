// SPDX-License-Identifier: MIT
// about: Copies the items to the host, reduces them there, and launches a kernel only for the answer.
// screen: copies between host and device
// expect: neighboured POLICY copy out of the device's memory
// expect: coarsened POLICY copy out of the device's memory
// expect: single_launch POLICY copy out of the device's memory
#include <vector>

#include "right.cuh"

namespace course::reduction {
Status run(const lab::Request& request) {
  return dispatch(request, [&](const auto& job) {
    using T = std::remove_const_t<std::remove_reference_t<decltype(*job.d_in)>>;
    using Value = std::remove_reference_t<decltype(*job.d_out)>;
    std::vector<T> items(job.n);
    cudaMemcpy(items.data(), job.d_in, job.n * sizeof(T), cudaMemcpyDefault);
    // A tree, so that long float sums are right, too.
    std::vector<Value> values(items.begin(), items.end());
    while (values.size() > 1) {
      const std::size_t half = (values.size() + 1) / 2;
      for (std::size_t i = 0; i + half < values.size(); ++i) values[i] = job.op(values[i], values[i + half]);
      values.resize(half);
    }
    hostile::put<<<1, 1, 0, job.stream>>>(job.d_out,
                                          job.op.finish(values.empty() ? job.op.identity() : values[0]));
    return Status::ok;
  });
}
}  // namespace course::reduction
