// SPDX-License-Identifier: MIT
// The lab's work on the CPU: the reference for speedups. Plain loops, compiled with -O3.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "LAB_ID/lab.hpp"
#include "lab/all_cores.hpp"

namespace course::LAB_ID {

inline void answer_one_thread(std::span<const std::int32_t> in, std::span<std::int32_t> out) {
  for (std::size_t first = 0; first < in.size(); first += kTile) {
    const auto tile = in.subspan(first, std::min<std::size_t>(kTile, in.size() - first));
    std::reverse_copy(tile.begin(), tile.end(), out.begin() + static_cast<std::ptrdiff_t>(first));
  }
}

// Each core processes a contiguous share of the tiles.
inline void answer_all_cores(std::span<const std::int32_t> in, std::span<std::int32_t> out) {
  lab::on_shares(in.size() / kTile + 1, 1, [&](std::size_t, std::size_t first, std::size_t last) {
    const std::size_t begin = std::min(first * kTile, in.size()), end = std::min(last * kTile, in.size());
    answer_one_thread(in.subspan(begin, end - begin), out.subspan(begin, end - begin));
  });
}

}  // namespace course::LAB_ID
