// SPDX-License-Identifier: MIT
// For CPU baselines: a contiguous share of the work for each core.
#pragma once

#include <algorithm>
#include <cstddef>
#include <thread>
#include <vector>

namespace course::lab {

inline std::size_t n_cores() {
  return std::max(1u, std::thread::hardware_concurrency());
}

// Into how many shares of at least `least` items n items are divided: at most one for each core.
inline std::size_t n_shares_of(std::size_t n, std::size_t least) {
  return std::clamp<std::size_t>(n / least, 1, n_cores());
}

// Calls work(share) for each share at the same time, the first one in this thread. Returns after the last.
template <typename Work>
void on_all_cores(std::size_t n_shares, const Work& work) {
  std::vector<std::thread> threads;
  for (std::size_t share = 1; share < n_shares; ++share) threads.emplace_back([&, share] { work(share); });
  work(std::size_t{0});
  for (std::thread& thread : threads) thread.join();
}

}  // namespace course::lab
