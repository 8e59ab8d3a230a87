// SPDX-License-Identifier: MIT
#include "remote/device/operation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <utility>

#include "cudart/sim_parts.h"
#include "nccl/operation/model.hpp"
#include "nccl/operation/move.hpp"
#include "sim/timing/timeline.hpp"

namespace course::remote {
namespace {

using nccl::Call;
using nccl::Kind;

constexpr std::uint64_t kMaxElements = std::uint64_t{1} << 40;  // so that no number of bytes overflows

const char* name_of(Kind kind) {
  constexpr std::array kNames{"ncclAllReduce",     "ncclReduce",   "ncclBroadcast", "ncclAllGather",
                              "ncclReduceScatter", "ncclAlltoAll", "ncclGather",    "ncclScatter",
                              "ncclSend",          "ncclRecv"};
  return kNames[static_cast<std::size_t>(kind)];
}

// The fields by themselves make sense.
std::optional<Operand> operand_of(const SimOperand& raw, std::uint32_t n_devices) {
  if (raw.kind > static_cast<unsigned>(Kind::receive) || raw.type >= ncclNumTypes || raw.n_ranks < 1 ||
      static_cast<std::uint32_t>(raw.n_ranks) > n_devices || raw.rank < 0 || raw.rank >= raw.n_ranks ||
      raw.peer < 0 || raw.peer >= raw.n_ranks || raw.device < 0 ||
      static_cast<std::uint32_t>(raw.device) >= n_devices || raw.count > kMaxElements)
    return std::nullopt;
  Operand one;
  one.device = static_cast<std::uint32_t>(raw.device);
  one.call.kind = static_cast<Kind>(raw.kind);
  one.call.type = static_cast<ncclDataType_t>(raw.type);
  if (nccl::reduces(one.call.kind)) {
    if (raw.reduction >= ncclNumOps) return std::nullopt;
    one.call.reduction = static_cast<ncclRedOp_t>(raw.reduction);
  }
  one.call.send = reinterpret_cast<const void*>(raw.send);  // NOLINT: checked by the caller
  one.call.receive = reinterpret_cast<void*>(raw.receive);  // NOLINT: checked by the caller
  one.call.count = raw.count;
  one.call.rank = raw.rank;
  one.call.n_ranks = raw.n_ranks;
  one.call.peer = raw.peer;
  one.call.function = name_of(one.call.kind);
  return one;
}

bool is_collective(const std::vector<Operand>& all) {
  const Call& first = all.front().call;
  if (nccl::is_point_to_point(first.kind) || all.size() != static_cast<std::size_t>(first.n_ranks))
    return false;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const Call& call = all[rank].call;
    if (call.rank != static_cast<int>(rank) || call.n_ranks != first.n_ranks ||
        !nccl::disagreement(first, call).empty())
      return false;
  }
  return true;
}

// Pairs (send, receive); std::nullopt if one has no partner of the same count and type.
std::optional<std::vector<std::pair<const Call*, const Call*>>> pairs_of(const std::vector<Operand>& all) {
  std::map<std::pair<int, int>, std::deque<const Call*>> sends;
  for (const Operand& one : all)
    if (one.call.kind == Kind::send) sends[{one.call.rank, one.call.peer}].push_back(&one.call);
  std::vector<std::pair<const Call*, const Call*>> pairs;
  for (const Operand& one : all) {
    if (one.call.kind == Kind::send) continue;
    if (one.call.kind != Kind::receive) return std::nullopt;
    std::deque<const Call*>& from = sends[{one.call.peer, one.call.rank}];
    if (from.empty() || from.front()->count != one.call.count || from.front()->type != one.call.type)
      return std::nullopt;
    pairs.emplace_back(from.front(), &one.call);
    from.pop_front();
  }
  if (2 * pairs.size() != all.size()) return std::nullopt;
  return pairs;
}

// Each rank is on one device, and no other rank is.
bool has_own_devices(const std::vector<Operand>& all) {
  std::map<int, std::uint32_t> device_of;
  std::map<std::uint32_t, int> rank_of;
  return std::ranges::all_of(all, [&](const Operand& one) {
    return one.call.n_ranks == all.front().call.n_ranks &&
           device_of.try_emplace(one.call.rank, one.device).first->second == one.device &&
           rank_of.try_emplace(one.device, one.call.rank).first->second == one.call.rank;
  });
}

// Reports a range to be sent of which no byte was ever written.
void check_source(sim::Device& device, const Call& call, const SimRange& range) {
  const auto address = reinterpret_cast<std::uint64_t>(range.start);
  if ((device.mode() & sim::kInitcheck) == 0) return;
  const std::vector<sim::ByteRange> missing = device.never_written(address, range.n_bytes);
  if (missing.size() != 1 || missing.front().n_bytes != range.n_bytes) return;
  const sim::Allocation* found = device.find(address);
  sim::Finding finding;
  finding.checker = sim::Checker::initcheck;
  finding.kind = "uninitialised-global";
  finding.object = found != nullptr ? found->name : "";
  finding.message =
      fmt::format("{} of rank {} reads {} bytes{} that were never written", call.function, call.rank,
                  range.n_bytes, finding.object.empty() ? "" : " of " + finding.object);
  device.add_finding(std::move(finding));
}

}  // namespace

std::optional<std::vector<Operand>> read_operands(lab::PacketReader& in, std::uint32_t n_devices) {
  const auto n = in.get<std::uint32_t>();
  if (!in.ok() || n == 0 || n > lab::kMaxPacketBytes / sizeof(SimOperand)) return std::nullopt;
  std::vector<Operand> all;
  for (std::uint32_t i = 0; i < n; ++i) {
    const auto raw = in.get<SimOperand>();
    if (!in.ok()) return std::nullopt;
    const std::optional<Operand> one = operand_of(raw, n_devices);
    if (!one) return std::nullopt;
    all.push_back(*one);
  }
  if (!in.complete() || !has_own_devices(all) || (!is_collective(all) && !pairs_of(all))) return std::nullopt;
  return all;
}

void execute(const std::vector<Operand>& operands,
             const std::function<sim::Device&(const Operand&)>& device_of) {
  std::vector<Call> calls;
  std::vector<const Call*> pointers;
  for (const Operand& one : operands) {
    calls.push_back(one.call);
    pointers.push_back(&one.call);
    for (const SimRange& range : nccl::ranges_of(one.call))
      if (range.writes == 0 && range.n_bytes > 0) check_source(device_of(one), one.call, range);
  }
  if (nccl::is_point_to_point(calls.front().kind)) {
    const auto pairs = pairs_of(operands);
    for (const auto& [send, receive] : *pairs) nccl::move_message(*send, *receive);
  } else {
    nccl::move_collective(calls);
  }
  const nccl::Estimate estimate = nccl::estimate_of(pointers);
  struct Share {
    sim::Device* device;
    nccl::Sent sent;
  };
  std::map<std::uint32_t, Share> shares;  // by device
  double start = 0;
  for (const Operand& one : operands) {
    sim::Device& device = device_of(one);
    for (const SimRange& range : nccl::ranges_of(one.call))
      if (range.writes != 0 && range.n_bytes > 0)
        device.host_wrote(reinterpret_cast<std::uint64_t>(range.start), range.n_bytes);
    start = std::max(start, device.timeline().event());
    const nccl::Sent sent = nccl::sent_by(one.call, estimate.algorithm);
    Share& share = shares.try_emplace(one.device, Share{&device, {}}).first->second;
    share.sent.n_messages += sent.n_messages;
    share.sent.n_bytes += sent.n_bytes;
  }
  for (auto& [ordinal, share] : shares) {
    share.device->count_sent(share.sent.n_messages, share.sent.n_bytes);
    share.device->timeline().together(start, estimate.us);
  }
}

bool is_finding_of_nccl(std::string_view kind) {
  constexpr std::array kKinds{"nccl-mismatch", "nccl-missing-group", "nccl-missing-rank",
                              "nccl-deadlock", "nccl-unfinished",    "nccl-error"};
  return std::ranges::find(kKinds, kind) != kKinds.end();
}

std::string plain(std::string_view text) {
  std::string out(text);
  std::ranges::replace_if(
      out, [](char c) { return (c < ' ' || c > '~') && c != '\n'; }, '?');
  return out;
}

}  // namespace course::remote
