// SPDX-License-Identifier: MIT
// The lab's work on the CPU: the reference for speedups. Plain loops, compiled with -O3.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "demo/lab.hpp"
#include "lab/all_cores.hpp"

namespace course::demo {

inline void answer_one_thread(std::span<const std::int32_t> in, std::span<std::int32_t> out) {
  for (std::size_t first = 0; first < in.size(); first += kTile) {
    const auto tile = in.subspan(first, std::min<std::size_t>(kTile, in.size() - first));
    std::reverse_copy(tile.begin(), tile.end(), out.begin() + static_cast<std::ptrdiff_t>(first));
  }
}

// Each core processes a contiguous share of the tiles.
inline void answer_all_cores(std::span<const std::int32_t> in, std::span<std::int32_t> out) {
  const std::size_t n_tiles = (in.size() + kTile - 1) / kTile;
  const std::size_t n_shares = lab::n_shares_of(n_tiles, 1);
  lab::on_all_cores(n_shares, [&](std::size_t share) {
    const std::size_t first = n_tiles * share / n_shares * kTile;
    const std::size_t last = std::min(in.size(), n_tiles * (share + 1) / n_shares * kTile);
    answer_one_thread(in.subspan(first, last - first), out.subspan(first, last - first));
  });
}

}  // namespace course::demo
