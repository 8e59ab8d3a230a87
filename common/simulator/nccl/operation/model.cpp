// SPDX-License-Identifier: MIT
#include "nccl/operation/model.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <string>

#include "nccl/simulator/simulator.hpp"

namespace course::nccl {
namespace {

// nvlink: fitted to two H200s (18 links each, NCCL 2.28.3, multicast off), measured through PyTorch, whose
// overhead is in the launch. All-reduce of 64 MiB, 1 and 4 GiB: bus rate 262, 332, 348 GB/s; the same bytes
// from each device to the other: 223, 330, 336 GB/s; an all-gather of 16 bytes: 43 µs (model_test.cpp).
// Assumed: more devices have the same links, as behind a switch; the direct algorithm has half the bandwidth,
// as the low-latency protocol sends a flag with every 4 bytes.
// nvlink3: not measured. A100 with 12 links, 600 of NV18's 900 GB/s by the data sheets.
// pcie: not measured. PCIe 3.0 x16 or 4.0 x8 has 15.75 GB/s, of which 70 % are assumed; each step crosses it
// twice, because the data go through the host.
constexpr std::array<Link, 3> kLinks{{
    {"nvlink", 40, 9, 64, 340, 170},
    {"nvlink3", 40, 9, 64, 227, 113},
    {"pcie", 40, 18, 64, 11, 5.5},
}};

constexpr double kBytesPerUsPerGbPerS = 1e3;

std::uint64_t bytes_of(const Call& call) {
  return call.count * size_of(call.type);
}

// Of a ring, the i-th of n nearly equal chunks.
std::uint64_t chunk(std::uint64_t n_bytes, std::uint64_t i, std::uint64_t n) {
  i %= n;
  return n_bytes / n + (i < n_bytes % n ? 1 : 0);
}

Sent sent_in_ring(const Call& call) {
  const std::uint64_t block = bytes_of(call);
  const auto n = static_cast<std::uint64_t>(call.n_ranks);
  const auto rank = static_cast<std::uint64_t>(call.rank), root = static_cast<std::uint64_t>(call.peer);
  switch (call.kind) {
    case Kind::all_reduce:
      return {2 * (n - 1), 2 * block - chunk(block, rank + 1, n) - chunk(block, rank + 2, n)};
    case Kind::all_gather:
    case Kind::reduce_scatter: return {n - 1, (n - 1) * block};
    case Kind::broadcast: return (rank + 1) % n == root ? Sent{} : Sent{1, block};
    case Kind::reduce: return rank == root ? Sent{} : Sent{1, block};
    default: return {};
  }
}

// Every rank sends to every other one that needs its data.
Sent sent_to_each(const Call& call) {
  const std::uint64_t block = bytes_of(call);
  const auto others = static_cast<std::uint64_t>(call.n_ranks - 1);
  const bool root = call.rank == call.peer;
  switch (call.kind) {
    case Kind::broadcast:
    case Kind::scatter: return root ? Sent{others, others * block} : Sent{};
    case Kind::reduce:
    case Kind::gather: return root ? Sent{} : Sent{1, block};
    case Kind::send: return root ? Sent{} : Sent{1, block};
    case Kind::receive: return {};
    default: return {others, others * block};
  }
}

// The most bytes that a device has to send or receive when everyone sends to each.
double busiest(const std::vector<const Call*>& calls) {
  std::map<int, std::uint64_t> out, in;
  for (const Call* call : calls) {
    const std::uint64_t n_bytes = sent_to_each(*call).n_bytes;
    out[call->rank] += n_bytes;
    switch (call->kind) {
      case Kind::send:
      case Kind::gather:
      case Kind::reduce: in[call->peer] += n_bytes; break;
      case Kind::scatter:
      case Kind::broadcast:
        if (call->rank != call->peer) in[call->rank] += bytes_of(*call);
        break;
      case Kind::receive: break;
      default: in[call->rank] += n_bytes;
    }
  }
  std::uint64_t most = 0;
  for (const auto* sums : {&out, &in})
    for (const auto& [rank, n_bytes] : *sums) most = std::max(most, n_bytes);
  return static_cast<double>(most);
}

const Link& chosen_link() {
  const char* const chosen = std::getenv("SIM_LINK");
  const Link& link = link_of(simChipName(), chosen);
  if (chosen != nullptr && link.name != chosen)
    say(std::string("SIM_LINK=") + chosen + " is ignored: expected nvlink, nvlink3 or pcie");
  return link;
}

bool has_ring(Kind kind) {
  return reduces(kind) || kind == Kind::broadcast || kind == Kind::all_gather;
}

}  // namespace

const Link& link_of(std::string_view chip, const char* chosen) {
  const auto named = [](std::string_view name) -> const Link& {
    return *std::ranges::find(kLinks, name, &Link::name);
  };
  if (chosen != nullptr)
    for (const Link& link : kLinks)
      if (link.name == chosen) return link;
  if (chip.find("H200") != chip.npos || chip.find("H100") != chip.npos) return named("nvlink");
  if (chip.find("A100") != chip.npos) return named("nvlink3");
  return named("pcie");
}

Estimate estimate_of(const std::vector<const Call*>& calls) {
  static const Link& link = chosen_link();
  return estimate_of(calls, link);
}

Estimate estimate_of(const std::vector<const Call*>& calls, const Link& link) {
  const Call& call = *calls.front();
  const double all = busiest(calls);
  Estimate best{link.launch_us + all / (link.direct_gb_per_s * kBytesPerUsPerGbPerS), Algorithm::direct};
  Estimate other{link.launch_us + link.pairs_us + all / (link.gb_per_s * kBytesPerUsPerGbPerS),
                 Algorithm::pairs};
  if (has_ring(call.kind)) {
    const double steps = (call.n_ranks - 1) * (call.kind == Kind::all_reduce ? 2 : 1);
    const auto block = static_cast<double>(bytes_of(call));
    double moved = block;  // reduce, broadcast: in many chunks, so that each link carries the block once
    if (call.kind == Kind::all_reduce) moved = 2 * block * (call.n_ranks - 1) / call.n_ranks;
    if (call.kind == Kind::all_gather || call.kind == Kind::reduce_scatter)
      moved = block * (call.n_ranks - 1);
    other = {link.launch_us + steps * link.step_us + moved / (link.gb_per_s * kBytesPerUsPerGbPerS),
             Algorithm::ring};
  }
  return other.us < best.us ? other : best;
}

Sent sent_by(const Call& call, Algorithm algorithm) {
  return algorithm == Algorithm::ring ? sent_in_ring(call) : sent_to_each(call);
}

}  // namespace course::nccl
