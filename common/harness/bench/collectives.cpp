// SPDX-License-Identifier: MIT
#include "bench/collectives.hpp"

#include <functional>
#include <vector>

#include "bench/stopwatch.hpp"
#include "nccl/nccl.h"

namespace course::lab {
namespace {

void must_succeed(ncclResult_t result) {
  if (result != ncclSuccess) stop(fmt::format("NCCL: {}", ncclGetErrorString(result)));
}

}  // namespace

nlohmann::json measure_collectives(const BenchDevice& device, unsigned most_runs, std::uint64_t n_bytes) {
  nlohmann::json rows = nlohmann::json::array();
  const std::uint64_t n_ranks = device.ranks.size();
  if (n_ranks < 2) return rows;
  const std::uint64_t n_words = std::max<std::uint64_t>(n_bytes / 4 / n_ranks, 1) * n_ranks;
  std::vector<DeviceBytes> from, to;
  for (std::size_t r = 0; r < n_ranks; ++r) {
    device.use(r);
    from.emplace_back(4 * n_words);
    to.emplace_back(4 * n_words);
    must(cudaMemset(from.back().data(), 0, 4 * n_words), "cudaMemset");
  }
  device.synchronise();
  const auto part = [](const DeviceBytes& memory, std::uint64_t first_word) {
    return static_cast<std::uint32_t*>(memory.data()) + first_word;
  };
  // `sent`: the share of n_words that a device must send.
  const auto add = [&](const char* name, double sent, const std::function<void(std::size_t)>& call) {
    nlohmann::json row = Stopwatch(device, most_runs)
                             .measure([](std::size_t) {},
                                      [&](std::size_t) {
                                        must_succeed(ncclGroupStart());
                                        for (std::size_t r = 0; r < n_ranks; ++r) call(r);
                                        must_succeed(ncclGroupEnd());
                                        return true;
                                      });
    row["name"] = name;
    row["bytes"] = 4 * n_words;
    row["bus_gb_per_s"] = 1e-3 * sent * 4 * static_cast<double>(n_words) / row["median_us"].get<double>();
    rows.push_back(std::move(row));
  };
  const double others = static_cast<double>(n_ranks - 1) / static_cast<double>(n_ranks);
  add("ncclAllReduce", 2 * others, [&](std::size_t r) {
    must_succeed(ncclAllReduce(from[r].data(), to[r].data(), n_words, ncclUint32, ncclSum,
                               device.ranks[r].comm, device.ranks[r].stream));
  });
  add("all to all", others, [&](std::size_t r) {
    const std::uint64_t n = n_words / n_ranks;
    for (std::size_t q = 0; q < n_ranks; ++q) {
      const int peer = static_cast<int>(q);
      must_succeed(
          ncclSend(part(from[r], q * n), n, ncclUint32, peer, device.ranks[r].comm, device.ranks[r].stream));
      must_succeed(
          ncclRecv(part(to[r], q * n), n, ncclUint32, peer, device.ranks[r].comm, device.ranks[r].stream));
    }
  });
  return rows;
}

}  // namespace course::lab
