// SPDX-License-Identifier: MIT
// about: A right reduction, with which the others are compared.
// task: coarsened
// verdict: OK
#include "right.cuh"

namespace course::reduction {
Status run(const lab::Request& request) {
  return dispatch(request, [](const auto& job) { return hostile::right(job); });
}
}  // namespace course::reduction
