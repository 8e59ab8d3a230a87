// SPDX-License-Identifier: MIT
// For hostile submissions whose every task is right: the attack is beside it.
#pragma once

#include "right.cuh"

namespace course::reduction {

Status run(const lab::Request& request) {
  return dispatch(request, [](const auto& job) { return hostile::right(job); });
}

}  // namespace course::reduction
