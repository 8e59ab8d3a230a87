// SPDX-License-Identifier: MIT
// What the submission in several.cu is to do, by Request::op.
#pragma once

#include <cstdint>

namespace course::several {

enum class How : std::uint32_t {
  reduced,   // right, by an all-reduce
  gathered,  // right, by an all-gather of the sums
  copied,    // right; the sums go to the host and back in a stream of device 0
  rank_is_missing,
  memory_of_another,
  default_stream,
  unset,
};

}  // namespace course::several
