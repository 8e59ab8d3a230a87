// SPDX-License-Identifier: MIT
// For checks that take long: a contiguous share of the work for each core.
#pragma once

#include <algorithm>
#include <cstddef>
#include <thread>
#include <vector>

namespace course::lab {

inline std::size_t n_cores() {
  return std::max(1u, std::thread::hardware_concurrency());
}

// Into how many shares of at least `least` > 0 items n items are divided: at most one for each core, and at
// least one, however few the items are.
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

// Calls work(share, first, last) for contiguous shares of n items, of at least `least` items each, at the
// same time. Returns the number of shares.
template <typename Work>
std::size_t on_shares(std::size_t n, std::size_t least, const Work& work) {
  const std::size_t n_shares = n_shares_of(n, std::max<std::size_t>(least, 1));
  on_all_cores(n_shares,
               [&](std::size_t share) { work(share, n * share / n_shares, n * (share + 1) / n_shares); });
  return n_shares;
}

}  // namespace course::lab
